//! Whether a text stands in JSON as it is: it has nothing to escape. Examines many bytes at once.

/// Bytes that are examined at once.
const BLOCK: usize = 16;

/// Whether all bytes are printable ASCII that JSON takes as they are.
#[inline]
pub fn is_plain(bytes: &[u8]) -> bool {
    if let Some(last) = bytes.last_chunk() {
        let (blocks, _) = bytes.as_chunks();
        return !blocks.iter().fold(is_odd(last), |odd, block| odd | is_odd(block)); // the last may overlap
    }
    let mut block = [b' '; BLOCK];
    if !put_ends::<8>(&mut block, bytes) && !put_ends::<4>(&mut block, bytes) {
        block.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from); // three at most
    }
    !is_odd(&block)
}

/// Puts the first and the last `N` bytes, which may overlap, into a block; false if there are fewer.
#[inline]
fn put_ends<const N: usize>(block: &mut [u8; BLOCK], bytes: &[u8]) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) else { return false };
    let (halves, _) = block.as_chunks_mut();
    halves[0] = *first;
    halves[1] = *last; // a block has room for both
    true
}

/// Whether a byte of the block is a control character, a quote, a backslash, or beyond `~`. All bytes are compared at once, in one
/// number: a byte that is found has its highest bit. A carry only leaves a byte that is found.
#[inline]
fn is_odd(block: &[u8; BLOCK]) -> bool {
    const EACH: u128 = u128::MAX / 255;
    let bytes = u128::from_ne_bytes(*block);
    let below = |bytes: u128, byte: u8| bytes.wrapping_sub(EACH * u128::from(byte)) & !bytes;
    let is = |byte: u8| below(bytes ^ (EACH * u128::from(byte)), 1);
    let beyond_tilde = bytes | bytes.wrapping_add(EACH);
    (beyond_tilde | below(bytes, b' ') | is(b'"') | is(b'\\')) & (EACH << 7) != 0
}

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
                }
            }
        }
    }
}
