//! Synthesizes failures that a rule should match, or `otherwise`. The classifier tells which rule really matches.

use crate::shape::CallShape;
use crate::world::can_hide;
use playproof_engine::classify::{Classification, Signal};
use playproof_engine::event::{ErrorFacts, Headers};
use playproof_engine::ids::{AttemptNo, VerdictId};
use playproof_engine::playbook::{
    Access, ConditionKind, ConditionTest, HeaderTest, NumberRange, Playbook, Rule, ToolFacts, When,
};
use playproof_engine::sim::Plan;
use playproof_engine::time::Duration;
use playproof_formats::playbook::example_texts::{self, RegexTexts};

/// With more rules than this, only neighbouring rules are paired.
const MOST_PAIRED: usize = 32;

/// The wait that an upstream asks for.
const RETRY_AFTER: Duration = Duration::from_millis(1_000);

/// A failure, and the call that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntheticFailure {
    /// None for a failure without an error object.
    pub error: Option<ErrorFacts>,
    /// A tool that the rule matches; none if the rule does not ask for one.
    pub tool: Option<String>,
    /// The access that it asks for.
    pub access: Option<Access>,
    /// Whether it asks for an idempotent tool or another one.
    pub idempotent: Option<bool>,
    /// Whether it asks for a call with or without a key.
    pub keyed: Option<bool>,
    /// The attempts that the rule matches; empty for any.
    pub attempts: Vec<NumberRange>,
    /// The expected verdict.
    pub verdict: VerdictId,
    /// Whether only the other rule of a pair asks for its status, and it proves nothing.
    pub lends_status: bool,
}

impl SyntheticFailure {
    /// Whether the rule can match a call of this shape.
    pub fn fits(&self, shape: CallShape) -> bool {
        self.access.is_none_or(|access| access == shape.access)
            && self.idempotent.is_none_or(|idempotent| idempotent == shape.idempotent)
            && self.keyed.is_none_or(|keyed| keyed == shape.keyed)
    }

    /// The earliest attempt, from `at`, that the rule matches.
    pub fn attempt(&self, at: u32) -> Option<u32> {
        if self.attempts.is_empty() {
            return Some(at);
        }
        self.attempts.iter().filter(|range| range.last >= at).map(|range| range.first.max(at)).min()
    }

    /// The tool of the call.
    pub fn tool_for(&self, shape: CallShape) -> &str {
        self.tool.as_deref().unwrap_or(shape.tool())
    }

    /// The classification by the playbook.
    pub fn classified(&self, plan: &Plan, shape: CallShape, attempt: u32) -> Classification {
        self.classified_at(plan, shape, attempt, self.tool_for(shape))
    }

    /// The classification by the playbook, on a call of this tool.
    pub fn classified_at(&self, plan: &Plan, shape: CallShape, attempt: u32, tool: &str) -> Classification {
        let facts = ToolFacts { access: shape.access, idempotent: shape.idempotent, ..ToolFacts::ASSUMED };
        let signal = Signal::new(self.error.as_ref(), tool, facts, shape.keyed, AttemptNo::new(attempt));
        plan.classifier.classify(&signal)
    }
}

/// Failures for every rule (each way in which it can match, one at a time), for every pair of rules that may match
/// the same failure, and for `otherwise`.
pub fn of_playbook(playbook: &Playbook) -> Vec<SyntheticFailure> {
    let mut regexes = RegexTexts::default();
    let of_rule = |rule: &Rule| of_when(&rule.when, rule.verdict, &mut regexes);
    let mut made: Vec<SyntheticFailure> = playbook.rules.iter().flat_map(of_rule).collect();
    made.extend(of_pairs(playbook, &mut regexes));
    made.extend(of_otherwise(playbook.otherwise));
    made
}

/// Failures that both rules match: the earlier one decides.
fn of_pairs(playbook: &Playbook, regexes: &mut RegexTexts) -> Vec<SyntheticFailure> {
    let rules = &playbook.rules;
    let reach = if rules.len() <= MOST_PAIRED { rules.len() } else { 1 };
    let mut made = Vec::new();
    for (n, first) in rules.iter().enumerate() {
        for second in rules.iter().skip(n + 1).take(reach) {
            if let Some(when) = both(&first.when, &second.when) {
                let asks = |rule: &Rule| !rule.when.ranges(ConditionKind::Status).is_empty();
                let is_lent = asks(first) != asks(second);
                let of_status = |status| ErrorFacts { status: Some(status), ..ErrorFacts::default() };
                let lent = |error: &ErrorFacts| {
                    is_lent && error.status.is_some_and(|status| can_hide(Some(&of_status(status))))
                };
                made.extend(
                    of_when(&when, first.verdict, regexes)
                        .into_iter()
                        .map(|made| SyntheticFailure { lends_status: made.error.as_ref().is_some_and(lent), ..made }),
                );
            }
        }
    }
    made
}

fn of_otherwise(verdict: VerdictId) -> Vec<SyntheticFailure> {
    let error = |kind: &str, status| ErrorFacts {
        kind: Some(kind.into()),
        message: Some("nobody has seen this before".into()),
        status,
        ..ErrorFacts::default()
    };
    let nothing = SyntheticFailure {
        error: None,
        tool: None,
        access: None,
        idempotent: None,
        keyed: None,
        attempts: Vec::new(),
        verdict,
        lends_status: false,
    };
    let errors = [Some(error("something_new", None)), Some(error("418_teapot", Some(418))), None];
    errors.map(|error| SyntheticFailure { error, ..nothing.clone() }).into()
}

