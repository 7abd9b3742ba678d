//! The places of a playbook's parts in its source, for reports that underline them: its tree, asked by keys. Decides nothing.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Source;
use crate::yaml::{MapEntry, Node, NodeKind};
use playproof_engine::ids::{ActionId, BreakerId, QueueId, RuleId, VerdictId};
use playproof_engine::playbook::{LimitKind, Playbook, Rule};

/// A playbook with the places of its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The playbook.
    pub playbook: Playbook,
    /// The places of its parts.
    pub places: PlaybookPlaces,
}

/// The places of a playbook's parts: bytes of `source.text`.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaybookPlaces {
    /// The source of the places.
    pub source: Arc<Source>,
    /// The file.
    pub tree: Node,
}

impl PlaybookPlaces {
    fn find(&self, path: &[&str]) -> Option<&MapEntry> {
        let (last, parents) = path.split_last()?;
        parents.iter().try_fold(&self.tree, |node, key| Some(&node.entry(key)?.value))?.entry(last)
    }

    /// The value at a path of keys, if it is written.
    pub(super) fn value(&self, path: &[&str]) -> Option<Range<usize>> {
        self.find(path).map(|entry| entry.value.span.clone())
    }

    /// The last key of a path, if it is written.
    pub(super) fn key(&self, path: &[&str]) -> Option<Range<usize>> {
        self.find(path).map(|entry| entry.key_span.clone())
    }

    /// The entry of a part at this place, from 0.
    fn nth(&self, part: &str, place: usize) -> Option<&MapEntry> {
        match &self.tree.entry(part)?.value.kind {
            NodeKind::Map(entries) => entries.get(place),
            _ => None,
        }
    }

    /// The item of a part at this place, from 0.
    fn item(&self, part: &str, place: usize) -> Option<&Node> {
        items(&self.tree.entry(part)?.value).get(place)
    }

    /// The name of a verdict; none if it is not written (`unclassified`).
    pub fn verdict(&self, id: VerdictId) -> Option<Range<usize>> {
        Some(self.nth("verdicts", id.index())?.key_span.clone())
    }

    /// The kind of a verdict's compensation.
    pub fn compensation(&self, id: VerdictId) -> Option<Range<usize>> {
        match &self.nth("verdicts", id.index())?.value.entry("then")?.value.kind {
            NodeKind::Map(entries) => entries.first().map(|entry| entry.key_span.clone()),
            _ => None,
        }
    }

    /// The value of a key of a verdict's compensation, if it is written.
    pub(super) fn then(&self, id: VerdictId, path: &[&str]) -> Option<Range<usize>> {
        let then = &self.nth("verdicts", id.index())?.value.entry("then")?.value;
        let NodeKind::Map(entries) = &then.kind else { return None };
        let value = path.iter().try_fold(&entries.first()?.value, |node, key| Some(&node.entry(key)?.value))?;
        Some(value.span.clone())
    }

    /// The value of a key of the entry of a part at this place, if it is written.
    pub(super) fn written(&self, part: &str, place: usize, key: &str) -> Option<Range<usize>> {
        Some(self.nth(part, place)?.value.entry(key)?.value.span.clone())
    }

    /// The same, or the name of the entry.
    pub(super) fn near(&self, part: &str, place: usize, key: &str) -> Option<Range<usize>> {
        self.written(part, place, key).or_else(|| Some(self.nth(part, place)?.key_span.clone()))
    }

    /// The class that a verdict tells, if it is written.
    pub fn tell(&self, id: VerdictId) -> Option<Range<usize>> {
        let tell = &self.nth("verdicts", id.index())?.value.entry("tell")?.value;
        Some(tell.entry("class")?.value.span.clone())
    }

    /// What replaces a verdict's compensation if a guard stops it, if it is written: `on_unsafe`, else `on_refused`.
    pub fn fallback(&self, id: VerdictId) -> Option<Range<usize>> {
        self.then(id, &["on_unsafe"]).or_else(|| self.then(id, &["on_refused"]))
    }

