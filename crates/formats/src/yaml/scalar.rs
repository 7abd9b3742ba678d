//! The YAML 1.2 core schema: which plain scalars are null, booleans and numbers. Knows no places.

use super::node::Scalar;

/// How the core schema reads the plain scalar `text`.
pub(crate) fn resolve(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "true" | "True" | "TRUE" => return Scalar::Bool(true),
        "false" | "False" | "FALSE" => return Scalar::Bool(false),
        _ => {}
    }
    whole(text).or_else(|| float(text)).unwrap_or(Scalar::Text)
}

fn whole(text: &str) -> Option<Scalar> {
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 8),
        _ => (text.strip_prefix(['+', '-']).unwrap_or(text), 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let Ok(value) = i128::from_str_radix(digits, radix) else { return Some(Scalar::Huge) };
    Some(Scalar::Whole(if text.starts_with('-') { -value } else { value }))
}

fn float(text: &str) -> Option<Scalar> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" if text.starts_with('-') => return Some(Scalar::Float(f64::NEG_INFINITY)),
        ".inf" | ".Inf" | ".INF" => return Some(Scalar::Float(f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" => return Some(Scalar::Float(f64::NAN)),
        _ => {}
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_number = digits(before)
        && digits(after)
        && !(before.is_empty() && after.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent));
    if is_number { text.parse().ok().map(Scalar::Float) } else { None }
}

/// The numbers of `500-599`, in any order; none if the text is not a range.
pub fn range(text: &str) -> Option<(u64, u64)> {
    let number = |part: &str| {
        let part = part.trim();
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let (first, last) = text.split_once('-')?;
    Some((number(first)?, number(last)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_are_typed_by_the_core_schema() {
        assert_eq!(resolve("~"), Scalar::Null);
        assert_eq!(resolve("true"), Scalar::Bool(true));
        assert_eq!(resolve("-12"), Scalar::Whole(-12));
        assert_eq!(resolve("0x1F"), Scalar::Whole(31));
        assert_eq!(resolve("1.10"), Scalar::Float(1.1));
        assert_eq!(resolve("-.5e+3"), Scalar::Float(-500.0));
        assert_eq!(resolve(&"9".repeat(5_000)), Scalar::Huge);
    }

    #[test]
    fn what_only_looks_like_a_number_or_a_boolean_is_text() {
        for text in ["yes", "off", "5s", "500-599", "1_000", "0x", "-", ".", "1e", "e5", "0b1", "1.2.3", "+-1", "é"] {
            assert_eq!(resolve(text), Scalar::Text, "{text}");
        }
    }

    #[test]
    fn a_range_is_two_whole_numbers_in_any_order() {
        assert_eq!(
            ["500-599", " 500 - 599 ", "599-400"].map(range),
            [Some((500, 599)), Some((500, 599)), Some((599, 400))]
        );
        assert_eq!(["500", "-5", "5-", "2024-01-02", "+5-6", "5-99999999999999999999"].map(range), [None; 6]);
    }
}
