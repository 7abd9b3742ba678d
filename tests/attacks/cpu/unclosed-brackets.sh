#!/usr/bin/env bash
# 1 MiB of brackets that nothing closes is refused within 2 s of CPU.
. "$(dirname "$0")/../common.sh"
python3 -c "import sys; sys.stdout.write('{\"tool\":\"x\",\"args\":' + '[' * (1 << 20))" >d.jsonl
for command in 'replay' 'propose find' 'confirm' 'formats convert' 'explain --call x'; do
    (ulimit -t 2; playproof $command d.jsonl >/dev/null 2>&1); code=$?
    [ "$code" = 2 ] || fault "$command: $code"
done
right "within 2 s"
