"""Runs tool calls under a playbook: `playproof serve` decides, this driver waits and sends.

    async with playproof.Dispatcher("playbooks/ours.yaml", journal="calls.jsonl") as d:
        outcome = await d.call("payments.issue_refund", {"order": "o_91"}, send, key="ik_91", run="r1")

It speaks the dispatch protocol. What the process knows is in its journal; what is out, and what has come back, is here.
After the death of the process, both are compared, and no request is ever made twice.
"""

from __future__ import annotations

import asyncio
import collections
import contextvars
import functools
import inspect
import json
import os
import secrets
import shutil
import time
from typing import Any, Callable, Deque, Dict, Iterable, List, Optional, Tuple, TypeVar, Union

from . import __main__ as program_of_the_wheel
from . import _calls, _errors, _transactions
from ._calls import FORMS, Attempt, Call, DispatcherLost, Event, Outcome, PlayproofError, Send, Tool, ToolError
from ._process import Process
from ._threads import Threads
from ._transactions import ACTS, Transaction

RESTARTS_MAX = 20  # in a row, without one answered line between them
JOURNAL_AGAIN_S = 1.0  # a line that the journal could not take is said again
NO_HANDLER = {"error": {"status": 400, "message": "no handler"}}
NOT_SENT = {"error": {"kind": "not_sent", "message": "its caller went away before it was sent"}}
INTERRUPTED = {"error": {"kind": "interrupted", "message": "the program that sent it has ended"}}
UNREADABLE = ("bad_line", "line_too_long", "unknown_type")
NOT_STARTED = "the dispatcher has not started, or is closed: use it in `async with`, or `with` of a `SyncDispatcher`"
STARTED = "the dispatcher has started before: make another one"
SUCCESS = ("succeeded", "succeeded_after_compensation")
SHARED = ("joined", "cached")

Function = TypeVar("Function", bound=Callable[..., Any])
Path = Union[str, "os.PathLike[str]"]
OfArguments = Union[str, Callable[..., str], None]
encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
decode = json.JSONDecoder().decode


class _Said:
    """A line whose answer has not come."""

    __slots__ = ("kind", "line", "call", "answer")

    def __init__(self, kind: str, line: bytes, call: Optional[_Open], answer: Optional[asyncio.Future[Any]]) -> None:
        self.kind, self.line, self.call, self.answer = kind, line, call, answer


class _Request:
    """One request that was asked for. `said` is its answer, once it has one."""

    __slots__ = ("attempt", "task", "timer", "is_blocking", "started", "within", "has_timed_out", "said")

    def __init__(self, attempt: Attempt, within: float) -> None:
        self.attempt, self.within = attempt, within
        self.task: Optional[asyncio.Task[Any]] = None
        self.timer: Optional[asyncio.TimerHandle] = None
        self.is_blocking = self.has_timed_out = False
        self.started = 0.0
        self.said: Optional[bytes] = None

    def left_s(self) -> float:
        return self.within - (time.monotonic() - self.started) + self.attempt.held_so_far()


class _Open:
    """A call that has not ended. One of a program that has ended has no `made`."""

    def __init__(self, id: str, tool: str, args: Any, key: Optional[str], run: Optional[str], made: Optional[Call]) -> None:
        self.id, self.tool, self.args, self.key, self.run, self.made = id, tool, args, key, run, made
        self.context = contextvars.copy_context()
        self.ended: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.was_heard = self.has_gone = False
        self.requests: Dict[Tuple[Any, Any, Any], _Request] = {}
        self.waits: Dict[float, asyncio.TimerHandle] = {}
        self.of: Optional[_Open] = None
        self.transaction: Optional[str] = None
        self.values: Dict[str, Any] = {}  # of an action: of its steps
        self.value: Any = None
        self.error: Any = None
        self.refreshed: Any = None

    def outcome(self, said: Dict[str, Any], **rest: Any) -> Outcome:
        return Outcome(said, self.tool, self.args, self.key, self.run, **rest)

    def stop_waiting(self) -> None:
        for timer in self.waits.values():
            timer.cancel()
        self.waits.clear()


