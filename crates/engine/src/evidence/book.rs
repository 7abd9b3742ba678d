//! What is known of one request: what its calls have done, or may have, as far as a caller could know it at a moment; and
//! what the agent did by making them one after the other. Identical calls are those of one tool and run with the same
//! arguments. Recordings feed the book from their lines, fixtures from their events, a dispatcher from its calls. Bounded:
//! the last 16 calls, keys and ends of one request.

use crate::event::{Finding, FindingBy, FindingId};
use crate::ids::CallId;
use crate::playbook::{Access, ToolFacts};
use crate::time::Instant;

use super::meaning::FailureMeaning;

/// The most keys, and the most ends of calls, of one request that are remembered.
const MAX_ROWS: usize = 16;

/// The most identical calls of one run that are no loop.
pub const MOST_IDENTICAL_CALLS: u32 = 10;

/// A moment: by its time where both of two moments have one and they differ, else by its place in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The time, if it is known.
    pub at: Option<Instant>,
    /// The line, or the number of the event.
    pub place: u64,
    /// The input, where moments of several are compared; else 0.
    input: u32,
}

impl Moment {
    /// After everything else.
    pub const END: Moment = Moment::new(None, u64::MAX);

    /// A moment of the only input that is looked at.
    pub const fn new(at: Option<Instant>, place: u64) -> Moment {
        Moment { at, place, input: 0 }
    }

    /// The same moment among those of several inputs.
    #[must_use]
    pub const fn in_input(self, input: u32) -> Moment {
        Moment { input, ..self }
    }

    /// Whether this moment is known to be after `earlier`. Nothing shows that of two inputs without times.
    pub fn is_after(self, earlier: Moment) -> bool {
        match self.at.zip(earlier.at) {
            Some((now, then)) if now != then => now > then,
            _ if self.input != earlier.input => self.place == u64::MAX,
            _ => self.place > earlier.place,
        }
    }
}

/// How one of the identical calls went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallShows {
    /// A mark of its idempotency key; 0: it has none, or the upstream ignores it.
    pub key: u64,
    /// When it was made.
    pub made: Moment,
    /// When it had ended; none: it has no recorded end.
    pub ended: Option<Moment>,
    /// The last write of the run before it.
    pub last_write: Option<Moment>,
    /// Whether its last attempt failed.
    pub failed: bool,
    /// Whether its last answer only suggests a failure: it proves no success.
    pub suspected: bool,
    /// Effects that are proved and were not reversed.
    pub effects: u32,
    /// Whether an attempt without ok may have acted; another attempt may have succeeded.
    pub may_have_acted: bool,
    /// When it was known that it has not acted: each attempt that had no answer failed late, with a verdict that says so.
    pub settled: Option<Moment>,
    /// Whether its last answer is a denial.
    pub denied: bool,
    /// Whether its last answer says that the upstream had processed the key.
    pub processed: bool,
    /// Whether its agent was told that it may make it again, by its last answer.
    pub advice: Option<bool>,
    /// Whether its last answer says that it came out of order: that was true of that moment only.
    pub out_of_order: bool,
    /// The last success of another call of the run before it, where that is known.
    pub last_success: Option<Moment>,
    /// Until when the upstream asked to wait, by its last answer.
    pub wait_until: Option<Instant>,
    /// When its caller made it, if it was sent later than that.
    pub since: Option<Moment>,
    /// When it was over, if that was later than its last answer.
    pub over: Option<Moment>,
    /// Whether an attempt is still out: its caller went away, or its answer is not recorded.
    pub is_out: bool,
}

/// Why one more call of a request could do harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Against {
    /// A call of it was denied.
    Denied,
    /// The upstream said that it has processed a key of it.
    Processed,
    /// Its key belongs to a request with other arguments.
    KeyOfAnother,
    /// What was made under its key was reversed, or may have been.
    KeyReversed,
    /// A call of it has acted.
    Done,
    /// A call of it may have acted, or is still out.
    MayBeDone,
}

/// One more call of a request.
#[derive(Clone, Copy, Debug)]
pub struct OneMore<'a> {
    /// The calls that are judged elsewhere.
    pub own: &'a [CallShows],
    /// A mark of its key; 0: it has none, or the upstream ignores it.
    pub key: u64,
    /// Whether it is a step: what is done under its own key is then no reason against its action.
    pub is_step: bool,
    /// When it would be made.
    pub now: Moment,
}

/// How much the calls prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The facts of the tool.
    pub facts: ToolFacts,
    /// Whether the calls are known to be one request: they name one run, and their arguments are recorded.
    pub one_request: bool,
}

