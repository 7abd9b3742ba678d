//! The timeline of a call in virtual time, one event per line: as recorded, and under a playbook.

use std::borrow::Cow;

use crate::doc::{Text, TimedLine, Tone};
use crate::text;
use crate::view::{CallView, RunView};
use playproof_analysis::envelope::WITHHELD;
use playproof_engine::call::{AnswerTo, Reply};
use playproof_engine::event::{
    AdmissionRefusal, Became, CircuitChange, Death, Decision, Draw, ErrorFacts, OutcomeKind, Provenance, RequestKind,
    ReversalRefusal, Status, StopReason, SuppressionReason, Transcript,
};
use playproof_engine::ids::{ActionId, AttemptNo, CallId};
use playproof_engine::sim::OffTape;
use playproof_engine::time::{Duration, Instant};

use LineKind::{Decided, Failed, Good, Sent, Stopped};

/// One line of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineLine {
    /// The time since the call; none if unknown or the same as on the line above.
    pub at: Option<Duration>,
    /// Whether the time is unknown.
    pub unknown: bool,
    /// Whether `at` is the delay that the playbook added, because the source has no times.
    pub added: bool,
    /// What happened.
    pub text: String,
    /// What it tells of.
    pub kind: LineKind,
    /// Whether playbook and recording first differ here.
    pub departs: bool,
    /// What the ledger booked at that time.
    pub booked: String,
}

/// What a line tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Something was sent.
    Sent,
    /// Success.
    Good,
    /// A failure.
    Failed,
    /// A decision.
    Decided,
    /// A guard stopped something.
    Stopped,
}

impl TimelineLine {
    fn new(at: Option<Duration>, kind: LineKind, text: impl Into<String>) -> TimelineLine {
        TimelineLine {
            at,
            unknown: false,
            added: false,
            text: text.into(),
            kind,
            departs: false,
            booked: String::new(),
        }
    }

    /// A line on which only the ledger has something.
    pub(super) fn of_ledger(since: Duration, added: bool, booked: String) -> TimelineLine {
        TimelineLine { added, booked, ..TimelineLine::new(Some(since), Sent, "") }
    }

    /// When it was, in milliseconds: `+200` if that is added delay, `?` if it is unknown.
    fn stamp(&self) -> String {
        match self.at {
            Some(at) if self.added => format!("+{}", millis(at)),
            Some(at) => millis(at),
            None if self.unknown => "?".to_owned(),
            None => String::new(),
        }
    }
}

impl From<TimelineLine> for TimedLine {
    fn from(line: TimelineLine) -> TimedLine {
        let tone = match line.kind {
            Failed => Tone::Bad,
            Stopped => Tone::Doubt,
            Good => Tone::Good,
            Sent | Decided => Tone::Plain,
        };
        TimedLine { at: line.stamp(), said: Text::new(tone, line.text), booked: line.booked, is_marked: line.departs }
    }
}

/// The death of the dispatcher, if the call was under way then.
fn death(run: &RunView<'_>) -> Option<Death> {
    let began = run.decisions().next().map(|(at, _)| at);
    run.transcript.death.filter(|death| began.is_some_and(|began| began <= death.at))
}

