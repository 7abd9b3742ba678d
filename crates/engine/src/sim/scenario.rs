//! The calls of one simulation and the source of their answers: a fixture or a recorded call.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::crash::{Crash, CrashAt};
use crate::dispatch::StepOf;
use crate::event::Intent;
use crate::fixture::{Fixture, FixtureCall, FixtureCrashAt, FixtureTool};
use crate::ids::{ArgsId, CallId, Interner, KeyId, RunId, ServerId, StepId, TokenId, ToolId, TransactionId};
use crate::plan::{DrivenCall, Plan};
use crate::playbook::{Access, DEFAULT_TIMEOUT, OmittedFacts, ToolFacts, ToolRow, Tools};
use crate::time::{Duration, Instant};
use crate::upstream::{AnswerSource, ExistingEffect, KeyDialect, Ledger, Outage};

/// The input of a simulation. Calls are in the order in which they are made.
#[derive(Clone, Debug)]
pub struct Scenario<'a> {
    /// The calls; the id of a call is its place here.
    pub calls: Vec<DrivenCall<'a>>,
    /// The calls that are made when others have ended.
    pub later: Vec<LaterStart>,
    /// When callers go away.
    pub cancelled: Vec<(Instant, CallId)>,
    /// The death of its dispatcher.
    pub crash: Option<Crash>,
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
    /// By `ArgsId`: canonical JSON of what makes the request.
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

impl<'a> Scenario<'a> {
    /// The scenario of a fixture; its own tool facts take precedence over those of the plan.
    pub fn of_fixture(fixture: &'a Fixture, plan: &'a Plan) -> Scenario<'a> {
        let all_facts = tools_of(fixture, plan);
        let has_transactions =
            all_facts.any_once || fixture.calls.iter().any(|call| call.act.is_some() || call.transaction.is_some());
        let mut names = Names { all_facts, has_transactions, ..Names::default() };
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
        let ids = |named: &[usize]| named.iter().filter_map(|n| places.get(*n)).copied().collect::<Vec<_>>();
        let later = later.into_iter().map(|(id, call)| {
            let after = ids(&call.after).into_iter().collect();
            LaterStart { call: id, after, delay: call.after_delay, earliest: call.at }
        });
        let later = later.collect();
        let crash = fixture.crash.as_ref().map(|crash| Crash {
            when: match &crash.when {
                FixtureCrashAt::Time(at) => CrashAt::Time(*at),
                FixtureCrashAt::Ends(after) => CrashAt::Ends(ids(after)),
            },
            restart: crash.restart,
            forgets: false,
        });
        let before = fixture.before.iter().map(|effect| {
            let key = effect.key.as_deref().map(|key| KeyId(names.keys.intern(key)));
            let key = key.filter(|_| !names.all_facts.facts(&effect.tool).ignores_keys);
            let (tool, args) = (ToolId(names.tools.intern(&effect.tool)), names.args_of(&effect.tool, &effect.args));
            let asking = calls.iter().find(|call| (call.tool, call.args) == (tool, args));
            let run = asking.map_or_else(|| names.run_of(&effect.tool), DrivenCall::run_of_request);
            ExistingEffect { run, tool, key, args }
        });
        let before = before.collect();
        let Names { tools, keys: key_names, args, servers, runs, .. } = names;
        Scenario { calls, later, cancelled, crash, keys: fixture.keys, before, runs, tools, servers, key_names, args }
    }

    /// Whether a fixture has the same scenario under both plans: its calls depend on nothing else.
    pub fn are_same_under(one: &Plan, other: &Plan) -> bool {
        let makes_keys = |plan: &Plan| plan.playbook.studies(|study| study.makes_keys);
        one.tools == other.tools
            && one.playbook.actions == other.playbook.actions
            && makes_keys(one) == makes_keys(other)
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
            Intent::State(name) => tool(name).to_owned(),
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
    transactions: Interner,
    /// Whether its calls have to do with transactions.
    has_transactions: bool,
}

