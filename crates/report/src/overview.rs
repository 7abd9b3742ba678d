//! The first page of a replay: the inputs, the counts, the unclassified failures. Draws no calls.

use super::opening::sentences;
use super::style::Palette;
use super::summary::{Section, Totals};
use super::table::{self, Align};
use super::text;
use playproof_analysis::confirm::condition;
use playproof_analysis::replay::{Counts, FirstUnknown, InputAccount, Replayed, UnknownName, UnsettledWrite};
use playproof_engine::playbook::seems_to_read;
use playproof_formats::shell::Command;
use playproof_intake::assemble::InputLedger;

/// The most templates of results that suggest a failure.
const SUSPECTED: usize = 3;
/// The most templates of unclassified messages.
const TEMPLATES: usize = 5;

/// The most inputs that are listed one by one.
const INPUTS: usize = 8;

/// Notes on an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputNote {
    /// Its name.
    pub name: String,
    /// The format that a foreign one was read as.
    pub read_as: Option<String>,
    /// What the import lost or found odd, one sentence each.
    pub remarks: Vec<String>,
    /// It could not be read to its end.
    pub unread: bool,
}

/// The page, ending without a line break: the opening sentences with the command that would make them `sharper`, and the
/// counts if they are wanted.
pub fn render(
    totals: &Totals<'_>,
    notes: &[InputNote],
    sharper: Option<&Command>,
    has_counts: bool,
    (width, palette): (usize, Palette),
) -> String {
    let said = sentences(totals).join(" ");
    let mut parts = vec![text::wrapped(&text::escape_unprintable(&said), text::prose(width)).join("\n")];
    parts.extend(sharper.map(|command| format!("{} {command}", palette.strong("to see more clearly:"))));
    parts.push(inputs(totals.replayed, notes, width, palette));
    parts.extend(has_counts.then(|| counts(totals, width, palette)));
    parts.extend(unclassified(totals, width, palette));
    parts.extend(suspected(totals, width, palette));
    parts.extend(possible_duplicates(totals.replayed, width, palette));
    parts.extend(unsettled_runs(totals.replayed, width, palette));
    parts.join("\n\n")
}

/// The same as Markdown.
pub fn markdown(totals: &Totals<'_>, notes: &[InputNote]) -> String {
    let plain = Palette::new(false);
    let accounts = inputs(totals.replayed, notes, 100, plain);
    let mut header = vec![String::new(), "recorded".to_owned()];
    header.extend(totals.names.iter().map(|names| text::markdown_code(&names.playbook)));
    let mut rows = Vec::new();
    for section in totals.sections() {
        if !section.title.is_empty() {
            rows.push(vec![format!("**{}**", section.title)]);
        }
        for row in section.rows {
            let mut cells = vec![text::markdown(row.label.trim_start()), row.recorded];
            cells.extend(row.values);
            rows.push(cells);
        }
    }
    for row in &mut rows {
        row.resize(header.len(), String::new());
    }
    let mut aligns = vec![Align::Right; header.len()];
    aligns[0] = Align::Left;
    let said = text::markdown(&sentences(totals).join(" "));
    let mut parts = vec![said, table::markdown(&header, &rows, &aligns), text::markdown_block(&accounts)];
    parts.extend(unclassified(totals, 100, plain).map(|said| text::markdown_block(&said)));
    parts.extend(suspected(totals, 100, plain).map(|said| text::markdown_block(&said)));
    parts.extend(possible_duplicates(totals.replayed, 100, plain).map(|said| text::markdown_block(&said)));
    parts.extend(unsettled_runs(totals.replayed, 100, plain).map(|said| text::markdown_block(&said)));
    parts.join("\n\n")
}

/// What the recordings leave open: answers that only suggest a failure, and calls that may have made an effect again.
pub fn doubts(totals: &Totals<'_>, width: usize, palette: Palette) -> Option<String> {
    let replayed = totals.replayed;
    let doubled = possible_duplicates(replayed, width, palette);
    let said = [suspected(totals, width, palette), doubled, unsettled_runs(replayed, width, palette)];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join("\n\n"))
}

