"""Runs tool calls under a reviewed playbook. The program decides (`python -m playproof` runs it); this package sends.

    async with playproof.Dispatcher("playbooks/ours.yaml", journal="calls.jsonl") as d:
        outcome = await d.call("payments.issue_refund", {"order": "o_91"}, send, key="ik_91", run="r1")
"""

from ._blocking import SyncDispatcher
from ._calls import (
    Attempt,
    Call,
    CallFailed,
    DispatcherLost,
    Outcome,
    PlayproofError,
    ToolError,
    attempt,
    auto_key,
    run,
)
from ._dispatcher import Dispatcher
from ._transactions import RolledBack
from .conformance import Failed, conform
from .testing import cases, httpx_transport, send

__all__ = [
    "Attempt",
    "Call",
    "CallFailed",
    "Dispatcher",
    "DispatcherLost",
    "Failed",
    "Outcome",
    "PlayproofError",
    "RolledBack",
    "SyncDispatcher",
    "ToolError",
    "attempt",
    "auto_key",
    "cases",
    "conform",
    "httpx_transport",
    "run",
    "send",
]
