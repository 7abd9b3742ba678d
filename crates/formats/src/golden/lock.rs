//! The lock: the approved rows of every playbook that fixtures use, one sorted line for each row, with its reason.
//!
//! It has no line that every change touches (no fingerprint, no date, no count), so that git merges branches that change
//! different rows. Treats rows as names and texts only.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Report, Source};
use crate::yaml;
use crate::yaml::{Cursor, quoted, scalar};

const HEAD: &str = "\
# The approved rows of the playbooks that the fixtures use, and why. `playproof accept --reason TEXT` writes this
# file; one line a row, sorted, so that git merges branches that change different rows.
format: lock/1
";

/// The approved rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    /// By the playbook's name.
    pub playbooks: BTreeMap<String, LockedPlaybook>,
}

/// The approved rows of one playbook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockedPlaybook {
    /// By the row's name.
    pub rows: BTreeMap<String, LockedRow>,
    /// The place of the playbook's name in the file.
    pub span: Range<usize>,
}

/// One approved row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedRow {
    /// Its text.
    pub text: String,
    /// Why it was approved.
    pub why: String,
    /// The place of its name in the file.
    pub span: Range<usize>,
    /// The place of the reason in the file.
    pub why_span: Range<usize>,
}

/// A row that a change adds, changes or removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowChange {
    /// The row's name: `rule timeout`.
    pub name: String,
    /// The old or approved text; none for a new row.
    pub before: Option<String>,
    /// The new text; none for a removed row.
    pub after: Option<String>,
}

/// One value inside a changed row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartChange {
    /// Its path: `then.retry_with_backoff.backoff_ms`; empty for the whole row.
    pub path: String,
    /// The old value; none for a new one.
    pub before: Option<String>,
    /// The new value; none for a removed one.
    pub after: Option<String>,
}

impl Lock {
    /// Reads the lock.
    ///
    /// # Errors
    /// All errors, each with its place; a merge conflict is one error.
    pub fn parse(source: Arc<Source>) -> Result<Lock, Report> {
        if let Some(said) = merge_conflict(&source.text) {
            let said = said.help("keep the lines of both sides, then run `playproof check`");
            return Err(Report::one(source, said));
        }
        yaml::parse(source, read).map_err(|mut report| {
            for twice in report.diagnostics.iter_mut().filter(|diagnostic| diagnostic.id == "duplicate_key") {
                let help =
                    "two branches changed this row: delete both lines, then run `playproof accept --reason '...'`";
                twice.help = Some(help.to_owned());
            }
            report
        })
    }

    /// The lock's text.
    pub fn render(&self) -> String {
        let mut text = HEAD.to_owned();
        for (name, section) in &self.playbooks {
            text += &format!("{}:\n", scalar(name));
            for (name, row) in &section.rows {
                text += &format!("  {}: {{ is: {}, why: {} }}\n", scalar(name), quoted(&row.text), quoted(&row.why));
            }
        }
        text
    }

    /// Approves the given rows of a playbook; rows that change get the reason `why`.
    pub fn approve<'a>(&mut self, playbook: &str, rows: impl IntoIterator<Item = (&'a str, &'a str)>, why: &str) {
        let section = self.playbooks.entry(playbook.to_owned()).or_default();
        let mut old = std::mem::take(&mut section.rows);
        for (name, text) in rows {
            let kept = old.remove(name).filter(|row| row.text == text);
            let new = || LockedRow { text: text.to_owned(), why: why.to_owned(), span: 0..0, why_span: 0..0 };
            section.rows.insert(name.to_owned(), kept.unwrap_or_else(new));
        }
    }

    /// Sets the reason of rows without changing their text.
    pub fn explain<'a>(&mut self, playbook: &str, rows: impl IntoIterator<Item = &'a str>, why: &str) {
        let Some(section) = self.playbooks.get_mut(playbook) else { return };
        for name in rows {
            if let Some(row) = section.rows.get_mut(name) {
                why.clone_into(&mut row.why);
            }
        }
    }
}

/// The rows that differ from the approved ones, by name. Without approved rows every row is new.
pub fn changes<'a>(
    section: Option<&LockedPlaybook>,
    rows: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<RowChange> {
    let approved = section.iter().flat_map(|section| &section.rows);
    row_changes(approved.map(|(name, row)| (name.as_str(), row.text.as_str())), rows)
}

