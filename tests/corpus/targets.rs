//! What must hold for any bytes that a reader is given. Shared by the fuzz targets and by the test that replays
//! their corpora; knows neither.

use std::path::Component;
use std::sync::{Arc, OnceLock};

use playproof::changeset::Journal;
use playproof_analysis::{kept, proposal};
use playproof_engine::classify::{Classifier, Signal, server_says};
use playproof_engine::event::{Decision, ErrorFacts, Finding, FindingBy, FindingId, Headers, WishFaults};
use playproof_engine::fixture::Fixture;
use playproof_engine::glob;
use playproof_engine::glob::Glob;
use playproof_engine::ids::AttemptNo;
use playproof_engine::playbook::{Compensation, DelayFormat, DelaySource, Playbook, Tools};
use playproof_engine::sim::{Plan, Scenario, SimulationRecord, Simulator};
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::golden::{GoldenFile, Lock};
use playproof_formats::playbook::lint;
use playproof_formats::{fixture, history, playbook, yaml};
use playproof_intake::assemble::{AssembleOptions, Assembler};
use playproof_intake::builtin::{self, FORMATS, FormatOptions};
use playproof_intake::digest;
use playproof_intake::digest::Digest;
use playproof_intake::import;
use playproof_intake::import::SourceFormat;
use playproof_intake::imported::Imported;
use playproof_intake::mapping;
use playproof_intake::pieces::{Chunks, InputPiece};
use playproof_intake::redact::RedactionRules;
use playproof_intake::wire::{AnswerLine, TraceLine};
use playproof_intake::{canonical, wire};
use serde::de::IgnoredAny;

/// What people write: any text gives a tree or a report that points into it.
pub fn yaml(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match yaml::parse(Source::whole("fuzz.yaml", text), |root| root.json()) {
        Ok(value) => drop(serde_json::to_string(&value).expect("any value is JSON")),
        Err(report) => points_into_its_source(&report),
    }
}

/// Playbooks: a model in which every name leads somewhere, or a report with places.
pub fn playbook(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match playbook::parse(Source::whole("fuzz.yaml", text)) {
        Ok(loaded) => {
            let diagnostics = lint::lint(&loaded);
            if !diagnostics.is_empty() {
                points_into_its_source(&Report { source: loaded.places.source.clone(), diagnostics });
            }
            let playbook = &loaded.playbook;
            let names: Vec<_> = playbook::rows(playbook).into_iter().map(|row| row.name).collect();
            assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "every row has a name of its own");
            assert!(playbook.otherwise.index() < playbook.verdicts.len(), "`otherwise` leads nowhere");
            for rule in &playbook.rules {
                assert!(rule.verdict.index() < playbook.verdicts.len(), "rule `{}` leads nowhere", rule.name);
            }
            for verdict in &playbook.verdicts {
                if let Compensation::RetryWithBackoff(retry) = &verdict.then {
                    let leads = retry.retry_budget.is_none_or(|id| id.index() < playbook.retry_budgets.len());
                    assert!(leads, "the budget of `{}` leads nowhere", verdict.name);
                }
            }
            explains_what_it_classifies(playbook);
            for diagnostic in lint::lint(&loaded) {
                points_into_its_source(&Report::one(Arc::clone(&loaded.places.source), diagnostic));
            }
        }
        Err(report) => points_into_its_source(&report),
    }
}

/// What lies beside a playbook: copies of it, and copies that are merged with it, records, kept calls, locks and goldens.
pub fn project(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = || Source::whole("fuzz.yaml", text);
    let refused = [
        history::parse(source()).err(),
        kept::parse(source()).err(),
        Lock::parse(source()).err(),
        GoldenFile::parse(&source()).err(),
    ];
    refused.iter().flatten().for_each(points_into_its_source);
    let standard = Source::whole("standard", playbook::embedded("standard").expect("embedded"));
    let standard = playbook::parse(standard).unwrap_or_else(|report| panic!("{report}"));
    let copied = &standard.places.source;
    for (base, copy) in [(text, &*copied.text), (&copied.text, text)] {
        let copy = Source::whole("fuzz.yaml", proposal::copy_of("standard", base, copy));
        let proposal = match proposal::parse(copy, Some(Source::whole("base", base))) {
            Ok(proposal) => proposal,
            Err(report) => return points_into_its_source(&report),
        };
        if let Err(report) = proposal::apply(&standard, &proposal) {
            points_into_its_source(&report);
        }
    }
}

