//! From a piece of an input to the calls and answers that its lines hold. Pieces are read in any order and on any thread:
//! line numbers are relative to the piece. Opens no files and pairs nothing.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::bad_line::BadLine;
use crate::call::{AttemptCounts, CallBuilder};
use crate::call_hashes;
use crate::call_hashes::CallHashes;
use crate::pieces::{InputPiece, MAX_LINE};
use crate::redact::RedactionRules;
use crate::simd;
use crate::wire;
use crate::wire::{AnswerLine, CallLine, DispatchLine, DispatchWhat, LineParser, Listener, UnknownName};
use playproof_engine::call::{
    CallTexts, Place, RecordedAnswer, RecordedCall, RecordedStep, RecordedTransaction, Recorder,
};
use playproof_engine::event::Act;
use playproof_engine::time::Instant;

/// What the lines of one piece hold, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// Lines of the piece, blank ones too.
    pub lines: u64,
    /// Lines with nothing but white space.
    pub blank: u64,
    /// Lines of types that this version does not know.
    pub other: u64,
    /// Unknown fields.
    pub unknown_fields: u64,
    /// The first unknown names.
    pub first_unknown: FirstUnknown,
    /// Calls, answers and ends of runs; their lines are counted from 1 at the start of the piece.
    pub entries: Vec<DigestEntry>,
    /// The lines that cannot be used.
    pub bad: Vec<BadLine>,
}

/// The first unknown names of an input, each with its line, from 1 (in a digest: from the start of the piece).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FirstUnknown {
    /// A line's type.
    pub kind: Option<(u64, UnknownName)>,
    /// A field.
    pub field: Option<(u64, UnknownName)>,
}

/// What one line holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DigestEntry {
    /// A call, not numbered yet, with its answer where the line has one.
    Call(Box<CallBuilder>),
    /// An answer to an earlier call.
    Answer(AnswerEntry),
    /// The end of the run with this hash.
    RunEnd(u128),
    /// What a program does with a transaction of the run with this hash, with its label and its line.
    Act(u128, Box<str>, Act, u64),
    /// The death of the dispatcher of the run with this hash, or of all runs, with its place.
    Crash(Option<u128>, Option<Instant>, Place),
    /// What a dispatcher did with an earlier call.
    Dispatch(DispatchEntry),
    /// What makes the decisions of the lines after it.
    Recording(Arc<Recorder>),
}

/// What a dispatcher did with a call that is not found yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchEntry {
    /// The hash of its run.
    pub run: u128,
    /// The hash of its call id.
    pub id: u128,
    /// When.
    pub at: Instant,
    /// What it did.
    pub what: DispatchWhat,
    /// Its line, from 1 at the start of the piece.
    pub line: u64,
    /// The line, as it is recorded.
    pub text: Box<str>,
    /// Whether nothing of the line may be shown.
    pub is_hidden: bool,
    /// The bytes of the line with its `call_id`.
    pub id_span: Range<usize>,
    /// Those with its time.
    pub at_span: Range<usize>,
}

/// An answer that is not paired with its call yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerEntry {
    /// The hash of its run.
    pub run: u128,
    /// The hash of its call id; 0: it has none.
    pub id: u128,
    /// The hash of its tool; 0: it names none.
    pub tool: u128,
    /// The answer.
    pub answer: RecordedAnswer,
}

/// Boxes of finished calls, to be filled again.
pub type CallPool = Vec<Box<CallBuilder>>;

/// Calls with longer texts, in bytes, do not enter the pool.
const MAX_POOLED_TEXT: usize = 16 << 10;

/// Bytes of a short line: entries are reserved as if all lines were short.
const SHORT_LINE: usize = 128;

/// Puts finished calls into the pool, unless they are large or the pool holds `limit` calls.
pub fn recycle(finished: impl IntoIterator<Item = Box<CallBuilder>>, pool: &mut CallPool, limit: usize) {
    let free = limit.saturating_sub(pool.len());
    for mut built in finished.into_iter().filter(|built| built.call.allocated() <= MAX_POOLED_TEXT).take(free) {
        built.call.answers.clear(); // now, while they are in the cache
        pool.push(built);
    }
}

/// Reads the lines of `piece`. Calls stay as recorded; `redaction` applies to reports of bad lines and to unknown names.
pub fn read_piece(piece: &InputPiece, redaction: &RedactionRules) -> Digest {
    read_piece_into(piece, redaction, &mut CallPool::new())
}

/// [`read_piece`] that fills calls of `pool` before it allocates new ones.
pub fn read_piece_into(piece: &InputPiece, redaction: &RedactionRules, pool: &mut CallPool) -> Digest {
    match piece {
        InputPiece::Lines(bytes) => {
            let mut digest = Digest::default();
            digest.entries.reserve(bytes.len() / SHORT_LINE);
            let mut context = ReadContext { redaction, pool };
            match std::str::from_utf8(bytes) {
                Ok(text) => digest.take_lines(text, &mut context),
                Err(_) => {
                    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                        digest.take_line(line, &mut context);
                    }
                }
            }
            digest
        }
        InputPiece::TooLong { start } => {
            let mut digest = Digest::default();
            digest.bad(BadLine::too_long(1, start, MAX_LINE), redaction);
            digest
        }
    }
}

