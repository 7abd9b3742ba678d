//! The outages of servers that a recording shows, over calls in the order in which they close. Keeps a few numbers for each
//! of at most 10,000 tools of an input; further ones are not looked at.

use std::collections::BTreeMap;

use playproof_engine::call::{RecordedCall, Reply};
use playproof_engine::classify::reads_as_outage;
use playproof_engine::event::{Finding, FindingBy};
use playproof_engine::ids::{AttemptNo, CallId};
use playproof_engine::sim::{Outage, Plan, ServerCall, found_amplification};
use playproof_intake::call::CompletedCall;

const MOST_TOOLS: usize = 10_000;

/// The outages of an input's servers.
#[derive(Debug, Default)]
pub struct RecordedOutages {
    /// By the hash of a tool: the place of its server.
    tools: BTreeMap<u128, usize>,
    names: BTreeMap<String, usize>,
    servers: Vec<Outage>,
    /// Servers that fail now.
    failing: usize,
}

impl RecordedOutages {
    /// Takes the next closed call. `plan` knows the server of its tool; without one, each tool is a server.
    pub fn take(&mut self, closed: &CompletedCall, plan: Option<&Plan>) -> Option<Finding> {
        if self.failing == 0 && closed.counts.attempts == closed.counts.succeeded {
            return None; // the usual call
        }
        let shows = shows(closed.raw())?;
        if !shows.failed && self.failing == 0 {
            return None;
        }
        let server = self.server(closed, plan)?;
        let outage = self.servers.get_mut(server)?;
        let before = outage.is_going_on();
        let requests = outage.take(shows);
        match (before, outage.is_going_on()) {
            (false, true) => self.failing += 1,
            (true, false) => self.failing -= 1,
            _ => {}
        }
        requests.map(|requests| found_amplification(FindingBy::Recorded, CallId(0), requests))
    }

    fn server(&mut self, closed: &CompletedCall, plan: Option<&Plan>) -> Option<usize> {
        if let Some(&place) = self.tools.get(&closed.hashes.tool) {
            return Some(place);
        }
        if self.tools.len() >= MOST_TOOLS {
            return None;
        }
        let tool = closed.raw().tool();
        let server = plan.map_or(tool, |plan| plan.server(tool));
        let place = self.names.get(server).copied().unwrap_or_else(|| {
            self.names.insert(server.to_owned(), self.servers.len());
            self.servers.push(Outage::default());
            self.servers.len() - 1
        });
        self.tools.insert(closed.hashes.tool, place);
        Some(place)
    }
}

/// What a recorded call shows of its server; none: no answer.
fn shows(call: &RecordedCall) -> Option<ServerCall> {
    let mut attempts = call.attempts();
    let (number, first) = attempts.next()?;
    let failed =
        number == AttemptNo::FIRST && matches!(&first.reply, Reply::Failed(error) if reads_as_outage(error.as_deref()));
    let (last, answer) = attempts.last().unwrap_or((number, first));
    Some(ServerCall { at: answer.at, attempts: last.get(), failed })
}
