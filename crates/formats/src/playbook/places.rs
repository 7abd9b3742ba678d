//! The places of a playbook's parts in its source, for reports that underline them. Decides nothing.

use std::ops::Range;
use std::sync::Arc;

use super::syntax;
use crate::diagnostic::Source;
use crate::yaml::{Key, MapReader};
use playproof_engine::ids::{ActionId, BreakerId, QueueId, RuleId, VerdictId};
use playproof_engine::playbook::{LimitKind, Playbook};

/// A playbook with the places of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The playbook.
    pub playbook: Playbook,
    /// The places of its parts.
    pub places: PlaybookPlaces,
}

/// The places of a playbook's parts: bytes of `source.text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaybookPlaces {
    /// The source of the places.
    pub source: Arc<Source>,
    /// By `VerdictId`; none for a verdict that is not written.
    pub(super) verdicts: Vec<Option<VerdictPlaces>>,
    /// By `RuleId`.
    pub(super) rules: Vec<RulePlaces>,
    /// By `QueueId`.
    pub(super) queues: Vec<Range<usize>>,
    /// By row.
    pub(super) tools: Vec<ToolPlaces>,
    pub(super) graph: GraphPlaces,
    /// By place in the model, as below.
    pub(super) breakers: Vec<SharedPlaces>,
    pub(super) retry_budgets: Vec<SharedPlaces>,
    pub(super) otherwise: Option<Range<usize>>,
    pub(super) limits: LimitPlaces,
    /// The parts that have one row, in the order of `syntax::PARTS`.
    pub(super) parts: [Option<Range<usize>>; syntax::PARTS.len()],
    pub(super) study: Option<Range<usize>>,
}

/// The values of the written limits, in the order of `LimitKind`.
pub(super) type LimitPlaces = [Option<Range<usize>>; LimitKind::ALL.len()];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VerdictPlaces {
    pub name: Range<usize>,
    pub means: Range<usize>,
    pub effect: Range<usize>,
    pub breaker: Option<Range<usize>>,
    pub then: CompensationPlaces,
    pub tell: Option<TellPlaces>,
}

/// The places of what a verdict tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TellPlaces {
    pub whole: Range<usize>,
    pub class: Range<usize>,
    pub boundary: Option<Range<usize>>,
    pub transient: Option<Range<usize>>,
}

/// The places of the written parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CompensationPlaces {
    pub kind: Range<usize>,
    pub backoff: Option<Range<usize>>,
    pub max_retries: Option<Range<usize>>,
    pub max_wait: Option<Range<usize>>,
    pub server_delay: Option<Range<usize>>,
    pub retry_budget: Option<Range<usize>>,
    pub cost: Option<Range<usize>>,
    pub max_refreshes: Option<Range<usize>>,
    pub on_unsafe: Option<Range<usize>>,
    /// Of the compensation itself or of its `on_unsafe`.
    pub on_refused: Option<Range<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RulePlaces {
    pub name: Range<usize>,
    pub when: Range<usize>,
    pub attempt: Option<Range<usize>>,
    /// The error kinds of its condition, one by one.
    pub kinds: Vec<Range<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolPlaces {
    pub name: Range<usize>,
    /// The written values, by key.
    pub facts: Vec<(&'static str, Range<usize>)>,
}

/// The places of a breaker or a retry budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SharedPlaces {
    pub name: Range<usize>,
    /// The written values, by key.
    keys: Vec<(&'static str, Range<usize>)>,
}

/// The places of actions and graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GraphPlaces {
    /// By `ActionId`.
    pub actions: Vec<SharedPlaces>,
    /// By `ActionId`: its steps.
    pub steps: Vec<Vec<Range<usize>>>,
    /// The whole graph; empty if there is none.
    pub graph: Range<usize>,
    pub entry: Option<Range<usize>>,
    /// All rows.
    pub next_all: Option<Range<usize>>,
    /// By `ActionId`: the name of its row.
    pub next: Vec<Range<usize>>,
    pub others: Option<Range<usize>>,
    pub stuck: Option<Range<usize>>,
}

impl GraphPlaces {
    /// The place of a row of the graph, if it is written: `entry`, `next pay`.
    fn row(&self, playbook: &Playbook, row: &str) -> Option<Range<usize>> {
        match row {
            "entry" => self.entry.clone(),
            "others" => self.others.clone(),
            "stuck" => self.stuck.clone(),
            _ => {
                let name = row.strip_prefix("next ")?;
                let place = playbook.actions.iter().position(|action| *action.name == *name)?;
                self.next.get(place).cloned()
            }
        }
    }
}

impl SharedPlaces {
    /// The places of `name` and of the written ones of `keys`.
    pub fn new(name: &Key<'_>, record: &MapReader<'_>, keys: &'static [&'static str]) -> SharedPlaces {
        let place = |key: &&'static str| Some((*key, record.optional(key)?.span()));
        SharedPlaces { name: name.span.clone(), keys: keys.iter().filter_map(place).collect() }
    }

    /// The value of a key, if it is written, else the name.
    pub fn of(&self, wanted: &str) -> Range<usize> {
        let written = self.keys.iter().find(|(key, _)| *key == wanted);
        written.map_or(&self.name, |(_, value)| value).clone()
    }
}

