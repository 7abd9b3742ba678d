"""One life of the program, spoken to in lines. Knows nothing of what they say."""

from __future__ import annotations

import asyncio
import os
import subprocess
from typing import Any, Callable, Dict, List, Optional

STDERR_MAX = 64 * 1024
ENDS_WITHIN_S = 5.0


class Process(asyncio.SubprocessProtocol):
    def __init__(self, on_line: Callable[[bytes], None], on_end: Callable[["Process"], None]) -> None:
        self._on_line, self._on_end = on_line, on_end
        self._loop = asyncio.get_running_loop()
        self._said: List[bytes] = []
        self._begun: List[bytes] = []  # the parts of a line whose end has not come
        self._stderr = b""
        self._transport: Any = None
        self.ended: asyncio.Future[None] = self._loop.create_future()

    async def start(self, command: List[str]) -> None:
        # What a terminal sends to the program, Ctrl-C, is not for the dispatcher: it ends with its input.
        apart: Dict[str, Any] = {"start_new_session": True}
        if os.name == "nt":
            apart = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        await self._loop.subprocess_exec(lambda: self, *command, **apart)

    def say(self, line: bytes) -> None:
        """Lines of one moment are written together."""
        if not self._said:
            self._loop.call_soon(self._flush)
        self._said.append(line)

    def _flush(self) -> None:
        lines, self._said = self._said, []
        if not self._stdin().is_closing():
            self._stdin().write(b"".join(lines))

    async def close(self) -> None:
        if self._said:
            self._flush()
        self._stdin().close()
        done, _ = await asyncio.wait([self.ended], timeout=ENDS_WITHIN_S)
        if not done:
            self._transport.kill()
            await self.ended

    def refuse(self, line: bytes) -> None:
        """It says what is no line of the protocol: it has ended for us."""
        self._stderr = b"it says `" + line[:200] + b"`, which is no line of the protocol"
        self._on_line = lambda line: None
        try:
            self._transport.kill()
        except ProcessLookupError:
            pass

    def stderr(self) -> str:
        return self._stderr.decode("utf-8", "replace").strip()

    def pid(self) -> int:
        return int(self._transport.get_pid())

    def _stdin(self) -> Any:
        return self._transport.get_pipe_transport(0)

    # -- what asyncio says ---------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._stderr = (self._stderr + data)[-STDERR_MAX:]
            return
        first, *rest = data.split(b"\n")
        self._begun.append(first)
        for part in rest:
            line, self._begun = b"".join(self._begun), [part]
            self._on_line(line)

    def process_exited(self) -> None:
        self._stdin().close()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        """The program has ended, and everything that it wrote was read."""
        self._transport.close()
        self.ended.set_result(None)
        self._on_end(self)