/// What reading the lines of one piece needs.
struct ReadContext<'d> {
    redaction: &'d RedactionRules,
    pool: &'d mut CallPool,
}

impl Digest {
    /// Reads one line that may not be UTF-8.
    fn take_line(&mut self, bytes: &[u8], context: &mut ReadContext<'_>) {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.take_lines(text, context),
            Err(error) => {
                let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
                self.bad(BadLine::not_utf8(self.lines + 1, bytes, error), context.redaction);
            }
        }
    }

    /// Reads lines.
    fn take_lines(&mut self, text: &str, context: &mut ReadContext<'_>) {
        let mut lines = LineParser::new(text);
        while !lines.is_over() {
            self.lines += 1;
            if lines.pass_blank() {
                self.blank += 1;
                continue;
            }
            let (line, others) = (self.lines, self.other);
            let mut listener = DigestListener { place: Place { input: 0, line }, digest: self, context };
            match lines.parse(&mut listener) {
                (_, Ok(0)) if self.other == others => {}
                (text, Ok(unknown_fields)) => {
                    self.note_unknown((line, text), unknown_fields, self.other > others, context.redaction);
                }
                (text, Err(error)) => self.note_bad(BadLine::new(line, text, *error), context.redaction),
            }
        }
    }

    #[cold]
    fn note_unknown(
        &mut self,
        (line, text): (u64, &str),
        unknown_fields: u32,
        is_other: bool,
        redaction: &RedactionRules,
    ) {
        self.unknown_fields += u64::from(unknown_fields);
        if unknown_fields > 0 && self.first_unknown.field.is_none() {
            self.first_unknown.field = wire::unknown_field(text).map(|name| (line, redaction.unknown_name("", name)));
        }
        if is_other && self.first_unknown.kind.is_none() {
            self.first_unknown.kind = wire::unknown_type(text).map(|name| (line, redaction.unknown_name("type", name)));
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

/// Adds the content of one line to the digest of its piece.
struct DigestListener<'d, 'h> {
    place: Place,
    digest: &'d mut Digest,
    context: &'d mut ReadContext<'h>,
}

impl<'a> Listener<'a> for DigestListener<'_, '_> {
    #[inline(always)]
    fn call(&mut self, call: CallLine<'a>, answer: Option<RecordedAnswer>) {
        let entry = call_entry(&call, self.place, answer, self.context);
        self.digest.entries.push(entry);
    }

    #[inline(always)]
    fn answer(&mut self, line: AnswerLine<'a>) {
        let AnswerLine { run, id, tool, mut answer } = line;
        answer.place = self.place;
        let run = call_hashes::run_hash(run.as_deref());
        let id = id.map_or(0, |id| call_hashes::id_hash(run, &id));
        let tool = tool.map_or(0, |tool| call_hashes::tool_hash(&tool));
        self.digest.entries.push(DigestEntry::Answer(AnswerEntry { run, id, tool, answer }));
    }

    fn run_end(&mut self, run: Option<Cow<'a, str>>) {
        self.digest.entries.push(DigestEntry::RunEnd(call_hashes::run_hash(run.as_deref())));
    }

    fn act(&mut self, run: Option<Cow<'a, str>>, label: Option<Cow<'a, str>>, act: Act) {
        let (run, label) = (call_hashes::run_hash(run.as_deref()), label.unwrap_or_default());
        self.digest.entries.push(DigestEntry::Act(run, (&*label).into(), act, self.place.line));
    }

    fn crash(&mut self, run: Option<Cow<'a, str>>, at: Option<Instant>) {
        let run = run.map(|run| call_hashes::run_hash(Some(&run)));
        self.digest.entries.push(DigestEntry::Crash(run, at, self.place));
    }

    fn dispatch(&mut self, line: DispatchLine<'a>) {
        let run = call_hashes::run_hash(line.run.as_deref());
        let id = call_hashes::id_hash(run, &line.id);
        let DispatchLine { at, what, text, id_span, at_span, .. } = line;
        let is_hidden = !self.context.redaction.is_empty();
        let (line, text) = (self.place.line, text.into());
        let entry = DispatchEntry { run, id, at, what, line, text, is_hidden, id_span, at_span };
        self.digest.entries.push(DigestEntry::Dispatch(entry));
    }

    fn recording(&mut self, recorder: Recorder) {
        self.digest.entries.push(DigestEntry::Recording(Arc::new(recorder)));
    }

    fn other(&mut self) {
        self.digest.other += 1;
    }
}

fn call_entry(
    line: &CallLine<'_>,
    place: Place,
    answer: Option<RecordedAnswer>,
    context: &mut ReadContext<'_>,
) -> DigestEntry {
    let texts = CallTexts {
        run: line.run.as_deref(),
        id: line.id.as_deref(),
        tool: &line.tool,
        args: line.args,
        key: line.key.as_deref(),
        evidence: line.evidence,
        token: line.token.as_deref(),
        dispatcher: line.dispatcher.as_deref(),
    };
    let hashes = CallHashes::new(texts.run, texts.id, texts.tool, texts.key, line.args_hash);
    let hashes = hashes.of_dispatcher(texts.dispatcher);
    let mut built = match context.pool.pop() {
        Some(mut reused) => {
            reused.call.reset(texts, place);
            reused.hashes = hashes;
            reused.counts = AttemptCounts::default();
            reused.key_number = None;
            reused.is_named = false;
            if let Some(next) = context.pool.last_mut() {
                simd::prefetch_texts(next.call.text()); // the next call will be written there
                if let Some(first) = next.call.answers.spare_capacity_mut().first() {
                    simd::prefetch(first);
                }
            }
            reused
        }
        None => {
            let call = RecordedCall::new(texts, place);
            let mut fresh = Box::new(CallBuilder::new(call, hashes));
            fresh.call.answers.reserve_exact(1); // most calls have one answer
            fresh
        }
    };
    built.call.at = line.at;
    built.call.timeout = line.timeout;
    built.call.answer_within = line.answer_within;
    if let Some((call, step)) = &line.step {
        built.call.parent = Some(Box::new(RecordedStep { call: (&**call).into(), step: (&**step).into() }));
    }
    if let Some(label) = &line.transaction {
        let of = RecordedTransaction { label: (&**label).into(), ..RecordedTransaction::default() };
        built.call.transaction = Some(Box::new(of));
    }
    if let Some(mut answer) = answer {
        answer.place = place;
        built.call.answers.push(answer);
    }
    DigestEntry::Call(built)
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::call::Reply;

    fn read(text: &[u8]) -> Digest {
        read_piece(&InputPiece::Lines(text.to_vec()), &RedactionRules::default())
    }

    #[test]
    fn lines_are_counted_and_placed_whatever_their_line_breaks() {
        let read =
            read(b"\r\n{\"tool\":\"a\"}\r\n  \n{\"type\":\"break\"}\n{\"call_id\":\"c\",\"status\":\"ok\",\"x\":1}");
        assert_eq!((read.lines, read.blank, read.other, read.unknown_fields, read.bad.len()), (5, 2, 1, 1, 0));
        let [DigestEntry::Call(call), DigestEntry::Answer(answer)] = &read.entries[..] else { panic!("{read:?}") };
        assert_eq!((call.call.place.line, answer.answer.place.line), (2, 5));
        let FirstUnknown { kind, field } = read.first_unknown;
        let name = |first: Option<(u64, UnknownName)>| first.map(|(line, name)| (line, name.to_string()));
        assert_eq!((name(kind), name(field)), (Some((4, "break".to_owned())), Some((5, "x".to_owned()))));
        assert_eq!(answer.id, call_hashes::id_hash(call_hashes::run_hash(None), "c"));
    }

    #[test]
    fn a_line_that_is_not_utf8_does_not_spoil_its_neighbours() {
        let read = read(b"{\"tool\":\"a\"}\n{\"tool\":\"\xff\"}\n{\"tool\":\"b\"}\n");
        assert_eq!((read.lines, read.entries.len(), read.bad.len()), (3, 2, 1));
        assert_eq!((read.bad[0].line, read.bad[0].error.id), (2, "not_utf8"));
    }

    #[test]
    fn calls_are_read_as_recorded_and_unknown_names_and_bad_lines_are_redacted() {
        let rules = RedactionRules::new(&["ssn"], &["secret"]).unwrap();
        let call = r#"{"tool":"a","args":{"ssn":1},"status":"error","error":{"message":"a secret"},"secret":1}"#;
        let lines = format!("{call}\n{{\"type\":\"secret\"}}\n{{\"tool\":\"secret\",\"at_ms\":-1}}");
        let read = read_piece(&InputPiece::Lines(lines.into()), &rules);
        let [DigestEntry::Call(one)] = &read.entries[..] else { panic!("{read:?}") };
        assert_eq!(one.call.args(), Some(r#"{"ssn":1}"#));
        let Reply::Failed(Some(error)) = &one.call.answers[0].reply else { panic!() };
        assert_eq!(error.message.as_deref(), Some("a secret"));
        assert!(!format!("{:?} {:?}", read.first_unknown, read.bad).contains("secret"), "{read:?}");
    }

    #[test]
    fn lines_with_the_same_error_share_it_and_each_counts_its_unknown_fields() {
        let line = r#"{"tool":"a","status":"error","error":{"kind":"5xx","x":1}}"#;
        let read = read(format!("{line}\n{line}").as_bytes());
        let [DigestEntry::Call(one), DigestEntry::Call(two)] = &read.entries[..] else { panic!("{read:?}") };
        let (Reply::Failed(Some(one)), Reply::Failed(Some(two))) =
            (&one.call.answers[0].reply, &two.call.answers[0].reply)
        else {
            panic!()
        };
        assert!(Arc::ptr_eq(one, two));
        assert_eq!(read.unknown_fields, 2);
    }
}
