//! A playbook made ready to run: compiled rules, tool facts, names.

use std::sync::Arc;

use crate::classify::Classifier;
use crate::event::PlaybookNames;
use crate::ids::VerdictId;
use crate::playbook::{Compensation, Playbook, ToolFacts, ToolRow, Tools, UNCLASSIFIED, UnsafePolicy};

/// Everything about the playbook that a simulation needs.
#[derive(Debug)]
pub struct Plan {
    /// The playbook.
    pub playbook: Playbook,
    /// Its rules, compiled.
    pub classifier: Arc<Classifier>,
    /// Its names, for reporters.
    pub names: PlaybookNames,
    /// The verdicts that mean the same in every playbook.
    pub reserved: Reserved,
    /// Whether calls of one run share state and are simulated together: any verdict may come to redeem a reversal token.
    pub shares_state: bool,
    tools: Tools,
}

/// Verdicts that mean the same in every playbook, where this one has them.
#[derive(Clone, Copy, Debug)]
pub struct Reserved {
    /// Somebody decided against the call.
    pub denied: Option<VerdictId>,
    /// The upstream has processed the idempotency key.
    pub processed: Option<VerdictId>,
    /// No rule knows the failure.
    pub unclassified: Option<VerdictId>,
}

impl Plan {
    /// A plan from a playbook, with tool facts that win over the playbook's own.
    pub fn new(playbook: Playbook, stronger: &Tools) -> Plan {
        Plan {
            classifier: Arc::new(Classifier::new(&playbook)),
            names: playbook.names(),
            reserved: Reserved::of(&playbook),
            shares_state: playbook.verdicts.iter().any(|verdict| may_redeem(&verdict.then)),
            tools: stronger.over(&playbook.tools),
            playbook,
        }
    }

    /// The same plan where this is known of `tool`, whatever else is said of it; none for a name that is a bad glob.
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

    /// What is known of `tool`.
    pub fn facts(&self, tool: &str) -> ToolFacts {
        self.tools.facts(tool)
    }

    /// The place of the playbook's row for `tool`, where it says what no stronger row says.
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

impl Reserved {
    fn of(playbook: &Playbook) -> Reserved {
        let named = |name: &str| {
            let place = playbook.verdicts.iter().position(|verdict| &*verdict.name == name)?;
            u16::try_from(place).ok().map(VerdictId)
        };
        Reserved {
            denied: named("policy_denied"),
            processed: named("idempotency_conflict"),
            unclassified: named(UNCLASSIFIED),
        }
    }
}
