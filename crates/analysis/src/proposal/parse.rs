//! Parses `proposal.yaml` strictly, and changes its base. Knows no playbook.

use std::sync::Arc;

use super::model::{Expected, FieldChange, Operation, OperationKind, Proposal, RulePosition, Snippet, Spanned};
use playproof_engine::playbook::{ElapsedRule, LimitKind};
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::golden::{Class, merge_conflict};
use playproof_formats::yaml;
use playproof_formats::yaml::{Cursor, MapReader, NodeKind, lines, quoted, shorten};

pub(super) const FORMAT: &str = "proposal/1";
pub(super) const KEYS: &[&str] = &["format", "playbook", "base", "operations", "expect", "reason"];
pub(super) const STEPS: &[&str] = &[
    "add_verdict",
    "add_rule",
    "move_rule",
    "remove_rule",
    "remove_verdict",
    "add_queue",
    "change_verdict",
    "change_limit",
];
/// Keys that belong to some steps only.
pub(super) const OF_STEPS: [(&str, &[&str]); 8] = [
    ("comment", &["add_verdict", "add_rule"]),
    ("before", &["add_rule", "move_rule"]),
    ("after", &["add_rule", "move_rule"]),
    ("to", &["change_limit"]),
    ("means", &["change_verdict"]),
    ("effect", &["change_verdict"]),
    ("then", &["change_verdict"]),
    ("tell", &["change_verdict"]),
];

/// The keys of an operation: the steps, and the keys beside them.
pub(super) const STEP: [&str; STEPS.len() + OF_STEPS.len()] = {
    let mut keys = [""; STEPS.len() + OF_STEPS.len()];
    let (mut step, mut beside) = (0, 0);
    while step < STEPS.len() {
        keys[step] = STEPS[step];
        step += 1;
    }
    while beside < OF_STEPS.len() {
        keys[step + beside] = OF_STEPS[beside].0;
        beside += 1;
    }
    keys
};

/// Hexadecimal digits of a fingerprint.
const DIGITS: usize = 64;

/// The help for a wrong base.
pub const REBASE: &str = "`playproof propose rebase ID` writes the fingerprint of the current playbook";

/// Reads a proposal.
///
/// # Errors
/// Everything that is wrong with it, with places; a merge conflict as such.
pub fn parse(source: Arc<Source>) -> Result<Proposal, Report> {
    if let Some(said) = merge_conflict(&source.text) {
        return Err(Report::one(source, said.help("resolve it, then run `playproof propose check`")));
    }
    yaml::parse(Arc::clone(&source), |root| read(root, source))
}

/// The text of a proposal with another base.
pub fn rebased(proposal: &Proposal, base: &str) -> String {
    let mut text = proposal.source.text.clone();
    // In quotes: some fingerprints could be read as numbers.
    text.replace_range(proposal.base.span.clone(), &format!("'{base}'"));
    text
}

/// The text of a proposal, with a dummy fingerprint as its base if the base is missing or invalid, so that it can be
/// rebased.
pub fn with_base(source: Arc<Source>) -> Arc<Source> {
    let none = format!("'{}'", "0".repeat(DIGITS));
    let behind = |end: usize| source.text.get(end..).and_then(|rest| rest.find('\n')).map(|at| end + at);
    let place = |root: Cursor<'_>| match root.entry("base") {
        Some(base) if matches!(&base.node().kind, NodeKind::Scalar { text, .. } if is_fingerprint(text)) => None,
        Some(base) => Some((base.span(), none.clone())),
        None => {
            let line = behind(root.entry("playbook")?.span().end)?;
            Some((line..line, format!("\nbase: {none}")))
        }
    };
    let Ok(Some((span, base))) = yaml::parse(Arc::clone(&source), |root| Some(place(root))) else { return source };
    let mut text = source.text.clone();
    text.replace_range(span, &base);
    Arc::new(Source { text, ..(*source).clone() })
}

fn read(root: Cursor<'_>, source: Arc<Source>) -> Option<Proposal> {
    let record = root.record("a proposal", KEYS)?;
    let format = record.format(FORMAT)?;
    let playbook = record.required("playbook").and_then(|at| at.words().map(|text| named(at, text)));
    let base = match record.optional("base") {
        Some(base) => fingerprint(base),
        None => {
            let said = Diagnostic::error("missing_key", "`base` is missing: the fingerprint of the playbook");
            root.report(said.at(record.span(), "a proposal belongs to one version of a playbook").help(REBASE));
            None
        }
    };
    let operations = record.required("operations").and_then(|steps| operations(steps, &source));
    let expect = record.optional("expect").map_or(Some(Vec::new()), expectations);
    let reason =
        record.optional("reason").map_or(Some(None), |reason| reason.words().map(|text| Some(text.to_owned())));
    format?;
    Some(Proposal {
        playbook: playbook?,
        base: base?,
        operations: operations?,
        expect: expect?,
        reason: reason?,
        source,
    })
}

