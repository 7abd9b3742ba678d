"""Retry code is asked fixtures: harm is found, time is virtual for it alone, and what cannot be virtual is refused."""

import asyncio
import os
import threading
import time
import unittest
from time import sleep as taken

from place import ROOT, playproof, program

from playproof import ToolError, send
from playproof.testing import explain, listed

FAILED = (ToolError, asyncio.TimeoutError)


async def plain(tool, args, key):
    for attempt in range(3):
        try:
            return await send(key=key)
        except FAILED:
            if attempt == 2:
                raise
            await asyncio.sleep(0.2 * 2**attempt)


def blocking(tool, args, key):
    for attempt in range(3):
        try:
            return send(key=key)
        except FAILED:
            if attempt == 2:
                raise
            time.sleep(0.1)
            taken(0.1 * 2 ** (attempt + 1) - 0.1)


async def new_key_each_time(tool, args, key):
    for attempt in range(3):
        try:
            return await send(key=f"{key}-{attempt}")
        except FAILED:
            await asyncio.sleep(0.5)
    raise TimeoutError


async def careful(tool, args, key):
    for attempt in range(4):
        try:
            return await send(key=key)
        except FAILED as error:
            passes = error.status == 429 or (error.status or 0) >= 500 and key if isinstance(error, ToolError) else key
            if not passes or attempt == 3:
                raise
            await asyncio.sleep(0.2 * 2**attempt)


class Testing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if program() is None:
            raise unittest.SkipTest("the program is not built, and PLAYPROOF_BIN does not name it")
        here = os.getcwd()
        os.chdir(ROOT)
        cls.addClassCleanup(os.chdir, here)
        cls.cases = {case.name: case for case in listed("fixtures", playbook="standard", program=program())}
        cls.refund = cls.cases["unkeyed-refund-times-out-after-landing"]

    def found(self, code, case=None, **how):
        result = (case or self.refund).rehearse(code, **how)
        return [harm["finding"] for harm in result["harm"]], result

    def test_plain_retries_pay_more_than_once_whether_they_wait_or_block(self):
        for code in (plain, blocking):
            harm, result = self.found(code)
            self.assertEqual((harm, result["effects"]), (["duplicate_effect"], {"code": 3, "playbook": 1}))
            self.assertEqual([sent["at_ms"] for sent in result["sends"]], [0, 5200, 10600])
            self.assertEqual({**result, "ends": 0}, {**self.refund.rehearse(code), "ends": 0}, "a second run differs")
        with self.assertRaisesRegex(AssertionError, "refund had 3 effects upstream, under the playbook 1"):
            self.refund.run(plain)

    def test_a_new_key_each_time_is_found_and_a_careful_loop_does_no_harm(self):
        keyed = self.cases["a-server-error-that-hid-a-success"]
        self.assertEqual(self.found(new_key_each_time, keyed)[0], ["possible_duplicate_effect"])
        for case in list(self.cases.values())[:40]:
            if not case.skip:
                case.run(careful)

    def test_what_the_playbook_does_is_no_difference(self):
        async def once(tool, args, key):
            await send(key=key)

        class Denied(Exception):
            pass

        self.refund.run(once, check="moments")
        denied = self.cases["a-denial-escalates-and-is-never-retried"]
        denied.run(once, check="moments", error=lambda facts, is_timeout: Denied(), outcomes={Denied: "escalated"})
        with self.assertRaisesRegex(AssertionError, "other decision.*done escalated.*done deprecated"):
            denied.run(once, check="decisions", error=lambda facts, is_timeout: Denied(), outcomes={Denied: "deprecated"})
        with self.assertRaisesRegex(AssertionError, "other moment"):
            self.refund.run(blocked_before, check="moments")

    def test_calls_at_once_that_share_nothing_are_asked_of_blocking_code_one_by_one(self):
        at_once = [case for case in self.cases.values() if case.at_once and not case.skip]
        apart = next(case for case in at_once if case.apart)
        self.assertEqual(len(self.found(blocking, apart)[1]["ends"]), apart.calls)
        shared = next(case for case in at_once if not case.apart)
        with self.assertRaises(unittest.SkipTest):
            shared.run(blocking)

    def test_all_clocks_move_together_and_the_runner_keeps_its_own(self):
        real, ticks, seen = time.monotonic, [], []
        watch = threading.Thread(target=lambda: (time.sleep(0.05), ticks.append(time.time())))
        watch.start()

        async def code(tool, args, key):
            loop = asyncio.get_running_loop()
            begun = (time.time(), time.monotonic(), time.perf_counter(), loop.time(), time.time_ns() / 1e9)
            time.sleep(1)
            await asyncio.to_thread(sum, range(100_000))
            try:
                await asyncio.wait_for(loop.create_future(), 1.5)
            except asyncio.TimeoutError:
                seen.extend(now - then for now, then in zip((time.time(), time.monotonic(), time.perf_counter(), loop.time(), time.time_ns() / 1e9), begun))

        self.refund.rehearse(code)
        watch.join()
        self.assertTrue(all(abs(each - 2.5) < 1e-5 for each in seen) and len(seen) == 5, seen)
        self.assertTrue(abs(ticks[0] - time.time()) < 60 and time.monotonic is real)

    def test_what_cannot_be_virtual_is_refused(self):
        async def sleeps(tool, args, key):
            await asyncio.to_thread(time.sleep, 1)

        async def sends(tool, args, key):
            await asyncio.to_thread(send)

        for code in (sleeps, sends):
            self.assertIn("a second thread", str(self.refund.rehearse(code)["ends"]["refund"]))
        with self.assertRaisesRegex(RuntimeError, "ordinary `def` test"):
            asyncio.run(in_a_loop(self.refund))
        with self.assertRaisesRegex(RuntimeError, "case.run"):
            send()

    def test_code_that_never_ends_or_never_begins_fails(self):
        async def for_ever(tool, args, key):
            await asyncio.get_running_loop().create_future()

        async def never_stops(tool, args, key):
            while True:
                try:
                    await asyncio.sleep(1e6)
                except (asyncio.CancelledError, Exception):
                    pass

        def reads_the_clock(tool, args, key):
            while time.monotonic() >= 0:
                pass

        async def breaks(tool, args, key):
            return nothing_there  # noqa: F821

        with self.assertRaisesRegex(AssertionError, "no request was made: refund ended with NameError"):
            self.refund.run(breaks)
        self.assertRaises(TypeError, self.refund.run, None)
        for code, why in ((for_ever, "for ever"), (never_stops, "does not end"), (reads_the_clock, "reads the clock")):
            began = time.monotonic()
            with self.assertRaisesRegex(AssertionError, why):
                self.refund.run(code)
            self.assertLess(time.monotonic() - began, 10)

    def test_the_first_answer_of_two_requests_at_once_goes_to_its_own(self):
        async def hedged(tool, args, key):
            both = [asyncio.ensure_future(send()), asyncio.ensure_future(send())]
            done, rest = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for each in rest:
                each.cancel()
            return done.pop().result()

        harm, result = self.found(hedged)
        self.assertEqual((harm, len(result["sends"])), (["duplicate_effect"], 2))
        self.assertIn("sends: refund 1 at 0 ms key None; refund 2 at 0 ms", explain(result))


def blocked_before(tool, args, key):
    time.sleep(1)
    send(key=key)


async def in_a_loop(case):
    case.run(plain)


if __name__ == "__main__":
    unittest.main()
