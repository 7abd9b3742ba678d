//! Writes recorded calls as a trace in our own format, in the order of their lines. Chooses no calls.

use std::collections::BTreeSet;

use crate::origin::SourceSpan;
use crate::trace_writer::{At, OutputAct, OutputCall, OutputResult, TraceWriter, WrittenArgs};
use playproof_engine::call::{AnswerTo, RecordedAct, RecordedAnswer, RecordedCall};
use playproof_engine::time::Instant;

/// The calls and their answers as JSON Lines. Calls that share an id get an id each, so that every answer finds its call.
pub fn lines(calls: &[&RecordedCall]) -> String {
    lines_with_acts(calls, &[])
}

/// The same with what was done with transactions.
pub fn lines_with_acts(calls: &[&RecordedCall], acts: &[RecordedAct]) -> String {
    let ids = unique_ids(calls);
    // Of one source line, the call comes before its answers.
    let mut places: Vec<(u64, usize, Said<'_>)> = Vec::new();
    for (n, call) in calls.iter().enumerate() {
        places.push((call.place.line, n, Said::Call));
        places.extend(call.answers.iter().map(|answer| (answer.place.line, n, Said::Answer(answer))));
        if let Some(dispatch) = &call.dispatch {
            places.extend(dispatch.cancelled.map(|(at, line)| (line, n, Said::Cancelled(at))));
            places.extend(dispatch.decisions.iter().map(|(line, event)| (*line, n, Said::Decided(event))));
        }
    }
    places.sort_by_key(|(line, ..)| *line);
    let mut acts: Vec<&RecordedAct> = acts.iter().collect();
    acts.sort_by_key(|act| act.line);
    let mut acts = acts.into_iter().peekable();
    let mut out = TraceWriter::default();
    let mut recorder = None;
    for (line, n, said) in places {
        let (Some(call), Some(id)) = (calls.get(n), ids.get(n)) else { continue };
        if let Some(of_call) = call.recorder().filter(|of_call| recorder != Some(*of_call)) {
            out.recording(of_call);
            recorder = Some(of_call);
        }
        while let Some(act) = acts.next_if(|act| act.line < line) {
            out.act(&output_act(act));
        }
        match said {
            Said::Call => {
                let parent = call.step().map(|(parent, step)| (new_id(calls, &ids, n, parent), step));
                let args = call.args().map(|args| WrittenArgs::of(args, call.tool(), call.key().is_some()));
                out.call(&OutputCall { step: parent, args: args.as_ref(), ..output_call(call, id) });
            }
            Said::Answer(answer) => drop(out.result(&output_result(call, id, answer))),
            Said::Cancelled(at) => out.cancel(call.run(), id, at),
            Said::Decided(event) => out.decision(call.run(), id, event),
        }
    }
    acts.for_each(|act| out.act(&output_act(act)));
    String::from_utf8_lossy(&out.into_bytes()).into_owned()
}

/// What a line says of a call.
enum Said<'a> {
    Call,
    Answer(&'a RecordedAnswer),
    Cancelled(Instant),
    Decided(&'a str),
}

fn unique_ids(calls: &[&RecordedCall]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut id = |(n, call): (usize, &&RecordedCall)| {
        let own = call.id().map(str::to_owned).filter(|id| !taken.contains(id));
        let id = own.unwrap_or_else(|| {
            (n + 1..).map(|n| format!("call-{n}")).find(|id| !taken.contains(id)).unwrap_or_default()
        });
        taken.insert(id.clone());
        id
    };
    calls.iter().enumerate().map(&mut id).collect()
}

/// The id that the parent of call `n` has here: calls may get another id.
fn new_id<'a>(calls: &[&RecordedCall], ids: &'a [String], n: usize, parent: &'a str) -> &'a str {
    let run = calls.get(n).and_then(|call| call.run());
    let line = calls.get(n).map(|call| call.place.line);
    let is_it = |call: &RecordedCall| call.id() == Some(parent) && call.run() == run && Some(call.place.line) < line;
    calls.iter().zip(ids).rfind(|(call, _)| is_it(call)).map_or(parent, |(_, id)| id)
}

fn output_act(act: &RecordedAct) -> OutputAct<'_> {
    OutputAct {
        act: act.act,
        run: act.run.as_deref(),
        label: Some(&*act.label).filter(|label| !label.is_empty()),
        at: act.at.map(|at| At::Micros(at.as_micros())),
        state: act.state.as_ref().map(|(name, value)| (&**name, &**value)),
        span: SourceSpan::default(),
        source: "",
    }
}

fn output_call<'a>(call: &'a RecordedCall, id: &'a str) -> OutputCall<'a> {
    OutputCall {
        run: call.run(),
        id: Some(id),
        tool: call.tool(),
        at: call.at.map(|at| At::Micros(at.as_micros())),
        key: call.key(),
        evidence: call.evidence(),
        token: call.token(),
        transaction: call.transaction.as_deref().map(|of| &*of.label).filter(|label| !label.is_empty()),
        dispatcher: call.dispatcher(),
        timeout: call.timeout.map(playproof_engine::time::Duration::as_micros),
        answer_within: call.answer_within.map(playproof_engine::time::Duration::as_micros),
        ..OutputCall::default()
    }
}

fn output_result<'a>(call: &'a RecordedCall, id: &'a str, answer: &'a RecordedAnswer) -> OutputResult<'a> {
    OutputResult {
        run: call.run(),
        id: Some(id),
        attempt: answer.attempt.or_else(|| number_of(call, answer)),
        started: answer.started.map(Instant::as_micros),
        at: answer.at.map(|at| At::Micros(at.as_micros())),
        answers: match answer.to {
            AnswerTo::Attempt => None,
            AnswerTo::Refresh => Some("refresh"),
            AnswerTo::Reversal => Some("reversal"),
            AnswerTo::Late => Some("late"),
        },
        reply: Some(&answer.reply),
        status_from: Some(answer.status_from),
        draw: answer.draw,
        ..OutputResult::default()
    }
}

