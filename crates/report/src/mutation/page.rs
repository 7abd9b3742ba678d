//! The page for people: counts, survivors with fixtures that reveal them, and stale entries.

use crate::style::{Extent, Palette};
use crate::text::{count, counted, escape_unprintable, wrapped};
use playproof_analysis::mutation::{Accepted, Judgement, MutantResult, MutationReport, RevealingFixture};
use playproof_formats::diagnostic::{Diagnostic, Report};
use playproof_formats::shell::Command;

/// The number of fixture texts shown by default.
const TEXTS_SHOWN: usize = 3;

/// The page of one playbook, without a line break at its end. `command` is the current command, for the hint how to
/// see more.
pub fn page(report: &MutationReport, extent: Extent, width: usize, palette: Palette, command: &Command) -> String {
    let mut sections = vec![head(report, palette)];
    sections.extend(survivors(report, extent, palette, command));
    if extent == Extent::All {
        sections.extend(accepted(report, width, palette));
        sections.extend(not_shown(report, width, palette));
    }
    sections.join("\n\n")
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

fn head(report: &MutationReport, palette: Palette) -> String {
    let total =
        |is: fn(&Judgement) -> bool| report.mutants.iter().filter(|mutant| is(&mutant.judgement)).count() as u64;
    let caught = total(|judgement| matches!(judgement, Judgement::Caught(_)));
    let accepted = total(|judgement| matches!(judgement, Judgement::Accepted { .. }));
    let not_shown = total(|judgement| matches!(judgement, Judgement::NotShown));
    let survived = total(|judgement| matches!(judgement, Judgement::Survived { .. }));
    let survived_words = format!("{} survived", count(survived));
    let survived = if survived == 0 { palette.good(&survived_words) } else { palette.bad(&survived_words) };
    let not_judged = match report.not_judged() as u64 {
        0 => String::new(),
        mutants => format!(", {}", palette.doubtful(&format!("{} not judged", count(mutants)))),
    };
    let fixtures = counted(report.fixtures.len() as u64, "fixture", "fixtures");
    let mutants = counted(report.mutants.len() as u64, "mutant", "mutants");
    format!(
        "{}: {mutants} under {fixtures} ({})\n{} caught, {survived}, {} accepted, {} without a difference found{not_judged}",
        escape_unprintable(&report.playbook),
        counted(report.runs as u64, "run", "runs"),
        count(caught),
        count(accepted),
        count(not_shown),
    )
}

fn survivors(report: &MutationReport, extent: Extent, palette: Palette, command: &Command) -> Vec<String> {
    let all: Vec<(&MutantResult, &RevealingFixture)> = report.survivors().collect();
    if all.is_empty() {
        return Vec::new();
    }
    let shown = if extent == Extent::All { all.len() } else { TEXTS_SHOWN.min(all.len()) };
    let mut sections = vec![palette.strong("Survived: no fixture shows the change")];
    sections.extend(all.iter().take(shown).map(|(mutant, shown_by)| survivor(mutant, shown_by, palette)));
    if shown < all.len() {
        let rest: Vec<String> = all
            .iter()
            .skip(shown)
            .map(|(mutant, _)| format!("{}: {}", escape_unprintable(&mutant.id), escape_unprintable(&mutant.what)))
            .collect();
        sections.push(format!(
            "{}\n{}",
            rest.join("\n"),
            palette.faint(&format!("what would show these: {command} --all"))
        ));
    }
    sections
}

fn survivor(mutant: &MutantResult, shown_by: &RevealingFixture, palette: Palette) -> String {
    let head = format!("{}: {}", palette.bad(&escape_unprintable(&mutant.id)), escape_unprintable(&mutant.what));
    let note = palette.faint(&format!("# this fixture would show it: {}.yaml", escape_unprintable(&shown_by.name)));
    let body: Vec<String> = shown_by.text.lines().map(|line| format!("  {}", escape_unprintable(line))).collect();
    format!("{head}\n  {note}\n{}", body.join("\n"))
}

fn accepted(report: &MutationReport, width: usize, palette: Palette) -> Option<String> {
    let mut lines = vec![palette.strong("Accepted")];
    for mutant in &report.mutants {
        if let Judgement::Accepted { why, .. } = &mutant.judgement {
            lines.push(format!("  {}: {}", escape_unprintable(&mutant.id), escape_unprintable(&mutant.what)));
            lines.extend(
                wrapped(&escape_unprintable(why), width.saturating_sub(4))
                    .into_iter()
                    .map(|line| format!("    {line}")),
            );
        }
    }
    (lines.len() > 1).then(|| lines.join("\n"))
}

fn not_shown(report: &MutationReport, width: usize, palette: Palette) -> Option<String> {
    let ids = report.mutants.iter().filter(|mutant| mutant.judgement == Judgement::NotShown);
    let ids: Vec<String> = ids
        .map(|mutant| format!("  {}: {}", escape_unprintable(&mutant.id), escape_unprintable(&mutant.what)))
        .collect();
    let title = "No synthetic fixture shows a difference (a bounded search, not a proof)";
    let lines: Vec<String> = ids.iter().flat_map(|line| wrapped(line, width)).collect();
    (!ids.is_empty()).then(|| format!("{}\n{}", palette.strong(title), lines.join("\n")))
}
