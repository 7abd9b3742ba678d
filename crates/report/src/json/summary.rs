//! The summary of a replay under each playbook, and the account of the inputs.

use std::sync::Arc;

use super::shared;
use super::write::{Millis, Object};
use crate::overview::InputNote;
use playproof_analysis::confirm::condition;
use playproof_analysis::replay::{
    Counts, Effects, FindingCounts, GraphCounts, InputAccount, OddSteps, Percentiles, Refusals, Replayed, Summary,
    UnknownName, UnsettledRuns, UnsettledWrite,
};
use playproof_engine::call::Place;
use playproof_engine::event::{EffectClaim, FindingBy, OutcomeWord, PlaybookNames};
use playproof_engine::time::Duration;
use playproof_intake::origin::Sources;

/// The accounts of a replay's inputs: what became of their lines.
pub fn inputs(replayed: &Replayed, notes: &[InputNote], sources: &Sources) -> Vec<Object> {
    let notes = notes.iter().map(Some).chain(std::iter::repeat(None));
    let inputs = (0_u32..).zip(&replayed.inputs).zip(notes);
    inputs.map(|((n, input), note)| account(sources.name_from_root(n), input, note)).collect()
}

fn account(name: Option<&str>, input: &InputAccount, note: Option<&InputNote>) -> Object {
    let first = |(line, name): &(u64, UnknownName)| Object::default().with("name", name.to_string()).with("line", line);
    let unknown = &input.first_unknown;
    let foreign = note.and_then(|note| Some((note.read_as.as_ref()?, &note.remarks)));
    let read = Object::default()
        .with("name", name.unwrap_or(&input.name))
        .and(&input.ledger.rows().into_iter().collect())
        .maybe("first_unknown_type", unknown.kind.as_ref().map(first))
        .maybe("first_unknown_field", unknown.field.as_ref().map(first))
        .flag("unread", note.is_some_and(|note| note.unread));
    match foreign {
        Some((read_as, remarks)) => read.with("read_as", read_as).with("odd_in_the_source", remarks),
        None => read,
    }
}

/// Where a call stands; with its path where the line alone does not tell it.
pub fn place(sources: &Sources, place: Place) -> Object {
    let origin = sources.find(place);
    Object::default()
        .maybe("input", sources.name_from_root(place.input))
        .with("line", origin.line)
        .maybe("path", origin.path.map(|path| path.to_string()))
}

/// A whole replay: its inputs, what was recorded, and what each playbook makes of it.
pub fn replayed(replayed: &Replayed, names: &[&PlaybookNames], notes: &[InputNote], sources: &Sources) -> Object {
    let summaries = replayed.summaries.iter().zip(names);
    let playbooks: Vec<Object> = summaries.map(|(summary, names)| playbook(summary, names, sources)).collect();
    Object::default()
        .with("inputs", inputs(replayed, notes, sources))
        .with("recorded", recorded(replayed, sources))
        .with("playbooks", playbooks)
}

fn recorded(replayed: &Replayed, sources: &Sources) -> Object {
    let possible = &replayed.possible_duplicates;
    let by = [
        ("undeclared_tool", &possible.undeclared),
        ("keyed_tool", &possible.keyed),
        ("failed_tool", &possible.failed),
        ("resent_tool", &possible.resent),
        ("tool_without_run", &possible.without_run),
        ("tool_in_two_inputs", &possible.two_inputs),
        ("tool_without_arguments", &possible.without_arguments),
    ];
    let again = (possible.begun_again.total() > 0).then_some(("tool_begun_again", &possible.begun_again));
    let found = Object::default().with("findings", findings(&replayed.recorded, FindingBy::Recorded));
    let duplicates = by.into_iter().chain(again);
    duplicates
        .fold(found, |found, (by, counted)| found.and(&counts(&format!("possible_duplicates_by_{by}"), counted)))
        .maybe("unsettled_runs", unsettled_runs(&replayed.unsettled_runs, sources))
}

/// The runs that end on a write whose effect is unknown; the first ones by the references of these writes.
fn unsettled_runs(runs: &UnsettledRuns, sources: &Sources) -> Option<Object> {
    let row = |write: &UnsettledWrite| {
        let place = place(sources, write.place);
        Object::default().with("ref", &write.reference).with("tool", &write.tool).with("place", place)
    };
    let first: Vec<Object> = runs.first.iter().map(row).collect();
    (runs.count > 0).then(|| Object::default().with("count", runs.count).with("first", first))
}

/// Counts by name under a key, and those of which no name is kept.
fn counts(key: &str, counts: &Counts) -> Object {
    let rows: Vec<Object> = counts.rows().into_iter().map(named).collect();
    Object::default().with(key, rows).maybe("uncounted_by_name", Some(counts.others()).filter(|others| *others > 0))
}

fn named((name, count): (&str, u64)) -> Object {
    Object::default().with("name", name).with("count", count)
}

/// Whether only some playbooks can have the outcome.
const fn is_rare(outcome: OutcomeWord) -> bool {
    use OutcomeWord::{Cached, Cancelled, Joined, Refused};
    matches!(outcome, Refused | Joined | Cached | Cancelled)
}

