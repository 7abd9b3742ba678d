//! The page of `propose find`: totals, then the clusters with their examples, their look-alikes and the rule as YAML.

use crate::doc::{Block, Doc, Text, Tone};
use crate::overview;
use crate::overview::InputNote;
use crate::text::{count, counted, fitted};
use playproof_analysis::mining::{Cluster, FailureExample, LookAlike, Mined, NoRule, RuleDraft};
use playproof_analysis::replay::Replayed;
use playproof_formats::shell::Command;
use playproof_intake::origin::Sources;

/// The most tools of a cluster that are named.
const TOOLS: usize = 4;

/// The most characters of a message.
const LINE: usize = 160;

/// The contents of the page.
#[derive(Clone, Copy, Debug)]
pub struct MiningPage<'a> {
    /// The result of mining.
    pub mined: &'a Mined,
    /// The replay, for the account of its inputs.
    pub replayed: &'a Replayed,
    /// Notes on the inputs.
    pub notes: &'a [InputNote],
    /// What is not as exact as if all were mined at once.
    pub remarks: &'a [String],
    /// The inputs' names.
    pub names: &'a Sources,
    /// The one command to run next.
    pub next: Option<&'a Command>,
}

/// The page.
pub fn page(shown: &MiningPage<'_>) -> Doc {
    let mined = shown.mined;
    let mut blocks = vec![Block::List(overview::inputs(shown.replayed, shown.notes))];
    blocks.extend(shown.remarks.iter().cloned().map(Block::para));
    blocks.push(Block::para(balance(mined)));
    if !mined.shown.is_empty() {
        let heading = match mined.shown.len() == mined.clusters {
            true => "Unhandled failures by message template, most urgent first".to_owned(),
            false => format!(
                "Unhandled failures by message template: the {} most urgent of {} (--top shows more)",
                mined.shown.len(),
                count(mined.clusters as u64)
            ),
        };
        let weights =
            "Risk counts 4 for each failure of a write that is not idempotent, 2 for another write, 1 for a read.";
        let weights = Block::Para(Text::new(Tone::Soft, weights));
        let clusters = std::iter::once(weights).chain(mined.shown.iter().map(cluster)).collect();
        blocks.push(Block::section("clusters", heading, clusters));
    }
    blocks.extend(shown.next.cloned().map(Block::next));
    Doc::with("", blocks)
}

fn balance(mined: &Mined) -> String {
    let mut said = match mined.failures {
        0 => "no recorded attempt failed: there is nothing to mine".to_owned(),
        failures => format!(
            "{}: {} unclassified under {}, {} exhausted by a verdict that did not help",
            counted(failures, "failed attempt", "failed attempts"),
            count(mined.unclassified),
            &mined.playbook,
            count(mined.exhausted)
        ),
    };
    if mined.undetermined > 0 {
        said += &format!(
            "; {} not mined: the recording does not show whether the verdict helps",
            counted(mined.undetermined, "undetermined call is", "undetermined calls are")
        );
    }
    if mined.rare > 0 {
        said += &format!(
            "; +{} with rarer templates, which are too many to cluster",
            counted(mined.rare, "failure", "failures")
        );
    }
    said
}

fn cluster(cluster: &Cluster) -> Block {
    let template = match cluster.template.is_empty() {
        true => "(no message)".into(),
        false => fitted(&cluster.template, LINE),
    };
    let title = Text::from(format!("{}. {}  ", cluster.number, count(cluster.failures))).and(Tone::Strong, template);
    let mut pairs = vec![("what", Text::from(what(cluster))), ("tools", tools(cluster).into())];
    let line = |said: &str| Text::from(&*fitted(said, LINE));
    let examples = cluster.examples.iter().map(|example| line(&said(example)));
    pairs.extend(std::iter::once("examples").chain(std::iter::repeat("")).zip(examples));
    let alike = cluster.look_alikes.iter().map(|alike| line(&look_alike(alike)));
    pairs.extend(std::iter::once("look-alikes").chain(std::iter::repeat("")).zip(alike));
    let mut inside = Vec::new();
    match &cluster.rule {
        Ok(draft) => {
            pairs.push(("rule", tried(draft, cluster.before.as_deref()).into()));
            inside.push(Block::Lines(draft.yaml.clone()));
        }
        Err(why) => pairs.push(("rule", no_rule(why).into())),
    }
    inside.insert(0, Block::pairs(pairs));
    Block::card(title, inside)
}