/// The timeline under a playbook.
pub fn of_run(view: &CallView<'_>, run: &RunView<'_>) -> Vec<TimelineLine> {
    let mut lines: Vec<TimelineLine> = Vec::new();
    let mut sent = None;
    let mut death = death(run);
    for (at, decision) in run.decisions() {
        let since = Some(at.since(view.at));
        if let Some(Death { at: died, back }) = death.take_if(|death| at > death.at) {
            let said = format!("crash; restarted at {} ms", millis(back.since(view.at)));
            lines.push(TimelineLine::new(Some(died.since(view.at)), Failed, said));
        }
        match decision {
            Decision::AttemptStarted { attempt, evidence } => {
                let with = if evidence.0 == 0 { "" } else { ", with the new evidence" };
                lines.push(TimelineLine::new(since, Sent, format!("attempt {attempt} sent{with}")));
                sent = Some((lines.len() - 1, at));
            }
            Decision::AttemptFinished { attempt, status, latency, provenance, over_timeout } => {
                let (kind, mut said) = answer(&run.transcript, status);
                said += note(provenance);
                if latency.is_none() && view.timed && status != Status::Unanswered {
                    said += " (after ? ms)";
                }
                if over_timeout {
                    said += " (later than its timeout)";
                }
                match sent.take() {
                    // An answer at the same time, or at an unknown time, shares the line of its attempt.
                    Some((line, from)) if line + 1 == lines.len() && (latency.is_none() || from == at) => {
                        let with = lines[line].text.replacen(" sent", "", 1);
                        lines[line].text = format!("{with}: {said}");
                        lines[line].kind = kind;
                    }
                    _ => lines.push(TimelineLine::new(since, kind, format!("attempt {attempt}: {said}"))),
                }
            }
            other => {
                if let Some((kind, said)) = decided(&run.transcript, (run.call, view.tool), other) {
                    lines.push(TimelineLine::new(since, kind, said));
                }
            }
        }
    }
    if !view.timed {
        for line in &mut lines {
            line.at = line.at.filter(|at| *at > Duration::ZERO);
            line.added = true;
        }
    }
    blank_repeats(&mut lines);
    mark(&mut lines, run.tally.off_tape, true);
    lines
}

/// The recorded timeline.
pub fn of_recording(view: &CallView<'_>, departure: Option<OffTape>) -> Vec<TimelineLine> {
    let Some(call) = view.recorded else { return Vec::new() };
    let mut lines = Vec::new();
    let mut numbers = call.attempts().map(|(number, _)| number);
    let since = |at: Option<Instant>| at.filter(|_| view.timed).map(|at| at.since(view.at));
    for answer in &call.answers {
        let what = match answer.to {
            AnswerTo::Attempt => format!("attempt {}", numbers.next().unwrap_or(AttemptNo::FIRST)),
            AnswerTo::Refresh => "refresh".to_owned(),
            AnswerTo::Reversal => "reversal".to_owned(),
            AnswerTo::Late => format!("late answer to attempt {}", answer.attempt.unwrap_or(1)),
        };
        let (kind, mut said) = match &answer.reply {
            Reply::Ok => (Good, "ok".to_owned()),
            Reply::Failed(error) => (Failed, failure(error.as_deref())),
            Reply::Suspected(error) => (Stopped, suspected(error.as_deref())),
            Reply::Unfinished(error) => (Stopped, unfinished(error.as_deref())),
        };
        if answer.inferred {
            said += " (an identical later call)";
        }
        let mut line = TimelineLine::new(since(answer.at), kind, format!("{what}: {said}"));
        line.unknown = view.timed && answer.at.is_none();
        lines.push(line);
    }
    if lines.is_empty() {
        lines.push(TimelineLine::new(None, Failed, "no answer was recorded"));
    }
    mark(&mut lines, departure, false);
    lines
}

/// An error in one line.
pub fn failure(error: Option<&ErrorFacts>) -> String {
    let Some(error) = error else { return "failed, without an error".to_owned() };
    let status = error.status.map(|status| status.to_string());
    let kind = error.kind.as_deref().or(error.code.as_deref()).or(status.as_deref()).unwrap_or("error");
    let kind = text::escape_unprintable(kind);
    match error.message.as_deref() {
        Some(message) if !message.is_empty() => format!("{kind}: {}", text::fitted(message, 160)),
        _ => kind.into_owned(),
    }
}

/// An answer that suggests a failure and does not prove one.
pub fn suspected(error: Option<&ErrorFacts>) -> String {
    format!("perhaps a failure: {}", failure(error))
}

