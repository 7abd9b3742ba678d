"""Transactions: the state is the program's own, and the dispatcher says what becomes of it.

    async with d.transaction("order-91", run="r1") as order:
        await d.call("payments.charge", {"order": "o_91"}, send)  # belongs to it
        await order.state("order.status", "paid")
"""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING, Any, Optional

from . import _calls
from ._calls import PlayproofError

if TYPE_CHECKING:
    from ._dispatcher import Dispatcher

ACTS = ("begin", "state", "commit", "rollback")
ROLLED_BACK = "the transaction {} was rolled back: a call of it is not known to be done, or its state was lost"


class RolledBack(PlayproofError):
    """The commit was refused: none of the state is there, and nothing upstream is undone. Discard the state, and begin again."""


class Transaction:
    """A transaction, to which the calls within belong. It is committed at its end, and rolled back where something is raised."""

    def __init__(self, driver: Dispatcher, label: str, run: Optional[str]) -> None:
        if not isinstance(label, str) or not label:
            raise TypeError(f"the label of a transaction is a text, not {label!r}")
        self.label, self.run = label, run or _calls._PLACE.get()[0]
        self._driver, self._life = driver, 0
        self._token: Optional[contextvars.Token[Optional[Transaction]]] = None

    async def state(self, name: str, value: Any = None) -> None:
        """A piece of state is written: it waits for the commit."""
        await self._act("state", name=name, args=value)

    async def begin(self) -> None:
        self._life = self._driver.restarts
        await self._act("begin")

    async def end(self, has_raised: bool) -> None:
        if has_raised:
            return await self._act("rollback")
        is_forgotten = not self._driver._has_journal and self._life != self._driver.restarts
        done = {"outcome": "refused"} if is_forgotten else await self._act("commit")
        if done is not None and done["outcome"] == "refused":
            raise RolledBack(ROLLED_BACK.format(self.label))

    def enter(self) -> None:
        """The calls that follow belong to it."""
        self._token = _TRANSACTION.set(self)

    def leave(self) -> None:
        if self._token is not None:
            _TRANSACTION.reset(self._token)

    async def _act(self, act: str, **fields: Any) -> Any:
        return await self._driver._act(act, self, **fields)

    async def __aenter__(self) -> Transaction:
        await self.begin()
        self.enter()
        return self

    async def __aexit__(self, kind: Any, *_: Any) -> None:
        self.leave()
        await self.end(kind is not None)


_TRANSACTION: contextvars.ContextVar[Optional[Transaction]] = contextvars.ContextVar("transaction", default=None)


def of_call(run: Optional[str]) -> Optional[Transaction]:
    """The transaction to which a call belongs that is made here, in this run or in none of its own."""
    own = _TRANSACTION.get()
    return own if own is not None and run in (None, own.run) else None
