//! The gates of a proposal: one per reason against accepting it, each with the next command. Runs nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::adr;
use super::adr::Expected;
use super::copy::{Applied, Proposal, is_order_alone};
use super::diff::{FixtureDiff, is_as_accepted};
use crate::check::CaseId;
use playproof_engine::event::FindingId;
use playproof_engine::sim::Contradiction;
use playproof_explore::{Counterexample, Guarantees};
use playproof_formats::diagnostic::{Diagnostic, Report, Source, counted};
use playproof_formats::golden::{Class, RowChange};
use playproof_formats::playbook::Loaded;
use playproof_formats::playbook::lint::silent_rules;
use playproof_formats::shell::Command;

/// The placeholder of a draft.
pub(super) const UNWRITTEN: &str = "write this";

/// The kinds of gates, in the order of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateKind {
    /// The playbook has changed since the proposal was made.
    BaseMoved,
    /// The playbook has rows that are not approved.
    RowsNotApproved,
    /// Another proposal changes the same row.
    SameRow,
    /// A golden differs from the current playbook.
    GoldenStale,
    /// A fixture of the proposal has the name of another.
    FixtureTaken,
    /// No fixture of the proposal gets the new verdict, or none shows the change.
    CatchesNothing,
    /// The proposal has no look-alike that it does not catch.
    NoLookAlike,
    /// A look-alike gets the new verdict.
    LookAlikeCaught,
    /// A fixture contradicts its `expect`.
    Contradiction,
    /// A golden changes that the decision record does not name.
    UnnamedChange,
    /// A golden that the decision record names does not change.
    ExpectedChangeMissing,
    /// A guard is weaker without a reason.
    GuardWeakened,
    /// A property is lost without a reason.
    PropertyLost,
    /// Lint reports something new.
    NewLint,
    /// A placeholder is left.
    Unwritten,
    /// The decision record is not complete.
    AdrIncomplete,
    /// Nothing of the above, and it cannot be accepted into the project as it is.
    NotAcceptable,
}

impl GateKind {
    /// The stable id of reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            GateKind::BaseMoved => "base_moved",
            GateKind::RowsNotApproved => "rows_not_approved",
            GateKind::SameRow => "same_row",
            GateKind::GoldenStale => "golden_stale",
            GateKind::FixtureTaken => "fixture_taken",
            GateKind::CatchesNothing => "catches_nothing",
            GateKind::NoLookAlike => "no_look_alike",
            GateKind::LookAlikeCaught => "look_alike_caught",
            GateKind::Contradiction => "contradiction",
            GateKind::UnnamedChange => "unnamed_change",
            GateKind::ExpectedChangeMissing => "named_in_vain",
            GateKind::GuardWeakened => "guard_weakened",
            GateKind::PropertyLost => "property_lost",
            GateKind::NewLint => "new_lint",
            GateKind::Unwritten => "unwritten",
            GateKind::AdrIncomplete => "adr_incomplete",
            GateKind::NotAcceptable => "not_acceptable",
        }
    }
}

impl fmt::Display for GateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_str().replace('_', " "))
    }
}

/// One reason against accepting a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalGate {
    /// Its kind.
    pub kind: GateKind,
    /// The problem.
    pub message: String,
    /// What to do by hand, if a command is not enough.
    pub help: Option<String>,
    /// The command to run next, after that.
    pub next: Command,
    /// The place of the problem.
    pub report: Option<Report>,
}

/// A proposal and its trial.
#[derive(Debug)]
pub(super) struct TrialFacts<'a> {
    /// Its id: the name of its folder.
    pub id: &'a str,
    /// Its folder, as shown to people.
    pub folder: &'a str,
    /// The folder of the project's fixtures, as shown to people.
    pub fixtures: &'a str,
    /// Its content.
    pub proposal: &'a Proposal,
    /// The current playbook.
    pub before: &'a Loaded,
    /// The proposed playbook.
    pub applied: &'a Applied,
    /// The differences in fixtures.
    pub diffs: &'a [FixtureDiff],
    /// The goldens of the project's fixtures.
    pub goldens: &'a BTreeMap<CaseId, Option<Arc<Source>>>,
    /// Its decision record; none without the file.
    pub adr: Option<&'a Arc<Source>>,
    /// Rows of the current playbook that are not approved.
    pub unapproved: &'a [RowChange],
    /// Rows that other proposals change too: id and row.
    pub shared: &'a [(String, String)],
    /// Its fixtures whose names are taken.
    pub taken: &'a [String],
}

