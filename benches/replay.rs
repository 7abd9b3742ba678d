//! Times reading and replaying against plain deserialisation of the same lines, in one run: the ratios are what
//! counts, for the machine's own speed cancels out. CPU time, not wall time. `cargo bench`; Linux only.

mod generate;

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use playproof::event::{Decision, Status};
use playproof::playbook;
use playproof::playbook::model::Tools;
use playproof::replay::{Input, Inputs, ReplayOptions, Seen, Watch, replay};
use playproof::sim::Plan;
use playproof::trace::assemble::TracedCall;
use playproof::trace::pieces::{Chunks, Piece};
use playproof::trace::read::{Entry, Spares, digest_into, recycle};
use playproof::trace::redact::RedactionRules;
use playproof::upstream::BeyondTape;

mod plain;

/// Runs of each measurement; the best counts.
const RUNS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let calls = arguments.first().and_then(|calls| calls.parse().ok()).unwrap_or(500_000);
    let path = trace(calls);
    let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    println!("{calls} calls, {:.0} MB, three in ten failing; CPU seconds, best of {RUNS}\n", bytes as f64 / 1e6);
    println!("{:<44} {:>7} {:>7} {:>9} {:>9} {:>8}", "", "CPU s", "wall s", "calls/CPU", "of serde", "peak MB");
    let table = Table { calls, serde: measure(|| plain::deserialise(&path)) };
    if let Some(only) = arguments.get(1) {
        return profile(only, &path, &table);
    }
    table.row("serde_json, best form", table.serde);
    table.row("our reader", measure(|| read_all(&path)));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for jobs in [1, cores] {
        table.row(&format!("replay, summary, {jobs} threads"), measure(|| run(&path, jobs, &(), |()| &[])));
        table.row(&format!("replay, all events, {jobs} threads"), measure(|| run(&path, jobs, &Events, Vec::as_slice)));
    }
    dispatcher(&table, &path);
    start_up();
}

/// One measurement alone, for a profiler.
fn profile(only: &str, path: &Path, table: &Table) {
    let timing = match only {
        "read" => measure(|| read_all(path)),
        "summary" => measure(|| run(path, 1, &(), |()| &[])),
        _ => measure(|| run(path, 1, &Events, Vec::as_slice)),
    };
    table.row(only, timing);
}

/// The generated trace, made once.
fn trace(calls: u64) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{calls}.jsonl"));
    if !path.exists() {
        let beside = path.with_extension("part");
        let mut out = BufWriter::new(File::create(&beside).expect("a file to write the trace to"));
        generate::write_trace(&mut out, calls).expect("the trace is written");
        std::fs::rename(&beside, &path).expect("the trace is named");
    }
    path
}

fn read_all(path: &Path) -> u64 {
    let mut chunks = Chunks::new(File::open(path).expect("the trace"));
    let (rules, mut entries, mut spare) = (RedactionRules::default(), 0, Vec::new());
    let mut calls = Spares::new();
    while let Some(piece) = chunks.next(std::mem::take(&mut spare)).expect("the trace is read") {
        let read = digest_into(&piece, &rules, &mut calls).entries;
        entries += read.len() as u64;
        recycle(read.into_iter().filter_map(call), &mut calls, 4_096);
        if let Piece::Lines(lines) = piece {
            spare = lines;
        }
    }
    entries
}

fn call(entry: Entry) -> Option<Box<TracedCall>> {
    match entry {
        Entry::Call(call) => Some(call),
        Entry::Answer(_) | Entry::RunEnd(_) => None,
    }
}

fn run<W: Watch>(path: &Path, jobs: usize, watch: &W, bytes: fn(&W::Part) -> &[u8]) -> u64 {
    let source = playproof::diagnostic::Source::whole("standard", playbook::embedded("standard").expect("shipped"));
    let loaded = playbook::parse(source).expect("the shipped playbook is sound");
    let plans = [Plan::new(loaded.playbook, &Tools::default())];
    let input = Input { name: "bench".into(), source: Box::new(File::open(path).expect("the trace")) };
    let inputs: Inputs<'_> = Box::new(std::iter::once(Ok(input)));
    let options = ReplayOptions { jobs, beyond: BeyondTape::Ok, ..ReplayOptions::default() };
    let mut sink = File::create("/dev/null").expect("a sink");
    let replayed = replay(&plans, inputs, &options, watch, |part| sink.write_all(bytes(&part))).expect("a replay");
    assert!(replayed.ledger().balances());
    replayed.summaries[0].calls
}

/// Every decision event as a line of JSON.
struct Events;