/// The account of the inputs: one line each, with remarks below it.
pub fn inputs(replayed: &Replayed, notes: &[InputNote], width: usize, palette: Palette) -> String {
    let mut lines = Vec::new();
    for (n, account) in replayed.inputs.iter().take(INPUTS).enumerate() {
        let note = notes.get(n);
        let is_unread = note.is_some_and(|note| note.unread);
        match is_unread && account.ledger.lines == 0 {
            true => lines.push(palette.strong(&text::fitted_path(&account.name, width))),
            false => lines.extend(input(account, note.and_then(|note| note.read_as.as_deref()), width, palette)),
        }
        let remarks = note.into_iter().flat_map(|note| note.remarks.clone());
        let unread = is_unread.then(|| unread(account));
        for said in status_of(account).into_iter().chain(remarks).chain(unread) {
            let said = text::wrapped(&text::escape_unprintable(&said), width.saturating_sub(2));
            lines.extend(said.iter().map(|line| palette.doubtful(&format!("  {line}"))));
        }
    }
    if replayed.inputs.len() > INPUTS {
        let more = (replayed.inputs.len() - INPUTS) as u64;
        lines.push(format!("and {} more", text::counted(more, "input", "inputs")));
    }
    if replayed.inputs.len() > 1 {
        let mut ledger = replayed.ledger();
        if notes.iter().any(|note| note.read_as.is_some()) {
            ledger.lines = 0;
        }
        let all_read = !notes.iter().any(|note| note.unread);
        let all = InputAccount {
            name: if all_read { "all inputs" } else { "what was read of all inputs" }.to_owned(),
            ledger,
            first_unknown: FirstUnknown::default(),
            skipped: Vec::new(),
        };
        lines.extend(input(&all, None, width, palette));
    }
    lines.join("\n")
}

/// A remark on an input that could not be read to its end.
fn unread(account: &InputAccount) -> String {
    match account.ledger.lines {
        0 => "cannot be read: nothing of it is counted".to_owned(),
        lines => format!(
            "cannot be read to its end: only its first {} counted",
            text::counted(lines, "line is", "lines are")
        ),
    }
}

/// A remark on results whose source has no status.
fn status_of(account: &InputAccount) -> Option<String> {
    let (read, all) = (account.ledger.read_from_text, account.ledger.attached);
    let rest = "no status: ok or failure is read from their text";
    match read {
        0 => None,
        _ if read == all => Some(format!("its results have {rest}")),
        _ => Some(format!("{} {rest}", text::counted(read, "result has", "results have"))),
    }
}

fn input(account: &InputAccount, read_as: Option<&str>, width: usize, palette: Palette) -> Vec<String> {
    let ledger = &account.ledger;
    let read_as = read_as.map_or_else(String::new, |format| format!(" (read as {})", text::escape_unprintable(format)));
    let name = text::fitted_path(&account.name, width.saturating_sub(text::width(&read_as)));
    // The lines of a foreign input are made by its import: no file has them.
    let lines = (read_as.is_empty() && ledger.lines > 0).then(|| text::counted(ledger.lines, "line", "lines"));
    let mut said: Vec<String> = lines.into_iter().collect();
    said.extend([
        text::counted(ledger.runs, "run", "runs"),
        text::counted(ledger.calls + ledger.combined, "call", "calls"),
        text::counted(ledger.results + ledger.combined, "result", "results"),
    ]);
    let odd = [
        (ledger.unanswered, "call without a result", "calls without a result"),
        (ledger.joined, "call read as a resend", "calls read as resends"),
        (ledger.orphans, "orphan result", "orphan results"),
        (ledger.duplicates, "duplicate result", "duplicate results"),
        (ledger.surplus, "surplus result", "surplus results"),
        (ledger.backwards, "timestamp out of order", "timestamps out of order"),
        (ledger.skipped, "line skipped", "lines skipped"),
        (ledger.other, "line of unknown type", "lines of unknown type"),
        (ledger.unknown_fields, "unknown field", "unknown fields"),
        (ledger.blank, "blank line", "blank lines"),
    ];
    said.extend(odd.iter().filter(|odd| odd.0 > 0).map(|&(count, one, many)| text::counted(count, one, many)));
    said.push("all accounted for".to_owned()); // an account that does not balance ends the program
    let mut lines = vec![format!("{}{read_as}", palette.strong(&name))];
    let counts = text::wrapped(&said.join(", "), width.saturating_sub(2));
    lines.extend(counts.iter().map(|line| palette.faint(&format!("  {line}"))));
    let odd = unknown_names(&account.first_unknown).into_iter().chain(unsent(ledger));
    let odd = odd.flat_map(|said| text::wrapped(&said, width - 2));
    lines.extend(odd.map(|line| palette.doubtful(&format!("  {line}"))));
    lines
}

