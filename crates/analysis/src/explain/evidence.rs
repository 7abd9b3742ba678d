//! What recordings prove of one call: by its own answers, and by all inputs: findings, and the other calls that bear on
//! it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::distrust::InputGaps;
use super::other_call::{OtherCall, OtherName, Relation, UpstreamSaid};
use crate::replay::{Judges, RecordingAnalysis, SentIn, SessionOptions, Sessions, has_steps, judge_attempts, told_at};
use playproof_engine::call::{AnswerTo, Place, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::classify::{Classification, FailedAttempt, KnownFailures, keyed_for, reads_as_unanswered};
use playproof_engine::event::{EffectClaim, Finding};
use playproof_engine::evidence::{Against, Moment};
use playproof_engine::ids::AttemptNo;
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::{Plan, SimulationRecord};
use playproof_engine::time::Instant;
use playproof_intake::call::{CompletedCall, is_unclear_reversal};
use playproof_intake::origin::Sources;

/// The effects that the recorded answers of one call prove, whatever the playbook uses of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProvedEffects {
    /// Attempts answered with ok, at once or late.
    pub made: u32,
    /// Reversals answered with ok.
    pub taken_back: u32,
    /// Reversals of which it is unknown whether they took one of these effects back.
    pub unclear: u32,
}

impl ProvedEffects {
    /// The proved effects of a call of a tool that writes.
    pub fn of(call: &RecordedCall) -> ProvedEffects {
        let ok = |to| call.answers.iter().filter(move |answer| answer.to == to && answer.reply == Reply::Ok).count();
        let ok = |to| u32::try_from(ok(to)).unwrap_or(u32::MAX);
        let unclear = call.answers.iter().filter(|answer| is_unclear_reversal(answer)).count();
        let unclear = u32::try_from(unclear).unwrap_or(u32::MAX);
        ProvedEffects {
            made: ok(AnswerTo::Attempt).saturating_add(call.late_successes()),
            taken_back: ok(AnswerTo::Reversal),
            unclear,
        }
    }

    /// Effects that are there for sure.
    pub const fn net(self) -> u32 {
        self.made.saturating_sub(self.taken_back).saturating_sub(self.unclear)
    }

    /// Whether there were effects, and all were reversed.
    pub const fn all_taken_back(self) -> bool {
        self.made > 0 && self.made <= self.taken_back
    }

    /// Whether a reversal was confirmed, whatever it found, or may have been done, or may still be.
    pub const fn is_reversed(self) -> bool {
        self.taken_back > 0 || self.unclear > 0
    }

    /// Whether there were effects, and it is unknown whether all were reversed.
    pub const fn may_be_taken_back(self) -> bool {
        self.made > self.taken_back && self.net() == 0
    }
}

/// What the recorded answers of one call prove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct AnswerEvidence {
    /// Its effects.
    pub proved: ProvedEffects,
    /// Failed attempts that may have acted, according to the playbook.
    pub maybe: u32,
    /// The claim of all together; none without an answer.
    pub claim: Option<EffectClaim>,
    /// What its failures say under any playbook.
    pub said: UpstreamSaid,
    /// Only refusals are known of its key when the playbook reads that the key was processed: that proves nothing.
    pub refused_before: bool,
}

/// What the failures say that were read before. To read one takes as long as to replay its call, and a trace repeats few.
type ReadFailures = KnownFailures<(Classification, UpstreamSaid)>;

impl AnswerEvidence {
    /// The evidence of the answers of a call.
    pub fn of(call: &RecordedCall, plan: &Plan, facts: ToolFacts) -> AnswerEvidence {
        AnswerEvidence::read(call, plan, facts, &mut ReadFailures::default())
    }

    fn read(call: &RecordedCall, plan: &Plan, facts: ToolFacts, known: &mut ReadFailures) -> AnswerEvidence {
        let mut evidence = AnswerEvidence { proved: ProvedEffects::of(call), ..AnswerEvidence::default() };
        let mut late = call.late_answers();
        let mut expected = AttemptNo::FIRST;
        for (number, answer) in call.attempts() {
            if number > expected {
                evidence.add(EffectClaim::Unknown); // an attempt before it has no answer
            }
            expected = number.next();
            let answers = std::iter::once(answer).chain(late.remove(&number).unwrap_or_default());
            evidence.add_attempt(call, plan, (facts, known), (number, answers));
        }
        for (number, answers) in late {
            evidence.add_attempt(call, plan, (facts, known), (number, answers.into_iter()));
        }
        if call.is_unanswered() && evidence.claim.is_some() {
            evidence.add(EffectClaim::Unknown);
        }
        evidence
    }

