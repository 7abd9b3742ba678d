//! The result of mining: clusters with the names behind the numbers, the most pressing first, for reporters.

use std::cmp::Reverse;

use super::alike::{ALIKE_MIN, likeness};
use super::collect::Folded;
use super::draw::draw;
use super::merge::{Joined, join};
use super::rule::{Drawn, Undrawn};
use super::shape::{Key, Sample, Shape};
use crate::replay::{Counts, Replayed};
use playproof_engine::call::Place;
use playproof_engine::event::OutcomeWord;
use playproof_engine::playbook::UNCLASSIFIED;
use playproof_engine::sim::Plan;

/// Examples that a cluster shows.
const EXAMPLES: usize = 3;

/// Look-alikes that a cluster shows.
const LOOK_ALIKES: usize = 3;

/// Other failures that a cluster remembers.
const OTHERS: usize = 100;

/// What was mined.
#[derive(Clone, Debug)]
pub struct Mined {
    /// The playbook under which the failures fell.
    pub playbook: String,
    /// Recorded attempts that failed.
    pub failures: u64,
    /// Those that got the verdict `unclassified`.
    pub unclassified: u64,
    /// Those that got another verdict, and exhausted their call all the same.
    pub exhausted: u64,
    /// Calls of which a recording cannot tell whether their verdict would have helped.
    pub undetermined: u64,
    /// Clusters of unclassified and exhausting failures, the shown ones included.
    pub clusters: usize,
    /// The most pressing clusters.
    pub shown: Vec<Cluster>,
    /// Failures of rare forms that are counted and not told apart, because there are too many of them.
    pub folded: u64,
}

/// Failures that one rule should catch.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its place, from 1.
    pub number: usize,
    /// The form of their message; empty where they have none.
    pub form: String,
    /// The error kind that they have in common.
    pub kind: Option<String>,
    /// The status that they have in common.
    pub status: Option<u16>,
    /// The upstream's code that they have in common.
    pub code: Option<String>,
    /// Their verdict.
    pub verdict: String,
    /// How many got no verdict, or one that did not help.
    pub failures: u64,
    /// How many more there may be: where forms are too many, those that came while this one was rare were folded.
    pub missed: u64,
    /// How many of their verdict there are beside, that did no harm.
    pub helped: u64,
    /// How many are of tools that write.
    pub writes: u64,
    /// Each counted by what it matters: 4 for an unprotected write, 2 for another write, 1 for a read.
    pub risk: u64,
    /// Of which tools.
    pub tools: Counts,
    /// The first ones, with different messages.
    pub examples: Vec<Example>,
    /// The most similar failures that the rule must not catch.
    pub look_alikes: Vec<LookAlike>,
    /// The rule that would catch the cluster and nothing else that was seen.
    pub rule: Result<Drawn, Undrawn>,
    /// The first rule of the playbook that matches any of its failures today; one for them stands before it.
    pub before: Option<String>,
    /// Failures that are none of its own, the nearest first: what its rule must not catch.
    pub others: Vec<Example>,
}

/// One failure of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The reference that `--call` takes.
    pub reference: String,
    /// Where its result stands.
    pub place: Place,
    /// Its tool.
    pub tool: String,
    /// Its message; at most the first 1,024 bytes.
    pub message: Option<String>,
}

