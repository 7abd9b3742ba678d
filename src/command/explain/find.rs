//! Finds the one call that is meant: by reference, by its place, or by its own id. Names them where
//! several are.

use super::case::Case;
use super::names::{LISTED, Names};
use super::recorded::{Met, Watching};
use crate::exit::Failure;
use crate::flags::Flags;
use crate::reading::{Reading, each_call};
use crate::{files, fixtures, inputs};
use playproof_engine::sim::Plan;
use playproof_engine::upstream::BeyondTape;
use playproof_formats::shell::Command;
use playproof_report::text;
use playproof_trace::assemble::ClosedCall;
use playproof_trace::origin::Sources;
use playproof_trace::redact::RedactionRules;

/// What helps where resends are joined and a name is not there.
const RESENDS_HAVE_NO_NAME: &str =
    "with `--join-resends` a call that was sent again is an attempt of the first, and has no name of its own";

/// How the call is looked for.
pub struct Search<'a> {
    /// The words of the command, for those that it suggests.
    pub command: &'static str,
    /// The flags that it was given, but for `--call`.
    pub flags: Flags,
    /// The inputs, all of them traces or all of them fixtures.
    pub inputs: &'a [String],
    /// The reference, place or id; none where there is a single call.
    pub wanted: Option<&'a str>,
    /// How a trace is read.
    pub reading: &'a Reading,
    /// What answers where the recording ends.
    pub beyond: BeyondTape,
    /// What must not be shown.
    pub redaction: &'a RedactionRules,
}

/// Calls that may be meant.
#[derive(Default)]
struct Candidates {
    /// Those whose reference or place is the wanted one: these stand above a call's own id.
    exact: Vec<Candidate>,
    /// Those whose own id it is, or all where nothing is wanted.
    others: Vec<Candidate>,
    names: Names,
}

struct Candidate {
    input: String,
    reference: String,
    /// `FILE:LINE`; a fixture's call has none.
    place: Option<String>,
    case: Case,
}

/// Finds the call.
///
/// # Errors
/// An input that cannot be read; no such call, or several.
pub fn find(search: &Search<'_>, plan: &Plan) -> Result<Case, Failure> {
    let sources = inputs::sources(search.inputs);
    let mut candidates = Candidates::default();
    for (number, input) in search.inputs.iter().enumerate() {
        match inputs::is_fixture(input) {
            true => in_fixture(search, input, &mut candidates)?,
            false => in_trace(search, (number, input), plan, &sources, &mut candidates)?,
        }
    }
    let Candidates { exact, others, names } = candidates;
    let mut found = if exact.is_empty() { others } else { exact };
    match (found.len(), search.wanted) {
        (0, None) => Err(without_calls(search, "there is no call".to_owned())),
        (0, Some(wanted)) => Err(unknown(search, wanted, &names)),
        (1, _) => Ok(found.remove(0).case),
        _ => Err(several(search, &found)),
    }
}

impl Candidates {
    fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.others.is_empty()
    }

    /// Keeps a call if it may be meant; no more than tell that there are several.
    fn keep(&mut self, exact: bool, candidate: impl FnOnce() -> Candidate) {
        let list = if exact { &mut self.exact } else { &mut self.others };
        if list.len() <= LISTED {
            list.push(candidate());
        }
    }
}

fn in_fixture(search: &Search<'_>, input: &str, candidates: &mut Candidates) -> Result<(), Failure> {
    let fixture = fixtures::load(input)?;
    for call in &fixture.calls {
        candidates.names.remember(&call.name);
        if search.wanted.is_none_or(|wanted| wanted == call.name) {
            candidates.keep(search.wanted.is_some(), || Candidate {
                input: input.to_owned(),
                reference: call.name.clone(),
                place: None,
                case: Case::Rehearsed { fixture: Box::new(fixture.clone()), name: call.name.clone() },
            });
        }
    }
    Ok(())
}

/// A call of a trace that may be meant, and what the recording showed of it when it closed.
struct Wanted {
    exact: bool,
    closed: ClosedCall,
    met: Met,
}