    /// Adds an attempt with its answers, of which all but the first came late: together they have one effect. After a timeout,
    /// the late ones say what it is.
    fn add_attempt<'a>(
        &mut self,
        call: &RecordedCall,
        plan: &Plan,
        (facts, known): (ToolFacts, &mut ReadFailures),
        (number, answers): (AttemptNo, impl Iterator<Item = &'a RecordedAnswer>),
    ) {
        let mut answers = answers.peekable();
        let is_silent = answers.peek().is_some_and(|first| {
            first.to == AnswerTo::Attempt
                && first.reply.is_failure()
                && first.reply.error().is_some_and(|error| reads_as_unanswered(error))
        });
        let mut effects = answers.map(|answer| match &answer.reply {
            Reply::Ok => {
                self.said.ok_after_processed |= self.said.processed;
                EffectClaim::Applied
            }
            Reply::Suspected(_) | Reply::Unfinished(_) => EffectClaim::Unknown,
            Reply::Failed(error) => {
                if plan.playbook.graph.is_some() && answer.gate_refusal().is_some() {
                    return EffectClaim::NotApplied; // nothing was sent
                }
                let keyed = keyed_for(error.as_deref(), call.key());
                let failed = FailedAttempt { error: error.as_ref(), tool: call.tool(), facts, keyed, attempt: number };
                let (Classification { verdict, rule }, said) = known.get(plan.classifier.asks(), &failed, |signal| {
                    let classified = plan.classifier.classify(signal);
                    (classified, UpstreamSaid::of(error.as_deref(), classified.verdict, keyed, plan))
                });
                self.said = self.said.or(UpstreamSaid { resent: facts.resends, ..said });
                let claimed = plan.playbook.claimed((verdict, rule), call.key_history, self.claim);
                self.refused_before |= claimed != plan.playbook.verdict(verdict).effect;
                claimed
            }
        });
        // What came late is the answer that a timeout waited for.
        let silence = if is_silent { effects.next() } else { None };
        let effect = effects.reduce(EffectClaim::and).or(silence);
        effect.into_iter().for_each(|effect| self.add(effect));
    }

    /// The same if the call's reversal token was redeemed by another call too: its reversals may have taken back the effects
    /// of that one.
    #[must_use]
    pub const fn with_shared_token(mut self) -> AnswerEvidence {
        self.proved.unclear = self.proved.unclear.saturating_add(self.proved.taken_back);
        self.proved.taken_back = 0;
        self
    }

    fn add(&mut self, effect: EffectClaim) {
        self.maybe += u32::from(effect == EffectClaim::Unknown);
        self.claim = Some(self.claim.map_or(effect, |claim| claim.and(effect)));
    }

    /// The claim less reversals. A reversal takes back one effect that an ok proves; an attempt that may still land is not
    /// reversed, and neither is one whose key was processed before it.
    pub fn net_claim(&self) -> EffectClaim {
        let may_stay = self.proved.made == 0 && self.claim != Some(EffectClaim::NotApplied);
        match (self.proved.taken_back, self.proved.net(), self.maybe) {
            _ if self.proved.may_be_taken_back() => EffectClaim::Unknown,
            (1.., 0, 0) if !may_stay => EffectClaim::NotApplied,
            (1.., 0, _) => EffectClaim::Unknown,
            _ => self.claim.unwrap_or(EffectClaim::Unknown),
        }
    }

    /// Whether an answer says that the request was processed, also one that only the playbook reads so.
    pub fn says_processed(&self) -> bool {
        self.said.processed || self.proved.made == 0 && self.claim == Some(EffectClaim::Applied)
    }

    /// Whether it may have an effect that is not proved: an attempt without ok may have acted, also one without an answer,
    /// or an effect may have been taken back.
    pub const fn may_have_acted(&self) -> bool {
        self.maybe > 0
            || self.claim.is_none()
            || self.proved.made.saturating_sub(self.proved.taken_back) > self.proved.net()
    }
}

