//! What recordings prove of one call: by its own answers, and by its whole input: findings, and effects that other
//! calls made, or may have made, for the same intent.

use std::collections::BTreeSet;

use crate::replay::{RecordingAnalysis, Sessions, finding, judge_attempts};
use playproof_engine::call::{AnswerTo, Place, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::classify::Signal;
use playproof_engine::event::{EffectClaim, Finding, FindingId};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::Plan;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_trace::call::CompletedCall;
use playproof_trace::origin::Sources;

/// What the recorded answers of one call prove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerEvidence {
    /// Attempts answered with ok.
    pub made: u32,
    /// Reversals answered with ok.
    pub taken_back: u32,
    /// Failed attempts that may have acted, according to the playbook.
    pub maybe: u32,
    /// The claim of all together; none without an answer.
    pub claim: Option<EffectClaim>,
}

impl AnswerEvidence {
    /// The evidence of the answers of a call.
    pub fn of(call: &RecordedCall, plan: &Plan, facts: ToolFacts) -> AnswerEvidence {
        let mut evidence = AnswerEvidence::default();
        for (number, answer) in call.attempts() {
            let effect = match &answer.reply {
                Reply::Ok => EffectClaim::Applied,
                Reply::Failed(error) => {
                    let signal = Signal::new(error.as_deref(), call.tool(), facts, call.is_keyed(), number);
                    plan.playbook.verdict(plan.classifier.classify(&signal).verdict).effect
                }
            };
            evidence.made += u32::from(answer.reply == Reply::Ok);
            evidence.maybe += u32::from(effect == EffectClaim::Unknown);
            evidence.claim = Some(evidence.claim.map_or(effect, |claim| claim.and(effect)));
        }
        let taken_back = |answer: &&RecordedAnswer| answer.to == AnswerTo::Reversal && answer.reply == Reply::Ok;
        evidence.taken_back = u32::try_from(call.answers.iter().filter(taken_back).count()).unwrap_or(u32::MAX);
        evidence
    }

    /// Effects that were not reversed.
    pub const fn net(&self) -> u32 {
        self.made.saturating_sub(self.taken_back)
    }

    /// Whether an attempt without ok may have acted. A call without an answer may have, too.
    pub const fn may_have_acted(&self) -> bool {
        self.maybe > 0 || self.claim.is_none()
    }
}

/// What the whole recording shows of one call.
#[derive(Clone, Debug, Default)]
pub struct RecordingEvidence {
    /// Worst first.
    pub findings: Vec<Finding>,
    /// Other calls that made the same effect, or may have, in the order of their lines.
    pub others: Vec<OtherCall>,
    /// Another call of the run has sent the call's reversal token.
    pub token_spent: bool,
}

/// Another call with the same intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherCall {
    /// Its name.
    pub name: OtherName,
    /// Whether it was made later than the call that is explained.
    pub later: bool,
    /// Effects that its own answers prove.
    pub effects: u32,
    /// Whether an attempt without ok may have acted.
    pub maybe: bool,
    /// The claim of all its answers.
    pub claim: EffectClaim,
}

/// The name of another call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherName {
    /// A call of the same run: its reference.
    Reference(String),
    /// A call of another run: its place.
    Place {
        /// Its line in the user's own file.
        line: u64,
        /// Its path in that line, if the line alone is ambiguous.
        path: Option<String>,
    },
}

impl RecordingEvidence {
    /// Effects that other calls made for the same intent.
    pub fn effects_of_others(&self) -> u32 {
        self.others.iter().fold(0, |sum, other| sum.saturating_add(other.effects))
    }
}

/// Collects evidence over one input, call by call. Keeps 48 bytes per write that may have acted.
pub struct EvidenceCollector<'a> {
    plan: &'a Plan,
    beyond: &'a MissingAnswerPolicy,
    sources: &'a Sources,
    recording: RecordingAnalysis,
    sessions: Sessions,
    /// The number of calls so far.
    taken: u64,
    /// Calls whose reversal token another call of the run has sent.
    spent: BTreeSet<u64>,
    booked: Vec<BookedEffect>,
}

/// The evidence on a wanted call when it closed.
pub struct AtClose {
    findings: Vec<Finding>,
    /// Its number among all calls.
    number: u64,
}

/// Effects of one call, proved and possible.
struct BookedEffect {
    intent: u128,
    run: u128,
    line: u64,
    number_in_run: u32,
    effects: u32,
    maybe: bool,
    claim: EffectClaim,
}