/// An answer that says that the work is not done yet.
pub fn unfinished(error: Option<&ErrorFacts>) -> String {
    match error.and_then(|error| error.message.as_deref()).filter(|message| !message.is_empty()) {
        Some(message) => format!("not done yet: {}", text::fitted(message, 160)),
        None => "not done yet".to_owned(),
    }
}

fn answer(transcript: &Transcript<'_>, status: Status) -> (LineKind, String) {
    match status {
        Status::Ok => (Good, "ok".to_owned()),
        Status::Unanswered => (Failed, "answer missing".to_owned()),
        Status::Failed(id) => (Failed, failure(id.and_then(|id| transcript.error(id)))),
        Status::Suspected(id) => (Stopped, suspected(id.and_then(|id| transcript.error(id)))),
        Status::Unfinished(id) => (Stopped, unfinished(id.and_then(|id| transcript.error(id)))),
    }
}

const fn note(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Recorded | Provenance::Scripted | Provenance::Unanswered => "",
        Provenance::Inferred => " (an identical later call)",
        Provenance::Modelled => " (modelled)",
    }
}

/// A decision about a call of a tool, in words.
fn decided(
    transcript: &Transcript<'_>,
    (call, tool): (CallId, &str),
    decision: Decision,
) -> Option<(LineKind, String)> {
    let names = transcript.names;
    let other = |call| text::escape_unprintable(transcript.call(call));
    Some(match decision {
        Decision::AttemptStarted { .. } | Decision::AttemptFinished { .. } | Decision::Outcome(_) => return None,
        Decision::LateAnswer { attempt, status } => {
            let (kind, said) = answer(transcript, status);
            (kind, format!("late answer to attempt {attempt}: {said}"))
        }
        Decision::FailureClassified { verdict, rule, ignored } => {
            let by = rule.map_or_else(|| "no rule matched".to_owned(), |_| format!("rule {}", names.rule(rule)));
            let ignored = if ignored { ", ignored" } else { "" };
            (Decided, format!("verdict {} ({by}){ignored}", names.verdict(verdict)))
        }
        Decision::RetryScheduled { delay, draw, told, .. } => (Decided, send_again(delay, draw, told)),
        Decision::RetryUnpaid { delay, .. } => {
            (Stopped, format!("retry budget: empty, waits {} ms and ends", millis(delay)))
        }
        Decision::Refused { why, error, by, retry_after } => {
            let said = error.and_then(|error| transcript.error(error)?.message.as_deref());
            let by = by.map(|call| transcript.call(call));
            let cause = by.and_then(|by| cause(why, by));
            let wait = retry_after.map(|wait| format!("again in {} ms", millis(wait)));
            let all: Vec<String> = said.map(escaped).into_iter().chain(cause).chain(wait).collect();
            let all = if all.is_empty() { String::new() } else { format!(" ({})", all.join("; ")) };
            (Stopped, format!("admission: refused, {}{all}", turned_away(why, by, transcript.offers(call, tool))))
        }
        Decision::CircuitOpened { server, .. }
        | Decision::CircuitHalfOpen { server }
        | Decision::CircuitClosed { server } => (Decided, circuit(transcript.server(server), decision.circuit()?.1)),
        Decision::Queued { place, behind: None } => {
            (Decided, format!("no permit is free: waits, place {place} in the queue"))
        }
        Decision::Queued { place, behind: Some(behind) } => {
            let behind = other(behind);
            (Decided, format!("gate: waits for {behind}, which has not ended; place {place} in the line"))
        }
        Decision::ActionWithheld { action } => {
            let action = names.action(action);
            (Stopped, format!("gate: {action} is withheld, because an attempt may still be at work"))
        }
        Decision::ActionReleased { action } => {
            (Decided, format!("gate: {} is offered again, because that attempt has failed", names.action(action)))
        }
        Decision::Transaction { became, by } => transaction(became, by.map(other)),
        Decision::StepEnded { action, step, ended, claim, acts_again, .. } => {
            let again = if acts_again { "; doing it again could act again" } else { "" };
            let kind = if ended.completes_step() { Good } else { Stopped };
            let (step, ended, claim) = (names.step(action, step), ended.as_str(), claim.as_str());
            (kind, format!("step {step}: {ended}, claims {claim}{again}"))
        }
        Decision::StepSkipped { action, step } => (Stopped, format!("step {}: skipped", names.step(action, step))),
        Decision::Joined { leader } => (Decided, format!("its key is in flight: waits for {}", other(leader))),
        Decision::ServedFromCache { leader, age } => {
            let leader = other(leader);
            (Good, format!("an equal call has succeeded: the result of {leader}, {} ms old", millis(age)))
        }
        Decision::TookOver { leader } => (Decided, format!("{} was lost: is sent itself", other(leader))),
        Decision::Cancelled => (Stopped, "its caller goes away".to_owned()),
        Decision::RetrySuppressed { why } => (Stopped, format!("retry guard: stopped, {}", suppressed(why))),
        Decision::EvidenceRefreshed { status, provenance, .. } => {
            let (_, said) = answer(transcript, status);
            (Decided, format!("→ refresh_evidence: {said}{}", note(provenance)))
        }
        Decision::Escalated { queue } => (Decided, format!("→ escalate_to_human: {}", names.queue(queue))),
        Decision::ReversalRefused { why } => (Stopped, format!("token guard: no reversal, {}", refused(why))),
        Decision::ReversalRedeemed { reason, provenance } => (
            Decided,
            format!("→ issue_reversal: {}{}", text::escape_unprintable(names.reason(reason)), note(provenance)),
        ),
        Decision::Deprecated { why } => {
            (Decided, format!("→ deprecate_tool_call: {}", text::escape_unprintable(names.deprecated_why(why))))
        }
    })
}

