//! The model of a kept call: what its file says, its slice, and whether a playbook handles it right.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::ending::verdict_now;
use playproof_engine::call::RecordedCall;
use playproof_engine::playbook::{Playbook, ToolFacts, ToolRow, Tools};
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::{Diagnostic, Report, Source, did_you_mean};
use playproof_intake::call::CompletedCall;

/// What a file says of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// What was wrong, in words.
    pub note: String,
    /// The playbook: a name, or a path below the project's root.
    pub playbook: String,
    /// The call, by its reference in the slice.
    pub call: String,
    /// The attempt whose failure is meant, from 1.
    pub attempt: u32,
    /// The verdict that it should have.
    pub expect: String,
    /// The verdict that it had when it was kept.
    pub was: String,
    /// Facts of the call's tool that override those of project and playbook.
    pub facts: Option<ToolFacts>,
    /// Where the call was.
    pub came_from: CameFrom,
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

/// Where parts of the file stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptPlaces {
    /// The playbook's name.
    pub playbook: Range<usize>,
    /// The call's reference.
    pub call: Range<usize>,
}

/// One kept call on disk: the file and its slice.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its id: the name of its two files.
    pub id: String,
    /// What the file says.
    pub file: KeptFile,
    /// Where its parts stand.
    pub places: KeptPlaces,
    /// The file's text.
    pub source: Arc<Source>,
    /// The calls of the slice as shown, in the order of their lines.
    pub calls: Vec<RecordedCall>,
    /// The same as recorded: for simulations.
    pub recorded: Vec<RecordedCall>,
    /// The index of its call.
    pub about: usize,
}

/// One kept call under the current playbook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedKept {
    /// Its id.
    pub id: String,
    /// The verdict that it should have.
    pub expect: String,
    /// The verdict that it has now, and the rule that gives it; none if the attempt did not fail.
    pub now: Option<(String, String)>,
}

impl JudgedKept {
    /// Whether the playbook handles the call right.
    pub fn is_right(&self) -> bool {
        self.now.as_ref().is_some_and(|(verdict, _)| *verdict == self.expect)
    }
}

impl KeptFile {
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
}

impl Kept {
    /// A kept call as read from the file `source`, with the calls of the slice that people call `slice`.
    ///
    /// # Errors
    /// The slice does not have the call that the file names.
    pub fn new(
        id: &str,
        (file, places): (KeptFile, KeptPlaces),
        source: Arc<Source>,
        slice: &str,
        mut closed: Vec<CompletedCall>,
    ) -> Result<Kept, Report> {
        closed.sort_by_key(|closed| closed.raw().number);
        let calls: Vec<RecordedCall> = closed.iter().map(|closed| closed.shown().clone()).collect();
        let recorded: Vec<RecordedCall> = closed.iter().map(|closed| closed.raw().clone()).collect();
        let Some(about) = recorded.iter().position(|call| call.reference() == file.call) else {
            let said = format!("the slice `{slice}` has no call `{}`", file.call);
            let known: Vec<String> = calls.iter().map(RecordedCall::reference).collect();
            let help = match did_you_mean(&file.call, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", if known.is_empty() { "no calls".to_owned() } else { known.join(", ") }),
            };
            let said = Diagnostic::error("dangling_name", said).at(places.call.clone(), "not in the slice").help(help);
            return Err(Report::one(source, said));
        };
        Ok(Kept { id: id.to_owned(), file, places, source, calls, recorded, about })
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
        let row = self.file.facts.zip(self.recorded()).and_then(|(facts, call)| ToolRow::new(call.tool(), facts).ok());
        Tools::new(row.into_iter().collect()).over(weaker)
    }

    /// A playbook ready to run on this call.
    pub fn plan(&self, playbook: &Playbook, weaker: &Tools) -> Plan {
        Plan::new(playbook.clone(), &self.tools(weaker))
    }

    /// What `plan` makes of it.
    pub fn judged(&self, plan: &Plan) -> JudgedKept {
        let now = self.recorded().and_then(|call| verdict_now(plan, call, self.file.attempt));
        JudgedKept { id: self.id.clone(), expect: self.file.expect.clone(), now }
    }
}
