//! What a call costs under a playbook, against an upstream that answers at once: CPU time of this process, and its memory over
//! a million calls. `cargo bench -p playproof-live [CALLS]`; Linux only.
#![expect(
    clippy::disallowed_methods,
    clippy::float_arithmetic,
    clippy::print_stdout,
    reason = "a bench measures, reads files and prints"
)]
#![expect(clippy::unwrap_used, reason = "a measurement that cannot be made must stop")]

use std::cell::Cell;
use std::fmt::Write as _;

use playproof_live::{Dispatcher, ErrorFacts, Failure, NewCall, plan_of};

/// Most microseconds of CPU a call, and most growth of memory after the first tenth of the calls.
const MOST_MICROS: f64 = 5.0;
const MOST_GROWTH_KB: u64 = 4_096;

/// Ticks of a second.
const TICKS: f64 = 100.0;

fn dispatcher(name: &str) -> Dispatcher<u64> {
    let text = std::fs::read_to_string(format!("{}/../../playbooks/{name}.yaml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    Dispatcher::new(plan_of(name, &text, None).unwrap(), None)
}

fn main() {
    let calls = std::env::args().nth(1).and_then(|calls| calls.parse().ok()).unwrap_or(1_000_000);
    let clock = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let plain = measure(calls, |n| {
        let answered = async { tokio::time::timeout(std::time::Duration::from_secs(5), async { n }).await };
        assert_eq!(clock.block_on(answered), Ok(n));
    });
    println!("a timeout and no dispatcher: {plain:.2} µs of CPU a call");
    let mut is_good = true;
    for (name, what, tool, has_key) in [
        ("standard", "a write", "payments.refund", false),
        ("dispatcher", "a read: registry, budget, permits, breaker", "search.web", false),
        ("dispatcher", "a write with a key of its own, the same", "db.write", true),
    ] {
        let dispatcher = dispatcher(name);
        let (after_a_tenth, mut number) = (Cell::new(0), String::new());
        let micros = measure(calls, |n| {
            number.clear();
            let _ = write!(number, "{n:08}");
            let new = NewCall {
                name: number.clone(),
                run: format!("r{}", n / 50),
                tool: tool.to_owned(),
                args: if has_key { "{\"row\":1}".to_owned() } else { "{\"q\":\"x\"}".to_owned() },
                key: has_key.then(|| format!("ik_{number}")),
                ..NewCall::default()
            };
            let ended = clock.block_on(dispatcher.call(new, |_| async { Ok(n) }));
            assert_eq!(ended.value, Some(n), "{:?}", ended.outcome);
            if n % 50 == 49 {
                assert_eq!(dispatcher.end_run(&format!("r{}", n / 50)), Ok(()));
            }
            if n == calls / 10 {
                after_a_tenth.set(resident_kb());
            }
        });
        let grown = resident_kb().saturating_sub(after_a_tenth.get());
        is_good &= micros < MOST_MICROS && grown < MOST_GROWTH_KB;
        println!("{name}, {what}: {micros:.2} µs of CPU a call, {grown} kB more after the first tenth");
    }
    let dispatcher = dispatcher("standard");
    let paused = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let micros = measure(calls / 10, |n| {
        let failed = Cell::new(n % 10 > 0);
        let new = NewCall { name: n.to_string(), tool: "payments.refund".to_owned(), ..NewCall::default() };
        let busy = ErrorFacts { kind: Some("429_rate_limited".into()), ..ErrorFacts::default() };
        let ended = paused.block_on(dispatcher.call(new, |_| {
            let answer = if failed.replace(true) { Ok(n) } else { Err(Failure::from(busy.clone())) };
            async move { answer }
        }));
        assert_eq!(ended.value, Some(n), "{:?}", ended.outcome);
    });
    println!("standard, one in ten is sent again: {micros:.2} µs of CPU a call");
    assert!(is_good, "more than {MOST_MICROS} µs a call, or memory that grows");
}

/// Microseconds of CPU a call.
fn measure(calls: u64, mut call: impl FnMut(u64)) -> f64 {
    let before = cpu_ticks();
    (0..calls).for_each(&mut call);
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let (ticks, calls) = ((cpu_ticks() - before) as f64, calls as f64);
    ticks / TICKS * 1e6 / calls
}

/// The CPU time of this process.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap().split_whitespace();
    fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
