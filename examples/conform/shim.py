"""Lets an asyncio dispatcher answer `playproof conform`: its clock is that of the lines, and its requests are lines.

A dispatcher is `async def dispatch(call, world)`; its result is the word for how the call ended. `call` has the fields of
the protocol and `facts`, those of its tool. `await world.send(attempt)` raises `Failed` or `asyncio.TimeoutError`,
`await world.sleep(seconds)` waits, `world.now` is the moment in milliseconds, `world.draw` the luck of the next wait."""
import asyncio
import json
import sys


class Failed(Exception):
    def __init__(self, error):
        super().__init__((error or {}).get("message") or "")
        self.error = error or {}


class World:
    def __init__(self, call, out):
        self.id, self.out, self.now, self.draw, self.next = call["id"], out, call["at_ms"], 0.0, None

    async def _line(self):
        self.next = asyncio.get_running_loop().create_future()
        return await self.next

    async def send(self, attempt, within_ms=None, asked=None):
        want = {"send": self.id, "attempt": attempt, "asked": asked, "within_ms": within_ms}
        self.out.append({key: value for key, value in want.items() if value is not None})
        line = await self._line()
        self.draw = line.get("draw", 0.0)
        if line.get("timeout"):
            raise asyncio.TimeoutError
        if not line.get("ok"):
            raise Failed(line.get("error"))

    async def sleep(self, seconds):
        self.out.append({"wait": self.id, "until_ms": self.now + round(seconds * 1000, 3)})
        await self._line()


async def serve(new_dispatcher):
    loop, reader, out, worlds = asyncio.get_running_loop(), asyncio.StreamReader(limit=1 << 24), [], {}
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    dispatch, tools = new_dispatcher(), {}

    async def run(call, world):
        out.append({"done": call["id"], "outcome": await dispatch(call, world)})

    while text := await reader.readline():
        line = json.loads(text)
        world = worlds.get(line.get("id"))
        for known in worlds.values():
            known.now = line.get("at_ms", known.now)
        if line["type"] == "hello":
            for known in worlds.values():
                known.task.cancel()
            worlds, tools, dispatch = {}, line.get("tools") or {}, new_dispatcher()
        elif line["type"] == "call":
            world = worlds[line["id"]] = World(line, out)
            world.task = loop.create_task(run({**line, "facts": tools.get(line["tool"], {})}, world))
        elif line["type"] == "cancel" or (line.get("lost") and "attempt" in line):
            world.task.cancel()
            out.append({"done": line["id"], "outcome": "cancelled" if line["type"] == "cancel" else "undetermined"})
        elif not line.get("late") and world.next and not world.next.done():
            world.next.set_result(line)
        while loop._ready:  # until nothing more can happen by itself
            await asyncio.sleep(0)
        print(json.dumps({"do": out}), flush=True)
        out.clear()
