//! Applies one step of a change to the playbook's text: every byte outside the edited rows stays. Does not interpret the
//! result.

use std::ops::Range;
use std::sync::Arc;

use super::model::{FieldChange, Operation, OperationKind, RulePosition, Snippet, Spanned};
use playproof_engine::playbook::UNCLASSIFIED;
use playproof_formats::diagnostic::{Diagnostic, Source, did_you_mean};
use playproof_formats::yaml;
use playproof_formats::yaml::lines::{
    after_colon, block_end, indentation, is_blank_at, is_blank_before, is_block_text, is_flow, line_break, line_end,
    line_start, trimmed, with_comments,
};
use playproof_formats::yaml::{MapEntry, Node, NodeKind};

/// The width of comments.
const COMMENT_WIDTH: usize = 116;

/// Why a step cannot be applied; with a place in the proposal or in the playbook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EditError {
    /// The step names something that is missing, or exists already.
    Step(Diagnostic),
    /// The playbook is written in a way that a program cannot edit.
    Text(Diagnostic),
}

type Edited = Result<String, EditError>;

/// The playbook's text after a step.
pub(super) fn edit(source: &Arc<Source>, operation: &Operation) -> Edited {
    // A parsed playbook is a map; an empty tree makes every step an error.
    let root = yaml::tree(source).unwrap_or(Node { span: 0..0, kind: NodeKind::Map(Vec::new()) });
    let text = PlaybookText { text: &source.text, root: &root };
    let comment = operation.comment.as_deref();
    match &operation.what {
        OperationKind::AddVerdict(name, verdict) => text.add_verdict(name, verdict, comment),
        OperationKind::AddRule(name, rule, place) => text.add_rule(name, rule, place, comment),
        OperationKind::MoveRule(name, place) => text.move_rule(name, place),
        OperationKind::RemoveRule(name) => text.remove("classify", named(&text.rules()?, name, "rule")?),
        OperationKind::RemoveVerdict(name) => {
            text.remove("verdicts", named(&text.items("verdicts")?, name, "verdict")?)
        }
        OperationKind::AddQueue(name) => text.add_queue(name),
        OperationKind::ChangeVerdict(name, parts) => text.change_verdict(name, parts),
        OperationKind::ChangeLimit(name, value) => text.change_limit(name, value),
    }
}

struct PlaybookText<'a> {
    text: &'a str,
    root: &'a Node,
}

/// A row of a block list or map: its name, its value, and the line that it begins in.
#[derive(Clone, Debug)]
struct RowNode<'a> {
    name: &'a str,
    value: &'a Node,
    at: usize,
}

