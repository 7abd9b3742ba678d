//! A call as its driver knows it: what the dispatcher decides on, its texts, and where its answers come from.

use crate::call::{RecordedAnswer, RecordedCall};
use crate::classify::keyed_for;
use crate::dispatch::{CallFacts, GateFacts, RequestCheck, StepOf};
use crate::event::{Act, Draw, ErrorFacts, Intent, KeyDialect, KeyHistory, RequestKind};
use crate::ids::{
    ArgsId, AttemptNo, CallId, EvidenceId, KeyId, RunId, ServerId, StepId, TokenId, ToolId, TransactionId,
};
use crate::playbook::{Access, ToolFacts};
use crate::time::{Duration, Instant};
use crate::upstream::{AnswerSource, MissingAnswerPolicy, Tape, UpstreamReply};

use super::draws;
use super::prepared::Plan;

/// One call of a driver.
#[derive(Clone, Copy, Debug)]
pub struct DrivenCall<'a> {
    /// Its name for people.
    pub name: &'a str,
    /// The name of the calls that a fixture writes as one, if it is one of several.
    pub group: Option<&'a str>,
    /// The tool's name.
    pub tool_name: &'a str,
    /// The tool facts.
    pub facts: ToolFacts,
    /// The tool.
    pub tool: ToolId,
    /// What its breaker and its retry budgets are kept for.
    pub server: ServerId,
    /// Its run.
    pub run: RunId,
    /// The idempotency key.
    pub key: Option<KeyId>,
    /// The transaction that it belongs to, if that matters.
    pub transaction: Option<TransactionId>,
    /// The key of a request that is done once in it.
    pub once: Option<KeyId>,
    /// What it does with its transaction.
    pub act: Option<Act>,
    /// The reversal token.
    pub token: Option<TokenId>,
    /// The canonical arguments, as far as they make the request.
    pub args: ArgsId,
    /// When it is made.
    pub at: Instant,
    /// The timeout of its attempts.
    pub timeout: Duration,
    /// How long its caller waits: no further attempt starts later.
    pub answer_within: Option<Duration>,
    /// The source of its answers.
    pub source: AnswerSource<'a>,
    /// The arguments that a fixture gives, as JSON text.
    pub written_args: &'a str,
    /// The key that a fixture gives.
    pub written_key: &'a str,
    /// The draws that a fixture gives, by attempt.
    pub draws: &'a [Draw],
    /// The seed of its other draws that a fixture gives.
    pub seed: Option<u64>,
    /// Of which action it is a step.
    pub step: Option<StepOf>,
}

