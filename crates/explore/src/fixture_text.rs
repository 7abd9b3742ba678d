//! Renders a fixture as the text of its file, and a run as its `expect`. The fixture reader reads the same fixture back.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use playproof_engine::event::{Decision, Draw, ErrorFacts, Header, Headers, OutcomeKind, TokensLeft};
use playproof_engine::fixture::{Expect, ExpectCall, Fixture, FixtureCall, FixtureCrash, FixtureCrashAt, FixtureTool};
use playproof_engine::ids::CallId;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{KeyDialect, Outage, Outages, Script, ScriptedAnswer, UpstreamReply};
use playproof_formats::yaml::scalar;

/// What a run shows, as the `expect` of its fixture; a person checks it before keeping it.
pub fn expected(plan: &Plan, scenario: &Scenario<'_>, record: &SimulationRecord) -> Expect {
    let calls = scenario.calls.iter().zip(&record.outcomes).zip(0..);
    let calls = calls.map(|((call, outcome), n)| {
        let verdicts = record.events_of(CallId(n)).filter_map(|event| match event.what {
            Decision::FailureClassified { verdict, .. } => Some(plan.names.verdict(verdict).to_owned()),
            _ => None,
        });
        let expect = ExpectCall {
            outcome: Some(outcome.kind.as_str().to_owned()),
            effect: Some(outcome.claim),
            attempts: Some(outcome.attempts),
            verdicts: Some(verdicts.collect()),
            queue: match outcome.kind {
                OutcomeKind::Escalated(queue) => Some(plan.names.queue(queue).to_owned()),
                _ => None,
            },
            stop: match outcome.kind {
                OutcomeKind::Exhausted(stop) => Some(stop.as_str().to_owned()),
                _ => None,
            },
            why: match outcome.kind {
                OutcomeKind::Refused(why) => Some(why.as_str().to_owned()),
                _ => None,
            },
            ..ExpectCall::default()
        };
        (call.name.to_owned(), expect.into())
    });
    let effects = record.ledger.net().values().map(|net| net.effects).sum();
    Expect { calls: calls.collect(), effects: Some(effects), ..Expect::default() }
}

/// The text of the fixture's file.
pub fn to_yaml(fixture: &Fixture) -> String {
    let mut text = format!("format: fixture/1\ntitle: {}\n", scalar(&fixture.title));
    if !fixture.playbooks.is_empty() {
        line(&mut text, format_args!("playbooks: [{}]", listed(fixture.playbooks.iter().map(String::as_str))));
    }
    if let Some(seed) = fixture.seed {
        line(&mut text, format_args!("seed: {seed}"));
    }
    line(&mut text, format_args!("calls:"));
    for call in &fixture.calls {
        line(&mut text, format_args!("  {}: {{ {} }}", scalar(&call.name), call_fields(call, &fixture.calls)));
    }
    if fixture.calls.iter().any(has_script) {
        line(&mut text, format_args!("upstream:"));
    }
    for call in fixture.calls.iter().filter(|call| has_script(call)) {
        match call.steps.is_empty() {
            true => script(&mut text, "", &call.name, &call.script),
            false => {
                line(&mut text, format_args!("  {}:\n    steps:", scalar(&call.name)));
                call.steps.iter().for_each(|step| script(&mut text, "    ", &step.step, &step.script));
            }
        }
    }
    outages(&mut text, &fixture.outages);
    if fixture.keys != KeyDialect::default() {
        line(&mut text, format_args!("keys: {}", fixture.keys.as_str()));
    }
    if !fixture.before.is_empty() {
        line(&mut text, format_args!("before:"));
    }
    for effect in &fixture.before {
        let key = effect.key.as_ref().map_or_else(String::new, |key| format!(", key: {}", scalar(key)));
        line(&mut text, format_args!("  - {{ tool: {}{key}, args: {} }}", scalar(&effect.tool), flow(&effect.args)));
    }
    if let Some(crash) = &fixture.crash {
        line(&mut text, format_args!("crash: {{ {} }}", crash_fields(crash, &fixture.calls)));
    }
    if !fixture.tools.is_empty() {
        text += &tool_facts(&fixture.tools);
    }
    let names: Vec<&str> = fixture.calls.iter().map(|call| call.name.as_str()).collect();
    expect(&mut text, &fixture.expect, &names);
    text
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{what}"); // writing to a String cannot fail
}

fn has_script(call: &FixtureCall) -> bool {
    call.script != Script::default() || !call.steps.is_empty()
}