/// Journals of interrupted work: one that is read says the same when it is written, and no path in it leads up.
pub fn journal(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Journal::parse(text) {
        Ok(journal) => {
            assert_eq!(Journal::parse(&journal.render()), Ok(journal.clone()));
            for step in &journal.steps {
                let leads_up = |part: Component<'_>| matches!(part, Component::ParentDir | Component::CurDir);
                assert!(!step.path.components().any(leads_up), "{:?} leads up", step.path);
                assert!(step.path.file_name().is_some(), "{:?} is no file", step.path);
            }
        }
        Err(why) => assert!(!why.is_empty()),
    }
}

/// Tool facts.
pub fn tools(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match playbook::tools::parse(Source::whole("fuzz.yaml", text)) {
        Ok(file) => assert!(file.tools.rows().iter().all(|row| row.facts.declared)),
        Err(report) => points_into_its_source(&report),
    }
}

/// Globs: up to the first zero byte the glob, behind it a text to hold against it. Any is one that can be asked, or is
/// refused in one line; and what is escaped matches itself.
pub fn glob(data: &[u8]) {
    let Ok(whole) = std::str::from_utf8(data) else { return };
    let (pattern, text) = whole.split_once('\0').unwrap_or((whole, whole));
    match Glob::new(pattern) {
        Ok(glob) => drop(glob.is_match(text)),
        Err(why) => assert!(!why.is_empty() && !why.contains('\n'), "{why:?}"),
    }
    let escaped = glob::escape(text);
    match Glob::of_tools(&escaped) {
        Ok(Some(glob)) => assert!(glob.is_match(text), "{text:?} does not match itself"),
        Ok(None) => assert_eq!(escaped, text, "a name is compared to the letter"),
        Err(why) => assert!(!why.is_empty() && !why.contains('\n'), "{why:?}"),
    }
}

/// Headers: up to the first zero byte the value of one, behind it the date of its answer. In each format it is a wait or has
/// a fault, and what is read without decimal places means the same with them. As JSON, what is read is read again alike.
pub fn headers(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (value, date) = text.split_once('\0').unwrap_or((&text, ""));
    let headers = Headers::new([("x", value), ("Date", date)]);
    let error = ErrorFacts { headers: headers.clone(), ..ErrorFacts::default() };
    for format in DelayFormat::ALL {
        let said = [false, true].map(|float| {
            let source = DelaySource { header: "x".to_owned(), format, float };
            server_says(&error, &[source], None)
        });
        for says in said {
            assert!(says.wait.is_none() || says.faults == WishFaults::default(), "{value:?}: {says:?}");
        }
        assert!(said[0].faults.invalid || said[0] == said[1], "{value:?}: {said:?}");
    }
    let line = serde_json::json!({"call_id": "1", "error": {"headers": {"X": value, "date": [date]}}}).to_string();
    let read = wire::parse_line(&line).expect("a line of ours").line;
    let TraceLine::Answer(AnswerLine { answer, .. }) = read else { panic!("{line}") };
    assert_eq!(answer.reply.error().map(|error| &error.headers), Some(&headers), "{line}");
}

/// The rule that decides is the last one that `explain` tried.
fn explains_what_it_classifies(playbook: &Playbook) {
    let classifier = Classifier::new(playbook);
    let message = "idempotency key already processed, timed out".into();
    let error =
        ErrorFacts { kind: Some("timeout".into()), message: Some(message), status: Some(409), ..ErrorFacts::default() };
    for error in [None, Some(&error)] {
        let signal = Signal::new(error, "payments.issue_refund", playbook.tools.facts("x"), true, AttemptNo::FIRST);
        let matched = classifier.explain(&signal, &signal).last().filter(|trial| trial.matched).map(|trial| trial.rule);
        assert_eq!(classifier.classify(&signal).rule, matched);
    }
}

/// Fixtures: a scenario that runs to its end under every shipped playbook, twice the same, or a report with places.
pub fn fixture(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match fixture::parse(Source::whole("fuzz.yaml", text)) {
        Ok(fixture) => plans().iter().for_each(|plan| rehearses_twice_the_same(plan, &fixture)),
        Err(report) => points_into_its_source(&report),
    }
}

