//! What an upstream may answer to a call of one kind: one answer for each meaning that the classifier can tell apart, with
//! and without the effect that it can hide.

use std::collections::BTreeSet;
use std::sync::Arc;

use playproof_engine::classify::{Signal, keyed_for, knows_key, reads_as_outage, reads_as_stale, server_says};
use playproof_engine::event::{EffectClaim, ErrorFacts, RequestKind};
use playproof_engine::evidence::FailureMeaning;
use playproof_engine::ids::{AttemptNo, VerdictId};
use playproof_engine::playbook::{Compensation, ConditionKind, Rule, ServerDelay};
use playproof_engine::sim::Plan;
use playproof_engine::time::Duration;
use playproof_engine::upstream::{ScriptedAnswer, UpstreamReply};

use crate::assumption::Assumption;
use crate::calls::CallKind;
use crate::synthesize;
use crate::world::{self, Reading, Row};

/// How long an answer takes that comes after everything else.
const LATEST: Duration = Duration::from_millis(7 * 24 * 3_600_000);

/// A wait that an upstream may ask for: within the limits of most playbooks.
const SHORT_WISH: Duration = Duration::from_millis(2_000);

/// A wait that no run of an agent outlives.
const LONG_WISH: Duration = Duration::from_millis(24 * 3_600_000);

/// How many times rules are compared with failures for one alphabet; then no more answers are made.
pub(crate) const MOST_CHECKS: usize = 200_000;

/// Attempts whose classification is looked at; later ones are classified as the last of them.
const ATTEMPTS: u32 = 24;

/// One answer.
#[derive(Clone, Debug)]
pub struct Letter {
    /// What it is, for people.
    pub name: String,
    /// As a fixture has it.
    pub answer: ScriptedAnswer,
    /// Whether its request acts.
    pub acts: bool,
    /// Whether no answer comes before the timeout.
    pub silent: bool,
    /// Whether its request is at work for longer than the call.
    pub works_on: bool,
    /// The state of the key that it needs.
    pub needs: Reading,
    /// Whether it departs from an upstream that works.
    pub departs: bool,
    /// By attempt.
    verdicts: Vec<VerdictId>,
    /// Whether its playbook's claim is believed.
    believed: bool,
}

/// What an upstream may answer to the requests of a call.
#[derive(Clone, Debug)]
pub struct Alphabet {
    /// Whether answers are left out, for they took too much work.
    pub is_cut: bool,
    attempts: Vec<Letter>,
    refreshes: Vec<Letter>,
    reversals: Vec<Letter>,
}

/// A script of answers, as places in the alphabet.
pub type Path = Vec<(RequestKind, usize)>;

/// What the upstream knows of the call when an answer is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyState {
    /// An earlier attempt has acted.
    pub acted: bool,
    /// An earlier attempt is at work: it will act, or fail in the end.
    pub out: bool,
    /// Whether the upstream knows the key again.
    pub honoured: bool,
}

