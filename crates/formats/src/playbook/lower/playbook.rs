//! The whole playbook: declares its names, reads its parts, and checks what needs several parts.

use std::cell::Cell;
use std::sync::Arc;

use super::context::Context;
use super::names::{Declared, Reasons};
use super::tools::tools;
use super::{breakers, graph, header, retry_budgets, rule, sharing, verdict};
use crate::diagnostic::{Diagnostic, Report, Source};
use crate::playbook::places::{Loaded, PlaybookPlaces};
use crate::playbook::syntax::PLAYBOOK;
use crate::playbook::{embedded, extends};
use crate::schema;
use crate::schema::{At, Change};
use crate::yaml::{self, Key, Node, Problems};
use playproof_engine::ids::{QueueId, VerdictId};
use playproof_engine::playbook::{ElapsedRule, GuardMode, Limits, Playbook, Rule, Study, UNCLASSIFIED, Verdict};

/// The most values in all `when` of a playbook. Rules are compared pair by pair, and each of their patterns is compiled.
const MOST_WHEN: usize = 5_000;

/// Reads a playbook.
///
/// # Errors
/// All errors, each with its place.
pub fn parse(source: Arc<Source>) -> Result<Loaded, Report> {
    yaml::parse(Arc::clone(&source), |root| {
        let tree = extends::whole(root.node());
        let checked = match embedded::is_default(&source.text) {
            true => Some(schema::unvalidated(&tree, &PLAYBOOK, root.problems())),
            false => schema::check(&tree, &PLAYBOOK, root.problems()),
        };
        let playbook = checked.and_then(|root| playbook(root, &source.name))?;
        Some(Loaded { playbook, places: PlaybookPlaces { source, tree: tree.into_owned() } })
    })
}

/// The playbook of a tree that is no text, such as a changed one; none: it is none. `path` is where it would stand.
pub fn of_tree(tree: &Node, path: &str) -> Option<Playbook> {
    let problems = Problems::new(Source::whole(path, ""));
    let playbook = schema::check(tree, &PLAYBOOK, &problems).and_then(|root| playbook(root, path));
    playbook.filter(|_| problems.is_empty())
}

/// The small changes of the tree of a playbook, of which some are no playbook.
pub fn changes(loaded: &Loaded) -> Vec<Change> {
    let PlaybookPlaces { tree, source } = &loaded.places;
    let problems = Problems::new(Arc::clone(source));
    schema::check(tree, &PLAYBOOK, &problems).map(schema::changes).unwrap_or_default()
}

/// The playbook of a checked tree. Every part is read before any is unwrapped, so that all errors are found at once.
pub(in crate::playbook) fn playbook(root: At<'_>, path: &str) -> Option<Playbook> {
    let name = root.get("name").and_then(At::text);
    let study = study_block(root, name, path);
    let limits = root.field("limits").and_then(limits);
    let context = context(root, limits.map_or(1, |limits| limits.max_attempts));
    let (declared, written) = verdicts(&context, root);
    let rules = rules(root, &declared);
    let otherwise = otherwise(root, &declared, written.as_deref(), study.as_ref());
    let is_reserved = |(name, _): (Key<'_>, At<'_>)| name.text == UNCLASSIFIED;
    let unclassified = match root.get("verdicts").into_iter().flat_map(At::entries).any(is_reserved) {
        true => Some(None),
        false => verdict::unclassified(&context).map(Some),
    };
    let tools = tools(root);
    let ordered = graph::ordered(root, &context.queues);
    let sharing = sharing::sharing(root);
    let breakers = breakers::breakers(root);
    let sources = header::sources(root);
    let registry = root.optional("registry", |at| at.says("unknown_tools", "refuse"));
    let mut verdicts = written?;
    verdicts.extend(unclassified?);
    let (actions, graph) = ordered?;
    let default_queue = context.default_queue.flatten();
    let (queues, _) = context.queues.into_parts();
    Some(Playbook {
        name: name?.into(),
        extends: root.get("extends").map(|_| extends::version()),
        verdicts,
        rules: rules?,
        otherwise: otherwise?,
        default_queue,
        queues,
        reasons: context.reasons.into_texts(),
        tools: tools?,
        refuses_unknown_tools: registry? == Some(true),
        actions,
        graph,
        sharing: sharing?,
        breakers: breakers?,
        retry_budgets: context.retry_budgets.budgets?,
        server_delay_sources: sources?,
        limits: limits?,
        study: study?,
    })
}

