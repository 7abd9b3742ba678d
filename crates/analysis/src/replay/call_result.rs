//! The result of one closed call, for the observers of a replay.

use playproof_engine::call::RecordedCall;
use playproof_engine::event::{Finding, FindingBy};
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::{Plan, SimulationRecord};

use super::plan_state::PlanState;

/// A call as shown; `raw` gives it as recorded, to decide on it.
#[derive(Clone, Copy)]
pub struct ShownCall<'a> {
    pub(super) shown: &'a RecordedCall,
    pub(super) raw: &'a RecordedCall,
    pub(super) facts: &'a [ToolFacts],
}

impl<'a> ShownCall<'a> {
    /// A call without redaction and facts.
    pub const fn plain(call: &'a RecordedCall) -> ShownCall<'a> {
        ShownCall { shown: call, raw: call, facts: &[] }
    }

    /// The call as recorded; its texts must not be shown.
    pub const fn raw(&self) -> &'a RecordedCall {
        self.raw
    }

    /// The tool facts under each playbook.
    pub fn known_facts(&self) -> FactsUsed {
        FactsUsed(self.facts.to_vec())
    }

    /// Whether `is` holds for the call as shown or as recorded.
    pub fn either(&self, is: impl Fn(&RecordedCall) -> bool) -> bool {
        is(self.shown) || is(self.raw)
    }
}

impl std::ops::Deref for ShownCall<'_> {
    type Target = RecordedCall;

    fn deref(&self) -> &RecordedCall {
        self.shown
    }
}

/// The tool facts of a call under each playbook.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FactsUsed(Vec<ToolFacts>);

impl FactsUsed {
    /// Under the playbook at this place.
    pub fn under(&self, playbook: usize) -> ToolFacts {
        self.0.get(playbook).copied().unwrap_or(ToolFacts::ASSUMED)
    }
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct RequestMark {
    /// Its input; none: runs and inputs do not matter.
    pub input: Option<u32>,
    /// The hash of what is asked for.
    pub request: u128,
}

impl RequestMark {
    /// The same, of an input that comes behind `inputs` others.
    #[must_use]
    pub fn behind(self, inputs: u32) -> RequestMark {
        RequestMark { input: self.input.map(|input| input.saturating_add(inputs)), ..self }
    }
}

/// What calls have in common, as hashes of what is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallMarks {
    /// Their intent; unique within an input.
    pub intent: u128,
    /// Their request, under whatever key.
    pub request: RequestMark,
    /// What they ask for, in whatever run.
    pub case: u128,
}

/// A call, its records under every playbook, and the findings of the recording.
#[derive(Clone, Copy)]
pub struct CallResult<'a> {
    /// The call.
    pub call: ShownCall<'a>,
    /// What it has in common with other calls.
    pub marks: CallMarks,
    /// The hash of its dispatcher; unique within an input.
    pub dispatcher: u128,
    /// The hash of its run, unique within an input.
    pub(super) run: u128,
    /// The findings of the recording.
    pub recorded: &'a [Finding],
    /// The playbooks.
    pub plans: &'a [Plan],
    pub(super) states: &'a [PlanState],
    pub(super) facts: &'a [ToolFacts],
}

impl<'a> CallResult<'a> {
    /// A mark of its run, unique among all inputs.
    pub fn run(&self) -> u128 {
        self.run ^ u128::from(self.call.raw().place.input)
    }

    /// The records, in the order of the playbooks.
    pub fn records(&self) -> impl Iterator<Item = &'a SimulationRecord> + Clone + use<'a> {
        self.states.iter().map(PlanState::record)
    }

    /// The tool facts that each playbook's run was made with.
    pub fn facts(&self) -> &'a [ToolFacts] {
        self.facts
    }

    /// Every finding: the recording's, then those of the playbooks, each with the playbook's index.
    pub fn findings(&self) -> impl Iterator<Item = (Option<usize>, Finding)> + use<'a> {
        let recorded = self.recorded.iter().map(|&finding| (None, finding));
        let by_playbook = self.records().enumerate().flat_map(|(n, record)| {
            let own = record.findings.iter().filter(|finding| finding.by == FindingBy::Playbook);
            own.map(move |&finding| (Some(n), finding))
        });
        recorded.chain(by_playbook)
    }

    /// Whether an attempt of the call failed, as recorded or under a playbook.
    pub fn failed(&self) -> bool {
        use playproof_engine::call::Reply;
        use playproof_engine::event::OutcomeKind;
        let recorded = self.call.answers.iter().any(|answer| answer.reply != Reply::Ok);
        let ended_well =
            |record: &SimulationRecord| record.outcomes.iter().all(|outcome| outcome.kind == OutcomeKind::Succeeded);
        recorded || !self.records().all(ended_well)
    }
}
