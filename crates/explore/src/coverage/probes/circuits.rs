//! Probes of breakers: a server fails until its breaker opens; later it works again, or fails again.

use super::limits::in_words;
use super::sharing::MOST_CALLS;
use crate::coverage::fixture_builder::{FixtureBuilder, NamedBuilder, failure, ok};
use crate::coverage::path::Generator;
use crate::shape::CallShape;
use playproof_engine::fixture::FixtureCall;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{BreakerMark, BreakerRules, DEFAULT_BREAKER, HalfOpen, OpenPeriod};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::ScriptedAnswer;
use playproof_formats::playbook::example_texts;

/// Milliseconds between two calls: more than an answer takes.
const APART: u64 = 25;

/// How long a breaker without a longest open period is left alone.
const LONG: Duration = Duration::from_millis(1_000_000);

/// More than the retries of the failed calls take.
const AFTER: Duration = Duration::from_millis(10_000);

/// The most failing answers of a call.
const MOST_FAILURES: u32 = 40;

pub(super) fn for_circuits(generator: &Generator<'_>) -> Vec<NamedBuilder> {
    let breakers = &generator.plan.playbook.breakers;
    breakers.iter().filter_map(|(server, rules)| of_breaker(generator, server, rules)).flatten().collect()
}

fn of_breaker(generator: &Generator<'_>, server: &str, rules: &BreakerRules) -> Option<[NamedBuilder; 2]> {
    let playbook = &generator.plan.playbook;
    let needed = rules.min_calls.max(rules.opens_at.failure_count.unwrap_or_default());
    let open = match rules.open {
        OpenPeriod::Fixed(open) => open,
        OpenPeriod::Growing(formula) => formula.max.unwrap_or(LONG),
    };
    if needed >= MOST_CALLS {
        return None;
    }
    let own = playbook.tools.rows().iter().find(|row| row.server() == Some(server));
    let tool = match (own, server == DEFAULT_BREAKER) {
        (Some(row), _) => Some(example_texts::of_glob(&row.pattern)),
        (None, false) => Some(server.to_owned()),
        (None, true) => None,
    };
    let marked = (0..).map(VerdictId).zip(&playbook.verdicts);
    let mut marked = marked.filter(|(_, verdict)| verdict.breaker == BreakerMark::Failure).map(|(id, _)| id);
    let (id, shape) = marked.find_map(|id| {
        let mut shapes = CallShape::all().into_iter().filter(|shape| !shape.keyed && !shape.token);
        Some((id, shapes.find(|shape| generator.failure(id, *shape, 1, tool.as_deref()).is_some())?))
    })?;
    let made = generator.failure(id, shape, 1, tool.as_deref())?;
    let tool = tool.unwrap_or_else(|| made.tool_for(shape).to_owned());
    let fails = in_words(failure(generator, made, shape, 1, &tool), Duration::from_millis(1))?;
    let probes = match rules.half_open {
        HalfOpen::SingleProbe { .. } => 1,
        HalfOpen::EvaluateRate { permits, .. } => permits,
        HalfOpen::Thresholds { capacity, .. } => capacity,
    };
    let server = server.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let probe = |what: &str, later: &ScriptedAnswer| {
        let builder = FixtureBuilder::of(format!("The server {server} fails, and later {what}"), shape, &tool);
        let calls = Outage { fails: &fails, needed, open, later, probes: probes.min(MOST_CALLS) };
        let name = format!("a-circuit-of-{server}-that-later-{}", what.replace(' ', "-"));
        (name, calls.add_to(builder))
    };
    Some([probe("works", &ok()), probe("fails again", &fails)])
}

/// The calls of a server that fails, and what its probes meet.
struct Outage<'a> {
    fails: &'a ScriptedAnswer,
    needed: u32,
    open: Duration,
    later: &'a ScriptedAnswer,
    probes: u32,
}

impl Outage<'_> {
    fn add_to(&self, mut builder: FixtureBuilder) -> FixtureBuilder {
        let Some(first) = builder.calls.pop() else { return builder };
        let fails = (1..=self.needed).map(|n| (format!("fails-{n}"), self.fails, Duration::ZERO));
        let probes = (1..=self.probes).map(|n| (format!("probe-{n}"), self.later, self.open.plus(AFTER)));
        builder.calls = fails
            .chain(probes)
            .zip(0..)
            .map(|((name, answer, later), n)| {
                let at = Instant::from_millis(APART * n).plus(later);
                let mut call = FixtureCall { run: Some(name.clone()), name, at, ..first.clone() };
                call.script.attempts = (0..MOST_FAILURES).map(|_| answer.clone()).collect();
                call
            })
            .collect();
        builder
    }
}
