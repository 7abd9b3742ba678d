"""Compares a dispatcher of your own with a playbook, on fixtures, without a network and without waiting.

A dispatcher is `async def dispatch(call, world)`; its result is the word for how the call ended. `call` has the fields of
the dispatch protocol and `facts`, those of its tool. `await world.send(attempt)` raises `Failed` or
`asyncio.TimeoutError`, `await world.sleep(seconds)` waits, `world.now` is the moment in milliseconds, `world.draw` the luck
of the next wait. One that keeps something between calls is an ordinary function that makes one anew for each fixture.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
import threading
from concurrent.futures import Future
from typing import Any, Awaitable, Callable, Coroutine, Dict, List, Optional, Union

from ._calls import PlayproofError
from ._dispatcher import find_program

Line = Dict[str, Any]
Dispatch = Callable[[Line, "World"], Awaitable[str]]
Dispatches = Union[Dispatch, Callable[[], Dispatch]]


class Failed(Exception):
    """A request that failed; `error` is what came of it."""

    def __init__(self, error: Optional[Line]) -> None:
        super().__init__((error or {}).get("message") or "")
        self.error: Line = error or {}


class Raised(Exception):
    """A dispatcher has raised; the driver was told so."""


class World:
    """The clock and the upstream of one call."""

    def __init__(self, call: Line, out: List[Line]) -> None:
        self.id, self.now, self.draw = call["id"], call["at_ms"], 0.0
        self._out = out
        self._next: Optional[asyncio.Future[Line]] = None
        self._task: Optional[asyncio.Task[None]] = None

    async def send(self, attempt: int, within_ms: Optional[float] = None, asked: Optional[str] = None) -> None:
        """Makes a request, and waits for its answer."""
        want = {"send": self.id, "attempt": attempt, "asked": asked, "within_ms": within_ms}
        line = await self._wait({key: value for key, value in want.items() if value is not None})
        self.draw = line.get("draw", 0.0)
        if line.get("timeout"):
            raise asyncio.TimeoutError
        if not line.get("ok"):
            raise Failed(line.get("error"))

    async def sleep(self, seconds: float) -> None:
        await self._wait({"wait": self.id, "until_ms": self.now + round(seconds * 1000, 3)})

    async def _wait(self, want: Line) -> Line:
        self._out.append(want)
        self._next = asyncio.get_running_loop().create_future()
        return await self._next


async def answer(dispatches: Dispatches, reader: asyncio.StreamReader, write: Callable[[bytes], Any]) -> None:
    """Answers the lines of `playproof conform` by a dispatcher, until they end."""
    loop: Any = asyncio.get_running_loop()
    out: List[Line] = []
    worlds: Dict[str, World] = {}
    tools: Dict[str, Line] = {}
    dispatch: Any = dispatches

    async def run(call: Line, world: World) -> None:
        out.append({"done": call["id"], "outcome": await dispatch(call, world)})

    while text := await reader.readline():
        line = json.loads(text)
        world = worlds.get(line.get("id", ""))
        for known in worlds.values():
            known.now = line.get("at_ms", known.now)
        if line["type"] == "hello":
            for known in worlds.values():
                known._task.cancel()  # type: ignore[union-attr]
            worlds, tools = {}, line.get("tools") or {}
            if not inspect.iscoroutinefunction(dispatches):
                dispatch = dispatches()  # type: ignore[call-arg]
        elif line["type"] == "call":
            world = worlds[line["id"]] = World(line, out)
            world._task = loop.create_task(run({**line, "facts": tools.get(line["tool"], {})}, world))
        elif world is not None and (line["type"] == "cancel" or (line.get("lost") and "attempt" in line)):
            world._task.cancel()  # type: ignore[union-attr]
            out.append({"done": line["id"], "outcome": "cancelled" if line["type"] == "cancel" else "undetermined"})
        elif world is not None and not line.get("late") and world._next and not world._next.done():
            world._next.set_result(line)
        while loop._ready:  # until nothing more can happen by itself
            await asyncio.sleep(0)
        for known in worlds.values():
            task: Any = known._task
            raised = task.exception() if task.done() and not task.cancelled() else None
            if raised is not None:
                said = f"the dispatcher raised {raised!r} in the call {known.id}"
                write(json.dumps({"error": said, "code": "raised"}).encode() + b"\n")
                raise Raised(said) from raised
        named = {"protocol": "dispatch/1"} if line["type"] == "hello" else {}
        write(json.dumps({**named, "do": out}).encode() + b"\n")
        out.clear()


def serve(dispatches: Dispatches) -> None:
    """Answers on standard input and output: a program for `playproof conform --exec`."""

    async def run() -> None:
        reader = asyncio.StreamReader(limit=1 << 24)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

        def write(line: bytes) -> None:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()

        await answer(dispatches, reader, write)

    asyncio.run(run())


def conform(
    dispatches: Dispatches,
    *fixtures: Union[str, "os.PathLike[str]"],
    playbook: Union[str, "os.PathLike[str]", None] = None,
    ignore_waits: bool = False,
    only_effects: bool = False,
    program: Union[str, "os.PathLike[str]", None] = None,
) -> str:
    """Compares a dispatcher of this process with a playbook, on fixtures or folders of them; gives the report.

    A difference raises `AssertionError` with the report: the fixture, the call, and the first decision that differs. A
    dispatcher that raises is a `PlayproofError` with fixture and call, whose cause is what it raised.
    """
    if os.name == "nt":
        raise PlayproofError("`conform` needs a POSIX shell")
    options = [*(["--playbook", playbook] if playbook else []), *(["--ignore", "waits"] if ignore_waits else [])]
    options += ["--only", "effects"] if only_effects else []
    words = [program or find_program(), "conform", *options, *fixtures]
    return _run(_conform(dispatches, [os.fspath(word) for word in words]))


def _run(work: Coroutine[Any, Any, str]) -> str:
    """Runs it in a loop of its own: below a running loop, in a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    ended: Future[str] = Future()

    def run() -> None:
        try:
            ended.set_result(asyncio.run(work))
        except BaseException as raised:
            ended.set_exception(raised)

    thread = threading.Thread(target=run, name="playproof-conform")
    thread.start()
    thread.join()
    return ended.result()


