//! The narrative of a call, in sentences: each rule tried, each guard asked, each decision with its reason.

use crate::doc::{Item, Text};
use crate::{text, timeline};
use playproof_analysis::explain::{Detail, Explanation, LetPass, NarrativeStep, Simulation, Subject};
use playproof_engine::classify::RuleEvaluation;
use playproof_engine::dispatch::wait_range;
use playproof_engine::event::{
    AdmissionRefusal, CircuitChange, Decision, EffectClaim, NoRetry, Outcome, OutcomeWord, Provenance, ReversalRefusal,
    Status, SuppressionReason,
};
use playproof_engine::ids::{ActionId, AttemptNo, CallId, ErrorId, QueueId, ReasonId, RuleId, ServerId, VerdictId};
use playproof_engine::playbook::{AfterRefresh, Backoff, Compensation, Playbook, Retry};
use playproof_engine::sim::Plan;
use playproof_engine::time::Duration;

/// The narrative of one simulation, a sentence an entry.
pub fn narrative(subject: &Subject, plan: &Plan, explanation: &Explanation) -> Vec<Item> {
    let simulation = &explanation.simulation;
    let mut narrator = Narrator { subject, plan, simulation, said: Vec::new() };
    explanation.steps.iter().for_each(|step| narrator.tell(step));
    narrator.said
}

struct Narrator<'a> {
    subject: &'a Subject,
    plan: &'a Plan,
    simulation: &'a Simulation,
    said: Vec<Item>,
}

