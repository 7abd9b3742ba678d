//! The page of one call: an overview, the narrative, what would have happened otherwise, and advice.

use super::advice::{Sentences, sentences};
use super::narrative::{claim_in_words, narrative};
use crate::card::{Alike, CallShown, card, truth};
use crate::doc::{Block, Doc, Text, Tone};
use crate::view::{CallView, RunView, facts_in_words, facts_of_recorded};
use crate::{text, timeline};
use playproof_analysis::explain::{
    Counterfactual, Explanation, OutcomeDifference, PlaybookChange, Simulation, Subject,
};
use playproof_analysis::recorded::Arguments;
use playproof_engine::event::GuardKind;
use playproof_engine::playbook::{GuardMode, Tools};
use playproof_engine::sim::Plan;
use playproof_engine::time::Instant;

/// The page; `tools` are the facts that `plan` was made with.
pub fn page(subject: &Subject, plan: &Plan, tools: &Tools) -> Doc {
    let explanation = Explanation::of(subject, plan, tools);
    let simulation = &explanation.simulation;
    let (reference, facts) = (subject.reference(), facts(subject, simulation));
    let view = CallView { declared: simulation.facts.declared, ..view(subject, &facts, &reference) };
    let shown = CallShown {
        number: 1,
        view: &view,
        runs: &[run(simulation, plan)],
        alike: &Alike::default(),
        before: None,
        arguments: Arguments::Values,
        playbooks: &[],
    };
    let otherwise = explanation.counterfactuals.iter().map(|one| counterfactual(one, plan, simulation));
    let mut blocks = vec![
        card(&shown).block,
        Block::section("happened", "What happened", vec![Block::List(narrative(subject, plan, &explanation))]),
        Block::section(
            "otherwise",
            "What would have happened otherwise (each case was simulated)",
            vec![Block::list(otherwise)],
        ),
    ];
    if let Some(advice) = &explanation.advice {
        let Sentences { state, next, resend } = sentences(advice, subject, &plan.names);
        let rows = [("upstream", state), ("acts next", next), ("send again?", resend)];
        let rows = rows.map(|(label, said)| (Text::new(Tone::Strong, label), said));
        blocks.push(Block::section("know", "What to know", vec![Block::pairs(rows)]));
    }
    Doc::with(format!("Explain: {reference}"), blocks)
}

fn facts(subject: &Subject, simulation: &Simulation) -> String {
    match subject {
        Subject::Recorded { call, .. } => facts_of_recorded(call.shown(), simulation.facts),
        Subject::Fixture { .. } => facts_in_words(simulation.facts),
    }
}

fn view<'a>(subject: &'a Subject, facts: &'a str, reference: &'a str) -> CallView<'a> {
    match subject {
        Subject::Recorded { call, sources, .. } => CallView::recorded(call.shown(), reference, facts, sources),
        Subject::Fixture { .. } => {
            let written = subject.written();
            CallView {
                reference,
                id: None,
                run: None,
                input: None,
                input_from_root: None,
                line: None,
                path: None,
                tool: subject.tool(),
                args: subject.written_args(),
                key: subject.key(),
                token: written.and_then(|call| call.token.as_deref()),
                facts,
                declared: false,
                at: written.map_or(Instant::ZERO, |call| call.at),
                timed: true,
                recorded: None,
                prevented: None,
                sources: None,
            }
        }
    }
}

fn run<'a>(simulation: &'a Simulation, plan: &'a Plan) -> RunView<'a> {
    RunView {
        transcript: simulation.transcript(plan),
        call: simulation.call,
        tally: simulation.tally(),
        findings: simulation.findings.clone(),
        intent: simulation.intent,
    }
}

fn counterfactual(one: &Counterfactual, plan: &Plan, simulation: &Simulation) -> String {
    let changed = match one.change {
        PlaybookChange::WithoutRule(rule) => format!("Without the rule `{}`", plan.names.rule(Some(rule))),
        PlaybookChange::Guard(kind, guard) => {
            let name = match kind {
                GuardKind::Retry => "retry",
                GuardKind::Token => "token",
            };
            match guard {
                GuardMode::Off => format!("With the {name} guard off"),
                GuardMode::Stops | GuardMode::Checked => format!("If the {name} guard had stopped it"),
            }
        }
    };
    let difference = match &one.difference {
        OutcomeDifference::Unknown => "the result is unknown.".to_owned(),
        OutcomeDifference::Nothing => match one.change {
            PlaybookChange::WithoutRule(_) => {
                "another rule would give the same verdict, and nothing else would change.".to_owned()
            }
            PlaybookChange::Guard(..) => "nothing would change.".to_owned(),
        },
        OutcomeDifference::Verdicts(verdicts) => {
            format!("the verdict would be {}, and the call would end the same way.", list(verdicts))
        }
        OutcomeDifference::End { verdicts, outcome, truth: after } => {
            let verdict = match verdicts.is_empty() {
                true => String::new(),
                false => format!("the verdict would be {}, and ", list(verdicts)),
            };
            format!(
                "{verdict}the call would end {}, with the effect {}, after {}{}.",
                timeline::outcome(&simulation.transcript(plan), outcome.kind),
                claim_in_words(outcome.claim),
                text::counted(outcome.attempts.into(), "attempt", "attempts"),
                after.map_or_else(String::new, |after| format!("; {}", truth(after)))
            )
        }
    };
    format!("{changed}, {difference}")
}

