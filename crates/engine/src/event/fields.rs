//! The fields of events and of outcomes: one table of their keys, with what each holds, how severe a change of it is, and
//! whether goldens have it. Goldens, JSON and recordings spell and read fields by it.

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};

use super::finding::FindingId;
use super::outcome::{EffectClaim, FailureClass, OutcomeWord};
use super::reason::{AdmissionRefusal, DeprecationReason, OpenReason, ReversalRefusal, StopReason, SuppressionReason};
use super::request::{Provenance, RequestKind, Status};
use super::transaction::Became;
use crate::ids::{
    ActionId, AttemptNo, CallId, ErrorId, EvidenceId, QueueId, ReasonId, RuleId, ServerId, StepId, VerdictId,
};
use crate::time::{Duration, Instant};
use crate::{decimal, words};

/// A row is `Key = "word": what it holds, the class of a change of it, whether goldens have it;`.
macro_rules! fields {
    ($($key:ident = $word:literal: $holds:expr, $class:ident, $in_goldens:ident;)+) => {
        words! {
            /// The keys of the fields of events and of outcomes.
            pub enum FieldKey { $($key = $word,)+ }
        }

        impl FieldKey {
            /// What it holds.
            pub const fn holds(self) -> FieldType {
                match self {
                    $(FieldKey::$key => $holds,)+
                }
            }

            /// The class of a divergence in its value.
            pub const fn class(self) -> Class {
                match self {
                    $(FieldKey::$key => Class::$class,)+
                }
            }

            /// Whether goldens have it.
            pub const fn in_goldens(self) -> InGoldens {
                match self {
                    $(FieldKey::$key => InGoldens::$in_goldens,)+
                }
            }
        }
    };
}

fields! {
    Attempt = "attempt": FieldType::Number(1), AttemptsChanged, Always;
    Evidence = "evidence": FieldType::Number(0), AttemptsChanged, IfSet;
    Status = "status": FieldType::Status, AttemptsChanged, Always;
    Latency = "latency_ms": FieldType::MillisOrUnknown, TimingOnly, IfUnknown;
    From = "from": FieldType::Word(&Provenance::WORDS), Cosmetic, Always;
    OverTimeout = "over_timeout": FieldType::Flag, TimingOnly, IfSet;
    Verdict = "verdict": FieldType::Name, OutcomeChanged, Always;
    Rule = "rule": FieldType::Name, Cosmetic, Always;
    Ignored = "ignored": FieldType::Flag, OutcomeChanged, IfSet;
    Delay = "delay_ms": FieldType::Millis, TimingOnly, Always;
    Due = "due_ms": FieldType::Millis, TimingOnly, Never;
    Draw = "draw": FieldType::Draw, TimingOnly, Always;
    Told = "told_ms": FieldType::Millis, TimingOnly, Never;
    Left = "left": FieldType::Tokens, TimingOnly, Always;
    Why = "why": FieldType::OpenWord(WHY), OutcomeChanged, Always;
    Queue = "queue": FieldType::Name, OutcomeChanged, Always;
    Reason = "reason": FieldType::Name, Cosmetic, Always;
    Outcome = "outcome": FieldType::Word(&OutcomeWord::WORDS), OutcomeChanged, Always;
    Stop = "stop": FieldType::OpenWord(&[&StopReason::WORDS]), OutcomeChanged, Always;
    Lacks = "lacks": FieldType::Lacks, OutcomeChanged, Always;
    Effect = "effect": FieldType::Word(&EffectClaim::WORDS), EffectChanged, Always;
    Attempts = "attempts": FieldType::Number(0), AttemptsChanged, Always;
    Verdicts = "verdicts": FieldType::Names, OutcomeChanged, Always;
    Error = "error": FieldType::Error, OutcomeChanged, Never;
    LastError = "last_error": FieldType::Error, OutcomeChanged, Always;
    FirstError = "first_error": FieldType::Error, OutcomeChanged, Always;
    Place = "place": FieldType::Number(1), TimingOnly, Always;
    Leader = "leader": FieldType::Name, OutcomeChanged, Always;
    Age = "age_ms": FieldType::Millis, TimingOnly, Always;
    Ended = "ended": FieldType::Word(&OutcomeWord::WORDS), OutcomeChanged, Always;
    By = "by": FieldType::OpenWord(&[&["caller"]]), OutcomeChanged, Always;
    Cause = "cause": FieldType::Name, OutcomeChanged, Always;
    Code = "code": FieldType::Code, Cosmetic, Never;
    Instead = "instead": FieldType::Name, Cosmetic, Never;
    RetryAfter = "retry_after_ms": FieldType::Millis, TimingOnly, Never;
    Server = "server": FieldType::Name, OutcomeChanged, Always;
    Until = "until_ms": FieldType::Millis, TimingOnly, Never;
    Class = "told": FieldType::OpenWord(&[&FailureClass::WORDS]), OutcomeChanged, Always;
    Retriable = "retriable": FieldType::Flag, OutcomeChanged, Always;
    Action = "action": FieldType::Name, OutcomeChanged, Always;
    Next = "next": FieldType::Names, OutcomeChanged, Always;
    Withheld = "withheld": FieldType::Names, OutcomeChanged, Always;
    Step = "step": FieldType::Name, OutcomeChanged, Always;
    Completed = "completed_steps": FieldType::Names, OutcomeChanged, Always;
    Skipped = "skipped": FieldType::Names, OutcomeChanged, Always;
    Became = "became": FieldType::Word(&Became::WORDS), OutcomeChanged, Always;
    ActsAgain = "acts_again": FieldType::Flag, EffectChanged, IfSet;
}

