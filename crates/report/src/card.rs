//! One call on a page: its findings, the recording beside each playbook, and the end of each.

use std::borrow::Cow;

use super::deciding::deciding;
use super::doc::{Block, Pair, Side, Text, TimedLine, Tone};
use super::explain::{CallsBeside, EqualCall, WorstFinding, what_went_wrong};
use super::findings::{self, About};
use super::summary::RowOf;
use super::text;
use super::timeline::{self, TimelineLine};
use super::view::{CallView, RunView};
use playproof_analysis::explain::ProvedEffects;
use playproof_analysis::recorded::Arguments;
use playproof_analysis::replay::MessageTemplates;
use playproof_engine::call::{AnswerTo, RecordedCall, Reply};
use playproof_engine::event::{
    Decision, EffectClaim, Finding, FindingBy, FindingId, FindingKind, Intent, IntentBalance, LedgerKind, Outcome,
    OutcomeKind, Provenance, Status,
};
use playproof_engine::ids::StepId;
use playproof_engine::time::Duration;
use playproof_formats::playbook::Loaded;
use playproof_intake::origin::Origin;

/// The most columns of the place of a call.
const PLACE: usize = 60;

/// The most columns of a name in a title.
const NAME: usize = 60;

/// The most characters of the arguments.
const ARGUMENTS: usize = 1_000;

/// Calls with the same course as the shown one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alike {
    /// The references of a few.
    pub others: Vec<String>,
    /// The number of further ones.
    pub more: u64,
    /// Whether they have several intents.
    pub several_intents: bool,
    /// Whether they are of other kinds, which are too many to list apart.
    pub is_mixed: bool,
}

/// What is shown of a call.
#[derive(Clone, Copy)]
pub struct CallShown<'a> {
    /// Its number on the page.
    pub number: usize,
    /// The call.
    pub view: &'a CallView<'a>,
    /// What became of it, by playbook.
    pub runs: &'a [RunView<'a>],
    /// The calls with the same course.
    pub alike: &'a Alike,
    /// An equal call before it, if one is on the page.
    pub before: Option<EqualCall<'a>>,
    /// How much of the arguments is shown.
    pub arguments: Arguments,
    /// The playbooks with the places of their rows, in the order of `runs`.
    pub playbooks: &'a [&'a Loaded],
}

/// A call of a page, with what the summary counts it under.
#[derive(Clone, Debug)]
pub struct CallCard {
    /// The call.
    pub block: Block,
    /// Its findings, failures, verdicts and queues.
    pub of: Vec<RowOf>,
    /// What went wrong, if anything did.
    pub wrong: Option<WorstFinding>,
    /// The number of calls with this course.
    pub calls: u64,
}

/// The name by which links find a call.
pub(crate) fn anchor(number: usize) -> String {
    format!("call-{number}")
}

/// The call, or several with the same course.
pub fn card(shown: &CallShown<'_>) -> CallCard {
    let CallShown { number, view, runs, alike, before, .. } = *shown;
    let wrong = what_went_wrong(view, runs, CallsBeside { several: alike.several_intents, before });
    let calls = alike.others.len() as u64 + alike.more + 1;
    let mut inside: Vec<Block> =
        wrong.iter().map(|wrong| Block::Room(vec![Block::Para(Text::new(Tone::Strong, &*wrong.said))])).collect();
    let found = findings_in_words(view, runs, alike.several_intents);
    let is_twice = found.iter().any(|(finding, _)| may_be_twice(finding));
    let severity = |finding: &Finding| Text::new(findings::tone(finding.severity), finding.severity.as_str());
    inside.push(Block::pairs(found.iter().map(|(finding, said)| (severity(finding), said.as_str()))));
    let before = before.filter(|_| is_twice).map(|before| format!("the same request before: {}", before.reference));
    inside.extend(before.map(Block::para));
    inside.extend(facts(shown).into_iter().map(Block::Para));
    inside.push(match uneventful(view, runs) {
        Some(said) => Block::para(said),
        None => Block::Beside(sides(shown)),
    });
    let block = Block::Card { id: anchor(number), title: title(shown, calls), inside };
    CallCard { block, of: counted_under(view, runs), wrong, calls }
}

