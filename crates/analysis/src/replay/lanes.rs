//! Simulates calls of one dispatcher together under playbooks that share state between calls: one session per dispatcher
//! and playbook. Where a trace names no dispatchers, each run has its own.
//! Results come back in the order in which the calls closed. Other calls are simulated alone: where a playbook shares only
//! tokens, all but those that may redeem one.
#![expect(clippy::disallowed_types, reason = "a set of marks that is only asked, never iterated")]

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::facts_cache::FactsCache;
use super::recorded::args_under;
use playproof_engine::call::{RecordedCall, Recorder};
use playproof_engine::classify::Memo;
use playproof_engine::event::{Finding, FindingId};
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::{
    FinishedCall, PATIENCE, Pace, Plan, Session, SessionCall, SharedHashes, SimulationRecord, StepTie,
};
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::playbook::fingerprint;
use playproof_intake::call::CompletedCall;
use playproof_intake::call_hashes;
use playproof_intake::hash;

/// The seeds for hashes of tokens, of keys and of transactions.
const TOKEN: u64 = 30;
const KEY: u64 = 31;
const TRANSACTION: u64 = 32;

/// What a session is made with.
#[derive(Clone, Copy, Debug)]
pub struct SessionOptions<'a> {
    /// What answers beyond the recording.
    pub beyond: &'a MissingAnswerPolicy,
    /// When recorded calls start; none: at their recorded times in a session whose first call has decisions of this very
    /// playbook.
    pub pace: Option<Pace>,
}

/// The sessions of one playbook, one for each dispatcher with open calls. Keeps 16 bytes per sent token besides.
#[derive(Debug, Default)]
pub struct Sessions {
    by_lane: BTreeMap<u128, Lane>,
    /// Fed calls with their dispatchers, in order.
    fed: VecDeque<(u64, u128)>,
    /// Hashes of tokens that ended sessions have sent.
    sent: HashSet<u128, FixedState>,
    memo: Memo,
    facts: FactsCache,
    ended: Vec<FinishedCall>,
    /// What recorded the dispatcher before, and whether that is the playbook.
    recorder: Option<(Recorder, bool)>,
}

#[derive(Debug)]
struct Lane {
    session: Session,
    /// The call that was fed last.
    last: u64,
}

impl Sessions {
    /// Takes the next closed call; true if it is simulated here: then `take_ended` gives it as `number`. Numbers increase.
    pub fn take(&mut self, plan: &Plan, options: SessionOptions<'_>, number: u64, closed: &CompletedCall) -> bool {
        while let Some(&(last, run)) = self.fed.front().filter(|(fed, _)| fed + PATIENCE < number) {
            self.fed.pop_front();
            if self.by_lane.get(&run).is_some_and(|lane| lane.last == last) {
                self.end(plan, run);
            }
        }
        let run = closed.hashes.dispatcher;
        let joins = plan.shares_state || (plan.shares_tokens && token(closed).is_some());
        if joins {
            let lane = match self.by_lane.entry(run) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let pace = options.pace.unwrap_or_else(|| pace(plan, closed.raw(), &mut self.recorder));
                    new.insert(Lane { session: session(options.beyond, pace, closed.raw()), last: number })
                }
            };
            let token = closed.raw().token();
            let facts = self.facts.facts(plan, closed.hashes.tool, closed.raw());
            lane.session.feed(SessionCall {
                number,
                call: Arc::new(closed.raw().clone()),
                facts,
                token_spent: token.is_some_and(|token| self.sent.contains(&mark(run, token))),
                shared: plan.shares_state.then(|| shared(plan, closed, facts)),
                tie: tie(plan, closed),
            });
            lane.last = number;
            self.fed.push_back((number, run));
        }
        if let Some(Lane { session, .. }) = self.by_lane.get_mut(&run) {
            session.advance_to(closed.raw().at.unwrap_or_default());
            session.advance(plan, &mut self.memo);
            match session.is_busy() || plan.shares_state {
                true => self.ended.extend(session.take_ended()),
                false => self.end(plan, run),
            }
        }
        joins
    }

    /// Simulates the remaining calls of a dispatcher, and keeps only hashes of their sent tokens.
    fn end(&mut self, plan: &Plan, run: u128) {
        let Some(Lane { mut session, .. }) = self.by_lane.remove(&run) else { return };
        session.finish(plan, &mut self.memo);
        self.ended.extend(session.take_ended());
        self.sent.extend(session.spent_tokens().map(|token| mark(run, token)));
    }

    /// Simulates all remaining calls, and forgets every dispatcher.
    pub fn finish(&mut self, plan: &Plan) {
        while let Some((&run, _)) = self.by_lane.first_key_value() {
            self.end(plan, run);
        }
        self.fed.clear();
        self.sent.clear();
    }

    /// The calls that ended since the last request, unordered.
    pub fn take_ended(&mut self) -> impl Iterator<Item = FinishedCall> {
        std::mem::take(&mut self.ended).into_iter()
    }
}

