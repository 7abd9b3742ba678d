"""What an exception, or a result that is a failure in itself, means as an error of the dispatch protocol: one table.

Classes are told by name, so that no library is imported. Decides nothing: the playbook does.
"""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, Optional

Fields = Dict[str, Any]

MESSAGE_MAX = 10_000  # characters of a message
SECRET = {"set-cookie", "set-cookie2", "authorization", "proxy-authorization"}

# The kind of each exception, by `package.Class`; its most specific class counts. `cause`: what it was raised for says
# it, and without a cause it is a broken connection. `passes`: it is none of ours, but the framework's own signal.
KINDS: Dict[str, str] = {
    name: kind
    for kind, names in {
        # No connection was made, so nothing was sent.
        "not_sent": "builtins.ConnectionRefusedError socket.gaierror httpx.ConnectError httpx.ConnectTimeout httpx.PoolTimeout"
        " requests.ConnectTimeout urllib3.NewConnectionError urllib3.NameResolutionError urllib3.ConnectTimeoutError",
        "timeout": "builtins.TimeoutError asyncio.TimeoutError concurrent.TimeoutError socket.timeout httpx.TimeoutException"
        " requests.Timeout urllib3.ReadTimeoutError openai.APITimeoutError anthropic.APITimeoutError",
        # It broke while the request was out.
        "5xx": "builtins.ConnectionError httpx.TransportError requests.ChunkedEncodingError urllib3.ProtocolError"
        " anyio.ClosedResourceError anyio.BrokenResourceError anyio.EndOfStream",
        "cause": "requests.ConnectionError urllib3.MaxRetryError urllib.URLError openai.APIConnectionError"
        " anthropic.APIConnectionError",
        # It could not even be built.
        "invalid_arguments": "httpx.UnsupportedProtocol httpx.LocalProtocolError httpx.InvalidURL requests.InvalidURL"
        " requests.MissingSchema requests.InvalidSchema requests.InvalidHeader",
        "schema_validation": "json.JSONDecodeError requests.JSONDecodeError httpx.DecodingError requests.ContentDecodingError"
        " openai.APIResponseValidationError anthropic.APIResponseValidationError",
        "interrupted": "asyncio.CancelledError concurrent.CancelledError",
        "passes": "langgraph.GraphBubbleUp",
    }.items()
    for name in names.split()
}

# Libraries with two names, one a major version.
SAME = {"httpx2": "httpx", "httpcore2": "httpcore"}

# The kind of an answer with this HTTP status, or of an MCP error with this code.
STATUSES = {
    400: "invalid_arguments", 401: "401_unauthorized", 403: "403_forbidden", 404: "404_not_found", 408: "timeout",
    409: "409_conflict", 410: "404_not_found", 412: "412_precondition", 422: "invalid_arguments", 428: "412_precondition",
    429: "429_rate_limited", 451: "403_forbidden", 499: "interrupted", 504: "timeout", 524: "timeout",
}  # fmt: skip
CODES = {-32001: "timeout", -32000: "5xx", -32601: "unknown_tool", -32602: "invalid_arguments"}


def names(value: object) -> Iterator[str]:
    """`package.Class` of each class of a value, the most specific first."""
    for each in type(value).__mro__:
        package = each.__module__.split(".")[0]
        yield f"{SAME.get(package, package)}.{each.__name__}"


def kind_of(raised: BaseException) -> Optional[str]:
    """The kind of an exception, if a row of the table has it."""
    kind = next((KINDS[name] for name in names(raised) if name in KINDS), None)
    if kind == "timeout" and isinstance(raised.__cause__, Exception) and kind_of(raised.__cause__) == "not_sent":
        kind = "not_sent"  # a client of a client: it timed out while it connected
    elif kind == "cause":
        inner = [peek(raised, "reason"), raised.__cause__, *raised.args, raised.__context__]
        kinds = (kind_of(each) for each in inner if isinstance(each, BaseException))
        kind = next((each for each in kinds if each is not None), "5xx")
    if kind == "not_sent" and has_retried(raised):
        return "5xx"
    return kind


