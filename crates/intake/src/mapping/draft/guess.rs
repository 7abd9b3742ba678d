//! From rows to a drafted mapping: guesses the role of each field. Without a tool, failures or ids there is no draft; the
//! error names what is missing.

use std::collections::BTreeSet;

use serde_json::Value;

use super::failures::{in_answer, signals};
use super::fields::FieldFinder;
use super::names;
use super::row_roles::{RowRoles, row_roles};
use super::survey::{FieldStats, Survey};
use super::text;
use super::text::DraftContent;
use crate::prefixed;
use crate::source_text::SourceText;
use playproof_formats::diagnostic::Report;

/// Documents and rows that are examined.
const ROWS: usize = 2_000;
/// Levels of a document that are searched for rows.
const DEPTH: usize = 5;
/// Arrays of rows that are tried.
const PLACES: usize = 40;
/// Fields that a message names.
const NAMED: usize = 20;

const NO_TOOL: &str = "the tool's name";
const NO_FAILURES: &str = "whether a call failed";
const NO_ID: &str = "the id that joins a result with its call";
/// What may be missing, in the order of the search.
const MISSING: [&str; 3] = [NO_TOOL, NO_FAILURES, NO_ID];

/// A drafted mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingDraft {
    /// The text of the mapping file.
    pub text: String,
    /// The number of guesses in it.
    pub guesses: usize,
    /// The paths and conditions in it, which come from the rows.
    pub of_rows: Vec<String>,
}

/// Why no mapping could be drafted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmapped {
    /// What no field holds, in words.
    pub missing: &'static str,
    /// Some of the fields that the rows have.
    pub fields: Vec<String>,
}

/// Drafts a mapping for a foreign source, called `name`: JSON Lines, or one document.
///
/// # Errors
/// Bytes that are not UTF-8 or not JSON, with the place. The inner error: the rows allow no draft.
pub fn draft(bytes: &[u8], name: &str) -> Result<Result<MappingDraft, Unmapped>, Report> {
    let (bytes, ..) = prefixed::objects(bytes);
    let documents = documents(&SourceText::new(&bytes, name)?)?;
    let mut best: Option<DraftContent> = None;
    let mut unmapped = Unmapped { missing: NO_TOOL, fields: Vec::new() };
    for (records, rows) in places(&documents) {
        let survey = Survey::of(&rows);
        match guess(&survey) {
            Ok(guess) if best.as_ref().is_none_or(|best| best.guesses() < guess.guesses()) => {
                best = Some(DraftContent { records, ..guess });
            }
            Ok(_) => {}
            Err(worse) if unmapped.fields.is_empty() || progress(worse.missing) > progress(unmapped.missing) => {
                unmapped = worse
            }
            Err(_) => {}
        }
    }
    Ok(best
        .map(|guess| MappingDraft { text: text::render(&guess), guesses: guess.guesses(), of_rows: guess.of_rows() })
        .ok_or(unmapped))
}

/// How far the search came before something was missing.
fn progress(missing: &str) -> Option<usize> {
    MISSING.iter().position(|one| *one == missing)
}

fn documents(source: &SourceText<'_>) -> Result<Vec<Value>, Report> {
    let mut documents = Vec::new();
    for document in serde_json::Deserializer::from_str(source.text).into_iter::<Value>().take(ROWS) {
        documents.push(document.map_err(|error| source.not_json(&error))?);
    }
    Ok(documents)
}

/// The arrays that may hold the rows, with their paths: the documents or their items first, then every inner array of
/// objects.
fn places(documents: &[Value]) -> Vec<(Option<String>, Vec<&Value>)> {
    let rows = documents.iter().flat_map(items).take(ROWS).collect();
    let mut found = vec![(None, rows)];
    lists(&documents.iter().collect::<Vec<_>>(), "", DEPTH, &mut found);
    found
}

/// The items of an array; any other value is its own only item.
fn items(value: &Value) -> &[Value] {
    if let Value::Array(items) = value { items } else { std::slice::from_ref(value) }
}

