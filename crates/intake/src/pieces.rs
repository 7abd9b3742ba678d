//! From bytes to pieces of whole lines: cuts at line breaks, and limits the length of a line. Parses no lines and opens no
//! files.

use std::io::{self, Read};

/// The longest line, in bytes.
pub const MAX_LINE: usize = 16 << 20;

/// The most bytes that are dropped of one line: a source that goes on longer has no lines.
const MAX_DROPPED: u64 = 1 << 30;

/// Bytes of a piece: few enough to stay in a core's cache while its lines are read.
const CHUNK: usize = 1 << 16;

/// A character that some programs write before a text, and that no screen shows.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// The byte order mark in UTF-8.
pub(crate) const BYTE_ORDER_MARK_BYTES: &[u8] = b"\xef\xbb\xbf";

/// The error id of a byte order mark inside a text.
pub(crate) const STRAY_MARK: &str = "byte_order_mark";

/// How to remove byte order marks inside a text.
pub(crate) const REMOVE_MARKS: &str = "it comes from joining files that begin with one; \
                                       `sed 's/^\\xef\\xbb\\xbf//' FILE` removes all of them";

/// Part of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputPiece {
    /// Whole lines; only the very last may lack its line break.
    Lines(Vec<u8>),
    /// One line that is longer than [`MAX_LINE`]; all but its beginning is dropped.
    TooLong {
        /// Its first bytes.
        start: Vec<u8>,
    },
}

/// Cuts a source into pieces of about 64 KiB. Where it cuts depends on the bytes alone, not on how they arrive.
#[derive(Debug)]
pub struct Chunks<R> {
    source: R,
    carry: Vec<u8>,
    /// A line that is too long was reported, and its end is still to come.
    dropping: bool,
    begun: bool,
    ended: bool,
}

impl<R: Read> Chunks<R> {
    /// The pieces of `source`, which is decompressed already.
    pub fn new(source: R) -> Chunks<R> {
        Chunks { source, carry: Vec::new(), dropping: false, begun: false, ended: false }
    }