/// The rows that differ before and after, sorted by name.
pub fn row_changes<'a, 'b>(
    before: impl IntoIterator<Item = (&'b str, &'b str)>,
    after: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<RowChange> {
    let mut both: BTreeMap<&str, (Option<&str>, Option<&str>)> = BTreeMap::new();
    for (name, text) in before {
        both.entry(name).or_default().0 = Some(text);
    }
    for (name, text) in after {
        both.entry(name).or_default().1 = Some(text);
    }
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let changed = both.into_iter().filter(|(_, (before, after))| before != after);
    changed
        .map(|(name, (before, after))| RowChange { name: name.to_owned(), before: owned(before), after: owned(after) })
        .collect()
}

impl RowChange {
    /// The kind of change: `added`, `changed` or `removed`.
    pub const fn became(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "added",
            (Some(_), Some(_)) => "changed",
            (Some(_), None) => "removed",
        }
    }

    /// The values that differ: by path in a JSON row, else the whole row.
    pub fn parts(&self) -> Vec<PartChange> {
        let read = |text: &Option<String>| text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let mut parts = Vec::new();
        match (read(&self.before), read(&self.after)) {
            (Some(before), Some(after)) => differ("", Some(&before), Some(&after), &mut parts),
            _ => parts.push(PartChange { path: String::new(), before: self.before.clone(), after: self.after.clone() }),
        }
        parts
    }
}

fn differ(path: &str, before: Option<&Value>, after: Option<&Value>, parts: &mut Vec<PartChange>) {
    if before == after {
        return;
    }
    if let (Some(Value::Object(old)), Some(Value::Object(new))) = (before, after) {
        let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for key in keys {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            differ(&path, old.get(key), new.get(key), parts);
        }
        return;
    }
    if let (Some(Value::Array(old)), Some(Value::Array(new))) = (before, after)
        && let Some(steps) = same_steps(old, new)
    {
        for (id, old, new) in steps {
            differ(&format!("{path}.{id}"), Some(old), Some(new), parts);
        }
        return;
    }
    let text =
        |value: Option<&Value>| value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    parts.push(PartChange { path: path.to_owned(), before: text(before), after: text(after) });
}

/// The items of two lists with the same ids in the same order: the steps of an action.
fn same_steps<'v>(old: &'v [Value], new: &'v [Value]) -> Option<Vec<(&'v str, &'v Value, &'v Value)>> {
    let id = |value: &'v Value| value.get("id").and_then(Value::as_str);
    let pairs = old.iter().zip(new).map(|(old, new)| Some((id(old).filter(|own| id(new) == Some(own))?, old, new)));
    if old.len() == new.len() { pairs.collect() } else { None }
}

/// The id of the error of [`merge_conflict`].
pub const MERGE_CONFLICT: &str = "merge_conflict";

/// The first conflict marker of git in a text, as an error.
pub fn merge_conflict(text: &str) -> Option<Diagnostic> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") {
            let said = Diagnostic::error(MERGE_CONFLICT, "git could not merge this file");
            return Some(said.at(at..at + line.trim_end().len(), "conflict marker"));
        }
        at += line.len();
    }
    None
}

