// A dispatcher with one compensation for each kind of failure, written from the text that
// `playbooks/study/typed-verdicts-literal.yaml` follows. `node verdicts.mjs BUG` has one of its known bugs.
import { serve } from "./shim.mjs";

const bug = process.argv[2];
const timeouts = [200, 600, 1800];
const serverErrors = [500, 2000];

function compensation(error) {
  const message = error?.message ?? "";
  switch (error?.kind) {
    case "timeout":
      return { retry: timeouts };
    case "409_conflict":
      if (!message.includes("idempotency")) break;
      return bug === "conflict-retried" ? { retry: timeouts } : { end: "deprecated" };
    case "412_precondition":
      if (!message.includes("evidence")) break;
      return { refresh: true };
    case "403_forbidden":
      return { end: "escalated" };
    case "schema_validation":
      return { end: "deprecated" };
  }
  return { retry: serverErrors }; // whatever else it is
}

serve(async (call, world) => {
  const first = await world.send(1);
  if (first.status === "ok") return "succeeded";
  const { end, retry, refresh } = compensation(first.error);
  if (end) return end;
  // The published text knows no such fact: this line is ours.
  if (call.facts.retry === "never") return "escalated";
  if (refresh) {
    const fresh = await world.send(0, "refresh");
    if (fresh.status !== "ok" && bug === "refresh-failure-ends") return "exhausted";
    return (await world.send(2)).status === "ok" ? "succeeded_after_compensation" : "deprecated";
  }
  const waits = bug === "one-attempt-more" ? [...retry, 1000] : retry;
  for (const [n, wait] of waits.entries()) {
    await world.sleep(wait);
    if ((await world.send(n + 2)).status === "ok") return "succeeded_after_compensation";
  }
  return "exhausted";
});
