//! `playproof replay`: from arguments to pages.

use super::args::{Args, Format, SELECTING};
use super::audit::AuditFile;
use super::crashes;
use super::prepared::{LoadedFixture, arguments, arguments_of_page, plans, with_playbooks};
use super::recording;
use super::rehearsal::{Rehearsal, no_such_call};
use super::seeds;
use super::traces;
use crate::exit::{Exit, Failure};
use crate::flags::Flags;
use crate::input_paths::InputPaths;
use crate::output::Output;
use crate::project::Project;
use crate::terminal::Terminal;
use crate::workspace::{check_names, load_fixture_with_source};
use crate::{duplicate_args, inputs, playbooks, reports};
use playproof_analysis::recorded::Arguments;
use playproof_engine::playbook::Tools;
use playproof_formats::playbook::Loaded;
use playproof_formats::shell::Command;
use playproof_report::doc::Doc;
use playproof_report::json::{Object, document};
use playproof_report::text;

/// Replays.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let replay = |inputs: &[&str], flags: &Flags| flags.after(Command::new("playproof replay").paths(inputs));
    duplicate_args::refuse_inputs(&args.inputs, &args.flags, replay)?;
    duplicate_args::refuse_playbooks(&args.playbooks, |once| {
        let inputs: Vec<&str> = args.inputs.iter().map(String::as_str).collect();
        replay(&inputs, &with_playbooks(args, once))
    })?;
    if args.envelope.is_some() && !matches!(args.format, Format::Json | Format::Jsonl) {
        let inputs: Vec<&str> = args.inputs.iter().map(String::as_str).collect();
        return Err(Failure::new("`--envelope` adds to JSON, and a page for people has no place for it")
            .help("write it with `--format json` or `--format jsonl`")
            .next(replay(&inputs, &args.flags.without(&["--format"])).flag("--format", "json")));
    }
    let project = Project::find()?;
    let tools = playbooks::facts_said(args.tools.as_deref(), &project)?;
    let paths = InputPaths::find(&args.inputs)?;
    reports::refuse_page(args.report.as_ref(), paths.files())?;
    let (fixtures, traces): (Vec<String>, Vec<String>) =
        paths.files().iter().cloned().partition(|path| inputs::is_fixture(path));
    match (fixtures.is_empty(), traces.is_empty()) {
        (false, _) if args.partial.is_some() => Err(Failure::new("`--partial` writes the sums of traces")
            .help(format!("a fixture (here {}) is one scenario, and shown whole", fixtures.join(", ")))
            .next(args.flags.without(&["--partial"]).after(Command::new("playproof replay").paths(&fixtures)))),
        (false, true) => run_fixture(args, &fixtures, &project, &tools, terminal, output),
        (false, false) => Err(Failure::new("a fixture and a trace cannot be replayed by one command")
            .help(format!("a fixture (here {}) scripts its own upstream; replay it by itself", fixtures.join(", ")))
            .next(unselected(args).after(Command::new("playproof replay").paths(&fixtures)))),
        (true, _) if args.record.is_some() => Err(Failure::new("`--record` writes the run of a fixture")
            .help("a trace is a recording already")
            .next(args.flags.without(&["--record"]).after(Command::new("playproof replay").paths(&traces)))),
        (true, _) if args.crash_everywhere => Err(Failure::new("`--crash-everywhere` runs a fixture again and again")
            .help("a recording has one run; a fixture of its failures can be run anew")
            .next(Command::new("playproof init").flag("--from", traces.first().map_or("", String::as_str)))),
        (true, _) if args.seeds.is_some() => Err(Failure::new("`--seeds` runs a fixture with each seed")
            .help("`--seed N` gives the seed of the draws that a trace lacks")
            .next(args.flags.without(&["--seeds"]).after(Command::new("playproof replay").paths(&traces)))),
        (true, _) => traces::run(args, &paths, &project, &tools, terminal, output),
    }
}

/// A fixture has no runs and is shown whole: what would select nothing there must not be passed over.
fn refuse_selection(args: &Args, paths: &[String]) -> Result<(), Failure> {
    let Some((flag, _)) = args.selected().find(|(flag, _)| *flag != "call") else { return Ok(()) };
    let flag = if args.failed && flag == "only" { "failed" } else { flag };
    Err(Failure::new(format!("`--{flag}` selects calls of a trace, and these are fixtures: {}", paths.join(", ")))
        .help("a fixture is shown whole, or one of its calls with `--call`")
        .next(unselected(args).after(Command::new("playproof replay").paths(paths))))
}