/// What the identical calls so far show.
#[derive(Clone, Debug, Default)]
pub struct RequestBook {
    keys: Vec<KeyRow>,
    /// The last one that has an end.
    last: Option<LastCall>,
    /// Ends that a denial, a processed key or advice depends on, in the order of their moments.
    ends: Vec<End>,
    /// The first ends of calls that may have acted, with their keys.
    lost_ends: Vec<(u64, Moment)>,
    /// Calls that are known not to have acted from some moment on.
    settled: Vec<CallShows>,
    /// The last calls.
    calls: Vec<CallShows>,
    /// Whether a call before them acted or may have.
    acted_before: bool,
}

/// The calls with one key, or without.
#[derive(Clone, Copy, Debug, Default)]
struct KeyRow {
    key: u64,
    effects: u32,
    /// Calls that acted or may have acted.
    acted: u32,
    /// Calls of which a failed attempt may have acted.
    maybe: u32,
    /// Calls that may have acted, without a proved effect.
    lost: u32,
}

/// The end of a call that was denied, whose key had been processed, whose agent got advice or was asked to wait, or that
/// succeeded.
#[derive(Clone, Copy, Debug)]
struct End {
    at: Moment,
    succeeded: bool,
    denied: bool,
    processed: bool,
    advice: Option<bool>,
    out_of_order: bool,
    wait_until: Option<Instant>,
    /// Whether making the call again may act twice: it has no key, and it or one before it may have acted.
    is_unsafe: bool,
}

#[derive(Clone, Copy, Debug)]
struct LastCall {
    ended: Moment,
    failed: bool,
    /// Calls in a row that failed again.
    futile: u32,
}

/// Whether each call of the tool makes a new effect of one intent.
pub const fn acts_again(facts: ToolFacts) -> bool {
    matches!(facts.access, Access::Write) && !facts.repeatable && !facts.idempotent
}

impl CallShows {
    /// Whether it ended with a success.
    pub const fn succeeded(&self) -> bool {
        self.ended.is_some() && !self.failed && !self.suspected
    }

    /// What is known at a moment of what it has done; none: nothing, or it was made later.
    fn known(&self, now: Moment) -> Option<Against> {
        let is_over = |moment: Option<Moment>| moment.is_some_and(|moment| !moment.is_after(now));
        match self {
            _ if self.since.unwrap_or(self.made).is_after(now) => None,
            _ if !is_over(self.over.or(self.ended)) => Some(Against::MayBeDone),
            CallShows { effects: 1.., .. } => Some(Against::Done),
            _ if self.is_out || self.may_have_acted && !is_over(self.settled) => Some(Against::MayBeDone),
            _ => None,
        }
    }

    /// Whether both are the same call: by when it was made, or, as a call that was the only one may have lost that, ended.
    fn is(&self, other: &CallShows) -> bool {
        match self.made == Moment::default() || other.made == Moment::default() {
            true => self.ended == other.ended,
            false => self.made == other.made,
        }
    }

    /// The same call among those of several inputs.
    #[must_use]
    pub fn in_input(self, input: u32) -> CallShows {
        let of = |moment: Option<Moment>| moment.map(|moment| moment.in_input(input));
        CallShows {
            made: self.made.in_input(input),
            ended: of(self.ended),
            last_write: of(self.last_write),
            settled: of(self.settled),
            last_success: of(self.last_success),
            since: of(self.since),
            over: of(self.over),
            ..self
        }
    }

    /// The call after a further failure, which is its last answer so far.
    #[must_use]
    pub const fn with(mut self, failure: FailureMeaning, acts: bool) -> CallShows {
        self.may_have_acted |= failure.may_have_acted && acts;
        self.denied = failure.denied;
        self.processed = failure.processed;
        self.advice = failure.advice;
        self.out_of_order = failure.out_of_order;
        self
    }
}

impl KeyRow {
    /// The effects if this call acted, and each of the earlier ones that may have.
    fn possible_effects(&self, call: &CallShows) -> u32 {
        self.effects.saturating_add(self.lost).saturating_add(call.effects.max(1))
    }
}

