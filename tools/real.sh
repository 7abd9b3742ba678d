#!/usr/bin/env bash
# Runs the Python client inside of agents' frameworks: a LangGraph tool node, a tool of the OpenAI Agents SDK and an MCP
# client, each with a model that is a script, against a local payment service with a ledger. Runs `playproof proxy` between
# the MCP SDKs of Python (old and new) and TypeScript and a server of the new one. And runs `examples/refunds`, in Rust, but for
# `--here`: it takes a minute, and its packages. Then retry code with tenacity, httpx, p-retry and `fetch` is asked the README's
# refund, the TypeScript client runs inside of the AI SDK, OpenAI Agents JS and LangGraph JS, and each failure of the clients' table is
# provoked in both languages. Where there is no Node, that is said. Before that, `theodosia` verifies logs
# of ours, and `playproof.corpus` replays 200,000 calls with DuckDB and Spark.
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
        langgraph==1.2.24 langchain-core==1.8.3 openai-agents==0.24.0 mcp==2.3.0 httpx==0.28.1 tenacity==9.1.2 \
        backoff==2.2.1 stamina==26.1.0 requests==2.32.5 openai==3.57.0 anthropic==0.75.0
fi
PYTHONDONTWRITEBYTECODE=1 "$python" tools/real.py
PLAYPROOF_BIN=$(realpath "${PLAYPROOF_BIN:-target/debug/playproof}")
export PLAYPROOF_BIN PYTHONDONTWRITEBYTECODE=1
# `playproof proxy` between the clients of the MCP SDKs and a server of one.
if "$python" -c 'import mcp.server.mcpserver' 2> /dev/null; then "$python" tools/mcp/python.py; fi
if [ "${1:-}" != --here ]; then
    SERVER_PYTHON=$(realpath -s "$python")
    export SERVER_PYTHON MCP_TOOLS=tools/mcp
    [ -x target/real-old/bin/python ] || python3 -m venv target/real-old
    target/real-old/bin/python -m pip --quiet --disable-pip-version-check install mcp==1.12.4 pydantic==2.11.7
    target/real-old/bin/python tools/mcp/old_python.py
    bash examples/refunds/run.sh
    verifier=target/theodosia/bin/python # its own: it needs another version of `mcp`
    [ -x "$verifier" ] || python3 -m venv target/theodosia
    "$verifier" -m pip --quiet --disable-pip-version-check install theodosia==0.9.0
    PYTHONDONTWRITEBYTECODE=1 "$verifier" tools/real_chain.py
    # `playproof.corpus` with DuckDB and Spark: Spark needs Java, and its workers die.
    command -v java > /dev/null || apt-get install --quiet --yes default-jre-headless
    corpus=target/corpus/bin/python
    [ -x "$corpus" ] || python3 -m venv target/corpus
    "$corpus" -m pip --quiet --disable-pip-version-check install duckdb==2.0.1 pyspark==4.3.0 pyarrow==26.0.1 pandas==3.1.1
    "$corpus" tools/real/corpus.py
fi

"$python" tools/real/retries.py target/real/tenacity.jsonl
if "$python" -c 'import anthropic, mcp, openai' 2> /dev/null; then "$python" tools/real/failures.py; fi
if ! command -v node > /dev/null; then
    echo "skipped: there is no Node"
    exit
fi
npm=target/real/npm
mkdir -p "$npm"
[ -f "$npm/package.json" ] || echo '{ "private": true }' > "$npm/package.json"
npm install --prefix "$npm" --no-audit --no-fund --silent @anthropic-ai/sdk@0.70.1 @langchain/core@1.4.0 @langchain/langgraph@1.7.3 \
    @modelcontextprotocol/sdk@1.23.0 @openai/agents@0.3.4 ai@6.0.326 async-retry@1.3.3 cockatiel@3.2.1 openai@6.9.1 p-retry@7.1.1 undici@7.16.0 zod@4.6.7
# The package as it is packed, without a program: `PLAYPROOF_BIN` is it.
"$python" -c "import pathlib, sys; sys.path.insert(0, 'tools/release'); import pack; pack.npm_launcher(pathlib.Path('$npm/playproof.tgz'))"
mkdir -p "$npm/node_modules/playproof"
tar -xzf "$npm/playproof.tgz" -C "$npm/node_modules/playproof" --strip-components 1
cp tools/real/*.mjs "$npm"
node "$npm/failures.mjs"
node "$npm/agents.mjs"
node "$npm/retries.mjs" target/real/tenacity.jsonl
if [ "${1:-}" != --here ]; then
    mcp=target/real-node # its own: it needs another version of the SDK
    npm --prefix "$mcp" --silent install @modelcontextprotocol/sdk@1.32.2
    cp tools/mcp/typescript.mjs "$mcp"
    node "$mcp/typescript.mjs"
fi
