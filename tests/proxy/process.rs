//! A process of `playproof proxy` before a server that is a script, spoken to as a client.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::place::{Place, program};

/// A server in Python: a call says in its argument `do` what each request for it does, and `ledger` has a line for each effect.
pub const SERVER: &str = include_str!("server.py");

/// Whether there is a Python to run the server.
pub fn has_python() -> bool {
    let version = Command::new("python3").arg("--version").output();
    let is_there = version.is_ok_and(|ran| ran.status.success());
    if !is_there {
        println!("skipped: there is no python3 for the server");
    }
    is_there
}

/// A folder with the server and a playbook.
pub fn place() -> Place {
    let place = Place::begun();
    place.write("server.py", SERVER);
    place
}

/// A process that stands between.
pub struct Proxied {
    pub child: Child,
    to: Option<ChildStdin>,
    from: Option<BufReader<ChildStdout>>,
    err: Option<ChildStderr>,
}

impl Proxied {
    /// Starts it with its own arguments, and before the server.
    pub fn start(place: &Place, args: &[&str]) -> Proxied {
        Proxied::before(place, args, &["python3", "-u", "server.py"])
    }

    pub fn before(place: &Place, args: &[&str], server: &[&str]) -> Proxied {
        let mut command = Command::new(program());
        command.current_dir(place.path("")).arg("proxy").args(args).arg("--").args(server);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let (to, from) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        let err = child.stderr.take();
        Proxied { child, to, from, err }
    }

    /// Writes a line; false: the process is gone.
    pub fn say(&mut self, line: &str) -> bool {
        self.to.as_mut().is_some_and(|to| to.write_all(format!("{line}\n").as_bytes()).is_ok())
    }

    /// The next line; none: the output has ended.
    pub fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.from.as_mut().expect("it hears").read_line(&mut line).expect("text");
        (length > 0).then_some(line)
    }

    /// The next message.
    pub fn hear(&mut self) -> Value {
        serde_json::from_str(&self.line().expect("a message")).expect("JSON")
    }

    /// Closes the client's ear.
    pub fn hears_no_more(&mut self) {
        self.from = None;
    }

    /// Ends the client's side, and gives what the server's still says, the exit code and what people were told.
    pub fn end(mut self) -> (String, Option<i32>, String) {
        self.to = None;
        let (mut rest, mut err) = (String::new(), String::new());
        if let Some(from) = &mut self.from {
            from.read_to_string(&mut rest).expect("text");
        }
        let code = self.child.wait().expect("it ends").code();
        if let Some(mut said) = self.err.take() {
            said.read_to_string(&mut err).expect("text");
        }
        (rest, code, err)
    }
}

impl Drop for Proxied {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A call of a tool.
pub fn call(id: impl Into<Value>, tool: &str, args: &Value) -> String {
    let params = serde_json::json!({ "name": tool, "arguments": args });
    serde_json::json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params }).to_string()
}

/// The one file that was recorded.
pub fn recorded(place: &Place) -> String {
    let mut files: Vec<_> =
        std::fs::read_dir(place.path("rec")).expect("a folder").map(|it| it.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    assert_eq!(files.len(), 1, "{files:?}");
    let name = files[0].file_name().expect("a name").to_string_lossy().into_owned();
    format!("rec/{name}")
}

/// Waits for what another process does, ten seconds at most.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
