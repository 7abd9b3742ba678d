//! What calls of a trace shared under a playbook: circuits, retry budgets and budgets of tool calls, by dispatcher.

use super::write::{Object, raw};
use playproof_analysis::replay::{
    ByDispatcher, CircuitCounts, DispatcherName, RetryBudgetCounts, SharedCounts, Sum, ToolCallCounts,
};
use playproof_engine::event::AdmissionRefusal;
use playproof_engine::playbook::Tokens;
use playproof_intake::origin::Sources;

/// What the calls shared. The sums are of all dispatchers; their lists have those of which most was counted.
pub(super) fn shared(counts: &SharedCounts, sources: &Sources) -> Object {
    let refused = AdmissionRefusal::ALL.into_iter().zip(counts.refused).filter(|(_, count)| *count > 0);
    let refused: Object = refused.map(|(why, count)| (why.as_str(), count)).collect();
    let budgets = counts.retry_budgets.iter();
    let budgets = budgets.map(|(name, of)| Object::default().with("name", &**name).and(&sums(of, sources, retries)));
    Object::default()
        .with("turned_away", refused)
        .maybe("circuits", counts.circuits.as_ref().map(|counts| sums(counts, sources, circuits)))
        .list("retry_budgets", budgets.collect())
        .maybe("tool_calls", counts.tool_calls.as_ref().map(|counts| sums(counts, sources, tool_calls)))
}

fn circuits(counts: CircuitCounts) -> Object {
    let CircuitCounts { opened, half_open, closed, stopped } = counts;
    [("opened", opened), ("half_open", half_open), ("closed", closed), ("stopped", stopped)].into_iter().collect()
}

/// The tokens are of a token bucket alone.
fn retries(counts: RetryBudgetCounts) -> Object {
    let tokens = (counts.tokens > Tokens::ZERO).then(|| raw(counts.tokens.to_string().as_bytes()));
    Object::default().with("retries", counts.retries).maybe("tokens", tokens.flatten()).with("stopped", counts.stopped)
}

fn tool_calls(counts: ToolCallCounts) -> Object {
    Object::default().with("taken", counts.taken).with("stopped", counts.stopped)
}

fn sums<V: Sum>(counts: &ByDispatcher<V>, sources: &Sources, members: fn(V) -> Object) -> Object {
    let of_dispatcher = |(name, server, value): (&DispatcherName, Option<&str>, V)| {
        Object::default()
            .maybe("input", sources.name_from_root(name.input))
            .maybe("dispatcher", name.dispatcher.as_deref())
            .maybe("run", name.run.as_deref())
            .maybe("server", server)
            .and(&members(value))
    };
    let rows: Vec<Object> = counts.rows().into_iter().map(of_dispatcher).collect();
    members(counts.total).with("by_dispatcher", rows)
}
