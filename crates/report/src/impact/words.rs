//! The words that all pages of a comparison share: causes, ends, loads, gates. Foreign text in them is escaped.

use crate::overview::InputNote;
use crate::text::{count, counted, escape_unprintable};
use crate::timeline::millis;
use playproof_analysis::impact::{
    CauseName, CauseRow, Direction, GateFailure, Impact, ImpactGate, SimulatedEnd, Undetermined, parts,
};
use playproof_analysis::replay::{Counts, Replayed};
use playproof_formats::golden::PartChange;
use playproof_formats::shell::Command;
use serde_json::Value;

/// The most causes on a page.
const CAUSES: usize = 12;

/// The most tools of a cause.
const TOOLS: usize = 4;

/// The most parts of a row.
const PARTS: usize = 4;

/// The contents of a page.
#[derive(Clone, Copy, Debug)]
pub struct ImpactPage<'a> {
    /// The comparison.
    pub impact: &'a Impact,
    /// The replay, for the account of its inputs.
    pub replayed: &'a Replayed,
    /// Notes on the inputs.
    pub notes: &'a [InputNote],
    /// What is not as exact as in one comparison.
    pub remarks: &'a [String],
    /// The gate.
    pub gate: &'a ImpactGate,
    /// The one command to run next.
    pub next: Option<&'a Command>,
}

impl<'a> ImpactPage<'a> {
    /// The causes on the page, widening ones first, and the number of the others.
    pub fn causes(&self) -> (&'a [CauseRow], usize) {
        let all = self.impact.causes.as_slice();
        let shown = all.len().min(CAUSES);
        (&all[..shown], all.len() - shown)
    }
}

/// `900 calls: 880 unchanged, 4 changed, 16 undetermined (under candidate only)`.
pub fn balance(impact: &Impact) -> String {
    let mut said = format!(
        "{}: {} unchanged, {} changed, {} undetermined",
        counted(impact.counts.calls, "call", "calls"),
        count(impact.counts.unchanged()),
        count(impact.counts.changed),
        count(impact.counts.undetermined.calls())
    );
    let Undetermined { base, candidate, both } = impact.counts.undetermined;
    let parts = [(base, "under the base only"), (candidate, "under the candidate only"), (both, "under both")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(calls, _)| *calls > 0)
        .map(|(calls, which)| format!("{} {which}", count(*calls)))
        .collect();
    if !parts.is_empty() {
        said += &format!(" ({})", parts.join(", "));
    }
    said
}

/// `16 of them are decided differently: 12 widening, 0 narrowing, 4 neutral`.
pub fn directions(impact: &Impact) -> String {
    let differing = impact.counts.changed + impact.counts.undetermined_differing;
    if differing == 0 {
        return match impact.counts.failed {
            0 => "no recorded attempt failed, so there was nothing to decide".to_owned(),
            failed => {
                format!("the playbooks decide alike on all {} with a failed attempt", counted(failed, "call", "calls"))
            }
        };
    }
    let each: Vec<String> = Direction::ALL
        .iter()
        .map(|&one| format!("{} {}", count(impact.counts.in_direction(one)), one.as_str()))
        .collect();
    format!("{} decided differently: {}", counted(differing, "call is", "calls are"), each.join(", "))
}

/// The cause in a line: `rule timeout: transient_timeout → otherwise: failed`.
pub fn cause(cause: &CauseName) -> String {
    let said = |(rule, verdict): &(String, String)| match rule.as_str() {
        "otherwise" => format!("otherwise: {}", escape_unprintable(verdict)),
        rule => format!("rule {}: {}", escape_unprintable(rule), escape_unprintable(verdict)),
    };
    match cause {
        CauseName::Classified { base, candidate } => format!("{} → {}", said(base), said(candidate)),
        CauseName::Row(row) => {
            let parts = parts(row);
            let mut named: Vec<String> = parts.iter().take(PARTS).map(part).collect();
            if parts.len() > PARTS {
                named.push(format!("{} more parts", parts.len() - PARTS));
            }
            format!("row {}: {}", escape_unprintable(&row.name), named.join("; "))
        }
        CauseName::ToolFacts => "the tool facts differ".to_owned(),
        CauseName::Several => "several rows together".to_owned(),
    }
}

fn part(part: &PartChange) -> String {
    let value = |text: &str| escape_unprintable(&steps(text).unwrap_or_else(|| text.to_owned())).into_owned();
    let name = part.path.rsplit_once('.').map_or(part.path.as_str(), |(_, last)| last);
    let changed = match [&part.before, &part.after].map(|side| side.as_deref().map(value)) {
        [Some(before), Some(after)] => format!("{before} → {after}"),
        [None, after] => format!("added: {}", after.unwrap_or_default()),
        [before, None] => format!("removed: {}", before.unwrap_or_default()),
    };
    if name.is_empty() { changed } else { format!("{} {changed}", escape_unprintable(name)) }
}

