//! Finds the guesses, gets their answers from the command line or a person, and writes them.

use std::collections::BTreeMap;
use std::path::Path;

use console::Term;

use super::args::Args;
use super::ask::{Screen, ask};
use super::draft;
use super::question::{self, Question, words};
use super::seen::SeenTools;
use crate::changeset::Change;
use crate::exit::{Exit, Failure};
use crate::input_paths::InputPaths;
use crate::output::Output;
use crate::playbooks::{self, Meant};
use crate::project::{self, Project};
use crate::terminal::{KeyPress, Terminal, read_key};
use crate::workspace::Workspace;
use crate::{duplicate_args, files, outputs};
use playproof_engine::glob;
use playproof_engine::playbook::Tools;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::tools::{self, Answer, LoadedTools};
use playproof_formats::shell::Command;
use playproof_report::text::{counted, escape_unprintable};
use playproof_trace::tool_facts::{self, guess, is_name};
use playproof_trace::tool_hints::ToolHints;

/// The name of a tool facts file that no project names.
const FACTS: &str = "tools.yaml";

/// Asks, or drafts.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    duplicate_args::refuse_inputs(&args.inputs, &args.flags.reading(&["--tools"]), |once, flags| {
        let confirm = Command::new("playproof confirm").paths(once);
        flags.after(if args.draft { confirm.and("--draft") } else { confirm }).flag_if("-o", args.output.as_deref())
    })?;
    if args.draft {
        return draft::run(args, output);
    }
    let project = Project::find()?;
    let facts = FactsFile::find(args, &project)?;
    let seen = match args.inputs.is_empty() {
        true => None,
        false => {
            let paths = InputPaths::find(&args.inputs)?;
            outputs::refuse_input(&facts.path, paths.files().iter().map(String::as_str))?;
            Some(SeenTools::read(&paths, &args.reading, &project)?)
        }
    };
    let mut questions = questions(seen.as_ref(), facts.loaded.as_ref(), &project)?;
    if let Some(answers) = question::answers(args, &questions)? {
        return end(args, (&facts, seen.as_ref()), &questions, &answers, output);
    }
    if questions.is_empty() {
        output.page("nothing to confirm: no tool is a guess")?;
        return Ok(Exit::Clean);
    }
    question::sort(&mut questions);
    if !terminal.can_ask() {
        output.page(&listed(&questions))?;
        let many = counted(questions.len() as u64, "guess waits", "guesses wait");
        return Err(Failure::new(format!("{many} for an answer, and there is no terminal to ask at"))
            .help("the command below answers as guessed: correct it")
            .next(question::twin(args, &questions)));
    }
    let answers = ask(&mut AtTerminal(Term::stdout()), &questions, terminal.out.palette())?;
    end(args, (&facts, seen.as_ref()), &questions, &answers, output)
}

/// The tool facts file that the answers go to.
struct FactsFile {
    path: String,
    /// Whether the project names it.
    is_of_project: bool,
    loaded: Option<LoadedTools>,
}

impl FactsFile {
    /// The file of `--tools`, else of the project, else `tools.yaml` in its root.
    fn find(args: &Args, project: &Project) -> Result<FactsFile, Failure> {
        let own = project.tools.as_deref().map(|path| files::near(&project::root(), path));
        let is_of_project = args.tools.is_none() && own.is_some();
        let path = args.tools.clone().or(own);
        let path = path.unwrap_or_else(|| project::root().join(FACTS).to_string_lossy().into_owned());
        let is_there = is_of_project || args.tools.is_some() && args.inputs.is_empty() || files::exists(&path);
        let loaded = is_there.then(|| playbooks::written_facts(&path)).transpose()?;
        if loaded.is_none() && args.inputs.is_empty() {
            return Err(Failure::new("the project names no tool facts file, and there is none here")
                .help("name a log whose tools are to be confirmed, or a file with `--tools`")
                .next("playproof confirm LOG"));
        }
        if !is_of_project {
            outputs::refuse(&path)?;
        }
        Ok(FactsFile { path, is_of_project, loaded })
    }
}

/// The guesses that reading the logs made; without a log, those of the tool facts file.
fn questions(
    seen: Option<&SeenTools>,
    facts: Option<&LoadedTools>,
    project: &Project,
) -> Result<Vec<Question>, Failure> {
    let guesses: BTreeMap<&str, Answer> = facts.into_iter().flat_map(LoadedTools::guesses).collect();
    let Some(seen) = seen else {
        let question = |(pattern, guess): (&str, Answer)| Question {
            tool: pattern.to_owned(),
            pattern: pattern.to_owned(),
            guess,
            calls: 0,
            failed: 0,
            is_hint: false,
        };
        return Ok(guesses.into_iter().map(question).collect());
    };
    let declared = declared(facts, project)?;
    let mut questions: BTreeMap<String, Question> = BTreeMap::new();
    for count in seen.tools().filter(|count| !count.is_redacted && is_name(count.tool)) {
        let pattern = glob::escape(count.tool);
        let marked = guesses.get(pattern.as_str()).copied();
        if marked.is_none() && declared.facts(count.tool).declared {
            continue;
        }
        let of = questions.entry(pattern.clone()).or_insert_with(|| Question {
            tool: count.tool.to_owned(),
            pattern,
            guess: marked.unwrap_or_else(|| guess(count.tool, count.hints)),
            calls: 0,
            failed: 0,
            is_hint: count.hints != ToolHints::default(),
        });
        of.calls = of.calls.saturating_add(count.calls);
        of.failed = of.failed.saturating_add(count.failed);
    }
    Ok(questions.into_values().collect())
}

