//! Each verdict on each shape of call, on the first attempt and on a later one.

use super::all::Probing;
use crate::coverage::shape::Shape;
use crate::coverage::story;
use crate::coverage::story::Story;
use playproof_engine::ids::VerdictId;

pub(super) fn add(probing: &mut Probing<'_>) {
    let verdicts = probing.kit.plan.playbook.verdicts.len();
    for verdict in (0..).map(VerdictId).take(verdicts) {
        for shape in Shape::all() {
            for first in [1, 2] {
                if let Some((name, story)) = cell(probing, verdict, shape, first) {
                    probing.add(name, story);
                }
            }
        }
    }
}

/// The verdict on attempt `from` of such a call, or on the earliest after it that its rules take.
fn cell(probing: &Probing<'_>, verdict: VerdictId, shape: Shape, from: u32) -> Option<(String, Story)> {
    let kit = &probing.kit;
    // Rules that wait for a later attempt wait for one of the next few; others take any.
    let most = kit.plan.playbook.limits.max_attempts.min(from.saturating_add(30));
    let (attempt, made) = (from..=most).find_map(|at| Some((at, kit.failure(verdict, shape, at, None)?)))?;
    let tool = made.tool_for(shape).to_owned();
    let way = kit.way_to(attempt, shape, &tool, Some(verdict))?;
    let mut answers: Vec<_> =
        way.iter().zip(1..).map(|(step, at)| story::failure(kit, step, shape, at, &tool)).collect();
    answers.push(story::failure(kit, made, shape, attempt, &tool));
    answers.push(story::ok());
    let place = if from == 1 { "first" } else { "later" };
    let verdict = &kit.plan.playbook.verdict(verdict).name;
    let title = format!("{verdict} on the {place} attempt of {}", shape.words().replace('-', " "));
    let story = Story::of(title, shape, &tool)
        .answered(answers)
        .refreshed((0..=way.len()).map(|_| story::ok()))
        .reversed([story::ok()]);
    Some((format!("{verdict}-on-the-{place}-attempt-of-{}", shape.words()), story))
}
