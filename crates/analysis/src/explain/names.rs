//! The names of calls and runs, for suggestions when a name is unknown.

use std::collections::BTreeMap;

use playproof_formats::diagnostic::did_you_mean;
use playproof_intake::call::CompletedCall;
use playproof_intake::origin::Sources;
use playproof_intake::redact::REDACTED;

/// The most names in a list.
pub const LISTED: usize = 10;

/// The most names in memory.
const REMEMBERED: usize = 100_000;

/// The names of calls and runs that were seen.
#[derive(Default)]
pub struct CallNames {
    /// In the order of the input, without duplicates.
    calls: Vec<String>,
    /// The use of each name.
    meant: BTreeMap<String, NameUse>,
    /// Runs, with the references and places of their first calls.
    runs: BTreeMap<String, Vec<(String, String)>>,
}

/// The calls with one name.
struct NameUse {
    calls: u32,
    /// The place of the first; a fixture's call has none.
    place: Option<String>,
}

impl CallNames {
    /// Remembers the name of a fixture's call.
    pub fn remember(&mut self, name: &str) {
        self.name(name, || None);
    }

    /// Remembers a call's reference, its own id and its run.
    pub fn remember_call(&mut self, closed: &CompletedCall, sources: &Sources) {
        let call = closed.shown();
        let reference = sources.name_of(&call.reference(), call.place);
        let place = || Some(sources.describe(call.place));
        self.name(&reference, place);
        let is_plain = |name: &&str| !name.contains(REDACTED); // a redacted name cannot be typed
        if let Some(id) = call.id().filter(|id| *id != reference).filter(is_plain) {
            self.name(id, place);
        }
        let Some(run) = call.run().filter(|run| !run.is_empty()).filter(is_plain) else { return };
        if let Some(calls) = self.runs.get_mut(run) {
            if calls.len() <= LISTED {
                calls.push((reference, sources.describe(call.place)));
            }
        } else if self.runs.len() < REMEMBERED {
            self.runs.insert(run.to_owned(), vec![(reference, sources.describe(call.place))]);
        }
    }

    fn name(&mut self, name: &str, place: impl FnOnce() -> Option<String>) {
        if let Some(known) = self.meant.get_mut(name) {
            known.calls = known.calls.saturating_add(1);
        } else if self.calls.len() < REMEMBERED {
            self.calls.push(name.to_owned());
            self.meant.insert(name.to_owned(), NameUse { calls: 1, place: place() });
        }
    }

    /// Whether no call was seen.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// A unique name that is similar to `wanted`.
    pub fn near(&self, wanted: &str) -> Option<&str> {
        did_you_mean(wanted, self.unique())
    }

    /// A few names of calls: unique names first, then places.
    pub fn such_as(&self) -> Vec<&str> {
        let shared = self.calls.iter().filter(|name| !self.is_unique(name));
        let places = shared.map(|name| self.meant.get(name).and_then(|meant| meant.place.as_deref()).unwrap_or(name));
        let mut names: Vec<&str> = Vec::new();
        for name in self.unique().chain(places) {
            if names.len() < LISTED && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Unique names of the first calls of the run `wanted`; one more than [`LISTED`] stands for any number.
    pub fn of_run(&self, wanted: &str) -> Vec<&str> {
        let calls = self.runs.get(wanted).into_iter().flatten();
        calls.map(|(reference, place)| if self.is_unique(reference) { &**reference } else { &**place }).collect()
    }

    fn unique(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().map(String::as_str).filter(|name| self.is_unique(name))
    }

    fn is_unique(&self, name: &str) -> bool {
        self.meant.get(name).is_some_and(|meant| meant.calls == 1)
    }
}
