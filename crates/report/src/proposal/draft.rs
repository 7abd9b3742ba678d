//! The texts of a draft: its decision record with placeholders for its author, the titles of its fixtures, and notes.

use crate::text::{counted, escape_unprintable, fitted, markdown, markdown_code};
use playproof_analysis::proposal::{
    Draft, DraftEvidence, EvidenceSource, GOLDENS, Note, PARTS, PLACEHOLDER, Title, VerdictChange, WhySynthetic,
    golden_line,
};
use playproof_engine::playbook::UNCLASSIFIED;

/// The width of a message in the decision record.
const MESSAGE: usize = 300;

/// The width of a quotation in a title.
const TITLE: usize = 120;

/// The text of `adr.md`.
pub fn adr(draft: &Draft, evidence: Option<&DraftEvidence>) -> String {
    let (title, why) = match &draft.change {
        VerdictChange::Added { .. } => ("The verdict", "what goes wrong with the verdict that they get today -->"),
        VerdictChange::Changed(parts) if parts.is_empty() => (
            "A rule for the verdict",
            "what goes wrong with the verdict that they get today, and why this one fits them -->",
        ),
        VerdictChange::Changed(_) => ("A change of the verdict", "what goes wrong with the verdict as it is today -->"),
    };
    let asks = [
        "what these failures have in common, how many there are, and where they were seen -->",
        "one of them, or the place where such a failure is documented -->",
        why,
        "what the playbook does from now on, who notices, and what becomes harder -->",
    ];
    let [ask_pattern, ask_example, ask_why, ask_consequences] = asks.map(|ask| format!("{PLACEHOLDER} {ask}"));
    let bodies = [
        evidence.map_or(ask_pattern, pattern),
        evidence.map_or(ask_example, examples),
        evidence.map_or(ask_why.clone(), |evidence| format!("{}\n\n{ask_why}", today(evidence))),
        ask_consequences,
    ];
    let parts: Vec<String> = PARTS.iter().zip(bodies).map(|(part, body)| format!("\n## {part}\n\n{body}\n")).collect();
    format!("# {title} `{}`\n{}{}", draft.verdict, parts.concat(), goldens(draft))
}

/// The goldens that change, each with the worst that may change in it; nothing without one.
fn goldens(draft: &Draft) -> String {
    let lines: Vec<String> = draft.expect.iter().map(|(id, class)| golden_line(&id.to_string(), *class)).collect();
    if lines.is_empty() { String::new() } else { format!("\n## {GOLDENS}\n\n{}\n", lines.join("\n")) }
}

/// The words by which a decision record names the kept call that it is from.
pub fn kept_as(id: &str) -> String {
    format!("kept as {}", markdown_code(id))
}

/// What the failures have in common, how many there are, and where.
fn pattern(evidence: &DraftEvidence) -> String {
    let cluster = &evidence.cluster;
    match &evidence.origin {
        EvidenceSource::Kept { id, came_from, note, .. } => {
            let seen = format!("Seen in {}, call {}", markdown_code(&came_from.trace), markdown_code(&came_from.call));
            format!("{seen} ({}): {}", kept_as(id), markdown(note))
        }
        EvidenceSource::Mined { traces, failures } => {
            let files: Vec<String> =
                traces.iter().map(|path| markdown_code(path.rsplit('/').next().unwrap_or(path))).collect();
            let tools = cluster.tools.rows();
            let tools: Vec<String> =
                tools.iter().map(|(tool, count)| format!("{} ({count})", markdown_code(tool))).collect();
            format!(
                "{} of {} recorded in {} have this template, {} of them on writes:\n\n- {}\n\nTools: {}.",
                cluster.failures,
                counted(*failures, "failed attempt", "failed attempts"),
                files.join(", "),
                cluster.writes,
                markdown_code(if cluster.template.is_empty() { "(no message)" } else { &cluster.template }),
                tools.join(", ")
            )
        }
    }
}

/// Some of the failures.
fn examples(evidence: &DraftEvidence) -> String {
    let example = |tool: &str, message: Option<&str>| {
        let message = markdown_code(&fitted(message.unwrap_or("(no message)"), MESSAGE));
        format!("- {}: {message}", markdown_code(tool))
    };
    let all = &evidence.cluster.examples;
    match &evidence.origin {
        EvidenceSource::Kept { call, .. } => {
            example(call.tool(), all.first().and_then(|first| first.message.as_deref()))
        }
        EvidenceSource::Mined { .. } => {
            let all: Vec<String> = all.iter().map(|one| example(&one.tool, one.message.as_deref())).collect();
            all.join("\n")
        }
    }
}