fn playbook(summary: &Summary, names: &PlaybookNames, sources: &Sources) -> Object {
    let said = OutcomeWord::ALL.into_iter().zip(summary.outcomes);
    // The outcomes of admission have a key only where a playbook uses it.
    let outcomes = said.filter(|(outcome, count)| !is_rare(*outcome) || *count > 0);
    let outcomes: Object = outcomes.map(|(outcome, count)| (outcome.as_str(), count)).collect();
    let claims: Object = EffectClaim::ALL.into_iter().map(|claim| (claim.as_str(), summary.claim(claim))).collect();
    let lack: Object = ["attempt", "refresh", "reversal"].into_iter().zip(summary.undetermined).collect();
    // Findings of the recording in calls that it sends as often as they were sent, or more often: calls that it sends less
    // often may be what these rest on.
    let sent = findings(&summary.recorded_findings_sent, FindingBy::Recorded);
    let sent_less = (!sent.is_empty()).then_some(summary.sent_less);
    let odd = Some(summary.odd_steps).filter(|odd| *odd != OddSteps::default());
    let odd = odd.map(|odd| [("no_step", odd.no_step.calls), ("no_action", odd.no_action.calls)]);
    let count = |count| count;
    Object::default()
        .with("playbook", &*names.playbook)
        .with("calls", summary.calls)
        .with("failed_calls", summary.failed_calls)
        .with("failed_attempts", summary.failed_attempts)
        .with("verdicts", all_named(&names.verdicts, &summary.verdicts))
        .with("outcomes", outcomes)
        .with("claims", claims)
        .with("findings", findings(&summary.findings, FindingBy::Playbook))
        .list("recorded_findings_sent", sent)
        .maybe("calls_sent_less", sent_less)
        .with("added_delay_ms", Millis(summary.added_delay))
        .with("delayed_calls", summary.delay_of_calls.above_zero())
        .with("added_delay_per_call_ms", spread(summary.delay_of_calls.percentiles(), delay))
        .with("added_delay_per_delayed_call_ms", spread(summary.delay_of_calls.percentiles_above_zero(), delay))
        .with("upstream_calls_recorded", summary.requests_recorded)
        .with("upstream_calls_recorded_per_call", spread(summary.requests_recorded_of_calls.percentiles(), count))
        .with("upstream_calls", summary.requests)
        .with("upstream_calls_per_call", spread(summary.requests_of_calls.percentiles(), count))
        .with("effects", effects(summary.effects))
        .with("queues", all_named(&names.queues, &summary.queues))
        .with("off_tape_calls", summary.off_tape_calls)
        .with("off_tape_runs", summary.off_tape_runs)
        .flag("off_tape_runs_is_lower_bound", summary.off_tape_runs_bound)
        .with("tape_left", summary.tape_left)
        .with("undetermined_for_lack_of", lack)
        .and(&counts("unclassified_by_message", &summary.unclassified))
        .maybe("suspected_failures", suspected(summary))
        .maybe("graph", summary.graph.as_ref().map(graph))
        .maybe("not_taken_for_steps", odd.map(|odd| odd.into_iter().collect::<Object>()))
        .maybe("shared", summary.shared.as_ref().map(|counts| shared::shared(counts, sources)))
}

fn effects(effects: Effects) -> Object {
    let Effects { recorded, inferred, modelled, reversed, unobserved } = effects;
    let all = [("recorded", recorded), ("inferred", inferred), ("modelled", modelled), ("reversed", reversed)];
    all.into_iter().chain([("unobserved", unobserved)]).collect()
}

/// What a graph did to the gated calls, and how agents went on.
fn graph(graph: &GraphCounts) -> Object {
    let by_kind = |refusals: Refusals| -> Object {
        refusals.rows().filter(|(_, count)| *count > 0).map(|(why, count)| (why.as_str(), count)).collect()
    };
    let agreed = Object::default().with("refused", graph.agreed.total()).with("of", graph.recorded);
    let until_ok = graph.until_ok.iter();
    let until_ok = until_ok.map(|(&calls, &count)| Object::default().with("calls", calls).with("count", count));
    let until_ok: Vec<Object> = until_ok.collect();
    let after = Object::default().with("valid", graph.valid_after_refusal).with("of", graph.after_refusal);
    Object::default()
        .with("calls", graph.calls)
        .with("agrees_with_recorded", agreed.with("by_kind", by_kind(graph.agreed)))
        .with("refused_first", by_kind(graph.first))
        .with("refused_after", by_kind(graph.later))
        .with("after_refusal", after.with("calls_until_ok", until_ok))
}

fn spread<V: serde::Serialize>(percentiles: Percentiles, value: impl Fn(u64) -> V) -> Object {
    percentiles.rows().into_iter().map(|(name, count)| (name, value(count))).collect()
}

fn delay(micros: u64) -> Millis {
    Millis(Duration::from_micros(micros))
}

/// The results that suggest a failure and do not prove one.
fn suspected(summary: &Summary) -> Option<Object> {
    let commonest = summary.suspected.rows().into_iter().take(3);
    let rules = commonest.filter_map(|(template, _)| Some(format!("failed: [ {} ]", condition(template)?)));
    (summary.suspected.total() > 0).then(|| {
        Object::default()
            .with("calls", summary.suspected_calls)
            .and(&counts("by_message", &summary.suspected))
            .with("decided_by", rules.collect::<Vec<_>>())
    })
}

fn all_named(names: &[Arc<str>], values: &[u64]) -> Vec<Object> {
    names.iter().zip(values).map(|(name, &count)| named((name, count))).collect()
}

fn findings(counts: &FindingCounts, by: FindingBy) -> Vec<Object> {
    let seen = counts.rows().filter(|&(_, who, _)| who == by);
    let found = seen.map(|(kind, _, calls)| {
        Object::default().with("id", kind.id.as_str()).with("severity", kind.severity.as_str()).with("calls", calls)
    });
    found.collect()
}
