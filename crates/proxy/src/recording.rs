//! The recording of a connection: lines of our trace format, written at once. A disk that is full stops the recording, not
//! the calls.

use std::io::Write;

use playproof_engine::time::Instant;
use playproof_protocol::object::Object;

use crate::call::Recorded;

/// The file of a recording.
pub(crate) struct Recording {
    file: Option<Box<dyn Write + Send>>,
    /// The lines that could not be written.
    lost: u64,
}

impl Recording {
    /// Without a file nothing is kept.
    pub(crate) const fn new(file: Option<Box<dyn Write + Send>>) -> Recording {
        Recording { file, lost: 0 }
    }

    /// Writes lines; the first that cannot be written gives the reason.
    pub(crate) fn write(&mut self, lines: &str) -> Option<String> {
        let file = self.file.as_mut().filter(|_| !lines.is_empty())?;
        let is_first = self.lost == 0;
        let failed = match is_first {
            true => file.write_all(lines.as_bytes()).err(), // after a loss, a line could be torn
            false => None,
        };
        if failed.is_some() || !is_first {
            self.lost += lines.lines().count() as u64;
        }
        failed.map(|error| format!("the recording cannot be written ({error}): calls go on without it"))
    }

    /// The lines that could not be written.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    /// The server of a call has ended.
    pub(crate) fn interrupted(&mut self, call: &Recorded, at: Instant, error: &str) -> Option<String> {
        let mut line = String::new();
        let object = Object::new(&mut line).text("type", "tool_result").text_if("run_id", call.run.as_deref());
        object.text("call_id", &call.call).at("at_ms", at).text("status", "error").json("error", error).end();
        line.push('\n');
        self.write(&line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    /// A disk that is full after the first line.
    struct Full(bool);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, true) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_said_once_and_lost_lines_are_counted() {
        let mut recording = Recording::new(Some(Box::new(Full(false))));
        let said: Vec<_> = (0..3).map(|_| recording.write("{\"type\":\"tool_call\",\"tool\":\"t\"}\n")).collect();
        assert!(said[0].is_none() && said[1].is_some() && said[2].is_none(), "{said:?}");
        assert_eq!(recording.lost(), 2);
    }
}
