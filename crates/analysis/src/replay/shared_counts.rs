//! What the calls of each dispatcher shared under one playbook: how often circuits changed, what retry budgets paid for,
//! and what each run took of the budget of tool calls. Sums of all are exact; of single dispatchers the most frequent are
//! kept, so that memory does not grow with their number.

use std::sync::Arc;

use playproof_engine::call::RecordedCall;
use playproof_engine::event::{AdmissionRefusal, Decision, Outcome, OutcomeKind, StopReason};
use playproof_engine::ids::{RetryBudgetId, ServerId, VerdictId};
use playproof_engine::playbook::{BudgetUnit, Retry, RetryBudgetKind, Tokens};
use playproof_engine::sim::{Plan, SimulationRecord};

use super::frequent::Frequent;
use super::step_order::has_steps;

/// So many rows of each kind are kept.
const MOST: usize = 100;

/// What can be added up.
pub trait Sum: Copy + Default {
    /// Adds another one.
    fn add(&mut self, other: Self);
    /// How often something was counted.
    fn count(&self) -> u64;
}

/// The dispatcher of a call, as the trace names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct DispatcherName {
    /// The input.
    pub input: u32,
    /// Its id; none: the run is the dispatcher.
    pub dispatcher: Option<Box<str>>,
    /// The run, if it is the dispatcher and has a name.
    pub run: Option<Box<str>>,
}

impl DispatcherName {
    fn of(call: &RecordedCall) -> DispatcherName {
        let dispatcher: Option<Box<str>> = call.dispatcher().map(Box::from);
        let run = call.run().filter(|_| dispatcher.is_none()).map(Box::from);
        DispatcherName { input: call.place.input, dispatcher, run }
    }

    fn of_run(call: &RecordedCall) -> DispatcherName {
        DispatcherName { input: call.place.input, dispatcher: None, run: call.run().map(Box::from) }
    }
}

/// Sums by dispatcher, and in its dispatcher by server where there is one.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(bound = "V: serde::Serialize + serde::de::DeserializeOwned")]
pub struct ByDispatcher<V> {
    /// Of all dispatchers.
    pub total: V,
    rows: Frequent<(DispatcherName, Option<Box<str>>), V>,
}

impl<V: Sum> Default for ByDispatcher<V> {
    fn default() -> ByDispatcher<V> {
        ByDispatcher { total: V::default(), rows: Frequent::new(MOST) }
    }
}

impl<V: Sum> ByDispatcher<V> {
    fn add(&mut self, name: DispatcherName, server: Option<&str>, value: V) {
        self.total.add(value);
        let row = self.rows.row((name, server.map(Box::from)), |_, _| {});
        row.count += value.count();
        row.value.add(value);
    }

    fn merge(&mut self, later: &ByDispatcher<V>) {
        self.total.add(later.total);
        self.rows.merge(later.rows.clone(), |mine, later| mine.add(later), |_, _| {});
    }

    /// The same, of inputs that come behind `inputs` others.
    fn behind(self, inputs: u32) -> ByDispatcher<V> {
        let name = |name: DispatcherName| DispatcherName { input: name.input.saturating_add(inputs), ..name };
        ByDispatcher { rows: self.rows.with_keys(|(of, server)| (name(of), server)), ..self }
    }

    /// The most frequent rows, the most frequent first. A row lacks what came while it was rare.
    pub fn rows(&self) -> Vec<(&DispatcherName, Option<&str>, V)> {
        let mut rows: Vec<_> = self.rows.rows().collect();
        rows.sort_by(|(a, many), (b, more)| more.count.cmp(&many.count).then_with(|| a.cmp(b)));
        rows.truncate(MOST);
        rows.into_iter().map(|((name, server), row)| (name, server.as_deref(), row.value)).collect()
    }
}

/// What happened to the circuit of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CircuitCounts {
    /// How often it opened.
    pub opened: u64,
    /// How often it became half open.
    pub half_open: u64,
    /// How often it closed again.
    pub closed: u64,
    /// Calls that it stopped, before their first attempt or before a further one.
    pub stopped: u64,
}

impl Sum for CircuitCounts {
    fn add(&mut self, other: CircuitCounts) {
        self.opened += other.opened;
        self.half_open += other.half_open;
        self.closed += other.closed;
        self.stopped += other.stopped;
    }

    fn count(&self) -> u64 {
        self.opened + self.half_open + self.closed + self.stopped
    }
}

/// What a retry budget was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RetryBudgetCounts {
    /// Retries that it paid for.
    pub retries: u64,
    /// The tokens that these took; zero but for a token bucket.
    pub tokens: Tokens,
    /// Calls that it stopped.
    pub stopped: u64,
}

impl Sum for RetryBudgetCounts {
    fn add(&mut self, other: RetryBudgetCounts) {
        self.retries += other.retries;
        self.tokens = self.tokens.plus(other.tokens);
        self.stopped += other.stopped;
    }

