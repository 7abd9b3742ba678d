//! What does not matter changes no answer: when a world begins, how its things are called, a call that has nothing to do
//! with the others, the order in which runs are written, and whether a moment is given as a time or by what ends then.

use std::collections::BTreeSet;

use playproof_engine::fixture::{Fixture, FixtureCall};
use playproof_engine::sim::{Plan, Scenario, Simulator};
use playproof_engine::time::{Duration, Instant};

use super::{Answers, Leave, all_answers, number, worlds};
use crate::seeds::share;

/// Worlds of the gate.
const WORLDS: u64 = 120;

/// Every so many worlds have the first plan, whose calls share nothing: what one run does is nothing to another.
const SHARES_NOTHING: u64 = 6;

/// What differs between the answers of every so many worlds and those of the changed ones; `change` gives none where it does
/// not apply.
fn compare(every: u64, change: impl Fn(&Plan, &Fixture) -> Option<Fixture>) {
    let plans = worlds::plans();
    let first = number("PLAYPROOF_WORLD", 1);
    let (mut tried, mut wrong) = (0, Vec::new());
    assert_eq!(plans.len() as u64, SHARES_NOTHING);
    for seed in (first..first + number("PLAYPROOF_WORLDS", share(WORLDS))).map(|seed| seed * every) {
        let place = usize::try_from(seed % plans.len() as u64).expect("a place");
        let (plan, world) = (&plans[place], worlds::world(&worlds::text(seed)));
        let Some(other) = change(plan, &world) else { continue };
        tried += 1;
        let (one, two) = (leaves(all_answers(plan, &world, seed)), leaves(all_answers(plan, &other, seed)));
        wrong.extend(difference(seed, &one, &two));
    }
    assert!(wrong.is_empty(), "{} of {tried} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 0, "no world was changed");
}

fn leaves(answers: Answers) -> BTreeSet<Leave> {
    answers.leaves.into_iter().filter(|leave| !leave.call.starts_with("beside")).collect()
}

fn difference(seed: u64, one: &BTreeSet<Leave>, two: &BTreeSet<Leave>) -> Option<String> {
    let lost: Vec<&Leave> = one.difference(two).collect();
    let won: Vec<&Leave> = two.difference(one).collect();
    (one != two).then(|| format!("seed {seed}: no longer {lost:?}, now {won:?}"))
}

#[test]
fn a_world_that_begins_later_has_the_same_answers() {
    compare(1, |_, world| {
        let mut later = world.clone();
        let shift = Duration::from_millis(777);
        for call in &mut later.calls {
            call.cancel_at = call.cancel_at.map(|at| at.plus(shift));
            call.at = if call.after.is_empty() { call.at.plus(shift) } else { call.at };
        }
        Some(later)
    });
}

#[test]
fn names_change_no_answer() {
    let (plans, others) = (worlds::plans(), worlds::plans_with(&|text| worlds::renamed(&text)));
    let mut wrong = Vec::new();
    for seed in 1..=share(WORLDS) {
        let place = usize::try_from(seed % plans.len() as u64).expect("a place");
        let text = worlds::text(seed);
        let one = leaves(all_answers(&plans[place], &worlds::world(&text), seed));
        let one = one.into_iter().map(|leave| Leave { call: worlds::renamed(&leave.call), ..leave }).collect();
        let two = leaves(all_answers(&others[place], &worlds::world(&worlds::renamed(&text)), seed));
        wrong.extend(difference(seed, &one, &two));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_call_that_has_nothing_to_do_with_the_others_changes_no_answer() {
    compare(SHARES_NOTHING, |_, world| {
        let mut more = world.clone();
        let beside = |name: &str, at| FixtureCall {
            name: name.to_owned(),
            run: Some("elsewhere".to_owned()),
            tool: "log".to_owned(),
            args: r#"{"x":99}"#.to_owned(),
            at: Instant::from_millis(at),
            ..FixtureCall::default()
        };
        more.calls.insert(0, beside("beside0", 0));
        more.calls.iter_mut().flat_map(|call| &mut call.after).for_each(|place| *place += 1);
        more.calls.push(beside("beside1", 30));
        let names_runs = world.calls.iter().all(|call| call.run.is_some());
        names_runs.then_some(more)
    });
}

#[test]
fn the_order_in_which_runs_are_written_changes_no_answer() {
    compare(SHARES_NOTHING, |_, world| {
        let keys = world.calls.iter().filter(|call| call.key.is_some()).count(); // a key means the same in all runs
        let mut order: Vec<usize> = (0..world.calls.len()).collect();
        order.sort_by(|one, two| world.calls[*two].run.cmp(&world.calls[*one].run));
        let mut other = world.clone();
        other.calls = order.iter().map(|place| world.calls[*place].clone()).collect();
        for place in other.calls.iter_mut().flat_map(|call| &mut call.after) {
            *place = order.iter().position(|old| old == place).expect("its new place");
        }
        (keys == 0 && other != *world).then_some(other)
    });
}

#[test]
fn a_moment_is_the_same_as_a_time_and_as_the_end_of_another_call() {
    compare(1, |plan, world| {
        let scenario = Scenario::of_fixture(world, plan);
        let mut simulator = Simulator::new();
        let record = simulator.run_fixture(plan, &scenario);
        let mut timed = world.clone();
        let mut is_changed = false;
        for call in timed.calls.iter_mut().filter(|call| !call.after.is_empty()) {
            let own = |event: &&playproof_engine::event::DecisionEvent| {
                let name = scenario.calls[event.call.index()].name;
                name == call.name || call.steps.iter().any(|step| step.name == *name)
            };
            let made = record.events.iter().find(own)?.at;
            // What else happens at that moment may come before it or after it.
            if record.events.iter().filter(|event| event.at == made).any(|event| !own(&event)) {
                continue;
            }
            (call.at, call.after, call.after_delay) = (made, Vec::new(), Duration::default());
            is_changed = true;
        }
        is_changed.then_some(timed)
    });
}