impl Alphabet {
    /// The answers to a call of this kind, in a world without one of its assumptions.
    pub fn of(plan: &Plan, kind: &CallKind, world: &[Row], dropped: Option<&Assumption>) -> Alphabet {
        let mut made = Making::new(plan, kind, dropped);
        made.success();
        made.silence(world);
        made.crash(world);
        for row in world {
            for example in row.examples {
                made.failure(world, Some(error(*example)));
            }
        }
        made.failure(world, None);
        for wish in [SHORT_WISH, LONG_WISH] {
            for (kind, status) in [(Some("429_rate_limited"), 429), (None, 503)] {
                made.failure(world, Some(ErrorFacts { retry_after: Some(wish), ..error((kind, Some(status), None)) }));
            }
        }
        let fits = |made: &synthesize::SyntheticFailure| {
            made.fits(kind.shape) && made.tool.as_deref().is_none_or(|tool| tool == kind.tool)
        };
        let examples: Vec<_> = synthesize::of_playbook(&plan.playbook).into_iter().filter(fits).collect();
        for example in &examples {
            // The words of one rule with the status of another: what is asked of the first does not depend on whether there
            // is the second.
            let is_lent = |error: &ErrorFacts| example.lends_status && world::is_own_word(error);
            let agrees = example.error.as_ref().is_none_or(|error| world::agrees(error) && !is_lent(error));
            if agrees || dropped == Some(&Assumption::KindAndStatus) {
                made.failure(world, example.error.clone());
            }
        }
        if dropped == Some(&Assumption::KindAndStatus) {
            for example in examples.iter().filter_map(|example| example.error.as_ref()) {
                made.disagreeing(world, example);
            }
        }
        let of_reversal = [
            (plain("the reversal works", UpstreamReply::Ok, None), false),
            (plain("the reversal is refused", failed(Some("403_forbidden"), Some(403)), Some(false)), true),
            (plain("the reversal fails, and took nothing back", failed(None, Some(500)), Some(false)), true),
            (plain("the reversal fails, and took the effect back", failed(None, Some(500)), Some(true)), true),
            (plain("the answer to the reversal is lost", UpstreamReply::Lost, Some(true)), true),
            (plain("the reversal is lost", UpstreamReply::Lost, Some(false)), true),
        ];
        let of_refresh = [
            (plain("the refresh works", UpstreamReply::Ok, None), false),
            (plain("the refresh is refused", failed(None, Some(404)), None), true),
            (plain("the refresh is lost", UpstreamReply::Lost, None), true),
        ];
        let letter = |(letter, departs): (Letter, bool)| Letter { departs, ..letter };
        Alphabet {
            is_cut: made.is_cut,
            attempts: made.letters,
            refreshes: of_refresh.map(letter).into(),
            reversals: of_reversal.map(letter).into(),
        }
    }

    /// The answers to a request of this kind.
    pub fn answers(&self, asked: RequestKind) -> &[Letter] {
        match asked {
            RequestKind::Attempt(_) => &self.attempts,
            RequestKind::Refresh(_) => &self.refreshes,
            RequestKind::Reversal => &self.reversals,
        }
    }

    /// The answers to attempts.
    pub(crate) fn attempts(&self) -> &[Letter] {
        &self.attempts
    }

    /// The same without one answer to attempts, by its place.
    #[cfg(test)]
    pub(crate) fn without(&self, place: usize) -> Alphabet {
        let mut other = self.clone();
        other.attempts.remove(place);
        other
    }
}

impl Letter {
    /// Whether the upstream can give this answer now.
    pub fn is_possible(&self, plan: &Plan, asked: RequestKind, key: KeyState) -> bool {
        let RequestKind::Attempt(attempt) = asked else { return true };
        let KeyState { acted, out, honoured } = key;
        if honoured && (self.acts && (acted || out) || self.answer.reply == UpstreamReply::Ok && out) {
            return false;
        }
        match self.needs {
            Reading::Processed => return acted,
            Reading::InFlight => return out,
            _ => {}
        }
        if !self.believed {
            return true;
        }
        match self.verdict(attempt).map(|verdict| plan.playbook.verdict(verdict).effect) {
            Some(EffectClaim::Applied) => self.acts || acted,
            Some(EffectClaim::NotApplied) => !self.acts,
            Some(EffectClaim::Unknown) | None => true,
        }
    }

    /// Whether the call ends with this answer, in one way whenever it comes.
    pub fn ends(&self, plan: &Plan, attempt: AttemptNo) -> bool {
        let verdict = self.verdict(attempt).map(|verdict| &plan.playbook.verdict(verdict).then);
        let ends =
            |then: &Compensation| matches!(then, Compensation::EscalateToHuman(_) | Compensation::DeprecateToolCall(_));
        let one_decides = plan.shares_state || plan.playbook.obeys_first_failure_only();
        !one_decides && !self.silent && (self.answer.reply == UpstreamReply::Ok || verdict.is_some_and(ends))
    }

    /// Whether it shows that the upstream knows the key of the call.
    pub fn knows_key(&self, keyed: bool) -> bool {
        matches!(&self.answer.reply, UpstreamReply::Failed(Some(error)) if knows_key(error, keyed))
    }

    /// Whether it is what a dispatcher hears that died while its request was out.
    pub fn is_crash(&self) -> bool {
        matches!(&self.answer.reply, UpstreamReply::Failed(Some(error)) if is_crash(error))
    }

