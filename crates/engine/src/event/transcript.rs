//! One simulation with the names behind its ids, for reporters.

use std::sync::Arc;

use super::events::{Decision, DecisionEvent};
use super::fields::NameId;
use super::finding::Finding;
use super::ledger::{Intent, LedgerEntry};
use super::outcome::{Outcome, Told, ValidNext};
use super::reason::{DeprecationReason, ErrorFacts};
use super::steps_end::StepsEnd;
use crate::ids::{ActionId, CallId, ErrorId, QueueId, ReasonId, RuleId, ServerId, StepId, VerdictId};
use crate::time::Instant;

/// The names behind the ids of a playbook, for reporters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaybookNames {
    /// The playbook's own name.
    pub playbook: Arc<str>,
    /// By `VerdictId`.
    pub verdicts: Vec<Arc<str>>,
    /// By `RuleId`.
    pub rules: Vec<Arc<str>>,
    /// By `QueueId`.
    pub queues: Vec<Arc<str>>,
    /// By `ReasonId`.
    pub reasons: Vec<Arc<str>>,
    /// By `VerdictId`: the details that the agent is told, each a name and a text.
    pub details: Vec<Vec<(Arc<str>, Arc<str>)>>,
    /// By `ActionId`.
    pub actions: Vec<ActionNames>,
    /// The steps of each action, by `ActionId`.
    pub steps: Vec<Vec<Arc<str>>>,
}

/// What names an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionNames {
    /// The action's name.
    pub name: Arc<str>,
    /// The tool that does it.
    pub tool: Arc<str>,
    /// The schema of its inputs as JSON text, if it has one.
    pub inputs: Option<Arc<str>>,
}

impl PlaybookNames {
    /// Whether the action with this body has steps: its call is sent nowhere itself.
    pub fn has_steps(&self, tool: &str) -> bool {
        let mut actions = self.actions.iter().zip(&self.steps);
        actions.any(|(action, steps)| *action.tool == *tool && !steps.is_empty())
    }

    /// The verdict's name.
    pub fn verdict(&self, id: VerdictId) -> &str {
        self.verdicts.get(id.index()).map_or("?", |name| name)
    }

    /// The rule's name, or `otherwise` if no rule matched.
    pub fn rule(&self, id: Option<RuleId>) -> &str {
        id.and_then(|id| self.rules.get(id.index())).map_or("otherwise", |name| name)
    }

    /// The queue's name.
    pub fn queue(&self, id: QueueId) -> &str {
        self.queues.get(id.index()).map_or("?", |name| name)
    }

    /// The action's name.
    pub fn action(&self, id: ActionId) -> &str {
        self.actions.get(id.index()).map_or("?", |action| &action.name)
    }

    /// The schema of an action's inputs as JSON text, if it has one.
    pub fn action_inputs(&self, id: ActionId) -> Option<&str> {
        self.actions.get(id.index())?.inputs.as_deref()
    }

    /// The name of the action that `tool` does.
    pub fn action_of(&self, tool: &str) -> Option<&str> {
        self.actions.iter().find(|action| *action.tool == *tool).map(|action| &*action.name)
    }

    /// The name of a step of an action.
    pub fn step(&self, action: ActionId, step: StepId) -> &str {
        self.steps.get(action.index()).and_then(|steps| steps.get(step.index())).map_or("?", |name| name)
    }

    /// The reason's text.
    pub fn reason(&self, id: ReasonId) -> &str {
        self.reasons.get(id.index()).map_or("?", |text| text)
    }

    /// The details that a verdict tells.
    pub fn details(&self, id: VerdictId) -> &[(Arc<str>, Arc<str>)] {
        self.details.get(id.index()).map_or(&[], |details| details)
    }

    /// Why a call was given up, in the playbook's words or the engine's.
    pub fn deprecated_why(&self, why: DeprecationReason) -> &str {
        match why {
            DeprecationReason::Stated(reason) => self.reason(reason),
            DeprecationReason::RefreshAbort => "refresh_evidence requested abort",
            DeprecationReason::RefreshFutile => "post-refresh retry still failing",
        }
    }
}

/// The death of a dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Death {
    /// When it died.
    pub at: Instant,
    /// When it was there again.
    pub back: Instant,
}

