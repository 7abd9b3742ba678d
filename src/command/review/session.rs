//! The course of a review: which key does what, and what is left to decide. Draws no page and touches no terminal.

use crate::exit::Failure;
use playproof_analysis::check::{CaseId, CaseResult};
use playproof_formats::golden::Class;

/// What one key can do, with the key and the words that are shown for it.
pub const KEYS: &str = "a accept   r reject   s skip   e events   A R S all the rest   q quit";

/// Where a review takes place.
pub trait Desk {
    /// Shows some lines.
    fn show(&mut self, text: &str) -> Result<(), Failure>;
    /// The next key; none where nobody is there any more.
    fn key(&mut self) -> Result<Option<char>, Failure>;
    /// A line of text; none where nobody is there any more.
    fn line(&mut self, prompt: &str) -> Result<Option<String>, Failure>;
    /// The page of a result.
    fn page(&mut self, result: &CaseResult) -> String;
    /// The events of a result, side by side.
    fn events(&mut self, result: &CaseResult) -> String;
    /// Makes what a run shows its golden.
    fn accept(&mut self, result: &CaseResult, reason: Option<&str>) -> Result<(), Failure>;
    /// Forgets what waits.
    fn reject(&mut self, id: &CaseId) -> Result<(), Failure>;
}

/// What was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Became goldens.
    pub accepted: usize,
    /// Were forgotten.
    pub rejected: usize,
    /// Still wait.
    pub skipped: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Accept,
    Reject,
    Skip,
}

/// What a key means for one result.
enum Answer {
    Once(Choice),
    AllTheRest(Choice),
    Quit,
}

/// Goes through `results`; a review that ends early has skipped what is left.
pub fn review(desk: &mut dyn Desk, results: &[&CaseResult]) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    let mut rest: Option<Choice> = None;
    let mut reason_for_all: Option<String> = None;
    for (at, result) in results.iter().enumerate() {
        let choice = match rest {
            Some(choice) => choice,
            None => match ask(desk, result, at, results.len())? {
                Answer::Once(choice) => choice,
                Answer::AllTheRest(choice) => {
                    rest = Some(choice);
                    choice
                }
                Answer::Quit => {
                    tally.skipped += results.len() - at;
                    return Ok(tally);
                }
            },
        };
        let all = rest.is_some().then_some(&mut reason_for_all);
        match decide(desk, result, choice, all)? {
            Choice::Accept => tally.accepted += 1,
            Choice::Reject => tally.rejected += 1,
            Choice::Skip => tally.skipped += 1,
        }
    }
    Ok(tally)
}

fn ask(desk: &mut dyn Desk, result: &CaseResult, at: usize, of: usize) -> Result<Answer, Failure> {
    let page = desk.page(result);
    desk.show(&format!("\n{page}\n"))?;
    loop {
        desk.show(&format!("\n[{}/{of}] {}\n{KEYS}", at + 1, result.id))?;
        let answer = match desk.key()? {
            Some('a' | 'y') => Answer::Once(Choice::Accept),
            Some('r' | 'n') => Answer::Once(Choice::Reject),
            Some('s' | ' ') => Answer::Once(Choice::Skip),
            Some('A') => Answer::AllTheRest(Choice::Accept),
            Some('R') => Answer::AllTheRest(Choice::Reject),
            Some('S') => Answer::AllTheRest(Choice::Skip),
            Some('e') => {
                let events = desk.events(result);
                desk.show(&format!("\n{events}\n"))?;
                continue;
            }
            Some('q') | None => Answer::Quit,
            Some(key) => {
                desk.show(&format!("\n{}", meanings(key)))?;
                continue;
            }
        };
        return Ok(answer);
    }
}

/// What the keys do, at length: for whoever asks, or typed another one.
fn meanings(key: char) -> String {
    let unknown = if key.is_alphanumeric() { format!("`{key}` does nothing here. ") } else { String::new() };
    format!(
        "{unknown}The keys:\n  \
         a  accept: what the run shows becomes the golden; a changed effect wants a reason\n  \
         r  reject: what waits is forgotten, and the golden stays as it is\n  \
         s  skip: it waits for another review\n  \
         e  events: golden and run side by side\n  \
         A, R, S  the same for this one and all the rest\n  \
         q  quit: what is not decided still waits"
    )
}

