//! What went wrong with one call, in a sentence that needs no knowledge of the product. `page` explains a call at length.

use crate::findings::{self, About};
use crate::text;
use crate::view::{CallView, RunView};
use playproof_engine::call::{RecordedCall, Reply};
use playproof_engine::event::{ErrorFacts, Finding, FindingBy, FindingId, FindingSeverity};

/// The most answers that a sentence lists.
const ANSWERS: usize = 3;

/// The worst finding of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorstFinding {
    /// How bad it is.
    pub severity: FindingSeverity,
    /// What went wrong, in a sentence.
    pub said: String,
    /// Its id.
    pub id: FindingId,
}

/// A call that was made before an equal one.
#[derive(Clone, Copy, Debug)]
pub struct EqualCall<'a> {
    /// The name that `--call` takes.
    pub reference: &'a str,
    /// The call.
    pub call: &'a RecordedCall,
}

/// What a page knows of the calls beside the one that it tells of.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallsBeside<'a> {
    /// Whether the call stands for several, so that the counts are the greatest of them all.
    pub several: bool,
    /// A call of the same run that is equal, and was made before.
    pub before: Option<EqualCall<'a>>,
}

/// The worst finding of a call in one sentence; none if nothing worse than a note was found. Where other calls are why it was
/// found, a second sentence says how an equal one before it ended, if one is known.
pub fn what_went_wrong(view: &CallView<'_>, runs: &[RunView<'_>], beside: CallsBeside<'_>) -> Option<WorstFinding> {
    let found = runs.iter().flat_map(|run| run.findings.iter().map(move |finding| (run, finding)));
    let serious = found.filter(|(_, finding)| finding.severity != FindingSeverity::Note);
    let (run, finding) = serious.min_by_key(|(_, finding)| (findings::order(finding), finding.kind()))?;
    let of = view.run.filter(|run| !run.is_empty()).unwrap_or(view.reference);
    let call = format!("{} of {}", text::fitted(view.tool, 60), text::fitted(of, 60));
    let recorded = view.recorded.filter(|_| finding.by == FindingBy::Recorded);
    let said = recorded.and_then(|recorded| as_recorded(&call, recorded, finding)).unwrap_or_else(|| {
        let by = findings::by(finding, &run.transcript.names.playbook);
        format!(
            "{call}: {}, {by}.",
            findings::sentence(finding.id, finding.count, about(view, finding, beside.several))
        )
    });
    let before = beside.before.filter(|_| recorded.is_some_and(|recorded| rests_on_others(finding, recorded)));
    let before = before.map_or_else(String::new, |before| {
        format!(" An equal call before it, {}, {}.", text::fitted(before.reference, 60), ended(before.call))
    });
    let said = text::escape_unprintable(&(said + &before)).into_owned();
    Some(WorstFinding { severity: finding.severity, said, id: finding.id })
}

/// What the answers of a call add to a finding of its recording; none if they add nothing.
fn as_recorded(call: &str, recorded: &RecordedCall, finding: &Finding) -> Option<String> {
    let (sent, answers) = (recorded.attempts().count(), answers(recorded));
    if finding.doubt.is_some() || sent == 0 {
        return None;
    }
    let often = if finding.count == 1 { "twice" } else { "more than once" };
    // The answers of a call that was sent once say nothing of the calls before it.
    Some(match (finding.id, sent) {
        (FindingId::UnsafeRetry, 1) => {
            let after = "after an equal call that may have acted";
            format!("{call} was sent again {after}, and was {answers}: it may have acted {often}.")
        }
        (FindingId::UnsafeRetry, _) => {
            format!("{call} was sent {} ({answers}): it may have acted {often}.", times(sent))
        }
        (FindingId::RetriedAfterDenial, 1) => {
            format!("{call} was sent again although an equal call was denied, and was {answers}.")
        }
        (FindingId::RetriedAfterDenial, _) => {
            format!("{call} was denied, and was sent again all the same ({answers}).")
        }
        (FindingId::RetriedAfterConflict, 1) => {
            let done = "the upstream had said of an equal call that it was processed";
            format!("{call} was sent again although {done}, and was {answers}.")
        }
        (FindingId::RetriedAfterConflict, _) => {
            let done = "the upstream had said that it was processed";
            format!("{call} was sent again although {done} ({answers}).")
        }
        _ => return None,
    })
}

/// What is known of a call when the sentence of its finding is written.
fn about(view: &CallView<'_>, finding: &Finding, several: bool) -> About {
    About {
        several,
        keyed: view.key.is_some(),
        declared: view.declared,
        without_run: view.recorded.is_some() && view.run.is_none(),
        doubt: finding.doubt,
        ..About::default()
    }
}

/// Whether other calls are why a finding of a recording was found. Attempts of the call itself are another reason for most
/// findings, so that a call that was sent more than once says enough.
fn rests_on_others(finding: &Finding, recorded: &RecordedCall) -> bool {
    use FindingId::{DuplicateEffect, PossibleDuplicateEffect, RetriedAfterConflict, RetriedAfterDenial, UnsafeRetry};
    match finding.id {
        DuplicateEffect => true,
        PossibleDuplicateEffect | RetriedAfterConflict | RetriedAfterDenial | UnsafeRetry => {
            recorded.attempts().count() <= 1
        }
        _ => false,
    }
}

/// How a call ended, as recorded.
fn ended(recorded: &RecordedCall) -> String {
    match recorded.attempts().count() {
        0 => "has no answer".to_owned(),
        _ => format!("was {}", answers(recorded)),
    }
}