impl PlaybookPlaces {
    /// The name of a verdict; none if it is not written (`unclassified`).
    pub fn verdict(&self, id: VerdictId) -> Option<Range<usize>> {
        Some(self.verdicts.get(id.index())?.as_ref()?.name.clone())
    }

    /// The kind of a verdict's compensation.
    pub fn compensation(&self, id: VerdictId) -> Option<Range<usize>> {
        Some(self.verdicts.get(id.index())?.as_ref()?.then.kind.clone())
    }

    /// The class that a verdict tells, if it is written.
    pub fn tell(&self, id: VerdictId) -> Option<Range<usize>> {
        Some(self.verdicts.get(id.index())?.as_ref()?.tell.as_ref()?.class.clone())
    }

    /// What replaces a verdict's compensation if a guard stops it, if it is written: `on_unsafe`, else `on_refused`.
    pub fn fallback(&self, id: VerdictId) -> Option<Range<usize>> {
        let then = &self.verdicts.get(id.index())?.as_ref()?.then;
        then.on_unsafe.clone().or_else(|| then.on_refused.clone())
    }

    /// The name of a rule.
    pub fn rule(&self, id: RuleId) -> Option<Range<usize>> {
        Some(self.rules.get(id.index())?.name.clone())
    }

    /// The `when` of a rule.
    pub fn when(&self, id: RuleId) -> Option<Range<usize>> {
        Some(self.rules.get(id.index())?.when.clone())
    }

    /// The verdict of `otherwise`, if it is written.
    pub fn otherwise(&self) -> Option<Range<usize>> {
        self.otherwise.clone()
    }

    /// A queue in the list of queues.
    pub fn queue(&self, id: QueueId) -> Option<Range<usize>> {
        self.queues.get(id.index()).cloned()
    }

    /// The name of the breaker.
    pub fn breaker(&self, id: BreakerId) -> Option<Range<usize>> {
        Some(self.breakers.get(id.index())?.name.clone())
    }

    /// The name of an action.
    pub fn action(&self, id: ActionId) -> Option<Range<usize>> {
        Some(self.graph.actions.get(id.index())?.name.clone())
    }

    /// A step of an action, by its place from 0.
    pub fn step_of(&self, id: ActionId, step: usize) -> Option<Range<usize>> {
        self.graph.steps.get(id.index())?.get(step).cloned()
    }

    /// The tool of an action; its name, if the tool is not written.
    pub fn action_tool(&self, id: ActionId) -> Option<Range<usize>> {
        Some(self.graph.actions.get(id.index())?.of("tool"))
    }

    /// The actions with which a run begins.
    pub fn graph_entry(&self) -> Option<Range<usize>> {
        self.graph.entry.clone()
    }

    /// The rows of the graph.
    pub fn graph_next(&self) -> Option<Range<usize>> {
        self.graph.next_all.clone()
    }

    /// What becomes of calls that the graph does not know, if it is written.
    pub fn graph_others(&self) -> Option<Range<usize>> {
        self.graph.others.clone()
    }

    /// The row of an action in the graph.
    pub fn next_of(&self, id: ActionId) -> Option<Range<usize>> {
        self.graph.next.get(id.index()).cloned()
    }

    /// The name or glob of the tool row at `row`, from 0.
    pub fn tool(&self, row: usize) -> Option<Range<usize>> {
        Some(self.tools.get(row)?.name.clone())
    }

    /// The value of a limit, if it is written.
    pub fn limit(&self, kind: LimitKind) -> Option<Range<usize>> {
        let place = LimitKind::ALL.iter().position(|known| *known == kind)?;
        self.limits[place].clone() // one place for each limit
    }

