//! The decisions of a dispatcher as JSON objects, like those of `replay --format jsonl`, each with the id of its call.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::events::event_objects;
use crate::object::quote;
use playproof_engine::drive::Dispatcher;
use playproof_engine::event::{Decision, DecisionEvent, ErrorFacts, FieldValue, NameId, Status, Transcript, unnamed};
use playproof_engine::ids::{CallId, ErrorId};

/// What events mention, by their numbers.
#[derive(Debug, Default)]
pub struct Mentioned {
    calls: Vec<String>,
    servers: Vec<String>,
    errors: Vec<Arc<ErrorFacts>>,
}

impl Mentioned {
    /// The events as objects, with the ids of their calls.
    pub fn objects(&mut self, dispatcher: &Dispatcher, events: &[DecisionEvent]) -> Vec<String> {
        let mut last: BTreeMap<CallId, CallId> = BTreeMap::new(); // the last call that a call's events mention
        for event in events {
            if let Some(other) = mentions(event).find_map(call_of) {
                last.insert(event.call, other);
            }
        }
        let object = |event: &DecisionEvent| {
            for value in mentions(event) {
                self.learn(dispatcher, value);
            }
            let other = mentions(event).find_map(call_of).filter(|other| last.get(&event.call) == Some(other));
            if let Some((other, name)) = other.zip(dispatcher.mentioned(event.call)) {
                put(&mut self.calls, other.index(), name.to_owned()); // it may have left
            }
            self.object(dispatcher, event)
        };
        events.iter().map(object).collect()
    }

    fn object(&self, dispatcher: &Dispatcher, event: &DecisionEvent) -> String {
        let Mentioned { calls, servers, errors } = self;
        let transcript = Transcript {
            names: &dispatcher.plan().names,
            calls,
            others: &[],
            servers,
            intent_name: &unnamed,
            events: std::slice::from_ref(event),
            outcomes: &[],
            valid_next: &[],
            ledger: &[],
            errors,
            findings: &[],
            told: &[],
            death: None,
        };
        let mut object = String::from("{\"id\":");
        quote(&mut object, dispatcher.made(event.call).map_or("?", |made| &made.name));
        for shown in event_objects(&transcript) {
            object.push(',');
            object.push_str(shown.get(1..).unwrap_or("}"));
        }
        object
    }

    fn learn(&mut self, dispatcher: &Dispatcher, value: FieldValue) {
        match value {
            FieldValue::Name(NameId::Call(call)) => {
                if let Some(made) = dispatcher.made(call) {
                    put(&mut self.calls, call.index(), made.name.clone());
                }
            }
            FieldValue::Name(NameId::Server(server)) => {
                if let Some(name) = dispatcher.server(server) {
                    put(&mut self.servers, server.index(), name.to_owned());
                }
            }
            FieldValue::Error(id)
            | FieldValue::Status(
                Status::Failed(Some(id)) | Status::Suspected(Some(id)) | Status::Unfinished(Some(id)),
            ) => self.learn_error(dispatcher, id),
            _ => {}
        }
    }

    /// Takes an error, so that a transcript knows it.
    pub fn learn_error(&mut self, dispatcher: &Dispatcher, id: ErrorId) {
        if let Some(error) = dispatcher.error(id) {
            put(&mut self.errors, id.index(), Arc::new(error.clone()));
        }
    }

    /// The errors that were taken, by `ErrorId`.
    pub fn errors(&self) -> &[Arc<ErrorFacts>] {
        &self.errors
    }
}

/// What an event says in its fields.
fn mentions(event: &DecisionEvent) -> impl Iterator<Item = FieldValue> {
    let mut of_outcome = Vec::new();
    if let Decision::Outcome(outcome) = event.what {
        outcome.each_field(|_, value| of_outcome.push(value));
    }
    event.what.fields().map(|(_, value)| value).chain(of_outcome)
}

const fn call_of(value: FieldValue) -> Option<CallId> {
    match value {
        FieldValue::Name(NameId::Call(call)) => Some(call),
        _ => None,
    }
}

fn put<T: Default + Clone>(all: &mut Vec<T>, place: usize, value: T) {
    if all.len() <= place {
        all.resize(place + 1, T::default());
    }
    all[place] = value; // extended above
}
