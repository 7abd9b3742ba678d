//! Finds the guesses, gets their answers from the command line or a person, and writes them.

use std::collections::BTreeMap;
use std::path::Path;

use console::Term;

use super::args::Args;
use super::ask::{Screen, ask};
use super::draft;
use super::question::{self, Decision, Question, ToolGuess};
use super::seen::SeenTools;
use crate::changeset::Change;
use crate::exit::{Exit, Failure};
use crate::input_paths::InputPaths;
use crate::output::{Output, to_stderr};
use crate::playbooks::{self, Meant};
use crate::project::{self, Project};
use crate::read_options::ReadOptions;
use crate::stream::Stream;
use crate::terminal::{KeyPress, Terminal, read_key};
use crate::workspace::Workspace;
use crate::{duplicate_args, files, outputs};
use playproof_analysis::confirm::{AnswerFile, Decisions, FACTS, MAPPING, OpenTemplate, decided};
use playproof_engine::glob;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::tools::{self, Answer, LoadedTools};
use playproof_formats::shell::Command;
use playproof_intake::mapping;
use playproof_intake::tool_facts::{self, ToolCount, guess, is_name};
use playproof_intake::tool_hints::ToolHints;
use playproof_report::doc::Block;
use playproof_report::opening::sentences;
use playproof_report::summary::Totals;
use playproof_report::text::{counted, escape_unprintable, hanging};

/// Asks, or drafts.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    duplicate_args::refuse_inputs(&args.inputs, &args.flags.reading(&["--tools"]), |once, flags| {
        let confirm = Command::new("playproof confirm").paths(once);
        flags.after(if args.draft { confirm.and("--draft") } else { confirm }).flag_if("-o", args.output.as_deref())
    })?;
    if args.draft {
        return draft::run(args, output);
    }
    let asked = Asked::find(args)?;
    if let Some(answers) = question::answers(args, &asked.questions, |word| asked.confirmed(word))? {
        return asked.end(args, &answers, terminal, output);
    }
    if asked.questions.is_empty() {
        output.page("nothing to confirm: nothing is a guess")?;
        return Ok(Exit::Clean);
    }
    if !terminal.can_ask() {
        let all: Vec<&Question> = asked.questions.iter().collect();
        output.page(&listed(&all))?;
        let many = counted(all.len() as u64, "guess waits", "guesses wait");
        return Err(Failure::new(format!("{many} for an answer, and there is no terminal to ask at"))
            .help("the command below answers as guessed: correct it")
            .next(question::twin(args, &all)));
    }
    match ask(&mut AtTerminal(Term::stdout()), &asked.questions, terminal.out.palette())? {
        Some(answers) => asked.end(args, &answers, terminal, output),
        None => {
            to_stderr("interrupted: nothing was written\n");
            Ok(Exit::Interrupted)
        }
    }
}

/// A file that answers go to.
struct Target {
    path: String,
    /// Whether the project names it.
    is_of_project: bool,
}

impl Target {
    /// The file that a flag names, else the project, else the usual one in its root.
    ///
    /// # Errors
    /// Standard input.
    fn find(flag: Option<&str>, of_project: Option<&str>, usual: AnswerFile) -> Result<Target, Failure> {
        if flag == Some(files::STDIN) {
            return Err(
                Failure::new("the answers cannot be written to standard input").help("name a file instead of `-`")
            );
        }
        let own = of_project.map(|path| files::near(&project::root(), path));
        let is_of_project = flag.is_none() && own.is_some();
        let path = flag.map(str::to_owned).or(own);
        let path = path.unwrap_or_else(|| project::root().join(usual.path).to_string_lossy().into_owned());
        Ok(Target { path, is_of_project })
    }

    /// Its text; empty if it is not there.
    fn text(&self) -> Result<String, Failure> {
        Ok(if files::exists(&self.path) { files::read_small(&self.path)?.text.clone() } else { String::new() })
    }

    /// Whether a change of the project holds it.
    fn is_in_project(&self) -> bool {
        self.is_of_project || outputs::is_in_project(&self.path)
    }

