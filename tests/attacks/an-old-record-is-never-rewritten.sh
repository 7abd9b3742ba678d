#!/usr/bin/env bash
# A row is edited in the playbook, the lock and the old record of the history: `--since` sees the record.
. "$(dirname "$0")/common.sh"
repository
sed -i 's/max_attempts: 6/max_attempts: 9/' playbooks/ours.yaml
sed -i "s/limit max_attempts: { is: '6'/limit max_attempts: { is: '9'/" goldens/playbook.lock
sed -i "/added: 'limit max_attempts'/,/after:/s/'6'/'9'/" proposals/history/*; git commit -qam edited
playproof check >/dev/null 2>&1; checked=$?
playproof history verify --since base >"$T/said" 2>&1; verified=$?
[ $verified = 1 ] || fault "check $checked, history verify --since $verified"
git mv proposals elsewhere; sed -i 's/^proposals: .*/proposals: elsewhere/' playproof.yaml; git add -A; git commit -qm moved
playproof history verify --since base >"$T/said" 2>&1; [ $? = 1 ] || fault "moved, it is not seen"
right "check $checked, verify $verified"
