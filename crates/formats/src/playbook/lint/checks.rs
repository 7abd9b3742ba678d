//! All lints of one playbook, in the order of their places.

use super::{backoff, graph, reach, refusals, requests, shadow, shared, steps, tells};
use crate::diagnostic::{Diagnostic, nearest};
use crate::playbook::KNOWN_KINDS;
use crate::playbook::overlap;
use crate::playbook::places::Loaded;
use playproof_engine::glob::is_glob;
use playproof_engine::ids::QueueId;
use playproof_engine::playbook::{Compensation, ConditionKind, Playbook, Reversal, Terminal, UnsafePolicy};

/// All parts of a playbook that are valid, but probably not what was meant. `help/lints.md` explains each id.
pub fn lint(loaded: &Loaded) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let live = shadow::live_rules(loaded, &mut found);
    reach::verdicts(loaded, &live, &mut found);
    reach::guards(loaded, &live, &mut found);
    refusals::by_words(loaded, &mut found);
    tells::classes(loaded, &mut found);
    backoff::waits(loaded, &mut found);
    shared::breakers(loaded, &mut found);
    shared::retry_budgets(loaded, &mut found);
    found.extend(shared::budget(loaded));
    found.extend(shared::dedupe(loaded));
    found.extend(shared::takeover(loaded));
    shared::layers(loaded, &mut found);
    found.extend(backoff::sources(loaded));
    graph::graph(loaded, &mut found);
    steps::repeated_writes(loaded, &mut found);
    steps::also_actions(loaded, &mut found);
    steps::of_two_actions(loaded, &mut found);
    unused_queues(loaded, &mut found);
    shadowed_tools(loaded, &mut found);
    loose_schemas(loaded, &mut found);
    requests::unknown_arguments(loaded, &mut found);
    misspelt_kinds(loaded, &mut found);
    if let Some(place) = loaded.places.key(&["study"]) {
        found.push(
            Diagnostic::warning("study_playbook", "this playbook is for study, not for use")
                .at(place, "unsafe switches")
                .help("use it for comparison; commands skip it unless they name it"),
        );
    }
    // What it takes over is linted where it is written.
    let taken = loaded.places.value(&["extends"]);
    found.retain(|said| taken.is_none() || said.labels.first().map(|label| &label.span) != taken.as_ref());
    found.sort_by_key(|diagnostic| diagnostic.labels.first().map_or(0, |label| label.span.start));
    found
}

fn unused_queues(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    let playbook = &loaded.playbook;
    let mut used: Vec<QueueId> = playbook.default_queue.into_iter().collect();
    for verdict in &playbook.verdicts {
        used.extend(queues_of(&verdict.then));
    }
    used.extend(playbook.graph.as_ref().and_then(|graph| graph.stuck).map(|stuck| stuck.queue));
    for (n, name) in playbook.queues.iter().enumerate() {
        let Some(place) = u16::try_from(n).ok().and_then(|n| loaded.places.queue(QueueId(n))) else { continue };
        if !used.iter().any(|queue| queue.index() == n) {
            found.push(
                Diagnostic::warning("unused_queue", format!("nothing escalates to the queue `{name}`"))
                    .at(place, "no call ever waits here")
                    .help("remove it, or name it in an `escalate_to_human`"),
            );
        }
    }
}

fn queues_of(compensation: &Compensation) -> Option<QueueId> {
    let of_final = |end: Terminal| match end {
        Terminal::Escalate(queue) => Some(queue),
        Terminal::Deprecate(_) => None,
    };
    let of_unsafe = |on_unsafe: UnsafePolicy| match on_unsafe {
        UnsafePolicy::End(end) | UnsafePolicy::Reverse(Reversal { on_refused: end, .. }) => of_final(end),
    };
    match compensation {
        Compensation::RetryWithBackoff(retry) => of_unsafe(retry.on_unsafe),
        Compensation::RefreshEvidence(refresh) => of_unsafe(refresh.on_unsafe),
        Compensation::EscalateToHuman(queue) => Some(*queue),
        Compensation::IssueReversal(reversal) => of_final(reversal.on_refused),
        Compensation::DeprecateToolCall(_) => None,
    }
}

