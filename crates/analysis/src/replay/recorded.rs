//! What a recording shows by itself, over calls in the order in which they close: effects that were made twice, calls
//! that were sent again in vain, loops. Playbooks are asked only whether a failure may have acted. Bounded, but for 16
//! bytes a declared write that succeeded (in a table that is at least half full).
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;

use playproof_engine::call::Reply;
use playproof_engine::event::{ErrorFacts, Finding, FindingId};
use playproof_engine::ids::AttemptNo;
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::Plan;
use playproof_trace::assemble::{ClosedCall, Story};
use playproof_trace::processor::fetch;
use playproof_trace::window::Window;

use super::attempts::{finding, may_have_acted};
use super::counts::Counts;

/// Calls that are looked back at for loops and resends.
const WINDOW: u16 = 10_000;

/// The same call more often than this within the window is a loop.
const LOOP: u32 = 10;

/// The first 96 bits of an intent's mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IntentKey([u32; 3]);

impl IntentKey {
    #[expect(clippy::cast_possible_truncation, reason = "96 bits tell millions of intents apart")]
    fn new(mark: u128) -> IntentKey {
        IntentKey([mark as u32, (mark >> 32) as u32, (mark >> 64) as u32])
    }
}

impl std::hash::Hash for IntentKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let IntentKey([a, b, _]) = *self;
        state.write_u64(u64::from(a) | u64::from(b) << 32);
    }
}

/// What is known of one call among the last ones; of identical ones the newest has it.
#[derive(Debug, Default)]
struct Recent {
    /// There is a newer one.
    is_old: bool,
    count: u32,
    /// The line of its last failure; 0: it did not fail last.
    failed_on: u64,
    /// Failures in a row.
    failures: u32,
    /// Effects of those without a key, where its tool makes its effect once more each time.
    effects: u32,
    /// Whether one of those may have acted though it was not answered with ok.
    maybe: MayHaveActed,
}

/// Whether a call that was not answered with ok may have acted: asked only where that matters, for most calls are made
/// once.
#[derive(Clone, Debug, Default)]
enum MayHaveActed {
    /// None may have.
    #[default]
    No,
    /// One that failed at once with this; nobody has asked the playbook.
    Unasked(Option<Arc<ErrorFacts>>),
    /// One may have.
    Yes,
}

/// By tool: calls that may have made an effect again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PossibleDuplicates {
    /// Nobody declared the tool: it may be a read.
    pub undeclared: Counts,
    /// The call had a key: an upstream that honours it gave its first answer again.
    pub keyed: Counts,
    /// Beside an identical call that was not answered with ok, and may have acted all the same.
    pub failed: Counts,
    /// Sent again as an attempt of the same call after a failure that may have acted, by a tool that nobody declared.
    pub resent: Counts,
}

impl PossibleDuplicates {
    /// Adds what was counted later.
    pub fn merge(&mut self, later: &PossibleDuplicates) {
        self.undeclared.merge(&later.undeclared);
        self.keyed.merge(&later.keyed);
        self.failed.merge(&later.failed);
        self.resent.merge(&later.resent);
    }
}

/// The sequential analysis of one input.
#[derive(Debug)]
pub struct RecordingAnalysis {
    effects: HashMap<IntentKey, u32, FixedState>,
    recent: Window<Recent>,
    possible_duplicates: PossibleDuplicates,
}

impl Default for RecordingAnalysis {
    fn default() -> RecordingAnalysis {
        RecordingAnalysis {
            effects: HashMap::default(),
            recent: Window::new(usize::from(WINDOW)),
            possible_duplicates: PossibleDuplicates::default(),
        }
    }
}

impl RecordingAnalysis {
    /// Takes the next closed call, and adds what it shows to `findings`. Whether a failure may have acted is what
    /// `plans` say of it.
    pub fn take(&mut self, closed: &ClosedCall, facts: ToolFacts, plans: &[Plan], mut findings: impl FnMut(Finding)) {
        let effects = net_effects(&closed.story, facts);
        let recent = self.remember(closed.marks.same);
        recent.count += 1;
        if recent.count > LOOP {
            findings(finding(FindingId::RunawayLoop, recent.count));
        }
        if recent.takes_futile_retry(closed.raw().place.line, &closed.story) {
            findings(finding(FindingId::FutileRetry, recent.failures - 1));
        }
        let in_doubt =
            acts_again(facts) && closed.marks.keyed == 0 && recent.takes_doubt(closed, facts, effects, plans);
        let seen = recent.effects;
        if in_doubt {
            findings(finding(FindingId::PossibleDuplicateEffect, seen.saturating_add(1)));
            self.possible_duplicates.failed.add(closed.shown().tool(), 1);
        }
        match sum_of(closed, facts) {
            EffectScope::None => return,
            EffectScope::Recent => {
                if seen > 1 {
                    findings(finding(FindingId::PossibleDuplicateEffect, seen));
                    self.possible_duplicates.undeclared.add(closed.shown().tool(), 1);
                }
                return;
            }
            EffectScope::Whole => {}
        }
        let all = self.effects.entry(IntentKey::new(closed.marks.intent())).or_default();
        *all = all.saturating_add(effects);
        match (*all > 1, closed.marks.keyed) {
            // An upstream that honours keys gives its first answer again: that is no second effect, and no proof of one.
            (true, 1..) => {
                findings(finding(FindingId::PossibleDuplicateEffect, *all));
                self.possible_duplicates.keyed.add(closed.shown().tool(), 1);
            }
            (true, 0) => findings(finding(FindingId::DuplicateEffect, *all)),
            (false, _) => {}
        }
    }

