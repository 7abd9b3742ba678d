//! Calls of a fixture beside their runs, with those that it writes as one (`times`) and that went the same way folded into
//! one, each with its steps. Draws nothing.

use super::page_call::PageCall;
use playproof_engine::event::Finding;
use playproof_report::card::{self, Alike, Course};
use playproof_report::view::{CallView, RunView};

/// The most names of further calls.
const OTHERS: usize = 4;

/// A call and what became of it, by playbook.
pub struct CallRuns<'a> {
    call: &'a PageCall<'a>,
    view: CallView<'a>,
    runs: Vec<RunView<'a>>,
    /// None for a call that stands alone: it is compared with no other.
    course: Option<Course>,
}

impl<'a> CallRuns<'a> {
    /// A call of the fixture, how it is shown, and what became of it.
    pub fn new(call: &'a PageCall<'a>, view: CallView<'a>, runs: Vec<RunView<'a>>) -> CallRuns<'a> {
        let course = call.is_one_of_several().then(|| card::course(&view, &runs));
        CallRuns { call, view, runs, course }
    }

    fn is_like(&self, other: &CallRuns<'_>) -> bool {
        self.call.is_one_with(other.call) && self.course == other.course
    }
}

/// The calls with their steps, where neighbours of which call and steps are alike are one: the calls of all that are alike,
/// then the first steps of them, and so on.
pub fn gathered<T>(
    all: &[T],
    is_step: impl Fn(&T) -> bool,
    are_alike: impl Fn(&T, &T) -> bool,
) -> impl Iterator<Item = Vec<&T>> {
    let calls: Vec<&[T]> = all.chunk_by(|_, next| is_step(next)).collect();
    let is_like = |one: &&[T], other: &&[T]| {
        one.len() == other.len() && one.iter().zip(*other).all(|(one, other)| are_alike(one, other))
    };
    let mut groups = Vec::new();
    for alike in calls.chunk_by(is_like) {
        let parts = alike.first().map_or(0, |call| call.len());
        groups.extend((0..parts).map(|n| alike.iter().filter_map(|call| call.get(n)).collect()));
    }
    groups.into_iter()
}

/// Neighbours that went the same way, as the first of them: its findings have the greatest counts of all.
pub fn folded<'a>(calls: &[CallRuns<'a>]) -> Vec<(CallView<'a>, Vec<RunView<'a>>, Alike)> {
    gathered(calls, |call| call.call.is_step, CallRuns::is_like).filter_map(|alike| fold(&alike)).collect()
}

fn fold<'a>(calls: &[&CallRuns<'a>]) -> Option<(CallView<'a>, Vec<RunView<'a>>, Alike)> {
    let (first, rest) = calls.split_first()?;
    let mut runs = first.runs.clone();
    for (n, run) in runs.iter_mut().enumerate() {
        let others = || rest.iter().filter_map(|call| call.runs.get(n)).flat_map(|run| &run.findings);
        for finding in &mut run.findings {
            let same = |other: &&Finding| (other.kind(), other.by) == (finding.kind(), finding.by);
            finding.count = others().filter(same).map(|other| other.count).fold(finding.count, u32::max);
        }
    }
    let others: Vec<String> = rest.iter().take(OTHERS).map(|call| call.view.reference.to_owned()).collect();
    let more = (rest.len() - others.len()) as u64;
    Some((first.view, runs, Alike { others, more, several_intents: !rest.is_empty(), is_mixed: false }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(names: &'static [&'static str]) -> Vec<Vec<&'static str>> {
        let kind = |name: &&str| name.trim_start_matches(|letter: char| letter.is_ascii_digit()).to_owned();
        let groups = gathered(names, |name| name.contains('/'), |one, other| kind(one) == kind(other));
        groups.map(|group| group.into_iter().copied().collect()).collect()
    }

    #[test]
    fn calls_are_folded_together_with_their_steps() {
        assert_eq!(gather(&["1", "2", "3x"]), [vec!["1", "2"], vec!["3x"]]);
        assert_eq!(gather(&["1", "1/a", "1/b", "2", "2/a", "2/b"]), [["1", "2"], ["1/a", "2/a"], ["1/b", "2/b"]]);
        let apart = [vec!["1"], vec!["1/a"], vec!["2"], vec!["2/b"], vec!["3"]];
        assert_eq!(gather(&["1", "1/a", "2", "2/b", "3"]), apart, "their steps went another way");
    }
}
