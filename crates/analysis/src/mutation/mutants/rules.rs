//! Rules: dropped, put behind the next, asking one thing less, one alternative less, one number more or less, words
//! anywhere instead of in a clause; and another `otherwise`.

use std::fmt::Display;
use std::sync::Arc;

use super::mutant::{Mutant, MutantRow, slug};
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{
    ConditionKind, ConditionSyntax, ConditionTest, HeaderOp, HeaderTest, MessageOp, NumberRange, Playbook, Rule, When,
};

pub(super) fn add(playbook: &Playbook, all: &mut Vec<Mutant>) {
    for (n, rule) in playbook.rules.iter().enumerate() {
        let mut row = MutantRow::new(format!("rule {}", rule.name), all);
        row.add("drop", "dropped", move |playbook| drop(playbook.rules.remove(n)));
        if let Some(next) = playbook.rules.get(n + 1) {
            let what = format!("put behind `{}`", next.name);
            row.add(format!("behind-{}", next.name), what, move |playbook| playbook.rules.swap(n, n + 1));
        }
        let mut when = WhenRow { row, n };
        when.one_thing_less(rule);
        when.one_alternative_less(rule);
        when.one_number_off(rule);
        when.another_header(rule);
    }
    let other = (0..).map(VerdictId).zip(&playbook.verdicts).find(|(id, _)| *id != playbook.otherwise);
    if let Some((id, verdict)) = other {
        let mut row = MutantRow::new("otherwise".to_owned(), all);
        row.add(&verdict.name, format!("`{}` instead", verdict.name), move |playbook| playbook.otherwise = id);
    }
}

/// The mutants of one rule's `when`.
struct WhenRow<'a> {
    row: MutantRow<'a>,
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
        let mut asked: Vec<(ConditionKind, &ConditionTest)> = rule.when.iter().collect();
        asked.sort_by_key(|(_, test)| match test {
            ConditionTest::AnyOf(_) | ConditionTest::Globs(_) | ConditionTest::Ranges(_) => 0,
            ConditionTest::Access(_) | ConditionTest::Is(_) | ConditionTest::Said(_) => 1,
            ConditionTest::Headers(_) | ConditionTest::Absent => 1,
            ConditionTest::Messages(_) => 2,
        });
        if asked.len() + rule.when.messages().len().saturating_sub(1) < 2 {
            return;
        }
        for (ask, test) in asked {
            let name = ask.as_str();
            let ConditionTest::Messages(tests) = test else {
                self.add(format!("without-{name}"), format!("does not ask `{name}`"), move |when| when.remove(ask));
                continue;
            };
            for (at, test) in tests.iter().enumerate() {
                let op = test.op.as_str();
                self.add(format!("without-{name}-{op}"), format!("does not ask `{name}: {op}`"), move |when| {
                    let Some(ConditionTest::Messages(tests)) = when.get_mut(ask) else { return };
                    tests.remove(at);
                    if tests.is_empty() {
                        when.remove(ask);
                    }
                });
            }
        }
    }

    fn one_alternative_less(&mut self, rule: &Rule) {
        for (ask, test) in rule.when.iter() {
            let (ConditionTest::AnyOf(texts) | ConditionTest::Globs(texts)) = test else { continue };
            let name = ask.as_str();
            for (at, text) in several(texts) {
                let operation = format!("without-{name}-{}", slug(&text));
                self.add(operation, format!("`{name}` without `{text}`"), move |when| {
                    if let Some(ConditionTest::AnyOf(texts) | ConditionTest::Globs(texts)) = when.get_mut(ask) {
                        texts.remove(at);
                    }
                });
            }
        }
        for (test, asked) in rule.when.messages().iter().enumerate() {
            if asked.op == MessageOp::Clause {
                self.add("clause-anywhere", "`message: contains` instead of `clause`", move |when| {
                    if let Some(ConditionTest::Messages(tests)) = when.get_mut(ConditionKind::Message)
                        && let Some(test) = tests.get_mut(test)
                    {
                        test.op = MessageOp::Contains;
                    }
                });
            }
            for (at, text) in several(&asked.any_of) {
                let op = asked.op.as_str();
                let operation = format!("without-{op}-{}", slug(&text));
                self.add(operation, format!("`message: {op}` without `{text}`"), move |when| {
                    if let Some(ConditionTest::Messages(tests)) = when.get_mut(ConditionKind::Message)
                        && let Some(test) = tests.get_mut(test)
                    {
                        test.any_of.remove(at);
                    }
                });
            }
        }
        // Attempts are counted, not told apart: of them the numbers alone are varied.
        let ranges = rule
            .when
            .iter()
            .filter(|(ask, test)| *ask != ConditionKind::Attempt && matches!(test, ConditionTest::Ranges(_)));
        for (ask, _) in ranges {
            let (name, ranges) = (ask.as_str(), rule.when.ranges(ask));
            for (at, range) in ranges.iter().enumerate().filter(|_| ranges.len() > 1) {
                let words = span(range);
                self.add(format!("without-{name}-{words}"), format!("`{name}` without {words}"), move |when| {
                    if let Some(ConditionTest::Ranges(ranges)) = when.get_mut(ask) {
                        ranges.remove(at);
                    }
                });
            }
        }
    }

    fn one_number_off(&mut self, rule: &Rule) {
        for (ask, test) in rule.when.iter() {
            let (ConditionSyntax::Ranges(least, most), ConditionTest::Ranges(ranges)) = (ask.form(), test) else {
                continue;
            };
            let name = ask.as_str();
            for (at, range) in ranges.iter().enumerate() {
                for (operation, other) in off_by_one(range, least, most) {
                    let what = format!("`{name}` {} instead of {}", span(&other), span(range));
                    self.add(format!("{name}-{operation}"), what, move |when| {
                        if let Some(ConditionTest::Ranges(ranges)) = when.get_mut(ask)
                            && let Some(range) = ranges.get_mut(at)
                        {
                            *range = other;
                        }
                    });
                }
            }
        }
    }
}

