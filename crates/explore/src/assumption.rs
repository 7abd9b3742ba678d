//! What the world of a search takes for true beside its table, each of which can be dropped alone.

use playproof_engine::event::EffectClaim;
use playproof_engine::playbook::Access;
use playproof_engine::sim::Plan;

/// An assumption.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// Upstreams know an idempotency key again.
    Keys,
    /// The kind of an error agrees with its status.
    KindAndStatus,
    /// An answer with a status from 400 to 499 did nothing, apart from the rows of their own.
    RefusalsDidNothing,
    /// What a verdict claims of the effect of failures that only the tool's own words tell apart.
    Verdict(String),
    /// That the tools of this row of tool facts change nothing.
    Tool(String),
}

impl Assumption {
    /// The assumptions that a playbook can rest on.
    pub fn all(plan: &Plan) -> Vec<Assumption> {
        let mut all = vec![Assumption::Keys, Assumption::KindAndStatus, Assumption::RefusalsDidNothing];
        let claims = plan.playbook.verdicts.iter().filter(|verdict| verdict.effect != EffectClaim::Unknown);
        all.extend(claims.map(|verdict| Assumption::Verdict(verdict.name.to_string())));
        let reads = plan.playbook.tools.rows().iter().filter(|row| row.facts.access == Access::Read);
        all.extend(reads.map(|row| Assumption::Tool(row.pattern.clone())));
        all
    }

    /// Its name in reports.
    pub fn name(&self) -> String {
        match self {
            Assumption::Keys => "keys".to_owned(),
            Assumption::KindAndStatus => "kind_and_status".to_owned(),
            Assumption::RefusalsDidNothing => "refusals_did_nothing".to_owned(),
            Assumption::Verdict(name) => format!("verdict {name}"),
            Assumption::Tool(pattern) => format!("tool {pattern}"),
        }
    }
}
