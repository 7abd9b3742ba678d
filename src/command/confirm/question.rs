//! The guesses that wait for an answer, worst first; the answers of the command line; the command that gives them.
//! Reads and writes nothing.

use std::collections::BTreeMap;

use super::args::{Args, Options};
use crate::exit::Failure;
use playproof_engine::glob::Glob;
use playproof_formats::playbook::tools::Answer;
use playproof_formats::shell::Command;
use playproof_report::text;

/// What is guessed of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The tool, or a glob of tools.
    pub tool: String,
    /// The name of its row: the tool as a glob that matches it alone.
    pub pattern: String,
    /// The guess.
    pub guess: Answer,
    /// Its calls.
    pub calls: u64,
    /// Its calls with a failed attempt.
    pub failed: u64,
    /// Whether the guess is the hint of a tool list; else it is made of the name.
    pub is_hint: bool,
}

impl Question {
    /// How often it was called.
    pub fn calls(&self) -> String {
        match self.calls {
            0 => "not called".to_owned(),
            calls => format!("{}, {} failed", text::counted(calls, "call", "calls"), text::count(self.failed)),
        }
    }

    /// The guess and where it is from.
    pub fn guessed(&self) -> String {
        let from = if self.is_hint { "a tool list" } else { "its name" };
        format!("{}, by {from}", words(self.guess))
    }
}

/// Sorts questions, worst first: a wrong guess harms the tools that fail.
pub fn sort(questions: &mut [Question]) {
    let key = |of: &Question| (std::cmp::Reverse((of.failed, of.calls)), of.tool.clone());
    questions.sort_by_cached_key(key);
}

/// An answer in words.
pub const fn words(answer: Answer) -> &'static str {
    match answer {
        Answer::Reads => "reads",
        Answer::Writes => "writes",
        Answer::WritesOnce => "writes, and doing it twice is doing it once",
    }
}

/// The answers that the command line gives, by the names of rows; none if it gives none.
///
/// # Errors
/// A glob that is none, or that names no guess; two answers to one guess.
pub fn answers(args: &Options, questions: &[Question]) -> Result<Option<BTreeMap<String, Answer>>, Failure> {
    let given: [(&str, &[String], Option<Answer>); 4] = [
        ("--read", &args.read, Some(Answer::Reads)),
        ("--write", &args.write, Some(Answer::Writes)),
        ("--idempotent", &args.idempotent, Some(Answer::WritesOnce)),
        ("--guessed", &args.guessed, None),
    ];
    if given.iter().all(|(_, globs, _)| globs.is_empty()) {
        return Ok(None);
    }
    let mut answers: BTreeMap<String, (Answer, &str)> = BTreeMap::new();
    for (flag, globs, answer) in given {
        for glob in globs {
            let meant = Glob::new(glob).map_err(|why| Failure::new(format!("`{glob}` is no glob: {why}")))?;
            let is_meant = |of: &&Question| of.tool == *glob || of.pattern == *glob || meant.is_match(&of.tool);
            let mut any = false;
            for question in questions.iter().filter(is_meant) {
                any = true;
                let answer = answer.unwrap_or(question.guess);
                let before = answers.insert(question.pattern.clone(), (answer, flag));
                if let Some((other, before)) = before.filter(|(other, _)| *other != answer) {
                    let said =
                        format!("`{}` is answered twice: {}, and {}", question.tool, words(other), words(answer));
                    return Err(Failure::new(said).help(format!("`{before}` and `{flag}` both name it")));
                }
            }
            if !any {
                let named = if glob == "**" { String::new() } else { format!(" has a name like `{glob}`") };
                return Err(Failure::new(format!("no guess{named}")).help(
                    "a guess is a tool that no tool facts declare, or a row with the mark `# guessed: confirm`",
                ));
            }
        }
    }
    Ok(Some(answers.into_iter().map(|(pattern, (answer, _))| (pattern, answer)).collect()))
}

/// The command that answers every question as it is guessed.
pub fn twin(args: &Args, questions: &[Question]) -> Command {
    let mut command = Command::new("playproof confirm").paths(&args.inputs);
    for (flag, answer) in [("--read", Answer::Reads), ("--write", Answer::Writes), ("--idempotent", Answer::WritesOnce)]
    {
        for glob in globs(questions, answer) {
            command = command.flag(flag, &glob);
        }
    }
    args.flags.reading(&["--tools"]).after(command)
}

/// The tools with this guess, in order; those of one group as one glob if all of the group have it.
fn globs(questions: &[Question], answer: Answer) -> Vec<String> {
    let group = |of: &Question| of.tool.rsplit_once('.').map(|(group, _)| format!("{group}."));
    let mut globs: Vec<String> = Vec::new();
    for question in questions.iter().filter(|of| of.guess == answer) {
        let whole = group(question).filter(|prefix| {
            let is_plain = playproof_engine::glob::escape(prefix) == **prefix;
            let members: Vec<_> = questions.iter().filter(|of| group(of).as_ref() == Some(prefix)).collect();
            is_plain && members.len() > 1 && members.iter().all(|of| of.guess == answer)
        });
        let glob = whole.map_or_else(|| question.pattern.clone(), |prefix| format!("{prefix}*"));
        if !globs.contains(&glob) {
            globs.push(glob);
        }
    }
    globs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(tool: &str, guess: Answer, failed: u64) -> Question {
        Question { tool: tool.into(), pattern: tool.into(), guess, calls: 3, failed, is_hint: false }
    }

    #[test]
    fn the_tools_that_failed_most_often_are_asked_first() {
        let mut questions =
            vec![question("b", Answer::Reads, 0), question("a", Answer::Reads, 0), question("c", Answer::Writes, 2)];
        sort(&mut questions);
        assert_eq!(questions.iter().map(|of| of.tool.as_str()).collect::<Vec<_>>(), ["c", "a", "b"]);
    }

    #[test]
    fn a_group_is_one_glob_only_if_all_of_it_is_guessed_alike() {
        let mut questions = vec![
            question("search.web", Answer::Reads, 0),
            question("search.docs", Answer::Reads, 0),
            question("crm.find", Answer::Reads, 0),
            question("crm.close", Answer::Writes, 0),
            question("crm.close", Answer::Writes, 0),
            question("pay", Answer::Writes, 0),
        ];
        assert_eq!(globs(&questions, Answer::Reads), ["search.*", "crm.find"]);
        assert_eq!(globs(&questions, Answer::Writes), ["crm.close", "pay"]);
        questions.truncate(1);
        assert_eq!(globs(&questions, Answer::Reads), ["search.web"]);
    }
}
