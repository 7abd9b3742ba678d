"""A server of the Python SDK with what a proxy can spoil. Its ledger is a file with a line for each effect."""
import asyncio
import os
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver import Elicit, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import SamplingMessage, TextContent, ToolAnnotations
from pydantic import BaseModel

server = MCPServer("desk")
seen = {}


def book(text):
    with open(os.environ["LEDGER"], "a") as file:
        file.write(text + "\n")


class Receipt(BaseModel):
    order: str
    amount: int


class Answer(BaseModel):
    name: str


@server.tool(annotations=ToolAnnotations(idempotentHint=False))
async def pay(order: str, amount: int) -> Receipt:
    turn = seen[order] = seen.get(order, 0) + 1
    if order.startswith("slow"):
        await asyncio.sleep(2.0)
    if order.startswith("rate") and turn == 1:
        raise ToolError("429 Too Many Requests: retry after 0.3 s")
    if order.startswith("limit"):
        raise ToolError("429 Too Many Requests: retry after 5 s")
    if order.startswith("bad"):
        raise ToolError("502 Bad Gateway")
    book(f"pay {order} {amount}")
    return Receipt(order=order, amount=amount)


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
async def search(q: str, ctx: Context) -> str:
    turn = seen[q] = seen.get(q, 0) + 1
    for step in range(3):
        await ctx.report_progress(step + 1, 3, f"step {step + 1}")
        await asyncio.sleep(0.02)
    if q.startswith("flaky") and turn == 1:
        raise ToolError("503 Service Unavailable")
    return f"found {q} ({turn})"


@server.tool()
async def nap(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return f"slept {seconds}"


@server.tool()
async def big(size: int) -> str:
    return "x" * size


@server.tool()
async def die(code: int) -> str:
    os._exit(code)


@server.tool()
async def ask(ctx: Context) -> str:
    got = await ctx.elicit("Who?", Answer)
    return f"hello {got.data.name}" if got.action == "accept" else got.action


def who() -> Elicit[Answer]:
    return Elicit("Who?", Answer)


@server.tool()
async def greet(order: str, name: Annotated[Answer, Resolve(who)]) -> str:
    book(f"greet {order}")
    if order.startswith("bad"):
        raise ToolError("503 Service Unavailable")
    return f"hello {name.name}"


@server.tool()
async def think(ctx: Context) -> str:
    said = SamplingMessage(role="user", content=TextContent(type="text", text="capital?"))
    got = await ctx.session.create_message([said], max_tokens=5)
    return got.content.text


if __name__ == "__main__":
    server.run("stdio")