    /// Its path for a flag of the next command; none if the project names it, or it is no file of this format.
    fn argument(&self, usual: AnswerFile) -> Option<&str> {
        let is_there = || self.text().is_ok_and(|text| usual.is_of(&text));
        (!self.is_of_project && is_there()).then_some(self.path.as_str())
    }
}

/// The questions, with what they are about.
struct Asked {
    questions: Vec<Question>,
    seen: Option<SeenTools>,
    loaded: Option<LoadedTools>,
    facts: Target,
    mapping: Target,
}

impl Asked {
    /// The guesses that reading the logs made; without a log, those of the tool facts file.
    fn find(args: &Args) -> Result<Asked, Failure> {
        let project = Project::find()?;
        let facts = Target::find(args.tools.as_deref(), project.tools.as_deref(), FACTS)?;
        let mapping = Target::find(args.reading.map.as_deref(), project.map.as_deref(), MAPPING)?;
        let is_there =
            facts.is_of_project || args.tools.is_some() && args.inputs.is_empty() || files::exists(&facts.path);
        let loaded = is_there.then(|| playbooks::written_facts(&facts.path)).transpose()?;
        for target in [&facts, &mapping].into_iter().filter(|target| !target.is_of_project) {
            outputs::refuse(&target.path)?;
        }
        let guesses =
            loaded.iter().flat_map(LoadedTools::guesses).map(|(row, guess)| (row.to_owned(), guess)).collect();
        let seen = match (args.inputs.is_empty(), &loaded) {
            (true, Some(_)) => None,
            (true, None) => {
                return Err(Failure::new("the project names no tool facts file, and there is none here")
                    .help("name a log whose guesses are to be confirmed, or a file with `--tools`")
                    .next("playproof confirm LOG"));
            }
            (false, _) => {
                let paths = InputPaths::find(&args.inputs)?;
                for target in [&facts, &mapping] {
                    outputs::refuse_input(&target.path, paths.files().iter().map(String::as_str))?;
                }
                Some(SeenTools::read(&paths, &args.reading, &project)?)
            }
        };
        let mut questions = match &seen {
            Some(seen) => of_logs(seen, &guesses, &declared(loaded.as_ref(), &project)?, &mapping.text()?),
            None => of_facts(guesses),
        };
        question::sort(&mut questions);
        Ok(Asked { questions, seen, loaded, facts, mapping })
    }

    /// Where a tool or a template is confirmed already.
    fn confirmed(&self, word: &str) -> Option<String> {
        let row = self.loaded.as_ref().and_then(|loaded| {
            let place = loaded.place(word, "access").filter(|_| loaded.guesses().all(|(guess, _)| guess != word))?;
            let line = loaded.source.text.get(..place.span.start)?.matches('\n').count() + 1;
            Some(format!("{}:{line}", self.facts.path))
        });
        let text = self.mapping.text().unwrap_or_default();
        let decisions = Decisions::of(&text);
        let is_meant = |open: &OpenTemplate| open.template == word && decisions.hold(open);
        row.or_else(|| self.seen.as_ref()?.open().any(is_meant).then(|| self.mapping.path.clone()))
    }

    /// Writes the answers, and says what is left, or what the logs show with the facts that people now said.
    fn end(
        &self,
        args: &Args,
        answers: &[Option<Decision>],
        terminal: &Terminal,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let answered = || self.questions.iter().zip(answers).filter_map(|(of, answer)| Some((of, (*answer)?)));
        self.write(answered(), output)?;
        let mut lines: Vec<String> =
            answered().map(|(of, answer)| format!("confirmed {}: {}", of.name(), answer.words())).collect();
        let left: Vec<&Question> =
            self.questions.iter().zip(answers).filter(|(_, answer)| answer.is_none()).map(|(of, _)| of).collect();
        if !left.is_empty() {
            lines.push(counted(left.len() as u64, "guess is left", "guesses are left"));
        }
        let next = match (left.is_empty(), args.inputs.is_empty()) {
            (false, _) => question::twin(args, &left),
            (true, true) => "playproof check".into(),
            (true, false) => {
                let (facts, map) = (self.facts.argument(FACTS), self.mapping.argument(MAPPING));
                let replay = Command::new("playproof replay").paths(&args.inputs).flag_if("--tools", facts);
                args.flags.reading(&[]).after(replay.flag_if("--map", map.filter(|_| args.reading.map.is_none())))
            }
        };
        if left.is_empty() && !args.inputs.is_empty() {
            output.lines(&lines)?;
            match self.found(args, terminal) {
                Ok(found) => lines = found,
                Err(failure) => {
                    output.lines(&[format!("next: {next}")])?;
                    return Err(failure);
                }
            }
        }
        lines.push(format!("next: {next}"));
        output.lines(&lines)?;
        Ok(if left.is_empty() { Exit::Clean } else { Exit::Found })
    }

