//! The names of calls and runs, for suggestions when a name is unknown.

use std::collections::BTreeMap;

use playproof_engine::call::Place;
use playproof_formats::diagnostic::did_you_mean;
use playproof_intake::call::CompletedCall;
use playproof_intake::origin::Sources;
use playproof_intake::redact::REDACTED;

/// The most names in a list.
pub const LISTED: usize = 10;

/// The most names in memory.
const REMEMBERED: usize = 100_000;

/// The names of calls that were seen, and the calls of the run that a wanted name means.
pub struct CallNames {
    sources: Sources,
    names: BTreeMap<String, NameUse>,
    /// The part of the wanted name before its last `#`, or all of it.
    run: Option<String>,
    /// The references and places of the first calls of this run.
    of_run: Vec<(String, Place)>,
}

/// The calls with one name.
struct NameUse {
    /// How many other names came before.
    order: usize,
    calls: u32,
    /// The place of the first; a fixture's call has none.
    place: Option<Place>,
}

impl CallNames {
    /// None seen yet.
    pub fn new(wanted: Option<&str>, sources: &Sources) -> CallNames {
        let run = wanted.map(|name| name.rsplit_once('#').map_or(name, |(run, _)| run).to_owned());
        CallNames { sources: sources.clone(), names: BTreeMap::new(), run, of_run: Vec::new() }
    }

    /// Remembers the name of a fixture's call.
    pub fn remember(&mut self, name: &str) {
        self.name(name, None);
    }

    /// Remembers a call's reference and its own id.
    pub fn remember_call(&mut self, closed: &CompletedCall) {
        let call = closed.shown();
        let reference = self.sources.name_of(&call.reference(), call.place);
        self.name(&reference, Some(call.place));
        let is_plain = |name: &&str| !name.contains(REDACTED); // a redacted name cannot be typed
        if let Some(id) = call.id().filter(|id| *id != reference).filter(is_plain) {
            self.name(id, Some(call.place));
        }
        let is_of_run =
            call.run().filter(is_plain).is_some_and(|run| !run.is_empty() && self.run.as_deref() == Some(run));
        if is_of_run && self.of_run.len() <= LISTED {
            self.of_run.push((reference, call.place));
        }
    }

    fn name(&mut self, name: &str, place: Option<Place>) {
        let order = self.names.len();
        if let Some(known) = self.names.get_mut(name) {
            known.calls = known.calls.saturating_add(1);
        } else if order < REMEMBERED {
            self.names.insert(name.to_owned(), NameUse { order, calls: 1, place });
        }
    }

    /// Whether no call was seen.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The run that the wanted name means, if one is wanted.
    pub fn run(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// A unique name that is similar to `wanted`.
    pub fn near(&self, wanted: &str) -> Option<&str> {
        did_you_mean(wanted, self.in_order().into_iter().filter(|(_, meant)| meant.calls == 1).map(|(name, _)| name))
    }

    /// A few names of calls: unique names first, then places.
    pub fn such_as(&self) -> Vec<String> {
        let (unique, shared): (Vec<_>, Vec<_>) = self.in_order().into_iter().partition(|(_, meant)| meant.calls == 1);
        let place = |(name, meant): (&str, &NameUse)| {
            meant.place.map_or_else(|| name.to_owned(), |place| self.sources.describe(place))
        };
        let mut names: Vec<String> = Vec::new();
        for name in unique.into_iter().map(|(name, _)| name.to_owned()).chain(shared.into_iter().map(place)) {
            if names.len() == LISTED {
                break;
            }
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Unique names of the first calls of the wanted run; one more than [`LISTED`] stands for any number.
    pub fn of_run(&self) -> Vec<String> {
        let is_unique = |name: &str| self.names.get(name).is_some_and(|meant| meant.calls == 1);
        let name = |(reference, place): &(String, Place)| match is_unique(reference) {
            true => reference.clone(),
            false => self.sources.describe(*place),
        };
        self.of_run.iter().map(name).collect()
    }

    /// In the order of the input.
    fn in_order(&self) -> Vec<(&str, &NameUse)> {
        let mut names: Vec<_> = self.names.iter().map(|(name, meant)| (name.as_str(), meant)).collect();
        names.sort_by_key(|(_, meant)| meant.order);
        names
    }
}