fn call_fields(call: &FixtureCall, calls: &[FixtureCall]) -> String {
    let body = if call.is_action { "action" } else { "tool" };
    let mut fields = format!("{body}: {}, args: {}", scalar(&call.tool), flow(&call.args));
    let own = call.steps.iter().filter(|step| step.args != call.args);
    let own: Vec<String> =
        own.map(|step| format!("{}: {{ args: {} }}", scalar(&step.step), flow(&step.args))).collect();
    if !own.is_empty() {
        fields += &format!(", steps: {{ {} }}", own.join(", "));
    }
    let mut field = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            fields += &format!(", {name}: {value}");
        }
    };
    field("run", call.run.as_deref().map(|run| scalar(run).into_owned()));
    field("idempotency_key", call.key.as_deref().map(|key| scalar(key).into_owned()));
    field("reversal_token", call.token.as_deref().map(|token| scalar(token).into_owned()));
    let evidence = (!call.evidence.is_empty()).then(|| listed(call.evidence.iter().map(String::as_str)));
    field("evidence_refs", evidence.map(|refs| format!("[{refs}]")));
    field("at_ms", (call.at.as_micros() > 0).then(|| (call.at.as_micros() / 1_000).to_string()));
    let after = call.after.iter().filter_map(|&place| calls.get(place)).map(|call| call.name.as_str());
    field("after", (!call.after.is_empty()).then(|| format!("[{}]", listed(after))));
    field("after_ms", (call.after_delay > Duration::ZERO).then(|| call.after_delay.to_string()));
    field("cancel_at_ms", call.cancel_at.map(|at| at.since(Instant::ZERO).to_string()));
    field("timeout_ms", call.timeout.map(|timeout| timeout.to_string()));
    let draws: Vec<String> = call.draws.iter().map(Draw::to_string).collect();
    field("draws", (!draws.is_empty()).then(|| format!("[{}]", draws.join(", "))));
    fields
}

fn crash_fields(crash: &FixtureCrash, calls: &[FixtureCall]) -> String {
    // Calls that `times` makes share a name.
    let name = |call: &FixtureCall| scalar(call.group.as_ref().unwrap_or(&call.name)).into_owned();
    let when = match &crash.when {
        FixtureCrashAt::Time(at) => Some(format!("at_ms: {}, ", at.since(Instant::ZERO))),
        FixtureCrashAt::Ends(after) => {
            let call = after.first().and_then(|&place| calls.get(place));
            call.map(|call| format!("after: {}, ", name(call)))
        }
    };
    format!("{}restart_ms: {}", when.unwrap_or_default(), crash.restart)
}

/// The `tools` of a fixture, as files have them.
pub fn tool_facts(tools: &[FixtureTool]) -> String {
    let row = |tool: &FixtureTool| format!("  {}: {{ {} }}\n", scalar(&tool.pattern), tool_fields(tool));
    tools.iter().fold("tools:\n".to_owned(), |text, tool| text + &row(tool))
}

fn tool_fields(tool: &FixtureTool) -> String {
    let mut fields = format!("access: {}", if tool.writes { "write" } else { "read" });
    for (name, on) in [("idempotent", tool.idempotent), ("repeatable", tool.repeatable)] {
        if let Some(on) = on {
            fields += &format!(", {name}: {on}");
        }
    }
    if let Some(timeout) = tool.timeout {
        fields += &format!(", timeout_ms: {timeout}");
    }
    if let Some(server) = &tool.server {
        fields += &format!(", server: {}", scalar(server));
    }
    if let Some(ignored) = tool.ignores_keys {
        fields += &format!(", keys: {}", if ignored { "ignored" } else { "honoured" });
    }
    if let Some(needed) = tool.needs_key {
        fields += &format!(", key: {}", if needed { "required" } else { "optional" });
    }
    if let Some(never) = tool.never_retried {
        fields += &format!(", retry: {}", if never { "never" } else { "guarded" });
    }
    if let Some(same_if) = &tool.same_if {
        fields += &format!(", same_if: [{}]", listed(same_if.names().iter().map(|name| &**name)));
    }
    if let Some(across) = tool.across_runs {
        fields += &format!(", same_across: {}", if across { "runs" } else { "run" });
    }
    if let Some(once) = tool.once {
        fields += &format!(", once: {}", if once { "transaction" } else { "call" });
    }
    fields
}

fn script(text: &mut String, indent: &str, name: &str, script: &Script) {
    let parts = [("attempts", &script.attempts), ("refresh", &script.refresh), ("reversal", &script.reversal)];
    if parts.iter().all(|(_, answers)| answers.is_empty()) {
        return line(text, format_args!("{indent}  {}: []", scalar(name)));
    }
    line(text, format_args!("{indent}  {}:", scalar(name)));
    let only_attempts = script.refresh.is_empty() && script.reversal.is_empty();
    for (part, answers) in parts.into_iter().filter(|(_, answers)| !answers.is_empty()) {
        if !only_attempts {
            line(text, format_args!("{indent}    {part}:"));
        }
        let deeper = if only_attempts { "    " } else { "      " };
        for answer in answers {
            line(text, format_args!("{indent}{deeper}- {{ {} }}", answer_fields(answer)));
        }
    }
}

