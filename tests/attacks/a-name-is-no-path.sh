#!/usr/bin/env bash
# The name of a playbook has no blank and leads nowhere, also for the program that is released.
. "$(dirname "$0")/common.sh"
playproof init >/dev/null
for name in '../../x' '..' '/x' 'a//b' 'a b'; do
    sed "s#^name: .*#name: '$name'#" playbooks/ours.yaml >p.yaml
    playproof lint p.yaml >said 2>&1; [ $? = 2 ] || fault "a name: $name"
    grep -q 'is not the name of a playbook' said || fault "another error: $(head -n 1 said)"
done
right "refused"
