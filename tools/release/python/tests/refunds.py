"""A program that refunds orders until it is killed: `refunds.py PLAYBOOK JOURNAL HEARD URL LIFE`. It writes each end that
it has heard to HEARD. It says the id of its dispatcher's process first."""

import asyncio
import json
import os
import sys
import urllib.request

from place import REFUND, playproof


async def main(playbook, journal, heard, url, life):
    def send(attempt):
        headers = {"Idempotency-Key": attempt.key} if attempt.key else {}
        request = urllib.request.Request(url, json.dumps(attempt.args).encode(), headers)
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.load(answer)

    async def caller(name):
        for number in range(8):
            order = f"{life}-{name}-{number}"
            key = f"ik_{order}" if number % 3 else None
            outcome = await d.call(REFUND, {"order": order}, send, key=key, run=f"{life}-{name}", id=order)
            with open(heard, "a", encoding="utf-8") as file:
                file.write(json.dumps({"id": outcome.id, "outcome": outcome.outcome}) + "\n")

    program = os.environ["PLAYPROOF_BIN"]
    async with playproof.Dispatcher(playbook, journal=journal, unlocked=True, program=program) as d:
        print(d._process.pid(), flush=True)
        await asyncio.gather(*(caller(name) for name in "abcd"))


asyncio.run(main(*sys.argv[1:]))
