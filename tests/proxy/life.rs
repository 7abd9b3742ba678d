//! The life of a proxy: every byte both ways, the end of either side, signals, exit codes.
#![cfg(unix)]

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::place::{Place, program};
use crate::proxy::process::{Proxied, call, recorded, until};

#[test]
fn every_byte_passes_both_ways_also_while_one_side_does_not_read() {
    let place = Place::new();
    let mut command = Command::new(program());
    command.current_dir(place.path("")).args(["proxy", "--record", "rec", "--", "cat"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut sent =
        b"not JSON\n\n[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}]\n\xff\xfe\r\n{\"id\":null}\n".to_vec();
    let long = "y".repeat(4 << 20);
    for n in 0..3 {
        sent.extend_from_slice(
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"result\":{{\"a\":1.10,\"x\":\"{long}\"}}}}\n").as_bytes(),
        );
    }
    sent.extend_from_slice(b"{\"half");
    let mut to = child.stdin.take().expect("a pipe");
    to.write_all(&sent).expect("it takes all before anybody reads"); // 12 MiB are more than any pipe holds
    drop(to);
    let mut heard = Vec::new();
    child.stdout.take().expect("a pipe").read_to_end(&mut heard).expect("bytes");
    assert!(heard == sent, "{} bytes came of {}", heard.len(), sent.len());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn the_exit_code_is_the_servers() {
    let place = Place::new();
    let code = |server: &[&str]| Proxied::before(&place, &["--record", "rec"], server).end().1;
    assert_eq!(code(&["sh", "-c", "exit 7"]), Some(7));
    assert_eq!(code(&["sh", "-c", "kill -9 $$"]), Some(137));
    assert_eq!(code(&["sh", "-c", "exec 1>&-; sleep 0.2; exit 4"]), Some(4), "its output ends before it does");
    assert_eq!(code(&["./nothing-is-here"]), Some(127));
    assert_eq!(code(&["./rec"]), Some(126), "a folder is no program");
    for usage in
        [&["proxy"][..], &["proxy", "--", "cat"], &["proxy", "--record", "rec"], &["proxy", "--enforce", "--", "cat"]]
    {
        place.run(usage).exits(2);
    }
}

#[test]
fn signals_and_the_end_of_the_client_reach_the_server_at_once() {
    let place = Place::new();
    let script = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    let mut proxied = Proxied::before(&place, &["--record", "rec"], &["sh", "-c", script]);
    assert_eq!(proxied.line().as_deref(), Some("ready\n"));
    let term = Command::new("kill").args(["-TERM", &proxied.child.id().to_string()]).status();
    assert!(term.is_ok_and(|status| status.success()));
    assert_eq!(proxied.line().as_deref(), Some("bye\n"));
    assert_eq!(proxied.end().1, Some(5));

    let server = ["sh", "-c", "cat; echo gone >gone"];
    let mut proxied = Proxied::before(&place, &["--record", "rec"], &server);
    assert!(proxied.say("x"));
    assert_eq!(proxied.line().as_deref(), Some("x\n"));
    proxied.child.kill().expect("a signal");
    until("the server of a proxy that was killed ends", || place.path("gone").exists());

    std::fs::remove_file(place.path("gone")).expect("a file");
    let mut proxied = Proxied::before(&place, &["--record", "rec"], &server);
    proxied.hears_no_more();
    assert!(proxied.say("x"));
    until("the server of a client that hears nothing ends", || place.path("gone").exists());
}

#[test]
fn a_full_disk_leaves_whole_lines_and_stops_no_call() {
    let place = Place::new();
    let full = "trap '' XFSZ; ulimit -f 2; exec \"$0\" proxy --record rec -- cat";
    let mut command = Command::new("sh");
    command.current_dir(place.path("")).args(["-c", full]).arg(program());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let calls: Vec<String> =
        (0..6).map(|id| call(id, "t", &serde_json::json!({"a": "x".repeat(600)})) + "\n").collect();
    child.stdin.take().expect("a pipe").write_all(calls.concat().as_bytes()).expect("it takes all");
    let mut heard = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut heard).expect("text");
    assert_eq!((heard, child.wait().expect("it ends").code()), (calls.concat(), Some(0)));
    let text = place.read(&recorded(&place));
    assert!(text.ends_with('\n') && (1..6).contains(&text.lines().count()), "{text}");
}