impl TrialFacts<'_> {
    /// The file of a fixture, as shown to people.
    fn file_of(&self, diff: &FixtureDiff) -> String {
        let folder = if diff.is_new { format!("{}/fixtures", self.folder) } else { self.fixtures.to_owned() };
        format!("{folder}/{}.yaml", diff.id.fixture)
    }
}

/// All gates that fail, lints aside, unsorted.
pub(super) fn judge(tried: &TrialFacts<'_>) -> Vec<ProposalGate> {
    let mut gates = Vec::new();
    let mut say =
        |kind, message: String, (help, next)| gates.push(ProposalGate { kind, message, help, next, report: None });
    check_base(tried, &mut say);
    evidence(tried, &mut say);
    changes(tried, &mut say);
    unwritten(tried, &mut say);
    record(tried, &mut gates);
    gates
}

/// What to do by hand, and the command to run next.
type Way = (Option<String>, Command);

/// The command for another trial.
pub(super) fn again(tried: &TrialFacts<'_>) -> Command {
    Command::new("playproof propose check").name(tried.id)
}

/// Something to do by hand before another trial.
fn by_hand(tried: &TrialFacts<'_>, what: String) -> Way {
    (Some(what), again(tried))
}

/// Checks the base of the proposal.
fn check_base(tried: &TrialFacts<'_>, say: &mut impl FnMut(GateKind, String, Way)) {
    let playbook = &tried.proposal.playbook;
    if let Some(first) = tried.applied.since.first() {
        let more = match tried.applied.since.len() {
            1 => String::new(),
            rows => format!(" and {}", counted(rows as u64 - 1, "more row", "more rows")),
        };
        let said = format!("`{playbook}` has changed since the proposal was made: `{}`{more}", first.name);
        say(GateKind::BaseMoved, said, (None, Command::new("playproof propose rebase").name(tried.id)));
    }
    if let Some(first) = tried.unapproved.first() {
        let said = format!("`{playbook}` has rows that are not approved: `{}`", first.name);
        let more = if tried.unapproved.len() > 1 { " and others" } else { "" };
        say(GateKind::RowsNotApproved, format!("{said}{more}"), (None, "playproof check".into()));
    }
    for (other, row) in tried.shared {
        let said = format!("the proposal `{other}` changes `{row}` too: only one of them can be accepted");
        let reject = Command::new("playproof reject").name(other).and("--reason '...'");
        say(GateKind::SameRow, said, (None, reject));
    }
    for diff in tried.diffs.iter().filter(|diff| !diff.is_new) {
        let golden = tried.goldens.get(&diff.id).and_then(Option::as_ref);
        if !is_as_accepted(golden, &diff.body_before) {
            let said = format!("the golden of `{}` differs from the current `{playbook}`", diff.id);
            say(GateKind::GoldenStale, said, (None, Command::new("playproof check").name(&diff.id.to_string())));
        }
    }
    for name in tried.taken {
        let said = format!("the fixture `{name}` exists already");
        let next = by_hand(tried, format!("rename {}/fixtures/{name}.yaml", tried.folder));
        say(GateKind::FixtureTaken, said, next);
    }
}

/// A row by its kind and its name.
fn kind_and_name(change: &RowChange) -> (&str, &str) {
    change.name.split_once(' ').unwrap_or((&change.name, ""))
}

/// The rules that were there and are removed or say something else.
fn replaced(rows: &[RowChange]) -> impl Iterator<Item = (&str, &RowChange)> {
    let is_replaced = |change: &&RowChange| change.before.is_some() && !is_order_alone(change);
    rows.iter().filter(is_replaced).filter_map(|change| match kind_and_name(change) {
        ("rule", name) => Some((name, change)),
        _ => None,
    })
}

/// The verdicts that a proposal adds, and those of the rules that it adds or changes, each once.
fn given(applied: &Applied) -> Vec<&str> {
    let after = &applied.loaded.playbook;
    let mut verdicts: Vec<&str> = Vec::new();
    for change in applied.rows.iter().filter(|change| change.after.is_some() && !is_order_alone(change)) {
        let verdict = match kind_and_name(change) {
            ("verdict", name) if change.before.is_none() => Some(name),
            ("rule", name) => {
                let rule = after.rules.iter().find(|rule| *rule.name == *name);
                rule.map(|rule| &*after.verdict(rule.verdict).name)
            }
            _ => None,
        };
        verdicts.extend(verdict.filter(|verdict| !verdicts.contains(verdict)));
    }
    verdicts
}

