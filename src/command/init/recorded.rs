//! A fixture from a failure of the user's own: its answers as recorded, its arguments as names and types alone.

use super::starter::{Named, PLAYBOOK};
use playproof_analysis::coverage::{expected, to_yaml};
use playproof_analysis::recorded::{Arguments, of_recorded};
use playproof_engine::call::{AnswerTo, RecordedCall};
use playproof_engine::event::{Decision, OutcomeKind};
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::CallId;
use playproof_engine::playbook::Access;
use playproof_engine::sim::{Plan, Record, Scenario, Simulator};
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;

const HEAD: &str = "\
# A failure from your own recording, with what the playbook does about it today: if that is right, it is what must stay.
# Arguments are names and types alone. The message is as recorded, because rules read it: look at it before you commit.
# Whether a failed attempt acted is not recorded; where it did, say `applied: true` behind its answer.
";

/// The fixture of the first failure that a rule knows and whose answers last to its end, writes first; none where
/// there is no such failure.
pub fn fixture(plan: &Plan, failing: &[RecordedCall]) -> Option<Named> {
    let writes = |call: &&RecordedCall| plan.facts(call.tool()).access == Access::Write;
    let (writes, reads): (Vec<_>, Vec<_>) = failing.iter().partition(writes);
    let mut simulator = Simulator::new();
    writes.into_iter().chain(reads).find_map(|call| of_call(plan, &mut simulator, call))
}

fn of_call(plan: &Plan, simulator: &mut Simulator, call: &RecordedCall) -> Option<Named> {
    let mut fixture = scripted(call)?;
    let scenario = Scenario::of_fixture(&fixture, |tool| plan.facts(tool));
    let record = simulator.rehearse(plan, &scenario);
    let verdict = known_verdict(plan, record)?;
    let expect = expected(plan, &scenario, record);
    fixture.title = format!("{} ends as recorded: {verdict}", call.tool());
    fixture.expect.insert(PLAYBOOK.to_owned(), expect);
    let text = HEAD.to_owned() + &to_yaml(&fixture);
    let name = format!("{}-meets-{}", slug(call.tool()), slug(&verdict));
    fixture::parse(Source::whole("recorded", &*text)).ok().map(|_| (name, text))
}

/// The last verdict of a run that shows what the playbook is for: one that a rule gave, to an end that is known.
fn known_verdict(plan: &Plan, record: &Record) -> Option<String> {
    let outcome = record.outcomes.first()?;
    let classified = record.events_of(CallId(0)).filter_map(|event| match event.what {
        Decision::FailureClassified { verdict, .. } => Some(verdict),
        _ => None,
    });
    let verdicts: Vec<_> = classified.collect();
    let unknown = verdicts.contains(&plan.playbook.otherwise);
    let is_open = matches!(outcome.kind, OutcomeKind::Undetermined(_));
    let last = verdicts.last().filter(|_| !unknown && !is_open && record.findings.is_empty())?;
    Some(plan.names.verdict(*last).to_owned())
}

/// The call with its answers as a script; none where something else than attempts was answered.
fn scripted(call: &RecordedCall) -> Option<Fixture> {
    let is_plain = call.answers.iter().all(|answer| answer.to == AnswerTo::Attempt);
    is_plain.then(|| of_recorded(call, String::new(), Arguments::Types))
}

/// A name as part of a file's name.
pub fn slug(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(60).collect();
    if slug.is_empty() { "a-tool".to_owned() } else { slug }
}
