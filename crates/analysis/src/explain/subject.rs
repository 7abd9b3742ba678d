//! The explained call, and its simulation under a playbook.

use super::evidence::RecordingEvidence;
use crate::replay::settle_told;
use playproof_engine::event::{
    Decision, Finding, FindingBy, FindingId, Intent, IntentBalance, LedgerEntry, LedgerKind, Outcome, StepsEnd,
    Transcript, unnamed,
};
use playproof_engine::evidence::{Against, Moment};
use playproof_engine::fixture::{Fixture, FixtureCall, FixtureStep};
use playproof_engine::ids::CallId;
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::{CallTally, DrivenCall, Plan, Scenario, SimulationRecord, Simulator};
use playproof_engine::time::Instant;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_intake::call::CompletedCall;
use playproof_intake::origin::Sources;

/// A call and the source of its answers.
pub enum Subject {
    /// A call of a trace.
    Recorded {
        /// The call.
        call: Box<CompletedCall>,
        /// What answers where the recording ends.
        beyond: MissingAnswerPolicy,
        /// What the inputs are called, and where their lines come from.
        sources: Sources,
        /// What the recording shows, whatever the playbook.
        recorded: RecordingEvidence,
    },
    /// A call of a fixture.
    Fixture {
        /// The fixture.
        fixture: Box<Fixture>,
        /// The call's name.
        name: String,
        /// The name of its tool, or of its action.
        tool: String,
    },
}

/// One simulation of the subject.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// Its record.
    pub record: SimulationRecord,
    /// The call's number in it.
    pub call: CallId,
    /// The names of its calls.
    pub calls: Vec<String>,
    /// The tool facts.
    pub facts: ToolFacts,
    /// The intent of the call.
    pub intent: Option<Intent>,
    /// Why one more call like it, or a step of it, could do harm, by all that the source shows of its request.
    pub against: Option<Against>,
    /// The findings of the call, worst first.
    pub findings: Vec<Finding>,
}

impl Subject {
    /// Simulates the subject under the plan under which it was found, with what it shares with its run.
    pub fn simulate(&self, plan: &Plan) -> Simulation {
        self.simulated(plan, true)
    }

    /// Simulates the subject under any plan. A recorded call is alone: only its token may have been spent by others.
    pub fn simulate_alone(&self, plan: &Plan) -> Simulation {
        self.simulated(plan, false)
    }

    fn simulated(&self, plan: &Plan, in_run: bool) -> Simulation {
        let mut simulator = Simulator::new();
        match self {
            Subject::Recorded { call, beyond, recorded, .. } => {
                let raw = call.raw();
                let facts = plan.facts_of(raw);
                let mut record = match recorded.in_run.record.clone().filter(|_| in_run) {
                    Some(record) => {
                        let mut record = *record;
                        record.show(call.shown_errors(&record.errors));
                        record
                    }
                    None => {
                        simulator.replay_after(plan, raw, facts, beyond, recorded.in_run.token_spent);
                        simulator.show(|errors| call.shown_errors(errors));
                        simulator.record().clone()
                    }
                };
                settle_told(plan, &mut record, raw, facts);
                let intent = DrivenCall::recorded(raw, facts, beyond).intent(CallId(0));
                // Findings of the recording come from the whole input, but for the one that a graph makes.
                let is_own =
                    |finding: &&Finding| finding.by == FindingBy::Playbook || finding.id == FindingId::OutOfOrder;
                let own = record.findings.iter().filter(is_own);
                let findings = recorded.findings.iter().chain(own).copied().collect();
                Simulation {
                    record,
                    call: CallId(0),
                    calls: vec![call.shown().reference()],
                    facts,
                    intent,
                    against: recorded.against,
                    findings,
                }
            }
            Subject::Fixture { fixture, name, .. } => {
                let scenario = Scenario::of_fixture(fixture, plan);
                let record = simulator.run_fixture(plan, &scenario).clone();
                let place = scenario.calls.iter().position(|call| call.name == name).unwrap_or(0);
                let call = CallId(u32::try_from(place).unwrap_or(u32::MAX));
                let known = scenario.calls.get(place);
                Simulation {
                    findings: record.findings.iter().filter(|finding| finding.call == call).copied().collect(),
                    intent: scenario.intent_in(&record.ledger, call),
                    against: record.books(plan, &scenario.calls).against(plan, &scenario.calls, call, Moment::END),
                    record,
                    call,
                    calls: scenario.calls.iter().map(|call| call.name.to_owned()).collect(),
                    facts: known.map_or(ToolFacts::ASSUMED, |call| call.facts),
                }
            }
        }
    }