/// Of a part that lists the steps of an action: their ids.
fn steps(list: &str) -> Option<String> {
    let steps: Vec<Value> = serde_json::from_str(list).ok()?;
    let ids: Option<Vec<&str>> = steps.iter().map(|step| step.get("id")?.as_str()).collect();
    ids.filter(|ids| !ids.is_empty()).map(|ids| ids.join(", "))
}

/// How a call ends: `escalated (policy_review), effect unknown, 1 attempt`.
pub fn end(end: &SimulatedEnd) -> String {
    let detail = end.detail.as_deref().map_or_else(String::new, |detail| format!(" ({})", escape_unprintable(detail)));
    let attempts = counted(u64::from(end.attempts), "attempt", "attempts");
    format!("{}{detail}, effect {}, {attempts}", end.outcome, end.claim.as_str())
}

/// The most frequent tools: `book_reservation 11, cancel_reservation 2 and 3 more tools`.
pub fn tools(tools: &Counts) -> String {
    let rows = tools.rows();
    let named: Vec<String> = rows
        .iter()
        .take(TOOLS)
        .map(|(tool, calls)| format!("{} {}", escape_unprintable(tool), count(*calls)))
        .collect();
    let more = rows.len().saturating_sub(TOOLS) as u64;
    match (more, tools.others()) {
        (0, 0) => named.join(", "),
        (more, 0) => format!("{} and {} more", named.join(", "), counted(more, "tool", "tools")),
        (_, _) => format!("{} and many more", named.join(", ")),
    }
}

/// What differs in the calls of a cause: `verdict 16, outcome 16`.
pub fn changes(cause: &CauseRow) -> String {
    let rows: Vec<String> =
        cause.changes.rows().map(|(what, calls)| format!("{} {}", what.as_str(), count(calls))).collect();
    rows.join(", ")
}

/// The additional and the saved load of a cause; empty if there is none.
pub fn load(cause: &CauseRow) -> String {
    let load = &cause.load;
    let mut parts = Vec::new();
    let mut add = |what: &str, more: (bool, String), fewer: (bool, String)| {
        let signed = [(more, '+'), (fewer, '−')];
        let said: Vec<String> = signed
            .into_iter()
            .filter(|((any, _), _)| *any)
            .map(|((_, amount), sign)| format!("{sign}{amount}"))
            .collect();
        if !said.is_empty() {
            parts.push(format!("{what} {}", said.join(" ")));
        }
    };
    let number = |n: u64| (n > 0, count(n));
    let delay = |span: playproof_engine::time::Duration| (span.as_micros() > 0, format!("{} ms", millis(span)));
    add("upstream calls", number(load.upstream_more), number(load.upstream_fewer));
    add("delay", delay(load.delay_more), delay(load.delay_fewer));
    add("waiting for people", number(load.people_more), number(load.people_fewer));
    add("effects that may be doubled", number(load.doubled_more), number(load.doubled_fewer));
    parts.join(" · ")
}

/// Why the gate cannot decide.
pub fn undecided(gate: &ImpactGate, impact: &Impact) -> Option<&'static str> {
    let said = "nothing was decided: no failed call is determined under both playbooks (--allow-empty accepts that)";
    gate.is_undecided(impact).then_some(said)
}

/// Why the comparison does not pass, one sentence each; and what was allowed.
pub fn gate(gate: &ImpactGate, impact: &Impact) -> (Vec<String>, Option<String>) {
    let say = |refusal: &GateFailure| match *refusal {
        GateFailure::Unsafe(calls) => {
            format!("{} an unsafe finding under the candidate only", counted(calls, "call shows", "calls show"))
        }
        GateFailure::Widening(calls) => {
            format!("{} (--allow-widening REASON accepts that)", counted(calls, "call widens", "calls widen"))
        }
        GateFailure::Effects(calls) => format!("{} changed effects", counted(calls, "call has", "calls have")),
    };
    let refused = gate.judge(impact).iter().map(say).collect();
    let allowed = gate.allow_widening.as_deref().map(|reason| {
        format!(
            "widening is allowed ({}): {}",
            counted(impact.counts.in_direction(Direction::Widening), "call", "calls"),
            escape_unprintable(reason)
        )
    });
    (refused, allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_of_an_action_are_named_and_other_values_are_shown_as_they_are() {
        let steps = |ids: &[&str]| {
            let steps = ids.iter().map(|id| format!(r#"{{"id":"{id}","tool":"t"}}"#)).collect::<Vec<_>>();
            Some(format!("[{}]", steps.join(",")))
        };
        let said = |before, after| part(&PartChange { path: "ship.steps".to_owned(), before, after });
        assert_eq!(said(steps(&["find", "post"]), steps(&["post"])), "steps find, post → post");
        assert_eq!(said(None, Some("[100,400]".to_owned())), "steps added: [100,400]");
        assert_eq!(said(Some("[]".to_owned()), Some("[\"pay\"]".to_owned())), "steps [] → [\"pay\"]");
    }
}
