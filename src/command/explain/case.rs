//! The one call that is explained, and the means to simulate it again under another playbook.

use super::recorded::Recorded;
use playproof_engine::event::{Finding, FindingBy, Intent, Transcript, unnamed};
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::CallId;
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::{Plan, Record, Scenario, Simulator};
use playproof_engine::time::Instant;
use playproof_engine::upstream::BeyondTape;
use playproof_report::view::{CallView, RunView, facts_in_words, facts_of_recorded};
use playproof_trace::assemble::ClosedCall;
use playproof_trace::origin::Sources;

/// A call and whence its answers come.
pub enum Case {
    /// A call of a trace.
    Recorded {
        /// The call.
        call: Box<ClosedCall>,
        /// What answers where the recording ends.
        beyond: BeyondTape,
        /// What the inputs are called, and where their lines come from.
        sources: Sources,
        /// What the recording shows of it, whatever the playbook.
        recorded: Recorded,
    },
    /// A call of a fixture.
    Rehearsed {
        /// The fixture.
        fixture: Box<Fixture>,
        /// The call's name.
        name: String,
    },
}

/// One simulation of the case.
pub struct Ran {
    /// What it left behind.
    pub record: Record,
    /// The call's number in it.
    pub call: CallId,
    /// The names of its calls.
    pub calls: Vec<String>,
    /// What is known of the tool.
    pub facts: ToolFacts,
    /// What an effect of the call is booked for.
    pub intent: Option<Intent>,
    /// What is found of the call, worst first.
    pub findings: Vec<Finding>,
}

impl Case {
    /// Simulates the case under a plan.
    pub fn simulate(&self, plan: &Plan) -> Ran {
        let mut simulator = Simulator::new();
        match self {
            Case::Recorded { call, beyond, recorded, .. } => {
                let raw = call.raw();
                let facts = plan.facts(raw.tool());
                simulator.replay_after(plan, raw, facts, beyond, recorded.token_spent);
                simulator.show(|errors| call.shown_errors(errors));
                let record = simulator.record().clone();
                let scenario = playproof_engine::sim::ScenarioCall::recorded(raw, facts, beyond);
                let intent = scenario.intent(CallId(0));
                // What the simulation finds of the recording, the look at the whole input has found better.
                let own = record.findings.iter().filter(|finding| finding.by == FindingBy::Playbook);
                let findings = recorded.findings.iter().chain(own).copied().collect();
                Ran { record, call: CallId(0), calls: vec![call.shown().reference()], facts, intent, findings }
            }
            Case::Rehearsed { fixture, name, .. } => {
                let scenario = Scenario::of_fixture(fixture, |tool| plan.facts(tool));
                let record = simulator.rehearse(plan, &scenario).clone();
                let place = scenario.calls.iter().position(|call| call.name == name).unwrap_or(0);
                let call = CallId(u32::try_from(place).unwrap_or(u32::MAX));
                let known = scenario.calls.get(place);
                let findings = record.findings.iter().filter(|finding| finding.call == call).copied().collect();
                Ran {
                    findings,
                    record,
                    call,
                    calls: scenario.calls.iter().map(|call| call.name.to_owned()).collect(),
                    facts: known.map_or(ToolFacts::ASSUMED, |call| call.facts),
                    intent: known.and_then(|known| known.intent(call)),
                }
            }
        }
    }

    /// The name that `--call` takes.
    pub fn reference(&self) -> String {
        match self {
            Case::Recorded { call, .. } => call.shown().reference(),
            Case::Rehearsed { name, .. } => name.clone(),
        }
    }

    /// The tool's name as it is shown.
    pub fn tool(&self) -> &str {
        match self {
            Case::Recorded { call, .. } => call.shown().tool(),
            Case::Rehearsed { .. } => self.written().map_or("", |call| &call.tool),
        }
    }

    /// The tool's name as recorded: for rules, and shown to nobody.
    pub fn recorded_tool(&self) -> &str {
        match self {
            Case::Recorded { call, .. } => call.raw().tool(),
            Case::Rehearsed { .. } => self.tool(),
        }
    }

    /// The idempotency key as it is shown.
    pub fn key(&self) -> Option<&str> {
        match self {
            Case::Recorded { call, .. } => call.shown().key(),
            Case::Rehearsed { .. } => self.written()?.key.as_deref(),
        }
    }

    /// The reversal token as it is shown.
    pub fn token(&self) -> Option<&str> {
        match self {
            Case::Recorded { call, .. } => call.shown().token(),
            Case::Rehearsed { .. } => self.written()?.token.as_deref(),
        }
    }

    /// What is known of the tool and of the recording, in words.
    pub fn facts_in_words(&self, ran: &Ran) -> String {
        match self {
            Case::Recorded { call, .. } => facts_of_recorded(call.shown(), ran.facts),
            Case::Rehearsed { .. } => facts_in_words(ran.facts),
        }
    }

    /// The case as a page shows it; `facts` and `reference` are texts that the view borrows.
    pub fn view<'a>(&'a self, facts: &'a str, reference: &'a str) -> CallView<'a> {
        match self {
            Case::Recorded { call, sources, .. } => CallView::recorded(call.shown(), reference, facts, sources),
            Case::Rehearsed { .. } => {
                let written = self.written();
                CallView {
                    reference,
                    id: None,
                    run: None,
                    input: None,
                    input_from_root: None,
                    line: None,
                    path: None,
                    tool: self.tool(),
                    args: written.map(|call| call.args.as_str()),
                    key: self.key(),
                    token: self.token(),
                    facts,
                    declared: false,
                    at: written.map_or(Instant::ZERO, |call| call.at),
                    timed: true,
                    recorded: None,
                }
            }
        }
    }

    fn written(&self) -> Option<&playproof_engine::fixture::FixtureCall> {
        match self {
            Case::Rehearsed { fixture, name, .. } => fixture.calls.iter().find(|call| call.name == *name),
            Case::Recorded { .. } => None,
        }
    }
}

impl Ran {
    /// Everything a reporter may say of the simulation. Intents have no names here: nobody asks for them.
    pub fn transcript<'a>(&'a self, plan: &'a Plan) -> Transcript<'a> {
        self.record.transcript(&plan.names, &self.calls, &unnamed)
    }

    /// The call's part of the simulation.
    pub fn run<'a>(&'a self, plan: &'a Plan) -> RunView<'a> {
        RunView {
            transcript: self.transcript(plan),
            call: self.call,
            tally: self.record.tallies.get(self.call.index()).copied().unwrap_or_default(),
            findings: self.findings.clone(),
            intent: self.intent,
        }
    }
}
