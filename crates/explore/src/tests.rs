//! What the search finds in small playbooks and in shipped ones, and that it finds what every script of answers shows.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use playproof_engine::event::{Decision, FindingId, LedgerKind, OutcomeKind, RequestKind};
use playproof_engine::ids::AttemptNo;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Crash, CrashAt, Plan, Scenario, Simulator};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{KeyDialect, Outage, Script, ScriptedAnswer, UpstreamReply};
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook;

use crate::alphabet::{Alphabet, KeyState, Letter};
use crate::assumption::Assumption;
use crate::calls::CallKind;
use crate::property::PROPERTIES;
use crate::search::{Bounds, End, Found, Search, ended};
use crate::verify::{Fate, Question, Verified, verify, verify_in};
use crate::world::{Row, WORLD};
use crate::{Assumed, guarantees};

pub(super) fn plan(text: &str) -> Plan {
    let parsed = playbook::parse(Source::whole("playbook", text)).unwrap_or_else(|report| panic!("{report}\n{text}"));
    Plan::new(parsed.playbook, &Tools::default())
}

fn shipped(name: &str) -> Plan {
    plan(playbook::embedded(name).unwrap())
}

pub(super) const ALL: Question<'_> =
    Question { playbook: "ours", properties: &[], states: 100_000, jobs: NonZeroUsize::MIN, changed: None };

/// A playbook of eight rules that breaks nothing.
const SOUND: &str = "\
format: playbook/1
name: sound
verdicts:
  no_answer:
    means: No answer came.
    effect: unknown
    then: { retry_with_backoff: { backoff_ms: [500], on_unsafe: { issue_reversal: { reason: no answer } } } }
  broke:
    means: The upstream broke.
    effect: unknown
    then: { retry_with_backoff: { backoff_ms: [500], on_unsafe: { escalate_to_human: { queue: people } } } }
  slow_down:
    means: Too many requests.
    effect: not_applied
    then: { retry_with_backoff: { backoff_ms: [500], after: retry_after, max_wait_ms: 9000 } }
  done_before:
    means: The key was processed.
    effect: applied
    then: { deprecate_tool_call: { reason: done } }
  running:
    means: The key is at work.
    effect: unknown
    then: { retry_with_backoff: { backoff_ms: [500] } }
  stale:
    means: The evidence is old.
    effect: not_applied
    then: { refresh_evidence: { then: retry } }
  denied:
    means: Not allowed.
    effect: not_applied
    then: { escalate_to_human: { queue: people } }
  declined:
    means: The bank says no.
    effect: not_applied
    then: { deprecate_tool_call: { reason: declined } }
classify:
  - { rule: no-answer, when: { kind: timeout }, verdict: no_answer }
  - { rule: broke, when: { status: 500-599 }, verdict: broke }
  - { rule: rate, when: { status: 429 }, verdict: slow_down }
  - { rule: done, when: { status: 409, message: { contains: already processed }, keyed: true }, verdict: done_before }
  - { rule: running, when: { status: 409, message: { contains: in flight }, keyed: true }, verdict: running }
  - { rule: stale, when: { status: 412 }, verdict: stale }
  - { rule: denied, when: { status: 403 }, verdict: denied }
  - { rule: declined, when: { kind: card_declined }, verdict: declined }
otherwise: unclassified
default_queue: people
queues: [people]
limits: { max_attempts: 3 }
";

fn edited(from: &str, to: &str) -> Plan {
    assert_eq!(SOUND.matches(from).count(), 1, "{from}");
    plan(&SOUND.replace(from, to))
}

fn fate(result: &Verified, id: FindingId) -> Fate {
    result.properties.iter().find(|property| property.id == id).map(|property| property.fate).unwrap()
}

pub(super) fn violated(result: &Verified) -> Vec<(FindingId, u32)> {
    assert!(result.all_counterexamples().all(|(_, shown)| shown.confirmed), "the ordinary run shows every finding");
    result.counterexamples().map(|(id, shown)| (id, shown.departures)).collect()
}

/// What is replaced, by what, and the properties that this breaks with their departures.
type Edit<'a> = (&'a str, &'a str, &'a [(FindingId, u32)]);

