//! Redacts calls, and reports about a trace. A call is redacted in full. A report keeps our own words and its places and
//! quotes nothing, because broken input does not show which keys its values have.

use std::sync::Arc;

use super::rules::{NameKind, REDACTED, RedactionRules};
use crate::call::CompletedCall;
use crate::wire::UnknownName;
use playproof_engine::call::{
    CallTexts, RecordedCall, RecordedDispatch, RecordedStep, RecordedTransaction, Recorder, Reply,
};
use playproof_engine::event::{ErrorFacts, Headers};
use playproof_formats::diagnostic::{Report, Source};

impl RedactionRules {
    /// Adds the redacted form of a call; its recorded form stays. Callers follow the order in which calls close, because
    /// redacted names are numbered in that order.
    pub fn show(&self, closed: &mut CompletedCall) {
        if !self.is_empty() {
            let shown = self.shown(closed.raw());
            closed.set_shown(Box::new(shown));
        }
    }

    /// The redacted form of a call. Times, statuses and places stay.
    pub fn shown(&self, call: &RecordedCall) -> RecordedCall {
        let name = |kind, name: Option<&str>| name.map(|name| self.name(kind, name).into_owned());
        let (run, id) = (name(NameKind::Run, call.run()), name(NameKind::Call, call.id()));
        let tool = self.name(NameKind::Tool, call.tool());
        let (key, token) = (name(NameKind::Key, call.key()), name(NameKind::Token, call.token()));
        let dispatcher = name(NameKind::Dispatcher, call.dispatcher());
        let args = call.args().map(|args| self.json_under("args", args));
        let evidence = call.evidence().map(|evidence| self.json_under("evidence_refs", evidence));
        let texts = CallTexts {
            run: run.as_deref(),
            id: id.as_deref(),
            tool: &tool,
            args: args.as_deref(),
            key: key.as_deref(),
            evidence: evidence.as_deref(),
            token: token.as_deref(),
            dispatcher: dispatcher.as_deref(),
        };
        let mut shown = RecordedCall::new(texts, call.place);
        shown.number = call.number;
        shown.number_in_run = call.number_in_run;
        shown.at = call.at;
        shown.timeout = call.timeout;
        shown.answer_within = call.answer_within;
        shown.parent = call.step().map(|(parent, step)| {
            let (call, step) = (self.name(NameKind::Call, parent), self.text_under("step", step));
            Box::new(RecordedStep { call: (&*call).into(), step: (&*step).into() })
        });
        shown.transaction = call.transaction.clone().map(|of| {
            let label = self.text_under("transaction", &of.label);
            Box::new(RecordedTransaction { label: (&*label).into(), ..*of })
        });
        shown.dispatch = call.dispatch.clone().map(|dispatch| {
            Box::new(RecordedDispatch {
                decisions: dispatch
                    .decisions
                    .iter()
                    .map(|(line, event)| (*line, self.json_under("decision", event).into()))
                    .collect(),
                recorder: dispatch.recorder.as_deref().map(|recorder| {
                    let playbook = self.text_under("playbook", &recorder.playbook);
                    Arc::new(Recorder { playbook: (&*playbook).into(), ..recorder.clone() })
                }),
                ..*dispatch
            })
        });
        shown.answers = call.answers.clone();
        for answer in &mut shown.answers {
            if let Reply::Failed(Some(error)) | Reply::Suspected(Some(error)) | Reply::Unfinished(Some(error)) =
                &mut answer.reply
            {
                let redacted = self.error(error);
                if redacted != **error {
                    *error = Arc::new(redacted);
                }
            }
        }
        shown
    }

    fn error(&self, error: &ErrorFacts) -> ErrorFacts {
        let shown = |key: &str, text: &Option<Box<str>>| text.as_deref().map(|text| self.text_under(key, text).into());
        ErrorFacts {
            kind: shown("kind", &error.kind),
            message: shown("message", &error.message),
            code: shown("code", &error.code),
            headers: self.headers(&error.headers),
            ..error.clone()
        }
    }