/// The pace of the calls that follow `first`: recorded where the trace says that the playbook itself decided it. Another
/// playbook may take longer, and pushes later calls back. `known` is what recorded the dispatcher before.
fn pace(plan: &Plan, first: &RecordedCall, known: &mut Option<(Recorder, bool)>) -> Pace {
    let Some(recorder) = first.recorder() else { return Pace::Causal };
    let is_own = match known {
        Some((last, is_own)) if last == recorder => *is_own,
        _ => {
            let is_own = fingerprint(&plan.playbook).to_string() == *recorder.fingerprint;
            known.insert((recorder.clone(), is_own)).1
        }
    };
    if is_own { Pace::Recorded } else { Pace::Causal }
}

/// A session for the lane of a call.
fn session(beyond: &MissingAnswerPolicy, pace: Pace, first: &RecordedCall) -> Session {
    let session = Session::new(beyond, pace);
    if first.dispatcher().is_some() { session.of_several_runs() } else { session }
}

/// The hash by which a session knows a key.
pub fn key_hash(key: &str) -> u128 {
    hash::bytes(key.as_bytes(), KEY)
}

/// What a call may share with others of its dispatcher.
fn shared(plan: &Plan, closed: &CompletedCall, facts: ToolFacts) -> SharedHashes {
    let key = closed.raw().key().map(key_hash);
    SharedHashes {
        run: closed.hashes.run,
        tool: closed.hashes.tool,
        server: plan.server(closed.raw().tool()).to_owned(),
        key,
        transaction: facts.once.then(|| (transaction(closed), true)),
        args: args_under(plan, closed.raw().tool(), closed),
        compares_args: plan.playbook.graph.as_ref().is_some_and(|graph| graph.stuck.is_some()),
        name: closed.shown().reference(),
    }
}

/// The hash of the transaction of a call: its own, else that of its run.
fn transaction(closed: &CompletedCall) -> u128 {
    let of = closed.raw().transaction.as_deref();
    let (label, since) = of.map_or(("", 0), |of| (&*of.label, of.since));
    hash::joined([closed.hashes.run, hash::bytes(label.as_bytes(), TRANSACTION), u128::from(since)])
}

/// What a call has to do with an action of several steps.
fn tie(plan: &Plan, closed: &CompletedCall) -> StepTie {
    let (call, hashes) = (closed.raw(), &closed.hashes);
    match call.step() {
        _ if !plan.has_steps => StepTie::None,
        Some((parent, step)) => {
            let id = call_hashes::id_hash(hashes.run, parent);
            let mut steps = plan.playbook.actions.iter().flat_map(|action| &action.steps);
            match steps.any(|known| *known.name == *step && *known.tool == *call.tool()) {
                true => StepTie::Step(id),
                false => StepTie::NoStep(id),
            }
        }
        None if call.id().is_some() && !plan.steps_of(call.tool()).is_empty() => {
            StepTie::Action { id: hashes.id, same: hashes.request, key: call.is_keyed().then_some(hashes.key) }
        }
        None => StepTie::None,
    }
}

fn mark(run: u128, token: &str) -> u128 {
    hash::joined([run, hash::bytes(token.as_bytes(), TOKEN)])
}

/// The token of a call that may redeem it; a call that only succeeded does not.
fn token(closed: &CompletedCall) -> Option<&str> {
    let counts = &closed.counts;
    if counts.attempts > 0 && counts.succeeded == counts.attempts {
        return None;
    }
    closed.raw().token()
}

/// The sessions of all playbooks, and the calls that have not ended under all of them.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// By plan.
    sessions: Vec<Sessions>,
    waiting: BTreeMap<u64, WaitingCall>,
    ended: Vec<NumberedCall>,
}

#[derive(Debug)]
struct WaitingCall {
    call: NumberedCall,
    /// The number of playbooks under which it has not ended.
    open: usize,
}

/// A call in the order in which calls close.
#[derive(Debug)]
pub(super) struct NumberedCall {
    pub number: u64,
    pub closed: CompletedCall,
    /// What the recording shows of it.
    pub recorded: Vec<Finding>,
    /// By plan: what its run's session left behind; none where it is simulated alone.
    pub records: Vec<Option<Box<SimulationRecord>>>,
}

impl Lanes {
    /// Lanes if a playbook joins calls.
    pub(super) fn of(plans: &[Plan]) -> Option<Lanes> {
        let joins = plans.iter().any(|plan| plan.shares_state || plan.shares_tokens);
        joins.then(|| Lanes { sessions: plans.iter().map(|_| Sessions::default()).collect(), ..Lanes::default() })
    }

