//! Writes a draft into the text of a playbook: rows are added, values of a verdict replaced, and every other byte stays.
//! Does not interpret the result.

use std::ops::Range;
use std::sync::Arc;

use super::draft::{Draft, ProposedRule, VerdictChange};
use playproof_engine::playbook::UNCLASSIFIED;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::playbook;
use playproof_formats::yaml;
use playproof_formats::yaml::lines::{
    after_colon, block_end, indentation, inserted, is_blank_at, is_blank_before, is_block_text, is_flow, line_break,
    line_start, replaced, trimmed, with_comments,
};
use playproof_formats::yaml::{MapEntry, Node, NodeKind, scalar};
use serde_json::Value;

type Edited = Result<String, Diagnostic>;

/// The text of the playbook with the draft in it, under the name `file`.
///
/// # Errors
/// A playbook that is written in a way that a program cannot edit.
pub fn with_draft(playbook: &Source, draft: &Draft, file: &str) -> Result<Arc<Source>, Report> {
    let mut source = Source::whole(file, playbook.text.clone());
    for queue in &draft.queues {
        source = edited(source, |text| text.add_queue(queue))?;
    }
    source = edited(source, |text| match &draft.change {
        VerdictChange::Added { means, effect, then } => {
            let means = Value::from(means.as_str()).to_string();
            let parts = [("means", means.as_str()), ("effect", effect.as_str()), ("then", then)];
            text.add_verdict(&draft.verdict, &parts)
        }
        VerdictChange::Changed(parts) => text.change_verdict(&draft.verdict, parts),
    })?;
    match &draft.rule {
        Some(rule) => edited(source, |text| text.add_rule(rule, &draft.verdict)),
        None => Ok(source),
    }
}

fn edited(source: Arc<Source>, edit: impl Fn(&PlaybookText<'_>) -> Edited) -> Result<Arc<Source>, Report> {
    // A parsed playbook is a map; an empty tree makes every edit an error.
    let root = yaml::tree(&source).unwrap_or(Node { span: 0..0, kind: NodeKind::Map(Vec::new()) });
    match edit(&PlaybookText { text: &source.text, root: &root }) {
        Ok(text) => Ok(Source::whole(&*source.name, text)),
        Err(said) => Err(Report::one(source, said)),
    }
}

struct PlaybookText<'a> {
    text: &'a str,
    root: &'a Node,
}

/// A row of a block list or map: its name, its value, and the line that it begins in.
struct RowNode<'a> {
    name: &'a str,
    value: &'a Node,
    at: usize,
}

