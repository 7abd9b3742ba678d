//! The guesses that wait for an answer, worst first; the answers of the command line; the command that gives them.
//! Reads and writes nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::args::{Args, Options};
use crate::exit::Failure;
use playproof_analysis::confirm::{Confirmed, OpenTemplate};
use playproof_engine::glob::{Glob, escape};
use playproof_formats::diagnostic::did_you_mean;
use playproof_formats::playbook::tools::Answer;
use playproof_formats::shell::Command;
use playproof_report::text::{self, counted};

/// The glob of every guess.
const ALL: &str = "**";

/// A guess that reading a log made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// What a tool does.
    Tool(ToolGuess),
    /// Whether results with one template failed.
    Results(OpenTemplate),
}

/// What is guessed of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolGuess {
    /// The tool, or a glob of tools.
    pub tool: String,
    /// The name of its row: the tool as a glob that matches it alone.
    pub pattern: String,
    /// The guess.
    pub guess: Answer,
    /// Its calls, and those with a failed attempt; none if no log was read.
    pub calls: Option<(u64, u64)>,
    /// What the guess is made of.
    pub from: &'static str,
}

/// An answer to a question of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// What the tool does.
    Tool(Answer),
    /// What the results are.
    Results(Confirmed),
}

/// Every decision: its key at a terminal, its flag, and its words.
const DECISIONS: [(Decision, char, &str, &str); 6] = [
    (Decision::Tool(Answer::Reads), 'r', "--read", "reads"),
    (Decision::Tool(Answer::Writes), 'w', "--write", "writes"),
    (Decision::Tool(Answer::WritesOnce), 'i', "--idempotent", "writes, and doing it twice is doing it once"),
    (Decision::Results(Confirmed::Failed), 'f', "--failed", "failed"),
    (Decision::Results(Confirmed::Ok), 'o', "--ok", "an answer"),
    (Decision::Results(Confirmed::Unfinished), 'u', "--unfinished", "not done yet"),
];

impl Decision {
    /// In words.
    pub fn words(self) -> &'static str {
        DECISIONS.iter().find(|row| row.0 == self).map_or("", |row| row.3)
    }
}

impl Question {
    /// What it is about: a tool, or the template of results.
    pub fn name(&self) -> &str {
        match self {
            Question::Tool(tool) => &tool.tool,
            Question::Results(open) => &open.template,
        }
    }

    /// How often it was seen.
    pub fn seen(&self) -> String {
        match self {
            Question::Tool(tool) => match tool.calls {
                None => "not confirmed".to_owned(),
                Some((0, _)) => "not called".to_owned(),
                Some((calls, failed)) => {
                    format!("{}, {} failed", counted(calls, "call", "calls"), text::count(failed))
                }
            },
            Question::Results(open) => format!("{} of {}", counted(open.count, "result", "results"), open.tool),
        }
    }

    /// The guess.
    pub const fn guess(&self) -> Decision {
        match self {
            Question::Tool(tool) => Decision::Tool(tool.guess),
            Question::Results(OpenTemplate { is_unfinished: true, .. }) => Decision::Results(Confirmed::Unfinished),
            Question::Results(_) => Decision::Results(Confirmed::Failed),
        }
    }

    /// The guess and where it is from.
    pub fn guessed(&self) -> String {
        let from = match self {
            Question::Tool(tool) => tool.from,
            Question::Results(_) => "its words",
        };
        format!("{}, by {from}", self.guess().words())
    }

    /// The decision that a key makes.
    pub fn decision(&self, key: char) -> Option<Decision> {
        self.decisions().find(|row| row.1 == key).map(|row| row.0)
    }

    /// The keys that decide it, with their words.
    pub fn keys(&self) -> String {
        self.decisions().map(|(_, key, _, words)| format!("{key} {words}")).collect::<Vec<_>>().join("   ")
    }

