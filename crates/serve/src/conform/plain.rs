//! Plain code under a fixture: it sends, waits and ends, and knows nothing of playbooks. Harm is what the ledger shows.

use std::collections::{BTreeMap, BTreeSet};

use playproof_engine::event::{Decision, OutcomeKind, OutcomeWord};
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::CallId;
use playproof_engine::plan::Plan;
use playproof_engine::playbook::Access;
use playproof_engine::sim::{Recording, Scenario};
use playproof_engine::time::Instant;
use playproof_engine::upstream::Ledger;
use serde_json::{Value, json};

use super::compared::Expected;
use super::driver::{Broken, Driven, Driver, Sent};

/// Whether plain code can be asked a fixture, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Askable {
    /// Why it cannot.
    pub why_not: Option<String>,
    /// Some of its calls are open at once.
    pub at_once: bool,
    /// Its calls share nothing: each may be asked as if it were alone.
    pub apart: bool,
}

/// Harm that a call did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harm {
    /// `duplicate_effect`, `possible_duplicate_effect` or `untruthful_outcome`.
    pub finding: &'static str,
    /// The call.
    pub call: String,
    /// Its effects, and those that it has under the playbook.
    pub effects: (u32, u32),
}

/// What plain code did, beside what a playbook does.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What it harmed.
    pub harm: Vec<Harm>,
    /// The effects that it caused, and those under the playbook.
    pub effects: (u32, u32),
    differs: [Value; 2],
    sends: Vec<Value>,
    decided: Value,
    broken: Option<Broken>,
    waits_for_ever: Option<String>,
}

impl Asked {
    /// The first decision that is another one, and the first at another moment.
    #[cfg(test)]
    pub(super) fn what_differs(&self) -> [Option<String>; 2] {
        self.differs.each_ref().map(|differs| (!differs.is_null()).then(|| differs.to_string()))
    }

    /// The last line that is said.
    pub fn line(&self, fixture: &str, playbook: &str) -> String {
        let harm = |harm: &Harm| {
            let Harm { finding, call, effects: (code, playbook) } = harm;
            json!({"finding": finding, "call": call, "effects": {"code": code, "playbook": playbook}})
        };
        let stopped = match (&self.broken, &self.waits_for_ever) {
            (Some(broken), _) => json!({"why": broken.why}),
            (None, Some(call)) => json!({"why": "it waits for ever", "call": call}),
            (None, None) => Value::Null,
        };
        let [differs, moments] = &self.differs;
        let line = json!({
            "type": "result", "fixture": fixture, "playbook": playbook,
            "effects": {"code": self.effects.0, "playbook": self.effects.1},
            "harm": self.harm.iter().map(harm).collect::<Vec<_>>(),
            "differs": differs, "moments": moments, "sends": self.sends, "decided": self.decided, "stopped": stopped,
        });
        format!("{line}\n")
    }
}

/// Whether plain code can be asked a fixture.
pub fn askable(plan: &Plan, fixture: &Fixture) -> Askable {
    if fixture.calls.iter().any(|call| call.is_action || !plan.steps_of(&call.tool).is_empty()) {
        return Askable { why_not: Some("has steps".to_owned()), ..Askable::default() };
    }
    if fixture.crash.is_some() || fixture.calls.iter().any(|call| call.act.is_some()) {
        return Askable { why_not: Some("has a crash or an act".to_owned()), ..Askable::default() };
    }
    let scenario = Scenario::of_fixture(fixture, plan);
    let Recording { record, .. } = Recording::of_fixture(plan, fixture, &scenario);
    let mut why: BTreeSet<&str> = BTreeSet::new();
    let mut spans: BTreeMap<CallId, (Instant, Instant)> = BTreeMap::new();
    for event in &record.events {
        spans.entry(event.call).or_insert((event.at, event.at)).1 = event.at;
        match event.what {
            Decision::EvidenceRefreshed { .. } => why.insert("refreshes evidence"),
            Decision::ReversalRefused { .. } | Decision::ReversalRedeemed { .. } => why.insert("takes back"),
            Decision::Outcome(outcome) => match outcome.kind {
                OutcomeKind::Reversed(_) => why.insert("takes back"),
                OutcomeKind::Undetermined(_) | OutcomeKind::Suspected(_) | OutcomeKind::Unfinished(_) => {
                    why.insert("has no end")
                }
                _ => false,
            },
            _ => false,
        };
    }
    let spans: Vec<&(Instant, Instant)> = spans.values().collect();
    let meets =
        |one: &(Instant, Instant), other: &(Instant, Instant)| one.0 == other.0 || (one.0 < other.1 && other.0 < one.1);
    let at_once = spans.iter().enumerate().any(|(n, one)| spans.iter().take(n).any(|other| meets(one, other)));
    let intents = scenario.calls.iter().enumerate().map(|(n, call)| call.booked_intent(CallId::at(n)));
    let keys: Vec<_> = scenario.calls.iter().filter_map(|call| call.key).collect();
    let is_own = |count: usize, of: usize| count == of;
    let apart = is_own(intents.collect::<BTreeSet<_>>().len(), scenario.calls.len())
        && is_own(keys.iter().collect::<BTreeSet<_>>().len(), keys.len())
        && scenario.later.is_empty();
    let why_not = (!why.is_empty()).then(|| why.into_iter().collect::<Vec<_>>().join(", "));
    Askable { why_not, at_once, apart }
}

