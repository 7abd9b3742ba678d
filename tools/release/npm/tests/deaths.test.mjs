// kill -9 of the process, of the client and of both at random moments: no request is made twice, no claim is false, and every end
// that was heard is found again. `PLAYPROOF_DEATHS` is the number of kills, `PLAYPROOF_SEED` their seed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { PlayproofError, ToolError } from "../lib/index.mjs";
import { DEATHS, Ledger, REFUND, SEED, dispatcher, folder, journal, lucky, pause, playbook, program, upstream } from "./place.mjs";

const skip = process.platform === "win32";
function kill(pid) {
  try { return process.kill(pid, "SIGKILL"); } catch { return false; }
}

test("the process dies, and every call ends with a true claim", { skip }, async () => {
  const d = dispatcher({ journal: journal() });
  const sent = [], wrong = [], ledger = new Ledger(), ended = new Map(), luck = lucky(SEED);
  let deaths = 0;
  const send = async ({ id, number, key, args }) => {
    sent.push(`${id} ${number}`);
    await pause(luck() * 10);
    const fate = luck();
    if (fate < 0.2) throw new ToolError({ kind: "429_rate_limited", status: 429 });
    ledger.act(key, args.order);
    if (fate < 0.4) throw new ToolError({ kind: "5xx", status: 503 });
    await pause(luck() * 10);
    return args.order;
  };
  const caller = async (name) => {
    for (let n = 0; deaths < DEATHS; n += 1) {
      const order = `${name}-${n}`, key = luck() < 0.7 ? `ik_${order}` : undefined;
      const outcome = await d.call(REFUND, { order }, send, { key, run: name });
      if (ledger.contradicts(key, order, outcome.effect) || outcome.ok !== (outcome.value === order)) wrong.push(outcome);
      ended.set(outcome.id, outcome.outcome);
    }
  };
  const callers = Array.from({ length: 8 }, (_, n) => caller(`r${n}`));
  while (deaths < DEATHS) {
    await pause(20 + luck() * 100);
    if (d.pid !== undefined && kill(d.pid)) deaths += 1;
  }
  await Promise.all(callers);
  const found = new Map((await d.history()).history.map((end) => [end.done, end.outcome]));
  await d.close();
  assert.deepEqual(wrong, []);
  assert.equal(new Set(sent).size, sent.length, "a request was made twice");
  assert.ok(ledger.most <= 1);
  for (const [id, outcome] of [...ended].slice(-900)) assert.equal(found.get(id), outcome);
  assert.ok(d.restarts > DEATHS / 2 && ended.size > DEATHS);
});

test("the client dies too, and another takes the journal over", { skip }, async () => {
  const luck = lucky(SEED), service = await upstream(lucky(SEED + 1));
  const kept = journal(), heard = path.join(folder, "heard");
  writeFileSync(heard, "");
  const words = [fileURLToPath(new URL("refunds.mjs", import.meta.url)), playbook, kept, heard, service.url];
  const lives = Math.max(2, Math.floor(DEATHS / 3));
  for (let life = 0; life <= lives; life += 1) {
    const child = spawn(process.execPath, [...words, String(life)], { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, PLAYPROOF_BIN: program } });
    const over = new Promise((resolve) => child.once("close", (code, signal) => resolve(signal ?? code)));
    const [of] = await new Promise((resolve) => child.stdout.once("data", (said) => resolve([+said])));
    if (life < lives) {
      await pause(luck() * 150);
      for (const pid of luck() < 0.5 ? [of, child.pid] : [child.pid]) kill(pid);
    }
    assert.ok([0, "SIGKILL"].includes(await over), "a client ended otherwise");
  }
  service.close();
  assert.ok(service.ledger.most <= 1);
  const d = dispatcher({ journal: kept });
  const { history, open } = await d.history();
  await d.close();
  assert.deepEqual(open, []);
  const found = new Map(history.map((end) => [end.done, end.outcome]));
  for (const end of readFileSync(heard, "utf8").trim().split("\n").filter(Boolean).map(JSON.parse).slice(-900)) assert.equal(found.get(end.id), end.outcome);
  for (const { done, effect } of history) assert.equal(service.ledger.contradicts(+done.at(-1) % 3 ? `ik_${done}` : undefined, done, effect), false, done);
});

test("without a journal a call is lost, with what is known of it, and never rejects", { skip }, async () => {
  const d = dispatcher();
  const sent = [];
  const call = d.call(REFUND, {}, async ({ number }) => { sent.push(number); await pause(300); return "paid"; }, { key: "ik_1" });
  while (sent.length < 1) await pause(1);
  kill(d.pid);
  const lost = await call;
  assert.deepEqual([lost.outcome, lost.effect, lost.attempts, lost.error.name], ["lost", "unknown", 1, "DispatcherLost"]);
  assert.equal((await d.call("search.web", {}, () => "found")).value, "found");
  await d.close();
});

test("a process that does not start again loses all calls, and no later call is sent", { skip }, async () => {
  const own = path.join(folder, "own.yaml");
  writeFileSync(own, readFileSync(playbook));
  const d = dispatcher({ playbook: own, journal: journal() });
  let sent = 0;
  const call = d.call(REFUND, {}, async () => { sent += 1; await pause(500); });
  while (sent < 1) await pause(1);
  writeFileSync(own, "no playbook");
  kill(d.pid);
  assert.deepEqual([(await call).outcome, (await call).effect], ["lost", "unknown"]);
  await assert.rejects(d.call(REFUND, {}, () => { sent += 1; }), PlayproofError);
  assert.equal(sent, 1);
  await d.close();
});
