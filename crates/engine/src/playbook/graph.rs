//! What an agent can do, and in which order: the actions of a playbook and the graph over them. Decides nothing.

use std::sync::Arc;

use super::facts::ToolFacts;
use super::request::ArgumentSchema;
use crate::event::ActionNames;
use crate::ids::{ActionId, QueueId};
use crate::words;

/// Something that an agent can do. Its calls are the calls of its tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Its name.
    pub name: Arc<str>,
    /// The tool that does it; a tool is the body of one action at most. Of an action with steps, its own name.
    pub tool: Arc<str>,
    /// What it does, in this order; empty: its tool does it.
    pub steps: Vec<Step>,
    /// The arguments that it takes, if it says so. They are an object.
    pub inputs: Option<ArgumentSchema>,
}

impl Action {
    /// What names it.
    pub fn names(&self) -> ActionNames {
        let inputs = self.inputs.as_ref().map(|inputs| inputs.text().into());
        ActionNames { name: Arc::clone(&self.name), tool: Arc::clone(&self.tool), inputs }
    }
}

/// One step of an action: a call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name, unique in the action.
    pub name: Arc<str>,
    /// The tool that does it; steps may share tools.
    pub tool: Arc<str>,
    /// Whether doing it twice does more than doing it once, whatever the facts of its tool say.
    pub never_idempotent: bool,
}

/// Which action may follow which. The position of a run is the action that it did last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The actions with which a run begins, in the author's order; at least one.
    pub entry: Vec<ActionId>,
    /// By `ActionId`: the actions that may follow, in the author's order; none: the action is terminal.
    pub next: Vec<Vec<ActionId>>,
    /// What becomes of calls of tools that no action names.
    pub others: Others,
    /// When an agent that repeats a refused call is handed to people; none: never.
    pub stuck: Option<Stuck>,
}

words! {
    /// What becomes of calls of tools that no action names.
    pub enum Others {
        /// They are refused.
        Refuse = "refuse",
        /// The graph does not judge them.
        Pass = "pass",
    }
}

/// When an agent that repeats a refused call is handed to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The number of equal refused calls in a row, from 1.
    pub after: u32,
    /// Who gets the call.
    pub queue: QueueId,
}

impl Step {
    /// The facts of its calls, from those of its tool.
    #[must_use]
    pub const fn facts(&self, tool: ToolFacts) -> ToolFacts {
        ToolFacts { idempotent: tool.idempotent && !self.never_idempotent, ..tool }
    }
}

impl Graph {
    /// The actions that may follow a position, in the author's order; none: the run begins.
    pub fn row(&self, position: Option<ActionId>) -> &[ActionId] {
        match position {
            None => &self.entry,
            Some(action) => self.next.get(action.index()).map_or(&[], |row| row),
        }
    }
}
