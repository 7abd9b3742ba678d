//! Shell commands that users can paste: our own words, and quoted foreign ones, so that a shell takes each word literally.
//! Does not choose commands.

use std::fmt;

use crate::text::is_unsafe_to_print;

/// A command that can be pasted. Methods quote foreign words; our own words are `'static`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    words: String,
    /// The names after `--`: from the first one that begins with a dash.
    behind: Vec<String>,
}

impl Command {
    /// Words of our own.
    pub fn new(text: &'static str) -> Command {
        Command { words: text.to_owned(), behind: Vec::new() }
    }

    /// With further words of our own.
    #[must_use]
    pub fn and(mut self, text: &'static str) -> Command {
        self.push(text);
        self
    }

    /// With a name.
    #[must_use]
    pub fn name(mut self, name: &str) -> Command {
        match self.behind.is_empty() && !is_dashed(name) {
            true => self.push(&word(name)),
            false => self.behind.push(word(name)),
        }
        self
    }

    /// With a word that the user typed, a flag or not.
    #[must_use]
    pub fn given(mut self, typed: &str) -> Command {
        self.push(&word(typed));
        self
    }

    /// With names.
    #[must_use]
    pub fn names<S: AsRef<str>>(self, names: impl IntoIterator<Item = S>) -> Command {
        names.into_iter().fold(self, |command, name| command.name(name.as_ref()))
    }

    /// With the path of a file or a folder.
    #[must_use]
    pub fn path(self, path: &str) -> Command {
        if is_dashed(path) { self.name(&format!("./{path}")) } else { self.name(path) }
    }

    /// With paths.
    #[must_use]
    pub fn paths<S: AsRef<str>>(self, paths: impl IntoIterator<Item = S>) -> Command {
        paths.into_iter().fold(self, |command, path| command.path(path.as_ref()))
    }

    /// With a flag of ours and its value.
    #[must_use]
    pub fn flag(mut self, flag: &str, value: &str) -> Command {
        let between = if is_dashed(value) { '=' } else { ' ' };
        self.push(&format!("{flag}{between}{}", word(value)));
        self
    }

    /// With a flag and its value, if there is one.
    #[must_use]
    pub fn flag_if(self, flag: &str, value: Option<&str>) -> Command {
        value.into_iter().fold(self, |command, value| command.flag(flag, value))
    }

    /// With a file that the command writes.
    #[must_use]
    pub fn into_file(self, path: &str) -> Command {
        self.and(">").path(path)
    }

    /// With a second command that reads the output of the first one, or runs after it.
    #[must_use]
    pub fn then(mut self, joint: &'static str, second: &Command) -> Command {
        self.words = format!("{self} {joint} {second}");
        self.behind.clear();
        self
    }

    fn push(&mut self, words: &str) {
        self.words.push(' ');
        self.words.push_str(words);
    }
}

impl From<&'static str> for Command {
    fn from(text: &'static str) -> Command {
        Command::new(text)
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)?;
        if self.behind.is_empty() { Ok(()) } else { write!(f, " -- {}", self.behind.join(" ")) }
    }
}

/// Whether a program takes it for a flag; `-` alone is standard input.
fn is_dashed(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-')
}

/// The text as one word of a shell command: quoted unless it is harmless, with unsafe characters as octal bytes.
pub fn word(text: &str) -> String {
    let harmless =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '%' | '+' | '=' | ',');
    if !text.is_empty() && text.chars().all(harmless) {
        return text.to_owned();
    }
    if !text.contains(is_unsafe_to_print) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let mut out = String::from("$'");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\'' | '\\' => out.extend(['\\', c]),
            c if is_unsafe_to_print(c) => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("\\{byte:03o}")));
            }
            c => out.push(c),
        }
    }
    out + "'"
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test asks a shell how it reads a word")]
mod tests {
    use std::process::Command as Process;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_a_command_can_be_pasted() {
        let command = Command::new("go").paths(["a/b.jsonl", "-x", "-"]).names(["r1#3", "it's; rm", ""]);
        assert_eq!(command.to_string(), r"go a/b.jsonl ./-x - 'r1#3' 'it'\''s; rm' ''");
        assert_eq!(Command::new("go").given("-x").given("a b").given("--").to_string(), "go -x 'a b' --");
        assert_eq!(word("a\nb\u{202e}"), r"$'a\nb\342\200\256'");
        let command = Command::new("go").name("a").name("-b").name("c").flag("--reason", "-x").and("--all");
        assert_eq!(command.to_string(), "go a --reason=-x --all -- -b c");
        assert_eq!(Command::new("go").name("-b").then("|", &Command::new("to")).to_string(), "go -- -b | to");
    }

    #[test]
    fn every_foreign_word_is_quoted_by_every_method() {
        let odd = "a; b";
        let enters: [fn(Command, &str) -> Command; 9] = [
            |command, odd| command.name(odd),
            |command, odd| command.names([odd]),
            |command, odd| command.name("-x").name(odd),
            |command, odd| command.given(odd),
            |command, odd| command.path(odd),
            |command, odd| command.paths([odd]),
            |command, odd| command.flag("--to", odd),
            |command, odd| command.flag_if("--to", Some(odd)),
            |command, odd| command.into_file(odd),
        ];
        for (n, enter) in enters.into_iter().enumerate() {
            let command = enter(Command::new("go"), odd).to_string();
            assert!(command.ends_with(" 'a; b'"), "{n}: {command}");
        }
    }

    #[test]
    fn a_word_with_any_special_character_of_a_shell_is_quoted() {
        for c in " \t\n\r*?[]{}()<>|&;$`\"'\\!#~^\u{1b}\u{a0}\u{202e}".chars() {
            for text in [format!("{c}"), format!("a{c}b")] {
                let word = word(&text);
                assert!(word.starts_with('\'') || word.starts_with("$'"), "{text:?} is {word}");
                assert!(!word.contains(is_unsafe_to_print), "{text:?} is {word:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_shell_takes_a_word_literally(text in r"(?s)[^\x00]{0,24}", odd in "[-'\"\\\\$`!*?~;&|<>(){}\\[\\] \t\r\n#=%]{0,24}") {
            for text in [text, odd] {
                let script = format!("printf %s {}", word(&text));
                let Ok(ran) = Process::new("bash").args(["-c", &script]).output() else { return Ok(()) };
                prop_assert_eq!(ran.stdout, text.as_bytes(), "{}", script);
            }
        }
    }
}
