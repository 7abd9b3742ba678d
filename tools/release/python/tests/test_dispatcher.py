"""The client against the real process: what callers see of a call, in asyncio and without."""

import asyncio
import contextvars
import threading
import time
import unittest

from place import REFUND, ROOT, Case, playproof

from playproof import Call, CallFailed, PlayproofError, SyncDispatcher, ToolError


class Asynchronous(Case):
    async def test_in_the_shadow_each_call_is_sent_once_and_raises_what_it_raises(self):
        numbers, journal = [], self.folder / "shadow.jsonl"

        async def send(attempt):
            numbers.append(attempt.number)
            if attempt.args["order"] == "o_1":
                raise ToolError("5xx", status=503)
            await asyncio.sleep(0.05)
            return "paid"

        async with self.dispatcher(journal=journal, shadow=True) as d:
            with self.assertRaises(ToolError):
                await d.call(REFUND, {"order": "o_1"}, send, key="ik_1")
            outcome = await d.call(REFUND, {"order": "o_2"}, send, timeout_ms=10)
            self.assertEqual((outcome.result(), numbers), ("paid", [1, 1]))
        kept = journal.read_text(encoding="utf-8")
        self.assertIn('"event":"retry_scheduled"', kept)
        self.assertTrue('"timeout":true' in kept and '"late":true' in kept, kept)

    async def test_in_the_shadow_a_dead_dispatcher_harms_nothing(self):
        async with self.dispatcher(journal=self.folder / "shadow.jsonl", shadow=True) as d:
            d._lost = "it is gone"
            self.assertEqual((await d.call(REFUND, {}, lambda attempt: "paid")).result(), "paid")
            d._lost = None

    async def test_what_is_wrong_with_one_of_several_calls_is_raised_before_any_is_sent(self):
        sent = []

        def right():
            return Call(REFUND, {}, sent.append, id="a")

        wrong = [
            (Call(REFUND, {}, sent.append, timeout_ms=-1), ValueError),
            (Call(REFUND, {}, sent.append, timeout_ms="1"), TypeError),
            (Call(REFUND, {}, sent.append, id="a"), ValueError),
            (Call(REFUND, {"at": {1, 2}}, sent.append), TypeError),
            (Call(REFUND, {"at": float("nan")}, sent.append), ValueError),
            (Call(REFUND, {}, sent.append, key=5), TypeError),
        ]
        async with self.dispatcher() as d:
            for call, error in wrong:
                with self.assertRaises(error):
                    await d.gather([right(), call])
            await asyncio.sleep(0.05)
            self.assertEqual((sent, await d.history()), ([], {"history": [], "open": []}))

    async def test_it_starts_once(self):
        d = self.dispatcher()
        for ask in (d.history, lambda: d.call(REFUND, {}, lambda attempt: None)):
            with self.assertRaisesRegex(PlayproofError, "has not started"):
                await ask()
        async with d:
            with self.assertRaisesRegex(PlayproofError, "started before"):
                await d.start()
        with self.assertRaises(PlayproofError):
            await d.start()

    async def test_a_playbook_without_a_lock_is_refused_in_words_of_python(self):
        with self.assertRaisesRegex(PlayproofError, "unlocked=True"):
            await self.dispatcher(unlocked=False).start()

    async def test_a_call_that_succeeds_gives_its_result(self):
        async def send(attempt):
            return {"id": attempt.key, "order": attempt.args["order"]}

        async with self.dispatcher() as d:
            outcome = await d.call(REFUND, {"order": "o_1"}, send, key="ik_1", run="r1")
        self.assertEqual((outcome.outcome, outcome.effect, outcome.attempts), ("succeeded", "applied", 1))
        self.assertEqual(outcome.result(), {"id": "ik_1", "order": "o_1"})

    async def test_a_failure_is_sent_again_as_the_playbook_says(self):
        numbers = []

        async def send(attempt):
            numbers.append(attempt.number)
            if attempt.number < 3:
                raise ToolError("5xx", status=503)
            return "paid"

        async with self.dispatcher() as d:
            outcome = await d.call(REFUND, {}, send, key="ik_1")
        self.assertEqual((numbers, outcome.value), ([1, 2, 3], "paid"))
        self.assertEqual(outcome.outcome, "succeeded_after_compensation")

    async def test_a_timeout_of_a_write_without_a_key_goes_to_people_once(self):
        sent, queues, cancelled = [], [], []

        async def send(attempt):
            sent.append(attempt.number)
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                cancelled.append(attempt.number)
                raise

        async def to_people(outcome):
            await asyncio.sleep(0.01)
            queues.append((outcome.queue, outcome.args["order"]))

        async with self.dispatcher(on_queue=to_people) as d:
            outcome = await d.call(REFUND, {"order": "o_1"}, send, timeout_ms=30)
            self.assertEqual(queues, [("ambiguous_effects", "o_1")])  # before the caller hears of it
            self.assertEqual((outcome.outcome, outcome.effect, sent), ("escalated", "unknown", [1]))
            self.assertIsInstance(outcome.error, TimeoutError)
            self.assertFalse(outcome.told["retriable"])
            self.assertIn("issue_refund", str(outcome.message("openai")))
            self.assertEqual(outcome.message("failure")["error"]["class"], outcome.told["class"])
            self.assertRaises(ValueError, outcome.message, "telegram")
            with self.assertRaises(CallFailed) as failed:
                outcome.result()
            self.assertIn("issue_refund", str(failed.exception))
            await d.resolve(outcome.id, "applied", "anna")
            history = (await d.history())["history"]
            self.assertEqual(history[0]["resolved"], {"effect": "applied", "by": "anna"})
            with self.assertRaises(PlayproofError) as refused:
                await d.resolve(outcome.id, "applied", "ben")
            self.assertEqual(refused.exception.code, "not_escalated")
        self.assertEqual(cancelled, [1])

    async def test_a_blocking_function_is_left_at_its_timeout_and_its_late_result_is_said(self):
        done, lines = threading.Event(), []

        def send(attempt):
            done.wait(5)
            return "paid after all"

        async with self.dispatcher(journal=self.folder / "journal") as d:
            started = time.monotonic()
            outcome = await d.call(REFUND, {}, send, timeout_ms=30)
            self.assertLess(time.monotonic() - started, 4)
            self.assertEqual((outcome.outcome, outcome.value), ("escalated", None))
            done.set()
            while not any('"late":true' in line for line in lines):
                await asyncio.sleep(0.01)
                lines = (self.folder / "journal").read_text().splitlines()

    async def test_blocking_functions_run_at_the_same_time_in_the_context_of_their_callers(self):
        name = contextvars.ContextVar("name")
        together = threading.Barrier(8, timeout=10)

        def send(attempt):
            together.wait()
            return name.get(), playproof.attempt().id == attempt.id

        async def caller(number):
            name.set(number)
            return (await d.call("search.web", {}, send)).value

        async with self.dispatcher() as d:
            self.assertEqual(await asyncio.gather(*map(caller, range(8))), [(n, True) for n in range(8)])

    async def test_64_calls_at_once_end_in_their_order(self):
        async def send(attempt):
            await asyncio.sleep((64 - attempt.args["n"]) / 5000)
            if attempt.args["n"] == 5:
                raise ToolError("403_forbidden", status=403)
            return attempt.args["n"]

        async with self.dispatcher() as d:
            ended = await d.gather(Call(REFUND, {"n": n}, send, key=f"ik_{n}") for n in range(64))
        self.assertEqual([outcome.value for outcome in ended], [None if n == 5 else n for n in range(64)])
        self.assertEqual(ended[5].outcome, "escalated")

    async def test_evidence_is_refreshed_by_the_handler_or_refused(self):
        async def send(attempt):
            if attempt.refreshed is None:
                raise ToolError("412_precondition", "evidence is stale")
            return attempt.refreshed, attempt.evidence

        def refresh(attempt):
            self.assertEqual(attempt.asked, "refresh")
            return "a new snapshot"

        async with self.dispatcher(on_refresh=refresh) as d:
            outcome = await d.call(REFUND, {}, send)
            self.assertEqual(outcome.value, ("a new snapshot", 1))
        async with self.dispatcher() as d:
            outcome = await d.call(REFUND, {}, send)
            self.assertEqual((outcome.ok, outcome.effect), (False, "not_applied"))

    async def test_a_token_is_redeemed_by_the_handler_or_refused(self):
        async def send(attempt):
            raise ToolError("timeout")

        tokens = []
        playbook = ROOT / "playbooks" / "reversing.yaml"
        async with self.dispatcher(playbook, on_reversal=lambda attempt: tokens.append(attempt.token)) as d:
            outcome = await d.call(REFUND, {}, send, token="rev_1")
            self.assertEqual((outcome.outcome, tokens), ("reversed", ["rev_1"]))
        async with self.dispatcher(playbook) as d:
            outcome = await d.call(REFUND, {}, send, token="rev_1")
            self.assertEqual(outcome.outcome, "escalated")

    async def test_who_cancels_a_call_cancels_its_request(self):
        begun, cancelled, events = asyncio.Event(), [], []

        async def send(attempt):
            begun.set()
            try:
                await asyncio.sleep(10)
            finally:
                cancelled.append(True)

        async with self.dispatcher(on_event=events.append) as d:
            call = asyncio.ensure_future(d.call(REFUND, {}, send, id="c"))
            await begun.wait()
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            ended = (await d.history())["history"]
        self.assertEqual(([end["outcome"] for end in ended], cancelled), (["cancelled"], [True]))
        self.assertTrue(all({"id", "at_ms", "event"} <= event.keys() for event in events) and len(events) > 2)

    async def test_a_signal_of_a_framework_passes_through(self):
        interrupt = type("GraphInterrupt", (type("GraphBubbleUp", (Exception,), {"__module__": "langgraph.errors"}),), {})

        def send(attempt):
            raise interrupt("approve?")

        async with self.dispatcher() as d:
            with self.assertRaises(interrupt):
                await d.call(REFUND, {}, send)

    async def test_a_clock_that_is_held_times_nothing_out(self):
        async def send(attempt):
            with attempt.hold():
                await asyncio.sleep(0.2)
            return "approved"

        async with self.dispatcher() as d:
            outcome = await d.call(REFUND, {}, send, timeout_ms=50)
        self.assertEqual(outcome.value, "approved")

    async def test_work_that_goes_on_is_undetermined(self):
        async def send(attempt):
            raise ToolError(message="queued", accepted=True)

        async with self.dispatcher() as d:
            outcome = await d.call(REFUND, {}, send, key="ik_1")
        self.assertEqual((outcome.outcome, outcome.effect), ("undetermined", "unknown"))

    async def test_no_attempt_starts_after_the_callers_time(self):
        async def send(attempt):
            await asyncio.sleep(0.03)
            raise ToolError("timeout")

        async with self.dispatcher() as d:
            outcome = await d.call(REFUND, {}, send, key="ik_1", answer_within_ms=20)
        self.assertEqual((outcome.outcome, outcome.attempts), ("exhausted", 1))

    async def test_what_cannot_be_said_is_refused_and_nothing_is_sent(self):
        async with self.dispatcher() as d:
            for args in ({"n": float("nan")}, {"n": object()}):
                with self.assertRaises((TypeError, ValueError)):
                    await d.call(REFUND, args, lambda attempt: self.fail("sent"))
            with self.assertRaises(PlayproofError) as refused:
                await d.call("", {}, lambda attempt: self.fail("sent"))
            self.assertEqual(refused.exception.code, "bad_line")
            with self.assertRaises(TypeError):
                await d.call(REFUND, {}, None)
            self.assertEqual((await d.call(REFUND, {}, lambda attempt: 1)).value, 1)

    async def test_a_program_that_speaks_no_protocol_is_refused(self):
        d = playproof.Dispatcher(self.playbook, program="/bin/echo")
        with self.assertRaisesRegex(PlayproofError, "no line of the protocol"):
            await d.start()
        await d.close()

    async def test_a_playbook_that_is_not_there_is_named(self):
        with self.assertRaises(PlayproofError) as refused:
            async with self.dispatcher(self.folder / "none.yaml"):
                pass
        self.assertIn("none.yaml", str(refused.exception))
        with self.assertRaises(PlayproofError):
            await self.dispatcher().call(REFUND, {}, lambda attempt: 1)

    async def test_calls_with_one_key_are_one_request(self):
        sent = []

        async def send(attempt):
            sent.append(attempt.id)
            await asyncio.sleep(0.02)
            return len(sent)

        async with self.dispatcher(ROOT / "playbooks" / "dispatcher.yaml") as d:
            calls = [Call("db.write", {"table": "t"}, send, key="ik_00000001", id=f"c{n}") for n in range(3)]
            ended = await d.gather(calls)
            again = await d.call("db.write", {"table": "t"}, send, key="ik_00000001")
        self.assertEqual([outcome.value for outcome in [*ended, again]], [1, 1, 1, 1])
        self.assertEqual([outcome.outcome for outcome in [*ended, again]], ["succeeded", "joined", "joined", "cached"])
        self.assertTrue(all(outcome.ok for outcome in ended) and sent == ["c0"])

    async def test_an_action_makes_its_steps(self):
        async with self.dispatcher(ROOT / "playbooks" / "steps.yaml") as d:

            @d.tool("slack.react")
            async def react(pr):
                return f"reacted to {pr}"

            outcome = await d.call("ship_update", {"pr": 7}, lambda attempt: attempt.tool, run="r1", key="ik_1")
        self.assertEqual(list(outcome.value.values()), ["github.find_pr", "slack.post", "reacted to 7"])