/// What became of a transaction; `by`: the call because of which it is rolled back.
fn transaction(is: Became, by: Option<Cow<'_, str>>) -> (LineKind, String) {
    let by = by.map_or_else(String::new, |by| format!(", because of {by}"));
    let kind = if is == Became::RolledBack { Stopped } else { Decided };
    (kind, format!("transaction: {}{by}", became(is)))
}

fn escaped(said: &str) -> String {
    text::escape_unprintable(said).into_owned()
}

/// What another call did so that this one is refused; none: [`turned_away`] says it.
pub fn cause(why: AdmissionRefusal, call: &str) -> Option<String> {
    let call = escaped(call);
    match why {
        AdmissionRefusal::CircuitOpen => Some(format!("opened by {call}")),
        AdmissionRefusal::InvalidTransition => None,
        _ => Some(format!("the last went to {call}")),
    }
}

/// Why what calls share stopped a call, as a sentence; `by` opened the circuit or took the last of the budget.
pub fn stopped(stop: StopReason, by: Option<&str>) -> String {
    let (why, did) = match stop {
        StopReason::CircuitOpen => ("The circuit breaker of its server lets no further attempt pass", "opened it"),
        StopReason::Budget => ("The run has no tool call left for a further attempt", "took the last one"),
        _ => ("The retry budget has nothing left for a further attempt", "spent the last of it"),
    };
    format!("{why}{}.", by.map_or_else(String::new, |by| format!(": {by} {did}")))
}

/// A change of a breaker, in words.
pub fn circuit(server: &str, change: CircuitChange) -> String {
    let server = escaped(server);
    match change {
        CircuitChange::Opened { why, .. } => format!("the breaker of {server} opens ({})", why.as_str()),
        CircuitChange::HalfOpen => format!("the breaker of {server} is half open: a probe passes"),
        CircuitChange::Closed => format!("the breaker of {server} closes"),
    }
}

