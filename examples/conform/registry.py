"""A dispatcher with a registry, a cache of keys, eight permits and retries with jitter, written from the text that
`playbooks/study/course-dispatcher-literal.yaml` follows, with what that text does wrong. `python3 registry.py BUG` has one
bug more. It needs the package `playproof`."""
import asyncio
import collections
import sys

from playproof.conformance import Failed, serve

WAITS = [0.1, 0.4]
TRANSIENT = ("transient", "5xx", "rate_limited", "429_rate_limited")
BUDGET = 50  # tool calls of a run
KEPT_MS = 60_000


def is_text(value):
    return isinstance(value, str) and value != ""


def is_amount(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


# The arguments of the tools that the registry knows.
ARGUMENTS = {
    "search.web": {"q": is_text},
    "payments.charge": {"order": lambda value: isinstance(value, str), "amount": is_amount},
}


def is_registered(call):
    """Whether the registry lets a call pass."""
    fields, args = ARGUMENTS.get(call["tool"]), call.get("args")
    if not call["facts"].get("declared") or len(call.get("key") or "") > 255:  # the bound is ours
        return False
    if fields is None:
        return True
    return isinstance(args, dict) and args.keys() == fields.keys() and all(fits(args[name]) for name, fits in fields.items())


def new_dispatcher(bug=None):
    kept, in_flight, permits, used = {}, {}, asyncio.Semaphore(8), collections.Counter()
    unsettled = set()  # keys that the upstream ignores, of calls that may have acted: of this the published text knows nothing

    async def attempts(call, world):
        facts, timeout_ms = call["facts"], call.get("timeout_ms") or call["facts"].get("timeout_ms")
        most = 4 if bug == "one-attempt-more" else 3
        for attempt in range(1, most + 1):
            if attempt > 1:
                await world.sleep(WAITS[min(attempt - 2, 1)] * (1 + 0.5 * world.draw))
            try:
                await world.send(attempt, timeout_ms)
                return "succeeded" if attempt == 1 else "succeeded_after_compensation"
            except asyncio.TimeoutError:
                is_again = facts.get("idempotent") or bug == "timeouts-of-writes-retried"
            except Failed as failed:
                kind = failed.error.get("kind") or ""
                is_again = kind in TRANSIENT or (bug == "conflict-retried" and kind.startswith("409"))
            if is_again and facts.get("retry") == "never":
                return "escalated"  # the published text knows no such fact: this is ours
            if not is_again or attempt == most:
                return "exhausted" if is_again else "deprecated"

    async def dispatch(call, world):
        if not is_registered(call):
            return "refused"
        key = call.get("key")
        while key in in_flight:
            if await in_flight[key]:
                return "joined"  # else it was lost, and this one goes on in its place
        if key is not None and world.now - kept.get(key, -KEPT_MS) < KEPT_MS:
            return "cached"
        if key in unsettled:
            return "refused"
        used[call.get("run")] += 1
        if used[call.get("run")] > BUDGET:
            return "refused"
        async with permits:
            if key is None:
                return await attempts(call, world)
            # Published so: nobody looks again whether another call has begun with the key meanwhile.
            ends = in_flight[key] = asyncio.get_running_loop().create_future()
            has_ended = has_succeeded = False
            try:
                outcome = await attempts(call, world)
                has_ended, has_succeeded = True, outcome.startswith("succeeded")
                if has_succeeded:
                    kept[key] = world.now
                return outcome
            finally:
                if call["facts"].get("keys") == "ignored" and not has_succeeded:
                    unsettled.add(key)
                ends.set_result(has_ended)
                if in_flight.get(key) is ends:
                    del in_flight[key]

    return dispatch


if __name__ == "__main__":
    serve(lambda: new_dispatcher(*sys.argv[1:]))
