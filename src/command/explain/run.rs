//! `playproof explain`: finds the call and puts the page together.

use super::case::Case;
use super::find::{Search, find};
use super::story::{self, Said};
use super::{advice, otherwise};
use crate::exit::{Exit, Failure};
use crate::flags::Flags;
use crate::output::Output;
use crate::project::Project;
use crate::reading::Reading;
use crate::terminal::Terminal;
use crate::{beyond, playbooks, repeated};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_engine::upstream::BeyondTape;
use playproof_formats::shell::Command;
use playproof_report::block;
use playproof_report::block::{Alike, Arguments, Style};
use playproof_report::style::Palette;
use playproof_report::text;
use playproof_report::view::CallView;

/// What is explained.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof explain trace.jsonl --call r1#3
  playproof explain *.jsonl --call monday.jsonl:17
  playproof explain trace.jsonl --call call_Zx81 --playbook my.yaml --tools tools.yaml
  playproof explain fixtures/refund.yaml")]
pub struct Args {
    /// Traces, foreign recordings or fixtures that hold the call; `-` is standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,

    /// The call: a reference such as `r1#3` (run and number), the place FILE:LINE of its line or of a result's, or its own
    /// id
    #[arg(long, value_name = "REF|PLACE|ID", allow_hyphen_values = true)]
    pub call: Option<String>,

    /// The playbook: a name (of `playbooks/`, else embedded) or a path [default: the project's, or standard]
    #[arg(short, long, value_name = "P")]
    pub playbook: Option<String>,

    /// Tool facts; they win over the playbook's
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// What answers where the recording ends: `ok`, `repeat`, `fail:KIND`
    #[arg(long, value_name = "ANSWER", value_parser = beyond::parse)]
    pub beyond_tape: Option<BeyondTape>,

    /// How the trace is read.
    #[command(flatten)]
    pub reading: Reading,
}

/// Explains.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let flags = Flags::default()
        .with("--playbook", args.playbook.as_deref())
        .with("--tools", args.tools.as_deref())
        .reading(&args.reading)
        .beyond(&args.beyond_tape.clone().unwrap_or_default());
    repeated::refuse_inputs(&args.inputs, &flags, |once, flags| {
        flags.after(Command::new("playproof explain").paths(once).flag_if("--call", args.call.as_deref()))
    })?;
    let project = Project::find()?;
    let asked: Vec<String> = args.playbook.iter().cloned().collect();
    let name = playbooks::names(&asked, &project).into_iter().next().unwrap_or_default();
    let tools = playbooks::facts_said(args.tools.as_deref(), &project)?;
    let plan = Plan::new(playbooks::load(&name)?.playbook, &tools);
    let search = Search {
        command: "playproof explain",
        flags,
        inputs: &args.inputs,
        wanted: args.call.as_deref(),
        reading: &args.reading,
        beyond: args.beyond_tape.clone().unwrap_or_default(),
        redaction: &project.redaction,
    };
    beyond::warn(&search.beyond, &[&plan]);
    let case = find(&search, &plan)?;
    let style =
        Style { width: terminal.out.width, palette: Palette::new(terminal.out.colour), arguments: Arguments::Values };
    output.page(&page(&case, &plan, &tools, style))?;
    Ok(Exit::Clean)
}

/// The page: the call at a glance, its story, what would have happened otherwise, and what to do.
pub fn page(case: &Case, plan: &Plan, tools: &Tools, style: Style) -> String {
    let reference = case.reference();
    let ran = case.simulate(plan);
    let facts = case.facts_in_words(&ran);
    let view = CallView { declared: ran.facts.declared, ..case.view(&facts, &reference) };
    let runs = [ran.run(plan)];
    let mut sections = vec![block::render(1, &view, &runs, &Alike::default(), style)];
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
    let room = text::prose(width).saturating_sub(text::width(further)).max(20);
    let lines = text::broken(said, room).into_iter().enumerate();
    lines.map(|(n, line)| format!("{}{line}", if n == 0 { first } else { further })).collect()
}
