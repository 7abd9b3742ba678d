//! The result of mining for reporters: clusters with names, the most urgent first.

use std::cmp::Reverse;

use super::draft::draft_rule;
use super::group::{FailureGroup, FailureSample, GroupKey, RareFailures};
use super::members::{ClusterMembers, SIMILARITY_MIN, join, similarity};
use super::rule::{NoRule, RuleDraft};
use super::successes::Successes;
use crate::replay::{Counts, Replayed};
use playproof_engine::call::Place;
use playproof_engine::event::OutcomeWord;
use playproof_engine::playbook::UNCLASSIFIED;
use playproof_engine::sim::Plan;

/// The most examples of a cluster.
const EXAMPLES: usize = 3;

/// The most look-alikes of a cluster.
const LOOK_ALIKES: usize = 3;

/// The most other failures of a cluster.
const OTHERS: usize = 100;

/// The result of mining.
#[derive(Clone, Debug)]
pub struct Mined {
    /// The playbook that classified the failures.
    pub playbook: String,
    /// Recorded attempts that failed.
    pub failures: u64,
    /// Failures with the verdict `unclassified`.
    pub unclassified: u64,
    /// Failures with another verdict that exhausted their call.
    pub exhausted: u64,
    /// Calls whose recording does not show whether their verdict would have helped.
    pub undetermined: u64,
    /// All clusters of unclassified and exhausting failures.
    pub clusters: usize,
    /// The most urgent clusters.
    pub shown: Vec<Cluster>,
    /// Failures of rare templates that were counted but not clustered, because there are too many templates.
    pub rare: u64,
}

/// Failures that one rule should catch.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its number, from 1.
    pub number: usize,
    /// The template of their message; empty without one.
    pub template: String,
    /// Their common error kind.
    pub kind: Option<String>,
    /// Their common status.
    pub status: Option<u16>,
    /// Their common upstream code.
    pub code: Option<String>,
    /// Their verdict.
    pub verdict: String,
    /// Failures without a verdict, or with one that did not help.
    pub failures: u64,
    /// The most failures that may be missing: with too many templates, those that came while this one was rare.
    pub missed: u64,
    /// Further failures of the same groups that did no harm.
    pub helped: u64,
    /// Failures of writes.
    pub writes: u64,
    /// The sum of risks: 4 for an unprotected write, 2 for another write, 1 for a read.
    pub risk: u64,
    /// Their tools.
    pub tools: Counts,
    /// The first failures with different messages.
    pub examples: Vec<FailureExample>,
    /// The most similar failures that the rule must not catch.
    pub look_alikes: Vec<LookAlike>,
    /// The rule that catches the cluster and no other recorded failure.
    pub rule: Result<RuleDraft, NoRule>,
    /// The first rule of the playbook that matches any of its failures today; a new rule goes before it.
    pub before: Option<String>,
    /// Failures outside the cluster, the nearest first: its rule must not catch them.
    pub others: Vec<FailureExample>,
}

/// One failure of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureExample {
    /// The reference that `--call` takes.
    pub reference: String,
    /// The place of its result.
    pub place: Place,
    /// Its tool.
    pub tool: String,
    /// Its message; at most the first 1,024 bytes.
    pub message: Option<String>,
}

impl FailureExample {
    fn of(sample: &FailureSample) -> FailureExample {
        FailureExample {
            reference: sample.reference.clone(),
            place: sample.place,
            tool: sample.tool.clone(),
            message: sample.message().map(str::to_owned),
        }
    }
}

/// Failures that look like those of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookAlike {
    /// The template of their message.
    pub template: String,
    /// Their error kind.
    pub kind: Option<String>,
    /// Their status.
    pub status: Option<u16>,
    /// Their verdict.
    pub verdict: String,
    /// How many.
    pub failures: u64,
    /// One of them.
    pub example: Option<FailureExample>,
}

impl LookAlike {
    /// The message of the example.
    pub fn message(&self) -> Option<&str> {
        self.example.as_ref()?.message.as_deref()
    }
}