impl<'a> EvidenceCollector<'a> {
    /// Nothing collected yet; tool facts come from `plan`.
    pub fn new(plan: &'a Plan, beyond: &'a MissingAnswerPolicy, sources: &'a Sources) -> EvidenceCollector<'a> {
        EvidenceCollector {
            plan,
            beyond,
            sources,
            recording: RecordingAnalysis::default(),
            sessions: Sessions::default(),
            taken: 0,
            spent: BTreeSet::new(),
            booked: Vec::new(),
        }
    }

    /// Takes the next closed call. Gives the evidence on it so far, in full if it `is_wanted`.
    pub fn take(&mut self, closed: &mut CompletedCall, is_wanted: bool) -> AtClose {
        let facts = self.plan.facts(closed.raw().tool());
        let number = self.taken;
        self.taken += 1;
        let mut findings = Vec::new();
        if self.recording.take(closed, facts, std::slice::from_ref(self.plan), |finding| findings.push(finding)) {
            closed.set_key_reused();
        }
        self.sessions.take(self.plan, self.beyond, number, closed);
        self.note_spent();
        self.book(closed, facts);
        if is_wanted {
            judge_attempts(closed, facts, std::slice::from_ref(self.plan), &mut findings);
        }
        AtClose { findings, number }
    }

    fn note_spent(&mut self) {
        let spent = self.sessions.take_ended().filter(|ended| ended.token_spent);
        self.spent.extend(spent.map(|ended| ended.number));
    }

    fn book(&mut self, closed: &CompletedCall, facts: ToolFacts) {
        if !one_intent(facts) {
            return;
        }
        let evidence = AnswerEvidence::of(closed.raw(), self.plan, facts);
        let effects = closed.counts.succeeded.saturating_sub(closed.counts.reversed);
        // A reversed effect is not there.
        let claim = match evidence.claim.unwrap_or(EffectClaim::Unknown) {
            EffectClaim::Applied if effects == 0 && closed.counts.reversed > 0 => EffectClaim::NotApplied,
            claim => claim,
        };
        let maybe = evidence.may_have_acted();
        if effects > 0 || maybe || claim != EffectClaim::NotApplied {
            self.booked.push(BookedEffect {
                intent: closed.hashes.intent(),
                run: closed.hashes.run,
                line: closed.raw().place.line,
                number_in_run: closed.raw().number_in_run,
                effects,
                maybe,
                claim: if maybe { claim.and(EffectClaim::Unknown) } else { claim },
            });
        }
    }

    /// The evidence on a call after the whole input; `at_close` is what `take` gave for it.
    pub fn finish(&mut self, closed: &CompletedCall, at_close: AtClose) -> RecordingEvidence {
        let AtClose { mut findings, number } = at_close;
        self.sessions.finish(self.plan);
        self.note_spent();
        let token_spent = self.spent.contains(&number);
        let (hashes, call) = (&closed.hashes, closed.raw());
        let facts = self.plan.facts(call.tool());
        let same = self.booked.iter().filter(|booked| booked.intent == hashes.intent() && one_intent(facts));
        let (mut others, mut until) = (Vec::new(), 0_u32);
        for booked in same {
            if booked.line <= call.place.line {
                until = until.saturating_add(booked.effects);
            }
            if booked.line == call.place.line {
                continue;
            }
            let name = match booked.run == hashes.run {
                true => {
                    let run = closed.shown().run().unwrap_or("");
                    OtherName::Reference(format!("{run}#{}", booked.number_in_run))
                }
                false => {
                    let origin = self.sources.of(Place { line: booked.line, ..call.place });
                    OtherName::Place { line: origin.line, path: origin.path.map(str::to_owned) }
                }
            };
            let BookedEffect { line, effects, maybe, claim, .. } = *booked;
            others.push((line, OtherCall { name, later: line > call.place.line, effects, maybe, claim }));
        }
        others.sort_by_key(|(line, _)| *line); // calls close in another order
        // Where the facts are assumed, or an upstream may have honoured a key, the summary of `replay` counts by tool.
        let doubled = [FindingId::DuplicateEffect, FindingId::PossibleDuplicateEffect];
        let said = findings.iter().any(|finding| doubled.contains(&finding.id));
        if until > 1 && !facts.idempotent && !said && closed.counts.succeeded > 0 {
            findings.push(finding(FindingId::PossibleDuplicateEffect, until));
        }
        Finding::settle(&mut findings);
        RecordingEvidence { findings, others: others.into_iter().map(|(_, other)| other).collect(), token_spent }
    }
}

/// Whether calls of a tool can share an intent.
const fn one_intent(facts: ToolFacts) -> bool {
    matches!(facts.access, Access::Write) && !facts.repeatable
}
