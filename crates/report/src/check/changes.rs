//! Single changes for people: the first decision that differs, divergences in columns, rows before and after.

use std::collections::{BTreeMap, BTreeSet};

use crate::changed_rows::changed_rows;
use crate::doc::{Block, Table, Text, Tone};
use crate::text;
use playproof_analysis::check::{CaseId, CaseResult, Cause, CheckReport, PlaybookRows};
use playproof_engine::time::Instant;
use playproof_formats::golden::{
    Class, Comparison, Divergence, DivergencePlace, EventLine, EventPair, FirstChange, PartChange, PrecedingVerdict,
    RowChange,
};
use playproof_formats::shell::Command;

use serde_json::Value;

/// The contents of a page.
#[derive(Clone, Copy, Debug)]
pub struct CheckPage<'a> {
    /// The result of the check.
    pub report: &'a CheckReport,
    /// The cause of each divergence.
    pub causes: &'a BTreeMap<CaseId, Cause>,
    /// The prefix of file names, relative to the reader's working directory; empty in reports.
    pub above: &'a str,
    /// Whether calls without a key are named by their argument values; otherwise by keys and types only.
    pub show_args: bool,
}

/// The side without a value.
const NOTHING: &str = "-";

/// The most events of a call side by side.
const EVENTS_MAX: usize = 200;

/// How much a class of divergence matters.
pub(crate) const fn class_tone(class: Class) -> Tone {
    match class {
        Class::EffectChanged | Class::GuardWeakened => Tone::Bad,
        Class::OutcomeChanged | Class::AttemptsChanged => Tone::Doubt,
        Class::TimingOnly | Class::Cosmetic => Tone::Soft,
    }
}

/// In what a result differs, except place and time; none for a result that needs its own page.
pub(super) fn in_words(result: &CaseResult) -> Option<String> {
    let comparison = result.comparison().filter(|_| result.contradictions.is_empty())?;
    let first = comparison.first.as_ref();
    let head = (&result.id.playbook, first.map(|first| (&first.golden, &first.run, &first.expected, &first.actual)));
    let mut fields: Vec<_> =
        comparison.divergences.iter().map(|d| (d.class, &d.field, &d.expected, &d.actual)).collect();
    fields.sort();
    Some(format!("{head:?}{fields:?}"))
}

