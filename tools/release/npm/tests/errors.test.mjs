// What shapes of failures mean: the same as for the Python client. `tools/real/failures.mjs` provokes them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

const { errorOf, errorOfValue, passes } = createRequire(import.meta.url)("../lib/errors.cjs");
const shapes = JSON.parse(readFileSync(new URL("shapes.json", import.meta.url), "utf8"));

/** An error with these fields; what it was thrown for is one, too. */
function shaped({ message = "", cause, errors, ...fields }) {
  const error = Object.assign(new Error(message), fields);
  if (cause) error.cause = shaped(cause);
  if (errors) error.errors = errors.map(shaped);
  return error;
}

test("both clients tell the same shapes", () => {
  for (const [what, fields, wanted] of shapes) {
    const said = errorOf(shaped(fields));
    assert.deepEqual(Object.fromEntries(Object.keys(wanted).map((name) => [name, said[name]])), wanted, what);
    assert.equal("kind" in said, "kind" in wanted, what);
  }
});

test("signals of the web have a name, and their code is a number", async () => {
  assert.equal(errorOf(new DOMException("late", "TimeoutError")).kind, "timeout");
  assert.equal(errorOf(new DOMException("gone", "AbortError")).kind, "interrupted");
  assert.equal(errorOf(Object.assign(new Error("Request timed out."), { cause: new DOMException("gone", "AbortError") })).kind, "timeout");
  assert.equal(errorOf("a text").message, "a text");
  assert.equal(passes(Object.assign(new Error("ask"), { is_bubble_up: true })), true);
});

test("a result can be a failure", async () => {
  const said = await errorOfValue(Response.json({ error: { message: "down" } }, { status: 503 }));
  assert.deepEqual([said.kind, said.message], ["5xx", "down"]);
  assert.equal(await errorOfValue(Response.json({})), undefined);
  assert.equal((await errorOfValue({ isError: true, content: [{ type: "text", text: "MCP error -32602: no" }] })).kind, "invalid_arguments");
  assert.equal(await errorOfValue({ error: "an object is a result" }), undefined);
});

test("after retries of its own, the last error says it, and proves nothing", () => {
  const refused = { code: "ECONNREFUSED", message: "no" };
  assert.equal(errorOf({ message: "m", lastError: refused, errors: [{ status: 503 }, refused] }).kind, "5xx");
  assert.equal(errorOf({ message: "m", lastError: refused, errors: [refused, refused] }).kind, "not_sent");
});