/// What the whole recording shows of one call.
#[derive(Clone, Debug, Default)]
pub struct RecordingEvidence {
    /// Worst first.
    pub findings: Vec<Finding>,
    /// What the failures of its own recorded attempts say.
    pub said: UpstreamSaid,
    /// The other calls that bear on it, in the order in which they were made.
    pub others: Vec<OtherCall>,
    /// Why one more call like it, or a step of it, could do harm, by its whole input.
    pub against: Option<Against>,
    /// What the calls of its run have made of it.
    pub in_run: InRun,
    /// The other calls of the run that redeemed the call's reversal token, if it did so itself.
    pub token_shared: Vec<OtherName>,
    /// What all inputs leave open.
    pub gaps: InputGaps,
}

/// What the calls of a run that share something make of one of them.
#[derive(Clone, Debug, Default)]
pub struct InRun {
    /// Another call has sent its reversal token.
    pub token_spent: bool,
    /// Its record, if all calls of the run are simulated together.
    pub record: Option<Box<SimulationRecord>>,
}

/// The calls of all inputs that may bear on a wanted one. Keeps some 90 bytes for each write, and for each read that the
/// upstream refused; once the wanted call is found, only for those that bear on it.
#[derive(Default)]
pub struct CallBook {
    calls: Vec<BookedCall>,
    /// The wanted call, once it is found.
    about: Option<SentIn>,
    /// What the answers of calls show: few calls show something of their own.
    shown: Vec<AnswerEvidence>,
    shown_at: BTreeMap<AnswerEvidence, u32>,
    failures: ReadFailures,
    /// The calls that redeemed a reversal token, with their input and a mark of run and token.
    redeemed: BTreeMap<Place, (u32, u128)>,
    /// How many calls redeemed each.
    redemptions: BTreeMap<(u32, u128), u32>,
}

/// One call, and where what its answers show stands.
struct BookedCall {
    sent: SentIn,
    place: Place,
    at: Option<Instant>,
    number_in_run: u32,
    evidence: u32,
    writes: bool,
}

/// Collects evidence over one input, call by call.
pub struct EvidenceCollector<'a> {
    plan: &'a Plan,
    options: SessionOptions<'a>,
    recording: &'a mut RecordingAnalysis,
    sessions: Sessions,
    /// The number of calls so far.
    taken: u64,
    /// Calls whose reversal token another call of the run has sent.
    spent: BTreeSet<u64>,
    /// Wanted calls that are simulated with their run: none until their end.
    joined: BTreeMap<u64, Option<SimulationRecord>>,
    book: &'a mut CallBook,
}

/// The evidence on a wanted call when it closed.
pub struct AtClose {
    findings: Vec<Finding>,
    /// Its number among all calls of its input.
    number: u64,
}

impl<'a> EvidenceCollector<'a> {
    /// Nothing collected yet of the input; tool facts come from `plan`. `recording` and `book` take the calls of all
    /// inputs.
    pub fn new(
        plan: &'a Plan,
        options: SessionOptions<'a>,
        recording: &'a mut RecordingAnalysis,
        book: &'a mut CallBook,
    ) -> EvidenceCollector<'a> {
        recording.begin_input();
        EvidenceCollector {
            plan,
            options,
            recording,
            sessions: Sessions::default(),
            taken: 0,
            spent: BTreeSet::new(),
            joined: BTreeMap::new(),
            book,
        }
    }

    /// Takes the next closed call. Gives the evidence on it so far, in full if it `is_wanted`.
    pub fn take(&mut self, closed: &CompletedCall, is_wanted: bool) -> AtClose {
        let facts = self.plan.facts_of(closed.raw());
        let number = self.taken;
        self.taken += 1;
        let mut findings = Vec::new();
        let plans = std::slice::from_ref(self.plan);
        self.recording.take(closed, facts, plans, |finding| findings.push(finding));
        if is_wanted && self.plan.shares_state {
            self.joined.insert(number, None);
        }
        self.sessions.take(self.plan, self.options, number, closed);
        self.note_ended();
        if self.plan.playbook.graph.is_none() || closed.raw().gate_refusal().is_none() {
            self.book.add(closed, self.plan, facts); // what a recorded gate refused was never sent
        }
        if is_wanted && !has_steps(closed.raw(), Some(self.plan)) {
            let (plans, mut known) = (std::slice::from_ref(self.plan), KnownFailures::default());
            judge_attempts(closed, facts, &mut Judges::new(plans, &mut known), &mut findings);
        }
        AtClose { findings, number }
    }

    /// Keeps what bears on this call alone, from now on too.
    pub fn keep_what_bears_on(&mut self, closed: &CompletedCall) {
        self.book.keep_what_bears_on(closed, self.plan);
    }

    fn note_ended(&mut self) {
        for ended in self.sessions.take_ended() {
            if ended.token_spent {
                self.spent.insert(ended.number);
            }
            if let Some(record) = self.joined.get_mut(&ended.number) {
                *record = Some(*ended.record);
            }
        }
    }

    /// The evidence on a call after its whole input; `at_close` is what `take` gave for it. Other calls are added later.
    pub fn finish(&mut self, closed: &mut CompletedCall, at_close: AtClose) -> RecordingEvidence {
        let AtClose { findings, number } = at_close;
        let (facts, plans) = (self.plan.facts_of(closed.raw()), std::slice::from_ref(self.plan));
        if self.recording.is_unwise(closed, facts, plans, told_at(closed)) {
            closed.set_repeat_unwise();
        }
        let against = self.recording.against(closed, facts, plans, Moment::END);
        self.sessions.finish(self.plan);
        self.note_ended();
        let call = closed.raw();
        RecordingEvidence {
            gaps: InputGaps::default(), // known after the last input
            findings,
            said: AnswerEvidence::of(call, self.plan, self.plan.facts_of(call)).said,
            others: Vec::new(),
            against,
            in_run: InRun {
                token_spent: self.spent.contains(&number),
                record: self.joined.remove(&number).flatten().map(Box::new),
            },
            token_shared: Vec::new(), // known after the last input, too
        }
    }
}

