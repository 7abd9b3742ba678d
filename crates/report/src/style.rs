//! How a page looks: the roles of colours, and how much of a long list is shown. No page needs colour to be understood.

use console::Style;

use super::doc::Tone;

/// How much of a long list a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The first few.
    Some,
    /// Every one.
    All,
}

/// Whether a page is coloured, and how its roles look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    on: bool,
}

impl Palette {
    /// A palette that colours, or one that changes nothing.
    pub const fn new(on: bool) -> Palette {
        Palette { on }
    }

    /// Whether it colours.
    pub const fn is_on(self) -> bool {
        self.on
    }

    /// A heading, or the word that matters most.
    pub fn strong(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// An answer that says no.
    pub fn failed(self, text: &str) -> String {
        self.paint(Style::new().red(), text)
    }

    /// Harm.
    pub fn bad(self, text: &str) -> String {
        self.paint(Style::new().red().bold(), text)
    }

    /// Doubt.
    pub fn doubtful(self, text: &str) -> String {
        self.paint(Style::new().yellow(), text)
    }

    /// All is well.
    pub fn good(self, text: &str) -> String {
        self.paint(Style::new().green(), text)
    }

    /// What may be skipped in reading.
    pub fn faint(self, text: &str) -> String {
        self.paint(Style::new().dim(), text)
    }

    /// A text of a page, as its tone asks.
    pub fn tone(self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Strong => self.strong(text),
            Tone::Soft => self.faint(text),
            Tone::Good => self.good(text),
            Tone::Doubt => self.doubtful(text),
            Tone::Bad => self.bad(text),
        }
    }

    fn paint(self, style: Style, text: &str) -> String {
        match self.on && !text.is_empty() {
            true => style.force_styling(true).apply_to(text).to_string(),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_nothing_changes() {
        assert_eq!(Palette::new(false).bad("x"), "x");
        assert_eq!(Palette::new(true).bad("x"), "\u{1b}[31m\u{1b}[1mx\u{1b}[0m");
    }
}
