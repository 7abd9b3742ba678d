//! Every writing command, killed at many points: what the next command finds is as before or as after, and whole.
//! `tests/kill.sh` asks for more points than `cargo test` does.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::hardening::commands::{ACCEPT, WRITING, Writing};
use crate::place::{Place, program};
use crate::propose::project::Project;

/// System calls with which files change; a kill right before one of them leaves what those before it made.
const CHANGING: &str = "mkdir,mkdirat,openat,open,write,pwrite64,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,\
                        linkat,fsync,fdatasync,ftruncate,chmod,fchmod,fchmodat,flock";

type Files = BTreeMap<String, Vec<u8>>;

/// One way to kill.
#[derive(Clone, Debug)]
enum Kill {
    /// At the nth call of this name.
    At(String, usize),
    /// After so long.
    After(Duration),
}

/// A command, what it starts from, and what it comes to.
struct Case {
    args: Vec<String>,
    before: Files,
    after: Files,
    kills: Vec<Kill>,
}

/// A number that `tests/kill.sh` sets.
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn place_of(files: &Files) -> Place {
    let place = Place::new();
    for (name, bytes) in files {
        match name.strip_suffix('/') {
            Some(folder) => std::fs::create_dir_all(place.path(folder)).expect("a folder"),
            None => place.write_bytes(name, bytes),
        }
    }
    place
}

fn strace(place: &Place, options: &[&str], args: &[String]) -> Option<std::process::Output> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq"]).args(options).arg(program()).args(args);
    strace.current_dir(place.path("")).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    strace.output().ok()
}

/// Every point at which the main thread of a command changes something; none where strace cannot be used.
fn points(files: &Files, args: &[String]) -> Vec<Kill> {
    let (place, logs) = (place_of(files), tempfile::tempdir().expect("a folder"));
    let log = logs.path().join("log");
    let traced = strace(&place, &["-o", &log.to_string_lossy(), "-e", &format!("trace={CHANGING}")], args);
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    if traced.is_none() || text.is_empty() {
        return Vec::new();
    }
    let first = text.split_whitespace().next().unwrap_or_default().to_owned();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kills = Vec::new();
    for line in text.lines().filter(|line| line.split_whitespace().next() == Some(&first)) {
        let Some(name) = line.split_whitespace().nth(1).and_then(|call| call.split_once('(')) else { continue };
        let count = counts.entry(name.0).or_default();
        *count += 1;
        // What is opened to be read changes nothing.
        if !name.0.starts_with("open") || line.contains("O_CREAT") {
            kills.push(Kill::At(name.0.to_owned(), *count));
        }
    }
    kills
}

impl Case {
    fn new(writing: &Writing, count: usize) -> Case {
        let project = writing.project();
        let (before, args) = (project.everything(), writing.args(&project));
        let began = Instant::now();
        writing.run(&project);
        let took = began.elapsed();
        let mut kills = points(&before, &args);
        // A fixed sequence, so that a failure can be had again.
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64 ^ args.len() as u64;
        let mut draw = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap_or_default() % below.max(1)
        };
        while kills.len() > count {
            kills.swap_remove(draw(kills.len()));
        }
        while kills.len() < count {
            kills.push(Kill::After(Duration::from_micros(draw(took.as_micros() as usize) as u64)));
        }
        Case { args, before, after: project.everything(), kills }
    }

    /// Kills, lets another command come, and looks. Whether the kill came before the end; what is wrong.
    fn try_at(&self, kill: &Kill) -> Result<bool, String> {
        let place = place_of(&self.before);
        let was_killed = match kill {
            Kill::At(call, nth) => {
                let inject = format!("inject={call}:signal=KILL:when={nth}");
                let options = ["-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject];
                strace(&place, &options, &self.args).is_some_and(|ran| ran.status.code().is_none_or(|code| code > 128))
            }
            Kill::After(pause) => {
                let mut child = Command::new(program())
                    .args(&self.args)
                    .current_dir(place.path(""))
                    .env_clear()
                    .stdout(std::process::Stdio::null())
                    .stderr(std::process::Stdio::null())
                    .spawn()
                    .expect("the program runs");
                std::thread::sleep(*pause);
                child.kill().expect("it is ours");
                child.wait().expect("it ends").code().is_none()
            }
        };
        let folder =
            if self.args.contains(&"new/deep".to_owned()) && place.path("new/deep").exists() { "new/deep" } else { "" };
        let next = place.run_below(folder, &["history"]);
        let now = place.everything();
        // A kill before the change is decided may leave folders on the way to the staging folder: empty, and nothing to git.
        let is_empty = |folder: &str| !now.keys().any(|name| name.starts_with(folder) && !name.ends_with('/'));
        let is_left = |name: &str| name.ends_with('/') && !self.before.contains_key(name) && is_empty(name);
        let differs = |known: &Files, is_ignored: &dyn Fn(&str) -> bool| {
            let all = known.keys().chain(now.keys());
            let differ = all.filter(|name| known.get(*name) != now.get(*name) && !is_ignored(name));
            differ.cloned().collect::<Vec<_>>()
        };
        let (from_before, from_after) = (differs(&self.before, &is_left), differs(&self.after, &|_| false));
        match from_before.is_empty() || from_after.is_empty() {
            true => Ok(was_killed),
            false => Err(format!(
                "{:?} killed {kill:?} is neither as before ({from_before:?}) nor as after ({from_after:?}): {next:?}",
                self.args
            )),
        }
    }
}

