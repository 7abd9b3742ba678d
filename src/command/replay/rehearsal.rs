//! Runs a fixture under several playbooks, and shows the end of each call side by side.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::alike::{CallRuns, folded, gathered};
use super::args::Format;
use super::page_call::{PageCall, page_calls};
use crate::exit::{Exit, Failure};
use crate::{files, project};
use playproof_analysis::envelope::EnvelopeKind;
use playproof_analysis::recorded::Arguments;
use playproof_engine::event::{Decision, Finding, FindingSeverity, OutcomeKind, Transcript, unnamed};
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::CallId;
use playproof_engine::sim::{Contradiction, Plan, Scenario, SimulationRecord, Simulator, contradictions};
use playproof_engine::time::Duration;
use playproof_formats::diagnostic::did_you_mean;
use playproof_formats::playbook::Loaded;
use playproof_formats::shell::Command;
use playproof_report::card::{Alike, CallShown, card};
use playproof_report::doc::{Block, Item, Table, Text, Tone};
use playproof_report::json::{
    CallParts, Events, Millis, Object, append, raw, write_audit_line, write_call, write_events,
};
use playproof_report::text;
use playproof_report::timeline::millis;
use playproof_report::view::{CallView, RunView, facts_in_words};

/// A fixture and what became of it.
pub struct Rehearsal<'a> {
    path: &'a str,
    /// Its path in what programs read.
    from_root: String,
    fixture: &'a Fixture,
    /// The file of tool facts that was given.
    tools: Option<&'a str>,
    page_calls: Vec<PageCall<'a>>,
    /// The form of the envelopes in JSON, if they are wanted.
    envelope: Option<EnvelopeKind>,
    runs: Vec<Rehearsed<'a>>,
}

/// A fixture under one playbook.
struct Rehearsed<'a> {
    plan: &'a Plan,
    /// What the command line calls the playbook: it may be a path.
    name: &'a str,
    scenario: Scenario<'a>,
    names: Vec<String>,
    record: SimulationRecord,
    /// None where the fixture says nothing of this playbook.
    contradictions: Option<Vec<Contradiction>>,
}