#[test]
fn each_property_has_an_edit_that_breaks_it_and_one_beside_it_that_does_not() {
    use FindingId::{
        DenialNotEscalated, DuplicateEffect, RefusalUnseen, RetriedAfterConflict, RetriedAfterDenial,
        StaleEvidenceResent, UnboundedWait, UnsafeRetry, UntruthfulOutcome,
    };
    let sound = verify(&plan(SOUND), &ALL);
    assert_eq!((violated(&sound), sound.complete), (vec![], true));
    let other = sound.properties.iter().find(|property| property.fate != Fate::Holds);
    assert!(other.is_none(), "{other:?}");
    let again = "then: { retry_with_backoff: { backoff_ms: [500] } }";
    let no_answer = "means: No answer came.\n    effect: unknown";
    let stale = "then: { refresh_evidence: { then: retry } }";
    let denied = "effect: not_applied\n    then: { escalate_to_human: { queue: people } }";
    let reversal = "issue_reversal: { reason: no answer }";
    let guard = "name: sound\n";
    let breaking: [Edit<'_>; 9] = [
        (no_answer, "means: No answer came.\n    effect: not_applied", &[(DuplicateEffect, 1), (UntruthfulOutcome, 2)]),
        (denied, &denied.replacen("not_applied", "applied", 1), &[(UntruthfulOutcome, 1)]),
        ("then: { deprecate_tool_call: { reason: done } }", again, &[(RetriedAfterConflict, 1)]),
        (denied, "effect: not_applied\n    then: { deprecate_tool_call: { reason: no } }", &[(DenialNotEscalated, 1)]),
        (denied, &format!("effect: not_applied\n    {again}"), &[(RetriedAfterDenial, 1), (DenialNotEscalated, 1)]),
        (stale, again, &[(StaleEvidenceResent, 1)]),
        (
            reversal,
            "issue_reversal: { reason: no answer, on_refused: { deprecate_tool_call: { reason: no } } }",
            &[(RefusalUnseen, 1)],
        ),
        (", max_wait_ms: 9000", "", &[(UnboundedWait, 1)]),
        (
            guard,
            "name: study/sound\nstudy: { why: to see it, retry_guard: off }\n",
            &[(DuplicateEffect, 1), (UnsafeRetry, 1)],
        ),
    ];
    let mut broken: Vec<FindingId> = Vec::new();
    for (from, to, expected) in breaking {
        let found = violated(&verify(&edited(from, to), &ALL));
        assert_eq!(found, expected, "{to}");
        broken.extend(found.iter().map(|(id, _)| *id));
    }
    assert!(PROPERTIES.iter().all(|id| broken.contains(id)));
    let harmless = [
        ("max_attempts: 3", "max_attempts: 4"),
        (stale, "then: { refresh_evidence: { then: abort } }"),
        (denied, "effect: unknown\n    then: { escalate_to_human: { queue: people } }"),
        (", max_wait_ms: 9000", ", max_wait_ms: 90000"),
        (", on_unsafe: { escalate_to_human: { queue: people } }", ""),
        ("then: { deprecate_tool_call: { reason: done } }", "then: { escalate_to_human: { queue: people } }"),
    ];
    for (from, to) in harmless {
        assert_eq!(violated(&verify(&edited(from, to), &ALL)), [], "{to}");
    }
}

#[test]
fn what_nothing_asks_is_not_held() {
    let without = edited(", on_unsafe: { issue_reversal: { reason: no answer } }", "");
    assert_eq!(fate(&verify(&without, &ALL), FindingId::RefusalUnseen), Fate::NotAsked);
}

#[test]
fn a_bound_that_cuts_says_how_far_the_search_came() {
    let none = verify(&plan(SOUND), &Question { states: 0, ..ALL });
    assert_eq!((fate(&none, FindingId::DuplicateEffect), none.states), (Fate::CutShort(0), 0));
    let some = verify(&plan(SOUND), &Question { states: 200, ..ALL });
    assert!(matches!(fate(&some, FindingId::DuplicateEffect), Fate::CutShort(1..)) && !some.complete);
}

#[test]
fn threads_change_nothing() {
    let one = format!("{:?}", verify(&plan(SOUND), &ALL));
    let jobs = NonZeroUsize::new(7).unwrap();
    assert_eq!(one, format!("{:?}", verify(&plan(SOUND), &Question { jobs, ..ALL })));
}

/// What is found with at most so many answers, with states merged or each script by itself.
fn searched(plan: &Plan, kind: &CallKind, alphabet: &Alphabet, answers: usize, merges: bool) -> Found {
    let search = Search { plan, kind, alphabet, honours_keys: true, merges };
    search.run(
        &mut Simulator::new(),
        Bounds { states: u64::MAX, attempts: u64::MAX, departures: None, answers: Some(answers) },
    )
}

fn every_script_ends_as_the_search_says(plan: &Plan, answers: usize) {
    for kind in CallKind::all(plan) {
        let alphabet = Alphabet::of(plan, &kind, &WORLD, None);
        let merged = searched(plan, &kind, &alphabet, answers, true);
        let each = searched(plan, &kind, &alphabet, answers, false);
        let lost: Vec<_> = each.ends.difference(&merged.ends).collect();
        assert!(lost.is_empty(), "{}: {lost:#?}", kind.name);
        let lengths = |found: &Found| -> Vec<(FindingId, u32, usize)> {
            found.shown.iter().map(|(id, shown)| (*id, shown.departures, shown.path.len())).collect()
        };
        assert_eq!((lengths(&merged), &merged.asked), (lengths(&each), &each.asked), "{}", kind.name);
    }
}

