//! From rows to a drafted mapping: which field is what. Never a mapping that reads nothing: what is missing is said.

use std::collections::BTreeSet;

use serde_json::Value;

use super::failures::{in_answer, signals};
use super::look::{Look, kinds};
use super::names::Part;
use super::shape::shape;
use super::survey::{Field, Survey};
use super::text;
use crate::text::Foreign;
use playproof_formats::diagnostic::Report;

/// Documents, and rows, that are looked at.
const ROWS: usize = 2_000;
/// How deep rows are looked for in a document.
const DEPTH: usize = 5;
/// Places of rows that are tried.
const PLACES: usize = 40;
/// Fields that a message names.
const NAMED: usize = 20;

const NO_TOOL: &str = "the tool's name";
const NO_FAILURES: &str = "whether a call failed";
const NO_ID: &str = "the id that joins a result with its call";
/// What is missing, from what is looked for first to what is looked for last.
const MISSING: [&str; 3] = [NO_TOOL, NO_FAILURES, NO_ID];

/// A drafted mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The text of the mapping file.
    pub text: String,
    /// The guesses in it.
    pub guesses: usize,
    /// What of it the rows say: paths and conditions.
    pub of_rows: Vec<String>,
}

/// Why no mapping could be drafted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmapped {
    /// What no field looks like, in words.
    pub missing: &'static str,
    /// Some of the fields that there are.
    pub fields: Vec<String>,
}

/// A part of a mapping: its name, the path or condition, and the rows that speak for it.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) key: &'static str,
    pub(super) value: String,
    pub(super) rows: Option<usize>,
}

/// A mapping that may be meant.
#[derive(Clone, Debug, Default)]
pub(super) struct Guess {
    pub(super) records: Option<String>,
    pub(super) time: Option<&'static str>,
    pub(super) call: Vec<Line>,
    pub(super) result: Vec<Line>,
    pub(super) failed: Vec<(String, usize)>,
    pub(super) kinds: Vec<(&'static str, String)>,
    /// A field that counts attempts from 0.
    pub(super) from_zero: Option<String>,
}

impl Guess {
    fn guesses(&self) -> usize {
        self.call.len() + self.result.len() + self.failed.len()
    }

