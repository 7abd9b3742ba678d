//! A call and what playbooks made of it, as every page sees them. Borrows everything and formats nothing.

use playproof_engine::call::RecordedCall;
use playproof_engine::event::{Decision, Finding, Intent, LedgerKind, Outcome, Provenance, Transcript};
use playproof_engine::ids::CallId;
use playproof_engine::sim::Tally;
use playproof_engine::time::{Duration, Instant};

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
    pub path: Option<&'a str>,
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
}

/// What one playbook made of a call.
#[derive(Clone)]
pub struct RunView<'a> {
    /// The simulation that the call was part of.
    pub transcript: Transcript<'a>,
    /// The call's number in it.
    pub call: CallId,
    /// What was counted.
    pub tally: Tally,
    /// The findings of this call, worst first.
    pub findings: Vec<Finding>,
    /// What an effect of the call is booked for; none for a read.
    pub intent: Option<Intent>,
}

/// What the upstream's ledger holds of a call's intent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Effects that exist: existing and applied, less reversed.
    pub effects: u32,
    /// Those of them that were there before.
    pub existing: u32,
    /// Effects that were made on an answer that was modelled, taken back or not.
    pub modelled: u32,
    /// Effects that were taken back.
    pub reversed: u32,
    /// Those of them that only an answer that was modelled took back.
    pub reversed_as_modelled: u32,
    /// Recorded failures of which nothing is known.
    pub unobserved: u32,
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
    pub fn truth(&self) -> Truth {
        let mut truth = Truth::default();
        let Some(intent) = self.intent else { return truth };
        for entry in self.transcript.ledger.iter().filter(|entry| entry.intent == intent) {
            let modelled = u32::from(entry.provenance == Provenance::Modelled);
            match entry.kind {
                LedgerKind::Existing => {
                    truth.existing += 1;
                    truth.effects += 1;
                }
                LedgerKind::Applied => {
                    truth.effects += 1;
                    truth.modelled += modelled;
                }
                LedgerKind::Reversed => {
                    truth.reversed += 1;
                    truth.reversed_as_modelled += modelled;
                    truth.effects = truth.effects.saturating_sub(1);
                }
                LedgerKind::Unobserved => truth.unobserved += 1,
            }
        }
        truth
    }
}