    /// The sentences that a replay of the logs opens with; nothing where a log came through a pipe and is gone.
    fn found(&self, args: &Args, terminal: &Terminal) -> Result<Vec<String>, Failure> {
        let paths = InputPaths::find(&args.inputs)?;
        if paths.files().iter().any(|path| files::size(path).is_none()) {
            return Ok(Vec::new());
        }
        let project = Project::find()?;
        let tools = playbooks::facts(self.facts.argument(FACTS), &project)?;
        let plan = Plan::new(playbooks::load(&playbooks::name(None, &project))?.playbook, &tools);
        let map = args.reading.map.clone().or_else(|| self.mapping.argument(MAPPING).map(str::to_owned));
        let reading = ReadOptions { map, ..args.reading.clone() };
        let stream = Stream::new("replay", &paths, &reading, args.flags.reading(&["--tools"]));
        let streamed = stream.run(std::slice::from_ref(&plan), &(), &project, terminal, drop)?.all_read()?;
        let totals = Totals { replayed: &streamed.replayed, names: &[&plan.names] };
        let said = Block::para(sentences(&totals).join(" "));
        let lines = format!("\n{}\n", terminal.out.drawn(&[said]));
        Ok(lines.split('\n').map(str::to_owned).collect())
    }

    /// Writes the answers into the files that they go to. These are read again under the lock: what others wrote meanwhile
    /// stays.
    fn write<'a>(
        &'a self,
        answered: impl Iterator<Item = (&'a Question, Decision)>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let (mut tools, mut results) = (Vec::new(), Vec::new());
        for (question, decision) in answered {
            match (question, decision) {
                (Question::Tool(tool), Decision::Tool(answer)) => tools.push((tool, answer)),
                (Question::Results(open), Decision::Results(confirmed)) => results.push((open, confirmed)),
                (Question::Tool(_), Decision::Results(_)) | (Question::Results(_), Decision::Tool(_)) => {}
            }
        }
        let targets = [(&self.facts, tools.is_empty()), (&self.mapping, results.is_empty())];
        let has_own = targets.iter().any(|(target, is_unused)| !is_unused && target.is_in_project());
        let lock = has_own.then(|| Workspace::open()?.project_lock()).transpose()?;
        let mut written: Vec<(&Target, String)> = Vec::new();
        if !tools.is_empty() {
            written.push((&self.facts, self.facts_with(&tools)?));
        }
        if !results.is_empty() {
            let text = decided(&self.mapping.text()?, &results)?;
            mapping::parse(Source::whole(&*self.mapping.path, text.clone()))?;
            written.push((&self.mapping, text));
        }
        let (own, others): (Vec<_>, Vec<_>) = written.into_iter().partition(|(target, _)| target.is_in_project());
        others.iter().try_for_each(|(target, _)| outputs::refuse(&target.path))?;
        if let Some(lock) = lock {
            let change =
                |(target, text): (&Target, String)| Change::Write(Path::new(&target.path).into(), text.into_bytes());
            lock.commit(&own.into_iter().map(change).collect::<Vec<_>>(), output)?;
        }
        for (target, text) in others {
            outputs::write(&target.path, text.as_bytes(), output)?;
        }
        Ok(())
    }

