//! Finds the one call that is meant: by reference, or by its own id. Says which ones are near where none is.

use super::case::Case;
use crate::cli::exit::Failure;
use crate::cli::reading::{Reading, each_call};
use crate::cli::{files, fixtures, inputs};
use crate::diagnostic::did_you_mean;
use crate::report::text;
use crate::sim::Plan;
use crate::trace::model::RecordedCall;
use crate::trace::redact::RedactionRules;
use crate::upstream::BeyondTape;

/// References that are listed where a name does not tell.
const LISTED: usize = 10;

/// Names that are remembered, to say which is near.
const REMEMBERED: usize = 100_000;

/// How the call is looked for.
pub struct Search<'a> {
    /// The input.
    pub input: &'a str,
    /// The reference or id; none where the input has a single call.
    pub wanted: Option<&'a str>,
    /// How a trace is read.
    pub reading: &'a Reading,
    /// What answers where the recording ends.
    pub beyond: BeyondTape,
    /// What must not be shown.
    pub redaction: &'a RedactionRules,
}

/// Finds the call.
///
/// # Errors
/// An input that cannot be read; no such call, or several.
pub fn find(search: &Search<'_>, plan: &Plan) -> Result<Case, Failure> {
    match inputs::is_fixture(search.input) {
        true => in_fixture(search),
        false => in_trace(search, plan),
    }
}

fn in_fixture(search: &Search<'_>) -> Result<Case, Failure> {
    let fixture = fixtures::load(search.input)?;
    let names: Vec<&str> = fixture.calls.iter().map(|call| call.name.as_str()).collect();
    let name = match (search.wanted, names.as_slice()) {
        (None, [only]) => (*only).to_owned(),
        (None, _) => return Err(several(search, &names)),
        (Some(wanted), _) if names.contains(&wanted) => wanted.to_owned(),
        (Some(wanted), _) => return Err(unknown(search, wanted, &names)),
    };
    Ok(Case::Rehearsed { fixture: Box::new(fixture), name })
}

fn in_trace(search: &Search<'_>, plan: &Plan) -> Result<Case, Failure> {
    let mapping = search.reading.mapping()?;
    let input = inputs::trace(search.input, mapping.as_ref())?;
    let writes = |tool: &str| plan.facts(tool).access == crate::playbook::model::Access::Write;
    let mut found: Vec<RecordedCall> = Vec::new();
    let mut count = 0_usize;
    let mut names: Vec<String> = Vec::new();
    each_call(0, input, search.reading.options(), search.redaction, &writes, |closed| {
        let call = closed.into_call();
        let reference = call.reference();
        let is_wanted = match search.wanted {
            Some(wanted) => reference == wanted || call.id() == Some(wanted),
            None => true,
        };
        if names.len() < REMEMBERED {
            names.extend([Some(reference.as_str()), call.id()].into_iter().flatten().map(str::to_owned));
        }
        if is_wanted {
            count += 1;
            // A reference is unique, and stands above a call's own label.
            if Some(reference.as_str()) == search.wanted {
                found.insert(0, call);
            } else if found.len() <= LISTED {
                found.push(call);
            }
        }
    })?;
    let exact = found.first().is_some_and(|call| Some(call.reference().as_str()) == search.wanted);
    if count > 1 && !exact {
        let references: Vec<String> = found.iter().map(RecordedCall::reference).collect();
        return Err(several(search, &references.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    match found.into_iter().next() {
        Some(call) => Ok(Case::Recorded {
            call: Box::new(call),
            beyond: search.beyond.clone(),
            input: files::display_name(search.input),
        }),
        None => {
            Err(unknown(search, search.wanted.unwrap_or(""), &names.iter().map(String::as_str).collect::<Vec<_>>()))
        }
    }
}

fn several(search: &Search<'_>, names: &[&str]) -> Failure {
    let listed: Vec<String> = names.iter().take(LISTED).map(|name| text::fitted(name, 60).into_owned()).collect();
    let more = if names.len() > LISTED { ", and more" } else { "" };
    let said = match search.wanted {
        Some(wanted) => format!("`{wanted}` is the id of several calls: {}{more}", listed.join(", ")),
        None => format!("say which call: {}{more}", listed.join(", ")),
    };
    Failure::said(said).next(format!(
        "playproof explain {} --call '{}'",
        search.input,
        listed.first().map_or("", |first| first)
    ))
}

fn unknown(search: &Search<'_>, wanted: &str, names: &[&str]) -> Failure {
    let failure = Failure::said(format!("there is no call `{wanted}` in {}", files::display_name(search.input)));
    if names.is_empty() {
        return failure.help("it holds no calls at all");
    }
    match did_you_mean(wanted, names.iter().copied()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")).next(command(search, near)),
        None => {
            let listed: Vec<String> =
                names.iter().take(LISTED).map(|name| text::fitted(name, 60).into_owned()).collect();
            failure
                .help(format!("calls are named by run and number, or by their own id, such as {}", listed.join(", ")))
                .next(format!("playproof replay {}", text::shell_word(search.input)))
        }
    }
}

fn command(search: &Search<'_>, call: &str) -> String {
    text::shell_words(&["playproof", "explain", search.input, "--call", call])
}
