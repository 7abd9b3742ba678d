// What the client can do as the one of Python does it: where calls belong, keys, held clocks, the shadow, handlers, bad input.
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Dispatcher, PlayproofError, ToolError, attempt, autoKey, run } from "../lib/index.mjs";
import { REFUND, dispatcher, journal, pause, root } from "./place.mjs";

const never = () => { throw new Error("sent"); };

test("calls belong to the run and the step around them, and requests are made where their caller is", async () => {
  const d = dispatcher(), name = new AsyncLocalStorage();
  const caller = (number) => name.run(number, () => run(`r${number}`, () => d.call("search.web", {}, async (given) => {
    await pause(1);
    return [name.getStore(), attempt() === given, given.run];
  })));
  const outcomes = await Promise.all([0, 1, 2].map(caller));
  assert.deepEqual(outcomes.map(({ value }) => value), [0, 1, 2].map((number) => [number, true, `r${number}`]));
  assert.equal(attempt(), undefined);
  await d.close();
});

test("the key `auto` is made of run, step, tool and arguments, as in Python", async () => {
  const d = dispatcher(), keys = [];
  const pay = d.tool(REFUND, ({ order }) => { keys.push(attempt().key); return order; }, { key: "auto", step: ({ order }) => `refund ${order}` });
  const both = await run("r1", async () => [await pay({ order: "o_1", cents: 10 }), await pay({ cents: 10.0, order: "o_1" })]);
  assert.deepEqual([both, new Set(keys).size], [["o_1", "o_1"], 1]); // of one key
  assert.equal(autoKey("r1", "s", "pay", { b: [1, 10.0], a: "é ≠ \u{1F600}", n: null, f: 1.5, x: { z: 1, y: true } }), "auto-b2d363e76c87162feb17b7a7a15e671d");
  await assert.rejects(pay({ order: "o_2" }), /needs the run and the step/);
  const add = d.tool("tickets.add", never, { key: "auto", run: "r", step: "s" });
  await assert.rejects(add({}), /repeatable/);
  await d.close();
});

test("a clock that is held times nothing out, and what was held is told", async () => {
  const file = journal(), d = dispatcher({ journal: file });
  const outcome = await d.call(REFUND, {}, ({ hold }) => hold(async () => { await pause(150); return "approved"; }), { timeoutMs: 50 });
  assert.equal(outcome.value, "approved");
  const late = await d.call(REFUND, { n: 2 }, async (of) => { await of.hold(() => pause(60)); await pause(400); return "paid"; }, { timeoutMs: 50 });
  assert.deepEqual([late.outcome, late.value], ["escalated", undefined]);
  await d.close();
  assert.match(readFileSync(file, "utf8"), /"held_ms":1[4-9]\d/);
});

test("in the shadow each call is sent once, at once, and throws what it throws", async () => {
  const file = journal(), numbers = [];
  const d = dispatcher({ journal: file, shadow: true });
  const fails = () => { numbers.push(1); throw new ToolError({ kind: "5xx", status: 503 }); };
  await assert.rejects(d.call(REFUND, { order: "o_1" }, fails, { key: "ik_1" }), ToolError);
  const late = await d.call(REFUND, { order: "o_2" }, async ({ number }) => { numbers.push(number); await pause(100); return "paid"; }, { timeoutMs: 10 });
  assert.deepEqual([late.result(), numbers], ["paid", [1, 1]]);
  await pause(50);
  await d.close();
  const kept = readFileSync(file, "utf8");
  for (const what of [/"event":"retry_scheduled"/, /"timeout":true/, /"late":true/]) assert.match(kept, what);
  const gone = dispatcher({ shadow: true, program: "/no/such/program" });
  const warned = new Promise((resolve) => process.once("warning", resolve));
  assert.equal((await gone.call(REFUND, {}, () => "paid")).value, "paid");
  assert.match((await warned).message, /nothing is told in the shadow/);
});

test("evidence is refreshed, a token redeemed and a queue handed over before the caller hears of it", async () => {
  const stale = ({ refreshed, evidence }) => {
    if (refreshed === undefined) throw new ToolError({ kind: "412_precondition", message: "evidence is stale" });
    return [refreshed, evidence];
  };
  const d = dispatcher({ onRefresh: async ({ asked }) => `new by ${asked}` });
  assert.deepEqual((await d.call(REFUND, {}, stale)).value, ["new by refresh", 1]);
  d.onRefresh = undefined;
  const refused = await d.call(REFUND, { n: 2 }, stale);
  assert.deepEqual([refused.ok, refused.effect], [false, "not_applied"]);
  await d.close();
  const tokens = [], reversing = dispatcher({ playbook: path.join(root, "playbooks", "reversing.yaml"), onReversal: ({ token }) => tokens.push(token) });
  const fails = () => { throw new ToolError({ kind: "timeout" }); };
  assert.deepEqual([(await reversing.call(REFUND, {}, fails, { token: "rev_1" })).outcome, tokens], ["reversed", ["rev_1"]]);
  await reversing.close();
  const heard = [], people = dispatcher({ onQueue: async ({ queue }) => { await pause(10); heard.push(queue); } });
  await people.call(REFUND, {}, fails);
  assert.deepEqual(heard, ["ambiguous_effects"]);
  await people.close();
});