impl<'a> Rehearsal<'a> {
    /// Runs a fixture under every plan.
    pub fn run(
        path: &'a str,
        fixture: &'a Fixture,
        plans: &'a [(String, Plan)],
        tools: Option<&'a str>,
    ) -> Rehearsal<'a> {
        let run = |(name, plan): &'a (String, Plan)| {
            let scenario = Scenario::of_fixture(fixture, plan);
            let record = Simulator::new().run_fixture(plan, &scenario).clone();
            let expect = fixture.expect.get(&*plan.playbook.name);
            let contradictions = expect.map(|expect| contradictions(expect, plan, &scenario, &record));
            let names = scenario.calls.iter().map(|call| call.name.to_owned()).collect();
            Rehearsed { plan, name, scenario, names, record, contradictions }
        };
        let from_root = files::lasting(&project::root(), path);
        let runs: Vec<Rehearsed<'a>> = plans.iter().map(run).collect();
        let tool_of = |name: &str| {
            let mut calls = runs.iter().flat_map(|run| &run.scenario.calls);
            calls.find(|call| call.name == name).map(|call| call.tool_name)
        };
        let page_calls = page_calls(fixture, tool_of);
        Rehearsal { path, from_root, fixture, tools, page_calls, envelope: None, runs }
    }

    /// The same, whose JSON has envelopes.
    #[must_use]
    pub fn with_envelope(self, envelope: Option<EnvelopeKind>) -> Rehearsal<'a> {
        Rehearsal { envelope, ..self }
    }

    /// The worst finding decides; a run that contradicts its fixture is a divergence.
    pub fn exit(&self, strict: bool) -> Exit {
        let findings = || self.runs.iter().flat_map(|run| &run.record.findings);
        let contradicted = self.runs.iter().any(|run| run.contradictions.as_ref().is_some_and(|all| !all.is_empty()));
        if contradicted || findings().any(|finding| finding.severity == FindingSeverity::Unsafe) {
            return Exit::Found;
        }
        match strict && findings().any(|finding| finding.severity == FindingSeverity::Doubt) {
            true => Exit::Inconclusive,
            false => Exit::Clean,
        }
    }

    /// Whether the fixture has a call of this name.
    pub fn has_call(&self, name: &str) -> bool {
        self.page_calls.iter().any(|call| call.name == name)
    }

    /// The most attempts that were out at once under the first playbook; none where the calls share nothing.
    pub fn peak_in_flight(&self) -> Option<u32> {
        let run = self.runs.first()?;
        run.plan.playbook.shares_state().then(|| run.record.peak_in_flight())
    }

    /// What the agent gets of a call under the first playbook, as JSON.
    pub fn envelope_of(&self, call: &str) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct Told {
            envelope: Box<RawValue>,
        }
        let mut line = Vec::new();
        self.write_calls(self.runs.first()?, Some(call), &Events::Elsewhere, b"", &mut line);
        serde_json::from_slice::<Told>(&line).ok().map(|told| told.envelope.get().to_owned())
    }

    /// The part of a page at a place, from 1: what happens, side by side, then each call, and the command to run next.
    pub fn section(&self, wanted: Option<&str>, arguments: Arguments, playbooks: &[Loaded], place: usize) -> Block {
        let playbooks: Vec<&Loaded> = playbooks.iter().collect();
        let call = |(number, view): (usize, &CallView<'_>), runs: &[RunView<'_>], alike: &Alike| {
            let playbooks = playbooks.as_slice();
            let mut block = card(&CallShown { number, view, runs, alike, before: None, arguments, playbooks }).block;
            if let Block::Card { id, .. } = &mut block {
                *id = format!("fixture-{place}-{id}");
            }
            block
        };
        let mut blocks = self.overview();
        blocks.extend(self.each_call(wanted, call));
        blocks.push(Block::next(self.next(wanted)));
        let title = format!("{} ({})", self.fixture.title, self.path);
        Block::section(format!("fixture-{place}"), title, blocks)
    }

    /// Events and calls and a summary, a line each.
    pub fn write_lines(&self, wanted: Option<&str>, out: &mut Vec<u8>) {
        for run in &self.runs {
            write_events(out, &run.transcript());
            self.write_calls(run, wanted, &Events::Elsewhere, b"\n", out);
        }
        append(out, &self.json(wanted, Format::Jsonl));
        out.push(b'\n');
    }

    /// A line for each call that failed.
    pub fn write_audit_lines(&self, out: &mut Vec<u8>) {
        for run in &self.runs {
            for (id, call) in run.calls() {
                let Some(written) = self.page_calls.iter().find(|known| known.name == call) else { continue };
                write_audit_line(out, &self.view(written, ""), &run.transcript(), id);
            }
        }
    }

    /// The same as one object, with its calls where `format` gives them no lines of their own.
    pub fn json(&self, wanted: Option<&str>, format: Format) -> Object {
        let playbook = |run| self.playbook_json(run, wanted, format);
        Object::default()
            .with("type", "fixture")
            .with("fixture", &self.from_root)
            .with("title", &self.fixture.title)
            .with("playbooks", self.runs.iter().map(playbook).collect::<Vec<_>>())
    }

    fn playbook_json(&self, run: &Rehearsed<'_>, wanted: Option<&str>, format: Format) -> Object {
        let contradictions = run.contradictions.as_ref();
        let contradictions = contradictions.map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>());
        let calls = (format == Format::Json).then(|| self.calls_json(run, wanted)).flatten();
        Object::default()
            .with("playbook", &*run.plan.names.playbook)
            .with("attempts", run.attempts())
            .with("upstream_calls", run.sends())
            .with("effects", run.effects())
            .with("added_delay_ms", Millis(run.delay()))
            .maybe("seed", run.plan.seed.or(self.fixture.seed))
            .maybe("shared", run.shared())
            .maybe("contradictions", contradictions)
            .maybe("calls", calls)
    }

    fn calls_json(&self, run: &Rehearsed<'_>, wanted: Option<&str>) -> Option<Box<RawValue>> {
        let mut calls = Vec::new();
        self.write_calls(run, wanted, &Events::Within, b",", &mut calls);
        calls.pop();
        raw(&[b"[".as_slice(), &calls, b"]"].concat())
    }

    fn write_calls(&self, run: &Rehearsed<'_>, wanted: Option<&str>, told: &Events, end: &[u8], out: &mut Vec<u8>) {
        for (id, call) in run.calls().filter(|(_, name)| wanted.is_none_or(|wanted| wanted == *name)) {
            let Some(written) = self.page_calls.iter().find(|known| known.name == call) else { continue };
            let view = self.view(written, "");
            let seen = run.view(id);
            let parts = CallParts { events: told.clone(), envelope: self.envelope };
            write_call(out, &view, &seen.transcript, id, &seen.tally, &seen.findings, &parts);
            out.extend_from_slice(end);
        }
    }

    /// The playbooks side by side, and what the fixture is meant to show, and does not.
    pub fn overview(&self) -> Vec<Block> {
        let differs = self.runs.iter().flat_map(|run| {
            let said = move |one: &Contradiction| Text::new(Tone::Bad, format!("{}: {one}", run.plan.names.playbook));
            run.contradictions.iter().flatten().map(said)
        });
        let below: Vec<Text> = differs.collect();
        let said = Text::from("What the fixture is meant to show, and does not:");
        let list = (!below.is_empty()).then(|| Block::List(vec![Item { said, below }]));
        std::iter::once(Block::Table(self.table())).chain(list).collect()
    }

    fn table(&self) -> Table {
        let mut table = Table::words("", self.runs.iter().map(|run| &*run.plan.names.playbook));
        let mut row = |label: String, value: &dyn Fn(&Rehearsed<'_>) -> String| {
            let values = self.runs.iter().map(|run| Text::from(value(run)));
            table.row(std::iter::once(label.into()).chain(values).collect::<Vec<_>>());
        };
        let outcomes = |call: &PageCall<'_>| self.runs.iter().map(|run| run.outcome(call.name)).collect::<Vec<_>>();
        let are_alike =
            |one: &PageCall<'_>, other: &PageCall<'_>| one.is_one_with(other) && outcomes(one) == outcomes(other);
        for calls in gathered(&self.page_calls, |call| call.is_step, are_alike) {
            let [first, rest @ ..] = calls.as_slice() else { continue };
            let until = rest.last().map_or_else(String::new, |last| format!(" to {}", last.name));
            row(format!("{}{until}: outcome", first.name), &|run| run.outcome(first.name));
        }
        row("attempts".to_owned(), &|run| text::count(run.attempts()));
        row("upstream calls".to_owned(), &|run| text::count(run.sends()));
        row("effects upstream".to_owned(), &|run| text::count(run.effects()));
        row("added delay".to_owned(), &|run| format!("{} ms", millis(run.delay())));
        row("findings".to_owned(), &|run| run.finding_words());
        if self.runs.iter().any(|run| run.contradictions.is_some()) {
            row("as fixture expects".to_owned(), &|run| match &run.contradictions {
                None => "nothing expected".to_owned(),
                Some(all) if all.is_empty() => "yes".to_owned(),
                Some(all) => format!("no: {}", text::counted(all.len() as u64, "difference", "differences")),
            });
        }
        table
    }

    /// What `draw` makes of each wanted call, with its number, of its runs and of the calls that went the same way.
    fn each_call<T>(
        &self,
        wanted: Option<&str>,
        draw: impl Fn((usize, &CallView<'_>), &[RunView<'_>], &Alike) -> T,
    ) -> Vec<T> {
        let facts = |call: &PageCall<'_>| self.runs.first().and_then(|run| run.facts(call.name)).unwrap_or_default();
        let wanted = self.page_calls.iter().filter(|call| wanted.is_none_or(|wanted| wanted == call.name));
        let wanted: Vec<(&PageCall<'_>, String)> = wanted.map(|call| (call, facts(call))).collect();
        let runs = |name: &str| self.runs.iter().filter_map(|run| Some(run.view(run.id(name)?))).collect();
        let mut calls = Vec::with_capacity(wanted.len());
        for (call, facts) in &wanted {
            calls.push(CallRuns::new(call, self.view(call, facts), runs(call.name)));
        }
        let drawn = folded(&calls).into_iter().zip(1..);
        drawn.map(|((view, runs, alike), n)| draw((n, &view), &runs, &alike)).collect()
    }

    fn view<'v>(&'v self, call: &'v PageCall<'_>, facts: &'v str) -> CallView<'v> {
        CallView {
            reference: call.name,
            id: None,
            run: None,
            input: Some(self.path),
            input_from_root: Some(&self.from_root),
            line: None,
            path: None,
            tool: call.tool,
            args: Some(call.args),
            key: call.key.as_deref(),
            token: call.token,
            facts,
            declared: true,
            at: call.at,
            timed: true,
            recorded: None,
            prevented: None,
            sources: None,
        }
    }

    /// Suggests `explain` for the call and the playbook with the worst finding.
    fn next(&self, wanted: Option<&str>) -> Command {
        let worst = self.runs.iter().filter_map(|run| Some((run.record.findings.first()?, run)));
        let worst = worst.min_by_key(|(finding, _)| finding.kind());
        let (run, call) = match worst {
            Some((finding, run)) => (Some(run), run.names.get(finding.call.index()).cloned()),
            None => (self.runs.first(), self.fixture.calls.first().map(|call| call.name.clone())),
        };
        let call = wanted.map(str::to_owned).or(call).unwrap_or_default();
        let call = (self.fixture.calls.len() > 1).then_some(&*call);
        let explain = Command::new("playproof explain").path(self.path).names(call);
        let seed = run.and_then(|run| run.plan.seed).map(|seed| seed.to_string());
        let explain = explain.flag("--playbook", run.map_or("", |run| run.name)).flag_if("--tools", self.tools);
        explain.flag_if("--seed", seed.as_deref())
    }
}