    /// The verdicts that it can get.
    pub fn verdicts(&self) -> &[VerdictId] {
        &self.verdicts
    }

    fn verdict(&self, attempt: AttemptNo) -> Option<VerdictId> {
        let place = attempt.index().min(self.verdicts.len().saturating_sub(1));
        self.verdicts.get(place).copied()
    }

    /// The answer as a fixture has it, of an upstream that knows what it has done.
    pub fn scripted(&self, asked: RequestKind, key: KeyState) -> ScriptedAnswer {
        let is_attempt = matches!(asked, RequestKind::Attempt(_));
        let repeats = is_attempt && self.answer.reply == UpstreamReply::Ok && key.honoured && key.acted;
        ScriptedAnswer { applied: if repeats { Some(false) } else { self.answer.applied }, ..self.answer.clone() }
    }
}

/// An alphabet that is being made.
struct Making<'a> {
    plan: &'a Plan,
    kind: &'a CallKind,
    dropped: Option<&'a Assumption>,
    letters: Vec<Letter>,
    /// What the answers so far mean, whether they act, and what they need.
    known: BTreeSet<((String, bool), Reading)>,
    /// How many times a rule was compared with a failure.
    checks: usize,
    /// Whether that was too often, so that a failure was left out.
    is_cut: bool,
}

/// The verdicts of a failure by attempt, and whether the rule of each asks for the key.
type Classified = Vec<(VerdictId, bool)>;