/// Whether the effect of a call may be there twice: another call asks for the same.
fn may_be_twice(finding: &Finding) -> bool {
    finding.by == FindingBy::Recorded
        && [FindingId::DuplicateEffect, FindingId::PossibleDuplicateEffect].contains(&finding.id)
}

/// What a call is counted under.
fn counted_under(view: &CallView<'_>, runs: &[RunView<'_>]) -> Vec<RowOf> {
    let (mut all, mut templates) = (Vec::new(), MessageTemplates::default());
    for run in runs {
        let transcript = &run.transcript;
        all.extend(run.findings.iter().map(|finding| RowOf::Finding(finding.kind())));
        let mut last = None;
        for (_, decision) in run.decisions() {
            match decision {
                Decision::AttemptFinished { status: Status::Failed(error), .. } => last = error,
                Decision::FailureClassified { verdict, .. } => {
                    let verdict = transcript.names.verdict(verdict).to_owned();
                    let error = last.and_then(|id| transcript.error(id));
                    let message = error.and_then(|error| error.message.as_deref()).unwrap_or("");
                    all.push(RowOf::Failure(verdict.clone(), templates.template(message, view.args).to_owned()));
                    all.push(RowOf::Verdict(verdict));
                }
                Decision::Outcome(Outcome { kind: OutcomeKind::Escalated(queue), .. }) => {
                    all.push(RowOf::Queue(transcript.names.queue(queue).to_owned()));
                }
                _ => {}
            }
        }
    }
    all
}

/// A recorded call that was answered with ok at once needs no timeline.
fn uneventful(view: &CallView<'_>, runs: &[RunView<'_>]) -> Option<String> {
    let [answer] = view.recorded?.answers.as_slice() else { return None };
    let calm = |run: &RunView<'_>| run.outcome().is_some_and(|outcome| outcome.kind == OutcomeKind::Succeeded);
    if answer.reply != Reply::Ok || !runs.iter().all(calm) {
        return None;
    }
    let took = answer.at.filter(|_| view.timed).map(|at| format!(" after {} ms", timeline::millis(at.since(view.at))));
    let playbooks = view.prevented.unwrap_or("no playbook changes that");
    Some(format!("succeeded at the first attempt{}; {playbooks}", took.unwrap_or_default()))
}

fn title(shown: &CallShown<'_>, calls: u64) -> Text {
    let CallShown { number, view, .. } = *shown;
    let title = Text::from(format!("{number}. ")).name(text::fitted(view.tool, NAME)).say("  ");
    let title = title.name(text::fitted(view.reference, NAME));
    // The call's own id is optional: the reference names the call too.
    let id = view.id.filter(|id| !id.is_empty() && *id != view.reference);
    let title = id.map_or(title.clone(), |id| title.say(format!(" ({})", text::fitted(id, NAME / 2))));
    if calls > 1 { title.say(" ").and(Tone::Strong, format!("×{}", text::count(calls))) } else { title }
}

/// The findings in words, worst first; a finding of the recording is listed once, not once per playbook.
fn findings_in_words(view: &CallView<'_>, runs: &[RunView<'_>], several: bool) -> Vec<(Finding, String)> {
    let mut said: Vec<(Finding, String)> = Vec::new();
    for run in runs {
        for finding in &run.findings {
            let known = said.iter_mut().find(|(known, _)| key(known) == key(finding));
            let names = text::escape_unprintable(&run.transcript.names.playbook);
            match known {
                Some(_) if finding.by == FindingBy::Recorded => {}
                Some((_, by)) => *by += &format!(" and {names}"),
                None => said.push((*finding, findings::by(finding, &names))),
            }
        }
    }
    said.sort_by_key(|(finding, _)| finding.kind());
    let without_run = view.recorded.is_some() && view.run.is_none();
    let key_ignored = view.key.is_some() && runs.iter().any(|run| matches!(run.intent, Some(Intent::Unkeyed(..))));
    let keyed = view.key.is_some() && !key_ignored;
    let about = About { several, keyed, key_ignored, declared: view.declared, without_run, doubt: None };
    let in_words = |(finding, by): (Finding, String)| {
        let sentence = findings::sentence(finding.id, finding.count, About { doubt: finding.doubt, ..about });
        let advice = findings::advice(&finding).unwrap_or_default();
        let other = view.other_place(&finding).map(|place| format!(" (the other call: {place})")).unwrap_or_default();
        (finding, format!("{}: {sentence}{other}, {by}{advice}", finding.id.as_str()))
    };
    said.into_iter().map(in_words).collect()
}

