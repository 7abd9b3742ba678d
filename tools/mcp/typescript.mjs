// A client of the TypeScript SDK before a server of the Python SDK (`SERVER_PYTHON`): the same results without a proxy,
// recorded and shadowed; enforced it takes every answer.
import assert from "node:assert";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const here = path.resolve(process.env.MCP_TOOLS);
const server = [process.env.SERVER_PYTHON ?? "python3", path.join(here, "server.py")];
const place = fs.mkdtempSync(path.join(os.tmpdir(), "proxy-"));
fs.writeFileSync(path.join(place, "tools.yaml"), "format: tools/1\ntools:\n  pay: { access: write, timeout_ms: 1000 }\n");
fs.writeFileSync(path.join(place, "playproof.yaml"), "format: project/1\ntools: tools.yaml\n");

async function session(mode, use) {
  const more = { record: [], shadow: ["--playbook", "standard"], enforce: ["--playbook", "standard", "--enforce", "--unlocked"] }[mode];
  const command = more ? [process.env.PLAYPROOF_BIN, "proxy", "--record", `rec-${mode}`, ...more, "--", ...server] : server;
  const ledger = path.join(place, `${mode}.ledger`);
  const transport = new StdioClientTransport({ command: command[0], args: command.slice(1), cwd: place, stderr: "ignore", env: { ...process.env, LEDGER: ledger } });
  const client = new Client({ name: "ts", version: "1" });
  await client.connect(transport);
  await client.listTools();
  const got = await use(client);
  await client.close();
  return [got, fs.existsSync(ledger) ? fs.readFileSync(ledger, "utf8").trim().split("\n") : []];
}

const pay = (client, order, options) => client.callTool({ name: "pay", arguments: { order, amount: 1 } }, undefined, options);
const both = async (client) => [await client.callTool({ name: "search", arguments: { q: "x" } }), await pay(client, "bad1"), await pay(client, "a")];
const plain = await session("none", both);
assert.deepEqual(await session("record", both), plain);
assert.deepEqual(await session("shadow", both), plain);
const [got, booked] = await session("enforce", async (client) => [
  await pay(client, "slow1"),
  await pay(client, "bad1"),
  await pay(client, "rate1", { timeout: 3000, resetTimeoutOnProgress: true, onprogress: () => {} }),
]);
assert.deepEqual(got.map((result) => result.isError ?? false), [true, true, false]);
assert.deepEqual(booked.sort(), ["pay rate1 1"].concat(booked.includes("pay slow1 1") ? ["pay slow1 1"] : []));
fs.rmSync(place, { recursive: true });
console.log("typescript: the same without a proxy, recorded and shadowed; every answer is taken when enforced");
