//! What the playbook format refuses, underlines and suggests, and its defaults.

use std::sync::Arc;

use super::overlap::{self, Compared, Follows};
use super::{Loaded, embedded, fingerprint, parse, rows, tools};
use crate::diagnostic::{Diagnostic, Source};
use playproof_engine::event::EffectClaim;
use playproof_engine::ids::{QueueId, RuleId, VerdictId};
use playproof_engine::playbook::{
    Access, AfterRefresh, Compensation, ConditionKind, ConditionSyntax, GuardMode, LimitKind, MessageOp, Playbook,
    ServerDelay, Terminal, UnsafePolicy,
};
use playproof_engine::time::Duration;

const GOOD: &str = "\
format: playbook/1
name: test
queues: [humans, attic]
default_queue: humans
verdicts:
  again: { means: m, effect: unknown, then: { retry_with_backoff: { backoff_ms: [200, 600] } } }
  stale: { means: m, effect: not_applied, then: { refresh_evidence: {} } }
  back: { means: m, effect: applied, then: { issue_reversal: { reason: why } } }
classify:
- { rule: first, when: { kind: a }, verdict: again }
- { rule: second, when: { kind: b }, verdict: stale }
- { rule: third, when: { kind: c }, verdict: back }
tools:
  pay: { access: write, timeout_ms: 5000 }
";

/// The least playbook; parts under test follow it.
pub(super) const LEAST: &str = "\
format: playbook/1
name: test
verdicts:
  unclassified: { means: m, effect: unknown, then: { escalate_to_human: { queue: q } } }
classify: []
queues: [q, on_call]
";

