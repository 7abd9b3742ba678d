//! One story in every format that is read without a mapping: two runs, nine calls, six of them failed. Each sample is compared
//! with the story field by field, as far as its format can tell.

mod commands;
mod second_results;

use std::path::{Path, PathBuf};

use playproof_engine::call::{RecordedCall, Reply};
use playproof_formats::diagnostic::Source;
use playproof_intake::assemble::AssembleOptions;
use playproof_intake::builtin::{self, FORMATS, FormatOptions};
use playproof_intake::imported::{Imported, Missing};
use playproof_intake::input::TraceInput;
use playproof_intake::mapping;
use playproof_intake::redact::RedactionRules;
use serde_json::Value;

/// What the format of a sample can tell.
#[derive(Clone, Copy, Default)]
struct Tells {
    runs: bool,
    times: bool,
    latencies: bool,
}

const NOTHING: Tells = Tells { runs: false, times: false, latencies: false };
const RUNS: Tells = Tells { runs: true, ..NOTHING };
const SENT: Tells = Tells { times: true, ..RUNS };
const ALL: Tells = Tells { latencies: true, ..SENT };

/// Each sample, its format, and what it tells.
const SAMPLES: [(&str, &str, Tells); 22] = [
    ("anthropic-messages.jsonl", "anthropic-messages", RUNS),
    ("bedrock-converse.jsonl", "bedrock-converse", RUNS),
    ("claude-code-session.jsonl", "claude-code", ALL),
    ("claude-stream.jsonl", "claude-stream", RUNS),
    ("gemini-contents.jsonl", "gemini-contents", RUNS),
    ("langfuse-observations.json", "langfuse-observations", ALL),
    ("langsmith-nested.json", "langsmith-runs", ALL),
    ("langsmith-runs.jsonl", "langsmith-runs", ALL),
    ("mcp-jsonrpc-bare.jsonl", "mcp-jsonrpc", RUNS),
    ("mcp-jsonrpc-enveloped.jsonl", "mcp-jsonrpc", ALL),
    ("openai-chat-finetune.jsonl", "openai-chat", RUNS),
    ("openai-chat-json-error-bodies.jsonl", "openai-chat", RUNS),
    ("openai-chat-message-a-line.jsonl", "openai-chat", NOTHING),
    ("openai-responses-items.jsonl", "openai-responses", NOTHING),
    ("openai-responses-list.json", "openai-responses", NOTHING),
    ("openhands-events.json", "openhands", Tells { runs: false, ..ALL }),
    ("otlp-file-exporter.jsonl", "otlp-genai", ALL),
    ("otlp.json", "otlp-genai", ALL),
    ("vercel-ai-sdk-4-steps.jsonl", "vercel-ai-sdk-4", SENT),
    ("vercel-ai-sdk-5-steps.jsonl", "vercel-ai-sdk-5", SENT),
    ("app-log-ecs.jsonl", "app-log-ecs.mapping.yaml", ALL),
    ("app-log-structlog.jsonl", "app-log-structlog.mapping.yaml", ALL),
];

