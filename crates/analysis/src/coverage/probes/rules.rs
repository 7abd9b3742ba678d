//! Each made-up failure once, on the plainest call that it fits; a call that does not fail, and one that is not
//! answered.

use super::all::Probing;
use crate::coverage::prefix::resends;
use crate::coverage::shape::{KEYED, Shape};
use crate::coverage::story;
use crate::coverage::story::Story;

pub(super) fn add(probing: &mut Probing<'_>) {
    let works = Story::of("A call that works", KEYED, KEYED.tool()).answered([story::ok()]);
    probing.add("a-call-that-works".into(), works);
    let silent = Story::of("A call that nothing answers", KEYED, KEYED.tool());
    probing.add("a-call-that-nothing-answers".into(), silent);
    let mut stories = Vec::new();
    for made in &probing.kit.made {
        let shapes: Vec<Shape> = Shape::all().into_iter().filter(|&shape| made.fits(shape)).collect();
        let Some(attempt) = made.attempt(1) else { continue };
        // On a call that is sent again, too: what a rule decides may show only in what follows.
        let Some(&shape) = shapes.first() else { continue };
        let tool = made.tool_for(shape).to_owned();
        let Some(way) = probing.kit.way_to(attempt, shape, &tool, Some(made.verdict)) else { continue };
        let playbook = &probing.kit.plan.playbook;
        let said = made.classified(probing.kit.plan, shape, attempt);
        let verdict = playbook.verdict(said.verdict);
        let rule = said.rule.map_or("otherwise", |rule| &playbook.rule(rule).name);
        let mut answers: Vec<_> =
            way.iter().zip(1..).map(|(step, at)| story::failure(&probing.kit, step, shape, at, &tool)).collect();
        answers.push(story::failure(&probing.kit, made, shape, attempt, &tool));
        if resends(&verdict.then) {
            answers.push(story::ok());
        }
        let refreshes = way.len() + 1;
        let title = format!("A failure that {rule} calls {}", verdict.name);
        let story = Story::of(title, shape, &tool).answered(answers).refreshed((0..refreshes).map(|_| story::ok()));
        stories.push((format!("{rule}-gives-{}", verdict.name), story.reversed([story::ok()])));
    }
    for (name, story) in stories {
        probing.add(name, story);
    }
}
