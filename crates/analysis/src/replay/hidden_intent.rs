//! Writes that may have one intent, although the recording hides it: their run id occurs in two inputs, one of them names
//! no run, or one of them leaves empty arguments out. Decides what may belong together; what follows is decided elsewhere.

use playproof_engine::event::IntentDoubt;
use playproof_trace::call::CompletedCall;
use playproof_trace::call_hashes::CallHashes;
use playproof_trace::hash::half;
use playproof_trace::window::Window;
use playproof_trace::{canonical, hash};

/// The last writes that are compared.
const WINDOW: u64 = 65_536;

/// The most runs and inputs of one request that are told apart, from the newest.
const MAX_ROWS: usize = 256;

/// Where a request was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentIn {
    input: u32,
    /// A mark of its run; none: it names none.
    run: Option<u64>,
    args: u64,
    /// A mark of tool and arguments; arguments that are missing or `{}` are equal.
    request: u64,
}

impl SentIn {
    /// Where a call was sent.
    pub fn of(closed: &CompletedCall) -> SentIn {
        let CallHashes { run, tool, args, .. } = closed.hashes;
        let is_empty = args == canonical::hash_of("{}");
        SentIn {
            input: closed.raw().place.input,
            run: closed.raw().run().map(|_| half(run)),
            args: half(args),
            request: half(hash::joined([tool, if is_empty { 0 } else { args }])),
        }
    }

    /// Why it is unknown whether a call that was sent in `other` has the same intent; none: it is known.
    pub fn doubt(&self, other: &SentIn) -> Option<IntentDoubt> {
        if self.request != other.request {
            return None;
        }
        match (self.input == other.input, self.run, other.run) {
            (false, Some(run), Some(other)) => (run == other).then_some(IntentDoubt::TwoInputs),
            (true, Some(_), None) | (true, None, Some(_)) => Some(IntentDoubt::NoRun),
            (true, run, other_run) if run == other_run => (self.args != other.args).then_some(IntentDoubt::NoArguments),
            _ => None,
        }
    }
}

/// The last writes without a key that acted or may have.
#[derive(Debug)]
pub struct HiddenIntents(Window<Vec<Row>>);

/// The writes of one request in one place.
#[derive(Debug)]
struct Row {
    sent: SentIn,
    /// Effects, if each write that may have acted has.
    effects: u32,
}

impl Default for HiddenIntents {
    fn default() -> HiddenIntents {
        HiddenIntents(Window::new(0))
    }
}

impl HiddenIntents {
    /// Takes a write that made `effects` or may have; gives the effects of it and of those that may share its intent, and
    /// why that is unknown.
    pub fn take(&mut self, closed: &CompletedCall, effects: u32) -> Option<(u32, IntentDoubt)> {
        let (sent, own) = (SentIn::of(closed), effects.max(1));
        let mut rows = self.rows_of(sent.request.into());
        let (mut all, mut why) = (own, None);
        for (row, doubt) in rows.iter().filter_map(|row| Some((row, sent.doubt(&row.sent)?))) {
            all = all.saturating_add(row.effects);
            why = why.max(Some(doubt));
        }
        match rows.iter_mut().find(|row| row.sent == sent) {
            Some(row) => row.effects = row.effects.saturating_add(own),
            None => {
                if rows.len() >= MAX_ROWS {
                    rows.remove(0);
                }
                rows.push(Row { sent, effects: own });
            }
        }
        self.0.push(sent.request.into(), rows);
        why.map(|why| (all, why))
    }

    /// The rows of a request, taken from where they are; drops the oldest write of the window.
    fn rows_of(&mut self, request: u128) -> Vec<Row> {
        let is_full = self.0.next() - self.0.first() >= WINDOW;
        let oldest = is_full.then(|| self.0.pop_first(|_| true)).flatten();
        let known = self.0.find(request).and_then(|number| self.0.get_mut(number)).map(std::mem::take);
        known.unwrap_or_else(|| {
            let mut rows = oldest.map_or_else(|| Vec::with_capacity(1), |(_, rows)| rows); // its memory, not its rows
            rows.clear();
            rows
        })
    }
}
