//! The same bytes from any number of threads, from two runs, and from another working directory.

use std::fmt::Write;

use super::{Place, Run};

/// Uneven runs, more of them than threads, of which every third call fails.
fn uneven() -> String {
    let mut trace = String::new();
    for run in 0..40 {
        for call in 0..(run * run % 97 + 1) {
            let answer = match call % 3 {
                0 => r#""status":"error","error":{"kind":"timeout","message":"no answer to request 17"}"#,
                1 => r#""status":"ok""#,
                _ => r#""status":"error","error":{"kind":"weird","message":"boom"}"#,
            };
            let line =
                writeln!(trace, r#"{{"run_id":"r{run}","tool":"t.{}","args":{{"n":{call}}},{answer}}}"#, call % 5);
            line.expect("writing to a String");
        }
    }
    trace
}

fn replay(place: &Place, path: &str, format: &str, jobs: &str) -> Run {
    let run = place.run(&["replay", path, "--format", format, "--jobs", jobs, "--beyond-tape", "repeat"]);
    assert!(run.err.is_empty(), "{}", run.err);
    run
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let place = Place::new();
    place.write("t.jsonl", uneven());
    for format in ["table", "json", "jsonl", "markdown"] {
        let one = replay(&place, "t.jsonl", format, "1");
        for jobs in ["2", "7", "1"] {
            let many = replay(&place, "t.jsonl", format, jobs);
            assert_eq!((many.code, &many.out), (one.code, &one.out), "{format} on {jobs} threads");
        }
    }
}

#[test]
fn another_working_directory_gives_the_same_bytes() {
    let (here, there) = (Place::new(), Place::new());
    here.write("t.jsonl", uneven());
    there.write("t.jsonl", uneven());
    for format in ["table", "json", "jsonl", "markdown"] {
        assert_eq!(replay(&here, "t.jsonl", format, "2").out, replay(&there, "t.jsonl", format, "2").out, "{format}");
    }
}
