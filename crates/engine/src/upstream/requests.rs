//! The upstream itself: takes requests, answers from script, key dialect or tape, and records effects in its ledger.

use crate::event::{Intent, KeyDialect, LedgerEntry, LedgerKind, Provenance, RequestKind};
use crate::ids::{ArgsId, AttemptNo, CallId, KeyId, RunId, ToolId};
use crate::time::{Duration, Instant};

use super::answer::{Answer, NO_OUTAGE, Outage, Script, ScriptedAnswer, UpstreamReply, in_outage};
use super::keys::{KeyStore, SentAttempt};
use super::ledger::Ledger;
use super::tape::Tape;

/// Where a call's answers come from.
#[derive(Clone, Copy, Debug)]
pub enum AnswerSource<'a> {
    /// A fixture: the script of the call, and the outages of its tool.
    Script(&'a Script, &'a [Outage]),
    /// A recording.
    Tape(Tape<'a>),
}

/// One request of the dispatcher to the upstream.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// When it is made.
    pub at: Instant,
    /// The call it is for.
    pub call: CallId,
    /// Attempt, refresh or reversal.
    pub asked: RequestKind,
    /// The tool.
    pub tool: ToolId,
    /// The idempotency key; none if the upstream ignores it.
    pub key: Option<KeyId>,
    /// The canonical arguments.
    pub args: ArgsId,
    /// The intent of its effect. Effects are booked whatever the tool facts say.
    pub intent: Intent,
    /// Whether the tool facts say that the tool writes. This decides only for answers that say nothing of an effect.
    pub writes: bool,
    /// The timeout; a recorded answer is never cut short by it.
    pub within: Duration,
}

impl Request {
    /// Whether an `ok` that says nothing of an effect comes with one: a read's attempt changes nothing, a reversal does.
    const fn ok_acts(&self) -> bool {
        self.writes || !matches!(self.asked, RequestKind::Attempt(_))
    }

    /// The attempt, if the request is one.
    const fn sent(&self) -> Option<SentAttempt> {
        match self.asked {
            RequestKind::Attempt(attempt) => Some((self.call, attempt)),
            RequestKind::Refresh(_) | RequestKind::Reversal => None,
        }
    }
}

/// An effect that exists before the simulation.
#[derive(Clone, Copy, Debug)]
pub struct ExistingEffect {
    /// The run to which it belongs, if it has no key: that of the first call that asks for it.
    pub run: RunId,
    /// The tool.
    pub tool: ToolId,
    /// The idempotency key.
    pub key: Option<KeyId>,
    /// The canonical arguments.
    pub args: ArgsId,
}

/// The requests of a call so far.
#[derive(Clone, Copy, Debug, Default)]
struct CallProgress {
    attempts: usize,
    /// The attempts that its dispatcher no longer knows of; it counts anew.
    forgotten: usize,
    refreshes: usize,
    reversals: usize,
    off_tape: bool,
}

/// The simulated upstream of one simulation.
#[derive(Clone, Debug, Default)]
pub struct Upstream {
    progress: Vec<CallProgress>,
    dialect: KeyDialect,
    keys: KeyStore,
    ledger: Ledger,
}

impl Upstream {
    /// Adds an effect that existed before the simulation.
    pub fn add_existing(&mut self, effect: ExistingEffect) {
        let ExistingEffect { run, tool, key, args } = effect;
        let intent = key.map_or(Intent::Unkeyed(run, tool, args), |key| Intent::Keyed(tool, key));
        if let Some(key) = key {
            self.keys.note((tool, key, args), None, Instant::ZERO, true);
        }
        self.ledger.add(LedgerEntry {
            at: Instant::ZERO,
            intent,
            kind: LedgerKind::Existing,
            call: None,
            attempt: None,
            provenance: Provenance::Scripted,
        });
    }

    /// Answers a request from the call's `source`; none: the answer is missing.
    pub fn handle_request(&mut self, request: &Request, source: AnswerSource<'_>) -> Option<Answer> {
        let progress = self.progress(request.call);
        let earlier = progress.count(request.asked);
        match source {
            AnswerSource::Script(script, outages) => self.answer_from_script(request, script, outages, earlier),
            AnswerSource::Tape(tape) => {
                let CallProgress { refreshes, off_tape, .. } = *progress;
                let answer = tape.answer((request.asked, request.at), earlier, refreshes, off_tape);
                let provenance = answer.as_ref().map_or(Provenance::Recorded, |answer| answer.provenance);
                if matches!(request.asked, RequestKind::Refresh(_)) && provenance != Provenance::Recorded {
                    progress.off_tape = true;
                }
                match (tape.late_answer(request.asked), &answer) {
                    // The attempt had ended, or nobody knows how it did, and acted.
                    (Some((latency, UpstreamReply::Ok)), _) if request.writes && !tape.is_key_reused && !off_tape => {
                        self.record_effect(request.at.plus(latency), request, provenance);
                    }
                    (_, Some(answer)) => self.record_from_tape(request, answer, tape.is_key_reused),
                    (_, None) => {}
                }
                answer
            }
        }
    }

    fn progress(&mut self, call: CallId) -> &mut CallProgress {
        if self.progress.len() <= call.index() {
            self.progress.resize(call.index() + 1, CallProgress::default());
        }
        &mut self.progress[call.index()] // extended above
    }

