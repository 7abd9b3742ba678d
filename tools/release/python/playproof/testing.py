"""Asks retry code of your own each fixture, in the test's process, on a virtual clock.

    @playproof.cases("fixtures/")               # one test a fixture
    def test_our_retries(case):
        case.run(call_tool)                     # call_tool(tool, args, key), async or blocking

`call_tool` is yours, with the client that it uses; the client's last line is `playproof.send(key=key)`, or an httpx client
has `playproof.httpx_transport()`. The program has the clock, the upstream and its ledger (`playproof conform --stdio`).
"""

from __future__ import annotations

import asyncio
import collections
import contextvars
import dataclasses
import inspect
import json
import os
import random
import subprocess
import threading
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Type, Union

from . import _virtual
from ._calls import PlayproofError, ToolError
from ._dispatcher import find_program
from ._errors import TABLE

Line = Dict[str, Any]
Path = Union[str, "os.PathLike[str]"]
CallTool = Callable[[str, Any, Optional[str]], Any]
CHECKS = ("harm", "decisions", "moments")
FIELDS = ("kind", "message", "status", "code", "retry_after_ms", "should_retry", "headers")
# The status of an answer whose error says only its kind. One that is not here has no answer.
STATUSES: Dict[str, int] = TABLE["status_of_kind"]
UNSET: Any = object()


class _Call:
    """A call of the fixture, and its requests that have no answer yet."""

    def __init__(self, line: Line) -> None:
        self.id, self.tool, self.args, self.key = line["id"], line["tool"], line.get("args"), line.get("key")
        self.sent = 0
        self.answers: Dict[int, Line] = {}
        self.waiting: Dict[int, asyncio.Future[Line]] = {}
        self.task: Optional[asyncio.Task[Any]] = None


_here: "contextvars.ContextVar[Optional[_Call]]" = contextvars.ContextVar("call of a case", default=None)