    fn count(&self) -> u64 {
        self.retries + self.stopped
    }
}

/// What a run took of its budget of tool calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ToolCallCounts {
    /// The tool calls that it took.
    pub taken: u64,
    /// Calls that it stopped.
    pub stopped: u64,
}

impl Sum for ToolCallCounts {
    fn add(&mut self, other: ToolCallCounts) {
        self.taken += other.taken;
        self.stopped += other.stopped;
    }

    fn count(&self) -> u64 {
        self.taken + self.stopped
    }
}

/// What calls shared under one playbook.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SharedCounts {
    /// Refused calls, in the order of [`AdmissionRefusal::ALL`].
    pub refused: [u64; AdmissionRefusal::ALL.len()],
    /// None: the playbook has no breaker.
    pub circuits: Option<ByDispatcher<CircuitCounts>>,
    /// By `RetryBudgetId`, with their names.
    pub retry_budgets: Vec<(Arc<str>, ByDispatcher<RetryBudgetCounts>)>,
    /// By run. None: the playbook has no budget of tool calls.
    pub tool_calls: Option<ByDispatcher<ToolCallCounts>>,
}

impl SharedCounts {
    /// Nothing yet; none: calls share nothing under the plan.
    pub fn new(plan: &Plan) -> Option<SharedCounts> {
        let playbook = &plan.playbook;
        let budgets = playbook.retry_budgets.iter();
        playbook.shares_state().then(|| SharedCounts {
            refused: [0; AdmissionRefusal::ALL.len()],
            circuits: (!playbook.breakers.is_empty()).then(ByDispatcher::default),
            retry_budgets: budgets.map(|(name, _)| (Arc::clone(name), ByDispatcher::default())).collect(),
            tool_calls: playbook.sharing.budget.is_some().then(ByDispatcher::default),
        })
    }

    /// Adds a call, whose names are shown, and what became of it.
    pub fn add(&mut self, plan: &Plan, call: &RecordedCall, record: &SimulationRecord) {
        let mut verdict = None;
        let mut attempts = 0;
        let name = |server: ServerId| record.servers.get(server.0 as usize).map(String::as_str);
        for event in &record.events {
            match event.what {
                Decision::AttemptStarted { .. } => attempts += 1,
                Decision::FailureClassified { verdict: given, .. } => verdict = Some(given),
                Decision::RetryScheduled { .. } => self.pay(plan, call, verdict),
                Decision::CircuitOpened { server, .. } => {
                    self.add_circuit(call, name(server), CircuitCounts { opened: 1, ..CircuitCounts::default() });
                }
                Decision::CircuitHalfOpen { server } => {
                    self.add_circuit(call, name(server), CircuitCounts { half_open: 1, ..CircuitCounts::default() });
                }
                Decision::CircuitClosed { server } => {
                    self.add_circuit(call, name(server), CircuitCounts { closed: 1, ..CircuitCounts::default() });
                }
                Decision::Refused { why, .. } => {
                    self.refused[why as usize] += 1;
                    match why {
                        AdmissionRefusal::CircuitOpen => self.stop(plan, call, verdict, StopReason::CircuitOpen),
                        AdmissionRefusal::BudgetExceeded => self.stop(plan, call, verdict, StopReason::Budget),
                        _ => {}
                    }
                }
                // What stopped a step is counted there.
                Decision::Outcome(Outcome { kind: OutcomeKind::Exhausted(reason), .. })
                    if !has_steps(call, Some(plan)) =>
                {
                    self.stop(plan, call, verdict, reason);
                }
                _ => {}
            }
        }
        if let (Some(budget), Some(counts)) = (&plan.playbook.sharing.budget, &mut self.tool_calls) {
            let taken = match budget.counts {
                BudgetUnit::Attempts => attempts,
                BudgetUnit::Calls => attempts.min(1),
            };
            if taken > 0 {
                counts.add(DispatcherName::of_run(call), None, ToolCallCounts { taken, stopped: 0 });
            }
        }
    }

    /// A retry was paid for, unless it costs nothing.
    fn pay(&mut self, plan: &Plan, call: &RecordedCall, verdict: Option<VerdictId>) {
        let Some((id, retry)) = budget_of(plan, verdict).filter(|(_, retry)| !retry.uncounted) else { return };
        let budget = plan.playbook.retry_budget(id);
        let tokens = match budget.kind {
            RetryBudgetKind::TokenBucket(bucket) => retry.cost.unwrap_or(bucket.cost),
            _ => Tokens::ZERO,
        };
        self.add_budget(plan, call, id, RetryBudgetCounts { retries: 1, tokens, stopped: 0 });
    }

