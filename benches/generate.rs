//! Writes a trace for timing: the same bytes for the same number of calls, on any machine. Reads nothing.

use std::io::{self, Write};

/// A small generator of numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

const TOOLS: [&str; 8] = [
    "payments.issue_refund",
    "search.web",
    "search.orders",
    "crm.update_contact",
    "mail.send",
    "calendar.book",
    "inventory.reserve",
    "search.docs",
];

const ERRORS: [&str; 6] = [
    r#"{"kind":"timeout","message":"no answer within 5000 ms"}"#,
    r#"{"kind":"5xx","message":"upstream connect error or disconnect before headers, reset reason 14","status":503}"#,
    r#"{"kind":"409_conflict","message":"idempotency_key already processed","status":409,"retry_after_ms":null}"#,
    r#"{"kind":"412_precondition","message":"evidence ev_7 is stale: order changed at 2026-11-21T08:00:00Z","status":412}"#,
    r#"{"kind":"403_forbidden","message":"policy refunds-over-limit denied this call","status":403}"#,
    r#"{"kind":"tool_error","message":"order o_55512 not found in warehouse 17"}"#,
];

/// Calls of one run; 16 runs are always under way at once.
const CALLS_A_RUN: u64 = 12;

/// Writes `calls` calls, three in ten of which fail, about 480 bytes each.
pub fn write_trace(out: &mut impl Write, calls: u64) -> io::Result<()> {
    let mut numbers = Numbers(2026);
    let mut late: Vec<String> = Vec::new();
    for n in 0..calls {
        let run = n / (CALLS_A_RUN * 16) * 16 + n % 16;
        let at = n * 40;
        write_call(out, &mut numbers, n, run, at)?;
        late.push(result(&mut numbers, n, run, at));
        if late.len() >= 16 || n + 1 == calls {
            for line in late.drain(..) {
                out.write_all(line.as_bytes())?;
            }
        }
    }
    out.flush()
}

fn write_call(out: &mut impl Write, numbers: &mut Numbers, n: u64, run: u64, at: u64) -> io::Result<()> {
    let tool = TOOLS[numbers.below(8) as usize];
    let (order, amount, who) = (numbers.below(1_000_000), numbers.below(100_000), numbers.below(10_000));
    write!(
        out,
        r#"{{"type":"tool_call","run_id":"run_{run:07}","call_id":"call_{n:09}","tool":"{tool}","at_ms":{at},"args":{{"order_id":"o_{order}","amount":{amount},"currency":"EUR","customer":{{"id":"c_{who}","name":"Customer number {who}"}},"note":"requested by the customer on the phone, see ticket {n}"}}"#
    )?;
    if numbers.below(10) < 6 {
        write!(out, r#","idempotency_key":"ik_{n}_{order}""#)?;
    }
    if numbers.below(10) < 2 {
        write!(out, r#","evidence_refs":["ev_{who}"],"reversal_token":"rev_{n}""#)?;
    }
    out.write_all(b"}\n")
}

fn result(numbers: &mut Numbers, n: u64, run: u64, at: u64) -> String {
    let ended = at + numbers.below(900) + 20;
    let head = format!(
        r#"{{"type":"tool_result","run_id":"run_{run:07}","call_id":"call_{n:09}","attempt":1,"at_ms":{ended},"status""#
    );
    if numbers.below(10) >= 3 {
        return format!("{head}:\"ok\"}}\n");
    }
    let error = ERRORS[numbers.below(6) as usize];
    let first = format!("{head}:\"error\",\"error\":{error}}}\n");
    if numbers.below(10) >= 2 {
        return first;
    }
    let again = ended + 700;
    format!(
        r#"{first}{{"type":"tool_result","run_id":"run_{run:07}","call_id":"call_{n:09}","attempt":2,"started_ms":{},"at_ms":{again},"status":"ok"}}
"#,
        ended + 200
    )
}
