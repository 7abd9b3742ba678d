//! The page of a proposal for people: rows, changed fixtures, then the reasons against accepting it.

use super::row;
use crate::diagnostic;
use crate::style::Palette;
use crate::table;
use crate::table::Align;
use crate::text::{counted, escape_unprintable, wrapped};
use crate::verify::guarantees;
use playproof_analysis::proposal::{FixtureDiff, ProposalGate, ProposalReport};
use playproof_formats::golden::RowChange;

/// The page, ending without a line break.
pub fn page(judged: &ProposalReport, width: usize, palette: Palette) -> String {
    let mut parts = vec![format!(
        "{}  changes {}: {}",
        palette.strong(&escape_unprintable(&judged.id)),
        escape_unprintable(&judged.playbook),
        counted(judged.rows.len() as u64, "row", "rows")
    )];
    parts.push(rows(&judged.rows, width, palette));
    parts.extend(judged.shown().into_iter().map(|diff| fixture(diff, width, palette)));
    parts.extend(judged.guarantees.iter().filter_map(|asked| guarantees(asked, width, palette)));
    parts.push(palette.faint(&unchanged(judged)));
    parts.extend(judged.gates.iter().map(|one| gate(one, width, palette)));
    if judged.gates.is_empty() {
        parts.push(palette.good("ready to accept"));
    }
    parts.join("\n\n")
}

/// Changed rows, each with what is other in it.
pub fn rows(rows: &[RowChange], width: usize, palette: Palette) -> String {
    rows.iter().map(|change| changed(change, width, palette)).collect::<Vec<_>>().join("\n")
}

/// The number of the project's fixture runs that it does not change.
pub(super) fn unchanged(judged: &ProposalReport) -> String {
    counted(
        judged.unchanged() as u64,
        "fixture run of the project ends as before",
        "fixture runs of the project end as before",
    )
}

fn changed(change: &RowChange, width: usize, palette: Palette) -> String {
    let sign = match (&change.before, &change.after) {
        (None, _) => palette.good("+"),
        (_, None) => palette.failed("-"),
        _ => palette.doubtful("~"),
    };
    let mut lines = vec![format!("  {sign} {}", escape_unprintable(&change.name))];
    for part in change.parts() {
        let said = match (&part.before, &part.after) {
            (Some(before), Some(after)) => format!("{}: {before} becomes {after}", part.path),
            (None, Some(after)) | (Some(after), None) if part.path.is_empty() => row(after),
            (None, Some(after)) => format!("{}: {after} is new", part.path),
            (Some(before), None) => format!("{}: {before} is gone", part.path),
            (None, None) => continue,
        };
        lines.extend(
            wrapped(&escape_unprintable(&said), width.saturating_sub(6).max(20))
                .iter()
                .map(|line| format!("      {line}")),
        );
    }
    lines.join("\n")
}

fn fixture(diff: &FixtureDiff, width: usize, palette: Palette) -> String {
    let class = match (diff.class(), diff.is_new) {
        (None, true) => "new fixture, unchanged by the proposal".to_owned(),
        (Some(_), true) => "new fixture".to_owned(),
        (Some(class), false) => class.to_string(),
        (None, false) => "as before".to_owned(),
    };
    let head = format!("{}  {}", palette.strong(&escape_unprintable(&diff.id.to_string())), palette.doubtful(&class));
    let mut rows = Vec::new();
    for (call, lines) in diff.facts() {
        for (n, (label, before, after)) in lines.into_iter().enumerate() {
            let call = if n == 0 { escape_unprintable(call).into_owned() } else { String::new() };
            let after = if before == after { "the same".to_owned() } else { escape_unprintable(&after).into_owned() };
            rows.push(vec![call, label.to_owned(), escape_unprintable(&before).into_owned(), after]);
        }
    }
    if rows.is_empty() {
        return head;
    }
    let header = ["call", "", "before", "after"].map(str::to_owned);
    let table = table::render(&header, &rows, &[Align::Left; 4], width.saturating_sub(2).max(40));
    let table: Vec<String> = table.lines().map(|line| format!("  {line}")).collect();
    format!("{head}\n{}", table.join("\n"))
}

fn gate(gate: &ProposalGate, width: usize, palette: Palette) -> String {
    let room = width.saturating_sub(8).max(20);
    let said = wrapped(&escape_unprintable(&gate.message), room).join("\n      ");
    let mut text = format!("{} {said}", palette.bad(&format!("{}:", gate.kind)));
    if let Some(report) = &gate.report {
        text += &format!("\n{}", diagnostic::render(report, width, palette.is_on()).trim_end());
    }
    if let Some(help) = &gate.help {
        let help = wrapped(&escape_unprintable(help), room).join("\n        ");
        text += &format!("\n  {} {help}", palette.strong("help:"));
    }
    text + &format!("\n  {} {}", palette.strong("next:"), gate.next)
}
