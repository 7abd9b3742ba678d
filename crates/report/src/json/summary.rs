//! The summary of a replay under each playbook, and the account of the inputs.

use serde::{Serialize, Serializer};

use super::shared::{self, SharedJson};
use super::write::{Map, Millis};
use crate::overview::InputNote;
use playproof_analysis::confirm::condition;
use playproof_analysis::replay::{
    Counts, Effects, FindingCounts, GraphCounts, OddSteps, Percentiles, Refusals, Replayed, Summary, UnsettledRuns,
    UnsettledWrite,
};
use playproof_engine::call::Place;
use playproof_engine::event::{EffectClaim, FindingBy, OutcomeWord, PlaybookNames};
use playproof_engine::time::Duration;
use playproof_intake::origin::Sources;

/// What became of the lines of one input.
#[derive(Debug, Serialize)]
pub struct InputJson<'a> {
    name: &'a str,
    #[serde(flatten)]
    account: Map<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_unknown_type: Option<FirstJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_unknown_field: Option<FirstJson>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unread: bool,
    #[serde(flatten)]
    foreign: Option<ForeignJson<'a>>,
}

#[derive(Debug, Serialize)]
struct FirstJson {
    name: String,
    line: u64,
}

#[derive(Debug, Serialize)]
struct ForeignJson<'a> {
    read_as: &'a str,
    odd_in_the_source: &'a [String],
}

/// The accounts of a replay's inputs.
pub fn inputs<'a>(replayed: &'a Replayed, notes: &'a [InputNote], sources: &'a Sources) -> Vec<InputJson<'a>> {
    let notes = notes.iter().map(Some).chain(std::iter::repeat(None));
    let inputs = (0_u32..).zip(&replayed.inputs).zip(notes);
    let input =
        |((n, input), note): ((u32, &'a playproof_analysis::replay::InputAccount), Option<&'a InputNote>)| InputJson {
            name: sources.name_from_root(n).unwrap_or(&input.name),
            account: Map(input.ledger.rows()),
            first_unknown_type: input
                .first_unknown
                .kind
                .as_ref()
                .map(|(line, kind)| FirstJson { name: kind.to_string(), line: *line }),
            first_unknown_field: input
                .first_unknown
                .field
                .as_ref()
                .map(|(line, name)| FirstJson { name: name.to_string(), line: *line }),
            unread: note.is_some_and(|note| note.unread),
            foreign: note.and_then(|note| {
                Some(ForeignJson { read_as: note.read_as.as_ref()?, odd_in_the_source: &note.remarks })
            }),
        };
    inputs.map(input).collect()
}

/// Where a call stands; with its path where the line alone does not tell it.
#[derive(Debug, Serialize)]
pub struct PlaceJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a str>,
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

/// Where a call stands.
pub fn place(sources: &Sources, place: Place) -> PlaceJson<'_> {
    let origin = sources.find(place);
    PlaceJson {
        input: sources.name_from_root(place.input),
        line: origin.line,
        path: origin.path.map(|path| path.to_string()),
    }
}

/// A whole replay.
#[derive(Debug, Serialize)]
pub struct ReplayedJson<'a> {
    inputs: Vec<InputJson<'a>>,
    recorded: RecordedJson<'a>,
    playbooks: Vec<PlaybookJson<'a>>,
}

#[derive(Debug, Serialize)]
struct RecordedJson<'a> {
    findings: Vec<FindingJson>,
    #[serde(flatten)]
    undeclared: CountsJson<'a>,
    #[serde(flatten)]
    keyed: CountsJson<'a>,
    #[serde(flatten)]
    failed: CountsJson<'a>,
    #[serde(flatten)]
    resent: CountsJson<'a>,
    #[serde(flatten)]
    without_run: CountsJson<'a>,
    #[serde(flatten)]
    two_inputs: CountsJson<'a>,
    #[serde(flatten)]
    without_arguments: CountsJson<'a>,
    #[serde(flatten)]
    begun_again: Option<CountsJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unsettled_runs: Option<UnsettledRunsJson<'a>>,
}

