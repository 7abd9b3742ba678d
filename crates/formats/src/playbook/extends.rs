//! A playbook that takes over the rows of `standard`: its tree is that of both. Its own rows come first; a part of the same name
//! replaces the one that is taken over. What is taken over stands where `extends` says so.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::embedded::embedded;
use super::fingerprint::fingerprint;
use super::lower;
use super::places::Loaded;
use crate::diagnostic::Source;
use crate::yaml::{MapEntry, Node, NodeKind};

/// The only playbook that another one can extend.
const STANDARD: &str = "standard";

#[expect(clippy::expect_used, reason = "a test loads every embedded playbook")]
static BASE: LazyLock<Loaded> = LazyLock::new(|| {
    let text = embedded(STANDARD).expect("an embedded playbook");
    lower::parse(Source::whole(STANDARD, text)).expect("a valid playbook")
});

/// The tree with all that it takes over. A misspelt name takes over the same, so that it is the only error.
pub fn whole(tree: &Node) -> Cow<'_, Node> {
    let extends = tree.entry("extends").map(|entry| &entry.value);
    let (NodeKind::Map(own), Some(place)) = (&tree.kind, extends.filter(|value| value.text().is_some())) else {
        return Cow::Borrowed(tree);
    };
    let NodeKind::Map(base) = &BASE.places.tree.kind else { return Cow::Borrowed(tree) };
    // What is known of tools is true of one project.
    let is_taken = |entry: &&MapEntry| !matches!(&*entry.key, "name" | "tools");
    let taken = base.iter().filter(is_taken).map(|entry| moved_entry(entry, &place.span));
    Cow::Owned(Node { span: tree.span.clone(), kind: NodeKind::Map(joined(own, taken)) })
}

/// The verdicts and rules of a playbook that replace those of the same name that it would take over.
pub fn replaced(tree: &Node) -> Vec<String> {
    let Some(taken) = tree.entry("extends").map(|entry| &entry.value.span) else { return Vec::new() };
    let own = |key: &str| match tree.entry(key).map(|entry| &entry.value.kind) {
        Some(NodeKind::Map(rows)) => {
            rows.iter().filter(|row| row.key_span != *taken).map(|row| row.key.to_string()).collect()
        }
        Some(NodeKind::List(rows)) => rows.iter().filter(|row| row.span != *taken).filter_map(name).collect(),
        Some(NodeKind::Scalar { .. }) | None => Vec::new(),
    };
    let base = |key: &str| match BASE.places.tree.entry(key).map(|entry| &entry.value.kind) {
        Some(NodeKind::Map(rows)) => rows.iter().map(|row| row.key.to_string()).collect(),
        Some(NodeKind::List(rows)) => rows.iter().filter_map(name).collect(),
        Some(NodeKind::Scalar { .. }) | None => Vec::new(),
    };
    let of = |(key, what): (&str, &str)| {
        let (own, base): (Vec<String>, Vec<String>) = (own(key), base(key));
        own.into_iter().filter(|name| base.contains(name)).map(|name| format!("{what} {name}")).collect::<Vec<_>>()
    };
    [("verdicts", "verdict"), ("classify", "rule")].into_iter().flat_map(of).collect()
}

/// What identifies the rows that a playbook takes over: the name of their playbook and its fingerprint.
pub(super) fn version() -> Box<str> {
    static VERSION: LazyLock<Box<str>> =
        LazyLock::new(|| format!("{STANDARD} {}", fingerprint(&BASE.playbook).short()).into());
    VERSION.clone()
}

/// The entries of two maps, of which the first counts where both have a name; its maps and lists are joined, too.
fn joined(own: &[MapEntry], taken: impl Iterator<Item = MapEntry>) -> Vec<MapEntry> {
    let mut all = own.to_vec();
    for entry in taken {
        let Some(known) = all.iter_mut().find(|known| known.key == entry.key) else {
            all.push(entry);
            continue;
        };
        match (&mut known.value.kind, entry.value.kind) {
            (NodeKind::Map(own), NodeKind::Map(parts)) if is_of_parts(&known.key) => {
                let names: BTreeSet<Box<str>> = own.iter().map(|part| part.key.clone()).collect();
                own.extend(parts.into_iter().filter(|part| !names.contains(&part.key)));
            }
            (NodeKind::List(own), NodeKind::List(items)) if is_of_parts(&known.key) => {
                let names: BTreeSet<Option<String>> = own.iter().map(name).collect();
                own.extend(items.into_iter().filter(|item| !names.contains(&name(item))));
            }
            _ => {}
        }
    }
    all
}

