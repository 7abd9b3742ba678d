//! Finds the playbook lines behind a divergence: the changed rows, otherwise the rule and the compensation in force
//! where the run first differs. Draws nothing.

use std::ops::Range;
use std::sync::Arc;

use super::rows::PlaybookRows;
use playproof_engine::event::{EventKind, FieldKey, StopReason};
use playproof_engine::playbook::Playbook;
use playproof_formats::diagnostic::{Diagnostic, Report};
use playproof_formats::golden::{
    Comparison, EventLine, EventPair, FirstChange, PartChange, PrecedingVerdict, RowChange,
};
use playproof_formats::playbook::Loaded;

/// The most places of a cause.
const MOST: usize = 3;

/// The cause of a divergence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// One diagnostic that points into the playbook; its first place is the nearest.
    pub report: Report,
    /// The row of the playbook that its first place belongs to: `verdict transient_timeout`.
    pub row: String,
    /// The compensation of the run's verdict.
    pub compensation: Option<&'static str>,
    /// The reason, if it is not a verdict of the playbook.
    pub because: Option<String>,
}

/// The lines behind `comparison`; none if the playbook has no place for them.
pub fn cause(loaded: &Loaded, rows: Option<&PlaybookRows>, comparison: &Comparison) -> Option<Cause> {
    let first = comparison.first.as_ref();
    let run = first.and_then(|first| first.actual.as_ref());
    let golden = first.and_then(|first| first.expected.as_ref());
    let changes = rows.map_or(&[][..], |rows| &rows.changes);
    let mut labels = first.map_or_else(Vec::new, |first| changed_places(loaded, changes, first));
    if labels.is_empty() {
        labels = places_in_force(loaded, run.or(golden)?);
    }
    let row = labels.first()?.0.clone();
    let mut said = Diagnostic::error(comparison.worst()?.as_str(), comparison.headline());
    for (_, (span, text)) in labels.into_iter().take(MOST) {
        said = said.at(span, text);
    }
    let compensation = compensation(&loaded.playbook, run);
    Some(Cause { report: Report::one(Arc::clone(&loaded.places.source), said), row, compensation, because: None })
}

/// What the playbook does about the verdict that a run had reached.
pub(super) fn compensation(playbook: &Playbook, run: Option<&PrecedingVerdict>) -> Option<&'static str> {
    let verdict = playbook.verdicts.iter().find(|verdict| run.is_some_and(|run| *verdict.name == *run.verdict));
    verdict.map(|verdict| verdict.then.as_str())
}

/// The name of a row, with a place in it and its label.
type InRow = (String, (Range<usize>, String));

/// The places of the changed rows that explain this divergence: of its verdicts and rules, otherwise of rows that
/// concern every call. A changed part of its verdict that does not explain it counts only where no other row changed.
fn changed_places(loaded: &Loaded, changes: &[RowChange], first: &FirstChange) -> Vec<InRow> {
    let is_near = |change: &&RowChange| {
        let names = |because: &PrecedingVerdict| {
            change.name == format!("verdict {}", because.verdict) || change.name == format!("rule {}", because.rule)
        };
        first.expected.iter().chain(&first.actual).any(names)
    };
    let is_wide = |change: &&RowChange| {
        !change.name.starts_with("verdict ") && !change.name.starts_with("rule ") && change.name != "study why"
    };
    let places = |of: &dyn Fn(&&RowChange) -> bool, which: &dyn Fn(&PartChange) -> bool| -> Vec<InRow> {
        let in_row = |change: &RowChange| -> Vec<InRow> {
            let places = part_places(loaded, change, which).into_iter();
            places.map(|place| (change.name.clone(), place)).collect()
        };
        changes.iter().filter(of).flat_map(in_row).collect()
    };
    let found = [
        places(&is_near, &|part| explains(part, &first.pair)),
        places(&is_wide, &|_| true),
        places(&is_near, &|part| part.path != "means"),
    ];
    found.into_iter().find(|places| !places.is_empty()).unwrap_or_default()
}