fn lists<'v>(values: &[&'v Value], path: &str, depth: usize, found: &mut Vec<(Option<String>, Vec<&'v Value>)>) {
    let objects = || values.iter().filter_map(|value| value.as_object());
    let keys: BTreeSet<&String> = objects().flat_map(|object| object.keys()).take(1_000).collect();
    for key in keys.into_iter().filter(|_| depth > 0) {
        let inside: Vec<&Value> = objects().filter_map(|object| object.get(key)).collect();
        let path = crate::mapping::path::child(path, key);
        let items: Vec<&Value> = inside.iter().filter_map(|value| value.as_array()).flatten().take(ROWS).collect();
        if items.iter().any(|item| item.is_object()) && found.len() < PLACES {
            found.push((Some(path.clone()), items.clone()));
            lists(&items, &format!("{path}[*]"), depth - 1, found);
        }
        lists(&inside, &path, depth - 1, found);
    }
    let nested: Vec<&Value> = values.iter().filter_map(|value| value.as_array()).flatten().take(ROWS).collect();
    if path.is_empty() && !nested.is_empty() && depth > 0 {
        lists(&nested, "[*]", depth - 1, found);
    }
}

fn guess(survey: &Survey) -> Result<DraftContent, Unmapped> {
    let tool = tool(survey);
    let except: Vec<&str> = tool.iter().map(|tool| tool.path.as_str()).collect();
    let signals = signals(survey, &except);
    let signalled: BTreeSet<usize> = signals.iter().flat_map(|signal| signal.rows.iter().copied()).collect();
    let roles = tool.map(|tool| (tool, row_roles(survey, tool, &signalled)));
    let (tool, roles) = match roles {
        Some((tool, roles)) if roles.failed.is_some() || signalled.iter().any(|row| roles.results.contains(row)) => {
            (tool, roles)
        }
        // The text of an answer may tell.
        Some((tool, roles)) if signalled.is_empty() && has_answers(survey, &roles) => (tool, roles),
        // Some rows tell how a call ended, but no id joins them with calls.
        Some(_) if !signalled.is_empty() => return Err(unmapped(survey, NO_ID)),
        Some(_) => return Err(unmapped(survey, NO_FAILURES)),
        None => return Err(unmapped(survey, NO_TOOL)),
    };
    let finder = FieldFinder { survey, roles: &roles, tool };
    let failing = finder.failing(&signals);
    let times = finder.times();
    let result = finder.result(&times, &failing);
    let mut failed = finder.failed(&signals);
    let has_text = result.iter().any(|line| matches!(line.key, "body" | "message"));
    if failing.is_empty() && roles.failed.is_none() && has_text {
        failed.push(("text".to_owned(), roles.results.len()));
    }
    if failed.is_empty() {
        return Err(unmapped(survey, NO_FAILURES)); // a mapping needs a condition
    }
    let time = times.unit.filter(|unit| *unit != "iso");
    Ok(DraftContent { records: None, time, call: finder.call(&times), failed, result })
}

/// Whether most results have an answer.
fn has_answers(survey: &Survey, roles: &RowRoles) -> bool {
    survey.named("body").any(|(_, field)| field.is_usual(&roles.results))
}

fn unmapped(survey: &Survey, missing: &'static str) -> Unmapped {
    let fields = survey.fields.values().filter(|field| field.scalars() > 0).map(|field| &field.path);
    let all: BTreeSet<&String> = fields.chain(&survey.in_args).collect();
    Unmapped { missing, fields: all.into_iter().take(NAMED).cloned().collect() }
}

/// The field that most probably holds the tool's name. Fields such as `name` hold many kinds of names; beside arguments they
/// hold the tool's.
fn tool(survey: &Survey) -> Option<&FieldStats> {
    let is_name = |field: &FieldStats| {
        field.texts == field.rows.len() && field.values.keys().all(|value| is_tool(value)) && !in_answer(field)
    };
    let is_beside_args = |field: &FieldStats| survey.named("args").any(|(_, args)| !args.rows.is_disjoint(&field.rows));
    let mut sure = survey.named("tool").map(|(_, field)| field).filter(|field| is_name(field));
    let mut perhaps = survey.named("name").map(|(_, field)| field).filter(|field| is_name(field));
    sure.next().or_else(|| perhaps.find(|field| is_beside_args(field)))
}

fn is_tool(value: &str) -> bool {
    let letters = value.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:".contains(c));
    let is_named = |none: &&str| *none == value || none.ends_with('/') && value.starts_with(*none);
    letters
        && value.len() <= 100
        && value.contains(|c: char| c.is_ascii_alphabetic())
        && !names::words_of("no_tool").iter().any(is_named)
}
