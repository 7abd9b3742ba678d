//! The flags of a command as words, for the commands that it suggests: what is run next reads the same inputs the same
//! way. Which command is suggested is decided elsewhere.

use super::beyond;
use super::files;
use super::reading::Reading;
use crate::shell::Command;
use crate::trace::assemble::AssembleOptions;
use crate::upstream::BeyondTape;

/// Flags with their values, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Flags(Vec<(&'static str, Option<String>)>);

impl Flags {
    /// With a flag that has a value, if it was given.
    #[must_use]
    pub fn with(mut self, flag: &'static str, value: Option<&str>) -> Flags {
        self.0.extend(value.map(|value| (flag, Some(value.to_owned()))));
        self
    }

    /// With how traces are read.
    #[must_use]
    pub fn reading(self, reading: &Reading) -> Flags {
        let usual = AssembleOptions::default().reorder_window;
        let window = (reading.reorder_window != usual).then(|| reading.reorder_window.to_string());
        let mut flags = self.with("--map", reading.map.as_deref());
        for (flag, given) in [("--join-resends", reading.join_resends), ("--skip-invalid", reading.skip_invalid)] {
            flags.0.extend(given.then_some((flag, None)));
        }
        let allowed = reading.allow_skipped.map(|lines| lines.to_string());
        flags.with("--allow-skipped", allowed.as_deref()).with("--reorder-window", window.as_deref())
    }

    /// With what answers where a recording ends.
    #[must_use]
    pub fn beyond(self, beyond: &BeyondTape) -> Flags {
        self.with("--beyond-tape", beyond::word(beyond).as_deref())
    }

    /// Without those flags, which another command does not know.
    #[must_use]
    pub fn without(&self, unknown: &[&str]) -> Flags {
        Flags(self.0.iter().filter(|(flag, _)| !unknown.contains(flag)).cloned().collect())
    }

    /// How many of them read standard input.
    pub fn of_stdin(&self) -> usize {
        self.0.iter().filter(|(_, value)| reads_stdin(value)).count()
    }

    /// The same, with `file` in place of standard input for all but the last that reads it.
    #[must_use]
    pub fn with_stdin_once(&self, file: &str) -> Flags {
        let last = self.0.iter().rposition(|(_, value)| reads_stdin(value));
        let mut flags = self.clone();
        for (n, (_, value)) in flags.0.iter_mut().enumerate() {
            if reads_stdin(value) && Some(n) != last {
                *value = Some(file.to_owned());
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

fn reads_stdin(value: &Option<String>) -> bool {
    value.as_deref() == Some(files::STDIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_command_keeps_the_flags_that_were_given_and_no_others() {
        let mut reading = Reading::plain(None);
        assert_eq!(
            Flags::default().reading(&reading).beyond(&BeyondTape::Unanswered).after("go".into()).to_string(),
            "go"
        );
        let map = Some("my map".into());
        reading = Reading { map, join_resends: true, skip_invalid: true, allow_skipped: Some(3), reorder_window: 7 };
        let flags = Flags::default().with("--tools", Some("t")).with("--playbook", None).reading(&reading);
        assert_eq!(
            flags.beyond(&BeyondTape::Fail("timeout".into())).after("go".into()).to_string(),
            "go --tools t --map 'my map' --join-resends --skip-invalid --allow-skipped 3 --reorder-window 7 --beyond-tape fail:timeout"
        );
    }
}