/// How a call went under each playbook: its timeline, its end and its findings, whatever the counts of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course(Vec<CourseOfRun>);

type CourseOfRun = (Vec<TimelineLine>, Vec<(&'static str, String)>, Vec<(FindingKind, FindingBy)>);

/// How a call went.
pub fn course(view: &CallView<'_>, runs: &[RunView<'_>]) -> Course {
    let of = |run: &RunView<'_>| {
        let findings = run.findings.iter().map(|finding| (finding.kind(), finding.by)).collect();
        (timeline::of_run(view, run), foot(run, view.recorded), findings)
    };
    Course(runs.iter().map(of).collect())
}

fn key(finding: &Finding) -> (FindingKind, FindingBy, u32) {
    (finding.kind(), finding.by, finding.count)
}

/// What is known of the call, its arguments, and the calls that went the same way.
fn facts(shown: &CallShown<'_>) -> Vec<Text> {
    let CallShown { view, alike, arguments, .. } = *shown;
    let soft = |said: &str| Text::new(Tone::Soft, said);
    let mut said = vec![soft(&known(view, PLACE).join(" · "))];
    let args = self::arguments(view, arguments);
    said.extend(args.map(|args| soft("args ").join(Text::code(text::fitted(&args, ARGUMENTS)).toned(Tone::Soft))));
    said.extend((!alike.others.is_empty()).then(|| soft(&alike_in_words(alike))));
    said
}

/// The recording, and what each playbook made of it.
fn sides(shown: &CallShown<'_>) -> Vec<Side> {
    let CallShown { view, runs, playbooks, .. } = *shown;
    let departure = runs.first().and_then(|run| run.tally.off_tape);
    let lines = |lines: Vec<TimelineLine>| lines.into_iter().map(TimedLine::from).collect();
    let recorded = view.recorded.map(|_| Side {
        title: "recorded".to_owned(),
        lines: lines(timeline::of_recording(view, departure)),
        end: Vec::new(),
        below: Vec::new(),
    });
    let made = runs.iter().enumerate().map(|(n, run)| Side {
        title: run.transcript.names.playbook.to_string(),
        lines: lines(timeline::with_ledger(view, run, timeline::of_run(view, run))),
        end: end(run, view.recorded),
        below: playbooks.get(n).map(|loaded| Block::Room(deciding(run, view.tool, loaded))).into_iter().collect(),
    });
    recorded.into_iter().chain(made).collect()
}

/// The end of a run, the outcome strong.
fn end(run: &RunView<'_>, recorded: Option<&RecordedCall>) -> Vec<Pair> {
    let tone = |n: usize| if n == 0 { Tone::Strong } else { Tone::Plain };
    let row = |(n, (label, said)): (usize, (&'static str, String))| Pair::from((label, Text::new(tone(n), said)));
    foot(run, recorded).into_iter().enumerate().map(row).collect()
}

/// What is known of a call before any playbook looks at it; its place takes `room` columns at most.
fn known(view: &CallView<'_>, room: usize) -> Vec<String> {
    let mut parts = vec![view.facts.to_owned()];
    parts.push(match view.key {
        Some(key) => format!("key {}", text::fitted(key, 40)),
        None => "no idempotency key".to_owned(),
    });
    if let Some(token) = view.token {
        parts.push(format!("reversal token {}", text::fitted(token, 30)));
    }
    if let (Some(input), Some(line)) = (view.input, view.line) {
        let place = Origin { line, path: view.path };
        let room = room.saturating_sub(Origin { line, path: None }.to_string().len());
        parts.push(format!("{}{place}", text::fitted_path(input, room)));
    }
    parts
}

/// The arguments of a call; none if there are none.
fn arguments<'a>(view: &CallView<'a>, how: Arguments) -> Option<Cow<'a, str>> {
    let args = view.args.filter(|args| !args.is_empty() && *args != "{}")?;
    Some(match how {
        Arguments::Values => text::readable_json(args),
        Arguments::Types => shape(args).into(),
    })
}

