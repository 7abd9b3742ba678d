#!/usr/bin/env bash
# A playbook of 90,000 unknown keys (900 kB) is refused within 2 s of CPU.
. "$(dirname "$0")/../common.sh"
{ playproof help playbook standard | sed -n '/^format:/,$p'; seq 90000 | sed 's/.*/u&: 1/'; } >p.yaml
grep -q '^format: playbook/1' p.yaml || fault "no playbook"
(ulimit -t 2; playproof lint p.yaml >out 2>&1); code=$?
[ "$code" = 2 ] && grep -q 'unknown_key\|has no key' out || fault "lint: $code"
right "within 2 s"
