// A program that refunds orders until it is killed: `refunds.mjs PLAYBOOK JOURNAL HEARD URL LIFE`. It writes each end that it has
// heard to HEARD, and says the id of its dispatcher's process first.
import { appendFileSync } from "node:fs";
import { Dispatcher } from "../lib/index.mjs";

const [playbook, journal, heard, url, life] = process.argv.slice(2);

const send = ({ args, key, signal }) => fetch(url, { method: "POST", body: JSON.stringify(args), headers: key === undefined ? {} : { "idempotency-key": key }, signal });

await using_(new Dispatcher({ playbook, journal, unlocked: true, program: process.env.PLAYPROOF_BIN }), async (d) => {
  await d.start();
  console.log(d.pid);
  const caller = async (name) => {
    for (let n = 0; n < 8; n += 1) {
      const order = `${life}-${name}-${n}`;
      const outcome = await d.call("payments.issue_refund", { order }, send, { key: n % 3 ? `ik_${order}` : undefined, run: `${life}-${name}`, id: order });
      appendFileSync(heard, `${JSON.stringify({ id: outcome.id, outcome: outcome.outcome })}\n`);
    }
  };
  await Promise.all([..."abcd"].map(caller));
});

async function using_(d, work) {
  try { await work(d); } finally { await d.close(); }
}