/// How calls end under every sequence of at most so many answers, each run as a fixture by the ordinary simulator: no state
/// is merged, and nothing of the search decides.
fn every_end(plan: &Plan, kind: &CallKind, alphabet: &Alphabet, answers: usize) -> BTreeSet<End> {
    let (mut simulator, mut ends) = (Simulator::new(), BTreeSet::new());
    let honoured = kind.shape.keyed && !kind.facts.ignores_keys;
    let mut open: Vec<Vec<(RequestKind, usize)>> = vec![Vec::new()];
    while let Some(path) = open.pop() {
        let mut script = Script::default();
        let mut key = KeyState { honoured, ..KeyState::default() };
        for (asked, place) in &path {
            let letter = &alphabet.answers(*asked)[*place];
            match asked {
                RequestKind::Attempt(_) => script.attempts.push(letter.scripted(*asked, key)),
                RequestKind::Refresh(_) => script.refresh.push(letter.scripted(*asked, key)),
                RequestKind::Reversal => script.reversal.push(letter.scripted(*asked, key)),
            }
            key.acted |= letter.acts && matches!(asked, RequestKind::Attempt(_));
        }
        let attempts = script.attempts.len();
        let fixture = kind.fixture(plan, "", script);
        let scenario = Scenario::of_fixture(&fixture, plan);
        let record = simulator.run_fixture(plan, &scenario);
        let unanswered = record.events.iter().find_map(|event| match event.what {
            Decision::AttemptStarted { attempt, .. } if attempt.index() >= attempts => {
                Some((RequestKind::Attempt(attempt), event.at))
            }
            Decision::Outcome(outcome) => match outcome.kind {
                OutcomeKind::Undetermined(asked) => Some((asked, event.at)),
                _ => None,
            },
            _ => None,
        });
        let Some((asked, at)) = unanswered else {
            ends.insert(ended(plan, kind, record));
            continue;
        };
        let mut key = KeyState { honoured, ..KeyState::default() };
        for entry in record.ledger.entries() {
            let is_scripted = entry.attempt.is_some_and(|attempt| attempt.index() < attempts);
            if entry.kind == LedgerKind::Applied && is_scripted {
                key.acted |= entry.at <= at;
                key.out |= entry.at > at;
            }
        }
        key.out |= path.iter().any(|(asked, place)| alphabet.answers(*asked)[*place].works_on);
        if path.len() < answers {
            let letters = alphabet.answers(asked).iter().enumerate();
            let possible = letters.filter(|(_, letter)| letter.is_possible(plan, asked, key));
            open.extend(possible.map(|(place, _)| [path.as_slice(), &[(asked, place)]].concat()));
        }
    }
    ends
}

fn replay_shows_what_the_search_finds(plan: &Plan, answers: usize) {
    for kind in CallKind::all(plan) {
        let alphabet = Alphabet::of(plan, &kind, &WORLD, None);
        let found = searched(plan, &kind, &alphabet, answers, true);
        let shown = every_end(plan, &kind, &alphabet, answers);
        let differing: Vec<_> = shown.symmetric_difference(&found.ends).collect();
        assert!(differing.is_empty(), "{}: {differing:#?}", kind.name);
        let findings: BTreeSet<FindingId> = shown.iter().flat_map(|end| &end.findings).copied().collect();
        assert!(findings.iter().eq(found.shown.keys()), "{}", kind.name);
    }
}

#[test]
fn plain_replay_of_every_sequence_of_answers_shows_what_the_search_finds() {
    replay_shows_what_the_search_finds(&plan(SOUND), 3);
    replay_shows_what_the_search_finds(&shipped("reversing"), 3);
    replay_shows_what_the_search_finds(&shipped("standard"), 2);
}

#[test]
fn every_script_of_three_answers_ends_as_the_search_says() {
    every_script_ends_as_the_search_says(&plan(SOUND), 3);
    every_script_ends_as_the_search_says(&edited("max_attempts: 3", "max_attempts: 4, deadline_ms: 40000"), 3);
    every_script_ends_as_the_search_says(&shipped("reversing"), 3);
}

#[test]
fn every_script_of_two_answers_ends_under_standard_as_the_search_says() {
    every_script_ends_as_the_search_says(&shipped("standard"), 2);
}