impl<'a> PlaybookText<'a> {
    fn section(&self, key: &str) -> Result<&'a MapEntry, EditError> {
        self.root.entry(key).ok_or_else(|| {
            let said = Diagnostic::error("no_section", format!("the playbook has no `{key}`"));
            EditError::Text(said.at(0..0, "").help(format!("add `{key}:` first")))
        })
    }

    /// The rows of a section that is written in block style.
    fn items(&self, key: &str) -> Result<Vec<RowNode<'a>>, EditError> {
        let section = self.section(key)?;
        if is_flow(self.text, &section.value) && !is_empty(&section.value) {
            return Err(by_hand(section, "written between brackets", "write it in block style, one row a line"));
        }
        Ok(match &section.value.kind {
            NodeKind::Map(rows) => {
                rows.iter().map(|row| RowNode { name: &row.key, value: &row.value, at: row.key_span.start }).collect()
            }
            NodeKind::List(rows) => {
                let name = |row: &'a Node| row.entry("rule").and_then(|name| scalar(&name.value)).unwrap_or("");
                rows.iter().map(|row| RowNode { name: name(row), value: row, at: row.span.start }).collect()
            }
            NodeKind::Scalar { .. } => Vec::new(),
        })
    }

    fn rules(&self) -> Result<Vec<RowNode<'a>>, EditError> {
        let rules = self.items("classify")?;
        let is_dashed = |rule: &&RowNode<'_>| {
            self.text.get(line_start(self.text, rule.at)..rule.at).is_some_and(|before| before.trim() == "-")
        };
        match rules.iter().find(|rule| !is_dashed(rule)) {
            None => Ok(rules),
            Some(odd) => Err(EditError::Text(
                Diagnostic::error("edit_by_hand", "this rule cannot be edited by a program")
                    .at(odd.value.span.clone(), "expected in the line of its `-`")
                    .help("write each rule as `- { rule: ..., when: ..., verdict: ... }`"),
            )),
        }
    }

    fn end_of(&self, item: &RowNode<'_>) -> usize {
        block_end(self.text, item.value, indentation(self.text, item.at))
    }

    fn add_verdict(&self, name: &Spanned, verdict: &Snippet, comment: Option<&str>) -> Edited {
        let verdicts = self.items("verdicts")?;
        if verdicts.iter().any(|verdict| verdict.name == name.text) {
            return Err(there_already(name, "verdict"));
        }
        let indent = verdicts.first().map_or(2, |first| indentation(self.text, first.at));
        let mut lines = commented(comment, indent);
        lines.extend(keyed(&name.text, verdict, indent, self.step()));
        let is_last = |verdict: &&RowNode<'_>| verdict.name == UNCLASSIFIED;
        match verdicts.last() {
            None => self.fill_empty("verdicts", &lines),
            // `unclassified` stays last.
            Some(last) if is_last(&last) && verdicts.len() > 1 => {
                Ok(self.before(last, &lines, self.is_spaced(&verdicts)))
            }
            Some(last) => Ok(self.after(last, &lines, self.is_spaced(&verdicts))),
        }
    }

    fn add_rule(&self, name: &Spanned, rule: &Snippet, place: &RulePosition, comment: Option<&str>) -> Edited {
        let rules = self.rules()?;
        if rules.iter().any(|rule| rule.name == name.text) {
            return Err(there_already(name, "rule"));
        }
        let section = self.section("classify")?;
        let indent = rules.first().map_or_else(
            || indentation(self.text, section.key_span.start) + 2,
            |first| indentation(self.text, first.at),
        );
        let mut lines = commented(comment, indent);
        let blanks = " ".repeat(indent);
        lines.extend(rule.0.iter().enumerate().map(|(n, line)| match n {
            0 => format!("{blanks}- {line}"),
            _ if line.is_empty() => String::new(),
            _ => format!("{blanks}  {line}"),
        }));
        // A rule with a comment begins a group, if the file has groups.
        let spaced = self.is_spaced(&rules) || (comment.is_some() && self.has_groups(&rules));
        self.put(&rules, place, &lines, spaced)
    }

    fn put(&self, rules: &[RowNode<'_>], place: &RulePosition, lines: &[String], spaced: bool) -> Edited {
        match place {
            RulePosition::Before(name) => Ok(self.before(named(rules, name, "rule")?, lines, spaced)),
            RulePosition::After(name) => Ok(self.after(named(rules, name, "rule")?, lines, spaced)),
            RulePosition::End => match rules.last() {
                Some(last) => Ok(self.after(last, lines, spaced)),
                None => self.fill_empty("classify", lines),
            },
        }
    }

    fn move_rule(&self, name: &Spanned, place: &RulePosition) -> Edited {
        let rules = self.rules()?;
        let rule = named(&rules, name, "rule")?;
        if let RulePosition::Before(other) | RulePosition::After(other) = place {
            named(&rules, other, "rule")?;
            if other.text == name.text {
                return Err(EditError::Step(
                    Diagnostic::error("bad_place", "a rule cannot go before or after itself")
                        .at(other.span.clone(), ""),
                ));
            }
        }
        let span = with_comments(self.text, rule.at)..self.end_of(rule);
        let moved = self.text.get(span.clone()).unwrap_or("");
        let lines: Vec<String> = moved.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect();
        let without = self.replaced(span, "");
        let source = Source::whole("", without);
        let root = yaml::tree(&source).map_err(|_| {
            EditError::Text(
                Diagnostic::error("edit_by_hand", format!("`{}` cannot be moved by a program", name.text))
                    .at(rule.value.span.clone(), "it has an anchor that other rows use")
                    .help("write the rule out without anchors"),
            )
        })?;
        let rest = PlaybookText { text: &source.text, root: &root };
        rest.put(&rest.rules()?, place, &lines, false)
    }

    /// The text without a row, its comment and its blank line.
    fn remove(&self, key: &str, item: &RowNode<'_>) -> Edited {
        let items = self.items(key)?;
        let is_at = |row: Option<&RowNode<'_>>| row.is_some_and(|row| row.at == item.at);
        let (is_first, is_last) = (is_at(items.first()), is_at(items.last()));
        if is_first && is_last {
            let section = self.section(key)?;
            let empty = if matches!(section.value.kind, NodeKind::Map(_)) { " {}" } else { " []" };
            let end = trimmed(self.text, self.end_of(item));
            return Ok(self.replaced(after_colon(self.text, section)..end, empty));
        }
        let (mut start, mut end) = (with_comments(self.text, item.at), self.end_of(item));
        if is_last && is_blank_before(self.text, start) {
            start = line_start(self.text, start.saturating_sub(1));
        } else if is_blank_at(self.text, end) && (is_first || is_blank_before(self.text, start)) {
            end = line_end(self.text, end);
        }
        Ok(self.replaced(start..end, ""))
    }

    fn add_queue(&self, name: &Spanned) -> Edited {
        let section = self.section("queues")?;
        let NodeKind::List(queues) = &section.value.kind else {
            return Err(by_hand(section, "not a list", "write `queues: [...]`"));
        };
        if queues.iter().any(|queue| scalar(queue) == Some(&name.text)) {
            return Err(there_already(name, "queue"));
        }
        match queues.last() {
            Some(last) if is_flow(self.text, &section.value) => {
                Ok(self.replaced(last.span.end..last.span.end, &format!(", {}", name.text)))
            }
            None if is_flow(self.text, &section.value) => {
                Ok(self.replaced(section.value.span.clone(), &format!("[{}]", name.text)))
            }
            Some(last) => {
                let item = RowNode { name: "", value: last, at: last.span.start };
                let blanks = " ".repeat(indentation(self.text, item.at));
                Ok(self.after(&item, &[format!("{blanks}- {}", name.text)], false))
            }
            None => Err(by_hand(section, "not a list", "write `queues: [...]`")),
        }
    }

    fn change_verdict(&self, name: &Spanned, parts: &[FieldChange]) -> Edited {
        let verdicts = self.items("verdicts")?;
        let verdict = named(&verdicts, name, "verdict")?;
        // From last to first, so that offsets stay valid.
        let mut found: Vec<(&MapEntry, &FieldChange)> = Vec::new();
        let mut text = self.text.to_owned();
        for part in parts {
            if part.key == "tell" && verdict.value.entry(part.key).is_none() {
                text = self.add_tell(verdict, &part.value)?; // behind all others
                continue;
            }
            let Some(value) = verdict.value.entry(part.key) else {
                let said = format!("`{}` has no `{}` to change", name.text, part.key);
                return Err(EditError::Text(
                    Diagnostic::error("edit_by_hand", said).at(verdict.value.span.clone(), ""),
                ));
            };
            found.push((value, part));
        }
        found.sort_by_key(|(value, _)| std::cmp::Reverse(value.key_span.start));
        for (value, part) in found {
            let (span, new) = self.value(value, &part.value)?;
            text.replace_range(span, &new);
        }
        Ok(text)
    }

    /// What a verdict tells, behind its other parts.
    fn add_tell(&self, verdict: &RowNode<'_>, tell: &Snippet) -> Edited {
        let last = match &verdict.value.kind {
            NodeKind::Map(parts) => parts.last(),
            _ => None,
        };
        let Some(last) = last else { return Ok(self.text.to_owned()) }; // a verdict has parts
        match (is_flow(self.text, verdict.value), tell.line()) {
            (false, _) => {
                let indent = indentation(self.text, last.key_span.start);
                Ok(self.after(verdict, &keyed("tell", tell, indent, self.step()), false))
            }
            (true, Some(line)) => {
                let end = last.value.span.end;
                Ok(self.replaced(end..end, &format!(", tell: {line}")))
            }
            (true, None) => {
                Err(by_hand(last, "is between brackets", "write `tell` in one line, `{ ... }`, in the proposal"))
            }
        }
    }

    fn change_limit(&self, name: &Spanned, value: &Snippet) -> Edited {
        let limits = self.section("limits")?;
        let Some(limit) = limits.value.entry(&name.text) else {
            return Err(by_hand(limits, "not set here", &format!("add `{}` first", name.text)));
        };
        let (span, new) = self.value(limit, value)?;
        Ok(self.replaced(span, &new))
    }

    /// The place of a value and what replaces it.
    fn value(&self, old: &MapEntry, new: &Snippet) -> Result<(Range<usize>, String), EditError> {
        let colon = old.key_span.end;
        let is_below = is_block_text(self.text, old);
        let aliased = old.value.span.start < colon
            || !is_below
                && !self.text.get(colon..old.value.span.start).is_some_and(|between| {
                    between.lines().all(|line| {
                        let said = line.trim();
                        said.is_empty() || said == ":" || said.starts_with('#') || said.starts_with(": #")
                    })
                });
        if aliased {
            let help = "write the value out here, without anchors and aliases";
            return Err(by_hand(old, "an alias, or a value with an anchor", help));
        }
        let is_map = matches!(old.value.kind, NodeKind::Map(_) | NodeKind::List(_)) && !is_flow(self.text, &old.value);
        let indent = indentation(self.text, old.key_span.start);
        match (new.line(), is_map) {
            (Some(line), false) if is_below => {
                Ok((after_colon(self.text, old)..trimmed(self.text, old.value.span.end), format!(" {line}")))
            }
            (Some(line), false) => Ok((old.value.span.clone(), line.to_owned())),
            (Some(line), true) => {
                let end = trimmed(self.text, block_end(self.text, &old.value, indent));
                Ok((after_colon(self.text, old)..end, format!(" {line}")))
            }
            (None, _)
                if self
                    .text
                    .get(line_start(self.text, old.key_span.start)..old.key_span.start)
                    .is_some_and(|before| before.trim().is_empty()) =>
            {
                let end = trimmed(self.text, block_end(self.text, &old.value, indent));
                let blanks = " ".repeat(indent + self.step());
                let lines: Vec<String> = new.0.iter().map(|line| format!("{blanks}{line}")).collect();
                let broken = line_break(self.text);
                Ok((after_colon(self.text, old)..end, format!("{broken}{}", lines.join(broken))))
            }
            (None, _) => {
                Err(by_hand(old, "is between brackets", "write the new value in one line, `{ ... }`, in the proposal"))
            }
        }
    }

    /// The indent of one level, as in the verdicts.
    fn step(&self) -> usize {
        let first = match self.root.entry("verdicts").map(|verdicts| &verdicts.value.kind) {
            Some(NodeKind::Map(rows)) => rows.first().map(|row| indentation(self.text, row.key_span.start)),
            _ => None,
        };
        first.filter(|step| (1..=8).contains(step)).unwrap_or(2)
    }

    /// Whether a blank line separates all rows.
    fn is_spaced(&self, items: &[RowNode<'_>]) -> bool {
        items.len() > 1 && items.iter().skip(1).all(|item| self.is_set_off(item))
    }

    fn has_groups(&self, items: &[RowNode<'_>]) -> bool {
        items.iter().skip(1).any(|item| self.is_set_off(item))
    }

    fn is_set_off(&self, item: &RowNode<'_>) -> bool {
        is_blank_before(self.text, with_comments(self.text, item.at))
    }

    fn before(&self, item: &RowNode<'_>, lines: &[String], spaced: bool) -> String {
        let at = with_comments(self.text, item.at);
        let mut lines = lines.to_vec();
        if spaced {
            lines.push(String::new());
        }
        self.inserted(at, &lines)
    }

    fn after(&self, item: &RowNode<'_>, lines: &[String], spaced: bool) -> String {
        let at = self.end_of(item);
        let mut lines = lines.to_vec();
        if spaced {
            lines.insert(0, String::new());
            if !is_blank_at(self.text, at) {
                lines.push(String::new());
            }
        }
        self.inserted(at, &lines)
    }

    /// Inserts lines at `at`, the start of a line or the end of the text.
    fn inserted(&self, at: usize, lines: &[String]) -> String {
        let broken = line_break(self.text);
        let ends_open = at == self.text.len() && !self.text.is_empty() && !self.text.ends_with('\n');
        let block = lines.join(broken);
        match ends_open {
            true => self.replaced(at..at, &format!("{broken}{block}")),
            false => self.replaced(at..at, &format!("{block}{broken}")),
        }
    }

    /// Inserts rows into an empty section.
    fn fill_empty(&self, key: &str, lines: &[String]) -> Edited {
        let section = self.section(key)?;
        let start = after_colon(self.text, section);
        let end = if is_flow(self.text, &section.value) { section.value.span.end } else { start };
        let broken = line_break(self.text);
        Ok(self.replaced(start..end, &format!("{broken}{}", lines.join(broken))))
    }

    fn replaced(&self, span: Range<usize>, new: &str) -> String {
        let mut text = self.text.to_owned();
        text.replace_range(span, new);
        text
    }
}

/// `NAME: { ... }`, or the name and the lines below it.
fn keyed(name: &str, value: &Snippet, indent: usize, step: usize) -> Vec<String> {
    let blanks = " ".repeat(indent);
    if let [first, rest @ ..] = value.0.as_slice()
        && first.starts_with('{')
    {
        let mut lines = vec![format!("{blanks}{name}: {first}")];
        lines.extend(rest.iter().map(|line| format!("{blanks}{line}")));
        return lines;
    }
    let deeper = " ".repeat(indent + step);
    let mut lines = vec![format!("{blanks}{name}:")];
    lines.extend(value.0.iter().map(|line| if line.is_empty() { String::new() } else { format!("{deeper}{line}") }));
    lines
}

/// A comment as wrapped lines.
fn commented(comment: Option<&str>, indent: usize) -> Vec<String> {
    let room = COMMENT_WIDTH.saturating_sub(indent + 2).max(20);
    let mut lines: Vec<String> = Vec::new();
    for word in comment.into_iter().flat_map(str::split_whitespace) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| format!("{}# {line}", " ".repeat(indent))).collect()
}

fn scalar(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Scalar { text, .. } => Some(text),
        _ => None,
    }
}

