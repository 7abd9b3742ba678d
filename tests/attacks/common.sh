# What every script here begins with. PP is the program, SRC the sources. A script prints one line: `right: ...`, or
# `FAULT: ...` where the attack succeeds. A command that the program does not understand is a fault of the script.
PP="$(readlink -f "${PP:?names the program}")"; SRC="$(readlink -f "${SRC:-.}")"
T="$(mktemp -d)"
finish() {
    local code=$?
    [ ! -e "$T/usage" ] || { echo "FAULT: the program does not know a command: $(head -n 1 "$T/usage")"; code=1; }
    rm -rf "$T"
    exit "$code"
}
trap finish EXIT
unset CI GITHUB_ACTIONS GITHUB_STEP_SUMMARY; export LC_ALL=C.UTF-8 PP T
mkdir "$T/bin" "$T/w"; cd "$T/w" || exit 2
cat >"$T/bin/playproof" <<'W'
#!/usr/bin/env bash
said="$(mktemp -p "$T")"
"$PP" "$@" 2>"$said"; code=$?
cat "$said" >&2
[ "$code" != 2 ] || ! grep -qE '^Usage:|^error: (unexpected argument|unrecognized subcommand|invalid value|the following required|a value is required|the argument .* cannot be used)' "$said" || cp "$said" "$T/usage"
exit "$code"
W
chmod +x "$T/bin/playproof"; PATH="$T/bin:$PATH"
fault() { echo "FAULT: $*"; exit 1; }
right() { echo "right: $*"; exit 0; }

# A repository with a project and recordings, all committed; the branch `base` is there.
repository() {
    git init -q -b main . && git config user.email a@example.com && git config user.name a
    playproof init >/dev/null || fault "no project"
    mkdir traces
    local run call='"tool":"payments.issue_refund"'
    for run in 1 2 3; do
        echo "{\"run_id\":\"r$run\",\"call_id\":\"c\",$call,\"args\":{\"o\":$run},\"status\":\"error\",\"error\":{\"kind\":\"5xx\",\"status\":503,\"message\":\"unavailable\"}}"
        echo "{\"run_id\":\"r$run\",\"call_id\":\"d\",$call,\"args\":{\"o\":$run},\"status\":\"ok\"}"
    done >traces/t.jsonl
    git add -A && git commit -qm base && git branch base
}

# Makes the playbook wider: the tool is believed to be idempotent.
widen() {
    sed -i 's/payments.issue_refund: { access: write, idempotent: false/payments.issue_refund: { access: write, idempotent: true/' "$1"
    rm -f fixtures/an-unkeyed* goldens/ours/an-unkeyed*
}

# What the Action runs; the comment is in $T/comment.md.
ci() { PLAYPROOF=playproof bash "$SRC/tools/ci/check.sh" --since base --comment "$T/comment.md" --sarif "$T/x.sarif" "$@" >"$T/log" 2>&1; }
title() { sed -n 2p "$T/comment.md"; }