/// What differs between two runs of a fixture: the first decision, the row behind it, every value, the events.
pub(crate) fn difference(
    comparison: &Comparison,
    cause: Option<&Cause>,
    show_args: bool,
    sides: [&'static str; 2],
) -> Vec<Block> {
    let mut blocks: Vec<Block> = comparison.first.iter().flat_map(|first| first_change(first, cause, sides)).collect();
    blocks.extend(cause.map(|cause| Block::Source { report: cause.report.clone(), said: comparison.headline() }));
    blocks.push(Block::Table(values(comparison, show_args, sides)));
    blocks.extend(events(comparison, sides));
    blocks
}

/// The first decision that differs, and its cause.
fn first_change(first: &FirstChange, cause: Option<&Cause>, sides: [&'static str; 2]) -> [Block; 2] {
    let side = |side: &Option<String>| side.clone().unwrap_or_else(|| NOTHING.to_owned());
    let said = Text::from("first difference: ").name(&first.call);
    let said = said.say(format!(" at {} ms", first.at.since(Instant::ZERO)));
    let compensation = cause.and_then(|cause| cause.compensation);
    let other = cause.and_then(|cause| cause.because.clone());
    let mut pairs = vec![(sides[0], side(&first.golden)), (sides[1], side(&first.run))];
    match (&first.expected, &first.actual) {
        (Some(before), Some(after)) if before != after => {
            pairs.extend([("was", because(before, None)), ("now", because(after, compensation))]);
        }
        _ if other.is_some() => {}
        (_, Some(after)) => pairs.push(("because", because(after, compensation))),
        (Some(before), None) => pairs.push(("was", because(before, None))),
        (None, None) => {}
    }
    pairs.extend(other.map(|other| ("because", other)));
    [Block::Para(said), Block::pairs(pairs.into_iter().map(|(label, said)| (label, Text::code(said))))]
}

/// The first decision that differs, in a line.
pub(super) fn first_words(comparison: &Comparison) -> Option<String> {
    let first = comparison.first.as_ref()?;
    let words = |side: &Option<String>| side.as_ref().map_or_else(|| "nothing".to_owned(), |side| format!("`{side}`"));
    Some(format!("{}: {} in the golden, {} in the run", first.call, words(&first.golden), words(&first.run)))
}

/// What changed in a row, in a line.
pub(super) fn row_words(change: &RowChange) -> String {
    let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".to_owned());
    let part = |part: PartChange| {
        let path = if part.path.is_empty() { String::new() } else { format!("{} ", part.path) };
        format!("{path}was {}, is {}", side(&part.before), side(&part.after))
    };
    let parts: Vec<String> = change.parts().into_iter().map(part).collect();
    format!("{}: {}", change.name, parts.join("; "))
}

/// The verdict before a decision, in words.
fn because(because: &PrecedingVerdict, compensation: Option<&str>) -> String {
    let rule = match because.rule.as_str() {
        "otherwise" => "no rule matched".to_owned(),
        rule => format!("rule `{rule}`"),
    };
    let then = compensation.map(|then| format!(", answered with `{then}`")).unwrap_or_default();
    format!("{rule}: verdict `{}`{then}", because.verdict)
}

/// Every value that differs, worst first: what it is and where, then both sides.
fn values(comparison: &Comparison, show_args: bool, sides: [&str; 2]) -> Table {
    let mut table = Table::named(["what differs", sides[0], sides[1]]);
    let mut seen = BTreeSet::new();
    for one in comparison.divergences.iter().filter(|one| one.field != "event") {
        let (place, field) = place(one, show_args);
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| NOTHING.to_owned());
        let sides = [side(&one.expected), side(&one.actual)];
        // The end of a call and its last event both contain the outcome.
        if seen.insert((one.class, place.clone(), field.clone(), sides.clone())) {
            let what = Text::new(class_tone(one.class), one.class.words()).say("  ").name(format!("{place}: {field}"));
            let [before, after] = sides.map(Text::code);
            table.row([what, before, after]);
        }
    }
    table
}

/// The events of both runs side by side, call by call, in ms; those that differ are marked.
pub fn events(comparison: &Comparison, sides: [&str; 2]) -> Option<Block> {
    let mut table = Table::named(sides);
    let side = |event: &Option<EventLine>| {
        let words = |event: &EventLine| format!("{} {}", event.at.since(Instant::ZERO), event.words());
        Text::code(event.as_ref().map_or_else(|| NOTHING.to_owned(), words))
    };
    let mut last = None;
    for EventPair { expected, actual, class } in comparison.pairs.iter().take(EVENTS_MAX) {
        let call = expected.as_ref().or(actual.as_ref()).map(|event| event.call.as_str());
        if last != call {
            table.head(Text::code(call.unwrap_or_default()));
        }
        last = call;
        let tone = match class.map(class_tone) {
            Some(Tone::Soft) => Tone::Doubt,
            tone => tone.unwrap_or_default(),
        };
        table.toned(tone, [side(expected), side(actual)]);
    }
    let mut inside = vec![Block::Table(table)];
    if let Some(more) = comparison.pairs.len().checked_sub(EVENTS_MAX).filter(|more| *more > 0) {
        inside.push(Block::Para(Text::new(Tone::Soft, format!("and {} more", text::count(more as u64)))));
    }
    let title = Text::from("events of each call side by side, in ms");
    (!comparison.pairs.is_empty()).then_some(Block::Fold { title, inside, is_shut: false })
}

/// The place and the field of a divergence, in two columns.
fn place(divergence: &Divergence, show_args: bool) -> (String, String) {
    let field = divergence.field.clone();
    match &divergence.place {
        DivergencePlace::Call(call) | DivergencePlace::Event(call, _) => (call.clone(), field),
        DivergencePlace::Ledger(intent) if show_args => ("ledger".to_owned(), intent.clone()),
        DivergencePlace::Ledger(intent) => ("ledger".to_owned(), without_values(intent)),
        DivergencePlace::Finding(call) => (call.clone(), format!("finding {field}")),
        DivergencePlace::Whole => ("golden".to_owned(), field),
    }
}

/// An intent that is named by its arguments, with keys and types only: `pay{amount: number}`.
fn without_values(intent: &str) -> String {
    let Some((tool, args)) = intent.find('{').map(|at| intent.split_at(at)) else { return intent.to_owned() };
    let Ok(Value::Object(args)) = serde_json::from_str(args) else { return format!("{tool}{{...}}") };
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "map",
    };
    let parts: Vec<String> = args.iter().map(|(key, value)| format!("{key}: {}", kind(value))).collect();
    format!("{tool}{{{}}}", parts.join(", "))
}

/// The rows of a playbook that differ from the approved ones.
pub fn rows(rows: &PlaybookRows) -> Block {
    let name = Text::code(&rows.playbook).toned(Tone::Strong);
    if !rows.is_used {
        return Block::Para(name.say(": no fixture uses this playbook, but the lock still has its rows"));
    }
    let count = text::counted(rows.changes.len() as u64, "row", "rows");
    if !rows.is_locked {
        return Block::Para(name.say(format!(": this playbook is not approved yet ({count})")));
    }
    let wait = text::counted(rows.changes.len() as u64, "edited row waits", "edited rows wait");
    let title = name.say(": ").and(Tone::Doubt, format!("{wait} to be accepted"));
    Block::card(title, vec![changed_rows(&rows.changes, usize::MAX)])
}

/// The same, with the command that approves them.
pub(super) fn rows_to_approve(rows: &PlaybookRows) -> Block {
    let accept = Command::new("playproof accept").name(&rows.playbook).and("--reason '...'");
    match self::rows(rows) {
        Block::Card { title, mut inside, .. } => {
            inside.push(Block::Para(Text::from("if the changes are intended: ").name(accept.to_string())));
            Block::card(title, inside)
        }
        said => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_shown_as_keys_and_types() {
        let intent = r#"pay{"amount":4200,"card":"4111","tags":["x"],"to":{"iban":"DE"}}"#;
        assert_eq!(without_values(intent), "pay{amount: number, card: text, tags: list, to: map}");
        assert_eq!(without_values("pay/ik_91"), "pay/ik_91");
        assert_eq!(without_values("pay{broken"), "pay{...}");
    }
}