    /// The place of a canonical row (`verdict transient_timeout`), as near as possible to its part `path`
    /// (`then.retry_with_backoff.backoff_ms`); none if the row is not written.
    pub fn row(&self, playbook: &Playbook, row: &str, path: &str) -> Option<Range<usize>> {
        let (kind, name) = row.split_once(' ').unwrap_or((row, ""));
        let place = |at: Option<usize>, places: &[Range<usize>]| places.get(at?).cloned();
        match kind {
            "verdict" => {
                let at = playbook.verdicts.iter().position(|verdict| *verdict.name == *name)?;
                Some(self.verdicts.get(at)?.as_ref()?.part(path))
            }
            "rule" => {
                let rule = self.rules.get(playbook.rules.iter().position(|rule| *rule.name == *name)?)?;
                Some(if path.starts_with("when") { rule.when.clone() } else { rule.name.clone() })
            }
            "tool" => {
                let tool = self.tools.get(playbook.tools.rows().iter().position(|row| row.pattern == name)?)?;
                let fact = tool.facts.iter().find(|(fact, _)| *fact == path);
                Some(fact.map_or(&tool.name, |(_, value)| value).clone())
            }
            "breaker" | "retry_budget" => {
                let (at, places) = match kind {
                    "breaker" => (playbook.breakers.iter().position(|(server, _)| **server == *name), &self.breakers),
                    _ => (playbook.retry_budgets.iter().position(|(own, _)| **own == *name), &self.retry_budgets),
                };
                Some(places.get(at?)?.of(path.split('.').next().unwrap_or_default()))
            }
            "action" => {
                let place = playbook.actions.iter().position(|action| *action.name == *name)?;
                let step = path.strip_prefix("steps.").and_then(|rest| {
                    let id = rest.split('.').next()?;
                    let step = playbook.actions[place].steps.iter().position(|step| *step.name == *id)?; // found above
                    self.graph.steps.get(place)?.get(step).cloned()
                });
                let whole = || Some(self.graph.actions.get(place)?.of(path.split('.').next().unwrap_or_default()));
                step.or_else(whole)
            }
            "graph" => self.graph.row(playbook, name),
            "queue" => place(playbook.queues.iter().position(|queue| **queue == *name), &self.queues),
            "limit" => self.limit(LimitKind::parse(name)?),
            "otherwise" => self.otherwise(),
            "study" => self.switch(name),
            part => self.part(part),
        }
    }

    /// A part that has one row, if it is written.
    pub(super) fn part(&self, key: &str) -> Option<Range<usize>> {
        let place = syntax::PARTS.iter().position(|known| *known == key)?;
        self.parts[place].clone() // as many places as parts
    }

    /// A switch of the study block. Its keys have no recorded places, so this searches the text.
    fn switch(&self, name: &str) -> Option<Range<usize>> {
        let study = self.study.clone()?;
        let found = self.source.text.get(study.start..)?.find(&format!("{name}:"));
        Some(found.map_or(study.clone(), |at| study.start + at..study.start + at + name.len()))
    }
}

impl VerdictPlaces {
    fn part(&self, path: &str) -> Range<usize> {
        let then = &self.then;
        let has = |part: &str| path.split('.').any(|name| name == part);
        let written = match path {
            "means" => Some(self.means.clone()),
            "effect" => Some(self.effect.clone()),
            "breaker" => self.breaker.clone(),
            _ if has("on_refused") => then.on_refused.clone(),
            _ if has("on_unsafe") => then.on_unsafe.clone(),
            _ if has("backoff_ms") || has("backoff") => then.backoff.clone(),
            _ if has("max_retries") => then.max_retries.clone(),
            _ if has("max_wait_ms") => then.max_wait.clone(),
            _ if has("retry_budget") => then.retry_budget.clone(),
            _ if has("cost") => then.cost.clone(),
            _ if has("server_delay") => then.server_delay.clone(),
            _ if has("max_refreshes") => then.max_refreshes.clone(),
            _ => None,
        };
        let written = written.or_else(|| self.tell.as_ref()?.part(path));
        let compensation = path.starts_with("then").then(|| then.kind.clone());
        written.or(compensation).unwrap_or_else(|| self.name.clone())
    }
}

impl TellPlaces {
    fn part(&self, path: &str) -> Option<Range<usize>> {
        let part = match path.strip_prefix("tell")? {
            ".class" => Some(&self.class),
            ".boundary" => self.boundary.as_ref(),
            ".transient" => self.transient.as_ref(),
            _ => None,
        };
        Some(part.unwrap_or(&self.whole).clone())
    }
}
