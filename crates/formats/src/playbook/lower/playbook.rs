//! The whole playbook: declares its names, reads its parts, and checks what needs several parts.

use std::cell::Cell;
use std::sync::Arc;

use super::compensation::Context;
use super::names::{Declared, Reasons};
use super::{breakers, graph, header, retry_budgets, rule, sharing, tools, verdict};
use crate::diagnostic::{Diagnostic, Report, Source};
use crate::playbook::places::{LimitPlaces, Loaded, PlaybookPlaces, RulePlaces, VerdictPlaces};
use crate::playbook::syntax;
use crate::yaml;
use crate::yaml::{Cursor, Key, MapReader};
use playproof_engine::ids::{QueueId, VerdictId};
use playproof_engine::playbook::{
    ElapsedRule, GuardMode, LimitKind, Limits, MOST_ATTEMPTS, Playbook, Rule, Study, Tools, UNCLASSIFIED, Verdict,
};
use playproof_engine::time::Duration;

/// Reads a playbook.
///
/// # Errors
/// All errors, each with its place.
pub fn parse(source: Arc<Source>) -> Result<Loaded, Report> {
    yaml::parse(Arc::clone(&source), |root| playbook(root, source))
}

/// The playbook of `source`. Every part is read before any is unwrapped, so that all errors are found at once.
fn playbook(root: Cursor<'_>, source: Arc<Source>) -> Option<Loaded> {
    let record = root.record("a playbook", syntax::PLAYBOOK)?;
    let format = record.format(syntax::FORMAT)?;
    let name = name(&record);
    let study = study_block(&record, name.as_deref(), &source.name);
    let limits = limits(&record);
    let max_attempts = limits.as_ref().map_or(syntax::DEFAULT_MAX_ATTEMPTS, |(limits, _)| limits.max_attempts);
    let context = context(&record, max_attempts);
    let (declared, written) = verdicts(&context, &record);
    let rules = rules(&record, &declared);
    let otherwise = otherwise(&record, &declared, written.as_deref(), study.as_ref());
    let unclassified = match record.optional("verdicts").and_then(|verdicts| verdicts.entry(UNCLASSIFIED)) {
        Some(_) => Some(None),
        None => verdict::unclassified(&context).map(Some),
    };
    let tools = record.optional("tools").map_or_else(|| Some((Tools::default(), Vec::new())), tools::tools);
    let refuses_unknown_tools = registry(&record);
    let ordered = graph::ordered(&record, &context.queues);
    let sharing = sharing::sharing(&record);
    let breakers = breakers::breakers(&record);
    let sources = record.optional("server_delay_sources").map_or_else(|| Some(Vec::new()), header::sources);
    format?;
    let (mut verdicts, mut verdict_places) = unzip(written?);
    if let Some(unclassified) = unclassified? {
        verdicts.push(unclassified);
        verdict_places.push(None);
    }
    let (rules, rule_places) = unzip(rules?);
    let (limits, limit_places) = limits?;
    let default_queue = context.default_queue.flatten();
    let (queues, queue_places) = context.queues.into_parts();
    let (tools, tool_places) = tools?;
    let (breakers, breaker_places) = breakers?;
    let graph::Ordered { actions, graph, places: graph_places } = ordered?;
    let playbook = Playbook {
        name: name?,
        verdicts,
        rules,
        otherwise: otherwise?,
        default_queue,
        queues,
        reasons: context.reasons.into_texts(),
        tools,
        refuses_unknown_tools: refuses_unknown_tools?,
        actions,
        graph,
        sharing: sharing?,
        breakers,
        retry_budgets: context.retry_budgets.budgets?,
        server_delay_sources: sources?,
        limits,
        study: study?,
    };
    let places = PlaybookPlaces {
        source,
        verdicts: verdict_places,
        rules: rule_places,
        queues: queue_places,
        tools: tool_places,
        otherwise: record.optional("otherwise").map(Cursor::span),
        graph: graph_places,
        breakers: breaker_places,
        retry_budgets: context.retry_budgets.places,
        limits: limit_places,
        parts: syntax::PARTS.map(|key| record.optional(key).map(Cursor::span)),
        study: record.key_span("study"),
    };
    Some(Loaded { playbook, places })
}

