#!/usr/bin/env bash
# Runs the Python client inside of agents' frameworks: a LangGraph tool node, a tool of the OpenAI Agents SDK and an MCP
# client, each with a model that is a script, against a local payment service with a ledger. And runs `examples/refunds`, in
# Rust, but for `--here`: it takes a minute, and its packages.
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
        langgraph==1.2.24 langchain-core==1.8.3 openai-agents==0.24.0 mcp==2.3.0 httpx==0.28.1
fi
PYTHONDONTWRITEBYTECODE=1 "$python" tools/real.py
[ "${1:-}" = --here ] || bash examples/refunds/run.sh