fn read(root: Cursor<'_>) -> Option<Lock> {
    let mut lock = Lock::default();
    let mut format = false;
    for (key, value) in root.entries("a lock")? {
        if key.text == "format" {
            value.word(&[("lock/1", ())])?;
            format = true;
            continue;
        }
        let rows = value.entries("the rows of a playbook")?.map(|(key, row)| {
            let record = row.record("an approved row", &["is", "why"])?;
            let text = |name: &str| record.required(name).and_then(Cursor::string).map(str::to_owned);
            let why_span = record.optional("why").map(Cursor::span).unwrap_or_default();
            Some((key.text.to_owned(), LockedRow { text: text("is")?, why: text("why")?, span: key.span, why_span }))
        });
        let section = LockedPlaybook { rows: rows.collect::<Option<_>>()?, span: key.span };
        lock.playbooks.insert(key.text.to_owned(), section);
    }
    if !format {
        let said = Diagnostic::error("missing_key", "a lock needs `format`");
        root.report(said.at(root.span(), "`format` is missing").help("its first line is `format: lock/1`"));
        return None;
    }
    Some(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [(&str, &str); 3] = [
        ("limit max_attempts", "6"),
        ("rule it's", r#"{"when":{"kind":["a"]}}"#),
        ("verdict slow", r#"{"effect":"unknown","then":{"retry":{"backoff_ms":[200]}}}"#),
    ];

    fn lock() -> Lock {
        let mut lock = Lock::default();
        lock.approve("standard", ROWS, "the first playbook");
        lock
    }

    fn parse(text: &str) -> Result<Lock, Report> {
        Lock::parse(Source::whole("goldens/playbook.lock", text))
    }

    #[test]
    fn a_rendered_text_reads_back_and_renders_to_the_same_bytes() {
        let mut lock = lock();
        lock.approve("study/old", [("tool a{b,c}: *", "tab\there")], "why: \"because\", it's so");
        let text = lock.render();
        let again = parse(&text).unwrap();
        assert_eq!(again.render(), text);
        assert_eq!(again.playbooks["study/old"].rows["tool a{b,c}: *"].text, "tab\there");
    }

    #[test]
    fn a_row_that_two_branches_changed_has_a_fix_hint() {
        let text = "format: lock/1\nstandard:\n  limit a: { is: '1', why: 'x' }\n  limit a: { is: '2', why: 'y' }\n";
        let report = parse(text).unwrap_err();
        assert!(
            report.to_string().starts_with("goldens/playbook.lock:4:3: the key `limit a` is written twice"),
            "{report}"
        );
        assert!(report.diagnostics[0].help.as_deref().unwrap().contains("delete both lines"));
    }

    #[test]
    fn approved_rows_are_no_changes() {
        let lock = parse(&lock().render()).unwrap();
        assert_eq!(changes(lock.playbooks.get("standard"), ROWS), []);
    }

    #[test]
    fn changed_new_and_removed_rows_are_given_by_name_with_before_and_after() {
        let lock = lock();
        let rows = [("limit max_attempts", "7"), ROWS[1], ("verdict new", "{}")];
        let found = changes(lock.playbooks.get("standard"), rows);
        let names: Vec<_> = found.iter().map(|row| (&*row.name, row.before.is_some(), row.after.is_some())).collect();
        assert_eq!(
            names,
            [("limit max_attempts", true, true), ("verdict new", false, true), ("verdict slow", true, false)]
        );
        assert_eq!((found[0].before.as_deref(), found[0].after.as_deref()), (Some("6"), Some("7")));
    }

    #[test]
    fn without_approval_every_row_is_new() {
        assert_eq!(changes(None, ROWS).len(), 3);
    }

    #[test]
    fn approval_keeps_the_reasons_of_rows_that_did_not_change() {
        let mut lock = lock();
        lock.approve("standard", [("limit max_attempts", "7"), ROWS[1]], "seven is enough");
        let rows = &lock.playbooks["standard"].rows;
        assert_eq!(rows["limit max_attempts"].why, "seven is enough");
        assert_eq!(rows["rule it's"].why, "the first playbook");
        assert!(!rows.contains_key("verdict slow"));
    }

    #[test]
    fn a_change_deep_inside_a_row_is_shown_by_its_path() {
        let change = RowChange {
            name: "verdict slow".into(),
            before: Some(ROWS[2].1.into()),
            after: Some(r#"{"effect":"applied","then":{"retry":{"backoff_ms":[300],"max":2}}}"#.into()),
        };
        let parts: Vec<_> = change.parts();
        let shown: Vec<String> = parts
            .iter()
            .map(|part| format!("{}: {:?} {:?}", part.path, part.before.as_deref(), part.after.as_deref()))
            .collect();
        assert_eq!(
            shown,
            [
                r#"effect: Some("unknown") Some("applied")"#,
                r#"then.retry.backoff_ms: Some("[200]") Some("[300]")"#,
                r#"then.retry.max: None Some("2")"#,
            ]
        );
    }

    #[test]
    fn a_row_that_both_branches_changed_is_refused_with_both_places() {
        let text = "format: lock/1\nstandard:\n  rule a: { is: 'x', why: 'y' }\n  rule a: { is: 'z', why: 'y' }\n";
        let report = parse(text).unwrap_err();
        assert!(report.to_string().starts_with("goldens/playbook.lock:4:3:"), "{report}");
        assert_eq!(report.diagnostics[0].labels.len(), 2);
    }

    #[test]
    fn a_merge_conflict_and_a_foreign_format_are_refused() {
        let said = parse("format: lock/1\nstandard:\n<<<<<<< HEAD\n=======\n").unwrap_err().to_string();
        assert_eq!(said, "goldens/playbook.lock:3:1: git could not merge this file");
        assert!(parse("standard: {}\n").unwrap_err().to_string().contains("needs `format`"));
        assert!(parse("format: lock/2\n").unwrap_err().to_string().contains("lock/1"));
    }
}