    fn decisions(&self) -> impl Iterator<Item = &'static (Decision, char, &'static str, &'static str)> {
        let kind = std::mem::discriminant(&self.guess());
        DECISIONS.iter().filter(move |row| std::mem::discriminant(&row.0) == kind)
    }

    /// The word that names it alone on the command line.
    fn argument(&self) -> &str {
        match self {
            Question::Tool(tool) => &tool.pattern,
            Question::Results(open) => &open.template,
        }
    }

    /// Whether a word of the command line names it.
    fn is_named(&self, word: &str, glob: Option<&Glob>) -> bool {
        match self {
            Question::Tool(tool) => {
                tool.tool == word || tool.pattern == word || glob.is_some_and(|glob| glob.is_match(&tool.tool))
            }
            Question::Results(open) => open.template == word || word == ALL,
        }
    }
}

/// Sorts questions, worst first: results that may be failures, then the tools that fail most often.
pub fn sort(questions: &mut [Question]) {
    questions.sort_by_cached_key(|of| {
        let seen = match of {
            Question::Results(open) => (true, open.count, 0),
            Question::Tool(tool) => tool.calls.map_or((false, 0, 0), |(calls, failed)| (false, failed, calls)),
        };
        (Reverse(seen), of.name().to_owned())
    });
}

/// The answers that the command line gives, one place for each question; none if it gives none.
///
/// # Errors
/// A word that names no guess (`confirmed` is the place where that is confirmed already); two answers to one guess.
pub fn answers(
    args: &Options,
    questions: &[Question],
    confirmed: impl Fn(&str) -> Option<String>,
) -> Result<Option<Vec<Option<Decision>>>, Failure> {
    let lists = [&args.read, &args.write, &args.idempotent, &args.failed, &args.ok, &args.unfinished];
    let given = DECISIONS.iter().zip(lists).map(|(row, words)| (Some(row.0), row.2, words));
    let given: Vec<_> = given.chain([(None, "--guessed", &args.guessed)]).collect();
    if given.iter().all(|(_, _, words)| words.is_empty()) {
        return Ok(None);
    }
    let mut answers: Vec<Option<(Decision, &str, bool)>> = vec![None; questions.len()];
    for (decided, flag, words) in given {
        for word in words {
            let glob = Glob::new(word).ok();
            let mut any = false;
            for (question, answer) in questions.iter().zip(&mut answers) {
                let decision = decided.unwrap_or_else(|| question.guess());
                let is_of_kind = std::mem::discriminant(&decision) == std::mem::discriminant(&question.guess());
                if !is_of_kind || !question.is_named(word, glob.as_ref()) {
                    continue;
                }
                any = true;
                // A whole name says more than a pattern that it fits.
                let is_whole = decided.is_none() || question.name() == *word;
                if answer.is_some_and(|(_, _, was_whole)| was_whole && !is_whole) {
                    continue;
                }
                let differs =
                    |(before, _, was_whole): &(Decision, &str, bool)| *before != decision && *was_whole == is_whole;
                if let Some((before, other, _)) = answer.filter(differs) {
                    let name = question.name();
                    let said = format!("`{name}` is answered twice: {}, and {}", before.words(), decision.words());
                    return Err(Failure::new(said).help(format!("`{other}` and `{flag}` both name it")));
                }
                *answer = Some((decision, flag, is_whole));
            }
            if !any {
                return Err(confirmed(word).map_or_else(
                    || no_guess(questions, word),
                    |place| {
                        Failure::new(format!("`{word}` is confirmed already, in {place}"))
                            .help("nothing was changed; edit it there")
                    },
                ));
            }
        }
    }
    Ok(Some(answers.into_iter().map(|answer| answer.map(|(decision, ..)| decision)).collect()))
}

