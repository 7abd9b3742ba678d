//! `playproof demo`: the first example of the README, from a fixture and playbooks within the program. Reads no file and
//! writes none.

use crate::command::replay::Rehearsal;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::playbooks;
use crate::terminal::Terminal;
use playproof_analysis::recorded::Arguments;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;
use playproof_formats::playbook::embedded;
use playproof_report::block::Style;

const FIXTURE: &str = include_str!("../../fixtures/unkeyed-refund-times-out-after-landing.yaml");
const PLAYBOOKS: [&str; 2] = ["study/retry-everything", "standard"];

/// What is shown: always the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A refund without an idempotency key times out each time after it was paid. One playbook retries every failure, the
other knows that a lost answer proves nothing. The demo needs no file and writes none.

Exit code: 1, because one of the two playbooks pays three times.")]
pub struct Args {}

/// Shows it.
///
/// # Errors
/// Output that cannot be written.
pub fn run(terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let fixture = fixture::parse(Source::whole("demo", FIXTURE))?;
    let plan = |name: &str| {
        let source = Source::whole(name, embedded(name).unwrap_or_default());
        Ok((name.to_owned(), Plan::new(playbooks::loaded(source, name)?.playbook, &Tools::default())))
    };
    let plans = PLAYBOOKS.into_iter().map(plan).collect::<Result<Vec<_>, Failure>>()?;
    let palette = terminal.out.palette();
    let rehearsal = Rehearsal::run("demo", &fixture, &plans, None);
    let page = rehearsal.story(None, Style { width: terminal.out.width, palette, arguments: Arguments::Values });
    let exit = rehearsal.exit(false);
    output.page(&format!(
        "{page}\n\n\
         The exit code is {}, as it should be: a playbook did harm. Nothing was sent anywhere.\n\n\
         {}\n  \
         playproof replay trace.jsonl  your own recorded calls under a playbook\n  \
         playproof help replay         what else can be replayed, with examples\n  \
         playproof init                a project here: a playbook, fixtures, goldens and a CI job",
        exit.number(),
        palette.strong("next:"),
    ))?;
    Ok(exit)
}
