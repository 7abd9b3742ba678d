//! What a project takes from the user's own recordings: tool facts, mappings, failures. Writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::path::Path;

use super::recorded::slug;
use crate::exit::Failure;
use crate::files;
use crate::inputs;
use crate::inputs::Shape;
use crate::reading;
use playproof_engine::call::{RecordedCall, Reply};
use playproof_engine::ids::first_free;
use playproof_formats::diagnostic::Source;
use playproof_formats::shell::Command;
use playproof_trace::assemble::AssembleOptions;
use playproof_trace::foreign::Imported;
use playproof_trace::mapping;
use playproof_trace::mapping::Mapping;
use playproof_trace::reader::Input;
use playproof_trace::redact::RedactionRules;
use playproof_trace::toolfacts::{ToolCount, render};

/// Failures that are kept: different ones, because one of them will do.
const FAILURES: usize = 300;

/// What was drawn.
#[derive(Debug, Default)]
pub struct Drawn {
    /// The stem and the text of the tool facts file.
    pub tools: Option<(String, String)>,
    /// Drafted mappings.
    pub mappings: Vec<Drafted>,
    /// What was read, in the order of the command line.
    pub read: Vec<Read>,
    /// Calls that failed.
    pub failing: Vec<RecordedCall>,
}

/// A drafted mapping.
#[derive(Debug)]
pub struct Drafted {
    stem: String,
    /// Its text.
    pub text: String,
    mapping: Mapping,
}

impl Drafted {
    /// Its file.
    pub fn path(&self) -> String {
        format!("mappings/{}.yaml", self.stem)
    }
}

/// What a recording turned out to hold.
#[derive(Clone, Debug)]
pub struct Read {
    /// As people named it.
    pub path: String,
    /// The file of its mapping.
    pub mapping: Option<String>,
    /// The mapping was there before: its path is as people named it, not from the project's folder.
    pub is_given: bool,
    /// Its calls.
    pub calls: u64,
    /// Those of which an attempt failed.
    pub failed: u64,
}

/// Draws from recordings.
///
/// # Errors
/// One that cannot be read, is empty, or of which no mapping can be drafted.
pub fn draw(root: &Path, paths: &[String], map: Option<&str>, redaction: &RedactionRules) -> Result<Drawn, Failure> {
    let given = map.map(inputs::mapping).transpose()?;
    let mut drawn = Drawn::default();
    let mut tools: BTreeMap<String, (u64, u64, bool)> = BTreeMap::new();
    let mut kinds = BTreeSet::new();
    for (number, path) in (0..).zip(paths) {
        let (input, mapping) = match map.zip(given.as_ref()) {
            Some((map, given)) => {
                refuse_others(path)?;
                (inputs::trace(path, Some(given), redaction)?, Some(map.to_owned()))
            }
            None => opened(root, path, &mut drawn.mappings, redaction)?,
        };
        let mut read = Read { path: path.clone(), mapping, is_given: given.is_some(), calls: 0, failed: 0 };
        let failing = &mut drawn.failing;
        let ledger = input.each_call(number, AssembleOptions::default(), redaction, &|_| true, |closed| {
            let error = closed.raw().answers.iter().find_map(|answer| match &answer.reply {
                Reply::Failed(error) => Some(error.as_deref().map(|error| (error.kind.clone(), error.status))),
                Reply::Ok => None,
            });
            read.calls += 1;
            read.failed += u64::from(error.is_some());
            let count = tools.entry(closed.shown().tool().to_owned()).or_default();
            count.0 += 1;
            count.1 += u64::from(error.is_some());
            count.2 = closed.raw().tool() != closed.shown().tool();
            if error.is_some() && failing.len() < FAILURES && kinds.insert((closed.raw().tool().to_owned(), error)) {
                failing.push(closed.shown().clone());
            }
        });
        ledger.map_err(|error| Failure::from(error).next(Command::new("playproof replay").path(path)))?;
        if read.calls == 0 {
            return Err(empty(path));
        }
        drawn.read.push(read);
    }
    let rows = tools.iter().map(|(tool, &(calls, failed, is_redacted))| ToolCount { tool, is_redacted, calls, failed });
    let names: Vec<String> = paths.iter().map(|path| files::lasting(root, path)).collect();
    drawn.tools = paths.first().map(|first| (stem(first), render(&names.join(", "), rows)));
    Ok(drawn)
}