/// Verdicts in their order; those that repeat are counted.
fn list(verdicts: &[String]) -> String {
    let named = verdicts.chunk_by(|one, next| one == next).map(|same| match same {
        [once] => format!("`{once}`"),
        [name, ..] => format!("`{name}` ({} times)", same.len()),
        [] => String::new(),
    });
    named.collect::<Vec<_>>().join(", then ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Palette;
    use playproof_analysis::explain::RecordingEvidence;
    use playproof_engine::call::{AnswerTo, CallTexts, Place, RecordedAnswer, RecordedCall, Reply};
    use playproof_engine::event::{ErrorFacts, StatusFrom};
    use playproof_engine::upstream::MissingAnswerPolicy;
    use playproof_formats::diagnostic::Source;
    use playproof_formats::playbook::{embedded, parse};
    use playproof_intake::call::CompletedCall;
    use playproof_intake::origin::Sources;

    fn failed(at_ms: u64, kind: &str, message: &str) -> RecordedAnswer {
        let error = ErrorFacts { kind: Some(kind.into()), message: Some(message.into()), ..ErrorFacts::default() };
        RecordedAnswer {
            to: AnswerTo::Attempt,
            attempt: None,
            started: None,
            at: Some(Instant::from_millis(at_ms)),
            reply: Reply::Failed(Some(error.into())),
            inferred: false,
            status_from: StatusFrom::Flag,
            draw: None,
            line_hash: 0,
            place: Place::default(),
        }
    }

    fn refund(answers: Vec<RecordedAnswer>) -> Subject {
        let texts = CallTexts {
            run: Some("r1"),
            id: Some("c1"),
            tool: "payments.issue_refund",
            args: Some(r#"{"order":"o_91","amount":4200}"#),
            key: Some("ik_91"),
            ..CallTexts::default()
        };
        let mut call = RecordedCall::new(texts, Place { input: 0, line: 7 });
        call.number_in_run = 3;
        call.at = Some(Instant::ZERO);
        call.answers = answers;
        Subject::Recorded {
            call: Box::new(CompletedCall::of(call)),
            beyond: MissingAnswerPolicy::Unanswered,
            sources: Sources::new(["trace.jsonl".to_owned()]),
            recorded: RecordingEvidence::default(),
        }
    }

    const TIMEOUT: &str = "\
At 0 ms the call is sent: attempt 1.
It is answered after 5,000 ms (recorded): timeout: no answer within 5000 ms.
The rules are tried in order; `timeout` is the 4th and the first that matches.
  no   policy-denial: it requires that kind is `403_forbidden`, but kind is `timeout`
  no   policy-denial-status: it requires that status is 403, but there is no status
  no   unanswered-write: it requires that call is not keyed, but call is keyed
  yes  timeout: kind is `timeout`
The verdict is `transient_timeout`: No answer arrived in time; the upstream may have acted; the
  effect of such a failure is unknown.
Its compensation is `retry_with_backoff`: at most 3 retries, after 200, 600, 1,800 ms.
The retry guard lets the next attempt pass: the call has the idempotency key `ik_91`, and is
  resent with it. Attempt 2 is due in 200 ms.
At 5,200 ms the call is sent again: attempt 2.
The answer to attempt 2 is missing.
The call ends undetermined: the answer to attempt 2 is missing. It claims that the effect is
  unknown.

What would have happened otherwise (each case was simulated)
Without the rule `timeout`, the verdict would be `unclassified`, and the call would end escalated:
  queue unclassified, with the effect unknown, after 1 attempt; upstream not observed.
If the retry guard had stopped it, the call would end escalated: queue ambiguous_effects, with the
  effect unknown, after 1 attempt; upstream not observed.

What to know
upstream     Unknown: an attempt may have acted, and the recording does not show it. Look upstream.
acts next    Unknown: the playbook would have continued, but the answer to attempt 2 is missing.
             `--beyond-tape ok|repeat|fail:KIND` supplies one.
send again?  Yes, but only with the same key `ik_91` and the same arguments: an attempt with this
             intent may have acted, and an upstream that honours keys then acts once. With another
             key, no.";

    #[test]
    fn a_keyed_timeout_is_explained_to_its_end() {
        let subject = refund(vec![failed(5_000, "timeout", "no answer within 5000 ms")]);
        let playbook = parse(Source::whole("standard", embedded("standard").unwrap())).unwrap().playbook;
        let page = page(&subject, &Plan::new(playbook, &Tools::default()), &Tools::default());
        let page = page.untitled().terminal(100, Palette::new(false));
        assert_eq!(page.split_once("\n\nWhat happened\n").unwrap().1, TIMEOUT);
    }

    #[test]
    fn verdicts_that_repeat_are_counted() {
        let verdicts = ["a", "b", "b", "a"].map(str::to_owned);
        assert_eq!(list(&verdicts), "`a`, then `b` (2 times), then `a`");
    }
}