    /// The value of `on_refused` of a verdict, or of its `on_unsafe`, if it is written.
    pub(super) fn on_refused(&self, id: VerdictId) -> Option<Range<usize>> {
        let inner = ["on_unsafe", "issue_reversal", "on_refused"];
        self.then(id, &["on_refused"]).or_else(|| self.then(id, &inner))
    }

    /// The name of a rule.
    pub fn rule(&self, id: RuleId) -> Option<Range<usize>> {
        self.rule_value(id.index(), "rule").map(|value| value.span.clone())
    }

    /// The `when` of a rule.
    pub fn when(&self, id: RuleId) -> Option<Range<usize>> {
        self.rule_value(id.index(), "when").map(|value| value.span.clone())
    }

    /// A condition of a rule: the whole value, or each of several.
    pub(super) fn condition(&self, rule: usize, key: &str) -> Vec<Range<usize>> {
        let condition = self.rule_value(rule, "when").and_then(|when| when.entry(key));
        let Some(MapEntry { value, .. }) = condition else { return Vec::new() };
        match &value.kind {
            NodeKind::List(items) => items.iter().map(|item| item.span.clone()).collect(),
            _ => vec![value.span.clone()],
        }
    }

    /// The condition on attempts of a rule, if it is written.
    pub(super) fn attempt(&self, rule: usize) -> Option<Range<usize>> {
        Some(self.rule_value(rule, "when")?.entry("attempt")?.value.span.clone())
    }

    fn rule_value(&self, rule: usize, key: &str) -> Option<&Node> {
        Some(&self.item("classify", rule)?.entry(key)?.value)
    }

    /// The verdict of `otherwise`, if it is written.
    pub fn otherwise(&self) -> Option<Range<usize>> {
        self.value(&["otherwise"])
    }

    /// A queue in the list of queues.
    pub fn queue(&self, id: QueueId) -> Option<Range<usize>> {
        self.item("queues", id.index()).map(|item| item.span.clone())
    }

    /// The name of the breaker.
    pub fn breaker(&self, id: BreakerId) -> Option<Range<usize>> {
        Some(self.nth("breakers", id.index())?.key_span.clone())
    }

    /// The name of an action.
    pub fn action(&self, id: ActionId) -> Option<Range<usize>> {
        Some(self.nth("actions", id.index())?.key_span.clone())
    }

    /// A step of an action, by its place from 0.
    pub fn step_of(&self, id: ActionId, step: usize) -> Option<Range<usize>> {
        let steps = self.nth("actions", id.index())?.value.entry("steps")?;
        items(&steps.value).get(step).map(|step| step.span.clone())
    }

    /// The tool of an action; its name, if the tool is not written.
    pub fn action_tool(&self, id: ActionId) -> Option<Range<usize>> {
        self.near("actions", id.index(), "tool")
    }

    /// The actions with which a run begins.
    pub fn graph_entry(&self) -> Option<Range<usize>> {
        self.value(&["graph", "entry"])
    }

    /// The rows of the graph.
    pub fn graph_next(&self) -> Option<Range<usize>> {
        self.value(&["graph", "next"])
    }

    /// What becomes of calls that the graph does not know, if it is written.
    pub fn graph_others(&self) -> Option<Range<usize>> {
        self.value(&["graph", "others"])
    }

    /// The row of an action in the graph.
    pub fn next_of(&self, id: ActionId) -> Option<Range<usize>> {
        let name = &self.nth("actions", id.index())?.key;
        self.key(&["graph", "next", name])
    }

    /// The name or glob of the tool row at `row`, from 0.
    pub fn tool(&self, row: usize) -> Option<Range<usize>> {
        Some(self.tool_row(row)?.key_span.clone())
    }

    /// A row of tool facts as it is written.
    pub(super) fn tool_row(&self, row: usize) -> Option<&MapEntry> {
        self.nth("tools", row)
    }

