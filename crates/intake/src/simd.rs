//! Processor instructions that the standard library offers no safe functions for: a scan of 64 bytes at once, and
//! prefetches. The only file with `unsafe`. Other processors get a plain loop and no prefetch; the results are the same.

/// Bytes that one scan covers.
pub const BLOCK: usize = 64;

/// A bit for each byte of the block that is a quote, a backslash or a control character; the first byte is the lowest bit.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the standard library has no safe vector instructions")]
#[inline]
pub fn special_bits(block: &[u8; BLOCK]) -> u64 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };
    let mut bits = 0;
    for (n, part) in block.as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: every x86_64 has SSE2; the load reads the 16 bytes of `part`, at any alignment.
        let part = unsafe {
            let bytes = _mm_loadu_si128(part.as_ptr().cast::<__m128i>());
            let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x22));
            let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x5c));
            let control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
            _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control)).cast_unsigned()
        };
        bits |= u64::from(part) << (16 * n);
    }
    bits
}

/// A bit for each byte of the block that is a quote, a backslash or a control character; the first byte is the lowest bit.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn special_bits(block: &[u8; BLOCK]) -> u64 {
    plain_bits(block)
}

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

/// Prefetches `value` into the cache.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the standard library has no safe prefetch")]
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let start = std::ptr::from_ref(value).cast::<i8>();
    let Some(last) = size_of_val(value).checked_sub(1) else { return };
    let mut offset = 0;
    loop {
        // SAFETY: every x86_64 has SSE; a prefetch reads nothing, and the address lies within `value`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) }
        if offset == last {
            return;
        }
        offset = (offset + CACHE_LINE).min(last); // the last byte may lie in one more cache line
    }
}

/// Bytes of a call's texts that one prefetch covers: most texts are shorter.
const PREFETCHED: usize = 512;

/// Prefetches the beginning of a call's texts.
#[inline]
pub fn prefetch_texts(texts: &str) {
    prefetch(&texts.as_bytes()[..texts.len().min(PREFETCHED)]);
}

/// Does nothing: this processor has no prefetch instruction that Rust offers.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn prefetch<T: ?Sized>(_: &T) {
    let _ = CACHE_LINE;
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain_bits(block: &[u8; BLOCK]) -> u64 {
    let special = |byte: u8| byte == b'"' || byte == b'\\' || byte < 0x20;
    block.iter().enumerate().map(|(n, &byte)| u64::from(special(byte)) << n).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_vector_scan_finds_what_a_plain_loop_finds(bytes: [u8; BLOCK], likely in "[a\"\\\\\u{1f} \u{7f}]{64}") {
            prop_assert_eq!(special_bits(&bytes), plain_bits(&bytes));
            if let Ok(block) = likely.into_bytes().try_into() {
                prop_assert_eq!(special_bits(&block), plain_bits(&block));
            }
        }
    }
}