/// The least playbook with these parts.
pub(super) fn loaded(parts: &str) -> Loaded {
    parse(Source::whole("t", format!("{LEAST}{parts}"))).unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn a_value_that_is_nearly_right_is_named_with_what_to_write_and_nothing_that_follows_from_it() {
    for (from, to, underlined, help) in [
        ("queues: [q, on_call]", "queues: q, on_call", "q, on_call", "write `queues: [q, on_call]`"),
        ("classify", "limits: { deadline_ms: 60_000 }\nclassify", "60_000", "write `60000`"),
        ("classify", "tools: { *.x: {} }\nclassify", "*.x", "put a text that begins with `*` in quotes: `\"*.x\"`"),
        ("classify", "max_attempts: 3\nclassify", "max_attempts", "write `limits: { max_attempts: 3 }`"),
    ] {
        let said = diagnostics(&LEAST.replace(from, to));
        let all: Vec<_> = said.iter().map(|(said, at)| (at.as_str(), said.help.as_deref())).collect();
        assert_eq!(all, [(underlined, Some(help))], "{to}");
    }
}

/// What is underlined in the least playbook with these parts.
pub(super) fn wrong(parts: &str) -> Vec<String> {
    diagnostics(&format!("{LEAST}{parts}")).into_iter().map(|(_, underlined)| underlined).collect()
}

fn load(text: &str) -> Playbook {
    parse(Source::whole("t", text)).unwrap_or_else(|report| panic!("{report}")).playbook
}

pub(super) fn diagnostics(text: &str) -> Vec<(Diagnostic, String)> {
    let report = parse(Source::whole("t", text)).expect_err("a report");
    let underlined = |diagnostic: &Diagnostic| {
        diagnostic.labels.iter().map(|label| &text[label.span.clone()]).collect::<Vec<_>>().join("|")
    };
    report.diagnostics.iter().map(|diagnostic| (diagnostic.clone(), underlined(diagnostic))).collect()
}

/// `id: what is underlined` of every error of a playbook.
pub(super) fn errors_of(text: &str) -> Vec<String> {
    diagnostics(text).iter().map(|(diagnostic, underlined)| format!("{}: {underlined}", diagnostic.id)).collect()
}

/// The same of `GOOD` with `from` replaced.
fn errors(from: &str, to: &str) -> Vec<String> {
    assert!(GOOD.contains(from), "{from}");
    errors_of(&GOOD.replacen(from, to, 1))
}

/// The help of the only error of `GOOD` with `from` replaced.
fn help(from: &str, to: &str) -> String {
    let all = diagnostics(&GOOD.replacen(from, to, 1));
    assert_eq!(all.len(), 1, "{all:#?}");
    all[0].0.help.clone().unwrap_or_default()
}

#[test]
fn omitted_values_get_the_documented_defaults() {
    let playbook = load(GOOD);
    let Compensation::RetryWithBackoff(retry) = &playbook.verdicts[0].then else { panic!() };
    assert_eq!((retry.max_retries, retry.server_delay), (2, ServerDelay::IGNORED));
    let to_humans = Terminal::Escalate(QueueId(0));
    assert_eq!(retry.on_unsafe, UnsafePolicy::End(to_humans));
    let Compensation::RefreshEvidence(refresh) = &playbook.verdicts[1].then else { panic!() };
    assert_eq!((refresh.then, refresh.max_refreshes), (AfterRefresh::Retry, 1));
    let Compensation::IssueReversal(reversal) = &playbook.verdicts[2].then else { panic!() };
    assert_eq!(reversal.on_refused, to_humans);
    assert_eq!((playbook.limits.max_attempts, playbook.limits.deadline), (6, None));
    assert_eq!(playbook.retry_guard(), GuardMode::Checked);
}

#[test]
fn the_reserved_verdict_is_added_and_prefers_its_own_queue() {
    let playbook = load(GOOD);
    let unclassified = playbook.verdict(playbook.otherwise);
    assert_eq!((&*unclassified.name, unclassified.effect), ("unclassified", EffectClaim::Unknown));
    assert_eq!(unclassified.then, Compensation::EscalateToHuman(QueueId(0)));
    let own = load(&GOOD.replace("[humans, attic]", "[humans, unclassified]"));
    assert_eq!(own.verdict(own.otherwise).then, Compensation::EscalateToHuman(QueueId(1)));
}

#[test]
fn the_reserved_verdict_may_be_written_but_not_changed() {
    let with =
        |body: &str| GOOD.replace("verdicts:\n", &format!("verdicts:\n  unclassified: {{ means: m, {body} }}\n"));
    let good = "effect: unknown, then: { escalate_to_human: { queue: attic } }";
    assert_eq!(load(&with(good)).otherwise, VerdictId(0));
    let ids =
        |body: &str| diagnostics(&with(body)).into_iter().map(|(d, u)| format!("{}: {u}", d.id)).collect::<Vec<_>>();
    let bent = ids("effect: applied, then: { deprecate_tool_call: { reason: r } }");
    assert_eq!(bent, ["reserved_verdict: applied", "reserved_verdict: { deprecate_tool_call: { reason: r } }"]);
}

#[test]
fn a_guard_without_a_queue_is_reported_once() {
    assert_eq!(errors("default_queue: humans\n", ""), ["missing_default_queue: retry_with_backoff"]);
    let without_guards = "format: playbook/1\nname: t\nclassify: []\nverdicts:\n  a: { means: m, effect: unknown, then: \
                          { deprecate_tool_call: { reason: r } } }\n";
    assert_eq!(diagnostics(without_guards)[0].0.id, "missing_default_queue");
    load(&format!("{without_guards}queues: [unclassified]\n"));
}

#[test]
fn several_compensations_for_one_verdict_are_all_underlined() {
    let two = "{ refresh_evidence: {}, escalate_to_human: { queue: humans } }";
    assert_eq!(errors("{ refresh_evidence: {} }", two), ["several_chosen: refresh_evidence|escalate_to_human"]);
    assert_eq!(errors("{ refresh_evidence: {} }", "refresh_evidence"), ["wrong_type: refresh_evidence"]);
    assert_eq!(errors("{ refresh_evidence: {} }", "{ refresh_evidnce: {} }"), ["unknown_key: refresh_evidnce"]);
}

#[test]
fn the_fallback_of_a_guard_cannot_send_again() {
    let retry = "backoff_ms: [200, 600], on_unsafe: { retry_with_backoff: { backoff_ms: [1] } }";
    assert_eq!(errors("backoff_ms: [200, 600]", retry), ["unknown_key: retry_with_backoff"]);
    let reversal = "reason: why, on_refused: { issue_reversal: { reason: r } }";
    assert_eq!(errors("reason: why", reversal), ["unknown_key: issue_reversal"]);
    let twice = "backoff_ms: [1], on_unsafe: { issue_reversal: { reason: r, on_refused: { deprecate_tool_call: { reason: s } } } }";
    let playbook = load(&GOOD.replace("backoff_ms: [200, 600]", twice));
    let Compensation::RetryWithBackoff(retry) = &playbook.verdicts[0].then else { panic!() };
    let UnsafePolicy::Reverse(reversal) = retry.on_unsafe else { panic!() };
    let Terminal::Deprecate(reason) = reversal.on_refused else { panic!() };
    assert_eq!(&*playbook.reasons[reason.index()], "s");
}

#[test]
fn undeclared_names_are_underlined_and_a_near_one_is_suggested() {
    assert_eq!(errors("verdict: stale", "verdict: stele"), ["dangling_name: stele"]);
    assert_eq!(help("verdict: stale", "verdict: stele"), "did you mean `stale`?");
    assert_eq!(help("default_queue: humans", "default_queue: nowhere"), "declared: `humans`, `attic`");
    assert_eq!(errors("classify:", "otherwise: nothing\nclassify:"), ["dangling_name: nothing"]);
}

#[test]
fn a_name_is_declared_once() {
    assert_eq!(errors("rule: second", "rule: first"), ["duplicate_name: first|first"]);
    assert_eq!(errors("[humans, attic]", "[humans, humans]"), ["duplicate_name: humans|humans"]);
    assert_eq!(errors("  stale:", "  again:").first().map(String::as_str), Some("duplicate_key: again|again"));
    assert_eq!(errors("rule: first", "rule: otherwise"), ["reserved_rule: otherwise"]);
}

#[test]
fn unknown_keys_at_every_depth_are_underlined() {
    assert_eq!(errors("name: test", "name: test\nretries: 3"), ["unknown_key: retries"]);
    assert_eq!(errors("{ kind: a }", "{ knd: a }"), ["unknown_key: knd"]);
    assert_eq!(errors("access: write,", "access: write, mode: x,"), ["unknown_key: mode"]);
    let list = help("backoff_ms: [200, 600]", "backoff: [200, 600]");
    assert_eq!(list, "a formula is a map; write a list of waits as `backoff_ms: [...]`, in milliseconds");
    assert_eq!(help("timeout_ms: 5000", "timeout: 5s"), "write `timeout_ms: 5000`, in milliseconds");
}

#[test]
fn absurd_numbers_are_refused() {
    for (from, to, underlined) in [
        ("[200, 600]", "[-200, 600]", "-200"),
        ("[200, 600]", "[200, 1.5]", "1.5"),
        ("[200, 600]", "[200, 99999999999]", "99999999999"),
        ("timeout_ms: 5000", "timeout_ms: 5000000000", "5000000000"),
        ("[200, 600]", "[200], max_retries: 0", "0"),
        ("{ kind: a }", "{ attempt: 0 }", "0"),
        ("{ kind: a }", "{ status: 70000 }", "70000"),
    ] {
        assert_eq!(errors(from, to), [format!("wrong_type: {underlined}")], "{to}");
    }
    assert_eq!(errors("[200, 600]", "[]"), ["empty_list: []"]);
    assert_eq!(errors("classify:", "limits: { max_attempts: 0 }\nclassify:"), ["wrong_type: 0"]);
    let digits = "9".repeat(5_000);
    assert_eq!(errors("[200, 600]", &format!("[{digits}]")), [format!("wrong_type: {digits}")]);
}

#[test]
fn a_status_is_a_number_a_range_or_a_list_of_them() {
    let status =
        |text: &str| load(&GOOD.replace("{ kind: a }", text)).rules[0].when.ranges(ConditionKind::Status).to_vec();
    let spans = |text: &str| status(text).iter().map(|range| (range.first, range.last)).collect::<Vec<_>>();
    assert_eq!(spans("{ status: 429 }"), [(429, 429)]);
    assert_eq!(spans("{ status: [429, 503] }"), [(429, 429), (503, 503)]);
    assert_eq!(spans("{ status: \"500-599\" }"), [(500, 599)]);
    assert_eq!(errors("{ kind: a }", "{ status: 5xx }"), ["bad_name: 5xx"]);
    assert_eq!(help("{ kind: a }", "{ status: 5xx }"), "write `\"500-599\"`");
    assert_eq!(errors("{ kind: a }", "{ status: 599-500 }"), ["bad_range: 599-500"]);
}

#[test]
fn every_condition_is_read_written_into_its_row_and_compared_with_itself() {
    for ask in ConditionKind::ALL {
        let (one, other) = match ask.form() {
            ConditionSyntax::Texts | ConditionSyntax::Globs => ("x", Some("y")),
            ConditionSyntax::Ranges(..) => ("2", Some("3")),
            ConditionSyntax::Messages => ("{ equals: x }", None),
            ConditionSyntax::Access => ("read", Some("write")),
            ConditionSyntax::Bool | ConditionSyntax::Said => ("true", Some("false")),
            ConditionSyntax::Headers => ("{ name: x, equals: 1 }", Some("{ name: x, prefix: '2' }")),
            ConditionSyntax::Presence => ("present", Some("absent")),
            ConditionSyntax::Absence => ("absent", None),
        };
        let asking = |what: &str| load(&GOOD.replace("{ kind: a }", &format!("{{ {}: {what} }}", ask.as_str())));
        let when = |what: &str| asking(what).rules[0].when.clone();
        let row = &rows(&asking(one)).into_iter().find(|row| row.name == "rule first").unwrap().text;
        assert!(row.contains(&format!("\"{}\":", ask.as_str())), "{row}");
        let covers =
            |wide: &str, narrow: &str| overlap::covers(&Compared::of(&when(wide)), &Compared::of(&when(narrow)));
        assert_eq!(covers(one, one), Follows::Yes, "{ask:?}");
        assert!(!overlap::are_disjoint(&when(one), &when(one)), "{ask:?}");
        if let Some(other) = other {
            assert_eq!(covers(one, other), Follows::No, "{ask:?}");
            assert!(overlap::are_disjoint(&when(one), &when(other)), "{ask:?}");
        }
    }
}

#[test]
fn every_test_of_a_message_is_read() {
    let playbook =
        load(&GOOD.replace("{ kind: a }", "{ message: { contains: [x, y], matches: 'a|b', case: sensitive } }"));
    let tests = playbook.rules[0].when.messages();
    assert_eq!((tests[0].op, tests[0].any_of.len(), tests[0].case_sensitive), (MessageOp::Contains, 2, true));
    assert_eq!((tests[1].op, tests[1].any_of.len()), (MessageOp::Matches, 1));
    assert_eq!(help("{ kind: a }", "{ message: time out }"), "write `{ contains: 'time out' }`");
    assert_eq!(errors("{ kind: a }", "{ message: { case: sensitive } }"), ["missing_key: { case: sensitive }"]);
    assert_eq!(errors("{ kind: a }", "{ message: { matches: '(a' } }"), ["bad_regex: '(a'"]);
    assert_eq!(errors("{ kind: a }", "{ tool: 'a[' }"), ["bad_glob: 'a['"]);
    load(&GOOD.replace("{ kind: a }", r"{ tool: 'a\' }")); // a name is compared to the letter
}

#[test]
fn a_rule_without_conditions_is_refused() {
    assert_eq!(errors("{ kind: a }", "{}"), ["empty_map: {}"]);
    assert_eq!(errors("{ kind: a }", "{ kind: [] }"), ["empty_list: []"]);
    assert_eq!(errors("{ kind: a }", "{ kind: '' }"), ["empty_text: ''"]);
}

#[test]
fn rules_that_test_more_values_than_can_be_compared_pair_by_pair_are_refused_at_the_first_beyond() {
    let when = |values: usize| format!("{{ kind: [{}] }}", (0..values).map(|n| format!("k{n}, ")).collect::<String>());
    let others = load(GOOD).rules.len() - 1;
    load(&GOOD.replace("{ kind: a }", &when(5_000 - others)));
    let refused = errors("{ kind: a }", &when(5_001));
    assert!(refused[0].starts_with("too_many: { rule: first"), "{refused:?}");
}

#[test]
fn more_globs_of_tools_than_each_tool_can_be_compared_with_are_refused_at_the_first_beyond() {
    let tools = |globs: usize| {
        let rows: String =
            (0..globs).map(|n| format!("  't{n}.*': {{ access: read }}\n  t{n}.x: {{ access: read }}\n")).collect();
        format!("tools:\n{rows}")
    };
    assert_eq!(loaded(&tools(1_000)).playbook.tools.rows().len(), 2_000);
    assert_eq!(wrong(&tools(1_001)), ["'t1000.*'"]);
}

#[test]
fn only_a_study_playbook_may_send_unknown_failures_again() {
    assert_eq!(errors("classify:", "otherwise: again\nclassify:"), ["otherwise_retries: again"]);
    assert_eq!(errors("classify:", "otherwise: stale\nclassify:"), ["otherwise_retries: stale"]);
    load(&GOOD.replace("classify:", "otherwise: again\nstudy: { why: w }\nclassify:"));
}

#[test]
fn a_study_playbook_needs_a_reason() {
    assert_eq!(errors("name: test", "name: study/test"), ["study_without_why: study/test"]);
    assert_eq!(errors("classify:", "study: { retry_guard: off }\nclassify:"), ["missing_key: { retry_guard: off }"]);
    assert_eq!(errors("classify:", "study: { why: w, retry_guard: on }\nclassify:"), ["wrong_type: on"]);
    let in_folder = Source::whole("/p/playbooks/study/x.yaml", GOOD);
    assert_eq!(parse(in_folder).expect_err("a report").diagnostics[0].id, "study_without_why");
}

#[test]
fn the_rows_of_a_study_block_have_the_words_of_the_playbook() {
    let switches = [
        ("cache", "ignores_arguments"),
        ("client_keys", "true"),
        ("dedupe", "after_permit"),
        ("failed_refresh", "resent"),
        ("final_error", "first"),
        ("futile_refresh", "deprecated"),
        ("permit", "held_in_backoff"),
        ("reclassify", "first_failure"),
        ("refused_reversal", "exhausted"),
        ("retry_guard", "off"),
        ("stale_evidence", "resent"),
        ("token_guard", "off"),
    ];
    let written: Vec<String> = switches.iter().map(|(switch, says)| format!(", {switch}: {says}")).collect();
    let study = format!("study: {{ why: w{} }}\nclassify:", written.concat());
    let rows = rows(&load(&GOOD.replace("classify:", &study)));
    let said = rows.iter().filter(|row| row.name.starts_with("study ") && row.name != "study why");
    let said: Vec<(String, String)> = said.map(|row| (row.name.clone(), row.text.clone())).collect();
    let written = |says: &str| if says == "true" { says.to_owned() } else { format!("\"{says}\"") };
    let wanted = switches.map(|(switch, says)| (format!("study {switch}"), written(says)));
    assert_eq!(said, wanted);
}

#[test]
fn replan_can_only_be_true() {
    let with = |replan: &str| format!("{{ deprecate_tool_call: {{ reason: r, replan: {replan} }} }}");
    load(&GOOD.replace("{ refresh_evidence: {} }", &with("true")));
    assert_eq!(errors("{ refresh_evidence: {} }", &with("false")), ["wrong_type: false"]);
}

#[test]
fn all_errors_of_a_file_are_reported_at_once() {
    let text = GOOD
        .replace("effect: unknown", "effect: maybe")
        .replace("verdict: stale", "verdict: stele")
        .replace("timeout_ms: 5000", "timeout: 5s")
        .replace("name: test", "name: a b");
    let ids: Vec<_> = diagnostics(&text).into_iter().map(|(diagnostic, _)| diagnostic.id).collect();
    assert_eq!(ids, ["bad_name", "wrong_type", "dangling_name", "unknown_key"]);
}

#[test]
fn another_format_is_refused() {
    assert_eq!(errors("format: playbook/1", "format: playbook/2"), ["wrong_type: playbook/2"]);
    assert_eq!(errors("format: playbook/1\n", "")[0].split(':').next(), Some("missing_key"));
    assert_eq!(errors("name: test", "name: ../up"), ["bad_name: ../up"]);
}

#[test]
fn places_point_at_their_parts() {
    let loaded = parse(Source::whole("t", GOOD)).expect("a playbook");
    let places = &loaded.places;
    assert_eq!(places.verdict(VerdictId(1)).map(|span| &GOOD[span]), Some("stale"));
    assert_eq!(places.verdict(VerdictId(3)), None); // unclassified is not written
    assert_eq!(places.compensation(VerdictId(2)).map(|span| &GOOD[span]), Some("issue_reversal"));
    assert_eq!(places.rule(RuleId(2)).map(|span| &GOOD[span]), Some("third"));
    assert_eq!(places.when(RuleId(0)).map(|span| &GOOD[span]), Some("{ kind: a }"));
    assert_eq!(places.queue(QueueId(1)).map(|span| &GOOD[span]), Some("attic"));
    assert_eq!(places.tool(0).map(|span| &GOOD[span]), Some("pay"));
    assert_eq!(places.limit(LimitKind::MaxAttempts), None);
}

#[test]
fn tool_facts_of_a_file_are_declared_and_missing_ones_have_defaults() {
    let text = "format: tools/1\ntools:\n  pay: { access: write, timeout_ms: 5000 }\n  search.*: { access: read, repeatable: true }\n";
    let tools = tools::parse(Source::whole("t", text)).expect("tools").tools;
    assert_eq!(tools.facts("pay").timeout, Duration::from_millis(5_000));
    assert!(tools.facts("search.web").repeatable && tools.facts("search.web").declared);
    assert!(!tools.facts("other").declared);
    let report =
        tools::parse(Source::whole("t", "format: tools/1\ntools: { pay: { idempotent: yes } }")).expect_err("a report");
    let ids: Vec<_> = report.diagnostics.iter().map(|diagnostic| diagnostic.id).collect();
    assert_eq!(ids, ["missing_key", "wrong_type"]);
}

#[test]
fn tool_rows_with_different_written_facts_differ_even_if_their_values_are_the_same() {
    let read = |row: &str| tools::parse(Source::whole("t", format!("format: tools/1\ntools: {{ a: {row} }}\n")));
    assert_ne!(read("{ access: write }"), read("{ access: write, idempotent: false }"));
    assert_eq!(read("{ access: write }"), read("{ access: write }"));
}

#[test]
fn a_stronger_row_takes_precedence_with_its_facts_and_keeps_the_others() {
    let read = |rows: &str| {
        let text = format!("format: tools/1\ntools:\n{rows}");
        tools::parse(Source::whole("t", text)).unwrap_or_else(|report| panic!("{report}")).tools
    };
    let own = read(
        "  pay: { access: read, idempotent: true, timeout_ms: 5000 }\n  list.*: { access: read, timeout_ms: 7000 }\n  \
         list.all: { access: write }\n",
    );
    let merged = |rows: &str, tool: &str| {
        let facts = read(rows).over(&own).facts(tool);
        (facts.access == Access::Write, facts.idempotent, facts.repeatable, facts.timeout.as_millis(), facts.declared)
    };
    assert_eq!(merged("  pay: { access: write }\n", "pay"), (true, true, false, 5_000, true));
    let all = "  pay: { access: write, idempotent: false, repeatable: true, timeout_ms: 30000 }\n";
    assert_eq!(merged(all, "pay"), (true, false, true, 30_000, true), "a written default counts too");
    assert_eq!(merged("  list.some: { access: write }\n", "list.some"), (true, false, false, 7_000, true));
    assert_eq!(merged("  new: { access: read }\n", "new"), (false, false, false, 30_000, true));
    // One row of each file applies; the row of a tool's name takes precedence over any glob.
    assert_eq!(
        merged("  list.*: { access: read, idempotent: true }\n", "list.all"),
        (true, false, false, 30_000, true)
    );
    let both = "  pay*: { access: read, repeatable: true }\n  pay: { access: write }\n";
    assert_eq!(merged(both, "pay"), (true, true, false, 5_000, true));
    let third =
        read("  list.some: { access: write, idempotent: true }\n").over(&read("  list.some: { access: read }\n"));
    let facts = third.over(&own).facts("list.some");
    assert_eq!((facts.access, facts.idempotent, facts.timeout.as_millis()), (Access::Write, true, 7_000));
}

#[test]
fn an_unconfirmed_guess_declares_nothing() {
    let text = "format: tools/1\ntools:\n  get: { access: read } # guessed: confirm (1 call)\n  pay: # guessed: confirm\n    \
                access: write\n    idempotent: true\n  see: { access: read }\n  # guessed: confirm\n  put: { access: write }\n  \
                log:\n    access: read # guessed: confirm\n  ask: { access: read } #Guessed:  CONFIRM";
    let file = tools::parse(Source::whole("t", text)).expect("tools");
    assert_eq!(file.guessed, 4);
    let declared: Vec<&str> = file.tools.rows().iter().map(|row| row.pattern.as_str()).collect();
    assert_eq!(declared, ["see", "put"]);
    let assumed = playproof_engine::playbook::ToolFacts::ASSUMED;
    assert_eq!(file.tools.facts("pay"), assumed);
    let seems = playproof_engine::playbook::ToolFacts { seems_to_read: true, ..assumed };
    assert_eq!(file.tools.facts("get"), seems);
}

#[test]
fn comments_and_layout_do_not_change_the_fingerprint() {
    let block = GOOD.replace(
        "  stale: { means: m, effect: not_applied, then: { refresh_evidence: {} } }",
        "  # a comment\n  stale:\n    effect: not_applied\n    means: \"m\"\n    then:\n      refresh_evidence: { then: retry, max_refreshes: 1 }",
    );
    assert_eq!(fingerprint(&load(GOOD)), fingerprint(&load(&block)));
    assert_eq!(fingerprint(&load(GOOD)).to_string().len(), 64);
}

#[test]
fn every_change_that_affects_decisions_changes_the_fingerprint() {
    let original = fingerprint(&load(GOOD));
    for (from, to) in [
        ("[200, 600]", "[200, 601]"),
        ("[200, 600]", "[200, 600], max_retries: 3"),
        ("[200, 600]", "[200, 600], after: retry_after"),
        ("effect: unknown", "effect: applied"),
        ("means: m", "means: n"),
        ("kind: a", "code: a"),
        ("rule: first", "rule: fourth"),
        ("{ refresh_evidence: {} }", "{ refresh_evidence: { max_refreshes: 2 } }"),
        ("reason: why", "reason: because"),
        ("default_queue: humans", "default_queue: attic"),
        ("access: write", "access: read"),
        ("timeout_ms: 5000", "timeout_ms: 5001"),
        ("classify:", "limits: { max_attempts: 5 }\nclassify:"),
        ("classify:", "limits: { deadline_ms: 5 }\nclassify:"),
        ("classify:", "otherwise: back\nclassify:"),
        ("classify:", "study: { why: w }\nclassify:"),
    ] {
        assert_ne!(fingerprint(&load(&GOOD.replacen(from, to, 1))), original, "{to}");
    }
    let study = |switch: &str| {
        fingerprint(&load(&GOOD.replace("classify:", &format!("study: {{ why: w, {switch} }}\nclassify:"))))
    };
    let switches = [
        "reclassify: first_failure",
        "retry_guard: off",
        "token_guard: off",
        "refused_reversal: exhausted",
        "futile_refresh: deprecated",
        "failed_refresh: resent",
        "stale_evidence: resent",
        "final_error: first",
        "dedupe: after_permit",
        "cache: ignores_arguments",
        "permit: held_in_backoff",
        "client_keys: true",
    ];
    let mut all: Vec<String> = switches.iter().map(|switch| study(switch).to_string()).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), switches.len());
}