fn shadowed_tools(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    let globs: Vec<(usize, &str)> = glob_rows(&loaded.playbook).collect();
    for (nth, (row, pattern)) in globs.iter().enumerate() {
        let Some((first, wide)) = globs.iter().take(nth).find(|(_, wide)| overlap::tool_covers(wide, pattern)) else {
            continue;
        };
        let (Some(here), Some(there)) = (loaded.places.tool(*row), loaded.places.tool(*first)) else { continue };
        found.push(
            Diagnostic::warning(
                "shadowed_tool",
                format!("`{pattern}` never applies: `{wide}` matches all its tools first"),
            )
            .at(here, "never reached")
            .at(there, "the first glob that matches wins")
            .help("put the narrower glob first"),
        );
    }
}

fn loose_schemas(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    for (n, tool) in loaded.playbook.tools.rows().iter().enumerate() {
        let (Some(schema), Some(place)) = (tool.schema(), loaded.places.written("tools", n, "schema")) else {
            continue;
        };
        if schema.is_loose() {
            found.push(
                Diagnostic::warning(
                    "loose_schema",
                    format!("the schema of `{}` lets unknown arguments pass", tool.pattern),
                )
                .at(place, "a misspelt argument reaches the tool")
                .help("write `additionalProperties: false`, also in objects inside"),
            );
        }
    }
}

fn glob_rows(playbook: &Playbook) -> impl Iterator<Item = (usize, &str)> {
    let rows = playbook.tools.rows().iter().enumerate().map(|(n, row)| (n, row.pattern.as_str()));
    rows.filter(|(_, pattern)| is_glob(pattern))
}

/// The kind of `known` that `kind` probably means: it differs by one typo (by two in a long word, by none in a word of
/// three letters), and has the same digits.
pub fn likely_kind<'a>(kind: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let digits = |kind: &str| kind.chars().filter(char::is_ascii_digit).collect::<String>();
    let limit = match kind.chars().count() {
        0..=3 => return None,
        4..=9 => 1,
        _ => 2,
    };
    let alike = known.into_iter().filter(|known| *known != kind && digits(known) == digits(kind));
    nearest(kind, alike.collect::<Vec<_>>(), limit)
}

/// Warns of each kind that is probably a misspelt one: neither the embedded playbooks nor an earlier rule have it, and
/// its rule does not name both.
fn misspelt_kinds(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    let rules = &loaded.playbook.rules;
    for (n, rule) in rules.iter().enumerate() {
        let unknown = |(_, kind): &(usize, &String)| !KNOWN_KINDS.contains(&kind.as_str());
        for (nth, kind) in rule.when.texts(ConditionKind::Kind).iter().enumerate().filter(unknown) {
            let earlier =
                rules.iter().take(n).flat_map(|rule| rule.when.texts(ConditionKind::Kind)).map(String::as_str);
            let named_before = earlier.clone().any(|earlier| earlier == kind);
            let place = || loaded.places.condition(n, "kind").get(nth).cloned().unwrap_or_default();
            if is_glob(kind) {
                let message = format!("the kind `{kind}` is no pattern: kinds are compared exactly");
                let said = Diagnostic::warning("misspelt_kind", message).at(place(), "matches no other kind");
                found.push(said.help("name each kind: `kind: [one, other]`"));
                continue;
            }
            let Some(likely) = likely_kind(kind, KNOWN_KINDS.into_iter().chain(earlier)) else { continue };
            let both_meant = rule.when.texts(ConditionKind::Kind).iter().any(|other| other == likely);
            if both_meant || named_before {
                continue;
            }
            found.push(
                Diagnostic::warning("misspelt_kind", format!("no known adapter gives the kind `{kind}`"))
                    .at(place(), "unknown")
                    .help(format!("did you mean `{likely}`? if both exist, name both in one rule")),
            );
        }
    }
}
