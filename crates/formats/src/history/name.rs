//! The names of record files: `NNNN-slug.yaml`. Reads no file.

/// What a name may hold of a reason.
const SLUG_MAX: usize = 48;

const ENDING: &str = ".yaml";

/// The number that the next record takes: one past the highest of `existing`, which are file names.
///
/// Two branches may take the same number: records are in the order of number and name.
pub fn next_number<'a>(existing: impl IntoIterator<Item = &'a str>) -> u32 {
    existing.into_iter().filter_map(number_of).max().unwrap_or(0).saturating_add(1)
}

/// The number in a record's file name; none where the name is not one of a record.
pub fn number_of(name: &str) -> Option<u32> {
    let (number, slug) = name.strip_suffix(ENDING)?.split_once('-')?;
    let is_number = number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|_| is_number && !slug.is_empty())
}

/// The file name of a record.
pub(super) fn file_name(number: u32, slug: &str) -> String {
    format!("{number:04}-{slug}{ENDING}")
}

/// A text as part of a file name: lowercase letters and digits, joined by `-`; whole words, as many as fit.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let room = SLUG_MAX.saturating_sub(out.len() + usize::from(!out.is_empty()));
        if word.len() > room && !out.is_empty() {
            break;
        }
        if !out.is_empty() {
            out.push('-');
        }
        out.extend(word.chars().take(room).map(|c| c.to_ascii_lowercase()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_is_one_past_the_highest_whatever_else_lies_there() {
        assert_eq!(next_number([]), 1);
        assert_eq!(next_number(["0001-a.yaml", "0007-b.yaml", "README.md", "0009.yaml", "9-c.yaml"]), 8);
    }

    #[test]
    fn a_name_of_a_record_has_four_digits_or_more_and_a_slug() {
        assert_eq!(number_of("0012-a-b.yaml"), Some(12));
        assert_eq!(number_of("12345-x.yaml"), Some(12345));
        for bad in ["012-a.yaml", "0012-.yaml", "0012-a.yml", "+012-a.yaml", "99999999999-a.yaml"] {
            assert_eq!(number_of(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_slug_is_made_of_whole_words_as_far_as_they_fit() {
        assert_eq!(slug("The gateway's `answer`: 300 ms!"), "the-gateway-s-answer-300-ms");
        assert_eq!(slug("study/old"), "study-old");
        assert!(slug(&"word ".repeat(40)).len() <= SLUG_MAX);
        assert_eq!(slug(&"x".repeat(100)).len(), SLUG_MAX);
        assert_eq!(slug("…"), "");
    }
}
