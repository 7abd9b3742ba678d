//! Findings of a recording, over calls in the order in which they close: duplicate effects, futile resends, loops.
//! Playbooks only tell whether a failure may have acted. Memory is bounded, except 16 bytes per declared write that
//! succeeded (in a table that is at least half full).
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;

use playproof_engine::call::Reply;
use playproof_engine::event::{ErrorFacts, Finding, FindingId};
use playproof_engine::ids::AttemptNo;
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::Plan;
use playproof_trace::call::{AttemptCounts, CompletedCall};
use playproof_trace::simd::prefetch;
use playproof_trace::window::Window;

use super::attempts::{finding, may_have_acted};
use super::counts::Counts;

/// The window of calls for loops and resends.
const WINDOW: u16 = 10_000;

/// More identical calls than this within the window are a loop.
const LOOP: u32 = 10;

/// The first 96 bits of an intent's hash.
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

/// A call within the window; of identical ones, the newest has the counts.
#[derive(Debug, Default)]
struct Recent {
    /// Whether there is a newer one.
    is_old: bool,
    count: u32,
    /// The line of its last failure; 0 if it did not fail last.
    failed_on: u64,
    /// Failures in a row.
    failures: u32,
    /// Effects of calls without a key, if the tool acts each time.
    effects: u32,
    /// Whether one without ok may have acted.
    maybe: MayHaveActed,
}

/// Whether a call without ok may have acted. Evaluated lazily, because most calls are made once.
#[derive(Clone, Debug, Default)]
enum MayHaveActed {
    /// None may have acted.
    #[default]
    No,
    /// One failed with this error; not evaluated yet.
    Unasked(Option<Arc<ErrorFacts>>),
    /// One may have acted.
    Yes,
}

/// Calls that may have made an effect again, by tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PossibleDuplicates {
    /// The tool is not declared: it may be a read.
    pub undeclared: Counts,
    /// The call had a key: an upstream that honours it repeated its first answer.
    pub keyed: Counts,
    /// An identical call without ok may have acted.
    pub failed: Counts,
    /// Resent as an attempt of the same call after a failure that may have acted; the tool is not declared.
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
    /// Takes the next closed call, and adds its findings. `plans` tell whether a failure may have acted.
    pub fn take(
        &mut self,
        closed: &CompletedCall,
        facts: ToolFacts,
        plans: &[Plan],
        mut findings: impl FnMut(Finding),
    ) {
        let effects = net_effects(&closed.counts, facts);
        let recent = self.remember(closed.hashes.request);
        recent.count += 1;
        if recent.count > LOOP {
            findings(finding(FindingId::RunawayLoop, recent.count, facts));
        }
        if recent.takes_futile_retry(closed.raw().place.line, &closed.counts) {
            findings(finding(FindingId::FutileRetry, recent.failures - 1, facts));
        }
        let in_doubt = acts_again(facts) && closed.hashes.key == 0 && recent.takes_doubt(closed, facts, effects, plans);
        let seen = recent.effects;
        if in_doubt {
            findings(finding(FindingId::PossibleDuplicateEffect, seen.saturating_add(1), facts));
            self.possible_duplicates.failed.add(closed.shown().tool(), 1);
        }
        match sum_of(closed, facts) {
            EffectScope::None => return,
            EffectScope::Recent => {
                if seen > 1 {
                    findings(finding(FindingId::PossibleDuplicateEffect, seen, facts));
                    self.possible_duplicates.undeclared.add(closed.shown().tool(), 1);
                }
                return;
            }
            EffectScope::Whole => {}
        }
        let all = self.effects.entry(IntentKey::new(closed.hashes.intent())).or_default();
        *all = all.saturating_add(effects);
        match (*all > 1, closed.hashes.key) {
            // An upstream that honours keys repeats its first answer: no proof of a second effect.
            (true, 1..) => {
                findings(finding(FindingId::PossibleDuplicateEffect, *all, facts));
                self.possible_duplicates.keyed.add(closed.shown().tool(), 1);
            }
            (true, 0) => findings(finding(FindingId::DuplicateEffect, *all, facts)),
            (false, _) => {}
        }
    }

    /// Prefetches what `take` will look up, and reserves entries for effects. In one pass, so that memory accesses overlap.
    pub fn prepare(&mut self, calls: &[CompletedCall], facts: &[ToolFacts]) {
        self.recent.prefetch(calls.iter().map(|closed| closed.hashes.request));
        calls.iter().filter_map(|closed| closed.raw().answers.first()).for_each(prefetch);
        for (closed, &facts) in calls.iter().zip(facts) {
            if sum_of(closed, facts) == EffectScope::Whole {
                self.effects.entry(IntentKey::new(closed.hashes.intent())).or_default();
            }
        }
    }

    /// Calls that may have made an effect again, by tool.
    pub fn possible_duplicates(&self) -> &PossibleDuplicates {
        &self.possible_duplicates
    }

    /// The entry of a call; drops the oldest one of the window.
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
    /// Adds the effects of a call. True if there is an effect that another call without ok may have made too.
    fn takes_doubt(&mut self, closed: &CompletedCall, facts: ToolFacts, effects: u32, plans: &[Plan]) -> bool {
        let again = self.count > 1;
        let before = self.effects;
        self.effects = before.saturating_add(effects);
        if effects > 0 {
            return again && before == 0 && self.maybe.ask(closed, facts, plans);
        }
        let failed = MayHaveActed::of(closed, facts, plans);
        if matches!(failed, MayHaveActed::No) || (again && self.maybe.ask(closed, facts, plans)) {
            return false; // one that may have acted is enough
        }
        self.maybe = failed;
        before > 0 && self.maybe.ask(closed, facts, plans)
    }

    /// Adds the end of the call at `line`. True if it failed as before, without a write in between.
    fn takes_futile_retry(&mut self, line: u64, counts: &AttemptCounts) -> bool {
        if counts.attempts == 0 {
            return false;
        }
        let failed_before = std::mem::replace(&mut self.failed_on, counts.failed_on);
        if counts.failed_on == 0 {
            self.failures = 0;
            return false;
        }
        let sent_after = failed_before != 0 && line > failed_before;
        let again = sent_after && counts.last_write <= failed_before;
        self.failures = if again { self.failures.saturating_add(1) } else { 1 };
        self.failed_on = counts.failed_on.max(failed_before);
        again
    }
}

