"""Retry code as people have it is asked fixtures: what pays the README's refund more than once, and what sends a new key each time,
is found; a careful loop does no harm in any; the playbook's own decisions are the same as the playbook. What one policy of tenacity
does in each fixture is written to the file that is named, for `retries.mjs`."""

import asyncio
import json
import os
import pathlib
import sys

import backoff
import httpx
import stamina
import tenacity

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "release" / "python"))
import playproof  # noqa: E402
from playproof import testing  # noqa: E402

FAILED = (playproof.ToolError, asyncio.TimeoutError)
THREE = {"stop": tenacity.stop_after_attempt(3), "wait": tenacity.wait_fixed(0.2), "reraise": True}


@tenacity.retry(**THREE)
async def by_tenacity(tool, args, key):
    return await playproof.send(key=key)


@tenacity.retry(**THREE)
def by_tenacity_blocking(tool, args, key):
    return playproof.send(key=key)


@tenacity.retry(**THREE)
async def by_httpx(tool, args, key):
    async with httpx.AsyncClient(transport=playproof.httpx_transport(), timeout=2.0) as client:
        headers = {"Idempotency-Key": key} if key else {}
        (await client.post("http://pay/refunds", json=args, headers=headers)).raise_for_status()


@backoff.on_exception(backoff.expo, FAILED, max_tries=3, jitter=None)
async def by_backoff(tool, args, key):
    return await playproof.send(key=key)


@stamina.retry(on=FAILED, attempts=3)
async def by_stamina(tool, args, key):
    return await asyncio.wait_for(playproof.send(key=key), 1)


async def for_a_minute(tool, args, key):
    waits, until = 1.0, asyncio.get_running_loop().time() + 60
    while True:
        try:
            return await playproof.send(key=key)
        except FAILED:
            if asyncio.get_running_loop().time() + waits > until:
                raise
            await asyncio.sleep(waits)
            waits *= 2


async def new_key_each_time(tool, args, key):
    for attempt in range(3):
        try:
            return await playproof.send(key=f"{key}-{attempt}")
        except FAILED:
            await asyncio.sleep(0.5)
    raise TimeoutError


async def careful(tool, args, key):
    for attempt in range(4):
        try:
            return await playproof.send(key=key)
        except FAILED as error:
            passes = error.status == 429 or (error.status or 0) >= 500 and key if isinstance(error, playproof.ToolError) else key
            if not passes or attempt == 3:
                raise
            await asyncio.sleep(0.2 * 2**attempt)


def as_decided(decided, ends):
    """Code that does what was decided, to the moment."""

    async def code(tool, args, key):
        requests, now = [], asyncio.get_running_loop().time
        begun = now() - testing._virtual.world.now / 1e6
        for each in decided[testing._here.get().id]:
            what, word = each["what"].split()
            await asyncio.sleep(max(0.0, begun + each["at_ms"] / 1000 - now()))
            if what == "send":
                requests.append(asyncio.ensure_future(playproof.send()))
                requests[-1].add_done_callback(lambda request: request.cancelled() or request.exception())
                await asyncio.sleep(0)
            elif word in ends:
                raise ends[word]
            else:
                return "done"
        await asyncio.get_running_loop().create_future()

    return code


def main(file):
    cases = list(testing.listed("fixtures", playbook="standard", program=os.environ["PLAYPROOF_BIN"]))
    named = {case.name: case for case in cases}
    refund = named["unkeyed-refund-times-out-after-landing"]
    for code in (by_tenacity, by_tenacity_blocking, by_httpx, by_backoff, by_stamina, for_a_minute):
        harm = refund.rehearse(code)["harm"]
        assert harm[0]["finding"] == "duplicate_effect" and harm[0]["effects"]["code"] >= 3, (code.__name__, harm)
    harm = named["a-server-error-that-hid-a-success"].rehearse(new_key_each_time)["harm"]
    assert [each["finding"] for each in harm] == ["possible_duplicate_effect"], harm
    asked = [case for case in cases if not case.skip]
    words = {"escalated", "deprecated", "exhausted", "cancelled", "suppressed", "blocked", "undetermined", "reversed"}
    ends = {word: type(word, (Exception,), {})() for word in words}
    outcomes = {type(raised): word for word, raised in ends.items()}
    with open(file, "w", encoding="utf-8") as results:
        for case in asked:
            case.run(careful)
            said = case.rehearse(by_tenacity)
            del said["ends"]
            results.write(json.dumps(said) + "\n")
            case.run(as_decided(said["decided"], ends), check="moments", outcomes=outcomes)
    print(f"Python: six retries of the refund and a new key each time are found; in {len(asked)} fixtures a careful loop does no harm, "
          "and the playbook's own decisions are the same")  # fmt: skip


main(sys.argv[1])
