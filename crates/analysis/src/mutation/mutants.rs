//! The mutants of a playbook: each a small change of its file that is another valid playbook. An id names the row and the
//! change, never a place in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::vec::IntoIter;

use crate::check::map;
use playproof_engine::ids::{RuleId, VerdictId};
use playproof_engine::playbook::{GuardMode, Playbook};
use playproof_explore::coverage::Target;
use playproof_formats::playbook::{Fingerprint, Loaded, changes, fingerprint, of_tree};
use playproof_formats::schema::{Change, What};

/// One small change of a playbook.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Its id: `rule timeout/drop`, `verdict slow/effect-to-applied`.
    pub id: String,
    /// The row that is changed: `rule timeout`.
    pub row: String,
    /// What is done to it, in words.
    pub what: String,
    /// The changed playbook.
    pub playbook: Playbook,
    /// What a run in which the change shows exercises without it, unless it sends a reversal; none: unknown.
    pub(super) needs: Option<Target>,
}

/// A changed playbook, if the change makes one, and its fingerprint.
type Made = Option<(Playbook, Fingerprint)>;

/// The parts of a file that have a row for each name, and what a row is called.
const ROWS: [(&str, &str); 8] = [
    ("classify", "rule"),
    ("verdicts", "verdict"),
    ("tools", "tool"),
    ("breakers", "breaker"),
    ("retry_budgets", "retry_budget"),
    ("actions", "action"),
    ("limits", "limit"),
    ("study", "study"),
];

/// The mutants of a playbook in the order of its file, made block by block; of several that are the same playbook
/// the first.
pub struct Mutants<'a> {
    loaded: &'a Loaded,
    changes: IntoIter<Change>,
    known: BTreeSet<Fingerprint>,
    ids: BTreeMap<String, u32>,
}

/// Every mutant of a playbook.
pub fn mutants(loaded: &Loaded) -> Mutants<'_> {
    let mut changes = changes(loaded);
    changes.extend(guards(&loaded.playbook));
    let known = BTreeSet::from([fingerprint(&loaded.playbook)]);
    Mutants { loaded, changes: changes.into_iter(), known, ids: BTreeMap::new() }
}

impl Mutants<'_> {
    /// The id of a change, its row and what is done to it, in words.
    fn names(&mut self, change: &Change) -> (String, String, String) {
        let (row, way) = row_of(&change.names);
        let (end, what) = described(&change.what, &way);
        let id = format!("{row}/{}", slug(&if way.is_empty() { end } else { format!("{way}-{end}") }));
        let count = self.ids.entry(id.clone()).or_default();
        *count += 1;
        (if *count > 1 { format!("{id}-{count}") } else { id }, row, what)
    }

    /// The mutants of at most so many further changes, made by `jobs` threads; none: no change is left.
    pub fn next_block(&mut self, most: usize, jobs: NonZeroUsize) -> Option<Vec<Mutant>> {
        let changes: Vec<Change> = self.changes.by_ref().take(most).collect();
        if changes.is_empty() {
            return None;
        }
        let loaded = self.loaded;
        let made = map(&changes, jobs, || (), |(), change| make(loaded, change), |_| false);
        Some(changes.iter().zip(made).filter_map(|(change, made)| self.mutant(change, made)).collect())
    }

    /// The mutant of a change and what it made; none: that is no playbook, or a known one.
    fn mutant(&mut self, change: &Change, made: Made) -> Option<Mutant> {
        let (playbook, fingerprint) = made?;
        if !self.known.insert(fingerprint) {
            return None;
        }
        let (id, row, what) = self.names(change);
        Some(Mutant { id, row, what, playbook, needs: needs(&self.loaded.playbook, change) })
    }

    /// The ids, rows and words of the changes that no mutant was made of yet, whether or not they are playbooks.
    pub(super) fn unmade(mut self) -> Vec<(String, String, String)> {
        let rest: Vec<Change> = self.changes.by_ref().collect();
        rest.iter().map(|change| self.names(change)).collect()
    }
}