/// A remark on late answers to attempts that were not sent.
fn unsent(ledger: &InputLedger) -> Option<String> {
    let (one, many) = ("late answer is", "late answers are");
    let first = if ledger.first_unsent == 0 {
        String::new()
    } else {
        format!(", first in line {}", text::count(ledger.first_unsent))
    };
    (ledger.unsent > 0).then(|| {
        let count = text::counted(ledger.unsent, one, many);
        format!("{count} to attempts that were not sent as far as is recorded{first}: compare its `attempt` with the results")
    })
}

/// The first unknown type and the first unknown field, each with their places and the nearest known name.
pub fn unknown_names(unknown: &FirstUnknown) -> Vec<String> {
    let unknown = [("type", &unknown.kind), ("field", &unknown.field)].into_iter();
    let unknown = unknown.filter_map(|(what, first)| first.as_ref().map(|(line, first)| (what, line, first)));
    let said = |(what, line, first): (&str, &u64, &UnknownName)| {
        let near = first.near().map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
        let name = first.to_string();
        let name = text::fitted(&name, 40);
        format!("unknown {what} `{name}`, first in line {}{near}", text::count(*line))
    };
    unknown.map(said).collect()
}

fn counts(totals: &Totals<'_>, width: usize, palette: Palette) -> String {
    let mut header = vec![String::new(), "recorded".to_owned()];
    header.extend(totals.names.iter().map(|names| text::escape_unprintable(&names.playbook).into_owned()));
    let mut rows = Vec::new();
    for (n, section) in totals.sections().iter().enumerate() {
        if n > 0 {
            rows.push(vec![String::new(); header.len()]);
        }
        rows.extend(section_rows(section, header.len()));
    }
    let mut aligns = vec![Align::Right; header.len()];
    aligns[0] = Align::Left;
    coloured(&table::render(&header, &rows, &aligns, width), palette)
}

fn section_rows(section: &Section, columns: usize) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    if !section.title.is_empty() {
        let mut title = vec![String::new(); columns];
        title[0] = section.title.to_owned();
        rows.push(title);
    }
    for row in &section.rows {
        let indent = if section.title.is_empty() { "" } else { "  " };
        let mut cells = vec![format!("{indent}{}", row.label), row.recorded.clone()];
        cells.extend(row.values.iter().cloned());
        rows.push(cells);
    }
    rows
}

