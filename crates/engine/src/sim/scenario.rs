//! The calls of one simulation and the source of their answers: a fixture or a recorded call.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::call::{RecordedAnswer, RecordedCall};
use crate::classify::keyed_for;
use crate::dispatch::{CallFacts, GateFacts, RequestCheck, StepOf};
use crate::event::{Draw, ErrorFacts, Intent, KeyHistory, RequestKind};
use crate::fixture::{Fixture, FixtureCall, FixtureTool};
use crate::ids::{ArgsId, AttemptNo, CallId, EvidenceId, Interner, KeyId, RunId, ServerId, StepId, TokenId, ToolId};
use crate::playbook::{Access, DEFAULT_TIMEOUT, OmittedFacts, ToolFacts, ToolRow, Tools};
use crate::time::{Duration, Instant};
use crate::upstream::{
    AnswerSource, ExistingEffect, KeyDialect, Ledger, MissingAnswerPolicy, Outage, Tape, UpstreamReply,
};

use super::draws;
use super::plan::Plan;

/// The input of a simulation. Calls are in the order in which they are made.
#[derive(Clone, Debug)]
pub struct Scenario<'a> {
    /// The calls; the id of a call is its place here.
    pub calls: Vec<ScenarioCall<'a>>,
    /// The calls that are made when others have ended.
    pub later: Vec<LaterStart>,
    /// When callers go away.
    pub cancelled: Vec<(Instant, CallId)>,
    /// How the upstream answers repeated keys.
    pub keys: KeyDialect,
    /// Effects that exist before the simulation.
    pub before: Vec<ExistingEffect>,
    /// By `RunId`.
    pub runs: Interner,
    /// By `ToolId`.
    pub tools: Interner,
    /// By `ServerId`.
    pub servers: Interner,
    /// By `KeyId`.
    pub key_names: Interner,
    /// By `ArgsId`: canonical JSON.
    pub args: Interner,
}

/// A call that is made when others have ended.
#[derive(Clone, Debug)]
pub struct LaterStart {
    /// The call.
    pub call: CallId,
    /// The calls that end before.
    pub after: BTreeSet<CallId>,
    /// How long after the last of them.
    pub delay: Duration,
    /// The earliest moment.
    pub earliest: Instant,
}

/// One call of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioCall<'a> {
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
    /// The reversal token.
    pub token: Option<TokenId>,
    /// The canonical arguments.
    pub args: ArgsId,
    /// When it is made.
    pub at: Instant,
    /// The timeout of its attempts.
    pub timeout: Duration,
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

impl<'a> ScenarioCall<'a> {
    /// The only call of a simulation, from its recording.
    pub fn recorded(call: &'a RecordedCall, facts: ToolFacts, beyond: &'a MissingAnswerPolicy) -> ScenarioCall<'a> {
        ScenarioCall {
            group: None,
            name: "", // recorded calls are named elsewhere
            tool_name: call.tool(),
            facts,
            tool: ToolId(0),
            server: ServerId(0),
            run: RunId(0),
            key: call.is_keyed().then_some(KeyId(0)),
            token: call.has_token().then_some(TokenId(0)),
            args: ArgsId(0),
            at: call.at.unwrap_or(Instant::ZERO),
            timeout: call.timeout.unwrap_or(facts.timeout),
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
    pub(super) fn under(self, plan: &Plan) -> ScenarioCall<'a> {
        let source = match self.source {
            AnswerSource::Tape(tape) => {
                let is_ordered = plan.playbook.graph.is_some() && self.step.is_none();
                let is_gated = is_ordered && plan.judges(tape.call.tool());
                AnswerSource::Tape(Tape { is_gated, ..tape })
            }
            script => script,
        };
        ScenarioCall { source, ..self }
    }

