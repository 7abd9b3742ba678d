#!/usr/bin/env bash
# Makes 2,000 refunds under the shipped playbook `dispatcher`, 32 at a time, while their service is stopped, killed and started
# again, and while callers give up. Ends with the ledger of the service beside what the journal claims (about a minute: the
# breaker stays open for 30 s), and lets `playproof serve` make the decisions of the journal again.
#
#   bash examples/refunds/run.sh
#
# PLAYPROOF_BIN names the program; otherwise it is the one in target/. The package is built into target/refunds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

place="$PWD/target/refunds"
rm -rf "$place/run" && mkdir -p "$place/run"
cargo build --quiet --manifest-path examples/refunds/Cargo.toml --target-dir "$place"
# The tools of the playbook are an example: here they are those of the service.
sed 's/payments\.charge/payments.issue_refund/' playbooks/dispatcher.yaml >"$place/run/dispatcher.yaml"
port="${PORT:-8917}"

service=""
start() {
    "$place/debug/service" "$port" "$place/run/ledger.jsonl" &
    service=$!
}
trap '[ -z "$service" ] || kill -9 "$service" 2>/dev/null || true' EXIT

start
sleep 0.5
"$place/debug/refunds" "$port" "$place/run/dispatcher.yaml" "$place/run/calls.jsonl" "$place/run/ledger.jsonl" &
program=$!
sleep 1
kill -STOP "$service"
echo "the service is stopped for 4 s"
sleep 4
kill -CONT "$service"
sleep 31
kill -9 "$service"
echo "the service is killed, and started again after 1 s"
sleep 1
start
wait "$program"

program="${PLAYPROOF_BIN:-}"
for built in target/release/playproof target/debug/playproof; do
    [ -n "$program" ] || [ ! -x "$built" ] || program="$built"
done
cp "$place/run/calls.jsonl" "$place/run/again.jsonl"
said="$(echo '{"type":"hello","protocol":"dispatch/1"}' | "$program" serve --playbook "$place/run/dispatcher.yaml" --unlocked --journal "$place/run/again.jsonl")"
[[ "$said" == *'"open":[]'* ]]
[ ! -e "$place/run/again.jsonl.1" ] # it would stand there if another file had begun
echo "playproof serve makes the decisions of the journal again; no call is open"
