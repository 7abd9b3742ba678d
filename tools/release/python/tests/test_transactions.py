"""Transactions: a charge is made once in one that begins again, and its state is there after the commit or not at all."""

import json
import os
import signal
import subprocess
import sys
import unittest

from place import HERE, Case, playproof, program

from playproof import RolledBack, ToolError

CHARGE = "cards.charge"


async def charge_and_notify(d, sent, mail):
    """What a program does with an order: it charges a card, writes that down, and sends a mail."""
    async with d.transaction("order", run="r") as order:
        charged = await d.call(CHARGE, {"o": 1}, lambda attempt: sent.append(attempt.tool) or "ch_1")
        await order.state("order.status", {"is": "paid"})
        await d.call("mail.send", {"o": 1}, mail)
    return charged


def fails(attempt):
    raise ToolError("invalid_arguments")


class Transactions(Case):
    async def test_a_charge_is_made_once_in_a_transaction_that_begins_again(self):
        sent = []
        async with self.dispatcher(journal=self.folder / "journal") as d:
            with self.assertRaises(RolledBack):
                await charge_and_notify(d, sent, fails)
            again = await charge_and_notify(d, sent, lambda attempt: "sent")
            self.assertEqual((again.outcome, again.value, again.ok, sent), ("cached", "ch_1", True, [CHARGE]))
            later = await charge_and_notify(d, sent, lambda attempt: "sent")
            self.assertEqual((later.outcome, sent), ("succeeded", [CHARGE, CHARGE]))
            with self.assertRaises(ZeroDivisionError):
                async with d.transaction("other") as other:
                    await other.state("x")
                    raise ZeroDivisionError
        self.assertIn('"type":"rollback"', (self.folder / "journal").read_text())

    async def test_the_process_dies_and_the_program_that_has_the_state_commits_it(self):
        for journal in (self.folder / "journal", None):
            sent = []

            def dies(attempt):
                os.kill(d._process.pid(), signal.SIGKILL)
                return "sent"

            async with self.dispatcher(journal=journal) as d:
                if journal is None:
                    with self.assertRaises(playproof.PlayproofError):
                        await charge_and_notify(d, sent, dies)
                else:
                    self.assertEqual((await charge_and_notify(d, sent, dies)).value, "ch_1")
                self.assertEqual((d.restarts, d.lost), (1, []))

    def test_the_program_dies_and_the_next_one_hears_what_is_lost(self):
        journal, sent = self.folder / "journal", []
        words = [sys.executable, "-c", DIES, str(HERE), program(), str(self.playbook), str(journal)]
        self.assertEqual(subprocess.run(words, timeout=60).returncode, -signal.SIGKILL)
        options = self.options(journal=journal)
        with playproof.SyncDispatcher(self.playbook, **options) as d:
            self.assertEqual(d.lost, [{"run": "r", "transaction": "order", "state": ["order.status"]}])
            with d.transaction("order", run="r") as order:
                outcome = d.call(CHARGE, {"o": 1}, lambda attempt: sent.append(attempt.tool))
                order.state("order.status", {"is": "paid"})
        self.assertEqual((outcome.outcome, sent), ("cached", []))
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        became = [line["became"] for line in lines if line.get("event") == "transaction"]
        self.assertEqual(became, ["begun", "staged", "discarded", "begun_again", "staged", "committed", "committed"])


DIES = """
import os, signal, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import playproof
with playproof.SyncDispatcher(sys.argv[3], journal=sys.argv[4], program=sys.argv[2], unlocked=True) as d:
    with d.transaction("order", run="r") as order:
        d.call("cards.charge", {"o": 1}, lambda attempt: "ch_1")
        order.state("order.status", {"is": "paid"})
        os.kill(d.driver._process.pid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
"""


if __name__ == "__main__":
    unittest.main()
