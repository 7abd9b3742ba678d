#!/usr/bin/env bash
# The command that the comment proposes runs nothing that a name holds.
. "$(dirname "$0")/common.sh"
repository
name='playbooks/$(touch PWN) `touch PWN`;.yaml'
git mv playbooks/ours.yaml "$name"; sed -i "s#^playbook: .*#playbook: '$name'#" playproof.yaml; git commit -qam b; git branch -f base
sed -i 's/backoff_ms: \[200/backoff_ms: [250/' "$name"; git commit -qam c; ci -- traces/t.jsonl
proposed="$(sed -n 's/^`before.yaml` is the playbook before: `* *\(git .*before.yaml\) *`*$/\1/p' "$T/comment.md")"
[ -n "$proposed" ] || fault "it proposes no command"
eval "$proposed"; [ ! -e PWN ] || fault "the proposed command ran touch"
git show base:"$name" | cmp -s - before.yaml || fault "it does not print the playbook: $proposed"
right "$proposed"
