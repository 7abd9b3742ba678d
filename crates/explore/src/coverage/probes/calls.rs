//! Probes of one call, or of the same call twice: for each rule, each cell, each reversal and each row of tool facts.

use crate::coverage::fixture_builder::{FixtureBuilder, NamedBuilder, failure, lost, ok, refused};
use crate::coverage::path::Generator;
use crate::coverage::stand_in::may_have;
use crate::shape::{CallShape, KEYED, UNKEYED};
use playproof_engine::event::EffectClaim;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{Access, Compensation, ToolRow, UnsafePolicy};
use playproof_engine::upstream::ScriptedAnswer;
use playproof_formats::playbook::example_texts;

/// The number of tool rows that are tried thoroughly; the others are tried with one failure each.
const THOROUGH_ROWS: usize = 40;

/// Each synthetic failure once, on the simplest call that it fits; a call that succeeds, and one without an answer.
pub(super) fn for_rules(generator: &Generator<'_>) -> Vec<NamedBuilder> {
    let works = FixtureBuilder::of("A call that works", KEYED, KEYED.tool()).answered([ok()]);
    let silent = FixtureBuilder::of("A call that nothing answers", KEYED, KEYED.tool());
    let mut found = vec![("a-call-that-works".into(), works), ("a-call-that-nothing-answers".into(), silent)];
    for made in &generator.made {
        let Some(attempt) = made.attempt(1) else { continue };
        let may = |shape: &CallShape| made.fits(*shape) && may_have(generator.plan, made.tool_for(*shape), *shape);
        let Some(shape) = CallShape::all().into_iter().find(may) else { continue };
        let tool = made.tool_for(shape).to_owned();
        let Some(path) = generator.path_to(attempt, shape, &tool, Some(made.verdict)) else { continue };
        let playbook = &generator.plan.playbook;
        let classified = made.classified(generator.plan, shape, attempt);
        let verdict = playbook.verdict(classified.verdict);
        let rule = classified.rule.map_or("otherwise", |rule| &playbook.rule(rule).name);
        let mut answers: Vec<_> =
            path.iter().zip(1..).map(|(step, at)| failure(generator, step, shape, at, &tool)).collect();
        answers.push(failure(generator, made, shape, attempt, &tool));
        if verdict.then.sends_again() {
            answers.push(ok());
        }
        let refreshes = path.len() + 1;
        let title = format!("A failure that {rule} calls {}", verdict.name);
        let builder = FixtureBuilder::of(title, shape, &tool).answered(answers).refreshed((0..refreshes).map(|_| ok()));
        found.push((format!("{rule}-gives-{}", verdict.name), builder.reversed([ok()])));
    }
    found
}

/// Each verdict on each shape of call, on the first attempt and on a later one.
pub(super) fn for_cells(generator: &Generator<'_>) -> Vec<NamedBuilder> {
    let mut found = Vec::new();
    for verdict in (0..).map(VerdictId).take(generator.plan.playbook.verdicts.len()) {
        for shape in CallShape::all() {
            found.extend([1, 2].into_iter().filter_map(|first| cell(generator, verdict, shape, first)));
        }
    }
    found
}

/// The verdict on attempt `from` of such a call, or on the earliest later attempt that its rules match.
fn cell(generator: &Generator<'_>, verdict: VerdictId, shape: CallShape, from: u32) -> Option<NamedBuilder> {
    // A rule that requires a later attempt requires one of the next few; other rules match any attempt.
    let most = generator.plan.playbook.limits.max_attempts.min(from.saturating_add(30));
    let (attempt, made) = (from..=most).find_map(|at| Some((at, generator.failure(verdict, shape, at, None)?)))?;
    let tool = made.tool_for(shape).to_owned();
    let path = generator.path_to(attempt, shape, &tool, Some(verdict))?;
    let mut answers: Vec<_> =
        path.iter().zip(1..).map(|(step, at)| failure(generator, step, shape, at, &tool)).collect();
    answers.push(failure(generator, made, shape, attempt, &tool));
    answers.push(ok());
    let place = if from == 1 { "first" } else { "later" };
    let verdict = &generator.plan.playbook.verdict(verdict).name;
    let title = format!("{verdict} on the {place} attempt of {}", shape.words().replace('-', " "));
    let builder = FixtureBuilder::of(title, shape, &tool)
        .answered(answers)
        .refreshed((0..=path.len()).map(|_| ok()))
        .reversed([ok()]);
    Some((format!("{verdict}-on-the-{place}-attempt-of-{}", shape.words()), builder))
}