class Dispatcher:
    """A dispatcher for asyncio. All handlers may be asynchronous or blocking, and may be set until it starts."""

    def __init__(
        self,
        playbook: Path,
        *,
        journal: Optional[Path] = None,
        lock: Optional[Path] = None,
        unlocked: bool = False,
        shadow: bool = False,
        program: Optional[Path] = None,
        on_refresh: Optional[Send] = None,
        on_reversal: Optional[Send] = None,
        on_queue: Optional[Callable[[Outcome], Any]] = None,
        on_event: Optional[Callable[[Event], None]] = None,
        messages: Iterable[str] = FORMS,
    ) -> None:
        self._command = [program or find_program(), "serve", "--playbook", playbook]
        self._command += ["--journal", journal] if journal else []
        self._command += ["--lock", lock] if lock else []
        self._command += ["--unlocked"] if unlocked else []
        self._command += ["--shadow"] if shadow else []
        self._shadow = shadow
        self._has_journal = journal is not None
        #: Makes a new snapshot of the evidence; the attempts after it have what it returned as `refreshed`.
        self.on_refresh = on_refresh
        #: Redeems `attempt.token`.
        self.on_reversal = on_reversal
        #: Hands an escalated call over to `outcome.queue`.
        self.on_queue = on_queue
        #: Gets each decision.
        self.on_event = on_event
        self._messages = list(messages)
        self._threads = Threads()
        self._process: Optional[Process] = None
        self._lost: Optional[str] = None  # why no call can be made
        self._is_closing = False
        self._next: Optional[Process] = None  # that has not answered `hello`
        self._hello: Optional[asyncio.Future[None]] = None
        self._again: Optional[asyncio.Task[None]] = None
        self._unheard: Deque[_Said] = collections.deque()
        self._calls: Dict[str, _Open] = {}
        self._ended: "collections.OrderedDict[str, Outcome]" = collections.OrderedDict()  # of calls with keys or in transactions
        self._tools: Dict[str, Tool] = {}
        self._tasks: "set[asyncio.Task[Any]]" = set()
        self._prefix, self._number = secrets.token_hex(4), 0
        self._zero, self._base = time.monotonic(), 0.0
        self._in_a_row = 0
        #: How often the process was started again.
        self.restarts = 0
        #: The transactions whose state was lost with the program that had this journal: `run`, `transaction` and `state`, its names.
        self.lost: List[Dict[str, Any]] = []

    async def __aenter__(self) -> Dispatcher:
        await self.start()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    # -- what a program says -------------------------------------------------------------------------------------------

    async def call(
        self,
        tool: str,
        args: Any,
        send: Send,
        *,
        key: Optional[str] = None,
        run: Optional[str] = None,
        token: Optional[str] = None,
        timeout_ms: Optional[float] = None,
        answer_within_ms: Optional[float] = None,
        steps: Optional[Dict[str, Any]] = None,
        id: Optional[str] = None,
    ) -> Outcome:
        """Makes a call. `send(attempt)` makes one request of it, as often as the playbook says."""
        return await self.make(Call(tool, args, send, key, run, token, timeout_ms, answer_within_ms, steps, id))

    async def make(self, made: Call) -> Outcome:
        """Makes a call."""
        if self._shadow:
            return await self._make_beside(made)
        call = self._begin(made)
        try:
            outcome = await call.ended
        except asyncio.CancelledError:
            self._cancel(call)
            raise
        if outcome.outcome == "lost":
            raise DispatcherLost(outcome.said["text"], outcome)
        return outcome

    async def _make_beside(self, made: Call) -> Outcome:
        """In the shadow: sends at once, whatever becomes of the dispatcher, and tells it what came."""
        try:
            call = self._begin(made)
        except PlayproofError:
            call = _Open(made.id or "", made.tool, made.args, made.key, made.run, made)
        attempt = Attempt(call.id, made.tool, made.args, made.key, call.run, 1)
        request = call.requests["attempt", 1, None] = _Request(attempt, 1e12)
        request.started = time.monotonic()
        try:
            value = await self._run(made.send, attempt)
        except BaseException as raised:
            self._tell_beside(call, request, raised, None)
            raise
        self._tell_beside(call, request, None, value)
        return call.outcome({"done": call.id, "outcome": "succeeded", "attempts": 1}, value=value, ok=True)

    def _tell_beside(self, call: _Open, request: _Request, raised: Optional[BaseException], value: Any) -> None:
        if request.timer is not None:
            request.timer.cancel()
        if self._calls.pop(call.id, None) is not call or self._lost is not None:
            return
        if raised is not None and _errors.passes(raised):
            self._say(call, type="cancel", id=call.id)
        elif request.has_timed_out:
            self._answer_late(call, request, what_came(raised, value))
        else:
            self._answer(call, request, what_came(raised, value))

    async def gather(self, calls: Iterable[Call]) -> List[Outcome]:
        """Makes calls at once, in their order, and gives their outcomes in the same order. One is `lost` if need be.

        What is wrong with any of them is raised before the first is sent.
        """
        calls, ids = list(calls), set(self._calls)
        for made in calls:
            made.check()
            encode([made.args, made.steps])
            if made.id in ids:
                raise ValueError(f"a call has the id {made.id}")
            ids.update([made.id] if made.id else [])
        return list(await asyncio.gather(*(self._outcome(made) for made in calls)))

    async def _outcome(self, made: Call) -> Outcome:
        try:
            return await self.make(made)
        except DispatcherLost as lost:
            return lost.outcome

    def tool(
        self,
        name: str,
        *,
        key: OfArguments = None,
        run: OfArguments = None,
        step: OfArguments = None,
        timeout_ms: Optional[float] = None,
    ) -> Callable[[Function], Function]:
        """The function is a tool: who calls it makes a call, and gets its result, or `CallFailed`.

        `key`, `run` and `step` are texts or functions of the same arguments; `run` and `step` are by default those of
        `playproof.run(..)`. `key="auto"` makes one of run, step, tool and arguments.
        """

        def wrap(function: Function) -> Function:
            tool = self.add_tool(Tool(name, function, key, run, step, timeout_ms))

            @functools.wraps(function)
            async def wrapped(*given: Any, **named: Any) -> Any:
                return await self.call_tool(tool, given, named)

            return wrapped  # type: ignore[return-value]

        return wrap

    def add_tool(self, tool: Tool) -> Tool:
        """Knows a tool; steps of actions use it, too."""
        self._tools[tool.name] = tool
        return tool

    async def call_tool(self, tool: Tool, given: Tuple[Any, ...], named: Dict[str, Any]) -> Any:
        """The result of a call of a function that is a tool; `CallFailed` if it has none."""
        made = tool.call(given, named)
        if tool.key == "auto" and (await self._facts(tool.name)).get("repeatable"):
            raise ValueError(f'{tool.name}: key="auto" would make one of the calls of a tool that is `repeatable`')
        return (await self.make(made)).result()

    def transaction(self, label: str, *, run: Optional[str] = None) -> Transaction:
        """`async with` it: the calls within belong to it, and its state is committed as one at its end, or `RolledBack` is raised."""
        return Transaction(self, label, run)

    async def _act(self, act: str, of: Transaction, **fields: Any) -> Any:
        """Does something with a transaction: its end."""
        self._number += 1
        line = dict(type=act, id=f"{of.run or 'call'}-{self._prefix}-{self._number}", transaction=of.label, **fields)
        line.update({} if of.run is None else {"run": of.run})
        if not self._shadow:
            return (await self._ask(**line))["do"][0]
        if self._lost is None and self._process is not None:
            self._say(None, **line)
        return None

    async def valid_next(self, run: str) -> Optional[List[str]]:
        """The actions that the run may make now; none without a graph."""
        answer = await self._ask(type="ask", what="next", run=run)
        return None if answer["next"] is None else list(answer["next"])

    async def history(self, run: Optional[str] = None) -> Dict[str, Any]:
        """The calls that have ended (`history`) and those that have not (`open`)."""
        return await self._ask(type="ask", what="history", **({} if run is None else {"run": run}))

    async def resolve(self, id: str, effect: str, by: str) -> None:
        """A person, `by`, says what an escalated call did: `applied` or `not_applied`."""
        await self._ask(type="resolve", id=id, effect=effect, by=by)

    async def end_run(self, run: str) -> None:
        """The run makes no more calls."""
        await self._ask(type="end_run", run=run)

    async def _ask(self, **line: Any) -> Dict[str, Any]:
        if self._lost is not None or (self._process is None and self._again is None):
            raise PlayproofError(self._lost or NOT_STARTED)
        answer: asyncio.Future[Dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._say(None, answer, **line)
        return await answer

    async def _facts(self, tool: str) -> Dict[str, Any]:
        try:
            return await self._ask(type="ask", what="tool", tool=tool)
        except PlayproofError:  # a dispatcher that is not asked for facts
            return {}

    # -- the process ---------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Starts the process, and takes over what its journal has."""
        if self._next is not None or self._process is not None or self._lost is not None or self._is_closing:
            raise PlayproofError(STARTED)
        await self._connect()

    async def _connect(self) -> None:
        process = self._next = Process(self._on_line, self._on_end)
        self._hello = asyncio.get_running_loop().create_future()
        try:
            await process.start([os.fspath(word) for word in self._command])
        except OSError as error:
            raise PlayproofError(f"the dispatcher cannot be started: {error}") from None
        hello = dict(type="hello", protocol="dispatch/1", events=self.on_event is not None, messages=self._messages)
        hello["goes_on"] = self.restarts > 0  # what transactions have written is here
        process.say(encode(hello).encode() + b"\n")
        try:
            await self._hello
        except PlayproofError:
            if not process.ended.done():
                await process.close()
            raise

    async def close(self) -> None:
        """Cancels what is open, and ends the process."""
        self._is_closing = True  # who dies now is not started again
        if self._again is not None:
            await asyncio.wait([self._again])
        for call in list(self._calls.values()):
            self._cancel(call)
            call.ended.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        while self._unheard and self._process is not None and not self._process.ended.done():
            await asyncio.sleep(0.001)
        self._lost = self._lost or "the dispatcher is closed"
        if self._process is not None:
            await self._process.close()
        self._threads.close()

    def _on_end(self, process: Process) -> None:
        if self._hello is not None:
            said = process.stderr().replace("`--unlocked`", "`unlocked=True`") or "it said nothing"
            hello, self._hello = self._hello, None
            hello.set_exception(PlayproofError(f"the dispatcher did not start: {said}"))
        elif not self._is_closing:
            self._process = None
            self._again = asyncio.get_running_loop().create_task(self._start_again(process.stderr()))

    async def _start_again(self, stderr: str) -> None:
        self._in_a_row += 1
        self.restarts += 1
        try:
            if self._in_a_row > RESTARTS_MAX:
                raise PlayproofError(f"the dispatcher ended {self._in_a_row} times in a row: {stderr}")
            await self._connect()
        except PlayproofError as error:
            self._lost = str(error)
            for call in list(self._calls.values()):
                self._lose(call, self._lost)
            for said in self._unheard:
                if said.answer is not None and not said.answer.done():
                    said.answer.set_exception(PlayproofError(self._lost))
            self._unheard.clear()
        if self._again is asyncio.current_task():
            self._again = None

    def _take_over(self, hello: Dict[str, Any]) -> None:
        """Compares what the process knows with what is here, and says again what it has not heard."""
        self._process, self._next = self._next, None
        self._base = max(self._base, float(hello["at_ms"]) - (time.monotonic() - self._zero) * 1000)
        self.lost += hello.get("lost", [])
        unheard, self._unheard = self._unheard, collections.deque()
        ended = {end["done"]: end for end in hello["ended"]}
        known = {end["done"] for end in hello["ended"]} | {each["id"] for each in hello["open"]}
        for call in self._calls.values():
            call.stop_waiting()
        for end in hello["ended"]:
            if end["done"] in self._calls:
                self._do(end)
        foreign = []
        for each in hello["open"]:
            call = self._calls.get(each["id"]) or self._take_open(each)
            call.was_heard = True
            if call.made is None and not call.requests and not any("send" in want for want in each["do"]):
                foreign.append(call)
            for want in each["do"]:
                if call.made is not None or "send" in want:
                    self._do(want, INTERRUPTED)
        for call in foreign:
            self._cancel(call)
        for call in list(self._calls.values()):
            if call.id not in known and call.has_gone:
                self._calls.pop(call.id)
            elif call.id not in known and (call.was_heard or not self._has_journal):
                self._lose(call, "the dispatcher ended, and does not know the call")
        for said in unheard:  # an answer to a request that is still out was said again; a wait has begun again
            is_known = said.call is None or said.call.id in known
            is_open = said.call is not None and said.call.id in self._calls
            if said.kind in ("answer", "wake") or (said.kind == "call" and is_known):
                continue
            act = decode(said.line.decode())["id"] if said.kind in ACTS else ""
            if act in ended:
                if said.answer is not None and not said.answer.done():
                    said.answer.set_result({"do": [ended[act]]})
                continue
            if is_known or is_open:
                self._write(said)

    def _take_open(self, each: Dict[str, Any]) -> _Open:
        """A call that is not known here: a step of an own one, or a call of a program that has ended."""
        of = self._calls.get(each.get("of", ""))
        made = None if of is None else of.made
        call = _Open(each["id"], each["tool"], each["args"], each.get("key"), each.get("run"), made)
        if of is not None:
            call.of, call.context, call.run = of, of.context, of.run
        self._calls[call.id] = call
        return call

    def _now(self) -> float:
        return round((time.monotonic() - self._zero) * 1000 + self._base, 3)

    def _say(self, call: Optional[_Open], answer: Optional[asyncio.Future[Any]] = None, kind: str = "", **line: Any) -> bytes:
        line.setdefault("at_ms", self._now())
        encoded = encode(line).encode() + b"\n"
        self._write(_Said(kind or line["type"], encoded, call, answer))
        return encoded

    def _write(self, said: _Said) -> None:
        """Says a line; while the process is away, it waits."""
        self._unheard.append(said)
        if self._process is not None:
            self._process.say(said.line)

    def _on_line(self, line: bytes) -> None:
        try:
            answer = decode(line.decode())
        except ValueError:
            process = self._process if self._hello is None else self._next
            return None if process is None else process.refuse(line)
        if self._hello is not None:
            hello, self._hello = self._hello, None
            if "error" in answer:
                return hello.set_exception(PlayproofError(answer["error"], answer.get("code")))
            self._take_over(answer)
            return hello.set_result(None)
        self._in_a_row = 0
        said = self._unheard.popleft()
        if "error" in answer:
            return self._on_error(said, answer["error"], answer.get("code", ""))
        if said.kind == "call" and said.call is not None:
            said.call.was_heard = True
        for want in answer.get("do", ()):
            self._do(want)
        if self.on_event is not None:
            for event in answer.get("events", ()):
                self._tell(event)
        if said.answer is not None and not said.answer.done():
            said.answer.set_result(answer)

    def _tell(self, event: Event) -> None:
        try:
            self.on_event(event)  # type: ignore[misc]
        except Exception as error:
            self._complain("the handler of an event", error)

    def _complain(self, what: str, error: BaseException) -> None:
        asyncio.get_running_loop().call_exception_handler({"message": f"playproof: {what} raised", "exception": error})

    def _on_error(self, said: _Said, text: str, code: str) -> None:
        call = said.call
        if said.answer is not None:
            if not said.answer.done():
                said.answer.set_exception(PlayproofError(text, code))
        elif said.kind == "call" and call is not None:  # nothing was sent for it
            self._calls.pop(call.id, None)
            if not call.ended.done():
                call.ended.set_exception(PlayproofError(text, code))
        elif code == "journal":
            asyncio.get_running_loop().call_later(JOURNAL_AGAIN_S, self._say_again, said)
        elif code in UNREADABLE and call is not None and self._calls.get(call.id) is call:
            self._lose(call, f"the dispatcher refused an answer: {text}")

    def _say_again(self, said: _Said) -> None:
        if self._process is not None and not self._is_closing:
            self._write(said)

    # -- what the dispatcher wants -------------------------------------------------------------------------------------

    def _do(self, want: Dict[str, Any], foreign: Optional[Dict[str, Any]] = None) -> None:
        if "done" in want:
            return self._end(want)
        call = self._calls.get(want.get("send") or want.get("wait") or want.get("of") or "")
        if call is None:  # of a call that was given up here
            return
        if "step" in want:
            step = _Open(want["step"], want["tool"], want["args"], want.get("key"), call.run, call.made)
            step.of, step.context, step.was_heard = call, call.context, True
            self._calls[step.id] = step
        elif call.made is None:
            self._turn_away(call, want, foreign)
        elif "send" in want:
            self._request(call, want)
        else:
            until = want["until_ms"]
            delay = max(0.0, until - self._now()) / 1000
            call.waits[until] = asyncio.get_running_loop().call_later(delay, self._wake, call, until)

    def _turn_away(self, call: _Open, want: Dict[str, Any], foreign: Optional[Dict[str, Any]]) -> None:
        """A call of a program that has ended: what it sent was interrupted, and nobody sends more."""
        if foreign is None or "send" not in want:
            return self._cancel(call)
        fields = {each: want[each] for each in ("attempt", "asked") if each in want}
        self._say(call, type="answer", id=call.id, **fields, **foreign)

    def _wake(self, call: _Open, until: float) -> None:
        call.waits.pop(until, None)
        if self._process is not None:
            self._say(call, type="wake", id=call.id, at_ms=max(until, self._now()))

    def _request(self, call: _Open, want: Dict[str, Any]) -> None:
        """Makes a request, once: what is asked for again is still out, or is answered again."""
        asked = want.get("asked", "attempt")
        name = (asked, want.get("attempt"), want.get("evidence"))
        request = call.requests.get(name)
        if request is not None:
            if self._shadow and request.timer is None:
                request.within = want["within_ms"] / 1000
                left = max(0.0, request.left_s())
                request.timer = asyncio.get_running_loop().call_later(left, self._on_time_beside, call, request)
            if request.said is not None:
                self._write(_Said("answer", request.said, call, None))
            return
        attempt = Attempt(call.id, call.tool, call.args, call.key, call.run, want.get("attempt", 0), asked)
        attempt.token, attempt.evidence = want.get("token"), want.get("evidence", 0)
        attempt.refreshed = call.refreshed
        request = call.requests[name] = _Request(attempt, want.get("within_ms", 1e12) / 1000)
        send = {"refresh": self.on_refresh, "reversal": self.on_reversal}.get(asked, self._send_of(call))
        if call.has_gone or send is None:
            return self._answer(call, request, NOT_SENT if call.has_gone else NO_HANDLER)
        loop = asyncio.get_running_loop()
        request.is_blocking, request.started = not is_asynchronous(send), time.monotonic()
        request.task = call.context.run(loop.create_task, self._run(send, attempt))
        request.task.add_done_callback(functools.partial(self._on_made, call, request))
        request.timer = loop.call_later(request.within, self._on_time, call, request)

    def _send_of(self, call: _Open) -> Send:
        of_step = self._tools.get(call.tool) if call.of is not None else None
        return call.made.send if of_step is None else of_step.send  # type: ignore[union-attr]

    async def _run(self, function: Callable[[Any], Any], about: Any) -> Any:
        if isinstance(about, Attempt):
            _calls._ATTEMPT.set(about)
        if is_asynchronous(function):
            return await function(about)
        value = await self._threads.run(function, about)
        return await value if inspect.isawaitable(value) else value

    def _on_time(self, call: _Open, request: _Request) -> None:
        left = request.left_s()
        if request.task is None or request.task.done():
            return
        if left > 0.0005:  # its clock stood still
            request.timer = asyncio.get_running_loop().call_later(max(left, 0.05), self._on_time, call, request)
            return
        request.has_timed_out = True
        call.error = TimeoutError(f"no answer within {request.within * 1000:g} ms")
        self._answer(call, request, {"timeout": True})
        if not request.is_blocking:
            request.task.cancel()

    def _on_time_beside(self, call: _Open, request: _Request) -> None:
        request.has_timed_out = True
        self._answer(call, request, {"timeout": True})

    def _on_made(self, call: _Open, request: _Request, task: asyncio.Task[Any]) -> None:
        """A function has returned, raised, or was cancelled."""
        if request.timer is not None:
            request.timer.cancel()
        raised = asyncio.CancelledError() if task.cancelled() else task.exception()
        is_ours = request.has_timed_out or call.has_gone
        if raised is not None and is_ours and not request.is_blocking:
            return  # it was cancelled here, and whatever it raised is no answer
        if self._lost is not None:
            return
        if raised is not None and _errors.passes(raised):
            if not call.ended.done():
                call.ended.set_exception(raised)
            return self._cancel(call)
        value = None if raised is not None else task.result()
        came = what_came(raised, value)
        is_attempt = request.attempt.asked == "attempt"
        if request.has_timed_out:
            return self._answer_late(call, request, came) if is_attempt else None
        if not is_attempt:
            call.refreshed = value if request.attempt.asked == "refresh" else call.refreshed
        elif "ok" in came:
            call.value, call.error = value, None
        else:
            call.value, call.error = None, value if raised is None else raised
        self._answer(call, request, came)

    def _answer(self, call: _Open, request: _Request, came: Dict[str, Any]) -> None:
        attempt = request.attempt
        what: Dict[str, Any] = {"asked": attempt.asked}
        if attempt.asked == "attempt":
            what = {"attempt": attempt.number}
        if attempt.held_s:
            what["held_ms"] = round(attempt.held_s * 1000, 3)
        request.said = self._say(call, type="answer", id=call.id, **what, **came)

    def _answer_late(self, call: _Open, request: _Request, came: Dict[str, Any]) -> None:
        self._say(call, kind="late", type="answer", id=call.id, attempt=request.attempt.number, late=True, **came)

    # -- the end of a call ---------------------------------------------------------------------------------------------

    def _begin(self, made: Call) -> _Open:
        if self._lost is not None or self._is_closing or (self._process is None and self._again is None):
            raise PlayproofError(self._lost or NOT_STARTED)
        made.check()
        self._number += 1
        run = made.run or _calls._PLACE.get()[0]
        id = made.id or f"{run or 'call'}-{self._prefix}-{self._number}"
        if id in self._calls:
            raise ValueError(f"a call has the id {id}")
        of = _transactions.of_call(run)
        run = run if of is None else of.run
        call = _Open(id, made.tool, made.args, made.key, run, made)
        call.transaction = None if of is None else of.label
        fields: Dict[str, Any] = dict(transaction=call.transaction)
        fields.update(run=run, key=made.key, token=made.token, timeout_ms=made.timeout_ms, steps=made.steps)
        fields["answer_within_ms"] = made.answer_within_ms
        given = {name: value for name, value in fields.items() if value is not None}
        self._say(call, type="call", id=id, tool=made.tool, args=made.args, **given)
        self._calls[id] = call
        return call

    def _cancel(self, call: _Open) -> None:
        """The caller has gone away. A function in a thread goes on; its answer is heard."""
        if call.has_gone or call.id not in self._calls or self._lost is not None:
            return
        call.has_gone = True
        call.stop_waiting()
        self._say(call, type="cancel", id=call.id)
        for each in [call, *(step for step in self._calls.values() if step.of is call)]:
            each.has_gone = True
            for request in each.requests.values():
                if request.task is not None and not request.is_blocking and not request.has_timed_out:
                    request.task.cancel()

    def _end(self, done: Dict[str, Any]) -> None:
        call = self._calls.pop(done["done"], None)
        if call is None:
            return
        call.stop_waiting()
        outcome = call.outcome(done)
        leader = self._ended.get(done.get("value_of", ""))
        if done["outcome"] in SUCCESS:
            outcome.ok, outcome.value = True, call.values or call.value
        elif done["outcome"] in SHARED:
            outcome.ok = "told" not in done if leader is None else leader.ok
            outcome.value = None if leader is None else leader.value
        else:
            outcome.error = call.error
        if call.key is not None or call.transaction is not None:
            self._ended[call.id] = outcome
            if len(self._ended) > 1000:
                self._ended.popitem(last=False)
        if call.of is not None and outcome.ok:
            call.of.values[call.id.rsplit("/", 1)[-1]] = outcome.value
        if outcome.said.get("queue") and self.on_queue is not None and call.of is None:
            self._later(self._hand_over(call, outcome))
        elif not call.ended.done():
            call.ended.set_result(outcome)

    async def _hand_over(self, call: _Open, outcome: Outcome) -> None:
        """People have the call before its caller hears of it."""
        try:
            await self._run(self.on_queue, outcome)  # type: ignore[arg-type]
        except Exception as error:
            self._complain(f"the handler of the queue {outcome.queue}", error)
        if not call.ended.done():
            call.ended.set_result(outcome)

    def _later(self, coroutine: Any) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _lose(self, call: _Open, why: str) -> None:
        """Nothing more is known of a call than whether anything was sent for it, or for one of its steps."""
        call = call.of or call
        family = [call, *(step for step in self._calls.values() if step.of is call)]
        for each in family:
            self._calls.pop(each.id, None)
            each.stop_waiting()
        attempts = sum(name[0] == "attempt" for each in family for name in each.requests)
        said = {"done": call.id, "outcome": "lost", "effect": "unknown" if attempts or call.values else "not_applied"}
        said.update(attempts=attempts, text=why)
        if not call.ended.done():
            call.ended.set_result(call.outcome(said, error=call.error))


# -- functions ---------------------------------------------------------------------------------------------------------


def what_came(raised: Optional[BaseException], value: Any) -> Dict[str, Any]:
    """The answer that a result or an exception means."""
    if isinstance(raised, ToolError):
        came: Dict[str, Any] = {"error": raised.fields} if raised.fields else {"ok": False}
        if raised.accepted or raised.suspected:
            came.pop("ok", None)
            came["accepted" if raised.accepted else "suspected"] = True
        return came
    try:
        error = _errors.error_of_value(value) if raised is None else _errors.error_of(raised)
    except Exception as broken:  # it cannot even be looked at
        error = {"kind": "tool_error", "code": "tool_raised", "message": type(raised or broken).__name__, "kind_from": "code"}
    return {"ok": True} if error is None else {"error": error}


def is_asynchronous(function: Callable[..., Any]) -> bool:
    tool = getattr(function, "__self__", None)
    if isinstance(tool, Tool):
        return is_asynchronous(tool.function)
    call = getattr(function, "__call__", None)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def find_program() -> str:
    """The program of the wheel, else the one on the path."""
    found = next((path for path in program_of_the_wheel.candidates() if os.path.isfile(path)), None)
    found = found or shutil.which("playproof")
    if found is None:
        raise PlayproofError(
            "the program `playproof` is neither in this package nor on the path: `python -m pip install playproof` installs "
            "both; else say where it is with `program=..`"
        )
    return found
