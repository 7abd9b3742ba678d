//! The decisions that a dispatcher records: the run of a fixture as a trace that has them, and whether those of a trace
//! are what a playbook decides.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::doc::{Block, Doc, Text};
use crate::json::{Object, document, event_objects};
use crate::text::{self, counted};
use playproof_engine::call::{RecordedCall, Recorder};
use playproof_engine::event::{KeyDialect, Transcript, unnamed};
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::{DrivenCall, Plan, Recording, Scenario};
use playproof_explore::tool_facts;
use playproof_formats::playbook::fingerprint;
use playproof_intake::slice;

/// The run of a fixture as a trace, with the decisions.
pub fn trace_of(plan: &Plan, fixture: &Fixture) -> String {
    let scenario = Scenario::of_fixture(fixture, plan);
    let Recording { mut calls, acts, record } = Recording::of_fixture(plan, fixture, &scenario);
    let references: Vec<String> = calls.iter().map(|call| call.reference()).collect();
    let recorder = Arc::new(Recorder {
        playbook: (&*plan.playbook.name).into(),
        fingerprint: fingerprint(&plan.playbook).to_string().into(),
        seed: plan.seed.or(fixture.seed).unwrap_or_default(),
        keys: Some(fixture.keys),
    });
    for call in &mut calls {
        call.dispatch.get_or_insert_default().recorder = Some(Arc::clone(&recorder));
    }
    let objects = event_objects(&record.transcript(&plan.names, &references, &unnamed));
    for (n, (event, object)) in record.events.iter().zip(objects).enumerate() {
        if let Some(call) = calls.get_mut(event.call.index()) {
            let decisions = &mut call.dispatch.get_or_insert_default().decisions;
            decisions.push((Recording::line(n), object.into()));
        }
    }
    let is_call = |(_, of): &(&RecordedCall, &DrivenCall<'_>)| of.act.is_none();
    let calls: Vec<&RecordedCall> = calls.iter().zip(&scenario.calls).filter(is_call).map(|(call, _)| call).collect();
    slice::lines_with_acts(&calls, &acts)
}

/// The tool facts of a fixture as a tool facts file; none if it has none.
pub fn tools_of(fixture: &Fixture) -> Option<String> {
    (!fixture.tools.is_empty()).then(|| format!("format: tools/1\n{}", tool_facts(&fixture.tools)))
}

/// The fields of a recorded decision that name its call, and those of its place in a chain.
const NAMES: [&str; 8] = ["type", "run_id", "call_id", "id", "playbook", "ref", "prev", "hash"];

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
    /// What decided the first call with decisions, if the trace says so.
    pub recorder: Option<Recorder>,
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

impl ComparedDecisions {
    /// Compares the decisions about a call; `place` gives the place of a line.
    pub fn add(&mut self, call: &RecordedCall, transcript: &Transcript<'_>, place: impl Fn(u64) -> String) {
        let recorded = call.dispatch.as_ref().map(|dispatch| dispatch.decisions.as_slice()).unwrap_or_default();
        if recorded.is_empty() {
            self.undecided += 1;
            return;
        }
        if self.calls == 0 {
            self.recorder = call.recorder().cloned();
        }
        let mut lines: Vec<(u64, &str)> = recorded.iter().map(|(line, event)| (*line, &**event)).collect();
        lines.sort_by_key(|(line, _)| *line);
        self.compare((call.reference(), call.place.line), &lines, &event_objects(transcript), place);
    }

    /// Compares the recorded decisions about a call, each with its line, with those of a playbook; the call has its name and
    /// its line. `place` gives the place of a line.
    pub fn compare(
        &mut self,
        (reference, own): (String, u64),
        recorded: &[(u64, &str)],
        decided: &[String],
        place: impl Fn(u64) -> String,
    ) {
        self.calls += 1;
        self.decisions += recorded.len() as u64;
        for n in 0..recorded.len().max(decided.len()) {
            let was = recorded.get(n).map(|(_, event)| fields(event));
            let is = decided.get(n).map(|event| fields(event));
            if was != is {
                let place = place(recorded.get(n).map_or(own, |(line, _)| *line));
                self.differences.push(DecisionDifference { reference, place, recorded: was, decided: is });
                return;
            }
        }
    }

    /// Adds those of later calls.
    pub fn merge(&mut self, later: ComparedDecisions) {
        if self.calls == 0 {
            self.recorder = later.recorder;
        }
        self.calls += later.calls;
        self.undecided += later.undecided;
        self.decisions += later.decisions;
        self.differences.extend(later.differences);
    }

    /// The page: the counts, what the plan does not share with what recorded the trace, and at most `shown` differences.
    pub fn page(&self, plan: &Plan, shown: usize) -> Doc {
        let same = match self.differences.len() as u64 {
            0 => "all are the same".to_owned(),
            differ => counted(differ, "call differs", "calls differ"),
        };
        let (decisions, calls) = (self.decisions, self.calls);
        let (decisions, calls) = (counted(decisions, "decision", "decisions"), counted(calls, "call", "calls"));
        let playbook = &plan.playbook.name;
        let mut said = vec![format!("{decisions} about {calls} compared with what `{playbook}` decides: {same}")];
        if self.undecided > 0 {
            said.push(format!("{} no recorded decisions", counted(self.undecided, "call has", "calls have")));
        }
        said.extend(self.recorder.iter().flat_map(|recorder| of_another(recorder, plan)));
        let difference = |one: &DecisionDifference| {
            let said = |value: &Option<Value>| value.as_ref().map_or("nothing more".to_owned(), Value::to_string);
            let pairs = [("recorded", Text::code(said(&one.recorded))), ("decided", Text::code(said(&one.decided)))];
            Block::card(format!("{} ({})", one.reference, one.place), vec![Block::pairs(pairs)])
        };
        let hidden = self.differences.len().saturating_sub(shown) as u64;
        let more = if hidden > 0 { format!("{} more", text::count(hidden)) } else { String::new() };
        let differences = self.differences.iter().take(shown).map(difference);
        let blocks = std::iter::once(Block::list(said)).chain(differences).chain([Block::para(more)]);
        Doc::with("", blocks.collect())
    }

    /// The same for programs, with all differences.
    pub fn json(&self, playbook: &str) -> String {
        let ComparedDecisions { calls, undecided, decisions, ref differences, ref recorder } = *self;
        let recorder = recorder.as_ref().map(|recorder| {
            Object::default()
                .with("playbook", &*recorder.playbook)
                .with("fingerprint", &*recorder.fingerprint)
                .with("seed", recorder.seed)
                .maybe("keys", recorder.keys.map(KeyDialect::as_str))
        });
        document(
            &Object::document("same-decisions/1")
                .with("playbook", playbook)
                .with("calls", calls)
                .with("undecided", undecided)
                .with("decisions", decisions)
                .with("differences", differences)
                .with("recorder", recorder),
        )
    }
}

/// Says that the trace was recorded under another playbook or with another seed than the given one, if so.
fn of_another(recorder: &Recorder, plan: &Plan) -> Vec<String> {
    let (was, is) = (&recorder.fingerprint, fingerprint(&plan.playbook));
    let playbook = (**was != is.to_string()).then(|| {
        let (name, was, is) = (&recorder.playbook, was.get(..12).unwrap_or(was), is.short());
        format!("the trace was recorded under another playbook: `{name}`, fingerprint {was} (here {is})")
    });
    let seed = plan.seed.filter(|seed| *seed != recorder.seed).map(|seed| {
        let was = recorder.seed;
        format!("the trace was recorded with seed {was}: seed {seed} gives only draws that it lacks")
    });
    playbook.into_iter().chain(seed).collect()
}

/// The fields of a decision, without those that name its call.
fn fields(event: &str) -> Value {
    let mut value: Value = serde_json::from_str(event).unwrap_or_default(); // it was read as JSON before
    if let Some(object) = value.as_object_mut() {
        NAMES.iter().for_each(|name| drop(object.remove(*name)));
    }
    value
}