impl Names {
    /// The call that a fixture writes.
    fn call<'a>(&mut self, fixture: &'a Fixture, plan: &'a Plan, call: &'a FixtureCall) -> DrivenCall<'a> {
        let named = plan.playbook.action_named(&call.tool).filter(|_| call.is_action);
        let tool_name: &'a str = named.map_or(&call.tool, |action| &action.tool);
        let facts = match call.act {
            None => plan.facts_among(&self.all_facts, tool_name),
            Some(_) => ToolFacts::NOTHING_SENT,
        };
        let (key, written_key) = self.key_of(call, plan, facts);
        let args = self.args_of(tool_name, call.compared_args.as_ref().unwrap_or(&call.args));
        let transaction = self.has_transactions.then(|| (self.transaction_of(call), facts.once));
        DrivenCall {
            name: &call.name,
            group: call.group.as_deref(),
            tool_name,
            facts,
            tool: ToolId(self.tools.intern(tool_name)),
            server: ServerId(self.servers.intern(self.all_facts.server(tool_name))),
            run: RunId(self.runs.intern(call.run.as_deref().unwrap_or_default())),
            key,
            transaction: transaction.map(|(id, _)| id),
            once: transaction.and_then(|(id, is_once)| is_once.then(|| self.once(id, tool_name, key, args))),
            act: call.act,
            token: call.token.as_deref().map(|token| TokenId(self.tokens.intern(token))),
            args,
            at: call.at,
            timeout: call.timeout.unwrap_or(facts.timeout),
            answer_within: None,
            source: AnswerSource::Script(&call.script, outages(fixture, tool_name)),
            written_args: &call.args,
            written_key,
            draws: &call.draws,
            seed: fixture.seed,
            step: None,
        }
    }

    /// The transaction of a call: by its label, else that of its run.
    fn transaction_of(&mut self, call: &FixtureCall) -> TransactionId {
        let (run, label) = (call.run.as_deref().unwrap_or_default(), call.transaction.as_deref().unwrap_or_default());
        TransactionId(self.transactions.intern(&format!("{run}\n{label}")))
    }

    /// The key of a request that is done once in a transaction.
    fn once(&mut self, of: TransactionId, tool: &str, key: Option<KeyId>, args: ArgsId) -> KeyId {
        KeyId(self.keys.intern(&format!("{} {tool} {key:?} {args:?}", of.0)))
    }

    /// The arguments that make a request of a tool.
    fn args_of(&mut self, tool: &str, args: &str) -> ArgsId {
        let named = self.all_facts.same_if(tool).and_then(|same_if| same_if.intent(args));
        ArgsId(self.args.intern(named.as_deref().unwrap_or(args)))
    }

    /// The run of a request of a tool that no call makes.
    fn run_of(&mut self, tool: &str) -> RunId {
        if self.all_facts.facts(tool).across_runs { RunId::ALL } else { RunId(self.runs.intern("")) }
    }

    /// The key of a call: its own, else for a write that of a client that makes keys (a study switch), named after the call.
    fn key_of<'a>(&mut self, call: &'a FixtureCall, plan: &Plan, facts: ToolFacts) -> (Option<KeyId>, &'a str) {
        let makes_keys = plan.playbook.studies(|study| study.makes_keys) && facts.access == Access::Write;
        match call.key.as_deref() {
            Some(key) => (Some(KeyId(self.keys.intern(key))), key),
            None if makes_keys => (Some(KeyId(self.keys.intern(&format!("key of {}", call.name)))), &call.name),
            None => (None, ""),
        }
    }

    /// The steps of a call that its fixture answers. With a key, each has one of its own: `KEY/STEP`.
    fn steps<'a>(
        &mut self,
        fixture: &'a Fixture,
        plan: &'a Plan,
        call: &'a FixtureCall,
        action: &DrivenCall<'a>,
        id: CallId,
    ) -> Vec<DrivenCall<'a>> {
        let steps = plan.steps_of(action.tool_name).iter().zip((0..).map(StepId));
        let answered =
            steps.filter_map(|(step, id)| Some((step, id, call.steps.iter().find(|of| *of.step == *step.name)?)));
        let calls = answered.map(|(step, place, of)| {
            let facts = step.facts(self.all_facts.facts(&step.tool));
            DrivenCall {
                name: &of.name,
                group: of.group.as_deref(),
                tool_name: &step.tool,
                facts,
                tool: ToolId(self.tools.intern(&step.tool)),
                server: ServerId(self.servers.intern(self.all_facts.server(&step.tool))),
                key: of.key.as_deref().map(|key| KeyId(self.keys.intern(key))),
                token: None,
                args: self.args_of(&step.tool, &of.args),
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
        never_retried: row.never_retried.unwrap_or_default(),
        across_runs: row.across_runs.unwrap_or_default(),
        once: row.once.unwrap_or_default(),
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
        retry: row.never_retried.is_none(),
        across: row.across_runs.is_none(),
        once: row.once.is_none(),
    };
    let server = row.server.as_deref().map(Arc::from);
    let known = ToolRow::new(row.pattern.clone(), facts).ok()?;
    Some(known.omitting(omitted).of_server(server).same_if(row.same_if.clone()))
}
