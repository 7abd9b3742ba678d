//! Probes for limits, each reached and only just not reached: retries, attempts, refreshes, waits, the deadline.

use std::sync::Arc;

use crate::coverage::fixture_builder::{FixtureBuilder, LATENCY, NamedBuilder, TIMEOUT, failure, lost, ok, refused};
use crate::coverage::path::Generator;
use crate::shape::{CallShape, KEYED, UNKEYED};
use playproof_engine::dispatch::wait_range;
use playproof_engine::event::ErrorFacts;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{Compensation, Limits, Refresh, Retry};
use playproof_engine::time::Duration;
use playproof_engine::upstream::{ScriptedAnswer, UpstreamReply};

/// The most failures in one script.
const MAX_FAILURES: u32 = 40;

const MILLI: Duration = Duration::from_millis(1);

pub(super) fn for_limits(generator: &Generator<'_>) -> Vec<NamedBuilder> {
    let mut found = Vec::new();
    for (id, verdict) in (0..).map(VerdictId).zip(&generator.plan.playbook.verdicts) {
        let mut shapes = CallShape::all().into_iter();
        let Some(shape) = shapes.find(|&shape| generator.failure(id, shape, 1, None).is_some()) else { continue };
        let probes = LimitProbes { generator, id, name: &verdict.name, shape };
        match &verdict.then {
            Compensation::RetryWithBackoff(retry) => probes.of_retry(retry, &mut found),
            Compensation::RefreshEvidence(refresh) => probes.of_refresh(refresh, &mut found),
            _ => {}
        }
    }
    found.extend(all_attempts(generator));
    found
}

/// The probes for the limits of one verdict.
struct LimitProbes<'a> {
    generator: &'a Generator<'a>,
    id: VerdictId,
    name: &'a str,
    shape: CallShape,
}

impl LimitProbes<'_> {
    /// The failure as the answer to attempt number `at`.
    fn failure(&self, at: u32) -> Option<ScriptedAnswer> {
        let made = self.generator.failure(self.id, self.shape, at, None)?;
        Some(failure(self.generator, made, self.shape, at, made.tool_for(self.shape)))
    }

    fn builder(&self, title: &str) -> FixtureBuilder {
        let tool = self
            .generator
            .failure(self.id, self.shape, 1, None)
            .map_or(self.shape.tool(), |made| made.tool_for(self.shape));
        FixtureBuilder::of(format!("{}: {title}", self.name), self.shape, tool)
    }

    fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.name)
    }

    fn of_retry(&self, retry: &Retry, found: &mut Vec<NamedBuilder>) {
        // One failure more than the verdict allows, and one more for a mutant that allows another.
        let failures: Vec<ScriptedAnswer> =
            (1..=retry.max_retries.saturating_add(2).min(MAX_FAILURES)).map_while(|at| self.failure(at)).collect();
        let last = failures.len().saturating_sub(2);
        found.push((
            self.name("until-its-retries-are-used-up"),
            self.builder("every retry fails").answered(failures.clone()),
        ));
        let recovers = failures.into_iter().take(last).chain([ok()]);
        found.push((self.name("until-the-last-retry-works"), self.builder("the last retry works").answered(recovers)));
        self.waits(retry, found);
        self.deadline(wait_range(&retry.backoff, 1).0, found);
    }

    /// The upstream asks for a wait: a short one, one beyond the list, the longest allowed, and longer ones.
    fn waits(&self, retry: &Retry, found: &mut Vec<NamedBuilder>) {
        let (_, own) = wait_range(&retry.backoff, 1);
        let most = retry.server_delay.max.unwrap_or(own);
        for wait in [MILLI, own.plus(MILLI), most, most.plus(MILLI), most.plus(MILLI).plus(MILLI)] {
            let Some(failure) = self.failure(1).and_then(|failure| asking_to_wait(failure, wait)) else { continue };
            let builder = self.builder("the upstream asks to wait").answered([failure, ok()]);
            found.push((self.name("with-a-wish-to-wait"), builder));
        }
    }

    /// A first failure so late that the next attempt starts at the deadline, or just after it.
    fn deadline(&self, delay: Duration, found: &mut Vec<NamedBuilder>) {
        let Limits { deadline, call_timeout, .. } = self.generator.plan.playbook.limits;
        for (limit, what) in [(deadline, "deadline"), (call_timeout, "end")] {
            let Some(limit) = limit else { continue };
            let starts_then = limit.minus(delay);
            for latency in [starts_then, starts_then.plus(MILLI), limit, limit.plus(MILLI)] {
                let Some(failure) = self.failure(1).and_then(|failure| in_words(failure, latency)) else { continue };
                let builder = self.builder(&format!("the failure comes close to the {what}"));
                let builder = builder.answered([failure, ok()]).refreshed([ok()]).with_timeout(limit.plus(TIMEOUT));
                found.push((self.name(&format!("close-to-the-{what}")), builder));
            }
        }
    }

    fn of_refresh(&self, refresh: &Refresh, found: &mut Vec<NamedBuilder>) {
        let count = refresh.max_refreshes.saturating_add(2).min(MAX_FAILURES);
        let failures: Vec<ScriptedAnswer> = (1..=count).map_while(|at| self.failure(at)).collect();
        let again = self.builder("refreshing never helps").answered(failures.clone());
        found.push((self.name("until-refreshes-are-used-up"), again.refreshed((0..count).map(|_| ok()))));
        for (what, answers) in [
            ("when-the-refresh-works", vec![ok()]),
            ("when-the-refresh-is-refused", vec![refused()]),
            ("when-the-refresh-is-lost", vec![lost()]),
            ("when-nothing-answers-the-refresh", Vec::new()),
        ] {
            let builder =
                self.builder(&what.replace('-', " ")).answered(failures.iter().take(1).cloned().chain([ok()]));
            found.push((self.name(what), builder.refreshed(answers)));
        }
        self.deadline(Duration::ZERO, found);
    }
}