fn unzip<A, B>(pairs: Vec<(A, B)>) -> (Vec<A>, Vec<B>) {
    pairs.into_iter().unzip()
}

fn name(record: &MapReader<'_>) -> Option<Arc<str>> {
    let at = record.required("name")?;
    let key = Key { text: at.string()?, span: at.span() };
    if !at.named(&key, "/") {
        return None;
    }
    // The name is also a folder.
    if key.text.split('/').any(|part| part.is_empty() || part.chars().all(|c| c == '.')) {
        at.wrong(
            "bad_name",
            format!("`{}` cannot be the name of a playbook", key.text),
            "a part is empty or only dots",
        );
        return None;
    }
    Some(key.text.into())
}

/// The study block. `None`: invalid; `Some(None)`: a playbook for use.
fn study_block(record: &MapReader<'_>, name: Option<&str>, path: &str) -> Option<Option<Study>> {
    if let Some(written) = record.optional("study") {
        return study(written).map(Some);
    }
    let by_name = name.is_some_and(|name| name.starts_with("study/"));
    if by_name || path.replace('\\', "/").contains("playbooks/study/") {
        let at = record.optional("name").map_or(record.span(), Cursor::span);
        record.cursor().report(
            Diagnostic::error("study_without_why", "a study playbook needs a reason")
                .at(at, "a study playbook by its name or folder")
                .help("write `study: { why: ... }`, or give the playbook another name and folder"),
        );
        return None;
    }
    Some(None)
}

/// The study block written at `at`: the only place where anything unsafe can be switched on.
fn study(at: Cursor<'_>) -> Option<Study> {
    let record = at.record("`study`", syntax::STUDY)?;
    let why = record.required("why").and_then(Cursor::words);
    let first_failure_only = switch(&record, "reclassify", "first_failure");
    let retry_guard = guard(&record, "retry_guard");
    let token_guard = guard(&record, "token_guard");
    let refused_reversal_exhausts = switch(&record, "refused_reversal", "exhausted");
    let futile_refresh_deprecates = switch(&record, "futile_refresh", "deprecated");
    let final_error_first = switch(&record, "final_error", "first");
    let resends_stale_evidence = switch(&record, "stale_evidence", "resent");
    let registers_key_late = switch(&record, "dedupe", "after_permit");
    let cache_ignores_arguments = switch(&record, "cache", "ignores_arguments");
    let holds_permit_in_backoff = switch(&record, "permit", "held_in_backoff");
    Some(Study {
        why: why?.into(),
        first_failure_only: first_failure_only?,
        retry_guard: retry_guard?,
        token_guard: token_guard?,
        refused_reversal_exhausts: refused_reversal_exhausts?,
        futile_refresh_deprecates: futile_refresh_deprecates?,
        resends_stale_evidence: resends_stale_evidence?,
        final_error_first: final_error_first?,
        registers_key_late: registers_key_late?,
        cache_ignores_arguments: cache_ignores_arguments?,
        holds_permit_in_backoff: holds_permit_in_backoff?,
    })
}

/// A switch with one word; it is off by default.
fn switch(record: &MapReader<'_>, key: &str, word: &str) -> Option<bool> {
    record.optional(key).map_or(Some(false), |at| at.word(&[(word, true)]))
}

fn guard(record: &MapReader<'_>, key: &str) -> Option<GuardMode> {
    record.optional(key).map_or(Some(GuardMode::Checked), |at| at.word(&syntax::OFF))
}

fn context<'a>(record: &MapReader<'a>, max_attempts: u32) -> Context<'a> {
    let mut queues = Declared::new("queue");
    if let Some(list) = record.optional("queues").and_then(Cursor::list) {
        for queue in list {
            if let Some(name) = queue.name() {
                queues.declare(&name, queue);
            }
        }
    }
    let default_queue = record.optional("default_queue").map(|at| queues.find(at).map(QueueId));
    Context {
        root: record.cursor(),
        queues,
        default_queue,
        reasons: Reasons::default(),
        retry_budgets: retry_budgets::retry_budgets(record),
        max_attempts,
        default_queue_missed: Cell::new(false),
    }
}

type WrittenVerdicts = Vec<(Verdict, Option<VerdictPlaces>)>;