/// Makes a change.
fn make(loaded: &Loaded, change: &Change) -> Made {
    let places = &loaded.places;
    let playbook = of_tree(&change.apply(&places.tree), &places.source.name)?;
    let fingerprint = fingerprint(&playbook);
    Some((playbook, fingerprint))
}

/// The row of a change, and the way from there to what changes.
fn row_of(names: &[String]) -> (String, String) {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (row, way): (String, &[&str]) = match &names[..] {
        ["graph", "next", action, way @ ..] => (format!("graph next {action}"), way),
        ["graph", part, way @ ..] => (format!("graph {part}"), way),
        [part, name, way @ ..] => match ROWS.iter().find(|(known, _)| known == part) {
            Some((_, row)) => (format!("{row} {name}"), way),
            None => ((*part).to_owned(), &names[1..]),
        },
        [part] => ((*part).to_owned(), &[]),
        [] => (String::new(), &[]),
    };
    (row, way.join("."))
}

/// What becomes of a part of a row: the end of an id, and words.
fn described(what: &What, way: &str) -> (String, String) {
    let (of, key) =
        if way.is_empty() { (String::new(), String::new()) } else { (format!("`{way}` "), format!("{way}: ")) };
    match what {
        What::Dropped if way.is_empty() => ("drop".to_owned(), "dropped".to_owned()),
        What::Dropped => ("drop".to_owned(), format!("without `{way}`")),
        What::Behind(next) => (format!("behind-{next}"), format!("{of}put behind `{next}`")),
        What::Becomes(new, Some(old)) => (format!("to-{new}"), format!("`{key}{new}` instead of `{old}`")),
        What::Becomes(new, None) => (format!("to-{new}"), format!("`{key}{new}` instead")),
        What::Longer => ("longer".to_owned(), format!("{of}with its last item once more")),
        What::With(item) => (format!("with-{item}"), format!("{of}with `{item}`")),
    }
}

/// A guard is switched off as a study playbook would do it.
fn guards(playbook: &Playbook) -> impl Iterator<Item = Change> {
    let guards = [("retry_guard", playbook.retry_guard()), ("token_guard", playbook.token_guard())];
    let why = playbook.study.is_none().then_some((&["study", "why"][..], "a mutant"));
    let checked = guards.into_iter().filter(|(_, mode)| *mode == GuardMode::Checked);
    checked.map(move |(guard, _)| {
        let way = ["study", guard];
        let all: Vec<(&[&str], &str)> = why.into_iter().chain([(&way[..], "off")]).collect();
        Change::writing(&way, "off", &all)
    })
}

/// A target that every run exercises in which the change can show: the changed verdict; or the rule, if it is dropped, moved
/// behind the next one or given another verdict.
fn needs(playbook: &Playbook, change: &Change) -> Option<Target> {
    let names: Vec<&str> = change.names.iter().map(String::as_str).collect();
    match (&names[..], &change.what) {
        (["verdicts", name, ..], _) => {
            let mut all = (0..).map(VerdictId).zip(&playbook.verdicts);
            all.find(|(_, verdict)| *verdict.name == **name).map(|(id, _)| Target::Verdict(id))
        }
        (["classify", name], What::Dropped | What::Behind(_)) | (["classify", name, "verdict"], _) => {
            let mut all = (0..).map(RuleId).zip(&playbook.rules);
            all.find(|(_, rule)| *rule.name == **name).map(|(id, _)| Target::Rule(id))
        }
        _ => None,
    }
}

/// A text as part of an id: letters, digits and single dashes.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        match c.is_alphanumeric() || matches!(c, '_' | '.' | '*') {
            true => slug.push(c),
            false if slug.ends_with('-') || slug.is_empty() => {}
            false => slug.push('-'),
        }
    }
    slug.trim_end_matches('-').to_owned()
}
