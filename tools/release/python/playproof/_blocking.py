"""The dispatcher for programs without asyncio: the same one, in the event loop of a thread."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from typing import Any, Callable, Coroutine, Dict, Iterable, Iterator, List, Optional, TypeVar

from ._calls import Call, Outcome, PlayproofError, Send, Tool
from ._dispatcher import NOT_STARTED, STARTED, Dispatcher, Function, OfArguments, Path
from ._transactions import Transaction

T = TypeVar("T")


class SyncTransaction:
    """As `Transaction`, for a program without asyncio."""

    def __init__(self, dispatcher: SyncDispatcher, own: Transaction) -> None:
        self._dispatcher, self._own = dispatcher, own

    def state(self, name: str, value: Any = None) -> None:
        """A piece of state is written: it waits for the commit."""
        self._dispatcher._wait(self._own.state(name, value))


class SyncDispatcher:
    """A dispatcher whose calls block. Threads may share it. It takes what `Dispatcher` takes."""

    def __init__(self, playbook: Path, **options: Any) -> None:
        #: Has the handlers, which may be set until it starts.
        self.driver = Dispatcher(playbook, **options)
        self._loop: Optional[asyncio.AbstractEventLoop] = None  # while it runs
        self._thread: Optional[threading.Thread] = None
        self._lock = threading.Lock()

    @property
    def lost(self) -> List[Dict[str, Any]]:
        """The transactions whose state was lost with the program that had this journal."""
        return self.driver.lost

    def __enter__(self) -> SyncDispatcher:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def start(self) -> None:
        """Starts the process, and takes over what its journal has."""
        with self._lock:
            if self._thread is not None:
                raise PlayproofError(STARTED)
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="playproof-loop", daemon=True)
            self._thread.start()
        try:
            self._wait(self.driver.start())
        except BaseException:
            self._stop()
            raise

    def close(self) -> None:
        """Cancels what is open, and ends the process."""
        if self._loop is None:
            return
        try:
            self._wait(self.driver.close())
        finally:
            self._stop()

    def _stop(self) -> None:
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None and self._thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()
            loop.close()

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Waits in the context of the caller. Who is interrupted cancels."""
        loop = self._loop
        if loop is None:
            coroutine.close()
            raise PlayproofError(NOT_STARTED)
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call(
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
        made = Call(tool, args, send, key, run, token, timeout_ms, answer_within_ms, steps, id)
        return self._wait(self.driver.make(made))

    def gather(self, calls: Iterable[Call]) -> List[Outcome]:
        """Makes calls at once, in their order, and gives their outcomes in the same order. One is `lost` if need be."""
        return self._wait(self.driver.gather(calls))

    def tool(
        self,
        name: str,
        *,
        key: OfArguments = None,
        run: OfArguments = None,
        step: OfArguments = None,
        timeout_ms: Optional[float] = None,
    ) -> Callable[[Function], Function]:
        """As `Dispatcher.tool`, for a function that blocks."""

        def wrap(function: Function) -> Function:
            tool = self.driver.add_tool(Tool(name, function, key, run, step, timeout_ms))

            @functools.wraps(function)
            def wrapped(*given: Any, **named: Any) -> Any:
                return self._wait(self.driver.call_tool(tool, given, named))

            return wrapped  # type: ignore[return-value]

        return wrap

    @contextlib.contextmanager
    def transaction(self, label: str, *, run: Optional[str] = None) -> Iterator[SyncTransaction]:
        """The calls within belong to it, and its state is committed as one at its end, or `RolledBack` is raised."""
        own = self.driver.transaction(label, run=run)
        self._wait(own.begin())
        own.enter()
        try:
            yield SyncTransaction(self, own)
        except BaseException:
            own.leave()
            self._wait(own.end(True))
            raise
        own.leave()
        self._wait(own.end(False))

    def valid_next(self, run: str) -> Optional[List[str]]:
        """The actions that the run may make now; none without a graph."""
        return self._wait(self.driver.valid_next(run))

    def history(self, run: Optional[str] = None) -> Dict[str, Any]:
        """The calls that have ended (`history`) and those that have not (`open`)."""
        return self._wait(self.driver.history(run))

    def resolve(self, id: str, effect: str, by: str) -> None:
        """A person, `by`, says what an escalated call did: `applied` or `not_applied`."""
        self._wait(self.driver.resolve(id, effect, by))

    def end_run(self, run: str) -> None:
        """The run makes no more calls."""
        self._wait(self.driver.end_run(run))