impl RequestBook {
    /// Takes the next identical call, and gives what the agent did by making it.
    pub fn take(&mut self, id: CallId, call: &CallShows, evidence: Evidence, mut found: impl FnMut(Finding)) {
        self.settle(call.made);
        let certain = evidence.facts.declared && evidence.one_request;
        // What several calls show together rests on facts, runs and arguments: where one is assumed, it is a doubt.
        let mut find = |finding, count| {
            let finding = Finding::new(finding, FindingBy::Recorded, id, count);
            found(evidence.facts.weigh(if certain { finding } else { finding.in_doubt() }));
        };
        let is_before = |ended| call.made.is_after(ended);
        let after_denial = self.had(is_before, |end| end.denied);
        let after_conflict = self.had(is_before, |end| end.processed);
        if after_denial {
            find(FindingId::RetriedAfterDenial, 1);
        }
        if after_conflict {
            find(FindingId::RetriedAfterConflict, 1);
        }
        let too_soon = |end: &End| end.wait_until.zip(call.made.at).is_some_and(|(until, made)| made < until);
        if self.had(is_before, too_soon) {
            find(FindingId::RetryAfterIgnored, 1);
        }
        if let Some(count) = self.futile(call) {
            find(FindingId::FutileRetry, count);
        }
        match self.advice(call.made) {
            Some(End { advice: Some(true), is_unsafe: true, .. }) if acts_again(evidence.facts) => {
                find(FindingId::UnsafeAdvice, 1);
            }
            // What was needed first may have been done since.
            Some(End { at, advice: Some(false), out_of_order: true, .. })
                if call.last_success.is_some_and(|success| success.is_after(at)) => {}
            Some(End { advice: Some(false), .. }) => find(FindingId::IgnoredAdvice, 1),
            _ => {}
        }
        if acts_again(evidence.facts) {
            let (said, count) = self.sent_again(call, certain);
            if count > 0 {
                find(said, count);
            }
            let doubled = self.may_be_doubled(call);
            if doubled > 0 {
                find(FindingId::PossibleDuplicateEffect, doubled);
            }
            if let Some((count, is_unsafe)) = self.under_other_keys(call) {
                let finding = Finding::new(FindingId::ResentUnderNewKey, FindingBy::Recorded, id, count);
                found(if certain && is_unsafe { finding } else { finding.in_doubt() });
            }
            self.add(call);
        }
        self.note(call);
    }

    /// Takes a call of which nothing is found: nothing was sent for it, or it was found elsewhere.
    pub fn note(&mut self, call: &CallShows) {
        self.note_end(call);
        if self.calls.len() >= MAX_ROWS {
            let oldest = self.calls.remove(0);
            self.acted_before |= oldest.known(Moment::END).is_some();
        }
        self.calls.push(*call);
    }

    /// Why one more call could do harm, as far as a caller knows at its moment. A key protects from what was done under it,
    /// unless that is known to be done.
    pub fn against(&self, next: OneMore<'_>, facts: ToolFacts) -> Option<Against> {
        let OneMore { own, key, is_step, now } = next;
        let is_known = |ended: Moment| !ended.is_after(now);
        if self.had(is_known, |end| end.denied) {
            return Some(Against::Denied);
        }
        if self.had(is_known, |end| end.processed) {
            return Some(Against::Processed);
        }
        if !acts_again(facts) {
            return None;
        }
        let mut own = own.to_vec();
        let mut others = Vec::new();
        for call in &self.calls {
            match own.iter().position(|known| known.is(call)) {
                Some(place) => drop(own.swap_remove(place)),
                None => others.push(call),
            }
        }
        let protects = |call: &CallShows| key != 0 && call.key == key;
        let known = others.into_iter().filter_map(|call| Some((call, call.known(now)?)));
        let acted = known.filter(|(call, known)| !protects(call) || *known == Against::Done && !is_step);
        let before = self.acted_before.then_some(Against::MayBeDone);
        acted.map(|(_, known)| known).chain(before).min()
    }

    /// Proved effects of the calls without a key.
    pub fn unkeyed_effects(&self) -> u32 {
        self.row(0).effects
    }

    fn row(&self, key: u64) -> KeyRow {
        self.keys.iter().find(|row| row.key == key).copied().unwrap_or(KeyRow { key, ..KeyRow::default() })
    }

    /// Whether there is such an end among those that are known, and no success after it.
    fn had(&self, is_known: impl Fn(Moment) -> bool, is: impl Fn(&End) -> bool) -> bool {
        let known = self.ends.iter().rev().filter(|end| is_known(end.at));
        known.take_while(|end| !end.succeeded).any(is)
    }

    /// The latest end with advice that was known when a call was made, and no success after it.
    fn advice(&self, made: Moment) -> Option<End> {
        let known = self.ends.iter().rev().filter(|end| made.is_after(end.at));
        known.take_while(|end| !end.succeeded).find(|end| end.advice.is_some()).copied()
    }

