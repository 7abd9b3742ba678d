#!/usr/bin/env bash
# Characters that nobody sees are no reason.
. "$(dirname "$0")/common.sh"
playproof init >/dev/null; sed -i 's/backoff_ms: \[200/backoff_ms: [250/' playbooks/ours.yaml
for reason in $'\u3164' $'\uffa0\u115f' $'\u200b\u2060' $'\U000e0041' $'\u2800'; do
    playproof accept ours --reason "$reason" >/dev/null 2>said && fault "accepted: $(printf '%q' "$reason")"
    rm -f "$T/usage"; grep -q 'says nothing\|is empty' said || fault "another error: $(head -n 1 said)"
done
playproof accept ours --reason 'slower' >/dev/null 2>&1 || fault "a true reason is refused"
right "refused"