/// The flags that were given, but for those that select calls of a trace.
fn unselected(args: &Args) -> Flags {
    args.flags.without(&SELECTING)
}

fn run_fixture(
    args: &Args,
    paths: &[String],
    project: &Project,
    tools: &Tools,
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    refuse_selection(args, paths)?;
    if args.same_decisions {
        return Err(Failure::new("`--same-decisions` compares the decisions of a trace, and this is a fixture")
            .help("`--record FILE` writes its run as a trace")
            .next(args.flags.without(&["--same-decisions"]).after(Command::new("playproof replay").paths(paths))));
    }
    let audit = AuditFile::of(args, paths.iter().map(String::as_str))?;
    let (mut loaded, mut places): (Vec<LoadedFixture<'_>>, Vec<Vec<Loaded>>) = Default::default();
    for path in paths {
        let (fixture, source) = load_fixture_with_source(path)?;
        let own = if args.playbooks.is_empty() { &fixture.playbooks } else { &args.playbooks };
        let names = playbooks::names(own, project);
        let (plans, with_places) = plans(&names, tools, args.seed)?;
        let run_by: Vec<_> = with_places.iter().map(|one| &one.playbook).collect();
        check_names((&fixture, source), &run_by, project)?;
        places.push(with_places);
        loaded.push((path, fixture, names.into_iter().zip(plans).collect::<Vec<_>>()));
    }
    if args.crash_everywhere {
        return crashes::run(args, &loaded, terminal, output);
    }
    if let Some(seeds) = &args.seeds {
        return seeds::run(args, seeds, &mut loaded, terminal, output);
    }
    if let Some(file) = &args.record {
        recording::record(args, file, &loaded, output)?;
    }
    let rehearsals: Vec<Rehearsal<'_>> = loaded
        .iter()
        .map(|(path, fixture, plans)| {
            Rehearsal::run(path, fixture, plans, args.tools.as_deref()).with_envelope(args.envelope)
        })
        .collect();
    if let Some(file) = audit {
        let mut lines = Vec::new();
        rehearsals.iter().for_each(|one| one.write_audit_lines(&mut lines));
        file.write(&lines, output)?;
    }
    let wanted = args.call.as_deref();
    if let Some(wanted) = wanted.filter(|wanted| !rehearsals.iter().any(|one| one.has_call(wanted))) {
        return Err(no_such_call(wanted, &rehearsals));
    }
    let is_shown = |one: &Rehearsal<'_>| wanted.is_none_or(|wanted| one.has_call(wanted));
    let doc = |arguments: Arguments| {
        let shown = rehearsals.iter().zip(&places).filter(|(one, _)| is_shown(one)).zip(1..);
        let sections = shown.map(|((one, loaded), place)| one.section(wanted, arguments, loaded, place)).collect();
        let title = match paths {
            [one] => format!("Replay: {one}"),
            all => format!("Replay: {}", text::counted(all.len() as u64, "fixture", "fixtures")),
        };
        Doc::with(title, sections)
    };
    reports::write_page(args.report.as_ref(), || doc(arguments_of_page(args)).html(), output)?;
    let shown = rehearsals.iter().filter(|one| is_shown(one));
    match args.format {
        Format::Markdown => output.page(&doc(arguments(args)).markdown())?,
        Format::Json => {
            let fixtures: Vec<Object> = shown.map(|one| one.json(wanted, Format::Json)).collect();
            output.json(document(&Object::document("rehearsal/1").with("fixtures", fixtures)))?;
        }
        Format::Jsonl => {
            let mut out = br#"{"type":"format","format":"rehearsal/1"}"#.to_vec();
            out.push(b'\n');
            for one in shown {
                one.write_lines(wanted, &mut out);
            }
            output.json(&out)?;
        }
        Format::Table => output.page(&terminal.out.doc(&doc(arguments(args)).untitled()))?,
    }
    Ok(rehearsals.iter().map(|one| one.exit(args.strict)).max().unwrap_or(Exit::Clean))
}
