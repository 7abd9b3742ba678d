// A plain dispatcher, for comparison: the same job in the obvious JavaScript. Reads a trace, pairs results with
// calls, classifies every failure, retries on virtual time as standard.yaml says, and counts the decision events.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

const rules = [
  [(e) => e.kind === "timeout" || e.status === 408 || e.status === 504, "transient_timeout"],
  [(e) => e.kind === "5xx" || (e.status >= 500 && e.status <= 599), "server_error_5xx"],
  [(e) => e.kind === "403_forbidden" || e.status === 403, "policy_denied"],
  [(e) => (e.kind === "412_precondition" || e.status === 412) && /evidence/i.test(e.message ?? ""), "evidence_stale"],
  [(e) => e.kind === "schema_validation", "schema_mismatch"],
  [(e) => (e.kind === "409_conflict" || e.status === 409) && /already processed/i.test(e.message ?? ""), "idempotency_conflict"],
];
const backoff = { transient_timeout: [200, 600, 1800], server_error_5xx: [500, 2000] };
const reads = (tool) => tool.startsWith("search.");

const events = [];
let written = 0;
const emit = (event) => {
  events.push(JSON.stringify(event));
  if (events.length >= 4096) flush();
};
const flush = () => {
  written += events.length;
  events.length = 0;
};

const outcomes = {};
function dispatch(call) {
  let at = call.at_ms, attempt = 1, verdict = null, retries = 0, refreshed = false;
  const finish = (outcome) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    emit({ call: call.call_id, at, event: "outcome", outcome, attempts: attempt });
  };
  for (;;) {
    emit({ call: call.call_id, at, event: "attempt_started", attempt });
    const answer = call.results[attempt - 1] ?? { status: "ok", at_ms: at };
    at = Math.max(at, answer.at_ms);
    emit({ call: call.call_id, at, event: "attempt_finished", attempt, status: answer.status });
    if (answer.status === "ok") return finish(attempt === 1 ? "succeeded" : "succeeded_after_compensation");
    const error = answer.error ?? {};
    verdict = (rules.find(([when]) => when(error)) ?? [null, "unclassified"])[1];
    emit({ call: call.call_id, at, event: "failure_classified", verdict });
    const safe = reads(call.tool) || call.idempotency_key !== undefined;
    if (backoff[verdict]) {
      if (!safe) return finish("escalated");
      if (retries >= backoff[verdict].length || attempt >= 6) return finish("exhausted");
      const delay = backoff[verdict][retries++];
      emit({ call: call.call_id, at, event: "retry_scheduled", delay });
      at += delay;
      attempt += 1;
    } else if (verdict === "evidence_stale") {
      if (refreshed) return finish("exhausted");
      refreshed = true;
      emit({ call: call.call_id, at, event: "evidence_refreshed" });
      attempt += 1;
    } else {
      return finish(verdict === "policy_denied" || verdict === "unclassified" ? "escalated" : "deprecated");
    }
  }
}

const open = new Map();
const queue = [];
for await (const line of createInterface({ input: createReadStream(process.argv[2], { highWaterMark: 1 << 20 }) })) {
  if (!line) continue;
  const row = JSON.parse(line);
  const key = row.run_id + "/" + row.call_id;
  if (row.type === "tool_call") {
    row.results = [];
    open.set(key, row);
    queue.push(key);
    if (queue.length > 10000) close(queue.shift());
  } else {
    open.get(key)?.results.push(row);
  }
}
function close(key) {
  const call = open.get(key);
  open.delete(key);
  if (call) dispatch(call);
}
queue.forEach(close);
flush();
console.log(`${written} events; ${JSON.stringify(outcomes)}`);
