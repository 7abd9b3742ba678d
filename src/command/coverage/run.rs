//! Without `--mutate`: lists what the fixtures exercise of a playbook, and prints or writes fixtures for the
//! rest.

use super::args::{Args, Format};
use super::mutate;
use crate::changeset::{Change, ProjectLock};
use crate::exit::{Exit, Failure};
use crate::output::{Output, to_stderr};
use crate::reports;
use crate::terminal::Terminal;
use crate::values::Permille;
use crate::workspace::Workspace;
use playproof_explore::coverage::{NamedFixture, Suggestion, measure};
use playproof_formats::diagnostic::counted;
use playproof_formats::shell::Command;
use playproof_report::coverage::{json, lines, page, percent};
use playproof_report::style::Extent;

/// Measures, or mutates.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    if args.mutate {
        return mutate::run(args, terminal, output);
    }
    let typed = match args.playbooks.as_slice() {
        [] => None,
        [one] => Some(one.as_str()),
        [first, ..] => {
            let again = args.flags.after(Command::new("playproof coverage").path(first));
            return Err(Failure::new("one playbook is measured at a time; with `--mutate` several").next(again));
        }
    };
    measured(typed, args, terminal, output)
}

fn measured(typed: Option<&str>, args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    reports::refuse_page(args.report.as_ref(), &[])?;
    let workspace = Workspace::open()?.with_fixtures(args.fixtures.as_deref());
    let project_lock = args.write.as_ref().map(|_| workspace.project_lock()).transpose()?;
    workspace.say_guesses()?;
    let (name, used) = workspace.playbook(typed)?;
    let fixtures = workspace.fixtures_of(&name, args.threads.number())?;
    let cases: Vec<NamedFixture> = fixtures.into_iter().map(|(name, fixture)| NamedFixture { name, fixture }).collect();
    let report = measure(&name, &used.loaded, workspace.tools(), &cases);
    if let (Some(folder), Some(project_lock)) = (&args.write, project_lock) {
        return write(&workspace.with_fixtures(Some(folder)), &report.suggestions, &project_lock, output);
    }
    let typed = typed.map_or_else(|| workspace.playbook_argument(&name), str::to_owned);
    let command = Command::new("playproof coverage").path(&typed).flag_if("--fixtures", args.fixtures.as_deref());
    let source = &used.loaded.places.source;
    let write = command.clone().flag("--write", &workspace.fixtures_here());
    let page = |extent| page(&report, extent, source, [&command, &write]);
    reports::write_page(args.report.as_ref(), || page(Extent::All).html(), output)?;
    match args.format {
        Format::Json => output.json(json(&report, source))?,
        Format::Lines => output.page(&terminal.out.drawn(&[lines(&report, source)]))?,
        Format::Table => {
            let extent = if args.all { Extent::All } else { Extent::Some };
            output.page(&terminal.out.doc(&page(extent)))?;
        }
    }
    if args.fail_under.is_some() && report.tally(None).1 == 0 {
        to_stderr("error: nothing of the playbook can be exercised, so there is nothing to measure\n");
        return Ok(Exit::Inconclusive);
    }
    match args.fail_under {
        Some(Permille(wanted)) if report.permille() < wanted => {
            let said = format!(
                "error: {} is below {}.{} %\n  next: {}\n",
                percent(&report),
                wanted / 10,
                wanted % 10,
                command.and("--all")
            );
            to_stderr(&said);
            Ok(Exit::Found)
        }
        _ => Ok(Exit::Clean),
    }
}

/// Writes the missing fixtures into the folder of fixtures of `workspace`: all or none, and over no file.
fn write(
    workspace: &Workspace,
    suggestions: &[Suggestion],
    project_lock: &ProjectLock,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut changes = Vec::new();
    for suggestion in suggestions {
        let path = workspace.fixture_path(&suggestion.name);
        workspace.refuse_new_fixture(&path)?;
        changes.push(Change::Write(path, suggestion.text.clone().into_bytes()));
    }
    if changes.is_empty() {
        output.page("no fixture is missing: the fixtures exercise all that can be exercised")?;
        return Ok(Exit::Clean);
    }
    project_lock.commit(&changes, output)?;
    let fixtures = counted(changes.len() as u64, "fixture", "fixtures");
    output.lines(&[
        format!("wrote {fixtures} into {}", workspace.fixtures_here()),
        "each `expect` is what the playbook does now: review it before you accept its golden".to_owned(),
        "next: playproof check".to_owned(),
    ])?;
    Ok(Exit::Clean)
}
