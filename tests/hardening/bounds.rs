//! Bounds: no input makes the program panic, hang, or need more memory than it says.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::place::Place;

const CALL: &str = r#"{"run_id":"r","tool":"x","status":"error","error":{"kind":"timeout","message":"no"}}"#;

fn playbook(when: &str) -> String {
    format!(
        "format: playbook/1\nname: p\nverdicts:\n  v: {{ means: x, effect: unknown, then: {{ escalate_to_human: {{ queue: q }} }} }}\n\
         classify:\n  - {{ rule: r1, when: {{ {when} }}, verdict: v }}\notherwise: unclassified\ndefault_queue: q\nqueues: [q]\n\
         limits: {{ max_attempts: 4, deadline_ms: 30000 }}\n"
    )
}

fn nested() -> String {
    format!("{}a{}", "{".repeat(251), "}".repeat(251))
}

#[test]
fn a_glob_that_is_too_deep_or_too_long_is_refused_where_it_stands() {
    for (glob, why) in [(nested(), "within one another"), ("?".repeat(300_000), "may have 4096")] {
        let place = Place::begun();
        place.write("t.jsonl", CALL);
        let refused = |args: &[&str], spot: &str| {
            let (code, said) = place.refused(args);
            assert_eq!(code, 2, "{args:?}: {said}");
            assert!(said.contains(why) && said.contains(spot), "{args:?}: {said}");
        };
        place.write("p.yaml", &playbook(&format!("tool: '{glob}'")));
        refused(&["lint", "p.yaml"], "p.yaml:6:");
        refused(&["replay", "t.jsonl", "-p", "p.yaml"], "p.yaml:6:");
        place.write("tools.yaml", &format!("format: tools/1\ntools:\n  ? '{glob}'\n  : {{ access: read }}\n"));
        refused(&["replay", "t.jsonl", "--tools", "tools.yaml"], "tools.yaml:3:");
        let fixture = place.read("fixtures/a-denial-goes-to-people.yaml");
        place.write("f.yaml", &format!("{fixture}tools:\n  ? '{glob}'\n  : {{ access: read }}\n"));
        refused(&["replay", "f.yaml"], "f.yaml:");
        let project = place.read("playproof.yaml");
        place.write("playproof.yaml", &format!("{project}redaction: {{ keys: ['{glob}'] }}\n"));
        refused(&["replay", "t.jsonl"], "playproof.yaml:");
    }
}

/// So many failures of forms that are all different.
fn rare(trace: &mut String, failures: u32) {
    let letters = |mut n: u32| {
        let mut word = String::new();
        for _ in 0..6 {
            word.push(char::from(b'a' + u8::try_from(n % 26).expect("below 26")));
            n /= 26;
        }
        word
    };
    for n in 0..failures {
        let word = letters(n.wrapping_mul(2_654_435_761));
        let _ = writeln!(
            trace,
            r#"{{"run_id":"r{}","tool":"t.{word}","args":{{"a":{n}}},"status":"error","error":{{"kind":"k_{word}","code":"c_{word}","message":"the {word} is odd"}}}}"#,
            n % 10
        );
    }
}

fn often(trace: &mut String, failures: u32) {
    for n in 0..failures {
        let _ = writeln!(
            trace,
            r#"{{"run_id":"r","tool":"x","args":{{"b":{n}}},"status":"error","error":{{"kind":"k","message":"the ledger of the branch is closed"}}}}"#
        );
    }
}

#[test]
fn mine_shows_what_fails_often_wherever_it_stands() {
    let place = Place::new();
    let orders: [&[(bool, u32)]; 2] =
        [&[(true, 9_000), (false, 5_000)], &[(true, 4_500), (false, 5_000), (true, 4_500)]];
    for order in orders {
        let mut trace = String::new();
        for &(is_rare, failures) in order {
            if is_rare { rare(&mut trace, failures) } else { often(&mut trace, failures) }
        }
        place.write("t.jsonl", &trace);
        let out = place.run(&["propose", "find", "t.jsonl", "-j1"]).exits(0).out;
        let first = out.lines().find(|line| line.starts_with("1. ")).expect("a first cluster");
        assert!(first.contains("ledger of the branch"), "{order:?}: {first}");
        assert!(out.contains("with rarer templates"), "{out}");
        assert!(out.contains("14,000 failed attempts"), "{out}");
        assert_eq!(place.run(&["propose", "find", "t.jsonl", "-j3"]).exits(0).out, out, "{order:?}");
    }
}