async def _conform(dispatches: Dispatches, command: List[str]) -> str:
    # The shell that `--exec` starts only hands the lines on.
    (hears, theirs), (ours, says) = os.pipe(), os.pipe()
    relay = f"exec 3<&0; cat <&3 >/dev/fd/{theirs} & exec cat </dev/fd/{ours}"  # a shell may know no number above 9
    process = await asyncio.create_subprocess_exec(
        *command, "--exec", relay, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, pass_fds=(theirs, ours)
    )
    os.close(theirs)
    os.close(ours)
    reader = asyncio.StreamReader(limit=1 << 24)
    with open(hears, "rb", 0) as lines, open(says, "wb", 0) as answers:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), lines
        )
        answering = asyncio.ensure_future(answer(dispatches, reader, answers.write))
        ends = asyncio.ensure_future(process.communicate())
        await asyncio.wait([answering, ends], return_when=asyncio.FIRST_COMPLETED)
        raised = answering.exception() if answering.done() else None
        if raised is not None and not isinstance(raised, Raised) and process.returncode is None:
            process.kill()
        answers.close()  # the shell ends with its input
        out, err = await ends
        answering.cancel()
        transport.close()
    said = err.decode("utf-8", "replace").strip().replace(f"`{relay}`", "the dispatcher")
    if isinstance(raised, Raised):
        raise PlayproofError(said) from raised.__cause__
    if raised is not None:
        raise raised
    report = out.decode("utf-8", "replace").strip()
    if process.returncode == 1:
        raise AssertionError(report)
    if process.returncode:
        raise PlayproofError(said)
    return report