impl Narrator<'_> {
    fn on_queued(&mut self, when: &str, place: u32, behind: Option<CallId>) {
        self.say(match behind.map(|behind| self.named(behind)) {
            None => format!("{when} no permit is free: the next attempt waits, at place {place} of the queue."),
            Some(behind) => format!(
                "{when} {behind} has not ended, and the actions of a run go one at a time: the call waits, at place \
                 {place} of the line."
            ),
        });
    }

    fn on_circuit(&mut self, when: &str, (server, change): (ServerId, CircuitChange)) {
        let server = self.simulation.transcript(self.plan).server(server);
        self.say(format!("{when} {}.", timeline::circuit(server, change)));
    }

    fn on_withheld(&mut self, action: ActionId) {
        let action = self.plan.names.action(action);
        self.say(format!(
            "An attempt may still be at work, and a second one could act again: the graph withholds `{action}` \
             until it is known to have failed."
        ));
    }

    fn on_released(&mut self, action: ActionId) {
        let action = self.plan.names.action(action);
        self.say(format!("That attempt has failed, so it is not at work any more: the graph offers `{action}` again."));
    }

    fn on_step_ended(&mut self, step: &str, ended: OutcomeWord, claim: EffectClaim, acts_again: bool) {
        let again = if acts_again { " Doing it again could act again." } else { "" };
        let (ended, claim) = (ended.as_str(), claim_in_words(claim));
        self.say(format!("Its step `{step}` ends {ended}, and claims that its effect is {claim}.{again}"));
    }

    fn on_joined(&mut self, when: &str, leader: CallId) {
        let leader = self.named(leader);
        self.say(format!(
            "{when} {leader} has the same key and is in flight: the call waits for it, and sends nothing."
        ));
    }

    fn on_cached(&mut self, leader: CallId, age: Duration) {
        let (leader, age) = (self.named(leader), timeline::millis(age));
        self.say(format!(
            "{leader} is equal and succeeded {age} ms before: the call gets that result, and sends nothing."
        ));
    }

    fn on_took_over(&mut self, when: &str, leader: CallId) {
        let leader = self.named(leader);
        self.say(format!("{when} {leader}, for which the call waited, is lost: the call is sent itself."));
    }

    fn on_unpaid(&mut self, attempt: AttemptNo, delay: Duration) {
        let delay = timeline::millis(delay);
        self.say(format!(
            "The retry budget is empty: attempt {attempt} is not sent, and the call ends after the {delay} ms that it would \
             have waited."
        ));
    }

    fn on_refused(
        &mut self,
        why: AdmissionRefusal,
        (error, by): (Option<ErrorId>, Option<CallId>),
        retry_after: Option<Duration>,
    ) {
        let said = error.and_then(|error| self.simulation.record.shown_error(error)?.message.as_deref());
        let said = said.map(|said| text::escape_unprintable(said).into_owned());
        let by = by.map(|call| self.simulation.transcript(self.plan).call(call));
        let cause = by.and_then(|by| timeline::cause(why, by));
        let all: Vec<String> = said.into_iter().chain(cause).collect();
        let all = if all.is_empty() { String::new() } else { format!(" ({})", all.join("; ")) };
        let wait = retry_after.map_or_else(String::new, |wait| format!(" in {} ms", timeline::millis(wait)));
        let until = match (why, by) {
            (AdmissionRefusal::InvalidTransition, Some(_)) if self.is_offered() => {
                ", from calls without its key, until one with it is done or that call is known to have failed"
            }
            (AdmissionRefusal::InvalidTransition, Some(_)) => {
                "; it is offered again only if that call is known to have failed"
            }
            _ => "",
        };
        let (turned_away, instead) = (timeline::turned_away(why, by, false), why.instead());
        self.say(format!(
            "The call is refused before its first attempt: {turned_away}{until}{all}. Nothing is sent. Instead: \
             {instead}{wait}."
        ));
    }

    /// Whether the graph offers the action of the call after it.
    fn is_offered(&self) -> bool {
        self.simulation.transcript(self.plan).offers(self.simulation.call, self.subject.tool())
    }

    /// The name of another call.
    fn named(&self, call: CallId) -> String {
        text::escape_unprintable(self.simulation.transcript(self.plan).call(call)).into_owned()
    }

    /// What the agent is told, if the call failed.
    fn on_told(&mut self) {
        let Some(told) = self.simulation.record.told_of(self.simulation.call) else { return };
        let again = match (told.retriable, told.retry) {
            (true, _) => match told.retry_after {
                Some(wait) => format!("that it may make the call again in {} ms", timeline::millis(wait)),
                None => "that it may make the call again".to_owned(),
            },
            (false, Some(NoRetry::Suppressed)) => "not to make the call again, because it may act twice".to_owned(),
            (false, Some(NoRetry::Exhausted)) => {
                "not to make the call again, because it was retried as often as it may be".to_owned()
            }
            (false, None) => "not to make the call again".to_owned(),
        };
        let (class, boundary) = (told.class.as_str(), told.boundary.as_str());
        self.say(format!("The agent is told `{class}` (boundary `{boundary}`), and {again}."));
    }

    fn tell(&mut self, step: &NarrativeStep) {
        let (when, plan) = (self.when(step.after), self.plan);
        let step_name = |action, step| plan.names.step(action, step);
        match step.decision {
            Decision::Refused { why, error, by, retry_after } => self.on_refused(why, (error, by), retry_after),
            Decision::Queued { place, behind } => self.on_queued(&when, place, behind),
            Decision::ActionWithheld { action } => self.on_withheld(action),
            Decision::ActionReleased { action } => self.on_released(action),
            Decision::Transaction { became, by } => {
                let by = by.map_or_else(String::new, |by| format!(", because of {}", self.named(by)));
                self.say(format!("{when} its transaction: {}{by}.", timeline::became(became)));
            }
            Decision::StepEnded { action, step, ended, claim, acts_again, .. } => {
                self.on_step_ended(step_name(action, step), ended, claim, acts_again);
            }
            Decision::StepSkipped { action, step } => {
                let step = step_name(action, step);
                self.say(format!("Its step `{step}` is skipped, and what is done is not undone."));
            }
            Decision::Joined { leader } => self.on_joined(&when, leader),
            Decision::ServedFromCache { leader, age } => self.on_cached(leader, age),
            Decision::TookOver { leader } => self.on_took_over(&when, leader),
            Decision::Cancelled => self.say(format!("{when} the caller goes away.")),
            Decision::CircuitOpened { .. } | Decision::CircuitHalfOpen { .. } | Decision::CircuitClosed { .. } => {
                step.decision.circuit().into_iter().for_each(|change| self.on_circuit(&when, change));
            }
            Decision::AttemptStarted { attempt, evidence } => {
                let with = if evidence.0 == 0 { "" } else { " with the new evidence" };
                let again = if attempt == AttemptNo::FIRST { "sent" } else { "sent again" };
                self.say(format!("{when} the call is {again}{with}: attempt {attempt}."));
            }
            Decision::AttemptFinished { attempt, status, latency, provenance, over_timeout } => {
                self.on_answer(attempt, status, latency, provenance, over_timeout);
            }
            Decision::LateAnswer { attempt, status } => self.on_late(&when, attempt, status),
            Decision::FailureClassified { verdict, rule, ignored } => {
                let trials = if let Detail::Tried(trials) = &step.detail { trials.as_slice() } else { &[] };
                self.on_verdict(verdict, rule, ignored, trials);
            }
            Decision::RetryScheduled { attempt, delay, draw, told, .. } => {
                let why = self.let_pass(&step.detail);
                let told = told.map_or_else(String::new, |told| {
                    format!(" The upstream asked to wait {} ms.", timeline::millis(told))
                });
                let draw = draw.map_or_else(String::new, |draw| format!(" The draw is {draw}."));
                self.say(format!("{why} Attempt {attempt} is due in {} ms.{told}{draw}", timeline::millis(delay)));
            }
            Decision::RetryUnpaid { attempt, delay } => self.on_unpaid(attempt, delay),
            Decision::RetrySuppressed { why } => self.on_suppressed(why),
            Decision::EvidenceRefreshed { status, .. } => {
                let said = self.answer(status);
                self.say(format!("{when} the upstream is asked for a new snapshot of the evidence: {said}."));
            }
            Decision::Escalated { queue } => self.on_escalated(queue),
            Decision::ReversalRefused { why } => self.on_reversal_refused(&when, why),
            Decision::ReversalRedeemed { reason, .. } => self.on_redeemed(&when, reason),
            Decision::Deprecated { why } => {
                let why = text::escape_unprintable(plan.names.deprecated_why(why));
                self.say(format!("The call is deprecated: {why}."));
            }
            Decision::Outcome(outcome) => {
                self.on_outcome(outcome);
                self.on_told();
            }
        }
    }

    fn on_late(&mut self, when: &str, attempt: AttemptNo, status: Status) {
        let said = self.answer(status);
        let counts = if status == Status::Ok { "its effect" } else { "what it says of the effect" };
        self.say(format!(
            "{when} the answer to attempt {attempt} arrives late: {said}. It changes no decision, but {counts} counts."
        ));
    }

    fn on_suppressed(&mut self, why: SuppressionReason) {
        let key = match self.subject.key() {
            Some(_) => "the upstream ignores the idempotency key",
            None => "the call has no idempotency key",
        };
        self.say(format!(
            "The retry guard stops the next attempt: the tool is a write that is not idempotent, {key}, and {}.",
            timeline::suppressed(why)
        ));
    }

    fn on_reversal_refused(&mut self, when: &str, why: ReversalRefusal) {
        let refused = timeline::refused(why);
        self.say(match why.was_sent() {
            true => format!("{when} the reversal token is sent, but the reversal is not confirmed: {refused}."),
            false => format!("The token guard refuses the reversal: {refused}."),
        });
    }

    /// A call that was refused before its first attempt is escalated only because it was refused so often.
    fn on_escalated(&mut self, queue: QueueId) {
        let queue = self.plan.names.queue(queue);
        let mut own = self.simulation.record.events.iter().filter(|event| event.call == self.simulation.call);
        let refused = own.any(|event| event.what.refusal().is_some());
        let stuck = self.plan.playbook.graph.as_ref().and_then(|graph| graph.stuck).filter(|_| refused);
        self.say(match stuck {
            Some(stuck) => format!(
                "The same call was refused {} times in a row or more, so `stuck` hands it to people: it waits in the queue \
                 `{queue}`.",
                stuck.after
            ),
            None => format!(
                "The call is escalated: it waits for a person in the queue `{queue}`, and no further attempt is made."
            ),
        });
    }

    fn on_redeemed(&mut self, when: &str, reason: ReasonId) {
        let reason = text::escape_unprintable(self.plan.names.reason(reason));
        self.say(format!("{when} the reversal token is redeemed: {reason}."));
    }

    fn on_outcome(&mut self, outcome: Outcome) {
        if let Some(stop) = outcome.kind.shared_stop() {
            let by = outcome.stopped_by.map(|by| match by == self.simulation.call {
                true => "this call itself".to_owned(),
                false => self.named(by),
            });
            self.say(timeline::stopped(stop, by.as_deref()));
        }
        let valid = self.valid_after();
        self.say(format!(
            "The call ends {}. It claims that the effect is {}.{valid}",
            timeline::outcome(&self.simulation.transcript(self.plan), outcome.kind),
            claim_in_words(outcome.claim)
        ));
    }

    /// Under a graph: what is valid after the call.
    fn valid_after(&self) -> String {
        let transcript = self.simulation.transcript(self.plan);
        let Some(valid) = transcript.valid_after(self.simulation.call) else { return String::new() };
        match valid.withheld.as_slice() {
            [] => format!(" Valid after it: {}.", timeline::actions(&transcript, &valid.next)),
            withheld => format!(
                " Valid after it: {}. Withheld: {}.",
                timeline::actions(&transcript, &valid.next),
                timeline::actions(&transcript, withheld)
            ),
        }
    }

    /// The time of a step; without times in the source, the delay that the playbook added.
    fn when(&self, since: Duration) -> String {
        match (self.subject.is_timed(), since) {
            (true, since) => format!("At {} ms", timeline::millis(since)),
            (false, Duration::ZERO) => "First".to_owned(),
            (false, since) => format!("After {} ms of added delay", timeline::millis(since)),
        }
    }

    fn on_answer(
        &mut self,
        attempt: AttemptNo,
        status: Status,
        latency: Option<Duration>,
        provenance: Provenance,
        over_timeout: bool,
    ) {
        let after = match latency {
            Some(latency) => format!("after {} ms", timeline::millis(latency)),
            None => "after an unknown time".to_owned(),
        };
        let whence = match provenance {
            Provenance::Recorded => " (recorded)",
            Provenance::Inferred => " (inferred: an identical later call is read as this attempt)",
            Provenance::Scripted => "",
            Provenance::Modelled => " (modelled, not recorded)",
            Provenance::Unanswered => "",
        };
        let late = if over_timeout { " A live dispatcher would have timed out before that." } else { "" };
        let said = self.answer(status);
        self.say(match status {
            Status::Unanswered => format!("The answer to attempt {attempt} is missing."),
            Status::Ok | Status::Failed(_) | Status::Suspected(_) | Status::Unfinished(_) => {
                format!("It is answered {after}{whence}: {said}.{late}")
            }
        });
    }

    fn on_verdict(&mut self, verdict: VerdictId, rule: Option<RuleId>, ignored: bool, trials: &[RuleEvaluation]) {
        let tried = trials.len();
        self.say(match rule {
            Some(rule) => format!(
                "The rules are tried in order; `{}` is the {} and the first that matches.",
                self.plan.names.rule(Some(rule)),
                text::ordinal(tried as u64)
            ),
            None if tried == 0 => "The playbook has no rules.".to_owned(),
            None => format!("The rules are tried in order; none of the {tried} matches."),
        });
        let below: Vec<Text> = trials.iter().map(|trial| self.trial(trial).into()).collect();
        self.said.last_mut().into_iter().for_each(|said| said.below.clone_from(&below));
        let playbook = &self.plan.playbook;
        let meant = playbook.verdict(verdict);
        let means = text::escape_unprintable(&meant.means);
        let means = means.trim_end_matches('.');
        self.say(format!(
            "The verdict is `{}`: {}{}; the effect of such a failure is {}.",
            text::escape_unprintable(&meant.name),
            if rule.is_none() { "the playbook's `otherwise`. " } else { "" },
            if means.is_empty() { "no meaning is given" } else { means },
            claim_in_words(meant.effect)
        ));
        if ignored {
            return self.say("This playbook acts on the first failure only, so this one changes nothing.".to_owned());
        }
        self.say(format!("Its compensation is `{}`{}.", meant.then.as_str(), parameters(&meant.then, playbook)));
    }

    fn trial(&self, trial: &RuleEvaluation) -> String {
        let name = self.plan.names.rule(Some(trial.rule));
        if trial.matched {
            let asked: Vec<&str> = trial.conditions.iter().map(|condition| condition.asked.as_str()).collect();
            return format!("yes  {name}: {}", asked.join(", and "));
        }
        let missed = trial.conditions.iter().find(|condition| !condition.held);
        let why =
            missed.map_or(String::new(), |missed| format!("it requires that {}, but {}", missed.asked, missed.found));
        format!("no   {name}: {}", text::fitted(&why, 200))
    }

    /// Why the retry guard let a further attempt pass.
    fn let_pass(&self, detail: &Detail) -> String {
        let Detail::LetPass(why) = detail else { return String::new() };
        let because = match why {
            LetPass::Off => return "The retry guard is off in this playbook.".to_owned(),
            LetPass::Read => "the tool only reads".to_owned(),
            LetPass::Idempotent => "the tool is idempotent".to_owned(),
            LetPass::Keyed => format!(
                "the call has the idempotency key `{}`, and is resent with it",
                text::fitted(self.subject.key().unwrap_or_default(), 60)
            ),
            LetPass::NotApplied => "no attempt of this call can have acted so far".to_owned(),
        };
        format!("The retry guard lets the next attempt pass: {because}.")
    }

    fn answer(&self, status: Status) -> String {
        match status {
            Status::Ok => "ok".to_owned(),
            Status::Unanswered => "the answer is missing".to_owned(),
            Status::Failed(error) => {
                let error = error.and_then(|id| self.simulation.record.shown_error(id));
                timeline::failure(error).trim_end_matches('.').to_owned()
            }
            Status::Unfinished(error) => {
                let error = error.and_then(|id| self.simulation.record.shown_error(id));
                timeline::unfinished(error).trim_end_matches('.').to_owned()
            }
            Status::Suspected(error) => {
                let error = error.and_then(|id| self.simulation.record.shown_error(id));
                timeline::suspected(error).trim_end_matches('.').to_owned()
            }
        }
    }

    fn say(&mut self, sentence: String) {
        self.said.push(sentence.into());
    }
}

