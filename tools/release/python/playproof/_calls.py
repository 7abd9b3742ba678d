"""What a caller gives and gets: calls, attempts, outcomes, and what is raised."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import hashlib
import inspect
import json
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from . import _errors

Event = Dict[str, Any]
# Makes one request: returns its result, or raises what failed. Asynchronous, or blocking: then it gets a thread.
Send = Callable[["Attempt"], Any]

MILLIS_MAX = 18446744073709551  # the latest moment of the protocol
FORMS = ("failure", "refusal", "dispatch", "openai", "anthropic")


@dataclasses.dataclass
class Call:
    """One call of a tool, as `Dispatcher.call` takes it."""

    tool: str
    args: Any
    send: Send
    key: Optional[str] = None
    run: Optional[str] = None
    token: Optional[str] = None
    timeout_ms: Optional[float] = None
    answer_within_ms: Optional[float] = None
    steps: Optional[Dict[str, Any]] = None
    id: Optional[str] = None

    def check(self) -> None:
        """Raises where the dispatcher could not read the call."""
        for name in ("tool", "key", "run", "token", "id"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name} of a call is a text, not {value!r}")
        if not self.tool:
            raise PlayproofError("`tool` is missing", "bad_line")
        if not callable(self.send):
            raise TypeError("`send` of a call is a function that makes one request")
        for name in ("timeout_ms", "answer_within_ms"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
                raise TypeError(f"{name} of a call is a number of milliseconds, not {value!r}")
            if value is not None and not 0 <= value <= MILLIS_MAX:
                raise ValueError(f"{name} of a call is a number of milliseconds from 0, not {value!r}")
        if self.steps is not None and not isinstance(self.steps, dict):
            raise TypeError(f"steps of a call are a dict, not {self.steps!r}")


@dataclasses.dataclass
class Attempt:
    """One request that the dispatcher wants: an attempt, or a refresh or a reversal (`asked`)."""

    id: str
    tool: str
    args: Any
    key: Optional[str]
    run: Optional[str]
    number: int = 0
    asked: str = "attempt"
    token: Optional[str] = None
    evidence: int = 0
    refreshed: Any = None  # what the handler of the last refresh gave
    held_s: float = 0.0
    _held_since: Optional[float] = None

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Stops the clock of this request: a person is asked."""
        self._held_since = time.monotonic()
        try:
            yield
        finally:
            self.held_s, self._held_since = self.held_so_far(), None

    def held_so_far(self) -> float:
        since = self._held_since
        return self.held_s + (0.0 if since is None else time.monotonic() - since)


@dataclasses.dataclass
class Outcome:
    """How a call ended. `said` has every field of the dispatcher's `done`."""

    said: Dict[str, Any]
    tool: str
    args: Any
    key: Optional[str]
    run: Optional[str]
    value: Any = None  # of a success: the result of the last attempt; of an action, of each of its steps
    error: Any = None  # of a failure: what the last attempt raised, or gave
    ok: bool = False

    @property
    def id(self) -> str:
        return str(self.said["done"])

    @property
    def outcome(self) -> str:
        return str(self.said["outcome"])

    @property
    def effect(self) -> str:
        """What is claimed: `applied`, `not_applied` or `unknown`."""
        return str(self.said.get("effect", "unknown"))

    @property
    def attempts(self) -> int:
        return int(self.said.get("attempts", 0))

    @property
    def queue(self) -> Optional[str]:
        """Of an escalated call: who has it."""
        return self.said.get("queue")

    @property
    def told(self) -> Optional[Dict[str, Any]]:
        """What the agent is told of a failure."""
        return self.said.get("told")

    @property
    def valid_next(self) -> Optional[List[str]]:
        """Under a graph: the actions that the run may make now."""
        return self.said.get("valid_next")

    def message(self, form: str = "failure") -> Any:
        """What the agent is told, in a form of `replay --envelope`; none where it gets no such answer."""
        if form not in FORMS:
            raise ValueError(f"no form `{form}`, only {', '.join(FORMS)}")
        return self.said.get("messages", {}).get(form)

    def result(self) -> Any:
        """The value of a success; of everything else, `CallFailed` is raised."""
        if self.ok:
            return self.value
        raise CallFailed(self)


