"""Provokes the failures of the table with the real packages of Python against a local server, and asks what they mean."""

import asyncio
import http.server
import json
import pathlib
import re
import socket
import struct
import sys
import threading
import time
import urllib.request

import anthropic
import httpx
import openai
import requests
from mcp.shared import exceptions as mcp_errors
from mcp.types import CallToolResult, TextContent

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "release" / "python"))
from playproof._errors import error_of, error_of_value  # noqa: E402


class Handler(http.server.BaseHTTPRequestHandler):
    """Does what the path or `x-what` says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        what = self.path + self.headers.get("x-what", "")
        self.close_connection = True
        if "hang" in what:
            time.sleep(2)
        elif "reset" in what:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        elif "half" in what:
            self.answer(200, b"x", 100)
        elif "close" not in what:
            body = b"<html>" if "html" in what else json.dumps({"error": {"message": "slow down", "code": "limited"}}).encode()
            self.answer(int(re.search(r"\d{3}", what).group()), body, len(body))

    do_POST = do_GET

    def answer(self, status, body, length):
        self.send_response(status)
        self.send_header("content-length", str(length))
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads, server.handle_error = True, lambda *_: None
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_address[1]}"
with socket.socket() as one:
    one.bind(("127.0.0.1", 0))
    closed = f"http://127.0.0.1:{one.getsockname()[1]}"
count = 0


def expect(what, make, **wanted):
    global count
    try:
        said = error_of_value(make()) or {"kind": "no failure"}
    except Exception as raised:
        said = error_of(raised)
    count += 1
    assert {name: said.get(name) for name in wanted} == wanted, f"{what}: {said}"


async def asynchronous(url):
    async with httpx.AsyncClient(timeout=0.2) as client:
        return await client.get(url)


clients = {
    "httpx": lambda url: httpx.get(url, timeout=0.2),
    "httpx, asynchronous": lambda url: asyncio.run(asynchronous(url)),
    "requests": lambda url: requests.get(url, timeout=0.2),
    "urllib": lambda url: urllib.request.urlopen(url, timeout=0.2).read(),
}
for name, get in clients.items():
    for url, kind in (
        (closed, "not_sent"),
        ("http://nx.invalid/", "not_sent"),
        (f"{base}/hang", "timeout"),
        (f"{base}/reset", "5xx"),
        (f"{base}/close", "5xx"),
        (f"{base}/half", "5xx"),
    ):
        expect(f"{name} {url}", lambda: get(url), kind=kind)
    expect(f"{name} 503", lambda: get(f"{base}/503"), kind="5xx", status=503)
    if name != "urllib":
        expect(f"{name} 429", lambda: get(f"{base}/429"), kind="429_rate_limited", message="slow down", code="limited")
        expect(f"{name} raised", lambda: get(f"{base}/409").raise_for_status(), kind="409_conflict", message="slow down")
        expect(f"{name} no JSON", lambda: get(f"{base}/200html").json(), kind="schema_validation")
        expect(f"{name} no URL", lambda: get("nx"), kind="invalid_arguments")
for model in (openai.OpenAI, anthropic.Anthropic):

    def ask(url, what, repeats=0):
        client = model(api_key="x", base_url=url, max_retries=repeats, timeout=0.3)
        said = {"model": "m", "messages": [], "extra_headers": {"x-what": what}}
        return client.chat.completions.create(**said) if model is openai.OpenAI else client.messages.create(max_tokens=1, **said)

    for status, kind in ((400, "invalid_arguments"), (401, "401_unauthorized"), (403, "403_forbidden"), (404, "404_not_found"),
                         (409, "409_conflict"), (422, "invalid_arguments"), (429, "429_rate_limited"), (500, "5xx"), (529, "5xx")):  # fmt: skip
        expect(f"{model} {status}", lambda: ask(base, str(status)), kind=kind, status=status, message="slow down")
    expect(f"{model} refused", lambda: ask(closed, ""), kind="not_sent")
    expect(f"{model} refused, after a repetition of its own", lambda: ask(closed, "", 1), kind="5xx")
    expect(f"{model} timeout", lambda: ask(base, "hang"), kind="timeout")
    expect(f"{model} reset", lambda: ask(base, "reset"), kind="5xx")


def raised(code):
    made = getattr(mcp_errors, "MCPError", None) or mcp_errors.McpError
    try:
        raise made(code, "it failed")
    except TypeError:
        from mcp.types import ErrorData

        raise made(ErrorData(code=code, message="it failed")) from None


for code, kind in ((-32001, "timeout"), (-32000, "5xx"), (-32602, "invalid_arguments"), (408, "timeout"), (-5, "tool_error")):
    expect(f"MCP {code}", lambda: raised(code), kind=kind, code=str(code), message="it failed")
part = TextContent(type="text", text="no such order")
expect("MCP result", lambda: CallToolResult(content=[part], **{"isError": True}), kind="tool_error", message="no such order")
print(f"{count} failures have their kinds")
