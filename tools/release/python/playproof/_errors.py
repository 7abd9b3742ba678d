"""What an exception, or a result that is a failure in itself, means as an error of the dispatch protocol.

`failures.json` is the table; the client of TypeScript has the same. No library is imported. Decides nothing: the playbook does.
"""

from __future__ import annotations

import errno
import json
import pathlib
import re
from collections.abc import Mapping
from typing import Any, Dict, Iterator, List, Optional

Fields = Dict[str, Any]

TABLE: Dict[str, Any] = json.loads(pathlib.Path(__file__).with_name("failures.json").read_text(encoding="utf-8"))
WORDS: Dict[str, str] = {word: row["kind"] for row in TABLE["words"] for word in row["words"].split()}
LINKS_MAX = 8
# Libraries with two names, one a major version.
SAME = {"httpx2": "httpx", "httpcore2": "httpcore"}


def peek(value: Any, path: str) -> Any:
    """What is at a path, if it can be read."""
    try:
        for name in path.split("."):
            if name.isdigit():
                value = value[int(name)]
            else:
                value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        return value
    except Exception:
        return None


def each(value: Any, what: str) -> Iterator[Any]:
    """What is at the paths of the table, as far as something is there."""
    return (found for found in (peek(value, path) for path in TABLE["paths"][what]) if found is not None)


def links(raised: BaseException) -> List[BaseException]:
    """An exception, and what it was raised for, the outermost first."""
    chain = [raised]
    while len(chain) < LINKS_MAX:
        inner = (one for one in each(chain[-1], "cause") if isinstance(one, BaseException))
        cause = next((one for one in inner if not any(one is known for known in chain)), None)
        if cause is None:
            break
        chain.append(cause)
    return chain


def words(raised: BaseException) -> Iterator[str]:
    """What an exception says of itself: its code, the name of its errno, its classes, the most specific first."""
    code = peek(raised, "code")
    if isinstance(code, str):
        yield from (f"{peek(raised, 'syscall')}:{code}", code)
    yield errno.errorcode.get(peek(raised, "errno") or 0, "")
    for kind in type(raised).__mro__:
        package = kind.__module__.split(".")[0]
        yield f"{SAME.get(package, package)}.{kind.__name__}"


def wrapper(raised: BaseException) -> Optional[Fields]:
    """The row of an exception that only wraps another."""
    said = set(words(raised))
    for row in TABLE["wrappers"]:
        if re.search(row["text"], str(raised)) if "text" in row else said.intersection(row["words"].split()):
            return dict(row)
    return None


def kind_of(raised: BaseException) -> Optional[str]:
    """The kind of an exception, by what is in it, or in what it was raised for."""
    chain = links(raised)
    outer = [wrapper(one) for one in chain]
    for at, one in enumerate(chain):
        kind = next((WORDS[word] for word in words(one) if word in WORDS), None)
        if kind == "not_sent" and not all(row and is_single(row, of) for row, of in zip(outer[:at], chain)):
            return "5xx"
        if kind is not None:
            return kind
    return next((row["kind"] for row in outer if row is not None), None)


def is_single(row: Fields, raised: BaseException) -> bool:
    """Whether the client has not sent the request before, on its own."""
    return "repeats" not in row or str(peek(raised, row["repeats"])) == "0"


def passes(raised: BaseException) -> bool:
    """Whether an exception is no failure of the tool: a signal of the framework, or the end of the program."""
    kind = kind_of(raised)
    return any(each(raised, "passes")) or kind == "passes" or (kind is None and not isinstance(raised, Exception))


def error_of(raised: BaseException) -> Fields:
    """The error that an exception means."""
    if status_of(raised) is not None:
        return answered(raised, str(raised))
    code = next((code for code in each(raised, "rpc") if is_rpc(code)), None)  # of MCP
    if code is not None:
        kind = TABLE["rpc"].get(str(code)) or by_status(code) or "tool_error"
        said = peek(raised, "error.message") or raised
        return {"kind": kind, "message": text(str(said)), "code": str(code), "kind_from": "code"}
    kind = kind_of(raised)
    if kind is None:
        said = f"{type(raised).__name__}: {raised}"
        return {"kind": "tool_error", "code": "tool_raised", "message": text(said), "kind_from": "code"}
    return {"kind": kind, "message": text(str(raised) or type(raised).__name__), "kind_from": "code"}


def error_of_value(value: object) -> Optional[Fields]:
    """The error that a result means: an HTTP response that nobody has checked, or a failed result of an MCP tool."""
    if any(all(peek(value, name) is not None for name in shape) for shape in TABLE["answers"]):
        return answered(value, "") if (status_of(value) or 0) >= 400 else None
    content = peek(value, "content")
    if isinstance(content, list) and True in each(value, "failed"):
        said = "\n".join(part for part in (peek(part, "text") for part in content) if part)
        rpc = re.search(TABLE["texts"]["rpc"], said)
        return {"kind": TABLE["rpc"].get(rpc.group(1) if rpc else "", "tool_error"), "message": text(said)}
    return None


def status_of(value: object) -> Optional[int]:
    """The HTTP status of an answer, or of an exception that has one."""
    return next((one for one in each(value, "status") if type(one) is not bool and isinstance(one, int) and 100 <= one <= 599), None)


def is_rpc(code: Any) -> bool:
    """Whether this is a code of JSON-RPC, or the HTTP status that stands in its place."""
    least, most = TABLE["rpc_range"]
    return isinstance(code, int) and (least <= code <= most or 100 <= code <= 599)


def by_status(status: Any) -> Optional[str]:
    known: Optional[str] = TABLE["statuses"].get(str(status))
    return known or ("5xx" if isinstance(status, int) and 500 <= status <= 599 else None)


def answered(answer: object, plain: str) -> Fields:
    """The error that an HTTP answer means, as it says it itself."""
    status = status_of(answer)
    said, code = body_of(next((body for body in each(answer, "body") if isinstance(body, (str, dict))), None), plain)
    fields: Fields = {"kind": by_status(status), "kind_from": "code", "status": status, "message": text(said)}
    fields.update(code=code, headers=headers_of(next(each(answer, "headers"), None)))
    return {name: value for name, value in fields.items() if value}


def body_of(body: Any, plain: str) -> "tuple[str, Optional[str]]":
    """The message and the code in the body of an answer."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return body or plain, None
    inner = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(inner, dict):
        return (inner if isinstance(inner, str) else plain), None
    said = next((inner[name] for name in ("message", "detail", "error") if isinstance(inner.get(name), str)), plain)
    code = next((inner[name] for name in ("code", "type") if isinstance(inner.get(name), (str, int))), None)
    return said, None if code is None else str(code)


def headers_of(headers: Any) -> Dict[str, str]:
    """The headers of an answer, without cookies and credentials."""
    try:
        pairs = [(str(name).lower(), str(value)) for name, value in headers.items()]
    except Exception:
        return {}
    return {text(name): text(value) for name, value in pairs if name not in TABLE["secrets"]}


def text(said: str) -> str:
    """Text that a line can hold."""
    return said[: TABLE["message_max"]].encode("utf-8", "replace").decode("utf-8")