/// Does what was chosen; says what came of it: without a reason where one is wanted, a result is skipped.
fn decide(
    desk: &mut dyn Desk,
    result: &CaseResult,
    choice: Choice,
    reason_for_all: Option<&mut Option<String>>,
) -> Result<Choice, Failure> {
    match choice {
        Choice::Accept => {
            let mut reason = None;
            if let Some(class) = result.worst().filter(|class| class.requires_reason()) {
                reason = reason_for(desk, result, class, reason_for_all)?;
                if reason.is_none() {
                    desk.show(&format!("skipped {}: it is not accepted without a reason", result.id))?;
                    return Ok(Choice::Skip);
                }
            }
            desk.accept(result, reason.as_deref())?;
            desk.show(&format!("accepted {}", result.id))?;
        }
        Choice::Reject => {
            desk.reject(&result.id)?;
            desk.show(&format!("rejected {}", result.id))?;
        }
        Choice::Skip => desk.show(&format!("skipped {}", result.id))?,
    }
    Ok(choice)
}

/// Why a dangerous change is accepted: asked once for all the rest.
fn reason_for(
    desk: &mut dyn Desk,
    result: &CaseResult,
    class: Class,
    for_all: Option<&mut Option<String>>,
) -> Result<Option<String>, Failure> {
    if let Some(Some(known)) = &for_all {
        return Ok(Some(known.clone()));
    }
    let what = if for_all.is_some() { "all the rest".to_owned() } else { result.id.to_string() };
    let said = desk.line(&format!("{class} in {what}. Why is it accepted? "))?;
    let reason = said.map(|said| said.trim().to_owned()).filter(|said| !said.is_empty());
    if let Some(for_all) = for_all {
        for_all.clone_from(&reason);
    }
    Ok(reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_analysis::check::{Diverged, GoldenState};
    use playproof_formats::diagnostic::Source;
    use playproof_formats::golden::{GoldenFile, compare, parse_body};

    /// A desk at which the keys and lines were typed beforehand; it writes down what is done.
    struct Typed {
        keys: std::vec::IntoIter<char>,
        lines: Vec<&'static str>,
        done: Vec<String>,
    }

    impl Desk for Typed {
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
        fn page(&mut self, result: &CaseResult) -> String {
            self.done.push(format!("page {}", result.id.fixture));
            String::new()
        }
        fn events(&mut self, result: &CaseResult) -> String {
            self.done.push(format!("events {}", result.id.fixture));
            String::new()
        }
        fn accept(&mut self, result: &CaseResult, reason: Option<&str>) -> Result<(), Failure> {
            self.done.push(format!("accept {} {reason:?}", result.id.fixture));
            Ok(())
        }
        fn reject(&mut self, id: &CaseId) -> Result<(), Failure> {
            self.done.push(format!("reject {}", id.fixture));
            Ok(())
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
        }
    }

    fn reviewed(keys: &str, lines: &[&'static str], claims: &[&str]) -> (Tally, Vec<String>) {
        let results: Vec<CaseResult> =
            claims.iter().enumerate().map(|(n, claim)| result(&n.to_string(), claim)).collect();
        let results: Vec<&CaseResult> = results.iter().collect();
        let keys: Vec<char> = keys.chars().collect();
        let mut desk = Typed { keys: keys.into_iter(), lines: lines.to_vec(), done: Vec::new() };
        let tally = review(&mut desk, &results).unwrap();
        (tally, desk.done)
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
        let asked = "asked: effect changed in p/0. Why is it accepted? ";
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
        assert_eq!(done.last().map(String::as_str), Some("accept 2 Some(\"because\")"));
    }

    #[test]
    fn the_keys_fit_on_a_line_of_eighty_columns() {
        assert!(KEYS.len() < 80);
    }
}
