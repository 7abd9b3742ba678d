//! Times reading and replaying traces of four shapes, and recordings in formats of others, against other programs over the
//! same lines: plain loops with `serde_json`, Python and `jq`, and a plain dispatcher on Node. All in one run: the ratios are
//! what counts, for the machine's own speed cancels out. So does what calls share: the same traces under a playbook that
//! shares, and ten times as many calls at once. CPU time, not wall time; instructions where `perf stat` counts them.
//! `cargo bench --bench replay [CALLS [read|table|jsonl]]`; Linux only.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "a bench measures time, reads and writes files, and prints ratios"
)]

mod foreign;
mod generate;
mod plain;
mod rivals;
mod timing;

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::Command;

use playproof_intake::call::CallBuilder;
use playproof_intake::digest::{CallPool, DigestEntry, read_piece_into, recycle};
use playproof_intake::pieces::{Chunks, InputPiece};
use playproof_intake::redact::RedactionRules;

use foreign::Foreign;
use generate::Shape;
use timing::{Timing, best, measure};

/// Runs of each measurement; the best counts.
const RUNS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let calls = arguments.first().and_then(|calls| calls.parse().ok()).unwrap_or(500_000);
    println!("{calls} calls of each shape, three in ten failing; CPU seconds, best of {RUNS}");
    let tables = Shape::ALL.map(|shape| Table::new(trace(shape, calls), calls, plain::deserialise));
    if let Some(only) = arguments.get(1) {
        return tables.iter().for_each(|table| table.profile(only));
    }
    let replays = tables.each_ref().map(Table::all);
    let of_a_byte = |(timing, table): (&Timing, &Table)| timing.cpu / table.bytes as f64 * 1e9;
    let costs: Vec<f64> = replays.iter().zip(&tables).map(of_a_byte).collect();
    let (fastest, slowest) = costs.iter().fold((f64::MAX, 0.0_f64), |(low, high), &one| (low.min(one), high.max(one)));
    let of_each: Vec<String> =
        Shape::ALL.iter().zip(&costs).map(|(shape, ns)| format!("{} {ns:.2}", shape.name())).collect();
    println!(
        "\nall events, 1 thread, ns of CPU a byte: {}; slowest of fastest {:.2}x",
        of_each.join(", "),
        slowest / fastest
    );
    foreign((calls / 5).max(1));
    crowds();
    start_up();
}

/// The generated trace, made once.
fn trace(shape: Shape, calls: u64) -> PathBuf {
    made_once(&format!("{}-{calls}", shape.name()), |out| generate::write_trace(out, shape, calls))
}

fn made_once(name: &str, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{name}.jsonl"));
    if !path.exists() {
        let beside = path.with_extension("part");
        let mut out = BufWriter::new(File::create(&beside).expect("a file to write the trace to"));
        write(&mut out).expect("the trace is written");
        std::fs::rename(&beside, &path).expect("the trace is named");
    }
    path
}

fn read_all(path: &Path) -> u64 {
    let mut chunks = Chunks::new(File::open(path).expect("the trace"));
    let (rules, mut entries, mut buffer, mut calls) = (RedactionRules::default(), 0, Vec::new(), CallPool::new());
    while let Some(piece) = chunks.next(std::mem::take(&mut buffer)).expect("the trace is read") {
        let read = read_piece_into(&piece, &rules, &mut calls).entries;
        entries += read.len() as u64;
        recycle(read.into_iter().filter_map(call), &mut calls, 4_096);
        if let InputPiece::Lines(lines) = piece {
            buffer = lines;
        }
    }
    entries
}

fn call(entry: DigestEntry) -> Option<Box<CallBuilder>> {
    match entry {
        DigestEntry::Call(call) => Some(call),
        _ => None,
    }
}

/// Recordings in formats of others, read with all that a replay finds in them.
fn foreign(calls: u64) {
    for format in Foreign::ALL {
        let path = made_once(&format!("{}-{calls}", format.name()), |out| format.write(out, calls));
        let mapping = format.mapping().map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
        let map = mapping.as_ref().map(|path| ["--map", path.to_str().expect("a path of letters")]);
        let map = map.as_ref().map_or(&[][..], |map| &map[..]);
        let table = Table::new(path, calls, rivals::values);
        table.head("serde_json::Value");
        let ours = table.replay(1, "table", map);
        table.others(ours);
    }
}

/// The playbook that shares everything that calls can share.
const SHARING: &[&str] = &["--playbook", "dispatcher"];

