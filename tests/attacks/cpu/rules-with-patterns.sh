#!/usr/bin/env bash
# 1,000 rules with regular expressions are compared within 2 s of CPU.
. "$(dirname "$0")/../common.sh"
{ printf 'format: playbook/1\nname: p\nverdicts:\n  v: { means: x, effect: unknown, then: { escalate_to_human: { queue: q } } }\nclassify:\n'
  for i in $(seq 1000); do printf "  - { rule: r%d, when: { message: { matches: 'z.*q%d\\s+x' } }, verdict: v }\n" "$i" "$i"; done
  printf 'otherwise: unclassified\ndefault_queue: q\nqueues: [q]\nlimits: { max_attempts: 4, deadline_ms: 30000 }\n'; } >p.yaml
(ulimit -t 2; playproof lint p.yaml >out 2>&1); code=$?
[ "$code" -le 1 ] || fault "lint: $code $(head -c 300 out)"
right "within 2 s"
