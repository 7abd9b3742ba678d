// What a thrown error, or a result that is a failure in itself, means as an error of the dispatch protocol: one table, by shape.
// Names of classes do not survive a bundler. The kinds are those of the Python client. Decides nothing: the playbook does.
"use strict";

const MESSAGE_MAX = 10_000; // characters of a message
const SECRET = new Set(["set-cookie", "set-cookie2", "authorization", "proxy-authorization"]);

// The kind of an error with this `code`, of Node, undici or the fetch that is built upon it.
const KINDS = {
  // No connection was made, so nothing was sent.
  not_sent: "ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_TLS_CERT_ALTNAME_INVALID",
  timeout: "ETIMEDOUT ECONNABORTED UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT",
  // It broke while the request was out.
  "5xx": "ECONNRESET EPIPE UND_ERR_SOCKET UND_ERR_CLOSED UND_ERR_DESTROYED UND_ERR_RES_CONTENT_LENGTH_MISMATCH HPE_INVALID_CONSTANT",
  // It could not even be built.
  invalid_arguments: "ERR_INVALID_URL UND_ERR_INVALID_ARG UND_ERR_NOT_SUPPORTED",
  interrupted: "ABORT_ERR UND_ERR_ABORTED",
};
const BY_CODE = new Map(Object.entries(KINDS).flatMap(([kind, codes]) => codes.split(" ").map((code) => [code, kind])));

// The kind of an answer with this HTTP status, or of an MCP error with this code.
const STATUSES = {
  400: "invalid_arguments", 401: "401_unauthorized", 403: "403_forbidden", 404: "404_not_found", 408: "timeout",
  409: "409_conflict", 410: "404_not_found", 412: "412_precondition", 422: "invalid_arguments", 428: "412_precondition",
  429: "429_rate_limited", 451: "403_forbidden", 499: "interrupted", 504: "timeout", 524: "timeout",
};
const CODES = { "-32001": "timeout", "-32000": "5xx", "-32601": "unknown_tool", "-32602": "invalid_arguments" };

const isStatus = (status) => Number.isInteger(status) && status >= 100 && status <= 599;
const byStatus = (status) => STATUSES[status] ?? (status >= 500 && status <= 599 ? "5xx" : undefined);
const text = (said) => String(said ?? "").slice(0, MESSAGE_MAX).toWellFormed?.() ?? String(said ?? "").slice(0, MESSAGE_MAX);
const kept = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));

/** The headers of an answer, without cookies and credentials. */
function headersOf(headers) {
  if (headers === null || typeof headers !== "object") return undefined;
  const entries = typeof headers.entries === "function" ? [...headers.entries()] : Object.entries(headers);
  const said = entries.map(([name, value]) => [String(name).toLowerCase(), text(value)]).filter(([name]) => !SECRET.has(name));
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

/** The kind of an error by what is in it, or in what caused it. */
function kindOf(error) {
  const causes = [];
  for (let at = error; at !== null && typeof at === "object" && causes.length < 5; at = at.cause ?? at.errors?.[0]) causes.push(at);
  for (const at of causes) {
    // The signals of the web have a name that is no class: a number is their code.
    const kind = at.name === "TimeoutError" ? "timeout" : BY_CODE.get(at.code);
    // A client that sends again on its own may have been heard before: it has a `status` of its own, which is empty.
    if (kind !== undefined) return kind === "not_sent" && "status" in error && "headers" in error ? "5xx" : kind;
  }
  if (/^(The operation|Request) timed out\.?$/i.test(error.message ?? "")) return "timeout"; // OpenAI and Anthropic
  if (causes.some((at) => at.name === "AbortError") || /^Request was aborted\.?$/.test(error.message ?? "")) return "interrupted";
  const isFetch = causes.some((at) => at.message === "fetch failed" || at.message === "terminated");
  return isFetch || /^Connection error\.?$/.test(error.message ?? "") ? "5xx" : undefined;
}

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
  const { response } = thrown;
  const status = [thrown.status, thrown.statusCode, response?.status].find(isStatus);
  if (status !== undefined) {
    const headers = thrown.headers ?? thrown.responseHeaders ?? response?.headers;
    return answered(status, headers, thrown.error ?? thrown.responseBody ?? thrown.body ?? response?.data, thrown.message);
  }
  const message = text(thrown.message);
  const posted = /Error POSTing to endpoint \(HTTP (\d{3})\): ?(.*)$/s.exec(message); // of MCP: the status is in its words alone
  if (posted !== null) return answered(+posted[1], undefined, posted[2], message);
  if (Number.isInteger(thrown.code) && (CODES[thrown.code] || (isStatus(thrown.code) && thrown.name !== "AbortError" && !(thrown instanceof DOMException)))) {
    return kept({ kind: CODES[thrown.code] ?? byStatus(thrown.code) ?? "tool_error", message, code: String(thrown.code), kind_from: "code" });
  }
  const kind = kindOf(thrown);
  if (kind !== undefined) return { kind, message: message || kind, kind_from: "code" };
  return { kind: "tool_error", code: "tool_raised", message: text(`${thrown.name ?? "Error"}: ${thrown.message}`), kind_from: "code" };
}

/** The error that a result means: an HTTP response that nobody has checked, or a failed result of an MCP tool. */
async function errorOfValue(value) {
  if (value === null || typeof value !== "object") return undefined;
  if (typeof value.clone === "function" && typeof value.ok === "boolean" && isStatus(value.status)) {
    return value.ok || value.status < 400 ? undefined : answered(value.status, value.headers, await value.clone().text().catch(() => ""), "");
  }
  if (isStatus(value.statusCode) && value.headers && value.body && "trailers" in value) { // undici's `request`
    return value.statusCode < 400 ? undefined : answered(value.statusCode, value.headers, "", "");
  }
  if (value.isError === true && Array.isArray(value.content)) {
    const said = value.content.map((part) => part?.text).filter(Boolean).join("\n");
    return { kind: CODES[/^MCP error (-\d+):/.exec(said)?.[1]] ?? "tool_error", message: text(said) };
  }
  return undefined;
}

module.exports = { CODES, STATUSES, errorOf, errorOfValue };
