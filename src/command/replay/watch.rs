//! Observes every call of a replay, on any thread: collects the calls for a page, or writes each as a line.

use std::sync::{Mutex, PoisonError};

use playproof_analysis::envelope::EnvelopeKind;
use playproof_analysis::replay::{CallResult, FailureCounts, MessageTemplates, Observer};
use playproof_engine::event::{Finding, FindingBy, PlaybookNames, unnamed};
use playproof_engine::ids::CallId;
use playproof_engine::sim::SimulationRecord;
use playproof_intake::origin::Sources;
use playproof_report::json::{CallParts, Events, write_audit_line, write_call, write_events};
use playproof_report::listing::{CallSelection, Listing};
use playproof_report::view::CallView;

/// What a page needs of the calls.
pub struct Watcher {
    /// The calls that a page will show.
    pub listing: Listing,
    /// Write lines of these instead of collecting.
    pub lines: Option<CallSelection>,
    /// What the inputs are called, and where their lines come from.
    pub sources: Sources,
    /// The form of the envelopes in the lines, if they are wanted.
    pub envelope: Option<EnvelopeKind>,
    /// The page of `--report` is asked for: it needs the calls, and failures by verdict and template.
    pub has_page: bool,
    /// The lines of `--audit` are wanted.
    pub audits: bool,
    /// Batches that were written out, to be filled again.
    pub spare: Mutex<Vec<Batch>>,
}

/// What became of a batch of calls.
#[derive(Default)]
pub struct Batch {
    /// Lines, if those were asked for.
    pub lines: Vec<u8>,
    /// Lines of `--audit`, if those were asked for.
    pub audited: Vec<u8>,
    /// Calls that are in the lines.
    pub written: u64,
    /// Failures by verdict and template, one a playbook, if they are counted.
    pub failures: Vec<FailureCounts>,
    reference: [String; 1],
    templates: MessageTemplates,
    findings: Vec<Finding>,
}

impl Observer for Watcher {
    type Part = Batch;

    fn part(&self) -> Batch {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn on_call(&self, seen: &CallResult<'_>, batch: &mut Batch) {
        let runs = seen.plans.iter().map(|plan| &plan.names).zip(seen.records());
        if self.has_page {
            batch.failures.resize_with(seen.plans.len(), FailureCounts::default);
            for (counts, record) in batch.failures.iter_mut().zip(seen.records()) {
                counts.add(&seen.call, record, &mut batch.templates);
            }
        }
        if self.audits {
            self.audit(seen, runs.clone(), batch);
        }
        if self.has_page || self.lines.is_none() {
            self.listing.take(seen.call, seen.marks, seen.recorded, runs.clone(), &mut batch.templates);
        }
        match &self.lines {
            Some(wanted) if wanted.wants(seen.call, seen.recorded, runs.clone()) => {
                batch.written += 1;
                self.write(seen, runs, batch);
            }
            _ => {}
        }
    }
}

impl Watcher {
    /// Takes back a batch that is no longer needed, to reuse its memory.
    pub fn keep(&self, mut batch: Batch) {
        batch.lines.clear();
        batch.written = 0;
        batch.failures.clear();
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(batch);
    }

    /// The lines of `--audit` of a call.
    fn audit<'r>(
        &self,
        seen: &CallResult<'_>,
        runs: impl Iterator<Item = (&'r PlaybookNames, &'r SimulationRecord)>,
        batch: &mut Batch,
    ) {
        let Batch { audited, reference, .. } = batch;
        seen.call.write_reference(&mut reference[0]);
        for (names, record) in runs {
            let transcript = record.transcript(names, reference, &unnamed);
            let view = CallView::recorded(&seen.call, &reference[0], "", &self.sources);
            write_audit_line(audited, &view, &transcript, CallId(0));
        }
    }

    fn write<'r>(
        &self,
        seen: &CallResult<'_>,
        runs: impl Iterator<Item = (&'r PlaybookNames, &'r SimulationRecord)>,
        batch: &mut Batch,
    ) {
        let Batch { lines, reference, findings, .. } = batch;
        seen.call.write_reference(&mut reference[0]);
        for (names, record) in runs {
            let transcript = record.transcript(names, reference, &unnamed);
            let view = CallView::recorded(&seen.call, &reference[0], "", &self.sources);
            findings.clear();
            findings.extend_from_slice(seen.recorded);
            findings.extend(of_playbook(record));
            let said = write_events(lines, &transcript);
            let tally = record.tallies.first().copied().unwrap_or_default();
            let parts = CallParts { events: Events::Before(said), envelope: self.envelope };
            write_call(lines, &view, &transcript, CallId(0), &tally, findings, &parts);
            lines.push(b'\n');
        }
    }
}

/// The findings caused by the playbook; those of the recording are shown once, not once a playbook.
pub fn of_playbook(record: &SimulationRecord) -> impl Iterator<Item = Finding> {
    record.findings.iter().filter(|finding| finding.by == FindingBy::Playbook).copied()
}
