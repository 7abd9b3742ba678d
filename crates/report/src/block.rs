//! One call on a page: its findings, the recording beside each playbook, and the end of each.

use std::borrow::Cow;

use super::findings::{self, About};
use super::style::Palette;
use super::text;
use super::timeline::{self, TimelineLine, Tone};
use super::view::{CallView, RunView};
use playproof_analysis::explain::ProvedEffects;
use playproof_analysis::recorded::Arguments;
use playproof_engine::call::{AnswerTo, RecordedCall, Reply};
use playproof_engine::event::{
    EffectClaim, Finding, FindingBy, FindingKind, Intent, IntentBalance, LedgerKind, Outcome, OutcomeKind, Provenance,
};
use playproof_engine::ids::StepId;
use playproof_engine::time::Duration;
use playproof_intake::origin::Origin;

/// The least width of a column; narrower ones are stacked.
const COLUMN_MIN: usize = 34;

/// The blanks between columns.
const GAP: usize = 3;

/// The indent of all lines except the title.
const INDENT: usize = 3;

/// The style of a block.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The width in columns.
    pub width: usize,
    /// The colours.
    pub palette: Palette,
    /// How much of the arguments is shown.
    pub arguments: Arguments,
}

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

/// The block of one call, or of several with the same course, with its `number`.
pub fn render(number: usize, view: &CallView<'_>, runs: &[RunView<'_>], alike: &Alike, style: Style) -> String {
    let mut lines = vec![title(number, view, alike.others.len() as u64 + alike.more, style)];
    lines.extend(found(view, runs, alike.several_intents, style));
    lines.extend(facts(view, style).into_iter().map(|line| indented(&line)));
    if !alike.others.is_empty() {
        lines.push(indented(&style.palette.faint(&named(alike, style.width - INDENT))));
    }
    if let Some(said) = uneventful(view, runs) {
        lines.extend(text::wrapped(&said, style.width - INDENT).iter().map(|line| indented(line)));
        return lines.join("\n");
    }
    lines.push(String::new());
    let departure = runs.first().and_then(|run| run.tally.off_tape);
    let mut columns = Vec::new();
    if view.recorded.is_some() {
        let lines = timeline::of_recording(view, departure);
        columns.push(Column { head: "recorded".to_owned(), lines, foot: Vec::new() });
    }
    columns.extend(runs.iter().map(|run| Column {
        head: text::escape_unprintable(&run.transcript.names.playbook).into_owned(),
        lines: timeline::of_run(view, run),
        foot: strong_first(foot(run, view.recorded), style.palette),
    }));
    lines.extend(beside(&columns, style).into_iter().map(|line| indented(&line)));
    lines.join("\n")
}

/// A recorded call that was answered with ok at once needs no timeline.
pub(crate) fn uneventful(view: &CallView<'_>, runs: &[RunView<'_>]) -> Option<String> {
    let [answer] = view.recorded?.answers.as_slice() else { return None };
    let calm = |run: &RunView<'_>| run.outcome().is_some_and(|outcome| outcome.kind == OutcomeKind::Succeeded);
    if answer.reply != Reply::Ok || !runs.iter().all(calm) {
        return None;
    }
    let took = answer.at.filter(|_| view.timed).map(|at| format!(" after {} ms", timeline::millis(at.since(view.at))));
    let playbooks = view.prevented.unwrap_or("no playbook changes that");
    Some(format!("succeeded at the first attempt{}; {playbooks}", took.unwrap_or_default()))
}

struct Column {
    head: String,
    lines: Vec<TimelineLine>,
    foot: Vec<(&'static str, String)>,
}

fn title(number: usize, view: &CallView<'_>, alike: u64, style: Style) -> String {
    let head = format!("{number}. {}  ", text::fitted(view.tool, 60));
    let times = if alike == 0 { String::new() } else { format!(" ×{}", text::count(alike + 1)) };
    let room = style.width.saturating_sub(text::width(&head) + text::width(&times) + 1);
    let reference = text::fitted(view.reference, room.clamp(12, 60));
    // The call's own id is optional: the reference names the call too.
    let id_room = room.saturating_sub(text::width(&reference) + 3).min(30);
    let id = view.id.filter(|id| !id.is_empty() && *id != view.reference && id_room >= 8);
    let id = id.map_or_else(String::new, |id| format!(" ({})", text::fitted(id, id_room)));
    let said = format!("{head}{reference}{id}{times} ");
    let rest = style.width.saturating_sub(text::width(&said));
    format!("{}{}", style.palette.strong(&said), style.palette.faint(&"─".repeat(rest)))
}

/// One line per finding.
fn found(view: &CallView<'_>, runs: &[RunView<'_>], several: bool, style: Style) -> Vec<String> {
    let line = |(finding, said): (Finding, String)| {
        let severity = findings::severity(finding.severity, style.palette);
        text::hanging(&format!("{severity}  "), &said, style.width - INDENT)
    };
    findings_in_words(view, runs, several).into_iter().flat_map(line).map(|line| indented(&line)).collect()
}

