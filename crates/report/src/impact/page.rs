//! The page of a comparison: the balance, both playbooks side by side, the causes with widening first, the gate.

use super::words::{self, ImpactPage};
use crate::overview;
use crate::style::Palette;
use crate::table;
use crate::table::{Align, labelled};
use crate::text::{count, counted, escape_unprintable, fitted, wrapped};
use crate::timeline::millis;
use playproof_analysis::impact::{CauseRow, Direction, Impact};
use playproof_engine::event::EffectClaim;
use playproof_engine::time::Duration;

/// The page, ending without a line break.
pub fn page(shown: &ImpactPage<'_>, columns: usize, palette: Palette) -> String {
    let impact = shown.impact;
    let (base, candidate) = (escape_unprintable(&impact.base.playbook), escape_unprintable(&impact.candidate.playbook));
    let head = format!("What {candidate} changes against {base}");
    let mut balance = wrapped(&words::balance(impact), columns);
    balance.extend(wrapped(&words::directions(impact), columns));
    let mut parts = vec![
        palette.strong(&head),
        overview::inputs(shown.replayed, shown.notes, columns, palette),
        balance.join("\n"),
        totals(impact, columns, palette),
    ];
    let (causes, more) = shown.causes();
    if !causes.is_empty() {
        parts.push(palette.strong("Why calls are decided differently, widening first"));
        parts.extend(causes.iter().enumerate().map(|(n, row)| cause(n + 1, row, columns, palette)));
    }
    parts.extend(left_out(impact, more).map(|said| palette.faint(&said)));
    parts.extend(gate(shown, columns, palette));
    parts.extend(shown.next.map(|next| format!("{} {next}", palette.strong("next:"))));
    parts.join("\n\n")
}

/// What the page leaves out, in a line.
pub fn left_out(impact: &Impact, more: usize) -> Option<String> {
    let mut said = Vec::new();
    if more > 0 {
        said.push(format!("{} more (--format json has them all)", counted(more as u64, "cause", "causes")));
    }
    if impact.counts.overflow > 0 {
        said.push(format!("{} with further causes", counted(impact.counts.overflow, "call", "calls")));
    }
    (!said.is_empty()).then(|| format!("and {}", said.join(", and ")))
}

/// One line of the totals.
pub struct TotalsLine {
    /// Its label.
    pub label: String,
    /// Base, candidate, more, fewer; empty without a value.
    pub cells: [String; 4],
}

/// Both playbooks side by side.
pub fn lines(impact: &Impact) -> Vec<TotalsLine> {
    let (base, candidate, load) = (&impact.base, &impact.candidate, &impact.counts.load);
    let mut lines = vec![
        line("upstream calls", number(base.upstream_calls), number(candidate.upstream_calls))
            .swing(number_if(load.upstream_more), number_if(load.upstream_fewer)),
        line("delay added, ms", millis(base.added_delay), millis(candidate.added_delay))
            .swing(delay_if(load.delay_more), delay_if(load.delay_fewer)),
        line("effects in the ledger", number(base.effects), number(candidate.effects))
            .swing(number_if(load.effects_more), number_if(load.effects_fewer)),
    ];
    let claims = [EffectClaim::Applied, EffectClaim::NotApplied, EffectClaim::Unknown];
    for ((claim, mine), theirs) in claims.into_iter().zip(base.claims).zip(candidate.claims) {
        let [more, fewer] = [load.claims_more, load.claims_fewer].map(|calls| number_if(calls[claim as usize]));
        lines.push(line(&format!("  claimed {}", claim.as_str()), number(mine), number(theirs)).swing(more, fewer));
    }
    lines.push(
        line("effects that may be doubled", number(base.doubled), number(candidate.doubled))
            .swing(number_if(load.doubled_more), number_if(load.doubled_fewer)),
    );
    lines.push(
        line("waiting for people", number(base.people), number(candidate.people))
            .swing(number_if(load.people_more), number_if(load.people_fewer)),
    );
    for queue in &impact.queues {
        let label = format!("  in queue {}", fitted(&queue.queue, 40));
        lines.push(line(&label, number(queue.base), number(queue.candidate)));
    }
    for finding in &impact.findings {
        let label = format!("{:6}  {}", finding.kind.severity.as_str(), finding.kind.id.as_str());
        let line = line(&label, number(finding.base), number(finding.candidate));
        lines.push(line.swing(number_if(finding.gained), number_if(finding.lost)));
    }
    lines
}

