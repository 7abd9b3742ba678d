//! What the recording shows of a call whatever the playbook decides: its findings, and the effects that other calls
//! made, or may have made, for the same intent. Takes every call of one input in the order in which they close.

use std::collections::BTreeSet;

use super::proof::Proof;
use playproof_analysis::replay::{Recording, Sessions, finding, judge_attempts};
use playproof_engine::call::Place;
use playproof_engine::event::{EffectClaim, Finding, FindingId};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::Plan;
use playproof_engine::upstream::BeyondTape;
use playproof_trace::assemble::ClosedCall;
use playproof_trace::origin::Sources;

/// What the recording shows of one call.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Worst first.
    pub findings: Vec<Finding>,
    /// The other calls that made the same effect or may have made it, in the order of their lines.
    pub others: Vec<Other>,
    /// Another call of the run has sent the call's reversal token.
    pub token_spent: bool,
}

/// Another call with the same intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its reference, or its line where it belongs to another run.
    pub name: String,
    /// Whether it was made later than the call that is explained.
    pub later: bool,
    /// Effects that its own recording proves.
    pub effects: u32,
    /// Whether an attempt that was not answered with ok may have acted.
    pub maybe: bool,
    /// What all its answers say of the effect.
    pub claim: EffectClaim,
}

impl Recorded {
    /// Effects that other calls made for the same intent.
    pub fn effects_of_others(&self) -> u32 {
        self.others.iter().fold(0, |sum, other| sum.saturating_add(other.effects))
    }
}

/// The sequential look at one input. Keeps 48 bytes a write that may have acted: who asks for one call can wait
/// for it.
pub struct Watching<'a> {
    plan: &'a Plan,
    beyond: &'a BeyondTape,
    sources: &'a Sources,
    recording: Recording,
    sessions: Sessions,
    /// Calls taken.
    taken: u64,
    /// Those whose reversal token another call of their run has sent.
    spent: BTreeSet<u64>,
    booked: Vec<Booked>,
}

/// What was seen of a wanted call when it closed.
pub struct Met {
    findings: Vec<Finding>,
    /// How many calls were taken before it.
    number: u64,
}

/// Effects of one call, proved and possible.
struct Booked {
    intent: u128,
    run: u128,
    line: u64,
    number_in_run: u32,
    effects: u32,
    maybe: bool,
    claim: EffectClaim,
}

impl<'a> Watching<'a> {
    /// Nothing seen yet; tool facts come from `plan`.
    pub fn new(plan: &'a Plan, beyond: &'a BeyondTape, sources: &'a Sources) -> Watching<'a> {
        Watching {
            plan,
            beyond,
            sources,
            recording: Recording::default(),
            sessions: Sessions::default(),
            taken: 0,
            spent: BTreeSet::new(),
            booked: Vec::new(),
        }
    }

    /// Takes the next closed call; gives what the recording shows of it so far if it `is_wanted`.
    pub fn take(&mut self, closed: &ClosedCall, is_wanted: bool) -> Met {
        let facts = self.plan.facts(closed.raw().tool());
        let number = self.taken;
        self.taken += 1;
        self.sessions.take(self.plan, self.beyond, number, closed);
        self.note_spent();
        let mut findings = Vec::new();
        self.recording.take(closed, facts, std::slice::from_ref(self.plan), |finding| findings.push(finding));
        self.book(closed, facts);
        if is_wanted {
            judge_attempts(closed.raw(), facts, std::slice::from_ref(self.plan), &mut findings);
        }
        Met { findings, number }
    }

    fn note_spent(&mut self) {
        let spent = self.sessions.take_ended().filter(|ended| ended.token_spent);
        self.spent.extend(spent.map(|ended| ended.number));
    }

    fn book(&mut self, closed: &ClosedCall, facts: ToolFacts) {
        if !one_intent(facts) {
            return;
        }
        let proof = Proof::of(closed.raw(), self.plan, facts);
        let effects = closed.story.succeeded.saturating_sub(closed.story.reversed);
        // What was taken back is not there, whatever was said of it before.
        let claim = match proof.claim.unwrap_or(EffectClaim::Unknown) {
            EffectClaim::Applied if effects == 0 && closed.story.reversed > 0 => EffectClaim::NotApplied,
            claim => claim,
        };
        let maybe = proof.may_have_acted();
        if effects > 0 || maybe || claim != EffectClaim::NotApplied {
            self.booked.push(Booked {
                intent: closed.marks.intent(),
                run: closed.marks.run,
                line: closed.raw().place.line,
                number_in_run: closed.raw().number_in_run,
                effects,
                maybe,
                claim: if maybe { claim.and(EffectClaim::Unknown) } else { claim },
            });
        }
    }

    /// What the recording shows of a call, once all its input was taken; `met` is what it was given for.
    pub fn finish(&mut self, closed: &ClosedCall, met: Met) -> Recorded {
        let Met { mut findings, number } = met;
        self.sessions.finish(self.plan);
        self.note_spent();
        let token_spent = self.spent.contains(&number);
        let (marks, call) = (&closed.marks, closed.raw());
        let facts = self.plan.facts(call.tool());
        let same = self.booked.iter().filter(|booked| booked.intent == marks.intent() && one_intent(facts));
        let (mut others, mut until) = (Vec::new(), 0_u32);
        for booked in same {
            if booked.line <= call.place.line {
                until = until.saturating_add(booked.effects);
            }
            if booked.line == call.place.line {
                continue;
            }
            let name = match booked.run == marks.run {
                true => format!("{}#{}", closed.shown().run().unwrap_or(""), booked.number_in_run),
                false => {
                    let origin = self.sources.of(Place { line: booked.line, ..call.place });
                    let path = origin.path.map_or_else(String::new, |path| format!(" ({path})"));
                    format!("the call in line {}{path}", origin.line)
                }
            };
            let Booked { line, effects, maybe, claim, .. } = *booked;
            others.push((line, Other { name, later: line > call.place.line, effects, maybe, claim }));
        }
        others.sort_by_key(|(line, _)| *line); // calls close in another order
        // Where the facts are assumed, or an upstream may have honoured a key, the summary of `replay` counts by tool.
        let doubled = [FindingId::DuplicateEffect, FindingId::PossibleDuplicateEffect];
        let said = findings.iter().any(|finding| doubled.contains(&finding.id));
        if until > 1 && !facts.idempotent && !said && closed.story.succeeded > 0 {
            findings.push(finding(FindingId::PossibleDuplicateEffect, until));
        }
        findings.sort_unstable();
        Recorded { findings, others: others.into_iter().map(|(_, other)| other).collect(), token_spent }
    }
}

/// Whether calls of a tool can have one intent in common.
const fn one_intent(facts: ToolFacts) -> bool {
    matches!(facts.access, Access::Write) && !facts.repeatable
}
