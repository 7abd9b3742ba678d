"""What exceptions and results mean. The libraries are not needed: a shape is enough. `tools/real/failures.py` provokes them."""

import asyncio
import concurrent.futures
import http.client
import importlib
import json
import socket
import types
import unittest
import urllib.error

from place import ROOT

from playproof._errors import WORDS, error_of, error_of_value, passes
from playproof._dispatcher import what_came

REQUEST = types.SimpleNamespace(headers={"x-stainless-retry-count": "0"})
SHAPES = ROOT / "tools" / "release" / "npm" / "tests" / "shapes.json"


def of(name, *bases, says="it failed", **fields):
    """An instance of a class with this name, raised by nobody."""
    module, name = name.rsplit(".", 1)
    made = type(name, bases or (Exception,), {"__module__": module})(says)
    for field, value in fields.items():
        setattr(made, field, value)
    return made


def kind(raised):
    return error_of(raised)["kind"]


def answer(status, body="", headers=()):
    text = body if isinstance(body, str) else json.dumps(body)
    return types.SimpleNamespace(status_code=status, text=text, headers=dict(headers))


def shaped(fields):
    """An exception with these fields; an object below it is one of its own, but where it is data."""
    raised = Exception(fields.get("message", ""))
    for name, value in fields.items():
        if name == "errors":
            value = [shaped(one) for one in value]
        elif name == "cause":
            value = shaped(value)
        setattr(raised, name, value)
    return raised


