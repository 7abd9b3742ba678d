//! The decisions that a dispatcher records: the run of a fixture as a trace that has them, and whether those of a trace
//! are what a playbook decides.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use crate::json::event_objects;
use crate::text::{self, counted};
use playproof_analysis::coverage::tool_facts;
use playproof_engine::call::RecordedCall;
use playproof_engine::event::{Transcript, unnamed};
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::{Plan, Recording, Scenario};
use playproof_trace::slice;

/// The run of a fixture as a trace, with the decisions.
pub fn trace_of(plan: &Plan, fixture: &Fixture) -> String {
    let scenario = Scenario::of_fixture(fixture, plan);
    let Recording { mut calls, record } = Recording::of_fixture(plan, fixture, &scenario);
    let references: Vec<String> = calls.iter().map(|call| call.reference()).collect();
    let objects = event_objects(&record.transcript(&plan.names, &references, &unnamed));
    for (n, (event, object)) in record.events.iter().zip(objects).enumerate() {
        if let Some(call) = calls.get_mut(event.call.index()) {
            let decisions = &mut call.dispatch.get_or_insert_default().decisions;
            decisions.push((Recording::line(n), object.into()));
        }
    }
    slice::lines(&calls.iter().collect::<Vec<_>>())
}

/// The tool facts of a fixture as a tool facts file; none if it has none.
pub fn tools_of(fixture: &Fixture) -> Option<String> {
    (!fixture.tools.is_empty()).then(|| format!("format: tools/1\n{}", tool_facts(&fixture.tools)))
}

/// The fields of a recorded decision that name its call.
const NAMES: [&str; 5] = ["type", "run_id", "call_id", "playbook", "ref"];

/// The decisions of many calls, compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedDecisions {
    /// Calls with recorded decisions.
    pub calls: u64,
    /// Calls without.
    pub undecided: u64,
    /// Recorded decisions.
    pub decisions: u64,
    /// The first difference of each call that has one.
    pub differences: Vec<DecisionDifference>,
}

/// The first decision about a call that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecisionDifference {
    /// The call.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The place of the recorded decision, else of the call.
    pub place: String,
    /// The recorded decision; none: the recording has ended.
    pub recorded: Option<Value>,
    /// What the playbook decides; none: nothing more.
    pub decided: Option<Value>,
}

#[derive(Serialize)]
struct ComparedJson<'a> {
    format: &'static str,
    playbook: &'a str,
    calls: u64,
    undecided: u64,
    decisions: u64,
    differences: &'a [DecisionDifference],
}

impl ComparedDecisions {
    /// Compares the decisions about a call; `place` gives the place of a line.
    pub fn add(&mut self, call: &RecordedCall, transcript: &Transcript<'_>, place: impl Fn(u64) -> String) {
        let recorded = call.dispatch.as_ref().map(|dispatch| dispatch.decisions.as_slice()).unwrap_or_default();
        if recorded.is_empty() {
            self.undecided += 1;
            return;
        }
        self.calls += 1;
        self.decisions += recorded.len() as u64;
        let mut lines: Vec<&(u64, Box<str>)> = recorded.iter().collect();
        lines.sort_by_key(|(line, _)| *line);
        let decided = event_objects(transcript);
        for n in 0..lines.len().max(decided.len()) {
            let (was, is) = (lines.get(n).map(|line| fields(&line.1)), decided.get(n).map(|event| fields(event)));
            if was != is {
                let line = lines.get(n).map_or(call.place.line, |line| line.0);
                let (reference, place) = (call.reference(), place(line));
                self.differences.push(DecisionDifference { reference, place, recorded: was, decided: is });
                return;
            }
        }
    }

    /// Adds those of later calls.
    pub fn merge(&mut self, later: ComparedDecisions) {
        self.calls += later.calls;
        self.undecided += later.undecided;
        self.decisions += later.decisions;
        self.differences.extend(later.differences);
    }

    /// The page: the counts, and at most `shown` differences.
    pub fn page(&self, playbook: &str, shown: usize) -> String {
        let mut page = format!(
            "{} about {} compared with what `{playbook}` decides: ",
            counted(self.decisions, "decision", "decisions"),
            counted(self.calls, "call", "calls")
        );
        page += &match self.differences.len() as u64 {
            0 => "all are the same".to_owned(),
            differ => counted(differ, "call differs", "calls differ"),
        };
        if self.undecided > 0 {
            let _ = write!(page, "\n{} no recorded decisions", counted(self.undecided, "call has", "calls have"));
        }
        for one in self.differences.iter().take(shown) {
            let said = |value: &Option<Value>| value.as_ref().map_or("nothing more".to_owned(), Value::to_string);
            let (was, is) = (said(&one.recorded), said(&one.decided));
            let (reference, place) = (&one.reference, &one.place);
            let _ = write!(page, "\n\n{reference} ({place})\n  recorded: {was}\n  decided:  {is}");
        }
        let hidden = self.differences.len().saturating_sub(shown);
        if hidden > 0 {
            let _ = write!(page, "\n\n{} more", text::count(hidden as u64));
        }
        page.lines().map(text::escape_unprintable).collect::<Vec<_>>().join("\n")
    }

    /// The same for programs, with all differences.
    pub fn json(&self, playbook: &str) -> String {
        let ComparedDecisions { calls, undecided, decisions, ref differences } = *self;
        let format = "same-decisions/1";
        crate::json::document(&ComparedJson { format, playbook, calls, undecided, decisions, differences })
    }
}

/// The fields of a decision, without those that name its call.
fn fields(event: &str) -> Value {
    let mut value: Value = serde_json::from_str(event).unwrap_or_default(); // it was read as JSON before
    if let Some(object) = value.as_object_mut() {
        NAMES.iter().for_each(|name| drop(object.remove(*name)));
    }
    value
}
