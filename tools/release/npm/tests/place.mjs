// What the tests share: the program, a playbook that waits milliseconds, and an upstream with a ledger.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { Dispatcher } from "../lib/index.mjs";

export const REFUND = "payments.issue_refund";
export const DEATHS = +(process.env.PLAYPROOF_DEATHS ?? 6);
export const SEED = +(process.env.PLAYPROOF_SEED ?? 1);
export const root = fileURLToPath(new URL("../../../..", import.meta.url));
export const program = process.env.PLAYPROOF_BIN ?? path.join(root, "target", "debug", "playproof");
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// A process that dies loses nothing that it has written: no test needs a real disk.
export const folder = mkdtempSync(path.join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "playproof-"));
after(() => rmSync(folder, { recursive: true }));

/** `standard`, with waits of milliseconds. */
export const playbook = path.join(folder, "ours.yaml");
const text = readFileSync(path.join(root, "playbooks", "standard.yaml"), "utf8")
  .replace("[200, 600, 1800]", "[2, 5, 9]").replace("[400, 1600]", "[2, 5]").replace("[500, 2000]", "[2, 5]");
writeFileSync(playbook, text.replace("\ntools:\n", "\ntools:\n  tickets.add: { access: write, repeatable: true }\n  cards.charge: { access: write, once: transaction }\n"));

let journals = 0;
export const journal = () => path.join(folder, `journal-${++journals}`);
export const dispatcher = (options) => new Dispatcher({ playbook, unlocked: true, program, ...options });

/** Numbers from 0 to 1, from a seed. */
export function lucky(seed) {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** What an upstream has done: effects by key, or by order where there is no key. It honours keys. */
export class Ledger {
  effects = new Map();
  act(key, order) {
    const name = key ?? order;
    this.effects.set(name, key !== undefined && this.effects.has(name) ? this.effects.get(name) : (this.effects.get(name) ?? 0) + 1);
  }
  contradicts(key, order, effect) {
    const has = (this.effects.get(key ?? order) ?? 0) > 0;
    return (effect === "applied" && !has) || (effect === "not_applied" && has);
  }
  get most() { return Math.max(0, ...this.effects.values()); }
}

/** A payment service over HTTP that fails before or after it has acted, from a seed, and keeps a ledger. */
export async function upstream(luck) {
  const ledger = new Ledger();
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { order } = JSON.parse(body);
    const fate = luck();
    const answer = (status, said) => response.writeHead(status).end(JSON.stringify(said));
    await pause(luck() * 4);
    if (fate < 0.15) return answer(429, { error: { message: "too many requests" } });
    ledger.act(request.headers["idempotency-key"], order);
    if (fate < 0.3) return answer(503, { error: { message: "it broke" } });
    if (fate < 0.35) return response.destroy(); // it acted, and never answers
    answer(200, { refunded: order });
  });
  server.on("clientError", (_, socket) => socket.destroy());
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { ledger, url: `http://127.0.0.1:${server.address().port}/`, close: () => { server.closeAllConnections(); server.close(); } };
}
