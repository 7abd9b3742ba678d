//! The flags of a command as they were typed, so that a suggested command reads the same inputs in the same way.

use std::ops::Deref;

use clap::builder::Command as Definition;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, FromArgMatches, Id};

use super::files;
use playproof_formats::shell::Command;

/// The flags of [`super::read_options::ReadOptions`]. In a suggested command they come right after the tool facts.
const READING: [&str; 6] = ["--map", "--as", "--join-resends", "--skip-invalid", "--allow-skipped", "--reorder-window"];

/// The flags whose value may be standard input.
const OF_FILES: [&str; 6] = ["--accepted", "--base", "--candidate", "--map", "--playbook", "--tools"];

/// The arguments of a command, with the flags among them that were typed.
#[derive(Clone, Debug)]
pub struct Given<A> {
    /// The arguments.
    pub args: A,
    /// The flags.
    pub flags: Flags,
}

impl<A> Deref for Given<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.args
    }
}

impl<A: Args> FromArgMatches for Given<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let flags = Flags::typed(&A::augment_args(Definition::new("")), matches);
        Ok(Given { args: A::from_arg_matches(matches)?, flags })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Given::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<A: Args> Args for Given<A> {
    fn group_id() -> Option<Id> {
        A::group_id()
    }

    fn augment_args(definition: Definition) -> Definition {
        A::augment_args(definition)
    }

    fn augment_args_for_update(definition: Definition) -> Definition {
        A::augment_args_for_update(definition)
    }
}

/// Flags with their values, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Flags(Vec<(String, Option<String>)>);

impl Flags {
    /// The flags of a command that were typed and say something else than their default.
    fn typed(definition: &Definition, matches: &ArgMatches) -> Flags {
        let mut args: Vec<(usize, String, &Arg)> = definition
            .get_arguments()
            .enumerate()
            .filter_map(|(n, arg)| Some((n, format!("--{}", arg.get_long()?), arg)))
            .collect();
        let tools = args.iter().find(|(_, flag, _)| flag == "--tools").map(|(n, ..)| *n);
        args.sort_by_key(|(n, flag, _)| tools.filter(|_| READING.contains(&flag.as_str())).unwrap_or(*n));
        Flags(args.into_iter().flat_map(|(_, flag, arg)| typed_of(&flag, arg, matches)).collect())
    }

    /// With one more flag, if it has a value.
    #[must_use]
    pub fn with(mut self, flag: &str, value: Option<&str>) -> Flags {
        self.0.extend(value.map(|value| (flag.to_owned(), Some(value.to_owned()))));
        self
    }

    /// With others after these.
    #[must_use]
    pub fn and(mut self, others: Flags) -> Flags {
        self.0.extend(others.0);
        self
    }

    /// Without these flags.
    #[must_use]
    pub fn without(&self, unknown: &[&str]) -> Flags {
        self.those(|flag| !unknown.contains(&flag))
    }

    /// These flags alone.
    #[must_use]
    pub fn only(&self, known: &[&str]) -> Flags {
        self.those(|flag| known.contains(&flag))
    }

    /// Without the flags that say how traces are read, and without these.
    #[must_use]
    pub fn without_reading(&self, others: &[&str]) -> Flags {
        self.those(|flag| !READING.contains(&flag) && !others.contains(&flag))
    }

    /// These flags, and those that say how traces are read.
    #[must_use]
    pub fn reading(&self, others: &[&str]) -> Flags {
        self.those(|flag| READING.contains(&flag) || others.contains(&flag))
    }

    fn those(&self, is_kept: impl Fn(&str) -> bool) -> Flags {
        Flags(self.0.iter().filter(|(flag, _)| is_kept(flag)).cloned().collect())
    }

    /// The number of flags that read standard input.
    pub fn of_stdin(&self) -> usize {
        self.0.iter().filter(|flag| reads_stdin(flag)).count()
    }

