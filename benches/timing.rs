//! What work takes: CPU time, wall time and memory of this process or of a child, and the instructions of a child where this
//! machine counts them.

use std::ops::Range;
use std::process::{Command, Stdio};

/// What some work took.
#[derive(Clone, Copy)]
pub struct Timing {
    /// User and system time in seconds.
    pub cpu: f64,
    /// Seconds.
    pub wall: f64,
    /// The most memory at once.
    pub peak_mb: f64,
}

/// A child that ends well, its output thrown away; none if it does not start.
pub fn child(command: &mut Command) -> Option<Timing> {
    let start = std::time::Instant::now();
    let before = children_seconds();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    let mut peak: f64 = 0.0;
    let status = loop {
        peak = peak.max(peak_mb(&child.id().to_string()));
        if let Some(status) = child.try_wait().expect("a child to wait for") {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert!(matches!(status.code(), Some(0 | 1)), "{command:?}: {status}"); // 1: the trace shows unsafe calls
    Some(Timing { cpu: children_seconds() - before, wall: start.elapsed().as_secs_f64(), peak_mb: peak })
}

/// The instructions of a child outside of the kernel; none where `perf stat` does not count them.
pub fn instructions(command: &Command) -> Option<u64> {
    let mut perf = Command::new("perf");
    perf.args(["stat", "--field-separator", ",", "--event", "instructions:u", "--"]);
    perf.arg(command.get_program()).args(command.get_args()).stdout(Stdio::null());
    let said = perf.output().ok()?.stderr;
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().find(|line| line.contains("instructions:u"))?;
    line.split(',').next()?.parse().ok()
}

/// The best of so many runs of some work of this process.
pub fn measure(runs: usize, mut work: impl FnMut() -> u64) -> Timing {
    best((0..runs).map(|_| {
        let _ = std::fs::write("/proc/self/clear_refs", "5"); // the peak counts from here; without it, from the start
        let (cpu, wall) = (cpu_seconds(), std::time::Instant::now());
        std::hint::black_box(work());
        Timing { cpu: cpu_seconds() - cpu, wall: wall.elapsed().as_secs_f64(), peak_mb: peak_mb("self") }
    }))
}

/// That with the least CPU time.
pub fn best(timings: impl Iterator<Item = Timing>) -> Timing {
    timings.min_by(|a, b| a.cpu.total_cmp(&b.cpu)).expect("at least one run")
}

/// User and system time of this process and the children it waited for, in steps of 10 ms.
fn cpu_seconds() -> f64 {
    ticks(11..15)
}

/// That of the children alone: this process looks at their memory while it waits.
fn children_seconds() -> f64 {
    ticks(13..15)
}

fn ticks(fields: Range<usize>) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let after: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks: u64 = after[fields].iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}

fn peak_mb(process: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kb.unwrap_or(0.0) / 1e3
}