    fn answer_from_script(
        &mut self,
        request: &Request,
        script: &Script,
        outages: &[Outage],
        earlier: usize,
    ) -> Option<Answer> {
        let is_attempt = matches!(request.asked, RequestKind::Attempt(_));
        let key = request.key.filter(|_| is_attempt);
        let in_outage = || in_outage(outages, request.at).filter(|_| is_attempt);
        let scripted = |written: &ScriptedAnswer| {
            let acts = written.applied.unwrap_or(written.reply == UpstreamReply::Ok && request.ok_acts());
            let latency = Some(written.latency);
            (Answer { reply: written.reply.clone(), latency, provenance: Provenance::Scripted }, acts)
        };
        let written = script.answer(request.asked, earlier).or_else(in_outage).map(scripted);
        let works = is_attempt && !outages.is_empty();
        let (answer, acts) =
            written.or_else(|| self.answer_to_key(request, key?)).or_else(|| works.then(|| scripted(NO_OUTAGE)))?;
        let landed = request.at.plus(answer.latency.unwrap_or_default());
        if let Some(key) = key {
            self.keys.note((request.tool, key, request.args), request.sent(), landed, acts);
            if let Some(sent) =
                request.sent().filter(|_| answer.reply == UpstreamReply::Lost || answer.is_late(request.within))
            {
                self.keys.lose_answer(request.tool, key, sent);
            }
        }
        if acts {
            self.record_effect(landed, request, answer.provenance);
        }
        Some(answer)
    }

    /// The key dialect's answer to an attempt whose key the upstream knows, and whether it acts.
    fn answer_to_key(&self, request: &Request, key: KeyId) -> Option<(Answer, bool)> {
        if !self.keys.knows(request.tool, key) {
            return None;
        }
        let answer = self.keys.answer(self.dialect, (request.tool, key, request.args), request.at)?;
        let (latency, acts) = (Some(answer.latency), answer.acts && request.writes);
        Some((Answer { reply: answer.reply, latency, provenance: Provenance::Modelled }, acts))
    }

    fn record_effect(&mut self, at: Instant, request: &Request, provenance: Provenance) {
        let intent = request.intent;
        let (kind, attempt) = match request.asked {
            RequestKind::Attempt(attempt) => (LedgerKind::Applied, Some(attempt)),
            RequestKind::Reversal => (LedgerKind::Reversed, None),
            RequestKind::Refresh(_) => return,
        };
        self.ledger.add(LedgerEntry { at, intent, kind, call: Some(request.call), attempt, provenance });
    }

    /// In a recording only an `ok` of a write proves an effect, unless its key belongs to another request; a recorded or
    /// modelled failure of one is added as unobserved.
    fn record_from_tape(&mut self, request: &Request, answer: &Answer, is_key_reused: bool) {
        if !request.writes {
            return;
        }
        let at = request.at.plus(answer.latency.unwrap_or_default());
        match (&answer.reply, request.asked) {
            (UpstreamReply::Ok, RequestKind::Attempt(_)) if self.is_repeated_answer(request, answer) => {}
            (UpstreamReply::Ok, RequestKind::Attempt(attempt)) if is_key_reused => {
                self.record_unobserved(at, request, attempt, answer.provenance);
            }
            (UpstreamReply::Ok, _) => self.record_effect(at, request, answer.provenance),
            (
                UpstreamReply::Failed(_) | UpstreamReply::Suspected(_) | UpstreamReply::Unfinished(_),
                RequestKind::Attempt(attempt),
            ) => {
                self.record_unobserved(at, request, attempt, answer.provenance);
            }
            _ => {}
        }
    }

    /// Whether this is a modelled `ok` to a key that has acted: a repeated answer without another effect.
    fn is_repeated_answer(&self, request: &Request, answer: &Answer) -> bool {
        let acted = |entry: &LedgerEntry| entry.kind == LedgerKind::Applied && entry.intent == request.intent;
        answer.provenance == Provenance::Modelled && request.key.is_some() && self.ledger.entries().iter().any(acted)
    }

    fn record_unobserved(&mut self, at: Instant, request: &Request, attempt: AttemptNo, provenance: Provenance) {
        self.ledger.add(LedgerEntry {
            at,
            intent: request.intent,
            kind: LedgerKind::Unobserved,
            call: Some(request.call),
            attempt: Some(attempt),
            provenance,
        });
    }

    /// The dispatcher knows nothing any more, and makes calls again: their answers go on where they were.
    pub fn note_forgotten(&mut self) {
        for call in &mut self.progress {
            call.forgotten = call.attempts;
        }
    }

    /// Removes calls, keys and effects, keeps the allocations, and sets the key dialect.
    pub fn clear(&mut self, dialect: KeyDialect) {
        self.dialect = dialect;
        self.progress.clear();
        self.keys.clear();
        self.ledger.clear();
    }

    /// Swaps the sorted ledger with another one, whose allocation is reused.
    pub fn swap_ledger(&mut self, other: &mut Ledger) {
        self.ledger.sort();
        std::mem::swap(&mut self.ledger, other);
    }
}

impl CallProgress {
    /// Counts a request, and returns the number of earlier requests of its kind.
    fn count(&mut self, asked: RequestKind) -> usize {
        let counter = match asked {
            RequestKind::Attempt(attempt) => {
                let earlier = self.forgotten + attempt.index();
                self.attempts = earlier + 1;
                return earlier;
            }
            RequestKind::Refresh(_) => &mut self.refreshes,
            RequestKind::Reversal => &mut self.reversals,
        };
        *counter += 1;
        *counter - 1
    }
}
