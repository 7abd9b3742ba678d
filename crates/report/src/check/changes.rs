//! Single changes for people: the first decision that differs, divergences in columns, rows before and after.

use std::collections::{BTreeMap, BTreeSet};

use crate::style::Palette;
use crate::table;
use crate::table::Align;
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
    /// The width in columns.
    pub width: usize,
    /// The colours.
    pub palette: Palette,
    /// The prefix of file names, relative to the reader's working directory; empty in reports.
    pub above: &'a str,
    /// Whether calls without a key are named by their argument values; otherwise by keys and types only.
    pub show_args: bool,
}

/// The cell of a side without a value.
const NOTHING: &str = "-";

pub(super) fn class_word(class: Class, words: &str, palette: Palette) -> String {
    match class {
        Class::EffectChanged | Class::GuardWeakened => palette.bad(words),
        Class::OutcomeChanged | Class::AttemptsChanged => palette.doubtful(words),
        Class::TimingOnly | Class::Cosmetic => palette.strong(words),
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

/// The first decision that differs, in golden and run, and its cause.
pub fn first_change(first: &FirstChange, cause: Option<&Cause>, width: usize, palette: Palette) -> Vec<String> {
    let side = |side: &Option<String>| {
        side.as_deref().map_or(NOTHING.to_owned(), |side| text::escape_unprintable(side).into_owned())
    };
    let at = first.at.since(Instant::ZERO);
    let mut lines =
        vec![format!("  first difference: {} at {at} ms", palette.strong(&text::escape_unprintable(&first.call)))];
    let mut say = |head: &str, said: &str, strong: bool| {
        for (n, line) in text::broken(said, width.saturating_sub(12)).into_iter().enumerate() {
            let head = if n == 0 { head } else { "" };
            lines.push(format!("    {head:<8}{}", if strong { palette.strong(&line) } else { line }));
        }
    };
    say("golden", &side(&first.golden), false);
    say("run", &side(&first.run), true);
    let compensation = cause.and_then(|cause| cause.compensation);
    let other = cause.and_then(|cause| cause.because.as_deref());
    match (&first.expected, &first.actual) {
        (Some(before), Some(after)) if before != after => {
            say("was", &because(before, None), false);
            say("now", &because(after, compensation), false);
            other.iter().for_each(|other| say("because", other, false));
        }
        _ if other.is_some() => say("because", other.unwrap_or_default(), false),
        (_, Some(after)) => say("because", &because(after, compensation), false),
        (Some(before), None) => say("was", &because(before, None), false),
        (None, None) => {}
    }
    lines
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
pub(crate) fn because(because: &PrecedingVerdict, compensation: Option<&str>) -> String {
    let rule = match because.rule.as_str() {
        "otherwise" => "no rule matched".to_owned(),
        rule => format!("rule `{}`", text::escape_unprintable(rule)),
    };
    let then = compensation.map(|then| format!(", answered with `{then}`")).unwrap_or_default();
    format!("{rule}: verdict `{}`{then}", text::escape_unprintable(&because.verdict))
}

/// Everything that differs: fields in columns, worst first, then the events that only one side has.
pub fn divergences(comparison: &Comparison, shown: &CheckPage<'_>) -> String {
    let is_event = |divergence: &&Divergence| divergence.field == "event";
    let fields: Vec<&Divergence> = comparison.divergences.iter().filter(|one| !is_event(one)).collect();
    let mut parts = Vec::new();
    if !fields.is_empty() {
        parts.push(columns(&fields, shown));
    }
    if comparison.divergences.iter().any(|one| is_event(&one)) {
        parts.push(one_sided(comparison, shown.width, shown.palette));
    }
    parts.join("\n")
}

/// The events that only one side has, in order: `-` for the golden, `+` for the run.
fn one_sided(comparison: &Comparison, width: usize, palette: Palette) -> String {
    let mut lines = vec![palette.faint("    events (- only in the golden, + only in the run)")];
    for pair in &comparison.pairs {
        let same = pair.expected.as_ref().map(|event| event.kind) == pair.actual.as_ref().map(|event| event.kind);
        let Some(class) = pair.class.filter(|_| !same) else { continue };
        for (mark, event) in [('-', &pair.expected), ('+', &pair.actual)] {
            let Some(event) = event else { continue };
            let at = event.at.since(Instant::ZERO).to_string();
            let line = format!("{mark} {at:>6}  {}  {}", event.call, event.words());
            let fitted = text::fitted(&line, width.saturating_sub(4)).into_owned();
            lines.push(format!("    {}", class_word(class, &fitted, palette)));
        }
    }
    lines.join("\n")
}

fn columns(divergences: &[&Divergence], shown: &CheckPage<'_>) -> String {
    let CheckPage { width, palette, show_args, .. } = *shown;
    let header = ["", "where", "field", "golden", "run"].map(str::to_owned);
    let mut seen = BTreeSet::new();
    // The end of a call and its last event both contain the outcome.
    let rows = divergences.iter().map(|one| divergence(one, show_args)).filter(|row| seen.insert(row.clone()));
    let rows: Vec<Vec<String>> = rows.collect();
    let drawn = table::render(&header, &rows, &[Align::Left; 5], width.saturating_sub(4));
    let colour = |line: &str| {
        Class::ALL.iter().find(|class| line.starts_with(class.words())).map_or_else(
            || line.to_owned(),
            |class| line.replacen(class.words(), &class_word(*class, class.words(), palette), 1),
        )
    };
    let mut lines = drawn.lines();
    let mut out: Vec<String> = lines.next().map(|head| format!("    {}", palette.faint(head))).into_iter().collect();
    out.extend(lines.map(|line| format!("    {}", colour(line))));
    out.join("\n")
}

/// A divergence in five columns: class, where, field, golden, run.
pub(crate) fn divergence(divergence: &Divergence, show_args: bool) -> Vec<String> {
    let (place, field) = place(divergence, show_args);
    let side = |side: &Option<String>| {
        side.as_deref().map_or_else(|| NOTHING.to_owned(), |side| text::escape_unprintable(side).into_owned())
    };
    vec![divergence.class.words().to_owned(), place, field, side(&divergence.expected), side(&divergence.actual)]
}

/// The events of golden and run side by side, call by call; differences are marked.
pub fn events(comparison: &Comparison, width: usize, palette: Palette) -> String {
    let header = ["", "call", "golden", "run"].map(str::to_owned);
    let side = |side: &Option<EventLine>| {
        let words = |event: &EventLine| {
            format!("{:>6} {}", event.at.since(Instant::ZERO).to_string(), text::escape_unprintable(&event.words()))
        };
        side.as_ref().map_or_else(|| NOTHING.to_owned(), words)
    };
    let row = |pair: &EventPair| {
        let call = pair.expected.as_ref().or(pair.actual.as_ref()).map_or("", |event| &event.call);
        let mark = if pair.class.is_some() { "!" } else { "" };
        vec![mark.to_owned(), text::escape_unprintable(call).into_owned(), side(&pair.expected), side(&pair.actual)]
    };
    let rows: Vec<Vec<String>> = comparison.pairs.iter().map(row).collect();
    let drawn = table::render(&header, &rows, &[Align::Left; 4], width.saturating_sub(2));
    let line = |line: &str| match line.starts_with('!') {
        true => format!("  {}", palette.strong(line)),
        false => format!("  {line}"),
    };
    drawn.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The place and the field of a divergence, in two columns.
fn place(divergence: &Divergence, show_args: bool) -> (String, String) {
    let field = text::escape_unprintable(&divergence.field).into_owned();
    let seen = |text: &str| text::escape_unprintable(text).into_owned();
    match &divergence.place {
        DivergencePlace::Call(call) | DivergencePlace::Event(call, _) => (seen(call), field),
        DivergencePlace::Ledger(intent) if show_args => ("ledger".to_owned(), seen(intent)),
        DivergencePlace::Ledger(intent) => ("ledger".to_owned(), seen(&without_values(intent))),
        DivergencePlace::Finding(call) => (seen(call), format!("finding {field}")),
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

/// The rows of a playbook that differ from the approved ones, before and after.
pub fn rows(rows: &PlaybookRows, width: usize, palette: Palette) -> String {
    let name = palette.strong(&text::escape_unprintable(&rows.playbook));
    if !rows.is_used {
        return format!("{name}: no fixture uses this playbook, but the lock still has its rows");
    }
    if !rows.is_locked {
        let count = text::counted(rows.changes.len() as u64, "row", "rows");
        return format!("{name}: this playbook is not approved yet ({count})");
    }
    let head = format!("{name}: {}", palette.doubtful(&waiting_rows(rows.changes.len())));
    let header = ["row", "what", "approved", "now"].map(str::to_owned);
    let cells: Vec<Vec<String>> = rows.changes.iter().flat_map(row_cells).collect();
    let drawn = table::render(&header, &cells, &[Align::Left; 4], width.saturating_sub(2));
    let mut lines = vec![head];
    lines.extend(drawn.lines().map(|line| format!("  {line}")));
    lines.join("\n")
}

/// The same, with the command that approves them.
pub(super) fn rows_to_approve(rows: &PlaybookRows, width: usize, palette: Palette) -> String {
    let drawn = self::rows(rows, width, palette);
    match rows.is_used && rows.is_locked {
        true => {
            format!(
                "{drawn}\n  if the changes are intended: {}",
                Command::new("playproof accept").name(&rows.playbook).and("--reason '...'")
            )
        }
        false => drawn,
    }
}

fn waiting_rows(count: usize) -> String {
    let wait = if count == 1 { "1 edited row waits".to_owned() } else { format!("{count} edited rows wait") };
    format!("{wait} to be accepted")
}

/// The changed parts of a row in four columns: row, part, approved, now.
pub(crate) fn row_cells(change: &RowChange) -> Vec<Vec<String>> {
    let seen = |text: &str| text::escape_unprintable(text).into_owned();
    let side = |side: &Option<String>| side.as_deref().map_or_else(|| NOTHING.to_owned(), seen);
    let line = |part: PartChange| vec![seen(&change.name), seen(&part.path), side(&part.before), side(&part.after)];
    change.parts().into_iter().map(line).collect()
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
