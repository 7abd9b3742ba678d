// Transactions: a charge is made once in one that begins again, and its state is there after the commit or not at all.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PlayproofError, RolledBack, ToolError } from "../lib/index.mjs";
import { dispatcher, journal } from "./place.mjs";

const CHARGE = "cards.charge";
const fails = () => { throw new ToolError({ kind: "invalid_arguments" }); };

/** What a program does with an order: it charges a card, writes that down, and sends a mail. */
const chargeAndNotify = (d, sent, mail) => d.transaction("order", async (order) => {
  const charged = await d.call(CHARGE, { o: 1 }, ({ tool }) => { sent.push(tool); return "ch_1"; });
  await order.state("order.status", { is: "paid" });
  await d.call("mail.send", { o: 1 }, mail);
  return charged;
}, { run: "r" });

test("a charge is made once in a transaction that begins again", async () => {
  const kept = journal(), sent = [];
  const d = dispatcher({ journal: kept });
  await assert.rejects(chargeAndNotify(d, sent, fails), RolledBack);
  const again = await chargeAndNotify(d, sent, () => "sent");
  assert.deepEqual([again.outcome, again.value, again.ok, sent], ["cached", "ch_1", true, [CHARGE]]);
  const later = await chargeAndNotify(d, sent, () => "sent");
  assert.deepEqual([later.outcome, sent.length], ["succeeded", 2]);
  await assert.rejects(d.transaction("other", async (other) => { await other.state("x"); throw new RangeError(); }), RangeError);
  await d.close();
  assert.match(readFileSync(kept, "utf8"), /"type":"rollback"/);
});

test("the process dies, and the program that has the state commits it", { skip: process.platform === "win32" }, async () => {
  for (const kept of [journal(), undefined]) {
    const d = dispatcher({ journal: kept });
    const ended = chargeAndNotify(d, [], async () => { process.kill(d.pid, "SIGKILL"); return "sent"; });
    if (kept === undefined) await assert.rejects(ended, PlayproofError);
    else assert.equal((await ended).value, "ch_1");
    assert.deepEqual([d.restarts, d.lost], [1, []]);
    await d.close();
  }
});

test("who goes on with the journal of another program hears what is lost", async () => {
  const kept = journal();
  const first = dispatcher({ journal: kept });
  await first.transaction("order", async (order) => {
    await order.state("order.status", "paid");
    await first.close();
  }, { run: "r" }).catch(() => {});
  const second = dispatcher({ journal: kept });
  await second.start();
  assert.deepEqual(second.lost, [{ run: "r", transaction: "order", state: ["order.status"] }]);
  await second.close();
});