def has_retried(raised: BaseException) -> bool:
    """Whether the client of a model has sent the request before, on its own."""
    headers = peek(peek(raised, "request"), "headers")
    return headers is not None and bool(headers.get("x-stainless-retry-count", "0") != "0")


def passes(raised: BaseException) -> bool:
    """Whether an exception is no failure of the tool: a signal of the framework, or the end of the program."""
    kind = kind_of(raised)
    return kind == "passes" or (kind is None and not isinstance(raised, Exception))


def error_of(raised: BaseException) -> Fields:
    """The error that an exception means."""
    response = peek(raised, "response")
    answer = raised if response is None else response
    status = status_of(answer)
    if status is not None:
        return answered(status, answer, raised)
    rpc = peek(raised, "error")  # of MCP
    if any(name in ("mcp.McpError", "mcp.MCPError") for name in names(raised)) and rpc is not None:
        code = peek(rpc, "code")
        rpc_kind = CODES.get(code if isinstance(code, int) else 0) or by_status(code) or "tool_error"
        return {"kind": rpc_kind, "message": text(rpc.message), "code": str(code), "kind_from": "code"}
    kind = kind_of(raised)
    if kind is None:
        said = f"{type(raised).__name__}: {raised}"
        return {"kind": "tool_error", "code": "tool_raised", "message": text(said), "kind_from": "code"}
    return {"kind": kind, "message": text(str(raised) or type(raised).__name__), "kind_from": "code"}


def error_of_value(value: object) -> Optional[Fields]:
    """The error that a result means: an HTTP response that nobody has checked, or a failed result of an MCP tool."""
    for name in names(value):
        if name in ("httpx.Response", "requests.Response"):
            status = status_of(value)
            return answered(status, value, None) if status is not None and status >= 400 else None
        if name in ("mcp.CallToolResult", "mcp_types.CallToolResult"):
            if not (peek(value, "isError") or peek(value, "is_error")):
                return None
            parts = (peek(part, "text") for part in peek(value, "content") or [])
            return {"kind": "tool_error", "message": text("\n".join(part for part in parts if part))}
    return None


def peek(value: object, name: str) -> Any:
    """A field, if it can be read."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def status_of(value: object) -> Optional[int]:
    for name in ("status_code", "status"):
        status = peek(value, name)
        if isinstance(status, int) and not isinstance(status, bool) and 100 <= status <= 599:
            return status
    return None


def by_status(status: object) -> Optional[str]:
    if not isinstance(status, int):
        return None
    return STATUSES.get(status) or ("5xx" if 500 <= status <= 599 else None)


def answered(status: int, answer: object, raised: Optional[BaseException]) -> Fields:
    """The error that an HTTP answer means, as it says it itself."""
    said, code = body_of(answer, raised)
    fields: Fields = {"kind": by_status(status), "kind_from": "code", "status": status, "message": text(said)}
    fields.update(code=code, headers=headers_of(answer))
    return {name: value for name, value in fields.items() if value}


def body_of(answer: object, raised: Optional[BaseException]) -> "tuple[str, Optional[str]]":
    """The message and the code in the body of an answer."""
    body = peek(raised, "body")  # of the clients of models: read already
    plain = str(raised) if raised is not None else ""
    if body is None:
        try:
            plain = answer.text or plain  # type: ignore[attr-defined]
            body = json.loads(plain)
        except Exception:  # nobody has read it, or it is no JSON
            return plain, None
    inner = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(inner, dict):
        return (inner if isinstance(inner, str) else plain), None
    said = next((inner[name] for name in ("message", "detail", "error") if isinstance(inner.get(name), str)), plain)
    code = next((inner[name] for name in ("code", "type") if isinstance(inner.get(name), (str, int))), None)
    return said, None if code is None else str(code)


def headers_of(answer: object) -> Dict[str, str]:
    """The headers of an answer, without cookies and credentials."""
    try:
        pairs = [(str(name).lower(), str(value)) for name, value in answer.headers.items()]  # type: ignore[attr-defined]
    except Exception:
        return {}
    return {text(name): text(value) for name, value in pairs if name not in SECRET}


def text(said: str) -> str:
    """Text that a line can hold."""
    return said[:MESSAGE_MAX].encode("utf-8", "replace").decode("utf-8")
