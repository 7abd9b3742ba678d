//! Writes a trace for timing: the same bytes for the same number of calls, on any machine. Reads nothing.

use std::io::{self, Write};

/// A small generator of numbers (splitmix64).
pub struct Numbers(u64);

impl Numbers {
    /// The numbers of a seed.
    pub fn of(seed: u64) -> Numbers {
        Numbers(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next one, below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
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

/// How the lines of a trace are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Without blanks, with fields of the format alone.
    Compact,
    /// With a blank behind each comma and colon, as Python's `json.dumps` writes them.
    Blanks,
    /// The same, and each result has fields that the format does not define.
    Outputs,
    /// The same, and texts hold escapes.
    Escapes,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 4] = [Shape::Compact, Shape::Blanks, Shape::Outputs, Shape::Escapes];

    /// What tables and files call it.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Compact => "compact",
            Shape::Blanks => "blanks",
            Shape::Outputs => "outputs",
            Shape::Escapes => "escapes",
        }
    }

    fn has_outputs(self) -> bool {
        matches!(self, Shape::Outputs | Shape::Escapes)
    }

    /// What a customer wrote, as JSON.
    fn note(self, n: u64) -> String {
        match self {
            Shape::Escapes => format!(
                r#""\"too late\u2014please refund!\"\n(\u00fcber Telefon, tickets\\2026\\{n}) for \"order {n}\"""#
            ),
            _ => format!(r#""requested by the customer on the phone, see ticket {n}""#),
        }
    }

    /// A line as this shape writes it.
    fn write(self, out: &mut impl Write, line: &str) -> io::Result<()> {
        match self {
            Shape::Compact => out.write_all(line.as_bytes())?,
            _ => out.write_all(with_blanks(line).as_bytes())?,
        }
        out.write_all(b"\n")
    }
}

/// JSON with a blank behind each comma and colon that stands outside its texts.
fn with_blanks(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 64);
    let (mut quoted, mut escaped) = (false, false);
    for c in line.chars() {
        out.push(c);
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            ',' | ':' if !quoted => out.push(' '),
            _ => {}
        }
    }
    out
}

/// Writes `calls` calls, three in ten of which fail, about 480 bytes each and more.
pub fn write_trace(out: &mut impl Write, shape: Shape, calls: u64) -> io::Result<()> {
    let mut numbers = Numbers(2026);
    let mut late: Vec<String> = Vec::new();
    for n in 0..calls {
        let run = n / (CALLS_A_RUN * 16) * 16 + n % 16;
        let at = n * 40;
        shape.write(out, &call(&mut numbers, shape, n, run, at))?;
        results(&mut numbers, shape, n, run, at, &mut late);
        if late.len() >= 16 || n + 1 == calls {
            for line in late.drain(..) {
                shape.write(out, &line)?;
            }
        }
    }
    out.flush()
}

/// Writes `calls` calls of one run that are all out at once, one in ten of which fails.
pub fn write_crowd(out: &mut impl Write, calls: u64) -> io::Result<()> {
    let mut numbers = Numbers(2026);
    for n in 0..calls {
        let (tool, at) = (TOOLS[numbers.below(8) as usize], n / 100);
        writeln!(
            out,
            r#"{{"type":"tool_call","run_id":"run","call_id":"c{n}","tool":"{tool}","at_ms":{at},"args":{{"n":{n}}},"idempotency_key":"k{n}"}}"#
        )?;
    }
    for n in 0..calls {
        let at = calls / 100 + 1_000 + n / 10;
        let head = format!(r#"{{"type":"tool_result","run_id":"run","call_id":"c{n}","attempt":1,"at_ms":{at}"#);
        match numbers.below(10) {
            0 => writeln!(out, r#"{head},"status":"error","error":{}}}"#, ERRORS[numbers.below(6) as usize])?,
            _ => writeln!(out, r#"{head},"status":"ok"}}"#)?,
        }
    }
    out.flush()
}

fn call(numbers: &mut Numbers, shape: Shape, n: u64, run: u64, at: u64) -> String {
    let tool = TOOLS[numbers.below(8) as usize];
    let (order, amount, who) = (numbers.below(1_000_000), numbers.below(100_000), numbers.below(10_000));
    let note = shape.note(n);
    let mut line = format!(
        r#"{{"type":"tool_call","run_id":"run_{run:07}","call_id":"call_{n:09}","tool":"{tool}","at_ms":{at},"args":{{"order_id":"o_{order}","amount":{amount},"currency":"EUR","customer":{{"id":"c_{who}","name":"Customer number {who}"}},"note":{note}}}"#
    );
    if numbers.below(10) < 6 {
        line += &format!(r#","idempotency_key":"ik_{n}_{order}""#);
    }
    if numbers.below(10) < 2 {
        line += &format!(r#","evidence_refs":["ev_{who}"],"reversal_token":"rev_{n}""#);
    }
    line + "}"
}

fn results(numbers: &mut Numbers, shape: Shape, n: u64, run: u64, at: u64, late: &mut Vec<String>) {
    let ended = at + numbers.below(900) + 20;
    let head = |attempt, times: &str, status| {
        format!(
            r#"{{"type":"tool_result","run_id":"run_{run:07}","call_id":"call_{n:09}","attempt":{attempt},{times},"status":"{status}""#
        )
    };
    let first = format!(r#""at_ms":{ended}"#);
    if numbers.below(10) >= 3 {
        late.push(format!("{}{}}}", head(1, &first, "ok"), output(shape, n, ended - at)));
        return;
    }
    let error = ERRORS[numbers.below(6) as usize];
    late.push(format!(r#"{},"error":{error}{}}}"#, head(1, &first, "error"), output(shape, n, ended - at)));
    if numbers.below(10) < 2 {
        let second = format!(r#""started_ms":{},"at_ms":{}"#, ended + 200, ended + 700);
        late.push(format!("{}{}}}", head(2, &second, "ok"), output(shape, n, 500)));
    }
}

/// The fields of a result that the format does not define.
fn output(shape: Shape, n: u64, latency: u64) -> String {
    if !shape.has_outputs() {
        return String::new();
    }
    let items = vec![shape.note(n); (n % 3) as usize].join(",");
    format!(
        r#","output":{{"id":"re_{n}","ok":true,"items":[{items}]}},"latency":{{"ms":{latency},"retries":0}},"metadata":{{"host":"worker-{}","trace":"{n:032x}","sampled":null}}"#,
        n % 7
    )
}