impl Mined {
    pub(super) fn new(
        groups: &[(GroupKey, FailureGroup)],
        (rare, successes): (&RareFailures, &Successes),
        plan: &Plan,
        replayed: &Replayed,
        top: usize,
    ) -> Mined {
        let is_unclassified = |key: &GroupKey| plan.names.verdict(key.verdict) == UNCLASSIFIED;
        let by_verdict = |wanted: bool| {
            rare.rows().filter(move |(verdict, _)| wanted == (plan.names.verdict(*verdict) == UNCLASSIFIED))
        };
        let of_unclassified: u64 = by_verdict(true).map(|(_, count)| count.failures).sum();
        let rare: u64 = of_unclassified + by_verdict(false).map(|(_, count)| count.failures).sum::<u64>();
        let is_unhandled = |key: &GroupKey, group: &FailureGroup| is_unclassified(key) || group.exhausted > 0;
        let mut clusters = join(groups, is_unhandled);
        clusters.sort_by_cached_key(|cluster| Reverse(urgency(cluster, groups, &is_unclassified)));
        let sum = |count: &dyn Fn(&GroupKey, &FailureGroup) -> u64| -> u64 {
            groups.iter().map(|(key, group)| count(key, group)).sum()
        };
        let finder = ClusterBuilder { groups, successes, plan };
        Mined {
            playbook: plan.playbook.name.to_string(),
            failures: sum(&|_, group| group.failures) + rare,
            unclassified: sum(&|key, group| if is_unclassified(key) { group.failures } else { 0 }) + of_unclassified,
            exhausted: sum(&|key, group| if is_unclassified(key) { 0 } else { group.exhausted })
                + by_verdict(false).map(|(_, count)| count.exhausted).sum::<u64>(),
            undetermined: replayed.summaries.first().map_or(0, |summary| summary.outcome(OutcomeWord::Undetermined)),
            clusters: clusters.len(),
            shown: finder.clusters(clusters.get(..top.min(clusters.len())).unwrap_or_default()),
            rare,
        }
    }
}

/// The cluster that contains the group of `key`, handled or not.
pub(super) fn cluster_of(
    groups: &[(GroupKey, FailureGroup)],
    successes: &Successes,
    key: &GroupKey,
    plan: &Plan,
) -> Option<Cluster> {
    let at = groups.iter().position(|(known, _)| known == key)?;
    let cluster = join(groups, |other, _| other.verdict == key.verdict);
    let cluster = cluster.iter().find(|cluster| cluster.members.binary_search(&at).is_ok())?;
    let finder = ClusterBuilder { groups, successes, plan };
    finder.clusters(std::slice::from_ref(cluster)).pop()
}

/// The urgency of a cluster: risk, then failures of writes, then failures.
fn urgency(
    cluster: &ClusterMembers,
    groups: &[(GroupKey, FailureGroup)],
    is_unclassified: &dyn Fn(&GroupKey) -> bool,
) -> (u64, u64, u64) {
    let mut sums = (0, 0, 0);
    for (key, group) in cluster.members.iter().filter_map(|&n| groups.get(n)) {
        let unhandled = unhandled(key, group, is_unclassified);
        sums.0 += group.risk * unhandled / group.failures.max(1);
        sums.1 += group.writes;
        sums.2 += unhandled;
    }
    sums
}

/// The failures of a group without a verdict, or with one that did not help.
fn unhandled(key: &GroupKey, group: &FailureGroup, is_unclassified: &dyn Fn(&GroupKey) -> bool) -> u64 {
    if is_unclassified(key) { group.failures } else { group.exhausted }
}

struct ClusterBuilder<'a> {
    groups: &'a [(GroupKey, FailureGroup)],
    successes: &'a Successes,
    plan: &'a Plan,
}

