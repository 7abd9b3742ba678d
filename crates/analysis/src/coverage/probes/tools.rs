//! Calls of the tools that the playbook itself declares, each in every shape that can make a difference.

use super::all::Probing;
use crate::coverage::prefix::resends;
use crate::coverage::shape::Shape;
use crate::coverage::story;
use crate::coverage::story::Story;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::ToolRow;
use playproof_formats::playbook::example_texts;

/// More rows than this are tried with one failure each.
const MOST_TRIED: usize = 40;

pub(super) fn add(probing: &mut Probing<'_>) {
    let plan = probing.kit.plan;
    let rows = plan.playbook.tools.rows();
    let mut stories = Vec::new();
    for (n, row) in rows.iter().enumerate() {
        for keyed in [false, true] {
            stories.extend(of_row(probing, row, keyed, n < MOST_TRIED));
        }
    }
    for (name, story) in stories {
        probing.add(name, story);
    }
}

fn of_row(probing: &Probing<'_>, row: &ToolRow, keyed: bool, thoroughly: bool) -> Vec<(String, Story)> {
    let kit = &probing.kit;
    let tool = example_texts::of_glob(&row.pattern);
    let shape = Shape { access: row.facts.access, idempotent: row.facts.idempotent, keyed, token: false };
    let count = kit.plan.playbook.verdicts.len();
    let able = (0..).map(VerdictId).take(count).filter(|&id| resends(&kit.plan.playbook.verdict(id).then));
    let mut stories = Vec::new();
    for id in able.take(if thoroughly { 3 } else { 1 }) {
        let verdict = &kit.plan.playbook.verdict(id).name;
        let Some(made) = kit.failure(id, shape, 1, Some(&tool)) else { continue };
        let failure = story::failure(kit, made, shape, 1, &tool);
        let title = format!("{verdict} on a {} call of {tool}", if keyed { "keyed" } else { "unkeyed" });
        let story = Story::of_declared(title, shape, &tool).answered([failure, story::ok()]).refreshed([story::ok()]);
        let name = format!("{verdict}-on-{}-call-of-{}", if keyed { "a-keyed" } else { "an-unkeyed" }, slug(&tool));
        stories.push((name.clone(), story.clone()));
        if thoroughly {
            stories.push((format!("{name}-twice"), story.twice()));
        }
    }
    let title = format!("The answer of {tool} never comes");
    let silent = Story::of_declared(title, shape, &tool).answered([story::lost(), story::ok()]);
    stories.push((format!("{}-does-not-answer{}", slug(&tool), if keyed { "-a-keyed-call" } else { "" }), silent));
    stories
}

/// The tool's name as part of a file's name.
fn slug(tool: &str) -> String {
    tool.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '-' }).collect()
}