    /// Sent again without a key after one that may have acted: unsafe if that one had ended, else a doubt.
    fn sent_again(&self, call: &CallShows, certain: bool) -> (FindingId, u32) {
        let row = self.row(0);
        let is_followed = || certain && call.key == 0 && self.is_lost_before(call, |key| key == 0);
        if call.key != 0 || row.maybe == 0 && !is_followed() {
            return (FindingId::UnsafeRetry, 0);
        }
        match certain && self.is_after_lost(call, |key| key == 0) || is_followed() {
            true => (FindingId::UnsafeRetry, 1),
            false => (FindingId::PossibleDuplicateEffect, row.possible_effects(call)),
        }
    }

    /// Whether a call of such a key that may have acted had ended when this one was made.
    fn is_after_lost(&self, call: &CallShows, of: impl Fn(u64) -> bool) -> bool {
        self.lost_ends.iter().any(|&(key, ended)| of(key) && call.made.is_after(ended))
    }

    /// Whether this call may have acted, and had ended when one of such a key was made that was taken before it: inputs and
    /// lines come in any order, and times tell theirs.
    fn is_lost_before(&self, call: &CallShows, of: impl Fn(u64) -> bool) -> bool {
        let is_lost = call.may_have_acted && call.effects == 0;
        let Some(ended) = call.ended.filter(|_| is_lost) else { return false };
        let was_sent = |other: &&CallShows| of(other.key) && (other.ended.is_some() || other.may_have_acted);
        let is_later = |other: &CallShows| {
            let is_settled = call.settled.is_some_and(|settled| other.made.is_after(settled));
            other.made.is_after(ended) && !is_settled
        };
        self.calls.iter().filter(was_sent).any(is_later)
    }

    /// The effects if the call acted and another one, of which that is unknown, acted too; 0: nothing new.
    fn may_be_doubled(&self, call: &CallShows) -> u32 {
        let row = self.row(0);
        let now = call.effects > 0 && row.maybe > 0 && row.effects == 0;
        let before = call.effects == 0 && call.may_have_acted && row.maybe == 0 && row.effects > 0;
        if call.key == 0 && (now || before) { row.possible_effects(call) } else { 0 }
    }

    /// The calls with this request under any key so far, and whether it is sent again for sure: this one and one of another
    /// key succeeded, or one of another key that may have acted had ended. A key that is new protects from nothing.
    fn under_other_keys(&self, call: &CallShows) -> Option<(u32, bool)> {
        let others = || self.keys.iter().filter(|row| row.key != call.key);
        let acted = others().fold(0_u32, |sum, row| sum.saturating_add(row.acted));
        let both_succeeded = call.effects > 0 && others().any(|row| row.effects > 0);
        let is_unsafe = || {
            let is_other = |key| key != call.key;
            both_succeeded || self.is_after_lost(call, is_other) || self.is_lost_before(call, is_other)
        };
        (acted > 0).then(|| (acted.saturating_add(1), is_unsafe()))
    }

    fn add(&mut self, call: &CallShows) {
        let known = self.keys.iter().position(|row| row.key == call.key);
        let place = known.unwrap_or_else(|| {
            if self.keys.len() >= MAX_ROWS {
                self.keys.remove(0);
            }
            self.keys.push(KeyRow { key: call.key, ..KeyRow::default() });
            self.keys.len() - 1
        });
        let Some(row) = self.keys.get_mut(place) else { return };
        row.effects = row.effects.saturating_add(call.effects);
        row.acted = row.acted.saturating_add(u32::from(call.effects > 0 || call.may_have_acted));
        if call.may_have_acted {
            row.maybe = row.maybe.saturating_add(1);
            row.lost = row.lost.saturating_add(u32::from(call.effects == 0));
        }
        if call.may_have_acted && self.lost_ends.len() < MAX_ROWS {
            self.lost_ends.extend(call.ended.map(|ended| (call.key, ended)));
        }
        if call.may_have_acted && call.effects == 0 && call.settled.is_some() && self.settled.len() < MAX_ROWS {
            self.settled.push(*call);
        }
    }

    /// Takes back that calls may have acted, of which it was known when one was made that they had not.
    fn settle(&mut self, made: Moment) {
        let is_known = |call: &mut CallShows| call.settled.is_some_and(|settled| made.is_after(settled));
        for call in self.settled.extract_if(.., is_known) {
            if let Some(row) = self.keys.iter_mut().find(|row| row.key == call.key) {
                row.acted = row.acted.saturating_sub(1);
                row.maybe = row.maybe.saturating_sub(1);
                row.lost = row.lost.saturating_sub(1);
            }
            let of_call = self.lost_ends.iter().position(|(key, end)| (*key, Some(*end)) == (call.key, call.ended));
            of_call.map(|place| self.lost_ends.remove(place));
        }
    }

