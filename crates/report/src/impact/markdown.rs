//! A comparison for a pull request: nothing of a trace is markup in it.

use super::page::{left_out, lines};
use super::words::{self, ImpactPage};
use crate::overview;
use crate::style::Palette;
use crate::table;
use crate::table::Align;
use crate::text::{count, markdown as escaped, markdown_block, markdown_code};

/// The comparison as Markdown, ending without a line break.
pub fn markdown(shown: &ImpactPage<'_>) -> String {
    let impact = shown.impact;
    let (base, candidate) = (markdown_code(&impact.base.playbook), markdown_code(&impact.candidate.playbook));
    let mut parts = vec![
        format!("## What {candidate} changes against {base}"),
        format!("{}\n\n{}", escaped(&words::balance(impact)), escaped(&words::directions(impact))),
    ];
    let (refused, allowed) = words::gate(shown.gate, impact);
    if !refused.is_empty() {
        let list: Vec<String> = refused.iter().map(|said| format!("- {}", escaped(said))).collect();
        parts.push(format!("**Does not pass:**\n\n{}", list.join("\n")));
    } else if let Some(said) = words::undecided(shown.gate, impact) {
        parts.push(format!("**Does not pass:** {}", escaped(said)));
    }
    parts.extend(allowed.map(|said| escaped(&said)));
    parts.push(totals(shown));
    parts.extend(causes(shown));
    let (_, more) = shown.causes();
    parts.extend(left_out(impact, more).map(|said| escaped(&said)));
    parts.push(markdown_block(&overview::inputs(shown.replayed, shown.notes, 100, Palette::new(false))));
    parts.extend(shown.next.map(|next| format!("Next: {}", markdown_code(&next.to_string()))));
    parts.join("\n\n")
}

fn totals(shown: &ImpactPage<'_>) -> String {
    let impact = shown.impact;
    let header = [
        String::new(),
        markdown_code(&impact.base.playbook),
        markdown_code(&impact.candidate.playbook),
        "more".to_owned(),
        "fewer".to_owned(),
    ];
    let rows: Vec<Vec<String>> = lines(impact)
        .iter()
        .map(|line| [vec![escaped(line.label.trim_start())], line.cells.to_vec()].concat())
        .collect();
    table::markdown(&header, &rows, &[Align::Left, Align::Right, Align::Right, Align::Right, Align::Right])
}

fn causes(shown: &ImpactPage<'_>) -> Option<String> {
    let (causes, _) = shown.causes();
    let header = ["direction", "calls", "cause", "tools", "differ in", "load", "smallest example"].map(str::to_owned);
    let rows: Vec<Vec<String>> = causes
        .iter()
        .map(|row| {
            let undetermined = match row.undetermined {
                0 => String::new(),
                calls => format!(", {} undetermined", count(calls)),
            };
            let following = match row.following {
                0 => String::new(),
                calls => format!(", {} of them following from another", count(calls)),
            };
            let example = row.example.as_ref().map_or_else(String::new, |example| {
                let ends = format!(": {} → {}", words::end(&example.base), words::end(&example.candidate));
                format!("{}{}", markdown_code(&example.reference), escaped(&ends))
            });
            vec![
                row.direction.as_str().to_owned(),
                format!("{}{following}{undetermined}", count(row.calls)),
                escaped(&words::cause(&row.cause)),
                escaped(&words::tools(&row.tools)),
                escaped(&words::changes(row)),
                escaped(&words::load(row)),
                example,
            ]
        })
        .collect();
    let aligns = [Align::Left, Align::Right, Align::Left, Align::Left, Align::Left, Align::Left, Align::Left];
    (!rows.is_empty()).then(|| table::markdown(&header, &rows, &aligns))
}