    fn of_rows(self) -> Vec<String> {
        let lines = self.call.into_iter().chain(self.result).map(|line| line.value);
        let conditions = self.failed.into_iter().map(|(condition, _)| condition);
        let kinds = self.kinds.into_iter().map(|(_, condition)| condition);
        lines.chain(conditions).chain(kinds).chain(self.records).chain(self.from_zero).collect()
    }
}

/// Drafts a mapping for a foreign source, called `name`: JSON Lines, or one document.
///
/// # Errors
/// Bytes that are no text or no JSON, with the place. That no draft makes sense is the inner error.
pub fn draft(bytes: &[u8], name: &str) -> Result<Result<Draft, Unmapped>, Report> {
    let documents = documents(&Foreign::new(bytes, name)?)?;
    let mut best: Option<Guess> = None;
    let mut unmapped = Unmapped { missing: NO_TOOL, fields: Vec::new() };
    for (records, rows) in places(&documents) {
        let survey = Survey::of(&rows);
        match guess(&survey) {
            Ok(guess) if best.as_ref().is_none_or(|best| best.guesses() < guess.guesses()) => {
                best = Some(Guess { records, ..guess });
            }
            Ok(_) => {}
            Err(worse) if unmapped.fields.is_empty() || how_far(worse.missing) > how_far(unmapped.missing) => {
                unmapped = worse
            }
            Err(_) => {}
        }
    }
    Ok(best
        .map(|guess| Draft { text: text::render(&guess), guesses: guess.guesses(), of_rows: guess.of_rows() })
        .ok_or(unmapped))
}

/// How much was found before something was missing.
fn how_far(missing: &str) -> Option<usize> {
    MISSING.iter().position(|one| *one == missing)
}

fn documents(foreign: &Foreign<'_>) -> Result<Vec<Value>, Report> {
    let mut documents = Vec::new();
    for document in serde_json::Deserializer::from_str(foreign.text).into_iter::<Value>().take(ROWS) {
        documents.push(document.map_err(|error| foreign.not_json(&error))?);
    }
    Ok(documents)
}

/// Where rows may be, with them: the documents or their items first, then every list of objects inside.
fn places(documents: &[Value]) -> Vec<(Option<String>, Vec<&Value>)> {
    let rows = documents.iter().flat_map(items).take(ROWS).collect();
    let mut found = vec![(None, rows)];
    lists(&documents.iter().collect::<Vec<_>>(), "", DEPTH, &mut found);
    found
}

/// The items of a list; anything else is its own only item.
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

fn guess(survey: &Survey) -> Result<Guess, Unmapped> {
    let tool = tool(survey);
    let except: Vec<&str> = tool.iter().map(|tool| tool.path.as_str()).collect();
    let signals = signals(survey, &except);
    let told: BTreeSet<usize> = signals.iter().flat_map(|signal| signal.rows.iter().copied()).collect();
    let shape = tool.map(|tool| (tool, shape(survey, tool, &told)));
    let (tool, shape) = match shape {
        Some((tool, shape)) if shape.failed.is_some() || told.iter().any(|row| shape.results.contains(row)) => {
            (tool, shape)
        }
        // Rows tell how a call ended, and none of them could be given to a call.
        Some(_) if !told.is_empty() => return Err(unmapped(survey, NO_ID)),
        Some(_) => return Err(unmapped(survey, NO_FAILURES)),
        None => return Err(unmapped(survey, NO_TOOL)),
    };
    let look = Look { survey, shape: &shape, tool };
    let failing = look.failing(&signals);
    let time = look.call_time();
    let result = look.result(time, &failing);
    let guess = Guess {
        records: None,
        time: time.and_then(|(_, unit)| unit).filter(|unit| *unit != "iso"),
        call: look.call(time.map(|(field, _)| field)),
        failed: look.failed(&signals),
        kinds: kinds(&result),
        from_zero: look.attempts_from_zero(),
        result,
    };
    Ok(guess)
}

fn unmapped(survey: &Survey, missing: &'static str) -> Unmapped {
    let fields = survey.fields.values().filter(|field| field.scalars() > 0).map(|field| field.path.clone());
    Unmapped { missing, fields: fields.take(NAMED).collect() }
}

/// The field with the tool's name: the surest that holds names.
fn tool<'s>(survey: &'s Survey) -> Option<&'s Field> {
    const SURE: [&str; 6] = ["tool", "toolname", "function", "functionname", "actionname", "skill"];
    let names = |field: &&Field| field.texts == field.rows.len() && field.values.keys().all(|value| is_tool(value));
    // `name`, `action` and the like are names of many things: only beside arguments or an end do they name a tool.
    let sure = SURE.iter().filter_map(|name| Part::Tool.rank(&[(*name).to_owned()])).max().unwrap_or_default();
    let beside = |field: &Field| {
        let near = |other: &Field| !other.rows.is_disjoint(&field.rows) && Part::Args.rank(&other.steps).is_some();
        survey.fields.values().any(near)
    };
    let ranked = |field: &'s Field| Part::Tool.rank(&field.steps).map(|rank| (rank, field.steps.len(), field));
    let candidates = survey.fields.values().filter(names).filter(|field| !in_answer(field)).filter_map(ranked);
    let meant = candidates.filter(|(rank, _, field)| rank % Part::Tool.names().len() <= sure || beside(field));
    meant.min_by_key(|(rank, depth, _)| (*rank, *depth)).map(|(.., field)| field)
}

fn is_tool(value: &str) -> bool {
    const VERBS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    let letters = value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':'));
    letters && value.len() <= 100 && value.contains(|c: char| c.is_ascii_alphabetic()) && !VERBS.contains(&value)
}
