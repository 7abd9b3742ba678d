#!/usr/bin/env bash
# A playbook of 30,000 unknown keys (300 kB) is refused within 2 s of CPU; 1 MiB takes some 3 s at present.
. "$(dirname "$0")/../common.sh"
{ playproof help playbook standard | sed -n '/^format:/,$p'; seq 30000 | sed 's/.*/u&: 1/'; } >p.yaml
grep -q '^format: playbook/1' p.yaml || fault "no playbook"
(ulimit -t 2; playproof lint p.yaml >out 2>&1); code=$?
[ "$code" = 2 ] && grep -q 'unknown_key\|has no key' out || fault "lint: $code"
right "within 2 s"
