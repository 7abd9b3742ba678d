//! A call and what playbooks made of it, as every page sees them, and the words for what is known of a tool.

use playproof_engine::call::{Place, RecordedCall};
use playproof_engine::event::{Decision, Finding, Intent, IntentBalance, Outcome, StatusFrom, Transcript};
use playproof_engine::ids::CallId;
use playproof_engine::playbook::{Access, DEFAULT_TIMEOUT, ToolFacts};
use playproof_engine::sim::CallTally;
use playproof_engine::time::{Duration, Instant};
use playproof_intake::origin::{OriginPath, Sources};

/// A call, before any playbook looked at it.
#[derive(Clone, Copy, Debug)]
pub struct CallView<'a> {
    /// The name that `--call` takes.
    pub reference: &'a str,
    /// The call's own label.
    pub id: Option<&'a str>,
    /// The agent run.
    pub run: Option<&'a str>,
    /// The input it stands in.
    pub input: Option<&'a str>,
    /// The same as programs read it: from the project's root.
    pub input_from_root: Option<&'a str>,
    /// Its line there, from 1; none where lines mean nothing.
    pub line: Option<u64>,
    /// What leads to it in the document of that line, where the line alone does not tell it.
    pub path: Option<OriginPath<'a>>,
    /// The tool.
    pub tool: &'a str,
    /// The arguments as JSON text.
    pub args: Option<&'a str>,
    /// The idempotency key.
    pub key: Option<&'a str>,
    /// The reversal token.
    pub token: Option<&'a str>,
    /// What is known of the tool, in words.
    pub facts: &'a str,
    /// Whether people said it.
    pub declared: bool,
    /// When it was made, in virtual time.
    pub at: Instant,
    /// Whether the source has times.
    pub timed: bool,
    /// Its recording; none for a fixture's call.
    pub recorded: Option<&'a RecordedCall>,
    /// What became of the call before it under a playbook, if this call would then not have been made.
    pub prevented: Option<&'a str>,
    /// What places of its input are called.
    pub sources: Option<&'a Sources>,
}

/// What one playbook made of a call.
#[derive(Clone)]
pub struct RunView<'a> {
    /// The simulation that the call was part of.
    pub transcript: Transcript<'a>,
    /// The call's number in it.
    pub call: CallId,
    /// What was counted.
    pub tally: CallTally,
    /// The findings of this call, worst first.
    pub findings: Vec<Finding>,
    /// What an effect of the call is booked for; none for a read.
    pub intent: Option<Intent>,
}

impl<'a> CallView<'a> {
    /// A recorded call; whether its tool is declared is for the caller to add.
    pub fn recorded(call: &'a RecordedCall, reference: &'a str, facts: &'a str, sources: &'a Sources) -> CallView<'a> {
        let origin = sources.find(call.place);
        CallView {
            reference,
            id: call.id(),
            run: call.run(),
            input: sources.name(call.place.input),
            input_from_root: sources.name_from_root(call.place.input),
            line: Some(origin.line),
            path: origin.path,
            tool: call.tool(),
            args: call.args(),
            key: call.key(),
            token: call.token(),
            facts,
            declared: false,
            at: call.at.unwrap_or(Instant::ZERO),
            timed: call.at.is_some(),
            recorded: Some(call),
            prevented: None,
            sources: Some(sources),
        }
    }

    /// The place of the other call that a finding names: `FILE:LINE`.
    pub fn other_place(&self, finding: &Finding) -> Option<String> {
        let (sources, call) = self.sources.zip(self.recorded)?;
        let place = Place { line: finding.other_line, ..call.place };
        (finding.other_line > 0).then(|| sources.describe(place))
    }
}

impl RunView<'_> {
    /// How the call ended; none only if the simulation never reached it.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.transcript.outcomes.get(self.call.index())
    }

    /// The decisions about this call, in order.
    pub fn decisions(&self) -> impl Iterator<Item = (Instant, Decision)> {
        self.transcript.events.iter().filter(|event| event.call == self.call).map(|event| (event.at, event.what))
    }

    /// The waits that the playbook put between attempts.
    pub fn added_delay(&self) -> Duration {
        self.tally.added_delay
    }

    /// What the ledger holds of this call's intent.
    pub fn truth(&self) -> IntentBalance {
        self.intent.map_or_else(IntentBalance::default, |intent| IntentBalance::count(self.transcript.ledger, intent))
    }
}

/// What is known of a tool: `write, not idempotent (assumed)`.
pub fn facts_in_words(facts: ToolFacts) -> String {
    let mut words = match (facts.access, facts.idempotent) {
        (Access::Read, _) => "read".to_owned(),
        (Access::Write, true) => "write, idempotent".to_owned(),
        (Access::Write, false) => "write, not idempotent".to_owned(),
    };
    if facts.repeatable {
        words += ", repeatable";
    }
    if facts.never_retried {
        words += ", never sent again";
    }
    if facts.timeout != DEFAULT_TIMEOUT {
        words += &format!(", timeout {} ms", facts.timeout);
    }
    if !facts.declared {
        words += " (assumed)";
    }
    words
}

/// The same beside a recorded call, with what its recording does not tell.
pub fn facts_of_recorded(call: &RecordedCall, facts: ToolFacts) -> String {
    let status = match call.weakest_evidence() {
        None | Some(StatusFrom::Flag) => "",
        Some(StatusFrom::Code) => " · status read from an error code",
        Some(StatusFrom::Body) => " · status read from the body",
        Some(StatusFrom::Text) => " · status read from the text",
    };
    facts_in_words(facts) + status
}
