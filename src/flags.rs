//! The flags of the current command as words, so that a suggested command reads the same inputs in the same way.

use clap::ValueEnum;

use super::files;
use super::missing_answer;
use super::read_options::ReadOptions;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::shell::Command;
use playproof_trace::assemble::AssembleOptions;

/// The flags whose value may be standard input.
const READING: [&str; 6] = ["--accepted", "--base", "--candidate", "--map", "--playbook", "--tools"];

/// Flags with their values, in order.
#[derive(Clone, Debug, Default)]
pub struct Flags(Vec<(&'static str, Option<String>)>);

impl Flags {
    /// Adds a flag with its value, if there is one.
    #[must_use]
    pub fn with(mut self, flag: &'static str, value: Option<&str>) -> Flags {
        self.0.extend(value.map(|value| (flag, Some(value.to_owned()))));
        self
    }

    /// Adds a flag with a number, if there is one.
    #[must_use]
    pub fn number(self, flag: &'static str, value: Option<impl ToString>) -> Flags {
        self.with(flag, value.map(|number| number.to_string()).as_deref())
    }

    /// Adds a flag with words of a list, separated by commas, if there are any.
    #[must_use]
    pub fn words<V: ValueEnum>(self, flag: &'static str, values: &[V]) -> Flags {
        let names: Vec<String> =
            values.iter().filter_map(V::to_possible_value).map(|value| value.get_name().to_owned()).collect();
        self.with(flag, Some(&*names.join(",")).filter(|_| !names.is_empty()))
    }

    /// Adds a flag with one such word, unless it is the default.
    #[must_use]
    pub fn word<V: ValueEnum + Default + PartialEq>(self, flag: &'static str, value: V) -> Flags {
        if value == V::default() { self } else { self.words(flag, &[value]) }
    }

    /// Adds a flag without a value, if it is given.
    #[must_use]
    pub fn set(mut self, flag: &'static str, is_given: bool) -> Flags {
        self.0.extend(is_given.then_some((flag, None)));
        self
    }

    /// Adds the flags of [`ReadOptions`].
    #[must_use]
    pub fn reading(self, reading: &ReadOptions) -> Flags {
        let usual = AssembleOptions::default().reorder_window;
        self.with("--map", reading.map.as_deref())
            .with("--as", reading.read_as.as_deref())
            .set("--join-resends", reading.join_resends)
            .set("--skip-invalid", reading.skip_invalid)
            .number("--allow-skipped", reading.allow_skipped)
            .number("--reorder-window", Some(reading.reorder_window).filter(|window| *window != usual))
    }

    /// Adds `--beyond-tape`, if it is given.
    #[must_use]
    pub fn beyond(self, beyond: &MissingAnswerPolicy) -> Flags {
        self.with("--beyond-tape", missing_answer::word(beyond).as_deref())
    }

    /// Removes these flags, which another command does not have.
    #[must_use]
    pub fn without(&self, unknown: &[&str]) -> Flags {
        Flags(self.0.iter().filter(|(flag, _)| !unknown.contains(flag)).cloned().collect())
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

    /// The command with these flags.
    pub fn after(&self, command: Command) -> Command {
        self.0.iter().fold(command, |command, (flag, value)| match value {
            Some(value) => command.flag(flag, value),
            None => command.and(flag),
        })
    }
}

fn reads_stdin((flag, value): &(&'static str, Option<String>)) -> bool {
    READING.contains(flag) && value.as_deref() == Some(files::STDIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_command_keeps_the_flags_that_were_given_and_no_others() {
        let mut reading = ReadOptions::plain(None);
        assert_eq!(
            Flags::default().reading(&reading).beyond(&MissingAnswerPolicy::Unanswered).after("go".into()).to_string(),
            "go"
        );
        let map = Some("my map".into());
        reading = ReadOptions {
            map,
            join_resends: true,
            skip_invalid: true,
            allow_skipped: Some(3),
            reorder_window: 7,
            ..reading
        };
        let flags = Flags::default().with("--tools", Some("t")).with("--playbook", None).reading(&reading);
        assert_eq!(
            flags.beyond(&MissingAnswerPolicy::Fail("timeout".into())).after("go".into()).to_string(),
            "go --tools t --map 'my map' --join-resends --skip-invalid --allow-skipped 3 --reorder-window 7 --beyond-tape fail:timeout"
        );
    }
}
