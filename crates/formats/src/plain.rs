//! Whether a text stands in JSON as it is: it has nothing to escape. Examines many bytes at once.

/// Whether all bytes are printable ASCII that JSON takes as they are.
#[inline]
pub fn is_plain(bytes: &[u8]) -> bool {
    none(bytes, |block| unprintable(block) | is(block, b'"') | is(block, b'\\'))
}

/// Whether all bytes are printable ASCII.
#[inline]
pub fn is_printable(bytes: &[u8]) -> bool {
    none(bytes, unprintable)
}

/// Whether `odd` marks none of the bytes.
#[inline]
fn none(bytes: &[u8], odd: impl Fn([u8; 8]) -> u64) -> bool {
    if let Some(last) = bytes.last_chunk() {
        let (blocks, _) = bytes.as_chunks();
        return is_none(blocks.iter().fold(odd(*last), |marks, block| marks | odd(*block))); // the last may overlap
    }
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(&[a, b, c, d]), Some(&[e, f, g, h])) => is_none(odd([a, b, c, d, e, f, g, h])), // they may overlap
        _ => bytes.iter().all(|&byte| is_none(odd([byte; 8]))),                               // three at most
    }
}

/// A number in which the highest bit of a byte is set where that byte of the block is a control character or beyond `~`. All
/// bytes are compared at once; a carry only leaves a byte that is marked.
#[inline]
const fn unprintable(block: [u8; 8]) -> u64 {
    let bytes = u64::from_ne_bytes(block);
    bytes | bytes.wrapping_add(EACH) | below(bytes, b' ')
}

/// The same for the bytes that are `byte`.
#[inline]
const fn is(block: [u8; 8], byte: u8) -> u64 {
    below(u64::from_ne_bytes(block) ^ (EACH * byte as u64), 1)
}

/// The same for the bytes below `byte`.
#[inline]
const fn below(bytes: u64, byte: u8) -> u64 {
    bytes.wrapping_sub(EACH * byte as u64) & !bytes
}

/// Whether no byte is marked.
#[inline]
const fn is_none(marks: u64) -> bool {
    marks & (EACH << 7) == 0
}

/// A number whose bytes are all 1.
const EACH: u64 = u64::MAX / 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_plain_exactly_if_each_of_its_bytes_is() {
        for length in 0..50 {
            for at in 0..length {
                for byte in 0..=255 {
                    let mut text = vec![b'a'; length];
                    text[at] = byte;
                    let plain = (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\';
                    assert_eq!(is_plain(&text), plain, "{byte} at {at} of {length}");
                    assert_eq!(is_printable(&text), (b' '..=b'~').contains(&byte), "{byte} at {at} of {length}");
                }
            }
        }
    }
}