/// A file of this folder.
fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/intake").join(name)
}

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(path("samples").join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The sample as its format, or as a mapping of this folder reads it.
fn imported(name: &str, format: &str) -> Imported {
    let bytes = sample(name);
    let redaction = RedactionRules::default();
    let read = match format.strip_suffix(".yaml") {
        Some(_) => {
            let text = std::fs::read_to_string(path("samples").join(format)).expect("a mapping");
            let mapping = mapping::parse(Source::whole(format, text)).unwrap_or_else(|report| panic!("{report}"));
            assert_eq!(builtin::detect(&bytes).len(), 0, "{name}");
            mapping::apply(&mapping, &bytes, name, &redaction)
        }
        None => {
            let found = builtin::detect(&bytes);
            let names: Vec<_> = found.iter().map(|format| format.name).collect();
            assert_eq!(names, [format], "{name}");
            found[0].read(&bytes, name, FormatOptions::default(), &redaction)
        }
    };
    read.unwrap_or_else(|report| panic!("{name}: {report}"))
}

fn calls(name: &str, imported: &Imported) -> Vec<RecordedCall> {
    let mut calls = Vec::new();
    let (input, options) = (TraceInput::own("imported", imported.lines.as_slice()), AssembleOptions::default());
    let read = input.each_call(0, options, &RedactionRules::default(), &|_| true, |closed| {
        calls.push(closed.raw().clone());
    });
    let ledger = read.unwrap_or_else(|error| panic!("{error:?}"));
    let lines = String::from_utf8_lossy(&imported.lines);
    assert_eq!((ledger.orphans, ledger.unanswered), (0, 0), "{name}\n{lines}");
    calls
}

/// The story: the calls in their order.
fn story() -> Vec<Value> {
    let text = std::fs::read_to_string(path("truth.json")).expect("the story");
    let story: Value = serde_json::from_str(&text).expect("JSON");
    story["rows"].as_array().expect("rows").clone()
}

/// Seconds such as 1.2 as milliseconds.
fn millis_of(seconds: &Value) -> u64 {
    let text = seconds.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    format!("{whole}{part:0<3}").parse().expect("seconds")
}

/// What differs between a recorded call and the story.
fn differences(call: &RecordedCall, first_at: Option<u64>, row: &Value, tells: Tells) -> Vec<String> {
    let mut found = Vec::new();
    let mut differs = |what: &str, is: String, should: String| {
        if is != should {
            found.push(format!("{what}: {is}, not {should}"));
        }
    };
    let tool = call.tool().trim_start_matches("mcp__shop__"); // some clients name the server too
    differs("tool", tool.to_owned(), row["tool"].as_str().unwrap_or_default().to_owned());
    let mut args: Value = call.args().map_or(Value::Null, |args| serde_json::from_str(args).expect("JSON"));
    if let (Some(key), Some(args)) =
        (call.key().filter(|_| row["args"]["idempotency_key"].is_string()), args.as_object_mut())
    {
        args.insert("idempotency_key".to_owned(), key.into());
    }
    differs("args", args.to_string(), row["args"].to_string());
    differs("key", format!("{:?}", call.key()), format!("{:?}", row["idempotency_key"].as_str()));
    let offset = millis_of(&row["offset_s"]);
    let took = row["took_ms"].as_u64().unwrap_or_default();
    let millis = |at: playproof_engine::time::Instant| at.as_micros() / 1000;
    if tells.times {
        let at = call.at.map(millis).zip(first_at).map(|(at, first)| at - first);
        differs("offset", format!("{at:?}"), format!("{:?}", Some(offset)));
    }
    let [answer] = call.answers.as_slice() else {
        return vec![format!("{} answers", call.answers.len())];
    };
    if tells.latencies {
        let ended = answer.at.map(millis).zip(first_at).map(|(at, first)| at - first);
        differs("end", format!("{ended:?}"), format!("{:?}", Some(offset + took)));
    }
    differs("failed", (answer.reply != Reply::Ok).to_string(), row["failed"].to_string());
    if let Reply::Failed(Some(error)) = &answer.reply {
        let kind = error.kind.as_deref().unwrap_or_default();
        differs("kind", kind.to_owned(), row["kind"].as_str().unwrap_or_default().to_owned());
        let message = error.message.as_deref().unwrap_or_default();
        let text = row["text"].as_str().unwrap_or_default();
        let end = text.rsplit(": ").next().unwrap_or(text); // JSON-RPC has a number for what others say in words
        if !message.contains(end) && !text.starts_with(message) {
            differs("message", message.to_owned(), text.to_owned());
        }
        let wait = error.retry_after.map(|wait| wait.as_micros() / 1_000_000);
        differs("retry after", format!("{wait:?}"), format!("{:?}", row["retry_after_s"].as_u64()));
    }
    found
}

/// Where a sample differs from the story.
fn wrong(name: &str, imported: &Imported, tells: Tells) -> Vec<String> {
    let mut wrong = Vec::new();
    let calls = calls(name, imported);
    let runs: std::collections::BTreeSet<_> = calls.iter().map(|call| call.run()).collect();
    if runs.len() != if tells.runs { 2 } else { 1 } {
        wrong.push(format!("{name}: runs {runs:?}"));
    }
    if imported.loss.missing.contains(&Missing::Runs) == tells.runs {
        wrong.push(format!("{name}: the report does not say whether runs are known"));
    }
    let first_at = calls.first().and_then(|call| call.at).map(|at| at.as_micros() / 1000);
    let story = story();
    if calls.len() != story.len() {
        wrong.push(format!("{name}: {} calls", calls.len()));
    }
    for (n, (call, row)) in calls.iter().zip(&story).enumerate() {
        let differences = differences(call, first_at, row, tells);
        wrong.extend(differences.into_iter().map(|difference| format!("{name}, call {}: {difference}", n + 1)));
    }
    wrong
}

#[test]
fn every_sample_tells_the_story() {
    let wrong = SAMPLES.iter().flat_map(|(name, format, tells)| wrong(name, &imported(name, format), *tells));
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_drafted_mapping_of_a_log_tells_the_story_too() {
    for name in ["app-log-ecs.jsonl", "app-log-structlog.jsonl"] {
        let bytes = sample(name);
        let draft = mapping::draft(&bytes, name).expect("JSON").unwrap_or_else(|why| panic!("{name}: {why:?}"));
        let drafted =
            mapping::parse(Source::whole(name, draft.text.as_str())).unwrap_or_else(|report| panic!("{report}"));
        let imported = mapping::apply(&drafted, &bytes, name, &RedactionRules::default());
        let wrong = wrong(name, &imported.unwrap_or_else(|report| panic!("{report}")), ALL);
        assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), draft.text);
    }
}

