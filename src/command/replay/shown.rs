//! The calls of a page of a replay.

use super::equal::equal_before;
use super::watch::of_playbook;
use playproof_analysis::envelope::EnvelopeKind;
use playproof_analysis::recorded::Arguments;
use playproof_engine::call::RecordedCall;
use playproof_engine::event::{Finding, unnamed};
use playproof_engine::ids::CallId;
use playproof_engine::sim::{DrivenCall, Plan, SimulationRecord};
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::playbook::Loaded;
use playproof_intake::origin::Sources;
use playproof_report::card::{CallCard, CallShown, card};
use playproof_report::explain::EqualCall;
use playproof_report::json::{CallParts, Events, Object, raw, write_call};
use playproof_report::listing::{Group, Only};
use playproof_report::text;
use playproof_report::view::{CallView, RunView, facts_of_recorded};

/// What is needed to draw a call beside the call itself.
#[derive(Clone, Copy)]
pub struct CallDrawing<'a> {
    /// The playbooks.
    pub plans: &'a [Plan],
    /// What answers where a recording ends.
    pub beyond: &'a MissingAnswerPolicy,
    /// What the inputs are called, and where their lines come from.
    pub sources: &'a Sources,
    /// The form of the envelopes in JSON, if they are wanted.
    pub envelope: Option<EnvelopeKind>,
}

impl CallDrawing<'_> {
    /// The calls of a page, numbered from 1.
    pub fn cards(&self, groups: &[Group], arguments: Arguments, playbooks: &[Loaded]) -> Vec<CallCard> {
        let playbooks: Vec<&Loaded> = playbooks.iter().collect();
        let calls: Vec<&RecordedCall> = groups.iter().map(|group| &group.detail.call).collect();
        let before = equal_before(&calls);
        let card = |(n, group): (usize, &Group)| {
            let before = before.get(n).copied().flatten().map(|call| (call.reference(), call));
            let before = before.as_ref().map(|(reference, call)| EqualCall { reference, call });
            self.card((n + 1, group), before, arguments, &playbooks)
        };
        groups.iter().enumerate().map(card).collect()
    }

    fn card(
        &self,
        (number, group): (usize, &Group),
        before: Option<EqualCall<'_>>,
        arguments: Arguments,
        playbooks: &[&Loaded],
    ) -> CallCard {
        let detail = &group.detail;
        let reference = [detail.call.reference()];
        let known = detail.facts.under(0);
        let facts = facts_of_recorded(&detail.call, known);
        let view = CallView {
            declared: known.declared,
            prevented: group.prevented.as_deref(),
            ..CallView::recorded(&detail.call, &reference[0], &facts, self.sources)
        };
        let (runs, alike) = (self.runs(group, &reference), group.alike());
        card(&CallShown { number, view: &view, runs: &runs, alike: &alike, before, arguments, playbooks })
    }

    /// A group: the number of its calls, and the result of the shown one under each playbook.
    pub fn json(&self, group: &Group) -> Object {
        let detail = &group.detail;
        let reference = [detail.call.reference()];
        let view = CallView::recorded(&detail.call, &reference[0], "", self.sources);
        let run = |(record, plan): (&SimulationRecord, &Plan)| {
            let transcript = record.transcript(&plan.names, &reference, &unnamed);
            let tally = record.tallies.first().copied().unwrap_or_default();
            let findings: Vec<Finding> = detail.recorded.iter().copied().chain(of_playbook(record)).collect();
            let mut out = Vec::new();
            let parts = CallParts { events: Events::Within, envelope: self.envelope };
            write_call(&mut out, &view, &transcript, CallId(0), &tally, &findings, &parts);
            raw(&out)
        };
        let runs: Vec<_> = detail.records.iter().zip(self.plans).filter_map(run).collect();
        Object::default()
            .flag("of_many_kinds", group.is_mixed)
            .with("count", group.count)
            .with("others", group.alike().others)
            .with("runs", runs)
    }

    fn runs<'g>(&'g self, group: &'g Group, reference: &'g [String]) -> Vec<RunView<'g>> {
        let detail = &group.detail;
        let run = |(n, (record, plan)): (usize, (&'g SimulationRecord, &'g Plan))| {
            let facts = detail.facts.under(n);
            let recorded = if n == 0 { detail.recorded.as_slice() } else { &[] };
            RunView {
                transcript: record.transcript(&plan.names, reference, &unnamed),
                call: CallId(0),
                tally: record.tallies.first().copied().unwrap_or_default(),
                findings: recorded.iter().copied().chain(of_playbook(record)).collect(),
                intent: DrivenCall::recorded(&detail.call, facts, self.beyond).intent(CallId(0)),
            }
        };
        detail.records.iter().zip(self.plans).enumerate().map(run).collect()
    }
}

/// The heading over the calls: their number and kind, and the number of all.
pub fn heading(only: &Only, shown: usize, groups: &[Group]) -> String {
    let calls = groups.iter().map(|group| group.count).sum();
    let said = match only {
        Only::FailedOrFound => text::counted(calls, "call failed or shows a finding", "calls failed or show a finding"),
        Only::Nothing => text::counted(calls, "call", "calls"),
        Only::Failed => text::counted(calls, "call failed", "calls failed"),
        Only::Found => text::counted(calls, "call shows a finding", "calls show a finding"),
        Only::Verdict(name) => format!("{} with the verdict {name}", text::counted(calls, "call", "calls")),
    };
    let folded = match groups.len() as u64 == calls {
        true => "the most serious first".to_owned(),
        false => format!("alike ones folded into {}, the most serious first", text::count(groups.len() as u64)),
    };
    match shown == groups.len() {
        true => format!("{said}; {folded}"),
        false => format!("{said}; {folded}; {shown} are shown (`replay --all` shows every call)"),
    }
}
