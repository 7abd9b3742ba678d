//! A draft of `actions` and `graph` as YAML for a playbook.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use playproof_analysis::graph::{Draft, DraftEdge};
use playproof_formats::text::escape_unprintable;
use playproof_formats::yaml::scalar;

/// The most characters of an action's name.
const LONGEST: usize = 90;

/// The two parts of a playbook. Names that no action can have are changed, and their tools written out.
pub fn yaml(draft: &Draft, source: &str) -> String {
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    let mut free = FreeNames::default();
    for action in &draft.actions {
        names.insert(&action.tool, free.take(&action_name(&action.tool)));
    }
    let name = |tool: &str| names.get(tool).map_or("?", |name| name.as_str());
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{words}"); // writing to a String cannot fail
    };
    let from = match draft.runs {
        Some(1) => " (1 run)".to_owned(),
        Some(runs) => format!(" ({runs} runs)"),
        None => String::new(),
    };
    let counts = if draft.runs.is_some() { " The comment says in how many runs it was seen." } else { "" };
    line(format_args!("# A draft from {}{from}: check each edge.{counts}", escape_unprintable(source)));
    line(format_args!(
        "# These are parts of a playbook: put `actions` and `graph` into one, beside its verdicts and rules."
    ));
    for (from, to, condition) in &draft.conditions {
        let condition = escape_unprintable(condition);
        line(format_args!("# condition dropped: {} -> {} only if {condition}", name(from), name(to)));
    }
    for (from, edge) in &draft.rare {
        let from = from.as_deref().map_or("(begin)", name);
        line(format_args!("# left out: {from} -> {}{}", name(&edge.tool), seen(edge)));
    }
    line(format_args!("actions:"));
    for action in &draft.actions {
        let own = name(&action.tool);
        let step = |(id, tool): &(String, String)| format!("{{ id: {}, tool: {} }}", scalar(id), scalar(tool));
        match own == action.tool {
            // The call of an action with steps is one of the action's own name.
            _ if !action.steps.is_empty() => {
                let steps: Vec<String> = action.steps.iter().map(step).collect();
                line(format_args!("  {}: {{ steps: [ {} ] }}", scalar(own), steps.join(", ")));
            }
            true => line(format_args!("  {}: {{}}", scalar(own))),
            false => line(format_args!("  {}: {{ tool: {} }}", scalar(own), scalar(&action.tool))),
        }
    }
    line(format_args!("graph:"));
    edges(&mut text, "  entry", &draft.entry, name);
    text.push_str("  next:\n");
    for action in &draft.actions {
        edges(&mut text, &format!("    {}", scalar(name(&action.tool))), &action.next, name);
    }
    text.push_str("  others: refuse\n");
    text
}

fn edges<'a>(text: &mut String, key: &str, edges: &[DraftEdge], name: impl Fn(&str) -> &'a str) {
    let indent = " ".repeat(key.len() - key.trim_start().len() + 2);
    let end = if edges.is_empty() { " []" } else { "" };
    let _ = writeln!(text, "{key}:{end}"); // as above
    for edge in edges {
        let _ = writeln!(text, "{indent}- {}{}", scalar(name(&edge.tool)), seen(edge)); // as above
    }
}

fn seen(edge: &DraftEdge) -> String {
    match edge.runs {
        None => String::new(),
        Some(1) => "   # 1 run".to_owned(),
        Some(runs) => format!("   # {runs} runs"),
    }
}

/// The tool's name with only what a name can have.
fn action_name(tool: &str) -> String {
    let fitted = |c: char| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '_' };
    let name: String = tool.chars().take(LONGEST).map(fitted).collect();
    if name.is_empty() { "action".to_owned() } else { name }
}

/// Gives names, each once.
#[derive(Debug, Default)]
struct FreeNames {
    taken: BTreeSet<String>,
    /// The last number that was given to a wanted name.
    last: BTreeMap<String, u32>,
}

impl FreeNames {
    /// The wanted name, or the first free one of `NAME-2`, `NAME-3` and so on, which is taken now.
    fn take(&mut self, wanted: &str) -> String {
        let last = self.last.entry(wanted.to_owned()).or_default();
        let name = loop {
            *last = last.saturating_add(1);
            let name = if *last == 1 { wanted.to_owned() } else { format!("{wanted}-{last}") };
            if *last == u32::MAX || !self.taken.contains(&name) {
                break name;
            }
        };
        self.taken.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_given_once() {
        let mut free = FreeNames::default();
        let given = ["a", "b", "a", "a-2", "a", "b"].map(|wanted| free.take(wanted));
        assert_eq!(given, ["a", "b", "a-2", "a-2-2", "a-3", "b-2"]);
    }
}
