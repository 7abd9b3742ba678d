//! `playproof impact`: from arguments to a page and an exit code.

use super::args::{Args, FailOn};
use crate::exit::{Exit, Failure};
use crate::flags::Flags;
use crate::format::Format;
use crate::output::Output;
use crate::project::Project;
use crate::stream::{Stream, Streamed};
use crate::terminal::Terminal;
use crate::{inputs, missing_answer, playbooks};
use playproof_analysis::impact::{Comparer, Impact, ImpactGate, ImpactPart};
use playproof_engine::sim::Plan;
use playproof_formats::playbook::fingerprint;
use playproof_formats::shell::Command;
use playproof_report::impact::{Shown, json, markdown, page};
use playproof_report::style::Palette;
use playproof_trace::origin::Sources;

/// Compares.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let stream = Stream {
        name: "impact",
        command: "playproof impact".into(),
        flags: given(args),
        inputs: &args.inputs,
        sources: inputs::sources(&args.inputs),
        reading: &args.reading,
        beyond: args.beyond_tape.clone().unwrap_or_default(),
        jobs: args.jobs,
        allow_empty: Some(args.allow_empty),
    };
    stream.refuse_repeated()?;
    let project = Project::find()?;
    let tools = playbooks::facts_said(args.tools.as_deref(), &project)?;
    let base = args.base.clone().into_iter().collect::<Vec<_>>();
    let base = playbooks::names(&base, &project).swap_remove(0); // never empty
    let load = |name: &str| Ok::<Plan, Failure>(Plan::new(playbooks::load(name)?.playbook, &tools));
    let mut plans = [load(&base)?, load(&args.candidate)?];
    playbooks::tell_apart(&mut plans, &[base.clone(), args.candidate.clone()]);
    let [mine, theirs] = &plans;
    refuse_equal(args, &base, [mine, theirs])?;
    let watcher = Comparer::new(mine, theirs);
    missing_answer::warn(&stream.beyond, &[mine, theirs]);
    let mut all = ImpactPart::default();
    let streamed = stream.run(&plans, &watcher, &project, terminal, |part| all.merge(part))?;
    let impact = watcher.finish(all, [mine, theirs], &streamed.replayed);
    let gate = gate(args);
    let next = next(args, &base, &impact, &streamed.sources);
    let Streamed { replayed, notes, sources } = &streamed;
    let shown = Shown { impact: &impact, replayed, notes, gate: &gate, next: next.as_ref() };
    match args.format {
        Format::Markdown => output.page(&markdown(&shown))?,
        Format::Json => output.json(json(&shown, sources))?,
        _ => output.page(&page(&shown, terminal.out.width, Palette::new(terminal.out.colour)))?,
    }
    Ok(exit(args, &gate, &impact))
}

/// A playbook against itself: whoever asks that has named the wrong file, and a gate must not pass by it.
fn refuse_equal(args: &Args, base: &str, [mine, theirs]: [&Plan; 2]) -> Result<(), Failure> {
    if args.allow_empty || fingerprint(&mine.playbook) != fingerprint(&theirs.playbook) {
        return Ok(());
    }
    let said = match base == args.candidate {
        true => format!("base and candidate are both `{base}`: there is nothing to compare"),
        false => format!("`{base}` and `{}` are the same but for names and layout: nothing to compare", args.candidate),
    };
    Err(Failure::new(said).help("`--allow-empty` makes that no error"))
}

fn gate(args: &Args) -> ImpactGate {
    ImpactGate {
        widening: args.fail_on.contains(&FailOn::Widening),
        effects: args.fail_on.contains(&FailOn::Effects),
        allow_widening: args.allow_widening.clone(),
        allow_empty: args.allow_empty,
    }
}

fn exit(args: &Args, gate: &ImpactGate, impact: &Impact) -> Exit {
    if !gate.judge(impact).is_empty() {
        Exit::Found
    } else if gate.is_undecided(impact) || args.strict && impact.undetermined.calls() > 0 {
        Exit::Inconclusive
    } else {
        Exit::Clean
    }
}

/// The example of the first cause under both playbooks, side by side.
fn next(args: &Args, base: &str, impact: &Impact, sources: &Sources) -> Option<Command> {
    let example = impact.causes.first()?.example.as_ref()?;
    let input = args.inputs.get(usize::try_from(example.place.input).ok()?)?;
    let call = sources.name_of(&example.reference, example.place);
    let compared = Flags::default().with("--playbook", Some(base)).with("--playbook", Some(&args.candidate));
    let replay = Command::new("playproof replay").path(input).flag("--call", &call);
    Some(reading(compared, args).after(replay))
}

/// The flags as they were given.
fn given(args: &Args) -> Flags {
    let compared = Flags::default().with("--base", args.base.as_deref()).with("--candidate", Some(&args.candidate));
    reading(compared, args)
        .words("--fail-on", &args.fail_on)
        .with("--allow-widening", args.allow_widening.as_deref())
        .set("--strict", args.strict)
        .set("--allow-empty", args.allow_empty)
        .word("--format", args.format)
        .number("--jobs", args.jobs)
}

/// With the flags that say how the recordings are read.
fn reading(flags: Flags, args: &Args) -> Flags {
    let tools = flags.with("--tools", args.tools.as_deref());
    tools.reading(&args.reading).beyond(&args.beyond_tape.clone().unwrap_or_default())
}
