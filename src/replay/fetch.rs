//! Asks the processor to bring memory near before it is needed. Changes nothing but the time it takes.

/// Bytes that a processor fetches at once.
const LINE: usize = 64;

/// Starts to bring `value` near.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the standard library has no safe prefetch")]
#[inline]
pub fn soon<T: ?Sized>(value: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let start = std::ptr::from_ref(value).cast::<i8>();
    for offset in (0..size_of_val(value)).step_by(LINE) {
        // SAFETY: every x86_64 has SSE; a prefetch reads nothing, and the address lies within `value`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) }
    }
}

/// Does nothing where there is no instruction for it.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn soon<T: ?Sized>(_: &T) {
    let _ = LINE;
}
