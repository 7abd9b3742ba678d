//! `playproof lint PLAYBOOK...`: shows the errors of a playbook, and what is legal but probably not meant.

use std::path::Path;

use crate::exit::{Exit, Failure};
use crate::flags::Given;
use crate::format::formats;
use crate::input_paths::InputPaths;
use crate::known_tools::KnownTools;
use crate::output::Output;
use crate::project;
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::{duplicate_args, files, known_tools, playbooks};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_explore::{CONTRADICTED_CLAIM, lint};
use playproof_formats::diagnostic::{Diagnostic, Report, Severity, Source};
use playproof_formats::playbook::lint::{stopped_globs, unseen_arguments};
use playproof_formats::playbook::{Loaded, fingerprint, replaced};
use playproof_formats::shell::Command;
use playproof_report::diagnostic::{render, tally};
use playproof_report::json::{Object, document};
use playproof_report::text;

/// The lint of a study playbook: a fault only of the playbook that a project uses.
const STUDY: &str = "study_playbook";

formats!(Format: Table = "For people", Json = "One JSON document");

/// The arguments of `lint`, with the flags that were typed.
pub type Args = Given<Options>;

/// What is linted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof lint                     the project's playbook
  playproof lint my.yaml
  playproof lint --trace trace.jsonl which of its tools does no glob match because of a dot?
  playproof help shadowed_rule       what a lint means, and what to do

It also tries every script of at most two answers to a call, as `playproof verify` does: a claim that the world
contradicts is an error.

Exit codes: 0 clean or notes (also for a named playbook that is for study), 1 warnings, or the project uses a playbook that is for
study, 2 errors, or no playbook to lint.")]
pub struct Options {
    /// Playbooks: names (of `playbooks/`, else embedded) or paths [default: the project's]
    #[arg(value_name = "PLAYBOOK")]
    pub playbooks: Vec<String>,

    /// Traces whose tools the globs of tool facts and rules should match; may be given several times
    #[arg(long = "trace", value_name = "FILE")]
    pub traces: Vec<String>,

    /// How the traces are read.
    #[command(flatten)]
    pub reading: ReadOptions,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
}

/// A playbook with its diagnostics.
struct Linted {
    source: std::sync::Arc<Source>,
    loaded: Option<Loaded>,
    diagnostics: Vec<Diagnostic>,
}

/// Lints.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    duplicate_args::refuse_playbooks(&args.playbooks, |once| {
        args.flags.after(Command::new("playproof lint").paths(once))
    })?;
    let project = if args.playbooks.is_empty() { Project::find()? } else { Project::default() };
    if args.playbooks.is_empty() && project.playbook.is_none() {
        return Err(Failure::new("there is no playbook to lint: none is named, and no project names one")
            .help("name one, such as `playproof lint standard`; `playproof init` makes a project with one")
            .next("playproof init"));
    }
    let tools = known_tools::read(InputPaths::find(&args.traces)?.files(), &args.reading)?;
    let facts = playbooks::facts(None, &project)?;
    let mut linted = Vec::new();
    for name in playbooks::names(&args.playbooks, &project) {
        linted.push(one(&name, &tools, &facts)?);
    }
    linted.extend(tools.stopped.into_iter().map(|Report { source, diagnostics }| Linted {
        source,
        loaded: None,
        diagnostics,
    }));
    match args.format {
        Format::Json => output.json(json(&linted))?,
        Format::Table => output.page(&page(&linted, terminal))?,
    }
    let diagnostics = linted.iter().flat_map(|one| &one.diagnostics);
    let is_in_use = args.playbooks.is_empty();
    Ok(diagnostics.map(|diagnostic| exit(diagnostic, is_in_use)).max().unwrap_or(Exit::Clean))
}

fn one(name: &str, tools: &KnownTools, facts: &Tools) -> Result<Linted, Failure> {
    let source = playbooks::source(name)?;
    Ok(match playbooks::parse(std::sync::Arc::clone(&source)) {
        Ok(loaded) => {
            let plan = Plan::new(loaded.playbook.clone(), facts);
            let mut diagnostics = lint(&loaded, &plan, Threads::default().number());
            diagnostics.extend(stopped_globs(&loaded, &tools.known, &tools.declared));
            diagnostics.extend(unseen_arguments(&loaded, &tools.seen));
            Linted { source, loaded: Some(loaded), diagnostics }
        }
        Err(report) => Linted { source: report.source, loaded: None, diagnostics: report.diagnostics },
    })
}