/// The shipped playbooks, ready to run.
fn plans() -> &'static [Plan] {
    static PLANS: OnceLock<Vec<Plan>> = OnceLock::new();
    PLANS.get_or_init(|| {
        let shipped = playbook::EMBEDDED.iter().map(|name| (*name, playbook::embedded(name).expect("it is shipped")));
        let texts = shipped.map(|(name, text)| Source::whole(name, text));
        let parsed = texts.map(|source| playbook::parse(source).expect("a shipped playbook is sound").playbook);
        parsed.map(|playbook| Plan::new(playbook, &Tools::default())).collect()
    })
}

fn rehearses_twice_the_same(plan: &Plan, fixture: &Fixture) {
    let scenario = Scenario::of_fixture(fixture, plan);
    let first = Simulator::new().run_fixture(plan, &scenario).clone();
    let mut used = Simulator::new();
    used.run_fixture(plan, &scenario);
    let second = used.run_fixture(plan, &scenario);
    assert_eq!((&first.events, &first.outcomes), (&second.events, &second.outcomes), "a used simulator runs otherwise");
    ends_well(plan, &first, scenario.calls.len());
}

/// One outcome a call, time that does not run back, and no unsafe retry but by a playbook for study.
fn ends_well(plan: &Plan, record: &SimulationRecord, calls: usize) {
    assert_eq!(record.outcomes.len(), calls, "one outcome a call");
    let ends = record.events.iter().filter(|event| matches!(event.what, Decision::Outcome(_)));
    assert_eq!(ends.count(), calls, "one outcome event a call");
    assert!(record.events.is_sorted_by_key(|event| event.at), "time runs back");
    let unsafe_retry = |finding: &Finding| (finding.id, finding.by) == (FindingId::UnsafeRetry, FindingBy::Playbook);
    let guarded = plan.playbook.study.is_none();
    assert!(!guarded || !record.findings.iter().any(unsafe_retry), "{:?}", record.findings);
}

/// Traces: every line is accounted for once, and nothing is accepted that is no JSON.
pub fn trace(data: &[u8]) {
    for join_resends in [false, true] {
        balances(data, &AssembleOptions { join_resends, skip_invalid: true, reorder_window: 3, requests: None });
    }
    for line in String::from_utf8_lossy(data).trim_start_matches('\u{feff}').split('\n') {
        if wire::parse_line(line).is_ok() {
            serde_json::from_str::<IgnoredAny>(line).expect("an accepted line is JSON");
        }
        means_the_same_in_canonical_form(line);
    }
}

/// Every line, call and answer of an input is booked once. Gives the calls and the lines that could not be used.
fn balances(data: &[u8], options: &AssembleOptions) -> (u64, u64) {
    let writes = |tool: &str| !tool.starts_with('r');
    let mut assembler = Assembler::new(0, "fuzz.jsonl", options.clone(), &writes);
    let mut closed = Vec::new();
    for digest in digests_of(data) {
        assembler.take(digest, &mut closed).expect("bad lines are skipped");
    }
    let (ledger, reports, _) = assembler.finish(&mut closed);
    assert!(ledger.balances(), "{ledger:?}");
    assert_eq!(ledger.closed, closed.len() as u64, "every closed call is given out");
    let mut simulator = Simulator::new();
    for (call, plan) in closed.iter().map(|closed| closed.raw()).zip(plans().iter().cycle()) {
        ends_well(plan, simulator.replay(plan, call, plan.facts(call.tool()), &MissingAnswerPolicy::Unanswered), 1);
    }
    reports.iter().for_each(points_into_its_source);
    (ledger.calls + ledger.combined, ledger.skipped)
}

/// What the pieces of an input say; every line of theirs is accounted for.
fn digests_of(data: &[u8]) -> Vec<Digest> {
    let mut chunks = Chunks::new(data);
    let mut digests = Vec::new();
    while let Some(piece) = chunks.next(Vec::new()).expect("bytes in memory can be read") {
        let digest = digest::read_piece(&piece, &RedactionRules::default());
        let accounted = digest.blank + digest.other + (digest.entries.len() + digest.bad.len()) as u64;
        assert_eq!(digest.lines, accounted, "the lines balance");
        if let InputPiece::Lines(bytes) = piece {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n').count();
            assert_eq!(digest.lines, lines as u64, "every line is read");
        }
        for bad in &digest.bad {
            points_into_its_source(&bad.report("fuzz.jsonl", true));
        }
        digests.push(digest);
    }
    digests
}

