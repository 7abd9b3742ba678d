#!/usr/bin/env bash
# ESC and a direction mark in the name of a file are escaped in every report.
. "$(dirname "$0")/common.sh"
playproof init >/dev/null
odd=$'fixtures/a\x1b[31mb\u202ec.yaml'
cp fixtures/a-denial-goes-to-people.yaml "$odd"; sed -i 's/outcome: escalated/outcome: succeeded/' "$odd"
playproof check --report github=r.gh --report markdown=r.md --report junit=r.xml --report sarif=r.sarif --report html=r.html >out 2>err
for report in r.gh r.md r.xml r.sarif r.html out err; do
    [[ "$report" != r.* ]] || [ -s "$report" ] || fault "$report is empty"
    grep -q $'\x1b\|\u202e' "$report" && fault "raw in $report"
done
right "escaped"
