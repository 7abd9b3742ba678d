//! The account of the inputs, and what the recordings and the playbooks leave open.

use super::doc::{Block, Item, Text, Tone};
use super::summary::Totals;
use super::text;
use playproof_analysis::confirm::condition;
use playproof_analysis::replay::{Counts, FirstUnknown, InputAccount, Replayed, UnknownName, UnsettledWrite};
use playproof_engine::playbook::seems_to_read;
use playproof_intake::assemble::InputLedger;

/// The most templates of results that suggest a failure.
const SUSPECTED: usize = 3;
/// The most templates of unclassified messages.
const TEMPLATES: usize = 5;

/// The most inputs that are listed one by one.
const INPUTS: usize = 8;

/// The most characters of an input's name.
const NAME: usize = 100;

/// Notes on an input.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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

/// What the recordings leave open: answers that only suggest a failure, and calls that may have made an effect again.
pub fn doubts(totals: &Totals<'_>) -> Vec<Block> {
    let replayed = totals.replayed;
    suspected(totals).into_iter().chain(possible_duplicates(replayed)).chain(unsettled_runs(replayed)).collect()
}

/// The account of the inputs: an entry each, with remarks below it.
pub fn inputs(replayed: &Replayed, notes: &[InputNote]) -> Vec<Item> {
    let mut items = Vec::new();
    for (n, account) in replayed.inputs.iter().take(INPUTS).enumerate() {
        let note = notes.get(n);
        let is_unread = note.is_some_and(|note| note.unread);
        let mut item = match is_unread && account.ledger.lines == 0 {
            true => Item::from(input_name(account)),
            false => input(account, note.and_then(|note| note.read_as.as_deref())),
        };
        let remarks = note.into_iter().flat_map(|note| note.remarks.clone());
        let remarks = status_of(account).into_iter().chain(remarks).chain(is_unread.then(|| unread(account)));
        item.below.extend(remarks.map(|said| Text::new(Tone::Doubt, said)));
        items.push(item);
    }
    if replayed.inputs.len() > INPUTS {
        let more = (replayed.inputs.len() - INPUTS) as u64;
        items.push(format!("and {} more", text::counted(more, "input", "inputs")).into());
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
        items.push(input(&all, None));
    }
    items
}