/// The study block. `None`: invalid; `Some(None)`: a playbook for use.
fn study_block(root: At<'_>, name: Option<&str>, path: &str) -> Option<Option<Study>> {
    let by_name = name.is_some_and(|name| name.starts_with("study/"));
    if root.get("study").is_none() && (by_name || path.replace('\\', "/").contains("playbooks/study/")) {
        let at = root.get("name").map_or(root.span(), At::span);
        root.report(
            Diagnostic::error("study_without_why", "a study playbook needs a reason")
                .at(at, "a study playbook by its name or folder")
                .help("write `study: { why: ... }`, or give the playbook another name and folder"),
        );
    }
    root.optional("study", study)
}

/// The study block written at `at`: the only place where anything unsafe can be switched on.
fn study(at: At<'_>) -> Option<Study> {
    let is_on = |key| at.get(key).is_some();
    let guard = |key| if is_on(key) { GuardMode::Off } else { GuardMode::Checked };
    Some(Study {
        why: at.get("why")?.text()?.into(),
        first_failure_only: is_on("reclassify"),
        retry_guard: guard("retry_guard"),
        token_guard: guard("token_guard"),
        refused_reversal_exhausts: is_on("refused_reversal"),
        futile_refresh_deprecates: is_on("futile_refresh"),
        resends_after_failed_refresh: is_on("failed_refresh"),
        resends_stale_evidence: is_on("stale_evidence"),
        final_error_first: is_on("final_error"),
        registers_key_late: is_on("dedupe"),
        cache_ignores_arguments: is_on("cache"),
        holds_permit_in_backoff: is_on("permit"),
        makes_keys: is_on("client_keys"),
    })
}

fn context(root: At<'_>, max_attempts: u32) -> Context<'_> {
    let mut queues = Declared::new("queue", root.get("queues"));
    for queue in root.get("queues").into_iter().flat_map(At::items) {
        if let Some(name) = queue.key() {
            queues.declare(&name, queue);
        }
    }
    let default_queue = root.get("default_queue").map(|at| queues.find(at).map(QueueId));
    Context {
        root,
        queues,
        default_queue,
        reasons: Reasons::default(),
        retry_budgets: retry_budgets::retry_budgets(root),
        max_attempts,
        default_queue_missed: Cell::new(false),
    }
}

/// The declared names, and the verdicts if all are valid.
fn verdicts(context: &Context<'_>, root: At<'_>) -> (Declared, Option<Vec<Verdict>>) {
    let mut declared = Declared::new("verdict", root.get("verdicts"));
    let mut written = Vec::new();
    for (name, body) in root.get("verdicts").into_iter().flat_map(At::entries) {
        declared.declare(&name, body);
        written.push(verdict::verdict(context, &name, body));
    }
    declared.reserve(UNCLASSIFIED);
    (declared, written.into_iter().collect())
}

fn rules(root: At<'_>, verdicts: &Declared) -> Option<Vec<Rule>> {
    let written = root.get("classify")?;
    let mut values = 0;
    for rule in written.items() {
        values += rule.get("when").map_or(0, |when| when.node().values());
        if values > MOST_WHEN {
            let message = format!("the rules so far test {values} values; all of a playbook test at most {MOST_WHEN}");
            rule.wrong("too_many", message, "too many with this one");
            return None;
        }
    }
    let mut names = Declared::new("rule", Some(written));
    written.all(|at| rule::rule(at, &mut names, verdicts))
}

/// The verdict of failures that no rule matches; only in a study playbook may it send again.
fn otherwise(
    root: At<'_>,
    verdicts: &Declared,
    written: Option<&[Verdict]>,
    study: Option<&Option<Study>>,
) -> Option<VerdictId> {
    let Some(at) = root.get("otherwise") else { return verdicts.number(UNCLASSIFIED).map(VerdictId) };
    let id = verdicts.find(at)?;
    let verdict = written.and_then(|all| all.get(usize::from(id)));
    if verdict.is_some_and(|verdict| verdict.then.sends_again()) && study == Some(&None) {
        at.report(
            Diagnostic::error("otherwise_retries", "a call whose failure no rule matches must not be sent again")
                .at(at.span(), "this verdict sends again")
                .help("write `otherwise: unclassified`, and add rules for the failures that may be retried"),
        );
    }
    Some(VerdictId(id))
}

fn limits(at: At<'_>) -> Option<Limits> {
    Some(Limits {
        max_attempts: at.number("max_attempts")?,
        deadline: at.optional("deadline_ms", At::millis)?,
        call_timeout: at.optional("call_timeout_ms", At::millis)?,
        elapsed: at.word("elapsed", ElapsedRule::parse)?,
    })
}