#[test]
fn no_answer_of_the_alphabet_is_there_for_nothing() {
    let mut idle: BTreeSet<String> = BTreeSet::new();
    let mut useful: BTreeSet<String> = BTreeSet::new();
    // An upstream that is at work is told from one that has acted only where the first is believed to be done.
    let running =
        "means: The key is at work.\n    effect: unknown\n    then: { retry_with_backoff: { backoff_ms: [500] } }";
    let done = "means: The key is at work.\n    effect: applied\n    then: { deprecate_tool_call: { reason: done } }";
    // After a crash alone, it is also told from one that did nothing, where it is believed to have refused.
    let refused =
        "means: The key is at work.\n    effect: not_applied\n    then: { deprecate_tool_call: { reason: no } }";
    let after_crash = [done, refused].map(|then| plan(&only_a_crash_is_sent_again().replace(running, then)));
    for plan in [plan(SOUND), shipped("standard"), edited(running, done)].into_iter().chain(after_crash) {
        for kind in CallKind::all(&plan) {
            let alphabet = Alphabet::of(&plan, &kind, &WORLD, None);
            let ends = |alphabet: &Alphabet| {
                let found = [1, 2].map(|answers| searched(&plan, &kind, alphabet, answers, true));
                found.map(|found| (found.ends, found.asked))
            };
            let all = ends(&alphabet);
            for (place, letter) in alphabet.attempts().iter().enumerate() {
                let changes = ends(&alphabet.without(place)) != all;
                if changes { &mut useful } else { &mut idle }.insert(letter.name.clone());
            }
        }
    }
    let idle: Vec<&str> = idle.difference(&useful).map(String::as_str).collect();
    // The same with a wish to wait says as much, and what says two things at once may be either.
    let waits = |name: &str| name == "429_rate_limited" || name.contains("retry after");
    let is_either = |name: &str| name.contains("processed in flight") || name.contains("\"a\"");
    assert!(idle.iter().all(|name| waits(name) || is_either(name)), "{idle:?}");
}

/// The sound playbook with a rule for a crash: that is sent again, and what was not answered is not.
fn only_a_crash_is_sent_again() -> String {
    let cut_off = "  cut_off:\n    means: Cut off.\n    effect: unknown\n    then: { retry_with_backoff: { backoff_ms: [500] } }\n";
    let reversal = "retry_with_backoff: { backoff_ms: [500], on_unsafe: { issue_reversal: { reason: no answer } } }";
    SOUND
        .replace("verdicts:\n", &format!("verdicts:\n{cut_off}"))
        .replace("classify:\n", "classify:\n  - { rule: cut-off, when: { kind: interrupted }, verdict: cut_off }\n")
        .replace(reversal, "escalate_to_human: { queue: people }")
}

#[test]
fn no_row_of_the_world_is_there_for_nothing() {
    let effects = ["applied", "not_applied"];
    let plans = effects.map(|effect| [1, 2].map(|attempts| plan(&of_each_row(effect, attempts))));
    let plans: Vec<Plan> = plans.into_iter().flatten().collect();
    let ends = |world: &[Row]| -> Vec<(BTreeSet<End>, Vec<String>)> {
        let all = plans.iter().flat_map(|plan| CallKind::all(plan).into_iter().take(2).map(move |kind| (plan, kind)));
        let found = all.map(|(plan, kind)| {
            let alphabet = Alphabet::of(plan, &kind, world, None);
            let names = alphabet.attempts().iter().map(|letter| letter.name.clone()).collect();
            (searched(plan, &kind, &alphabet, 2, true).ends, names)
        });
        found.collect()
    };
    let all = ends(&WORLD);
    for place in 0..WORLD.len() {
        let mut fewer = WORLD.to_vec();
        let row = fewer.remove(place);
        assert!(ends(&fewer) != all, "{}", row.name);
    }
}

/// A playbook with a rule and a verdict for the first example of each row of the world, and for a refusal by its kind.
fn of_each_row(effect: &str, attempts: u32) -> String {
    let (mut verdicts, mut rules) = (String::new(), String::new());
    let refusal = (Some("rate_limited"), None, None);
    let words = (None, Some(409), Some("the seat was sold"));
    let examples = WORLD.iter().filter_map(|row| row.examples.first().copied()).chain([refusal, words]);
    let mut examples: Vec<_> = examples.collect();
    examples.sort_by_key(|(_, _, message)| message.is_none()); // what asks for words comes first
    for (n, (kind, status, message)) in examples.into_iter().enumerate() {
        let then = "{ retry_with_backoff: { backoff_ms: [1] } }";
        verdicts += &format!("  v{n}:\n    means: It is {n}.\n    effect: {effect}\n    then: {then}\n");
        let when = [
            kind.map(|kind| format!("kind: {kind}")),
            status.map(|status| format!("status: {status}")),
            message.map(|message| format!("message: {{ contains: \"{message}\" }}")),
        ];
        let when: Vec<String> = when.into_iter().flatten().collect();
        rules += &format!("  - {{ rule: r{n}, when: {{ {} }}, verdict: v{n} }}\n", when.join(", "));
    }
    let head = "format: playbook/1\nname: rows\nverdicts:\n";
    let foot = "otherwise: unclassified\ndefault_queue: people\nqueues: [people]\nlimits:";
    format!("{head}{verdicts}classify:\n{rules}{foot} {{ max_attempts: {attempts} }}\n")
}