    /// The value of a limit, if it is written.
    pub fn limit(&self, kind: LimitKind) -> Option<Range<usize>> {
        self.value(&["limits", kind.as_str()])
    }

    /// The place of a canonical row (`verdict transient_timeout`), as near as possible to its part `path`
    /// (`then.retry_with_backoff.backoff_ms`); none if the row is not written.
    pub fn row(&self, playbook: &Playbook, row: &str, path: &str) -> Option<Range<usize>> {
        let (kind, name) = row.split_once(' ').unwrap_or((row, ""));
        match kind {
            "verdict" => Some(of_verdict(self.find(&["verdicts", name])?, path)),
            "tool" => Some(part(self.find(&["tools", name])?, path)),
            "breaker" => Some(part(self.find(&["breakers", name])?, path)),
            "retry_budget" => Some(part(self.find(&["retry_budgets", name])?, path)),
            "rule" => {
                let rule = playbook.rules.iter().position(|rule: &Rule| *rule.name == *name)?;
                let key = if path.starts_with("when") { "when" } else { "rule" };
                self.rule_value(rule, key).map(|value| value.span.clone())
            }
            "action" => {
                let own = self.find(&["actions", name])?;
                let step = path.strip_prefix("steps.").and_then(|rest| rest.split('.').next());
                let is_meant = |node: &&Node| node.entry("id").is_some_and(|id| id.value.text() == step);
                let steps = own.value.entry("steps").filter(|_| step.is_some());
                let step = steps.and_then(|steps| items(&steps.value).iter().find(is_meant));
                Some(step.map_or_else(|| part(own, path), |step| step.span.clone()))
            }
            "graph" => match name.strip_prefix("next ") {
                Some(action) => self.key(&["graph", "next", action]),
                None => self.value(&["graph", name]),
            },
            "queue" => {
                let place = playbook.queues.iter().position(|queue| **queue == *name)?;
                self.item("queues", place).map(|item| item.span.clone())
            }
            "limit" => self.value(&["limits", name]),
            "study" => self.key(&["study", name]).or_else(|| self.key(&["study"])),
            own => self.value(&[own]),
        }
    }
}

/// The same of a verdict: a key of its compensation stands for all that is below it, and its kind may be left out.
fn of_verdict(row: &MapEntry, path: &str) -> Range<usize> {
    let then = path.strip_prefix("then").and_then(|rest| Some((rest, &row.value.entry("then")?.value.kind)));
    let Some((rest, NodeKind::Map(kinds))) = then else { return part(row, path) };
    let Some(kind) = kinds.first() else { return part(row, path) };
    let mut keys = rest.split('.').filter(|key| !key.is_empty() && **key != *kind.key);
    // A queue or a reason is all that its kind has.
    let Some(key) = keys.next().filter(|key| !["queue", "reason"].contains(key)) else { return kind.key_span.clone() };
    if key == "on_refused" || keys.any(|key| key == "on_refused") {
        let inner = kind.value.entry("on_unsafe").and_then(|at| at.value.entry("issue_reversal"));
        let found = [Some(kind), inner].into_iter().flatten().find_map(|at| at.value.entry("on_refused"));
        return found.map_or(&kind.key_span, |found| &found.value.span).clone();
    }
    part(kind, key)
}

/// The value that a path leads to (`backoff` may be `backoff_ms`); if it is not written, the last key on the way there.
fn part(row: &MapEntry, path: &str) -> Range<usize> {
    let mut found = row;
    for key in path.split('.') {
        match found.value.entry(key).or_else(|| found.value.entry(&format!("{key}_ms"))) {
            Some(inner) => found = inner,
            None => return found.key_span.clone(),
        }
    }
    found.value.span.clone()
}

fn items(node: &Node) -> &[Node] {
    match &node.kind {
        NodeKind::List(items) => items,
        _ => &[],
    }
}