fn empty(path: &str) -> Failure {
    Failure::source(path, "empty_input", "it holds no calls").next("playproof init")
}

/// The recording as a trace, and its mapping where it needs one.
fn opened(
    root: &Path,
    path: &str,
    mappings: &mut Vec<Drafted>,
    redaction: &RedactionRules,
) -> Result<(Input<'static>, Option<String>), Failure> {
    refuse_others(path)?;
    match inputs::shape(path)? {
        Shape::Empty => Err(reading::empty(path).next("playproof init")),
        Shape::Known => Ok((inputs::trace(path, None, redaction)?, None)),
        Shape::Foreign => {
            let bytes = inputs::whole(path)?;
            let (imported, mapping) = mapped(root, path, &bytes, mappings, redaction)?;
            let lines = Box::new(Cursor::new(imported.lines));
            Ok((
                Input { name: path.to_owned(), lines, loss: Some(imported.loss), origins: Some(imported.origins) },
                Some(mapping),
            ))
        }
    }
}

/// Refuses what cannot be read twice, or is no recording.
fn refuse_others(path: &str) -> Result<(), Failure> {
    if path == files::STDIN {
        let said = "`--from` wants a file: standard input cannot be read again by the commands that come next";
        return Err(Failure::said(said).next("playproof help init"));
    }
    match inputs::is_fixture(path) {
        true => Err(Failure::said(format!("`{path}` is no trace: what ends in `.yaml` is written by people"))
            .next("playproof help init")),
        false => Ok(()),
    }
}

/// A foreign recording under the first mapping that reads it, or under one that is drafted from it.
fn mapped(
    root: &Path,
    path: &str,
    bytes: &[u8],
    mappings: &mut Vec<Drafted>,
    redaction: &RedactionRules,
) -> Result<(Imported, String), Failure> {
    for drafted in mappings.iter() {
        let read = mapping::apply(&drafted.mapping, bytes, path, redaction).ok();
        if let Some(imported) = read.filter(|imported| imported.loss.results > 0) {
            return Ok((imported, drafted.path()));
        }
    }
    let draft = mapping::draft(bytes, &files::lasting(root, path)).map_err(|report| redaction.report(report))?;
    let draft = draft.map_err(|why| unmapped(path, &why, redaction))?;
    if draft.of_rows.iter().any(|said| redaction.text(said) != **said) {
        return Err(Failure::source(path, "redacted", "a mapping for it would say what `redaction` takes out")
            .help("write one by hand that reads other fields, and name it with `--map`")
            .next("playproof schema mapping"));
    }
    let mapping = mapping::parse(Source::whole("drafted mapping", &*draft.text))?;
    let imported = mapping::apply(&mapping, bytes, path, redaction)?;
    let taken: BTreeSet<&str> = mappings.iter().map(|drafted| drafted.stem.as_str()).collect();
    let stem = first_free(&stem(path), |name| taken.contains(name));
    let drafted = Drafted { stem, text: draft.text, mapping };
    let file = drafted.path();
    mappings.push(drafted);
    Ok((imported, file))
}

fn unmapped(path: &str, why: &mapping::Unmapped, redaction: &RedactionRules) -> Failure {
    let failure = Failure::source(
        path,
        "unmapped",
        format!("this is no recording that is recognised, and no field of it looks like {}", why.missing),
    );
    let fields: Vec<String> = why.fields.iter().map(|field| format!("`{}`", redaction.text(field))).collect();
    let has =
        if fields.is_empty() { "it holds no rows".to_owned() } else { format!("its rows have {}", fields.join(", ")) };
    failure
        .help(format!("{has}; if it is a log of tool calls, write a mapping for it by hand and name it with `--map`"))
        .next("playproof schema mapping")
}

/// The name of a file without folders and endings.
fn stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    slug(name.trim_start_matches('.').split('.').next().unwrap_or(name))
}