impl<'a> PlaybookText<'a> {
    fn section(&self, key: &str) -> Result<&'a MapEntry, Diagnostic> {
        self.root.entry(key).ok_or_else(|| {
            let said = Diagnostic::error("no_section", format!("the playbook has no `{key}`"));
            said.at(0..0, "").help(format!("add `{key}:` first"))
        })
    }

    /// The rows of a section that is written in block style.
    fn items(&self, key: &str) -> Result<Vec<RowNode<'a>>, Diagnostic> {
        let section = self.section(key)?;
        let named = |row: &'a Node| match row.entry("rule").map(|name| &name.value.kind) {
            Some(NodeKind::Scalar { text, .. }) => &**text,
            _ => "",
        };
        let rows: Vec<RowNode<'a>> = match &section.value.kind {
            NodeKind::Map(rows) => {
                rows.iter().map(|row| RowNode { name: &row.key, value: &row.value, at: row.key_span.start }).collect()
            }
            NodeKind::List(rows) => {
                rows.iter().map(|row| RowNode { name: named(row), value: row, at: row.span.start }).collect()
            }
            NodeKind::Scalar { .. } => Vec::new(),
        };
        if is_flow(self.text, &section.value) && !rows.is_empty() {
            return Err(by_hand(section, "written between brackets", "write it in block style, one row a line"));
        }
        Ok(rows)
    }

    fn rules(&self) -> Result<Vec<RowNode<'a>>, Diagnostic> {
        let rules = self.items("classify")?;
        let is_dashed = |rule: &&RowNode<'_>| {
            self.text.get(line_start(self.text, rule.at)..rule.at).is_some_and(|before| before.trim() == "-")
        };
        match rules.iter().find(|rule| !is_dashed(rule)) {
            None => Ok(rules),
            Some(odd) => Err(Diagnostic::error("edit_by_hand", "this rule cannot be edited by a program")
                .at(odd.value.span.clone(), "expected in the line of its `-`")
                .help("write each rule as `- { rule: ..., when: ..., verdict: ... }`")),
        }
    }

    fn add_verdict(&self, name: &str, parts: &[(&str, &str)]) -> Edited {
        let verdicts = self.items("verdicts")?;
        let indent = verdicts.first().map_or(2, |first| indentation(self.text, first.at));
        let (blanks, deeper) = (" ".repeat(indent), " ".repeat(indent + indent.clamp(1, 8)));
        let mut lines = vec![format!("{blanks}{}:", scalar(name))];
        lines.extend(parts.iter().map(|(key, value)| format!("{deeper}{key}: {value}")));
        let spaced = self.is_spaced(&verdicts);
        match verdicts.last() {
            None => self.fill_empty("verdicts", &lines),
            // `unclassified` stays last.
            Some(last) if last.name == UNCLASSIFIED && verdicts.len() > 1 => Ok(self.before(last, lines, spaced)),
            Some(last) => Ok(self.after(last, lines, spaced)),
        }
    }

    fn add_rule(&self, rule: &ProposedRule, verdict: &str) -> Edited {
        let rules = self.rules()?;
        let indent = match rules.first() {
            Some(first) => indentation(self.text, first.at),
            None => indentation(self.text, self.section("classify")?.key_span.start) + 2,
        };
        let (blanks, ProposedRule { name, when, before }) = (" ".repeat(indent), rule);
        let lines = vec![
            format!("{blanks}- rule: {}", scalar(name)),
            format!("{blanks}  when: {when}"),
            format!("{blanks}  verdict: {}", scalar(verdict)),
        ];
        let spaced = self.is_spaced(&rules);
        let before = before.as_ref().and_then(|before| rules.iter().find(|rule| rule.name == before));
        match (before, rules.last()) {
            (Some(before), _) => Ok(self.before(before, lines, spaced)),
            (None, Some(last)) => Ok(self.after(last, lines, spaced)),
            (None, None) => self.fill_empty("classify", &lines),
        }
    }

    fn add_queue(&self, name: &str) -> Edited {
        let section = self.section("queues")?;
        let NodeKind::List(queues) = &section.value.kind else {
            return Err(by_hand(section, "not a list", "write `queues: [...]`"));
        };
        let name = scalar(name);
        match queues.last() {
            Some(last) if is_flow(self.text, &section.value) => {
                Ok(replaced(self.text, last.span.end..last.span.end, &format!(", {name}")))
            }
            Some(last) => {
                let item = RowNode { name: "", value: last, at: last.span.start };
                let blanks = " ".repeat(indentation(self.text, item.at));
                Ok(self.after(&item, vec![format!("{blanks}- {name}")], false))
            }
            None => Ok(replaced(self.text, section.value.span.clone(), &format!("[{name}]"))),
        }
    }

    fn change_verdict(&self, name: &str, parts: &[(&'static str, String)]) -> Edited {
        let verdicts = self.items("verdicts")?;
        let verdict = verdicts.iter().find(|verdict| verdict.name == name);
        if verdict.is_none() {
            return self.take_verdict(name, parts);
        }
        let mut found: Vec<(Range<usize>, String)> = Vec::new();
        for (key, value) in parts {
            if let Some(old) = verdict.and_then(|verdict| verdict.value.entry(key)) {
                found.push((self.value(old)?, format!(" {value}")));
            }
        }
        // From last to first, so that offsets stay valid.
        found.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        let mut text = self.text.to_owned();
        for (span, new) in found {
            text.replace_range(span, &new);
        }
        Ok(text)
    }

    /// Writes a verdict that is taken over, with some values changed: it replaces the other one.
    fn take_verdict(&self, name: &str, changed: &[(&'static str, String)]) -> Edited {
        let whole = playbook::whole(self.root);
        let taken = whole.entry("verdicts").and_then(|verdicts| verdicts.value.entry(name));
        let Some(NodeKind::Map(entries)) = taken.map(|taken| &taken.value.kind) else {
            return Ok(self.text.to_owned());
        };
        let value = |entry: &MapEntry| {
            let new = changed.iter().find(|(key, _)| **key == *entry.key).map(|(_, new)| new.clone());
            new.unwrap_or_else(|| yaml::flow(&entry.value))
        };
        let parts: Vec<_> = entries.iter().map(|entry| (&*entry.key, value(entry))).collect();
        let parts: Vec<_> = parts.iter().map(|(key, value)| (*key, value.as_str())).collect();
        self.add_verdict(name, &parts)
    }

    /// The place of a value, from its colon.
    fn value(&self, old: &MapEntry) -> Result<Range<usize>, Diagnostic> {
        let colon = after_colon(self.text, old);
        let is_below = is_block_text(self.text, old);
        let between = self.text.get(colon..old.value.span.start);
        let is_plain = between.is_some_and(|between| {
            between.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
        });
        if !is_below && !is_plain {
            return Err(by_hand(old, "an alias, or a value with an anchor", "write the value out, without anchors"));
        }
        let is_block =
            matches!(old.value.kind, NodeKind::Map(_) | NodeKind::List(_)) && !is_flow(self.text, &old.value);
        let end = match (is_block, is_below) {
            (true, _) => {
                trimmed(self.text, block_end(self.text, &old.value, indentation(self.text, old.key_span.start)))
            }
            (false, true) => trimmed(self.text, old.value.span.end),
            (false, false) => old.value.span.end,
        };
        Ok(colon..end)
    }

    /// Whether a blank line separates all rows.
    fn is_spaced(&self, items: &[RowNode<'_>]) -> bool {
        let is_set_off = |item: &RowNode<'_>| is_blank_before(self.text, with_comments(self.text, item.at));
        items.len() > 1 && items.iter().skip(1).all(is_set_off)
    }

    fn before(&self, item: &RowNode<'_>, mut lines: Vec<String>, spaced: bool) -> String {
        if spaced {
            lines.push(String::new());
        }
        inserted(self.text, with_comments(self.text, item.at), &lines)
    }

    fn after(&self, item: &RowNode<'_>, mut lines: Vec<String>, spaced: bool) -> String {
        let at = block_end(self.text, item.value, indentation(self.text, item.at));
        if spaced {
            lines.insert(0, String::new());
            if !is_blank_at(self.text, at) {
                lines.push(String::new());
            }
        }
        inserted(self.text, at, &lines)
    }

    /// Inserts rows into an empty section.
    fn fill_empty(&self, key: &str, lines: &[String]) -> Edited {
        let section = self.section(key)?;
        let start = after_colon(self.text, section);
        let end = if is_flow(self.text, &section.value) { section.value.span.end } else { start };
        let broken = line_break(self.text);
        Ok(replaced(self.text, start..end, &format!("{broken}{}", lines.join(broken))))
    }
}

fn by_hand(entry: &MapEntry, what: &str, help: &str) -> Diagnostic {
    Diagnostic::error("edit_by_hand", format!("`{}` cannot be edited by a program", entry.key))
        .at(entry.key_span.clone(), what)
        .help(help)
}
