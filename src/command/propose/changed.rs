//! The look-alikes of earlier changes that a draft gives its verdict, where no rule knew them before. Names their
//! goldens; whatever else changes is left to its author.

use crate::exit::Failure;
use crate::workspace::Workspace;
use playproof_analysis::check::Id;
use playproof_analysis::proposal::{Draft, FixtureDiff, before_and_after};
use playproof_engine::fixture::{ExpectCall, Fixture};
use playproof_engine::playbook::UNCLASSIFIED;
use playproof_engine::sim::{Plan, Simulator};
use playproof_formats::golden::Class;

/// Each such golden with the worst that changes in it.
///
/// # Errors
/// Fixtures that cannot be used.
pub fn named(
    draft: &Draft,
    workspace: &Workspace,
    plans: [&Plan; 2],
    notes: &mut Vec<String>,
) -> Result<Vec<(String, Class)>, Failure> {
    if draft.rule.is_none() {
        return Ok(Vec::new());
    }
    let mut simulator = Simulator::new();
    let mut found = Vec::new();
    for (name, fixture) in workspace.load_fixtures(&workspace.fixture_names()?, std::num::NonZeroUsize::MIN)? {
        if !is_look_alike(&fixture, &draft.playbook) {
            continue;
        }
        let id = Id { playbook: draft.playbook.clone(), fixture: name };
        let diff = before_and_after(&mut simulator, &id, &fixture, plans, false);
        let Some(class) = diff.class().filter(|_| is_meant(&diff, &draft.verdict)) else { continue };
        notes.push(format!("{id}, an earlier look-alike, gets the verdict: the proposal names its golden ({class})"));
        found.push((id.to_string(), class));
    }
    Ok(found)
}

/// Whether the fixture says what its calls are not, and nothing else of what becomes of them.
fn is_look_alike(fixture: &Fixture, playbook: &str) -> bool {
    let expect = fixture.expect.get(playbook);
    expect.is_some_and(|expect| {
        let says_that_alone = |call: &ExpectCall| {
            let alone = ExpectCall { not_verdicts: call.not_verdicts.clone(), ..ExpectCall::default() };
            call.not_verdicts.is_some() && *call == alone
        };
        !expect.calls.is_empty() && expect.calls.values().all(says_that_alone)
    })
}

/// Whether nothing changes but that failures which no rule knew get the verdict, with what follows from it.
fn is_meant(diff: &FixtureDiff, verdict: &str) -> bool {
    let is_found = |one: &str, other: &str| one == other || (one == UNCLASSIFIED && other == verdict);
    diff.contradictions.is_empty()
        && diff.gets(verdict)
        && diff.before.iter().zip(&diff.after).all(|(before, after)| {
            before.verdicts.split(", ").zip(after.verdicts.split(", ")).all(|(one, other)| is_found(one, other))
        })
}
