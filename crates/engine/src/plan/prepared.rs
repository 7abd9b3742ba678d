//! A playbook prepared for simulation: compiled rules, tool facts, names.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::call::{RecordedAnswer, RecordedCall, Reply};
use crate::classify::{Classification, Classifier, Signal, keyed_for};
use crate::event::{AdmissionRefusal, ErrorFacts, PlaybookNames};
use crate::ids::{ActionId, AttemptNo, VerdictId};
use crate::playbook::{
    Access, ArgumentSchema, Compensation, Others, Playbook, Retry, SameIf, Step, ToolFacts, ToolRow, Tools,
    UNCLASSIFIED, UnsafePolicy,
};

/// Everything that a simulation needs of a playbook.
#[derive(Debug)]
pub struct Plan {
    /// The playbook.
    pub playbook: Playbook,
    /// Its rules, compiled.
    pub classifier: Arc<Classifier>,
    /// Its names, for reporters.
    pub names: PlaybookNames,
    /// The verdicts with the same meaning in every playbook.
    pub reserved: Reserved,
    /// Whether some verdict may redeem a reversal token: calls of one run with the same token are simulated together.
    pub shares_tokens: bool,
    /// Whether all calls of one dispatcher are simulated together, because they share keys, a budget or permits.
    pub shares_state: bool,
    /// Whether the registry has something to check: declared tools or their arguments.
    pub checks_requests: bool,
    /// Whether a wait of some verdict depends on a draw.
    pub draws: bool,
    /// The seed of draws that neither a fixture nor a trace gives.
    pub seed: Option<u64>,
    pub(crate) tools: Tools,
    /// Whether some action has steps.
    pub has_steps: bool,
    /// The actions by their tools.
    actions: Arc<BTreeMap<Arc<str>, ActionId>>,
}

/// What a call is to the actions and the graph of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateJudgement {
    /// Nothing orders it.
    Free,
    /// No action has its tool, and the graph refuses such calls with this error.
    Unknown(ErrorFacts),
    /// An action, with what does not fit of its arguments.
    Action(ActionId, Option<ErrorFacts>),
}

/// The verdicts with the same meaning in every playbook, if this one has them.
#[derive(Clone, Copy, Debug)]
pub struct Reserved {
    /// The upstream denied the call.
    pub denied: Option<VerdictId>,
    /// The upstream has processed the idempotency key.
    pub processed: Option<VerdictId>,
    /// The idempotency key belongs to a request with other arguments.
    pub key_reused: Option<VerdictId>,
    /// No rule matches the failure.
    pub unclassified: Option<VerdictId>,
}

impl Plan {
    /// The verdict on the recorded failure of an attempt, and its rule; none: it is no failure, or one of the gate, which sent nothing.
    pub fn recorded_verdict(
        &self,
        call: &RecordedCall,
        facts: ToolFacts,
        answer: &RecordedAnswer,
        attempt: AttemptNo,
    ) -> Option<Classification> {
        let Reply::Failed(error) = &answer.reply else { return None };
        if self.playbook.graph.is_some() && answer.gate_refusal().is_some() {
            return None;
        }
        let keyed = keyed_for(error.as_deref(), call.key());
        let signal = Signal::new(error.as_deref(), call.tool(), facts, keyed, attempt);
        Some(self.classifier.classify(&signal))
    }

    /// A plan from a playbook, with tool facts that take precedence over the playbook's own.
    pub fn new(playbook: Playbook, stronger: &Tools) -> Plan {
        let tools = stronger.over(&playbook.tools);
        Plan {
            classifier: Arc::new(Classifier::new(&playbook)),
            names: playbook.names(),
            reserved: Reserved::of(&playbook),
            shares_state: playbook.shares_state() || tools.any_once,
            shares_tokens: playbook.verdicts.iter().any(|verdict| may_redeem(&verdict.then)),
            checks_requests: playbook.refuses_unknown_tools
                || playbook.sharing.dedupe.is_some()
                || tools.check_requests(),
            draws: playbook.verdicts.iter().any(|verdict| verdict.then.retry().is_some_and(Retry::is_drawn)),
            actions: Arc::new(by_tool(&playbook)),
            has_steps: playbook.has_steps(),
            seed: None,
            tools,
            playbook,
        }
    }

    /// The same plan with the seed of draws that neither a fixture nor a trace gives.
    #[must_use]
    pub fn with_seed(self, seed: Option<u64>) -> Plan {
        Plan { seed, ..self }
    }

