#!/usr/bin/env bash
# `init NEW --from TRACE` within a project: the redaction of that project decides nothing about the new one.
. "$(dirname "$0")/common.sh"
playproof init >/dev/null; echo "redaction: { patterns: ['pay[.][a-z]+'] }" >>playproof.yaml
for i in 1 2 3; do echo '{"run_id":"r'$i'","call_id":"c","tool":"pay.now","args":{"o":'$i'},"status":"error","error":{"kind":"timeout","message":"no answer"}}'; done >t.jsonl
playproof init new --from t.jsonl >/dev/null 2>&1
grep -rq 'pay\.now' new/tools || fault "its patterns took the tool out"
right "it has its own"