    /// Brings near what `take` will look up of these calls, and makes room for their effects. Done in one go, because
    /// what does not depend on one another waits for memory at the same time.
    pub fn prepare(&mut self, calls: &[ClosedCall], facts: &[ToolFacts]) {
        self.recent.fetch(calls.iter().map(|closed| closed.marks.same));
        calls.iter().filter_map(|closed| closed.raw().answers.first()).for_each(fetch);
        for (closed, &facts) in calls.iter().zip(facts) {
            if sum_of(closed, facts) == EffectScope::Whole {
                self.effects.entry(IntentKey::new(closed.marks.intent())).or_default();
            }
        }
    }

    /// By tool: calls that may have made an effect again.
    pub fn possible_duplicates(&self) -> &PossibleDuplicates {
        &self.possible_duplicates
    }

    /// The entry of a call; the oldest of the window is forgotten.
    fn remember(&mut self, same: u128) -> &mut Recent {
        if self.recent.next() - self.recent.first() >= u64::from(WINDOW)
            && let Some((mark, Recent { is_old: true, .. })) = self.recent.pop_first(|_| true)
            && let Some(newest) = self.newest(mark)
        {
            newest.count -= 1;
        }
        let earlier = self.newest(same);
        let known = earlier.map(|earlier| std::mem::replace(earlier, Recent { is_old: true, ..Recent::default() }));
        self.recent.push(same, known.unwrap_or_default())
    }

    fn newest(&mut self, same: u128) -> Option<&mut Recent> {
        let number = self.recent.find(same)?;
        self.recent.get_mut(number)
    }
}

impl Recent {
    /// Books the effects of a call, and says whether there is one that another call, not answered with ok, may have made
    /// too. Where two are proved, that was said already.
    fn takes_doubt(&mut self, closed: &ClosedCall, facts: ToolFacts, effects: u32, plans: &[Plan]) -> bool {
        let again = self.count > 1;
        let before = self.effects;
        self.effects = before.saturating_add(effects);
        if effects > 0 {
            return again && before == 0 && self.maybe.ask(closed, facts, plans);
        }
        let failed = MayHaveActed::of(closed, facts, plans);
        if matches!(failed, MayHaveActed::No) || (again && self.maybe.ask(closed, facts, plans)) {
            return false; // one that may have acted is enough to be told of
        }
        self.maybe = failed;
        before > 0 && self.maybe.ask(closed, facts, plans)
    }

    /// Books how the call at `line` ended, and says whether it failed as it had before, with nothing written between.
    fn takes_futile_retry(&mut self, line: u64, story: &Story) -> bool {
        if story.attempts == 0 {
            return false;
        }
        let failed_before = std::mem::replace(&mut self.failed_on, story.failed_on);
        if story.failed_on == 0 {
            self.failures = 0;
            return false;
        }
        let sent_after = failed_before != 0 && line > failed_before;
        let again = sent_after && story.last_write <= failed_before;
        self.failures = if again { self.failures.saturating_add(1) } else { 1 };
        self.failed_on = story.failed_on.max(failed_before);
        again
    }
}

impl MayHaveActed {
    /// Of a call that made no effect that is proved and left.
    fn of(closed: &ClosedCall, facts: ToolFacts, plans: &[Plan]) -> MayHaveActed {
        if closed.story.succeeded > 0 {
            return MayHaveActed::No; // made, and taken back
        }
        let mut attempts = closed.raw().attempts();
        match (attempts.next().map(|(_, answer)| &answer.reply), attempts.next()) {
            (None, _) => MayHaveActed::Yes,
            (Some(Reply::Failed(error)), None) => MayHaveActed::Unasked(error.clone()),
            _ => {
                let acted = closed.raw().attempts().any(|(number, answer)| match &answer.reply {
                    Reply::Failed(error) => may_have_acted(closed.raw(), facts, plans, number, error.as_deref()),
                    Reply::Ok => false,
                });
                if acted { MayHaveActed::Yes } else { MayHaveActed::No }
            }
        }
    }

    /// Whether it may have; `closed` is an identical call.
    fn ask(&mut self, closed: &ClosedCall, facts: ToolFacts, plans: &[Plan]) -> bool {
        if let MayHaveActed::Unasked(error) = self {
            let acted = may_have_acted(closed.raw(), facts, plans, AttemptNo::FIRST, error.as_deref());
            *self = if acted { MayHaveActed::Yes } else { MayHaveActed::No };
        }
        matches!(self, MayHaveActed::Yes)
    }
}

/// Whether a tool's call makes its effect once more each time that it is sent.
const fn acts_again(facts: ToolFacts) -> bool {
    matches!(facts.access, Access::Write) && !facts.repeatable && !facts.idempotent
}

/// Where the effects of a call's intent are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EffectScope {
    /// Nowhere: it had none, or may have several.
    None,
    /// Among the last calls.
    Recent,
    /// Over the whole input.
    Whole,
}

fn sum_of(closed: &ClosedCall, facts: ToolFacts) -> EffectScope {
    if net_effects(&closed.story, facts) == 0 || !acts_again(facts) {
        return EffectScope::None;
    }
    match facts.declared || closed.marks.keyed != 0 {
        true => EffectScope::Whole,
        false => EffectScope::Recent,
    }
}

/// Effects that the recording proves: attempts of a write that succeeded, less reversals that did.
fn net_effects(story: &Story, facts: ToolFacts) -> u32 {
    match facts.access {
        Access::Read => 0,
        Access::Write => story.succeeded.saturating_sub(story.reversed),
    }
}