impl Watch for Events {
    type Part = Vec<u8>;

    fn part(&self) -> Vec<u8> {
        Vec::with_capacity(1 << 20)
    }

    fn see(&self, seen: &Seen<'_>, out: &mut Vec<u8>) {
        let reference = seen.call.reference();
        for (plan, record) in seen.plans.iter().zip(seen.records()) {
            for event in &record.events {
                let at = event.at.as_micros();
                let _ = write!(out, r#"{{"call":"{reference}","at_us":{at},"#); // a vector takes all
                let _ = write_decision(out, plan, &event.what);
                out.extend_from_slice(b"}\n");
            }
        }
    }
}

fn write_decision(out: &mut Vec<u8>, plan: &Plan, what: &Decision) -> std::io::Result<()> {
    match *what {
        Decision::AttemptStarted { attempt, .. } => write!(out, r#""event":"attempt_started","attempt":{attempt}"#),
        Decision::AttemptFinished { attempt, status, provenance, .. } => {
            let status = if status == Status::Ok { "ok" } else { "error" };
            let from = provenance.as_str();
            write!(out, r#""event":"attempt_finished","attempt":{attempt},"status":"{status}","from":"{from}""#)
        }
        Decision::FailureClassified { verdict, rule, .. } => {
            let (verdict, rule) = (plan.names.verdict(verdict), plan.names.rule(rule));
            write!(out, r#""event":"failure_classified","verdict":"{verdict}","rule":"{rule}""#)
        }
        Decision::RetryScheduled { attempt, delay, .. } => {
            write!(out, r#""event":"retry_scheduled","attempt":{attempt},"delay_ms":{delay}"#)
        }
        Decision::Outcome(outcome) => {
            let (kind, claim) = (outcome.kind.as_str(), outcome.claim.as_str());
            write!(out, r#""event":"outcome","outcome":"{kind}","effect":"{claim}","attempts":{}"#, outcome.attempts)
        }
        ref other => write!(out, r#""event":"{other:?}""#),
    }
}

#[derive(Clone, Copy)]
struct Timing {
    cpu: f64,
    wall: f64,
    peak_mb: f64,
}

struct Table {
    calls: u64,
    serde: Timing,
}

impl Table {
    fn row(&self, name: &str, timing: Timing) {
        let Timing { cpu, wall, peak_mb } = timing;
        let rate = self.calls as f64 / cpu / 1e6;
        let ratio = cpu / self.serde.cpu;
        println!("{name:<44} {cpu:>7.2} {wall:>7.2} {rate:>8.2}M {ratio:>8.2}x {peak_mb:>8.0}");
    }
}

fn measure(mut work: impl FnMut() -> u64) -> Timing {
    let mut best = Timing { cpu: f64::MAX, wall: f64::MAX, peak_mb: 0.0 };
    for _ in 0..RUNS {
        let _ = std::fs::write("/proc/self/clear_refs", "5"); // the peak counts from here; without it, from the start
        let (cpu, wall) = (cpu_seconds(), std::time::Instant::now());
        std::hint::black_box(work());
        let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
        if cpu < best.cpu {
            best = Timing { cpu, wall, peak_mb: peak_mb() };
        }
    }
    best
}

/// User and system time of this process and the children it waited for, in steps of 10 ms.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let after = stat.rsplit(')').next().unwrap_or("");
    let ticks: u64 = after.split_whitespace().skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}

fn peak_mb() -> f64 {
    let mut status = String::new();
    let _ = File::open("/proc/self/status").and_then(|mut file| file.read_to_string(&mut status));
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kb.unwrap_or(0.0) / 1e3
}

/// The same job in plain JavaScript, where there is a Node.
fn dispatcher(table: &Table, path: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/dispatcher.mjs");
    let works =
        |script: &Path| Command::new("node").arg(script).arg(path).output().ok().filter(|out| out.status.success());
    match works(&script) {
        Some(out) => {
            table
                .row("a plain dispatcher on Node", measure(|| works(&script).map_or(0, |out| out.stdout.len() as u64)));
            print!("  {}", String::from_utf8_lossy(&out.stdout));
        }
        None => println!("a plain dispatcher on Node: skipped, there is no Node"),
    }
}

/// From the start of the binary to its end, without work.
fn start_up() {
    let binary = env!("CARGO_BIN_EXE_playproof");
    let mut best = f64::MAX;
    for _ in 0..20 {
        let start = std::time::Instant::now();
        let _ = Command::new(binary).arg("--version").output();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("\nstart-up: {:.1} ms", best * 1e3);
}
