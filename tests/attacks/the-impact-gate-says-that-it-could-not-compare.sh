#!/usr/bin/env bash
# Recordings are configured, and nothing is there to compare with: inconclusive, and the title says so.
. "$(dirname "$0")/common.sh"
repository
bash "$SRC/tools/ci/check.sh" --comment "$T/comment.md" --sarif "$T/x.sarif" -- traces/t.jsonl >/dev/null 2>&1
[ $? = 3 ] || fault "no commit: passes"
grep -q '^## Playproof: inconclusive, impact could not compare$' "$T/comment.md" || fault "$(title)"
ci -- traces/t.jsonl || fault "an unchanged playbook fails: $(title)"
git mv playbooks/ours.yaml 'playbooks/new name.yaml'; sed -i "s#^playbook: .*#playbook: 'playbooks/new name.yaml'#" playproof.yaml
ci -- traces/t.jsonl; grep -q 'the playbook has not changed' "$T/comment.md" || fault "the same under a new name: $(title)"
right "$(title)"
