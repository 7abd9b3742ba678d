//! The fixtures of a draft: a failure that it is for, and one that it must not catch; from the recording where it has
//! them, else made up. Each is run before it is taken.

use std::collections::BTreeSet;

use super::drafting::Target;
use super::recorded;
use super::seen::Seen;
use crate::exit::Failure;
use crate::project::Project;
use crate::workspace::Workspace;
use playproof_analysis::coverage::{expected, probes, to_yaml};
use playproof_analysis::mining::Example;
use playproof_analysis::proposal::{Draft, VerdictChange};
use playproof_engine::call::RecordedCall;
use playproof_engine::fixture::{Expect, ExpectCall, Fixture};
use playproof_engine::ids::first_free;
use playproof_engine::playbook::UNCLASSIFIED;
use playproof_engine::sim::{Plan, Scenario, Simulator};
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;
use playproof_report::text::{escape_unprintable, fitted};

/// Recorded failures that are tried as look-alikes.
const TRIED: usize = 20;

/// A fixture of the draft under the name of its file.
pub type Drafted = (String, Fixture);

/// The playbook as it is and as drafted.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// The draft.
    pub draft: &'a Draft,
    /// The playbook as it is.
    pub before: &'a Plan,
    /// The playbook as drafted.
    pub after: &'a Plan,
}

impl Bench<'_> {
    fn shows(plan: &Plan, fixture: &Fixture) -> Expect {
        let scenario = Scenario::of_fixture(fixture, |tool| plan.facts(tool));
        let mut simulator = Simulator::new();
        let record = simulator.rehearse(plan, &scenario);
        expected(plan, &scenario, record)
    }

    /// What a run shows, as what the fixture is meant to show: for its author to read.
    fn with_expectation(&self, mut fixture: Fixture) -> Fixture {
        let shown = Bench::shows(self.after, &fixture);
        fixture.expect.insert(self.draft.playbook.clone(), shown);
        fixture
    }

    /// A look-alike says what must not happen, and that alone: a verdict of its own may be given to it later.
    fn with_exclusion(&self, mut fixture: Fixture) -> Fixture {
        let excluded = ExpectCall { not_verdicts: Some(vec![self.draft.verdict.clone()]), ..ExpectCall::default() };
        let calls = fixture.calls.iter().map(|call| (call.name.clone(), excluded.clone())).collect();
        fixture.expect.insert(self.draft.playbook.clone(), Expect { calls, ..Expect::default() });
        fixture
    }

    fn gets(&self, expect: &Expect) -> bool {
        verdicts(expect).any(|one| *one == self.draft.verdict)
    }

    /// Whether the fixture is one that the draft is for: it gets the verdict, and did not before; where no rule is
    /// added, what it shows is another.
    fn catches(&self, fixture: &Fixture) -> bool {
        if !self.is_readable(fixture) {
            return false;
        }
        let (before, after) = (Bench::shows(self.before, fixture), Bench::shows(self.after, fixture));
        let is_changed = if self.has_rule() { !self.gets(&before) } else { before != after };
        self.gets(&after) && is_changed
    }

    /// Whether the fixture fails, and not in the way that the draft is for.
    fn spares(&self, fixture: &Fixture) -> bool {
        let after = Bench::shows(self.after, fixture);
        verdicts(&after).next().is_some() && !self.gets(&after) && self.is_readable(fixture)
    }

    /// Whether its file can be read: a trace may say what no file of ours can, such as a tool without a name.
    fn is_readable(&self, fixture: &Fixture) -> bool {
        let whole = self.with_exclusion(Fixture { title: "t".to_owned(), ..fixture.clone() });
        fixture::parse(Source::whole("", to_yaml(&whole))).is_ok()
    }

    /// Whether the draft has a rule, which could catch too much.
    fn has_rule(&self) -> bool {
        self.draft.rule.is_some() || matches!(self.draft.change, VerdictChange::Added { .. })
    }
}

fn verdicts(expect: &Expect) -> impl Iterator<Item = &String> {
    expect.calls.values().flat_map(|call| call.verdicts.iter().flatten())
}