fn input_name(account: &InputAccount) -> Text {
    Text::new(Tone::Strong, text::fitted_path(&account.name, NAME))
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

fn input(account: &InputAccount, read_as: Option<&str>) -> Item {
    let ledger = &account.ledger;
    let named = input_name(account).say(read_as.map_or_else(String::new, |format| format!(" (read as {format})")));
    // The lines of a foreign input are made by its import: no file has them.
    let lines = (read_as.is_none() && ledger.lines > 0).then(|| text::counted(ledger.lines, "line", "lines"));
    let mut said: Vec<String> = lines.into_iter().collect();
    said.extend([
        text::counted(ledger.runs, "run", "runs"),
        text::counted(ledger.calls + ledger.combined, "call", "calls"),
        text::counted(ledger.results + ledger.combined, "result", "results"),
    ]);
    let other = match account.first_unknown.kind {
        Some(_) => ("line of unknown type", "lines of unknown type"),
        None => ("line beside the calls", "lines beside the calls"), // our own
    };
    let odd = [
        (ledger.unanswered, "call without a result", "calls without a result"),
        (ledger.joined, "call read as a resend", "calls read as resends"),
        (ledger.orphans, "orphan result", "orphan results"),
        (ledger.duplicates, "duplicate result", "duplicate results"),
        (ledger.surplus, "surplus result", "surplus results"),
        (ledger.backwards, "timestamp out of order", "timestamps out of order"),
        (ledger.skipped, "line skipped", "lines skipped"),
        (ledger.other, other.0, other.1),
        (ledger.unknown_fields, "unknown field", "unknown fields"),
        (ledger.blank, "blank line", "blank lines"),
    ];
    said.extend(odd.iter().filter(|odd| odd.0 > 0).map(|&(count, one, many)| text::counted(count, one, many)));
    said.push("all accounted for".to_owned()); // an account that does not balance ends the program
    let odd = unknown_names(&account.first_unknown).into_iter().chain(unsent(ledger)).chain(stray_crashes(ledger));
    let odd = odd.map(|said| Text::new(Tone::Doubt, said));
    Item { said: named, below: std::iter::once(Text::new(Tone::Soft, said.join(", "))).chain(odd).collect() }
}

/// A remark on late answers to attempts that were not sent.
fn unsent(ledger: &InputLedger) -> Option<String> {
    let first = first_in(ledger.first_unsent);
    (ledger.unsent > 0).then(|| {
        let count = text::counted(ledger.unsent, "late answer is", "late answers are");
        format!("{count} to attempts that were not sent as far as is recorded{first}: compare its `attempt` with the results")
    })
}

/// A remark on crashes of runs without calls.
fn stray_crashes(ledger: &InputLedger) -> Option<String> {
    let first = first_in(ledger.first_stray_crash);
    (ledger.stray_crashes > 0).then(|| {
        let count = text::counted(ledger.stray_crashes, "crash interrupts nothing", "crashes interrupt nothing");
        format!("{count}: no call of its run is before it{first}: compare its `run_id` with those of the calls")
    })
}

fn first_in(line: u64) -> String {
    if line == 0 { String::new() } else { format!(", first in line {}", text::count(line)) }
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

/// A list of what was counted, the most frequent first, under a title; `all` is the number of what there is.
fn counted(title: Text, rows: &[(&str, u64)], all: u64, [one, many]: [&str; 2]) -> Block {
    let widest = rows.iter().map(|(_, count)| text::count(*count).len()).max().unwrap_or_default();
    let row = |(said, count): &(&str, u64)| {
        let said = if said.is_empty() { "(no message)" } else { said };
        Text::from(format!("{:>widest$}  {}", text::count(*count), text::fitted(said, NAME)))
    };
    let mut below: Vec<Text> = rows.iter().map(row).collect();
    let more = all.saturating_sub(rows.len() as u64);
    below.extend((more > 0).then(|| Text::new(Tone::Soft, format!("and {} more", text::counted(more, one, many)))));
    Block::List(vec![Item { said: title, below }])
}

/// Failures that no rule matches, by message template; of the first playbook with such failures.
pub fn unclassified(totals: &Totals<'_>) -> Option<Block> {
    let (summary, names) =
        totals.replayed.summaries.iter().zip(totals.names).find(|(summary, _)| summary.unclassified.total() > 0)?;
    let rows = summary.unclassified.rows();
    let failures = text::counted(summary.unclassified.total(), "failure", "failures");
    let title = format!("{failures} that no rule of {} matches, by message template", names.playbook);
    let shown = &rows[..rows.len().min(TEMPLATES)];
    Some(counted(Text::new(Tone::Strong, title), shown, rows.len() as u64, ["template", "templates"]))
}

/// Answers that suggest a failure and do not prove one: the commonest templates, and the lines of a mapping that decide them.
fn suspected(totals: &Totals<'_>) -> Option<Block> {
    let summary = totals.replayed.summaries.iter().find(|summary| summary.suspected.total() > 0)?;
    let rows = summary.suspected.rows();
    let count = summary.suspected.total();
    let results = text::counted(count, "result suggests", "results suggest");
    let its = if count == 1 { "its" } else { "their" };
    let title = format!(
        "{results} a failure; {its} effect is unknown until `failed` or `not_failed` in the mapping file (`--map FILE`) \
         decides"
    );
    let mut below = Vec::new();
    for (template, count) in rows.iter().take(SUSPECTED) {
        below.push(Text::from(format!("{:>6}  {}", text::count(*count), text::fitted(template, NAME))));
        let decides = condition(template).map(|decides| format!("        failed: [ {decides} ]"));
        below.extend(decides.map(|decides| Text::new(Tone::Soft, decides)));
    }
    let more = rows.len().saturating_sub(SUSPECTED) as u64;
    let said = format!("and {} more", text::counted(more, "template", "templates"));
    below.extend((more > 0).then(|| Text::new(Tone::Soft, said)));
    Some(Block::List(vec![Item { said: Text::new(Tone::Strong, title), below }]))
}

/// The runs that end on a write whose effect is unknown: somebody must look what became of it.
fn unsettled_runs(replayed: &Replayed) -> Option<Block> {
    let runs = &replayed.unsettled_runs;
    let title = text::counted(runs.count, "run ends", "runs end") + " on a write whose effect is unknown";
    let row = |write: &UnsettledWrite| Text::from(format!("{}  {}", write.reference, write.tool));
    let mut below: Vec<Text> = runs.first.iter().map(row).collect();
    let more = runs.count.saturating_sub(runs.first.len() as u64);
    let said = format!("and {} more", text::counted(more, "run", "runs"));
    below.extend((more > 0).then(|| Text::new(Tone::Soft, said)));
    (runs.count > 0).then(|| Block::List(vec![Item { said: Text::new(Tone::Strong, title), below }]))
}

/// The calls that may have made an effect again, by tool and reason.
fn possible_duplicates(replayed: &Replayed) -> impl Iterator<Item = Block> {
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
    lists.into_iter().filter_map(|(title, counts)| by_tool(title, counts))
}

fn by_tool(title: &str, counts: &Counts) -> Option<Block> {
    let mut rows = counts.rows();
    rows.sort_by_key(|(tool, _)| seems_to_read(tool)); // suspected writes come first
    let shown = &rows[..rows.len().min(TEMPLATES)];
    (!rows.is_empty()).then(|| counted(Text::new(Tone::Doubt, title), shown, rows.len() as u64, ["tool", "tools"]))
}
