//! Results whose lines come before the line of their call. They wait for it if their times can show later that they are
//! answers to it. Pairs nothing.

use std::collections::VecDeque;

use crate::digest::AnswerEntry;
use playproof_engine::time::Instant;

/// The most results that wait.
const MAX_WAITING: usize = 256;

/// Results that wait for their call.
#[derive(Debug, Default)]
pub struct EarlyAnswers(VecDeque<AnswerEntry>);

impl EarlyAnswers {
    /// Lets a result wait; gives one that waits no longer, perhaps this one: it has no call.
    pub fn add(&mut self, entry: AnswerEntry) -> Option<AnswerEntry> {
        if entry.id == 0 || entry.answer.at.is_none() {
            return Some(entry);
        }
        self.0.push_back(entry);
        if self.0.len() > MAX_WAITING { self.0.pop_front() } else { None }
    }

    /// The results that wait for a call with this id, which was made at this time; they came later.
    pub fn take(&mut self, id: u128, made: Option<Instant>) -> Vec<AnswerEntry> {
        if self.0.is_empty() {
            return Vec::new(); // nearly always
        }
        let answers = |entry: &AnswerEntry| entry.id == id && made.is_some_and(|made| entry.answer.at >= Some(made));
        if !self.0.iter().any(answers) {
            return Vec::new();
        }
        let (taken, kept) = std::mem::take(&mut self.0).into_iter().partition::<Vec<_>, _>(answers);
        self.0 = kept.into();
        taken
    }

    /// All that wait.
    pub fn take_all(&mut self) -> impl Iterator<Item = AnswerEntry> + use<> {
        std::mem::take(&mut self.0).into_iter()
    }
}
