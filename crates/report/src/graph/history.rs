//! The history of a run under a graph, and what is valid at one moment of it.

use std::fmt::Write;

use crate::json::{Object, document};
use crate::table::{self, Align};
use crate::text;
use playproof_analysis::graph::{HistoryStep, Tried};
use playproof_engine::event::{PlaybookNames, ValidNext};
use playproof_engine::ids::ActionId;
use playproof_formats::text::escape_unprintable;

fn actions<'a>(names: &'a PlaybookNames, ids: &[ActionId]) -> Vec<&'a str> {
    ids.iter().map(|id| names.action(*id)).collect()
}

/// The calls of a run as JSON, in their order.
pub fn history(names: &PlaybookNames, steps: &[HistoryStep]) -> String {
    let step = |(seq, step): (usize, &HistoryStep)| {
        let state = step.valid.position.filter(|_| step.refused.is_none());
        Object::default()
            .with("seq", seq)
            .with("call", &step.reference)
            .with("action", &step.action)
            .with("outcome", step.outcome)
            .maybe("queue", step.queue.map(|queue| names.queue(queue)))
            .with("state_after", state.map(|id| names.action(id)))
            .with("valid_next_actions", actions(names, &step.valid.next))
            .with("withheld", actions(names, &step.valid.withheld))
            .with("refused", step.refused.is_some())
            .with("refusal_reason", step.refused.map(|why| why.as_str()))
    };
    let steps: Vec<Object> = steps.iter().enumerate().map(step).collect();
    document(&Object::document("graph-history/1").with("steps", steps))
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

/// What is valid after some calls of a run, as JSON.
pub fn next(names: &PlaybookNames, after: usize, valid: &ValidNext, tried: Option<&Tried>) -> String {
    // What is valid then: if it did its action, else as now.
    let tried = tried.map(|tried| {
        Object::default()
            .with("call", &tried.name)
            .with("refused", tried.refused.is_some())
            .maybe("refusal_reason", tried.refused.as_ref().map(|(why, _)| why.as_str()))
            .maybe("message", tried.refused.as_ref().and_then(|(_, message)| message.as_deref()))
            .with("valid_next_actions", &tried.then)
    });
    document(
        &Object::document("graph-next/1")
            .with("after", after)
            .with("state", valid.position.map(|id| names.action(id)))
            .with("valid_next_actions", actions(names, &valid.next))
            .with("withheld", actions(names, &valid.withheld))
            .with("terminal", valid.next.is_empty() && valid.withheld.is_empty())
            .maybe("tried", tried),
    )
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
