//! Every mutant of a playbook.

use std::collections::BTreeMap;

use super::mutant::Mutant;
use super::{breakers, graph, limits, retry_budgets, rules, sharing, verdicts};
use playproof_engine::playbook::Playbook;

/// Every mutant of a playbook that is another playbook, row by row in the order of the file.
pub fn mutants(playbook: &Playbook) -> Vec<Mutant> {
    let mut all = Vec::new();
    rules::add(playbook, &mut all);
    verdicts::add(playbook, &mut all);
    breakers::add(playbook, &mut all);
    retry_budgets::add(playbook, &mut all);
    limits::add(playbook, &mut all);
    sharing::add(playbook, &mut all);
    graph::add(playbook, &mut all);
    limits::add_tools(playbook, &mut all);
    let mut ids: BTreeMap<String, u32> = BTreeMap::new();
    for mutant in &mut all {
        let count = ids.entry(mutant.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            mutant.id = format!("{}-{count}", mutant.id);
        }
    }
    all
}
