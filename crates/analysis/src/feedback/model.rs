//! What is kept of a call that was handled wrong. Reads nothing.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::ending::Ending;
use playproof_engine::call::RecordedCall;
use playproof_engine::playbook::{Playbook, ToolFacts, ToolRow, Tools};
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::Source;

/// What people say of a call, and what its playbook made of it when they said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// What was wrong, in the words of whoever saw it.
    pub note: String,
    /// The playbook: a name, or a path below the project's root.
    pub playbook: String,
    /// The call, by its reference in the slice.
    pub call: String,
    /// The verdict that its failure should have; none where nobody said, or where nothing failed.
    pub expected: Option<String>,
    /// Facts of the call's tool that win over those of project and playbook.
    pub facts: Option<ToolFacts>,
    /// Why nothing more is to be done about it; none while something is.
    pub closed: Option<String>,
    /// Where the call was.
    pub came_from: CameFrom,
    /// What the playbook made of it then.
    pub before: Ending,
}

/// Where a call was when it was kept: words for people, nothing is read from there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CameFrom {
    /// The trace's file name, without its folders.
    pub trace: String,
    /// The call's reference there.
    pub call: String,
    /// The call's line there, from 1.
    pub line: u64,
}

/// Where parts of a feedback file stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The playbook's name.
    pub playbook: Range<usize>,
    /// The call's reference.
    pub call: Range<usize>,
    /// The expected verdict.
    pub expected: Option<Range<usize>>,
}

/// One feedback as it lies on disk: the file and its slice.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its id: the name of its two files.
    pub id: String,
    /// What the file says.
    pub feedback: Feedback,
    /// Where its parts stand.
    pub places: Places,
    /// The file's text.
    pub source: Arc<Source>,
    /// The calls of the slice as they are shown, in the order of their lines.
    pub calls: Vec<RecordedCall>,
    /// The same as they stand in it: what a playbook makes of them, it makes of these.
    pub recorded: Vec<RecordedCall>,
    /// Which of them it is about.
    pub about: usize,
}

/// Whether a feedback still asks for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Its failure has not the expected verdict, or nobody said which one it should have.
    Open,
    /// Its failure has the expected verdict by now.
    Answered,
    /// Somebody said that nothing is to be done about it.
    Closed,
}

impl State {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Answered => "answered",
            State::Closed => "closed",
        }
    }
}

impl Feedback {
    /// A stable id: tool and error kind in words, and a short hash of slice and playbook. `kind` is what went wrong.
    pub fn id(tool: &str, kind: &str, playbook: &str, slice: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(playbook);
        hash.update([0]);
        hash.update(slice);
        let mut id = String::new();
        for word in format!("{tool} {kind}").split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
        {
            id += &word.to_ascii_lowercase();
            id.push('-');
        }
        let room = 60.min(id.len());
        id.truncate(room); // ASCII alone
        let mut id = format!("{}-", id.trim_end_matches('-'));
        for byte in hash.finalize().iter().take(3) {
            let _ = write!(id, "{byte:02x}"); // writing to a String cannot fail
        }
        id.trim_start_matches('-').to_owned()
    }
}

impl Kept {
    /// The call that it is about, as it is shown.
    pub fn call(&self) -> Option<&RecordedCall> {
        self.calls.get(self.about)
    }

    /// The same as it stands in the slice.
    pub fn recorded(&self) -> Option<&RecordedCall> {
        self.recorded.get(self.about)
    }

    /// The tool facts of this call: those that were kept, and behind them `weaker`.
    pub fn tools(&self, weaker: &Tools) -> Tools {
        let row =
            self.feedback.facts.zip(self.recorded()).and_then(|(facts, call)| ToolRow::new(call.tool(), facts).ok());
        Tools::new(row.into_iter().collect()).over(weaker)
    }

    /// A playbook ready to run on this call.
    pub fn plan(&self, playbook: &Playbook, weaker: &Tools) -> Plan {
        Plan::new(playbook.clone(), &self.tools(weaker))
    }

    /// What its playbook makes of the failure now: the state, and the verdict with the rule that gives it.
    pub fn state(&self, plan: &Plan) -> (State, Option<(String, String)>) {
        let now = self
            .recorded()
            .zip(self.feedback.before.failed.as_ref())
            .and_then(|(call, failed)| super::ending::verdict_now(plan, call, failed.attempt));
        let verdict = now.as_ref().map(|(verdict, _)| verdict);
        let is_answered = self.feedback.expected.is_some() && self.feedback.expected.as_ref() == verdict;
        let state = match (&self.feedback.closed, is_answered) {
            (Some(_), _) => State::Closed,
            (None, true) => State::Answered,
            (None, false) => State::Open,
        };
        (state, now)
    }
}