#[test]
fn swapping_rules_that_can_match_the_same_failure_changes_the_fingerprint() {
    let with = |rules: [&str; 2]| {
        let rules = rules.map(|rule| format!("- {{ rule: {rule}, verdict: back }}\n")).concat();
        load(&GOOD.replace("tools:\n", &format!("{rules}tools:\n")))
    };
    let (kind, status) = ("x, when: { kind: x }", "y, when: { status: 409 }");
    assert_ne!(fingerprint(&with([kind, status])), fingerprint(&with([status, kind])));
    let other_kind = "y, when: { kind: y }";
    assert_eq!(fingerprint(&with([kind, other_kind])), fingerprint(&with([other_kind, kind])));
}

#[test]
fn two_branches_that_each_add_a_verdict_and_a_rule_change_no_common_row() {
    let branch = |names: &[&str]| {
        let mut text = GOOD.to_owned();
        for name in names {
            let verdict = format!(
                "  {name}: {{ means: m, effect: unknown, then: {{ deprecate_tool_call: {{ reason: {name} }} }} }}\nclassify:"
            );
            let rule = format!("- {{ rule: {name}, when: {{ kind: {name} }}, verdict: {name} }}\ntools:");
            text = text.replacen("classify:", &verdict, 1).replacen("tools:", &rule, 1);
        }
        rows(&load(&text))
    };
    let mut merged = branch(&["x"]);
    merged.extend(branch(&["y"]));
    merged.sort();
    merged.dedup();
    assert_eq!(merged, branch(&["x", "y"]));
}