impl<'a> DrivenCall<'a> {
    /// The only call of a simulation, from its recording.
    pub fn recorded(call: &'a RecordedCall, facts: ToolFacts, beyond: &'a MissingAnswerPolicy) -> DrivenCall<'a> {
        DrivenCall {
            group: None,
            name: "", // recorded calls are named elsewhere
            tool_name: call.tool(),
            facts,
            tool: ToolId(0),
            server: ServerId(0),
            run: RunId(0),
            key: call.is_keyed().then_some(KeyId(0)),
            transaction: None,
            once: None,
            act: None,
            token: call.has_token().then_some(TokenId(0)),
            args: ArgsId(0),
            at: call.at.unwrap_or(Instant::ZERO),
            timeout: call.timeout.unwrap_or(facts.timeout),
            answer_within: call.answer_within,
            source: AnswerSource::Tape(Tape {
                call,
                missing: beyond,
                is_key_reused: (call.key_is_reused || call.key_is_reversed)
                    && !facts.ignores_keys
                    && call.simulated_keys().is_none_or(KeyDialect::repeats_its_ok),
                is_gated: false,
            }),
            written_args: "",
            written_key: "",
            draws: &[],
            seed: None,
            step: None,
        }
    }

    /// The key by which the upstream knows its request: none if the tool facts say that it ignores keys.
    pub fn honoured_key(&self) -> Option<KeyId> {
        self.key.filter(|_| !self.facts.ignores_keys)
    }

    /// The same call under a plan: under a graph, a recorded refusal of a gate is no answer of the upstream.
    pub(crate) fn under(self, plan: &Plan) -> DrivenCall<'a> {
        let source = match self.source {
            AnswerSource::Tape(tape) => {
                let is_ordered = plan.playbook.graph.is_some() && self.step.is_none();
                let is_gated = is_ordered && plan.judges(tape.call.tool());
                AnswerSource::Tape(Tape { is_gated, ..tape })
            }
            script => script,
        };
        DrivenCall { source, ..self }
    }

    /// Its arguments as JSON text, if the recording has them.
    pub(crate) fn args_text(&self) -> Option<&'a str> {
        match self.source {
            AnswerSource::Script(..) => Some(self.written_args),
            AnswerSource::Tape(tape) => tape.call.args(),
        }
    }

    /// The length of its idempotency key in bytes, if it has one.
    pub(crate) fn key_len(&self) -> Option<usize> {
        self.key_text().map(str::len)
    }

    /// Whether it counts as a call with a key for what is made of its failure; none: the failure is about another key.
    pub fn keyed_for(&self, error: Option<&ErrorFacts>) -> Option<bool> {
        keyed_for(error, self.key_text())
    }

    /// Its idempotency key, if it has one.
    pub fn key_text(&self) -> Option<&'a str> {
        match self.source {
            AnswerSource::Script(..) => self.key.map(|_| self.written_key),
            AnswerSource::Tape(tape) => tape.call.key(),
        }
    }

    /// The draw that comes with the answer to an attempt: given, or made of a seed; `seed` takes precedence over the
    /// fixture's.
    pub(crate) fn draw(&self, attempt: AttemptNo, seed: Option<u64>) -> Draw {
        let recorded = match self.source {
            AnswerSource::Script(..) => self.draws.get(attempt.index()).copied(),
            AnswerSource::Tape(_) => self.recorded_answer(attempt).and_then(|answer| answer.draw),
        };
        let made = || {
            let seed = seed.or(self.seed).unwrap_or_default();
            match self.source {
                AnswerSource::Script(..) => draws::draw(seed, self.name, attempt),
                AnswerSource::Tape(tape) => draws::draw(seed, &tape.call.reference(), attempt),
            }
        };
        recorded.unwrap_or_else(made)
    }

    /// When the answer to an attempt came, by its recording: the simulation may be later.
    pub(crate) fn answered_at(&self, attempt: AttemptNo) -> Option<Instant> {
        self.recorded_answer(attempt)?.at
    }

    fn recorded_answer(&self, attempt: AttemptNo) -> Option<&'a RecordedAnswer> {
        let AnswerSource::Tape(tape) = self.source else { return None };
        Some(tape.call.attempts().find(|(number, _)| *number == attempt)?.1)
    }

    /// The answer of its recording that comes after the timeout of an attempt.
    pub(crate) fn late_answer(&self, asked: RequestKind) -> Option<(Duration, UpstreamReply)> {
        let AnswerSource::Tape(tape) = self.source else { return None };
        tape.late_answer(asked)
    }

    /// Whether a dispatcher of ours recorded it, with its decisions.
    pub(crate) fn is_decided(&self) -> bool {
        let AnswerSource::Tape(tape) = self.source else { return false };
        tape.call.dispatch.as_ref().is_some_and(|dispatch| !dispatch.decisions.is_empty())
    }

    /// Whether a gate refused it in its recording.
    pub(crate) fn was_refused(&self) -> bool {
        matches!(self.source, AnswerSource::Tape(tape) if tape.call.gate_refusal().is_some())
    }

    /// Whether its caller goes away before a request at `at`, which has no answer, would end.
    pub(crate) fn is_cancelled_after(&self, at: Instant) -> bool {
        matches!(self.source, AnswerSource::Tape(tape) if tape.is_cancelled_after(at))
    }

    /// The facts for the dispatcher.
    pub(crate) fn dispatched(&self) -> CallFacts {
        CallFacts {
            tool: self.tool,
            access: self.facts.access,
            idempotent: self.facts.idempotent,
            repeatable: self.facts.repeatable,
            server: self.server,
            breaker: None, // the plan knows
            run: self.run,
            key: self.key,
            transaction: self.transaction,
            once: self.once,
            act: self.act,
            ignores_keys: self.facts.ignores_keys,
            never_retried: self.facts.never_retried,
            key_is_reused: match self.source {
                AnswerSource::Script(..) => false, // the key dialect decides
                AnswerSource::Tape(tape) => tape.may_answer_another(),
            },
            key_history: match self.source {
                AnswerSource::Script(..) => KeyHistory::Unknown,
                AnswerSource::Tape(tape) => tape.call.key_history,
            },
            args: self.args,
            token: self.token,
            evidence: EvidenceId(0),
            at: self.at,
            timeout: self.timeout,
            answer_within: self.answer_within,
            gate: GateFacts::Free, // the plan knows
            steps: 0,              // the same
            step: self.step,
            was_refused: false, // asked only where a gate judges
            request: RequestCheck::Fine,
        }
    }

    /// Whether it is an action with steps: it is sent nowhere itself.
    pub fn has_steps(&self, plan: &Plan) -> bool {
        self.step.is_none() && !plan.steps_of(self.tool_name).is_empty()
    }

    /// What the call wants done once; none for a read, which wants nothing done.
    pub fn intent(&self, id: CallId) -> Option<Intent> {
        (self.facts.access == Access::Write && self.act.is_none()).then(|| self.booked_intent(id))
    }

    /// The run that is a part of its request: one for all where the tool facts say that runs do not matter.
    pub const fn run_of_request(&self) -> RunId {
        if self.facts.across_runs { RunId::ALL } else { self.run }
    }

    /// The intent for which the ledger books the call's effects, whatever the tool facts say.
    pub fn booked_intent(&self, id: CallId) -> Intent {
        match self.honoured_key() {
            _ if self.facts.repeatable => Intent::Single(id),
            Some(key) => Intent::Keyed(self.tool, key),
            None => Intent::Unkeyed(self.run_of_request(), self.tool, self.args),
        }
    }
}

/// The steps of an action among calls, with their calls: these follow its own.
pub(crate) fn steps_of(calls: &[DrivenCall<'_>], action: CallId) -> impl Iterator<Item = (StepId, CallId)> {
    let after = calls.iter().enumerate().skip(action.index() + 1);
    let of_it = move |of: &StepOf| of.action == Some(action);
    after.map_while(move |(n, call)| Some((call.step.filter(of_it)?.step, CallId::at(n))))
}
