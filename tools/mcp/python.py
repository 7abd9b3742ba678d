"""Clients of the Python SDK, both eras: without a proxy, recorded, in the shadow, enforced. The first three get the same."""
import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import anyio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CreateMessageResult, ElicitResult, TextContent

PROGRAM, HERE = os.environ["PLAYPROOF_BIN"], pathlib.Path(__file__).parent
TOOLS = "format: tools/1\ntools:\n" + "".join(
    f"  {name}: {{ access: {access}, timeout_ms: 1000 }}\n"
    for name, access in [("pay", "write"), ("search", "read"), ("greet", "write"), ("ask", "write"), ("think", "write")])


def shown(result):
    return [result.is_error, [getattr(block, "text", "?")[:200] for block in result.content], result.structured_content]


async def progress(client, _):
    heard = []

    async def hear(value, total, message):
        heard.append(value)

    result = await client.call_tool("search", {"q": "flaky"}, progress_callback=hear)
    assert heard == sorted(set(heard)), heard
    return shown(result), [value for value in heard if value == int(value)]


async def two_at_once(client, _):
    both = await asyncio.gather(client.call_tool("nap", {"seconds": 0.3}), client.call_tool("search", {"q": "x"}))
    return [shown(result) for result in both]


async def slow_write(client, ledger):
    await client.list_tools()
    result = await client.call_tool("pay", {"order": "slow1", "amount": 1})
    await asyncio.sleep(1.5)
    return shown(result), ledger()


async def limited_write(client, ledger):
    return shown(await client.call_tool("pay", {"order": "rate1", "amount": 2})), ledger()


async def failed_write(client, ledger):
    return shown(await client.call_tool("pay", {"order": "bad1", "amount": 3})), ledger()


async def cancelled(client, ledger):
    with anyio.move_on_after(0.2):
        await client.call_tool("nap", {"seconds": 3})
    return shown(await client.call_tool("search", {"q": "after"}))


async def asks(client, ledger):
    said = []
    for tool, args in [("ask", {}), ("think", {}), ("greet", {"order": "g1"}), ("greet", {"order": "bad"})]:
        try:
            said.append(shown(await client.call_tool(tool, args)))
        except MCPError as error:
            said.append(str(error))
    return said, ledger()


async def large(client, _):
    return len((await client.call_tool("big", {"size": 3 << 20})).content[0].text)


async def unknown(client, _):
    return shown(await client.call_tool("nothing", {}))


async def dies(client, _):
    async def one(tool, args):
        try:
            return shown(await client.call_tool(tool, args))
        except MCPError as error:
            return str(error)

    other = asyncio.ensure_future(one("nap", {"seconds": 2}))
    await asyncio.sleep(0.2)
    return [await one("die", {"code": 3}), await other]


CASES = [progress, two_at_once, slow_write, limited_write, failed_write, cancelled, asks, large, unknown, dies]


async def run(mode, era, case, place):
    ledger = place / f"{mode}-{era}-{case.__name__}.ledger"
    server = [sys.executable, str(HERE / "server.py")]
    args = {"record": [], "shadow": ["--playbook", "standard"],
            "enforce": ["--playbook", "standard", "--enforce", "--unlocked"]}.get(mode)
    if args is not None:
        server = [PROGRAM, "proxy", "--record", str(place / f"{mode}-{era}-{case.__name__}"), *args, "--", *server]

    async def person(*_):
        await asyncio.sleep(1.5)  # longer than the tool may take
        return ElicitResult(action="accept", content={"name": "Ada"})

    async def model(*_):
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="Paris"), model="stub")

    parameters = StdioServerParameters(command=server[0], args=server[1:], cwd=str(place),
                                       env={"LEDGER": str(ledger), "PATH": os.environ["PATH"]})
    async with asyncio.timeout(30):
        async with Client(parameters, mode=era, elicitation_callback=person, sampling_callback=model) as client:
            return await case(client, lambda: ledger.read_text().split("\n")[:-1] if ledger.exists() else [])


def expect_enforced(case, plain, enforced):
    """What a playbook changes, and nothing else."""
    if case is progress:
        assert enforced[0][0] is False and plain[0][0] is True, enforced
    elif case is slow_write:
        assert enforced[0][0] is True and enforced[1] == ["pay slow1 1"], enforced
    elif case is limited_write:
        assert enforced[0][0] is False and enforced[1] == ["pay rate1 2"], enforced
    elif case is failed_write:
        assert enforced[0][1][0] == plain[0][1][0] and len(enforced[0][1]) == 2 and enforced[1] == [], enforced
    elif case is asks:
        assert enforced[1] == plain[1] and enforced[0][:3] == plain[0][:3], (plain, enforced)
    elif case is dies:
        assert all(said[0] is True for said in enforced), enforced
    elif case is unknown:
        assert enforced[0] and enforced[1][0] == plain[1][0], enforced
    else:
        assert enforced == plain, (case.__name__, plain, enforced)


async def main():
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        subprocess.run([PROGRAM, "init"], cwd=place, check=True, stdout=subprocess.DEVNULL)
        (place / "tools.yaml").write_text(TOOLS)
        settings = place / "playproof.yaml"
        settings.write_text(settings.read_text() + "\ntools: tools.yaml\n")
        for era in ("auto", "legacy"):  # with and without `initialize`
            for case in CASES:
                got = {mode: await run(mode, era, case, place) for mode in ("none", "record", "shadow", "enforce")}
                assert got["record"] == got["none"] == got["shadow"], (era, case.__name__, got)
                expect_enforced(case, got["none"], got["enforce"])
                for file in (place / f"enforce-{era}-{case.__name__}").glob("*.jsonl"):
                    again = [PROGRAM, "replay", str(file), "--playbook", "standard", "--same-decisions"]
                    subprocess.run(again, cwd=place, check=True, stdout=subprocess.DEVNULL)
    print(f"python: {2 * len(CASES)} cases, each without a proxy, recorded, shadowed and enforced ({time.time() - began:.0f} s)")


asyncio.run(main())
