"""The Python client inside of agents' frameworks, for tools/real.sh. The service acts at the first request for each order
and loses its answer; a model asks for the refund, and asks again. Each order must be refunded once."""

import asyncio
import collections
import http.server
import json
import logging
import pathlib
import sys
import tempfile
import threading

import httpx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "release" / "python" / "tests"))
from place import REFUND, playproof, program, write_playbook  # noqa: E402


class Payments(http.server.ThreadingHTTPServer):
    """Honours keys. The answer to the first request for an order is lost."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Request)
        self.effects, self.requests, self.keys = collections.Counter(), collections.Counter(), set()
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/refunds"


class Request(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["order"]
        key, payments = self.headers.get("Idempotency-Key"), self.server
        payments.requests[order] += 1
        payments.effects[order] += key not in payments.keys
        payments.keys.add(key)
        if payments.requests[order] == 1:
            return  # the connection is closed
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"status": "refunded"}')

    def log_message(self, *_):
        pass


async def post(url, order):
    async with httpx.AsyncClient() as client:
        headers = {"Idempotency-Key": playproof.attempt().key}
        answer = await client.post(url, json={"order": order}, headers=headers)
        return answer.raise_for_status().json()["status"]


async def langgraph(d, url):
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.tools import tool
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    @tool
    @d.tool(REFUND, key="auto", step=lambda order: f"refund {order}")
    async def issue_refund(order: str) -> str:
        """Refunds an order."""
        return await post(url, order)

    def model(state):
        asked = sum(isinstance(message, AIMessage) for message in state["messages"])
        wish = {"name": "issue_refund", "args": {"order": "langgraph"}, "id": f"call_{asked}"}
        return {"messages": [AIMessage("", tool_calls=[wish] if asked < 2 else [])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode([issue_refund]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    graph.add_edge("tools", "model")
    ended = await graph.compile().ainvoke({"messages": [HumanMessage("refund it")]})
    return [message.content for message in ended["messages"] if message.type == "tool"]


async def agents(d, url):
    from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    set_tracing_disabled(True)

    @function_tool
    @d.tool(REFUND, key="auto", step=lambda order: f"refund {order}")
    async def issue_refund(order: str) -> str:
        """Refunds an order."""
        return await post(url, order)

    heard = []

    class Script(Model):
        async def get_response(self, system_instructions, input, *_, **__):
            results = [each for each in input if each.get("type") == "function_call_output"]
            heard[:] = [each["output"] for each in results]
            output = ResponseFunctionToolCall(
                type="function_call", name="issue_refund", arguments='{"order": "agents"}', call_id=f"call_{len(results)}"
            )
            if len(results) == 2:
                text = ResponseOutputText(type="output_text", text="done", annotations=[])
                output = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
            return ModelResponse(output=[output], usage=Usage(), response_id=None)

        def stream_response(self, *_, **__):
            raise NotImplementedError

    await Runner.run(Agent(name="refunds", model=Script(), tools=[issue_refund]), "refund it")
    return heard


async def mcp(d, url):
    from mcp import Client
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("payments")

    @server.tool()
    async def issue_refund(order: str, key: str) -> str:
        async with httpx.AsyncClient() as client:
            return (await client.post(url, json={"order": order}, headers={"Idempotency-Key": key})).text

    async with Client(server) as client:

        async def send(attempt):
            arguments = {**attempt.args, "key": attempt.key}
            result = await client.call_tool("issue_refund", arguments)
            if result.is_error:  # the server lost the answer of the service, and says so in words
                raise playproof.ToolError("5xx", result.content[0].text)
            return json.loads(result.content[0].text)["status"]

        outcomes = [await d.call(REFUND, {"order": "mcp"}, send, key="ik_mcp", run="mcp") for _ in range(2)]
    return [outcome.result() for outcome in outcomes]


async def main():
    logging.disable()  # the service fails on purpose
    payments = Payments()
    with tempfile.TemporaryDirectory() as folder:
        playbook = write_playbook(pathlib.Path(folder))
        options = {"journal": pathlib.Path(folder) / "journal", "unlocked": True, "program": program()}
        async with playproof.Dispatcher(playbook, **options) as d:
            for example in (langgraph, agents, mcp):
                name = example.__name__
                with playproof.run(name):
                    told = await example(d, payments.url)
                requests, effects = payments.requests[name], payments.effects[name]
                print(f"{name}: {requests} requests, {effects} effect, the model was told {told}")
                assert (requests, effects, told) == (3, 1, ["refunded", "refunded"]), name
    print("real: 3 passed, 0 failed")


asyncio.run(main())