impl WhenRow<'_> {
    /// Tests of headers: one less, turned around, without a text, with another bound. And the other thing said.
    fn another_header(&mut self, rule: &Rule) {
        if let Some(said) = rule.when.said() {
            let what = format!("`should_retry: {}`", !said);
            self.add(format!("should_retry-{}", !said), what, move |when| {
                when.set(ConditionKind::ShouldRetry, ConditionTest::Said(!said));
            });
        }
        let tests = rule.when.headers();
        for (at, test) in tests.iter().enumerate() {
            let name = &test.name;
            if tests.len() > 1 {
                let operation = format!("without-header-{}", slug(name));
                self.add(operation, format!("without the test of `{name}`"), move |when| {
                    edit_headers(when, |tests| drop(tests.remove(at)));
                });
            }
            let mut others = vec![("invert", HeaderTest { invert: !test.invert, ..test.clone() })];
            others.extend(
                changed(test).into_iter().map(|(operation, op)| (operation, HeaderTest { op, ..test.clone() })),
            );
            for (operation, other) in others {
                let what = format!("`header` {name}: {}", operation.replace('-', " "));
                self.add(format!("header-{}-{operation}", slug(name)), what, move |when| {
                    edit_headers(when, |tests| tests.get_mut(at).into_iter().for_each(|test| *test = other.clone()));
                });
            }
        }
    }
}

fn edit_headers(when: &mut When, edit: impl FnOnce(&mut Vec<HeaderTest>)) {
    if let Some(ConditionTest::Headers(tests)) = when.get_mut(ConditionKind::Header) {
        edit(tests);
    }
}

/// What else could be asked of a header: one text less, or bounds that are one off.
fn changed(test: &HeaderTest) -> Vec<(&'static str, HeaderOp)> {
    match &test.op {
        HeaderOp::Equals(texts) if texts.len() > 1 => {
            vec![("without-the-last", HeaderOp::Equals(texts[..texts.len() - 1].to_vec()))]
        }
        HeaderOp::Prefix(texts) if texts.len() > 1 => {
            vec![("without-the-last", HeaderOp::Prefix(texts[..texts.len() - 1].to_vec()))]
        }
        HeaderOp::Present | HeaderOp::Equals(_) => Vec::new(),
        HeaderOp::Prefix(texts) => vec![("equals", HeaderOp::Equals(texts.clone()))],
        HeaderOp::Range(first, end) => {
            let other = [
                ("from-earlier", first.saturating_sub(1), *end),
                ("from-later", first.saturating_add(1), *end),
                ("to-earlier", *first, end.saturating_sub(1)),
                ("to-later", *first, end.saturating_add(1)),
            ];
            let real = other.into_iter().filter(|(_, from, to)| from < to && (from, to) != (first, end));
            real.map(|(operation, first, end)| (operation, HeaderOp::Range(first, end))).collect()
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

/// The ranges that begin or end one number earlier or later.
fn off_by_one(range: &NumberRange, least: u64, most: u64) -> Vec<(String, NumberRange)> {
    let NumberRange { first, last } = *range;
    let one_off = |n: u32| [n.checked_sub(1), n.checked_add(1)].into_iter().flatten();
    let firsts = one_off(first).map(|first| (format!("from-{first}"), NumberRange { first, last }));
    let lasts = one_off(last).map(|last| (format!("to-{last}"), NumberRange { first, last }));
    let all = firsts.chain(lasts);
    all.filter(|(_, range)| {
        u64::from(range.first) >= least && u64::from(range.last) <= most && range.first <= range.last
    })
    .collect()
}

fn span(range: &NumberRange) -> String {
    if range.first == range.last { range.first.to_string() } else { format!("{}-{}", range.first, range.last) }
}