class ToolError(Exception):
    """A failed request, as the rules of a playbook read it. `accepted`: the work goes on; `suspected`: it may be none."""

    def __init__(
        self,
        kind: Optional[str] = None,
        message: Optional[str] = None,
        *,
        status: Optional[int] = None,
        code: Optional[str] = None,
        retry_after_ms: Optional[float] = None,
        should_retry: Optional[bool] = None,
        headers: Optional[Dict[str, str]] = None,
        accepted: bool = False,
        suspected: bool = False,
    ) -> None:
        super().__init__(message or kind or "failed")
        message = None if message is None else _errors.text(message)
        fields: Dict[str, Any] = dict(kind=kind, message=message, status=status, code=code, headers=headers)
        fields.update(retry_after_ms=retry_after_ms, should_retry=should_retry)
        self.fields = {name: value for name, value in fields.items() if value is not None}
        self.kind, self.status, self.code, self.retry_after_ms = kind, status, code, retry_after_ms
        self.accepted, self.suspected = accepted, suspected


class PlayproofError(Exception):
    """The dispatcher did not start, or refused what was said; nothing was sent for it."""

    def __init__(self, text: str, code: Optional[str] = None) -> None:
        super().__init__(text)
        self.code = code


class DispatcherLost(PlayproofError):
    """The dispatcher is gone, and with it the call. `outcome.effect` is what is known of it."""

    def __init__(self, text: str, outcome: Outcome) -> None:
        super().__init__(f"{text}; the effect of {outcome.tool} is {outcome.effect}")
        self.outcome = outcome

    @property
    def effect(self) -> str:
        return self.outcome.effect


class CallFailed(Exception):
    """A call did not succeed. Its text is for the agent."""

    def __init__(self, outcome: Outcome) -> None:
        said = outcome.message("openai") or {}
        super().__init__(said.get("content") or f"{outcome.tool}: {outcome.outcome}, effect {outcome.effect}")
        self.outcome = outcome


# -- where a call belongs ----------------------------------------------------------------------------------------------

_PLACE: contextvars.ContextVar[Tuple[Optional[str], Optional[str]]] = contextvars.ContextVar("run", default=(None, None))
_ATTEMPT: contextvars.ContextVar[Attempt] = contextvars.ContextVar("attempt")


@contextlib.contextmanager
def run(name: str, step: Optional[str] = None) -> Iterator[None]:
    """The calls within belong to this run, and to this step of it."""
    token = _PLACE.set((name, step))
    try:
        yield
    finally:
        _PLACE.reset(token)


def attempt() -> Attempt:
    """The attempt for which a function runs: its key goes to the upstream."""
    return _ATTEMPT.get()


@dataclasses.dataclass
class Tool:
    """A function that is a tool, and where its calls belong: texts, or functions of the same arguments."""

    name: str
    function: Callable[..., Any]
    key: Union[str, Callable[..., str], None] = None
    run: Union[str, Callable[..., str], None] = None
    step: Union[str, Callable[..., str], None] = None
    timeout_ms: Optional[float] = None

    def call(self, given: Tuple[Any, ...], named: Dict[str, Any]) -> Call:
        """The call that a call of the function means."""
        signature = inspect.signature(self.function)
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        args = dict(bound.arguments)
        for parameter in signature.parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                args.update(args.pop(parameter.name))

        def of(what: Union[str, Callable[..., str], None]) -> Optional[str]:
            return what(*given, **named) if callable(what) else what

        run, step = of(self.run) or _PLACE.get()[0], of(self.step) or _PLACE.get()[1]
        key = auto_key(run, step, self.name, args) if self.key == "auto" else of(self.key)
        return Call(self.name, args, self.send, key, run, timeout_ms=self.timeout_ms)

    def send(self, attempt: Attempt) -> Any:
        return self.function(**attempt.args)


def auto_key(run: Optional[str], step: Optional[str], tool: str, args: Any) -> str:
    """The key of a call that is made once in this step of this run with these arguments."""
    if not run or not step:
        raise ValueError(f"{tool}: key=\"auto\" needs the run and the step: without them, two calls that are meant are one")
    said = json.dumps([run, step, tool, by_meaning(args)], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "auto-" + hashlib.sha256(said.encode()).hexdigest()[:32]


def by_meaning(args: Any) -> Any:
    """Arguments in which 10.0 is 10."""
    if isinstance(args, dict):
        return {name: by_meaning(value) for name, value in args.items()}
    if isinstance(args, (list, tuple)):
        return [by_meaning(value) for value in args]
    return int(args) if isinstance(args, float) and args.is_integer() else args