/// The reasons of refusals, of guards and of breakers, and of answers that say too little.
const WHY: &[&[&str]] = &[
    &SuppressionReason::WORDS,
    &ReversalRefusal::WORDS,
    &AdmissionRefusal::WORDS,
    &OpenReason::WORDS,
    &[FindingId::SuspectedFailure.as_str(), FindingId::Unfinished.as_str()],
];

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub enum FieldType {
    /// A whole number, from this one.
    Number(u32),
    /// A span or a moment in milliseconds.
    Millis,
    /// A span in milliseconds, if it is known.
    MillisOrUnknown,
    /// A number from 0 to 1.
    Draw,
    /// Tokens of a retry budget.
    Tokens,
    /// Whether something is so.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A word of one of these lists. A recording may have other ones: those of another version.
    OpenWord(&'static [&'static [&'static str]]),
    /// How an attempt or a refresh ended, with its error.
    Status,
    /// An error, in goldens by its kind.
    Error,
    /// The missing answer.
    Lacks,
    /// A code of JSON-RPC.
    Code,
    /// A name or a text of the playbook, of the trace or of the upstream.
    Name,
    /// Several names, in order.
    Names,
}

/// Whether goldens have a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InGoldens {
    /// Always.
    Always,
    /// Unless it is `false` or 0.
    IfSet,
    /// Only if its value is unknown: a known one follows from delta times.
    IfUnknown,
    /// It follows from delta times, the fixture has it, or the outcome names it.
    Never,
}

/// The value of a field. Names and errors are still ids; the [`Transcript`](super::Transcript) resolves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// There is none: the field is left out.
    Nothing,
    /// A number, or a count.
    Number(u32),
    /// A flag; goldens and JSON leave out false ones.
    Flag(bool),
    /// How an attempt or a refresh ended.
    Status(Status),
    /// A span of time, if it is known.
    Latency(Option<Duration>),
    /// A span of time.
    Span(Duration),
    /// A moment.
    Instant(Instant),
    /// A draw.
    Draw(Draw),
    /// What a retry budget has left.
    Left(TokensLeft),
    /// One of a closed set of words.
    Word(&'static str),
    /// A whole number of a closed set, as its digits.
    Code(&'static str),
    /// The missing answer.
    Lacks(RequestKind),
    /// An error.
    Error(ErrorId),
    /// What has a name.
    Name(NameId),
}

/// What has a name: the [`Transcript`](super::Transcript) knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameId {
    /// A verdict.
    Verdict(VerdictId),
    /// A rule; none: no rule matched.
    Rule(Option<RuleId>),
    /// A queue.
    Queue(QueueId),
    /// The playbook's reason.
    Reason(ReasonId),
    /// Why a call was given up.
    GivenUp(DeprecationReason),
    /// A call.
    Call(CallId),
    /// An action.
    Action(ActionId),
    /// A step of an action.
    Step(ActionId, StepId),
    /// A server.
    Server(ServerId),
}

impl FieldKey {
    /// Whether a golden has the field with this value.
    pub fn is_in_golden(self, value: FieldValue) -> bool {
        match self.in_goldens() {
            _ if value == FieldValue::Nothing => false,
            InGoldens::Always => true,
            InGoldens::IfSet => !matches!(value, FieldValue::Flag(false) | FieldValue::Number(0)),
            InGoldens::IfUnknown => value == FieldValue::Latency(None),
            InGoldens::Never => false,
        }
    }
}

/// The value that each type is.
macro_rules! values {
    ($($type:ty: $of:ident => $value:expr;)+) => {
        $(impl From<$type> for FieldValue {
            #[inline(always)]
            fn from($of: $type) -> FieldValue {
                $value
            }
        })+
    };
}

values! {
    u32: number => FieldValue::Number(number);
    AttemptNo: attempt => FieldValue::Number(attempt.get());
    EvidenceId: evidence => FieldValue::Number(evidence.0);
    bool: flag => FieldValue::Flag(flag);
    Status: status => FieldValue::Status(status);
    Duration: span => FieldValue::Span(span);
    Instant: at => FieldValue::Instant(at);
    Draw: draw => FieldValue::Draw(draw);
    TokensLeft: left => FieldValue::Left(left);
    Provenance: provenance => FieldValue::Word(provenance.as_str());
    OutcomeWord: outcome => FieldValue::Word(outcome.as_str());
    EffectClaim: claim => FieldValue::Word(claim.as_str());
    AdmissionRefusal: why => FieldValue::Word(why.as_str());
    Became: became => FieldValue::Word(became.as_str());
    SuppressionReason: why => FieldValue::Word(why.as_str());
    ReversalRefusal: why => FieldValue::Word(why.as_str());
    OpenReason: why => FieldValue::Word(why.as_str());
    DeprecationReason: why => FieldValue::Name(NameId::GivenUp(why));
    VerdictId: verdict => FieldValue::Name(NameId::Verdict(verdict));
    QueueId: queue => FieldValue::Name(NameId::Queue(queue));
    ReasonId: reason => FieldValue::Name(NameId::Reason(reason));
    CallId: call => FieldValue::Name(NameId::Call(call));
    ActionId: action => FieldValue::Name(NameId::Action(action));
    ServerId: server => FieldValue::Name(NameId::Server(server));
    ErrorId: error => FieldValue::Error(error);
}

impl<T> From<Option<T>> for FieldValue
where
    FieldValue: From<T>,
{
    #[inline(always)]
    fn from(value: Option<T>) -> FieldValue {
        value.map_or(FieldValue::Nothing, FieldValue::from)
    }
}

words! {
    /// How severe a divergence is, worst first: its words for people, and its meaning as a sentence without its full stop.
    pub enum Class: (&'static str, &'static str) {
        /// An effect claim, ledger entry or finding changed.
        EffectChanged = "effect_changed" => ("effect changed", "an effect claim, ledger entry or finding changed"),
        /// The golden suppresses, refuses or escalates where the run attempts or redeems; or the agent is told that it may try
        /// again, and was told that it may not.
        GuardWeakened = "guard_weakened" => (
            "guard weakened",
            "the golden stops where the run attempts or redeems, or the agent is now told that it may try again",
        ),
        /// A call ends differently, or a failure means something else.
        OutcomeChanged = "outcome_changed" =>
            ("outcome changed", "a call ends differently, or a failure means something else"),
        /// More, fewer or different attempts.
        AttemptsChanged = "attempts_changed" => ("attempts changed", "more, fewer or different attempts"),
        /// The same decisions at other times.
        TimingOnly = "timing_only" => ("timing only", "the same decisions at other times"),
        /// Different words for the same decisions.
        Cosmetic = "cosmetic" => ("cosmetic", "different words for the same decisions"),
    }
}

impl Class {
    /// The words for people.
    pub const fn words(self) -> &'static str {
        self.row().0
    }

    /// Its meaning, as a sentence without its full stop.
    pub const fn means(self) -> &'static str {
        self.row().1
    }

    /// Whether accepting it requires a reason.
    pub const fn requires_reason(self) -> bool {
        matches!(self, Class::EffectChanged | Class::GuardWeakened)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// A number from 0 to 1 that an answer brings, so that the dispatcher needs no randomness of its own. Stored plus one, so
/// that an optional draw is as small as a draw.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Draw(NonZeroU32);

impl Draw {
    /// Billionths of one.
    pub const ONE: u32 = 1_000_000_000;

    /// The decimal places of billionths.
    const PLACES: u32 = 9;

    /// The draw 0.
    pub const ZERO: Draw = Draw(NonZeroU32::MIN);

    /// The draw 1.
    pub const MAX: Draw = Draw(NonZeroU32::MIN.saturating_add(Draw::ONE));

    /// A draw of this many billionths; none above one.
    pub const fn from_billionths(billionths: u32) -> Option<Draw> {
        if billionths > Draw::ONE { None } else { Some(Draw(NonZeroU32::MIN.saturating_add(billionths))) }
    }

    /// The draw in billionths.
    pub const fn billionths(self) -> u32 {
        self.0.get() - 1
    }

    /// Parses a decimal number from 0 to 1 with at most nine places, also in the notation with an exponent (`1e-05`).
    pub fn parse(text: &str) -> Option<Draw> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let places = exponent.checked_add_unsigned(Draw::PLACES).and_then(|places| u32::try_from(places).ok())?;
        let has_one_digit = mantissa.split('.').next().is_some_and(|whole| whole.len() == 1);
        let billionths = decimal::parse(mantissa, places).filter(|_| has_one_digit)?;
        Draw::from_billionths(u32::try_from(billionths).ok()?)
    }
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal::write(f, self.billionths().into(), Draw::PLACES)
    }
}

