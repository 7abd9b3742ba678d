//! A proposal as Markdown: a pull-request comment that the next run can find and replace.

use super::page::unchanged;
use super::row;
use crate::style::Palette;
use crate::table::markdown_row;
use crate::text::{counted, markdown as escaped, markdown_block, markdown_code};
use crate::verify::guarantees;
use playproof_analysis::proposal::{FixtureDiff, ProposalReport};

/// The first line: a job finds the comment of an earlier run by it.
pub const MARKER: &str = "<!-- playproof propose check -->";

/// GitHub refuses comments of more than 65,536 characters; some room is left for lines that a job adds.
const LONGEST: usize = 60_000;

/// The width of what is lost and what the rest rests on.
const WIDTH: usize = 100;

/// The page of all proposals.
pub fn markdown(all: &[ProposalReport]) -> String {
    let mut page = format!("{MARKER}\n### playproof propose check\n");
    for judged in all {
        one(&mut page, judged);
    }
    page
}

fn one(page: &mut String, judged: &ProposalReport) {
    let state = match judged.gates.len() {
        0 => "ready to accept".to_owned(),
        gates => counted(gates as u64, "reason against accepting it", "reasons against accepting it"),
    };
    *page += &format!("\n#### {} changes {}: {state}\n", markdown_code(&judged.id), markdown_code(&judged.playbook));
    let mut left = 0;
    if !judged.gates.is_empty() {
        *page += "\n| what | why | next |\n|---|---|---|\n";
    }
    for gate in &judged.gates {
        let said = gate.help.as_ref().map_or_else(|| gate.message.clone(), |help| format!("{}: {help}", gate.message));
        let row = [escaped(&gate.kind.to_string()), escaped(&said), markdown_code(&gate.next.to_string())];
        left += usize::from(!push(page, &row));
    }
    *page += "\n| row | before | after |\n|---|---|---|\n";
    for row in &judged.rows {
        let text =
            |text: &Option<String>| text.as_deref().map_or_else(String::new, |text| markdown_code(&row::row(text)));
        let row = [markdown_code(&row.name), text(&row.before), text(&row.after)];
        left += usize::from(!push(page, &row));
    }
    *page += "\n| fixture | difference | call | what | before | after |\n|---|---|---|---|---|---|\n";
    for diff in judged.shown() {
        for row in rows(diff) {
            left += usize::from(!push(page, &row));
        }
    }
    let plain = Palette::new(false);
    if let Some(said) = judged.guarantees.as_ref().and_then(|asked| guarantees(asked, WIDTH, plain)) {
        *page += &format!("\n{}\n", markdown_block(&said));
    }
    if left > 0 {
        *page += &format!("\n{} not shown.\n", counted(left as u64, "more line is", "more lines are"));
    }
    *page += &format!("\n{}.\n", unchanged(judged));
}

fn push(page: &mut String, row: &[String]) -> bool {
    let row = markdown_row(row) + "\n";
    let fits = page.len() + row.len() <= LONGEST;
    if fits {
        page.push_str(&row);
    }
    fits
}

fn rows(diff: &FixtureDiff) -> Vec<[String; 6]> {
    let class = match (diff.class(), diff.is_new) {
        (_, true) => "new fixture".to_owned(),
        (class, false) => class.map_or_else(String::new, |class| class.to_string()),
    };
    let mut rows = Vec::new();
    for (call, lines) in diff.facts() {
        for (label, before, after) in lines {
            let (fixture, class) = match rows.is_empty() {
                true => (markdown_code(&diff.id.to_string()), class.clone()),
                false => (String::new(), String::new()),
            };
            let call = if call.is_empty() { String::new() } else { markdown_code(call) };
            let (before, after) = (escaped(&before), escaped(&after));
            rows.push([fixture, class, call, label.to_owned(), before, after]);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_analysis::proposal::{GateKind, ProposalGate};
    use playproof_formats::golden::RowChange;

    #[test]
    fn rows_that_do_not_fit_are_counted() {
        let long = "x".repeat(LONGEST / 4);
        let row = RowChange { name: "rule a".into(), before: None, after: Some(long.clone()) };
        let gate =
            ProposalGate { kind: GateKind::Unwritten, message: long, help: None, next: "n".into(), report: None };
        let (id, playbook) = ("a".to_owned(), "p".to_owned());
        let judged = ProposalReport {
            id,
            playbook,
            rows: vec![row; 3],
            diffs: Vec::new(),
            guarantees: None,
            gates: vec![gate; 3],
        };
        let page = markdown(&[judged]);
        assert!(page.len() < LONGEST + 1_000 && page.contains("3 more lines are not shown."), "{}", page.len());
    }
}