impl CallBook {
    fn add(&mut self, closed: &CompletedCall, plan: &Plan, facts: ToolFacts) {
        let sent = sent_in(closed, facts);
        let token = closed.token_mark();
        if token.is_none() && self.about.is_some_and(|about| !may_bear_on(&about, &sent)) {
            return;
        }
        let evidence = AnswerEvidence::read(closed.raw(), plan, facts, &mut self.failures);
        let writes = facts.access == Access::Write;
        if !writes
            && (UpstreamSaid { more: false, resent: false, told_not_to: false, ..evidence.said })
                == UpstreamSaid::default()
        {
            return;
        }
        let (place, at, number_in_run) = (closed.raw().place, closed.raw().at, closed.raw().number_in_run);
        if let Some(token) = token.filter(|_| evidence.proved.taken_back > 0) {
            self.redeemed.insert(place, (place.input, token));
            *self.redemptions.entry((place.input, token)).or_default() += 1;
        }
        let evidence = self.number_of(evidence);
        self.calls.push(BookedCall { sent, place, at, number_in_run, evidence, writes });
    }

    /// Where what the answers of a call show stands.
    fn number_of(&mut self, evidence: AnswerEvidence) -> u32 {
        *self.shown_at.entry(evidence).or_insert_with(|| {
            self.shown.push(evidence);
            u32::try_from(self.shown.len() - 1).unwrap_or(u32::MAX)
        })
    }

    fn keep_what_bears_on(&mut self, closed: &CompletedCall, plan: &Plan) {
        let about = sent_in(closed, plan.facts_of(closed.raw()));
        self.calls.retain(|booked| may_bear_on(&about, &booked.sent) || self.redeemed.contains_key(&booked.place));
        self.calls.shrink_to_fit();
        self.about = Some(about);
    }

    /// What the answers of a call show. A reversal whose token several calls redeemed is doubted.
    fn evidence(&self, booked: &BookedCall) -> AnswerEvidence {
        let evidence = self.shown.get(booked.evidence as usize).copied().unwrap_or_default();
        let redemptions = self.redeemed.get(&booked.place).and_then(|token| self.redemptions.get(token));
        if redemptions.is_some_and(|calls| *calls > 1) { evidence.with_shared_token() } else { evidence }
    }