/// The keys and types of arguments: `{amount: number, order: string}`.
pub fn shape(args: &str) -> String {
    use serde_json::Value;
    let word = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    match serde_json::from_str::<Value>(args) {
        Ok(Value::Object(fields)) => {
            let parts: Vec<String> = fields.iter().map(|(key, value)| format!("{key}: {}", word(value))).collect();
            format!("{{{}}}", parts.join(", "))
        }
        Ok(value) => word(&value).to_owned(),
        Err(_) => "not JSON".to_owned(),
    }
}

/// Which other calls have the same course.
fn alike_in_words(alike: &Alike) -> String {
    let shown: Vec<_> = alike.others.iter().map(|other| text::fitted(other, 40)).collect();
    let rest = if alike.more == 0 { String::new() } else { format!(" and {} more", text::count(alike.more)) };
    let which = if alike.is_mixed { "of other kinds, too many to list apart" } else { "the same way" };
    format!("{which}: {}{rest}", shown.join(", "))
}

/// The end of a playbook's run: outcome, effect claim and ledger, cost.
fn foot(run: &RunView<'_>, recorded: Option<&RecordedCall>) -> Vec<(&'static str, String)> {
    let Some(outcome) = run.outcome() else { return Vec::new() };
    let mut rows = vec![
        ("outcome", timeline::outcome(&run.transcript, outcome.kind)),
        ("effect", effect(outcome.claim, run, recorded)),
    ];
    if let Some(steps) = run.transcript.steps_of(run.call) {
        let names = |ids: &[StepId]| {
            let names: Vec<&str> = ids.iter().map(|id| run.transcript.names.step(steps.action, *id)).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let failed = steps.failed.map_or_else(String::new, |failed| format!("; ended by {}", names(&[failed])));
        let skipped =
            if steps.skipped.is_empty() { String::new() } else { format!("; skipped: {}", names(&steps.skipped)) };
        rows.push(("steps", format!("done: {}{failed}{skipped}", names(&steps.completed))));
    }
    if let Some(valid) = run.transcript.valid_after(run.call) {
        let next = timeline::actions(&run.transcript, &valid.next);
        let withheld = match valid.withheld.as_slice() {
            [] => String::new(),
            withheld => format!("; withheld: {}", timeline::actions(&run.transcript, withheld)),
        };
        rows.push(("next", format!("{next}{withheld}")));
    }
    if run.added_delay() > Duration::ZERO {
        rows.push(("delay", format!("{} ms added by the playbook", timeline::millis(run.added_delay()))));
    }
    if run.tally.tape_left > 0 {
        let left = text::counted(run.tally.tape_left.into(), "recorded answer", "recorded answers");
        rows.push(("unused", left));
    }
    rows
}

/// The effect claim, and what the ledger holds.
fn effect(claim: EffectClaim, run: &RunView<'_>, recorded: Option<&RecordedCall>) -> String {
    let claims = format!("claims {}", claim.as_str());
    if run.transcript.steps_of(run.call).is_some() {
        return format!("{claims}, by its steps");
    }
    let is_of_steps = |call: &RecordedCall| run.transcript.names.has_steps(call.tool()) && call.step().is_none();
    if recorded.is_some_and(is_of_steps) {
        return claims;
    }
    match (run.intent, recorded) {
        // An effect of its intent is another call's.
        (_, None) if run.outcome().is_some_and(sent_nothing) => format!("{claims}; nothing was sent"),
        (None, _) => format!("{claims} (a read)"),
        (Some(_), Some(recorded)) if ProvedEffects::of(recorded).all_taken_back() && run.truth().modelled == 0 => {
            format!("{claims}; taken back")
        }
        (Some(_), Some(recorded)) if ProvedEffects::of(recorded).may_be_taken_back() && run.truth().modelled == 0 => {
            format!("{claims}; made, and may have been taken back")
        }
        (Some(_), Some(recorded)) => {
            let unused = unused_ok(run, recorded);
            match run.truth() == IntentBalance::default() && unused == 0 && has_unused_failure(run, recorded) {
                true => format!("{claims}; the recording does not show it"),
                false => format!("{claims}; {}", proved(run.truth(), unused)),
            }
        }
        (Some(_), None) => format!("{claims}; {}", truth(run.truth())),
    }
}

/// Whether the call was sent nowhere, and got no result of another call either.
const fn sent_nothing(outcome: &Outcome) -> bool {
    outcome.attempts == 0 && !matches!(outcome.kind, OutcomeKind::Joined { .. } | OutcomeKind::Cached { .. })
}

/// The number of recorded answers that prove an effect and that the playbook did not use.
fn unused_ok(run: &RunView<'_>, recorded: &RecordedCall) -> u32 {
    let ok = recorded.answers.iter().filter(|answer| answer.to == AnswerTo::Attempt && answer.reply == Reply::Ok);
    let used = run.transcript.ledger.iter().filter(|entry| {
        entry.kind == LedgerKind::Applied && matches!(entry.provenance, Provenance::Recorded | Provenance::Inferred)
    });
    u32::try_from(ok.count().saturating_sub(used.count())).unwrap_or(u32::MAX)
}

/// Whether the recording has a failed attempt that the playbook did not send: it may have acted.
fn has_unused_failure(run: &RunView<'_>, recorded: &RecordedCall) -> bool {
    let sent = run.outcome().map_or(0, |outcome| outcome.attempts);
    recorded.attempts().any(|(attempt, answer)| attempt.get() > sent && answer.reply != Reply::Ok)
}

/// What a recording proves of one call, in words; other calls may have the same intent. `unused` is the number of
/// recorded answers that prove an effect and that the playbook did not use.
fn proved(truth: IntentBalance, unused: u32) -> String {
    let modelled = truth.modelled.min(truth.effects);
    match (truth.effects - modelled, modelled, truth.unobserved) {
        (0, _, _) if unused > 0 => "an unused recorded answer proves one".to_owned(),
        (0, 0, 0) if truth.reversed_as_modelled > 0 => "taken back, as modelled".to_owned(),
        (0, 0, 0) if truth.reversed > 0 => "taken back".to_owned(),
        (0, 0, 0) => "nothing else is recorded".to_owned(),
        (0, 0, _) => "the recording does not show it".to_owned(),
        (0, 1, _) => "one effect of this call is modelled, none is proved".to_owned(),
        (0, many, _) => format!("{many} effects of this call are modelled, none is proved"),
        (1, 0, _) => "one effect of this call is proved".to_owned(),
        (many, 0, _) => format!("{many} effects of this call are proved"),
        (proved, modelled, _) => {
            format!(
                "{} of this call proved, {modelled} more modelled",
                text::counted(proved.into(), "effect", "effects")
            )
        }
    }
}

/// What the ledger holds, in words.
pub fn truth(truth: IntentBalance) -> String {
    let mut said = match (truth.effects, truth.unobserved) {
        (0, 0) => "no effect upstream".to_owned(),
        (0, _) => "upstream not observed".to_owned(),
        (effects, 0) => format!("{} upstream", text::counted(effects.into(), "effect", "effects")),
        (effects, _) => format!("{} upstream at least", text::counted(effects.into(), "effect", "effects")),
    };
    if truth.existing > 0 {
        let which = if truth.effects == 1 { String::new() } else { format!("{} of them ", truth.existing) };
        said += &format!(", {which}made before this call");
    }
    let modelled = truth.modelled.min(truth.effects);
    if modelled > 0 {
        said += &format!(", {modelled} of them modelled");
    }
    if truth.reversed > 0 {
        said += &format!(", {} taken back", truth.reversed);
    }
    said
}
