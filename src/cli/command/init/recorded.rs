//! A fixture from a failure of the user's own: its answers as recorded, its arguments as names and types alone.

use serde_json::Value;

use super::starter::{Named, PLAYBOOK};
use crate::coverage::{expected, to_yaml};
use crate::diagnostic::Source;
use crate::event::{Decision, OutcomeKind};
use crate::fixture::{self, model::Fixture, model::FixtureCall};
use crate::ids::CallId;
use crate::playbook::model::Access;
use crate::sim::{Plan, Record, Scenario, Simulator};
use crate::time::{Duration, Instant};
use crate::trace::canonical::text_of;
use crate::trace::model::{AnswerTo, RecordedAnswer, RecordedCall, Reply};
use crate::upstream::{KeyDialect, Says, Script, ScriptedAnswer};

/// What the only call of the fixture is called.
const CALL: &str = "recorded";

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

/// The call with its answers as a script.
fn scripted(call: &RecordedCall) -> Option<Fixture> {
    let mut before = call.at;
    let mut attempts = Vec::new();
    for answer in &call.answers {
        if answer.to != AnswerTo::Attempt {
            return None;
        }
        attempts.push(scripted_answer(answer, before));
        before = answer.at;
    }
    let script = Script { attempts, ..Script::default() };
    let call = FixtureCall {
        name: CALL.to_owned(),
        tool: call.tool().to_owned(),
        args: types_of(call.args()),
        key: call.key().map(|_| "ik_1".to_owned()),
        token: call.token().map(|_| "rev_1".to_owned()),
        evidence: call.evidence().map(|_| "ev_1".to_owned()).into_iter().collect(),
        at: Instant::default(),
        timeout: call.timeout,
        script,
    };
    Some(Fixture {
        title: String::new(),
        playbooks: Vec::new(),
        calls: vec![call],
        keys: KeyDialect::default(),
        before: Vec::new(),
        tools: Vec::new(),
        expect: std::collections::BTreeMap::new(),
    })
}

fn scripted_answer(answer: &RecordedAnswer, before: Option<Instant>) -> ScriptedAnswer {
    let latency = answer.at.zip(answer.started.or(before)).map(|(end, start)| end.since(start)).unwrap_or_default();
    // Fixtures are written in milliseconds.
    let latency = Duration::from_micros(latency.as_micros() / 1_000 * 1_000);
    let says = match &answer.reply {
        Reply::Ok => Says::Ok,
        Reply::Failed(error) => Says::Failed(error.clone()),
    };
    ScriptedAnswer { says, latency, applied: None }
}

/// Arguments in which every value is only one of its type: nobody's data goes into a file that is committed.
fn types_of(args: Option<&str>) -> String {
    fn blank(value: &mut Value) {
        match value {
            Value::Object(fields) => fields.values_mut().for_each(blank),
            Value::Array(items) => {
                items.truncate(1);
                items.iter_mut().for_each(blank);
            }
            Value::String(text) => *text = "text".to_owned(),
            Value::Number(_) => *value = Value::from(1),
            Value::Null | Value::Bool(_) => {}
        }
    }
    let parsed = args.and_then(|args| serde_json::from_str::<Value>(args).ok()).filter(Value::is_object);
    let mut value = parsed.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    blank(&mut value);
    text_of(&value.to_string())
}

/// A name as part of a file's name.
pub fn slug(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(60).collect();
    if slug.is_empty() { "a-tool".to_owned() } else { slug }
}
