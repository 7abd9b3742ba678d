//! Every reversal: redeemed, refused, lost, not answered, without a token, and with one that was redeemed before.

use super::all::Probing;
use crate::coverage::prefix::Kit;
use crate::coverage::shape::Shape;
use crate::coverage::story;
use crate::coverage::story::Story;
use playproof_engine::event::EffectClaim;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{Access, Compensation, UnsafePolicy};
use playproof_engine::upstream::ScriptedAnswer;

pub(super) fn add(probing: &mut Probing<'_>) {
    let count = probing.kit.plan.playbook.verdicts.len();
    let mut stories = Vec::new();
    for id in (0..).map(VerdictId).take(count) {
        let then = &probing.kit.plan.playbook.verdict(id).then;
        let stands_in = match then {
            Compensation::RetryWithBackoff(retry) => matches!(retry.on_unsafe, UnsafePolicy::Reverse(_)),
            Compensation::RefreshEvidence(refresh) => matches!(refresh.on_unsafe, UnsafePolicy::Reverse(_)),
            _ => false,
        };
        let wanted = |shape: &Shape| match then {
            Compensation::IssueReversal(_) => true,
            _ => stands_in && !probing.kit.sends_again(id, *shape),
        };
        for shape in Shape::all().into_iter().filter(wanted) {
            stories.extend(of_shape(&probing.kit, id, shape));
        }
    }
    for (name, story) in stories {
        probing.add(name, story);
    }
}

fn of_shape(kit: &Kit<'_>, id: VerdictId, shape: Shape) -> Vec<(String, Story)> {
    let Some(made) = kit.failure(id, shape, 1, None) else { return Vec::new() };
    let tool = made.tool_for(shape).to_owned();
    let verdict = kit.plan.playbook.verdict(id);
    let mut failure = story::failure(kit, made, shape, 1, &tool);
    if verdict.effect == EffectClaim::Unknown && shape.access == Access::Write {
        failure.applied = Some(true); // so that there is something to take back
    }
    let story = |what: &str, answers: Vec<ScriptedAnswer>| {
        let title = format!("{} on {}: the reversal {what}", verdict.name, shape.words().replace('-', " "));
        let name = format!("{}-on-{}-whose-reversal-{}", verdict.name, shape.words(), what.replace(' ', "-"));
        (name, Story::of(title, shape, &tool).answered([failure.clone()]).reversed(answers))
    };
    if !shape.token {
        return vec![story("has no token", Vec::new())];
    }
    let (name, twice) = story("is asked for twice", vec![story::ok()]);
    vec![
        story("works", vec![story::ok()]),
        story("is refused", vec![story::refused()]),
        story("is lost", vec![story::lost()]),
        story("is not answered", Vec::new()),
        (name, twice.twice()),
    ]
}
