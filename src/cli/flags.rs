//! The flags of a command as words, for the commands that it suggests: what is run next reads the same inputs the same
//! way. Which command is suggested is decided elsewhere.

use super::beyond;
use super::files;
use super::reading::Reading;
use crate::report::text;
use crate::trace::assemble::AssembleOptions;
use crate::upstream::BeyondTape;

/// Flags with their values, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Flags(Vec<String>);

impl Flags {
    /// With a flag that has a value, if it was given.
    #[must_use]
    pub fn with(mut self, flag: &str, value: Option<&str>) -> Flags {
        self.0.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value.to_owned()]));
        self
    }

    /// With how traces are read.
    #[must_use]
    pub fn reading(self, reading: &Reading) -> Flags {
        let usual = AssembleOptions::default().reorder_window;
        let window = (reading.reorder_window != usual).then(|| reading.reorder_window.to_string());
        let mut flags = self.with("--map", reading.map.as_deref());
        for (flag, given) in [("--join-resends", reading.join_resends), ("--skip-invalid", reading.skip_invalid)] {
            flags.0.extend(given.then(|| flag.to_owned()));
        }
        let allowed = reading.allow_skipped.map(|lines| lines.to_string());
        flags.with("--allow-skipped", allowed.as_deref()).with("--reorder-window", window.as_deref())
    }

    /// With what answers where a recording ends.
    #[must_use]
    pub fn beyond(self, beyond: &BeyondTape) -> Flags {
        self.with("--beyond-tape", beyond::word(beyond).as_deref())
    }

    /// How many of them read standard input.
    pub fn of_stdin(&self) -> usize {
        self.0.iter().filter(|word| *word == files::STDIN).count()
    }

    /// The same, with `file` in place of standard input for all but the last that reads it.
    #[must_use]
    pub fn with_stdin_once(&self, file: &str) -> Flags {
        let last = self.0.iter().rposition(|word| word == files::STDIN);
        let once = |(n, word): (usize, &String)| match word == files::STDIN && Some(n) != last {
            true => file.to_owned(),
            false => word.clone(),
        };
        Flags(self.0.iter().enumerate().map(once).collect())
    }

    /// The command that begins with `words`.
    pub fn after<S: AsRef<str>>(&self, words: &[S]) -> String {
        let words = words.iter().map(AsRef::as_ref).chain(self.0.iter().map(String::as_str));
        text::shell_words(&words.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_command_keeps_the_flags_that_were_given_and_no_others() {
        let mut reading = Reading::plain(None);
        assert_eq!(Flags::default().reading(&reading).beyond(&BeyondTape::Unanswered).after(&["go"]), "go");
        let map = Some("my map".into());
        reading = Reading { map, join_resends: true, skip_invalid: true, allow_skipped: Some(3), reorder_window: 7 };
        let flags = Flags::default().with("--tools", Some("t")).with("--playbook", None).reading(&reading);
        assert_eq!(
            flags.beyond(&BeyondTape::Fail("timeout".into())).after(&["go"]),
            "go --tools t --map 'my map' --join-resends --skip-invalid --allow-skipped 3 --reorder-window 7 --beyond-tape fail:timeout"
        );
    }
}