/// Asks plain code a fixture. `ask` says a line and gives its answer; `apart`: each call as if it were alone.
pub fn asked(
    plan: &Plan,
    fixture: &Fixture,
    apart: bool,
    mut ask: impl FnMut(&str) -> Result<String, String>,
) -> Asked {
    let scenario = Scenario::of_fixture(fixture, plan);
    let Recording { record, .. } = Recording::of_fixture(plan, fixture, &scenario);
    let names: Vec<String> = scenario.calls.iter().map(|call| call.name.to_owned()).collect();
    let expected = Expected::of(&record, &names);
    let all: Vec<usize> = (0..fixture.calls.len()).collect();
    let parts: Vec<&[usize]> = if apart { all.chunks(1).collect() } else { vec![&all] };
    let mut found = Asked {
        harm: Vec::new(),
        effects: (0, caused(&record.ledger)),
        differs: [Value::Null, Value::Null],
        sends: Vec::new(),
        decided: json!(expected.decided.iter().map(|(call, all)| (call, shown(all))).collect::<BTreeMap<_, _>>()),
        broken: None,
        waits_for_ever: None,
    };
    for part in parts {
        let mut driver = Driver::new(plan, fixture, &scenario, &expected.draws, &mut ask);
        driver.is_plain = true;
        let (driven, ended) = driver.run(part);
        let is_asked = |call: &str| part.iter().any(|&n| fixture.calls.get(n).is_some_and(|one| *one.name == *call));
        found.effects.0 += caused(&driven.ledger);
        for (n, call) in scenario.calls.iter().enumerate().filter(|(_, call)| is_asked(call.name)) {
            let own = expected.decided.get(call.name).map_or(&[][..], Vec::as_slice);
            let theirs = driven.decided.get(call.name).map_or(&[][..], Vec::as_slice);
            found.compare(call.name, own, theirs);
            let claims = call.facts.access == Access::Write && is_value(theirs) && !is_value(own);
            found.harm.extend(harm_of(CallId::at(n), call.name, claims, &driven, &record.ledger));
            let is_open = !theirs.iter().any(|(_, what)| what.starts_with("done "));
            if is_open && ended.is_ok() && found.waits_for_ever.is_none() {
                found.waits_for_ever = Some(call.name.to_owned());
            }
        }
        found.sends.extend(driven.sends.iter().map(|sent| send(sent, &names)));
        found.broken = ended.err();
        if found.broken.is_some() {
            break;
        }
    }
    found
}

impl Asked {
    fn compare(&mut self, call: &str, own: &[(Instant, String)], theirs: &[(Instant, String)]) {
        let said = |one: Option<&(Instant, String)>| {
            one.map_or("nothing more".to_owned(), |(at, what)| format!("{what} at {} ms", at.since(Instant::ZERO)))
        };
        for n in 0..own.len().max(theirs.len()) {
            let (own, theirs) = (own.get(n), theirs.get(n));
            let is_same = match (own, theirs) {
                (Some((_, own)), Some((_, theirs))) => own == theirs || class(own) == theirs,
                (own, theirs) => own.is_none() && theirs.is_none(),
            };
            let is_other = [!is_same, own.map(|own| own.0) != theirs.map(|theirs| theirs.0)];
            for (differs, is_other) in self.differs.iter_mut().zip(is_other) {
                if is_other && differs.is_null() {
                    *differs = json!({"call": call, "playbook": said(own), "code": said(theirs)});
                }
            }
        }
    }
}

/// The harm of one call.
fn harm_of(id: CallId, call: &str, claims: bool, driven: &Driven, under: &Ledger) -> Option<Harm> {
    let made = |ledger: &Ledger| ledger.net_by_call().get(&id).map_or(0, |net| net.made);
    let (code, playbook) = (made(&driven.ledger), made(under));
    let sends = || driven.sends.iter().filter(|sent| sent.call == id);
    let assumed: u32 = sends().map(|sent| u32::from(sent.is_assumed)).sum();
    let net = driven.ledger.net();
    let has_effect = sends().any(|sent| net.get(&sent.intent).is_some_and(|net| net.effects > 0));
    let (finding, code) = match playbook.max(1) {
        most if code > most => ("duplicate_effect", code),
        most if code + assumed > most => ("possible_duplicate_effect", code + assumed),
        _ if claims && !has_effect && assumed == 0 => ("untruthful_outcome", code),
        _ => return None,
    };
    Some(Harm { finding, call: call.to_owned(), effects: (code, playbook) })
}

/// The effects that calls have caused.
fn caused(ledger: &Ledger) -> u32 {
    ledger.net_by_call().values().map(|net| net.effects).sum()
}

/// What plain code can say of an end: a value, or something raised.
fn class(what: &str) -> &str {
    match what.strip_prefix("done ").map(OutcomeWord::parse) {
        None => what,
        Some(Some(
            OutcomeWord::Succeeded
            | OutcomeWord::SucceededAfterCompensation
            | OutcomeWord::Joined
            | OutcomeWord::Cached,
        )) => "done value",
        Some(Some(OutcomeWord::Cancelled)) => "done cancelled",
        Some(Some(_)) => "done raised",
        Some(None) => what,
    }
}

fn is_value(decided: &[(Instant, String)]) -> bool {
    decided.last().is_some_and(|(_, what)| class(what) == "done value")
}

fn shown(decided: &[(Instant, String)]) -> Vec<Value> {
    decided.iter().map(|(at, what)| json!({"what": what, "at_ms": millis(*at)})).collect()
}

fn send(sent: &Sent, names: &[String]) -> Value {
    let call = names.get(sent.call.index());
    let (attempt, at) = (sent.attempt.get(), millis(sent.at));
    json!({"call": call, "attempt": attempt, "at_ms": at, "key": sent.key, "assumed": sent.is_assumed})
}

/// A moment as the lines have it.
pub(super) fn millis(at: Instant) -> Value {
    serde_json::from_str(&at.since(Instant::ZERO).to_string()).unwrap_or_default()
}