#[test]
fn what_is_too_many_to_be_told_apart_is_folded_and_counted_and_any_number_of_threads_says_the_same() {
    let place = Place::new();
    let mut trace = String::new();
    rare(&mut trace, 9_000);
    often(&mut trace, 2_000);
    place.write("t.jsonl", &trace);
    for command in [&["replay"][..], &["replay", "--format", "json"], &["replay", "-p", "standard", "-p", "reversing"]]
    {
        let run = |jobs: &str| place.run(&[command, &["t.jsonl", jobs]].concat()).exits(0).out;
        let one = run("-j1");
        assert_eq!(run("-j4"), one, "{command:?}");
    }
    let page = place.run(&["replay", "t.jsonl"]).exits(0).out;
    assert!(page.contains("11,000 calls failed or show a finding; alike ones folded into 2,0"), "{page}");
    let json = place.run(&["replay", "--format", "json", "t.jsonl"]).exits(0).out;
    let counts: u64 =
        json.split(r#""count":"#).skip(1).filter_map(|rest| rest.split(',').next()?.parse::<u64>().ok()).sum();
    assert!(json.contains(r#""of_many_kinds":true"#) && counts > 6_000, "{counts}");
}

#[cfg(unix)]
#[test]
fn a_line_without_an_end_is_refused_at_its_limit() {
    let place = Place::new();
    place.write("m.yaml", "format: mapping/1\ncall: { tool: t }\n");
    for command in [
        &["replay", "/dev/zero"][..],
        &["replay", "/dev/zero", "--skip-invalid"],
        &["replay", "--map", "m.yaml", "/dev/zero"],
        &["formats", "convert", "--map", "m.yaml", "/dev/zero"],
        &["formats", "convert", "/dev/zero"],
        &["propose", "find", "/dev/zero"],
        &["confirm", "--draft", "/dev/zero"],
        &["explain", "/dev/zero", "x"],
        &["impact", "-c", "study/retry-everything", "/dev/zero"],
        &["lint", "/dev/zero"],
        &["init", "new", "--from", "/dev/zero"],
    ] {
        let began = Instant::now();
        let ran = place.limited("ulimit -v 1000000", command);
        assert_eq!(ran.code, 2, "{command:?}: {ran:?}");
        assert!(began.elapsed() < Duration::from_secs(20), "{command:?}: {:?}", began.elapsed());
    }
}

#[test]
fn a_line_that_goes_on_in_a_compressed_file_is_refused_at_its_limit() {
    use std::io::Write as _;

    let place = Place::new();
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let block = vec![b'x'; 1 << 20];
    (0..200).for_each(|_| bomb.write_all(&block).expect("memory"));
    place.write_bytes("t.jsonl.gz", &bomb.finish().expect("memory"));
    let ran = place.run(&["replay", "t.jsonl.gz"]).exits(2);
    assert!(ran.err.contains("longer than 16 MiB"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn a_pipe_that_nothing_writes_to_is_told_of_and_one_that_is_written_to_is_read() {
    let place = Place::new();
    let pipe = place.path("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for command in [&["replay", "pipe.jsonl"][..], &["confirm", "--draft", "pipe.jsonl"], &["lint", "pipe.jsonl"]] {
        let began = Instant::now();
        let ran = place.run(command).exits(2);
        assert!(ran.err.contains("it is a pipe, and nothing has opened it"), "{command:?}: {}", ran.err);
        assert!(began.elapsed() < Duration::from_secs(10), "{command:?}: {:?}", began.elapsed());
    }
    let writer = std::thread::spawn(move || std::fs::write(pipe, format!("{CALL}\n")));
    let out = place.run(&["replay", "pipe.jsonl"]).exits(0).out;
    writer.join().expect("a writer").expect("written");
    assert!(out.contains("1 call"), "{out}");
}

#[test]
fn mutate_ends_after_so_many_simulated_calls_and_says_how_to_raise_the_limit() {
    let place = Place::begun();
    let run = |most: &str, jobs: &str| place.run(&["coverage", "--mutate", "--max-calls", most, jobs]);
    for most in ["1", "40", "500"] {
        let ran = run(most, "-j1").exits(3);
        assert!(ran.err.contains("--max-calls") && ran.out.contains("not judged"), "{ran:?}");
        let other = run(most, "-j3").exits(3);
        assert_eq!((ran.out, ran.err), (other.out.replace("--jobs 3", "--jobs 1"), other.err), "{most}");
    }
    let help = place.run(&["coverage", "--mutate", "--help"]).exits(0).out;
    assert!(help.contains("[default: 2000000]"), "ten seconds or so, not minutes: {help}");
}
