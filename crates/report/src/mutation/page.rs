//! The page for people: counts, survivors with fixtures that reveal them, and stale entries.

use crate::doc::{Block, Doc, Item, Text, Tone};
use crate::style::Extent;
use crate::text::{count, counted};
use playproof_analysis::mutation::{Accepted, Judgement, MutantResult, MutationReport};
use playproof_formats::diagnostic::{Diagnostic, Report};
use playproof_formats::shell::Command;

/// The number of fixture texts shown by default.
const TEXTS_SHOWN: usize = 3;

/// The page of one playbook. `command` is the current command, for the hint how to see more.
pub fn page(report: &MutationReport, extent: Extent, command: &Command) -> Doc {
    let section = |title: &str, inside| Block::section("", title, inside);
    let mut blocks = head(report);
    blocks.push(section("Survived: no fixture shows the change", survivors(report, extent, command)));
    if extent == Extent::All {
        let accepted = report.mutants.iter().filter_map(|mutant| match &mutant.judgement {
            Judgement::Accepted { why, .. } => Some(Item { said: named(mutant), below: vec![(&**why).into()] }),
            Judgement::Caught(_) | Judgement::NotJudged | Judgement::NotShown | Judgement::Survived { .. } => None,
        });
        blocks.push(section("Accepted", vec![Block::List(accepted.collect())]));
        let not_shown = report.mutants.iter().filter(|mutant| mutant.judgement == Judgement::NotShown);
        let title = "No synthetic fixture shows a difference (a bounded search, not a proof)";
        blocks.push(section(title, vec![Block::list(not_shown.map(named))]));
    }
    Doc::with("", blocks)
}

/// The stale entries with their places; none if there are none.
pub fn stale(report: &MutationReport, accepted: &Accepted) -> Option<Report> {
    let diagnostics: Vec<Diagnostic> = report
        .stale
        .iter()
        .map(|stale| {
            let message = format!("`{}` is accepted needlessly: {}", stale.mutant, stale.why);
            let said = Diagnostic::error("stale_mutant", message).at(stale.span.clone(), "stale");
            said.help("remove it from the list")
        })
        .collect();
    (!diagnostics.is_empty()).then(|| Report { source: accepted.source.clone(), diagnostics })
}

fn head(report: &MutationReport) -> Vec<Block> {
    let total =
        |is: fn(&Judgement) -> bool| report.mutants.iter().filter(|mutant| is(&mutant.judgement)).count() as u64;
    let caught = total(|judgement| matches!(judgement, Judgement::Caught(_)));
    let accepted = total(|judgement| matches!(judgement, Judgement::Accepted { .. }));
    let not_shown = total(|judgement| matches!(judgement, Judgement::NotShown));
    let survived = total(|judgement| matches!(judgement, Judgement::Survived { .. }));
    let fixtures = counted(report.fixtures.len() as u64, "fixture", "fixtures");
    let mutants = counted(report.mutants.len() as u64, "mutant", "mutants");
    let runs = counted(report.runs as u64, "run", "runs");
    let tone = if survived == 0 { Tone::Good } else { Tone::Bad };
    let counts = Text::from(format!("{} caught, ", count(caught))).and(tone, format!("{} survived", count(survived)));
    let rest = format!(", {} accepted, {} without a difference found", count(accepted), count(not_shown));
    let counts = match report.not_judged() as u64 {
        0 => counts.say(rest),
        mutants => counts.say(rest + ", ").and(Tone::Doubt, format!("{} not judged", count(mutants))),
    };
    vec![Block::list([Text::code(&report.playbook).say(format!(": {mutants} under {fixtures} ({runs})")), counts])]
}

fn named(mutant: &MutantResult) -> Text {
    Text::code(&mutant.id).say(format!(": {}", mutant.what))
}

fn survivors(report: &MutationReport, extent: Extent, command: &Command) -> Vec<Block> {
    let most = if extent == Extent::All { usize::MAX } else { TEXTS_SHOWN };
    let shown = report.survivors().take(most).map(|(mutant, shown_by)| {
        let note = Text::from("this fixture would show it: ").name(format!("{}.yaml", shown_by.name));
        let title = Text::new(Tone::Bad, &*mutant.id).say(format!(": {}", mutant.what));
        Block::card(title, vec![Block::folded(note, vec![Block::Lines(shown_by.text.clone())])])
    });
    let mut blocks: Vec<Block> = shown.collect();
    let rest: Vec<Text> = report.survivors().skip(most).map(|(mutant, _)| named(mutant)).collect();
    if !rest.is_empty() {
        blocks.extend([Block::list(rest), Block::Lines(format!("what would show these: {command} --all"))]);
    }
    blocks
}
