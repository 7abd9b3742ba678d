//! A process of `playproof serve`, spoken to line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::place::{Place, program};

pub const HELLO: &str = r#"{"type":"hello","protocol":"dispatch/1"}"#;

/// A process that serves.
pub struct Serving {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Serving {
    pub fn start(place: &Place, args: &[&str]) -> Serving {
        let mut command = Command::new(program());
        command.current_dir(place.path("")).arg("serve").args(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().expect("a pipe")));
        Serving { child, to, from }
    }

    /// Writes a line; false: the process is gone.
    pub fn write(&mut self, line: &str) -> bool {
        self.to.as_mut().is_some_and(|to| to.write_all(format!("{line}\n").as_bytes()).is_ok())
    }

    /// The next answer; none: the process is gone.
    pub fn read(&mut self) -> Option<Value> {
        let mut answer = String::new();
        let is_whole = self.from.read_line(&mut answer).is_ok() && answer.ends_with('\n');
        is_whole.then(|| serde_json::from_str(&answer).expect("JSON"))
    }

    /// What a line is answered with.
    pub fn say(&mut self, line: &str) -> Option<Value> {
        self.write(line).then(|| self.read())?
    }

    /// Ends it like a crash.
    pub fn kill(&mut self) {
        self.child.kill().expect("a signal");
        self.child.wait().expect("it has ended");
    }

    /// Ends its input, as its driver does when it dies, and gives its exit code.
    pub fn end(&mut self) -> Option<i32> {
        self.to = None;
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}
