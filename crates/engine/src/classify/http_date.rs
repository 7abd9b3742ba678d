//! The three forms in which HTTP writes a time (RFC 9110, section 5.6.7), as microseconds since 1970. Reads no clock.

use crate::time::days_since_1970;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Microseconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` (years from 70 are of the
/// last century) or `Sun Nov  6 08:49:37 1994`. None for any other text, and before 1970.
pub fn parse_http_date(text: &str) -> Option<u64> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let (day, month, year, time) = match *words.as_slice() {
        [_, day, month, year, time, "GMT"] => (day, month, number(year, 4)?, time),
        [_, date, time, "GMT"] => {
            let mut parts = date.splitn(3, '-');
            let (day, month, year) = (parts.next()?, parts.next()?, number(parts.next()?, 2)?);
            (day, month, if year < 70 { 2_000 + year } else { 1_900 + year }, time)
        }
        [_, month, day, time, year] => (day, month, number(year, 4)?, time),
        _ => return None,
    };
    let day = number(day, 2).or_else(|| number(day, 1))?;
    let month = MONTHS.iter().zip(1_i64..).find(|(name, _)| **name == month)?.1;
    let mut parts = time.splitn(3, ':').map(|part| number(part, 2));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    // A leap second is read as the second after it.
    let is_time = (1..=31).contains(&day) && hour <= 23 && minute <= 59 && second <= 60;
    let days = days_since_1970(year, month, day);
    let is_date = is_time && (month == 12 || days < days_since_1970(year, month + 1, 1));
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    u64::try_from(seconds).ok().filter(|_| is_date)?.checked_mul(1_000_000)
}

/// A number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<i64> {
    (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_three_forms_of_a_time_are_read() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            " Sun, 06 Nov 1994 08:49:37 GMT ",
        ] {
            assert_eq!(parse_http_date(text), Some(784_111_777_000_000), "{text}");
        }
        assert_eq!(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(parse_http_date("Tue, 29 Feb 2028 23:59:60 GMT"), Some(1_835_481_600_000_000));
        assert_eq!(parse_http_date("Sunday, 06-Nov-26 08:49:37 GMT"), Some(1_793_954_977_000_000));
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in [
            "",
            "120",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 PST",
            "Sun, 31 Nov 1994 08:49:37 GMT",
            "Wed, 29 Feb 2026 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Now 1994 08:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994 +8:49:37 GMT",
            "Wed, 31 Dec 1969 23:59:59 GMT",
            "Sunday, 06-Nov 08:49:37 GMT",
        ] {
            assert_eq!(parse_http_date(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "[A-Za-z]{0,3},? ?[0-9 é:+-]{0,12} ?(Jan|Nov)? ?[0-9: -]{0,14}(GMT)?") {
            let _ = parse_http_date(&text);
        }

        #[test]
        fn a_time_that_is_written_is_read(seconds in 0_u64..4_102_444_800) {
            let day = i64::try_from(seconds / 86_400).unwrap();
            let (year, month) = (1970..2101)
                .flat_map(|year| (1..=12).map(move |month| (year, month)))
                .take_while(|&(year, month)| days_since_1970(year, month, 1) <= day)
                .last()
                .unwrap();
            let of_month = day - days_since_1970(year, month, 1) + 1;
            let name = MONTHS[usize::try_from(month).unwrap() - 1];
            let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
            let text = format!("Mon, {of_month:02} {name} {year} {hour:02}:{minute:02}:{second:02} GMT");
            prop_assert_eq!(parse_http_date(&text), Some(seconds * 1_000_000));
        }
    }
}