    /// Its arguments as JSON text, if the recording has them.
    pub(super) fn args_text(&self) -> Option<&'a str> {
        match self.source {
            AnswerSource::Script(..) => Some(self.written_args),
            AnswerSource::Tape(tape) => tape.call.args(),
        }
    }

    /// The length of its idempotency key in bytes, if it has one.
    pub(super) fn key_len(&self) -> Option<usize> {
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
    pub(super) fn draw(&self, attempt: AttemptNo, seed: Option<u64>) -> Draw {
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
    pub(super) fn answered_at(&self, attempt: AttemptNo) -> Option<Instant> {
        self.recorded_answer(attempt)?.at
    }

    fn recorded_answer(&self, attempt: AttemptNo) -> Option<&'a RecordedAnswer> {
        let AnswerSource::Tape(tape) = self.source else { return None };
        Some(tape.call.attempts().find(|(number, _)| *number == attempt)?.1)
    }

    /// The answer of its recording that comes after the timeout of an attempt.
    pub(super) fn late_answer(&self, asked: RequestKind) -> Option<(Duration, UpstreamReply)> {
        let AnswerSource::Tape(tape) = self.source else { return None };
        tape.late_answer(asked)
    }

    /// Whether a dispatcher of ours recorded it, with its decisions.
    pub(super) fn is_decided(&self) -> bool {
        let AnswerSource::Tape(tape) = self.source else { return false };
        tape.call.dispatch.as_ref().is_some_and(|dispatch| !dispatch.decisions.is_empty())
    }

    /// Whether a gate refused it in its recording.
    pub(super) fn was_refused(&self) -> bool {
        matches!(self.source, AnswerSource::Tape(tape) if tape.call.gate_refusal().is_some())
    }

    /// Whether its caller goes away before a request at `at`, which has no answer, would end.
    pub(super) fn is_cancelled_after(&self, at: Instant) -> bool {
        matches!(self.source, AnswerSource::Tape(tape) if tape.is_cancelled_after(at))
    }

    /// The facts for the dispatcher.
    pub(super) fn dispatched(&self) -> CallFacts {
        CallFacts {
            tool: self.tool,
            access: self.facts.access,
            idempotent: self.facts.idempotent,
            repeatable: self.facts.repeatable,
            server: self.server,
            breaker: None, // the plan knows
            run: self.run,
            key: self.key,
            ignores_keys: self.facts.ignores_keys,
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
        (self.facts.access == Access::Write).then(|| self.booked_intent(id))
    }

    /// The intent for which the ledger books the call's effects, whatever the tool facts say.
    pub fn booked_intent(&self, id: CallId) -> Intent {
        match self.honoured_key() {
            _ if self.facts.repeatable => Intent::Single(id),
            Some(key) => Intent::Keyed(self.tool, key),
            None => Intent::Unkeyed(self.run, self.tool, self.args),
        }
    }
}

impl<'a> Scenario<'a> {
    /// The scenario of a fixture; its own tool facts take precedence over those of the plan.
    pub fn of_fixture(fixture: &'a Fixture, plan: &'a Plan) -> Scenario<'a> {
        let mut names = Names { all_facts: tools_of(fixture, plan), ..Names::default() };
        let mut order: Vec<usize> = (0..fixture.calls.len()).collect();
        order.sort_by_key(|&n| fixture.calls[n].at);
        let mut places = vec![CallId(0); order.len()];
        let (mut calls, mut later, mut cancelled) = (Vec::new(), Vec::new(), Vec::new());
        for n in order {
            let (id, call) = (CallId::at(calls.len()), &fixture.calls[n]);
            places[n] = id; // `order` has each place once
            let action = names.call(fixture, plan, call);
            calls.push(action);
            if plan.has_steps {
                calls.extend(names.steps(fixture, plan, call, &action, id));
            }
            if !call.after.is_empty() {
                later.push((id, call));
            }
            cancelled.extend(call.cancel_at.map(|at| (at, id)));
        }
        let later = later.into_iter().map(|(id, call)| {
            let after = call.after.iter().filter_map(|n| places.get(*n)).copied().collect();
            LaterStart { call: id, after, delay: call.after_delay, earliest: call.at }
        });
        let later = later.collect();
        let before = fixture.before.iter().map(|effect| {
            let key = effect.key.as_deref().map(|key| KeyId(names.keys.intern(key)));
            let key = key.filter(|_| !names.all_facts.facts(&effect.tool).ignores_keys);
            let (tool, args) = (ToolId(names.tools.intern(&effect.tool)), ArgsId(names.args.intern(&effect.args)));
            let asking = calls.iter().find(|call| (call.tool, call.args) == (tool, args));
            let run = asking.map_or_else(|| RunId(names.runs.intern("")), |call| call.run);
            ExistingEffect { run, tool, key, args }
        });
        let before = before.collect();
        let Names { tools, keys: key_names, args, servers, runs, .. } = names;
        Scenario { calls, later, cancelled, keys: fixture.keys, before, runs, tools, servers, key_names, args }
    }

    /// The names of its servers, by `ServerId`.
    pub(super) fn server_names(&self) -> Vec<String> {
        self.servers.names().iter().map(|name| name.to_string()).collect()
    }

    /// The intent of a call to show: none for a read without entries in the ledger.
    pub fn intent_in(&self, ledger: &Ledger, id: CallId) -> Option<Intent> {
        let call = self.calls.get(id.index())?;
        let booked = call.booked_intent(id);
        call.intent(id).or_else(|| ledger.entries().iter().any(|entry| entry.intent == booked).then_some(booked))
    }

    /// The name of an intent: `tool/key`, or `tool` and its arguments with the run if it has a name, or the call's own name.
    pub fn intent_name(&self, intent: Intent) -> String {
        let tool = |id: ToolId| self.tools.name(id.0).unwrap_or("?");
        match intent {
            Intent::Keyed(id, key) => format!("{}/{}", tool(id), self.key_names.name(key.0).unwrap_or("?")),
            Intent::Unkeyed(run, id, args) => {
                let run = self.runs.name(run.0).filter(|run| !run.is_empty());
                let of_run = run.map_or_else(String::new, |run| format!(" of {run}"));
                format!("{}{}{of_run}", tool(id), self.args.name(args.0).unwrap_or("{}"))
            }
            Intent::Single(call) => {
                let call = self.calls.get(call.index());
                call.map_or("?".to_owned(), |call| format!("{}:{}", call.tool_name, call.name))
            }
        }
    }
}

