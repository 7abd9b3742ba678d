//! Asks one guess after the other: the meaning of each key. Touches no terminal itself.

use super::question::{Decision, Question};
use crate::exit::Failure;
use crate::terminal::KeyPress;
use playproof_report::style::Palette;
use playproof_report::text::escape_unprintable;

const KEYS: &str = "Enter as guessed   A all the rest as guessed   s skip   q quit";

/// Shows lines and reads keys.
pub trait Screen {
    /// Shows some lines.
    fn show(&mut self, text: &str) -> Result<(), Failure>;
    /// The next key; none if the terminal is gone.
    fn key(&mut self) -> Result<Option<KeyPress>, Failure>;
}

/// The answers of the person, one place for each question; none after Ctrl-C. What is skipped has no answer; `q` ends the
/// questions.
pub fn ask(
    screen: &mut dyn Screen,
    questions: &[Question],
    palette: Palette,
) -> Result<Option<Vec<Option<Decision>>>, Failure> {
    let mut answers: Vec<Option<Decision>> = vec![None; questions.len()];
    let mut rest = questions.iter().zip(&mut answers).enumerate();
    while let Some((n, (question, answer))) = rest.next() {
        let name = palette.strong(&escape_unprintable(question.name()));
        let place = palette.faint(&format!("{} of {}", n + 1, questions.len()));
        let keys = format!("  {}\n  {KEYS}", question.keys());
        let seen = escape_unprintable(&question.seen()).into_owned();
        screen.show(&format!("\n{name}  {seen}  {place}\n  guessed: {}\n{keys}", question.guessed()))?;
        *answer = loop {
            match screen.key()? {
                Some(KeyPress::Enter) => break Some(question.guess()),
                Some(KeyPress::Char('s')) => break None,
                Some(KeyPress::Char('A')) => {
                    *answer = Some(question.guess());
                    rest.for_each(|(_, (question, answer))| *answer = Some(question.guess()));
                    return Ok(Some(answers));
                }
                Some(KeyPress::Interrupt) => return Ok(None),
                Some(KeyPress::Char('q') | KeyPress::Escape) | None => return Ok(Some(answers)),
                Some(KeyPress::Char(key)) => match question.decision(key) {
                    Some(decision) => break Some(decision),
                    None => screen.show(&keys)?,
                },
                Some(KeyPress::Other) => screen.show(&keys)?,
            }
        };
        screen.show(&format!("  {}", palette.strong(answer.map_or("skipped", Decision::words))))?;
    }
    Ok(Some(answers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::confirm::question::ToolGuess;
    use playproof_formats::playbook::tools::Answer;

    struct Typed(Vec<KeyPress>, Vec<String>);

    impl Screen for Typed {
        fn show(&mut self, text: &str) -> Result<(), Failure> {
            self.1.push(text.to_owned());
            Ok(())
        }

        fn key(&mut self) -> Result<Option<KeyPress>, Failure> {
            Ok((!self.0.is_empty()).then(|| self.0.remove(0)))
        }
    }

    fn asked(keys: &[KeyPress]) -> (Option<Vec<Option<Decision>>>, usize) {
        let question = |tool: &str| {
            let (tool, pattern, guess) = (tool.to_owned(), tool.to_owned(), Answer::Reads);
            Question::Tool(ToolGuess { tool, pattern, guess, calls: Some((2, 1)), from: "its name" })
        };
        let mut screen = Typed(keys.to_vec(), Vec::new());
        let answers = ask(&mut screen, &["a", "b", "c"].map(question), Palette::new(false)).expect("answers");
        (answers, screen.1.len())
    }

    fn answered(keys: &[KeyPress]) -> (Vec<Option<Decision>>, usize) {
        let (answers, shown) = asked(keys);
        (answers.expect("no interrupt"), shown)
    }

    #[test]
    fn an_interrupt_takes_back_every_answer() {
        assert_eq!(asked(&[KeyPress::Enter, KeyPress::Interrupt]).0, None);
    }

    #[test]
    fn one_key_answers_each_guess() {
        let [reads, writes, once] =
            [Answer::Reads, Answer::Writes, Answer::WritesOnce].map(|answer| Some(Decision::Tool(answer)));
        assert_eq!(answered(&['w', 's', 'i'].map(KeyPress::Char)).0, [writes, None, once]);
        assert_eq!(answered(&[KeyPress::Enter, KeyPress::Char('q')]).0, [reads, None, None]);
        assert_eq!(answered(&[KeyPress::Char('w'), KeyPress::Char('A')]).0, [writes, reads, reads]);
        assert_eq!(answered(&[]).0, [None; 3], "the terminal is gone");
        let unknown = answered(&[KeyPress::Char('f'), KeyPress::Escape]);
        assert_eq!(unknown, (vec![None; 3], 2), "a key of another kind of question shows the keys");
    }
}
