//! A dispatcher of the shipped playbook `dispatcher`, and a journal in memory.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use playproof_live::{Attempt, Dispatcher, ErrorFacts, Failure, NewCall, Plan, Recorder, plan_of};

pub type Answer = Result<u32, Failure>;

/// Three attempts, after 100 and 400 ms and up to half as long again; keys, eight permits, a breaker that opens at five
/// failures for 30 s; writes time out after 5 s.
pub fn plan() -> Plan {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../playbooks/dispatcher.yaml");
    plan_of("dispatcher", &std::fs::read_to_string(path).unwrap(), None).unwrap()
}

pub fn dispatcher() -> Dispatcher<u32> {
    Dispatcher::new(plan(), None)
}

/// The same with its journal.
pub fn recorded() -> (Dispatcher<u32>, Memory) {
    let memory = Memory::of_size(usize::MAX);
    (Dispatcher::new(plan(), Some(Recorder::new(memory.clone()))), memory)
}

/// A write without a key, in a run of its own.
pub fn write(name: &str) -> NewCall {
    let (name, run, args) = (name.to_owned(), name.to_owned(), format!("{{\"row\":\"{name}\"}}"));
    NewCall { name, run, tool: "db.write".to_owned(), args, ..NewCall::default() }
}

/// The same with a key.
pub fn keyed(name: &str, key: &str) -> NewCall {
    NewCall { key: Some(key.to_owned()), args: "{}".to_owned(), ..write(name) }
}

pub fn failed(kind: &str) -> Answer {
    Err(Failure::from(ErrorFacts { kind: Some(kind.into()), ..ErrorFacts::default() }))
}

/// An upstream that never answers.
pub async fn silent(_: Attempt) -> Answer {
    std::future::pending().await
}

/// An upstream that answers after so many milliseconds.
pub async fn after(millis: u64) -> Answer {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    Ok(7)
}

/// A file in memory, which is full after so many bytes.
#[derive(Clone)]
pub struct Memory {
    bytes: Arc<Mutex<Vec<u8>>>,
    most: usize,
}

impl Memory {
    pub fn of_size(most: usize) -> Memory {
        Memory { bytes: Arc::default(), most }
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.bytes.lock().unwrap().clone()).unwrap()
    }

    /// Its lines that have a text.
    pub fn lines_with(&self, text: &str) -> Vec<String> {
        self.text().lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.bytes.lock().unwrap();
        let taken = bytes.len().min(self.most - all.len());
        if taken == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        all.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