impl<'a> Making<'a> {
    fn new(plan: &'a Plan, kind: &'a CallKind, dropped: Option<&'a Assumption>) -> Making<'a> {
        Making { plan, kind, dropped, letters: Vec::new(), known: BTreeSet::new(), checks: 0, is_cut: false }
    }

    /// A success in time.
    fn success(&mut self) {
        let ok = plain("ok", UpstreamReply::Ok, None);
        self.letters.push(Letter { acts: self.kind.acts_without(self.dropped), ..ok });
    }

    /// What is no answer in time: nothing at all, or a success that comes when the call is over.
    fn silence(&mut self, world: &[Row]) {
        let error = no_answer(self.kind.facts.timeout);
        let classified = self.classified(Some(&error));
        let reading = self.reading(world, Some(&error), &classified);
        for acts in self.effects(reading) {
            let name = if acts { "no answer; it acted" } else { "no answer; it did nothing" };
            let letter = Letter { acts, departs: true, ..plain(name, UpstreamReply::Lost, Some(acts)) };
            self.add(letter, Some(&error), &classified, reading);
        }
        if self.effects(reading).contains(&true) {
            let ok = plain("ok, long after the call", UpstreamReply::Ok, None);
            let answer = ScriptedAnswer { latency: LATEST, ..ok.answer };
            let letter = Letter { answer, acts: true, silent: true, works_on: true, departs: true, ..ok };
            self.letters.push(Letter {
                believed: reading == Reading::Believed,
                verdicts: verdicts(&classified),
                ..letter
            });
        }
        if self.is_keyed() && self.kind.writes() {
            let late = plain("no answer; at work until after the call, it did nothing", failed(None, Some(500)), None);
            let answer = ScriptedAnswer { latency: LATEST, applied: Some(false), ..late.answer };
            let letter = Letter { answer, silent: true, works_on: true, departs: true, ..late };
            self.letters.push(Letter { verdicts: verdicts(&classified), ..letter });
        }
    }

    /// A crash of the program while its request is out; where a later request can meet it, also at work until after the call.
    fn crash(&mut self, world: &[Row]) {
        let known = self.letters.len();
        self.failure(world, Some(ErrorFacts::interrupted()));
        if !self.is_keyed() || !self.kind.writes() {
            return;
        }
        let of_crash = self.letters.iter().skip(known);
        let at_work = of_crash.map(|letter| Letter {
            name: letter.name.replace("; it", "; at work until after the call, it"),
            works_on: true,
            ..letter.clone()
        });
        let at_work: Vec<Letter> = at_work.collect();
        self.letters.extend(at_work);
    }

    /// A failure, with each effect that it can hide, if no answer so far means the same.
    fn failure(&mut self, world: &[Row], error: Option<ErrorFacts>) {
        self.is_cut |= self.checks > MOST_CHECKS;
        if self.is_cut {
            return;
        }
        let classified = self.classified(error.as_ref());
        let reading = self.reading(world, error.as_ref(), &classified);
        let can_hide = self.effects(reading).len() > 1;
        for acts in self.effects(reading) {
            let said = error.as_ref().map_or("an answer without an error object".to_owned(), words);
            let name = match (can_hide, acts) {
                (false, _) => said,
                (true, true) => format!("{said}; it acted"),
                (true, false) => format!("{said}; it did nothing"),
            };
            let reply = UpstreamReply::Failed(error.clone().map(Arc::new));
            let departs = !matches!(reading, Reading::Processed | Reading::InFlight);
            let letter = Letter { acts, departs, ..plain(&name, reply, Some(acts)) };
            self.add(letter, error.as_ref(), &classified, reading);
        }
    }

    /// Adds an answer, if none so far means the same and can always be given, or under the same condition.
    fn add(&mut self, letter: Letter, error: Option<&ErrorFacts>, classified: &Classified, reading: Reading) {
        let condition = match reading {
            Reading::Nothing | Reading::MayHaveActed => Reading::Nothing,
            conditional => conditional,
        };
        let meaning = (self.meaning(error, classified), letter.acts);
        let is_known = |condition| self.known.contains(&(meaning.clone(), condition));
        if is_known(condition) || letter.departs && is_known(Reading::Nothing) {
            return;
        }
        self.known.insert((meaning, condition));
        let (verdicts, believed) = (verdicts(classified), reading == Reading::Believed);
        self.letters.push(Letter { needs: reading, verdicts, believed, ..letter });
    }

    /// How the world reads a failure of a call of this kind.
    fn reading(&self, world: &[Row], error: Option<&ErrorFacts>, classified: &Classified) -> Reading {
        let row = world::row_of(world, error).and_then(|row| world.get(row));
        let reading = row.map_or(Reading::MayHaveActed, |row| row.reading);
        let is_assumed = match self.dropped {
            Some(Assumption::RefusalsDidNothing) => row.is_some_and(|row| row.is_refusal),
            Some(Assumption::Verdict(name)) => {
                let is_it = |(verdict, _): &(VerdictId, bool)| *self.plan.playbook.verdict(*verdict).name == **name;
                reading == Reading::Believed && classified.iter().any(is_it)
            }
            _ => false,
        };
        match reading {
            _ if is_assumed => Reading::MayHaveActed,
            // Of another request than one without a key.
            Reading::Processed | Reading::InFlight if !self.is_keyed() => Reading::MayHaveActed,
            Reading::Believed => self.believed(classified),
            reading => reading,
        }
    }

    /// Whether requests have a key: the call's, or one that a client makes.
    fn is_keyed(&self) -> bool {
        let makes_keys = self.plan.playbook.studies(|study| study.makes_keys) && self.kind.writes();
        self.kind.shape.keyed || makes_keys
    }

    /// What is believed of a failure: its playbook's claim, if that is the same for each attempt.
    fn believed(&self, classified: &Classified) -> Reading {
        let all = |effect| classified.iter().all(|(verdict, _)| self.plan.playbook.verdict(*verdict).effect == effect);
        if all(EffectClaim::NotApplied) {
            Reading::Nothing
        } else if all(EffectClaim::Unknown) {
            Reading::MayHaveActed
        } else {
            Reading::Believed
        }
    }

    /// The effects that an answer of this reading can hide.
    fn effects(&self, reading: Reading) -> Vec<bool> {
        match reading {
            Reading::MayHaveActed | Reading::Believed if self.kind.acts_without(self.dropped) => vec![false, true],
            _ => vec![false],
        }
    }

    /// The same failure with kinds and statuses that do not agree.
    fn disagreeing(&mut self, world: &[Row], error: &ErrorFacts) {
        for status in [200, 400, 403, 409, 429, 500].into_iter().filter(|_| error.kind.is_some()) {
            self.failure(world, Some(ErrorFacts { status: Some(status), ..error.clone() }));
        }
        for kind in ["403_forbidden", "429_rate_limited", "5xx", "timeout"] {
            if error.status.is_some() && error.kind.is_none() {
                self.failure(world, Some(ErrorFacts { kind: Some(kind.into()), ..error.clone() }));
            }
        }
    }

    fn classified(&mut self, error: Option<&ErrorFacts>) -> Classified {
        let keyed = keyed_for(error, self.kind.key());
        let Plan { playbook, classifier, .. } = self.plan;
        let asks_for_key = |rule: &Rule| rule.when.is(ConditionKind::Keyed) == Some(true);
        let most = if classifier.asks().attempts { ATTEMPTS } else { 1 };
        let attempts = playbook.limits.max_attempts.clamp(1, most);
        self.checks += attempts as usize * classifier.candidates(error.and_then(|error| error.kind.as_deref()));
        let classify = |attempt| {
            let signal = Signal::new(error, &self.kind.tool, self.kind.facts, keyed, AttemptNo::new(attempt));
            let found = classifier.classify(&signal);
            (found.verdict, found.rule.is_some_and(|rule| asks_for_key(playbook.rule(rule))))
        };
        (1..=attempts).map(classify).collect()
    }

    /// What a failure means to dispatcher and findings: answers that mean the same are one.
    fn meaning(&self, error: Option<&ErrorFacts>, classified: &Classified) -> String {
        let keyed = keyed_for(error, self.kind.key());
        let sources = &self.plan.playbook.server_delay_sources;
        let is_any = |of: &dyn Fn(&Compensation) -> bool| {
            classified.iter().any(|(verdict, _)| of(&self.plan.playbook.verdict(*verdict).then))
        };
        let heeds = |then: &Compensation| then.retry().is_some_and(|retry| retry.server_delay != ServerDelay::IGNORED);
        let says = error.map(|error| server_says(error, sources, None)).filter(|_| is_any(&heeds));
        let failure = FailureMeaning::of_error(error, keyed == Some(true));
        let stale = error.is_some_and(reads_as_stale);
        let again = Some((stale, failure.processed)).filter(|_| is_any(&Compensation::sends_again));
        let outage = !self.plan.playbook.breakers.is_empty() && reads_as_outage(error);
        format!("{classified:?}{says:?}{again:?}{outage}{}", failure.denied)
    }
}

fn verdicts(classified: &Classified) -> Vec<VerdictId> {
    classified.iter().map(|(verdict, _)| *verdict).collect()
}

fn plain(name: &str, reply: UpstreamReply, applied: Option<bool>) -> Letter {
    Letter {
        name: name.to_owned(),
        silent: reply == UpstreamReply::Lost,
        works_on: false,
        answer: ScriptedAnswer { reply, latency: Duration::ZERO, applied },
        acts: applied == Some(true),
        needs: Reading::Nothing,
        departs: false,
        verdicts: Vec::new(),
        believed: false,
    }
}

fn failed(kind: Option<&str>, status: Option<u16>) -> UpstreamReply {
    UpstreamReply::failed(error((kind, status, None)))
}

fn error((kind, status, message): (Option<&str>, Option<u16>, Option<&str>)) -> ErrorFacts {
    ErrorFacts { kind: kind.map(Into::into), status, message: message.map(Into::into), ..ErrorFacts::default() }
}

/// The error that a simulation gives to an attempt without an answer in time.
fn no_answer(timeout: Duration) -> ErrorFacts {
    let message = format!("no answer within {timeout} ms");
    error((Some("timeout"), None, Some(&message)))
}

/// Whether it is the error of a request that was out when its dispatcher died.
fn is_crash(error: &ErrorFacts) -> bool {
    *error == ErrorFacts::interrupted()
}

/// An error in a few words: its kind or status, and its message.
fn words(error: &ErrorFacts) -> String {
    if is_crash(error) {
        return "the program crashed".to_owned();
    }
    let status = error.status.map(|status| status.to_string());
    let agrees = error.status.is_some() && error.kind.as_deref().and_then(world::status_of_kind) == error.status;
    let parts = [
        error.kind.as_deref().map(str::to_owned),
        status.filter(|_| !agrees),
        error.code.as_deref().map(str::to_owned),
        error.message.as_deref().map(|message| format!("\"{message}\"")),
        error.retry_after.map(|wish| format!("retry after {wish} ms")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "an error that says nothing".to_owned() } else { parts.join(" ") }
}
