#!/usr/bin/env bash
# A trace of 60,000 failures whose tool, kind, code and message are all different is read within the memory of a small one.
. "$(dirname "$0")/../common.sh"
awk 'function word(n,   w, i) { for (i = 0; i < 6; i++) { w = w substr("qwertyuiopasdfghjklzxcvbnm", n % 26 + 1, 1); n = int(n / 26) } return w }
BEGIN { for (n = 0; n < 60000; n++) { w = word(n * 4729); printf "{\"run_id\":\"r%d\",\"tool\":\"t.%s\",\"args\":{\"a\":%d},\"status\":\"error\",\"error\":{\"kind\":\"k_%s\",\"code\":\"c_%s\",\"message\":\"the %s is odd\"}}\n", n % 10, w, n, w, w, w } }' >t.jsonl
for command in "replay t.jsonl -j1" "propose find t.jsonl -j1" "confirm --draft t.jsonl"; do
    (ulimit -v 204800; playproof $command >out 2>&1); code=$?
    [ "$code" -le 1 ] && [ -s out ] || fault "$command: $code"
done
right "within 200 MB"