#[test]
fn what_a_sound_playbook_rests_on_is_named() {
    let result = verify(&plan(SOUND), &ALL);
    let on = |name: &str| -> Vec<FindingId> {
        let rests = result.rests_on.iter().find(|rests| rests.on == name);
        rests.map(|rests| rests.breaks.iter().map(|(id, _)| *id).collect()).unwrap_or_default()
    };
    use FindingId::{DuplicateEffect, UntruthfulOutcome};
    assert_eq!(on("keys"), [DuplicateEffect]);
    assert_eq!(on("refusals_did_nothing"), [DuplicateEffect, UntruthfulOutcome]);
    assert_eq!(on("verdict declined"), [UntruthfulOutcome]);
    assert_eq!(on("verdict denied"), [], "its rules look at more than words");
    assert!(
        Assumption::all(&plan(SOUND)).iter().all(|dropped| result
            .rests_on
            .iter()
            .filter(|rests| rests.on == dropped.name())
            .count()
            <= 1)
    );
}

#[test]
fn the_words_of_a_tool_are_believed_alike_wherever_they_stand_and_whatever_other_rules_ask() {
    let (first, status) = ("classify:\n", "when: { status: 500-599 }");
    let result = |words: &str, others: &str| {
        let rule = format!("{first}  - {{ rule: odd, when: {{ {words} }}, verdict: declined }}\n");
        verify(&plan(&SOUND.replace(first, &rule).replace(status, others)), &ALL)
    };
    let untruthful = |result: &Verified| fate(result, FindingId::UntruthfulOutcome);
    for words in ["kind: odd", "kind: tool_error, code: odd", "kind: tool_error, message: { contains: odd }"] {
        for others in [status, "when: { status: [408, 500-599] }", "when: { kind: broke }"] {
            let result = result(words, others);
            let is_named = result.rests_on.iter().any(|rests| rests.on == "verdict declined");
            assert_eq!((untruthful(&result), is_named), (Fate::Holds, true), "{words} beside {others}");
        }
    }
    let asks = result("code: odd, status: 408", status);
    assert_eq!(untruthful(&asks), Fate::Violated, "a status that the rule itself asks for proves nothing");
}

#[test]
fn a_world_that_reads_a_timeout_as_nothing_would_acquit_a_lie() {
    let lie = edited("means: No answer came.\n    effect: unknown", "means: No answer came.\n    effect: not_applied");
    assert_eq!(fate(&verify(&lie, &ALL), FindingId::DuplicateEffect), Fate::Violated);
    let believing: Vec<Row> = WORLD.into_iter().filter(|row| row.name == "own_words").collect();
    let trusting = verify_in(&believing, &lie, &ALL);
    assert_eq!(fate(&trusting, FindingId::UnsafeRetry), Fate::Holds);
}

#[test]
fn standard_and_reversing_hold() {
    for name in ["standard", "reversing"] {
        let result = verify(&shipped(name), &ALL);
        assert_eq!((violated(&result), result.complete), (vec![], true), "{name}");
    }
}

/// The properties that a dispatcher breaks which dies at some moment between two inputs, whatever the first answer is; the
/// upstream works then, and knows keys.
fn broken_by_dying(plan: &Plan) -> BTreeSet<FindingId> {
    let (mut simulator, mut broken) = (Simulator::new(), BTreeSet::new());
    for kind in CallKind::all(plan) {
        let alphabet = Alphabet::of(plan, &kind, &WORLD, None);
        let asked = RequestKind::Attempt(AttemptNo::FIRST);
        let possible = |letter: &&Letter| letter.is_possible(plan, asked, KeyState::default());
        for letter in alphabet.attempts().iter().filter(possible) {
            let attempts = vec![letter.scripted(asked, KeyState::default())];
            let mut fixture = kind.fixture(plan, "", Script { attempts, ..Script::default() });
            fixture.keys = KeyDialect::Ietf;
            fixture.outages = [(kind.tool.clone(), vec![NO_OUTAGE])].into();
            let mut scenario = Scenario::of_fixture(&fixture, plan);
            simulator.run_fixture(plan, &scenario);
            for (after, has_left) in (1..=simulator.inputs()).flat_map(|after| [(after, false), (after, true)]) {
                let when = CrashAt::Input { after, has_left };
                scenario.crash = Some(Crash { when, restart: Duration::ZERO, forgets: false });
                broken.extend(simulator.run_fixture(plan, &scenario).findings.iter().map(|finding| finding.id));
            }
        }
    }
    broken.retain(|id| PROPERTIES.contains(id));
    broken
}

