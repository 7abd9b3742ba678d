//! Runs requests with idempotency keys through a machine. Keeps only what a shell would: which call has which result.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::amount::Amount;
use super::case::{Case, CaseStep};
use super::compare::Sight;
use super::driver::{Answer, Driver, NewCall, Told, nothing_sent};
use super::steps::run_steps;
use super::subject::{moment, plan, span};
use super::unmet::Unmet;
use super::write::TOOL;
use playproof_engine::event::{AdmissionRefusal, Decision, ErrorFacts, OutcomeKind};
use playproof_engine::ids::{ArgsId, AttemptNo, CallId, Interner, KeyId};
use playproof_engine::time::Instant;

/// Runs a case of kind `dedupe`.
pub(super) fn run(case: &Case) -> Result<(), Unmet> {
    run_steps(case, &mut Requests::new(case)?, Requests::step, Requests::sight)
}

#[derive(Clone)]
struct Requests<'a> {
    case: &'a Case,
    driver: Driver,
    keys: Interner,
    args: Interner,
    /// The requests that are out, by key.
    out: BTreeMap<String, Out>,
    /// How the last request of each key ended without a result that is kept.
    unkept: BTreeMap<String, &'static str>,
    /// The status of each call's result.
    results: BTreeMap<CallId, Amount>,
    executions: u64,
}

#[derive(Clone)]
struct Out {
    call: CallId,
    attempt: AttemptNo,
    /// When it counts as lost.
    until: Instant,
}