fn in_trace(
    search: &Search<'_>,
    (number, input): (usize, &str),
    plan: &Plan,
    sources: &Sources,
    candidates: &mut Candidates,
) -> Result<(), Failure> {
    let mapping = search.reading.mapping()?;
    let mut trace = inputs::trace(input, mapping.as_ref(), search.redaction)?;
    let writes = |tool: &str| plan.facts(tool).access == playproof_engine::playbook::Access::Write;
    if let Some(origins) = trace.origins.take() {
        sources.learn(number, origins);
    }
    let mut watching = Watching::new(plan, &search.beyond, sources);
    let mut kept: Vec<Wanted> = Vec::new();
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    let ledger = each_call(number, trace, search.reading.options(), search.redaction, &writes, |closed| {
        let exact = search.wanted.is_some_and(|wanted| is_exactly(&closed, wanted, sources));
        let is_wanted = exact || search.wanted.is_none_or(|wanted| closed.has_id(wanted));
        if kept.is_empty() && candidates.is_empty() {
            candidates.names.remember_call(&closed, sources); // what is found needs no name that is near
        }
        let met = watching.take(&closed, is_wanted);
        if is_wanted && kept.iter().filter(|kept| kept.exact == exact).count() <= LISTED {
            kept.push(Wanted { exact, closed, met });
        }
    })?;
    search.reading.account_for(&files::display_name(input), &ledger)?;
    for Wanted { exact, closed, met } in kept {
        let recorded = watching.finish(&closed, met);
        candidates.keep(exact, || Candidate {
            input: input.to_owned(),
            reference: sources.name_of(&closed.shown().reference(), closed.shown().place),
            place: Some(sources.say(closed.shown().place)),
            case: Case::Recorded {
                call: Box::new(closed),
                beyond: search.beyond.clone(),
                sources: sources.clone(),
                recorded,
            },
        });
    }
    Ok(())
}

/// References, or places where references are not enough.
fn several(search: &Search<'_>, found: &[Candidate]) -> Failure {
    let mut references: Vec<&str> = found.iter().map(|candidate| candidate.reference.as_str()).collect();
    references.sort_unstable();
    references.dedup();
    let same = references.len() < found.len();
    let names: Vec<&str> = found
        .iter()
        .map(|candidate| match (same, &candidate.place) {
            (true, Some(place)) => place.as_str(),
            (true, None) => candidate.input.as_str(),
            (false, _) => candidate.reference.as_str(),
        })
        .collect();
    let listed: Vec<String> = names.iter().take(LISTED).map(|name| text::fitted(name, 100).into_owned()).collect();
    let more = if names.len() > LISTED { ", and more" } else { "" };
    let said = match search.wanted {
        Some(wanted) => format!("`{wanted}` is the name of several calls: {}{more}", listed.join(", ")),
        None => format!("say which call: {}{more}", listed.join(", ")),
    };
    let failure = Failure::said(said);
    match (found.first(), names.first()) {
        (Some(Candidate { reference, place: None, input, .. }), _) => {
            failure.next(search.flags.after(Command::new(search.command).path(input).flag("--call", reference)))
        }
        (_, Some(first)) => failure.next(command(search, first)),
        _ => failure,
    }
}

/// That there is no call of this name among those that were seen.
fn unknown(search: &Search<'_>, wanted: &str, names: &Names) -> Failure {
    let said = format!("there is no call `{wanted}`");
    if names.is_empty() {
        return without_calls(search, said);
    }
    let failure = Failure::said(format!("{said} in {}", inputs_of(search)));
    let failure = match (names.of_run(wanted), names.near(wanted)) {
        (Some((calls, first)), _) => {
            failure.help(format!("`{wanted}` is a run; its calls are {calls}")).next(command(search, first))
        }
        (None, Some(near)) => failure.help(format!("did you mean `{near}`?")).next(command(search, near)),
        (None, None) => {
            let said = "calls are named by run and number, by FILE:LINE, or by their own id, such as";
            let all = Command::new("playproof replay").paths(search.inputs);
            let flags = search.flags.without(&["--note", "--expected"]);
            failure.help(format!("{said} {}", names.such_as())).next(flags.after(all))
        }
    };
    if search.reading.join_resends { failure.and_help(RESENDS_HAVE_NO_NAME) } else { failure }
}

/// That no input has a call.
fn without_calls(search: &Search<'_>, said: String) -> Failure {
    Failure::said(format!("{said} in {}", inputs_of(search)))
        .help("no line of it is a call; a result belongs to a call before it")
        .next("playproof schema trace")
}

/// What people call the inputs.
fn inputs_of(search: &Search<'_>) -> String {
    search.inputs.iter().map(|input| files::display_name(input)).collect::<Vec<_>>().join(", ")
}

/// Whether `wanted` is the reference of a call, its place or that of one of its results.
fn is_exactly(closed: &ClosedCall, wanted: &str, sources: &Sources) -> bool {
    closed.has_reference(wanted) || sources.is_call_meant(&inputs::place(wanted), closed.raw())
}

/// The same command for one call.
fn command(search: &Search<'_>, call: &str) -> Command {
    search.flags.after(Command::new(search.command).paths(search.inputs).flag("--call", call))
}