/// Colours severities and titles: whole lines, so that columns stay aligned.
fn coloured(table: &str, palette: Palette) -> String {
    let line = |(n, line): (usize, &str)| match line.trim_start() {
        _ if n == 0 => palette.strong(line),
        rest if rest.starts_with("unsafe ") => palette.bad(line),
        rest if rest.starts_with("doubt ") => palette.doubtful(line),
        rest if !line.starts_with(' ') && !rest.contains("  ") => palette.strong(line),
        _ => line.to_owned(),
    };
    table.lines().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// Failures that no rule matches, by message template; of the first playbook with such failures.
fn unclassified(totals: &Totals<'_>, width: usize, palette: Palette) -> Option<String> {
    let (summary, names) =
        totals.replayed.summaries.iter().zip(totals.names).find(|(summary, _)| summary.unclassified.total() > 0)?;
    let rows = summary.unclassified.rows();
    let failures = text::counted(summary.unclassified.total(), "failure", "failures");
    let title = format!("{failures} that no rule of {} matches, by message template", names.playbook);
    let mut lines: Vec<String> = text::wrapped(&title, width).iter().map(|line| palette.strong(line)).collect();
    let widest = rows.first().map_or(0, |(_, count)| text::count(*count).len());
    for (template, count) in rows.iter().take(TEMPLATES) {
        let template = if template.is_empty() { "(no message)" } else { template };
        let count = format!("  {:>widest$}  ", text::count(*count));
        lines.push(format!("{count}{}", text::fitted(template, width.saturating_sub(count.len()))));
    }
    let more = rows.len().saturating_sub(TEMPLATES);
    if more > 0 {
        lines.push(palette.faint(&format!("  and {} more", text::counted(more as u64, "template", "templates"))));
    }
    Some(lines.join("\n"))
}

/// Answers that suggest a failure and do not prove one: the commonest templates, and the lines of a mapping that decide them.
fn suspected(totals: &Totals<'_>, width: usize, palette: Palette) -> Option<String> {
    let summary = totals.replayed.summaries.iter().find(|summary| summary.suspected.total() > 0)?;
    let rows = summary.suspected.rows();
    let count = summary.suspected.total();
    let results = text::counted(count, "result suggests", "results suggest");
    let its = if count == 1 { "its" } else { "their" };
    let title = format!(
        "{results} a failure; {its} effect is unknown until `failed` or `not_failed` in the mapping file (`--map FILE`) \
         decides"
    );
    let mut lines: Vec<String> = text::wrapped(&title, width).iter().map(|line| palette.strong(line)).collect();
    for (template, count) in rows.iter().take(SUSPECTED) {
        lines.push(format!("  {:>6}  {}", text::count(*count), text::fitted(template, width.saturating_sub(10))));
        if let Some(decides) = condition(template) {
            lines.push(palette.faint(&format!("          failed: [ {} ]", text::escape_unprintable(&decides))));
        }
    }
    let more = rows.len().saturating_sub(SUSPECTED);
    if more > 0 {
        lines.push(palette.faint(&format!("  and {} more", text::counted(more as u64, "template", "templates"))));
    }
    Some(lines.join("\n"))
}

/// The runs that end on a write whose effect is unknown: somebody must look what became of it.
fn unsettled_runs(replayed: &Replayed, width: usize, palette: Palette) -> Option<String> {
    let runs = &replayed.unsettled_runs;
    if runs.count == 0 {
        return None;
    }
    let title = text::counted(runs.count, "run ends", "runs end") + " on a write whose effect is unknown";
    let mut lines: Vec<String> = text::wrapped(&title, width).iter().map(|line| palette.strong(line)).collect();
    let row = |UnsettledWrite { tool, reference, .. }: &UnsettledWrite| {
        text::fitted(&format!("  {reference}  {tool}"), width).into_owned()
    };
    lines.extend(runs.first.iter().map(row));
    let more = runs.count.saturating_sub(runs.first.len() as u64);
    if more > 0 {
        lines.push(palette.faint(&format!("  and {} more", text::counted(more, "run", "runs"))));
    }
    Some(lines.join("\n"))
}

/// The calls that may have made an effect again, by tool and reason.
fn possible_duplicates(replayed: &Replayed, width: usize, palette: Palette) -> Option<String> {
    let possible = &replayed.possible_duplicates;
    let lists = [
        ("Undeclared tools that may have made an effect again (calls)", &possible.undeclared),
        ("Resent keys; an upstream that forgot the key made the effect again (calls)", &possible.keyed),
        (
            "Identical calls, at least one failed; if each acted, the effect is there more than once (calls)",
            &possible.failed,
        ),
        ("Undeclared tools, resent after a failure that may have acted (calls)", &possible.resent),
        ("Identical calls without a run; in one run they act again (calls)", &possible.without_run),
        ("Identical calls of a run id in two inputs; in one run they act again (calls)", &possible.two_inputs),
        (
            "Calls of which one has no recorded arguments; if they are the same, they act again (calls)",
            &possible.without_arguments,
        ),
        ("Writes that a run may have made again for another one (calls)", &possible.begun_again),
    ];
    let lists = lists.into_iter().filter_map(|(title, counts)| by_tool(title, counts, width, palette));
    let lists: Vec<String> = lists.collect();
    (!lists.is_empty()).then(|| lists.join("\n\n"))
}

fn by_tool(title: &str, counts: &Counts, width: usize, palette: Palette) -> Option<String> {
    let mut rows = counts.rows();
    rows.sort_by_key(|(tool, _)| seems_to_read(tool)); // suspected writes come first
    let widest = rows.iter().map(|(_, count)| text::count(*count).len()).max()?;
    let mut lines: Vec<String> = text::wrapped(title, width).iter().map(|line| palette.doubtful(line)).collect();
    for (tool, count) in rows.iter().take(TEMPLATES) {
        let count = format!("  {:>widest$}  ", text::count(*count));
        lines.push(format!("{count}{}", text::fitted(tool, width.saturating_sub(count.len()))));
    }
    let more = rows.len().saturating_sub(TEMPLATES);
    if more > 0 {
        lines.push(palette.faint(&format!("  and {} more", text::counted(more as u64, "tool", "tools"))));
    }
    Some(lines.join("\n"))
}
