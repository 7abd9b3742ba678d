#!/usr/bin/env bash
# `GH-12` and the name of a commit become no link in Markdown.
. "$(dirname "$0")/common.sh"
for tool in GH-12 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567; do
    echo '{"run_id":"r","tool":"'$tool'","status":"error","error":{"kind":"5xx","status":500,"message":"m"}}' >t.jsonl
    playproof impact -c study/retry-everything --format markdown t.jsonl >out 2>/dev/null
    sed 's/`[^`]*`//g' out | grep -q "$tool" && fault "$(grep -m1 "$tool" out)"
    [ -s out ] || fault "no page"
done
right "no link"