fn outages(text: &mut String, outages: &Outages) {
    if !outages.is_empty() {
        line(text, format_args!("outages:"));
    }
    for (tool, outages) in outages {
        line(text, format_args!("  {}:", scalar(tool)));
        for Outage { from, to, answer } in outages {
            let to = to.map_or_else(String::new, |to| format!("to_ms: {}, ", to.since(Instant::ZERO)));
            let (from, answer) = (from.since(Instant::ZERO), answer_fields(answer));
            line(text, format_args!("    - {{ from_ms: {from}, {to}answer: {{ {answer} }} }}"));
        }
    }
}

fn answer_fields(answer: &ScriptedAnswer) -> String {
    let mut fields = match &answer.reply {
        UpstreamReply::Ok => "ok: {}".to_owned(),
        UpstreamReply::Lost => "timeout: {}".to_owned(),
        // No fixture suspects a failure.
        UpstreamReply::Failed(None) | UpstreamReply::Suspected(_) | UpstreamReply::Unfinished(_) => {
            "error: absent".to_owned()
        }
        UpstreamReply::Failed(Some(error)) => format!("error: {{ {} }}", error_fields(error)),
    };
    if answer.latency.as_micros() > 0 {
        fields += &format!(", latency_ms: {}", answer.latency);
    }
    if let Some(applied) = answer.applied {
        fields += &format!(", applied: {applied}");
    }
    fields
}

fn error_fields(error: &ErrorFacts) -> String {
    let text =
        |name: &str, value: &Option<Box<str>>| value.as_deref().map(|value| format!("{name}: {}", scalar(value)));
    let fields = [
        text("kind", &error.kind),
        text("message", &error.message),
        error.status.map(|status| format!("status: {status}")),
        text("code", &error.code),
        error.retry_after.map(|span| format!("retry_after_ms: {span}")),
        error.should_retry.map(|should| format!("should_retry: {should}")),
        headers(&error.headers),
    ];
    fields.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn headers(headers: &Headers) -> Option<String> {
    let values = |values: &[Header]| match values {
        [one] => scalar(&one.value).into_owned(),
        several => format!("[{}]", listed(several.iter().map(|header| &*header.value))),
    };
    let all = headers.by_name().filter_map(|all| Some(format!("{}: {}", scalar(&all.first()?.name), values(all))));
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| format!("headers: {{ {} }}", all.join(", ")))
}

/// What is expected of calls with these names; calls that `times` makes are written one by one.
fn expect(text: &mut String, expect: &BTreeMap<String, Box<Expect>>, names: &[&str]) {
    line(text, format_args!("expect:"));
    for (playbook, expect) in expect {
        line(text, format_args!("  {}:", scalar(playbook)));
        for (call, expect) in expect.calls.iter().filter(|(call, _)| names.contains(&call.as_str())) {
            line(text, format_args!("    {}: {{ {} }}", scalar(call), expected_fields(expect)));
        }
        for (name, count) in
            [("effects", expect.effects), ("sends", expect.sends), ("peak_in_flight", expect.peak_in_flight)]
        {
            if let Some(count) = count {
                line(text, format_args!("    {name}: {count}"));
            }
        }
        if !expect.circuits.is_empty() {
            let states = expect.circuits.iter().map(|(server, state)| format!("{}: {state}", scalar(server)));
            line(text, format_args!("    circuits: {{ {} }}", states.collect::<Vec<_>>().join(", ")));
        }
        if !expect.retry_budgets.is_empty() {
            line(text, format_args!("    retry_budgets: {{ {} }}", expected_budgets(&expect.retry_budgets)));
        }
        if let Some(findings) = &expect.findings {
            line(text, format_args!("    findings: [{}]", listed(findings.iter().map(|id| id.as_str()))));
        }
    }
}

/// Budgets that all calls share, and those of servers.
fn expected_budgets(left: &BTreeMap<(String, Option<String>), TokensLeft>) -> String {
    let mut budgets: BTreeMap<&str, (Option<TokensLeft>, Vec<String>)> = BTreeMap::new();
    for ((budget, server), left) in left {
        let of = budgets.entry(budget).or_default();
        match server {
            None => of.0 = Some(*left),
            Some(server) => of.1.push(format!("{}: {left}", scalar(server))),
        }
    }
    let written = budgets.into_iter().map(|(budget, (shared, servers))| match shared {
        Some(left) => format!("{}: {left}", scalar(budget)),
        None => format!("{}: {{ {} }}", scalar(budget), servers.join(", ")),
    });
    written.collect::<Vec<_>>().join(", ")
}

