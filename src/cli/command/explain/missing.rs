//! What to say where the call that is meant is not there: which name is near, or which call its lines were joined to.
//! Finds no call that is there.

use super::find::{Search, command};
use super::names::Names;
use crate::cli::exit::Failure;
use crate::cli::reading::{Reading, each_call};
use crate::cli::{files, inputs};
use crate::playbook::model::Access;
use crate::report::text;
use crate::shell::Command;
use crate::sim::Plan;
use crate::trace::assemble::ClosedCall;
use crate::trace::model::Place;
use crate::trace::origin::Sources;

/// That traces have no such call, for a command that has not remembered what they are called: it reads them again.
pub fn missing(search: &Search<'_>, plan: &Plan, wanted: &str) -> Failure {
    let mut names = Names::default();
    let read = every_call(search, plan, search.reading, |sources, closed| names.remember_call(closed, sources));
    read.err().unwrap_or_else(|| unknown(search, plan, wanted, &names))
}

/// That there is no call of this name among those that were seen.
pub fn unknown(search: &Search<'_>, plan: &Plan, wanted: &str, names: &Names) -> Failure {
    let inputs: Vec<String> = search.inputs.iter().map(|input| files::display_name(input)).collect();
    let failure = Failure::said(format!("there is no call `{wanted}` in {}", inputs.join(", ")));
    if names.is_empty() {
        return failure.help("it holds no calls at all").next("playproof schema trace");
    }
    // An input that was piped is gone by now.
    let may_be_joined = search.reading.join_resends && !search.inputs.iter().any(|input| input == files::STDIN);
    if may_be_joined && let Ok(Some(joined)) = joined(search, plan, wanted) {
        return joined.told(search, failure, wanted);
    }
    if let Some((calls, first)) = names.of_run(wanted) {
        return failure.help(format!("`{wanted}` is a run; its calls are {calls}")).next(command(search, first));
    }
    match names.near(wanted) {
        Some(near) => failure.help(format!("did you mean `{near}`?")).next(command(search, near)),
        None => failure
            .help(format!(
                "calls are named by run and number, by FILE:LINE, or by their own id, such as {}",
                names.such_as()
            ))
            .next(
                search
                    .flags
                    .without(&["--note", "--expected", "--new"])
                    .after(Command::new("playproof replay").paths(search.inputs)),
            ),
    }
}

/// That traces have no such run, with the one that was probably meant, else a few; reads them again. Nothing where they
/// have no runs.
pub fn missing_run(search: &Search<'_>, plan: &Plan, wanted: &str) -> Option<Failure> {
    let mut names = Names::default();
    every_call(search, plan, search.reading, |sources, closed| names.remember_call(closed, sources)).ok()?;
    let runs = names.some_runs()?;
    let failure = Failure::said(format!("there is no call in a run `{wanted}`"));
    let again = Command::new(search.command).paths(search.inputs);
    Some(match names.near_run(wanted) {
        Some(near) => {
            failure.help(format!("did you mean `{near}`?")).next(search.flags.after(again.flag("--run", near)))
        }
        None => failure.help(format!("runs are {runs}")).next(search.flags.after(again)),
    })
}

/// What became of a call that is there where no resend is joined.
struct Joined {
    /// The call that holds its answers.
    into: String,
    /// It is that call, under another number.
    is_itself: bool,
}

impl Joined {
    fn told(&self, search: &Search<'_>, failure: Failure, wanted: &str) -> Failure {
        let into = text::fitted(&self.into, 100);
        let help = match self.is_itself {
            true => format!("with `--join-resends` it is called `{into}`: resends have no number of their own"),
            false => format!("`--join-resends` read `{wanted}` as a further attempt of `{into}`"),
        };
        failure.help(help).next(command(search, &self.into))
    }
}

/// The call that `wanted` was joined to: the one that now has its answers.
fn joined(search: &Search<'_>, plan: &Plan, wanted: &str) -> Result<Option<Joined>, Failure> {
    let apart = Reading { join_resends: false, ..search.reading.clone() };
    let mut meant: Option<(Place, Vec<Place>)> = None;
    every_call(search, plan, &apart, |sources, closed| {
        if meant.is_none() && (is_exactly(closed, wanted, sources) || closed.has_id(wanted)) {
            let answers = closed.raw().answers.iter().map(|answer| answer.place).collect();
            meant = Some((closed.raw().place, answers));
        }
    })?;
    let Some((place, answers)) = meant else { return Ok(None) };
    let mut joined = None;
    every_call(search, plan, search.reading, |sources, closed| {
        let call = closed.shown();
        let is_itself = call.place == place;
        let has_its = call.answers.iter().any(|answer| answer.inferred && answers.contains(&answer.place));
        if joined.is_none() && (is_itself || has_its) {
            joined = Some(Joined { into: sources.name_of(&call.reference(), call.place), is_itself });
        }
    })?;
    Ok(joined)
}

/// Whether `wanted` is the reference of a call, its place or that of one of its results.
pub fn is_exactly(closed: &ClosedCall, wanted: &str, sources: &Sources) -> bool {
    closed.has_reference(wanted) || sources.is_call_meant(&inputs::place(wanted), closed.raw())
}

fn every_call(
    search: &Search<'_>,
    plan: &Plan,
    reading: &Reading,
    mut each: impl FnMut(&Sources, &ClosedCall),
) -> Result<(), Failure> {
    let writes = |tool: &str| plan.facts(tool).access == Access::Write;
    let sources = inputs::sources(search.inputs);
    let mapping = reading.mapping()?;
    for (number, input) in search.inputs.iter().enumerate().filter(|(_, input)| !inputs::is_fixture(input)) {
        let mut trace = inputs::trace(input, mapping.as_ref(), search.redaction)?;
        if let Some(origins) = trace.origins.take() {
            sources.learn(number, origins);
        }
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        each_call(number, trace, reading.options(), search.redaction, &writes, |closed| {
            each(&sources, &closed);
        })?;
    }
    Ok(())
}