/// The number of an attempt that would be equal to another line of its call: redaction may hide the difference, and some
/// differences are not written.
fn number_of(call: &RecordedCall, answer: &RecordedAnswer) -> Option<u32> {
    let is_distinct = call.answers.iter().filter(|other| other.has_same_facts(answer)).nth(1).is_none();
    let own = call.attempts().find(|(_, other)| std::ptr::eq(*other, answer));
    own.filter(|_| !is_distinct).map(|(number, _)| number.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::TraceInput;
    use crate::redact::RedactionRules;
    use playproof_engine::call::{CallTexts, Place, RecordedDispatch, Recorder, Reply};
    use std::sync::Arc;

    use playproof_engine::event::{Draw, ErrorFacts, Headers, KeyDialect, KindFrom, StatusFrom};

    use playproof_engine::time::Duration;

    fn call(id: Option<&'static str>, line: u64, answers: Vec<RecordedAnswer>) -> RecordedCall {
        let texts = CallTexts {
            run: Some("r \"1\""),
            id,
            tool: "pay",
            args: Some(r#"{"b":1,"a":[2.50]}"#),
            key: Some("k"),
            evidence: Some(r#"["ev"]"#),
            token: Some("t"),
            dispatcher: Some("d"),
        };
        let mut call = RecordedCall::new(texts, Place { input: 0, line });
        call.at = Some(Instant::from_micros(line * 1_500));
        call.timeout = Some(Duration::from_millis(700));
        call.answers = answers;
        call
    }

    fn answer(to: AnswerTo, line: u64, reply: Reply) -> RecordedAnswer {
        let at = Some(Instant::from_millis(line * 10));
        let attempt = (to == AnswerTo::Attempt).then_some(1);
        RecordedAnswer {
            to,
            attempt,
            started: None,
            at,
            reply,
            inferred: false,
            status_from: StatusFrom::Flag,
            draw: (line == 5).then_some(Draw::MAX),
            line_hash: 0,
            place: Place { input: 0, line },
        }
    }

    fn recorder() -> Recorder {
        Recorder {
            playbook: "a \"b\"".into(),
            fingerprint: "0f".repeat(32).into(),
            seed: u64::MAX,
            keys: Some(KeyDialect::Lossy),
        }
    }

    fn read(text: &str) -> Vec<RecordedCall> {
        let closed = TraceInput::own("slice", text.as_bytes()).calls(&RedactionRules::default()).unwrap();
        let mut calls: Vec<RecordedCall> = closed.into_iter().map(|closed| closed.raw().clone()).collect();
        calls.sort_by_key(|call| call.place.line);
        calls
    }

    #[test]
    fn a_written_slice_is_read_back_as_the_same_calls() {
        let error = ErrorFacts {
            kind: Some("timeout".into()),
            message: Some("no \"answer\"\n".into()),
            status: Some(504),
            code: Some("E1".into()),
            retry_after: Some(Duration::from_millis(30)),
            should_retry: Some(false),
            retriable: Some(true),
            headers: Headers::new([("Retry-After", "1"), ("x \"a\"", "é"), ("retry-after", "2")]),
            kind_from: Some(KindFrom::Text),
        };
        let suspicion = Reply::Suspected(Some(error.clone().into()));
        let first = call(Some("c1"), 2, vec![answer(AnswerTo::Attempt, 5, Reply::Failed(Some(error.into())))]);
        let answers = vec![
            answer(AnswerTo::Attempt, 4, Reply::Failed(None)),
            answer(AnswerTo::Refresh, 6, Reply::Ok),
            answer(AnswerTo::Reversal, 7, Reply::Ok),
            RecordedAnswer { attempt: Some(1), ..answer(AnswerTo::Late, 10, Reply::Ok) },
        ];
        let mut second = call(Some("c1"), 3, answers);
        let decided = r#"{"at_ms":12,"event":"outcome","outcome":"cancelled"}"#;
        second.dispatch = Some(Box::new(RecordedDispatch {
            sent: 0,
            cancelled: Some((Instant::from_millis(11), 11)),
            ended: Some((Instant::from_millis(12), 12)),
            decisions: vec![(12, decided.into())],
            recorder: Some(Arc::new(recorder())),
        }));
        let third = call(Some("c3"), 8, vec![answer(AnswerTo::Attempt, 9, suspicion)]);
        let text = lines(&[&first, &second, &third]);
        let back = read(&text);
        assert_eq!(back.len(), 3, "{text}");
        for (was, is) in [first, second, third].iter().zip(&back) {
            assert_eq!(
                (was.tool(), was.dispatcher(), was.args(), was.key()),
                (is.tool(), is.dispatcher(), is.args(), is.key())
            );
            assert_eq!(
                (was.evidence(), was.token(), was.at, was.timeout),
                (is.evidence(), is.token(), is.at, is.timeout)
            );
            let replies = |call: &RecordedCall| {
                call.answers
                    .iter()
                    .map(|one| (one.to, one.attempt, one.at, one.draw, one.reply.clone()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(replies(was), replies(is), "{text}");
            assert_eq!(was.end().map(|end| end.0), is.end().map(|end| end.0), "{text}");
            assert_eq!(was.cancelled_at(), is.cancelled_at(), "{text}");
            assert_eq!(was.recorder(), is.recorder(), "{text}");
        }
        assert_eq!((back[0].id(), back[1].id()), (Some("c1"), Some("call-2")));
    }
}