    /// The same plan with these facts of `tool`, which take precedence; none if `tool` is a glob that does not compile.
    pub fn with_tool_facts(&self, tool: &str, facts: ToolFacts) -> Option<Plan> {
        let row = ToolRow::new(tool, facts).ok()?;
        Some(Plan {
            playbook: self.playbook.clone(),
            classifier: Arc::clone(&self.classifier),
            names: self.playbook.names(),
            tools: Tools::new(vec![row]).over(&self.tools),
            actions: Arc::clone(&self.actions),
            ..*self
        })
    }

    /// What the registry says against a request, with the error that its caller gets; none: nothing. Arguments that the
    /// recording does not have are not checked; of the key only its length is known.
    pub fn objection(
        &self,
        tool: &str,
        facts: &ToolFacts,
        args: Option<&str>,
        key_len: Option<usize>,
    ) -> Option<(AdmissionRefusal, ErrorFacts)> {
        let (why, message) = self.refusal(tool, facts, args, key_len)?;
        Some((why, refusal(why, message)))
    }

    /// What a call of `tool` is to the actions and the graph. Arguments that the recording does not have are not checked.
    pub fn gate(&self, tool: &str, args: Option<&str>) -> GateJudgement {
        let Some(id) = self.action(tool) else {
            if !self.judges(tool) {
                return GateJudgement::Free;
            }
            return GateJudgement::Unknown(refusal(AdmissionRefusal::UnknownAction, self.why_unknown(tool)));
        };
        let inputs = self.playbook.actions.get(id.index()).and_then(|action| action.inputs.as_ref());
        let fault = inputs.zip(args).and_then(|(inputs, args)| inputs.check(args).err());
        GateJudgement::Action(id, fault.map(|fault| refusal(AdmissionRefusal::ValidationFailed, fault)))
    }

    /// Why a call of `tool` is of no action. The name of the tool may be private, and stands with the call.
    fn why_unknown(&self, tool: &str) -> String {
        let steps = self.playbook.actions.iter().flat_map(|action| action.steps.iter().map(move |step| (action, step)));
        match (self.playbook.action_named(tool), steps.into_iter().find(|(_, step)| *step.tool == *tool)) {
            (Some(action), _) => {
                format!("no action has this tool; the action of this name has the tool {}", action.tool)
            }
            (None, Some((action, step))) => {
                format!("this tool is only the step {} of the action {}", step.name, action.name)
            }
            (None, None) => "no action has this tool".to_owned(),
        }
    }

    /// Whether the gate judges calls of `tool`.
    pub fn judges(&self, tool: &str) -> bool {
        let refuses = || self.playbook.graph.as_ref().is_some_and(|graph| graph.others == Others::Refuse);
        self.action(tool).is_some() || refuses()
    }

    /// The action whose body is `tool`.
    pub fn action(&self, tool: &str) -> Option<ActionId> {
        self.actions.get(tool).copied()
    }

    fn refusal(
        &self,
        tool: &str,
        facts: &ToolFacts,
        args: Option<&str>,
        key_len: Option<usize>,
    ) -> Option<(AdmissionRefusal, String)> {
        if self.playbook.refuses_unknown_tools && !facts.declared {
            return Some((AdmissionRefusal::NotFound, "no tool facts declare this tool".to_owned()));
        }
        if let Some(Err(unfit)) = self.tools.schema(tool).map(|schema| args.map_or(Ok(()), |args| schema.check(args))) {
            return Some((AdmissionRefusal::Schema, unfit));
        }
        let Some(length) = key_len else {
            let missing = || (AdmissionRefusal::KeyMissing, "the tool needs an idempotency key".to_owned());
            return facts.needs_key.then(missing);
        };
        let rules = self.playbook.sharing.dedupe?;
        let (least, most) = (rules.min_key_len, rules.max_key_len);
        let fits = (least as usize..=most as usize).contains(&length);
        (!fits).then(|| (AdmissionRefusal::KeyLength, format!("a key has {least} to {most} bytes, this one {length}")))
    }

    /// The arguments that `tool` takes, if a row of tool facts says so.
    pub fn schema(&self, tool: &str) -> Option<&ArgumentSchema> {
        self.tools.schema(tool)
    }

    /// The tool facts, if they say what makes a request of some tool.
    pub fn requests(&self) -> Option<Arc<Tools>> {
        self.tools.tell_requests().then(|| Arc::new(self.tools.clone()))
    }

    /// The arguments that make a request of `tool`; none: all of them do.
    pub fn same_if(&self, tool: &str) -> Option<&SameIf> {
        self.tools.same_if(tool)
    }

    /// Whether a row says how long an attempt of `tool` may take.
    pub fn has_timeout(&self, tool: &str) -> bool {
        self.tools.has_timeout(tool)
    }

    /// What the breaker and the retry budgets of `tool` are kept for.
    pub fn server<'a>(&'a self, tool: &'a str) -> &'a str {
        self.tools.server(tool)
    }

