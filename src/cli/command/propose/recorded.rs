//! Recorded calls as fixtures: found by their reference, redacted where they are read. Decides nothing about them.

use crate::cli::exit::Failure;
use crate::cli::inputs;
use crate::cli::reading::{Reading, each_call};
use crate::fixture::model::{Fixture, FixtureCall, FixtureTool};
use crate::playbook::model::{Access, DEFAULT_TIMEOUT};
use crate::sim::Plan;
use crate::time::{Duration, Instant};
use crate::trace::model::{AnswerTo, RecordedAnswer, RecordedCall, Reply};
use crate::trace::redact::RedactionRules;
use crate::upstream::{KeyDialect, Says, Script, ScriptedAnswer};

/// Answers that one fixture takes over.
const ANSWERS_MAX: usize = 20;

/// The call of this reference.
///
/// # Errors
/// An input that cannot be read, or has no such call.
pub fn call(
    input: &str,
    reference: &str,
    reading: &Reading,
    redaction: &RedactionRules,
    plan: &Plan,
) -> Result<RecordedCall, Failure> {
    let mapping = reading.mapping()?;
    let opened = inputs::trace(input, mapping.as_ref())?;
    let writes = |tool: &str| plan.facts(tool).access == Access::Write;
    let mut found = None;
    each_call(0, opened, reading.options(), redaction, &writes, |closed| {
        if found.is_none() {
            found = Some(closed.into_call()).filter(|call| call.reference() == reference);
        }
    })?;
    found.ok_or_else(|| {
        Failure::said(format!("there is no call `{reference}` in {input}"))
            .next(format!("playproof mine {}", crate::report::text::shell_word(input)))
    })
}

/// A fixture in which the upstream answers as it is recorded to have done.
pub fn fixture(call: &RecordedCall, title: String, playbook: &str, plan: &Plan) -> Fixture {
    let facts = plan.facts(call.tool());
    let tools = facts.declared.then(|| FixtureTool {
        pattern: call.tool().to_owned(),
        writes: facts.access == Access::Write,
        idempotent: facts.idempotent,
        repeatable: facts.repeatable,
        timeout: (facts.timeout != DEFAULT_TIMEOUT).then_some(facts.timeout),
    });
    let evidence = call.evidence().and_then(|refs| serde_json::from_str::<Vec<String>>(refs).ok());
    let call = FixtureCall {
        name: "call".to_owned(),
        tool: call.tool().to_owned(),
        args: arguments(call),
        key: call.key().map(str::to_owned),
        token: call.token().map(str::to_owned),
        evidence: evidence.unwrap_or_default(),
        at: Instant::ZERO,
        timeout: call.timeout.map(written),
        script: script(call),
    };
    Fixture {
        title,
        playbooks: vec![playbook.to_owned()],
        calls: vec![call],
        keys: KeyDialect::default(),
        before: Vec::new(),
        tools: tools.into_iter().collect(),
        expect: std::collections::BTreeMap::new(),
    }
}

/// The arguments, where they are a map: fixtures know no others.
fn arguments(call: &RecordedCall) -> String {
    let read = call.args().and_then(|args| serde_json::from_str::<serde_json::Value>(args).ok());
    read.filter(serde_json::Value::is_object).map_or_else(|| "{}".to_owned(), |args| args.to_string())
}

fn script(call: &RecordedCall) -> Script {
    let of = |to: AnswerTo| -> Vec<ScriptedAnswer> {
        let answers = call.answers.iter().filter(|answer| answer.to == to).take(ANSWERS_MAX);
        let mut before = call.at;
        answers
            .map(|answer| {
                let latency = latency(answer, before);
                before = answer.at;
                ScriptedAnswer { says: says(&answer.reply), latency, applied: None }
            })
            .collect()
    };
    Script { attempts: of(AnswerTo::Attempt), refresh: of(AnswerTo::Refresh), reversal: of(AnswerTo::Reversal) }
}

fn says(reply: &Reply) -> Says {
    match reply {
        Reply::Ok => Says::Ok,
        Reply::Failed(error) => Says::Failed(error.clone()),
    }
}

/// From the request to the answer, where the recording says both.
fn latency(answer: &RecordedAnswer, before: Option<Instant>) -> Duration {
    let start = answer.started.or(before);
    match (start, answer.at) {
        (Some(start), Some(end)) => written(end.since(start)),
        _ => Duration::ZERO,
    }
}

/// As a fixture can say it: whole milliseconds, at most a day.
fn written(span: Duration) -> Duration {
    Duration::from_millis(span.as_millis().min(86_400_000))
}