class Tools(Case):
    async def test_a_tool_is_an_ordinary_function_and_its_key_is_made(self):
        keys = []
        async with self.dispatcher() as d:

            @d.tool(REFUND, key="auto", step=lambda order, amount=10: f"refund {order}")
            async def refund(order: str, amount: float = 10):
                """Refunds an order."""
                keys.append(playproof.attempt().key)
                if len(keys) == 1:
                    raise ToolError("5xx")
                return order

            with playproof.run("r1"):
                self.assertEqual(await refund("o_1"), "o_1")
                self.assertEqual(await refund("o_1", amount=10.0), "o_1")
                self.assertEqual(await refund("o_2"), "o_2")
            with playproof.run("r2"):
                await refund("o_1")
            with self.assertRaises(ValueError):
                await refund("o_1")  # of no run
        self.assertEqual(refund.__doc__, "Refunds an order.")
        self.assertEqual(keys[0], keys[1])
        self.assertEqual(keys[0], keys[2])
        self.assertEqual(len(set(keys)), 3)

    async def test_a_tool_that_is_repeatable_has_no_key_of_its_arguments(self):
        async with self.dispatcher() as d:

            @d.tool("tickets.add", key="auto", run="r1", step="add")
            def add():
                self.fail("sent")

            with self.assertRaises(ValueError) as refused:
                await add()
        self.assertIn("repeatable", str(refused.exception))

    async def test_a_failed_tool_raises_what_the_agent_is_told(self):
        async with self.dispatcher() as d:

            @d.tool(REFUND, run="r1")
            def refund(**args):
                raise ToolError("403_forbidden", "no", status=403)

            with self.assertRaises(CallFailed) as failed:
                await refund(order="o_1")
        self.assertEqual(failed.exception.outcome.args, {"order": "o_1"})
        self.assertEqual(str(failed.exception), failed.exception.outcome.message("openai")["content"])

    async def test_keys_are_made_of_meaning(self):
        key = playproof.auto_key("r1", "s", REFUND, {"a": 1, "b": [2.0]})
        self.assertEqual(key, playproof.auto_key("r1", "s", REFUND, {"b": [2], "a": 1.0}))
        self.assertNotEqual(key, playproof.auto_key("r1", "s", REFUND, {"b": [2], "a": True}))
        self.assertRaises(ValueError, playproof.auto_key, "r1", None, REFUND, {})