#[test]
fn each_conversation_is_a_run_even_if_ids_repeat() {
    let name = "anthropic-same-ids-two-conversations.jsonl";
    let imported = imported(name, "anthropic-messages");
    let calls = calls(name, &imported);
    let brief: Vec<_> = calls.iter().map(|call| (call.run(), call.id(), call.answers[0].reply != Reply::Ok)).collect();
    assert_eq!(brief, [(Some("s0"), Some("toolu_1"), false), (Some("s1"), Some("toolu_1"), true)]);
}

#[test]
fn a_sample_cut_at_any_byte_gives_an_account_or_an_error_with_its_place() {
    let others = OTHERS.iter().map(|(name, ..)| (*name, std::fs::read(path("others").join(name)).expect("a sample")));
    for (name, whole) in SAMPLES.iter().map(|(name, ..)| (*name, sample(name))).chain(others) {
        for end in (0..whole.len()).step_by(if whole.len() > 10_000 { 97 } else { 31 }) {
            let cut = &whole[..end];
            for format in builtin::detect(cut) {
                match format.read(cut, name, FormatOptions::default(), &RedactionRules::default()) {
                    Ok(imported) => drop(imported.loss.to_string()),
                    Err(report) => assert!(report.to_string().starts_with(name) || report.to_string().contains(name)),
                }
            }
        }
    }
}

/// Samples with another story: a call that succeeds, then one that fails.
const OTHERS: [(&str, &str, &str); 20] = [
    ("agent-client-protocol.jsonl", "agent-client-protocol", "user_rejected"),
    ("burr-log.jsonl", "burr-log", "timeout"),
    ("codex-exec.jsonl", "codex-exec", "tool_error"),
    ("codex-rollout.jsonl", "codex-rollout", "tool_error"),
    ("gemini-cli.json", "gemini-cli", "timeout"),
    ("inspect-log.json", "inspect-log", "timeout"),
    ("jaeger-genai.json", "jaeger-genai", "timeout"),
    ("langchain-messages.json", "langchain-messages", "timeout"),
    ("langgraph-events.jsonl", "langgraph-events", "timeout"),
    ("livemcpbench.json", "livemcpbench", "timeout"),
    ("mcp-desktop.log", "mcp-jsonrpc", "timeout"),
    ("openai-agents-traces.jsonl", "openai-agents-traces", "timeout"),
    ("opencode.jsonl", "opencode", "timeout"),
    ("otlp-openinference.jsonl", "otlp-genai", "timeout"),
    ("pi-session.jsonl", "pi-session", "timeout"),
    ("pydantic-ai-messages.json", "pydantic-ai-messages", "invalid_arguments"),
    ("vcr-cassette-json-rpc.yaml", "vcr-cassette", "timeout"),
    ("vcr-cassette.json", "vcr-cassette", "timeout"),
    ("vcr-cassette.yaml", "vcr-cassette", "429_rate_limited"),
    ("vercel-ai-sdk-5-step-a-line.jsonl", "vercel-ai-sdk-5", "timeout"),
];