impl ClusterBuilder<'_> {
    fn clusters(&self, cluster: &[ClusterMembers]) -> Vec<Cluster> {
        let mut taken: Vec<String> = self.plan.names.rules.iter().map(|name| name.to_string()).collect();
        let mut clusters: Vec<Cluster> = Vec::new();
        for (number, cluster) in (1..).zip(cluster) {
            let cluster = self.cluster(number, cluster, &taken);
            taken.extend(cluster.rule.iter().map(|draft| draft.name.clone()));
            clusters.push(cluster);
        }
        clusters
    }

    fn cluster(&self, number: usize, cluster: &ClusterMembers, taken: &[String]) -> Cluster {
        let members = || cluster.members.iter().filter_map(|&n| self.groups.get(n));
        let key = members().map(|(key, _)| key).next();
        let is_unclassified = |key: &GroupKey| self.plan.names.verdict(key.verdict) == UNCLASSIFIED;
        let mut tools = Counts::default();
        members().for_each(|(_, group)| tools.merge(&group.tools));
        let failures: u64 = members().map(|(key, group)| unhandled(key, group, &is_unclassified)).sum();
        let all: u64 = members().map(|(_, group)| group.failures).sum();
        Cluster {
            number,
            template: cluster.template.clone(),
            kind: key.and_then(|key| key.kind.as_deref()).map(str::to_owned),
            status: key.and_then(|key| key.status),
            code: key.and_then(|key| key.code.as_deref()).map(str::to_owned),
            verdict: key.map_or_else(String::new, |key| self.plan.names.verdict(key.verdict).to_owned()),
            failures,
            missed: members().map(|(_, group)| group.missed).sum(),
            helped: all - failures,
            writes: members().map(|(_, group)| group.writes).sum(),
            risk: urgency(cluster, self.groups, &is_unclassified).0,
            tools,
            examples: self.examples(cluster),
            look_alikes: self.look_alikes(cluster),
            rule: draft_rule(cluster, self.groups, self.successes, taken),
            before: self.first_rule(cluster),
            others: self.others(cluster),
        }
    }

    /// First one sample of each member, so that the words behind a placeholder show.
    fn examples(&self, cluster: &ClusterMembers) -> Vec<FailureExample> {
        let members = || cluster.members.iter().filter_map(|&n| self.groups.get(n));
        let deepest = members().map(|(_, group)| group.samples.len()).max().unwrap_or(0);
        let samples = (0..deepest).flat_map(|n| members().filter_map(move |(_, group)| group.samples.get(n)));
        samples.take(EXAMPLES).map(FailureExample::of).collect()
    }

    fn first_rule(&self, cluster: &ClusterMembers) -> Option<String> {
        let samples = cluster.members.iter().filter_map(|&n| self.groups.get(n)).flat_map(|(_, group)| &group.samples);
        let first = samples.filter_map(|sample| self.plan.classifier.classify(&sample.signal()).rule).min();
        first.map(|rule| self.plan.names.rule(Some(rule)).to_owned())
    }

    fn not_of(&self, cluster: &ClusterMembers) -> impl Iterator<Item = (usize, &(GroupKey, FailureGroup))> {
        self.groups.iter().enumerate().filter(|(n, _)| cluster.members.binary_search(n).is_err())
    }

    /// First failures that look like the cluster, then unclassified ones, then the others; each by what they share with
    /// the cluster. One sample of each group first.
    fn others(&self, cluster: &ClusterMembers) -> Vec<FailureExample> {
        let members = || cluster.members.iter().filter_map(|&n| self.groups.get(n));
        let is_of = |tool: &str| members().any(|(_, group)| group.tools.rows().iter().any(|&(name, _)| name == tool));
        let own = members().map(|(key, _)| key).next();
        let rank = |(n, (key, group)): (usize, &(GroupKey, FailureGroup))| {
            let similarity = similarity(&cluster.template, &group.template);
            let near = if similarity >= SIMILARITY_MIN { similarity } else { 0 };
            let is_known = self.plan.names.verdict(key.verdict) != UNCLASSIFIED;
            let tool = group.tools.rows().iter().any(|(tool, _)| is_of(tool));
            let kind = own.is_some_and(|own| own.kind == key.kind);
            let status = own.is_some_and(|own| own.status == key.status);
            let shared = usize::from(tool) + usize::from(kind) + usize::from(status);
            (Reverse(near), is_known, Reverse(shared), Reverse(similarity), n)
        };
        let mut ranked: Vec<_> = self.not_of(cluster).map(rank).collect();
        ranked.sort_unstable();
        let groups: Vec<&FailureGroup> =
            ranked.iter().filter_map(|&(.., n)| self.groups.get(n)).map(|(_, group)| group).collect();
        let deepest = groups.iter().map(|group| group.samples.len()).max().unwrap_or(0);
        let samples = (0..deepest).flat_map(|n| groups.iter().filter_map(move |group| group.samples.get(n)));
        samples.take(OTHERS).map(FailureExample::of).collect()
    }

    fn look_alikes(&self, cluster: &ClusterMembers) -> Vec<LookAlike> {
        let mut alike: Vec<(usize, usize)> = self
            .not_of(cluster)
            .map(|(n, (_, group))| (similarity(&cluster.template, &group.template), n))
            .filter(|&(similarity, _)| similarity >= SIMILARITY_MIN)
            .collect();
        alike.sort_by_key(|&(similarity, n)| (Reverse(similarity), n));
        let look_alike = |(_, n): (usize, usize)| {
            let (key, group) = self.groups.get(n)?;
            Some(LookAlike {
                template: group.template.clone(),
                kind: key.kind.as_deref().map(str::to_owned),
                status: key.status,
                verdict: self.plan.names.verdict(key.verdict).to_owned(),
                failures: group.failures,
                example: group.samples.first().map(FailureExample::of),
            })
        };
        alike.into_iter().take(LOOK_ALIKES).filter_map(look_alike).collect()
    }
}