/// The verdicts that a proposal changes, then those of the rules that it adds or changes.
pub fn verdicts(applied: &Applied) -> Vec<&str> {
    let named = applied.rows.iter().map(kind_and_name).filter(|(kind, _)| *kind == "verdict").map(|(_, name)| name);
    let mut verdicts: Vec<&str> = named.collect();
    for verdict in given(applied) {
        if !verdicts.contains(&verdict) {
            verdicts.push(verdict);
        }
    }
    verdicts
}

/// Whether no fixture can show the change: it only rewords meanings or removes what never matches.
fn is_unseen(tried: &TrialFacts<'_>) -> bool {
    let mut rows = tried.applied.rows.iter().filter(|change| !is_order_alone(change)).peekable();
    let is_unseen = |change: &RowChange| match (kind_and_name(change), &change.before, &change.after) {
        (("verdict", _), Some(_), Some(_)) => change.parts().iter().all(|part| part.path == "means"),
        (("verdict", _), Some(_), None) => true,
        (("rule", name), Some(_), None) => !can_match(tried.before, name),
        _ => false,
    };
    rows.peek().is_some() && rows.all(is_unseen)
}

/// Whether a rule of the playbook can match at all.
fn can_match(loaded: &Loaded, rule: &str) -> bool {
    let mut rules = loaded.playbook.rules.iter().zip(silent_rules(loaded));
    rules.any(|(known, silent)| *known.name == *rule && silent.is_none())
}

/// Checks that fixtures show the failures of removed rules.
fn removals(tried: &TrialFacts<'_>, say: &mut impl FnMut(GateKind, String, Way)) {
    let removed = replaced(&tried.applied.rows).filter(|(_, change)| change.after.is_none()).map(|(rule, _)| rule);
    for rule in removed.filter(|rule| can_match(tried.before, rule)) {
        if !tried.diffs.iter().any(|diff| diff.rule_matches_before(rule)) {
            let said = format!("no fixture shows how the failures of the rule `{rule}` end without it");
            let next = by_hand(tried, format!("write one into {}/fixtures/", tried.folder));
            say(GateKind::CatchesNothing, said, next);
        }
    }
}

/// Whether the proposal removes or changes a rule that gives this verdict: it may then get it less often.
fn replaces_rule_of(tried: &TrialFacts<'_>, verdict: &str) -> bool {
    let playbook = &tried.before.playbook;
    let gives = |rule: &str| {
        playbook.rules.iter().any(|known| *known.name == *rule && *playbook.verdict(known.verdict).name == *verdict)
    };
    replaced(&tried.applied.rows).any(|(rule, _)| gives(rule))
}

/// Checks that the proposal's own fixtures show its change: a failure that gets the verdict only now, or one that a
/// narrower rule leaves and one that it keeps.
fn evidence(tried: &TrialFacts<'_>, say: &mut impl FnMut(GateKind, String, Way)) {
    let own = || tried.diffs.iter().filter(|diff| diff.is_new);
    let fixtures = format!("{}/fixtures/", tried.folder);
    let given = given(tried.applied);
    for verdict in &given {
        let gets = own().any(|diff| diff.gives_verdict_after(verdict) && !diff.gives_verdict_before(verdict));
        let loses = own().any(|diff| diff.gives_verdict_before(verdict) && !diff.gives_verdict_after(verdict));
        let keeps = own().any(|diff| diff.gives_verdict_after(verdict));
        let narrows = replaces_rule_of(tried, verdict) && loses && keeps;
        if !(gets || narrows) {
            let said = match own().any(|diff| diff.gives_verdict_after(verdict)) {
                true => format!("every fixture of the proposal with the verdict `{verdict}` already gets it today"),
                false => format!("no fixture of the proposal gets the verdict `{verdict}`: it catches nothing"),
            };
            say(GateKind::CatchesNothing, said, by_hand(tried, format!("write one into {fixtures}")));
        }
        if !own()
            .any(|diff| !diff.gives_verdict_after(verdict) && !diff.after.iter().all(|call| call.verdicts.is_empty()))
        {
            let said = format!("no fixture of the proposal is a look-alike: it fails without the verdict `{verdict}`");
            say(GateKind::NoLookAlike, said, by_hand(tried, format!("write one into {fixtures}")));
        }
    }
    removals(tried, say);
    let is_shown = tried.diffs.iter().any(|diff| diff.class().is_some()) || is_unseen(tried);
    if given.is_empty() && !is_shown {
        let said = "no fixture shows the change".to_owned();
        say(GateKind::CatchesNothing, said, by_hand(tried, format!("write one into {fixtures}")));
    }
    for diff in tried.diffs.iter().filter(|diff| !diff.unnamed_harm().is_empty()) {
        let ids: Vec<&str> = diff.unnamed_harm().iter().map(|id| id.as_str()).collect();
        let ids = ids.join(", ");
        let said = format!("`{}` shows harm that its `expect` does not name: {ids}", diff.id);
        let help = format!(
            "change {}/playbook.yaml so that it does none (`effect: unknown` claims nothing); if it is meant, add \
             `findings: [{ids}]` to `expect` in {}",
            tried.folder,
            tried.file_of(diff)
        );
        say(GateKind::Contradiction, said, by_hand(tried, help));
    }
    for diff in tried.diffs {
        // A different verdict explains the rest.
        let of_verdicts = diff.contradictions.iter().find(|one| is_of_verdicts(one));
        let Some(first) = of_verdicts.or(diff.contradictions.first()) else { continue };
        let expects = first.to_string();
        let caught =
            given.iter().find(|verdict| diff.gives_verdict_after(verdict) && is_without(&diff.contradictions, verdict));
        match caught.filter(|_| diff.is_new) {
            Some(verdict) => {
                let said = format!("the look-alike `{}` gets the verdict `{verdict}`: {expects}", diff.id.fixture);
                let next = by_hand(tried, format!("narrow the rule in {}/playbook.yaml", tried.folder));
                say(GateKind::LookAlikeCaught, said, next);
            }
            None => {
                let said = format!("`{}` would contradict its `expect`: {expects}", diff.id);
                let file = tried.file_of(diff);
                let help =
                    format!("change `expect` in {file} if this is intended, otherwise {}/playbook.yaml", tried.folder);
                say(GateKind::Contradiction, said, by_hand(tried, help));
            }
        }
    }
}