    /// Something that calls share may have stopped a call.
    fn stop(&mut self, plan: &Plan, call: &RecordedCall, verdict: Option<VerdictId>, reason: StopReason) {
        match reason {
            StopReason::CircuitOpen => {
                let counts = CircuitCounts { stopped: 1, ..CircuitCounts::default() };
                self.add_circuit(call, Some(plan.server(call.tool())), counts);
            }
            StopReason::Budget => {
                if let Some(counts) = &mut self.tool_calls {
                    counts.add(DispatcherName::of_run(call), None, ToolCallCounts { taken: 0, stopped: 1 });
                }
            }
            StopReason::RetryBudget => {
                if let Some((id, _)) = budget_of(plan, verdict) {
                    let counts = RetryBudgetCounts { stopped: 1, ..RetryBudgetCounts::default() };
                    self.add_budget(plan, call, id, counts);
                }
            }
            _ => {}
        }
    }

    fn add_circuit(&mut self, call: &RecordedCall, server: Option<&str>, counts: CircuitCounts) {
        if let Some(circuits) = &mut self.circuits {
            circuits.add(DispatcherName::of(call), server, counts);
        }
    }

    fn add_budget(&mut self, plan: &Plan, call: &RecordedCall, id: RetryBudgetId, counts: RetryBudgetCounts) {
        let is_of_server = plan.playbook.retry_budget(id).is_of_server();
        let server = is_of_server.then(|| plan.server(call.tool()));
        if let Some((_, budget)) = self.retry_budgets.get_mut(id.index()) {
            budget.add(DispatcherName::of(call), server, counts);
        }
    }

    /// The same, of inputs that come behind `inputs` others.
    #[must_use]
    pub fn behind(self, inputs: u32) -> SharedCounts {
        let SharedCounts { refused, circuits, retry_budgets, tool_calls } = self;
        let retry_budgets = retry_budgets.into_iter().map(|(name, of)| (name, of.behind(inputs))).collect();
        let (circuits, tool_calls) = (circuits.map(|of| of.behind(inputs)), tool_calls.map(|of| of.behind(inputs)));
        SharedCounts { refused, circuits, retry_budgets, tool_calls }
    }

    /// What the count of a dispatcher may lack at most.
    pub fn missed_at_most(&self) -> u64 {
        let budgets = self.retry_budgets.iter().map(|(_, of)| of.rows.missed_at_most());
        let circuits = self.circuits.iter().map(|of| of.rows.missed_at_most());
        budgets.chain(circuits).chain(self.tool_calls.iter().map(|of| of.rows.missed_at_most())).max().unwrap_or(0)
    }

    /// Adds what was counted over later calls.
    pub fn merge(&mut self, later: &SharedCounts) {
        for (mine, later) in self.refused.iter_mut().zip(later.refused) {
            *mine += later;
        }
        if let (Some(mine), Some(later)) = (&mut self.circuits, &later.circuits) {
            mine.merge(later);
        }
        for ((_, mine), (_, later)) in self.retry_budgets.iter_mut().zip(&later.retry_budgets) {
            mine.merge(later);
        }
        if let (Some(mine), Some(later)) = (&mut self.tool_calls, &later.tool_calls) {
            mine.merge(later);
        }
    }
}

/// The retry budget of a verdict.
fn budget_of(plan: &Plan, verdict: Option<VerdictId>) -> Option<(RetryBudgetId, &Retry)> {
    let retry = plan.playbook.verdict(verdict?).then.retry()?;
    Some((retry.retry_budget?, retry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::call::{CallTexts, Place};

    #[test]
    fn the_most_frequent_dispatchers_are_kept_and_the_total_is_exact() {
        let mut counts = ByDispatcher::<ToolCallCounts>::default();
        let one = ToolCallCounts { taken: 1, stopped: 0 };
        for n in 0..10_000 {
            let run = if n % 4 == 0 { "often".to_owned() } else { n.to_string() };
            let call = RecordedCall::new(CallTexts { run: Some(&run), ..CallTexts::default() }, Place::default());
            counts.add(DispatcherName::of_run(&call), None, one);
        }
        let mut twice = counts.clone();
        twice.merge(&counts);
        let rows = twice.rows();
        assert_eq!((rows.len(), twice.total.taken), (MOST, 20_000));
        assert_eq!((rows[0].0.run.as_deref(), rows[0].2.taken), (Some("often"), 5_000));
    }

    #[test]
    fn a_dispatcher_id_stands_for_its_runs_and_a_run_for_itself() {
        let texts = CallTexts { run: Some("r"), dispatcher: Some("d"), ..CallTexts::default() };
        let call = RecordedCall::new(texts, Place::default());
        let name = DispatcherName::of(&call);
        assert_eq!((name.dispatcher.as_deref(), name.run.as_deref()), (Some("d"), None));
        let call = RecordedCall::new(CallTexts { dispatcher: None, ..texts }, Place::default());
        assert_eq!(DispatcherName::of(&call), DispatcherName::of_run(&call));
    }
}
