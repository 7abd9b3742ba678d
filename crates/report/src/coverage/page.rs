//! The page for people: totals by kind, the grid of cells, what is missing, and fixtures that would add it.

use super::grid;
use crate::style::{Extent, Palette};
use crate::table;
use crate::table::Align;
use crate::text::{counted, escape_unprintable, fitted, wrapped};
use playproof_explore::coverage::{CoverageReport, Suggestion, TargetKind, TargetResult, TargetState};
use playproof_formats::shell::Command;

/// The number of fixture texts shown by default.
const TEXTS_SHOWN: usize = 2;

/// What to do with suggested fixtures.
pub(crate) const REVIEW: &str = "each `expect` is what the playbook does now: review it before you keep it";

/// The page, without a line break at its end. `command` is the current command, for the hint how to see more.
pub fn page(report: &CoverageReport, extent: Extent, width: usize, palette: Palette, command: &Command) -> String {
    let mut sections = vec![head(report, palette), totals(report, width)];
    sections.push(format!("{}\n{}", palette.strong("Verdicts in each cell"), grid::grid(report, palette)));
    sections.extend(missing(report, width, palette));
    sections.extend(others(report, "Cannot be exercised", width, palette, |state| match state {
        TargetState::Unreachable(why) => Some(why),
        _ => None,
    }));
    sections.extend(others(report, "Undecided: no synthetic failure reaches it", width, palette, |state| {
        (*state == TargetState::Undecided).then_some("")
    }));
    sections.extend(texts(report, extent, width, palette, command));
    sections.join("\n\n")
}

/// Such as `68.2 %`.
pub fn percent(report: &CoverageReport) -> String {
    let permille = report.permille();
    format!("{}.{} %", permille / 10, permille % 10)
}

fn head(report: &CoverageReport, palette: Palette) -> String {
    let (covered, coverable) = report.tally(None);
    let fixtures = counted(report.fixtures.len() as u64, "fixture", "fixtures");
    let percent = percent(report);
    let percent = if covered == coverable { palette.good(&percent) } else { palette.strong(&percent) };
    format!("{}: {fixtures} cover {percent} ({covered} of {coverable})", escape_unprintable(&report.playbook))
}

fn totals(report: &CoverageReport, width: usize) -> String {
    let header = ["", "covered", "of", "cannot be"].map(str::to_owned);
    table::render(&header, &totals_rows(report), &[Align::Left, Align::Right, Align::Right, Align::Right], width)
}

/// The totals of each kind: its name, covered, coverable, what cannot be exercised.
pub(crate) fn totals_rows(report: &CoverageReport) -> Vec<Vec<String>> {
    let rows = TargetKind::ALL.into_iter().filter_map(|group| {
        let (covered, coverable) = report.tally(Some(group));
        let all = report.targets.iter().filter(|result| result.target.kind() == group).count();
        // `otherwise` counts as a rule here.
        let word = if group == TargetKind::Rules { "rules, otherwise" } else { group.as_str() };
        let row = [word.to_owned(), covered.to_string(), coverable.to_string(), (all - coverable).to_string()];
        (all > 0).then(|| row.to_vec())
    });
    rows.collect()
}

/// Whether a target is a cell of the grid.
pub(crate) fn is_cell(result: &TargetResult) -> bool {
    result.target.kind() == TargetKind::Cells
}

/// The targets that fixtures could exercise and do not; cells are in the grid.
fn missing(report: &CoverageReport, width: usize, palette: Palette) -> Option<String> {
    let mut lines = vec![palette.strong("Not exercised")];
    for result in report.targets.iter().filter(|result| !is_cell(result)) {
        if let TargetState::Reachable(place) = result.state {
            let by = report.suggestions.get(place).map_or("?", |suggestion| &suggestion.name);
            let line = format!("  {}  by {by}", result.id);
            lines.push(fitted(&line, width).into_owned());
        }
    }
    (lines.len() > 1).then(|| lines.join("\n"))
}

fn others<'r>(
    report: &'r CoverageReport,
    title: &str,
    width: usize,
    palette: Palette,
    why: impl Fn(&'r TargetState) -> Option<&'r str>,
) -> Option<String> {
    let mut lines = vec![palette.strong(title)];
    for result in report.targets.iter().filter(|result| !is_cell(result)) {
        if let Some(why) = why(&result.state) {
            let line = if why.is_empty() { result.id.clone() } else { format!("{}: {why}", result.id) };
            lines.push(format!("  {}", fitted(&line, width.saturating_sub(2))));
        }
    }
    (lines.len() > 1).then(|| lines.join("\n"))
}

fn texts(report: &CoverageReport, extent: Extent, width: usize, palette: Palette, command: &Command) -> Vec<String> {
    let all = report.suggestions.len();
    if all == 0 {
        return Vec::new();
    }
    let shown = if extent == Extent::All { all } else { TEXTS_SHOWN.min(all) };
    let title = format!("{} would exercise the rest", counted(all as u64, "fixture", "fixtures"));
    let mut sections = vec![format!("{}\n({REVIEW})", palette.strong(&title))];
    sections.extend(report.suggestions.iter().take(shown).map(|suggestion| text(report, suggestion, width, palette)));
    if shown < all {
        let more = format!("... and {} more: {command} --all", all - shown);
        sections.push(palette.faint(&more));
    }
    sections
}

fn text(report: &CoverageReport, suggestion: &Suggestion, width: usize, palette: Palette) -> String {
    let head = format!("{}.yaml adds {}", escape_unprintable(&suggestion.name), adds(report, suggestion));
    let head = wrapped(&head, width.saturating_sub(2)).into_iter().map(|line| palette.faint(&format!("# {line}")));
    let head: String = head.collect::<Vec<_>>().join("\n");
    let body: Vec<String> = suggestion.text.lines().map(|line| escape_unprintable(line).into_owned()).collect();
    format!("{head}\n{}", body.join("\n"))
}

/// The targets that a suggested fixture adds.
pub(crate) fn adds(report: &CoverageReport, suggestion: &Suggestion) -> String {
    let places = suggestion.adds.iter();
    let adds: Vec<&str> =
        places.filter_map(|&place| report.targets.get(place)).map(|result| result.id.as_str()).collect();
    let listed = match adds.as_slice() {
        [first, second, _, _, ..] => format!("{first}, {second} and {} more", adds.len() - 2),
        few => few.join(", "),
    };
    escape_unprintable(&listed).into_owned()
}
