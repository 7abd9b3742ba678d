//! Rules: the conditions of each `when`, and its verdict.

use super::header;
use super::names::Declared;
use crate::diagnostic::Diagnostic;
use crate::schema::At;
use crate::yaml::{NodeKind, Scalar, range, shorten};
use playproof_engine::glob::Glob;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{
    Access, ConditionKind, ConditionSyntax, ConditionTest, MessageOp, MessageTest, NumberRange, Rule, When, clause,
    pattern,
};

/// The rule written at `at`; its name is declared in `rules`.
pub(super) fn rule(at: At<'_>, rules: &mut Declared, verdicts: &Declared) -> Option<Rule> {
    let name = at.get("rule").and_then(At::key);
    if let Some(name) = &name {
        if name.text == "otherwise" {
            at.report(
                Diagnostic::error("reserved_rule", "`otherwise` names the failures that no rule matches")
                    .at(name.span.clone(), "reserved"),
            );
        }
        rules.declare(name, at);
    }
    let when = at.get("when").and_then(when);
    let verdict = at.get("verdict").and_then(|verdict| verdicts.find(verdict));
    Some(Rule { name: name?.text.into(), when: when?, verdict: VerdictId(verdict?) })
}

fn when(at: At<'_>) -> Option<When> {
    // Every condition is read before any is unwrapped, so that all errors are found at once.
    let written = ConditionKind::ALL.into_iter().filter_map(|ask| Some((ask, test(ask, at.get(ask.as_str())?))));
    let written: Vec<(ConditionKind, Option<ConditionTest>)> = written.collect();
    let mut when = When::default();
    for (ask, test) in written {
        when.set(ask, test?);
    }
    Some(when)
}

fn test(ask: ConditionKind, at: At<'_>) -> Option<ConditionTest> {
    match ask.form() {
        ConditionSyntax::Texts => texts(at).map(ConditionTest::AnyOf),
        ConditionSyntax::Globs => at.all(glob).map(ConditionTest::Globs),
        ConditionSyntax::Ranges(first, last) => {
            at.all(|at| number_range(at, ask.as_str(), first, last)).map(ConditionTest::Ranges)
        }
        ConditionSyntax::Messages => message(at).map(ConditionTest::Messages),
        ConditionSyntax::Access => Access::parse(at.text()?).map(ConditionTest::Access),
        ConditionSyntax::Bool => at.flag().map(ConditionTest::Is),
        ConditionSyntax::Said => at.flag().map(ConditionTest::Said),
        ConditionSyntax::Headers => at.all(header::test).map(ConditionTest::Headers),
        ConditionSyntax::Presence => at.text().map(|word| ConditionTest::Is(word == "present")),
        ConditionSyntax::Absence => at.text().map(|_| ConditionTest::Absent),
    }
}

fn texts(at: At<'_>) -> Option<Vec<String>> {
    at.all(|text| text.text().map(str::to_owned))
}

fn glob(at: At<'_>) -> Option<String> {
    let text = at.text()?;
    if let Err(why) = Glob::of_tools(text) {
        at.wrong("bad_glob", format!("`{}` is not a valid glob: {why}", shorten(text)), "not a glob");
    }
    Some(text.to_owned())
}

fn message(at: At<'_>) -> Option<Vec<MessageTest>> {
    let case_sensitive = at.says("case", "sensitive")?;
    let ops = MessageOp::ALL.into_iter();
    let tests: Vec<Option<MessageTest>> = ops
        .filter_map(|op| Some((op, at.get(op.as_str())?)))
        .map(|(op, at)| {
            let any_of = match op {
                MessageOp::Matches => at.all(|at| regex(at, case_sensitive)),
                MessageOp::Clause => at.all(clause),
                _ => texts(at),
            };
            Some(MessageTest { op, any_of: any_of?, case_sensitive })
        })
        .collect();
    tests.into_iter().collect()
}

fn clause(at: At<'_>) -> Option<String> {
    let text = at.text()?;
    if clause::of(text) != Some(text) {
        let message = format!("`{}` is never part of one clause", shorten(text));
        at.report(Diagnostic::error("bad_clause", message).at(at.span(), "not one clause").help(
            "a clause has at most 80 characters, and no `,` `;` `:` `.` `!` `?`, dash, line break, `but`, `and` or \
             `however`",
        ));
    }
    Some(text.to_owned())
}

fn regex(at: At<'_>, case_sensitive: bool) -> Option<String> {
    let text = at.text()?;
    if let Err(why) = pattern::check(text, case_sensitive) {
        let message = format!("`{}` is not a valid regular expression: {why}", shorten(text));
        at.wrong("bad_regex", message, "not a regular expression");
    }
    Some(text.to_owned())
}

/// `429` or `"500-599"`.
fn number_range(at: At<'_>, what: &str, least: u64, most: u64) -> Option<NumberRange> {
    let NodeKind::Scalar { text, value: Scalar::Text } = &at.node().kind else {
        return at.whole().map(|number| NumberRange { first: number, last: number });
    };
    let range = at.text().and_then(range);
    match range.filter(|(first, last)| first <= last && (least..=most).contains(first) && *last <= most) {
        Some((first, last)) => Some(NumberRange { first: first.try_into().ok()?, last: last.try_into().ok()? }),
        None if at.fits() => {
            let message = format!("`{}` is neither a value nor a range of `{what}`", shorten(text));
            let help = format!("write a number or `\"FIRST-LAST\"`, from {least} to {most}");
            at.report(Diagnostic::error("bad_range", message).at(at.span(), "not a range").help(help));
            None
        }
        None => None,
    }
}
