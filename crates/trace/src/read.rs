//! From a piece of an input to what its lines say, ready to be paired. Pieces can be read in any order and on any
//! thread: line numbers are still relative to the piece. Opens no files, pairs nothing.

use std::borrow::Cow;

use crate::assemble::{Story, TracedCall};
use crate::marks;
use crate::marks::Marks;
use crate::pieces::{MAX_LINE, Piece};
use crate::processor;
use crate::redact::RedactionRules;
use crate::trouble::BadLine;
use crate::wire;
use crate::wire::{AnswerLine, CallLine, Line, Lines, Listener, Unfamiliar};
use playproof_engine::call::{CallTexts, Place, RecordedAnswer, RecordedCall};

/// What the lines of one piece say, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// Lines of the piece, blank ones too.
    pub lines: u64,
    /// Lines with nothing but white space.
    pub blank: u64,
    /// Lines of types that this version does not know.
    pub other: u64,
    /// Fields that nobody knows.
    pub unknown_fields: u64,
    /// What was first of those.
    pub firsts: Firsts,
    /// What the other lines say; their places count from the piece's first line, which is 1.
    pub entries: Vec<Entry>,
    /// The lines that cannot be used.
    pub bad: Vec<BadLine>,
}

/// The first things of an input that nobody knows, each with its line: from 1, in a digest in its piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Firsts {
    /// A type.
    pub kind: Option<(u64, Unfamiliar)>,
    /// A field.
    pub field: Option<(u64, Unfamiliar)>,
}

/// What one line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A call, not numbered yet, with its answer where the line has one.
    Call(Box<TracedCall>),
    /// An answer to an earlier call.
    Answer(AnswerEntry),
    /// The end of the run with this mark.
    RunEnd(u128),
}

/// An answer on its way to its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerEntry {
    /// The mark of its run.
    pub run: u128,
    /// The mark of its label; 0: it has none.
    pub id: u128,
    /// The mark of its tool; 0: it names none.
    pub tool: u128,
    /// What came.
    pub answer: RecordedAnswer,
}

/// Calls that are over and done with, whose allocations are used again.
pub type Spares = Vec<Box<TracedCall>>;

/// Texts longer than this are not kept for use again.
const MAX_SPARE_TEXT: usize = 16 << 10;

/// Bytes of a short line: room is made for so many entries.
const SHORT_LINE: usize = 128;

/// Puts calls that are done with among the spares, unless they are large or there are enough.
pub fn recycle(done: impl IntoIterator<Item = Box<TracedCall>>, spares: &mut Spares, enough: usize) {
    let room = enough.saturating_sub(spares.len());
    for mut traced in done.into_iter().filter(|traced| traced.call.allocated() <= MAX_SPARE_TEXT).take(room) {
        traced.call.answers.clear(); // now, while they are near
        spares.push(traced);
    }
}

/// Reads the lines of `piece`; calls are as recorded, and what is said of lines that cannot be used or that nobody knows
/// is without what `redaction` takes out.
pub fn digest(piece: &Piece, redaction: &RedactionRules) -> Digest {
    digest_into(piece, redaction, &mut Spares::new())
}

/// The same; fills `spares` again before it allocates.
pub fn digest_into(piece: &Piece, redaction: &RedactionRules, spares: &mut Spares) -> Digest {
    match piece {
        Piece::Lines(bytes) => {
            let mut digest = Digest::default();
            digest.entries.reserve(bytes.len() / SHORT_LINE);
            let mut at_hand = AtHand { redaction, spares };
            match std::str::from_utf8(bytes) {
                Ok(text) => digest.take_lines(text, &mut at_hand),
                Err(_) => {
                    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                        digest.take_line(line, &mut at_hand);
                    }
                }
            }
            digest
        }
        Piece::TooLong { start } => {
            let mut digest = Digest::default();
            digest.bad(BadLine::too_long(1, start, MAX_LINE), redaction);
            digest
        }
    }
}

/// Whether the first line of what begins with `start` is one of a trace.
pub fn looks_like_a_trace(start: &[u8]) -> bool {
    let first = start.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = std::str::from_utf8(first).ok().and_then(|first| wire::parse_line(first.trim_end()).ok());
    line.is_some_and(|parsed| !matches!(parsed.line, Line::Other))
}

