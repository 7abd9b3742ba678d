"""A client of an old Python SDK (mcp 1.12), which gives up without a word: before a server of the new one (`SERVER_PYTHON`).
It takes every answer that a proxy makes for a tool with a schema, and nothing is sent after its time."""
import asyncio
import os
import pathlib
import sys
import tempfile
from datetime import timedelta

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

PROGRAM, HERE = os.environ["PLAYPROOF_BIN"], pathlib.Path(__file__).parent
SERVER = [os.environ.get("SERVER_PYTHON", sys.executable), str(HERE / "server.py")]


async def main():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        facts = "access: write, timeout_ms: 1000"
        (place / "tools.yaml").write_text(f"format: tools/1\ntools:\n  pay: {{ {facts} }}\n")
        (place / "playproof.yaml").write_text("format: project/1\ntools: tools.yaml\n")
        ledger = place / "ledger"
        args = ["proxy", "--record", "rec", "--playbook", "standard", "--enforce", "--unlocked", "--answer-within", "800"]
        parameters = StdioServerParameters(command=PROGRAM, args=[*args, "--", *SERVER], cwd=folder,
                                           env={"LEDGER": str(ledger), "PATH": os.environ["PATH"]})
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            await session.list_tools()
            failed = {}
            for order in ("slow1", "rate1", "bad1"):
                failed[order] = (await session.call_tool("pay", {"order": order, "amount": 1})).isError
            assert failed["slow1"] and failed["bad1"], failed
            before = ledger.read_text()
            try:
                await session.call_tool("pay", {"order": "limit2", "amount": 1}, read_timeout_seconds=timedelta(seconds=0.2))
            except Exception:  # it gives up, and says nothing to the server
                pass
            await asyncio.sleep(6)
            assert ledger.read_text().replace("pay slow1 1\n", "") == before.replace("pay slow1 1\n", "")
            assert ledger.read_text().count("slow1") == 1, ledger.read_text()
    print("old python: every answer is taken, nothing acts after the client's time")


asyncio.run(main())
