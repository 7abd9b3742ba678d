"""A dispatcher with a registry, a cache of keys, eight permits and retries with jitter, written from the text that
`playbooks/study/course-dispatcher-literal.yaml` follows. `python3 registry.py BUG` has one of its known bugs. It needs the
package `playproof`."""
import asyncio
import sys

from playproof.conformance import Failed, serve

WAITS = [0.1, 0.4]
TRANSIENT = ("transient", "5xx", "rate_limited", "429_rate_limited")


def new_dispatcher(bug=None):
    kept, in_flight, permits = {}, {}, asyncio.Semaphore(8)

    async def attempts(call, world):
        facts = call["facts"]
        most = 4 if bug == "one-attempt-more" else 3
        for attempt in range(1, most + 1):
            if attempt > 1:
                await world.sleep(WAITS[min(attempt - 2, 1)] * (1 + 0.5 * world.draw))
            try:
                await world.send(attempt, facts.get("timeout_ms"))
                return "succeeded" if attempt == 1 else "succeeded_after_compensation"
            except asyncio.TimeoutError:
                is_safe = facts.get("idempotent") or bug == "timeouts-of-writes-retried"
                if not is_safe or attempt == most:
                    return "exhausted" if is_safe else "deprecated"
            except Failed as failed:
                kind = failed.error.get("kind") or ""
                is_transient = kind in TRANSIENT or (bug == "conflict-retried" and kind.startswith("409"))
                if not is_transient or attempt == most:
                    return "exhausted" if is_transient else "deprecated"

    async def dispatch(call, world):
        if not call["facts"].get("declared"):
            return "refused"
        key = call.get("key")
        if key is None:
            async with permits:
                return await attempts(call, world)
        if key in in_flight:
            await in_flight[key]
            return "joined"
        if world.now - kept.get(key, -60_001) <= 60_000:
            return "cached"
        in_flight[key] = asyncio.get_running_loop().create_future()
        try:
            async with permits:
                outcome = await attempts(call, world)
            if outcome.startswith("succeeded"):
                kept[key] = world.now
            return outcome
        finally:
            in_flight.pop(key).set_result(None)

    return dispatch


if __name__ == "__main__":
    serve(lambda: new_dispatcher(*sys.argv[1:]))
