//! A comparison as one JSON document: every cause, not only those of a page.

use serde::Serialize;

use super::words::ImpactPage;
use crate::json::{InputJson, Map, Millis, PlaceJson, document, inputs, place};
use playproof_analysis::impact::{
    CauseName, CauseRow, Changes, Direction, ExampleCall, FindingChange, GateFailure, Impact, Load, QueueLoad, Side,
    SimulatedEnd, parts,
};
use playproof_engine::event::EffectClaim;
use playproof_formats::golden::{PartChange, RowChange};
use playproof_intake::origin::Sources;

#[derive(Serialize)]
struct ImpactJson<'a> {
    format: &'static str,
    base: SideJson<'a>,
    candidate: SideJson<'a>,
    inputs: Vec<InputJson<'a>>,
    calls: u64,
    failed_calls: u64,
    unchanged: u64,
    changed: u64,
    undetermined: UndeterminedJson,
    directions: Map<u64>,
    differ_in: Map<u64>,
    load: LoadJson,
    queues: Vec<QueueJson<'a>>,
    findings: Vec<FindingJson>,
    rows: Vec<RowJson<'a>>,
    causes: Vec<CauseJson<'a>>,
    calls_of_other_causes: u64,
    gate: GateJson<'a>,
}

#[derive(Serialize)]
struct SideJson<'a> {
    playbook: &'a str,
    fingerprint: &'a str,
    upstream_calls: u64,
    added_delay_ms: Millis,
    waiting_for_people: u64,
    effects: u64,
    effects_that_may_be_doubled: u64,
    claims: Map<u64>,
}

#[derive(Serialize)]
struct UndeterminedJson {
    calls: u64,
    base_only: u64,
    candidate_only: u64,
    both: u64,
    decided_differently: u64,
}

#[derive(Serialize)]
struct LoadJson {
    upstream_calls_more: u64,
    upstream_calls_fewer: u64,
    delay_more_ms: Millis,
    delay_fewer_ms: Millis,
    waiting_for_people_more: u64,
    waiting_for_people_fewer: u64,
    effects_that_may_be_doubled_more: u64,
    effects_that_may_be_doubled_fewer: u64,
}

#[derive(Serialize)]
struct QueueJson<'a> {
    queue: &'a str,
    base: u64,
    candidate: u64,
}

#[derive(Serialize)]
struct FindingJson {
    id: &'static str,
    severity: &'static str,
    base: u64,
    candidate: u64,
    gained: u64,
    lost: u64,
}

#[derive(Serialize)]
struct RowJson<'a> {
    row: &'a str,
    parts: Vec<PartJson>,
}

#[derive(Serialize)]
struct PartJson {
    part: String,
    base: Option<String>,
    candidate: Option<String>,
}

#[derive(Serialize)]
struct CauseJson<'a> {
    direction: &'static str,
    #[serde(flatten)]
    cause: NameJson<'a>,
    calls: u64,
    following: u64,
    undetermined: u64,
    differ_in: Map<u64>,
    load: LoadJson,
    tools: Vec<ToolJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_of_other_tools: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<ExampleJson<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
enum NameJson<'a> {
    Classified { base: ClassifiedJson<'a>, candidate: ClassifiedJson<'a> },
    Row(RowJson<'a>),
    ToolFacts,
    Several,
}

#[derive(Serialize)]
struct ClassifiedJson<'a> {
    rule: &'a str,
    verdict: &'a str,
}

#[derive(Serialize)]
struct ToolJson<'a> {
    tool: &'a str,
    calls: u64,
}

#[derive(Serialize)]
struct ExampleJson<'a> {
    call: &'a str,
    #[serde(flatten)]
    place: PlaceJson<'a>,
    tool: &'a str,
    base: EndJson<'a>,
    candidate: EndJson<'a>,
}

#[derive(Serialize)]
struct EndJson<'a> {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    effect: &'static str,
    attempts: u32,
}

#[derive(Serialize)]
struct GateJson<'a> {
    passed: bool,
    decided: u64,
    fail_on: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allow_widening: Option<&'a str>,
    refusals: Vec<RefusalJson>,
}

#[derive(Serialize)]
struct RefusalJson {
    why: &'static str,
    calls: u64,
}

/// The document, ending with a line break. `sources` are the inputs, for the places of examples.
pub fn json(shown: &ImpactPage<'_>, sources: &Sources) -> String {
    let impact = shown.impact;
    let directions =
        Direction::ALL.into_iter().map(|direction| (direction.as_str(), impact.counts.in_direction(direction)));
    let written = document(&ImpactJson {
        format: "impact/1",
        base: side(&impact.base),
        candidate: side(&impact.candidate),
        inputs: inputs(shown.replayed, shown.notes, sources),
        calls: impact.counts.calls,
        failed_calls: impact.counts.failed,
        unchanged: impact.counts.unchanged(),
        changed: impact.counts.changed,
        undetermined: undetermined(impact),
        directions: Map(directions.collect()),
        differ_in: changes(&impact.counts.changes),
        load: load(&impact.counts.load),
        queues: impact.queues.iter().map(queue).collect(),
        findings: impact.findings.iter().map(finding).collect(),
        rows: impact.rows.iter().map(row).collect(),
        causes: impact.causes.iter().map(|found| cause(found, sources)).collect(),
        calls_of_other_causes: impact.counts.overflow,
        gate: gate(shown),
    });
    written + "\n"
}