/// The runs that end on a write whose effect is unknown; the first ones by the references of these writes.
#[derive(Debug, Serialize)]
struct UnsettledRunsJson<'a> {
    count: u64,
    first: Vec<UnsettledRunJson<'a>>,
}

#[derive(Debug, Serialize)]
struct UnsettledRunJson<'a> {
    #[serde(rename = "ref")]
    reference: &'a str,
    tool: &'a str,
    place: PlaceJson<'a>,
}

fn unsettled_runs<'a>(runs: &'a UnsettledRuns, sources: &'a Sources) -> Option<UnsettledRunsJson<'a>> {
    let row = |write: &'a UnsettledWrite| UnsettledRunJson {
        reference: &write.reference,
        tool: &write.tool,
        place: place(sources, write.place),
    };
    (runs.count > 0).then(|| UnsettledRunsJson { count: runs.count, first: runs.first.iter().map(row).collect() })
}

#[derive(Debug, Serialize)]
struct PlaybookJson<'a> {
    playbook: &'a str,
    calls: u64,
    failed_calls: u64,
    failed_attempts: u64,
    verdicts: Vec<NamedJson<'a>>,
    outcomes: Map<u64>,
    claims: Map<u64>,
    findings: Vec<FindingJson>,
    /// Findings of the recording in calls that it sends as often as they were sent, or more often.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recorded_findings_sent: Vec<FindingJson>,
    /// Calls that it sends less often, where there are such findings: they may rest on these.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_sent_less: Option<u64>,
    added_delay_ms: Millis,
    delayed_calls: u64,
    added_delay_per_call_ms: Map<Millis>,
    added_delay_per_delayed_call_ms: Map<Millis>,
    upstream_calls_recorded: u64,
    upstream_calls_recorded_per_call: Map<u64>,
    upstream_calls: u64,
    upstream_calls_per_call: Map<u64>,
    effects: EffectsJson,
    queues: Vec<NamedJson<'a>>,
    off_tape_calls: u64,
    off_tape_runs: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    off_tape_runs_is_lower_bound: bool,
    tape_left: u64,
    undetermined_for_lack_of: Map<u64>,
    #[serde(flatten)]
    unclassified: CountsJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suspected_failures: Option<SuspectedJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<GraphJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_taken_for_steps: Option<OddStepsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<SharedJson<'a>>,
}

/// Calls that say that they are steps and are none.
#[derive(Debug, Serialize)]
struct OddStepsJson {
    no_step: u64,
    no_action: u64,
}

/// What a graph did to the gated calls, and how agents went on.
#[derive(Debug, Serialize)]
struct GraphJson {
    calls: u64,
    agrees_with_recorded: AgreementJson,
    refused_first: Map<u64>,
    refused_after: Map<u64>,
    after_refusal: AfterRefusalJson,
}

#[derive(Debug, Serialize)]
struct AgreementJson {
    refused: u64,
    of: u64,
    by_kind: Map<u64>,
}

#[derive(Debug, Serialize)]
struct AfterRefusalJson {
    valid: u64,
    of: u64,
    calls_until_ok: Vec<RecoveryJson>,
}

#[derive(Debug, Serialize)]
struct RecoveryJson {
    calls: u32,
    count: u64,
}

/// The results that suggest a failure and do not prove one.
#[derive(Debug, Serialize)]
struct SuspectedJson<'a> {
    calls: u64,
    #[serde(flatten)]
    by_message: CountsJson<'a>,
    decided_by: Vec<String>,
}

#[derive(Debug, Serialize)]
struct EffectsJson {
    recorded: u64,
    inferred: u64,
    modelled: u64,
    reversed: u64,
    unobserved: u64,
}