impl<'a> Requests<'a> {
    fn new(case: &'a Case) -> Result<Requests<'a>, Unmet> {
        let mut requests = Requests {
            case,
            driver: Driver::new(plan(case)?),
            keys: Interner::new(),
            args: Interner::new(),
            out: BTreeMap::new(),
            unkept: BTreeMap::new(),
            results: BTreeMap::new(),
            executions: 0,
        };
        for (key, value) in case.initial.iter().filter(|(key, _)| *key != "now_ms") {
            let odd = || Unmet::unsupported(format!("keys do not begin with `{key}: {value}`"));
            let keys = value.as_object().filter(|_| key == "keys").ok_or_else(odd)?;
            for (key, state) in keys {
                requests.begin_with(key, state.as_object().ok_or_else(odd)?)?;
            }
        }
        if let Some(now) = moment(&case.initial, "now_ms") {
            requests.driver.now = now;
        }
        requests.executions = 0;
        Ok(requests)
    }

    /// Brings a key into a state, by the requests that lead to it.
    fn begin_with(&mut self, key: &str, state: &Map<String, Value>) -> Result<(), Unmet> {
        if state.contains_key("recovery_point") {
            return Err(Unmet::unsupported("no request is resumed within itself"));
        }
        let word = state.get("state").and_then(Value::as_str).unwrap_or_default();
        let at = moment(state, "locked_at_ms").or_else(|| moment(state, "at_ms"));
        self.driver.now = at.or_else(|| moment(&self.case.initial, "now_ms")).unwrap_or_default();
        let mut begin = Map::new();
        begin.insert("key".into(), key.into());
        begin.insert("fingerprint".into(), state.get("fingerprint").cloned().unwrap_or_default());
        self.begin(&begin)?;
        match word {
            "running" => {}
            "done" => self.complete(key, state.get("status").and_then(Amount::of), true)?,
            "unlocked" => self.complete(key, None, false)?,
            other => return Err(Unmet::unsupported(format!("a key has no state `{other}`"))),
        }
        Ok(())
    }

    fn step(&mut self, step: &CaseStep) -> Result<Sight, Unmet> {
        let now = self.driver.now;
        let at = moment(&step.input, if step.op == "at" { "ms" } else { "at_ms" });
        let advance = span(&step.input, "ms").filter(|_| step.op == "advance").unwrap_or_default();
        self.driver.now = at.unwrap_or(now).max(now.plus(advance));
        self.expire();
        match step.op.as_str() {
            "begin" => self.begin(&step.input),
            "complete" => {
                let key = step.input.get("key").and_then(Value::as_str).unwrap_or_default();
                let status = step.input.get("status").and_then(Amount::of);
                let is_error = status.is_some_and(|status| status >= Amount::whole(400));
                if is_error && !self.is_left_out(&step.input) {
                    return Err(Unmet::unsupported("a failed outcome is not kept: its request is executed again"));
                }
                self.complete(key, status, !is_error)?;
                let stored = self.is_kept(key);
                Ok(self.sight().with("stored", stored))
            }
            _ => Ok(self.sight()),
        }
    }

    /// Whether the policy keeps no failure of this kind.
    fn is_left_out(&self, failure: &Map<String, Value>) -> bool {
        let kind = failure.get("kind");
        let not_stored = self.case.policy.get("dedupe").and_then(|dedupe| dedupe.get("not_stored"));
        let kinds = not_stored.and_then(Value::as_array);
        kind.is_some_and(|kind| kinds.is_some_and(|kinds| kinds.contains(kind)))
    }

    /// A request whose time is over is lost: its attempt failed without an answer.
    fn expire(&mut self) {
        let now = self.driver.now;
        let late: Vec<String> =
            self.out.iter().filter(|(_, out)| out.until <= now).map(|(key, _)| key.clone()).collect();
        for key in late {
            let Some(out) = self.out.remove(&key) else { continue };
            self.driver.now = out.until;
            let error = ErrorFacts { kind: Some("timeout".into()), ..ErrorFacts::default() };
            self.driver.fail(&Answer::to(out.call, out.attempt), TOOL, &error);
            self.unkept.insert(key, "stale_lock");
            self.driver.now = now;
        }
    }

    fn begin(&mut self, input: &Map<String, Value>) -> Result<Sight, Unmet> {
        let key = input.get("key").and_then(Value::as_str);
        let print = input.get("fingerprint").and_then(Value::as_str).unwrap_or_default();
        let args = ArgsId(self.args.intern(print));
        let unfit = input.get("invalid_params") == Some(&Value::Bool(true));
        let new = NewCall {
            key: key.map(|key| KeyId(self.keys.intern(key))),
            key_len: key.map(str::len),
            args,
            unfit,
            ..NewCall::of(TOOL)
        };
        let (call, told) = self.driver.call(new);
        if let Some((attempt, within)) = told.sent {
            self.executions += 1;
            let key = key.unwrap_or_default();
            self.out.insert(key.to_owned(), Out { call, attempt, until: self.driver.now.plus(within) });
            let reason = self.unkept.get(key).copied().unwrap_or("new");
            return Ok(self.sight().with("action", "execute").with("reason", reason));
        }
        self.unsent(&told)
    }

    /// What a request gets that is not executed.
    fn unsent(&self, told: &Told) -> Result<Sight, Unmet> {
        let sight = self.sight();
        match told.outcome().map(|outcome| outcome.kind) {
            None => Ok(sight.with("action", "join")),
            Some(OutcomeKind::Cached { leader }) => {
                Ok(sight.with("action", "replay").with("status", self.results.get(&leader).copied()))
            }
            Some(OutcomeKind::Refused(why)) => {
                let (reason, status) = match why {
                    AdmissionRefusal::KeyMissing => ("missing", "missing"),
                    AdmissionRefusal::KeyLength => ("bad_key", "bad_key"),
                    AdmissionRefusal::Schema => ("invalid_params", "invalid_params"),
                    AdmissionRefusal::KeyReused => ("mismatch", "mismatch"),
                    AdmissionRefusal::KeyInFlight => ("in_flight", "in_flight"),
                    other => (other.as_str(), ""),
                };
                let numbers = self.case.policy.get("dedupe").and_then(|dedupe| dedupe.get("status"));
                let status = numbers.and_then(|numbers| numbers.get(status)).and_then(Amount::of);
                Ok(sight.with("action", "reject").with("reason", reason).with("status", status))
            }
            Some(_) => Err(nothing_sent()),
        }
    }

    fn complete(&mut self, key: &str, status: Option<Amount>, is_ok: bool) -> Result<(), Unmet> {
        let out =
            self.out.remove(key).ok_or_else(|| Unmet::failed(format!("no request with the key `{key}` is out")))?;
        if is_ok {
            self.driver.succeed(&Answer::to(out.call, out.attempt));
            self.unkept.remove(key);
        } else {
            let status = status.and_then(Amount::as_whole).and_then(|status| u16::try_from(status).ok());
            let error = ErrorFacts { status, ..ErrorFacts::default() };
            self.driver.fail(&Answer::to(out.call, out.attempt), TOOL, &error);
            self.unkept.insert(key.to_owned(), "unlocked");
        }
        self.results.extend(status.map(|status| (out.call, status)));
        Ok(())
    }

    /// Whether the same request would get the result of the last one.
    fn is_kept(&mut self, key: &str) -> bool {
        let number = KeyId(self.keys.intern(key));
        (0..).map(ArgsId).zip(self.args.names()).any(|(args, _)| {
            let new = NewCall { key: Some(number), key_len: Some(key.len()), args, ..NewCall::of(TOOL) };
            let (_, told) = self.driver.clone().call(new);
            told.decisions.iter().any(|decision| matches!(decision, Decision::ServedFromCache { .. }))
        })
    }

    fn sight(&self) -> Sight {
        Sight::default().with("executions", self.executions)
    }
}
