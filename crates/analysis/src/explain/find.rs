//! Finds a call by its reference, its place or its own id, in one input after the other. Lists the candidates if
//! several calls match.

use std::collections::BTreeSet;

use super::distrust::InputGaps;
use super::evidence::{AtClose, CallBook, EvidenceCollector};
use super::names::{CallNames, LISTED};
use super::other_call::KeyOwner;
use super::subject::Subject;
use crate::replay::{RecordingAnalysis, SessionOptions};
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Access;
use playproof_engine::sim::Plan;
use playproof_intake::assemble::{AssembleOptions, FirstUses, InputLedger};
use playproof_intake::call::CompletedCall;
use playproof_intake::input::{ReadError, TraceInput};
use playproof_intake::origin::Sources;
use playproof_intake::redact::RedactionRules;

/// The name of the wanted call.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// A reference or an own id.
    pub name: &'a str,
    /// The same as a place, with the name of the input in messages.
    pub place: &'a str,
}

/// Finds one call.
pub struct CallFinder<'a> {
    /// The source of tool facts and of verdicts.
    pub plan: &'a Plan,
    /// The wanted call; none to take the only call.
    pub wanted: Option<Wanted<'a>>,
    /// How calls are simulated together.
    pub options: SessionOptions<'a>,
    /// The names of the inputs; learns the origins of imported lines.
    pub sources: &'a Sources,
    found: FoundCalls,
    recording: RecordingAnalysis,
    book: CallBook,
    keys: FirstUses,
    gaps: InputGaps,
}

/// A candidate.
pub struct CandidateCall {
    /// The index of its input.
    pub input: usize,
    /// Its reference for commands.
    pub reference: String,
    /// `FILE:LINE`; a fixture's call has none.
    pub place: Option<String>,
    subject: Subject,
}

/// Why no single call was found.
pub enum NotFound {
    /// No call has the name; these names exist.
    Unknown(CallNames),
    /// Several calls have the name: two or more; one more than [`LISTED`] stands for any number.
    Several(Vec<CandidateCall>),
}

/// The candidates so far.
struct FoundCalls {
    /// Calls with the wanted reference or place: preferred to those with the id.
    exact: Vec<CandidateCall>,
    /// Calls with the wanted id, or all calls if none is wanted.
    others: Vec<CandidateCall>,
    names: CallNames,
}