#[test]
fn samples_of_other_formats_tell_a_success_and_a_failure() {
    for (name, format, kind) in OTHERS {
        let bytes = std::fs::read(path("others").join(name)).expect("a sample");
        let found = builtin::detect(&bytes);
        assert_eq!(found.iter().map(|format| format.name).collect::<Vec<_>>(), [format], "{name}");
        let imported = found[0].read(&bytes, name, FormatOptions::default(), &RedactionRules::default());
        let calls = calls(name, &imported.unwrap_or_else(|report| panic!("{report}")));
        let brief: Vec<_> = calls.iter().map(|call| (call.args().is_some(), kind_of(call))).collect();
        assert_eq!(brief, [(true, None), (format != "jaeger-genai", Some(kind))], "{name}");
    }
}

#[test]
fn a_cassette_tells_keys_and_waits_and_the_lines_of_its_exchanges() {
    for (name, seconds, line) in [("vcr-cassette.json", 30, 34), ("vcr-cassette.yaml", 2, 18)] {
        let bytes = std::fs::read(path("others").join(name)).expect("a sample");
        let imported =
            builtin::detect(&bytes)[0].read(&bytes, name, FormatOptions::default(), &RedactionRules::default());
        let imported = imported.unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(imported.origins.find(3).map(|origin| origin.line), Some(line), "{name}");
        let calls = calls(name, &imported);
        assert_eq!((calls[0].tool(), calls[0].key()), ("GET /v1/orders/{id}", None), "{name}");
        assert_eq!((calls[1].tool(), calls[1].key()), ("POST /v1/refunds", Some("ik_91")), "{name}");
        let Reply::Failed(Some(error)) = &calls[1].answers[0].reply else { panic!("{name}: no failure") };
        assert_eq!(error.retry_after.map(|wait| wait.as_micros() / 1_000_000), Some(seconds), "{name}");
        let header = if seconds == 2 { "2" } else { "Mon, 02 Mar 2026 09:15:34 GMT" };
        assert_eq!(error.headers.first("retry-after"), Some(header), "{name}");
    }
}

/// The kind of the failure of a call.
fn kind_of(call: &RecordedCall) -> Option<&str> {
    let [answer] = call.answers.as_slice() else { return Some("several answers") };
    match &answer.reply {
        Reply::Failed(Some(error)) => error.kind.as_deref(),
        _ => None,
    }
}

#[test]
fn two_calls_of_one_message_keep_their_own_results() {
    let name = "openai-chat-parallel.jsonl";
    let calls = calls(name, &imported(name, "openai-chat"));
    let brief: Vec<_> = calls.iter().map(|call| (call.tool(), kind_of(call))).collect();
    assert_eq!(brief, [("issue_refund", Some("timeout")), ("send_mail", None)]);
}

#[test]
fn every_known_format_has_a_sample() {
    let elsewhere = ["tau-bench", "tau2-bench"]; // tests/samples
    for format in &FORMATS {
        let told = SAMPLES.iter().any(|(_, name, _)| *name == format.name);
        let other = OTHERS.iter().any(|(_, name, _)| *name == format.name);
        assert!(told || other || elsewhere.contains(&format.name), "{} has no sample", format.name);
    }
}

#[test]
fn every_known_format_says_what_it_cannot_tell_and_the_examples_of_the_documents_are_mappings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("docs/formats.md")).expect("a document");
    assert!(text.contains(&format!("the {} formats", FORMATS.len())));
    let (mapped, built_in): (Vec<_>, Vec<_>) = FORMATS.iter().partition(|format| format.text().is_some());
    let mut sections: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    sections.sort_unstable();
    assert_eq!(sections, built_in.iter().map(|format| format.name).collect::<Vec<_>>());
    let of_mappings =
        mapped.iter().filter_map(|format| format.text()?.split_once("format: mapping/1")).map(|(head, _)| head);
    for told in text.split("\n## ").skip(1).chain(of_mappings) {
        assert!(told.contains("Specification: ") || told.contains("no public specification"), "{told}");
    }
    let mappings = std::fs::read_to_string(root.join("docs/mappings.md")).expect("a document");
    let examples = [text, mappings].concat();
    let examples: Vec<&str> = examples.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        mapping::parse(Source::whole("example", example)).unwrap_or_else(|report| panic!("{report}"));
    }
}
