#!/usr/bin/env bash
# The path of a playbook is text of a stranger: no HTML and no mention of it is in the comment.
. "$(dirname "$0")/common.sh"
repository
name='playbooks/<a href=https://evil.example>approve</a> @octocat/[x].yaml'; mkdir -p "$(dirname "$name")"
git mv playbooks/ours.yaml "$name"; sed -i "s#^playbook: .*#playbook: '$name'#" playproof.yaml
ci -- traces/t.jsonl
grep -v '`' "$T/comment.md" | grep -qE '<a href|[^>]@octocat' && fault "markup: $(grep -n 'a href' "$T/comment.md" | head -1)"
git add -A; git commit -qm renamed; git branch -f base; widen "$name"
ci -- traces/t.jsonl; grep -q '^| impact | failed |' "$T/comment.md" || fault "a bracket in the name hides the change: $(title)"
right "no markup"