/// What people declared: in the tool facts file, and in the project's own playbook. What ships with Playproof speaks of no
/// tools of theirs.
fn declared(facts: Option<&LoadedTools>, project: &Project) -> Result<Tools, Failure> {
    let tools = facts.map(|facts| facts.file.tools.clone()).unwrap_or_default();
    let name = playbooks::name(None, project);
    Ok(match playbooks::meant(&name)? {
        Meant::Embedded(_) => tools,
        Meant::File(_) => tools.over(&playbooks::load(&name)?.playbook.tools),
    })
}

/// The questions as a list, for people who answer with flags.
fn listed(questions: &[Question]) -> String {
    let lines = questions.iter().map(|question| {
        format!("{}  {}  guessed: {}", escape_unprintable(&question.tool), question.calls(), question.guessed())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Writes the answers, and says what is left.
fn end(
    args: &Args,
    (facts, seen): (&FactsFile, Option<&SeenTools>),
    questions: &[Question],
    answers: &BTreeMap<String, Answer>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if !answers.is_empty() {
        write(facts, seen, questions, answers, output)?;
    }
    let confirmed = questions.iter().filter_map(|of| Some((of, *answers.get(&of.pattern)?)));
    let mut lines: Vec<String> =
        confirmed.map(|(of, answer)| format!("confirmed {}: {}", of.tool, words(answer))).collect();
    let left: Vec<Question> = questions.iter().filter(|of| !answers.contains_key(&of.pattern)).cloned().collect();
    let exit = match left.as_slice() {
        [] => Exit::Clean,
        left => {
            lines.push(counted(left.len() as u64, "guess is left", "guesses are left"));
            Exit::Found
        }
    };
    let next = match (left.is_empty(), args.inputs.is_empty()) {
        (false, _) => question::twin(args, &left),
        (true, true) => "playproof check".into(),
        (true, false) => {
            let replay = Command::new("playproof replay").paths(&args.inputs);
            let replay = replay.flag_if("--tools", (!facts.is_of_project).then_some(facts.path.as_str()));
            args.flags.reading(&[]).after(replay)
        }
    };
    lines.push(format!("next: {next}"));
    output.lines(&lines)?;
    Ok(exit)
}

/// Writes the answers into the tool facts file, read again under the lock: what others wrote meanwhile stays.
fn write(
    facts: &FactsFile,
    seen: Option<&SeenTools>,
    questions: &[Question],
    answers: &BTreeMap<String, Answer>,
    output: &mut Output,
) -> Result<(), Failure> {
    if facts.is_of_project {
        let lock = Workspace::open()?.project_lock()?;
        let text = answered(&playbooks::written_facts(&facts.path)?, questions, answers)?;
        return lock.commit(&[Change::Write(Path::new(&facts.path).to_path_buf(), text.into_bytes())], output);
    }
    let text = match (files::exists(&facts.path), seen) {
        (false, Some(seen)) => {
            let draft = tool_facts::render(&seen.logs, seen.tools());
            answered(&tools::load(Source::whole(&facts.path, draft))?, questions, answers)?
        }
        _ => answered(&playbooks::written_facts(&facts.path)?, questions, answers)?,
    };
    outputs::write(&facts.path, text.as_bytes(), output)
}

/// The text of the file with the answers: rows that are guesses lose their marks, missing ones are added.
fn answered(
    facts: &LoadedTools,
    questions: &[Question],
    answers: &BTreeMap<String, Answer>,
) -> Result<String, Failure> {
    let is_new = |of: &&Question| !facts.has_row(&of.pattern);
    let rows = questions.iter().filter(is_new).filter_map(|of| {
        let answer = *answers.get(&of.pattern)?;
        Some(tool_facts::written(&of.tool, answer, false))
    });
    let rows: Vec<String> = rows.collect();
    let name = &facts.source.name;
    let text = facts.answered(answers).ok_or_else(|| {
        Failure::new(format!("the answers cannot be written into `{name}`: several rows share one value"))
            .help("nothing was written; give each row its own facts")
    })?;
    if rows.is_empty() {
        return Ok(text);
    }
    let edited = tools::load(Source::whole(name, text))?;
    let text = edited.with_rows(&rows).ok_or_else(|| {
        Failure::new(format!("no row can be added to `{name}`: its rows do not stand on lines of their own"))
            .help(format!("nothing was written; add the rows yourself: {}", rows.join("; ")))
    })?;
    tools::load(Source::whole(name, text.clone()))?;
    Ok(text)
}

/// A person at a terminal.
struct AtTerminal(Term);

impl Screen for AtTerminal {
    fn show(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.0.write_line(text)?)
    }

    fn key(&mut self) -> Result<Option<KeyPress>, Failure> {
        read_key(&self.0)
    }
}
