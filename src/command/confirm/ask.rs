//! Asks one guess after the other: the meaning of each key. Touches no terminal itself.

use std::collections::BTreeMap;

use super::question::{Question, words};
use crate::exit::Failure;
use crate::terminal::KeyPress;
use playproof_formats::playbook::tools::Answer;
use playproof_report::style::Palette;
use playproof_report::text::escape_unprintable;

const KEYS: &str = "r reads   w writes   i writes, and doing it twice is doing it once\n  \
                    Enter as guessed   A all the rest as guessed   s skip   q quit";

/// Shows lines and reads keys.
pub trait Screen {
    /// Shows some lines.
    fn show(&mut self, text: &str) -> Result<(), Failure>;
    /// The next key; none if the terminal is gone.
    fn key(&mut self) -> Result<Option<KeyPress>, Failure>;
}

/// The answers of the person, by the names of rows. What is skipped has none; `q` ends the questions.
pub fn ask(
    screen: &mut dyn Screen,
    questions: &[Question],
    palette: Palette,
) -> Result<BTreeMap<String, Answer>, Failure> {
    let mut answers = BTreeMap::new();
    let mut rest = questions.iter().enumerate();
    while let Some((n, question)) = rest.next() {
        let tool = palette.strong(&escape_unprintable(&question.tool));
        let place = palette.faint(&format!("{} of {}", n + 1, questions.len()));
        screen.show(&format!(
            "\n{tool}  {}  {place}\n  guessed: {}\n  {KEYS}",
            question.calls(),
            question.guessed()
        ))?;
        let answer = loop {
            match screen.key()? {
                Some(KeyPress::Char('r')) => break Some(Answer::Reads),
                Some(KeyPress::Char('w')) => break Some(Answer::Writes),
                Some(KeyPress::Char('i')) => break Some(Answer::WritesOnce),
                Some(KeyPress::Enter) => break Some(question.guess),
                Some(KeyPress::Char('s')) => break None,
                Some(KeyPress::Char('A')) => {
                    answers.extend(rest.map(|(_, question)| (question.pattern.clone(), question.guess)));
                    answers.insert(question.pattern.clone(), question.guess);
                    return Ok(answers);
                }
                Some(KeyPress::Char('q') | KeyPress::Escape) | None => return Ok(answers),
                Some(KeyPress::Char(_) | KeyPress::Other) => screen.show(&format!("  {KEYS}"))?,
            }
        };
        let said = answer.map_or("skipped", words);
        screen.show(&format!("  {}", palette.strong(said)))?;
        answers.extend(answer.map(|answer| (question.pattern.clone(), answer)));
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn answered(keys: &[KeyPress]) -> (Vec<(String, Answer)>, usize) {
        let question = |tool: &str| Question {
            tool: tool.into(),
            pattern: tool.into(),
            guess: Answer::Reads,
            calls: 2,
            failed: 1,
            is_hint: false,
        };
        let mut screen = Typed(keys.to_vec(), Vec::new());
        let answers = ask(&mut screen, &["a", "b", "c"].map(question), Palette::new(false)).expect("answers");
        (answers.into_iter().collect(), screen.1.len())
    }

    #[test]
    fn one_key_answers_each_guess() {
        let keys = ['w', 's', 'i'].map(KeyPress::Char);
        let of = |tool: &str, answer| (tool.to_owned(), answer);
        assert_eq!(answered(&keys).0, [of("a", Answer::Writes), of("c", Answer::WritesOnce)]);
        assert_eq!(answered(&[KeyPress::Enter, KeyPress::Char('q')]).0, [of("a", Answer::Reads)]);
        assert_eq!(answered(&[KeyPress::Char('w'), KeyPress::Char('A')]).0.len(), 3);
        assert_eq!(answered(&[]).0, [], "the terminal is gone");
        assert_eq!(
            answered(&[KeyPress::Char('?'), KeyPress::Escape]),
            (Vec::new(), 2),
            "an unknown key shows the keys"
        );
    }
}