impl<'a> CallFinder<'a> {
    /// Nothing seen yet.
    pub fn new(
        plan: &'a Plan,
        wanted: Option<Wanted<'a>>,
        simulated: SessionOptions<'a>,
        sources: &'a Sources,
    ) -> CallFinder<'a> {
        CallFinder {
            plan,
            wanted,
            options: simulated,
            sources,
            found: FoundCalls {
                exact: Vec::new(),
                others: Vec::new(),
                names: CallNames::new(wanted.map(|wanted| wanted.name), sources),
            },
            recording: RecordingAnalysis::default(),
            book: CallBook::default(),
            keys: FirstUses::default(),
            gaps: InputGaps::default(),
        }
    }

    /// Notes an input that could not be read to its end.
    pub fn note_unread(&mut self) {
        self.gaps.unread_inputs += 1;
    }

    /// Takes the calls of a fixture, and those of its steps that the playbook has.
    pub fn take_fixture(&mut self, number: usize, fixture: &Fixture) {
        let calls = fixture.calls.iter().map(|call| (&call.name, &*call.tool, false));
        let steps = fixture.calls.iter().flat_map(|call| call.steps.iter().map(move |step| (call, step)));
        let steps = steps.filter_map(|(call, step)| {
            let action = self.plan.playbook.action_named(&call.tool).filter(|_| call.is_action)?;
            let known = action.steps.iter().find(|known| *known.name == *step.step)?;
            Some((&step.name, &*known.tool, true))
        });
        for (name, tool, is_step) in calls.chain(steps) {
            self.found.names.remember(name);
            if self.wanted.map_or(!is_step, |wanted| wanted.name == *name) {
                self.found.keep(self.wanted.is_some(), || CandidateCall {
                    input: number,
                    reference: name.clone(),
                    place: None,
                    subject: Subject::Fixture {
                        fixture: Box::new(fixture.clone()),
                        name: name.clone(),
                        tool: tool.to_owned(),
                    },
                });
            }
        }
    }

    /// Takes the calls of a trace; of one that cannot be read to its end, those before that place.
    ///
    /// # Errors
    /// A trace that cannot be read, or a line of it that cannot be used.
    pub fn take_trace(
        &mut self,
        number: usize,
        mut input: TraceInput<'_>,
        options: AssembleOptions,
        redaction: &RedactionRules,
    ) -> Result<InputLedger, ReadError> {
        let CallFinder { plan, wanted, options: simulated, sources, found, recording, book, keys, gaps, .. } = self;
        if let Some(origins) = input.origins.take() {
            sources.set_origins(number, origins);
        }
        let writes = |tool: &str| plan.facts(tool).access == Access::Write;
        let mut observer = EvidenceCollector::new(plan, *simulated, recording, book);
        let mut kept: Vec<(bool, CompletedCall, AtClose)> = Vec::new();
        let place = u32::try_from(number).unwrap_or(u32::MAX);
        let options = AssembleOptions { requests: plan.requests(), ..options };
        let ledger = input.each_call_after(keys, place, options, redaction, &writes, |closed| {
            let exact = wanted.is_some_and(|wanted| wanted.is_exactly(&closed, sources));
            let is_wanted = exact || wanted.is_none_or(|wanted| closed.has_id(wanted.name));
            if kept.is_empty() && found.is_empty() {
                found.names.remember_call(&closed); // what is found needs no name that is near
            }
            let at_close = observer.take(&closed, is_wanted);
            if exact {
                observer.keep_what_bears_on(&closed); // if another call has the name too, nothing is explained
            }
            if is_wanted && kept.iter().filter(|(kept, ..)| *kept == exact).count() <= LISTED {
                kept.push((exact, closed, at_close));
            }
        });
        ledger.iter().for_each(|ledger| gaps.add(ledger));
        for (exact, mut closed, at_close) in kept {
            let recorded = observer.finish(&mut closed, at_close);
            let (reference, at) = (closed.shown().reference(), closed.shown().place);
            found.keep(exact, || CandidateCall {
                input: number,
                reference: sources.name_of(&reference, at),
                place: Some(sources.describe(at)),
                subject: Subject::Recorded {
                    call: Box::new(closed),
                    beyond: simulated.beyond.clone(),
                    sources: sources.clone(),
                    recorded,
                },
            });
        }
        ledger
    }

    /// The wanted call, after all inputs.
    ///
    /// # Errors
    /// No such call, or several.
    pub fn finish(self) -> Result<Subject, NotFound> {
        let CallFinder { plan, sources, mut book, gaps, .. } = self;
        let FoundCalls { exact, others, names } = self.found;
        let mut found = if exact.is_empty() { others } else { exact };
        match (found.len(), found.pop()) {
            (1, Some(CandidateCall { mut subject, .. })) => {
                if let Subject::Recorded { call, recorded, .. } = &mut subject {
                    recorded.gaps = gaps;
                    book.settle();
                    book.add_others(call, plan, sources, recorded);
                    call.set_key_reused(KeyOwner::among(&recorded.others) != KeyOwner::Own);
                }
                Ok(subject)
            }
            (_, Some(last)) => {
                found.push(last);
                Err(NotFound::Several(found))
            }
            (_, None) => Err(NotFound::Unknown(names)),
        }
    }
}

impl CandidateCall {
    /// A unique name for each: its reference, or its place if references are ambiguous; none for a call of a fixture.
    pub fn names(found: &[CandidateCall]) -> Vec<Option<&str>> {
        let references: BTreeSet<&str> = found.iter().map(|candidate| candidate.reference.as_str()).collect();
        let is_enough = references.len() == found.len();
        let names = found.iter().map(|candidate| match is_enough {
            true => Some(candidate.reference.as_str()),
            false => candidate.place.as_deref(),
        });
        names.collect()
    }
}

impl Wanted<'_> {
    /// Whether it is the reference of a call, its place or the place of one of its results.
    fn is_exactly(self, closed: &CompletedCall, sources: &Sources) -> bool {
        closed.has_reference(self.name) || sources.is_place_of_call(self.place, closed.raw())
    }
}

impl FoundCalls {
    fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.others.is_empty()
    }

    /// Keeps a candidate, up to one more than is listed.
    fn keep(&mut self, exact: bool, candidate: impl FnOnce() -> CandidateCall) {
        let list = if exact { &mut self.exact } else { &mut self.others };
        if list.len() <= LISTED {
            list.push(candidate());
        }
    }
}