/// A word of the command line that names no guess, with the guess, or the group of tools, that was probably meant.
fn no_guess(questions: &[Question], word: &str) -> Failure {
    let named = if word == ALL { String::new() } else { format!(" has a name like `{word}`") };
    let failure = Failure::new(format!("no guess{named}"));
    let groups = questions.iter().filter_map(group).map(|group| format!("{group}*"));
    let known: Vec<String> = questions.iter().map(|of| of.argument().to_owned()).chain(groups).collect();
    match did_you_mean(word, known.iter().map(String::as_str)) {
        Some(near) => failure.typo(word, near),
        None => failure.help(
            "a guess is a tool that no tool facts declare, a row with the mark `# guessed: confirm`, or the template of \
             results that are perhaps failures",
        ),
    }
}

/// The command that answers every question as it is guessed.
pub fn twin(args: &Args, questions: &[&Question]) -> Command {
    let mut command = Command::new("playproof confirm").paths(&args.inputs);
    for (decision, _, flag, _) in &DECISIONS {
        for word in words_for(questions, *decision) {
            command = command.flag(flag, &word);
        }
    }
    args.flags.reading(&["--tools"]).after(command)
}

/// The beginning of a tool's name, which the tools of its group share.
fn group(of: &Question) -> Option<String> {
    let Question::Tool(tool) = of else { return None };
    tool.tool.rsplit_once('.').map(|(group, _)| format!("{group}."))
}

/// What names the questions with this guess, in order; the tools of one group as one glob if all of the group have it.
fn words_for(questions: &[&Question], decision: Decision) -> Vec<String> {
    // How many tools a group has, and whether all are guessed so.
    let mut groups: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    for question in questions {
        if let Some(prefix) = group(question) {
            let (members, are_alike) = groups.entry(prefix).or_insert((0, true));
            *members += 1;
            *are_alike &= question.guess() == decision;
        }
    }
    let is_whole = |prefix: &String| {
        escape(prefix) == **prefix && groups.get(prefix).is_some_and(|(members, are_alike)| *members > 1 && *are_alike)
    };
    let guessed = questions.iter().filter(|of| of.guess() == decision);
    let words = guessed.map(|question| match group(question).filter(is_whole) {
        Some(prefix) => format!("{prefix}*"),
        None => question.argument().to_owned(),
    });
    let mut seen = BTreeSet::new();
    words.filter(|word| seen.insert(word.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(tool: &str, guess: Answer, failed: u64) -> Question {
        Question::Tool(ToolGuess {
            tool: tool.into(),
            pattern: tool.into(),
            guess,
            calls: Some((3, failed)),
            from: "its name",
        })
    }

    fn results(template: &str) -> Question {
        let (tool, example) = ("pay".to_owned(), template.to_owned());
        Question::Results(OpenTemplate { template: template.into(), count: 2, tool, example, is_unfinished: false })
    }

    #[test]
    fn results_that_may_be_failures_are_asked_first_and_then_the_tools_that_failed_most_often() {
        let mut questions = vec![
            tool("b", Answer::Reads, 0),
            tool("a", Answer::Reads, 0),
            tool("c", Answer::Writes, 2),
            results("gone <n>"),
        ];
        sort(&mut questions);
        assert_eq!(questions.iter().map(Question::name).collect::<Vec<_>>(), ["gone <n>", "c", "a", "b"]);
    }

    #[test]
    fn a_group_is_one_glob_only_if_all_of_it_is_guessed_alike() {
        let questions = [
            tool("search.web", Answer::Reads, 0),
            tool("search.docs", Answer::Reads, 0),
            tool("crm.find", Answer::Reads, 0),
            tool("crm.close", Answer::Writes, 0),
            tool("pay", Answer::Writes, 0),
            results("no search. No result"),
        ];
        let all: Vec<&Question> = questions.iter().collect();
        let words = |decision| words_for(&all, decision);
        assert_eq!(words(Decision::Tool(Answer::Reads)), ["search.*", "crm.find"]);
        assert_eq!(words(Decision::Tool(Answer::Writes)), ["crm.close", "pay"]);
        assert_eq!(words(Decision::Results(Confirmed::Failed)), ["no search. No result"]);
        assert_eq!(words_for(&all[..1], Decision::Tool(Answer::Reads)), ["search.web"]);
    }
}
