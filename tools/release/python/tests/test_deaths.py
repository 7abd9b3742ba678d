"""kill -9 of the process, of the client and of both at random moments: no request is made twice, no claim is false, and
every end that was heard is found again. `PLAYPROOF_DEATHS` is the number of kills, `PLAYPROOF_SEED` their seed."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
import unittest

from place import HERE, REFUND, Case, Ledger, Upstream, playproof, program

from playproof import DispatcherLost, PlayproofError, ToolError

DEATHS = int(os.environ.get("PLAYPROOF_DEATHS", "12"))
SEED = int(os.environ.get("PLAYPROOF_SEED", "1"))


def kill(d):
    """Whether there was a process to kill."""
    try:
        os.kill(d._process.pid(), signal.SIGKILL)
    except (AttributeError, ProcessLookupError):
        return False
    return True


@unittest.skipUnless(hasattr(signal, "SIGKILL"), "there is no kill -9 here")
class Deaths(Case):
    async def test_the_process_dies_and_every_call_ends_with_a_true_claim(self):
        luck, ledger, sent, wrong = random.Random(SEED), Ledger(), [], []

        async def send(attempt):
            sent.append((attempt.id, attempt.number))
            await asyncio.sleep(luck.random() * 0.01)
            fate = luck.random()
            if fate < 0.2:
                raise ToolError("429_rate_limited", status=429)
            ledger.act(attempt.key, attempt.args["order"])
            if fate < 0.4:
                raise ToolError("5xx", status=503)
            await asyncio.sleep(luck.random() * 0.01)
            return attempt.args["order"]

        async def caller(name):
            number = 0
            while deaths < DEATHS:
                order, number = f"{name}-{number}", number + 1
                key = f"ik_{order}" if luck.random() < 0.7 else None
                outcome = await d.call(REFUND, {"order": order}, send, key=key, run=name)
                if ledger.contradicts(key, order, outcome.effect) or outcome.ok != (outcome.value == order):
                    wrong.append(outcome)
                ended[outcome.id] = outcome.outcome

        deaths, ended = 0, {}
        async with self.dispatcher(journal=self.folder / "journal") as d:
            callers = [asyncio.ensure_future(caller(f"r{n}")) for n in range(8)]
            while deaths < DEATHS and not any(each.done() for each in callers):
                await asyncio.sleep(0.02 + luck.random() * 0.1)
                deaths += kill(d)
            await asyncio.gather(*callers)
            found = {end["done"]: end["outcome"] for end in (await d.history())["history"]}
            self.assertGreater(d.restarts, DEATHS // 2)  # two kills can hit one process
        self.assertEqual(wrong, [])
        self.assertEqual(len(sent), len(set(sent)), "a request was made twice")
        self.assertLessEqual(max(ledger.effects.values()), 1)
        last = list(ended.items())[-900:]
        self.assertEqual([(id, found.get(id)) for id, _ in last], last)
        self.assertGreater(len(ended), DEATHS)

    async def test_the_client_dies_too_and_another_takes_the_journal_over(self):
        luck, upstream = random.Random(SEED), Upstream(SEED)
        self.addCleanup(upstream.server_close)
        self.addCleanup(upstream.shutdown)
        heard, journal = self.folder / "heard", self.folder / "journal"
        words = [sys.executable, str(HERE / "refunds.py"), str(self.playbook), str(journal), str(heard), upstream.url()]
        for life in range(max(2, DEATHS // 3) + 1):
            child = subprocess.Popen([*words, str(life)], stdout=subprocess.PIPE, env={**os.environ, "PLAYPROOF_BIN": program()})
            process = int(child.stdout.readline())
            if life < max(2, DEATHS // 3):
                time.sleep(luck.random() * 0.15)
                for pid in [process, child.pid] if luck.random() < 0.5 else [child.pid]:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
            child.communicate(timeout=60)
            self.assertIn(child.returncode, (0, -signal.SIGKILL))
        self.assertLessEqual(max(upstream.ledger.effects.values()), 1)
        ended = [json.loads(line) for line in heard.read_text().splitlines()]
        async with self.dispatcher(journal=journal) as d:
            history = await d.history()
        self.assertEqual(history["open"], [])
        found = {end["done"]: end["outcome"] for end in history["history"]}
        for end in ended[-900:]:
            self.assertEqual(found.get(end["id"]), end["outcome"])
        for end in history["history"]:  # also of calls whose program has ended
            key = f"ik_{end['done']}" if int(end["done"][-1]) % 3 else None
            self.assertFalse(upstream.ledger.contradicts(key, end["done"], end["effect"]), end)

    async def test_without_a_journal_a_call_is_lost_with_what_is_known_of_it(self):
        sent = []

        async def send(attempt):
            sent.append(attempt.number)
            if attempt.number == 1:
                raise ToolError("5xx")
            await asyncio.sleep(10)

        async with self.dispatcher() as d:
            call = asyncio.ensure_future(d.call(REFUND, {}, send, key="ik_1"))
            while sent != [1, 2]:
                await asyncio.sleep(0.001)
            unsent = asyncio.ensure_future(d.call(REFUND, {}, send))
            await asyncio.sleep(0)
            kill(d)
            with self.assertRaises(DispatcherLost) as lost:
                await call
            self.assertEqual((lost.exception.effect, lost.exception.outcome.attempts), ("unknown", 2))
            with self.assertRaises(DispatcherLost) as lost:
                await unsent
            self.assertIn(lost.exception.effect, ("unknown", "not_applied"))
            self.assertEqual((await d.call("search.web", {}, lambda attempt: "found")).value, "found")
            gone = (await d.gather([playproof.Call(REFUND, {}, lambda attempt: kill(d) or time.sleep(1))]))[0]
            self.assertEqual((gone.outcome, gone.effect, gone.ok), ("lost", "unknown", False))

    async def test_a_process_that_does_not_start_again_loses_all_calls(self):
        async with self.dispatcher(journal=self.folder / "journal") as d:
            call = asyncio.ensure_future(d.call(REFUND, {}, lambda attempt: time.sleep(1)))
            await asyncio.sleep(0.2)
            self.playbook.write_text("no playbook")
            kill(d)
            with self.assertRaises(DispatcherLost) as lost:
                await call
            self.assertEqual(lost.exception.effect, "unknown")
            with self.assertRaises(PlayproofError):
                await d.call(REFUND, {}, lambda attempt: self.fail("sent"))


if __name__ == "__main__":
    unittest.main()
