//! The normal form of a call that wants an answer: everything that can change a later decision or finding, and nothing
//! else. Calls with one normal form go on alike; a test compares the search with one that tries every script.

use playproof_engine::classify::reads_as_stale;
use playproof_engine::event::{Decision, EffectClaim, ErrorFacts, FindingId, LedgerKind, RequestKind, Status};
use playproof_engine::evidence::FailureMeaning;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{Backoff, Compensation};
use playproof_engine::sim::{Plan, SimulationRecord};
use playproof_engine::time::{Duration, Instant};

use crate::alphabet::{Alphabet, Path};
use crate::calls::CallKind;

/// The normal form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NormalForm {
    asked: RequestKind,
    attempts: usize,
    /// The verdicts so far with their waits: where no order matters, by verdict and without the waits.
    failures: Vec<(VerdictId, Duration)>,
    /// The verdict that asks for a refresh or a reversal.
    asks: Option<VerdictId>,
    first: Option<VerdictId>,
    /// When, where a limit counts time.
    at: Option<Instant>,
    /// Effects that are there, as far as their number matters.
    landed: usize,
    /// Effects that will be: before the call can end, and after it.
    pending: [usize; 2],
    seen: Seen,
    /// What the call shows already, and would show with one answer more.
    findings: Vec<FindingId>,
    /// Refreshes, and reversals that were asked for.
    others: (usize, usize),
}

/// What came up so far; of a failure as it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    denied: bool,
    processed: bool,
    unanswered: bool,
    /// The last failure is that of stale evidence.
    stale: bool,
    /// A proof of the effect was ignored.
    ignored_proof: bool,
    /// A wish to wait was heeded.
    heeded: bool,
    /// An attempt was made beside another that is out.
    beside: bool,
    /// An attempt is at work.
    works_on: bool,
}

impl NormalForm {
    /// The normal form of a call that wants `asked` at a moment, after so many events.
    pub(crate) fn of(
        (plan, kind, alphabet): (&Plan, &CallKind, &Alphabet),
        record: &SimulationRecord,
        (asked, at, events): (RequestKind, Instant, usize),
        path: &Path,
    ) -> NormalForm {
        let attempts = path.iter().filter(|(asked, _)| matches!(asked, RequestKind::Attempt(_))).count();
        let mut form = NormalForm {
            asked,
            attempts,
            failures: Vec::new(),
            asks: None,
            first: None,
            at: is_timed(plan).then_some(at),
            landed: 0,
            pending: [0; 2],
            seen: Seen::default(),
            findings: record.findings.iter().map(|finding| finding.id).collect(),
            others: (0, 0),
        };
        let mut error = None;
        for event in record.events.iter().take(events) {
            match event.what {
                Decision::AttemptFinished { status, .. } => {
                    error = if let Status::Failed(error) = status { error } else { None };
                }
                Decision::FailureClassified { verdict, ignored, .. } => {
                    let failure = error.and_then(|error| record.error(error));
                    form.note_failure((plan, kind), verdict, failure, ignored);
                }
                Decision::RetryScheduled { delay, told, .. } => {
                    form.seen.heeded |= told.is_some();
                    if let Some(last) = form.failures.last_mut().filter(|_| is_ordered(plan)) {
                        last.1 = delay;
                    }
                }
                _ => {}
            }
        }
        let mut is_out = false;
        for (asked, place) in path {
            let Some(letter) = alphabet.answers(*asked).get(*place) else { continue };
            match asked {
                RequestKind::Attempt(_) => {
                    form.seen.unanswered |= letter.silent;
                    form.seen.beside |= is_out && !letter.knows_key(kind.shape.keyed);
                    is_out |= letter.works_on;
                    form.seen.works_on |= letter.works_on;
                }
                RequestKind::Refresh(_) => form.others.0 += 1,
                RequestKind::Reversal => form.others.1 += 1,
            }
        }
        for effect in effects(record, attempts) {
            match effect > at {
                true => form.pending[usize::from(effect.since(at) > LONG)] += 1,
                false => form.landed += 1,
            }
        }
        let most = most_effects(kind);
        form.landed = form.landed.min(most);
        form.pending = form.pending.map(|effects| effects.min(most));
        let is_attempt = matches!(asked, RequestKind::Attempt(_));
        form.asks = form.failures.last().map(|(verdict, _)| *verdict).filter(|_| !is_attempt);
        if !plan.playbook.obeys_first_failure_only() {
            form.first = None;
        }
        if !is_ordered(plan) {
            form.failures.sort_unstable();
        }
        form
    }

    fn note_failure(
        &mut self,
        (plan, kind): (&Plan, &CallKind),
        verdict: VerdictId,
        failure: Option<&ErrorFacts>,
        ignored: bool,
    ) {
        let meaning = FailureMeaning::under(plan, verdict, failure, kind.shape.keyed);
        let proves = plan.playbook.verdict(verdict).effect == EffectClaim::Applied;
        self.seen.denied |= meaning.denied;
        self.seen.processed |= meaning.processed;
        self.seen.stale = failure.is_some_and(reads_as_stale);
        self.seen.ignored_proof |= ignored && proves;
        self.first = self.first.or(Some(verdict));
        self.failures.push((verdict, Duration::ZERO));
    }

    /// The same, whenever it is.
    pub(crate) fn at_any_time(&self) -> NormalForm {
        NormalForm { at: None, ..self.clone() }
    }
}

/// What comes later than this comes after the call.
const LONG: Duration = Duration::from_millis(24 * 3_600_000);

/// The effects of a call that make a difference: whether there is one, and for calls that add effects, whether there are
/// several; one more where a reversal can take one back.
pub(crate) fn most_effects(kind: &CallKind) -> usize {
    1 + usize::from(kind.facts.adds_effects()) + usize::from(kind.shape.token)
}

/// Whether some limit counts time.
fn is_timed(plan: &Plan) -> bool {
    let limits = &plan.playbook.limits;
    limits.deadline.is_some() || limits.call_timeout.is_some() || plan.shares_state
}

/// Whether the order of failures matters: for what calls share, and for waits that grow by a formula.
fn is_ordered(plan: &Plan) -> bool {
    let grows = |then: &Compensation| then.retry().is_some_and(|retry| !matches!(retry.backoff, Backoff::Listed(_)));
    plan.shares_state || plan.playbook.verdicts.iter().any(|verdict| grows(&verdict.then))
}

/// The moments at which attempts with an answer in the script acted.
pub(crate) fn effects(record: &SimulationRecord, attempts: usize) -> impl Iterator<Item = Instant> {
    let applied = record.ledger.entries().iter().filter(|entry| entry.kind == LedgerKind::Applied);
    applied.filter(move |entry| entry.attempt.is_some_and(|attempt| attempt.index() < attempts)).map(|entry| entry.at)
}
