//! The `steps` of an action.

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::playbook::syntax;
use crate::yaml::{Cursor, MapReader, shorten};
use playproof_engine::glob::is_glob;
use playproof_engine::playbook::Step;

/// The places of a step and of its tool.
#[derive(Debug)]
pub(super) struct StepPlaces {
    pub step: Range<usize>,
    pub tool: Range<usize>,
}

/// The steps of an action that has no tool, with their places.
pub(super) fn steps(at: Cursor<'_>, action: &MapReader<'_>) -> Option<Vec<(Step, StepPlaces)>> {
    let steps = written(at);
    if let Some(tool) = action.optional("tool") {
        let said = Diagnostic::error("tool_and_steps", "an action has a `tool` or `steps`, not both");
        let help = "make the tool the first of the steps";
        at.report(said.at(tool.span(), "does it").at(at.span(), "do it too").help(help));
        return None;
    }
    steps
}

fn written(at: Cursor<'_>) -> Option<Vec<(Step, StepPlaces)>> {
    let items: Vec<Cursor<'_>> = at.list()?.collect();
    if items.is_empty() || items.len() > syntax::MOST_STEPS {
        let message = format!("an action has 1 to {} steps, not {}", syntax::MOST_STEPS, items.len());
        at.wrong("bad_steps", message, "leave `steps` out where a tool does it");
        return None;
    }
    let mut ids: Vec<(&str, Range<usize>)> = Vec::new();
    let steps: Vec<Option<(Step, StepPlaces)>> = items.into_iter().map(|item| step(item, &mut ids)).collect();
    steps.into_iter().collect()
}

fn step<'a>(at: Cursor<'a>, ids: &mut Vec<(&'a str, Range<usize>)>) -> Option<(Step, StepPlaces)> {
    let record = at.record("a step", syntax::STEP)?;
    let id = record.required("id").and_then(Cursor::name);
    let tool = record.required("tool").and_then(|at| Some((at.words()?, at)));
    let tool = tool.filter(|(name, at)| is_tool(name, *at));
    let never_idempotent = record.optional("idempotent").map_or(Some(false), |at| match at.bool()? {
        false => Some(true),
        true => {
            let message = "a step is at most as idempotent as its tool";
            let said = Diagnostic::error("stronger_step", message).at(at.span(), "only `false` changes something");
            at.report(said.help("say `idempotent: true` of the tool, if it is"));
            None
        }
    });
    let id = id?;
    if let Some((_, first)) = ids.iter().find(|(known, _)| *known == id.text) {
        let message = format!("two steps are called `{}`", shorten(id.text));
        let said = Diagnostic::error("duplicate_name", message);
        at.report(said.at(id.span, "again here").at(first.clone(), "first here"));
        return None;
    }
    ids.push((id.text, id.span));
    let (tool, place) = tool?;
    let never_idempotent = never_idempotent?;
    let places = StepPlaces { step: at.span(), tool: place.span() };
    Some((Step { name: id.text.into(), tool: tool.into(), never_idempotent }, places))
}

fn is_tool(name: &str, at: Cursor<'_>) -> bool {
    let is = !is_glob(name);
    if !is {
        let message = format!("a step has one tool, and `{}` is a glob", shorten(name));
        at.wrong("glob_as_body", message, "not the name of a tool");
    }
    is
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
            ("{ a: { steps: [] } }", "bad_steps", "[]"),
            ("{ a: { steps: { id: x } } }", "wrong_type", "{ id: x }"),
            ("{ a: { steps: [ { id: x } ] } }", "missing_key", "{ id: x }"),
            ("{ a: { steps: [ { tool: t } ] } }", "missing_key", "{ tool: t }"),
            ("{ a: { steps: [ { id: x y, tool: t } ] } }", "bad_name", "x y"),
            ("{ a: { steps: [ { id: x, tool: t, tol: u } ] } }", "unknown_key", "tol"),
            ("{ a: { steps: [ { id: x, tool: 't.*' } ] } }", "glob_as_body", "'t.*'"),
            ("{ a: { steps: [ { id: x, tool: t, idempotent: true } ] } }", "stronger_step", "true"),
            ("{ a: { steps: [ { id: x, tool: t, idempotent: 1 } ] } }", "wrong_type", "1"),
            ("{ a: { steps: [ { id: x, tool: t }, { id: x, tool: u } ] } }", "duplicate_name", "x|x"),
            ("{ a: { tool: t, steps: [ { id: x, tool: u } ] } }", "tool_and_steps", "t|[ { id: x, tool: u } ]"),
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
        assert_eq!(found, ["missing_key: { id: x }", "glob_as_body: '*'", "bad_steps: []"]);
        let found = wrong("actions: { a: { tool: t, steps: [ { id: x }, { id: y, tool: '*' } ] } }");
        let both = "tool_and_steps: t|[ { id: x }, { id: y, tool: '*' } ]";
        assert_eq!(found, [both, "missing_key: { id: x }", "glob_as_body: '*'"], "a tool beside them hides nothing");
    }
}
