//! `playproof explain`: finds the call and puts the page together.

use super::case::Case;
use super::story::{self, Said};
use super::{advice, otherwise};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::terminal::Terminal;
use crate::playbook::model::Tools;
use crate::report::block::{self, Arguments, Style};
use crate::report::style::Palette;
use crate::report::text;
use crate::sim::Plan;

/// What is explained.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Explains.
pub fn run(_args: &Args, _terminal: &Terminal, _output: &mut Output) -> Result<Exit, Failure> {
    Err(Failure::said("not yet"))
}

/// The page: the call at a glance, its story, what would have happened otherwise, and what to do.
pub(super) fn page(case: &Case, plan: &Plan, tools: &Tools, style: Style, reference: &str) -> String {
    let ran = case.simulate(plan);
    let facts = ran.facts_in_words();
    let runs = [ran.run(plan)];
    let mut sections = vec![block::render(1, &case.view(&facts, reference), &runs, &[], 0, style)];
    sections.push(section("What happened", story(case, plan, &ran, style.width), style.palette));
    let others = otherwise::tell(case, plan, tools, &ran);
    if !others.is_empty() {
        let lines = others.iter().flat_map(|said| bullet(said, style.width)).collect();
        sections.push(section("What would have happened otherwise (each was run)", lines, style.palette));
    }
    if let Some(outcome) = runs[0].outcome() {
        let advice = advice::give(case, plan, &ran, outcome);
        let rows = [("upstream", advice.truth), ("acts next", advice.next), ("send again?", advice.again)];
        let lines = rows.iter().flat_map(|(name, said)| row(name, said, style)).collect();
        sections.push(section("What to know", lines, style.palette));
    }
    sections.join("\n\n")
}

fn section(title: &str, lines: Vec<String>, palette: Palette) -> String {
    let mut page = vec![palette.strong(title)];
    page.extend(lines);
    page.join("\n")
}

fn story(case: &Case, plan: &Plan, ran: &super::case::Ran, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for said in story::tell(case, plan, ran) {
        match said {
            Said::Sentence(sentence) => lines.extend(hanging("  ", "  ", &sentence, width)),
            Said::Row(row) => lines.extend(hanging("      ", "           ", &row, width)),
        }
    }
    lines
}

fn bullet(said: &str, width: usize) -> Vec<String> {
    hanging("  - ", "    ", said, width)
}

fn row(name: &str, said: &str, style: Style) -> Vec<String> {
    let name = style.palette.strong(&format!("{name:<12}"));
    hanging(&format!("  {name}"), &" ".repeat(14), said, style.width)
}

fn hanging(first: &str, further: &str, said: &str, width: usize) -> Vec<String> {
    let room = width.min(110).saturating_sub(text::width(further)).max(20);
    let lines = text::broken(said, room).into_iter().enumerate();
    lines.map(|(n, line)| format!("{}{line}", if n == 0 { first } else { further })).collect()
}

/// Used by the tests of the pages until a terminal is asked for.
pub fn style(terminal: &Terminal) -> Style {
    Style { width: terminal.out.width, palette: Palette::new(terminal.out.colour), arguments: Arguments::Values }
}