/// The wait before the next attempt, and what it comes from beside the playbook.
fn send_again(delay: Duration, draw: Option<Draw>, told: Option<Duration>) -> String {
    let told = told.map(|told| format!("the upstream asked for {} ms", millis(told)));
    let from: Vec<String> = told.into_iter().chain(draw.map(|draw| format!("draw {draw}"))).collect();
    let from = if from.is_empty() { String::new() } else { format!(" ({})", from.join(", ")) };
    format!("→ send again in {} ms{from}", millis(delay))
}

/// Why a further attempt was suppressed, in words.
pub const fn suppressed(why: SuppressionReason) -> &'static str {
    match why {
        SuppressionReason::MayHaveActed => "an earlier attempt may have acted",
        SuppressionReason::HasActed => "an earlier attempt has acted",
        SuppressionReason::Never => "the tool is declared never to be sent a request again",
    }
}

/// Some actions by their names.
pub fn actions(transcript: &Transcript<'_>, ids: &[ActionId]) -> String {
    let names: Vec<&str> = ids.iter().map(|id| transcript.names.action(*id)).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// Why a call was refused before its first attempt, in words; `by` is the other call that is why; see [`withheld`].
pub fn turned_away(why: AdmissionRefusal, by: Option<&str>, is_offered: bool) -> String {
    match (why, by) {
        (AdmissionRefusal::InvalidTransition, Some(by)) => withheld(by, is_offered),
        (why, _) => turned_away_alone(why).to_owned(),
    }
}

/// Why an action is withheld; `by` is its call. If it `is_offered` all the same, calls with the key of that one may do it.
pub fn withheld(by: &str, is_offered: bool) -> String {
    let from = if is_offered { " from calls without its key" } else { "" };
    format!("{WITHHELD} ({}), so the action is withheld{from}", escaped(by))
}

const fn turned_away_alone(why: AdmissionRefusal) -> &'static str {
    match why {
        AdmissionRefusal::UnknownAction => "the graph has no such action",
        AdmissionRefusal::InvalidTransition => "the graph does not allow the action now",
        AdmissionRefusal::ValidationFailed => "the validation of its action failed",
        AdmissionRefusal::NotFound => "the tool is not declared",
        AdmissionRefusal::Schema => "its arguments do not fit the schema of the tool",
        AdmissionRefusal::KeyMissing => "it has no idempotency key, and the tool needs one",
        AdmissionRefusal::KeyLength => "its idempotency key is too short or too long",
        AdmissionRefusal::KeyInFlight => "a call with its idempotency key is in flight",
        AdmissionRefusal::Unsettled => {
            "an equal call before it may have acted, and the upstream cannot tell the two apart"
        }
        AdmissionRefusal::QueueFull => "too many calls wait for a permit",
        AdmissionRefusal::KeyReused => "its idempotency key belongs to another request",
        AdmissionRefusal::BudgetExceeded => "the run has no tool calls left",
        AdmissionRefusal::CircuitOpen => "the circuit breaker is open",
        AdmissionRefusal::RolledBack => "a call of the transaction is not known to be done, or state of it was lost",
    }
}

/// What became of a transaction, or of state in it, in words.
pub const fn became(what: Became) -> &'static str {
    match what {
        Became::Begun => "it begins",
        Became::BegunAgain => "it begins again, and state that was not committed is gone",
        Became::Staged => "the state waits for the commit",
        Became::Committed => "committed",
        Became::Discarded => "the state is discarded",
        Became::RolledBack => "rolled back; nothing upstream is undone",
    }
}

/// Why a reversal was refused, in words.
pub const fn refused(why: ReversalRefusal) -> &'static str {
    match why {
        ReversalRefusal::NoToken => "the call carries no token",
        ReversalRefusal::TokenRedeemed => "the token was sent before",
        ReversalRefusal::UpstreamRefused => "the upstream refused it",
        ReversalRefusal::NoAnswer => "no answer came; it may have been redeemed",
        ReversalRefusal::UpstreamFailed => "the upstream failed; it may have been redeemed",
    }
}