#[derive(Debug, Serialize)]
struct NamedJson<'a> {
    name: &'a str,
    count: u64,
}

#[derive(Debug, Serialize)]
struct FindingJson {
    id: &'static str,
    severity: &'static str,
    calls: u64,
}

/// Counts by name under a key, and those of which no name is kept.
#[derive(Debug)]
struct CountsJson<'a>(&'static str, &'a Counts);

impl Serialize for CountsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let CountsJson(key, counts) = self;
        let rows: Vec<NamedJson<'_>> =
            counts.rows().into_iter().map(|(name, count)| NamedJson { name, count }).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(key, &rows)?;
        if counts.others() > 0 {
            map.serialize_entry("uncounted_by_name", &counts.others())?;
        }
        map.end()
    }
}

/// A whole replay: its inputs, what was recorded, and what each playbook makes of it.
pub fn replayed<'a>(
    replayed: &'a Replayed,
    names: &[&'a PlaybookNames],
    notes: &'a [InputNote],
    sources: &'a Sources,
) -> ReplayedJson<'a> {
    let possible = &replayed.possible_duplicates;
    ReplayedJson {
        inputs: inputs(replayed, notes, sources),
        recorded: RecordedJson {
            findings: findings(&replayed.recorded, FindingBy::Recorded),
            undeclared: CountsJson("possible_duplicates_by_undeclared_tool", &possible.undeclared),
            keyed: CountsJson("possible_duplicates_by_keyed_tool", &possible.keyed),
            failed: CountsJson("possible_duplicates_by_failed_tool", &possible.failed),
            resent: CountsJson("possible_duplicates_by_resent_tool", &possible.resent),
            without_run: CountsJson("possible_duplicates_by_tool_without_run", &possible.without_run),
            two_inputs: CountsJson("possible_duplicates_by_tool_in_two_inputs", &possible.two_inputs),
            without_arguments: CountsJson("possible_duplicates_by_tool_without_arguments", &possible.without_arguments),
            begun_again: (possible.begun_again.total() > 0)
                .then_some(CountsJson("possible_duplicates_by_tool_begun_again", &possible.begun_again)),
            unsettled_runs: unsettled_runs(&replayed.unsettled_runs, sources),
        },
        playbooks: replayed
            .summaries
            .iter()
            .zip(names)
            .map(|(summary, names)| playbook(summary, names, sources))
            .collect(),
    }
}

/// Whether only some playbooks can have the outcome.
const fn is_rare(outcome: OutcomeWord) -> bool {
    use OutcomeWord::{Cached, Cancelled, Joined, Refused};
    matches!(outcome, Refused | Joined | Cached | Cancelled)
}