fn is_empty(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Map(entries) => entries.is_empty(),
        NodeKind::List(items) => items.is_empty(),
        NodeKind::Scalar { .. } => false,
    }
}

fn named<'i, 'a>(items: &'i [RowNode<'a>], name: &Spanned, what: &str) -> Result<&'i RowNode<'a>, EditError> {
    items.iter().find(|item| item.name == name.text).ok_or_else(|| {
        let said = Diagnostic::error("dangling_name", format!("the playbook has no {what} `{}`", name.text))
            .at(name.span.clone(), "not in the playbook");
        EditError::Step(match did_you_mean(&name.text, items.iter().map(|item| item.name)) {
            Some(near) => said.help(format!("did you mean `{near}`?")),
            None => said,
        })
    })
}

fn there_already(name: &Spanned, what: &str) -> EditError {
    EditError::Step(
        Diagnostic::error("there_already", format!("the playbook already has a {what} `{}`", name.text))
            .at(name.span.clone(), "exists already")
            .help("use another name, or change the existing one"),
    )
}

fn by_hand(entry: &MapEntry, what: &str, help: &str) -> EditError {
    EditError::Text(
        Diagnostic::error("edit_by_hand", format!("`{}` cannot be edited by a program", entry.key))
            .at(entry.key_span.clone(), what)
            .help(help),
    )
}