class _World:
    """A fixture that is asked: speaks with the program, and starts and ends the calls."""

    def __init__(self, case: Case, call_tool: CallTool, error: Any, outcomes: Dict[Type[BaseException], str]) -> None:
        self.call_tool, self.error, self.outcomes = call_tool, error, outcomes
        self.now, self.base, self.reads, self.in_threads, self.is_over = 0, 0, 0, 0, False
        self.thread = threading.get_ident()
        self.others = {other.ident for other in threading.enumerate()} - {self.thread}
        self.out: List[Line] = []
        self.open: Dict[str, _Call] = {}
        self.calls: Dict[str, _Call] = {}
        self.begun: Deque[_Call] = collections.deque()  # by blocking code, one after the other
        self.ends: Dict[str, Any] = {}
        self.result: Line = {}
        self.why: Optional[str] = None
        self.loop: Optional[_virtual.Loop] = None
        self.until = _virtual.REAL["monotonic"]() + _virtual.PATIENCE_S
        self.is_async = is_asynchronous(call_tool)
        options = ["--playbook", case.playbook] if case.playbook else []
        options += ["--apart"] if not self.is_async and case.at_once else []
        command = [case.program, "conform", "--stdio", *options, case.fixture]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self.lines: Any = open(self.process.stdout.fileno(), "rb", closefd=False)  # type: ignore[union-attr]

    # -- what happens --------------------------------------------------------------------------------------------------

    def turn(self, until: Optional[int]) -> None:
        """What was decided is told, and the next thing happens: an answer, a call, or the moment `until`."""
        if self.is_over:
            raise _virtual.Over
        self.check_patience()
        if self.is_over:  # its patience is over
            return
        if until is not None and self.open:
            self.out.append({"wait": next(iter(self.open)), "until_ms": (until - self.base) / 1000})
        if self.why is not None:
            self._say({"error": self.why})
        else:
            self._say({"do": self.out})
        self.out = []
        self._hear()

    def _say(self, line: Line) -> None:
        try:
            self.process.stdin.write(json.dumps(line).encode() + b"\n")  # type: ignore[union-attr]
        except OSError:  # it has ended: it says why
            pass

    def _hear(self) -> None:
        self.reads = 0
        text = self.lines.readline()
        line: Line = json.loads(text) if text else {"type": "lost"}
        if line["type"] in ("result", "lost"):
            self.result, self.is_over = line, True
            if self.loop is None:
                raise _virtual.Over
            return self.loop.stop()
        if line["type"] == "hello":  # the next call is asked as if it were alone: time goes on
            self.base = self.now
            return
        self.now = max(self.now, self.base + round(line["at_ms"] * 1000))
        call = self.calls.get(line["id"])
        if line["type"] == "call":
            call = self.calls[line["id"]] = self.open[line["id"]] = _Call(line)
            if self.loop is None:
                self.begun.append(call)
            else:
                self._start(call, self.loop)
        elif call is None:
            pass
        elif line["type"] == "cancel" and call.task is not None:
            call.task.cancel()
        elif line["type"] == "answer" and not line.get("late"):
            waiting = call.waiting.pop(line["attempt"], None)
            if waiting is None:
                call.answers[line["attempt"]] = line
            elif not waiting.done():
                waiting.set_result(line)

    def check_patience(self) -> None:
        if self.why is None and _virtual.REAL["monotonic"]() > self.until:
            self.give_up(f"it does not end within {_virtual.PATIENCE_S:g} s")

    def give_up(self, why: str) -> None:
        self.why = why
        if self.loop is not None:  # it may never wait again
            self._give_up_now()

    def _give_up_now(self) -> None:
        self._say({"error": self.why})
        try:
            self._hear()
        except _virtual.Over:
            pass

    def _end(self, call: _Call, outcome: str, what: Any) -> None:
        self.open.pop(call.id, None)
        self.ends[call.id] = what
        if isinstance(what, BaseException) and outcome == "raised":
            outcome = next((word for kind, word in self.outcomes.items() if isinstance(what, kind)), "raised")
        self.out.append({"done": call.id, "outcome": outcome})

    # -- asynchronous code ---------------------------------------------------------------------------------------------

    def _start(self, call: _Call, loop: _virtual.Loop) -> None:
        async def run() -> Any:
            _here.set(call)
            return await self.call_tool(call.tool, call.args, call.key)

        def ended(task: asyncio.Task[Any]) -> None:
            if self.is_over:
                task.cancelled() or task.exception()  # looked at
            elif task.cancelled():
                self._end(call, "cancelled", None)
            else:
                raised = task.exception()
                self._end(call, "value" if raised is None else "raised", task.result() if raised is None else raised)

        call.task = contextvars.copy_context().run(loop.create_task, run())
        call.task.add_done_callback(ended)

    def _asynchronous(self) -> None:
        loop = self.loop = _virtual.Loop(self)
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            for _ in range(100):  # what is left is the code's own, and time stands still
                left = asyncio.all_tasks(loop)
                if not left:
                    break
                for task in left:
                    task.cancel()
                loop.run_until_complete(asyncio.sleep(0))
            else:
                for task in asyncio.all_tasks(loop):
                    task._log_destroy_pending = False  # type: ignore[attr-defined]
        finally:
            asyncio.set_event_loop(None)
            loop.close()

    # -- blocking code -------------------------------------------------------------------------------------------------

    def _blocking(self) -> None:
        try:
            while True:
                while not self.begun:
                    self.turn(None)
                call = self.begun.popleft()
                token = _here.set(call)
                try:
                    self._end(call, "value", self.call_tool(call.tool, call.args, call.key))
                except Exception as raised:
                    self._end(call, "raised", raised)
                finally:
                    _here.reset(token)
        except _virtual.Over:
            pass

    # -- from its beginning to its end ---------------------------------------------------------------------------------

    def run(self) -> Line:
        luck = random.getstate()
        random.seed(0)
        try:
            with _virtual.clocks(self):
                try:
                    self._hear()  # hello
                    self._asynchronous() if self.is_async else self._blocking()
                except _virtual.Over:
                    pass
                if self.why is not None and not self.is_over:
                    self._give_up_now()
        finally:
            random.setstate(luck)
            self.process.stdin.close()  # type: ignore[union-attr]
            said = self.process.stderr.read().decode("utf-8", "replace").strip()  # type: ignore[union-attr]
            self.lines.close()
            self.process.stdout.close()  # type: ignore[union-attr]
            self.process.stderr.close()  # type: ignore[union-attr]
            self.process.wait()
        if self.result.get("type") != "result":
            raise PlayproofError(f"the program ended without a result: {said}")
        return self.result

    def read(self, line: Line) -> Any:
        if line.get("ok") is True:
            return {"ok": True}
        facts = line.get("error") or {}
        if self.error is not None:
            raise self.error(facts, bool(line.get("timeout")))
        if line.get("timeout"):
            raise asyncio.TimeoutError(facts.get("message") or "no answer in time")
        known = {name: facts[name] for name in FIELDS if name in facts}
        raise ToolError(**known, accepted=bool(line.get("accepted")), suspected=bool(line.get("suspected")))