    fn headers(&self, headers: &Headers) -> Headers {
        if headers.is_empty() || self.hides("headers") {
            return Headers::default();
        }
        Headers::new(
            headers.iter().map(|header| (self.text(&header.name), self.text_under(&header.name, &header.value))),
        )
    }

    /// The report without quotes of its source; the places stay.
    #[must_use]
    pub fn report(&self, report: Report) -> Report {
        if self.is_empty() {
            return report;
        }
        let Report { source, mut diagnostics } = report;
        let first = diagnostics.iter().flat_map(|diagnostic| &diagnostic.labels).map(|label| label.span.start).min();
        let (line, column) = source.place(first.unwrap_or(0));
        for label in diagnostics.iter_mut().flat_map(|diagnostic| &mut diagnostic.labels) {
            label.span = 0..REDACTED.len();
        }
        let source = Source {
            name: source.name.clone(),
            text: if first.is_some() { REDACTED.to_owned() } else { String::new() },
            first_line: line,
            first_column: column - 1,
            begins_before: false,
            goes_on: false,
        };
        Report { source: Arc::new(source), diagnostics }
    }

    /// The redacted form of an unknown name under `key`.
    pub(crate) fn unknown_name(&self, key: &str, unknown: UnknownName) -> UnknownName {
        let name = self.text_under(key, &unknown.name).into_owned();
        if name == unknown.name { unknown } else { unknown.redacted(name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::call::{AnswerTo, Place, RecordedAnswer};
    use playproof_engine::event::StatusFrom;
    use playproof_formats::diagnostic::Diagnostic;

    #[test]
    fn every_text_of_a_call_is_redacted() {
        let secret = "4111111111111111";
        let quoted = format!("[\"{secret}\"]");
        let texts = CallTexts {
            run: Some(secret),
            id: Some(secret),
            tool: secret,
            args: Some(&quoted),
            key: Some(secret),
            evidence: Some(&quoted),
            token: Some(secret),
            dispatcher: Some(secret),
        };
        let mut call = RecordedCall::new(texts, Place { input: 0, line: 3 });
        let text = Some(secret.into());
        let error = ErrorFacts {
            kind: text.clone(),
            message: text.clone(),
            code: text,
            status: Some(409),
            headers: Headers::new([(secret, secret), ("retry-after", secret)]),
            ..ErrorFacts::default()
        };
        call.answers.push(RecordedAnswer {
            to: AnswerTo::Attempt,
            attempt: None,
            started: None,
            at: None,
            reply: Reply::Failed(Some(Arc::new(error))),
            inferred: false,
            status_from: StatusFrom::Flag,
            draw: None,
            line_hash: 0,
            place: call.place,
        });
        for rules in [RedactionRules::new(&[], &[r"\d{16}"]), RedactionRules::new(&["*"], &[])] {
            let shown = rules.unwrap().shown(&call);
            assert!(!format!("{shown:?}").contains(secret), "{shown:?}");
            assert_eq!((shown.place, shown.answers.len()), (call.place, 1));
            let Reply::Failed(Some(error)) = &shown.answers[0].reply else { panic!() };
            assert_eq!((error.status, error.kind.as_deref()), (Some(409), Some("[redacted]")));
        }
    }

    #[test]
    fn a_redacted_report_keeps_its_places_and_our_words_and_quotes_nothing() {
        let rules = RedactionRules::new(&[], &["sk_[a-z]+", "JSON|[0-9]"]).unwrap();
        let source = Source::whole("t.json", "{\n  \"a\": sk_x\n}");
        let diagnostic = Diagnostic::error("not_json", "no JSON").at(9..13, "here").help("fix line 2");
        let report = rules.report(Report::one(source, diagnostic.clone()));
        assert_eq!(report.to_string(), "t.json:2:8: no JSON");
        assert_eq!((&*report.source.text, &report.diagnostics[0].help), (REDACTED, &diagnostic.help));
    }
}