fn line(label: &str, base: String, candidate: String) -> TotalsLine {
    TotalsLine { label: label.to_owned(), cells: [base, candidate, String::new(), String::new()] }
}

impl TotalsLine {
    fn swing(mut self, more: String, fewer: String) -> TotalsLine {
        let [_, _, gained, lost] = &mut self.cells;
        (*gained, *lost) = (more, fewer);
        self
    }
}

fn number(n: u64) -> String {
    count(n)
}

fn number_if(n: u64) -> String {
    if n == 0 { String::new() } else { count(n) }
}

fn delay_if(span: Duration) -> String {
    if span.as_micros() == 0 { String::new() } else { millis(span) }
}

fn totals(impact: &Impact, columns: usize, palette: Palette) -> String {
    let lines = lines(impact);
    let header = [
        "",
        &escape_unprintable(&impact.base.playbook),
        &escape_unprintable(&impact.candidate.playbook),
        "more",
        "fewer",
    ];
    let header = header.map(str::to_owned);
    let rows: Vec<Vec<String>> =
        lines.iter().map(|line| [std::slice::from_ref(&line.label), &line.cells].concat()).collect();
    let aligns = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];
    let drawn = table::render(&header, &rows, &aligns, columns);
    let mut drawn_lines = drawn.lines();
    let mut out: Vec<String> = drawn_lines.by_ref().take(1).map(|first| palette.strong(first)).collect();
    out.extend(drawn_lines.map(|line| coloured(line, palette)));
    out.join("\n")
}

/// Colours whole lines, so that columns stay aligned.
fn coloured(line: &str, palette: Palette) -> String {
    match line.split_whitespace().next() {
        Some("unsafe") => palette.bad(line),
        Some("doubt") => palette.doubtful(line),
        _ => line.to_owned(),
    }
}

fn direction(direction: Direction, palette: Palette) -> String {
    match direction {
        Direction::Widening => palette.bad(direction.as_str()),
        Direction::Narrowing => palette.good(direction.as_str()),
        Direction::Neutral => palette.faint(direction.as_str()),
    }
}

fn cause(number: usize, row: &CauseRow, columns: usize, palette: Palette) -> String {
    let mut head = format!("{number}. {}  {}", direction(row.direction, palette), counted(row.calls, "call", "calls"));
    if row.following > 0 {
        head += &format!(", {} of them following from another", count(row.following));
    }
    if row.undetermined > 0 {
        head += &format!(", {} undetermined", count(row.undetermined));
    }
    let mut lines = vec![head];
    let mut say = |label: &str, said: &str| lines.extend(labelled(label, said, LABEL, columns, palette));
    say("cause", &words::cause(&row.cause));
    say("tools", &words::tools(&row.tools));
    say("differ in", &words::changes(row));
    let load = words::load(row);
    if !load.is_empty() {
        say("load", &load);
    }
    if let Some(example) = &row.example {
        say("example", &format!("{} of {}", fitted(&example.reference, 40), fitted(&example.tool, 40)));
        say("  base", &words::end(&example.base));
        say("  candidate", &words::end(&example.candidate));
    }
    lines.join("\n")
}

/// The width of the column with labels.
const LABEL: usize = 13;

fn gate(shown: &ImpactPage<'_>, columns: usize, palette: Palette) -> Option<String> {
    let (refused, allowed) = words::gate(shown.gate, shown.impact);
    let mut lines = Vec::new();
    if !refused.is_empty() {
        lines.push(palette.bad("does not pass:"));
        for said in &refused {
            lines.extend(wrapped(said, columns.saturating_sub(2)).into_iter().map(|line| format!("  {line}")));
        }
    } else if let Some(said) = words::undecided(shown.gate, shown.impact) {
        lines.extend(wrapped(said, columns).into_iter().map(|line| palette.doubtful(&line)));
    } else if shown.gate.widening || shown.gate.effects {
        lines.push(palette.good("passes"));
    }
    if let Some(allowed) = allowed {
        lines.extend(wrapped(&allowed, columns));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}