/// Its tool works, and answers what no script does.
const NO_OUTAGE: Outage = Outage {
    from: Instant::ZERO,
    to: Some(Instant::ZERO),
    answer: ScriptedAnswer { reply: UpstreamReply::Ok, latency: Duration::ZERO, applied: None },
};

#[test]
fn a_crash_at_any_moment_breaks_no_more_than_the_departure_that_stands_for_it() {
    let again = only_a_crash_is_sent_again();
    let lie = plan(&again.replace("means: Cut off.\n    effect: unknown", "means: Cut off.\n    effect: not_applied"));
    let found = verify(&lie, &ALL);
    assert_eq!(violated(&found), [(FindingId::DuplicateEffect, 1), (FindingId::UntruthfulOutcome, 2)]);
    assert_eq!(broken_by_dying(&lie), found.counterexamples().map(|(id, _)| id).collect());
    let (_, twice) = found.counterexamples().next().unwrap();
    assert_eq!(twice.answers, ["the program crashed; it acted", "ok"]);
    assert!(twice.text.contains("crash: { at_ms: 0, restart_ms: 0 }"), "{}", twice.text);
    let at_work =
        "means: The key is at work.\n    effect: unknown\n    then: { retry_with_backoff: { backoff_ms: [500] } }";
    let done = "means: The key is at work.\n    effect: applied\n    then: { deprecate_tool_call: { reason: done } }";
    let lie = plan(&again.replace(at_work, done));
    assert_eq!(violated(&verify(&lie, &ALL)), [(FindingId::UntruthfulOutcome, 1)]);
    assert_eq!(broken_by_dying(&lie), BTreeSet::from([FindingId::UntruthfulOutcome]));
    for sound in [plan(SOUND), plan(&again), shipped("standard"), shipped("reversing")] {
        assert_eq!(broken_by_dying(&sound), BTreeSet::new());
    }
}

#[test]
fn a_declared_read_is_an_assumption_of_its_row_alone() {
    let tools = "tools:\n  orders.*: { access: read }\n  pay: { access: write }\nlimits:";
    let result = verify(&edited("limits:", tools), &ALL);
    assert_eq!(violated(&result), []);
    let of_tools: Vec<_> = result.rests_on.iter().filter(|rests| rests.on.starts_with("tool ")).collect();
    let [reads] = of_tools.as_slice() else { panic!("{of_tools:?}") };
    let breaks: Vec<FindingId> = reads.breaks.iter().map(|(id, _)| *id).collect();
    assert_eq!((reads.on.as_str(), breaks), ("tool orders.*", vec![FindingId::UntruthfulOutcome]));
}

#[test]
fn changed_rows_are_asked_only_of_the_kinds_of_call_that_they_reach_and_say_what_they_lose() {
    let (sound, limits) = (plan(SOUND), ["limit max_attempts"]);
    let all = CallKind::all(&sound).len();
    assert_eq!(guarantees("ours", limits, (None, &sound), NonZeroUsize::MIN).now.kinds.len(), all);
    let keyed = guarantees("ours", ["rule done"], (Some(&sound), &sound), NonZeroUsize::MIN);
    assert!(!keyed.now.kinds.is_empty() && keyed.now.kinds.iter().all(|kind| kind.contains("a-keyed")));
    assert!(guarantees("ours", ["queue people"], (None, &sound), NonZeroUsize::MIN).now.kinds.is_empty());
    let no_answer = "means: No answer came.\n    effect: unknown";
    let lie = edited(no_answer, "means: No answer came.\n    effect: not_applied");
    let rows = ["verdict no_answer"];
    let lost = guarantees("ours", rows, (Some(&sound), &lie), NonZeroUsize::MIN).lost;
    assert_eq!(lost, [FindingId::DuplicateEffect, FindingId::UntruthfulOutcome]);
    assert_eq!(guarantees("ours", rows, (Some(&lie), &lie), NonZeroUsize::MIN).lost, [], "it was so before");
    let declined = guarantees("ours", ["verdict declined"], (Some(&sound), &sound), NonZeroUsize::MIN);
    let on: Vec<&str> = declined.now.rests_on.iter().map(|rests| rests.on.as_str()).collect();
    assert_eq!(on, ["verdict declined"]);
}