fn named(at: Cursor<'_>, text: &str) -> Spanned {
    Spanned { text: text.to_owned(), span: at.span() }
}

fn fingerprint(at: Cursor<'_>) -> Option<Spanned> {
    let text = at.string()?;
    if is_fingerprint(text) {
        return Some(named(at, text));
    }
    at.report(
        Diagnostic::error("bad_fingerprint", "this is not a fingerprint")
            .at(at.span(), "expected 64 hexadecimal digits")
            .help(REBASE),
    );
    None
}

fn is_fingerprint(text: &str) -> bool {
    text.len() == DIGITS && text.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase())
}

fn operations(steps: Cursor<'_>, source: &Arc<Source>) -> Option<Vec<Operation>> {
    let read: Vec<Option<Operation>> = steps.list()?.map(|step| operation(step, source)).collect();
    if read.is_empty() {
        steps.wrong("nothing_proposed", "a proposal changes something", "name at least one operation");
        return None;
    }
    read.into_iter().collect()
}

/// Words of keys that would change rows which are edited by hand.
const BY_HAND: [&str; 7] = ["action", "graph", "edge", "next", "entry", "step", "others"];

/// Whether an operation would change `actions` or `graph`. That is refused with what to do instead: a changed order shows
/// in the runs that it lets through, not in a rule and a look-alike.
fn is_by_hand(step: Cursor<'_>) -> bool {
    let Some(entries) = step.is_map().then(|| step.entries("an operation")).flatten() else { return false };
    let wanted = |key: &str| {
        !STEP.contains(&key)
            && key.split('_').any(|word| {
                BY_HAND.iter().any(|by_hand| word.strip_suffix('s').unwrap_or(word) == by_hand.trim_end_matches('s'))
            })
    };
    let Some((key, _)) = entries.into_iter().find(|(key, _)| wanted(key.text)) else { return false };
    let message = format!("`{}`: rows of `actions` and `graph` cannot be proposed", shorten(key.text));
    step.report(Diagnostic::error("edited_by_hand", message).at(key.span, "edited by hand").help(
        "edit the playbook: `playproof impact` and `playproof check` show what that changes, and \
                 `playproof accept PLAYBOOK --reason TEXT` accepts the rows and records them",
    ));
    true
}

fn operation(step: Cursor<'_>, source: &Arc<Source>) -> Option<Operation> {
    if is_by_hand(step) {
        return None;
    }
    let record = step.record("an operation", &STEP)?;
    let chosen: Vec<&str> = STEPS.iter().copied().filter(|key| record.optional(key).is_some()).collect();
    let [key] = chosen.as_slice() else {
        let said = format!("an operation is exactly one of these, not {}", chosen.len());
        step.wrong("several_chosen", said, &STEPS.join(", "));
        return None;
    };
    refuse_foreign(&record, key);
    let value = record.required(key)?;
    let what = match *key {
        "add_verdict" => add_verdict(value, source),
        "add_rule" => add_rule(value, &record, source),
        "move_rule" => move_rule(value, &record),
        "remove_rule" => Some(OperationKind::RemoveRule(name(value)?)),
        "remove_verdict" => Some(OperationKind::RemoveVerdict(name(value)?)),
        "add_queue" => Some(OperationKind::AddQueue(name(value)?)),
        "change_verdict" => change_verdict(value, &record, source),
        _ => change_limit(value, &record, source),
    }?;
    let comment = record.optional("comment").map_or(Some(None), |at| at.words().map(|text| Some(text.to_owned())))?;
    Some(Operation { what, comment, span: value.span() })
}

/// Reports keys that belong to other steps.
fn refuse_foreign(record: &MapReader<'_>, step: &str) {
    for (key, steps) in OF_STEPS.iter().filter(|(_, steps)| !steps.contains(&step)) {
        if let Some(span) = record.key_span(key) {
            let said = format!("`{step}` has no key `{key}`");
            let help =
                format!("it belongs to {}", steps.iter().map(|s| format!("`{s}`")).collect::<Vec<_>>().join(" and "));
            record.cursor().report(Diagnostic::error("unknown_key", said).at(span, "unknown here").help(help));
        }
    }
}