/// What the attempts were answered, in their order.
fn answers(recorded: &RecordedCall) -> String {
    let all: Vec<String> = recorded
        .attempts()
        .map(|(_, answer)| match &answer.reply {
            Reply::Ok => "ok".to_owned(),
            Reply::Failed(error) => failure(error.as_deref()),
            Reply::Suspected(error) => format!("perhaps {}", failure(error.as_deref())),
            Reply::Unfinished(_) => "that it is not done yet".to_owned(),
        })
        .collect();
    match all.as_slice() {
        [first, .., last] if all.len() > ANSWERS => format!("first answered {first}, at last {last}"),
        all => format!("answered {}", all.join(", then ")),
    }
}

fn failure(error: Option<&ErrorFacts>) -> String {
    let status = error.and_then(|error| error.status).map(|status| status.to_string());
    let kind = error.and_then(|error| error.kind.as_deref().or(error.code.as_deref())).or(status.as_deref());
    match kind {
        Some("timeout") => "with a timeout".to_owned(),
        kind => format!("with the failure {}", text::fitted(kind.unwrap_or("without a name"), 40)),
    }
}

fn times(count: usize) -> String {
    match count {
        2 => "twice".to_owned(),
        many => text::counted(many as u64, "time", "times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::call::{AnswerTo, CallTexts, Place, RecordedAnswer};
    use playproof_engine::event::{IntentDoubt, StatusFrom};
    use playproof_engine::ids::CallId;

    fn answer(kind: Option<&str>) -> RecordedAnswer {
        let reply = kind.map_or(Reply::Ok, |kind| {
            let error = ErrorFacts { kind: Some(kind.into()), ..ErrorFacts::default() };
            Reply::Failed(Some(error.into()))
        });
        let (attempt, started, at, draw) = (None, None, None, None);
        let (to, status_from, place) = (AnswerTo::Attempt, StatusFrom::Flag, Place::default());
        RecordedAnswer { to, attempt, started, at, reply, inferred: false, status_from, draw, line_hash: 0, place }
    }

    fn call(answers: &[Option<&str>]) -> RecordedCall {
        let texts = CallTexts { run: Some("c1"), tool: "issue_refund", ..CallTexts::default() };
        let mut call = RecordedCall::new(texts, Place::default());
        call.answers = answers.iter().map(|kind| answer(*kind)).collect();
        call
    }

    fn finding(id: FindingId, count: u32) -> Finding {
        let (severity, by, doubt) = (FindingSeverity::Unsafe, FindingBy::Recorded, None);
        Finding { call: CallId(0), id, severity, by, count, doubt, other_line: 0 }
    }

    fn said(id: FindingId, count: u32, answers: &[Option<&str>]) -> String {
        as_recorded("issue_refund of c1", &call(answers), &finding(id, count)).unwrap_or_default()
    }

    #[test]
    fn a_resend_that_may_have_acted_is_told_with_its_answers() {
        assert_eq!(
            said(FindingId::UnsafeRetry, 1, &[Some("timeout"), None]),
            "issue_refund of c1 was sent twice (answered with a timeout, then ok): it may have acted twice."
        );
        let many = [Some("5xx"), Some("timeout"), Some("timeout"), None];
        assert_eq!(
            said(FindingId::UnsafeRetry, 3, &many),
            "issue_refund of c1 was sent 4 times (first answered with the failure 5xx, at last ok): it may have acted \
             more than once."
        );
        let alone = said(FindingId::UnsafeRetry, 1, &[None]);
        assert_eq!(
            alone,
            "issue_refund of c1 was sent again after an equal call that may have acted, and was answered ok: it may have \
             acted twice."
        );
    }

    #[test]
    fn a_denial_is_not_said_to_have_acted() {
        let said = said(FindingId::RetriedAfterDenial, 1, &[Some("403_forbidden"), Some("403_forbidden")]);
        assert!(said.starts_with("issue_refund of c1 was denied, and was sent again"), "{said}");
        assert!(!said.contains("acted"), "{said}");
    }
    #[test]
    fn a_call_that_was_sent_once_is_not_told_as_if_it_had_been_refused_itself() {
        let ok = [None];
        assert_eq!(
            said(FindingId::RetriedAfterDenial, 1, &ok),
            "issue_refund of c1 was sent again although an equal call was denied, and was answered ok."
        );
        assert_eq!(
            said(FindingId::RetriedAfterConflict, 1, &ok),
            "issue_refund of c1 was sent again although the upstream had said of an equal call that it was processed, and \
             was answered ok."
        );
        assert!(
            said(FindingId::RetriedAfterConflict, 1, &[Some("409"), None]).contains("had said that it was processed")
        );
    }

    #[test]
    fn answers_add_nothing_to_a_doubt_nor_to_a_call_without_any() {
        assert_eq!(said(FindingId::UnsafeRetry, 1, &[]), "");
        let doubt = Finding { doubt: Some(IntentDoubt::TwoInputs), ..finding(FindingId::UnsafeRetry, 1) };
        assert_eq!(as_recorded("a", &call(&[None]), &doubt), None);
    }

    #[test]
    fn other_calls_are_the_reason_only_where_the_attempts_of_the_call_itself_are_none() {
        let rests = |id, answers: &[Option<&str>]| rests_on_others(&finding(id, 1), &call(answers));
        let (once, twice) = ([None], [Some("timeout"), None]);
        for id in [FindingId::UnsafeRetry, FindingId::RetriedAfterDenial, FindingId::PossibleDuplicateEffect] {
            assert!(rests(id, &once) && rests(id, &[]) && !rests(id, &twice), "{}", id.as_str());
        }
        assert!(rests(FindingId::DuplicateEffect, &twice), "each call has one effect");
        assert!(!rests(FindingId::UnsafeAdvice, &once), "it rests on what an agent was told");
    }
}
