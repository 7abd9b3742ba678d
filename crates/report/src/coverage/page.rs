//! The page of coverage: totals by kind, the grid of cells, what is missing, and fixtures that would add it.

use super::grid::grid;
use super::lines::lines;
use crate::doc::{Block, Doc, Table, Text, Tone};
use crate::style::Extent;
use crate::text::counted;
use playproof_explore::coverage::{CoverageReport, Suggestion, TargetKind, TargetResult, TargetState};
use playproof_formats::diagnostic::Source;
use playproof_formats::shell::Command;

/// The most suggested fixtures that are shown, and how many there are by default.
const SUGGESTED: [usize; 2] = [40, 2];

/// What stands before the lines of the playbook.
const LINES: &str = "Before a line: how many of the things that it declares fixtures exercise, of how many they can.";

/// What to do with suggested fixtures.
const REVIEW: &str = "each `expect` is what the playbook does now: review it before you keep it";

/// The page. `source` is the playbook's text, `more` the command that shows every suggestion, `write` the one that writes
/// them.
pub fn page(report: &CoverageReport, extent: Extent, source: &Source, [more, write]: [&Command; 2]) -> Doc {
    let (covered, coverable) = report.tally(None);
    let tone = if covered == coverable { Tone::Good } else { Tone::Strong };
    let said = Text::from(counted(report.fixtures.len() as u64, "fixture", "fixtures")).say(" cover ");
    let said = said.and(tone, percent(report)).say(format!(" ({covered} of {coverable})"));
    let section = |id: &str, title: &str, inside| Block::section(id, title, inside);
    let cannot = others(report, |state| match state {
        TargetState::Unreachable(why) => Some(why),
        TargetState::Covered(_) | TargetState::Reachable(_) | TargetState::Undecided => None,
    });
    let undecided = others(report, |state| (*state == TargetState::Undecided).then_some(""));
    let mut doc = Doc::new(Text::from("Coverage of ").name(&report.playbook));
    doc.blocks = vec![
        Block::Para(said),
        section("summary", "By kind", vec![Block::Table(totals(report))]),
        section("cells", "Verdicts in each cell", grid(report)),
        section("missing", "Not exercised", vec![Block::Table(missing(report))]),
        section("cannot", "Cannot be exercised", vec![Block::Table(cannot)]),
        section("undecided", "Undecided: no synthetic failure reaches it", vec![Block::Table(undecided)]),
    ];
    let all = counted(report.suggestions.len() as u64, "fixture", "fixtures");
    let would = format!("{all} would exercise the rest");
    doc.add(section("fixtures", &would, suggested(report, extent, [more, write])));
    let lines = vec![Block::Para(Text::new(Tone::Soft, LINES)), lines(report, source)];
    doc.add(Block::Room(vec![section("lines", "The playbook, line by line", lines)]));
    doc
}

/// Such as `68.2 %`.
pub fn percent(report: &CoverageReport) -> String {
    let permille = report.permille();
    format!("{}.{} %", permille / 10, permille % 10)
}

/// The totals of each kind.
fn totals(report: &CoverageReport) -> Table {
    let mut table = Table::numbers("", ["covered", "of", "cannot be"]);
    for group in TargetKind::ALL {
        let (covered, coverable) = report.tally(Some(group));
        let all = report.targets.iter().filter(|result| result.target.kind() == group).count();
        // `otherwise` counts as a rule here.
        let word = if group == TargetKind::Rules { "rules, otherwise" } else { group.as_str() };
        if all > 0 {
            let counts = [covered, coverable, all - coverable].map(|count| Text::from(count.to_string()));
            table.row(std::iter::once(word.into()).chain(counts).collect::<Vec<_>>());
        }
    }
    table
}

/// The targets that have a line of their own: cells are in the grid.
fn single(report: &CoverageReport) -> impl Iterator<Item = &TargetResult> {
    report.targets.iter().filter(|result| result.target.kind() != TargetKind::Cells)
}

/// The targets that fixtures could exercise and do not.
fn missing(report: &CoverageReport) -> Table {
    let mut table = Table::named(["what", "a fixture that would"]);
    for result in single(report) {
        if let TargetState::Reachable(place) = result.state {
            let by = report.suggestions.get(place).map_or("?", |suggestion| &suggestion.name);
            table.row([Text::code(&result.id), Text::code(by)]);
        }
    }
    table
}

fn others<'r>(report: &'r CoverageReport, why: impl Fn(&'r TargetState) -> Option<&'r str>) -> Table {
    let mut table = Table::named(["what", "why"]);
    for result in single(report) {
        if let Some(why) = why(&result.state) {
            table.row([Text::code(&result.id), why.into()]);
        }
    }
    table
}

fn suggested(report: &CoverageReport, extent: Extent, [more, write]: [&Command; 2]) -> Vec<Block> {
    let all = report.suggestions.as_slice();
    if all.is_empty() {
        return Vec::new();
    }
    let most = SUGGESTED[usize::from(extent == Extent::Some)];
    let mut said = vec![Block::Para(Text::new(Tone::Soft, REVIEW))];
    said.extend(all.iter().take(most).map(|suggestion| {
        let title = Text::code(format!("{}.yaml", suggestion.name)).say(" adds ");
        Block::folded(title.say(adds(report, suggestion)), vec![Block::Lines(suggestion.text.clone())])
    }));
    if all.len() > most {
        let hidden = format!("and {} more: {more} --all", all.len() - most);
        said.push(Block::Para(Text::new(Tone::Soft, hidden)));
    }
    said.push(Block::Room(vec![Block::Para(Text::from("This command writes all of them: ").name(write.to_string()))]));
    said
}

/// The targets that a suggested fixture adds.
fn adds(report: &CoverageReport, suggestion: &Suggestion) -> String {
    let places = suggestion.adds.iter();
    let adds: Vec<&str> =
        places.filter_map(|&place| report.targets.get(place)).map(|result| result.id.as_str()).collect();
    match adds.as_slice() {
        [first, second, _, _, ..] => format!("{first}, {second} and {} more", adds.len() - 2),
        few => few.join(", "),
    }
}
