// Provokes each failure of the TypeScript client's table with the real packages against a local server.
import assert from "node:assert/strict";
import http from "node:http";
import Anthropic from "@anthropic-ai/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { APICallError, RetryError } from "ai";
import OpenAI from "openai";
import * as undici from "undici";
import { z } from "zod";
import { createRequire } from "node:module";

const { errorOf, errorOfValue } = createRequire(import.meta.url)("./node_modules/playproof/lib/errors.cjs");
const server = http.createServer((request, response) => {
  const what = `${request.headers["x-what"] ?? ""}${request.url}`;
  if (what.includes("hang")) return;
  if (what.includes("reset")) return request.socket.destroy();
  if (what.includes("half")) {
    response.writeHead(200, { "content-length": 100 });
    response.write("x");
    return setTimeout(() => request.socket.destroy(), 20);
  }
  response.writeHead(+/\d{3}/.exec(what)[0], { "content-type": "application/json", "retry-after": "2", "set-cookie": "a=b" });
  response.end(JSON.stringify({ error: { message: "slow down", type: "rate_limit_error", code: "rate_limited" } }));
});
await new Promise((ready) => server.listen(0, ready));
const base = `http://127.0.0.1:${server.address().port}`;
let count = 0;

async function expect(what, make, wanted) {
  let fields;
  try {
    fields = (await errorOfValue(await make())) ?? { kind: "no failure" };
  } catch (thrown) {
    fields = errorOf(thrown);
  }
  count += 1;
  for (const [name, value] of Object.entries(wanted)) assert.deepEqual(fields[name], value, `${what}: ${JSON.stringify(fields)}`);
}

for (const [name, fetch] of [["fetch", globalThis.fetch], ["undici", undici.fetch]]) {
  await expect(`${name} dns`, () => fetch("http://nx.invalid/"), { kind: "not_sent" });
  await expect(`${name} reset`, () => fetch(`${base}/reset`), { kind: "5xx" });
  await expect(`${name} body cut`, async () => (await fetch(`${base}/half`)).text(), { kind: "5xx" });
  await expect(`${name} timeout`, () => fetch(`${base}/hang`, { signal: AbortSignal.timeout(30) }), { kind: "timeout" });
  await expect(`${name} abort`, () => { const abort = new AbortController(); setTimeout(() => abort.abort(), 20); return fetch(`${base}/hang`, { signal: abort.signal }); }, { kind: "interrupted" });
  await expect(`${name} 429`, () => fetch(`${base}/429`), { kind: "429_rate_limited", status: 429, message: "slow down", code: "rate_limited" });
  await expect(`${name} 503`, () => fetch(`${base}/503`), { kind: "5xx", status: 503 });
}
const closed = await new Promise((found) => { const one = http.createServer().listen(0, () => { const { port } = one.address(); one.close(() => found(port)); }); });
await expect("fetch refused", () => fetch(`http://127.0.0.1:${closed}/`), { kind: "not_sent" });
await expect("fetch url", () => fetch("http://[no"), { kind: "invalid_arguments" });
await expect("undici headers", () => undici.request(`${base}/hang`, { headersTimeout: 30, dispatcher: new undici.Agent({ headersTimeout: 30 }) }), { kind: "timeout" });
await expect("undici request", () => undici.request(`${base}/409`), { kind: "409_conflict", status: 409 });
await expect("undici refused", () => undici.request(`http://127.0.0.1:${closed}/`), { kind: "not_sent" });
for (const [name, Model] of [["openai", OpenAI], ["anthropic", Anthropic]]) {
  const ask = (baseURL, what, retries = 0) => {
    const client = new Model({ apiKey: "x", baseURL, maxRetries: retries, timeout: what === "hang" ? 60 : 10_000 });
    const said = { model: "m", max_tokens: 1, messages: [] };
    return name === "openai" ? client.chat.completions.create(said, { headers: { "x-what": what } }) : client.messages.create(said, { headers: { "x-what": what } });
  };
  for (const [status, kind] of [[400, "invalid_arguments"], [401, "401_unauthorized"], [403, "403_forbidden"], [404, "404_not_found"], [409, "409_conflict"], [422, "invalid_arguments"], [429, "429_rate_limited"], [500, "5xx"], [529, "5xx"]]) {
    await expect(`${name} ${status}`, () => ask(base, `${status}`), { kind, status });
  }
  await expect(`${name} timeout`, () => ask(base, "hang"), { kind: "timeout" });
  await expect(`${name} reset`, () => ask(base, "reset"), { kind: "5xx" });
  await expect(`${name} refused, after retries of its own`, () => ask(`http://127.0.0.1:${closed}`, "", 1), { kind: "5xx" });
}
const api = (statusCode) => new APICallError({ message: "m", url: "u", requestBodyValues: {}, statusCode, responseHeaders: { "retry-after": "2" }, responseBody: "{}" });
await expect("AI SDK", () => { throw api(429); }, { kind: "429_rate_limited", headers: { "retry-after": "2" } });
await expect("AI SDK after retries", () => { throw new RetryError({ message: "m", reason: "maxRetriesExceeded", errors: [api(503), api(503)] }); }, { kind: "5xx", status: 503 });
const mcp = new McpServer({ name: "s", version: "1" });
mcp.registerTool("boom", { inputSchema: { n: z.number() } }, async () => { throw new Error("db down"); });
mcp.registerTool("hang", {}, () => new Promise(() => {}));
const [ours, theirs] = InMemoryTransport.createLinkedPair();
await mcp.connect(ours);
const client = new Client({ name: "c", version: "1" });
await client.connect(theirs);
await expect("MCP result", () => client.callTool({ name: "boom", arguments: { n: 1 } }), { kind: "tool_error", message: "db down" });
await expect("MCP arguments", () => client.callTool({ name: "boom", arguments: { n: "x" } }), { kind: "invalid_arguments" });
await expect("MCP timeout", () => client.callTool({ name: "hang", arguments: {} }, undefined, { timeout: 50 }), { kind: "timeout" });
const left = expect("MCP closed", () => client.callTool({ name: "hang", arguments: {} }), { kind: "5xx" });
setTimeout(() => ours.close(), 30);
await left;
await expect("MCP HTTP", () => new Client({ name: "c", version: "1" }).connect(new StreamableHTTPClientTransport(new URL(`${base}/503`))), { kind: "5xx" });
server.closeAllConnections();
server.close();
console.log(`${count} failures have their kinds`);
process.exit(0);