    /// Adds the other calls of all inputs to the evidence on a call.
    pub fn add_others(&self, closed: &CompletedCall, plan: &Plan, sources: &Sources, to: &mut RecordingEvidence) {
        let facts = plan.facts_of(closed.raw());
        to.token_shared = self.sharing_token(closed, sources);
        let (sent, place) = (sent_in(closed, facts), closed.raw().place);
        let is_ordered_by_time = |booked: &BookedCall| facts.across_runs || sent.shares_key(&booked.sent);
        let related = self.calls.iter().filter_map(|booked| {
            let later = booked.is_later_than(closed.raw(), is_ordered_by_time(booked));
            let known = Relation::of(&sent, &booked.sent, later);
            let matters = known.filter(|known| *known != Relation::LaterWrite || facts.idempotent);
            let maybe = || sent.doubt(&booked.sent).map(Relation::MaybeSame);
            let other_run = || sent.is_of_other_run(&booked.sent).then_some(Relation::OtherRun);
            let relation = matters.or_else(maybe).or(known).or_else(other_run)?;
            Some((booked, later, relation))
        });
        let mut related: Vec<(&BookedCall, bool, Relation)> = related.collect();
        if related.iter().all(|(booked, ..)| booked.at.is_some()) {
            let input = |booked: &BookedCall| if is_ordered_by_time(booked) { 0 } else { booked.place.input };
            related.sort_by_key(|(booked, ..)| (input(booked), booked.at));
        }
        for (booked, later, relation) in related {
            if booked.place != place {
                let evidence = self.evidence(booked);
                let proved = if booked.writes { evidence.proved } else { ProvedEffects::default() };
                to.others.push(OtherCall {
                    name: booked.name(closed, sources),
                    relation,
                    hides_args: sent.hides_args(&booked.sent),
                    later,
                    order_unknown: place.input != booked.place.input && !booked.is_at_another_time(closed.raw()),
                    effects: proved.net(),
                    taken_back: proved.all_taken_back(),
                    may_be_taken_back: proved.may_be_taken_back(),
                    reversed: proved.is_reversed(),
                    maybe: booked.writes && evidence.may_have_acted(),
                    claim: if booked.writes { evidence.net_claim() } else { EffectClaim::NotApplied },
                    said: evidence.said,
                });
            }
        }
        Finding::settle(&mut to.findings);
    }

    /// Sorts by place, because calls close in another order.
    pub fn settle(&mut self) {
        self.calls.sort_by_key(|booked| booked.place);
    }

    /// The other calls that redeemed the reversal token of a call that did so itself.
    fn sharing_token(&self, closed: &CompletedCall, sources: &Sources) -> Vec<OtherName> {
        let place = closed.raw().place;
        let own = self.redeemed.get(&place);
        let shares = |booked: &&BookedCall| booked.place != place && self.redeemed.get(&booked.place) == own;
        let others = self.calls.iter().filter(|_| own.is_some()).filter(shares);
        others.map(|booked| booked.name(closed, sources)).collect()
    }
}

impl BookedCall {
    /// Whether it was made later: in a later input, or by its time, or by its line. Inputs may share a key of one upstream,
    /// or a request: then their times come first.
    fn is_later_than(&self, call: &RecordedCall, is_shared: bool) -> bool {
        let moment = |place: Place, at| Moment::new(at, place.line);
        match self.place.input.cmp(&call.place.input) {
            Ordering::Equal => moment(self.place, self.at).is_after(moment(call.place, call.at)),
            _ if is_shared && self.is_at_another_time(call) => self.at > call.at,
            order => order.is_gt(),
        }
    }

    fn is_at_another_time(&self, call: &RecordedCall) -> bool {
        self.at.zip(call.at).is_some_and(|(own, other)| own != other)
    }

    fn name(&self, wanted: &CompletedCall, sources: &Sources) -> OtherName {
        let same_input = self.place.input == wanted.raw().place.input;
        let run = wanted.raw().run().map(|_| SentIn::mark_of_run(&wanted.hashes));
        if same_input && (self.sent.input, self.sent.run) == (self.place.input, run) {
            let run = wanted.shown().run().unwrap_or("");
            return OtherName::Reference(format!("{run}#{}", self.number_in_run));
        }
        if !same_input {
            return OtherName::Reference(sources.describe(self.place));
        }
        let origin = sources.find(self.place);
        OtherName::Place { line: origin.line, path: origin.path.map(|path| path.to_string()) }
    }
}

fn sent_in(closed: &CompletedCall, facts: ToolFacts) -> SentIn {
    SentIn::of(&closed.hashes, (closed.raw().place.input, closed.raw().run().is_some()), facts)
}

/// Whether a call that was sent in `other` may bear on one that was sent in `about`, whichever was made first.
fn may_bear_on(about: &SentIn, other: &SentIn) -> bool {
    Relation::of(about, other, true).is_some() || about.doubt(other).is_some() || about.is_of_other_run(other)
}
