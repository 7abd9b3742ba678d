"""Threads for blocking functions. One that hangs keeps its thread, and keeps nobody from ending."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from typing import Any, Callable, List, Optional, Tuple

Job = Tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class Threads:
    def __init__(self) -> None:
        self.idle: List[_Worker] = []
        self.is_closed = False

    def run(self, function: Callable[..., Any], *args: Any) -> "asyncio.Future[Any]":
        """Runs a function in a thread, in the context of now."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        context = contextvars.copy_context()
        worker = self.idle.pop() if self.idle else _Worker(self)
        worker.jobs.put((loop, future, lambda: context.run(function, *args)))
        return future

    def close(self) -> None:
        self.is_closed = True
        while self.idle:
            self.idle.pop().jobs.put(None)


class _Worker(threading.Thread):
    def __init__(self, threads: Threads) -> None:
        super().__init__(name="playproof", daemon=True)
        self.jobs: "queue.SimpleQueue[Optional[Job]]" = queue.SimpleQueue()
        self._threads = threads
        self.start()

    def run(self) -> None:
        while (job := self.jobs.get()) is not None:
            loop, future, function = job
            value, error = None, None
            try:
                value = function()
            except BaseException as raised:  # also the end of the program: the caller hears it
                error = raised
            self._threads.idle.append(self)
            try:
                loop.call_soon_threadsafe(_settle, future, value, error)
            except RuntimeError:  # nobody listens any more
                return
            del job, future, function, value, error
            if self._threads.is_closed:
                return


def _settle(future: "asyncio.Future[Any]", value: Any, error: Optional[BaseException]) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, StopIteration):  # a future cannot hold it
        future.set_exception(RuntimeError(f"the function raised {error!r}"))
    else:
        future.set_exception(error)
