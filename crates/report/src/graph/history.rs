//! The history of a run under a graph, and what is valid at one moment of it.

use crate::doc::{Block, Doc, Table, Text};
use crate::json::{Object, document};
use crate::text;
use playproof_analysis::graph::{HistoryStep, Tried};
use playproof_engine::event::{PlaybookNames, ValidNext};
use playproof_engine::ids::ActionId;

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

/// The same as a page.
pub fn history_page(names: &PlaybookNames, steps: &[HistoryStep]) -> Doc {
    let mut table = Table::named(["seq", "action", "ended", "valid next", "withheld"]);
    for (seq, step) in steps.iter().enumerate() {
        let refused = step.refused.map(|why| format!("refused: {}", why.as_str()));
        let ended = match (step.queue, refused) {
            (Some(queue), Some(refused)) => format!("{}: queue {} ({refused})", step.outcome, names.queue(queue)),
            (Some(queue), None) => format!("{}: queue {}", step.outcome, names.queue(queue)),
            (None, Some(refused)) => refused,
            (None, None) => step.outcome.to_owned(),
        };
        let (next, withheld) = (actions(names, &step.valid.next), actions(names, &step.valid.withheld));
        let cells = [seq.to_string(), step.action.clone(), ended, next.join(", "), withheld.join(", ")];
        table.row(cells.map(Text::from));
    }
    Doc::with("", vec![Block::Table(table)])
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
pub fn next_page(names: &PlaybookNames, after: usize, valid: &ValidNext, tried: Option<&Tried>) -> Doc {
    let listed = |names: Vec<&str>| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    let state = valid.position.map_or("the beginning", |id| names.action(id));
    let calls = text::counted(after as u64, "call", "calls");
    let tried = tried.map_or_else(String::new, |tried| {
        let (call, then) = (&tried.name, listed(tried.then.iter().map(String::as_str).collect()));
        match &tried.refused {
            None => format!("a call of {call} would be let through; if it succeeds, valid then: {then}"),
            Some((why, message)) => {
                let message = message.as_deref().map_or_else(String::new, |text| format!(" ({text})"));
                format!("a call of {call} would be refused: {}{message}; valid still: {then}", why.as_str())
            }
        }
    });
    let pairs = [
        ("valid now", listed(actions(names, &valid.next))),
        ("withheld, because it may still be at work", actions(names, &valid.withheld).join(", ")),
    ];
    Doc::with(format!("after {calls}, at {state}"), vec![Block::pairs(pairs), Block::para(tried)])
}