/// The declared names, and the verdicts if all are valid.
fn verdicts(context: &Context<'_>, record: &MapReader<'_>) -> (Declared, Option<WrittenVerdicts>) {
    let mut declared = Declared::new("verdict");
    let Some(at) = record.required("verdicts") else { return (declared, None) };
    let Some(entries) = at.entries("`verdicts`") else { return (declared, None) };
    if entries.clone().next().is_none() {
        at.wrong("no_verdicts", "a playbook has at least one verdict", "empty");
        return (declared, None);
    }
    let mut written = Vec::new();
    for (name, body) in entries {
        if body.named(&name, "") {
            declared.declare(&name, body);
        }
        written.push(verdict::verdict(context, &name, body).map(|(verdict, places)| (verdict, Some(places))));
    }
    declared.reserve(UNCLASSIFIED);
    (declared, written.into_iter().collect())
}

fn rules(record: &MapReader<'_>, verdicts: &Declared) -> Option<Vec<(Rule, RulePlaces)>> {
    let list = record.required("classify")?.list()?;
    let mut names = Declared::new("rule");
    let rules: Vec<_> = list.map(|at| rule::rule(at, &mut names, verdicts)).collect();
    rules.into_iter().collect()
}

/// The verdict of failures that no rule matches; only in a study playbook may it send again.
fn otherwise(
    record: &MapReader<'_>,
    verdicts: &Declared,
    written: Option<&[(Verdict, Option<VerdictPlaces>)]>,
    study: Option<&Option<Study>>,
) -> Option<VerdictId> {
    let Some(at) = record.optional("otherwise") else { return verdicts.number(UNCLASSIFIED).map(VerdictId) };
    let id = verdicts.find(at)?;
    let verdict = written.and_then(|all| all.get(usize::from(id))).map(|(verdict, _)| verdict);
    let sends_again = verdict.is_some_and(|verdict| verdict.then.sends_again());
    if sends_again && study == Some(&None) {
        at.report(
            Diagnostic::error("otherwise_retries", "a call whose failure no rule matches must not be sent again")
                .at(at.span(), "this verdict sends again")
                .help("write `otherwise: unclassified`, and add rules for the failures that may be retried"),
        );
    }
    Some(VerdictId(id))
}

/// Whether calls of undeclared tools are refused.
fn registry(record: &MapReader<'_>) -> Option<bool> {
    let Some(at) = record.optional("registry") else { return Some(false) };
    at.record("`registry`", syntax::REGISTRY)?.required("unknown_tools")?.word(&syntax::UNKNOWN_TOOLS)
}

/// The limits, and the places of the written ones.
type PlacedLimits = (Limits, LimitPlaces);

fn limits(record: &MapReader<'_>) -> Option<PlacedLimits> {
    let default = Limits { max_attempts: syntax::DEFAULT_MAX_ATTEMPTS, ..Limits::NONE };
    let Some(at) = record.optional("limits") else { return Some((default, LimitPlaces::default())) };
    let record = at.record("`limits`", syntax::LIMITS)?;
    let max_attempts = match record.optional("max_attempts") {
        Some(at) => at.count(1..=MOST_ATTEMPTS),
        None => Some(default.max_attempts),
    };
    let span = |key| {
        record.optional(key).map_or(Some(None), |at: Cursor<'_>| at.duration_ms(syntax::LONGEST_DEADLINE).map(Some))
    };
    let (deadline, call_timeout) = (span("deadline_ms"), span("call_timeout_ms"));
    let elapsed = record.optional("elapsed").map_or(Some(default.elapsed), |at| at.word(&ElapsedRule::TABLE));
    if let (Some(elapsed), None) = (record.key_span("elapsed"), record.optional("deadline_ms")) {
        let message = "`elapsed` says what `deadline_ms` bounds, which is missing";
        at.report(Diagnostic::error("elapsed_without_deadline", message).at(elapsed, "of which deadline?"));
        return None;
    }
    if let (Some(Some(Duration::ZERO)), Some(at)) = (call_timeout, record.optional("call_timeout_ms")) {
        at.wrong("no_time", "a call that must end at once can do nothing", "at least 1");
        return None;
    }
    let limits =
        Limits { max_attempts: max_attempts?, deadline: deadline?, call_timeout: call_timeout?, elapsed: elapsed? };
    Some((limits, LimitKind::WORDS.map(|key| record.optional(key).map(Cursor::span))))
}