/// Failures that `when` likely matches: the simplest, then variations of one condition at a time.
fn of_when(when: &When, verdict: VerdictId, regexes: &mut RegexTexts) -> Vec<SyntheticFailure> {
    let messages = example_texts::of_tests(when.messages(), regexes);
    let statuses = edges(when.ranges(ConditionKind::Status));
    let Some(plain) = simplest(when, verdict, &messages, &statuses) else { return Vec::new() };
    let mut made = vec![plain.clone()];
    let mut vary = |change: &dyn Fn(&mut SyntheticFailure)| {
        let mut other = plain.clone();
        change(&mut other);
        made.push(other);
    };
    let error = |made: &mut SyntheticFailure, change: &dyn Fn(&mut ErrorFacts)| {
        if let Some(error) = &mut made.error {
            change(error);
        }
    };
    for kind in when.texts(ConditionKind::Kind).iter().skip(1) {
        vary(&|made| error(made, &|error| error.kind = Some(kind.as_str().into())));
    }
    for code in when.texts(ConditionKind::Code).iter().skip(1) {
        vary(&|made| error(made, &|error| error.code = Some(code.as_str().into())));
    }
    for &status in statuses.iter().skip(1) {
        vary(&|made| error(made, &|error| error.status = Some(status)));
    }
    for message in messages.iter().skip(1).filter(|_| !when.messages().is_empty()) {
        vary(&|made| error(made, &|error| error.message = Some(message.as_str().into())));
    }
    for test in when.headers().iter().skip(1) {
        vary(&|made| error(made, &|error| error.headers = headers(Some(test))));
    }
    for value in when.headers().iter().flat_map(HeaderTest::examples).skip(1) {
        vary(&|made| error(made, &|error| error.headers = Headers::new([value.clone()])));
    }
    for tool in when.texts(ConditionKind::Tool).iter().skip(1) {
        vary(&|made| made.tool = Some(example_texts::of_glob(tool)));
    }
    made
}

fn simplest(when: &When, verdict: VerdictId, messages: &[String], statuses: &[u16]) -> Option<SyntheticFailure> {
    let text = |texts: &[String]| texts.first().map(|text| text.as_str().into());
    let message = if when.messages().is_empty() { None } else { Some(messages.first()?.as_str().into()) };
    let error = ErrorFacts {
        kind: text(when.texts(ConditionKind::Kind)),
        message,
        status: statuses.first().copied(),
        code: text(when.texts(ConditionKind::Code)),
        retry_after: (when.is(ConditionKind::RetryAfter) == Some(true)).then_some(RETRY_AFTER),
        should_retry: when.said(),
        retriable: None,
        headers: headers(when.headers().first()),
        kind_from: None,
    };
    Some(SyntheticFailure {
        error: when.get(ConditionKind::Error).is_none().then_some(error),
        tool: when.texts(ConditionKind::Tool).first().map(|tool| example_texts::of_glob(tool)),
        access: when.access(),
        idempotent: when.is(ConditionKind::Idempotent),
        keyed: when.is(ConditionKind::Keyed),
        attempts: when.ranges(ConditionKind::Attempt).to_vec(),
        verdict,
        lends_status: false,
    })
}

/// Headers that pass a test: the simplest.
fn headers(test: Option<&HeaderTest>) -> Headers {
    Headers::new(test.and_then(|test| test.examples().into_iter().next()))
}

/// The first, the last and a middle value of every range, and the one after the first.
fn edges(ranges: &[NumberRange]) -> Vec<u16> {
    let of = |range: &NumberRange| [range.first, range.last, range.first.midpoint(range.last), range.first + 1];
    let mut values: Vec<u16> = Vec::new();
    for value in
        ranges.iter().flat_map(of).filter(|value| ranges.iter().any(|range| (range.first..=range.last).contains(value)))
    {
        let value = u16::try_from(value).unwrap_or(u16::MAX); // a status has three digits
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// A `when` with the conditions of both; none if no failure can meet both.
fn both(a: &When, b: &When) -> Option<When> {
    let mut both = a.clone();
    for (ask, theirs) in b.iter() {
        let test = match a.get(ask) {
            Some(mine) => common(mine, theirs)?,
            None => theirs.clone(),
        };
        both.set(ask, test);
    }
    Some(both)
}

/// The test that holds if both tests hold. Globs are not intersected: the first ones stand for both.
fn common(a: &ConditionTest, b: &ConditionTest) -> Option<ConditionTest> {
    match (a, b) {
        (ConditionTest::AnyOf(a), ConditionTest::AnyOf(b)) => {
            let both: Vec<String> = a.iter().filter(|text| b.contains(text)).cloned().collect();
            (!both.is_empty()).then_some(ConditionTest::AnyOf(both))
        }
        (ConditionTest::Ranges(a), ConditionTest::Ranges(b)) => {
            let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
            let both = pairs.map(|(a, b)| NumberRange { first: a.first.max(b.first), last: a.last.min(b.last) });
            let both: Vec<NumberRange> = both.filter(|range| range.first <= range.last).collect();
            (!both.is_empty()).then_some(ConditionTest::Ranges(both))
        }
        (ConditionTest::Messages(a), ConditionTest::Messages(b)) => {
            Some(ConditionTest::Messages(a.iter().chain(b.iter().filter(|test| !a.contains(test))).cloned().collect()))
        }
        (ConditionTest::Globs(a), ConditionTest::Globs(_)) => Some(ConditionTest::Globs(a.clone())),
        (a, b) => (a == b).then(|| a.clone()),
    }
}