impl Example {
    fn of(sample: &Sample) -> Example {
        Example {
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
    /// The form of their message.
    pub form: String,
    /// Their error kind.
    pub kind: Option<String>,
    /// Their status.
    pub status: Option<u16>,
    /// Their verdict.
    pub verdict: String,
    /// How many.
    pub failures: u64,
    /// One of them.
    pub example: Option<Example>,
}

impl LookAlike {
    /// The message of the one that is shown.
    pub fn message(&self) -> Option<&str> {
        self.example.as_ref()?.message.as_deref()
    }
}

impl Mined {
    pub(super) fn new(
        shapes: Vec<(Key, Shape)>,
        folded: &Folded,
        plan: &Plan,
        replayed: &Replayed,
        top: usize,
    ) -> Mined {
        let is_unclassified = |key: &Key| plan.names.verdict(key.verdict) == UNCLASSIFIED;
        let by_verdict = |wanted: bool| {
            folded.rows().filter(move |(verdict, _)| wanted == (plan.names.verdict(*verdict) == UNCLASSIFIED))
        };
        let of_unclassified: u64 = by_verdict(true).map(|(_, fold)| fold.failures).sum();
        let folded: u64 = of_unclassified + by_verdict(false).map(|(_, fold)| fold.failures).sum::<u64>();
        let falls = |key: &Key, shape: &Shape| is_unclassified(key) || shape.exhausted > 0;
        let mut clusters = join(&shapes, falls);
        clusters.sort_by_cached_key(|cluster| Reverse(pressure(cluster, &shapes, &is_unclassified)));
        let sum =
            |count: &dyn Fn(&Key, &Shape) -> u64| -> u64 { shapes.iter().map(|(key, shape)| count(key, shape)).sum() };
        let finder = Finder { shapes: &shapes, plan };
        Mined {
            playbook: plan.playbook.name.to_string(),
            failures: sum(&|_, shape| shape.failures) + folded,
            unclassified: sum(&|key, shape| if is_unclassified(key) { shape.failures } else { 0 }) + of_unclassified,
            exhausted: sum(&|key, shape| if is_unclassified(key) { 0 } else { shape.exhausted })
                + by_verdict(false).map(|(_, fold)| fold.exhausted).sum::<u64>(),
            undetermined: replayed.summaries.first().map_or(0, |summary| summary.outcome(OutcomeWord::Undetermined)),
            clusters: clusters.len(),
            shown: finder.clusters(clusters.get(..top.min(clusters.len())).unwrap_or_default()),
            folded,
        }
    }
}

/// The cluster of all failures that are joined with those of `key`, whether or not they fell.
pub(super) fn cluster_of(shapes: Vec<(Key, Shape)>, key: &Key, plan: &Plan) -> Option<Cluster> {
    let at = shapes.iter().position(|(known, _)| known == key)?;
    let joined = join(&shapes, |other, _| other.verdict == key.verdict);
    let joined = joined.iter().find(|joined| joined.members.binary_search(&at).is_ok())?;
    let finder = Finder { shapes: &shapes, plan };
    finder.clusters(std::slice::from_ref(joined)).pop()
}

/// Risk, then failures of writes, then failures; equal ones stay in the order of their forms.
fn pressure(cluster: &Joined, shapes: &[(Key, Shape)], is_unclassified: &dyn Fn(&Key) -> bool) -> (u64, u64, u64) {
    let mut sums = (0, 0, 0);
    for (key, shape) in cluster.members.iter().filter_map(|&n| shapes.get(n)) {
        let fell = fell(key, shape, is_unclassified);
        sums.0 += shape.risk * fell / shape.failures.max(1);
        sums.1 += shape.writes;
        sums.2 += fell;
    }
    sums
}

/// How many failures of a shape got no verdict, or one that did not help.
fn fell(key: &Key, shape: &Shape, is_unclassified: &dyn Fn(&Key) -> bool) -> u64 {
    if is_unclassified(key) { shape.failures } else { shape.exhausted }
}

struct Finder<'a> {
    shapes: &'a [(Key, Shape)],
    plan: &'a Plan,
}

impl Finder<'_> {
    fn clusters(&self, joined: &[Joined]) -> Vec<Cluster> {
        let mut taken: Vec<String> = self.plan.names.rules.iter().map(|name| name.to_string()).collect();
        let mut clusters: Vec<Cluster> = Vec::new();
        for (number, joined) in (1..).zip(joined) {
            let cluster = self.cluster(number, joined, &taken);
            taken.extend(cluster.rule.iter().map(|drawn| drawn.name.clone()));
            clusters.push(cluster);
        }
        clusters
    }

    fn cluster(&self, number: usize, joined: &Joined, taken: &[String]) -> Cluster {
        let members = || joined.members.iter().filter_map(|&n| self.shapes.get(n));
        let key = members().map(|(key, _)| key).next();
        let is_unclassified = |key: &Key| self.plan.names.verdict(key.verdict) == UNCLASSIFIED;
        let mut tools = Counts::default();
        members().for_each(|(_, shape)| tools.merge(&shape.tools));
        let failures: u64 = members().map(|(key, shape)| fell(key, shape, &is_unclassified)).sum();
        let all: u64 = members().map(|(_, shape)| shape.failures).sum();
        Cluster {
            number,
            form: joined.form.clone(),
            kind: key.and_then(|key| key.kind.as_deref()).map(str::to_owned),
            status: key.and_then(|key| key.status),
            code: key.and_then(|key| key.code.as_deref()).map(str::to_owned),
            verdict: key.map_or_else(String::new, |key| self.plan.names.verdict(key.verdict).to_owned()),
            failures,
            missed: members().map(|(_, shape)| shape.missed).sum(),
            helped: all - failures,
            writes: members().map(|(_, shape)| shape.writes).sum(),
            risk: pressure(joined, self.shapes, &is_unclassified).0,
            tools,
            examples: self.examples(joined),
            look_alikes: self.look_alikes(joined),
            rule: draw(joined, self.shapes, taken),
            before: self.first_rule(joined),
            others: self.others(joined),
        }
    }

