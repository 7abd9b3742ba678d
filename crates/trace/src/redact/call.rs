//! Calls as they are shown: the one way of a call's texts to reporters and files.

use std::sync::Arc;

use super::names::Name;
use super::rules::RedactionRules;
use crate::assemble::ClosedCall;
use playproof_engine::call::{CallTexts, RecordedCall, Reply};
use playproof_engine::event::ErrorFacts;

impl RedactionRules {
    /// Gives a call what is to be shown of it; what is recorded of it stays beside that. Calls are shown in the order in
    /// which they close, for their names are numbered in it.
    pub fn show(&self, closed: &mut ClosedCall) {
        if !self.is_empty() {
            let shown = self.shown(closed.raw());
            closed.set_shown(Box::new(shown));
        }
    }

    /// A call without what must not be shown. Times, statuses and places stay.
    pub fn shown(&self, call: &RecordedCall) -> RecordedCall {
        let name = |of, name: Option<&str>| name.map(|name| self.name(of, name).into_owned());
        let (run, id) = (name(Name::Run, call.run()), name(Name::Call, call.id()));
        let tool = self.name(Name::Tool, call.tool());
        let (key, token) = (name(Name::Key, call.key()), name(Name::Token, call.token()));
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
        };
        let mut shown = RecordedCall::new(texts, call.place);
        shown.number = call.number;
        shown.number_in_run = call.number_in_run;
        shown.at = call.at;
        shown.timeout = call.timeout;
        shown.answers = call.answers.clone();
        for answer in &mut shown.answers {
            if let Reply::Failed(Some(error)) = &mut answer.reply {
                let said = self.error(error);
                if said != **error {
                    *error = Arc::new(said);
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
            ..error.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::call::{AnswerTo, Place, RecordedAnswer};

    #[test]
    fn every_text_of_a_call_is_looked_through() {
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
        };
        let mut call = RecordedCall::new(texts, Place { input: 0, line: 3 });
        let said = Some(secret.into());
        let error =
            ErrorFacts { kind: said.clone(), message: said.clone(), code: said, status: Some(409), retry_after: None };
        call.answers.push(RecordedAnswer {
            to: AnswerTo::Attempt,
            attempt: None,
            started: None,
            at: None,
            reply: Reply::Failed(Some(Arc::new(error))),
            inferred: false,
            from_text: false,
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
}