fn name(at: Cursor<'_>) -> Option<Spanned> {
    let key = at.name()?;
    Some(Spanned { text: key.text.to_owned(), span: key.span })
}

fn written(at: Cursor<'_>, source: &Arc<Source>) -> Snippet {
    let lines = lines::snippet(&source.text, at.node());
    match (&at.node().kind, lines.as_slice()) {
        (_, [line]) if line.starts_with(['"', '\'']) => Snippet(lines),
        // A text after `|` or `>`, which reads differently at another place in the playbook.
        (NodeKind::Scalar { text, .. }, [line]) if line.contains(": ") || line.contains(" #") => one_line(text),
        (NodeKind::Scalar { text, .. }, [_, _, ..]) => one_line(text),
        _ => Snippet(lines),
    }
}

fn one_line(text: &str) -> Snippet {
    Snippet(vec![quoted(text.trim_end())])
}

fn add_verdict(value: Cursor<'_>, source: &Arc<Source>) -> Option<OperationKind> {
    let mut verdicts = value.entries("a verdict, by its name")?;
    let first = verdicts.next();
    match (first, verdicts.next()) {
        (Some((key, verdict)), None) => {
            let _ = verdict.record("a verdict", &["means", "effect", "then", "tell"])?;
            let named = Spanned { text: key.text.to_owned(), span: key.span.clone() };
            value.named(&key, "").then(|| OperationKind::AddVerdict(named, written(verdict, source)))
        }
        _ => {
            value.wrong("several_chosen", "`add_verdict` adds exactly one verdict", "write `NAME: { means: ... }`");
            None
        }
    }
}

fn add_rule(value: Cursor<'_>, record: &MapReader<'_>, source: &Arc<Source>) -> Option<OperationKind> {
    let rule = value.record("a rule", &["rule", "when", "verdict"])?;
    let named = rule.required("rule").and_then(name);
    Some(OperationKind::AddRule(named?, written(value, source), place(record)?))
}

fn move_rule(value: Cursor<'_>, record: &MapReader<'_>) -> Option<OperationKind> {
    let (named, place) = (name(value)?, place(record)?);
    if place == RulePosition::End && record.optional("after").is_none() && record.optional("before").is_none() {
        value.wrong("nothing_chosen", "`move_rule` says where the rule goes", "`before: RULE` or `after: RULE`");
        return None;
    }
    Some(OperationKind::MoveRule(named, place))
}

fn place(record: &MapReader<'_>) -> Option<RulePosition> {
    match (record.optional("before"), record.optional("after")) {
        (None, None) => Some(RulePosition::End),
        (Some(before), None) => Some(RulePosition::Before(name(before)?)),
        (None, Some(after)) => Some(RulePosition::After(name(after)?)),
        (Some(before), Some(_)) => {
            before.wrong("several_chosen", "a rule goes before one rule or after one, not both", "one of the two");
            None
        }
    }
}

fn change_verdict(value: Cursor<'_>, record: &MapReader<'_>, source: &Arc<Source>) -> Option<OperationKind> {
    let part = |key: &'static str| Some(FieldChange { key, value: written(record.optional(key)?, source) });
    let parts: Vec<FieldChange> = ["means", "effect", "then", "tell"].into_iter().filter_map(part).collect();
    if parts.is_empty() {
        value.wrong(
            "nothing_chosen",
            "`change_verdict` says what changes",
            "`means`, `effect`, `then` or `tell` beside it",
        );
        return None;
    }
    Some(OperationKind::ChangeVerdict(name(value)?, parts))
}

fn change_limit(value: Cursor<'_>, record: &MapReader<'_>, source: &Arc<Source>) -> Option<OperationKind> {
    let kind = value.word(&LimitKind::TABLE)?;
    let to = record.required("to")?;
    match kind {
        LimitKind::Elapsed => to.word(&ElapsedRule::TABLE).map(drop)?,
        // The changed playbook is read, and its limits with it.
        LimitKind::MaxAttempts | LimitKind::Deadline | LimitKind::CallTimeout => to.whole(0..=u64::MAX).map(drop)?,
    }
    Some(OperationKind::ChangeLimit(name(value)?, written(to, source)))
}

fn expectations(expect: Cursor<'_>) -> Option<Vec<Expected>> {
    let classes = Class::TABLE;
    let read = expect.entries("the goldens that change")?.map(|(key, class)| {
        let id = Spanned { text: key.text.to_owned(), span: key.span };
        Some(Expected { id, class: class.word(&classes)? })
    });
    read.collect::<Vec<_>>().into_iter().collect()
}
