//! Ranges of whole numbers, wherever people write them. Judges none: one may run backwards.

/// The numbers of `500-599`; none for a text of another form.
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
    fn a_range_is_two_whole_numbers_whichever_comes_first() {
        assert_eq!(
            ["500-599", " 500 - 599 ", "599-400"].map(range),
            [Some((500, 599)), Some((500, 599)), Some((599, 400))]
        );
        assert_eq!(["500", "-5", "5-", "2024-01-02", "+5-6", "5-99999999999999999999"].map(range), [None; 6]);
    }
}
