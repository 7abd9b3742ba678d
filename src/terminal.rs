//! The terminal: the output streams, width, colour, person or CI, and single keys. Prints nothing.

#![expect(clippy::disallowed_methods, reason = "this file owns the environment and the terminal")]

use std::io::IsTerminal;

use clap::ValueEnum;
use console::{Key, Term};

use super::exit::Failure;
use playproof_report::doc::{Block, Doc, drawn};
use playproof_report::style::Palette;

/// The width of pages if nothing defines another.
const DEFAULT_WIDTH: usize = 100;

/// The width for narrower terminals, which then wrap.
const MIN_WIDTH: usize = 60;

/// When to colour output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set; elsewhere where `CLICOLOR_FORCE` is.
    #[default]
    Auto,
    /// Also into a file or a pipe.
    Always,
    /// Never.
    Never,
}

/// Both output streams, and whether this is CI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Standard output.
    pub out: StreamStyle,
    /// Standard error.
    pub err: StreamStyle,
    /// Whether this is a CI job: no progress, no prompts.
    pub ci: bool,
}

/// One of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamStyle {
    /// Whether it is a terminal.
    pub is_terminal: bool,
    /// The width in columns.
    pub width: usize,
    /// Whether to colour.
    pub colour: bool,
}

impl Terminal {
    /// Reads the streams and the environment.
    pub fn detect(choice: ColorChoice) -> Terminal {
        let variable = |name: &str| std::env::var(name).ok();
        let columns = |is_terminal: bool, term: &Term| {
            is_terminal.then(|| term.size_checked()).flatten().map(|(_, columns)| columns)
        };
        let (is_out, is_err) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
        let (out, err) = (columns(is_out, &Term::stdout()), columns(is_err, &Term::stderr()));
        let stream = |is_terminal: bool, own: Option<u16>, other: Option<u16>| StreamStyle {
            is_terminal,
            width: width(own, &variable, other),
            colour: colour(choice, is_terminal, &variable),
        };
        Terminal { out: stream(is_out, out, err), err: stream(is_err, err, out), ci: in_ci(&variable) }
    }

    /// Whether a person can be asked.
    pub fn can_ask(&self) -> bool {
        !self.ci && self.out.is_terminal && console::user_attended() && std::io::stdin().is_terminal()
    }
}

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPress {
    /// A character.
    Char(char),
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Ctrl-C.
    Interrupt,
    /// Any other key.
    Other,
}

/// The next key; none if the terminal is gone.
///
/// # Errors
/// The terminal cannot be read.
pub fn read_key(term: &Term) -> Result<Option<KeyPress>, Failure> {
    match term.read_key_raw() {
        Ok(Key::Char(key)) => Ok(Some(KeyPress::Char(key))),
        Ok(Key::Enter) => Ok(Some(KeyPress::Enter)),
        Ok(Key::Escape) => Ok(Some(KeyPress::Escape)),
        Ok(Key::CtrlC) => Ok(Some(KeyPress::Interrupt)),
        // A terminal that went away answers like this for ever.
        Ok(Key::Unknown) => Ok(None),
        Ok(_) => Ok(Some(KeyPress::Other)),
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl StreamStyle {
    /// A page, as this stream shows it.
    pub fn doc(self, doc: &Doc) -> String {
        doc.terminal(self.width, self.palette())
    }

    /// Some blocks of a page, as this stream shows them.
    pub fn drawn(self, blocks: &[Block]) -> String {
        drawn(blocks, self.width, self.palette())
    }

    /// The colours of pages.
    pub fn palette(&self) -> Palette {
        Palette::new(self.colour)
    }
}

/// The width of a page: that of its own terminal, else `COLUMNS`, else that of the other stream's terminal (`less` shows
/// a page there).
fn width(own: Option<u16>, variable: &dyn Fn(&str) -> Option<String>, other: Option<u16>) -> usize {
    let asked = || variable("COLUMNS").and_then(|columns| columns.trim().parse().ok());
    let known = |columns: Option<u16>| columns.filter(|&columns| columns > 0);
    let columns = known(own).or_else(|| known(asked())).or_else(|| known(other));
    columns.map_or(DEFAULT_WIDTH, |columns| usize::from(columns).max(MIN_WIDTH))
}

/// `--color` over `NO_COLOR` over `CLICOLOR_FORCE` over the terminal.
fn colour(choice: ColorChoice, is_terminal: bool, variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR") => false,
        ColorChoice::Auto if set("CLICOLOR_FORCE") && variable("CLICOLOR_FORCE").as_deref() != Some("0") => true,
        ColorChoice::Auto => is_terminal && variable("TERM").as_deref() != Some("dumb"),
    }
}

fn in_ci(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let ci = variable("CI").is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    ci || variable("TF_BUILD").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        move |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn the_flag_wins_over_no_color_over_force_over_the_terminal() {
        let both = with(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]);
        let force = with(&[("CLICOLOR_FORCE", "1")]);
        let nothing = with(&[]);
        assert!(colour(ColorChoice::Always, false, &both));
        assert!(!colour(ColorChoice::Never, true, &force));
        assert!(!colour(ColorChoice::Auto, true, &both));
        assert!(colour(ColorChoice::Auto, false, &force));
        assert!(colour(ColorChoice::Auto, true, &nothing));
        assert!(!colour(ColorChoice::Auto, false, &nothing));
        assert!(!colour(ColorChoice::Auto, true, &with(&[("TERM", "dumb")])));
        assert!(!colour(ColorChoice::Auto, false, &with(&[("CLICOLOR_FORCE", "0")])));
        assert!(colour(ColorChoice::Auto, true, &with(&[("NO_COLOR", "")])));
    }

    #[test]
    fn ci_is_seen_by_its_variables() {
        assert!(in_ci(&with(&[("CI", "true")])));
        assert!(in_ci(&with(&[("TF_BUILD", "True")])));
        assert!(!in_ci(&with(&[("CI", "false")])));
        assert!(!in_ci(&with(&[("CI", "0")])));
        assert!(!in_ci(&with(&[])));
    }

    #[test]
    fn a_page_is_as_wide_as_its_terminal_then_as_columns_says_then_as_the_other_terminal() {
        let (nothing, asked) = (with(&[]), with(&[("COLUMNS", "80")]));
        assert_eq!(width(Some(160), &asked, Some(120)), 160);
        assert_eq!(width(None, &asked, Some(120)), 80);
        assert_eq!(width(None, &nothing, Some(120)), 120);
        assert_eq!(width(None, &nothing, None), 100);
        assert_eq!((width(Some(0), &nothing, None), width(Some(20), &nothing, None)), (100, 60));
        assert_eq!(width(None, &with(&[("COLUMNS", "wide")]), None), 100);
        assert_eq!(width(None, &with(&[("COLUMNS", "0")]), None), 100);
    }
}
