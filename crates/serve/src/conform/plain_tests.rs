//! Plain code: the playbook's own decisions are no difference, and each harm is found by the ledger.

use std::collections::BTreeMap;

use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Recording, Scenario};
use playproof_engine::time::{Duration, Instant};
use serde_json::{Value, json};

use super::compared::Expected;
use super::plain::{Asked, askable, asked, millis};
use super::tests::{plan, runs};

/// Code that does what is written for each call, at its moments. A moment that has come is made up for.
fn by_the_book(
    decided: &BTreeMap<String, Vec<(Instant, String)>>,
) -> impl FnMut(&str) -> Result<String, String> + use<> {
    let mut decided = decided.clone();
    let mut open: Vec<String> = Vec::new();
    move |line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let now = Duration::parse_millis(&line["at_ms"].to_string()).unwrap_or_default();
        let now = Instant::ZERO.plus(now);
        if line["type"] == "call" {
            open.push(line["id"].as_str().unwrap().to_owned());
        }
        let mut wants = Vec::new();
        for call in &open {
            let rest = decided.get_mut(call).unwrap();
            while rest
                .first()
                .is_some_and(|(at, what)| *at <= now && (what != "done cancelled" || line["type"] == "cancel"))
            {
                let (_, what) = rest.remove(0);
                wants.push(match what.split_once(' ').unwrap() {
                    ("send", attempt) => json!({"send": call, "attempt": attempt.parse::<u32>().unwrap()}),
                    (_, outcome) => json!({"done": call, "outcome": outcome}),
                });
            }
            if let Some((at, _)) = rest.first() {
                wants.push(json!({"wait": call, "until_ms": millis(*at)}));
            }
        }
        Ok(json!({"do": wants}).to_string())
    }
}

fn expected(name: &str, fixture: &Fixture) -> Expected {
    let plan = plan(name, &Tools::default());
    let scenario = Scenario::of_fixture(fixture, &plan);
    let Recording { record, .. } = Recording::of_fixture(&plan, fixture, &scenario);
    let names: Vec<String> = scenario.calls.iter().map(|call| call.name.to_owned()).collect();
    Expected::of(&record, &names)
}

#[test]
fn the_decisions_of_the_playbook_sent_by_plain_code_are_the_same_on_every_fixture_that_it_can_be_asked() {
    let mut asked_count = 0;
    for (fixture_name, name, fixture) in runs() {
        let plan = plan(&name, &Tools::default());
        let how = askable(&plan, &fixture);
        if how.why_not.is_some() {
            continue;
        }
        asked_count += 1;
        let code = by_the_book(&expected(&name, &fixture).decided);
        let found = asked(&plan, &fixture, false, code);
        assert_eq!(found.what_differs(), [None, None], "{fixture_name} under {name}");
        assert!(found.harm.is_empty() && found.effects.0 == found.effects.1, "{fixture_name} under {name}: {found:?}");
        if how.apart {
            let apart = asked(&plan, &fixture, true, by_the_book(&expected(&name, &fixture).decided));
            assert_eq!(apart.what_differs(), [None, None], "{fixture_name} under {name}, apart");
            assert_eq!(apart.effects, found.effects, "{fixture_name} under {name}, apart");
        }
    }
    assert!(asked_count > 150, "{asked_count} were asked");
}

/// Code that sends up to `most` times with `keys` at once after each answer, and then gives a value or raises.
fn found(fixture: &str, most: u64, key: impl Fn(u64) -> Value, end: &str) -> Asked {
    let (_, name, fixture) =
        runs().into_iter().find(|(known, name, _)| known == fixture && name == "standard").unwrap();
    let end = end.to_owned();
    asked(&plan(&name, &Tools::default()), &fixture, false, move |line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let (id, sent) = (&line["id"], line["attempt"].as_u64().unwrap_or(0));
        let is_over = line["ok"] == true || sent == most;
        let send = || json!({"send": id, "attempt": sent + 1, "key": key(sent)});
        Ok(match line["type"].as_str().unwrap() {
            _ if line["late"] == true => json!({"do": []}),
            "call" if most == 0 => json!({"do": [{"done": id, "outcome": end}]}),
            "answer" if is_over => {
                json!({"do": [{"done": id, "outcome": if line["ok"] == true { "value" } else { &*end }}]})
            }
            "call" | "answer" => json!({"do": [send()]}),
            _ => json!({"do": []}),
        }
        .to_string())
    })
}

#[test]
fn each_harm_is_found_and_a_careful_end_is_none() {
    let refund = "unkeyed-refund-times-out-after-landing";
    let harm = |found: &Asked| found.harm.iter().map(|harm| (harm.finding, harm.effects)).collect::<Vec<_>>();
    assert_eq!(harm(&found(refund, 1, |_| Value::Null, "raised")), []);
    assert_eq!(harm(&found(refund, 3, |_| Value::Null, "raised")), [("duplicate_effect", (3, 1))]);
    assert_eq!(harm(&found("keys-replay-the-first-answer", 3, |_| json!("ik_1"), "raised")), []);
    let new_each_time = found("keys-replay-the-first-answer", 3, |n| json!(format!("k{n}")), "raised");
    assert_eq!(harm(&new_each_time), [("possible_duplicate_effect", (2, 1))]);
    let claims = found("a-denial-escalates-and-is-never-retried", 0, |_| Value::Null, "value");
    assert_eq!(harm(&claims), [("untruthful_outcome", (0, 0))]);
}
