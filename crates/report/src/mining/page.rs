//! The page of mining: what fell, then the clusters with their examples, their look-alikes and the rule as YAML.

use crate::overview;
use crate::overview::InputNote;
use crate::style::Palette;
use crate::table::{INDENT, labelled};
use crate::text::{count, counted, escape_unprintable, fitted, wrapped};
use playproof_analysis::mining::{Cluster, Drawn, Example, LookAlike, Mined, Undrawn};
use playproof_analysis::replay::Replayed;
use playproof_formats::shell::Command;
use playproof_trace::origin::Sources;

/// Tools of a cluster that are named.
const TOOLS: usize = 4;

/// The labels of a cluster stand in a column of this width.
const LABEL: usize = 12;

/// Everything that the page is drawn from.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// What was mined.
    pub mined: &'a Mined,
    /// The replay that it was mined from, for the account of its inputs.
    pub replayed: &'a Replayed,
    /// What the inputs were.
    pub notes: &'a [InputNote],
    /// The inputs' names.
    pub names: &'a Sources,
    /// The one command to run next.
    pub next: Option<&'a Command>,
}

/// The page, ending without a line break.
pub fn page(shown: &Shown<'_>, columns: usize, palette: Palette) -> String {
    let mined = shown.mined;
    let mut parts = vec![
        overview::inputs(shown.replayed, shown.notes, columns, palette),
        wrapped(&balance(mined), columns).join("\n"),
    ];
    if !mined.shown.is_empty() {
        let heading = match mined.shown.len() == mined.clusters {
            true => "by the form of their message, the most pressing first".to_owned(),
            false => format!(
                "the {} most pressing of {} forms (--top shows more)",
                mined.shown.len(),
                count(mined.clusters as u64)
            ),
        };
        let heading = format!("What {} has no use for, {heading}", escape_unprintable(&mined.playbook));
        let heading = wrapped(&heading, columns).into_iter().map(|line| palette.strong(&line));
        let weights = "Risk is 4 for each failure of a write that is not idempotent, 2 of another write, 1 of a read.";
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
            "; of {} a recording cannot tell whether the verdict helps, so they are not mined",
            counted(mined.undetermined, "undetermined call", "undetermined calls")
        );
    }
    if mined.folded > 0 {
        said += &format!(
            "; +{} of rarer forms, counted and not told apart, for there are too many",
            counted(mined.folded, "failure", "failures")
        );
    }
    said
}

fn block(cluster: &Cluster, columns: usize, palette: Palette) -> String {
    let form =
        if cluster.form.is_empty() { "(no message)".into() } else { fitted(&cluster.form, columns.saturating_sub(20)) };
    let mut lines = vec![format!("{}. {}  {}", cluster.number, count(cluster.failures), palette.strong(&form))];
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
        Ok(drawn) => {
            say("rule", &tried(drawn, cluster.before.as_deref()));
            lines.extend(drawn.yaml.lines().map(|line| format!("     {line}")));
        }
        Err(why) => say("rule", &undrawn(why)),
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
        parts.push(format!("of which {} did not exhaust their call", count(cluster.helped)));
    }
    if cluster.missed > 0 {
        parts.push(format!("at most {} more, counted while the form was rare", count(cluster.missed)));
    }
    parts.push(format!("{} of tools that write", count(cluster.writes)));
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

fn said(example: &Example) -> String {
    format!("{}: {}", example.reference, example.message.as_deref().unwrap_or("(no message)"))
}

fn look_alike(alike: &LookAlike) -> String {
    let status = alike.status.map_or_else(String::new, |status| format!(" {status}"));
    let (failures, kind) = (count(alike.failures), alike.kind.as_deref().unwrap_or("no kind"));
    let message = alike.message().unwrap_or("(no message)");
    format!("{failures} {}, {kind}{status}: {message}", alike.verdict)
}

fn tried(drawn: &Drawn, before: Option<&str>) -> String {
    let before = before.map_or_else(String::new, |rule| format!(", if it stands before {}", escape_unprintable(rule)));
    let caught = match drawn.caught {
        1 => "the 1 message".to_owned(),
        all => format!("all {} messages", count(all as u64)),
    };
    let spared = match drawn.spared {
        0 => "; no other failed".to_owned(),
        1 => " and not the 1 other".to_owned(),
        others => format!(" and none of {} others", count(others as u64)),
    };
    format!("catches {caught} tried{spared}{before}:")
}

fn undrawn(why: &Undrawn) -> String {
    match why {
        Undrawn::NothingToAsk => "none: these failures say nothing that a rule could ask".to_owned(),
        Undrawn::Redacted => "none: all that these failures say is redacted".to_owned(),
        Undrawn::CatchesAlso(form) => {
            format!("none: whatever catches these also catches `{}`", fitted(form, 80))
        }
        Undrawn::NoValidRule => "none: what these have in common is no valid condition".to_owned(),
    }
}