    /// The facts of `tool`; of an action with steps, those of all its steps.
    pub fn facts(&self, tool: &str) -> ToolFacts {
        self.facts_among(&self.tools, tool)
    }

    /// The same, with the facts of tools from `tools`.
    pub(crate) fn facts_among(&self, tools: &Tools, tool: &str) -> ToolFacts {
        let steps = self.steps_of(tool).iter().map(|step| step.facts(tools.facts(&step.tool)));
        steps.reduce(both).unwrap_or_else(|| tools.facts(tool))
    }

    /// The facts of a recorded call. A step may be less than its tool.
    pub fn facts_of(&self, call: &RecordedCall) -> ToolFacts {
        let facts = self.facts(call.tool());
        let Some((_, step)) = call.step().filter(|_| self.has_steps) else { return facts };
        let mut steps = self.playbook.actions.iter().flat_map(|action| &action.steps);
        let weaker = steps.find(|of| of.never_idempotent && *of.name == *step && *of.tool == *call.tool());
        weaker.map_or(facts, |weaker| weaker.facts(facts))
    }

    /// The steps of the action with this body; none: its tool does it.
    pub fn steps_of(&self, tool: &str) -> &[Step] {
        if !self.has_steps {
            return &[];
        }
        let action = self.action(tool).and_then(|id| self.playbook.actions.get(id.index()));
        action.map_or(&[], |action| &action.steps)
    }

    /// Whether one of these steps is the same request in all runs.
    pub fn makes_across_runs(&self, tool: &str) -> bool {
        self.steps_of(tool).iter().any(|step| self.facts(&step.tool).across_runs)
    }

    /// The number of these steps.
    pub(crate) fn steps(&self, tool: &str) -> u16 {
        u16::try_from(self.steps_of(tool).len()).unwrap_or(u16::MAX)
    }

    /// The place of the playbook's row for `tool`, if it supplies a fact that every stronger row omits.
    pub fn tool_row(&self, tool: &str) -> Option<usize> {
        self.playbook.tools.place(tool).filter(|_| self.tools.needs_weakest_row(tool))
    }
}

/// The facts of two calls, taken together.
fn both(one: ToolFacts, other: ToolFacts) -> ToolFacts {
    let is_safe = |facts: ToolFacts| facts.access == Access::Read || facts.idempotent;
    let reads = one.access == Access::Read && other.access == Access::Read;
    ToolFacts {
        access: if reads { Access::Read } else { Access::Write },
        idempotent: is_safe(one) && is_safe(other),
        repeatable: one.repeatable && other.repeatable,
        timeout: one.timeout.max(other.timeout),
        ignores_keys: one.ignores_keys || other.ignores_keys,
        needs_key: false, // the registry asks each step
        never_retried: one.never_retried || other.never_retried,
        across_runs: one.across_runs && other.across_runs,
        once: one.once && other.once,
        resends: one.resends || other.resends,
        declared: one.declared && other.declared,
        seems_to_read: one.seems_to_read && other.seems_to_read,
    }
}

/// The error that the caller of a refused call gets.
fn refusal(why: AdmissionRefusal, message: String) -> ErrorFacts {
    ErrorFacts {
        kind: Some(why.as_str().into()),
        message: Some(message.into()),
        code: Some(why.code().into()),
        ..ErrorFacts::default()
    }
}

fn by_tool(playbook: &Playbook) -> BTreeMap<Arc<str>, ActionId> {
    let ids = (0..).map(ActionId); // fewer than 65,536 names are declared
    playbook.actions.iter().zip(ids).map(|(action, id)| (Arc::clone(&action.tool), id)).collect()
}

fn may_redeem(then: &Compensation) -> bool {
    let reverses = |on_unsafe: &UnsafePolicy| matches!(on_unsafe, UnsafePolicy::Reverse(_));
    match then {
        Compensation::RetryWithBackoff(retry) => reverses(&retry.on_unsafe),
        Compensation::RefreshEvidence(refresh) => reverses(&refresh.on_unsafe),
        Compensation::IssueReversal(_) => true,
        Compensation::EscalateToHuman(_) | Compensation::DeprecateToolCall(_) => false,
    }
}

impl Reserved {
    fn of(playbook: &Playbook) -> Reserved {
        let named = |name: &str| {
            let place = playbook.verdicts.iter().position(|verdict| &*verdict.name == name)?;
            u16::try_from(place).ok().map(VerdictId)
        };
        Reserved {
            denied: named("policy_denied"),
            processed: named("idempotency_conflict"),
            key_reused: named("idempotency_key_reused"),
            unclassified: named(UNCLASSIFIED),
        }
    }
}
