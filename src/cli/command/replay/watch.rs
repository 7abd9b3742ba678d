//! Looks at every call of a replay, on whatever thread: collects those that a page will show, or writes all as lines.

use std::fmt::Write;

use crate::cli::view::of_recorded;
use crate::event::{Finding, FindingBy, Names, unnamed};
use crate::ids::CallId;
use crate::replay::{Seen, Watch};
use crate::report::json::{write_call, write_events};
use crate::report::listing::{Listing, Selection};
use crate::sim::Record;
use crate::trace::origin::Sources;

/// What a page needs of the calls.
pub struct Watcher {
    /// The calls that a page will show.
    pub listing: Listing,
    /// Write lines of these instead of collecting.
    pub lines: Option<Selection>,
    /// What the inputs are called, and where their lines come from.
    pub sources: Sources,
}

/// What became of a batch of calls.
pub struct Part {
    /// Lines, if those were asked for.
    pub lines: Vec<u8>,
    /// Calls that are in the lines.
    pub written: u64,
    reference: Vec<String>,
    findings: Vec<Finding>,
}

impl Watch for Watcher {
    type Part = Part;

    fn part(&self) -> Part {
        Part { lines: Vec::new(), written: 0, reference: vec![String::new()], findings: Vec::new() }
    }

    fn see(&self, seen: &Seen<'_>, part: &mut Part) {
        let runs = seen.plans.iter().map(|plan| &plan.names).zip(seen.records());
        match &self.lines {
            None => self.listing.take(seen.call, seen.intent, seen.recorded, runs),
            Some(wanted) if wanted.wants(seen.call, seen.recorded, runs.clone()) => {
                part.written += 1;
                self.write(seen, runs, part);
            }
            Some(_) => {}
        }
    }
}

impl Watcher {
    fn write<'r>(&self, seen: &Seen<'_>, runs: impl Iterator<Item = (&'r Names, &'r Record)>, part: &mut Part) {
        let Part { lines, reference, findings, .. } = part;
        if let Some(reference) = reference.first_mut() {
            reference.clear();
            reference.push_str(seen.call.run().unwrap_or(""));
            let _ = write!(reference, "#{}", seen.call.number_in_run); // writing to a String cannot fail
        }
        for (names, record) in runs {
            let transcript = record.transcript(names, reference, &unnamed);
            let view = of_recorded(seen.call, reference.first().map_or("", |text| text), "", &self.sources);
            findings.clear();
            findings.extend_from_slice(seen.recorded);
            findings.extend(of_playbook(record));
            write_events(lines, &transcript);
            let tally = record.tallies.first().copied().unwrap_or_default();
            write_call(lines, &view, &transcript, CallId(0), &tally, findings, false);
            lines.push(b'\n');
        }
    }
}

/// What the dispatcher would have done; what the recording shows is said once, not once a playbook.
pub fn of_playbook(record: &Record) -> impl Iterator<Item = Finding> {
    record.findings.iter().filter(|finding| finding.by == FindingBy::Playbook).copied()
}
