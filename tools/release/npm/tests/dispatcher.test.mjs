// The client against the program: outcomes, late results, ends. `PLAYPROOF_BIN` names the program.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { PlayproofError, ToolError, CallFailed } from "../lib/index.mjs";
import { REFUND, dispatcher, journal, pause, playbook, program } from "./place.mjs";

test("the two forms have one set of classes", () => {
  assert.equal(createRequire(import.meta.url)("../lib/index.cjs").ToolError, ToolError);
});

test("a call is retried as the playbook says, and a failure is told", async () => {
  const d = dispatcher();
  const sent = [];
  const outcome = await d.call(REFUND, { order: "o" }, ({ number, key }) => {
    sent.push([number, key]);
    if (number === 1) throw new ToolError({ kind: "5xx", status: 503 });
    return "paid";
  }, { key: "ik_1", run: "r1" });
  assert.deepEqual([outcome.ok, outcome.outcome, outcome.value, sent], [true, "succeeded_after_compensation", "paid", [[1, "ik_1"], [2, "ik_1"]]]);
  const lost = await d.call(REFUND, { order: "p" }, () => { throw new DOMException("late", "TimeoutError"); }, { run: "r2" });
  assert.deepEqual([lost.ok, lost.outcome, lost.effect, lost.attempts], [false, "escalated", "unknown", 1]);
  assert.equal(typeof lost.message("openai").content, "string");
  assert.throws(() => lost.result(), CallFailed);
  await assert.rejects(d.call(REFUND, 1n, () => 0), TypeError);
  await d.resolve(lost.id, "not_applied", "a person");
  assert.equal((await d.history("r2")).history[0].resolved.effect, "not_applied");
  await d.close();
  await assert.rejects(d.call(REFUND, {}, () => 0), PlayproofError);
});

test("a response with a bad status and a failed result of MCP are failures", async () => {
  const d = dispatcher();
  const found = await d.call("search.web", {}, ({ number }) => (number < 2 ? Response.json({ error: { message: "down" } }, { status: 503 }) : "found"));
  assert.deepEqual([found.outcome, found.value], ["succeeded_after_compensation", "found"]);
  const failed = await d.call("search.web", {}, () => ({ isError: true, content: [{ type: "text", text: "no" }] }));
  assert.equal(failed.ok, false);
  await d.close();
});

test("a result that comes late is told, and changes no outcome", async () => {
  const file = journal();
  const d = dispatcher({ journal: file });
  const late = await d.call(REFUND, { order: "o" }, async () => { await pause(80); return "paid"; }, { timeoutMs: 20, run: "r1" });
  assert.deepEqual([late.ok, late.value, late.effect], [false, undefined, "unknown"]);
  await pause(120);
  await d.close();
  assert.match(readFileSync(file, "utf8"), /"late":true/);
});

test("a caller that goes away gets an outcome, and the handler hears it", async () => {
  const d = dispatcher();
  const abort = new AbortController();
  await d.start();
  let heard;
  const call = d.call(REFUND, {}, ({ signal }) => new Promise((_, no) => signal.addEventListener("abort", () => { heard = signal.reason; no(signal.reason); })), { signal: abort.signal });
  await pause(100);
  abort.abort();
  assert.equal((await call).outcome, "cancelled");
  assert.equal(heard.name, "AbortError");
  await d.close();
});

test("handlers get refreshes, queues and events", async () => {
  const queues = [], events = [];
  const d = dispatcher({ onQueue: (outcome) => queues.push(outcome.queue), onEvent: (event) => events.push(event.event) });
  const refund = d.tool(REFUND, () => { throw new ToolError({ kind: "403_forbidden", status: 403 }); }, { key: ({ order }) => `ik_${order}`, run: "r" });
  await assert.rejects(refund({ order: "o" }), CallFailed);
  assert.equal(queues.length, 1);
  assert.ok(events.includes("attempt_started") && events.includes("outcome"));
  const both = await d.gather([["search.web", { q: 1 }, () => 1], ["search.web", { q: 2 }, () => 2]]);
  assert.deepEqual(both.map(({ value }) => value), [1, 2]);
  await d.close();
});

test("a program that does not start is an error, and an idle dispatcher keeps no program alive", async () => {
  await assert.rejects(dispatcher({ playbook: "none.yaml" }).call(REFUND, {}, () => 0), PlayproofError);
  await assert.rejects(dispatcher({ program: "/no/such/program" }).call(REFUND, {}, () => 0), PlayproofError);
  const lib = fileURLToPath(new URL("../lib/index.mjs", import.meta.url));
  const code = `import { Dispatcher } from ${JSON.stringify(lib)};
    const d = new Dispatcher(${JSON.stringify({ playbook, unlocked: true, program })});
    console.log((await d.call("search.web", {}, async () => { await new Promise((r) => setTimeout(r, 50)); return "found"; })).value);`;
  const said = await new Promise((resolve) => execFile(process.execPath, ["--input-type=module", "-e", code], { timeout: 10_000 }, (error, out) => resolve([error?.code ?? 0, out])));
  assert.deepEqual(said, [0, "found\n"]);
});
