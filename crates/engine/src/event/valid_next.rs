//! What is valid after a call of a run with a graph.

use crate::ids::ActionId;

/// What is valid after a call: the actions of the run's row of the graph, in the author's order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ValidNext {
    /// The action that the run did last; none: it is at its beginning.
    pub position: Option<ActionId>,
    /// The valid actions.
    pub next: Vec<ActionId>,
    /// Actions of the row that are withheld: an attempt of them may still be at work.
    pub withheld: Vec<ActionId>,
}