/// What a diagnostic makes of the exit code; a project uses what nobody named.
fn exit(diagnostic: &Diagnostic, is_in_use: bool) -> Exit {
    match diagnostic.severity {
        Severity::Error => Exit::Unusable,
        Severity::Warning if diagnostic.id == STUDY && !is_in_use => Exit::Clean,
        Severity::Warning => Exit::Found,
        Severity::Note => Exit::Clean,
    }
}

fn page(linted: &[Linted], terminal: &Terminal) -> String {
    let palette = terminal.out.palette();
    let mut sections = Vec::new();
    for one in linted {
        let mut lines = Vec::new();
        if !one.diagnostics.is_empty() {
            let report = Report { source: one.source.clone(), diagnostics: one.diagnostics.clone() };
            lines.push(render(&report, terminal.out.width, terminal.out.colour));
            lines.push(format!(
                "{}: {}",
                text::escape_unprintable(&one.source.name),
                palette.doubtful(&tally([&report]))
            ));
            lines.push(format!("{} {}", palette.strong("next:"), next(one)));
        } else {
            lines.push(format!("{}: {}", text::escape_unprintable(&one.source.name), palette.good("clean")));
        }
        if let Some(loaded) = &one.loaded {
            let facts = text::wrapped(&facts(loaded), terminal.out.width);
            lines.extend(facts.iter().map(|line| palette.faint(line)));
        }
        sections.push(lines.join("\n"));
    }
    sections.join("\n\n")
}

fn next(one: &Linted) -> Command {
    match one.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error) {
        Some(said) if said.id == CONTRADICTED_CLAIM => {
            Command::new("playproof verify").path(playbooks::argument(&one.source.name))
        }
        Some(_) => "playproof schema playbook".into(),
        None => {
            let warning = one.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Warning);
            let first = warning.or(one.diagnostics.first());
            Command::new("playproof help").name(first.map_or("topics", |first| first.id))
        }
    }
}

fn facts(loaded: &Loaded) -> String {
    let playbook = &loaded.playbook;
    let replaced = replaced(&loaded.places.tree);
    let replaced = match replaced.as_slice() {
        [] => String::new(),
        names => format!("; in place of those of `standard`: {}", names.join(", ")),
    };
    format!(
        "{}: {}, {}, {}, fingerprint {}{replaced}",
        playbook.name,
        text::counted(playbook.verdicts.len() as u64, "verdict", "verdicts"),
        text::counted(playbook.rules.len() as u64, "rule", "rules"),
        text::counted(playbook.tools.rows().len() as u64, "row of tool facts", "rows of tool facts"),
        fingerprint(playbook).short()
    )
}

fn json(linted: &[Linted]) -> String {
    let root = project::root();
    let playbooks: Vec<Object> = linted.iter().map(|one| playbook_json(&root, one)).collect();
    document(&Object::document("lint/1").with("playbooks", playbooks))
}

fn playbook_json(root: &Path, one: &Linted) -> Object {
    let diagnostic = |diagnostic: &Diagnostic| {
        let place = diagnostic.labels.first().map(|label| one.source.place(label.span.start));
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        Object::default()
            .with("id", diagnostic.id)
            .with("severity", severity)
            .with("message", &diagnostic.message)
            .maybe("line", place.map(|(line, _)| line))
            .maybe("column", place.map(|(_, column)| column))
            .maybe("help", diagnostic.help.as_deref())
    };
    let playbook = one.loaded.as_ref().map(|loaded| &loaded.playbook);
    Object::default()
        .with("source", files::lasting(root, &one.source.name))
        .maybe("name", playbook.map(|playbook| &*playbook.name))
        .maybe("fingerprint", playbook.map(|playbook| fingerprint(playbook).to_string()))
        .with("diagnostics", one.diagnostics.iter().map(diagnostic).collect::<Vec<_>>())
}
