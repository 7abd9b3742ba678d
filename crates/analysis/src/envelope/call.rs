//! What envelopes are made of: the told failure of a call, and what is known of the call beside its simulation.

use serde_json::Value;

use playproof_engine::event::{AdmissionRefusal, Decision, ErrorFacts, Told, Transcript};

/// What is known of the call beside its simulation.
#[derive(Clone, Copy, Debug, Default)]
pub struct EnvelopeCall<'a> {
    /// The agent run.
    pub run: Option<&'a str>,
    /// The call's unique name.
    pub reference: &'a str,
    /// The agent's own id of the call.
    pub id: Option<&'a str>,
    /// The action, else the tool.
    pub name: &'a str,
    /// The step that failed, of an action of several.
    pub step: Option<&'a str>,
    /// The steps before it that are done.
    pub completed_steps: &'a [&'a str],
    /// What is valid after the call; none without a graph.
    pub next: Option<NextActions<'a>>,
    /// Which input of an action did not fit, if that is why the call was refused.
    pub unfit: Option<UnfitInput<'a>>,
}

/// Why a graph withholds an action, in a sentence.
pub const WITHHELD: &str = "an earlier call of this action has no answer, or was done late";

/// What a graph of actions says after a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct NextActions<'a> {
    /// The last action that is done; none at the start.
    pub position: Option<&'a str>,
    /// The actions that are valid now, in the author's order, each with the schema of its inputs, if it has one.
    pub valid: &'a [(&'a str, Option<Value>)],
    /// The withheld actions: the graph allows them, but an attempt may still be at work.
    pub withheld: &'a [&'a str],
    /// All actions, in the order of the file.
    pub known: &'a [&'a str],
}

impl<'a> NextActions<'a> {
    /// The names of the valid actions.
    pub(super) fn names(&self) -> Vec<&'a str> {
        self.valid.iter().map(|(name, _)| *name).collect()
    }

    /// What is valid now and what is withheld, for people.
    fn in_words(&self) -> String {
        let valid = match self.valid {
            [] => "none".to_owned(),
            _ => self.names().join(", "),
        };
        match self.withheld {
            [] => format!("valid actions now: {valid}"),
            withheld => format!("valid actions now: {valid}; withheld: {}", withheld.join(", ")),
        }
    }
}

/// An input that its schema refuses.
#[derive(Clone, Copy, Debug)]
pub struct UnfitInput<'a> {
    /// Why.
    pub reason: &'a str,
    /// The input.
    pub field: &'a str,
    /// Its value.
    pub got: &'a Value,
}

/// A told failure with everything that its envelopes say.
#[derive(Clone, Copy)]
pub(super) struct ToldFailure<'a> {
    pub told: &'a Told,
    pub transcript: &'a Transcript<'a>,
    pub call: &'a EnvelopeCall<'a>,
}

impl<'a> ToldFailure<'a> {
    /// The told error, if there is one.
    pub(super) fn error(&self) -> Option<&'a ErrorFacts> {
        self.transcript.error(self.told.error?)
    }

    /// Why the call was refused, if it was. A refused call may have been escalated since.
    pub(super) fn refused(&self) -> Option<AdmissionRefusal> {
        let mut events = self.transcript.events.iter().filter(|event| event.call == self.told.call);
        events.find_map(|event| event.what.refusal())
    }

    /// Whether the graph allows the action, and an earlier call of it is why this one was refused.
    pub(super) fn is_withheld(&self) -> bool {
        let why = AdmissionRefusal::InvalidTransition;
        let by_another = |what| matches!(what, Decision::Refused { why: is, by: Some(_), .. } if is == why);
        self.transcript.events.iter().any(|event| event.call == self.told.call && by_another(event.what))
    }

    /// Whether the graph offers the action after the call.
    pub(super) fn is_offered(&self) -> bool {
        self.transcript.offers_action(self.told.call, self.call.name)
    }

    /// Why the action is not valid now, as the rest of a sentence about it.
    pub(super) fn out_of_order(&self) -> String {
        match (self.is_withheld(), self.is_offered()) {
            (true, true) => format!("is withheld from calls without its key: {WITHHELD}"),
            (true, false) => format!("is withheld: {WITHHELD}"),
            (false, _) => "is not reachable from current state".to_owned(),
        }
    }

    /// What happened, for people: the message of the error, else why it was refused, else its kind or class. Where the
    /// order is why, it says what is valid instead.
    pub(super) fn message(&self) -> String {
        match (self.refused(), self.call.next) {
            (Some(AdmissionRefusal::UnknownAction), Some(next)) => format!("{}; {}", self.reason(), next.in_words()),
            (Some(why @ AdmissionRefusal::InvalidTransition), Some(next)) => {
                let (why, name) = (why.as_str(), self.call.name);
                format!("{why}: action '{name}' {}; {}", self.out_of_order(), next.in_words())
            }
            _ => self.reason(),
        }
    }

    fn reason(&self) -> String {
        let error = self.error();
        if let Some(message) = error.and_then(|error| error.message.as_deref()) {
            return message.to_owned();
        }
        match (self.refused(), error.and_then(|error| error.kind.as_deref())) {
            (Some(why), _) => format!("{}: {}", why.as_str(), why.instead()),
            (None, Some(kind)) => kind.to_owned(),
            (None, None) => self.told.class.means().to_owned(),
        }
    }
}
