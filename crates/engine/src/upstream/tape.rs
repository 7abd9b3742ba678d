//! A recording as an upstream: recorded answer n answers attempt n; missing answers are modelled only on request.

use crate::call::{AnswerTo, RecordedAnswer, RecordedCall, Reply};
use crate::event::{ErrorFacts, Provenance, RequestKind};
use crate::ids::AttemptNo;
use crate::time::{Duration, Instant};

use super::answer::{Answer, UpstreamReply};

/// What happens if the recording has no answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MissingAnswerPolicy {
    /// No answer: the outcome is undetermined.
    #[default]
    Unanswered,
    /// Success.
    Ok,
    /// Repeats the last recorded answer.
    Repeat,
    /// A failure with this error kind.
    Fail(Box<str>),
}

/// The recorded answers of one call.
#[derive(Clone, Copy, Debug)]
pub struct Tape<'a> {
    /// The recording.
    pub call: &'a RecordedCall,
    /// What supplies missing answers.
    pub missing: &'a MissingAnswerPolicy,
    /// The key of the call belongs to another request, or to an effect that was reversed: an ok may be an earlier answer.
    pub is_key_reused: bool,
    /// Whether refusals of a gate are no answers of the upstream.
    pub is_gated: bool,
}

/// Whether an answer came after another one: by their times, else by their lines.
fn is_later(answer: &RecordedAnswer, other: &RecordedAnswer) -> bool {
    match answer.at.zip(other.at) {
        Some((answer, other)) if answer != other => answer > other,
        _ => answer.place >= other.place,
    }
}

impl<'a> Tape<'a> {
    /// Whether an ok may be the answer to another request, as far as the dispatcher of the call could know: that of a
    /// fixture takes each answer for the call's own, and its recording repeats what it did.
    pub(crate) fn may_answer_another(&self) -> bool {
        self.is_key_reused && self.call.simulated_keys().is_none()
    }

    fn to(&self, to: AnswerTo) -> impl Iterator<Item = &'a RecordedAnswer> + use<'a> {
        self.call.answers.iter().filter(move |answer| answer.to == to)
    }

    /// The answer to a request. `refreshes`: how many came before; `off_tape`: one of them was not recorded.
    pub(super) fn answer(
        &self,
        (asked, at): (RequestKind, Instant),
        earlier: usize,
        refreshes: usize,
        off_tape: bool,
    ) -> Option<Answer> {
        let recorded = match asked {
            RequestKind::Attempt(_) if off_tape => None,
            RequestKind::Attempt(attempt) => {
                let refresh = refreshes.checked_sub(1).and_then(|last| self.to(AnswerTo::Refresh).nth(last));
                let answers = self.call.attempts().filter(|(number, _)| *number == attempt).map(|(_, answer)| answer);
                // What was recorded before the refresh was answered is no answer to an attempt after it.
                let is_answer = |answer: &&RecordedAnswer| !self.is_gated || answer.gate_refusal().is_none();
                let mut answers = answers.take(1).filter(is_answer);
                answers.find(|answer| refresh.is_none_or(|refresh| is_later(answer, refresh)))
            }
            RequestKind::Refresh(_) => self.to(AnswerTo::Refresh).nth(earlier),
            RequestKind::Reversal => self.to(AnswerTo::Reversal).nth(earlier),
        };
        match recorded {
            Some(answer) => Some(Answer {
                reply: UpstreamReply::from(&answer.reply),
                latency: Tape::latency(self.call, asked, answer),
                provenance: if answer.inferred { Provenance::Inferred } else { Provenance::Recorded },
            }),
            None if self.is_cancelled_after(at) => None,
            None => self.modelled(asked),
        }
    }

    /// From the attempt's recorded start to its answer; none if the recording has no times.
    pub(crate) fn latency(call: &RecordedCall, asked: RequestKind, answer: &RecordedAnswer) -> Option<Duration> {
        let first = matches!(asked, RequestKind::Attempt(attempt) if attempt.get() == 1);
        let started = answer.started.or(if first { call.at } else { None })?;
        let ended = answer.at?;
        (ended >= started).then(|| ended.since(started))
    }

    /// The answer that came after the end of an attempt, and how long after the attempt's start; an ok before any other. If
    /// the recording does not say how long, it came with the attempt's own answer.
    pub(crate) fn late_answer(&self, asked: RequestKind) -> Option<(Duration, UpstreamReply)> {
        let RequestKind::Attempt(attempt) = asked else { return None };
        let of_attempt = |answer: &&RecordedAnswer| answer.attempt.map_or(AttemptNo::FIRST, AttemptNo::new) == attempt;
        let late = || self.to(AnswerTo::Late).filter(of_attempt);
        let late = late().find(|answer| answer.reply == Reply::Ok).or_else(|| late().next())?;
        let own = || self.call.attempts().find(|(number, _)| *number == attempt);
        let latency = Tape::latency(self.call, asked, late).or_else(|| Tape::latency(self.call, asked, own()?.1));
        Some((latency.unwrap_or_default(), UpstreamReply::from(&late.reply)))
    }

    /// Whether a request at `at` that has no answer is still out when its caller goes away.
    pub(crate) fn is_cancelled_after(&self, at: Instant) -> bool {
        self.call.cancelled_at().is_some_and(|cancelled| cancelled >= at)
    }

    fn modelled(&self, asked: RequestKind) -> Option<Answer> {
        let reply = match self.missing {
            MissingAnswerPolicy::Unanswered => None,
            MissingAnswerPolicy::Ok => Some(UpstreamReply::Ok),
            MissingAnswerPolicy::Fail(kind) => {
                Some(UpstreamReply::failed(ErrorFacts { kind: Some(kind.clone()), ..ErrorFacts::default() }))
            }
            MissingAnswerPolicy::Repeat => match asked {
                RequestKind::Attempt(attempt) => {
                    let before = self.call.attempts().take_while(|(number, _)| *number < attempt);
                    before.last().map(|(_, answer)| UpstreamReply::from(&answer.reply))
                }
                RequestKind::Refresh(_) | RequestKind::Reversal => None,
            },
        };
        reply.map(|reply| Answer { reply, latency: Some(Duration::ZERO), provenance: Provenance::Modelled })
    }
}