fn playbook<'a>(summary: &'a Summary, names: &'a PlaybookNames, sources: &'a Sources) -> PlaybookJson<'a> {
    let said = OutcomeWord::ALL.into_iter().zip(summary.outcomes);
    // The outcomes of admission have a key only where a playbook uses it.
    let outcomes = said.filter(|(outcome, count)| !is_rare(*outcome) || *count > 0);
    let [attempt, refresh, reversal] = summary.undetermined;
    let sent = findings(&summary.recorded_findings_sent, FindingBy::Recorded);
    let Effects { recorded, inferred, modelled, reversed, unobserved } = summary.effects;
    PlaybookJson {
        playbook: &names.playbook,
        calls: summary.calls,
        failed_calls: summary.failed_calls,
        failed_attempts: summary.failed_attempts,
        verdicts: named(&names.verdicts, &summary.verdicts),
        outcomes: Map(outcomes.map(|(outcome, count)| (outcome.as_str(), count)).collect()),
        claims: Map(EffectClaim::ALL.into_iter().map(|claim| (claim.as_str(), summary.claim(claim))).collect()),
        findings: findings(&summary.findings, FindingBy::Playbook),
        calls_sent_less: (!sent.is_empty()).then_some(summary.sent_less),
        recorded_findings_sent: sent,
        added_delay_ms: Millis(summary.added_delay),
        delayed_calls: summary.delay_of_calls.above_zero(),
        added_delay_per_call_ms: spread(summary.delay_of_calls.percentiles(), delay),
        added_delay_per_delayed_call_ms: spread(summary.delay_of_calls.percentiles_above_zero(), delay),
        upstream_calls_recorded: summary.requests_recorded,
        upstream_calls_recorded_per_call: spread(summary.requests_recorded_of_calls.percentiles(), |count| count),
        upstream_calls: summary.requests,
        upstream_calls_per_call: spread(summary.requests_of_calls.percentiles(), |count| count),
        effects: EffectsJson { recorded, inferred, modelled, reversed, unobserved },
        queues: named(&names.queues, &summary.queues),
        off_tape_calls: summary.off_tape_calls,
        off_tape_runs: summary.off_tape_runs,
        off_tape_runs_is_lower_bound: summary.off_tape_runs_bound,
        tape_left: summary.tape_left,
        undetermined_for_lack_of: Map(vec![("attempt", attempt), ("refresh", refresh), ("reversal", reversal)]),
        unclassified: CountsJson("unclassified_by_message", &summary.unclassified),
        suspected_failures: suspected(summary),
        graph: summary.graph.as_ref().map(graph),
        not_taken_for_steps: Some(summary.odd_steps)
            .filter(|odd| *odd != OddSteps::default())
            .map(|odd| OddStepsJson { no_step: odd.no_step.calls, no_action: odd.no_action.calls }),
        shared: summary.shared.as_ref().map(|counts| shared::shared(counts, sources)),
    }
}

fn graph(graph: &GraphCounts) -> GraphJson {
    let by_kind = |refusals: Refusals| {
        let seen = refusals.rows().filter(|(_, count)| *count > 0);
        Map(seen.map(|(why, count)| (why.as_str(), count)).collect())
    };
    let until_ok = graph.until_ok.iter().map(|(&calls, &count)| RecoveryJson { calls, count });
    GraphJson {
        calls: graph.calls,
        agrees_with_recorded: AgreementJson {
            refused: graph.agreed.total(),
            of: graph.recorded,
            by_kind: by_kind(graph.agreed),
        },
        refused_first: by_kind(graph.first),
        refused_after: by_kind(graph.later),
        after_refusal: AfterRefusalJson {
            valid: graph.valid_after_refusal,
            of: graph.after_refusal,
            calls_until_ok: until_ok.collect(),
        },
    }
}

fn spread<V>(percentiles: Percentiles, value: impl Fn(u64) -> V) -> Map<V> {
    Map(percentiles.rows().map(|(name, count)| (name, value(count))).into())
}

fn delay(micros: u64) -> Millis {
    Millis(Duration::from_micros(micros))
}

fn suspected(summary: &Summary) -> Option<SuspectedJson<'_>> {
    let commonest = summary.suspected.rows().into_iter().take(3);
    (summary.suspected.total() > 0).then(|| SuspectedJson {
        calls: summary.suspected_calls,
        by_message: CountsJson("by_message", &summary.suspected),
        decided_by: commonest
            .filter_map(|(template, _)| Some(format!("failed: [ {} ]", condition(template)?)))
            .collect(),
    })
}

fn named<'a>(names: &'a [std::sync::Arc<str>], values: &[u64]) -> Vec<NamedJson<'a>> {
    names.iter().zip(values).map(|(name, &count)| NamedJson { name, count }).collect()
}

fn findings(counts: &FindingCounts, by: FindingBy) -> Vec<FindingJson> {
    let seen = counts.rows().filter(|&(_, who, _)| who == by);
    seen.map(|(kind, _, calls)| FindingJson { id: kind.id.as_str(), severity: kind.severity.as_str(), calls }).collect()
}