fn side(side: &Side) -> SideJson<'_> {
    let claims = [EffectClaim::Applied, EffectClaim::NotApplied, EffectClaim::Unknown].map(EffectClaim::as_str);
    SideJson {
        playbook: &side.playbook,
        fingerprint: &side.fingerprint,
        upstream_calls: side.upstream_calls,
        added_delay_ms: Millis(side.added_delay),
        waiting_for_people: side.people,
        effects: side.effects,
        effects_that_may_be_doubled: side.doubled,
        claims: Map(claims.into_iter().zip(side.claims).collect()),
    }
}

fn undetermined(impact: &Impact) -> UndeterminedJson {
    UndeterminedJson {
        calls: impact.counts.undetermined.calls(),
        base_only: impact.counts.undetermined.base,
        candidate_only: impact.counts.undetermined.candidate,
        both: impact.counts.undetermined.both,
        decided_differently: impact.counts.undetermined_differing,
    }
}

fn changes(changes: &Changes) -> Map<u64> {
    Map(changes.rows().map(|(what, count)| (what.as_str(), count)).collect())
}

fn load(load: &Load) -> LoadJson {
    LoadJson {
        upstream_calls_more: load.upstream_more,
        upstream_calls_fewer: load.upstream_fewer,
        delay_more_ms: Millis(load.delay_more),
        delay_fewer_ms: Millis(load.delay_fewer),
        waiting_for_people_more: load.people_more,
        waiting_for_people_fewer: load.people_fewer,
        effects_that_may_be_doubled_more: load.doubled_more,
        effects_that_may_be_doubled_fewer: load.doubled_fewer,
    }
}

fn queue(queue: &QueueLoad) -> QueueJson<'_> {
    QueueJson { queue: &queue.queue, base: queue.base, candidate: queue.candidate }
}

fn finding(change: &FindingChange) -> FindingJson {
    let FindingChange { kind, base, candidate, gained, lost } = *change;
    FindingJson { id: kind.id.as_str(), severity: kind.severity.as_str(), base, candidate, gained, lost }
}

fn row(row: &RowChange) -> RowJson<'_> {
    let part = |PartChange { path, before, after }| PartJson { part: path, base: before, candidate: after };
    RowJson { row: &row.name, parts: parts(row).into_iter().map(part).collect() }
}

fn cause<'a>(found: &'a CauseRow, sources: &'a Sources) -> CauseJson<'a> {
    let classified = |(rule, verdict): &'a (String, String)| ClassifiedJson { rule, verdict };
    let cause = match &found.cause {
        CauseName::Classified { base, candidate } => {
            NameJson::Classified { base: classified(base), candidate: classified(candidate) }
        }
        CauseName::Row(change) => NameJson::Row(row(change)),
        CauseName::ToolFacts => NameJson::ToolFacts,
        CauseName::Several => NameJson::Several,
    };
    CauseJson {
        direction: found.direction.as_str(),
        cause,
        calls: found.calls,
        following: found.following,
        undetermined: found.undetermined,
        differ_in: changes(&found.changes),
        load: load(&found.load),
        tools: found.tools.rows().into_iter().map(|(tool, calls)| ToolJson { tool, calls }).collect(),
        calls_of_other_tools: Some(found.tools.others()).filter(|others| *others > 0),
        example: found.example.as_ref().map(|one| example(one, sources)),
    }
}

fn example<'a>(example: &'a ExampleCall, sources: &'a Sources) -> ExampleJson<'a> {
    ExampleJson {
        call: &example.reference,
        place: place(sources, example.place),
        tool: &example.tool,
        base: end(&example.base),
        candidate: end(&example.candidate),
    }
}

fn end(end: &SimulatedEnd) -> EndJson<'_> {
    EndJson { outcome: end.outcome, detail: end.detail.as_deref(), effect: end.claim.as_str(), attempts: end.attempts }
}

fn gate<'a>(shown: &ImpactPage<'a>) -> GateJson<'a> {
    let refusals = shown.gate.judge(shown.impact);
    let asked = [("widening", shown.gate.widening), ("effects", shown.gate.effects)];
    let refusal = |refusal: GateFailure| {
        let (why, calls) = match refusal {
            GateFailure::Unsafe(calls) => ("unsafe", calls),
            GateFailure::Widening(calls) => ("widening", calls),
            GateFailure::Effects(calls) => ("effects", calls),
        };
        RefusalJson { why, calls }
    };
    GateJson {
        passed: refusals.is_empty() && !shown.gate.is_undecided(shown.impact),
        decided: shown.impact.counts.decided,
        fail_on: asked.into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect(),
        allow_widening: shown.gate.allow_widening.as_deref(),
        refusals: refusals.into_iter().map(refusal).collect(),
    }
}
