// What a thrown error, or a result that is a failure in itself, means as an error of the dispatch protocol.
// `failures.cjs` is the table, by shape: names of classes do not survive a bundler. Decides nothing: the playbook does.
"use strict";

const TABLE = require("./failures.cjs");

const WORDS = new Map(TABLE.words.flatMap(({ kind, words }) => words.split(" ").map((word) => [word, kind])));
const WRAPPERS = TABLE.wrappers.map(({ text, words = "", ...row }) => ({ ...row, text: text && new RegExp(text), words: words.split(" ") }));
const LINKS_MAX = 8;

/** What is at a path, if it can be read. */
function peek(value, path) {
  try {
    return path.split(".").reduce((at, name) => (typeof at?.get === "function" ? at.get(name) : at?.[name]) ?? undefined, value);
  } catch { return undefined; }
}
/** What is at the paths of the table, as far as something is there. */
const each = (value, what) => TABLE.paths[what].map((path) => peek(value, path)).filter((found) => found !== undefined);

const isStatus = (status) => Number.isInteger(status) && status >= 100 && status <= 599;
const isRpc = (code) => isStatus(code) || (Number.isInteger(code) && code >= TABLE.rpc_range[0] && code <= TABLE.rpc_range[1]);
const statusOf = (value) => each(value, "status").find(isStatus);
const byStatus = (status) => TABLE.statuses[status] ?? (status >= 500 && status <= 599 ? "5xx" : undefined);
const text = (said) => String(said ?? "").slice(0, TABLE.message_max).toWellFormed?.() ?? String(said ?? "").slice(0, TABLE.message_max);
const kept = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));

/** The headers of an answer, without cookies and credentials. */
function headersOf(headers) {
  if (headers === null || typeof headers !== "object") return undefined;
  const entries = typeof headers.entries === "function" ? [...headers.entries()] : Object.entries(headers);
  const said = entries.map(([name, value]) => [String(name).toLowerCase(), text(value)]).filter(([name]) => !TABLE.secrets.includes(name));
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}

/** The message and the code in the body of an answer. */
function bodyOf(body, plain) {
  let said = body;
  if (typeof body === "string") {
    try { said = JSON.parse(body); } catch { return { message: body || plain }; }
  }
  const inner = said?.error ?? said;
  if (typeof inner === "string") return { message: inner };
  if (inner === null || typeof inner !== "object") return { message: plain };
  const message = [inner.message, inner.detail, inner.error].find((one) => typeof one === "string") ?? plain;
  const code = [inner.code, inner.type].find((one) => ["string", "number"].includes(typeof one));
  return { message, code: code === undefined ? undefined : String(code) };
}

function answered(status, headers, body, plain) {
  const { message, code } = bodyOf(body, plain);
  return kept({ kind: byStatus(status), kind_from: "code", status, message: text(message), code, headers: headersOf(headers) });
}

/** An error, and what it was thrown for, the outermost first. */
function links(thrown) {
  const chain = [thrown];
  while (chain.length < LINKS_MAX) {
    const cause = each(chain.at(-1), "cause").find((one) => typeof one?.message === "string" && !chain.includes(one));
    if (cause === undefined) break;
    chain.push(cause);
  }
  return chain;
}

const wordsOf = ({ syscall, code, name }) => [`${syscall}:${code}`, code, name].filter((word) => typeof word === "string");
/** The row of an error that only wraps another. */
const wrapperOf = (thrown) => WRAPPERS.find(({ text: said, words }) => (said ? said.test(thrown.message) : wordsOf(thrown).some((word) => words.includes(word))));
/** Whether the client has not sent the request before, on its own. */
const isSingle = (row, thrown) => row !== undefined && (row.repeats === undefined || String(peek(thrown, row.repeats)) === "0");

/** The kind of an error, by what is in it, or in what it was thrown for. */
function kindOf(thrown) {
  const chain = links(thrown);
  const wrappers = chain.map(wrapperOf);
  for (const [at, one] of chain.entries()) {
    const kind = wordsOf(one).map((word) => WORDS.get(word)).find((found) => found !== undefined);
    if (kind === "not_sent" && !wrappers.slice(0, at).every((row, outer) => isSingle(row, chain[outer]))) return "5xx";
    if (kind !== undefined) return kind;
  }
  return wrappers.find((row) => row !== undefined)?.kind;
}

/** Whether an error is no failure of the tool, but a signal of the framework. */
const passes = (thrown) => each(thrown, "passes").includes(true);

/** The error that something thrown means. */
function errorOf(thrown) {
  if (thrown === null || typeof thrown !== "object") {
    return { kind: "tool_error", code: "tool_raised", message: text(thrown), kind_from: "code" };
  }
  if (Array.isArray(thrown.errors) && thrown.lastError) { // of the AI SDK, after retries of its own
    const last = errorOf(thrown.lastError);
    const wasSent = last.kind === "not_sent" && thrown.errors.some((one) => errorOf(one).kind !== "not_sent");
    return wasSent ? { ...last, kind: "5xx" } : last;
  }
  const message = text(thrown.message);
  const status = statusOf(thrown);
  if (status !== undefined) {
    const body = each(thrown, "body").find((one) => ["string", "object"].includes(typeof one));
    return answered(status, each(thrown, "headers")[0], body, thrown.message);
  }
  const posted = new RegExp(TABLE.texts.answer).exec(message); // of MCP: the status is in its words alone
  if (posted !== null) return answered(+posted[1], undefined, posted[2], message);
  const code = each(thrown, "rpc").find(isRpc); // of MCP
  if (code !== undefined) {
    const said = text(peek(thrown, "error.message")) || message;
    return kept({ kind: TABLE.rpc[code] ?? byStatus(code) ?? "tool_error", message: said, code: String(code), kind_from: "code" });
  }
  const kind = kindOf(thrown);
  if (kind !== undefined) return { kind, message: message || kind, kind_from: "code" };
  return { kind: "tool_error", code: "tool_raised", message: text(`${thrown.name ?? "Error"}: ${thrown.message}`), kind_from: "code" };
}

/** The error that a result means: an HTTP response that nobody has checked, or a failed result of an MCP tool. */
async function errorOfValue(value) {
  if (value === null || typeof value !== "object") return undefined;
  if (TABLE.answers.some((shape) => shape.every((name) => peek(value, name) !== undefined))) {
    const status = statusOf(value) ?? 0;
    if (status < 400) return undefined;
    return answered(status, value.headers, typeof value.clone === "function" ? await value.clone().text().catch(() => "") : "", "");
  }
  if (Array.isArray(value.content) && each(value, "failed").includes(true)) {
    const said = value.content.map((part) => part?.text).filter(Boolean).join("\n");
    return { kind: TABLE.rpc[new RegExp(TABLE.texts.rpc).exec(said)?.[1]] ?? "tool_error", message: text(said) };
  }
  return undefined;
}

module.exports = { errorOf, errorOfValue, passes };
