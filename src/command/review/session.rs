//! The course of a review: the meaning of each key, and the next item. Draws no page and touches no terminal.

use crate::exit::Failure;
use crate::reason;
use playproof_analysis::check::CaseResult;
use playproof_formats::golden::Class;

/// The keys that do something for an item, with the words that are shown for them.
fn keys(item: &Item<'_>) -> &'static str {
    match item {
        Item::Golden(_) => "a accept   r reject   s skip   e events   A R S all the rest   q quit",
        Item::Rows(_) => "a accept   s skip   A S all the rest   q quit",
        Item::Proposal(_) => "a accept   r reject   s skip   A R S all the rest   q quit",
    }
}

/// One thing to decide.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A run that differs from its golden, or has none.
    Golden(&'a CaseResult),
    /// The edited rows of a playbook.
    Rows(&'a str),
    /// A proposal, by its id.
    Proposal(&'a str),
}

impl Item<'_> {
    fn name(&self) -> String {
        match self {
            Item::Golden(result) => result.id.to_string(),
            Item::Rows(name) | Item::Proposal(name) => (*name).to_owned(),
        }
    }

    /// The name; for playbooks and proposals with its kind.
    fn title(&self) -> String {
        match self {
            Item::Golden(_) => self.name(),
            Item::Rows(_) => format!("rows of {}", self.name()),
            Item::Proposal(_) => format!("proposal {}", self.name()),
        }
    }

    /// Whether it is not accepted without a reason.
    fn requires_reason(&self) -> bool {
        match self {
            Item::Golden(result) => result.worst().is_some_and(Class::requires_reason),
            Item::Rows(_) | Item::Proposal(_) => true,
        }
    }

    /// Several of its kind.
    fn plural(&self) -> &'static str {
        match self {
            Item::Golden(_) => "runs",
            Item::Rows(_) => "playbooks",
            Item::Proposal(_) => "proposals",
        }
    }

    fn is_of_the_kind_of(&self, other: &Item<'_>) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// The place of a review: shows pages, reads keys, and accepts or rejects items.
pub trait Screen {
    /// Shows some lines.
    fn show(&mut self, text: &str) -> Result<(), Failure>;
    /// The next key; none if the terminal is gone.
    fn key(&mut self) -> Result<Option<char>, Failure>;
    /// A line of text; none if the terminal is gone.
    fn line(&mut self, prompt: &str) -> Result<Option<String>, Failure>;
    /// The page of an item.
    fn page(&mut self, item: &Item<'_>) -> Result<String, Failure>;
    /// The events of a run, side by side with those of its golden.
    fn events(&mut self, item: &Item<'_>) -> String;
    /// Why an item cannot be accepted, whatever the reason.
    fn objection(&mut self, item: &Item<'_>) -> Result<Option<String>, Failure>;
    /// Accepts an item; otherwise says why it cannot be accepted.
    fn accept(&mut self, item: &Item<'_>, reason: Option<&str>) -> Result<Option<String>, Failure>;
    /// Rejects an item; otherwise says why it cannot be rejected.
    fn reject(&mut self, item: &Item<'_>, reason: Option<&str>) -> Result<Option<String>, Failure>;
}

/// What was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Accepted.
    pub accepted: usize,
    /// Rejected: removed, or moved aside.
    pub rejected: usize,
    /// Skipped: they still wait.
    pub skipped: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Accept,
    Reject,
    Skip,
}

/// What a key means for one result.
enum KeyAnswer {
    Once(Choice),
    AllTheRest(Choice),
    Quit,
}

/// Reviews `items` in order; if it ends early, the others are skipped.
pub fn review(screen: &mut dyn Screen, items: &[Item<'_>]) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    let mut rest: Option<Choice> = None;
    let mut reason_for_all: Option<String> = None;
    for (at, item) in items.iter().enumerate() {
        // What was chosen for all the rest holds for things of one kind.
        if at.checked_sub(1).and_then(|before| items.get(before)).is_some_and(|before| !item.is_of_the_kind_of(before))
        {
            (rest, reason_for_all) = (None, None);
        }
        let choice = match rest {
            Some(choice) => choice,
            None => match ask(screen, item, at, items.len())? {
                KeyAnswer::Once(choice) => choice,
                KeyAnswer::AllTheRest(choice) => {
                    rest = Some(choice);
                    choice
                }
                KeyAnswer::Quit => {
                    tally.skipped += items.len() - at;
                    return Ok(tally);
                }
            },
        };
        let remaining = items.iter().skip(at).take_while(|other| item.is_of_the_kind_of(other)).count();
        let all = rest.is_some().then_some((&mut reason_for_all, remaining));
        match decide(screen, item, choice, all)? {
            Choice::Accept => tally.accepted += 1,
            Choice::Reject => tally.rejected += 1,
            Choice::Skip => tally.skipped += 1,
        }
    }
    Ok(tally)
}

fn ask(screen: &mut dyn Screen, item: &Item<'_>, at: usize, of: usize) -> Result<KeyAnswer, Failure> {
    let page = screen.page(item)?;
    screen.show(&format!("\n{page}\n"))?;
    loop {
        screen.show(&format!("\n[{}/{of}] {}\n{}", at + 1, item.title(), keys(item)))?;
        let answer = match screen.key()? {
            Some('a' | 'y') if is_objected(screen, item)? => continue,
            Some('a' | 'y') => KeyAnswer::Once(Choice::Accept),
            Some('r' | 'n') => KeyAnswer::Once(Choice::Reject),
            Some('s' | ' ') => KeyAnswer::Once(Choice::Skip),
            Some('A') => KeyAnswer::AllTheRest(Choice::Accept),
            Some('R') => KeyAnswer::AllTheRest(Choice::Reject),
            Some('S') => KeyAnswer::AllTheRest(Choice::Skip),
            Some('e') => {
                let events = screen.events(item);
                screen.show(&format!("\n{events}\n"))?;
                continue;
            }
            Some('q') | None => KeyAnswer::Quit,
            Some(key) => {
                screen.show(&format!("\n{}", meanings(key)))?;
                continue;
            }
        };
        return Ok(answer);
    }
}

/// The keys, each with its meaning: after an unknown key or `?`.
fn meanings(key: char) -> String {
    let unknown = if key.is_alphanumeric() { format!("`{key}` does nothing here. ") } else { String::new() };
    format!(
        "{unknown}The keys:\n  \
         a  accept: it becomes the accepted one; rows, proposals and a changed effect need a reason\n  \
         r  reject: a run that waits is forgotten, a proposal is put aside with a reason\n  \
         s  skip: it waits for another review\n  \
         e  events: golden and run side by side\n  \
         A, R, S  the same for this one and all the rest of its kind\n  \
         q  quit: what is not decided still waits"
    )
}

/// Whether an item cannot be accepted; then says why.
fn is_objected(screen: &mut dyn Screen, item: &Item<'_>) -> Result<bool, Failure> {
    let why = screen.objection(item)?;
    why.iter().try_for_each(|why| screen.show(&format!("{} cannot be accepted: {why}", item.name())))?;
    Ok(why.is_some())
}

/// Carries out a choice and shows the result. An item that needs a reason and gets none is skipped.
fn decide(
    screen: &mut dyn Screen,
    item: &Item<'_>,
    choice: Choice,
    for_all: Option<(&mut Option<String>, usize)>,
) -> Result<Choice, Failure> {
    let (verb, requires_reason) = match choice {
        Choice::Accept => {
            // One that was asked for alone had no objection.
            if for_all.is_some() && is_objected(screen, item)? {
                return Ok(Choice::Skip);
            }
            ("accept", item.requires_reason())
        }
        Choice::Reject => ("reject", matches!(item, Item::Proposal(_))),
        Choice::Skip => {
            screen.show(&format!("skipped {}", item.name()))?;
            return Ok(choice);
        }
    };
    let mut reason = None;
    if requires_reason {
        reason = reason_for(screen, item, verb, for_all)?;
        if reason.is_none() {
            screen.show(&format!("skipped {}: it is not {verb}ed without a reason", item.name()))?;
            return Ok(Choice::Skip);
        }
    }
    let refused = match choice {
        Choice::Accept => screen.accept(item, reason.as_deref())?,
        Choice::Reject | Choice::Skip => screen.reject(item, reason.as_deref())?,
    };
    match refused {
        None => screen.show(&format!("{verb}ed {}", item.name()))?,
        Some(why) => {
            screen.show(&format!("skipped {}: {why}", item.name()))?;
            return Ok(Choice::Skip);
        }
    }
    Ok(choice)
}

/// Why an item is accepted or rejected: asked once for all the rest.
fn reason_for(
    screen: &mut dyn Screen,
    item: &Item<'_>,
    verb: &str,
    for_all: Option<(&mut Option<String>, usize)>,
) -> Result<Option<String>, Failure> {
    let prompt = match &for_all {
        Some((Some(known), _)) => return Ok(Some(known.clone())),
        Some((None, remaining @ 2..)) => format!("One reason to {verb} the {remaining} remaining {}", item.plural()),
        _ => format!("Reason to {verb} {}", item.name()),
    };
    let said = screen.line(&format!("{prompt} (Enter alone skips): "))?;
    // In a line, Esc is a character.
    let reason = said.filter(|said| !said.contains('\x1b')).and_then(|said| reason::parse(&said).ok());
    if let Some((for_all, _)) = for_all {
        for_all.clone_from(&reason);
    }
    Ok(reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_analysis::check::{CaseId, Diverged, GoldenState};
    use playproof_formats::diagnostic::Source;
    use playproof_formats::golden::{GoldenFile, compare, parse_body};

    /// A screen at which the keys and lines were typed beforehand; it writes down what is done.
    struct Typed {
        keys: std::vec::IntoIter<char>,
        lines: Vec<&'static str>,
        done: Vec<String>,
    }

    impl Screen for Typed {
        fn show(&mut self, _text: &str) -> Result<(), Failure> {
            Ok(())
        }
        fn key(&mut self) -> Result<Option<char>, Failure> {
            Ok(self.keys.next())
        }
        fn line(&mut self, prompt: &str) -> Result<Option<String>, Failure> {
            self.done.push(format!("asked: {prompt}"));
            Ok((!self.lines.is_empty()).then(|| self.lines.remove(0).to_owned()))
        }
        fn page(&mut self, item: &Item<'_>) -> Result<String, Failure> {
            self.done.push(format!("page {}", short(item)));
            Ok(String::new())
        }
        fn events(&mut self, item: &Item<'_>) -> String {
            self.done.push(format!("events {}", short(item)));
            String::new()
        }
        fn objection(&mut self, item: &Item<'_>) -> Result<Option<String>, Failure> {
            Ok((short(item) == "objected").then(|| "see its objections above".to_owned()))
        }
        fn accept(&mut self, item: &Item<'_>, reason: Option<&str>) -> Result<Option<String>, Failure> {
            self.done.push(format!("accept {} {reason:?}", short(item)));
            Ok(None)
        }
        fn reject(&mut self, item: &Item<'_>, reason: Option<&str>) -> Result<Option<String>, Failure> {
            let why = reason.map(|reason| format!(" {reason}")).unwrap_or_default();
            self.done.push(format!("reject {}{why}", short(item)));
            Ok(matches!(item, Item::Rows(_)).then(|| "undo the edit".to_owned()))
        }
    }

    fn short(item: &Item<'_>) -> String {
        match item {
            Item::Golden(result) => result.id.fixture.clone(),
            other => other.name(),
        }
    }

    fn result(name: &str, claim: &str) -> CaseResult {
        let text = |claim: &str| {
            let end = format!("outcome: escalated, effect: {claim}, attempts: 1, verdicts: []");
            format!("a: {{ {end} }}\nledger: {{}}\nfindings: []\nevents: []\n")
        };
        let body = |text: String| parse_body(Source::whole("g", text)).unwrap();
        let comparison = compare(&body(text("unknown")), &body(text(claim)));
        let golden = GoldenFile::new(name, "p", &text("unknown"));
        CaseResult {
            id: CaseId { playbook: "p".into(), fixture: name.into() },
            title: String::new(),
            body: body(text(claim)),
            golden: match comparison.worst() {
                Some(_) => GoldenState::Diverged(Box::new(Diverged { golden, comparison })),
                None => GoldenState::Missing,
            },
            contradictions: Vec::new(),
            unexpected_harm: Vec::new(),
        }
    }

    fn reviewed(keys: &str, lines: &[&'static str], claims: &[&str]) -> (Tally, Vec<String>) {
        let results: Vec<CaseResult> =
            claims.iter().enumerate().map(|(n, claim)| result(&n.to_string(), claim)).collect();
        let items: Vec<Item<'_>> = results.iter().map(Item::Golden).collect();
        reviewed_items(keys, lines, &items)
    }

    fn reviewed_items(keys: &str, lines: &[&'static str], items: &[Item<'_>]) -> (Tally, Vec<String>) {
        let keys: Vec<char> = keys.chars().collect();
        let mut screen = Typed { keys: keys.into_iter(), lines: lines.to_vec(), done: Vec::new() };
        let tally = review(&mut screen, items).unwrap();
        (tally, screen.done)
    }

    /// `unknown` is as in the golden: these want no reason.
    const CALM: [&str; 3] = ["unknown", "unknown", "unknown"];

    #[test]
    fn each_key_decides_about_one_result() {
        let (tally, done) = reviewed("ars", &[], &CALM);
        assert_eq!(tally, Tally { accepted: 1, rejected: 1, skipped: 1 });
        assert_eq!(done, ["page 0", "accept 0 None", "page 1", "reject 1", "page 2"]);
    }

    #[test]
    fn a_capital_decides_about_all_the_rest_without_asking_again() {
        assert_eq!(reviewed("sA", &[], &CALM).1, ["page 0", "page 1", "accept 1 None", "accept 2 None"]);
        assert_eq!(reviewed("R", &[], &CALM).1, ["page 0", "reject 0", "reject 1", "reject 2"]);
        assert_eq!(reviewed("S", &[], &CALM).0.skipped, 3);
    }

    #[test]
    fn a_key_that_does_nothing_is_answered_with_what_the_keys_do() {
        let asked = meanings('?');
        assert!(asked.starts_with("The keys:\n  a  accept: ") && meanings('x').starts_with("`x` does nothing here. "));
        for key in ["  r  ", "  s  ", "  e  ", "  A, R, S  ", "  q  "] {
            assert!(asked.contains(&format!("\n{key}")), "{key}");
        }
    }

    #[test]
    fn other_keys_do_nothing_and_events_are_shown_on_request() {
        assert_eq!(reviewed("x1ea", &[], &CALM[..1]).1, ["page 0", "events 0", "accept 0 None"]);
    }

    #[test]
    fn quitting_and_going_away_leave_the_rest_undecided() {
        for keys in ["aq", "a"] {
            let (tally, done) = reviewed(keys, &[], &CALM);
            assert_eq!(tally, Tally { accepted: 1, rejected: 0, skipped: 2 }, "{done:?}");
        }
    }

    #[test]
    fn a_changed_effect_is_accepted_with_a_reason_and_skipped_without() {
        let asked = "asked: Reason to accept p/0 (Enter alone skips): ";
        assert_eq!(reviewed("a", &[" because "], &["applied"]).1, ["page 0", asked, "accept 0 Some(\"because\")"]);
        for lines in [&[" "][..], &[]] {
            let (tally, done) = reviewed("a", lines, &["applied"]);
            assert_eq!((tally.skipped, done.len()), (1, 2), "{done:?}");
        }
    }

    #[test]
    fn one_reason_is_asked_for_all_the_rest() {
        let (tally, done) = reviewed("A", &["because"], &["applied", "unknown", "not_applied"]);
        assert_eq!(tally.accepted, 3);
        assert_eq!(done.iter().filter(|line| line.starts_with("asked")).count(), 1, "{done:?}");
        assert!(done.contains(&"asked: One reason to accept the 3 remaining runs (Enter alone skips): ".to_owned()));
        assert_eq!(done.last().map(String::as_str), Some("accept 2 Some(\"because\")"));
    }

    #[test]
    fn rows_need_a_reason_and_cannot_be_rejected() {
        let (tally, done) = reviewed_items("ar", &["slower"], &[Item::Rows("ours"), Item::Rows("theirs")]);
        assert_eq!(tally, Tally { accepted: 1, rejected: 0, skipped: 1 });
        let asked = "asked: Reason to accept ours (Enter alone skips): ";
        assert_eq!(done, ["page ours", asked, "accept ours Some(\"slower\")", "page theirs", "reject theirs"]);
        for no_reason in [" ", "...", "\x1b", "slower\x1b[A"] {
            assert_eq!(reviewed_items("a", &[no_reason], &[Item::Rows("ours")]).0.skipped, 1, "{no_reason:?}");
        }
    }

    #[test]
    fn a_proposal_is_accepted_and_rejected_with_a_reason_unless_something_speaks_against_it() {
        let items = [Item::Proposal("objected"), Item::Proposal("said-no"), Item::Proposal("other")];
        let (tally, done) = reviewed_items("arra", &["too wide", "too late", "right"], &items);
        assert_eq!(tally, Tally { accepted: 1, rejected: 2, skipped: 0 });
        assert!(done.contains(&"reject objected too wide".to_owned()), "it is asked again: {done:?}");
        assert!(done.contains(&"reject said-no too late".to_owned()), "{done:?}");
        let (tally, _) = reviewed_items("A", &["right"], &items);
        assert_eq!(tally, Tally { accepted: 2, rejected: 0, skipped: 1 });
    }

    #[test]
    fn what_is_chosen_for_all_the_rest_holds_for_one_kind_of_thing() {
        let golden = result("0", "unknown");
        let items = [Item::Golden(&golden), Item::Rows("ours"), Item::Proposal("said-no")];
        let (tally, done) = reviewed_items("ASq", &[], &items);
        assert_eq!(tally, Tally { accepted: 1, rejected: 0, skipped: 2 });
        assert_eq!(done, ["page 0", "accept 0 None", "page ours", "page said-no"]);
    }

    #[test]
    fn the_keys_fit_on_a_line_of_eighty_columns() {
        let golden = result("0", "unknown");
        for item in [Item::Golden(&golden), Item::Rows("ours"), Item::Proposal("said-no")] {
            assert!(keys(&item).len() < 80);
        }
    }
}
