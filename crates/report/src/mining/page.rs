//! The page of `propose find`: totals, then the clusters with their examples, their look-alikes and the rule as YAML.

use crate::overview;
use crate::overview::InputNote;
use crate::style::Palette;
use crate::table::{INDENT, labelled};
use crate::text::{count, counted, escape_unprintable, fitted, wrapped};
use playproof_analysis::mining::{Cluster, FailureExample, LookAlike, Mined, NoRule, RuleDraft};
use playproof_analysis::replay::Replayed;
use playproof_formats::shell::Command;
use playproof_intake::origin::Sources;

/// The most tools of a cluster that are named.
const TOOLS: usize = 4;

/// The width of the column with labels.
const LABEL: usize = 12;

/// The contents of the page.
#[derive(Clone, Copy, Debug)]
pub struct MiningPage<'a> {
    /// The result of mining.
    pub mined: &'a Mined,
    /// The replay, for the account of its inputs.
    pub replayed: &'a Replayed,
    /// Notes on the inputs.
    pub notes: &'a [InputNote],
    /// The inputs' names.
    pub names: &'a Sources,
    /// The one command to run next.
    pub next: Option<&'a Command>,
}

/// The page, ending without a line break.
pub fn page(shown: &MiningPage<'_>, columns: usize, palette: Palette) -> String {
    let mined = shown.mined;
    let mut parts = vec![
        overview::inputs(shown.replayed, shown.notes, columns, palette),
        wrapped(&balance(mined), columns).join("\n"),
    ];
    if !mined.shown.is_empty() {
        let heading = match mined.shown.len() == mined.clusters {
            true => "Unhandled failures by message template, most urgent first".to_owned(),
            false => format!(
                "Unhandled failures by message template: the {} most urgent of {} (--top shows more)",
                mined.shown.len(),
                count(mined.clusters as u64)
            ),
        };
        let heading = wrapped(&heading, columns).into_iter().map(|line| palette.strong(&line));
        let weights =
            "Risk counts 4 for each failure of a write that is not idempotent, 2 for another write, 1 for a read.";
        let weights = wrapped(weights, columns).into_iter().map(|line| palette.faint(&line));
        parts.push(heading.chain(weights).collect::<Vec<_>>().join("\n"));
        parts.extend(mined.shown.iter().map(|cluster| block(cluster, columns, palette)));
    }
    parts.extend(shown.next.map(|next| format!("{} {next}", palette.strong("next:"))));
    parts.join("\n\n")
}

fn balance(mined: &Mined) -> String {
    let mut said = match mined.failures {
        0 => "no recorded attempt failed: there is nothing to mine".to_owned(),
        failures => format!(
            "{}: {} unclassified under {}, {} exhausted by a verdict that did not help",
            counted(failures, "failed attempt", "failed attempts"),
            count(mined.unclassified),
            escape_unprintable(&mined.playbook),
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

fn block(cluster: &Cluster, columns: usize, palette: Palette) -> String {
    let template = match cluster.template.is_empty() {
        true => "(no message)".into(),
        false => fitted(&cluster.template, columns.saturating_sub(20)),
    };
    let mut lines = vec![format!("{}. {}  {}", cluster.number, count(cluster.failures), palette.strong(&template))];
    let mut say = |label: &str, said: &str| lines.extend(labelled(label, said, LABEL, columns, palette));
    say("what", &what(cluster));
    say("tools", &tools(cluster));
    let room = columns.saturating_sub(INDENT + LABEL).max(20);
    for (n, example) in cluster.examples.iter().enumerate() {
        say(if n == 0 { "examples" } else { "" }, &fitted(&said(example), room));
    }
    for (n, alike) in cluster.look_alikes.iter().enumerate() {
        say(if n == 0 { "look-alikes" } else { "" }, &fitted(&look_alike(alike), room));
    }
    match &cluster.rule {
        Ok(draft) => {
            say("rule", &tried(draft, cluster.before.as_deref()));
            lines.extend(draft.yaml.lines().map(|line| format!("     {line}")));
        }
        Err(why) => say("rule", &no_rule(why)),
    }
    lines.join("\n")
}

fn what(cluster: &Cluster) -> String {
    let mut parts = Vec::new();
    parts.push(
        cluster.kind.as_deref().map_or("no error kind".to_owned(), |kind| format!("kind {}", escape_unprintable(kind))),
    );
    parts.extend(cluster.status.map(|status| format!("status {status}")));
    parts.extend(cluster.code.as_deref().map(|code| format!("code {}", escape_unprintable(code))));
    parts.push(format!("verdict {}", escape_unprintable(&cluster.verdict)));
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
    let before = before.map_or_else(String::new, |rule| format!(" if it goes before {}", escape_unprintable(rule)));
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
            format!("none: every rule for these also matches a successful result of {}", escape_unprintable(tool))
        }
        NoRule::NoValidRule => "none: what these have in common is no valid condition".to_owned(),
    }
}