    /// The name that `--call` takes.
    pub fn reference(&self) -> String {
        match self {
            Subject::Recorded { call, .. } => call.shown().reference(),
            Subject::Fixture { name, .. } => name.clone(),
        }
    }

    /// The tool's name as it is shown.
    pub fn tool(&self) -> &str {
        match self {
            Subject::Recorded { call, .. } => call.shown().tool(),
            Subject::Fixture { tool, .. } => tool,
        }
    }

    /// The tool's name as recorded: for rules, and never shown.
    pub fn recorded_tool(&self) -> &str {
        match self {
            Subject::Recorded { call, .. } => call.raw().tool(),
            Subject::Fixture { .. } => self.tool(),
        }
    }

    /// The idempotency key as it is recorded.
    pub fn recorded_key(&self) -> Option<&str> {
        match self {
            Subject::Recorded { call, .. } => call.raw().key(),
            Subject::Fixture { .. } => self.key(),
        }
    }

    /// The idempotency key as it is shown.
    pub fn key(&self) -> Option<&str> {
        match self {
            Subject::Recorded { call, .. } => call.shown().key(),
            Subject::Fixture { .. } => match self.written_step() {
                Some(step) => step.key.as_deref(),
                None => self.written()?.key.as_deref(),
            },
        }
    }

    /// Whether its source has times; without them, the playbook's delays are the only ones.
    pub fn is_timed(&self) -> bool {
        match self {
            Subject::Recorded { call, .. } => call.shown().at.is_some(),
            Subject::Fixture { .. } => true,
        }
    }

    /// The arguments as its fixture has them.
    pub fn written_args(&self) -> Option<&str> {
        match self.written_step() {
            Some(step) => Some(&step.args),
            None => Some(&self.written()?.args),
        }
    }

    /// The step of a call that it is, as its fixture has it.
    fn written_step(&self) -> Option<&FixtureStep> {
        let Subject::Fixture { name, .. } = self else { return None };
        self.written()?.steps.iter().find(|step| step.name == *name)
    }

    /// The call as its fixture has it; of a step, that of its action.
    pub fn written(&self) -> Option<&FixtureCall> {
        match self {
            Subject::Fixture { fixture, name, .. } => {
                let is = |call: &&FixtureCall| call.name == *name || call.steps.iter().any(|step| step.name == *name);
                fixture.calls.iter().find(is)
            }
            Subject::Recorded { .. } => None,
        }
    }
}

impl Simulation {
    /// How its steps went; none: it has no steps, or none of them had its turn.
    pub fn steps(&self) -> Option<StepsEnd> {
        StepsEnd::read(self.record.events_of(self.call))
    }

    /// The transcript for reporters. Intents have no names: no page of one call shows them.
    pub fn transcript<'a>(&'a self, plan: &'a Plan) -> Transcript<'a> {
        self.record.transcript(&plan.names, &self.calls, &unnamed)
    }

    /// The decisions about the call, in order.
    pub fn decisions(&self) -> impl Iterator<Item = (Instant, Decision)> {
        self.record.events.iter().filter(|event| event.call == self.call).map(|event| (event.at, event.what))
    }

    /// The outcome of the call; none if the simulation never reached it.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.record.outcomes.get(self.call.index())
    }

    /// The tally of the call.
    pub fn tally(&self) -> CallTally {
        self.record.tallies.get(self.call.index()).copied().unwrap_or_default()
    }

    /// The effects of the call's intent in the ledger.
    pub fn truth(&self) -> IntentBalance {
        self.intent
            .map_or_else(IntentBalance::default, |intent| IntentBalance::count(self.record.ledger.entries(), intent))
    }

    /// The effects that the call itself made and that were not reversed.
    pub fn effects(&self) -> u32 {
        self.record.ledger.net_by_call().get(&self.call).map_or(0, |net| net.effects)
    }

    /// The effects of the call's intent that the ledger ever had, reversed or not.
    pub fn made(&self) -> usize {
        let is_made = |entry: &&LedgerEntry| matches!(entry.kind, LedgerKind::Applied | LedgerKind::Existing);
        let own = self.record.ledger.entries().iter().filter(|entry| Some(entry.intent) == self.intent);
        own.filter(is_made).count()
    }

    /// The verdicts of the call's failures, in order.
    pub fn verdicts(&self, plan: &Plan) -> Vec<String> {
        self.transcript(plan).verdicts(self.call).map(str::to_owned).collect()
    }
}