    /// The same, with `file` in place of standard input for all but the last that reads it.
    #[must_use]
    pub fn with_stdin_once(&self, file: &str) -> Flags {
        let last = self.0.iter().rposition(reads_stdin);
        let mut flags = self.clone();
        for (n, flag) in flags.0.iter_mut().enumerate() {
            if reads_stdin(flag) && Some(n) != last {
                flag.1 = Some(file.to_owned());
            }
        }
        flags
    }

    /// The flags as they are typed.
    pub fn words(&self) -> impl Iterator<Item = String> {
        self.0
            .iter()
            .map(|(flag, value)| value.as_ref().map_or_else(|| flag.clone(), |value| format!("{flag}={value}")))
    }

    /// The command with these flags.
    pub fn after(&self, command: Command) -> Command {
        self.0.iter().fold(command, |command, (flag, value)| match value {
            Some(value) => command.flag(flag, value),
            None => command.given(flag),
        })
    }
}

fn reads_stdin((flag, value): &(String, Option<String>)) -> bool {
    OF_FILES.contains(&flag.as_str()) && value.as_deref() == Some(files::STDIN)
}

/// An argument as it was typed: once for each value, with the values of a list in one.
fn typed_of(flag: &str, arg: &Arg, matches: &ArgMatches) -> Vec<(String, Option<String>)> {
    let id = arg.get_id().as_str();
    if matches.value_source(id) != Some(ValueSource::CommandLine) {
        return Vec::new();
    }
    if !arg.get_action().takes_values() {
        return vec![(flag.to_owned(), None)];
    }
    let values = matches.get_raw(id).into_iter().flatten();
    let values: Vec<String> = values.map(|value| value.to_string_lossy().into_owned()).collect();
    let values = match arg.get_value_delimiter() {
        Some(delimiter) => vec![values.join(&delimiter.to_string())],
        None if arg.get_default_values().iter().eq(&values) => Vec::new(),
        None => values,
    };
    values.into_iter().map(|value| (flag.to_owned(), Some(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_options::ReadOptions;

    #[derive(Debug, clap::Args)]
    struct Example {
        #[arg(value_name = "INPUT")]
        inputs: Vec<String>,
        #[arg(long, default_value = "table")]
        format: String,
        #[arg(long = "fail-on", value_delimiter = ',')]
        fail: Vec<String>,
        #[arg(long = "playbook")]
        playbooks: Vec<String>,
        #[arg(long)]
        tools: Option<String>,
        #[arg(short, long)]
        jobs: Option<u8>,
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        reading: ReadOptions,
    }

    fn given(words: &str) -> Given<Example> {
        let definition = Given::<Example>::augment_args(Definition::new("go").no_binary_name(true));
        Given::from_arg_matches(&definition.get_matches_from(words.split(' '))).expect("arguments")
    }

    fn again(words: &str) -> String {
        given(words).flags.after("go".into()).to_string()
    }

    #[test]
    fn a_suggested_command_keeps_the_flags_that_were_typed_and_no_others() {
        assert_eq!(again("in.jsonl"), "go");
        assert_eq!(
            again(
                "in.jsonl -j 3 --all --playbook a --map=m --fail-on x,y --playbook b --skip-invalid --tools t --reorder-window 7"
            ),
            "go --fail-on x,y --playbook a --playbook b --tools t --map m --skip-invalid --reorder-window 7 --jobs 3 --all"
        );
        assert_eq!(again("in.jsonl --format table --reorder-window 10000"), "go", "what is the default anyway");
        let given = given("in.jsonl --all --map m");
        assert_eq!(given.inputs, ["in.jsonl"]);
        assert_eq!(
            given.flags.without(&["--all"]).with("--tools", Some("t")).after("go".into()).to_string(),
            "go --map m --tools t"
        );
        assert_eq!(
            given.flags.only(&["--all"]).and(given.flags.reading(&[])).after("go".into()).to_string(),
            "go --all --map m"
        );
    }

    #[test]
    fn the_flags_that_say_how_traces_are_read_are_those_of_the_options() {
        let definition = ReadOptions::augment_args(Definition::new(""));
        let longs: Vec<String> =
            definition.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect();
        assert_eq!(longs, READING);
    }
}