def is_asynchronous(function: Any) -> bool:
    inner = getattr(function, "func", function)  # of a partial
    return any(inspect.iscoroutinefunction(each) for each in (function, inner, getattr(function, "__call__", None)))


def send(*, key: Optional[str] = UNSET, timeout: Optional[float] = None) -> Any:
    """One request of the current call to the fixture's upstream; in asynchronous code it is awaited. `key` is the one that
    is really sent (without it, the call's own), `timeout` in seconds."""
    world, call = _virtual.world, _here.get()
    if world is None or call is None:
        raise RuntimeError("`send` is for code that `case.run` asks")
    if threading.get_ident() != world.thread:
        raise RuntimeError("a second thread sends: its time cannot be virtual")
    call.sent += 1
    number, line = call.sent, {"send": call.id, "attempt": call.sent}
    if key is not UNSET:
        line["key"] = key
    if timeout is not None:
        line["within_ms"] = timeout * 1000
    world.out.append(line)
    if world.loop is not None:
        future = call.waiting[number] = world.loop.create_future()
        return _answer(world, future)
    while number not in call.answers:
        world.turn(None)
    return world.read(call.answers.pop(number))


async def _answer(world: _World, future: asyncio.Future[Line]) -> Any:
    return world.read(await future)


def httpx_transport() -> Any:
    """A transport of `httpx.Client` and `httpx.AsyncClient`: the fixture's upstream behind HTTP. The key that is sent is in
    the header `Idempotency-Key`."""
    import httpx

    def ask(request: httpx.Request) -> Any:
        within = (request.extensions.get("timeout") or {}).get("read")
        return send(key=request.headers.get("idempotency-key"), timeout=within)

    def failed(request: httpx.Request, error: Any) -> httpx.Response:
        if not isinstance(error, ToolError):
            raise httpx.ReadTimeout(str(error), request=request) from None
        said = error.fields
        status = said.get("status") or STATUSES.get(said.get("kind", ""))
        if status is None:  # no answer came
            raised = httpx.ConnectError if said.get("kind") == "not_sent" else httpx.ReadError
            raise raised(str(error), request=request) from None
        headers = {name: str(value) for name, value in (said.get("headers") or {}).items()}
        if "retry_after_ms" in said:
            headers["retry-after"] = f"{said['retry_after_ms'] / 1000:g}"
        body = {name: said[name] for name in ("message", "code", "kind") if name in said}
        return httpx.Response(status, headers=headers, json={"error": body}, request=request)

    class Transport(httpx.BaseTransport, httpx.AsyncBaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            try:
                return httpx.Response(200, json=ask(request), request=request)
            except (ToolError, asyncio.TimeoutError) as error:
                return failed(request, error)

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            try:
                return httpx.Response(200, json=await ask(request), request=request)
            except (ToolError, asyncio.TimeoutError) as error:
                return failed(request, error)

    return Transport()


@dataclasses.dataclass
class Case:
    """A fixture that code can be asked."""

    fixture: str
    name: str
    title: str
    calls: int
    at_once: bool
    apart: bool
    skip: Optional[str]
    playbook: Optional[str] = None
    program: str = "playproof"

    def rehearse(
        self,
        call_tool: CallTool,
        *,
        error: Optional[Callable[[Line, bool], BaseException]] = None,
        outcomes: Optional[Dict[Type[BaseException], str]] = None,
    ) -> Line:
        """What the code does: the last line of the program, with what each call returned or raised in `ends`."""
        if not callable(call_tool):
            raise TypeError("`call_tool(tool, args, key)` is a function")
        if asyncio._get_running_loop() is not None:
            raise RuntimeError("a case has a loop of its own: call it from an ordinary `def` test")
        world = _World(self, call_tool, error, outcomes or {})
        return {**world.run(), "ends": world.ends}

    def run(
        self,
        call_tool: CallTool,
        *,
        check: str = "harm",
        error: Optional[Callable[[Line, bool], BaseException]] = None,
        outcomes: Optional[Dict[Type[BaseException], str]] = None,
    ) -> None:
        """Asks the code, and fails at harm; with `check="decisions"` also where it sends or ends otherwise than the playbook,
        and with `"moments"` also where it does so at another time. `error(fields, is_timeout)` makes what `send` raises;
        `outcomes` names the exceptions that mean an outcome of the playbook."""
        __tracebackhide__ = True
        if check not in CHECKS:
            raise ValueError(f"no check `{check}`, only {', '.join(CHECKS)}")
        if self.at_once and not self.apart and not is_asynchronous(call_tool):
            import unittest

            raise unittest.SkipTest("calls at once that share something: blocking code would need threads")
        result = self.rehearse(call_tool, error=error, outcomes=outcomes)
        said = explain(result, check) or unsent(result)
        if said:
            raise AssertionError(said)


def explain(result: Line, check: str = "harm") -> str:
    """What is wrong with what code did; nothing: an empty text."""
    said = []
    for harm in result["harm"]:
        call, effects = harm["call"], harm["effects"]
        if harm["finding"] == "untruthful_outcome":
            said.append(f"harm: {call} returned a value, and the upstream has no effect")
        else:
            had = "had" if harm["finding"] == "duplicate_effect" else "may have had"
            said.append(f"harm: {call} {had} {effects['code']} effects upstream, under the playbook {effects['playbook']}")
    for name, what in (("differs", "other decision"), ("moments", "other moment")):
        if result[name] and check in ("decisions", "moments") and (name == "differs" or check == "moments"):
            said.append("first {}, {call}: playbook {playbook}, your code {code}".format(what, **result[name]))
    if result["stopped"]:
        said.append("stopped: " + ", ".join(result["stopped"].values()))
    if said:
        sends = (
            f"{sent['call']} {sent['attempt']} at {sent['at_ms']:g} ms key {sent['key']}"
            + (" (not in the fixture: taken as done)" if sent["assumed"] else "")
            for sent in result["sends"]
        )
        said.append("sends: " + ("; ".join(sends) or "none"))
        said.append(f"playproof explain {result['fixture']} shows what the playbook does")
    return "\n".join(said)


def unsent(result: Line) -> str:
    """Code that breaks before it sends does no harm, but was not asked either."""
    decided = (each for decisions in result["decided"].values() for each in decisions)
    if result["sends"] or not any(each["what"].startswith("send") for each in decided):
        return ""
    raised = ((call, what) for call, what in result["ends"].items() if isinstance(what, BaseException))
    return next((f"no request was made: {call} ended with {type(what).__name__}: {what}" for call, what in raised), "")


def listed(path: Path, *, playbook: Optional[Path] = None, program: Optional[Path] = None) -> Iterator[Case]:
    """The fixtures of a folder, or one, that run under the playbook."""
    command = [os.fspath(program or find_program()), "conform", "--list"]
    command += ["--playbook", os.fspath(playbook)] if playbook else []
    try:
        done = subprocess.run([*command, os.fspath(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise PlayproofError(f"{command[0]} cannot be started: {error}") from None
    if done.returncode:
        raise PlayproofError(done.stderr.decode("utf-8", "replace").strip())
    for line in done.stdout.decode("utf-8").splitlines():
        yield Case(**json.loads(line), playbook=os.fspath(playbook) if playbook else None, program=command[0])


def cases(path: Path, *, playbook: Optional[Path] = None, program: Optional[Path] = None) -> Any:
    """Makes one test of pytest for each fixture; those that plain code cannot be asked are skipped, with the reason."""
    import pytest

    def row(case: Case) -> Any:
        why = f"plain code cannot be asked: under the playbook it {case.skip}"
        return pytest.param(case, id=case.name, marks=[pytest.mark.skip(reason=why)] if case.skip else [])

    return pytest.mark.parametrize("case", [row(case) for case in listed(path, playbook=playbook, program=program)])
