//! Every limit reached, and just not reached: retries, attempts, refreshes, waits, the deadline.

use std::sync::Arc;

use super::all::Probing;
use crate::coverage::prefix::Kit;
use crate::coverage::shape::{KEYED, Shape, UNKEYED};
use crate::coverage::story;
use crate::coverage::story::{Story, TIMEOUT};
use playproof_engine::event::ErrorFacts;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{Compensation, Refresh, Retry};
use playproof_engine::time::Duration;
use playproof_engine::upstream::{ScriptedAnswer, UpstreamReply};

/// More failures than this are not written out.
const MOST: u32 = 40;

const MILLI: Duration = Duration::from_millis(1);

pub(super) fn add(probing: &mut Probing<'_>) {
    let verdicts = (0..).map(VerdictId).zip(&probing.kit.plan.playbook.verdicts);
    let mut stories = Vec::new();
    for (id, verdict) in verdicts {
        let Some(shape) = Shape::all().into_iter().find(|&shape| probing.kit.failure(id, shape, 1, None).is_some())
        else {
            continue;
        };
        let limits = Limits { kit: &probing.kit, id, name: &verdict.name, shape };
        match &verdict.then {
            Compensation::RetryWithBackoff(retry) => limits.of_retry(retry, &mut stories),
            Compensation::RefreshEvidence(refresh) => limits.of_refresh(refresh, &mut stories),
            _ => {}
        }
    }
    stories.extend(all_attempts(&probing.kit));
    for (name, story) in stories {
        probing.add(name, story);
    }
}

/// The limits of one verdict.
struct Limits<'a> {
    kit: &'a Kit<'a>,
    id: VerdictId,
    name: &'a str,
    shape: Shape,
}

impl Limits<'_> {
    /// The failure as attempt number `at` is answered.
    fn failure(&self, at: u32) -> Option<ScriptedAnswer> {
        let made = self.kit.failure(self.id, self.shape, at, None)?;
        Some(story::failure(self.kit, made, self.shape, at, made.tool_for(self.shape)))
    }

    fn story(&self, title: &str) -> Story {
        let tool =
            self.kit.failure(self.id, self.shape, 1, None).map_or(self.shape.tool(), |made| made.tool_for(self.shape));
        Story::of(format!("{}: {title}", self.name), self.shape, tool)
    }

    fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.name)
    }

    fn of_retry(&self, retry: &Retry, stories: &mut Vec<(String, Story)>) {
        // One failure more than the verdict allows, and one more for whoever allows another.
        let failures: Vec<ScriptedAnswer> =
            (1..=retry.max_retries.saturating_add(2).min(MOST)).map_while(|at| self.failure(at)).collect();
        let last = failures.len().saturating_sub(2);
        stories.push((
            self.name("until-its-retries-are-used-up"),
            self.story("every retry fails").answered(failures.clone()),
        ));
        let recovers = failures.into_iter().take(last).chain([story::ok()]);
        stories.push((self.name("until-the-last-retry-works"), self.story("the last retry works").answered(recovers)));
        self.waits(retry, stories);
        self.deadline(retry.backoff.first().copied().unwrap_or_default(), stories);
    }

    /// Upstreams that ask to wait: not at all long, longer than the list, as long as is allowed, and longer.
    fn waits(&self, retry: &Retry, stories: &mut Vec<(String, Story)>) {
        let listed = retry.backoff.first().copied().unwrap_or_default();
        let most = retry.max_wait.unwrap_or(listed);
        for wait in [MILLI, listed.plus(MILLI), most, most.plus(MILLI), most.plus(MILLI).plus(MILLI)] {
            let Some(failure) = self.failure(1).and_then(|failure| asking_to_wait(failure, wait)) else { continue };
            let story = self.story("the upstream asks to wait").answered([failure, story::ok()]);
            stories.push((self.name("with-a-wish-to-wait"), story));
        }
    }

    /// A first failure so late that the next attempt starts at the deadline, or just not before it.
    fn deadline(&self, delay: Duration, stories: &mut Vec<(String, Story)>) {
        let Some(deadline) = self.kit.plan.playbook.limits.deadline else { return };
        let starts_then = Duration::from_micros(deadline.as_micros().saturating_sub(delay.as_micros()));
        for latency in [starts_then, starts_then.plus(MILLI), deadline, deadline.plus(MILLI)] {
            let Some(failure) = self.failure(1).and_then(|failure| in_words(failure, latency)) else { continue };
            let story = self.story("the failure comes close to the deadline");
            let story = story.answered([failure, story::ok()]).refreshed([story::ok()]).patient(deadline.plus(TIMEOUT));
            stories.push((self.name("close-to-the-deadline"), story));
        }
    }

    fn of_refresh(&self, refresh: &Refresh, stories: &mut Vec<(String, Story)>) {
        let count = refresh.max_refreshes.saturating_add(2).min(MOST);
        let failures: Vec<ScriptedAnswer> = (1..=count).map_while(|at| self.failure(at)).collect();
        let again = self.story("refreshing never helps").answered(failures.clone());
        stories.push((self.name("until-refreshes-are-used-up"), again.refreshed((0..count).map(|_| story::ok()))));
        for (what, answers) in [
            ("when-the-refresh-works", vec![story::ok()]),
            ("when-the-refresh-is-refused", vec![story::refused()]),
            ("when-the-refresh-is-lost", vec![story::lost()]),
            ("when-nothing-answers-the-refresh", Vec::new()),
        ] {
            let story =
                self.story(&what.replace('-', " ")).answered(failures.iter().take(1).cloned().chain([story::ok()]));
            stories.push((self.name(what), story.refreshed(answers)));
        }
        self.deadline(Duration::ZERO, stories);
    }
}