    /// Takes the next closed call.
    pub(super) fn take(&mut self, plans: &[Plan], options: SessionOptions<'_>, mut call: NumberedCall) {
        let sessions = self.sessions.iter_mut().zip(plans);
        let taken = sessions.filter_map(|(of, plan)| of.take(plan, options, call.number, &call.closed).then_some(()));
        match taken.count() {
            0 => self.ended.push(call),
            open => {
                call.records.resize_with(plans.len(), || None);
                self.waiting.insert(call.number, WaitingCall { call, open });
            }
        }
    }

    /// Simulates all remaining calls, and forgets every dispatcher.
    pub(super) fn finish(&mut self, plans: &[Plan]) {
        for (sessions, plan) in self.sessions.iter_mut().zip(plans) {
            sessions.finish(plan);
        }
    }

    /// The calls that ended under all playbooks since the last request, in the order of their numbers.
    pub(super) fn take_ended(&mut self) -> Vec<NumberedCall> {
        for (plan, sessions) in self.sessions.iter_mut().enumerate() {
            for FinishedCall { number, mut record, .. } in sessions.take_ended() {
                let Some(waiting) = self.waiting.get_mut(&number) else { continue };
                record.show(waiting.call.closed.shown_errors(&record.errors));
                let of_order = record.findings.iter().filter(|finding| finding.id == FindingId::OutOfOrder);
                waiting.call.recorded.extend(of_order);
                waiting.call.records[plan] = Some(record); // made when it was taken
                waiting.open -= 1; // counted then
                if waiting.open == 0 {
                    self.ended.extend(self.waiting.remove(&number).map(|waiting| waiting.call));
                }
            }
        }
        let mut ended = std::mem::take(&mut self.ended);
        ended.sort_unstable_by_key(|call| call.number);
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::call::{AnswerTo, CallTexts, Place, RecordedAnswer, Reply};
    use playproof_engine::event::{ErrorFacts, StatusFrom};
    use playproof_engine::playbook::Tools;
    use playproof_engine::time::Instant;
    use playproof_formats::diagnostic::Source;
    use playproof_formats::playbook;

    const OPTIONS: SessionOptions<'_> = SessionOptions { beyond: &MissingAnswerPolicy::Ok, pace: None };

    fn plan() -> Plan {
        let text = playbook::embedded("reversing").unwrap();
        Plan::new(playbook::parse(Source::whole("reversing", text)).unwrap().playbook, &Tools::default())
    }

    /// A call of `run` that `reversing` takes back where it has a token; it is answered after 40 ms.
    fn closed(run: &str, token: Option<&str>) -> CompletedCall {
        let texts = CallTexts { run: Some(run), tool: "pay", token, ..CallTexts::default() };
        let mut call = RecordedCall::new(texts, Place::default());
        call.at = Some(Instant::ZERO);
        let error = ErrorFacts { kind: Some("schema_validation".into()), ..ErrorFacts::default() };
        call.answers.push(RecordedAnswer {
            to: AnswerTo::Attempt,
            attempt: None,
            started: None,
            at: Some(Instant::from_millis(40)),
            reply: Reply::Failed(Some(Arc::new(error))),
            inferred: false,
            status_from: StatusFrom::Flag,
            draw: None,
            line_hash: 0,
            place: Place::default(),
        });
        CompletedCall::of(call)
    }

    fn ends(sessions: &mut Sessions) -> Vec<(u64, &'static str)> {
        sessions.take_ended().map(|ended| (ended.number, ended.record.outcomes[0].kind.as_str())).collect()
    }

    #[test]
    fn a_run_without_further_calls_is_ended_and_its_tokens_stay_spent() {
        let (plan, mut sessions, beyond) = (plan(), Sessions::default(), OPTIONS);
        assert!(sessions.take(&plan, beyond, 0, &closed("r", Some("a"))));
        let other = closed("other", None);
        for number in 1..=PATIENCE {
            assert!(!sessions.take(&plan, beyond, number, &other), "it shares nothing");
        }
        assert_eq!(ends(&mut sessions), []);
        sessions.take(&plan, beyond, PATIENCE + 1, &other);
        assert_eq!(ends(&mut sessions), [(0, "reversed")]);
        sessions.take(&plan, beyond, PATIENCE + 2, &closed("r", Some("a")));
        sessions.take(&plan, beyond, PATIENCE + 3, &closed("q", Some("a")));
        sessions.finish(&plan);
        let mut ended = ends(&mut sessions);
        ended.sort_unstable();
        assert_eq!(ended, [(PATIENCE + 2, "escalated"), (PATIENCE + 3, "reversed")], "a token is one of its run");
    }

    #[test]
    fn inputs_do_not_share_tokens() {
        let (plan, mut sessions) = (plan(), Sessions::default());
        for number in 0..2 {
            sessions.take(&plan, OPTIONS, number, &closed("r", Some("a")));
            sessions.finish(&plan);
            assert_eq!(ends(&mut sessions), [(number, "reversed")]);
        }
    }
}