    /// How often in a row it was sent again in vain: the one before it failed, and nothing was written in between.
    fn futile(&self, call: &CallShows) -> Option<u32> {
        let last = self.last.filter(|last| call.failed && self.follows(call, *last))?;
        Some(last.futile.saturating_add(1))
    }

    fn follows(&self, call: &CallShows, last: LastCall) -> bool {
        last.failed
            && call.made.is_after(last.ended)
            && !call.last_write.is_some_and(|write| write.is_after(last.ended))
    }

    fn note_end(&mut self, call: &CallShows) {
        let Some(ended) = call.ended else { return };
        let futile = self.futile(call).unwrap_or(0);
        self.last = Some(LastCall { ended, failed: call.failed, futile });
        let CallShows { denied, processed, advice, out_of_order, wait_until, .. } = *call;
        let is_unsafe = call.key == 0 && self.row(0).acted > 0; // it was added: an earlier one counts, too
        let succeeded = call.succeeded();
        let end = End { at: ended, succeeded, denied, processed, advice, out_of_order, wait_until, is_unsafe };
        if end.denied || end.processed || end.succeeded || end.advice.is_some() || end.wait_until.is_some() {
            let place = self.ends.iter().rposition(|known| ended.is_after(known.at)).map_or(0, |before| before + 1);
            self.ends.insert(place, end);
            if self.ends.len() > MAX_ROWS {
                self.ends.remove(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: ToolFacts = ToolFacts { declared: true, ..ToolFacts::ASSUMED };
    const CERTAIN: Evidence = Evidence { facts: FACTS, one_request: true };

    fn on(place: u64) -> Moment {
        Moment::new(None, place)
    }

    /// A call that did nothing, and had ended when the next one was made if that was made later.
    fn call(made: u64, ended: u64) -> CallShows {
        CallShows { made: on(made), ended: Some(on(ended)), ..CallShows::default() }
    }

    fn ok(made: u64, ended: u64) -> CallShows {
        CallShows { effects: 1, ..call(made, ended) }
    }

    fn lost(made: u64, ended: u64) -> CallShows {
        CallShows { may_have_acted: true, ..call(made, ended) }
    }

    fn denied(made: u64, ended: u64) -> CallShows {
        CallShows { failed: true, denied: true, ..call(made, ended) }
    }

    fn under(key: u64, call: CallShows) -> CallShows {
        CallShows { key, ..call }
    }

    /// What the last of the calls shows.
    fn last_of(calls: &[CallShows], evidence: Evidence) -> Vec<(&'static str, &'static str, u32)> {
        let (mut repeats, mut shown) = (RequestBook::default(), Vec::new());
        for call in calls {
            shown.clear();
            repeats.take(CallId(0), call, evidence, |finding: Finding| {
                shown.push((finding.severity.as_str(), finding.id.as_str(), finding.count));
            });
        }
        shown
    }

    #[test]
    fn a_call_that_is_known_not_to_have_acted_speaks_against_none_that_was_made_after_that() {
        let settled = CallShows { settled: Some(on(10)), failed: true, ..lost(1, 5) };
        assert_eq!(last_of(&[settled, call(11, 12)], CERTAIN), []);
        assert_eq!(last_of(&[settled, ok(11, 12)], CERTAIN), []);
        assert_eq!(last_of(&[settled, call(9, 12)], CERTAIN), [("unsafe", "unsafe_retry", 1)], "not known yet");
        let both = [settled, lost(2, 6), call(11, 12)];
        assert_eq!(last_of(&both, CERTAIN), [("unsafe", "unsafe_retry", 1)], "another one may have acted");
        assert_eq!(last_of(&[CallShows { effects: 1, ..settled }, call(11, 12)], CERTAIN).len(), 1, "it acted");
        let open = [settled, lost(2, 20), call(11, 12)];
        assert_eq!(last_of(&open, CERTAIN), [("doubt", "possible_duplicate_effect", 2)], "the other one had not ended");
    }

    #[test]
    fn calls_that_are_taken_late_are_judged_by_when_they_were_made() {
        let settled = CallShows { settled: Some(on(10)), failed: true, ..lost(1, 5) };
        let not_sent = CallShows { made: on(11), ..CallShows::default() };
        assert_eq!(last_of(&[call(11, 12), lost(1, 5)], CERTAIN), [("unsafe", "unsafe_retry", 1)]);
        assert_eq!(last_of(&[call(4, 12), lost(1, 5)], CERTAIN), [], "it had not ended");
        assert_eq!(last_of(&[call(11, 12), settled], CERTAIN), [], "it was known to have done nothing");
        assert_eq!(last_of(&[not_sent, lost(1, 5)], CERTAIN), [], "nothing was sent");
        let keyed = [under(8, ok(11, 12)), under(7, lost(1, 5))];
        assert_eq!(last_of(&keyed, CERTAIN), [("unsafe", "resent_under_new_key", 2)]);
    }

    /// Why one more call like `now` could do harm after these calls.
    fn against(calls: &[CallShows], now: CallShows, facts: ToolFacts) -> Option<Against> {
        let mut book = RequestBook::default();
        for call in calls.iter().chain([&now]) {
            book.take(CallId(0), call, Evidence { facts, one_request: true }, |_| ());
        }
        let end = now.ended.unwrap_or(Moment::END);
        book.against(OneMore { own: &[now], key: now.key, is_step: false, now: end }, facts)
    }

    #[test]
    fn what_was_done_or_may_have_been_speaks_against_once_more_unless_its_own_key_protects_it() {
        for (before, now, why) in [
            (ok(1, 5), call(6, 9), Against::Done),
            (lost(1, 5), call(6, 9), Against::MayBeDone),
            (denied(1, 5), CallShows { failed: true, ..call(6, 9) }, Against::Denied),
            (under(1, ok(1, 5)), under(1, call(6, 9)), Against::Done),
            (under(1, lost(1, 5)), under(2, call(6, 9)), Against::MayBeDone),
            (under(1, lost(1, 5)), call(6, 9), Against::MayBeDone),
            (ok(2, 5), call(1, 9), Against::Done),
            (ok(2, 15), call(1, 9), Against::MayBeDone),
            (call(2, 15), call(1, 9), Against::MayBeDone),
        ] {
            assert_eq!(against(&[before], now, FACTS), Some(why), "{before:?}");
        }
        assert_eq!(against(&[call(1, 5)], call(6, 9), FACTS), None, "it did nothing");
        assert_eq!(against(&[ok(10, 12)], call(6, 9), FACTS), None, "it was made later");
        assert_eq!(against(&[under(1, lost(1, 5))], under(1, call(6, 9)), FACTS), None, "the same key");
        assert_eq!(against(&[], ok(6, 9), FACTS), None, "a call says nothing against itself");
        for facts in [
            ToolFacts { idempotent: true, ..FACTS },
            ToolFacts { repeatable: true, ..FACTS },
            ToolFacts { access: Access::Read, ..FACTS },
        ] {
            assert_eq!(against(&[ok(1, 5)], call(6, 9), facts), None, "{facts:?}");
        }
        let long_ago = (1..=20).map(|key| under(key, call(key, key)));
        let first: Vec<CallShows> = std::iter::once(under(99, lost(0, 0))).chain(long_ago).collect();
        assert_eq!(
            against(&first, call(30, 31), FACTS),
            Some(Against::MayBeDone),
            "its key is forgotten, and it is not"
        );
    }

    #[test]
    fn advice_to_make_a_call_again_is_unsafe_if_the_first_may_have_acted() {
        let again = call(6, 9);
        let advised = |call: CallShows| CallShows { failed: true, advice: Some(true), ..call };
        let found = |calls: &[CallShows], facts: ToolFacts| {
            let all = last_of(calls, Evidence { facts, one_request: true });
            all.into_iter().filter(|(_, id, _)| *id == "unsafe_advice").collect::<Vec<_>>()
        };
        let is = [("unsafe", "unsafe_advice", 1)];
        assert_eq!(found(&[advised(lost(1, 5)), again], FACTS), is);
        assert_eq!(found(&[advised(lost(1, 5)), again], ToolFacts::ASSUMED), [("doubt", "unsafe_advice", 1)]);
        for calls in [
            [lost(1, 5), again],                                               // no advice
            [CallShows { advice: Some(false), ..advised(lost(1, 5)) }, again], // told not to
            [advised(call(1, 5)), again],                                      // it did nothing
            [under(7, advised(lost(1, 5))), under(7, again)],                  // the key makes it safe
            [advised(lost(1, 8)), again],                                      // not known yet
        ] {
            assert_eq!(found(&calls, FACTS), [], "{calls:?}");
        }
        assert_eq!(found(&[advised(lost(1, 2)), ok(3, 4), again], FACTS), [], "a success ended it");
        for facts in [ToolFacts { idempotent: true, ..FACTS }, ToolFacts { access: Access::Read, ..FACTS }] {
            assert_eq!(found(&[advised(lost(1, 5)), again], facts), []);
        }
    }

    #[test]
    fn a_call_that_is_made_again_although_its_agent_was_told_not_to_ignores_advice() {
        let told_not = CallShows { failed: true, advice: Some(false), ..call(1, 5) };
        let found = |calls: &[CallShows]| {
            let all = last_of(calls, CERTAIN);
            all.into_iter().filter(|(_, id, _)| *id == "ignored_advice").collect::<Vec<_>>()
        };
        assert_eq!(found(&[told_not, call(6, 9)]), [("note", "ignored_advice", 1)]);
        assert_eq!(found(&[told_not, call(4, 9)]), [], "made before the advice came");
        assert_eq!(found(&[told_not, ok(6, 7), call(8, 9)]), [], "a success ended it");
        let came_early = CallShows { out_of_order: true, ..told_not };
        let after_success = CallShows { last_success: Some(on(5)), ..call(6, 9) };
        assert_eq!(found(&[came_early, call(6, 9)]), [("note", "ignored_advice", 1)]);
        assert_eq!(found(&[came_early, after_success]), [("note", "ignored_advice", 1)], "that was known");
        let after_later = CallShows { last_success: Some(on(7)), ..call(8, 9) };
        assert_eq!(found(&[came_early, after_later]), [], "what was needed was done");
        assert_eq!(found(&[told_not, after_later]), [("note", "ignored_advice", 1)], "it was no matter of order");
        let then_told_to = CallShows { failed: true, advice: Some(true), ..call(6, 7) };
        assert_eq!(found(&[told_not, then_told_to, call(8, 9)]), [], "the latest advice counts");
        assert_eq!(found(&[call(1, 5), call(6, 9)]), []);
    }

    #[test]
    fn places_decide_where_times_are_equal_or_missing() {
        let at = |micros: u64, place| Moment::new(Some(Instant::from_micros(micros)), place);
        assert!(at(5, 2).is_after(at(5, 1)) && !at(5, 1).is_after(at(5, 1)));
        assert!(at(6, 1).is_after(at(5, 2)) && !at(5, 2).is_after(at(6, 1)), "else times decide");
        assert!(at(1, 2).is_after(on(1)) && on(2).is_after(at(9, 1)));
        let (one, other) = (on(1).in_input(1), on(9).in_input(2));
        assert!(!one.is_after(other) && !other.is_after(one), "nothing shows which input came first");
        assert!(at(6, 1).in_input(1).is_after(at(5, 9).in_input(2)), "but times do");
        assert!(Moment::END.is_after(one) && !one.is_after(Moment::END));
    }

    #[test]
    fn the_last_answer_of_a_call_counts_and_only_a_write_may_have_acted() {
        let failure = FailureMeaning {
            may_have_acted: true,
            denied: true,
            processed: true,
            advice: Some(true),
            out_of_order: false,
        };
        let both = CallShows::default().with(failure, true);
        assert!(both.may_have_acted && both.denied && both.processed);
        assert!(!CallShows::default().with(failure, false).may_have_acted);
        let nothing = FailureMeaning {
            may_have_acted: false,
            denied: false,
            processed: false,
            advice: None,
            out_of_order: false,
        };
        let last = both.with(nothing, true);
        assert!(last.may_have_acted && !last.denied && !last.processed);
    }

    #[test]
    fn a_doubt_counts_each_effect_that_there_may_be() {
        let no_run = Evidence { one_request: false, ..CERTAIN };
        let doubt = |count| vec![("doubt", "possible_duplicate_effect", count)];
        assert_eq!(last_of(&[lost(1, 1), lost(2, 2)], no_run), doubt(2));
        assert_eq!(last_of(&[lost(1, 1), lost(2, 2), lost(3, 3)], no_run), doubt(3));
        let both = CallShows { effects: 1, ..lost(1, 1) };
        assert_eq!(last_of(&[both, lost(2, 2)], no_run), doubt(2), "one attempt of a call succeeded, another was lost");
        assert_eq!(last_of(&[both, lost(2, 2)], CERTAIN), [("unsafe", "unsafe_retry", 1)]);
    }

    #[test]
    fn only_a_write_whose_calls_act_again_is_doubled() {
        let calls = [lost(1, 1), lost(2, 2)];
        assert_eq!(last_of(&calls, CERTAIN), [("unsafe", "unsafe_retry", 1)]);
        for facts in [
            ToolFacts { access: Access::Read, ..FACTS },
            ToolFacts { idempotent: true, ..FACTS },
            ToolFacts { repeatable: true, ..FACTS },
        ] {
            assert_eq!(last_of(&calls, Evidence { facts, ..CERTAIN }), [], "{facts:?}");
        }
    }

    #[test]
    fn a_call_with_a_key_is_compared_with_other_keys_only() {
        let resent = |count| vec![("unsafe", "resent_under_new_key", count)];
        let doubt = |count| vec![("doubt", "resent_under_new_key", count)];
        assert_eq!(last_of(&[under(7, lost(1, 1)), under(8, ok(2, 2))], CERTAIN), resent(2));
        assert_eq!(last_of(&[under(7, lost(1, 1)), under(8, call(2, 2))], CERTAIN), resent(2), "however it went");
        assert_eq!(last_of(&[under(7, lost(1, 5)), under(8, ok(2, 6))], CERTAIN), doubt(2), "it had not ended");
        assert_eq!(
            last_of(&[under(7, ok(1, 1)), under(8, lost(2, 2))], CERTAIN),
            doubt(2),
            "it is known to have acted"
        );
        assert_eq!(last_of(&[under(7, call(1, 1)), under(8, ok(2, 2))], CERTAIN), [], "it was refused");
        let no_run = Evidence { one_request: false, ..CERTAIN };
        assert_eq!(last_of(&[under(7, lost(1, 1)), under(8, ok(2, 2))], no_run), doubt(2));
        let late = CallShows { settled: Some(on(5)), failed: true, ..lost(1, 2) };
        assert_eq!(last_of(&[under(7, late), under(8, ok(6, 6))], CERTAIN), [], "it is known to have done nothing");
        assert_eq!(last_of(&[under(7, late), under(8, ok(4, 6))], CERTAIN), resent(2), "not known yet");
        let many: Vec<CallShows> = (1..=40).map(|n| under(n % 2 + 1, lost(n, n))).collect();
        let one_key = many.iter().filter(|call| call.key == 1).copied().chain([under(2, ok(99, 99))]);
        assert_eq!(last_of(&one_key.collect::<Vec<_>>(), CERTAIN), resent(21));
        assert_eq!(last_of(&[lost(1, 1), under(7, lost(2, 2))], CERTAIN), resent(2));
        assert_eq!(last_of(&[lost(1, 1), under(7, ok(2, 2))], CERTAIN), resent(2));
        assert_eq!(last_of(&[under(7, lost(1, 1)), under(7, lost(2, 2))], CERTAIN), []);
        let several = [under(7, lost(1, 1)), under(8, lost(2, 2)), under(8, lost(3, 3))];
        assert_eq!(last_of(&several, CERTAIN), resent(2), "of the first one");
        assert_eq!(last_of(&[&several[..], &[lost(4, 4)]].concat(), CERTAIN), resent(4));
        // The end of a call with a key does not make a call without one unsafe.
        let open = CallShows { ended: None, ..lost(2, 2) };
        let shown = last_of(&[under(7, lost(1, 1)), open, lost(3, 3)], CERTAIN);
        assert_eq!(shown, [("doubt", "possible_duplicate_effect", 2), ("unsafe", "resent_under_new_key", 2)]);
    }

    #[test]
    fn only_what_had_ended_when_a_call_was_made_makes_it_a_retry() {
        let after_denial = [("unsafe", "retried_after_denial", 1)];
        assert_eq!(last_of(&[denied(1, 5), call(6, 6)], CERTAIN), after_denial);
        assert_eq!(last_of(&[denied(1, 5), call(3, 6)], CERTAIN), []);
        assert_eq!(last_of(&[CallShows { ended: None, ..denied(1, 1) }, denied(6, 6)], CERTAIN), []);
        assert_eq!(last_of(&[denied(1, 2), denied(1, 20), call(10, 10)], CERTAIN), after_denial);
        assert_eq!(last_of(&[denied(1, 10), call(2, 5), call(11, 11)], CERTAIN), after_denial, "the denial came last");
        assert_eq!(last_of(&[denied(1, 5), call(2, 10), call(11, 11)], CERTAIN), [], "the success came last");
        let suspected = CallShows { suspected: true, ..call(2, 10) };
        assert_eq!(last_of(&[denied(1, 5), suspected, call(11, 11)], CERTAIN), after_denial, "no success is proved");
        let of_several = [lost(1, 20), lost(3, 5), lost(6, 6)];
        assert_eq!(last_of(&of_several, CERTAIN), [("unsafe", "unsafe_retry", 1)], "the second had ended");
        assert_eq!(last_of(&of_several[..2], CERTAIN), [("doubt", "possible_duplicate_effect", 2)]);
    }

    #[test]
    fn failures_in_a_row_are_counted() {
        let failed = |made| CallShows { failed: true, ..call(made, made) };
        let futile = |count| vec![("note", "futile_retry", count)];
        assert_eq!(last_of(&[failed(1), failed(2)], CERTAIN), futile(1));
        assert_eq!(last_of(&[failed(1), failed(2), failed(3)], CERTAIN), futile(2));
        assert_eq!(last_of(&[failed(1), call(2, 2), failed(3)], CERTAIN), []);
    }
}
