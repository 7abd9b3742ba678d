//! Mined clusters as one JSON document.

use serde::Serialize;

use super::page::MiningPage;
use crate::json::{InputJson, PlaceJson, document, inputs, place};
use playproof_analysis::mining::{Cluster, FailureExample, LookAlike, NoRule, RuleDraft};
use playproof_intake::origin::Sources;

#[derive(Serialize)]
struct MinedJson<'a> {
    format: &'static str,
    playbook: &'a str,
    inputs: Vec<InputJson<'a>>,
    failures: u64,
    unclassified: u64,
    exhausted: u64,
    undetermined_calls: u64,
    failures_of_rarer_forms: u64,
    forms: usize,
    clusters: Vec<ClusterJson<'a>>,
}

#[derive(Serialize)]
struct ClusterJson<'a> {
    number: usize,
    form: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    verdict: &'a str,
    failures: u64,
    of_the_same_form_that_were_helped: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    failures_missed_at_most: Option<u64>,
    writes: u64,
    risk: u64,
    tools: Vec<ToolJson<'a>>,
    examples: Vec<ExampleJson<'a>>,
    look_alikes: Vec<LookAlikeJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<RuleJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_rule: Option<NoRuleJson<'a>>,
}

#[derive(Serialize)]
struct ToolJson<'a> {
    tool: &'a str,
    failures: u64,
}

#[derive(Serialize)]
struct ExampleJson<'a> {
    call: &'a str,
    #[serde(flatten)]
    place: PlaceJson<'a>,
    tool: &'a str,
    message: Option<&'a str>,
}

#[derive(Serialize)]
struct LookAlikeJson<'a> {
    form: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    verdict: &'a str,
    failures: u64,
    message: Option<&'a str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_none(count: &usize) -> bool {
    *count == 0
}

#[derive(Serialize)]
struct RuleJson<'a> {
    name: &'a str,
    when: &'a str,
    yaml: &'a str,
    caught: usize,
    spared: usize,
    #[serde(skip_serializing_if = "is_none")]
    successes: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    narrowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<&'a str>,
}

#[derive(Serialize)]
struct NoRuleJson<'a> {
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    catches_also: Option<&'a str>,
}

/// The document, ending with a line break.
pub fn json(shown: &MiningPage<'_>) -> String {
    let mined = shown.mined;
    let written = document(&MinedJson {
        format: "mining/1",
        playbook: &mined.playbook,
        inputs: inputs(shown.replayed, shown.notes, shown.names),
        failures: mined.failures,
        unclassified: mined.unclassified,
        exhausted: mined.exhausted,
        undetermined_calls: mined.undetermined,
        failures_of_rarer_forms: mined.rare,
        forms: mined.clusters,
        clusters: mined.shown.iter().map(|found| cluster(found, shown.names)).collect(),
    });
    written + "\n"
}

fn cluster<'a>(cluster: &'a Cluster, names: &'a Sources) -> ClusterJson<'a> {
    let tools = cluster.tools.rows().into_iter();
    ClusterJson {
        number: cluster.number,
        form: &cluster.template,
        kind: cluster.kind.as_deref(),
        status: cluster.status,
        code: cluster.code.as_deref(),
        verdict: &cluster.verdict,
        failures: cluster.failures,
        of_the_same_form_that_were_helped: cluster.helped,
        failures_missed_at_most: (cluster.missed > 0).then_some(cluster.missed),
        writes: cluster.writes,
        risk: cluster.risk,
        tools: tools.map(|(tool, failures)| ToolJson { tool, failures }).collect(),
        examples: cluster.examples.iter().map(|one| example(one, names)).collect(),
        look_alikes: cluster.look_alikes.iter().map(look_alike).collect(),
        rule: cluster.rule.as_ref().ok().map(|draft| rule(draft, cluster.before.as_deref())),
        no_rule: cluster.rule.as_ref().err().map(no_rule),
    }
}

fn example<'a>(example: &'a FailureExample, names: &'a Sources) -> ExampleJson<'a> {
    ExampleJson {
        call: &example.reference,
        place: place(names, example.place),
        tool: &example.tool,
        message: example.message.as_deref(),
    }
}

fn look_alike(alike: &LookAlike) -> LookAlikeJson<'_> {
    LookAlikeJson {
        form: &alike.template,
        kind: alike.kind.as_deref(),
        status: alike.status,
        verdict: &alike.verdict,
        failures: alike.failures,
        message: alike.message(),
    }
}

fn rule<'a>(draft: &'a RuleDraft, before: Option<&'a str>) -> RuleJson<'a> {
    let RuleDraft { name, when, yaml, caught, avoided, successes, narrowed } = draft;
    let (caught, spared, successes, narrowed) = (*caught, *avoided, *successes, *narrowed);
    RuleJson { name, when, yaml, caught, spared, successes, narrowed, before }
}

fn no_rule(why: &NoRule) -> NoRuleJson<'_> {
    let (why, catches_also) = match why {
        NoRule::NothingToAsk => ("nothing_to_ask", None),
        NoRule::Redacted => ("redacted", None),
        NoRule::CatchesAlso(template) => ("catches_also", Some(template.as_str())),
        NoRule::MatchesSuccess(tool) => ("matches_success", Some(tool.as_str())),
        NoRule::NoValidRule => ("no_valid_rule", None),
    };
    NoRuleJson { why, catches_also }
}