/// What is at hand while the lines of one piece are read.
struct AtHand<'d> {
    redaction: &'d RedactionRules,
    spares: &'d mut Spares,
}

impl Digest {
    /// Takes one line in that may be no text.
    fn take_line(&mut self, bytes: &[u8], at_hand: &mut AtHand<'_>) {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.take_lines(text, at_hand),
            Err(error) => {
                let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
                self.bad(BadLine::no_text(self.lines + 1, bytes, error), at_hand.redaction);
            }
        }
    }

    /// Takes lines in.
    fn take_lines(&mut self, text: &str, at_hand: &mut AtHand<'_>) {
        let mut lines = Lines::new(text);
        while !lines.is_over() {
            self.lines += 1;
            if lines.pass_blank() {
                self.blank += 1;
                continue;
            }
            let (line, others) = (self.lines, self.other);
            let mut listener = OneLine { place: Place { input: 0, line }, digest: self, at_hand };
            match lines.parse(&mut listener) {
                (_, Ok(0)) if self.other == others => {}
                (text, Ok(unknown_fields)) => {
                    self.note_unfamiliar((line, text), unknown_fields, self.other > others, at_hand.redaction);
                }
                (text, Err(error)) => self.note_bad(BadLine::new(line, text, *error), at_hand.redaction),
            }
        }
    }

    #[cold]
    fn note_unfamiliar(
        &mut self,
        (line, text): (u64, &str),
        unknown_fields: u32,
        is_other: bool,
        redaction: &RedactionRules,
    ) {
        self.unknown_fields += u64::from(unknown_fields);
        if unknown_fields > 0 && self.firsts.field.is_none() {
            self.firsts.field = wire::unfamiliar_field(text).map(|name| (line, redaction.unfamiliar("", name)));
        }
        if is_other && self.firsts.kind.is_none() {
            self.firsts.kind = wire::unfamiliar_type(text).map(|name| (line, redaction.unfamiliar("type", name)));
        }
    }

    fn bad(&mut self, bad: BadLine, redaction: &RedactionRules) {
        self.lines += 1;
        self.note_bad(bad, redaction);
    }

    #[cold]
    fn note_bad(&mut self, bad: BadLine, redaction: &RedactionRules) {
        let mut bad = bad.redacted(redaction);
        bad.is_first = self.entries.is_empty();
        self.bad.push(bad);
    }
}

/// Adds what one line says to the digest of its piece.
struct OneLine<'d, 'h> {
    place: Place,
    digest: &'d mut Digest,
    at_hand: &'d mut AtHand<'h>,
}

impl<'a> Listener<'a> for OneLine<'_, '_> {
    #[inline(always)]
    fn call(&mut self, call: CallLine<'a>, answer: Option<RecordedAnswer>) {
        let entry = call_entry(&call, self.place, answer, self.at_hand);
        self.digest.entries.push(entry);
    }

    #[inline(always)]
    fn answer(&mut self, line: AnswerLine<'a>) {
        let AnswerLine { run, id, tool, mut answer } = line;
        answer.place = self.place;
        let run = marks::of_run(run.as_deref());
        let id = id.map_or(0, |id| marks::of_id(run, &id));
        let tool = tool.map_or(0, |tool| marks::of_tool(&tool));
        self.digest.entries.push(Entry::Answer(AnswerEntry { run, id, tool, answer }));
    }

    fn run_end(&mut self, run: Option<Cow<'a, str>>) {
        self.digest.entries.push(Entry::RunEnd(marks::of_run(run.as_deref())));
    }

    fn other(&mut self) {
        self.digest.other += 1;
    }
}