test("calls with one key are one request, none starts after the caller's time, and 64 at once end in their order", async () => {
  const joins = dispatcher({ playbook: path.join(root, "playbooks", "dispatcher.yaml") });
  let sent = 0;
  const write = ["db.write", { table: "t" }, async () => { sent += 1; await pause(20); return sent; }, { key: "ik_00000001" }];
  const all = [...await joins.gather([write, write, write]), await joins.call(...write)];
  assert.deepEqual(all.map(({ outcome, ok, value }) => [outcome, ok, value]), ["succeeded", "joined", "joined", "cached"].map((word) => [word, true, 1]));
  await joins.close();
  const d = dispatcher();
  const late = await d.call(REFUND, { n: 1 }, async () => { await pause(30); throw new ToolError({ kind: "timeout" }); }, { key: "ik_2", answerWithinMs: 20 });
  assert.deepEqual([late.outcome, late.attempts], ["exhausted", 1]);
  const send = async ({ args: { n } }) => { await pause((64 - n) / 5); if (n === 5) throw new ToolError({ kind: "403_forbidden", status: 403 }); return n; };
  const ended = await d.gather(Array.from({ length: 64 }, (_, n) => [REFUND, { n }, send, { key: `ik_${n}_` }]));
  assert.deepEqual(ended.map(({ value }) => value), Array.from({ length: 64 }, (_, n) => (n === 5 ? undefined : n)));
  const accepted = await d.call(REFUND, { n: 3 }, () => { throw new ToolError({ message: "queued", accepted: true }); }, { key: "ik_3" });
  assert.deepEqual([accepted.outcome, accepted.effect], ["undetermined", "unknown"]);
  await d.close();
});

test("an action makes its steps, by the functions that are tools where they are", async () => {
  const d = dispatcher({ playbook: path.join(root, "playbooks", "steps.yaml") });
  d.tool("slack.react", ({ pr }) => `reacted to ${pr}`);
  const { value } = await d.call("ship_update", { pr: 7 }, ({ tool }) => tool, { run: "r1", key: "ik_1" });
  assert.deepEqual(Object.values(value), ["github.find_pr", "slack.post", "reacted to 7"]);
  await d.close();
});

test("a signal of a framework passes through, and cancels the call", async () => {
  const d = dispatcher();
  const interrupt = Object.assign(new Error("approve?"), { is_bubble_up: true });
  await assert.rejects(d.call(REFUND, {}, () => { throw interrupt; }, { id: "c" }), interrupt);
  assert.deepEqual((await d.history()).history.map(({ outcome }) => outcome), ["cancelled"]);
  await d.close();
});

test("what cannot be said is refused, and nothing is sent", async () => {
  const d = dispatcher();
  for (const [tool, args, send, options] of [
    ["", {}, never], [REFUND, {}, "no function"], [REFUND, { n: 1n }, never], [REFUND, {}, never, { keys: "ik_1" }],
    [REFUND, {}, never, { key: 5 }], [REFUND, {}, never, { timeoutMs: -1 }],
  ]) {
    await assert.rejects(d.call(tool, args, send, options), (error) => error instanceof TypeError || error instanceof RangeError);
    await assert.rejects(d.gather([[REFUND, {}, never], [tool, args, send, options]]), (error) => error instanceof TypeError || error instanceof RangeError);
  }
  assert.equal((await d.call(REFUND, {}, () => 1, { key: undefined })).value, 1);
  await d.close();
  await assert.rejects(dispatcher({ program: ["node", "-e", "setInterval(() => console.log('hello'), 9)"] }).start(), /no line of the protocol/);
  assert.throws(() => new ToolError("timeout"), /has fields/);
  assert.throws(() => new Dispatcher({}), /`playbook` is missing/);
  assert.throws(() => new Dispatcher({ playbook: "standard", onQueu: never }), /no option `onQueu`/);
  await assert.rejects(dispatcher({ unlocked: false }).call(REFUND, {}, never), (error) => error instanceof PlayproofError && /unlocked: true/.test(error.message));
});
