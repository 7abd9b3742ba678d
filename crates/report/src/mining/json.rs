//! Mined clusters as one JSON document.

use super::page::MiningPage;
use crate::json::{Object, document, inputs, place};
use playproof_analysis::mining::{Cluster, FailureExample, LookAlike, NoRule, RuleDraft};
use playproof_intake::origin::Sources;

/// The document, ending with a line break.
pub fn json(shown: &MiningPage<'_>) -> String {
    let mined = shown.mined;
    let written = Object::document("mining/1")
        .with("playbook", &mined.playbook)
        .maybe("approximate", Some(shown.remarks).filter(|remarks| !remarks.is_empty()))
        .with("inputs", inputs(shown.replayed, shown.notes, shown.names))
        .with("failures", mined.failures)
        .with("unclassified", mined.unclassified)
        .with("exhausted", mined.exhausted)
        .with("undetermined_calls", mined.undetermined)
        .with("failures_of_rarer_forms", mined.rare)
        .with("forms", mined.clusters)
        .with("clusters", mined.shown.iter().map(|found| cluster(found, shown.names)).collect::<Vec<_>>());
    document(&written) + "\n"
}

fn cluster(cluster: &Cluster, names: &Sources) -> Object {
    let tools = cluster.tools.rows().into_iter();
    let tools = tools.map(|(tool, failures)| Object::default().with("tool", tool).with("failures", failures));
    Object::default()
        .with("number", cluster.number)
        .with("form", &cluster.template)
        .maybe("kind", cluster.kind.as_deref())
        .maybe("status", cluster.status)
        .maybe("code", cluster.code.as_deref())
        .with("verdict", &cluster.verdict)
        .with("failures", cluster.failures)
        .with("of_the_same_form_that_were_helped", cluster.helped)
        .maybe("failures_missed_at_most", (cluster.missed > 0).then_some(cluster.missed))
        .with("writes", cluster.writes)
        .with("risk", cluster.risk)
        .with("tools", tools.collect::<Vec<_>>())
        .with("examples", cluster.examples.iter().map(|one| example(one, names)).collect::<Vec<_>>())
        .with("look_alikes", cluster.look_alikes.iter().map(look_alike).collect::<Vec<_>>())
        .maybe("rule", cluster.rule.as_ref().ok().map(|draft| rule(draft, cluster.before.as_deref())))
        .maybe("no_rule", cluster.rule.as_ref().err().map(no_rule))
}

fn example(example: &FailureExample, names: &Sources) -> Object {
    let place = place(names, example.place);
    let said = Object::default().with("call", &example.reference).and(&place);
    said.with("tool", &example.tool).with("message", &example.message)
}

fn look_alike(alike: &LookAlike) -> Object {
    Object::default()
        .with("form", &alike.template)
        .maybe("kind", alike.kind.as_deref())
        .maybe("status", alike.status)
        .with("verdict", &alike.verdict)
        .with("failures", alike.failures)
        .with("message", alike.message())
}

fn rule(draft: &RuleDraft, before: Option<&str>) -> Object {
    Object::default()
        .with("name", &draft.name)
        .with("when", &draft.when)
        .with("yaml", &draft.yaml)
        .with("caught", draft.caught)
        .with("spared", draft.avoided)
        .maybe("successes", Some(draft.successes).filter(|successes| *successes > 0))
        .flag("narrowed", draft.narrowed)
        .maybe("before", before)
}

fn no_rule(why: &NoRule) -> Object {
    let (why, catches_also) = match why {
        NoRule::NothingToAsk => ("nothing_to_ask", None),
        NoRule::Redacted => ("redacted", None),
        NoRule::CatchesAlso(template) => ("catches_also", Some(template)),
        NoRule::MatchesSuccess(tool) => ("matches_success", Some(tool)),
        NoRule::NoValidRule => ("no_valid_rule", None),
    };
    Object::default().with("why", why).maybe("catches_also", catches_also)
}