/// The canonical form of JSON is JSON, says the same, and is its own canonical form.
fn means_the_same_in_canonical_form(text: &str) {
    if serde_json::from_str::<serde_json::Value>(text).is_ok() {
        let canonical = canonical::text_of(text);
        serde_json::from_str::<IgnoredAny>(&canonical).expect("a canonical form is JSON");
        assert_eq!(canonical::hash_of(&canonical), canonical::hash_of(text), "{text} became {canonical}");
        assert_eq!(canonical::text_of(&canonical), canonical);
    }
}

/// Foreign recordings: whatever is accepted becomes lines that our own reader takes, as many as the report says.
pub fn import(data: &[u8]) {
    for format in [SourceFormat::OpenAi, SourceFormat::Tau, SourceFormat::Tau2, SourceFormat::Cassette] {
        is_read_by_our_own_reader(import::import(format, data, "fuzz.json"));
    }
    for format in builtin::detect(data) {
        assert!(!import::is_own_format(data), "a trace of our own is no {}", format.name);
    }
    for format in &FORMATS {
        is_read_by_our_own_reader(format.read(data, "fuzz.json", FormatOptions::default(), &RedactionRules::default()));
    }
}

/// Results as text: each is one result, whichever way the chat holds its text, and detection says the same of both.
pub fn failure(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if text.trim().is_empty() {
        return;
    }
    let loss = |content: serde_json::Value| {
        let call = serde_json::json!({"id": "1", "function": {"name": "t", "arguments": "{}"}});
        let call = serde_json::json!({"role": "assistant", "tool_calls": [call]});
        let result = serde_json::json!({"role": "tool", "tool_call_id": "1", "content": content});
        let chat = serde_json::json!({"messages": [call, result]}).to_string();
        let imported = import::import(SourceFormat::OpenAi, chat.as_bytes(), "fuzz.json").expect("a chat is read");
        let (results, found) = (imported.loss.results, (imported.loss.failures, imported.loss.suspected));
        is_read_by_our_own_reader(Ok(imported));
        assert!(results == 1 && found.0 + found.1 <= 1, "{text}: {found:?}");
        found
    };
    let plain = loss((*text).into());
    assert_eq!(plain, loss(serde_json::json!([{"type": "text", "text": text}])), "{text}");
}

/// Mapping files with what they map: up to the first zero byte the mapping, behind it the recording.
pub fn mapping(data: &[u8]) {
    let (rules, recording) = match data.iter().position(|byte| *byte == 0) {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (data, b"{}".as_slice()),
    };
    let Ok(text) = std::str::from_utf8(rules) else { return };
    match mapping::parse(Source::whole("fuzz.yaml", text)) {
        Ok(mapping) => {
            is_read_by_our_own_reader(mapping::apply(&mapping, recording, "fuzz.json", &RedactionRules::default()))
        }
        Err(report) => points_into_its_source(&report),
    }
}

/// What an importer gives is lines of our own format, none of them bad, and its account is true of them.
fn is_read_by_our_own_reader(imported: Result<Imported, Report>) {
    match imported {
        Ok(Imported { lines, loss, .. }) => {
            assert!(lines.is_empty() || lines.ends_with(b"\n"), "the last line is cut short");
            let (calls, skipped) =
                balances(&lines, &AssembleOptions { skip_invalid: true, ..AssembleOptions::default() });
            assert_eq!(skipped, 0, "an imported line is refused: {}", String::from_utf8_lossy(&lines));
            assert_eq!(calls, loss.calls, "the calls balance");
            assert!(loss.runs > 0, "an import without runs is an error");
            assert!(loss.failures <= loss.results && loss.unanswered <= loss.calls, "{loss:?}");
        }
        Err(report) => points_into_its_source(&report),
    }
}

/// A report has something to say, and every place that it names is inside its text.
fn points_into_its_source(report: &Report) {
    assert!(!report.diagnostics.is_empty(), "a report without a diagnostic");
    for diagnostic in &report.diagnostics {
        assert!(!diagnostic.message.is_empty(), "{} says nothing", diagnostic.id);
        for label in &diagnostic.labels {
            let place = report.source.text.get(label.span.clone());
            assert!(
                place.is_some(),
                "{} points at {:?} of {} bytes",
                diagnostic.id,
                label.span,
                report.source.text.len()
            );
        }
    }
    assert!(!report.to_string().is_empty());
}