fn expected_fields(expect: &ExpectCall) -> String {
    let verdicts = expect.verdicts.as_ref().filter(|verdicts| !verdicts.is_empty());
    let excluded = expect.not_verdicts.as_ref();
    let fields = [
        expect.outcome.as_ref().map(|word| format!("outcome: {word}")),
        expect.queue.as_ref().map(|queue| format!("queue: {}", scalar(queue))),
        expect.stop.as_ref().map(|stop| format!("stop: {stop}")),
        expect.why.as_ref().map(|why| format!("why: {why}")),
        expect.leader.as_ref().map(|leader| format!("leader: {}", scalar(leader))),
        expect.effect.map(|effect| format!("effect: {}", effect.as_str())),
        expect.attempts.map(|attempts| format!("attempts: {attempts}")),
        verdicts.map(|verdicts| format!("verdicts: [{}]", listed(verdicts.iter().map(String::as_str)))),
        expect.told.as_ref().map(|told| format!("told: {told}")),
        expect.retriable.map(|may| format!("retriable: {may}")),
        excluded.map(|verdicts| format!("not_verdicts: [{}]", listed(verdicts.iter().map(String::as_str)))),
    ];
    fields.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn listed<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    texts.map(scalar).collect::<Vec<_>>().join(", ")
}

/// Arguments (canonical JSON) in YAML flow style.
fn flow(args: &str) -> String {
    fn write(value: &Value) -> String {
        match value {
            Value::Object(pairs) if !pairs.is_empty() => {
                let pairs = pairs.iter().map(|(key, value)| format!("{}: {}", scalar(key), write(value)));
                format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
            }
            Value::Array(items) => format!("[{}]", items.iter().map(write).collect::<Vec<_>>().join(", ")),
            Value::String(text) => scalar(text).into_owned(),
            other => other.to_string(),
        }
    }
    serde_json::from_str(args).map_or_else(|_| args.to_owned(), |value| write(&value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_formats::diagnostic::Source;
    use playproof_formats::fixture;

    #[test]
    fn a_rendered_fixture_is_read_back_unchanged() {
        let text = "\
format: fixture/1
title: \"Everything: at once\"
playbooks: [study/a, b]
seed: 7
calls:
  one: { tool: pay.refund, args: { a: [1, 2.5, 'x y', true, null, {}], 'k k': '12' }, idempotency_key: '007', at_ms: 30, timeout_ms: 900, evidence_refs: [ev_1, 'e 2'], reversal_token: 'yes' }
  two: { tool: look, run: 'r 1', cancel_at_ms: 7, draws: [0.5, 1, 0] }
  three: { tool: look, after: [one, two], after_ms: 1 }
upstream:
  one:
    attempts: [{ timeout: {}, applied: true }, { error: absent, latency_ms: 2 }, { error: {} }, { ok: {}, applied: false }]
    refresh: [{ ok: {}, latency_ms: 1 }]
    reversal: [{ error: { kind: 5xx, message: 'no: \"n\\o', status: 503, code: '1e5', retry_after_ms: 20, should_retry: false, headers: { 'x y': [1, 'null', ''], retry-after: '2' } } }]
  two: [{ ok: {} }, { error: { kind: '0x1F', message: absent, code: '2020-01-01' } }]
crash: { after: two, restart_ms: 5 }
outages: { look: [{ from_ms: 1, to_ms: 9, answer: { error: { kind: 5xx } } }, { answer: { ok: {}, latency_ms: 3 } }] }
keys: ietf
before: [{ tool: pay.refund, key: k, args: { order: o } }, { tool: look }]
tools: { 'pay.*': { access: write, idempotent: true, repeatable: true, timeout_ms: 5, server: 's 1', keys: ignored, key: required, retry: never }, look: { access: read }, send: { access: write, same_if: [to, 'k k'], same_across: runs } }
expect:
  study/a:
    one: { outcome: escalated, queue: q, why: key_reused, effect: unknown, attempts: 3, verdicts: [v, w] }
    two: { outcome: exhausted, stop: max_retries }
    three: { not_verdicts: [v, w], leader: one, told: network_error, retriable: false }
    effects: 2
    sends: 5
    peak_in_flight: 3
    circuits: { search: half_open, 's 2': closed }
    retry_budgets: { quota: 13.5, 'per server': { search: 0, 's 2': 4 } }
    findings: [unclassified]
  b: { findings: [] }
";
        let read =
            |text: &str| fixture::parse(Source::whole("t", text)).unwrap_or_else(|report| panic!("{report}\n{text}"));
        let fixture = read(text);
        let written = to_yaml(&fixture);
        assert_eq!(read(&written), fixture, "{written}");
    }
}
