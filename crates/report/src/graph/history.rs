//! The history of a run under a graph, and what is valid at one moment of it.

use std::fmt::Write;

use crate::json::document;
use crate::table::{self, Align};
use crate::text;
use playproof_analysis::graph::{HistoryStep, Tried};
use playproof_engine::event::{PlaybookNames, ValidNext};
use playproof_engine::ids::ActionId;
use playproof_formats::text::escape_unprintable;
use serde::Serialize;

#[derive(Serialize)]
struct HistoryJson<'a> {
    format: &'static str,
    steps: Vec<StepJson<'a>>,
}

#[derive(Serialize)]
struct StepJson<'a> {
    seq: usize,
    call: &'a str,
    action: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<&'a str>,
    state_after: Option<&'a str>,
    valid_next_actions: Vec<&'a str>,
    withheld: Vec<&'a str>,
    refused: bool,
    refusal_reason: Option<&'static str>,
}

fn actions<'a>(names: &'a PlaybookNames, ids: &[ActionId]) -> Vec<&'a str> {
    ids.iter().map(|id| names.action(*id)).collect()
}

/// The calls of a run as JSON, in their order.
pub fn history(names: &PlaybookNames, steps: &[HistoryStep]) -> String {
    let steps = steps.iter().enumerate().map(|(seq, step)| StepJson {
        seq,
        call: &step.reference,
        action: &step.action,
        outcome: step.outcome,
        queue: step.queue.map(|queue| names.queue(queue)),
        state_after: step.valid.position.filter(|_| step.refused.is_none()).map(|id| names.action(id)),
        valid_next_actions: actions(names, &step.valid.next),
        withheld: actions(names, &step.valid.withheld),
        refused: step.refused.is_some(),
        refusal_reason: step.refused.map(|why| why.as_str()),
    });
    document(&HistoryJson { format: "graph-history/1", steps: steps.collect() })
}

/// The same as a table.
pub fn history_table(names: &PlaybookNames, steps: &[HistoryStep], width: usize) -> String {
    let header = ["seq", "action", "ended", "valid next", "withheld"].map(str::to_owned);
    let mut rows = Vec::new();
    for (seq, step) in steps.iter().enumerate() {
        let refused = step.refused.map(|why| format!("refused: {}", why.as_str()));
        let ended = match (step.queue, refused) {
            (Some(queue), Some(refused)) => format!("{}: queue {} ({refused})", step.outcome, names.queue(queue)),
            (Some(queue), None) => format!("{}: queue {}", step.outcome, names.queue(queue)),
            (None, Some(refused)) => refused,
            (None, None) => step.outcome.to_owned(),
        };
        let row = [
            seq.to_string(),
            escape_unprintable(&step.action).into_owned(),
            ended,
            actions(names, &step.valid.next).join(", "),
            actions(names, &step.valid.withheld).join(", "),
        ];
        rows.push(row.to_vec());
    }
    table::render(&header, &rows, &[Align::Left; 5], width) + "\n"
}

#[derive(Serialize)]
struct NextJson<'a> {
    format: &'static str,
    after: usize,
    state: Option<&'a str>,
    valid_next_actions: Vec<&'a str>,
    withheld: Vec<&'a str>,
    terminal: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tried: Option<TriedJson<'a>>,
}

#[derive(Serialize)]
struct TriedJson<'a> {
    call: &'a str,
    refused: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    /// If it did its action, else as now.
    valid_next_actions: Vec<&'a str>,
}

/// What is valid after some calls of a run, as JSON.
pub fn next(names: &PlaybookNames, after: usize, valid: &ValidNext, tried: Option<&Tried>) -> String {
    document(&NextJson {
        format: "graph-next/1",
        after,
        state: valid.position.map(|id| names.action(id)),
        valid_next_actions: actions(names, &valid.next),
        withheld: actions(names, &valid.withheld),
        terminal: valid.next.is_empty() && valid.withheld.is_empty(),
        tried: tried.map(|tried| TriedJson {
            call: &tried.name,
            refused: tried.refused.is_some(),
            refusal_reason: tried.refused.as_ref().map(|(why, _)| why.as_str()),
            message: tried.refused.as_ref().and_then(|(_, message)| message.as_deref()),
            valid_next_actions: tried.then.iter().map(String::as_str).collect(),
        }),
    })
}

/// The same for people.
pub fn next_page(names: &PlaybookNames, after: usize, valid: &ValidNext, tried: Option<&Tried>) -> String {
    let listed = |names: Vec<&str>| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    let state = valid.position.map_or("the beginning", |id| names.action(id));
    let calls = text::counted(after as u64, "call", "calls");
    let mut page = format!("after {calls}, at {state}\nvalid now: {}\n", listed(actions(names, &valid.next)));
    if !valid.withheld.is_empty() {
        let withheld = listed(actions(names, &valid.withheld));
        let _ = writeln!(page, "withheld, because it may still be at work: {withheld}"); // writing to a String cannot fail
    }
    if let Some(tried) = tried {
        let call = escape_unprintable(&tried.name);
        let then = listed(tried.then.iter().map(String::as_str).collect());
        let said = match &tried.refused {
            None => format!("a call of {call} would be let through; if it succeeds, valid then: {then}"),
            Some((why, message)) => {
                let message =
                    message.as_deref().map_or_else(String::new, |text| format!(" ({})", escape_unprintable(text)));
                format!("a call of {call} would be refused: {}{message}; valid still: {then}", why.as_str())
            }
        };
        let _ = writeln!(page, "{said}");
    }
    page
}