/// Ten times as many calls at once, all of one run.
fn crowds() {
    println!("\ncalls at once in one run under `dispatcher`, all events, 1 thread");
    let mut before: Option<Timing> = None;
    for calls in [1_000_u64, 10_000, 100_000] {
        let path = made_once(&format!("crowd-{calls}"), |out| generate::write_crowd(out, calls));
        let window = calls.to_string();
        let more = [SHARING, &["--reorder-window", &window]].concat();
        let timing = best((0..RUNS).map(|_| command(&path, 1, "jsonl", &more)));
        let step = before.filter(|before| before.cpu > 0.0).map(|before| timing.cpu / before.cpu);
        let step = step.map_or_else(String::new, |step| format!("{step:.1} times the step before"));
        println!("{calls:>9} calls {:>7.2} CPU s {:>8.0} MB  {step}", timing.cpu, timing.peak_mb);
        before = Some(timing);
    }
}

/// What people run, its output thrown away.
fn command(path: &Path, jobs: usize, format: &str, more: &[&str]) -> Timing {
    timing::child(&mut replay(path, jobs, format, more)).expect("the binary starts")
}

fn replay(path: &Path, jobs: usize, format: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_playproof"));
    command.args(["replay", "--beyond-tape", "ok", "--format", format, "--jobs", &jobs.to_string()]);
    command.args(more).arg(path);
    command
}

/// What was measured on one trace.
struct Table {
    path: PathBuf,
    bytes: u64,
    calls: u64,
    serde: Timing,
}

impl Table {
    /// Of a recording; `plain` reads its lines, and all others are held against that.
    fn new(path: PathBuf, calls: u64, plain: fn(&Path) -> u64) -> Table {
        let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        let serde = measure(RUNS, || plain(&path));
        Table { path, bytes, calls, serde }
    }

    /// The head of the table, and its first row.
    fn head(&self, plain: &str) {
        let name = self.path.file_stem().unwrap_or_default().display();
        println!(
            "\n{:<44} {:>7} {:>7} {:>9} {:>9} {:>8}",
            format!("{name}, {:.0} MB", self.bytes as f64 / 1e6),
            "CPU s",
            "wall s",
            "calls/CPU",
            "of serde",
            "peak MB"
        );
        self.row(plain, self.serde);
    }

    /// One measurement alone, for a profiler.
    fn profile(&self, only: &str) {
        let timing = match only {
            "read" => measure(RUNS, || read_all(&self.path)),
            format => command(&self.path, 1, format, &[]),
        };
        self.row(only, timing);
    }

    /// Every measurement; returns that of all events on one thread.
    fn all(&self) -> Timing {
        self.head("serde_json, best form");
        self.row("our reader", measure(RUNS, || read_all(&self.path)));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.replay(1, "table", &[]);
        let all_events = self.replay(1, "jsonl", &[]);
        if cores > 1 {
            self.replay(cores, "table", &[]);
            self.replay(cores, "jsonl", &[]);
        }
        self.sharing(all_events);
        self.others(all_events);
        all_events
    }

    fn replay(&self, jobs: usize, format: &str, more: &[&str]) -> Timing {
        let timing = best((0..RUNS).map(|_| command(&self.path, jobs, format, more)));
        let shown = if format == "jsonl" { "all events" } else { "summary" };
        self.row(&format!("playproof replay, {shown}, {jobs} threads"), timing);
        if jobs == 1 {
            let counted = timing::instructions(&replay(&self.path, jobs, format, more));
            let each = counted
                .map(|all| format!("{:.0} instructions a call, its start included", all as f64 / self.calls as f64));
            println!("  {}", each.unwrap_or_else(|| "instructions: `perf stat` counts none here".to_owned()));
        }
        timing
    }

    /// The same trace where the calls of a run share keys, permits, a breaker and budgets.
    fn sharing(&self, alone: Timing) {
        let timing = best((0..RUNS).map(|_| command(&self.path, 1, "jsonl", SHARING)));
        self.row("the same under `dispatcher`, which shares", timing);
        println!("  {:.2} times the CPU time of calls that share nothing", timing.cpu / alone.cpu);
    }

    fn row(&self, name: &str, timing: Timing) {
        let Timing { cpu, wall, peak_mb } = timing;
        let rate = self.calls as f64 / cpu / 1e6;
        let ratio = cpu / self.serde.cpu;
        println!("{name:<44} {cpu:>7.2} {wall:>7.2} {rate:>8.2}M {ratio:>8.2}x {peak_mb:>8.0}");
    }

    /// The same lines in other programs, where they are installed, against `ours`.
    fn others(&self, ours: Timing) {
        for rival in rivals::ALL.iter().filter(|rival| rival.takes(&self.path)) {
            match rival.time(&self.path, RUNS) {
                Some(theirs) => {
                    self.row(rival.name, theirs);
                    println!("  {:.2} times ours (1 thread)", theirs.cpu / ours.cpu);
                }
                None => println!("{}: skipped, it is not installed", rival.name),
            }
        }
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
