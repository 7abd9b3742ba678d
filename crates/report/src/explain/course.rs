//! What went wrong with one call, in a sentence that needs no knowledge of the product. `page` explains a call at length.

use crate::findings::{self, About};
use crate::text;
use crate::view::{CallView, RunView};
use playproof_engine::call::{RecordedCall, Reply};
use playproof_engine::event::{ErrorFacts, Finding, FindingBy, FindingId, FindingSeverity};

/// The most answers that a sentence lists.
const ANSWERS: usize = 3;

/// What went wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The worst finding.
    pub severity: FindingSeverity,
    /// The sentence.
    pub said: String,
    /// The finding's id.
    pub id: FindingId,
}

/// The equal call before a call that was made again.
#[derive(Clone, Copy, Debug)]
pub struct Earlier<'a> {
    /// The name that `--call` takes.
    pub reference: &'a str,
    /// The call.
    pub call: &'a RecordedCall,
}

/// The worst finding of a call in one sentence; none if nothing worse than a note was found. Where the finding rests on an
/// equal call before it, a second sentence says how that one ended, if it is known. `several`: the counts are the greatest of
/// several calls.
pub fn what_went_wrong(
    view: &CallView<'_>,
    runs: &[RunView<'_>],
    several: bool,
    before: Option<Earlier<'_>>,
) -> Option<Wrong> {
    let found = runs.iter().flat_map(|run| run.findings.iter().map(move |finding| (run, finding)));
    let serious = found.filter(|(_, finding)| finding.severity != FindingSeverity::Note);
    let (run, finding) = serious.min_by_key(|(_, finding)| (findings::order(finding), finding.kind()))?;
    let of = view.run.filter(|run| !run.is_empty()).unwrap_or(view.reference);
    let call = format!("{} of {}", text::fitted(view.tool, 60), text::fitted(of, 60));
    let said = match (finding.by, view.recorded) {
        (FindingBy::Recorded, Some(recorded)) => as_recorded(&call, view, recorded, finding, several),
        _ => plainly(&call, view, finding, &findings::by(finding, &run.transcript.names.playbook), several),
    };
    let before = before.filter(|_| rests_on_another(finding)).map_or_else(String::new, |before| {
        format!(" The equal call before it, {}, {}.", text::fitted(before.reference, 60), ended(before.call))
    });
    let said = text::escape_unprintable(&(said + &before)).into_owned();
    Some(Wrong { severity: finding.severity, said, id: finding.id })
}

fn as_recorded(call: &str, view: &CallView<'_>, recorded: &RecordedCall, finding: &Finding, several: bool) -> String {
    let (sent, answers) = (recorded.attempts().count(), answers(recorded));
    if finding.doubt.is_some() || sent == 0 {
        return plainly(call, view, finding, &findings::by(finding, ""), several);
    }
    let often = if finding.count == 1 { "twice" } else { "more than once" };
    // The answers of a call that was sent once say nothing of the calls before it.
    match (finding.id, sent) {
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
        _ => plainly(call, view, finding, &findings::by(finding, ""), several),
    }
}

/// The sentence of the finding itself.
fn plainly(call: &str, view: &CallView<'_>, finding: &Finding, by: &str, several: bool) -> String {
    let without_run = view.recorded.is_some() && view.run.is_none();
    let (keyed, declared, doubt) = (view.key.is_some(), view.declared, finding.doubt);
    let about = About { several, keyed, declared, without_run, doubt, ..About::default() };
    format!("{call}: {}, {by}.", findings::sentence(finding.id, finding.count, about))
}

/// Whether an equal call before is part of what was found.
const fn rests_on_another(finding: &Finding) -> bool {
    use FindingId::{DuplicateEffect, PossibleDuplicateEffect, RetriedAfterConflict, RetriedAfterDenial, UnsafeRetry};
    let by_agent = matches!(finding.by, FindingBy::Recorded);
    by_agent
        && matches!(
            finding.id,
            UnsafeRetry | RetriedAfterDenial | RetriedAfterConflict | DuplicateEffect | PossibleDuplicateEffect
        )
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
    use playproof_engine::event::StatusFrom;
    use playproof_engine::ids::CallId;
    use playproof_trace::origin::Sources;

    fn answer(kind: Option<&str>) -> RecordedAnswer {
        let reply = kind.map_or(Reply::Ok, |kind| {
            let error = ErrorFacts { kind: Some(kind.into()), ..ErrorFacts::default() };
            Reply::Failed(Some(error.into()))
        });
        let (attempt, started, at, draw) = (None, None, None, None);
        let (to, status_from, place) = (AnswerTo::Attempt, StatusFrom::Flag, Place::default());
        RecordedAnswer { to, attempt, started, at, reply, inferred: false, status_from, draw, line_hash: 0, place }
    }

    fn said(id: FindingId, count: u32, answers: &[Option<&str>]) -> String {
        let texts = CallTexts { run: Some("c1"), tool: "issue_refund", ..CallTexts::default() };
        let mut call = RecordedCall::new(texts, Place::default());
        call.answers = answers.iter().map(|kind| answer(*kind)).collect();
        let sources = Sources::new(["t".to_owned()]);
        let view = CallView::recorded(&call, "c1#2", "", &sources);
        let (severity, by, doubt) = (FindingSeverity::Unsafe, FindingBy::Recorded, None);
        let finding = Finding { call: CallId(0), id, severity, by, count, doubt };
        as_recorded("issue_refund of c1", &view, &call, &finding, false)
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
}
