"""A dispatcher of a test's own process is compared with a playbook: `playproof.conform`."""

import asyncio
import sys
import unittest

from place import ROOT, playproof, program

from playproof import Failed

FIXTURE = ROOT / "fixtures" / "unkeyed-refund-times-out-after-landing.yaml"


async def cautious(call, world):
    try:
        await world.send(1)
        return "succeeded"
    except (Failed, asyncio.TimeoutError):
        return "escalated"


def eager():
    async def dispatch(call, world):
        for attempt in range(1, 4):
            try:
                await world.send(attempt)
                return "succeeded"
            except (Failed, asyncio.TimeoutError):
                await world.sleep(0.2)
        return "escalated"

    return dispatch


@unittest.skipIf(program() is None or sys.platform == "win32", "the program is not built, or there is no shell")
class Conformance(unittest.TestCase):
    def conform(self, dispatch, **options):
        return playproof.conform(dispatch, FIXTURE, playbook="standard", program=program(), **options)

    def test_a_right_dispatcher_is_the_same(self):
        self.assertIn("1 the same, 0 differ", self.conform(cautious))

    def test_one_that_sends_again_differs_by_its_second_request_and_its_effects(self):
        for options in ({}, {"ignore_waits": True}, {"only_effects": True}):
            with self.assertRaises(AssertionError) as differs:
                self.conform(eager, **options)
            self.assertIn("unkeyed-refund-times-out-after-landing", str(differs.exception))
        self.assertIn("dispatcher: 3 effects", str(differs.exception))

    def test_what_a_dispatcher_raises_is_told_with_fixture_and_call(self):
        async def broken(call, world):
            raise KeyError("order")

        with self.assertRaises(playproof.PlayproofError) as raised:
            self.conform(broken)
        self.assertIsInstance(raised.exception.__cause__, KeyError)
        said = str(raised.exception)
        self.assertTrue("unkeyed-refund-times-out" in said and "KeyError('order') in the call" in said, said)
        self.assertNotIn("exec 3", said)

    def test_it_works_below_a_running_loop(self):
        async def test():
            return self.conform(cautious)

        self.assertIn("1 the same", asyncio.run(test()))

    def test_a_fixture_that_is_not_there_is_an_error(self):
        with self.assertRaises(playproof.PlayproofError):
            playproof.conform(cautious, "no-such.yaml", playbook="standard", program=program())


if __name__ == "__main__":
    unittest.main()