fn is_of_verdicts(contradiction: &Contradiction) -> bool {
    ["verdicts", "not_verdicts"].contains(&contradiction.field)
}

/// Whether the fixture expects other verdicts than this one.
fn is_without(contradictions: &[Contradiction], verdict: &str) -> bool {
    let of_a_call = |one: &&Contradiction| one.call.is_some() && is_of_verdicts(one);
    contradictions.iter().filter(of_a_call).any(|one| !one.expected.split(", ").any(|named| named == verdict))
}

/// Compares the changes in the project's goldens with the listed ones.
fn changes(tried: &TrialFacts<'_>, say: &mut impl FnMut(GateKind, String, Way)) {
    let named = tried.adr.map(|adr| adr::expected(adr)).unwrap_or_default();
    let expected = |id: &CaseId| named.iter().find(|expected| expected.id == id.to_string());
    let write = |id: &CaseId, class: Class| {
        let line = adr::golden_line(&id.to_string(), class);
        let part = adr::GOLDENS;
        by_hand(tried, format!("write `{line}` below `## {part}` in {}/adr.md, if it is intended", tried.folder))
    };
    for diff in tried.diffs.iter().filter(|diff| !diff.is_new) {
        let Some(class) = diff.class() else { continue };
        match expected(&diff.id) {
            None => {
                let said = format!("`{}` changes ({class}), and the decision record does not name it", diff.id);
                say(GateKind::UnnamedChange, said, write(&diff.id, class));
            }
            Some(Expected { class: named, .. }) if class < *named => {
                let said =
                    format!("`{}` changes more than the decision record says: {class}, not only {named}", diff.id);
                say(GateKind::UnnamedChange, said, write(&diff.id, class));
            }
            Some(_) => {}
        }
    }
    for Expected { id, .. } in &named {
        let changes =
            tried.diffs.iter().any(|diff| !diff.is_new && diff.id.to_string() == *id && diff.class().is_some());
        if !changes {
            let said = format!("the decision record names `{id}`, which does not change");
            let next = by_hand(tried, format!("remove it from {}/adr.md", tried.folder));
            say(GateKind::ExpectedChangeMissing, said, next);
        }
    }
    let weak = tried.diffs.iter().find(|diff| !diff.is_new && diff.comparison.has(Class::GuardWeakened));
    if let Some(diff) = weak.filter(|_| !tried.adr.is_some_and(|adr| adr::explains(adr, adr::GUARDS))) {
        let said = format!("a guard is weaker in `{}`, and the decision record gives no reason", diff.id);
        let next = by_hand(tried, format!("write the reason below `## {}` in {}/adr.md", adr::GUARDS, tried.folder));
        say(GateKind::GuardWeakened, said, next);
    }
}