#[test]
fn a_row_of_the_standard_playbook_reads_well_and_names_are_unique() {
    let playbook = load(embedded("standard").expect("embedded"));
    let rows = rows(&playbook);
    let find = |name: &str| rows.iter().find(|row| row.name == name).map(|row| row.text.as_str());
    assert_eq!(
        find("rule server-error-status"),
        Some(
            r#"{"after":["quota-exhausted","rate-limit","not-sent","server-error"],"verdict":"server_error_5xx","when":{"status":["500-599"]}}"#
        )
    );
    assert_eq!(find("limit max_attempts"), Some("6"));
    assert!(rows.windows(2).all(|pair| pair[0].name < pair[1].name));
}

#[test]
fn a_source_is_shared_with_its_places() {
    let source = Source::whole("t", GOOD);
    let loaded = parse(Arc::clone(&source)).expect("a playbook");
    assert!(Arc::ptr_eq(&loaded.places.source, &source));
}

#[test]
fn what_the_client_of_a_tool_sends_again_is_a_fact_of_its_row() {
    let with = |facts: &str| GOOD.replacen("timeout_ms: 5000", &format!("timeout_ms: 5000{facts}"), 1);
    let original = fingerprint(&load(GOOD));
    assert_eq!(fingerprint(&load(&with(", upstream_retries: 0"))), original, "the default has no canonical text");
    assert_ne!(fingerprint(&load(&with(", upstream_retries: 2"))), original);
    for wrong in ["-1", "1001", "2.5", "often"] {
        assert_eq!(
            errors("timeout_ms: 5000", &format!("timeout_ms: 5000, upstream_retries: {wrong}")).len(),
            1,
            "{wrong}"
        );
    }
}
