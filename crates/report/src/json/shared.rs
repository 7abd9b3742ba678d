//! What calls of a trace shared under a playbook: circuits, retry budgets and budgets of tool calls, by dispatcher.

use serde::Serialize;
use serde_json::value::RawValue;

use super::write::{Map, raw};
use playproof_analysis::replay::{
    ByDispatcher, CircuitCounts, DispatcherName, RetryBudgetCounts, SharedCounts, ToolCallCounts,
};
use playproof_engine::event::AdmissionRefusal;
use playproof_engine::playbook::Tokens;
use playproof_intake::origin::Sources;

/// What the calls shared. The sums are of all dispatchers; their lists have those of which most was counted.
#[derive(Debug, Serialize)]
pub(super) struct SharedJson<'a> {
    /// Refused calls, by reason.
    turned_away: Map<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    circuits: Option<SumsJson<'a, CircuitJson>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    retry_budgets: Vec<RetryBudgetJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<SumsJson<'a, ToolCallsJson>>,
}

#[derive(Debug, Serialize)]
struct RetryBudgetJson<'a> {
    name: &'a str,
    #[serde(flatten)]
    sums: SumsJson<'a, RetriesJson>,
}

#[derive(Debug, Serialize)]
struct SumsJson<'a, V> {
    #[serde(flatten)]
    total: V,
    by_dispatcher: Vec<OfDispatcherJson<'a, V>>,
}

#[derive(Debug, Serialize)]
struct OfDispatcherJson<'a, V> {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dispatcher: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(flatten)]
    counts: V,
}

#[derive(Debug, Serialize)]
struct CircuitJson {
    opened: u64,
    half_open: u64,
    closed: u64,
    stopped: u64,
}

#[derive(Debug, Serialize)]
struct RetriesJson {
    retries: u64,
    /// Of a token bucket alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Box<RawValue>>,
    stopped: u64,
}

#[derive(Debug, Serialize)]
struct ToolCallsJson {
    taken: u64,
    stopped: u64,
}

impl From<CircuitCounts> for CircuitJson {
    fn from(CircuitCounts { opened, half_open, closed, stopped }: CircuitCounts) -> CircuitJson {
        CircuitJson { opened, half_open, closed, stopped }
    }
}

impl From<RetryBudgetCounts> for RetriesJson {
    fn from(RetryBudgetCounts { retries, tokens, stopped }: RetryBudgetCounts) -> RetriesJson {
        let tokens = (tokens > Tokens::ZERO).then(|| tokens.to_string());
        RetriesJson { retries, tokens: tokens.and_then(|tokens| raw(tokens.as_bytes())), stopped }
    }
}

impl From<ToolCallCounts> for ToolCallsJson {
    fn from(ToolCallCounts { taken, stopped }: ToolCallCounts) -> ToolCallsJson {
        ToolCallsJson { taken, stopped }
    }
}

pub(super) fn shared<'a>(counts: &'a SharedCounts, sources: &'a Sources) -> SharedJson<'a> {
    let refused = AdmissionRefusal::ALL.into_iter().zip(counts.refused).filter(|(_, count)| *count > 0);
    let budgets = counts.retry_budgets.iter();
    SharedJson {
        turned_away: Map(refused.map(|(why, count)| (why.as_str(), count)).collect()),
        circuits: counts.circuits.as_ref().map(|circuits| sums(circuits, sources)),
        retry_budgets: budgets.map(|(name, budget)| RetryBudgetJson { name, sums: sums(budget, sources) }).collect(),
        tool_calls: counts.tool_calls.as_ref().map(|calls| sums(calls, sources)),
    }
}

fn sums<'a, V, J>(counts: &'a ByDispatcher<V>, sources: &'a Sources) -> SumsJson<'a, J>
where
    V: playproof_analysis::replay::Sum,
    J: From<V>,
{
    let of_dispatcher = |(name, server, value): (&'a DispatcherName, Option<&'a str>, V)| OfDispatcherJson {
        input: sources.name_from_root(name.input),
        dispatcher: name.dispatcher.as_deref(),
        run: name.run.as_deref(),
        server,
        counts: value.into(),
    };
    SumsJson { total: counts.total.into(), by_dispatcher: counts.rows().into_iter().map(of_dispatcher).collect() }
}