    /// One of each member first, so that what a placeholder stands for is seen.
    fn examples(&self, joined: &Joined) -> Vec<Example> {
        let members = || joined.members.iter().filter_map(|&n| self.shapes.get(n));
        let deepest = members().map(|(_, shape)| shape.samples.len()).max().unwrap_or(0);
        let samples = (0..deepest).flat_map(|n| members().filter_map(move |(_, shape)| shape.samples.get(n)));
        samples.take(EXAMPLES).map(Example::of).collect()
    }

    fn first_rule(&self, joined: &Joined) -> Option<String> {
        let samples = joined.members.iter().filter_map(|&n| self.shapes.get(n)).flat_map(|(_, shape)| &shape.samples);
        let first = samples.filter_map(|sample| self.plan.classifier.classify(&sample.signal()).rule).min();
        first.map(|rule| self.plan.names.rule(Some(rule)).to_owned())
    }

    fn not_of(&self, joined: &Joined) -> impl Iterator<Item = (usize, &(Key, Shape))> {
        self.shapes.iter().enumerate().filter(|(n, _)| joined.members.binary_search(n).is_err())
    }

    /// First what looks like the cluster, then what nobody knows, then what has a verdict; each by what it shares with
    /// the cluster. One of each shape first.
    fn others(&self, joined: &Joined) -> Vec<Example> {
        let members = || joined.members.iter().filter_map(|&n| self.shapes.get(n));
        let is_of = |tool: &str| members().any(|(_, shape)| shape.tools.rows().iter().any(|&(name, _)| name == tool));
        let own = members().map(|(key, _)| key).next();
        let rank = |(n, (key, shape)): (usize, &(Key, Shape))| {
            let likeness = likeness(&joined.form, &shape.form);
            let near = if likeness >= ALIKE_MIN { likeness } else { 0 };
            let is_known = self.plan.names.verdict(key.verdict) != UNCLASSIFIED;
            let tool = shape.tools.rows().iter().any(|(tool, _)| is_of(tool));
            let kind = own.is_some_and(|own| own.kind == key.kind);
            let status = own.is_some_and(|own| own.status == key.status);
            let shared = usize::from(tool) + usize::from(kind) + usize::from(status);
            (Reverse(near), is_known, Reverse(shared), Reverse(likeness), n)
        };
        let mut ranked: Vec<_> = self.not_of(joined).map(rank).collect();
        ranked.sort_unstable();
        let shapes: Vec<&Shape> =
            ranked.iter().filter_map(|&(.., n)| self.shapes.get(n)).map(|(_, shape)| shape).collect();
        let deepest = shapes.iter().map(|shape| shape.samples.len()).max().unwrap_or(0);
        let samples = (0..deepest).flat_map(|n| shapes.iter().filter_map(move |shape| shape.samples.get(n)));
        samples.take(OTHERS).map(Example::of).collect()
    }

    fn look_alikes(&self, joined: &Joined) -> Vec<LookAlike> {
        let mut alike: Vec<(usize, usize)> = self
            .not_of(joined)
            .map(|(n, (_, shape))| (likeness(&joined.form, &shape.form), n))
            .filter(|&(likeness, _)| likeness >= ALIKE_MIN)
            .collect();
        alike.sort_by_key(|&(likeness, n)| (Reverse(likeness), n));
        let look_alike = |(_, n): (usize, usize)| {
            let (key, shape) = self.shapes.get(n)?;
            Some(LookAlike {
                form: shape.form.clone(),
                kind: key.kind.as_deref().map(str::to_owned),
                status: key.status,
                verdict: self.plan.names.verdict(key.verdict).to_owned(),
                failures: shape.failures,
                example: shape.samples.first().map(Example::of),
            })
        };
        alike.into_iter().take(LOOK_ALIKES).filter_map(look_alike).collect()
    }
}