#[test]
fn lint_names_each_claim_that_the_world_contradicts_and_no_sound_one() {
    let said = |text: &str| {
        let loaded = playbook::parse(Source::whole("playbook", text)).unwrap();
        let all = crate::lint(&loaded, &plan(text), NonZeroUsize::MIN);
        all.into_iter().map(|said| format!("{}: {}", said.id, said.message)).collect::<Vec<_>>()
    };
    assert_eq!(said(SOUND), [] as [&str; 0]);
    let broke = "means: The upstream broke.\n    effect: ";
    let text = SOUND.replace(&format!("{broke}unknown"), &format!("{broke}not_applied"));
    assert_eq!(said(&text), ["contradicted_claim: `broke` claims `not_applied`, and its request may have acted"]);
    let denied = "means: Not allowed.\n    effect: ";
    let text = text.replace(&format!("{denied}not_applied"), &format!("{denied}applied"));
    let both = said(&text);
    assert_eq!(both.len(), 2);
    assert_eq!(both[1], "contradicted_claim: `denied` claims `applied`, and its request may have done nothing");
}

#[test]
fn lint_says_no_claim_of_a_preset_false_that_a_name_or_a_header_proves() {
    for name in playbook::EMBEDDED.iter().filter(|name| name.starts_with("preset/") || **name == "standard") {
        let loaded = playbook::parse(Source::whole("playbook", playbook::embedded(name).unwrap())).unwrap();
        let said = crate::lint(&loaded, &shipped(name), NonZeroUsize::MIN);
        let said: Vec<&str> = said.iter().map(|said| said.id).collect();
        assert!(!said.contains(&crate::CONTRADICTED_CLAIM) && !said.contains(&"world_cut_short"), "{name}: {said:?}");
    }
}

#[test]
fn more_rules_than_lint_has_time_for_are_said_to_be_cut_and_verify_ends_with_less_than_a_proof() {
    let then = "{ retry_with_backoff: { backoff_ms: [1] } }";
    let verdict = |n: u32| format!("  v{n}:\n    means: It is {n}.\n    effect: unknown\n    then: {then}\n");
    let rule = |n: u32| format!("  - {{ rule: r{n}, when: {{ message: {{ matches: 'z{n}q+' }} }}, verdict: v{n} }}\n");
    let large = |rules: u32| {
        let (verdicts, rules): (String, String) = ((0..rules).map(verdict).collect(), (0..rules).map(rule).collect());
        let head = format!("format: playbook/1\nname: large\nverdicts:\n{verdicts}classify:\n{rules}");
        format!("{head}otherwise: unclassified\ndefault_queue: p\nqueues: [p]\nlimits: {{ max_attempts: 9 }}\n")
    };
    let is_cut = |text: &str| {
        let loaded = playbook::parse(Source::whole("playbook", text)).unwrap();
        crate::lint(&loaded, &plan(text), NonZeroUsize::MIN).iter().any(|said| said.id == "world_cut_short")
    };
    assert!(is_cut(&large(300)) && !is_cut(&large(20)));
    let found = verify(&plan(&large(300)), &Question { states: 300, ..ALL });
    assert!(matches!(fate(&found, FindingId::DuplicateEffect), Fate::CutShort(_)) && found.rests_on.is_empty());
}

/// What breaks the embedded playbooks for study, where their comments say so.
#[test]
fn each_playbook_for_study_fails_where_its_comment_says() {
    use FindingId::{
        DenialNotEscalated, DuplicateEffect, RetriedAfterConflict, RetriedAfterDenial, StaleEvidenceResent,
        UnsafeRetry, UntruthfulOutcome,
    };
    // All of them send a write without a key again that may have acted; what else they do stands behind.
    let others: [(&str, &[FindingId]); 14] = [
        ("preset/aileron", &[UnsafeRetry, DenialNotEscalated]),
        ("preset/aws-2.0", &[UnsafeRetry]),
        ("preset/aws-2.1", &[UnsafeRetry]),
        ("preset/envoy", &[UnsafeRetry]),
        ("preset/grpc", &[UnsafeRetry]),
        ("preset/llm-client", &[RetriedAfterConflict, UnsafeRetry]),
        ("preset/mcp-2026-07-28", &[UnsafeRetry]),
        ("preset/polly", &[UnsafeRetry]),
        ("preset/resilience4j", &[UnsafeRetry]),
        ("preset/stripe", &[RetriedAfterConflict]),
        ("preset/temporal", &[UnsafeRetry]),
        ("study/course-dispatcher-literal", &[UnsafeRetry, DenialNotEscalated]),
        (
            "study/retry-everything",
            &[RetriedAfterDenial, RetriedAfterConflict, UnsafeRetry, DenialNotEscalated, StaleEvidenceResent],
        ),
        (
            "study/typed-verdicts-literal",
            &[
                UntruthfulOutcome,
                RetriedAfterDenial,
                RetriedAfterConflict,
                UnsafeRetry,
                DenialNotEscalated,
                StaleEvidenceResent,
            ],
        ),
    ];
    let of_study = |name: &&str| name.starts_with("preset/") || name.starts_with("study/");
    let known: BTreeSet<&str> = playbook::EMBEDDED.iter().copied().filter(of_study).collect();
    assert_eq!(known, others.iter().map(|(name, _)| *name).collect());
    for (name, others) in others {
        let result = verify(&shipped(name), &ALL);
        let found = violated(&result);
        assert_eq!(found.first(), Some(&(DuplicateEffect, 1)), "{name}");
        let behind: Vec<FindingId> = found.iter().skip(1).map(|(id, _)| *id).collect();
        assert_eq!((behind.as_slice(), result.complete), (others, true), "{name}");
    }
}

