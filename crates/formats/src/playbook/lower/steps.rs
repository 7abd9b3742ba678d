//! The `steps` of an action.

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::schema::At;
use crate::yaml::shorten;
use playproof_engine::glob::is_glob;
use playproof_engine::playbook::Step;

/// The steps written at `at`.
pub(super) fn steps(at: At<'_>) -> Option<Vec<Step>> {
    let mut ids: Vec<(&str, Range<usize>)> = Vec::new();
    at.all(|item| step(item, &mut ids))
}

fn step<'a>(at: At<'a>, ids: &mut Vec<(&'a str, Range<usize>)>) -> Option<Step> {
    let tool = at.get("tool").and_then(tool);
    let id = at.get("id").and_then(At::key)?;
    if let Some((_, first)) = ids.iter().find(|(known, _)| *known == id.text) {
        let message = format!("two steps are called `{}`", shorten(id.text));
        let said = Diagnostic::error("duplicate_name", message);
        at.report(said.at(id.span, "again here").at(first.clone(), "first here"));
        return None;
    }
    ids.push((id.text, id.span));
    Some(Step { name: id.text.into(), tool: tool?.into(), never_idempotent: at.get("idempotent").is_some() })
}

fn tool(at: At<'_>) -> Option<&str> {
    let name = at.text()?;
    if is_glob(name) {
        let message = format!("a step has one tool, and `{}` is a glob", shorten(name));
        at.wrong("glob_as_body", message, "not the name of a tool");
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use crate::playbook::tests::{LEAST, errors_of, loaded};
    use crate::playbook::{fingerprint, rows};

    const STEPS: &str = "\
actions:
  ship:
    inputs: { required: [pr] }
    steps: [ { id: find, tool: github.find }, { id: post, tool: slack.post, idempotent: false } ]
  other: { steps: [ { id: find, tool: github.find } ] }
";

    fn wrong(parts: &str) -> Vec<String> {
        errors_of(&format!("{LEAST}{parts}\n"))
    }

    fn texts(parts: &str) -> Vec<String> {
        let all = rows(&loaded(parts).playbook).into_iter().filter(|row| row.name.starts_with("action"));
        all.map(|row| format!("{} {}", row.name, row.text)).collect()
    }

    #[test]
    fn steps_are_in_the_order_of_the_file_and_may_share_tools() {
        assert_eq!(
            texts(STEPS),
            [
                r#"action other {"steps":[{"id":"find","tool":"github.find"}]}"#,
                "action ship {\"inputs\":{\"required\":[\"pr\"],\"type\":[\"object\"]},\
                 \"steps\":[{\"id\":\"find\",\"tool\":\"github.find\"},\
                 {\"id\":\"post\",\"idempotent\":false,\"tool\":\"slack.post\"}]}",
            ]
        );
    }

    #[test]
    fn each_part_of_a_step_is_in_the_fingerprint() {
        let print = |parts: &str| fingerprint(&loaded(parts).playbook);
        for (from, to) in [
            ("id: post", "id: say"),
            ("slack.post", "slack.say"),
            (", idempotent: false", ""),
            ("{ id: find, tool: github.find }, { id: post", "{ id: post"),
        ] {
            assert!(STEPS.contains(from), "{from}");
            assert_ne!(print(STEPS), print(&STEPS.replace(from, to)), "{to}");
        }
    }

    #[test]
    fn each_wrong_step_is_underlined() {
        for (steps, id, underlined) in [
            ("{ a: { steps: [] } }", "empty_list", "[]"),
            ("{ a: { steps: { id: x } } }", "wrong_type", "{ id: x }"),
            ("{ a: { steps: [ { id: x } ] } }", "missing_key", "{ id: x }"),
            ("{ a: { steps: [ { tool: t } ] } }", "missing_key", "{ tool: t }"),
            ("{ a: { steps: [ { id: x y, tool: t } ] } }", "bad_name", "x y"),
            ("{ a: { steps: [ { id: x, tool: t, tol: u } ] } }", "unknown_key", "tol"),
            ("{ a: { steps: [ { id: x, tool: 't.*' } ] } }", "glob_as_body", "'t.*'"),
            ("{ a: { steps: [ { id: x, tool: t, idempotent: true } ] } }", "wrong_type", "true"),
            ("{ a: { steps: [ { id: x, tool: t, idempotent: 1 } ] } }", "wrong_type", "1"),
            ("{ a: { steps: [ { id: x, tool: t }, { id: x, tool: u } ] } }", "duplicate_name", "x|x"),
            ("{ a: { tool: t, steps: [ { id: x, tool: u } ] } }", "several_chosen", "tool|steps"),
            ("{ a: { steps: [ { id: x, tool: b } ] }, b: { steps: [ { id: x, tool: u } ] } }", "nested_steps", "b"),
            ("{ a: { steps: [ { id: x, tool: a } ] } }", "nested_steps", "a"),
            ("{ a: { steps: [ { id: x, tool: u } ] }, b: { tool: a } }", "tool_of_two_actions", "a|a"),
        ] {
            assert_eq!(wrong(&format!("actions: {steps}")), [format!("{id}: {underlined}")], "{steps}");
        }
    }

    #[test]
    fn a_changed_step_has_the_place_of_that_step() {
        let (before, after) = (loaded(STEPS), loaded(&STEPS.replace(", idempotent: false", "")));
        let text = |of: &crate::playbook::Loaded| {
            rows(&of.playbook).into_iter().find(|row| row.name == "action ship").map(|row| row.text.clone())
        };
        let change =
            crate::golden::RowChange { name: "action ship".to_owned(), before: text(&before), after: text(&after) };
        let parts = change.parts();
        let paths: Vec<(&str, Option<&str>)> =
            parts.iter().map(|part| (part.path.as_str(), part.before.as_deref())).collect();
        assert_eq!(paths, [("steps.post.idempotent", Some("false"))]);
        let place = after.places.row(&after.playbook, "action ship", "steps.post.idempotent").unwrap();
        assert_eq!(&after.places.source.text[place], "{ id: post, tool: slack.post }");
        let whole = after.places.row(&after.playbook, "action ship", "steps").unwrap();
        assert!(after.places.source.text[whole].starts_with("[ { id: find"), "steps that come or go");
    }

    #[test]
    fn several_wrong_steps_are_underlined_at_once() {
        let found = wrong("actions: { a: { steps: [ { id: x }, { id: y, tool: '*' } ] }, b: { steps: [] } }");
        assert_eq!(found, ["missing_key: { id: x }", "glob_as_body: '*'", "empty_list: []"]);
        let found = wrong("actions: { a: { tool: t, steps: [ { id: x }, { id: y, tool: '*' } ] } }");
        let both = "several_chosen: tool|steps";
        assert_eq!(found, [both, "missing_key: { id: x }", "glob_as_body: '*'"], "a tool beside them hides nothing");
    }
}