class Errors(unittest.TestCase):
    def test_both_clients_tell_the_same_shapes(self):
        for what, fields, wanted in json.loads(SHAPES.read_text(encoding="utf-8")):
            said = error_of(shaped(fields))
            self.assertEqual({name: said.get(name) for name in wanted}, wanted, what)
            self.assertEqual("kind" in said, "kind" in wanted, what)

    def test_what_was_not_sent_timed_out_or_broke_is_told_apart(self):
        transport = type(of("httpx.TransportError"))
        timeout = type(of("httpx.TimeoutException", transport))
        for raised, wanted in [
            (ConnectionRefusedError(), "not_sent"),
            (socket.gaierror(-2, "Name or service not known"), "not_sent"),
            (urllib.error.URLError(ConnectionRefusedError()), "not_sent"),
            (urllib.error.URLError(ConnectionResetError()), "5xx"),
            (of("httpx.ConnectError", transport), "not_sent"),
            (of("httpx2.ConnectTimeout", timeout), "not_sent"),
            (of("httpx.ReadTimeout", timeout), "timeout"),
            (of("httpx.RemoteProtocolError", transport), "5xx"),
            (of("requests.exceptions.ReadTimeout", type(of("requests.exceptions.Timeout"))), "timeout"),
            (TimeoutError(), "timeout"),
            (asyncio.TimeoutError(), "timeout"),
            (socket.timeout(), "timeout"),
            (concurrent.futures.TimeoutError(), "timeout"),
            (ConnectionResetError(), "5xx"),
            (http.client.RemoteDisconnected(), "5xx"),
            (of("httpx.InvalidURL"), "invalid_arguments"),
            (json.JSONDecodeError("x", "", 0), "schema_validation"),
            (asyncio.CancelledError(), "interrupted"),
        ]:
            self.assertEqual(kind(raised), wanted, repr(raised))

    def test_a_wrapper_means_what_it_wraps(self):
        wrapper = of("requests.exceptions.ConnectionError", IOError)
        self.assertEqual(kind(wrapper), "5xx")  # it may have acted
        unknown = of("ours.Failed")
        unknown.__cause__ = ConnectionRefusedError()
        self.assertEqual(kind(unknown), "5xx")  # it may have sent before
        reason = of("urllib3.exceptions.NewConnectionError")
        wrapper.args = (of("urllib3.exceptions.MaxRetryError", reason=reason),)
        self.assertEqual(kind(wrapper), "not_sent")
        for package in ("openai", "anthropic"):
            wrapper = of(f"{package}.APIConnectionError", request=REQUEST, says="Connection error.")
            wrapper.__cause__ = of("httpx.ConnectError")
            self.assertEqual(kind(wrapper), "not_sent")
            late = of(f"{package}.APITimeoutError", type(wrapper), request=REQUEST, says="Request timed out.")
            self.assertEqual(kind(late), "timeout")
            late.__cause__ = of("httpx.ConnectTimeout")
            self.assertEqual(kind(late), "not_sent")
            # Its client has sent the request before; that it was not sent now proves nothing.
            late.request = types.SimpleNamespace(headers={"x-stainless-retry-count": "1"})
            self.assertEqual(kind(late), "5xx")

    def test_an_answer_says_itself_what_is_wrong(self):
        body = {"error": {"message": "slow down", "code": "rate_limit"}}
        raised = of("openai.RateLimitError", response=answer(429, body, {"Retry-After": "3", "Set-Cookie": "s"}))
        self.assertEqual(
            error_of(raised),
            {
                "kind": "429_rate_limited",
                "kind_from": "code",
                "status": 429,
                "message": "slow down",
                "code": "rate_limit",
                "headers": {"retry-after": "3"},
            },
        )
        self.assertEqual(error_of(of("httpx.HTTPStatusError", response=answer(409, "key k was processed")))["message"], "key k was processed")
        self.assertEqual(error_of(of("requests.HTTPError", response=answer(404, {"detail": "no order"})))["message"], "no order")
        self.assertEqual(kind(of("httpx.HTTPStatusError", response=answer(500))), "5xx")
        self.assertNotIn("kind", error_of(of("httpx.HTTPStatusError", response=answer(402))))
        self.assertEqual(kind(urllib.error.HTTPError("u", 503, "broken", {}, None)), "5xx")

    def test_mcp_errors_have_codes(self):
        for name in ("mcp.shared.exceptions.McpError", "mcp.shared.exceptions.MCPError"):
            for code, wanted in ((-32001, "timeout"), (408, "timeout"), (-32000, "5xx"), (-32602, "invalid_arguments"), (-32050, "tool_error")):
                error = types.SimpleNamespace(code=code, message="it failed")
                self.assertEqual(kind(of(name, error=error)), wanted)

    def test_an_exception_of_the_function_itself_says_nothing_of_its_effect(self):
        wanted = {"kind": "tool_error", "code": "tool_raised", "message": "KeyError: 'currency'", "kind_from": "code"}
        self.assertEqual(error_of(KeyError("currency")), wanted)

    def test_a_result_can_be_a_failure(self):
        response = type("Response", (), {"__module__": "httpx", "status_code": 503, "text": "broken", "headers": {}, "raise_for_status": 0})()
        self.assertEqual(error_of_value(response)["status"], 503)
        response.status_code = 200
        self.assertIsNone(error_of_value(response))
        part = types.SimpleNamespace(text="no such order")
        for flag in ("isError", "is_error"):
            result = type("CallToolResult", (), {"__module__": "mcp.types", "content": [part], flag: True})()
            self.assertEqual(error_of_value(result), {"kind": "tool_error", "message": "no such order"})
        self.assertEqual(what_came(None, {"error": "a dictionary is a result"}), {"ok": True})

    def test_signals_and_the_end_of_the_program_are_no_failures(self):
        self.assertTrue(passes(KeyboardInterrupt()))
        self.assertTrue(passes(of("langgraph.errors.GraphInterrupt", type(of("langgraph.errors.GraphBubbleUp")))))
        self.assertFalse(passes(ValueError()) or passes(asyncio.CancelledError()))

    def test_text_that_no_line_can_hold_is_made_fit(self):
        self.assertEqual(error_of(ValueError("\ud800" + "x" * 20_000))["message"].encode()[:13], b"ValueError: ?")
        self.assertEqual(len(error_of(ValueError("x" * 20_000))["message"]), 10_000)

    def test_every_class_of_the_table_exists_where_its_library_is_installed(self):
        homes = {
            "requests": ["requests.exceptions"],
            "urllib3": ["urllib3.exceptions"],
            "urllib": ["urllib.error"],
            "http": ["http.client"],
            "concurrent": ["concurrent.futures"],
            "langgraph": ["langgraph.errors"],
        }
        for name in (word for word in WORDS if "." in word):
            package, _, short = name.partition(".")
            for home in homes.get(package, [package]):
                try:
                    module = importlib.import_module(home)
                except ImportError:
                    continue
                self.assertTrue(hasattr(module, short), f"{home} has no {short}")


if __name__ == "__main__":
    unittest.main()
