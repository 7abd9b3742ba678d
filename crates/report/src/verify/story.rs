//! The story of a counterexample: its timeline with the ledger beside it, and the rows of the playbook that decided.

use std::ops::Range;
use std::sync::Arc;

use crate::doc::{Block, Table, Text, Tone};
use crate::timeline;
use crate::view::{CallView, RunView};
use playproof_engine::event::{Decision, FindingId};
use playproof_engine::ids::CallId;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord, Simulator};
use playproof_engine::time::{Duration, Instant};
use playproof_explore::Counterexample;
use playproof_formats::diagnostic::{Diagnostic, Report};
use playproof_formats::playbook::Loaded;

/// The timeline, a line for each event; what the upstream booked stands at its end.
pub(super) fn timeline(plan: &Plan, shown: &Counterexample) -> Table {
    let scenario = Scenario::of_fixture(&shown.fixture, plan);
    let mut simulator = Simulator::new();
    let record = simulator.run_fixture(plan, &scenario);
    let Some(call) = scenario.calls.first() else { return Table::default() };
    let names = [call.name.to_owned()];
    let intent_name = |intent| scenario.intent_name(intent);
    let run = RunView {
        transcript: record.transcript(&plan.names, &names, &intent_name),
        call: CallId(0),
        tally: record.tallies.first().copied().unwrap_or_default(),
        findings: Vec::new(),
        intent: scenario.intent_in(&record.ledger, CallId(0)),
    };
    let view = CallView {
        reference: call.name,
        id: None,
        run: None,
        input: None,
        input_from_root: None,
        line: None,
        path: None,
        tool: call.tool_name,
        args: None,
        key: None,
        token: None,
        facts: "",
        declared: true,
        at: Instant::ZERO,
        timed: true,
        recorded: None,
        prevented: None,
        sources: None,
    };
    let mut table = Table::columns([("", true), ("", false), ("", false)]);
    let mut row = |at: Option<Duration>, said: &str, booked: String| {
        let at = at.map_or_else(String::new, |at| format!("{} ms", timeline::millis(at)));
        table.row([at.into(), said.into(), Text::new(Tone::Bad, booked)]);
    };
    for line in timeline::with_ledger(&view, &run, timeline::of_run(&view, &run)) {
        row(line.at, &line.text, line.booked);
    }
    if let Some(end) = record.outcomes.first() {
        let outcome = timeline::outcome(&run.transcript, end.kind);
        row(None, &format!("{outcome}; its effect is said to be `{}`", end.claim.as_str()), String::new());
    }
    table
}

/// The rows that decided: of each verdict, the rule that gave it and its compensation.
pub(super) fn rows(plan: &Plan, loaded: &Loaded, id: FindingId, shown: &Counterexample) -> Option<Block> {
    let scenario = Scenario::of_fixture(&shown.fixture, plan);
    let mut simulator = Simulator::new();
    let record = simulator.run_fixture(plan, &scenario);
    let mut said = Diagnostic::error(id.as_str(), format!("these rows decided: {}", shown.answers.join("; ")));
    let labels = labels(plan, loaded, record);
    if labels.is_empty() {
        return None;
    }
    for (span, text) in labels {
        said = said.at(span, text);
    }
    Some(Block::Source { report: Report::one(Arc::clone(&loaded.places.source), said), said: String::new() })
}

fn labels(plan: &Plan, loaded: &Loaded, record: &SimulationRecord) -> Vec<(Range<usize>, String)> {
    let mut labels: Vec<(Range<usize>, String)> = Vec::new();
    for event in &record.events {
        let Decision::FailureClassified { verdict, rule, .. } = event.what else { continue };
        let name = plan.names.verdict(verdict);
        let row = rule.map_or("otherwise".to_owned(), |rule| format!("rule {}", plan.names.rule(Some(rule))));
        let place = |row: &str, part: &str| loaded.places.row(&loaded.playbook, row, part);
        let verdict = plan.playbook.verdict(verdict);
        let row_of_verdict = format!("verdict {name}");
        let found = [
            (place(&row, ""), format!("gave `{name}`")),
            (place(&row_of_verdict, "effect"), format!("claims `{}`", verdict.effect.as_str())),
            (place(&row_of_verdict, "then"), format!("the compensation is `{}`", verdict.then.as_str())),
        ];
        let found = found.into_iter().filter_map(|(span, text)| Some((span?, text)));
        labels.extend(found.filter(|found| !labels.contains(found)).collect::<Vec<_>>());
    }
    labels
}
