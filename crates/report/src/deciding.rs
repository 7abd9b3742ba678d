//! The rows of a playbook that decided about a call, whole, in the order of the decisions; what decided is underlined.

use std::ops::Range;
use std::sync::Arc;

use crate::doc::{Block, Excerpt, Text, Tone};
use crate::view::RunView;
use crate::{text, timeline};
use playproof_engine::event::{AdmissionRefusal, Decision, Outcome, OutcomeKind, StopReason};
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{Compensation, Playbook};
use playproof_formats::diagnostic::Label;
use playproof_formats::playbook::Loaded;

/// The most rows that are shown of a run.
const ROWS_MAX: usize = 8;

/// A row of the playbook with the parts that decided.
#[derive(Debug)]
struct Row {
    name: String,
    /// Where the row begins.
    begins: Range<usize>,
    decided: Vec<Label>,
}

/// The rows that decided about a call of `tool`; nothing if none did.
pub(super) fn deciding(run: &RunView<'_>, tool: &str, loaded: &Loaded) -> Vec<Block> {
    let mut rows = Rows { loaded, rows: Vec::new(), verdict: None, is_replaced: false };
    for (_, decision) in run.decisions() {
        rows.take(run, tool, decision);
    }
    let left = rows.rows.len().saturating_sub(ROWS_MAX) as u64;
    let excerpt = |row: Row| {
        let source = Arc::clone(&loaded.places.source);
        Block::Excerpt(Excerpt { source, begins: row.begins, labels: row.decided })
    };
    let mut shown: Vec<Block> = rows.rows.into_iter().take(ROWS_MAX).map(excerpt).collect();
    let more = text::counted(left, "more row", "more rows");
    shown.extend((left > 0).then(|| Block::Para(Text::new(Tone::Soft, format!("and {more} of the playbook")))));
    shown
}

struct Rows<'a> {
    loaded: &'a Loaded,
    rows: Vec<Row>,
    /// The last verdict.
    verdict: Option<VerdictId>,
    /// A guard stopped its compensation, so another branch of its row acts.
    is_replaced: bool,
}