/// Whether a key has parts with names, each of which is replaced by itself.
fn is_of_parts(key: &str) -> bool {
    matches!(key, "verdicts" | "classify" | "queues" | "limits")
}

/// The name of an item: of a rule, or of a queue.
fn name(item: &Node) -> Option<String> {
    let named = item.entry("rule").map_or(item, |rule| &rule.value);
    named.text().map(str::to_owned)
}

fn moved_entry(entry: &MapEntry, to: &Range<usize>) -> MapEntry {
    MapEntry { key: entry.key.clone(), key_span: to.clone(), value: moved(&entry.value, to) }
}

fn moved(node: &Node, to: &Range<usize>) -> Node {
    let kind = match &node.kind {
        NodeKind::Scalar { .. } => node.kind.clone(),
        NodeKind::List(items) => NodeKind::List(items.iter().map(|item| moved(item, to)).collect()),
        NodeKind::Map(entries) => NodeKind::Map(entries.iter().map(|entry| moved_entry(entry, to)).collect()),
    };
    Node { span: to.clone(), kind }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Source;
    use crate::playbook::lint::lint;
    use crate::playbook::tests::errors_of;
    use crate::playbook::{Loaded, PlaybookRow, embedded, parse, replaced, rows};

    const OWN: &str = "format: playbook/1\nname: ours\nextends: standard\nqueues: [till]\nlimits: { max_attempts: 3 }\nverdicts:\n  \
        transient_timeout: { means: m, effect: unknown, then: { escalate_to_human: { queue: till } } }\n  \
        asleep: { means: m, effect: unknown, then: { escalate_to_human: { queue: policy_review } } }\nclassify:\n\
        - { rule: lift-asleep, when: { message: { contains: asleep } }, verdict: asleep }\n\
        - { rule: timeout, when: { kind: late }, verdict: transient_timeout }\n";

    fn load(text: &str) -> Loaded {
        parse(Source::whole("t", text.to_owned())).unwrap_or_else(|report| panic!("{report}"))
    }

    fn row<'r>(rows: &'r [PlaybookRow], name: &str) -> &'r str {
        rows.iter().find(|row| row.name == name).map_or("", |row| &row.text)
    }

    #[test]
    fn own_rows_come_first_and_replace_those_of_the_same_name() {
        let loaded = load(OWN);
        let (whole, standard) = (rows(&loaded.playbook), rows(&load(embedded("standard").unwrap()).playbook));
        assert_eq!(row(&whole, "limit max_attempts"), "3");
        assert_eq!(row(&whole, "limit deadline_ms"), row(&standard, "limit deadline_ms"));
        assert!(row(&whole, "verdict transient_timeout").contains("\"queue\":\"till\""));
        assert_eq!(row(&whole, "verdict not_sent"), row(&standard, "verdict not_sent"));
        assert!(
            row(&whole, "rule timeout").contains("late") && row(&whole, "rule lift-asleep").contains("\"after\":[]")
        );
        assert_eq!(&*loaded.playbook.rules[0].name, "lift-asleep");
        assert!(row(&whole, "rule policy-denial").contains("lift-asleep"), "it comes after a row that it can overlap");
        assert_eq!(row(&whole, "tool search.*"), "", "tools are those of one project");
        let queues: Vec<&str> = loaded.playbook.queues.iter().map(|queue| &**queue).collect();
        assert!(queues.starts_with(&["till", "policy_review"]), "{queues:?}");
        assert!(row(&whole, "extends").starts_with("\"standard "), "the lock names the version");
    }

    #[test]
    fn what_is_taken_over_stands_where_extends_says_so_and_is_not_linted_again() {
        let loaded = load(OWN);
        let place = loaded.places.row(&loaded.playbook, "verdict not_sent", "then").unwrap();
        assert_eq!(&OWN[place], "standard");
        assert_eq!(lint(&loaded).iter().map(|found| found.id).collect::<Vec<_>>(), ["unused_verdict"; 0]);
    }

    #[test]
    fn rows_that_replace_others_are_named_and_those_of_their_own_are_not() {
        assert_eq!(replaced(&load(OWN).places.tree), ["verdict transient_timeout", "rule timeout"]);
        assert!(replaced(&load(embedded("standard").unwrap()).places.tree).is_empty(), "it extends nothing");
    }

    #[test]
    fn only_standard_can_be_extended() {
        for other in ["reversing", "ours.yaml", "[standard]"] {
            let errors = errors_of(&OWN.replace("extends: standard", &format!("extends: {other}")));
            assert!(errors.iter().any(|error| error.contains(other)), "{other}: {errors:?}");
            assert!(errors.len() == 1 || other.starts_with('['), "{other}: {errors:?}");
        }
    }
}