#[test]
fn a_kind_that_proves_nothing_is_no_claim_whatever_the_other_rules_are() {
    let lie_text = |kind: &str, rest: &str| {
        format!(
            "format: playbook/1\nname: lie\nverdicts:\n  busy:\n    means: Busy.\n    effect: not_applied\n    \
             then: {{ retry_with_backoff: {{ backoff_ms: [100] }} }}\n  broke:\n    means: It broke.\n    effect: unknown\n    \
             then: {{ escalate_to_human: {{ queue: people }} }}\nclassify:\n  - {{ rule: busy, when: {{ {kind} }}, verdict: busy }}\n{rest}\
             otherwise: unclassified\ndefault_queue: people\nqueues: [people]\nlimits: {{ max_attempts: 2 }}\n"
        )
    };
    let lie = |kind: &str, rest: &str| plan(&lie_text(kind, rest));
    let other = "  - { rule: broke, when: { status: 500-599 }, verdict: broke }\n";
    let kinds = "kind: tool_error|kind: internal|kind: transient|kind: network_error|kind: read_timeout|kind: ETIMEDOUT\
                 |kind: unavailable|status: 202|status: 302|code: DEADLINE_EXCEEDED";
    for kind in kinds.split('|') {
        for rest in ["", other] {
            let result = verify(&lie(kind, rest), &ALL);
            assert_eq!(fate(&result, FindingId::DuplicateEffect), Fate::Violated, "{kind} {rest}");
        }
    }
    for (own, rest) in [("db_lock", ""), ("db_lock", other), ("card_declined", other)] {
        let result = verify(&lie(&format!("kind: {own}"), rest), &ALL);
        assert_eq!(fate(&result, FindingId::DuplicateEffect), Fate::Holds, "{own} {rest}");
        assert!(result.rests_on.iter().any(|rests| rests.on == "verdict busy"), "{own} {rest}");
    }
    for own in ["kind: db_lock", "code: LOCKED", "message: { contains: is locked }"] {
        let text = lie_text(own, "");
        let loaded = playbook::parse(Source::whole("playbook", text.clone())).unwrap();
        let said = crate::lint(&loaded, &plan(&text), NonZeroUsize::MIN);
        let said: Vec<(&str, &str)> = said.iter().map(|said| (said.id, &*said.message)).collect();
        assert!(said.iter().any(|(id, words)| *id == "rests_on_word" && words.contains("`busy`")), "{own}: {said:?}");
    }
}

#[test]
fn a_tool_that_is_declared_harmless_twice_is_an_assumption_that_no_run_can_show() {
    for fact in ["idempotent", "repeatable"] {
        let tools = format!("tools:\n  pay: {{ access: write, {fact}: true }}\n  send: {{ access: write }}\nlimits:");
        let result = verify(&edited("limits:", &tools), &ALL);
        let of_tools: Vec<_> = result.rests_on.iter().filter(|rests| rests.on.starts_with("tool ")).collect();
        let [pay] = of_tools.as_slice() else { panic!("{of_tools:?}") };
        assert_eq!(pay.on, "tool pay");
        assert_eq!(pay.unshown, [FindingId::DuplicateEffect, FindingId::UnsafeRetry]);
        let asked = crate::compare(&verify(&plan(SOUND), &ALL), &result);
        let assumed = Assumed { on: "tool pay".to_owned(), id: FindingId::DuplicateEffect };
        assert!(asked.assumed.contains(&assumed), "{asked:?}");
    }
}

#[test]
fn where_rows_declare_every_tool_they_stand_for_all() {
    let kinds = CallKind::all(&plan(playbook::embedded("transactional").unwrap()));
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| kind.pattern.is_some()), "{kinds:?}");
}
