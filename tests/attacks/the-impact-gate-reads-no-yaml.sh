#!/usr/bin/env bash
# A change widens the playbook and spells `playbook:` otherwise: the gate compares all the same.
. "$(dirname "$0")/common.sh"
repository
widen playbooks/ours.yaml; playproof accept --reason 'wider' >/dev/null 2>&1; git add -A; git commit -qm wider
ci -- traces/t.jsonl; [ $? = 1 ] || fault "a plain spelling passes"
for spelling in 'playbook: >-\n  playbooks/ours.yaml' 'playbook: \&p playbooks/ours.yaml' 'playbook: "playbooks\\x2fours.yaml"'; do
    sed -i "/^playbook:/,/^[a-z]/{/^ /d}; s#^playbook:.*#$spelling#" playproof.yaml
    ci -- traces/t.jsonl; [ $? = 1 ] || fault "$spelling: $(title)"
done
git mv playbooks/ours.yaml playbooks/theirs.yaml
sed -i "s#^playbook:.*#playbook: playbooks/theirs.yaml#" playproof.yaml
ci -- traces/t.jsonl; [ $? != 0 ] || fault "renamed and wider: $(title)"
right "it compares what the program names"
