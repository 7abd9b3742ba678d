// The client against the program: outcomes, late results, deaths. `PLAYPROOF_BIN` names the program.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Dispatcher, PlayproofError, ToolError, CallFailed } from "../lib/index.mjs";

const program = process.env.PLAYPROOF_BIN;
const REFUND = "payments.issue_refund";
const DEATHS = +(process.env.PLAYPROOF_DEATHS ?? 6);
const folder = mkdtempSync(path.join(tmpdir(), "playproof-"));
after(() => rmSync(folder, { recursive: true }));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** `standard`, with waits of milliseconds. */
const text = readFileSync(fileURLToPath(new URL("../../../../playbooks/standard.yaml", import.meta.url)), "utf8")
  .replace("[200, 600, 1800]", "[2, 5, 9]").replace("[400, 1600]", "[2, 5]").replace("[500, 2000]", "[2, 5]");
const playbook = path.join(folder, "ours.yaml");
writeFileSync(playbook, text);
let journals = 0;
const journal = () => path.join(folder, `journal-${++journals}`);
const dispatcher = (options) => new Dispatcher({ playbook, unlocked: true, program, ...options });

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

test("kill -9 at random moments: no request is made twice, no claim is false", { skip: process.platform === "win32" }, async () => {
  const d = dispatcher({ journal: journal() });
  const sent = [], wrong = [], effects = new Map(), ended = new Map();
  let deaths = 0, seed = +(process.env.PLAYPROOF_SEED ?? 1);
  const luck = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const send = async ({ id, number, key, args }) => {
    sent.push(`${id} ${number}`);
    await pause(luck() * 10);
    const fate = luck();
    if (fate < 0.2) throw new ToolError({ kind: "429_rate_limited", status: 429 });
    const intent = key ?? args.order;
    effects.set(intent, key !== undefined && effects.has(intent) ? 1 : (effects.get(intent) ?? 0) + 1);
    if (fate < 0.4) throw new ToolError({ kind: "5xx", status: 503 });
    await pause(luck() * 10);
    return args.order;
  };
  const caller = async (name) => {
    for (let n = 0; deaths < DEATHS; n += 1) {
      const order = `${name}-${n}`, key = luck() < 0.7 ? `ik_${order}` : undefined;
      const outcome = await d.call(REFUND, { order }, send, { key, run: name });
      const has = (effects.get(key ?? order) ?? 0) > 0;
      if ({ applied: !has, not_applied: has, unknown: false }[outcome.effect] || outcome.ok !== (outcome.value === order)) wrong.push(outcome);
      ended.set(outcome.id, outcome.outcome);
    }
  };
  const callers = Array.from({ length: 8 }, (_, n) => caller(`r${n}`));
  while (deaths < DEATHS) {
    await pause(20 + luck() * 100);
    try { process.kill(d.pid, "SIGKILL"); deaths += 1; } catch { /* it is away */ }
  }
  await Promise.all(callers);
  const found = new Map((await d.history()).history.map((end) => [end.done, end.outcome]));
  await d.close();
  assert.deepEqual(wrong, []);
  assert.equal(new Set(sent).size, sent.length, "a request was made twice");
  assert.ok(Math.max(...effects.values()) <= 1);
  for (const [id, outcome] of [...ended].slice(-900)) assert.equal(found.get(id), outcome);
  assert.ok(d.restarts > DEATHS / 2 && ended.size > DEATHS);
});

test("without a journal a call is lost, with what is known of it, and never rejects", { skip: process.platform === "win32" }, async () => {
  const d = dispatcher();
  const sent = [];
  const call = d.call(REFUND, {}, async ({ number }) => { sent.push(number); await pause(300); return "paid"; }, { key: "ik_1" });
  while (sent.length < 1) await pause(1);
  process.kill(d.pid, "SIGKILL");
  const lost = await call;
  assert.deepEqual([lost.outcome, lost.effect, lost.attempts, lost.error.name], ["lost", "unknown", 1, "DispatcherLost"]);
  assert.equal((await d.call("search.web", {}, () => "found")).value, "found");
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