#[test]
fn every_writing_command_is_whole_wherever_it_is_killed() {
    let count = asked("PLAYPROOF_KILLS").and_then(|kills| usize::try_from(kills).ok()).unwrap_or(8);
    let most = asked("PLAYPROOF_KILL_SECONDS").map(Duration::from_secs);
    let cases: Vec<Case> = WRITING.iter().map(|writing| Case::new(writing, count)).collect();
    // In turn, so that each command has had its share where the time is up before the end.
    let all: Vec<(&Case, &Kill)> =
        (0..count).flat_map(|n| cases.iter().filter_map(move |case| Some((case, case.kills.get(n)?)))).collect();
    let (began, done) = (Instant::now(), AtomicUsize::new(0));
    let (next, killed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wrong = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((case, kill)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if most.is_some_and(|most| began.elapsed() > most) {
                        break;
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                    match case.try_at(kill) {
                        Ok(was_killed) => drop(killed.fetch_add(usize::from(was_killed), Ordering::Relaxed)),
                        Err(said) => wrong.lock().expect("no thread panics").push(said),
                    }
                }
            });
        }
    });
    let (done, killed) = (done.into_inner(), killed.into_inner());
    let precise = all[..done].iter().filter(|(_, kill)| matches!(kill, Kill::At(..))).count();
    let cases = cases.len();
    println!("{cases} commands, {done} kills, {precise} of them at a system call; {killed} came before the end");
    let wrong = wrong.into_inner().expect("no thread panics");
    assert!(wrong.is_empty(), "{} went wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(killed * 2 > precise, "hardly one was killed: {killed} of {precise}");
}

/// What a command does to the disk, in order: each system call, with the paths that it is about.
fn disk_steps(log: &str) -> Vec<(&str, Vec<&str>)> {
    let calls = log.lines().filter_map(|line| Some((line.split_once(' ')?.1.trim().split_once('(')?.0, line)));
    calls
        .map(|(call, line)| match call {
            "fsync" => (call, line.split(['<', '>']).skip(1).take(1).collect()),
            _ => (call, line.split('"').skip(1).step_by(2).collect()),
        })
        .collect()
}

#[test]
fn new_texts_are_on_disk_before_the_change_is_decided_and_in_place_on_disk_before_the_journal_goes() {
    let (project, logs) = (Project::with_proposal(), tempfile::tempdir().expect("a folder"));
    let log = logs.path().join("log");
    let options = ["-y", "-o", &log.to_string_lossy(), "-e", "trace=fsync,rename,renameat,renameat2,unlink,unlinkat"];
    strace(&project, &options, &ACCEPT.map(str::to_owned));
    let log = std::fs::read_to_string(&log).unwrap_or_default();
    if log.is_empty() {
        return; // strace cannot be used here
    }
    let steps = disk_steps(&log);
    let folder = |path: &str| Path::new(path).parent().expect("a folder").to_string_lossy().into_owned();
    let synced = |path: &str, mut between: Range<usize>| between.find(|n| steps[*n] == ("fsync", vec![path]));
    let of_journal = |call: &str| {
        let is_its = |(name, paths): &(&str, Vec<&str>)| {
            name.starts_with(call) && paths.last().is_some_and(|path| path.ends_with("/journal.json"))
        };
        steps.iter().position(is_its).expect("a journal comes and goes")
    };
    let (decided, over) = (of_journal("rename"), of_journal("unlink"));
    let placed: Vec<usize> = (decided + 1..over).filter(|n| steps[*n].0.starts_with("rename")).collect();
    assert!(placed.len() > 3, "{log}");
    let draft = steps[decided].1[0];
    assert_ne!(draft, steps[decided].1[1], "it has its name only once it is whole");
    let drafted = synced(draft, 0..decided).expect("the journal is on disk before it gets its name");
    assert!(synced(&folder(draft), drafted..decided).is_some(), "the names of what is staged are on disk:\n{log}");
    assert!(synced(&folder(draft), decided..placed[0]).is_some(), "the journal's name is on disk:\n{log}");
    for n in placed {
        let [from, to] = steps[n].1[..] else { panic!("{log}") };
        assert!(synced(from, 0..decided).is_some(), "{from} is not on disk:\n{log}");
        assert!(synced(&folder(to), n..over).is_some(), "the name {to} is not on disk:\n{log}");
    }
}