/// The findings in words, worst first; a finding of the recording is listed once, not once per playbook.
pub(crate) fn findings_in_words(view: &CallView<'_>, runs: &[RunView<'_>], several: bool) -> Vec<(Finding, String)> {
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

fn facts(view: &CallView<'_>, style: Style) -> Vec<String> {
    let mut lines = text::wrapped(&known(view, style.width / 2).join(" · "), style.width - INDENT);
    let arguments = arguments(view, style.arguments);
    lines.extend(arguments.map(|said| format!("args {}", text::fitted(&said, style.width - INDENT - 5))));
    lines.into_iter().map(|line| style.palette.faint(&line)).collect()
}

/// What is known of a call before any playbook looks at it; its place takes `room` columns at most.
pub(crate) fn known(view: &CallView<'_>, room: usize) -> Vec<String> {
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
pub(crate) fn arguments<'a>(view: &CallView<'a>, how: Arguments) -> Option<Cow<'a, str>> {
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

fn named(alike: &Alike, width: usize) -> String {
    text::fitted(&alike_in_words(alike), width).into_owned()
}

/// Which other calls have the same course.
pub(crate) fn alike_in_words(alike: &Alike) -> String {
    let shown: Vec<_> = alike.others.iter().map(|other| text::fitted(other, 40)).collect();
    let rest = if alike.more == 0 { String::new() } else { format!(" and {} more", text::count(alike.more)) };
    let which = if alike.is_mixed { "of other kinds, too many to list apart" } else { "the same way" };
    format!("{which}: {}{rest}", shown.join(", "))
}

/// The end of a playbook's run: outcome, effect claim and ledger, cost.
pub(crate) fn foot(run: &RunView<'_>, recorded: Option<&RecordedCall>) -> Vec<(&'static str, String)> {
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

/// The rows with the first of them, the outcome, made strong.
fn strong_first(mut rows: Vec<(&'static str, String)>, palette: Palette) -> Vec<(&'static str, String)> {
    if let Some((_, outcome)) = rows.first_mut() {
        *outcome = palette.strong(outcome);
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

/// The columns side by side, or stacked if they do not fit.
fn beside(columns: &[Column], style: Style) -> Vec<String> {
    let room = style.width.saturating_sub(INDENT);
    let count = columns.len().max(1);
    let width = room.saturating_sub(GAP * (count - 1)) / count;
    if width >= COLUMN_MIN || count == 1 {
        let width = width.min(72);
        let tops: Vec<Vec<String>> = columns.iter().map(|column| top(column, width, style.palette)).collect();
        let feet: Vec<Vec<String>> = columns.iter().map(|column| bottom(column, width)).collect();
        let mut lines = zipped(&tops, width);
        lines.extend(zipped(&feet, width));
        return lines;
    }
    let mut lines = Vec::new();
    for (n, column) in columns.iter().enumerate() {
        if n > 0 {
            lines.push(String::new());
        }
        lines.extend(top(column, room, style.palette));
        lines.extend(bottom(column, room));
    }
    lines
}

fn zipped(columns: &[Vec<String>], width: usize) -> Vec<String> {
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let line = |n: usize| {
        let cells = columns.iter().map(|column| {
            let cell = column.get(n).map_or("", String::as_str);
            format!("{cell}{}", " ".repeat((width + GAP).saturating_sub(text::width(cell))))
        });
        cells.collect::<String>().trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

fn top(column: &Column, width: usize, palette: Palette) -> Vec<String> {
    let stamps: Vec<String> = column.lines.iter().map(stamp).collect();
    let widest = stamps.iter().map(|stamp| text::width(stamp)).max().unwrap_or(0);
    let unit = if widest > 0 { " (ms)" } else { "" };
    let head = text::fitted(&column.head, width.saturating_sub(unit.len()));
    let mut lines = vec![format!("{}{}", palette.strong(&head), palette.faint(unit))];
    for (line, stamp) in column.lines.iter().zip(&stamps) {
        let mark = if line.departs { palette.doubtful("≠ ") } else { "  ".to_owned() };
        let gutter = match widest {
            0 => mark,
            _ => format!("{mark}{stamp:>widest$}  "),
        };
        let hanging = text::hanging(&gutter, &line.text, width);
        lines.extend(hanging.into_iter().map(|said| toned(line.tone, &said, palette)));
    }
    lines
}

/// When a line was, in milliseconds: `+200` if that is added delay, `?` if it is unknown.
pub(crate) fn stamp(line: &TimelineLine) -> String {
    match line.at {
        Some(at) if line.added => format!("+{}", timeline::millis(at)),
        Some(at) => timeline::millis(at),
        None if line.unknown => "?".to_owned(),
        None => String::new(),
    }
}

fn toned(tone: Tone, line: &str, palette: Palette) -> String {
    match tone {
        Tone::Failed => palette.failed(line),
        Tone::Stopped => palette.doubtful(line),
        Tone::Good => palette.good(line),
        Tone::Sent | Tone::Decided => line.to_owned(),
    }
}

fn bottom(column: &Column, width: usize) -> Vec<String> {
    column.foot.iter().flat_map(|(name, said)| text::hanging(&format!("  {name:<8} "), said, width)).collect()
}

fn indented(line: &str) -> String {
    if line.is_empty() { String::new() } else { format!("{}{line}", " ".repeat(INDENT)) }
}