class Synchronous(Case):
    def test_it_starts_once_and_says_so_outside_of_with(self):
        d = SyncDispatcher(self.playbook, **self.options())
        for ask in (d.history, lambda: d.call(REFUND, {}, lambda attempt: None)):
            with self.assertRaisesRegex(PlayproofError, "has not started"):
                ask()
        d.start()
        with self.assertRaisesRegex(PlayproofError, "started before"):
            d.start()
        self.assertEqual(d.call(REFUND, {}, lambda attempt: "paid").result(), "paid")
        d.close()
        d.close()
        with self.assertRaisesRegex(PlayproofError, "is closed"):
            d.history()
        with self.assertRaisesRegex(PlayproofError, "started before"):
            d.start()

    def test_calls_block_and_threads_share_a_dispatcher(self):
        def send(attempt):
            time.sleep(0.01)
            if attempt.number == 1:
                raise ToolError("5xx")
            return attempt.args["n"]

        values = []
        with SyncDispatcher(self.playbook, **self.options()) as d:
            threads = [
                threading.Thread(target=lambda n=n: values.append(d.call(REFUND, {"n": n}, send, key=f"ik_{n}").value))
                for n in range(8)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            ended = d.gather(Call(REFUND, {"n": n}, send, key=f"ik2_{n}") for n in range(64))

            @d.tool("search.web")
            def search(q):
                return f"found {q}"

            self.assertEqual(search("x"), "found x")
            self.assertEqual(len(d.history()["history"]), 73)
        self.assertEqual((sorted(values), [each.value for each in ended]), (list(range(8)), list(range(64))))

    def test_a_function_that_hangs_keeps_nobody(self):
        with SyncDispatcher(self.playbook, **self.options()) as d:
            outcome = d.call(REFUND, {}, lambda attempt: time.sleep(60), timeout_ms=20)
        self.assertEqual(outcome.outcome, "escalated")


if __name__ == "__main__":
    unittest.main()
