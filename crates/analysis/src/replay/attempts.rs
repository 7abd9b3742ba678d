//! Findings from the recorded attempts of one call. Looks at one call at a time.

use std::sync::Arc;

use playproof_engine::call::{AnswerTo, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::classify::{
    AskedTraits, FailedAttempt, KnownFailures, asked_wait, keyed_for, knows_key, reads_as_unanswered,
};
use playproof_engine::event::{ErrorFacts, Finding, FindingBy, FindingId};
use playproof_engine::evidence::{FailureMeaning, Moment, acts_again};
use playproof_engine::ids::{AttemptNo, CallId};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::Plan;
use playproof_engine::time::Instant;
use playproof_intake::call::{AttemptCounts, CompletedCall};

/// Adds the findings of the attempts to `findings`. True if one is a new possible duplicate.
pub fn judge(closed: &CompletedCall, facts: ToolFacts, judges: &mut Judges<'_>, findings: &mut Vec<Finding>) -> bool {
    let (call, counts) = (closed.raw(), closed.counts);
    let mut add = |id, count| {
        if count > 0 {
            findings.push(finding(id, count));
        }
    };
    add(FindingId::OverTimeout, over_timeout(call, facts));
    if counts.answers < 2 && counts.left_out == 0 && counts.ambiguous == 0 {
        return false; // the usual call: one attempt
    }
    add(FindingId::RetryAfterIgnored, sent_too_soon(call));
    if facts.access == Access::Write {
        add(FindingId::RacedItself, raced(call));
    }
    let attempts = course(call, facts, judges);
    let denied = sent_after(&attempts, |attempt| attempt.reads_as_denial);
    add(FindingId::RetriedAfterDenial, denied.max(ran_though_denied(call)));
    add(FindingId::RetriedAfterConflict, sent_after(&attempts, |attempt| attempt.reads_as_processed));
    add(FindingId::FutileRetry, sent_in_vain(call));
    if facts.access == Access::Read || facts.idempotent {
        return false;
    }
    let is_keyed = closed.hashes.key_under(facts) != 0;
    let resent = if is_keyed { 0 } else { sent_after(&attempts, |attempt| attempt.may_have_acted) };
    let mut effects = 0;
    match facts.declared {
        true => add(FindingId::UnsafeRetry, resent),
        // On assumed facts the tool may be a read; other calls with this intent may have shown that already.
        false if resent > 0 => effects = resent.saturating_add(1),
        false => {}
    }
    if acts_again(facts) {
        effects = effects.max(effects_in_doubt(&attempts, is_keyed, counts));
    }
    let is_new = findings.iter().all(|known| known.id != FindingId::PossibleDuplicateEffect);
    let is_proved = findings.iter().any(|known| known.id == FindingId::DuplicateEffect);
    if effects > 1 && !is_proved {
        findings.push(facts.weigh(finding(FindingId::PossibleDuplicateEffect, effects)));
    }
    is_new && effects > 1 && !is_proved && !facts.declared
}

/// What one attempt shows.
#[derive(Clone, Copy, Debug)]
struct AttemptShows {
    ok: bool,
    /// How many it stands for: a gap in the numbers is one or several attempts without an answer.
    attempts: u32,
    /// It failed or was not answered, and may have acted.
    may_have_acted: bool,
    reads_as_denial: bool,
    reads_as_processed: bool,
}

/// All attempts in order; one that the recording leaves out is unanswered.
fn course(call: &RecordedCall, facts: ToolFacts, judges: &mut Judges<'_>) -> Vec<AttemptShows> {
    let mut attempts: Vec<AttemptShows> = Vec::new();
    let unanswered = AttemptShows {
        ok: false,
        attempts: 1,
        may_have_acted: true,
        reads_as_denial: false,
        reads_as_processed: false,
    };
    let mut next = AttemptNo::FIRST;
    for (number, answer) in call.attempts() {
        if number > next {
            attempts.push(AttemptShows { attempts: number.get() - next.get(), ..unanswered });
        }
        next = number.next();
        attempts.push(match &answer.reply {
            Reply::Ok => AttemptShows { ok: true, may_have_acted: false, ..unanswered },
            Reply::Suspected(_) | Reply::Unfinished(_) => unanswered,
            Reply::Failed(error) => {
                let keyed = keyed_for(error.as_deref(), call.key());
                let FailureMeaning { denied, processed, .. } =
                    FailureMeaning::of_error(error.as_deref(), keyed == Some(true));
                let meaning = judges.meaning(call, facts, (keyed, number), error.as_ref());
                AttemptShows {
                    ok: false,
                    attempts: 1,
                    may_have_acted: meaning.may_have_acted,
                    reads_as_denial: denied,
                    reads_as_processed: processed,
                }
            }
        });
    }
    attempts
}

/// Attempts that were sent sooner than the answer before them had asked for. Without a recorded start, an attempt was sent
/// before its own answer.
fn sent_too_soon(call: &RecordedCall) -> u32 {
    let pairs = call.attempts().zip(call.attempts().skip(1));
    let too_soon = pairs.filter(|((_, before), (_, next))| {
        let sent = next.started.or(next.at);
        wait_until(before).zip(sent).is_some_and(|(due, sent)| sent < due)
    });
    u32::try_from(too_soon.count()).unwrap_or(u32::MAX)
}

/// When it was known that no attempt has acted: each one that had no answer failed late, and what the playbooks say of that
/// failure is that nothing was done.
pub fn settled(call: &RecordedCall, facts: ToolFacts, judges: &mut Judges<'_>) -> Option<Moment> {
    let late = call.late_answers();
    if late.is_empty() {
        return None;
    }
    let mut settled: Option<Moment> = None;
    let mut may_have_acted = |reply: &Reply, number| match reply {
        Reply::Failed(error) => {
            judges
                .meaning(call, facts, (keyed_for(error.as_deref(), call.key()), number), error.as_ref())
                .may_have_acted
        }
        Reply::Ok | Reply::Suspected(_) | Reply::Unfinished(_) => true,
    };
    for (number, answer) in call.attempts() {
        if !may_have_acted(&answer.reply, number) {
            continue;
        }
        if !answer.reply.error().is_some_and(|error| reads_as_unanswered(error)) {
            return None; // what came later cannot be the answer to it
        }
        for answer in late.get(&number)? {
            if may_have_acted(&answer.reply, number) {
                return None;
            }
            let came = Moment::new(answer.at, answer.place.line);
            settled = Some(settled.filter(|known| !came.is_after(*known)).unwrap_or(came));
        }
    }
    settled
}

/// Until when the upstream asked to wait with this answer.
pub fn wait_until(answer: &RecordedAnswer) -> Option<Instant> {
    match &answer.reply {
        Reply::Failed(error) => wait_of(error.as_deref(), answer.at),
        _ => None,
    }
}

/// Until when a failure at this time asks to wait.
pub fn wait_of(error: Option<&ErrorFacts>, at: Option<Instant>) -> Option<Instant> {
    Some(at?.plus(asked_wait(error?, at)?))
}

/// Attempts that were sent before an earlier one had ended upstream, unless a conflict says that the upstream saw that.
fn raced(call: &RecordedCall) -> u32 {
    let is_answer = |answer: &&RecordedAnswer| matches!(answer.to, AnswerTo::Attempt | AnswerTo::Late);
    let is_out = |number: AttemptNo, sent: Instant| {
        let before = |answer: &&RecordedAnswer| answer.attempt.is_some_and(|earlier| earlier < number.get());
        let mut earlier = call.answers.iter().filter(is_answer).filter(before);
        earlier.any(|answer| answer.at.is_some_and(|at| at > sent))
    };
    let knows_key = |answer: &RecordedAnswer| {
        let error = answer.reply.error().filter(|_| answer.reply.is_failure());
        error.is_some_and(|error| knows_key(error, call.is_keyed()))
    };
    let further = call.attempts().skip(1);
    let raced = further
        .filter(|(number, answer)| !knows_key(answer) && answer.started.is_some_and(|sent| is_out(*number, sent)));
    u32::try_from(raced.count()).unwrap_or(u32::MAX)
}

/// Calls of the agent, read as attempts of an identical one before them, that failed after a failure.
fn sent_in_vain(call: &RecordedCall) -> u32 {
    let pairs = call.attempts().zip(call.attempts().skip(1));
    let in_vain =
        pairs.filter(|((_, before), (_, next))| next.inferred && next.reply.is_failure() && before.reply.is_failure());
    u32::try_from(in_vain.count()).unwrap_or(u32::MAX)
}

/// Whether an attempt has a denial and an ok, of which one came late, or the call has one of them late, and of no attempt that is
/// recorded: in either order, it ran though it was denied.
fn ran_though_denied(call: &RecordedCall) -> u32 {
    let is_ok: fn(&RecordedAnswer) -> bool = |answer| answer.reply == Reply::Ok;
    let is_denial: fn(&RecordedAnswer) -> bool = |answer| match &answer.reply {
        Reply::Failed(error) => FailureMeaning::of_error(error.as_deref(), false).denied,
        _ => false,
    };
    let last = call.attempts().last().map(|(number, _)| number);
    let ran = call.late_answers().into_iter().any(|(number, late)| {
        let is_same = |of: AttemptNo| of == number || last.is_some_and(|last| number > last);
        let of_attempt = |is: fn(&RecordedAnswer) -> bool| call.attempts().any(|(of, seen)| is_same(of) && is(seen));
        late.into_iter().any(|late| is_ok(late) && of_attempt(is_denial) || is_denial(late) && of_attempt(is_ok))
    });
    u32::from(ran)
}

/// Attempts that were sent after one for which `is` holds.
fn sent_after(attempts: &[AttemptShows], is: impl Fn(&AttemptShows) -> bool) -> u32 {
    let sent: u32 = attempts.iter().skip_while(|attempt| !is(attempt)).map(|attempt| attempt.attempts).sum();
    sent.saturating_sub(1)
}

/// The effects of the call that were not reversed, if each attempt that may have acted after a success acted, and each
/// ambiguous line was an attempt; 0: no more than it proves.
fn effects_in_doubt(attempts: &[AttemptShows], keyed: bool, counts: AttemptCounts) -> u32 {
    let made = u32::try_from(attempts.iter().filter(|attempt| attempt.ok).count()).unwrap_or(u32::MAX);
    let succeeded = attempts.iter().position(|attempt| attempt.ok).filter(|_| !keyed);
    let later = succeeded.and_then(|first| attempts.get(first..)).unwrap_or_default();
    let maybe: u32 = later.iter().filter(|attempt| attempt.may_have_acted).map(|attempt| attempt.attempts).sum();
    let again = attempts.iter().any(|attempt| attempt.ok || attempt.may_have_acted);
    let doubted = if again && counts.ambiguous > 0 { counts.ambiguous.saturating_add(1) } else { 0 };
    let all = if maybe > 0 || counts.unclear_reversals > 0 { made.saturating_add(maybe) } else { 0 };
    all.max(doubted).saturating_sub(counts.reversed)
}

/// The playbooks that tell what a failure means, and what they said: a trace repeats few errors many times.
#[derive(Debug)]
pub struct Judges<'a> {
    plans: &'a [Plan],
    known: &'a mut KnownFailures<FailureMeaning>,
}