fn call_entry(line: &CallLine<'_>, place: Place, answer: Option<RecordedAnswer>, at_hand: &mut AtHand<'_>) -> Entry {
    let texts = CallTexts {
        run: line.run.as_deref(),
        id: line.id.as_deref(),
        tool: &line.tool,
        args: line.args,
        key: line.key.as_deref(),
        evidence: line.evidence,
        token: line.token.as_deref(),
    };
    let marks = Marks::new(texts.run, texts.id, texts.tool, texts.key, line.args_hash);
    let mut traced = match at_hand.spares.pop() {
        Some(mut spare) => {
            spare.call.reset(texts, place);
            spare.marks = marks;
            spare.story = Story::default();
            if let Some(next) = at_hand.spares.last_mut() {
                processor::fetch_texts(next.call.text()); // where the next call will stand
                if let Some(first) = next.call.answers.spare_capacity_mut().first() {
                    processor::fetch(first);
                }
            }
            spare
        }
        None => {
            let call = RecordedCall::new(texts, place);
            let mut fresh = Box::new(TracedCall { call, marks, story: Story::default() });
            fresh.call.answers.reserve_exact(1); // beside it, for most calls have one answer
            fresh
        }
    };
    traced.call.at = line.at;
    traced.call.timeout = line.timeout;
    if let Some(mut answer) = answer {
        answer.place = place;
        traced.call.answers.push(answer);
    }
    Entry::Call(traced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::call::Reply;

    fn read(text: &[u8]) -> Digest {
        digest(&Piece::Lines(text.to_vec()), &RedactionRules::default())
    }

    #[test]
    fn lines_are_counted_and_placed_whatever_their_breaks() {
        let read =
            read(b"\r\n{\"tool\":\"a\"}\r\n  \n{\"type\":\"crash\"}\n{\"call_id\":\"c\",\"status\":\"ok\",\"x\":1}");
        assert_eq!((read.lines, read.blank, read.other, read.unknown_fields, read.bad.len()), (5, 2, 1, 1, 0));
        let [Entry::Call(call), Entry::Answer(answer)] = &read.entries[..] else { panic!("{read:?}") };
        assert_eq!((call.call.place.line, answer.answer.place.line), (2, 5));
        let first = |line, name: &str| Some((line, Unfamiliar { within: "", name: name.to_owned(), near: None }));
        assert_eq!(read.firsts, Firsts { kind: first(4, "crash"), field: first(5, "x") });
        assert_eq!(answer.id, marks::of_id(marks::of_run(None), "c"));
    }

    #[test]
    fn a_line_that_is_no_text_does_not_spoil_its_neighbours() {
        let read = read(b"{\"tool\":\"a\"}\n{\"tool\":\"\xff\"}\n{\"tool\":\"b\"}\n");
        assert_eq!((read.lines, read.entries.len(), read.bad.len()), (3, 2, 1));
        assert_eq!((read.bad[0].line, read.bad[0].error.id), (2, "not_utf8"));
    }

    #[test]
    fn calls_are_read_as_recorded_and_what_is_odd_is_named_as_it_may_be_shown() {
        let rules = RedactionRules::new(&["ssn"], &["secret"]).unwrap();
        let call = r#"{"tool":"a","args":{"ssn":1},"status":"error","error":{"message":"a secret"},"secret":1}"#;
        let lines = format!("{call}\n{{\"type\":\"secret\"}}\n{{\"tool\":\"secret\",\"at_ms\":-1}}");
        let read = digest(&Piece::Lines(lines.into()), &rules);
        let [Entry::Call(one)] = &read.entries[..] else { panic!("{read:?}") };
        assert_eq!(one.call.args(), Some(r#"{"ssn":1}"#));
        let Reply::Failed(Some(error)) = &one.call.answers[0].reply else { panic!() };
        assert_eq!(error.message.as_deref(), Some("a secret"));
        assert!(!format!("{:?} {:?}", read.firsts, read.bad).contains("secret"), "{read:?}");
    }

    #[test]
    fn lines_that_say_the_same_error_share_it_and_each_count_what_nobody_knows() {
        let line = r#"{"tool":"a","status":"error","error":{"kind":"5xx","x":1}}"#;
        let read = read(format!("{line}\n{line}").as_bytes());
        let [Entry::Call(one), Entry::Call(two)] = &read.entries[..] else { panic!("{read:?}") };
        let (Reply::Failed(Some(one)), Reply::Failed(Some(two))) =
            (&one.call.answers[0].reply, &two.call.answers[0].reply)
        else {
            panic!()
        };
        assert!(std::sync::Arc::ptr_eq(one, two));
        assert_eq!(read.unknown_fields, 2);
    }
}
