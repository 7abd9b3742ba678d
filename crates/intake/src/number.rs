//! JSON numbers where traces have them: what is wrong with one, and digits read eight at a time.

pub use playproof_formats::number::Decimal;

/// The label under a wrong JSON value: `out of range` for a number where a number was `expected`, else `wrong type`.
pub(super) fn mismatch(raw: &str, expected: &str) -> &'static str {
    let is_number = expected.starts_with("a number") && raw.parse::<f64>().is_ok();
    if is_number { "out of range" } else { "wrong type" }
}

/// The count and the value of the digits that a block begins with.
///
/// Tests all eight bytes at once: only a digit has 3 in its high half before and after adding 6. Then it combines digits to
/// pairs, pairs to fours, and fours to the value.
#[inline]
pub(super) fn leading_digits(block: [u8; 8]) -> (usize, u64) {
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const THREES: u64 = 0x3030_3030_3030_3030;
    const SIXES: u64 = 0x0606_0606_0606_0606;
    let block = u64::from_le_bytes(block);
    // A carry comes from a byte that is not a digit, and changes only later bytes.
    let others = ((block & HIGH) ^ THREES) | ((block.wrapping_add(SIXES) & HIGH) ^ THREES);
    let length = others.trailing_zeros() / 8;
    let digits = (block & !HIGH).checked_shl(64 - 8 * length).unwrap_or(0); // zeros first
    let pairs = digits.wrapping_mul((10 << 8) + 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul((100 << 16) + 1) >> 16 & 0x0000_ffff_0000_ffff;
    (length as usize, fours.wrapping_mul((10_000 << 32) + 1) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_at_the_start_of_a_block_are_counted_and_read() {
        for (text, length) in [("12345678", 8), ("00000042", 8), ("1:\u{fa}0000", 1), ("7/999999", 1), (",1234567", 0)]
        {
            let block: [u8; 8] = text.as_bytes().try_into().unwrap();
            assert_eq!(leading_digits(block), (length, text[..length].parse().unwrap_or(0)), "{text}");
        }
        for byte in 0..=255_u8 {
            for at in 0..8 {
                let mut block = *b"98765432";
                block[at] = byte;
                let length = if byte.is_ascii_digit() { 8 } else { at };
                let value = std::str::from_utf8(&block[..length]).unwrap().parse().unwrap_or(0);
                assert_eq!(leading_digits(block), (length, value), "{byte} at {at}");
            }
        }
    }
}