    /// The text of the tool facts file with the answers; a new one has the guesses that are left, with their marks.
    fn facts_with(&self, answered: &[(&ToolGuess, Answer)]) -> Result<String, Failure> {
        let path = &self.facts.path;
        let facts = match (files::exists(path), &self.seen) {
            (false, Some(seen)) => {
                // What makes a request is asked of nobody here: an answer must not confirm it.
                let tools = seen.tools().map(|tool| ToolCount { args: None, ..tool });
                tools::load(Source::whole(path, tool_facts::render(&seen.logs, tools)))?
            }
            _ => playbooks::written_facts(path)?,
        };
        let rows = answered.iter().filter(|(of, _)| !facts.has_row(&of.pattern));
        let rows: Vec<String> = rows.map(|(of, answer)| tool_facts::written(&of.tool, *answer, false)).collect();
        let answers = answered.iter().map(|(of, answer)| (of.pattern.clone(), *answer)).collect();
        let text = facts.answered(&answers).ok_or_else(|| {
            Failure::new(format!("the answers cannot be written into `{path}`: several rows share one value"))
                .help("nothing was written; give each row its own facts")
        })?;
        if rows.is_empty() {
            return Ok(text);
        }
        let text = tools::load(Source::whole(path, text))?.with_rows(&rows).ok_or_else(|| {
            Failure::new(format!("no row can be added to `{path}`: its rows do not stand on lines of their own"))
                .help(format!("nothing was written; add the rows yourself: {}", rows.join("; ")))
        })?;
        tools::load(Source::whole(path, text.clone()))?;
        Ok(text)
    }
}

/// The guesses of a tool facts file.
fn of_facts(guesses: BTreeMap<String, Answer>) -> Vec<Question> {
    let question = |(pattern, guess): (String, Answer)| {
        Question::Tool(ToolGuess { tool: pattern.clone(), pattern, guess, calls: None, from: "its row" })
    };
    guesses.into_iter().map(question).collect()
}

/// The guesses that reading logs made: tools that nobody declared or whose rows have marks, and results that are perhaps
/// failures and that the mapping has not decided.
fn of_logs(seen: &SeenTools, guesses: &BTreeMap<String, Answer>, declared: &Tools, mapping: &str) -> Vec<Question> {
    let mut tools: BTreeMap<String, ToolGuess> = BTreeMap::new();
    for count in seen.tools().filter(|count| !count.is_redacted && is_name(count.tool)) {
        let pattern = glob::escape(count.tool);
        let marked = guesses.get(&pattern).copied();
        if marked.is_none() && declared.facts(count.tool).declared {
            continue;
        }
        let of = tools.entry(pattern.clone()).or_insert_with(|| ToolGuess {
            tool: count.tool.to_owned(),
            pattern,
            guess: marked.unwrap_or_else(|| guess(count.tool, count.hints)),
            calls: None,
            from: match (marked, count.hints == ToolHints::default()) {
                (Some(_), _) => "its row",
                (None, true) => "its name",
                (None, false) => "a tool list",
            },
        });
        let (calls, failed) = of.calls.unwrap_or_default();
        of.calls = Some((calls.saturating_add(count.calls), failed.saturating_add(count.failed)));
    }
    let decisions = Decisions::of(mapping);
    let results = seen.open().filter(|open| !decisions.hold(open)).cloned().map(Question::Results);
    tools.into_values().map(Question::Tool).chain(results).collect()
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
fn listed(questions: &[&Question]) -> String {
    let lines = questions.iter().map(|question| {
        escape_unprintable(&format!("{}  {}  guessed: {}", question.name(), question.seen(), question.guessed()))
            .into_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines broken between words, so that none is longer than a narrow terminal.
fn folded(text: &str, columns: usize) -> String {
    let lines = text.split('\n').flat_map(|line| {
        let said = line.trim_start_matches(' ');
        hanging(line.strip_suffix(said).unwrap_or_default(), said, columns)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A person at a terminal.
struct AtTerminal(Term);

impl Screen for AtTerminal {
    fn show(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.0.write_line(&folded(text, usize::from(self.0.size().1)))?)
    }

    fn key(&mut self) -> Result<Option<KeyPress>, Failure> {
        read_key(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_of_a_question_is_broken_on_a_narrow_terminal() {
        let keys = "\npay  2 calls\n  r reads   i writes, and doing it twice is doing it once";
        let shown = folded(keys, 40);
        assert!(shown.lines().all(|line| line.len() <= 40), "{shown}");
        assert!(shown.split_whitespace().eq(keys.split_whitespace()) && shown.contains("\n  r reads"), "{shown}");
    }
}