impl MayHaveActed {
    /// For a call without a proved effect.
    fn of(closed: &CompletedCall, facts: ToolFacts, plans: &[Plan]) -> MayHaveActed {
        if closed.counts.succeeded > 0 {
            return MayHaveActed::No; // made, and reversed
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

    /// Whether it may have acted; `closed` is an identical call.
    fn ask(&mut self, closed: &CompletedCall, facts: ToolFacts, plans: &[Plan]) -> bool {
        if let MayHaveActed::Unasked(error) = self {
            let acted = may_have_acted(closed.raw(), facts, plans, AttemptNo::FIRST, error.as_deref());
            *self = if acted { MayHaveActed::Yes } else { MayHaveActed::No };
        }
        matches!(self, MayHaveActed::Yes)
    }
}

/// Whether each call of the tool makes a new effect.
const fn acts_again(facts: ToolFacts) -> bool {
    matches!(facts.access, Access::Write) && !facts.repeatable && !facts.idempotent
}

/// The scope in which the effects of an intent are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EffectScope {
    /// None: it had no effect, or may have several.
    None,
    /// Among the last calls.
    Recent,
    /// Over the whole input.
    Whole,
}

fn sum_of(closed: &CompletedCall, facts: ToolFacts) -> EffectScope {
    if net_effects(&closed.counts, facts) == 0 || !acts_again(facts) {
        return EffectScope::None;
    }
    match facts.declared || closed.hashes.key != 0 {
        true => EffectScope::Whole,
        false => EffectScope::Recent,
    }
}

/// Proved effects: successful attempts of a write, less successful reversals.
fn net_effects(counts: &AttemptCounts, facts: ToolFacts) -> u32 {
    match facts.access {
        Access::Read => 0,
        Access::Write => counts.succeeded.saturating_sub(counts.reversed),
    }
}