/// A claim as the end of a sentence.
pub const fn claim_in_words(claim: EffectClaim) -> &'static str {
    match claim {
        EffectClaim::Applied => "applied",
        EffectClaim::NotApplied => "not applied",
        EffectClaim::Unknown => "unknown",
    }
}

/// The waits of a retry: its list, or those of its first retries with their bounds.
fn waits(retry: &Retry) -> String {
    const SHOWN: u32 = 4;
    let shown = match &retry.backoff {
        Backoff::Listed(list) => u32::try_from(list.len()).unwrap_or(SHOWN),
        Backoff::Formula(_) => retry.max_retries.min(SHOWN),
    };
    let each = (1..=shown).map(|n| match wait_range(&retry.backoff, n) {
        (least, most) if least == most => timeline::millis(least),
        (least, most) => format!("{} to {}", timeline::millis(least), timeline::millis(most)),
    });
    let more = if matches!(retry.backoff, Backoff::Formula(_)) && retry.max_retries > SHOWN { ", ..." } else { "" };
    format!("{}{more}", each.collect::<Vec<_>>().join(", "))
}

fn parameters(compensation: &Compensation, playbook: &Playbook) -> String {
    match compensation {
        Compensation::RetryWithBackoff(retry) => {
            let most = text::counted(retry.max_retries.into(), "retry", "retries");
            format!(": at most {most}, after {} ms", waits(retry))
        }
        Compensation::RefreshEvidence(refresh) => match refresh.then {
            AfterRefresh::Retry => ": refresh the evidence, then send again".to_owned(),
            AfterRefresh::Abort => ": refresh the evidence, then deprecate the call".to_owned(),
        },
        Compensation::EscalateToHuman(queue) => {
            format!(", queue `{}`", playbook.queues.get(queue.index()).map_or("?", |name| name))
        }
        Compensation::IssueReversal(_) => ": reverse the effect with the reversal token".to_owned(),
        Compensation::DeprecateToolCall(_) => String::new(),
    }
}
