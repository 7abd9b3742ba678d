//! The model of feedback: its contents, its changes, and its state under the current playbook.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::ending::Ending;
use playproof_engine::call::RecordedCall;
use playproof_engine::playbook::{Playbook, ToolFacts, ToolRow, Tools};
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::{Diagnostic, Report, Source, did_you_mean};
use playproof_trace::call::CompletedCall;

/// A note on a call, and how the call ended at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// What was wrong, in words.
    pub note: String,
    /// The playbook: a name, or a path below the project's root.
    pub playbook: String,
    /// The call, by its reference in the slice.
    pub call: String,
    /// The expected verdict of its failure; none if not given, or if nothing failed.
    pub expected: Option<String>,
    /// Facts of the call's tool that override those of project and playbook.
    pub facts: Option<ToolFacts>,
    /// The reason for closing it; none while it is open.
    pub closed: Option<String>,
    /// Where the call was.
    pub came_from: CameFrom,
    /// How the call ended then.
    pub before: Ending,
}

/// The place of the call when it was kept; informative, never read.
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
pub struct FeedbackPlaces {
    /// The playbook's name.
    pub playbook: Range<usize>,
    /// The call's reference.
    pub call: Range<usize>,
    /// The expected verdict.
    pub expected: Option<Range<usize>>,
}

/// One feedback on disk: the file and its slice.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its id: the name of its two files.
    pub id: String,
    /// What the file says.
    pub feedback: Feedback,
    /// Where its parts stand.
    pub places: FeedbackPlaces,
    /// The file's text.
    pub source: Arc<Source>,
    /// The calls of the slice as shown, in the order of their lines.
    pub calls: Vec<RecordedCall>,
    /// The same as recorded: for simulations.
    pub recorded: Vec<RecordedCall>,
    /// The index of its call.
    pub about: usize,
}

/// The state of a feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FeedbackState {
    /// Its failure does not have the expected verdict, or none is given.
    Open,
    /// Its failure now has the expected verdict.
    Answered,
    /// It was closed with a reason.
    Closed,
}

impl FeedbackState {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            FeedbackState::Open => "open",
            FeedbackState::Answered => "answered",
            FeedbackState::Closed => "closed",
        }
    }
}

impl Feedback {
    /// A stable id: tool and error kind in words, and a short hash of slice and playbook.
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

    /// Whether the playbook does not have the expected verdict.
    pub fn expects_new(&self, playbook: &Playbook) -> bool {
        self.expected.as_deref().is_some_and(|expected| !playbook.verdicts.iter().any(|known| &*known.name == expected))
    }

    /// The same with another expected verdict and note, where they are given.
    ///
    /// # Errors
    /// An expected verdict where nothing failed.
    pub fn edit(&self, expected: Option<&str>, note: Option<&str>) -> Result<Feedback, EditRefused> {
        if expected.is_some() && self.before.failed.is_none() {
            return Err(EditRefused::NothingFailed);
        }
        let mut edited = self.clone();
        edited.expected = expected.map(str::to_owned).or(edited.expected);
        edited.note = note.map_or(edited.note, str::to_owned);
        Ok(edited)
    }

    /// The same, closed for this reason.
    ///
    /// # Errors
    /// It is closed.
    pub fn close(&self, reason: &str) -> Result<Feedback, EditRefused> {
        match &self.closed {
            Some(before) => Err(EditRefused::ClosedAlready(before.clone())),
            None => Ok(Feedback { closed: Some(reason.to_owned()), ..self.clone() }),
        }
    }

    /// The same, open again.
    ///
    /// # Errors
    /// It is not closed.
    pub fn reopen(&self) -> Result<Feedback, EditRefused> {
        self.closed.as_ref().ok_or(EditRefused::NotClosed)?;
        Ok(Feedback { closed: None, ..self.clone() })
    }
}

/// Why a feedback is not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditRefused {
    /// No attempt of the call failed: it has no verdict.
    NothingFailed,
    /// It is closed, for this reason.
    ClosedAlready(String),
    /// It is not closed.
    NotClosed,
}

/// One feedback under the current playbook.
#[derive(Clone, Debug)]
pub struct JudgedFeedback {
    /// The feedback.
    pub kept: Kept,
    /// Its state.
    pub state: FeedbackState,
    /// The current verdict of its failure and its rule; none if nothing failed.
    pub now: Option<(String, String)>,
}

