//! The gate: which gated call of a run is admitted. It keeps the position of each run in the graph, the line of its calls
//! (one at a time, in the order in which they were made), the actions that are withheld, and equal refusals in a row.

use std::collections::{BTreeMap, VecDeque};

use crate::event::ValidNext;
use crate::ids::{ActionId, ArgsId, CallId, KeyId, RunId, ToolId};
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
    /// Actions with attempts that may still be at work.
    at_work: BTreeMap<ActionId, AtWork>,
    /// The last refused call and how often it was refused in a row; none: a call was admitted since.
    refused: Option<(GatedRequest, u32)>,
}

/// The calls of an action, or of its steps, whose attempts may still be at work, in the order in which they ended. Each has
/// the key under which the action repeats it safely, or none. Never empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct AtWork(Vec<(CallId, Option<KeyId>)>);

impl AtWork {
    /// Whether no call is admitted, whatever its key.
    fn is_withheld(&self) -> bool {
        self.0.iter().any(|(_, key)| key.is_none())
    }

    /// The last call that a call with this key, or with none, could do twice.
    fn refuses(&self, key: Option<KeyId>) -> Option<CallId> {
        let (call, _) = self.0.iter().rev().find(|(_, of)| of.is_none() || *of != key)?;
        Some(*call)
    }
}

impl RunGate {
    fn is_withheld(&self, action: ActionId) -> bool {
        self.at_work.get(&action).is_some_and(AtWork::is_withheld)
    }

    /// Takes out the calls of an action that are not at work any more.
    fn end_work(&mut self, action: ActionId, has_ended: impl Fn(CallId, Option<KeyId>) -> bool) {
        let Some(AtWork(calls)) = self.at_work.get_mut(&action) else { return };
        calls.retain(|(call, key)| !has_ended(*call, *key));
        if calls.is_empty() {
            self.at_work.remove(&action);
        }
    }
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
    /// Whether a run has a gate.
    pub(super) fn knows(&self, run: RunId) -> bool {
        self.runs.contains_key(&run)
    }

    /// A gated call arrives; it gets a place in the line if another one has not ended.
    pub(super) fn arrive(&mut self, run: RunId, call: CallId) -> Option<PlaceInLine> {
        let gate = self.runs.entry(run).or_default();
        let behind = gate.line.back().copied().or(gate.inside)?;
        gate.line.push_back(call);
        Some(PlaceInLine { place: u32::try_from(gate.line.len()).unwrap_or(u32::MAX), behind })
    }

    /// Whether a call of an action with this key, or with none, is valid now.
    ///
    /// # Errors
    /// The graph does not allow the action (`None`), or an earlier call of it withholds it (that call).
    pub(super) fn check(
        &self,
        graph: &Graph,
        run: RunId,
        (action, key): (ActionId, Option<KeyId>),
    ) -> Result<(), Option<CallId>> {
        let gate = self.runs.get(&run);
        if !graph.row(gate.and_then(|gate| gate.position)).contains(&action) {
            return Err(None);
        }
        let by = gate.and_then(|gate| gate.at_work.get(&action)?.refuses(key));
        by.map_or(Ok(()), |by| Err(Some(by)))
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

    /// A gated call ends, with its effect applied if `done`. What was at work under its key is then done, too.
    pub(super) fn note_end(&mut self, run: RunId, call: CallId, (action, key): (ActionId, Option<KeyId>), done: bool) {
        let Some(gate) = self.runs.get_mut(&run).filter(|gate| gate.inside == Some(call)) else { return };
        gate.inside = None;
        if done {
            gate.position = Some(action);
            if key.is_some() {
                gate.end_work(action, |_, of| of == key);
            }
        }
        if !gate.line.is_empty() {
            self.free.push(run);
        }
    }

    /// It is known now that an action was done: the run is there, if the graph lets it go there from where it is.
    pub(super) fn note_done(&mut self, graph: &Graph, run: RunId, action: ActionId) {
        let gate = self.runs.entry(run).or_default();
        if graph.row(gate.position).contains(&action) {
            gate.position = Some(action);
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

    /// An attempt of the action may still be at work, and a second one could act again; one with the same key could not.
    pub(super) fn withhold(&mut self, run: RunId, call: CallId, (action, key): (ActionId, Option<KeyId>)) {
        let at_work = &mut self.runs.entry(run).or_default().at_work;
        at_work.entry(action).or_default().0.push((call, key));
    }

    /// The attempts of that call have failed. Whether the action is offered again now: it was withheld, and no other call
    /// withholds it.
    pub(super) fn release(&mut self, run: RunId, call: CallId, action: ActionId) -> bool {
        let Some(gate) = self.runs.get_mut(&run) else { return false };
        let was_withheld = gate.is_withheld(action);
        gate.end_work(action, |other, _| other == call);
        was_withheld && !gate.is_withheld(action)
    }

    /// Actions of a run with the keys of calls that may still be at work: only a call with the key may do them.
    pub(super) fn bound_in(&self, run: RunId) -> impl Iterator<Item = (ActionId, KeyId)> {
        let at_work = self.runs.get(&run).into_iter().flat_map(|gate| &gate.at_work);
        at_work.flat_map(|(action, AtWork(calls))| calls.iter().filter_map(|(_, key)| Some((*action, (*key)?))))
    }

    /// The keys to which actions are bound.
    pub(super) fn bound_keys(&self) -> impl Iterator<Item = KeyId> {
        let at_work = self.runs.values().flat_map(|gate| gate.at_work.values());
        at_work.flat_map(|AtWork(calls)| calls.iter().filter_map(|(_, key)| *key))
    }

    /// What is valid in a run now.
    pub(super) fn valid_next(&self, graph: &Graph, run: RunId) -> ValidNext {
        let Some(gate) = self.runs.get(&run) else {
            return ValidNext { next: graph.row(None).to_vec(), ..ValidNext::default() };
        };
        let (withheld, next) = graph.row(gate.position).iter().partition(|action| gate.is_withheld(**action));
        ValidNext { position: gate.position, next, withheld }
    }

    /// Forgets a run that makes no more calls.
    pub(super) fn forget(&mut self, run: RunId) {
        self.runs.remove(&run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::Others;

    #[test]
    fn an_attempt_that_its_key_does_not_make_safe_withholds_the_action_from_that_key_too() {
        let (run, pay, key) = (RunId(0), ActionId(0), Some(KeyId(1)));
        let graph = Graph { entry: vec![pay], next: vec![vec![]], others: Others::Refuse, stuck: None };
        let mut gate = Gate::default();
        gate.withhold(run, CallId(0), (pay, key));
        assert_eq!(gate.check(&graph, run, (pay, key)), Ok(()));
        assert_eq!(gate.check(&graph, run, (pay, None)), Err(Some(CallId(0))));
        gate.withhold(run, CallId(1), (pay, None));
        assert_eq!(gate.check(&graph, run, (pay, key)), Err(Some(CallId(1))));
        assert_eq!(gate.valid_next(&graph, run).withheld, [pay]);
    }
}