impl<'a> Rehearsed<'a> {
    fn transcript(&self) -> Transcript<'_> {
        self.record.transcript(&self.plan.names, &self.names, &unnamed)
    }

    fn view(&self, call: CallId) -> RunView<'_> {
        RunView {
            transcript: self.transcript(),
            call,
            tally: self.record.tallies.get(call.index()).copied().unwrap_or_default(),
            findings: self.record.findings.iter().filter(|finding| finding.call == call).copied().collect(),
            intent: self.scenario.intent_in(&self.record.ledger, call),
        }
    }

    fn calls(&self) -> impl Iterator<Item = (CallId, &str)> {
        let numbered = (0_u32..).map(CallId);
        numbered.zip(self.names.iter().map(String::as_str))
    }

    fn id(&self, name: &str) -> Option<CallId> {
        self.calls().find(|(_, known)| *known == name).map(|(id, _)| id)
    }

    fn facts(&self, name: &str) -> Option<String> {
        Some(facts_in_words(self.scenario.calls.iter().find(|call| call.name == name)?.facts))
    }

    fn outcome(&self, name: &str) -> String {
        let outcome = self.id(name).and_then(|id| self.record.outcomes.get(id.index()));
        outcome
            .map_or_else(String::new, |outcome| format!("{}, effect {}", outcome.kind.as_str(), outcome.claim.as_str()))
    }

    fn attempts(&self) -> u64 {
        self.record.attempts()
    }

    fn sends(&self) -> u64 {
        self.record.tallies.iter().map(|tally| u64::from(tally.sends)).sum()
    }

    fn effects(&self) -> u64 {
        self.record.ledger.net().values().map(|net| u64::from(net.effects)).sum()
    }

    fn delay(&self) -> Duration {
        self.record.tallies.iter().fold(Duration::ZERO, |sum, tally| sum.plus(tally.added_delay))
    }

    /// What the calls shared, if the playbook lets them share something.
    fn shared(&self) -> Option<Object> {
        let (playbook, record) = (&self.plan.playbook, &self.record);
        // Refused calls, by reason.
        let mut turned_away: BTreeMap<&str, u64> = BTreeMap::new();
        for event in &record.events {
            let outcome = record.outcomes.get(event.call.index()).map(|outcome| outcome.kind);
            if let (Decision::Refused { why, .. }, Some(OutcomeKind::Refused(_))) = (event.what, outcome) {
                *turned_away.entry(why.as_str()).or_default() += 1; // an action whose step was refused has no such event
            }
        }
        // The states of breakers at the end, by server.
        let servers = record.servers.iter().filter(|server| playbook.breaker_id(server).is_some());
        let circuits = servers.filter_map(|server| Some((&**server, record.circuit(record.server(server)?).as_str())));
        // What the retry budgets that were used have left at the end.
        let budgets = record.budgets.iter().filter_map(|used| {
            let (name, _) = playbook.retry_budgets.get(used.budget.index())?;
            let server = used.server.and_then(|server| record.servers.get(server.0 as usize));
            let left = raw(used.left.to_string().as_bytes())?;
            Some(Object::default().with("name", &**name).maybe("server", server).with("left", left))
        });
        playbook.shares_state().then(|| {
            Object::default()
                .with("peak_in_flight", record.peak_in_flight())
                .with("turned_away", turned_away)
                .with("circuits", circuits.collect::<BTreeMap<&str, &str>>())
                .with("retry_budgets", budgets.collect::<Vec<_>>())
        })
    }

    fn finding_words(&self) -> String {
        let mut ids: Vec<&Finding> = self.record.findings.iter().collect();
        ids.dedup_by_key(|finding| finding.id);
        let words: Vec<&str> = ids.iter().map(|finding| finding.id.as_str()).collect();
        if words.is_empty() { "none".to_owned() } else { words.join(", ") }
    }
}

/// Says that no fixture has the call that was asked for.
pub fn no_such_call(wanted: &str, rehearsals: &[Rehearsal<'_>]) -> Failure {
    let names: Vec<&str> = rehearsals.iter().flat_map(|one| &one.page_calls).map(|call| call.name).collect();
    let failure = Failure::new(format!("there is no call `{wanted}`"));
    match did_you_mean(wanted, names.iter().copied()) {
        None => failure.help(format!("there are {}", names.join(", "))),
        Some(near) => failure.typo(wanted, near),
    }
}
