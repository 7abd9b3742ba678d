//! The explanation of a call: its steps, its counterfactuals and the advice.

use super::advice::Advice;
use super::counterfactual::{Counterfactual, counterfactuals};
use super::narrative::{NarrativeStep, steps};
use super::subject::{Simulation, Subject};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;

/// The explanation of a call under one playbook.
pub struct Explanation {
    /// The simulation.
    pub simulation: Simulation,
    /// The steps, in order.
    pub steps: Vec<NarrativeStep>,
    /// The counterfactuals.
    pub counterfactuals: Vec<Counterfactual>,
    /// The advice. None if the simulation never reached the call, or if the call begins, writes or ends a transaction: it
    /// sends nothing.
    pub advice: Option<Advice>,
}

impl Explanation {
    /// Explains the subject; `tools` are the facts that `plan` was made with.
    pub fn of(subject: &Subject, plan: &Plan, tools: &Tools) -> Explanation {
        let simulation = subject.simulate(plan);
        let is_act = subject.written().is_some_and(|call| call.act.is_some());
        let outcome = simulation.outcome().filter(|_| !is_act);
        Explanation {
            steps: steps(subject, plan, &simulation),
            counterfactuals: counterfactuals(subject, plan, tools, &simulation),
            advice: outcome.map(|outcome| Advice::of(subject, plan, &simulation, outcome)),
            simulation,
        }
    }
}