fn what(cluster: &Cluster) -> String {
    let mut parts = Vec::new();
    parts.push(cluster.kind.as_deref().map_or("no error kind".to_owned(), |kind| format!("kind {kind}")));
    parts.extend(cluster.status.map(|status| format!("status {status}")));
    parts.extend(cluster.code.as_deref().map(|code| format!("code {code}")));
    parts.push(format!("verdict {}", &cluster.verdict));
    if cluster.helped > 0 {
        parts.push(format!("{} more did not exhaust their call", count(cluster.helped)));
    }
    if cluster.missed > 0 {
        parts.push(format!("at most {} more from while the template was rare", count(cluster.missed)));
    }
    parts.push(format!("{} on writes", count(cluster.writes)));
    parts.push(format!("risk {}", count(cluster.risk)));
    parts.join(" · ")
}

fn tools(cluster: &Cluster) -> String {
    let rows = cluster.tools.rows();
    let named: Vec<String> =
        rows.iter().take(TOOLS).map(|(tool, calls)| format!("{} {}", fitted(tool, 60), count(*calls))).collect();
    let more = rows.len().saturating_sub(TOOLS) as u64;
    let more = if more == 0 { String::new() } else { format!(" and {} more", counted(more, "tool", "tools")) };
    format!("{}{more}", named.join(", "))
}

fn said(example: &FailureExample) -> String {
    format!("{}: {}", example.reference, example.message.as_deref().unwrap_or("(no message)"))
}

fn look_alike(alike: &LookAlike) -> String {
    let status = alike.status.map_or_else(String::new, |status| format!(" {status}"));
    let (failures, kind) = (count(alike.failures), alike.kind.as_deref().unwrap_or("no kind"));
    let message = alike.message().unwrap_or("(no message)");
    format!("{failures} {}, {kind}{status}: {message}", alike.verdict)
}

fn tried(draft: &RuleDraft, before: Option<&str>) -> String {
    let before = before.map_or_else(String::new, |rule| format!(" if it goes before {rule}"));
    let caught = match draft.caught {
        1 => "the 1 message".to_owned(),
        all => format!("all {} messages", count(all as u64)),
    };
    let results = counted(draft.successes as u64, "successful result", "successful results");
    let avoided = match (draft.avoided, draft.successes) {
        (0, 0) => "; there are no others".to_owned(),
        (0, _) => format!(" and no text of {results}"),
        (1, 0) => " and not the 1 other".to_owned(),
        (others, 0) => format!(" and none of {} others", count(others as u64)),
        (others, _) => format!(" and none of {}, nor a text of {results}", counted(others as u64, "other", "others")),
    };
    let narrowed = if draft.narrowed { "; plainer words are also in successful results" } else { "" };
    format!("catches {caught} tried{avoided}{narrowed}{before}:")
}

fn no_rule(why: &NoRule) -> String {
    match why {
        NoRule::NothingToAsk => "none: these failures contain nothing that a rule could test".to_owned(),
        NoRule::Redacted => "none: everything that these failures contain is redacted".to_owned(),
        NoRule::CatchesAlso(template) => {
            format!("none: every rule for these also catches `{}`", fitted(template, 80))
        }
        NoRule::MatchesSuccess(tool) => {
            format!("none: every rule for these also matches a successful result of {tool}")
        }
        NoRule::NoValidRule => "none: what these have in common is no valid condition".to_owned(),
    }
}
