//! The gate: which gated call of a run is admitted. It keeps the position of each run in the graph, the line of its calls
//! (one at a time, in the order in which they were made), the actions that are withheld, and equal refusals in a row.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::event::{AdmissionRefusal, ValidNext};
use crate::ids::{ActionId, ArgsId, CallId, RunId, ToolId};
use crate::playbook::Graph;

/// The gates of all runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Gate {
    runs: BTreeMap<RunId, RunGate>,
    /// Runs whose last gated call has ended while others wait. Empty between inputs.
    free: Vec<RunId>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct RunGate {
    /// The action that was done last; none: the run begins.
    position: Option<ActionId>,
    /// The admitted call that has not ended.
    inside: Option<CallId>,
    /// Calls that wait for its end, in the order in which they were made.
    line: VecDeque<CallId>,
    /// Actions with an attempt that may still be at work.
    withheld: BTreeSet<ActionId>,
    /// The last refused call and how often it was refused in a row; none: a call was admitted since.
    refused: Option<(GatedRequest, u32)>,
}

/// What makes two refused calls equal.
pub(super) type GatedRequest = (ToolId, ArgsId);

/// A place in the line of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlaceInLine {
    /// From 1.
    pub place: u32,
    /// The call that it waits for first.
    pub behind: CallId,
}

impl Gate {
    /// A gated call arrives; it gets a place in the line if another one has not ended.
    pub(super) fn arrive(&mut self, run: RunId, call: CallId) -> Option<PlaceInLine> {
        let gate = self.runs.entry(run).or_default();
        let behind = gate.line.back().copied().or(gate.inside)?;
        gate.line.push_back(call);
        Some(PlaceInLine { place: u32::try_from(gate.line.len()).unwrap_or(u32::MAX), behind })
    }

    /// Whether an action is valid now.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn check(&self, graph: &Graph, run: RunId, action: ActionId) -> Result<(), AdmissionRefusal> {
        let valid = match self.runs.get(&run) {
            None => graph.row(None).contains(&action),
            Some(gate) => graph.row(gate.position).contains(&action) && !gate.withheld.contains(&action),
        };
        if valid { Ok(()) } else { Err(AdmissionRefusal::InvalidTransition) }
    }

    /// Counts a refusal, and says how many equal ones there were in a row.
    pub(super) fn note_refusal(&mut self, run: RunId, request: GatedRequest) -> u32 {
        let refused = &mut self.runs.entry(run).or_default().refused;
        let in_a_row = match refused {
            Some((last, count)) if *last == request => count.saturating_add(1),
            _ => 1,
        };
        *refused = Some((request, in_a_row));
        in_a_row
    }

    /// Admits a call: others of its run wait until it ends.
    pub(super) fn admit(&mut self, run: RunId, call: CallId) {
        let gate = self.runs.entry(run).or_default();
        gate.inside = Some(call);
        gate.refused = None;
    }

    /// A gated call ends, with its effect applied if `done`.
    pub(super) fn note_end(&mut self, run: RunId, call: CallId, action: ActionId, done: bool) {
        let Some(gate) = self.runs.get_mut(&run).filter(|gate| gate.inside == Some(call)) else { return };
        gate.inside = None;
        if done {
            gate.position = Some(action);
        }
        if !gate.line.is_empty() {
            self.free.push(run);
        }
    }

    /// Takes a waiting call out of the line.
    pub(super) fn leave(&mut self, run: RunId, call: CallId) {
        if let Some(gate) = self.runs.get_mut(&run) {
            gate.line.retain(|waiting| *waiting != call);
        }
    }

    /// The next waiting call of a run whose gate is free.
    pub(super) fn next_in_line(&mut self) -> Option<CallId> {
        while let Some(run) = self.free.last() {
            let waiting = self.runs.get_mut(run).filter(|gate| gate.inside.is_none());
            match waiting.and_then(|gate| gate.line.pop_front()) {
                Some(call) => return Some(call), // the run stays, because the gate may refuse the call
                None => drop(self.free.pop()),
            }
        }
        None
    }

    /// An attempt of the action may still be at work, and a second one could act again.
    pub(super) fn withhold(&mut self, run: RunId, action: ActionId) {
        self.runs.entry(run).or_default().withheld.insert(action);
    }

    /// That attempt has failed.
    pub(super) fn release(&mut self, run: RunId, action: ActionId) {
        if let Some(gate) = self.runs.get_mut(&run) {
            gate.withheld.remove(&action);
        }
    }

    /// What is valid in a run now.
    pub(super) fn valid_next(&self, graph: &Graph, run: RunId) -> ValidNext {
        let Some(RunGate { position, withheld, .. }) = self.runs.get(&run) else {
            return ValidNext { next: graph.row(None).to_vec(), ..ValidNext::default() };
        };
        let (withheld, next) = graph.row(*position).iter().partition(|action| withheld.contains(action));
        ValidNext { position: *position, next, withheld }
    }

    /// Forgets a run that makes no more calls.
    pub(super) fn forget(&mut self, run: RunId) {
        self.runs.remove(&run);
    }
}