/// The first open feedback, by what it needs.
#[derive(Clone, Copy, Debug)]
pub enum OpenFeedback<'a> {
    /// An expected verdict.
    Expectation(&'a Kept),
    /// A change of the playbook.
    Change(&'a Kept),
}

impl JudgedFeedback {
    /// What `plan` makes of it.
    pub fn of(kept: Kept, plan: &Plan) -> JudgedFeedback {
        let (state, now) = kept.state(plan);
        JudgedFeedback { kept, state, now }
    }

    /// The call's tool.
    pub fn tool(&self) -> &str {
        self.kept.call().map_or("", |call| call.tool())
    }

    /// The verdict of its failure now.
    pub fn verdict(&self) -> Option<&str> {
        self.now.as_ref().map(|(verdict, _)| verdict.as_str())
    }

    /// The rule that gives it.
    pub fn rule(&self) -> Option<&str> {
        self.now.as_ref().map(|(_, rule)| rule.as_str())
    }
}

/// The first open feedback; one that lacks an expected verdict is preferred.
pub fn waiting(all: &[JudgedFeedback]) -> Option<OpenFeedback<'_>> {
    let open = || all.iter().filter(|judged| judged.state == FeedbackState::Open).map(|judged| &judged.kept);
    let is_unsaid = |kept: &&Kept| kept.feedback.expected.is_none() && kept.feedback.before.failed.is_some();
    open().find(is_unsaid).map(OpenFeedback::Expectation).or_else(|| open().next().map(OpenFeedback::Change))
}

impl Kept {
    /// A feedback as read from the file `source`, with the calls of the slice that people call `slice`.
    ///
    /// # Errors
    /// The slice does not have the call that the file names.
    pub fn new(
        id: &str,
        (feedback, places): (Feedback, FeedbackPlaces),
        source: Arc<Source>,
        slice: &str,
        mut closed: Vec<CompletedCall>,
    ) -> Result<Kept, Report> {
        closed.sort_by_key(|closed| closed.raw().number);
        let calls: Vec<RecordedCall> = closed.iter().map(|closed| closed.shown().clone()).collect();
        let recorded: Vec<RecordedCall> = closed.iter().map(|closed| closed.raw().clone()).collect();
        let Some(about) = recorded.iter().position(|call| call.reference() == feedback.call) else {
            let said = format!("the slice `{slice}` has no call `{}`", feedback.call);
            let known: Vec<String> = calls.iter().map(RecordedCall::reference).collect();
            let help = match did_you_mean(&feedback.call, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", if known.is_empty() { "no calls".to_owned() } else { known.join(", ") }),
            };
            let said = Diagnostic::error("dangling_name", said).at(places.call.clone(), "not in the slice").help(help);
            return Err(Report::one(source, said));
        };
        Ok(Kept { id: id.to_owned(), feedback, places, source, calls, recorded, about })
    }

    /// Its call as shown.
    pub fn call(&self) -> Option<&RecordedCall> {
        self.calls.get(self.about)
    }

    /// Its call as recorded.
    pub fn recorded(&self) -> Option<&RecordedCall> {
        self.recorded.get(self.about)
    }

    /// The tool facts of this call: the kept ones, then `weaker`.
    pub fn tools(&self, weaker: &Tools) -> Tools {
        let row =
            self.feedback.facts.zip(self.recorded()).and_then(|(facts, call)| ToolRow::new(call.tool(), facts).ok());
        Tools::new(row.into_iter().collect()).over(weaker)
    }

    /// A playbook ready to run on this call.
    pub fn plan(&self, playbook: &Playbook, weaker: &Tools) -> Plan {
        Plan::new(playbook.clone(), &self.tools(weaker))
    }

    /// The current state, and the current verdict with its rule.
    pub fn state(&self, plan: &Plan) -> (FeedbackState, Option<(String, String)>) {
        let now = self
            .recorded()
            .zip(self.feedback.before.failed.as_ref())
            .and_then(|(call, failed)| super::ending::verdict_now(plan, call, failed.attempt));
        let verdict = now.as_ref().map(|(verdict, _)| verdict);
        let is_answered = self.feedback.expected.is_some() && self.feedback.expected.as_ref() == verdict;
        let state = match (&self.feedback.closed, is_answered) {
            (Some(_), _) => FeedbackState::Closed,
            (None, true) => FeedbackState::Answered,
            (None, false) => FeedbackState::Open,
        };
        (state, now)
    }
}
