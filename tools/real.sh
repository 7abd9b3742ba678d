#!/usr/bin/env bash
# Runs the Python client inside of agents' frameworks: a LangGraph tool node, a tool of the OpenAI Agents SDK and an MCP
# client, each with a model that is a script, against a local payment service with a ledger. And runs `examples/refunds`, in
# Rust, but for `--here`: it takes a minute, and its packages. Then retry code with tenacity, httpx, p-retry and `fetch` is asked
# the README's refund, the TypeScript client runs inside of the AI SDK, OpenAI Agents JS and LangGraph JS, and each failure of
# its table is provoked. Where there is no Node, that is said. Before that,
# `theodosia` verifies logs of ours.
#
#   bash tools/real.sh           in a virtual environment in target/real, with pinned versions (needs a package index)
#   bash tools/real.sh --here    with the frameworks that this python3 has
#
# PLAYPROOF_BIN names the program; otherwise it is the one in target/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=python3
if [ "${1:-}" != --here ]; then
    python=target/real/bin/python
    [ -x "$python" ] || python3 -m venv target/real
    "$python" -m pip --quiet --disable-pip-version-check install \
        langgraph==1.2.24 langchain-core==1.8.3 openai-agents==0.24.0 mcp==2.3.0 httpx==0.28.1 tenacity==9.1.2
fi
PYTHONDONTWRITEBYTECODE=1 "$python" tools/real.py
if [ "${1:-}" != --here ]; then
    bash examples/refunds/run.sh
    verifier=target/theodosia/bin/python # its own: it needs another version of `mcp`
    [ -x "$verifier" ] || python3 -m venv target/theodosia
    "$verifier" -m pip --quiet --disable-pip-version-check install theodosia==0.9.0
    PYTHONDONTWRITEBYTECODE=1 "$verifier" tools/real_chain.py
fi

export PLAYPROOF_BIN="${PLAYPROOF_BIN:-$PWD/target/debug/playproof}" PYTHONDONTWRITEBYTECODE=1
"$python" tools/real/retries.py
if ! command -v node > /dev/null; then
    echo "skipped: there is no Node"
    exit
fi
npm=target/real/npm
mkdir -p "$npm"
[ -f "$npm/package.json" ] || echo '{ "private": true }' > "$npm/package.json"
npm install --prefix "$npm" --no-audit --no-fund --silent @anthropic-ai/sdk@0.70.1 @langchain/core@1.4.0 @langchain/langgraph@1.7.3 \
    @modelcontextprotocol/sdk@1.23.0 @openai/agents@0.3.4 ai@6.0.326 openai@6.9.1 p-retry@7.1.1 undici@7.16.0 zod@4.6.7
# The package as it is packed, without a program: `PLAYPROOF_BIN` is it.
"$python" -c "import pathlib, sys; sys.path.insert(0, 'tools/release'); import pack; pack.npm_launcher(pathlib.Path('$npm/playproof.tgz'))"
mkdir -p "$npm/node_modules/playproof"
tar -xzf "$npm/playproof.tgz" -C "$npm/node_modules/playproof" --strip-components 1
cp tools/real/*.mjs "$npm"
node "$npm/failures.mjs"
node "$npm/agents.mjs"