/// The names of a scenario as numbers.
#[derive(Default)]
struct Names {
    all_facts: Tools,
    tools: Interner,
    keys: Interner,
    args: Interner,
    tokens: Interner,
    runs: Interner,
    servers: Interner,
}

impl Names {
    /// The call that a fixture writes.
    fn call<'a>(&mut self, fixture: &'a Fixture, plan: &'a Plan, call: &'a FixtureCall) -> ScenarioCall<'a> {
        let named = plan.playbook.action_named(&call.tool).filter(|_| call.is_action);
        let tool_name: &'a str = named.map_or(&call.tool, |action| &action.tool);
        let facts = plan.facts_among(&self.all_facts, tool_name);
        ScenarioCall {
            name: &call.name,
            group: call.group.as_deref(),
            tool_name,
            facts,
            tool: ToolId(self.tools.intern(tool_name)),
            server: ServerId(self.servers.intern(self.all_facts.server(tool_name))),
            run: RunId(self.runs.intern(call.run.as_deref().unwrap_or_default())),
            key: call.key.as_deref().map(|key| KeyId(self.keys.intern(key))),
            token: call.token.as_deref().map(|token| TokenId(self.tokens.intern(token))),
            args: ArgsId(self.args.intern(&call.args)),
            at: call.at,
            timeout: call.timeout.unwrap_or(facts.timeout),
            source: AnswerSource::Script(&call.script, outages(fixture, tool_name)),
            written_args: &call.args,
            written_key: call.key.as_deref().unwrap_or(""),
            draws: &call.draws,
            seed: fixture.seed,
            step: None,
        }
    }

    /// The steps of a call that its fixture answers. With a key, each has one of its own: `KEY/STEP`.
    fn steps<'a>(
        &mut self,
        fixture: &'a Fixture,
        plan: &'a Plan,
        call: &'a FixtureCall,
        action: &ScenarioCall<'a>,
        id: CallId,
    ) -> Vec<ScenarioCall<'a>> {
        let steps = plan.steps_of(action.tool_name).iter().zip((0..).map(StepId));
        let answered =
            steps.filter_map(|(step, id)| Some((step, id, call.steps.iter().find(|of| *of.step == *step.name)?)));
        let calls = answered.map(|(step, place, of)| {
            let facts = step.facts(self.all_facts.facts(&step.tool));
            ScenarioCall {
                name: &of.name,
                group: of.group.as_deref(),
                tool_name: &step.tool,
                facts,
                tool: ToolId(self.tools.intern(&step.tool)),
                server: ServerId(self.servers.intern(self.all_facts.server(&step.tool))),
                key: of.key.as_deref().map(|key| KeyId(self.keys.intern(key))),
                token: None,
                args: ArgsId(self.args.intern(&of.args)),
                timeout: call.timeout.unwrap_or(facts.timeout),
                source: AnswerSource::Script(&of.script, outages(fixture, &step.tool)),
                written_args: &of.args,
                written_key: of.key.as_deref().unwrap_or(""),
                draws: &[],
                step: Some(StepOf { action: Some(id), step: place }),
                ..*action
            }
        });
        calls.collect()
    }
}

/// The steps of an action that a scenario has, with their calls: these follow its own.
pub(super) fn steps_of(calls: &[ScenarioCall<'_>], action: CallId) -> impl Iterator<Item = (StepId, CallId)> {
    let after = calls.iter().enumerate().skip(action.index() + 1);
    let of_it = move |of: &StepOf| of.action == Some(action);
    after.map_while(move |(n, call)| Some((call.step.filter(of_it)?.step, CallId::at(n))))
}

fn outages<'a>(fixture: &'a Fixture, tool: &str) -> &'a [Outage] {
    fixture.outages.get(tool).map_or(&[], |all| all)
}

/// The tool facts under a plan; those of the fixture take precedence.
pub(super) fn tools_of(fixture: &Fixture, plan: &Plan) -> Tools {
    Tools::new(fixture.tools.iter().filter_map(tool_row).collect()).over(&plan.tools)
}

/// Patterns were compiled when the fixture was read; one that fails would match nothing.
fn tool_row(row: &FixtureTool) -> Option<ToolRow> {
    let facts = ToolFacts {
        access: if row.writes { Access::Write } else { Access::Read },
        idempotent: row.idempotent.unwrap_or_default(),
        repeatable: row.repeatable.unwrap_or_default(),
        timeout: row.timeout.unwrap_or(DEFAULT_TIMEOUT),
        ignores_keys: row.ignores_keys.unwrap_or_default(),
        needs_key: row.needs_key.unwrap_or_default(),
        resends: false,
        declared: true,
        seems_to_read: false,
    };
    let omitted = OmittedFacts {
        idempotent: row.idempotent.is_none(),
        repeatable: row.repeatable.is_none(),
        timeout: row.timeout.is_none(),
        keys: row.ignores_keys.is_none(),
        key: row.needs_key.is_none(),
    };
    let server = row.server.as_deref().map(Arc::from);
    ToolRow::new(row.pattern.clone(), facts).ok().map(|row| row.omitting(omitted).of_server(server))
}
