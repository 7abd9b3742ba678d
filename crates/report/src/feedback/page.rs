//! Feedback for people: a list in columns, and the head of one feedback in full.

use crate::block::Style;
use crate::style::Palette;
use crate::table;
use crate::table::Align;
use crate::text::{broken, counted, escape_unprintable};
use playproof_analysis::feedback::{Ending, Feedback, FeedbackState, JudgedFeedback};
use playproof_engine::playbook::Playbook;

/// The cell without a value.
const NOTHING: &str = "-";

/// The width of the column with labels.
const LABEL: usize = 12;

/// The list, without a line break at its end; `closed` is the number of closed ones that are not listed.
pub fn page(all: &[JudgedFeedback], closed: usize, width: usize, palette: Palette) -> String {
    let mut blocks: Vec<String> = Vec::new();
    for shown in all {
        let feedback = &shown.kept.feedback;
        let mut lines = vec![format!("{}  {}", state(shown.state, palette), palette.strong(&shown.kept.id))];
        let reason = feedback.closed.as_ref().map(|reason| format!("closed: {}", escape_unprintable(reason)));
        for said in [verdicts(shown), escape_unprintable(&feedback.note).into_owned()].into_iter().chain(reason) {
            lines.extend(
                broken(&said, width.saturating_sub(10).max(20)).into_iter().map(|line| format!("{:10}{line}", "")),
            );
        }
        blocks.push(lines.join("\n"));
    }
    let count = |state: FeedbackState| all.iter().filter(|shown| shown.state == state).count();
    let mut counts = format!("{} open, {} answered", count(FeedbackState::Open), count(FeedbackState::Answered));
    match (count(FeedbackState::Closed), closed) {
        (0, 0) => {}
        (0, hidden) => counts += &format!(", {hidden} closed (`--all` lists them)"),
        (shown, _) => counts += &format!(", {shown} closed"),
    }
    blocks.push(counts);
    blocks.join("\n")
}

fn verdicts(shown: &JudgedFeedback) -> String {
    let (tool, verdict) = (escape_unprintable(shown.tool()), shown.verdict().unwrap_or("none"));
    match (shown.state, shown.rule(), &shown.kept.feedback.expected) {
        (FeedbackState::Answered, Some(rule), _) => {
            format!("{tool}: verdict {verdict} by the rule {rule}, as expected")
        }
        (_, _, expected) => {
            format!("{tool}: verdict {verdict}, expected {}", expected.as_deref().unwrap_or("not given"))
        }
    }
}

fn state(state: FeedbackState, palette: Palette) -> String {
    let word = format!("{:8}", state.as_str());
    match state {
        FeedbackState::Open => palette.doubtful(&word),
        FeedbackState::Answered => palette.good(&word),
        FeedbackState::Closed => palette.faint(&word),
    }
}

/// What the playbook of this name made of the call, and what is expected, in a sentence.
pub fn expectation(feedback: &Feedback, playbook: &Playbook, name: &str) -> String {
    let got = feedback.before.failed.as_ref().map_or_else(
        || format!("it ended {}", feedback.before.outcome),
        |failed| format!("{name} gave it {}", failed.verdict),
    );
    let Some(expected) = &feedback.expected else { return format!("{got}; no expected verdict is given") };
    let is_new = feedback.expects_new(playbook);
    let new = if is_new { format!(", which {name} does not have yet") } else { String::new() };
    format!("{got}; expected is {expected}{new}")
}

/// The head of one feedback: note, expectation, and how the call ended then and now.
pub fn head(shown: &JudgedFeedback, now: &Ending, slice: &str, is_new: bool, style: Style) -> String {
    let Style { width, palette, .. } = style;
    let feedback = &shown.kept.feedback;
    let from = &feedback.came_from;
    let expected = match &feedback.expected {
        None => "not given".to_owned(),
        Some(expected) if is_new => format!("{expected}, which {} does not have yet", feedback.playbook),
        Some(expected) => expected.clone(),
    };
    let mut rows = vec![("note", feedback.note.clone())];
    rows.extend(feedback.closed.clone().map(|reason| ("closed", reason)));
    rows.extend([
        ("expected", expected),
        ("came from", format!("{}:{}, call {}", from.trace, from.line, from.call)),
        ("slice", format!("{slice}, {}", counted(shown.kept.calls.len() as u64, "call", "calls"))),
        ("playbook", feedback.playbook.clone()),
    ]);
    let mut lines = vec![format!("{}  {}", palette.strong(&shown.kept.id), state(shown.state, palette).trim_end())];
    for (label, said) in rows {
        for (n, line) in
            broken(&escape_unprintable(&said), width.saturating_sub(LABEL + 2).max(20)).into_iter().enumerate()
        {
            lines.push(format!("  {:LABEL$}{line}", if n == 0 { label } else { "" }));
        }
    }
    lines.push(String::new());
    let header = ["", "when it was kept", "now"].map(str::to_owned);
    let drawn = table::render(&header, &differences(&feedback.before, now), &[Align::Left; 3], width.saturating_sub(2));
    lines.extend(drawn.lines().map(|line| format!("  {line}").trim_end().to_owned()));
    lines.join("\n")
}

fn differences(before: &Ending, now: &Ending) -> Vec<Vec<String>> {
    let failed = |ending: &Ending| match &ending.failed {
        Some(failed) => [failed.verdict.clone(), failed.rule.clone(), failed.compensation.clone()],
        None => [NOTHING; 3].map(str::to_owned),
    };
    let ([verdict, rule, then], [verdict_now, rule_now, then_now]) = (failed(before), failed(now));
    let rows = [
        ("verdict", verdict, verdict_now),
        ("rule", rule, rule_now),
        ("compensation", then, then_now),
        ("outcome", before.outcome.clone(), now.outcome.clone()),
        ("effect", before.effect.clone(), now.effect.clone()),
        ("attempts", before.attempts.to_string(), now.attempts.to_string()),
    ];
    let cell = |text: &str| escape_unprintable(text).into_owned();
    rows.iter().map(|(label, before, now)| vec![(*label).to_owned(), cell(before), cell(now)]).collect()
}