impl<'a> Judges<'a> {
    /// The judges of these playbooks; `known` keeps what the same ones said.
    pub const fn new(plans: &'a [Plan], known: &'a mut KnownFailures<FailureMeaning>) -> Judges<'a> {
        Judges { plans, known }
    }

    /// What the failure of an attempt means by itself or according to any of the playbooks; without playbooks, it may have
    /// acted. The call, with a key or without, is `call` or one that is identical but for its key.
    pub fn meaning(
        &mut self,
        call: &RecordedCall,
        facts: ToolFacts,
        (keyed, attempt): (Option<bool>, AttemptNo),
        error: Option<&Arc<ErrorFacts>>,
    ) -> FailureMeaning {
        let plans = self.plans;
        let asked = plans.iter().fold(AskedTraits::default(), |all, plan| all.or(plan.classifier.asks()));
        self.known.get(asked, &FailedAttempt { error, tool: call.tool(), facts, keyed, attempt }, |signal| {
            let of_error = FailureMeaning::of_error(error.map(|error| &**error), keyed == Some(true));
            let alone = FailureMeaning { may_have_acted: plans.is_empty(), ..of_error };
            let is_refusal = error.is_some_and(|error| error.gate_refusal().is_some());
            let asked = plans.iter().filter(|plan| !is_refusal || plan.playbook.graph.is_none()); // else nothing was sent
            asked.fold(alone, |meaning, plan| {
                meaning.with_verdict(plan, plan.classifier.classify(signal).verdict, keyed == Some(true))
            })
        })
    }
}

/// Attempts whose answer came after the timeout, if their start is recorded.
fn over_timeout(call: &RecordedCall, facts: ToolFacts) -> u32 {
    let timeout = call.timeout.unwrap_or(facts.timeout);
    let mut count = 0;
    for (number, answer) in call.attempts() {
        let started = answer.started.or(if number == AttemptNo::FIRST { call.at } else { None });
        let late = started.zip(answer.at).is_some_and(|(started, at)| at.since(started) > timeout);
        count += u32::from(late);
    }
    count
}

/// A finding about the only call of a simulation.
pub fn finding(id: FindingId, count: u32) -> Finding {
    Finding::new(id, FindingBy::Recorded, CallId(0), count)
}