/// Everything that a reporter can show of one simulation, with the names behind the ids.
#[derive(Clone, Copy)]
pub struct Transcript<'a> {
    /// The playbook's names.
    pub names: &'a PlaybookNames,
    /// The calls' names, by `CallId`.
    pub calls: &'a [String],
    /// The names of other calls that events mention; their ids follow those of `calls`.
    pub others: &'a [String],
    /// The names of servers, by `ServerId`.
    pub servers: &'a [String],
    /// The name of an intent.
    pub intent_name: &'a dyn Fn(Intent) -> String,
    /// Ordered by time, then emission.
    pub events: &'a [DecisionEvent],
    /// By `CallId`.
    pub outcomes: &'a [Outcome],
    /// Under a graph, by `CallId`: what is valid after each call; else empty.
    pub valid_next: &'a [Option<ValidNext>],
    /// In the order in which effects landed.
    pub ledger: &'a [LedgerEntry],
    /// By `ErrorId`.
    pub errors: &'a [Arc<ErrorFacts>],
    /// Worst first.
    pub findings: &'a [Finding],
    /// What the agent is told, one for each failed call, in the order of the calls.
    pub told: &'a [Told],
    /// When the dispatcher died.
    pub death: Option<Death>,
}

/// An empty intent name, for pages that show no intents.
pub fn unnamed(_: Intent) -> String {
    String::new()
}

impl<'a> Transcript<'a> {
    /// The name of a call.
    pub fn call(&self, id: CallId) -> &'a str {
        self.calls.iter().chain(self.others).nth(id.index()).map_or("?", |name| name)
    }

    /// The name of what an event mentions.
    #[inline(always)]
    pub fn name(&self, of: NameId) -> &'a str {
        let names = self.names;
        match of {
            NameId::Verdict(verdict) => names.verdict(verdict),
            NameId::Rule(rule) => names.rule(rule),
            NameId::Queue(queue) => names.queue(queue),
            NameId::Reason(reason) => names.reason(reason),
            NameId::GivenUp(why) => names.deprecated_why(why),
            NameId::Call(call) => self.call(call),
            NameId::Action(action) => names.action(action),
            NameId::Step(action, step) => names.step(action, step),
            NameId::Server(server) => self.server(server),
        }
    }

    /// The name of a server.
    pub fn server(&self, id: ServerId) -> &'a str {
        self.servers.get(id.index()).map_or("?", |name| name)
    }

    /// The kind of an error, or `error` if it has none.
    pub fn error_kind(&self, id: Option<ErrorId>) -> &'a str {
        id.and_then(|id| self.error(id)).and_then(|error| error.kind.as_deref()).unwrap_or("error")
    }

    /// The error behind an id.
    pub fn error(&self, id: ErrorId) -> Option<&'a ErrorFacts> {
        self.errors.get(id.index()).map(|error| &**error)
    }

    /// What the agent is told of a call; none unless it failed.
    pub fn told(&self, call: CallId) -> Option<&'a Told> {
        Told::find(self.told, call)
    }

    /// What is valid after a call; none: its playbook has no graph, or it is a step.
    pub fn valid_after(&self, call: CallId) -> Option<&'a ValidNext> {
        self.valid_next.get(call.index())?.as_ref()
    }

    /// Whether the graph offers an action after a call. If a call of it was refused all the same, only calls with the key of
    /// an earlier one may do it.
    pub fn offers_action(&self, call: CallId, action: &str) -> bool {
        self.valid_after(call).is_some_and(|valid| self.has_action(&valid.next, action))
    }

    /// The same of the action of a tool.
    pub fn offers(&self, call: CallId, tool: &str) -> bool {
        self.names.action_of(tool).is_some_and(|action| self.offers_action(call, action))
    }

    /// Whether the graph withholds the action of a tool after a call, from calls with any key.
    pub fn withholds(&self, call: CallId, tool: &str) -> bool {
        let action = self.names.action_of(tool);
        self.valid_after(call).zip(action).is_some_and(|(valid, action)| self.has_action(&valid.withheld, action))
    }

    fn has_action(&self, actions: &[ActionId], action: &str) -> bool {
        actions.iter().any(|id| self.names.action(*id) == action)
    }

    /// How the steps of a call went; none: it has no steps, or none of them had its turn.
    pub fn steps_of(&self, call: CallId) -> Option<StepsEnd> {
        let has_steps = self.names.steps.iter().any(|steps| !steps.is_empty());
        has_steps.then(|| StepsEnd::read(self.events.iter().filter(|event| event.call == call)))?
    }

    /// The verdicts of a call's failures, in order.
    pub fn verdicts(&self, call: CallId) -> impl Iterator<Item = &'a str> + use<'a> {
        let (names, events) = (self.names, self.events);
        events.iter().filter_map(move |event| match event.what {
            Decision::FailureClassified { verdict, .. } if event.call == call => Some(names.verdict(verdict)),
            _ => None,
        })
    }
}