impl Rows<'_> {
    fn playbook(&self) -> &Playbook {
        &self.loaded.playbook
    }

    /// What one decision rests on.
    fn take(&mut self, run: &RunView<'_>, tool: &str, decision: Decision) {
        let names = run.transcript.names;
        match decision {
            Decision::FailureClassified { verdict, rule, .. } => {
                (self.verdict, self.is_replaced) = (Some(verdict), false);
                let gave = format!("gave `{}`", names.verdict(verdict));
                match rule {
                    Some(_) => self.mark(&format!("rule {}", names.rule(rule)), "when", gave),
                    None => self.mark("otherwise", "", gave),
                }
            }
            Decision::Escalated { .. } if self.verdict.is_none() => {
                self.mark("graph stuck", "", "handed the refused call to people".to_owned());
            }
            Decision::RetryScheduled { .. }
            | Decision::EvidenceRefreshed { .. }
            | Decision::Escalated { .. }
            | Decision::Deprecated { .. }
            | Decision::ReversalRedeemed { .. }
                if !self.is_replaced =>
            {
                self.branch("then", "this acted".to_owned());
            }
            Decision::RetrySuppressed { .. } => self.instead("on_unsafe", "the retry guard stopped the retry"),
            Decision::ReversalRefused { .. } => self.instead("on_refused", "the reversal was refused"),
            Decision::RetryUnpaid { .. } => self.retry_budget(),
            Decision::Refused { why: AdmissionRefusal::InvalidTransition, by: Some(by), .. } => {
                let said = timeline::withheld(run.transcript.call(by), run.transcript.offers(run.call, tool));
                self.mark(&format!("action {}", names.action_of(tool).unwrap_or_default()), "", said);
            }
            Decision::Refused { why, .. } => self.refused(why, tool, names.action_of(tool)),
            Decision::CircuitOpened { server, .. }
            | Decision::CircuitHalfOpen { server }
            | Decision::CircuitClosed { server } => {
                let server = run.transcript.server(server).to_owned();
                self.breaker(&server, "decided here".to_owned());
            }
            Decision::Queued { behind: None, .. } => self.mark("permits", "", "made it wait".to_owned()),
            Decision::Queued { behind: Some(_), .. } => self.graph("made it wait"),
            Decision::Joined { .. } | Decision::ServedFromCache { .. } | Decision::TookOver { .. } => {
                self.mark("dedupe", "", "joins calls with one key".to_owned());
            }
            Decision::StepSkipped { action, .. } | Decision::ActionWithheld { action } => {
                self.mark(&format!("action {}", names.action(action)), "", String::new());
            }
            Decision::Outcome(Outcome { kind: OutcomeKind::Exhausted(stop), .. }) => self.stopped(stop, tool),
            _ => {} // what was sent and answered: no row decided it (the test below lists these events)
        }
    }

    /// A part of the last verdict's row.
    fn branch(&mut self, path: &str, said: String) {
        if let Some(name) = self.verdict_row() {
            self.mark(&name, path, said);
        }
    }

    /// The part that acted instead of the verdict's compensation.
    fn instead(&mut self, part: &str, why: &str) {
        let Some(name) = self.verdict_row() else { return };
        self.is_replaced = true;
        let place = |path: &str| self.loaded.places.row(self.playbook(), &name, path);
        let is_written = place(&format!("then.{part}")) != place("then");
        let said = match is_written {
            true => format!("{why}: this acted"),
            false => format!("{why}; no `{part}` is written, so the call goes to people"),
        };
        self.mark(&name, &format!("then.{part}"), said);
    }

    fn verdict_row(&self) -> Option<String> {
        Some(format!("verdict {}", self.playbook().verdicts.get(self.verdict?.index())?.name))
    }

    fn retry_budget(&mut self) {
        let playbook = self.playbook();
        let verdict = self.verdict.and_then(|id| playbook.verdicts.get(id.index()));
        let Some(Compensation::RetryWithBackoff(retry)) = verdict.map(|verdict| &verdict.then) else { return };
        let budget = retry.retry_budget.and_then(|id| playbook.retry_budgets.get(id.index()));
        let Some(name) = budget.map(|(name, _)| format!("retry_budget {name}")) else { return };
        self.branch("then.retry_budget", "paid from this budget".to_owned());
        self.mark(&name, "", "had nothing left".to_owned());
    }

    fn breaker(&mut self, server: &str, said: String) {
        let breaker = self.playbook().breaker_id(server).and_then(|id| self.playbook().breakers.get(id.index()));
        if let Some(name) = breaker.map(|(name, _)| format!("breaker {name}")) {
            self.mark(&name, "", said);
        }
    }

    fn breaker_of(&mut self, tool: &str) {
        let server = self.playbook().tools.server(tool).to_owned();
        self.breaker(&server, "let nothing pass".to_owned());
    }

    /// The rows of the graph.
    fn graph(&mut self, said: &str) {
        let Some(place) = self.loaded.places.graph_next() else { return };
        self.add("graph", place.clone(), Label { span: place, text: said.to_owned() });
    }

    /// What refused a call before its first attempt.
    fn refused(&mut self, why: AdmissionRefusal, tool: &str, action: Option<&str>) {
        let said = "refused it".to_owned();
        match why {
            AdmissionRefusal::UnknownAction => self.mark("graph others", "", said),
            AdmissionRefusal::InvalidTransition => self.graph("does not let it through here"),
            AdmissionRefusal::ValidationFailed => {
                self.mark(&format!("action {}", action.unwrap_or_default()), "", said);
            }
            AdmissionRefusal::NotFound => self.mark("registry", "", said),
            AdmissionRefusal::Schema | AdmissionRefusal::KeyMissing => {
                let tools = &self.playbook().tools;
                let row = tools.place(tool).and_then(|place| tools.rows().get(place));
                let name = row.map(|row| format!("tool {}", row.pattern));
                name.into_iter().for_each(|name| self.mark(&name, "", said.clone()));
            }
            AdmissionRefusal::KeyLength
            | AdmissionRefusal::KeyReused
            | AdmissionRefusal::KeyInFlight
            | AdmissionRefusal::Unsettled => self.mark("dedupe", "", said),
            AdmissionRefusal::BudgetExceeded => self.mark("budget", "", said),
            AdmissionRefusal::CircuitOpen => self.breaker_of(tool),
            AdmissionRefusal::QueueFull => self.mark("permits", "", said),
            AdmissionRefusal::RolledBack => {} // no row decides it
        }
    }

    /// What allowed no further attempt.
    fn stopped(&mut self, stop: StopReason, tool: &str) {
        let said = "allows no further attempt".to_owned();
        match stop {
            StopReason::MaxRetries => {
                let name = self.verdict_row().unwrap_or_default();
                let place = |path: &str| self.loaded.places.row(self.playbook(), &name, path);
                let path = if place("then.max_retries") == place("then") { "then.backoff" } else { "then.max_retries" };
                self.branch(path, said);
            }
            StopReason::MaxAttempts => self.mark("limit max_attempts", "", said),
            StopReason::Deadline => self.mark("limit deadline_ms", "", said),
            StopReason::CallTimeout => self.mark("limit call_timeout_ms", "", said),
            StopReason::MaxWait => self.branch("then.max_wait_ms", said),
            StopReason::MaxRefreshes => self.branch("then.max_refreshes", said),
            StopReason::Budget => self.mark("budget", "", said),
            StopReason::CircuitOpen => self.breaker_of(tool),
            StopReason::RetryBudget => self.retry_budget(),
            StopReason::ToldNotTo | StopReason::RefreshFailed | StopReason::ReversalRefused => {}
        }
    }

    /// Marks a part of a row of the playbook, if that row is written.
    fn mark(&mut self, name: &str, path: &str, said: String) {
        let place = |path: &str| self.loaded.places.row(self.playbook(), name, path);
        if let (Some(begins), Some(span)) = (place(""), place(path)) {
            self.add(name, begins, Label { span, text: said });
        }
    }

    fn add(&mut self, name: &str, begins: Range<usize>, decided: Label) {
        match self.rows.iter_mut().find(|row| row.name == name) {
            Some(row) if row.decided.iter().any(|known| known.span == decided.span) => {}
            Some(row) => row.decided.push(decided),
            None => self.rows.push(Row { name: name.to_owned(), begins, decided: vec![decided] }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use playproof_engine::event::EventKind;

    /// Events that a row of the playbook decides: [`super::Rows::take`] marks it.
    const DECIDED_BY_A_ROW: [EventKind; 20] = [
        EventKind::Refused,
        EventKind::Queued,
        EventKind::ActionWithheld,
        EventKind::StepSkipped,
        EventKind::Joined,
        EventKind::ServedFromCache,
        EventKind::TookOver,
        EventKind::CircuitOpened,
        EventKind::CircuitHalfOpen,
        EventKind::CircuitClosed,
        EventKind::FailureClassified,
        EventKind::RetryScheduled,
        EventKind::RetryUnpaid,
        EventKind::RetrySuppressed,
        EventKind::EvidenceRefreshed,
        EventKind::Escalated,
        EventKind::ReversalRefused,
        EventKind::ReversalRedeemed,
        EventKind::Deprecated,
        EventKind::Outcome,
    ];

    /// What was sent and answered, and what follows from it.
    const DECIDED_BY_NONE: [EventKind; 7] = [
        EventKind::Transaction,
        EventKind::ActionReleased,
        EventKind::StepEnded,
        EventKind::Cancelled,
        EventKind::AttemptStarted,
        EventKind::AttemptFinished,
        EventKind::LateAnswer,
    ];

    #[test]
    fn a_new_event_says_whether_a_row_decides_it() {
        let known: BTreeSet<EventKind> = DECIDED_BY_A_ROW.into_iter().chain(DECIDED_BY_NONE).collect();
        assert_eq!(known, BTreeSet::from(EventKind::ALL), "`Rows::take` marks the row of an event that one decides");
    }
}
