"""Virtual time for the code under test: an event loop, `time.sleep` and the clocks, which all stand at the moment of one world.

A world has `now` (microseconds), `turn(until)` (something happens, at the latest then), `thread`, `others` (the threads of
the runner: they keep their own time), `is_over`, `in_threads`, and `give_up(why)`.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import selectors
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

EPOCH_S = 1_700_000_000
SINCE_S = 1_000  # where clocks without a calendar begin
PATIENCE_S = 5.0
READS_MAX = 200_000  # of a clock, while nothing happens

#: The world whose time it is.
world: Any = None
REAL: Dict[str, Callable[..., Any]] = {
    name: getattr(time, name)
    for name in ("time", "monotonic", "perf_counter", "time_ns", "monotonic_ns", "perf_counter_ns", "sleep")
}


class Over(BaseException):
    """The case has ended while its code goes on. No retry code catches it."""


def due(seconds: float) -> int:
    """The moment in so many seconds, on the grid of the world: one that is finer would never come."""
    return int(world.now + math.ceil(max(0.0, seconds) * 1e6 - 1e-3))


def _is_ours() -> bool:
    return world is not None and threading.get_ident() not in world.others


def _clock(name: str, begins_s: int, unit: int) -> Callable[[], Any]:
    real = REAL[name]

    def read() -> Any:
        if not _is_ours():
            return real()
        world.reads += 1
        if world.reads > READS_MAX:
            world.give_up("it reads the clock and does not wait")
            raise Over
        micros = begins_s * 1_000_000 + world.now
        return micros * unit if unit else micros / 1e6

    return read


def _sleep(seconds: float) -> None:
    if not _is_ours():
        REAL["sleep"](seconds)
        return
    if threading.get_ident() != world.thread:
        raise RuntimeError("a second thread sleeps: its time cannot be virtual")
    until = due(seconds)
    while world.now < until:
        world.turn(until)


FAKES: Dict[str, Callable[..., Any]] = {
    "time": _clock("time", EPOCH_S, 0),
    "time_ns": _clock("time_ns", EPOCH_S, 1000),
    "sleep": _sleep,
    **{name: _clock(name, SINCE_S, 0) for name in ("monotonic", "perf_counter")},
    **{name: _clock(name, SINCE_S, 1000) for name in ("monotonic_ns", "perf_counter_ns")},
}
_SWAPS = {id(REAL[name]): FAKES[name] for name in FAKES}
_OWN = ("_pytest", "pytest", "playproof", "importlib", "threading", "asyncio", "concurrent", "selectors", "subprocess", "queue")
_scanned: "set[str]" = set()
_places: List[Tuple[Dict[str, Any], str, Any]] = []  # where a module has a clock, also by `from time import sleep`


class clocks:
    """While it is open, every module that has a clock has a virtual one."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __enter__(self) -> None:
        global world
        for name, module in list(sys.modules.items()):
            if name in _scanned or name.split(".")[0] in _OWN:
                continue
            _scanned.add(name)
            names = getattr(module, "__dict__", {})
            _places.extend((names, key, value) for key, value in list(names.items()) if id(value) in _SWAPS)
        for names, key, value in _places:
            names[key] = _SWAPS[id(value)]
        world = self._of

    def __exit__(self, *_: Any) -> None:
        global world
        world = None
        for names, key, value in _places:
            names[key] = value


class _Selector(selectors.DefaultSelector):
    """When nothing is ready, the world says what happens next."""

    def __init__(self, of: Any) -> None:
        super().__init__()
        self._world = of

    def select(self, timeout: Optional[float] = None) -> Any:
        ready = super().select(0)
        if self._world.is_over:
            return ready or super().select(0.05 if timeout is None else min(timeout, 0.05))
        if ready or timeout == 0:
            self._world.check_patience()
            return ready
        if self._world.in_threads:  # real work elsewhere: time stands still until it is back
            ready = super().select(0.5)
            self._world.check_patience()
            return ready
        self._world.turn(None if timeout is None else due(timeout))
        return []


class _Timer(asyncio.TimerHandle):
    """Timers of one moment in the order in which they were set: a heap of moments alone does not keep it."""

    number = 0

    def __lt__(self, other: Any) -> bool:
        return bool((self._when, self.number) < (other._when, other.number))  # type: ignore[attr-defined]


class Loop(asyncio.SelectorEventLoop):
    """asyncio on the clock of a world."""

    def __init__(self, of: Any) -> None:
        super().__init__(_Selector(of))
        self._world, self._numbers = of, itertools.count()
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return SINCE_S + self._world.now / 1e6  # type: ignore[no-any-return]

    def call_at(self, when: float, callback: Any, *args: Any, context: Any = None) -> Any:  # type: ignore[override]
        self._check_closed()  # type: ignore[attr-defined]
        timer: Any = _Timer(when, callback, args, self, context)
        timer.number = next(self._numbers)
        heapq.heappush(self._scheduled, timer)  # type: ignore[attr-defined]
        timer._scheduled = True
        return timer

    def call_later(self, delay: float, callback: Any, *args: Any, context: Any = None) -> Any:  # type: ignore[override]
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        future = super().run_in_executor(executor, func, *args)
        self._world.in_threads += 1
        future.add_done_callback(self._has_come_back)
        return future

    def _has_come_back(self, _: Any) -> None:
        self._world.in_threads -= 1