/// The verdict and compensation of the failures today.
fn today(evidence: &DraftEvidence) -> String {
    let verdict = &evidence.cluster.verdict;
    let meaning = match &evidence.origin {
        _ if verdict == UNCLASSIFIED => "no rule matches them",
        EvidenceSource::Kept { .. } => "it is not the expected one",
        EvidenceSource::Mined { .. } => "it does not help",
    };
    let then = evidence.compensation.unwrap_or("nothing");
    format!("Today they get the verdict `{verdict}` ({meaning}), with the compensation `{then}`.")
}

/// The title of a fixture.
pub fn title(title: &Title) -> String {
    match title {
        Title::Text(text) => text.clone(),
        Title::Hides { of, acted: true } => format!("{}; it acted", self::title(of)),
        Title::Hides { of, acted: false } => format!("{}; it did nothing", self::title(of)),
        Title::Note(note) => escape_unprintable(&fitted(note, TITLE)).into_owned(),
        Title::Says { tool, message } => {
            let message = fitted(message.as_deref().unwrap_or("nothing"), TITLE);
            escape_unprintable(&format!("{tool} says: {message}")).into_owned()
        }
        Title::MadeUp { verdict, why } => {
            let why =
                why.as_ref().map_or_else(String::new, |why| format!("synthetic, because {}: ", why_synthetic(why)));
            format!("write this - {why}a failure that looks like {verdict} but is not")
        }
    }
}

/// Why a look-alike is synthetic.
fn why_synthetic(why: &WhySynthetic) -> String {
    match why {
        WhySynthetic::NoOther => "no other failure was recorded".to_owned(),
        WhySynthetic::AllCaught(verdict) => format!("every other recorded failure that was tried gets `{verdict}` too"),
    }
}

/// A note for the author of a draft, in a line.
pub fn note(note: &Note) -> String {
    match note {
        Note::AnotherPlaybook { kept, about, playbook } => {
            format!("{kept} is about `{about}`, which the project cannot change: this proposal is for `{playbook}`")
        }
        Note::NearVerdict { verdict, playbook, near } => {
            format!("`{verdict}` is a new verdict; did you mean `{near}` of {playbook}?")
        }
        Note::AddsQueue(queue) => format!("it adds the queue `{queue}`, which --then names"),
        Note::EscalatesTo(queue) => format!("neither --then nor --like was given: the verdict escalates to `{queue}`"),
        Note::VerdictThere { playbook, verdict, rule, keys } => {
            let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            let changes = match (rule, keys.as_slice()) {
                (Some(rule), []) => format!("adds the rule `{rule}` for it"),
                (Some(rule), keys) => format!("adds the rule `{rule}` for it, and changes its {}", keys.join(", ")),
                (None, keys) => format!("changes its {}", keys.join(", ")),
            };
            format!("{}: this {changes}", verdict_there(playbook, verdict))
        }
        Note::RuleBefore(rule) => {
            format!("the rule goes before `{rule}`, which would otherwise catch all its failures")
        }
        Note::LookAlikeChanges(id, class) => {
            format!("{id}, an earlier look-alike, now gets the verdict: the decision record names its golden ({class})")
        }
        Note::LookAlikeMadeUp(why) => {
            format!("{}: the look-alike is synthetic: write its title", why_synthetic(why))
        }
        Note::RefusedAtGate { tool, playbook } => format!(
            "the graph of {playbook} refuses `{tool}`, and no calls are known that lead to it, so that the fixture shows \
             nothing of the failure: write the calls before it by hand, or give the tool an action that a run can reach"
        ),
        Note::KeptAlone => "(`--trace FILE` may find a recorded one)".to_owned(),
        Note::ExpectsAnother { kept, expected, verdict } => {
            format!("{kept} expects `{expected}`, not `{verdict}`: accepting this does not answer it")
        }
    }
}

/// That a playbook has the verdict already.
pub fn verdict_there(playbook: &str, verdict: &str) -> String {
    format!("{playbook} has the verdict `{verdict}` already")
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_analysis::proposal::incomplete;
    use playproof_formats::diagnostic::Source;

    #[test]
    fn a_record_without_evidence_has_a_placeholder_in_every_part() {
        let change = VerdictChange::Changed(Vec::new());
        let draft = Draft {
            playbook: "ours".into(),
            verdict: "slow".into(),
            queues: Vec::new(),
            change,
            rule: None,
            expect: Vec::new(),
        };
        let unwritten = incomplete(&Source::whole("adr.md", adr(&draft, None)));
        assert_eq!(unwritten.iter().map(|said| said.id).collect::<Vec<_>>(), ["adr_part_unwritten"; 4]);
    }

    #[test]
    fn a_title_has_no_character_that_a_terminal_obeys_and_a_bounded_length() {
        let says = |message: &str| title(&Title::Says { tool: "pay".into(), message: Some(message.into()) });
        assert_eq!(says("no \u{1b}[31m"), "pay says: no \\u{1b}[31m");
        assert_eq!(says(&"x".repeat(500)).chars().count(), "pay says: ".len() + TITLE);
    }
}