    /// The next piece; none at the end. `buffer` is reused. It is not cleared first: that would cost as much as the copy.
    ///
    /// # Errors
    /// Errors of the source; a line of more than 1 GiB.
    pub fn next(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<InputPiece>> {
        if std::mem::take(&mut self.dropping) {
            self.drop_line()?;
        }
        let mut searched = self.carry.len();
        buffer.splice(..searched.min(buffer.len()), self.carry.drain(..));
        loop {
            self.fill(&mut buffer, searched)?;
            if let Some(piece) = self.too_long(&buffer) {
                return Ok(Some(piece));
            }
            if self.ended {
                return Ok((!buffer.is_empty()).then_some(InputPiece::Lines(buffer)));
            }
            let fresh = buffer.get(searched..).unwrap_or_default();
            if let Some(last) = memchr::memrchr(b'\n', fresh) {
                let end = searched + last + 1;
                self.carry.extend_from_slice(buffer.get(end..).unwrap_or_default());
                buffer.truncate(end);
                return Ok(Some(InputPiece::Lines(buffer)));
            }
            searched = buffer.len();
        }
    }

    /// Reads after the first `filled` bytes until a whole chunk was added or the source ends.
    fn fill(&mut self, buffer: &mut Vec<u8>, mut filled: usize) -> io::Result<()> {
        if self.ended {
            buffer.truncate(filled);
            return Ok(());
        }
        buffer.resize(filled + CHUNK - filled % CHUNK, 0);
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.source.read(rest) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        buffer.truncate(filled);
        if !self.begun && buffer.starts_with(BYTE_ORDER_MARK_BYTES) {
            buffer.drain(..BYTE_ORDER_MARK_BYTES.len());
        }
        self.begun = true;
        Ok(())
    }

    /// The first line, if it is over the limit; the rest is carried over.
    fn too_long(&mut self, buffer: &[u8]) -> Option<InputPiece> {
        let head = buffer.get(..=MAX_LINE)?;
        if memchr::memchr(b'\n', head).is_some() {
            return None;
        }
        let rest = buffer.get(head.len()..).unwrap_or_default();
        match memchr::memchr(b'\n', rest) {
            Some(end) => self.carry.extend_from_slice(rest.get(end + 1..).unwrap_or_default()),
            None => self.dropping = true,
        }
        Some(InputPiece::TooLong { start: head.get(..200).unwrap_or(head).to_vec() })
    }

    /// Drops bytes up to the end of a line; the rest is carried over.
    fn drop_line(&mut self) -> io::Result<()> {
        let (mut block, mut dropped) = (Vec::with_capacity(CHUNK), 0);
        while !self.ended {
            block.clear();
            self.ended = self.source.by_ref().take(CHUNK as u64).read_to_end(&mut block)? < CHUNK;
            if let Some(end) = memchr::memchr(b'\n', &block) {
                self.carry.extend_from_slice(block.get(end + 1..).unwrap_or_default());
                break;
            }
            dropped += block.len() as u64;
            if dropped > MAX_DROPPED {
                let message = format!("one of its lines goes on beyond {} MiB", MAX_DROPPED >> 20);
                return Err(io::Error::other(message));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(source: impl Read) -> Vec<InputPiece> {
        let mut chunks = Chunks::new(source);
        std::iter::from_fn(|| chunks.next(Vec::new()).unwrap()).collect()
    }

    fn joined(pieces: &[InputPiece]) -> Vec<u8> {
        let mut all = Vec::new();
        for piece in pieces {
            match piece {
                InputPiece::Lines(lines) => all.extend_from_slice(lines),
                InputPiece::TooLong { .. } => panic!("too long"),
            }
        }
        all
    }

    /// Returns a few bytes at a time, as a pipe does.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let few = buffer.len().min(1_009);
            self.0.read(&mut buffer[..few])
        }
    }

    #[test]
    fn pieces_end_at_line_breaks_and_do_not_depend_on_how_bytes_arrive() {
        let text: Vec<u8> = (0..400_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let cut = pieces(&text[..]);
        assert!(cut.len() > 3);
        assert!(cut.iter().all(|piece| matches!(piece, InputPiece::Lines(lines) if lines.ends_with(b"\n"))));
        assert_eq!(joined(&cut), text);
        assert_eq!(pieces(Trickle(&text)), cut);
    }

    #[test]
    fn no_byte_of_a_reused_buffer_stays_in_a_new_piece() {
        let text: Vec<u8> = (0..30_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let cut = pieces(&text[..]);
        for old in [1, 9, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let mut chunks = Chunks::new(&text[..]);
            let filled: Vec<InputPiece> = std::iter::from_fn(|| chunks.next(vec![b'\n'; old]).unwrap()).collect();
            assert_eq!(filled, cut);
        }
    }

    #[test]
    fn a_byte_order_mark_is_removed_and_the_last_line_break_may_be_missing() {
        assert_eq!(pieces(&b"\xef\xbb\xbfa\nb"[..]), [InputPiece::Lines(b"a\nb".to_vec())]);
        assert_eq!(pieces(&b""[..]), []);
    }

    #[test]
    fn a_line_beyond_the_limit_is_dropped_and_counted_and_what_follows_is_kept() {
        for length in [MAX_LINE + 1, MAX_LINE + 500_000, 60_000_000] {
            let mut text = b"before\n".to_vec();
            text.resize(text.len() + length, b'x');
            text.extend_from_slice(b"\nafter\n");
            let cut = pieces(&text[..]);
            let long = InputPiece::TooLong { start: vec![b'x'; 200] };
            assert_eq!(cut, [InputPiece::Lines(b"before\n".to_vec()), long, InputPiece::Lines(b"after\n".to_vec())]);
        }
        assert_eq!(pieces(&vec![b'x'; MAX_LINE][..]), [InputPiece::Lines(vec![b'x'; MAX_LINE])]);
        let endless = pieces(&vec![b'x'; MAX_LINE + 9][..]);
        assert_eq!(endless, [InputPiece::TooLong { start: vec![b'x'; 200] }]);
    }

    #[test]
    fn a_line_without_an_end_is_reported_at_the_limit_and_not_read_for_ever() {
        let mut chunks = Chunks::new(io::repeat(b'x'));
        assert_eq!(chunks.next(Vec::new()).unwrap(), Some(InputPiece::TooLong { start: vec![b'x'; 200] }));
        assert_eq!(chunks.next(Vec::new()).unwrap_err().to_string(), "one of its lines goes on beyond 1024 MiB");
    }
}