/// The failure, asking to wait this long.
fn asking_to_wait(failure: ScriptedAnswer, wait: Duration) -> Option<ScriptedAnswer> {
    let latency = story::LATENCY;
    let mut failure = in_words(failure, latency)?;
    if let UpstreamReply::Failed(Some(error)) = &mut failure.reply {
        Arc::make_mut(error).retry_after = Some(wait);
    }
    Some(failure)
}

/// The failure as an answer that comes after `latency`; none for a failure without an error object.
fn in_words(failure: ScriptedAnswer, latency: Duration) -> Option<ScriptedAnswer> {
    let reply = match failure.reply {
        UpstreamReply::Lost => {
            UpstreamReply::failed(ErrorFacts { kind: Some("timeout".into()), ..ErrorFacts::default() })
        }
        UpstreamReply::Failed(Some(error)) => UpstreamReply::Failed(Some(error)),
        UpstreamReply::Failed(None) | UpstreamReply::Ok => return None,
    };
    Some(ScriptedAnswer { reply, latency, applied: failure.applied })
}

/// A call that uses up every retry and refresh there is, one failure after the other.
fn all_attempts(kit: &Kit<'_>) -> Vec<(String, Story)> {
    let most = kit.plan.playbook.limits.max_attempts.saturating_add(1);
    if most > MOST {
        return Vec::new();
    }
    let mut stories = Vec::new();
    for shape in [KEYED, UNKEYED] {
        let way = kit.longest_way(most, shape, shape.tool());
        let answers: Vec<ScriptedAnswer> =
            way.iter().zip(1..).map(|(made, at)| story::failure(kit, made, shape, at, shape.tool())).collect();
        let refreshes = (0..answers.len()).map(|_| story::ok());
        let title = format!("As many attempts of {} as there can be", shape.words().replace('-', " "));
        let story = Story::of(title, shape, shape.tool()).answered(answers).refreshed(refreshes);
        stories.push((format!("as-many-attempts-of-{}-as-there-can-be", shape.words()), story));
    }
    stories
}