/// Every reversal: redeemed, refused, lost, unanswered, without a token, and with a redeemed token.
pub(super) fn for_reversals(generator: &Generator<'_>) -> Vec<NamedBuilder> {
    let mut found = Vec::new();
    for (id, verdict) in (0..).map(VerdictId).zip(&generator.plan.playbook.verdicts) {
        let stands_in = match &verdict.then {
            Compensation::RetryWithBackoff(retry) => matches!(retry.on_unsafe, UnsafePolicy::Reverse(_)),
            Compensation::RefreshEvidence(refresh) => matches!(refresh.on_unsafe, UnsafePolicy::Reverse(_)),
            _ => false,
        };
        let wanted = |shape: &CallShape| match verdict.then {
            Compensation::IssueReversal(_) => true,
            _ => stands_in && !generator.sends_again(id, *shape),
        };
        for shape in CallShape::all().into_iter().filter(wanted) {
            found.extend(reversals_of(generator, id, shape));
        }
    }
    found
}

fn reversals_of(generator: &Generator<'_>, id: VerdictId, shape: CallShape) -> Vec<NamedBuilder> {
    let Some(made) = generator.failure(id, shape, 1, None) else { return Vec::new() };
    let tool = made.tool_for(shape).to_owned();
    let verdict = generator.plan.playbook.verdict(id);
    let mut failed = failure(generator, made, shape, 1, &tool);
    if verdict.effect == EffectClaim::Unknown && shape.access == Access::Write {
        failed.applied = Some(true); // otherwise there is nothing to reverse
    }
    let builder = |what: &str, answers: Vec<ScriptedAnswer>| {
        let title = format!("{} on {}: the reversal {what}", verdict.name, shape.words().replace('-', " "));
        let name = format!("{}-on-{}-whose-reversal-{}", verdict.name, shape.words(), what.replace(' ', "-"));
        (name, FixtureBuilder::of(title, shape, &tool).answered([failed.clone()]).reversed(answers))
    };
    if !shape.token {
        return vec![builder("has no token", Vec::new())];
    }
    let (name, twice) = builder("is asked for twice", vec![ok()]);
    vec![
        builder("works", vec![ok()]),
        builder("is refused", vec![refused()]),
        builder("is lost", vec![lost()]),
        builder("is not answered", Vec::new()),
        (name, twice.twice()),
    ]
}

/// Calls of the tools that the playbook itself declares, each with and without a key.
pub(super) fn for_tools(generator: &Generator<'_>) -> Vec<NamedBuilder> {
    let mut found = Vec::new();
    for (n, row) in generator.plan.playbook.tools.rows().iter().enumerate() {
        for keyed in [false, true] {
            found.extend(calls_of_tool(generator, row, keyed, n < THOROUGH_ROWS));
        }
    }
    found
}

fn calls_of_tool(generator: &Generator<'_>, row: &ToolRow, keyed: bool, thoroughly: bool) -> Vec<NamedBuilder> {
    let tool = example_texts::of_glob(&row.pattern);
    let shape = CallShape { access: row.facts.access, idempotent: row.facts.idempotent, keyed, token: false };
    let verdicts = (0..).map(VerdictId).zip(&generator.plan.playbook.verdicts);
    let resending = verdicts.filter(|(_, verdict)| verdict.then.sends_again());
    let mut found = Vec::new();
    for (id, verdict) in resending.take(if thoroughly { 3 } else { 1 }) {
        let Some(made) = generator.failure(id, shape, 1, Some(&tool)) else { continue };
        let failed = failure(generator, made, shape, 1, &tool);
        let verdict = &verdict.name;
        let title = format!("{verdict} on {} call of {tool}", if keyed { "a keyed" } else { "an unkeyed" });
        let builder = FixtureBuilder::of_declared(title, shape, &tool).answered([failed, ok()]).refreshed([ok()]);
        let name = format!("{verdict}-on-{}-call-of-{}", if keyed { "a-keyed" } else { "an-unkeyed" }, slug(&tool));
        found.push((name.clone(), builder.clone()));
        if thoroughly {
            found.push((format!("{name}-twice"), builder.twice()));
        }
    }
    let title = format!("The answer of {tool} never comes");
    let silent = FixtureBuilder::of_declared(title, shape, &tool).answered([lost(), ok()]);
    found.push((format!("{}-does-not-answer{}", slug(&tool), if keyed { "-a-keyed-call" } else { "" }), silent));
    found
}

/// A call of a tool that nothing declares, and one without arguments of each tool that has a schema.
pub(super) fn for_registry(generator: &Generator<'_>) -> Vec<NamedBuilder> {
    let playbook = &generator.plan.playbook;
    let unknown = playbook.refuses_unknown_tools.then(|| {
        let builder = FixtureBuilder::of_declared("No tool is called so".to_owned(), UNKEYED, "unknown.tool");
        ("a-call-of-an-unknown-tool".to_owned(), builder)
    });
    let typed = playbook.tools.rows().iter().filter(|row| row.schema().is_some()).map(|row| {
        let tool = example_texts::of_glob(&row.pattern);
        let builder = FixtureBuilder::of_declared(format!("{tool} without its arguments"), UNKEYED, &tool);
        (format!("{}-without-its-arguments", slug(&tool)), builder.without_arguments())
    });
    unknown.into_iter().chain(typed).collect()
}

/// The tool's name as part of a file name.
fn slug(tool: &str) -> String {
    tool.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '-' }).collect()
}
