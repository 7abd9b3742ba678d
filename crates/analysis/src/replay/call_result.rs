//! One closed call with all that is known of it, as it is shown to whoever watches a replay.

use playproof_engine::call::RecordedCall;
use playproof_engine::event::{Finding, FindingBy};
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::{Plan, Record, Simulator};

/// A call as it is shown: that is what it is by itself. As it is recorded it is asked for by name, to decide on it.
#[derive(Clone, Copy)]
pub struct ShownCall<'a> {
    pub(super) shown: &'a RecordedCall,
    pub(super) raw: &'a RecordedCall,
    pub(super) facts: &'a [ToolFacts],
}

impl<'a> ShownCall<'a> {
    /// A call of which nothing is redacted and nothing else known.
    pub const fn plain(call: &'a RecordedCall) -> ShownCall<'a> {
        ShownCall { shown: call, raw: call, facts: &[] }
    }

    /// The call as recorded: none of its texts reaches a reader.
    pub const fn raw(&self) -> &'a RecordedCall {
        self.raw
    }

    /// What each playbook's run was made with.
    pub fn known_facts(&self) -> FactsUsed {
        FactsUsed(self.facts.to_vec())
    }

    /// Whether this is so of the call as shown or as recorded: people may know either.
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

/// What was known of a call's tool under each playbook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactsUsed(Vec<ToolFacts>);

impl FactsUsed {
    /// Under the playbook at this place.
    pub fn under(&self, playbook: usize) -> ToolFacts {
        self.0.get(playbook).copied().unwrap_or(ToolFacts::ASSUMED)
    }
}

/// A call, its records under every playbook, and what the recording itself shows.
#[derive(Clone, Copy)]
pub struct CallResult<'a> {
    /// The call.
    pub call: ShownCall<'a>,
    /// The mark of its intent, as recorded; intents are those of one input.
    pub intent: u128,
    /// What the recording shows, whatever the playbook.
    pub recorded: &'a [Finding],
    /// The playbooks.
    pub plans: &'a [Plan],
    pub(super) sims: &'a [Simulator],
    /// By plan: the record of a call that was simulated with others of its run; the others are the simulators'.
    pub(super) joined: &'a [Option<Record>],
    pub(super) facts: &'a [ToolFacts],
}

impl<'a> CallResult<'a> {
    /// The records, in the order of the playbooks.
    pub fn records(&self) -> impl Iterator<Item = &'a Record> + Clone + use<'a> {
        let CallResult { sims, joined, .. } = *self;
        sims.iter()
            .enumerate()
            .map(move |(n, sim)| joined.get(n).and_then(Option::as_ref).unwrap_or_else(|| sim.record()))
    }

    /// The tool facts that each playbook's run was made with.
    pub fn facts(&self) -> &'a [ToolFacts] {
        self.facts
    }

    /// Every finding: the recording's, then those of the playbooks, each with the playbook's place.
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
        let ended_well = |record: &Record| record.outcomes.iter().all(|outcome| outcome.kind == OutcomeKind::Succeeded);
        recorded || !self.records().all(ended_well)
    }
}