impl fmt::Debug for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Draw({self})")
    }
}

/// Tokens that are left. Stored plus one, so that an optional value is as small as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct TokensLeft(NonZeroU64);

impl TokensLeft {
    /// The decimal places of thousandths.
    const PLACES: u32 = 3;

    /// So many thousandths of a token, saturating.
    pub const fn from_thousandths(thousandths: u64) -> TokensLeft {
        TokensLeft(NonZeroU64::MIN.saturating_add(thousandths))
    }

    /// Parses a decimal number with at most three places.
    pub fn parse(text: &str) -> Option<TokensLeft> {
        decimal::parse(text, TokensLeft::PLACES).map(TokensLeft::from_thousandths)
    }
}

impl fmt::Display for TokensLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal::write(f, self.0.get() - 1, TokensLeft::PLACES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_written_as_it_is_read() {
        for text in ["0", "1", "0.5", "0.874419", "0.000000001", "0.999999999"] {
            assert_eq!(Draw::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Draw::parse("0.50"), Draw::parse("0.5"));
        for (text, draw) in
            [("1e-05", "0.00001"), ("2.5E-1", "0.25"), ("1e-9", "0.000000001"), ("0.1e+1", "1"), ("0e9", "0")]
        {
            assert_eq!(Draw::parse(text), Draw::parse(draw), "{text}");
        }
        assert_eq!(size_of::<Option<Draw>>(), 4);
    }

    #[test]
    fn what_is_no_number_from_0_to_1_is_no_draw() {
        for text in [
            "",
            ".5",
            "-0",
            "1.000000001",
            "2",
            "0.1234567891",
            "0,5",
            "00.5",
            "+1",
            "0.5 ",
            "1e-10",
            "1.5e-9",
            "1e1",
            "2e0",
            "e-3",
            "1e",
            "1e-",
            "1e99999999999",
            "1e-99999999999",
            "1e2147483647",
        ] {
            assert_eq!(Draw::parse(text), None, "{text}");
        }
        assert_eq!(Draw::from_billionths(Draw::ONE + 1), None);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["0", "486", "0.5", "12.125"] {
            assert_eq!(TokensLeft::parse(text).map(|left| left.to_string()).as_deref(), Some(text));
        }
        assert_eq!(size_of::<Option<TokensLeft>>(), 8);
    }
}
