//! A playbook prepared for simulation: compiled rules, tool facts, names.

use std::sync::Arc;

use crate::classify::Classifier;
use crate::event::{AdmissionRefusal, ErrorFacts, PlaybookNames};
use crate::ids::VerdictId;
use crate::playbook::{ArgumentSchema, Compensation, Playbook, ToolFacts, ToolRow, Tools, UNCLASSIFIED, UnsafePolicy};

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
    /// Whether calls of one run share state and are simulated together: some verdict may redeem a reversal token.
    pub shares_state: bool,
    /// Whether the registry has something to check: declared tools or their arguments.
    pub checks_requests: bool,
    /// Whether a wait of some verdict depends on a draw.
    pub draws: bool,
    /// The seed of draws that neither a fixture nor a trace gives.
    pub seed: Option<u64>,
    pub(super) tools: Tools,
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
    /// A plan from a playbook, with tool facts that take precedence over the playbook's own.
    pub fn new(playbook: Playbook, stronger: &Tools) -> Plan {
        let tools = stronger.over(&playbook.tools);
        Plan {
            classifier: Arc::new(Classifier::new(&playbook)),
            names: playbook.names(),
            reserved: Reserved::of(&playbook),
            shares_state: playbook.verdicts.iter().any(|verdict| may_redeem(&verdict.then)),
            checks_requests: playbook.refuses_unknown_tools || tools.have_schemas(),
            draws: playbook.verdicts.iter().any(|verdict| is_drawn(&verdict.then)),
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
            ..*self
        })
    }

    /// What the registry says against a request, with the error that its caller gets; none: nothing. Arguments that the
    /// recording does not have are not checked.
    pub fn objection(
        &self,
        tool: &str,
        facts: &ToolFacts,
        args: Option<&str>,
    ) -> Option<(AdmissionRefusal, ErrorFacts)> {
        let error = |kind: &str, code: &str, message: String| ErrorFacts {
            kind: Some(kind.into()),
            message: Some(message.into()),
            code: Some(code.into()),
            ..ErrorFacts::default()
        };
        if self.playbook.refuses_unknown_tools && !facts.declared {
            let message = format!("no tool is called {tool}");
            return Some((AdmissionRefusal::NotFound, error("not_found", "-32601", message)));
        }
        let unfit = self.tools.schema(tool)?.check(args?).err()?;
        Some((AdmissionRefusal::Schema, error("schema", "-32602", unfit)))
    }

    /// The arguments that `tool` takes, if a row of tool facts says so.
    pub fn schema(&self, tool: &str) -> Option<&ArgumentSchema> {
        self.tools.schema(tool)
    }

    /// The facts of `tool`.
    pub fn facts(&self, tool: &str) -> ToolFacts {
        self.tools.facts(tool)
    }

    /// The place of the playbook's row for `tool`, if it supplies a fact that every stronger row omits.
    pub fn tool_row(&self, tool: &str) -> Option<usize> {
        self.playbook.tools.place(tool).filter(|_| self.tools.needs_weakest_row(tool))
    }
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

/// Whether a compensation may wait for a drawn time.
const fn is_drawn(then: &Compensation) -> bool {
    matches!(then, Compensation::RetryWithBackoff(retry) if retry.is_drawn())
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