/// The failure with a request to wait this long, in whole milliseconds: those of a drawn wait may have a fraction.
fn asking_to_wait(failure: ScriptedAnswer, wait: Duration) -> Option<ScriptedAnswer> {
    let latency = LATENCY;
    let mut failure = in_words(failure, latency)?;
    if let UpstreamReply::Failed(Some(error)) = &mut failure.reply {
        Arc::make_mut(error).retry_after = Some(Duration::from_millis(wait.as_micros().div_ceil(1_000)));
    }
    Some(failure)
}

/// The failure as an answer that comes after `latency`; none for a failure without an error object.
pub(super) fn in_words(failure: ScriptedAnswer, latency: Duration) -> Option<ScriptedAnswer> {
    let reply = match failure.reply {
        UpstreamReply::Lost => {
            UpstreamReply::failed(ErrorFacts { kind: Some("timeout".into()), ..ErrorFacts::default() })
        }
        UpstreamReply::Failed(Some(error)) => UpstreamReply::Failed(Some(error)),
        UpstreamReply::Failed(None)
        | UpstreamReply::Suspected(_)
        | UpstreamReply::Unfinished(_)
        | UpstreamReply::Ok => return None,
    };
    Some(ScriptedAnswer { reply, latency, applied: failure.applied })
}

/// A call that uses up every retry and every refresh.
fn all_attempts(generator: &Generator<'_>) -> Vec<NamedBuilder> {
    let most = generator.plan.playbook.limits.max_attempts.saturating_add(1);
    if most > MAX_FAILURES {
        return Vec::new();
    }
    let mut found = Vec::new();
    for shape in [KEYED, UNKEYED] {
        let path = generator.longest_path(most, shape, shape.tool());
        let answers: Vec<ScriptedAnswer> =
            path.iter().zip(1..).map(|(made, at)| failure(generator, made, shape, at, shape.tool())).collect();
        let refreshes = (0..answers.len()).map(|_| ok());
        let title = format!("As many attempts of {} as there can be", shape.words().replace('-', " "));
        let builder = FixtureBuilder::of(title, shape, shape.tool()).answered(answers).refreshed(refreshes);
        found.push((format!("as-many-attempts-of-{}-as-there-can-be", shape.words()), builder));
    }
    found
}