/// The outcome of a call, with its detail.
pub fn outcome(transcript: &Transcript<'_>, kind: OutcomeKind) -> String {
    let names = transcript.names;
    match kind {
        OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation => kind.as_str().to_owned(),
        OutcomeKind::Deprecated(_) => "deprecated: given up; the planner reads the upstream's state first".to_owned(),
        OutcomeKind::Escalated(queue) => format!("escalated: queue {}", names.queue(queue)),
        OutcomeKind::Reversed(reason) => format!("reversed: {}", text::escape_unprintable(names.reason(reason))),
        OutcomeKind::Refused(why) => format!("refused: {}", why.as_str()),
        OutcomeKind::Joined { leader, ended } => {
            format!("joined: {}, which ended {}", text::escape_unprintable(transcript.call(leader)), ended.as_str())
        }
        OutcomeKind::Cached { leader } => {
            format!("cached: the result of {}", text::escape_unprintable(transcript.call(leader)))
        }
        OutcomeKind::Skipped => "skipped: its action was refused, or had ended".to_owned(),
        OutcomeKind::Cancelled => "cancelled: its caller went away".to_owned(),
        OutcomeKind::Exhausted(stop) => format!("exhausted: {}", stop.as_str()),
        OutcomeKind::Suspected(asked) => format!("undetermined: the answer to {asked} is perhaps a failure"),
        OutcomeKind::Unfinished(asked) => format!("undetermined: the answer to {asked} says that it is not done yet"),
        OutcomeKind::Undetermined(RequestKind::Attempt(attempt)) => {
            format!("undetermined: the answer to attempt {attempt} is missing")
        }
        OutcomeKind::Undetermined(RequestKind::Refresh(_)) => {
            "undetermined: the answer to the refresh is missing".to_owned()
        }
        OutcomeKind::Undetermined(RequestKind::Reversal) => {
            "undetermined: the answer to the reversal is missing".to_owned()
        }
    }
}

/// A span in milliseconds with its thousands separated.
pub fn millis(span: Duration) -> String {
    let whole = text::count(span.as_millis());
    match span.as_micros() % 1_000 {
        0 => whole,
        part => format!("{whole}.{}", format!("{part:03}").trim_end_matches('0')),
    }
}

fn blank_repeats(lines: &mut [TimelineLine]) {
    let mut before = None;
    for line in lines {
        if line.at == before {
            line.at = None;
        } else {
            before = line.at;
        }
    }
}

/// Marks the line where playbook and recording first differ: the first attempt that only one of them makes or, if the
/// playbook stops earlier, its last decision.
fn mark(lines: &mut [TimelineLine], departure: Option<OffTape>, is_run: bool) {
    let Some(departure) = departure else { return };
    let first_extra = match departure {
        OffTape::Attempts { recorded, now } => recorded.min(now).saturating_add(1),
        OffTape::Answers { used, .. } => used.saturating_add(1),
        OffTape::FinalStatus => u32::MAX,
    };
    let name = format!("attempt {first_extra}");
    let extra = lines
        .iter()
        .position(|line| line.text.strip_prefix(&name).is_some_and(|rest| rest.starts_with([' ', ':', ','])));
    let at = match extra {
        Some(at) if is_run => lines[..at].iter().rposition(|line| line.kind == Decided).unwrap_or(at),
        Some(at) => at,
        // The decision after the last verdict; without a verdict, the end.
        None if is_run => {
            lines.iter().rposition(|line| line.text.starts_with("verdict ")).map_or(usize::MAX, |at| at + 1)
        }
        None => usize::MAX,
    };
    let at = at.min(lines.len().saturating_sub(1));
    let relevant = is_run || extra.is_some() || departure == OffTape::FinalStatus;
    if let Some(line) = lines.get_mut(at).filter(|_| relevant) {
        line.departs = true;
    }
}