/// Properties that some script of answers breaks under the proposal alone.
pub(super) fn lost(tried: &TrialFacts<'_>, guarantees: &Guarantees) -> Vec<ProposalGate> {
    if tried.adr.is_some_and(|adr| adr::explains(adr, adr::LOST)) {
        return Vec::new();
    }
    let shown = guarantees.now.counterexamples().filter(|(id, _)| guarantees.lost.contains(id));
    let gate = |(id, shown): (FindingId, &Counterexample)| {
        let (help, next) = by_hand(
            tried,
            format!("mend the playbook, or write the reason below `## {}` in {}/adr.md", adr::LOST, tried.folder),
        );
        let (kind, answers) = (&shown.kind, shown.answers.join(" → "));
        let message = format!("`{}` is lost: {kind}: {answers}", id.as_str());
        ProposalGate { kind: GateKind::PropertyLost, message, help, next, report: None }
    };
    shown.map(gate).collect()
}

/// Placeholders of a draft, in verdicts and fixtures.
fn unwritten(tried: &TrialFacts<'_>, say: &mut impl FnMut(GateKind, String, Way)) {
    let next = |file: String| by_hand(tried, format!("write it in {file}"));
    let text = &tried.proposal.source.text;
    if let Some(at) = placeholder(text) {
        let file = format!("{}/playbook.yaml", tried.folder);
        let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        say(GateKind::Unwritten, format!("line {line} of `{file}` says `{UNWRITTEN}`"), next(file));
    }
    for diff in tried.diffs.iter().filter(|diff| diff.is_new && placeholder(&diff.title).is_some()) {
        let file = format!("{}/fixtures/{}.yaml", tried.folder, diff.id.fixture);
        say(GateKind::Unwritten, format!("`{file}` has a title that says `{UNWRITTEN}`"), next(file));
    }
}

/// The first value that is the placeholder of a draft, or begins with it. The same words within a text are the author's.
fn placeholder(text: &str) -> Option<usize> {
    let is_placeholder = |(at, _): &(usize, &str)| {
        let at = *at;
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + UNWRITTEN.len()..).unwrap_or_default();
        let quote = before.chars().next_back().filter(|c| matches!(c, '\'' | '"'));
        let begins =
            before.trim_end_matches(['\'', '"', ' ']).chars().next_back().is_none_or(|c| ":[{,-\n".contains(c));
        let ends = match quote {
            Some(quote) => after.starts_with(quote),
            None => after.trim_start_matches(' ').chars().next().is_none_or(|c| "}],\r\n".contains(c)),
        };
        begins && (ends || after.starts_with(" - "))
    };
    text.match_indices(UNWRITTEN).find(is_placeholder).map(|(at, _)| at)
}

fn record(tried: &TrialFacts<'_>, gates: &mut Vec<ProposalGate>) {
    let file = format!("{}/adr.md", tried.folder);
    let (help, next) = by_hand(tried, format!("write it in {file}"));
    let mut gate = |message: String, report| {
        gates.push(ProposalGate {
            kind: GateKind::AdrIncomplete,
            message,
            help: help.clone(),
            next: next.clone(),
            report,
        });
    };
    let Some(adr) = tried.adr else {
        return gate(format!("there is no decision record: `{file}` is missing"), None);
    };
    let found: Vec<Diagnostic> = adr::incomplete(adr);
    if let Some(first) = found.first() {
        let more = if found.len() > 1 { format!(", and {} more", found.len() - 1) } else { String::new() };
        let message = format!("the decision record is not complete: {}{more}", first.message);
        gate(message, Some(Report { source: Arc::clone(adr), diagnostics: found }));
    }
}

/// The rows that a proposal changes by intention, not by the order of rules alone.
pub fn touched(rows: &[RowChange]) -> impl Iterator<Item = &str> {
    rows.iter().filter(|change| !is_order_alone(change)).map(|change| change.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_a_whole_value_or_its_beginning() {
        for left in [
            "when: { kind: 'write this' }",
            "when: { kind: write this }",
            "means: \"write this - what it means\"",
            "means: write this\neffect: unknown",
            "write this - a failure that looks like it",
        ] {
            assert!(placeholder(left).is_some(), "{left}");
        }
        for written in [
            "{ message: { contains: cannot write this record } }",
            "contains: 'write this record'",
            "means: It may write this.",
        ] {
            assert!(placeholder(written).is_none(), "{written}");
        }
    }

    #[test]
    fn a_verdict_is_named_by_its_whole_name() {
        let diff = |expected: &str| {
            let one = |call: Option<&str>| Contradiction {
                call: call.map(str::to_owned),
                field: "verdicts",
                expected: expected.to_owned(),
                actual: "rate".to_owned(),
            };
            [one(Some("call")), one(None)]
        };
        assert!(is_without(&diff("rate_limited"), "rate"));
        assert!(!is_without(&diff("slow, rate"), "rate"));
    }
}
