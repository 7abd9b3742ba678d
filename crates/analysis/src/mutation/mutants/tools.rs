//! Tool facts: a row dropped, or one fact another.

use super::all::{Mutant, MutantRow};
use playproof_engine::playbook::{Access, Playbook, ToolFacts, ToolRow, Tools};
use playproof_engine::time::Duration;

pub(super) fn add(playbook: &Playbook, all: &mut Vec<Mutant>) {
    for (n, tool) in playbook.tools.rows().iter().enumerate() {
        let facts = tool.facts;
        let mut row = MutantRow::of_tools(format!("tool {}", tool.pattern), all);
        row.add("drop", "dropped", move |playbook| {
            let mut rows = playbook.tools.rows().to_vec();
            rows.remove(n);
            playbook.tools = Tools::new(rows);
        });
        let mut vary = |operation: &str, what: String, other: ToolFacts| {
            row.add(operation, what, move |playbook| {
                let mut rows: Vec<ToolRow> = playbook.tools.rows().to_vec();
                rows.iter_mut().skip(n).take(1).for_each(|row| *row = row.clone().saying(other));
                playbook.tools = Tools::new(rows);
            });
        };
        let timeout = facts.timeout.plus(Duration::from_millis(1));
        vary("timeout_ms-longer", format!("`timeout_ms: {timeout}`"), ToolFacts { timeout, ..facts });
        match facts.access {
            Access::Read => {
                vary("access-write", "`access: write`".into(), ToolFacts { access: Access::Write, ..facts });
            }
            Access::Write => {
                let idempotent = !facts.idempotent;
                vary("access-read", "`access: read`".into(), ToolFacts { access: Access::Read, ..facts });
                vary("idempotent", format!("`idempotent: {idempotent}`"), ToolFacts { idempotent, ..facts });
                let repeatable = !facts.repeatable;
                vary("repeatable", format!("`repeatable: {repeatable}`"), ToolFacts { repeatable, ..facts });
            }
        }
    }
}
