//! Rules: dropped, put behind the next, asking one thing less, one alternative less, one number more or less; and
//! another `otherwise`.

use std::fmt::Display;
use std::sync::Arc;

use super::all::{Mutant, Row, slug};
use crate::ids::VerdictId;
use crate::playbook::model::{Between, Playbook, Rule, When};

/// The largest status that a rule can name.
const MOST_STATUS: u16 = 999;

/// The largest attempt that a rule can name.
const MOST_ATTEMPTS: u32 = 1_000;

pub(super) fn add(playbook: &Playbook, all: &mut Vec<Mutant>) {
    for (n, rule) in playbook.rules.iter().enumerate() {
        let mut row = Row::new(format!("rule {}", rule.name), all);
        row.add("drop", "dropped", move |playbook| drop(playbook.rules.remove(n)));
        if let Some(next) = playbook.rules.get(n + 1) {
            let what = format!("put behind `{}`", next.name);
            row.add(format!("behind-{}", next.name), what, move |playbook| playbook.rules.swap(n, n + 1));
        }
        let mut when = WhenRow { row, n };
        when.one_thing_less(rule);
        when.one_alternative_less(rule);
        when.one_number_off(rule);
    }
    let other = (0..).map(VerdictId).zip(&playbook.verdicts).find(|(id, _)| *id != playbook.otherwise);
    if let Some((id, verdict)) = other {
        let mut row = Row::new("otherwise".to_owned(), all);
        row.add(&verdict.name, format!("`{}` instead", verdict.name), move |playbook| playbook.otherwise = id);
    }
}

/// The mutants of one rule's `when`.
struct WhenRow<'a> {
    row: Row<'a>,
    n: usize,
}

impl WhenRow<'_> {
    fn add(
        &mut self,
        operation: impl Display,
        what: impl Into<String>,
        edit: impl Fn(&mut When) + Send + Sync + 'static,
    ) {
        let n = self.n;
        self.row.add(operation, what, move |playbook| {
            if let Some(rule) = playbook.rules.get_mut(n) {
                edit(&mut rule.when);
            }
        });
    }

    /// A rule that asks one thing only cannot ask less: it would not be a rule.
    fn one_thing_less(&mut self, rule: &Rule) {
        type Part = (&'static str, bool, fn(&mut When));
        let when = &rule.when;
        let parts: [Part; 10] = [
            ("kind", !when.kind.is_empty(), |when| when.kind.clear()),
            ("status", !when.status.is_empty(), |when| when.status.clear()),
            ("code", !when.code.is_empty(), |when| when.code.clear()),
            ("tool", !when.tool.is_empty(), |when| when.tool.clear()),
            ("attempt", !when.attempt.is_empty(), |when| when.attempt.clear()),
            ("access", when.access.is_some(), |when| when.access = None),
            ("idempotent", when.idempotent.is_some(), |when| when.idempotent = None),
            ("keyed", when.keyed.is_some(), |when| when.keyed = None),
            ("retry_after", when.retry_after.is_some(), |when| when.retry_after = None),
            ("error", when.error_absent, |when| when.error_absent = false),
        ];
        let asked = parts.iter().filter(|(_, asked, _)| *asked).count() + when.message.len();
        if asked < 2 {
            return;
        }
        for (name, _, clear) in parts.into_iter().filter(|(_, asked, _)| *asked) {
            self.add(format!("without-{name}"), format!("does not ask `{name}`"), clear);
        }
        for (at, test) in when.message.iter().enumerate() {
            let op = test.op.as_str();
            self.add(format!("without-message-{op}"), format!("does not ask `message: {op}`"), move |when| {
                drop(when.message.remove(at));
            });
        }
    }

    fn one_alternative_less(&mut self, rule: &Rule) {
        type List = (&'static str, fn(&mut When) -> &mut Vec<String>);
        let lists: [List; 3] =
            [("kind", |when| &mut when.kind), ("code", |when| &mut when.code), ("tool", |when| &mut when.tool)];
        let mut when = rule.when.clone();
        for (name, list) in lists {
            for (at, text) in several(list(&mut when)) {
                let operation = format!("without-{name}-{}", slug(&text));
                self.add(operation, format!("`{name}` without `{text}`"), move |when| drop(list(when).remove(at)));
            }
        }
        for (test, asked) in rule.when.message.iter().enumerate() {
            for (at, text) in several(&asked.any_of) {
                let op = asked.op.as_str();
                let operation = format!("without-{op}-{}", slug(&text));
                self.add(operation, format!("`message: {op}` without `{text}`"), move |when| {
                    if let Some(test) = when.message.get_mut(test) {
                        test.any_of.remove(at);
                    }
                });
            }
        }
        if rule.when.status.len() > 1 {
            for (at, range) in rule.when.status.iter().enumerate() {
                let words = span(range);
                self.add(format!("without-status-{words}"), format!("`status` without {words}"), move |when| {
                    when.status.remove(at);
                });
            }
        }
    }

    fn one_number_off(&mut self, rule: &Rule) {
        for (at, range) in rule.when.status.iter().enumerate() {
            for (operation, other) in off_by_one(range, 0, MOST_STATUS, |n| n.checked_add(1), |n| n.checked_sub(1)) {
                let what = format!("`status` {} instead of {}", span(&other), span(range));
                self.add(format!("status-{operation}"), what, move |when| put(&mut when.status, at, other));
            }
        }
        for (at, range) in rule.when.attempt.iter().enumerate() {
            for (operation, other) in off_by_one(range, 1, MOST_ATTEMPTS, |n| n.checked_add(1), |n| n.checked_sub(1)) {
                let what = format!("`attempt` {} instead of {}", span(&other), span(range));
                self.add(format!("attempt-{operation}"), what, move |when| put(&mut when.attempt, at, other));
            }
        }
    }
}

/// The places and texts of a list from which one can be taken.
fn several(list: &[String]) -> Vec<(usize, Arc<str>)> {
    match list {
        [] | [_] => Vec::new(),
        list => list.iter().enumerate().map(|(at, text)| (at, text.as_str().into())).collect(),
    }
}

fn put<T>(ranges: &mut [Between<T>], at: usize, other: Between<T>) {
    if let Some(range) = ranges.get_mut(at) {
        *range = other;
    }
}

/// The ranges that begin or end one number earlier or later.
fn off_by_one<T: Ord + Copy + Display>(
    range: &Between<T>,
    least: T,
    most: T,
    up: fn(T) -> Option<T>,
    down: fn(T) -> Option<T>,
) -> Vec<(String, Between<T>)> {
    let Between { first, last } = *range;
    let firsts =
        [down(first), up(first)].into_iter().flatten().map(|first| (format!("from-{first}"), Between { first, last }));
    let lasts =
        [down(last), up(last)].into_iter().flatten().map(|last| (format!("to-{last}"), Between { first, last }));
    let all = firsts.chain(lasts);
    all.filter(|(_, range)| range.first >= least && range.last <= most && range.first <= range.last).collect()
}

fn span<T: PartialEq + Display>(range: &Between<T>) -> String {
    if range.first == range.last { range.first.to_string() } else { format!("{}-{}", range.first, range.last) }
}