/// Both fixtures, under names that no fixture of the project has.
///
/// # Errors
/// Recordings or a folder that cannot be read.
pub fn fixtures(
    bench: &Bench<'_>,
    target: &Target,
    workspace: &Workspace,
    project: &Project,
    seen: Option<&Seen>,
    notes: &mut Vec<String>,
) -> Result<Vec<Drafted>, Failure> {
    let mut caught = seen.map(|seen| caught(bench, seen, project)).transpose()?.flatten();
    let mut spared = None;
    if bench.has_rule() {
        spared = seen.map(|seen| spared_of(bench, seen, project)).transpose()?.flatten();
    }
    if caught.is_none() || (spared.is_none() && bench.has_rule()) {
        let all: Vec<Fixture> =
            probes(bench.after, &bench.draft.playbook).into_iter().map(|probe| probe.fixture).collect();
        caught = caught.or_else(|| all.iter().find(|fixture| bench.catches(fixture)).cloned());
        if spared.is_none() && bench.has_rule() {
            let why = seen.map(|seen| why_made_up(bench, seen));
            spared = made_up(bench, &all, why.as_deref());
            notes.extend(why.map(|why| format!("{why}: the look-alike is made up, and waits for your words")));
            if seen.is_some_and(|seen| seen.is_kept_alone) {
                notes.push("(with `--trace` and what it was recorded in, one may be found there)".to_owned());
            }
        }
    }
    let taken = workspace.fixture_names()?;
    let caught = caught.map(|fixture| bench.with_expectation(fixture));
    let spared = spared.map(|fixture| bench.with_exclusion(fixture));
    let named = [(target.id.clone(), caught), (format!("not-{}", target.id), spared)];
    let fixtures = named.into_iter().filter_map(|(name, fixture)| {
        Some((first_free(&name, |name| taken.iter().any(|other| other == name)), fixture?))
    });
    Ok(fixtures.collect())
}

/// A recorded failure that the draft is for: one that it catches where there is one, else the first.
fn caught(bench: &Bench<'_>, seen: &Seen, project: &Project) -> Result<Option<Fixture>, Failure> {
    if let Some((call, note)) = &seen.own {
        let title = escape_unprintable(&fitted(note, 120)).into_owned();
        return Ok(Some(recorded::fixture(call, title, &bench.draft.playbook, bench.after)));
    }
    let all = recorded_fixtures(bench, seen, &seen.cluster.examples, project)?;
    let best = all.iter().find(|fixture| bench.catches(fixture)).cloned();
    Ok(best.or_else(|| all.into_iter().next()))
}

/// The nearest recorded failure that the draft spares.
fn spared_of(bench: &Bench<'_>, seen: &Seen, project: &Project) -> Result<Option<Fixture>, Failure> {
    let others = seen.cluster.others.get(..TRIED.min(seen.cluster.others.len())).unwrap_or_default();
    let all = recorded_fixtures(bench, seen, others, project)?;
    Ok(all.into_iter().find(|fixture| bench.spares(fixture)))
}

/// The calls of examples as fixtures, in the order of the examples; each input is read once.
fn recorded_fixtures(
    bench: &Bench<'_>,
    seen: &Seen,
    examples: &[Example],
    project: &Project,
) -> Result<Vec<Fixture>, Failure> {
    let input_of = |example: &Example| usize::try_from(example.place.input).ok();
    let mut found: Vec<Option<RecordedCall>> = vec![None; examples.len()];
    for (number, (input, reading)) in seen.inputs.iter().enumerate() {
        let here = || examples.iter().enumerate().filter(|(_, example)| input_of(example) == Some(number));
        let wanted: BTreeSet<&str> = here().map(|(_, example)| example.reference.as_str()).collect();
        if wanted.is_empty() {
            continue;
        }
        let calls = recorded::calls(input, &wanted, reading, &project.redaction, bench.after)?;
        for (n, example) in here() {
            if let Some(place) = found.get_mut(n) {
                *place = calls.get(&example.reference).cloned();
            }
        }
    }
    let fixture = |(call, example): (RecordedCall, &Example)| {
        let message = example.message.as_deref().unwrap_or("nothing");
        let title = escape_unprintable(&format!("{} says: {}", call.tool(), fitted(message, 120))).into_owned();
        recorded::fixture(&call, title, &bench.draft.playbook, bench.after)
    };
    Ok(found.into_iter().zip(examples).filter_map(|(call, example)| Some(fixture((call?, example)))).collect())
}

/// Why the recording has no look-alike.
fn why_made_up(bench: &Bench<'_>, seen: &Seen) -> String {
    match seen.cluster.others.is_empty() {
        true => "no other failure was recorded".to_owned(),
        false => format!("every other recorded failure that was tried gets `{}` too", bench.draft.verdict),
    }
}

/// A failure of another verdict, best one that nobody knows, whose author must say why it is near.
fn made_up(bench: &Bench<'_>, all: &[Fixture], why: Option<&str>) -> Option<Fixture> {
    let spared: Vec<&Fixture> = all.iter().filter(|fixture| bench.spares(fixture)).collect();
    let is_unknown = |fixture: &&&Fixture| verdicts(&Bench::shows(bench.after, fixture)).any(|one| one == UNCLASSIFIED);
    let fixture = *spared.iter().find(is_unknown).or(spared.first())?;
    let why = why.map_or_else(String::new, |why| format!("made up, for {why}: "));
    let title = format!("write this - {why}a failure that looks like {} and is none", bench.draft.verdict);
    Some(Fixture { title, ..fixture.clone() })
}