/// Whether a changed part of the verdict in force, or of its rule, can be why two decisions differ.
fn explains(part: &PartChange, pair: &EventPair) -> bool {
    let wait = part.path.strip_prefix("then.retry_with_backoff.").and_then(|rest| rest.split('.').next());
    let is_end = |event: &EventLine| event.kind == EventKind::Outcome;
    match (part.path.split('.').next(), wait) {
        // For people, as the reason of a study is.
        (Some("means"), _) => false,
        (Some("tell"), _) => pair.expected.iter().chain(&pair.actual).all(is_end),
        (_, Some("after" | "backoff_ms" | "backoff" | "max_wait_ms" | "server_delay")) => shows_a_wait(pair),
        _ => true,
    }
}

/// Whether two decisions may differ because a retry waits for another time.
fn shows_a_wait(pair: &EventPair) -> bool {
    let waits_too_long = |event: &EventLine| {
        let too_long = [StopReason::ToldNotTo, StopReason::Deadline, StopReason::CallTimeout, StopReason::MaxWait];
        event.field(FieldKey::Stop).is_some_and(|why| too_long.iter().any(|stop| why.is(stop.as_str())))
    };
    match (&pair.expected, &pair.actual) {
        (Some(golden), Some(run)) if golden.words() == run.words() => true, // at another time
        (Some(golden), Some(run)) if [golden.kind, run.kind] == [EventKind::RetryScheduled; 2] => true,
        (golden, run) => golden.iter().chain(run).any(waits_too_long),
    }
}

/// The changed places of a row, each with its former value.
pub fn row_places(loaded: &Loaded, change: &RowChange) -> Vec<(Range<usize>, String)> {
    part_places(loaded, change, &|_| true)
}

fn part_places(
    loaded: &Loaded,
    change: &RowChange,
    which: &dyn Fn(&PartChange) -> bool,
) -> Vec<(Range<usize>, String)> {
    let place = |part: &PartChange| {
        let span = loaded.places.row(&loaded.playbook, &change.name, &part.path)?;
        let text = match (&change.before, &part.before) {
            (None, _) => format!("`{}` is new", change.name),
            (_, None) => format!("`{}` is new", part.path),
            (_, Some(before)) => changed(&part.path, before, part.after.as_deref()),
        };
        Some((span, text))
    };
    change.parts().iter().filter(|part| which(part)).filter_map(place).collect()
}

/// A changed part of a row in words. It is named, because not every part has a place.
fn changed(path: &str, before: &str, after: Option<&str>) -> String {
    match path.rsplit('.').next() {
        _ if path == "after" => moved(&names(before), &names(after.unwrap_or_default())), // of a rule
        Some(part) if !part.is_empty() => format!("`{part}` was {before}"),
        _ => format!("was {before}"),
    }
}

/// The rules before a row: a list, or one name.
fn names(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_else(|_| (!text.is_empty()).then(|| text.to_owned()).into_iter().collect())
}

fn moved(before: &[String], after: &[String]) -> String {
    let new = |here: &[String], there: &[String]| {
        let names: Vec<String> =
            here.iter().filter(|name| !there.contains(name)).map(|name| format!("`{name}`")).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let now = new(after, before).map(|names| format!("now comes after {names}"));
    let no_longer = new(before, after).map(|names| format!("no longer comes after {names}"));
    now.into_iter().chain(no_longer).collect::<Vec<_>>().join(", ")
}

/// The rows of a playbook that give a verdict and its compensation, each with what it does.
fn places_in_force(loaded: &Loaded, because: &PrecedingVerdict) -> Vec<InRow> {
    let playbook = &loaded.playbook;
    let verdict = playbook.verdicts.iter().find(|verdict| *verdict.name == *because.verdict);
    let verdict_row = format!("verdict {}", because.verdict);
    let then = loaded.places.row(playbook, &verdict_row, "then");
    let rule_row = match because.rule.as_str() {
        "otherwise" => "otherwise".to_owned(),
        rule => format!("rule {rule}"),
    };
    let rule = loaded.places.row(playbook, &rule_row, "");
    let does = verdict.map_or("", |verdict| verdict.then.as_str());
    let then = then.map(|span| (span, format!("the compensation of `{}` is `{does}`", because.verdict)));
    let rule = rule.map(|span| (span, format!("gave `{}`", because.verdict)));
    let then = then.map(|place| (verdict_row, place));
    let rule = rule.map(|place| (rule_row, place));
    then.into_iter().chain(rule).collect()
}
