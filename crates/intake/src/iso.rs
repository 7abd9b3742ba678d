//! Parses ISO 8601, RFC 3339 and RFC 2822 times into microseconds since 1970. Reads no clock and no time zone files.

use playproof_engine::time::days_since_1970;

/// Microseconds since 1970 of a time such as `2026-11-21T10:00:00.250Z` or `2026-11-21 10:00:00+02:00`; without an offset it
/// is UTC. None for any other text; negative before 1970.
pub fn parse_micros(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if !separators.iter().all(|&(at, byte)| bytes.get(at) == Some(&byte))
        || !matches!(bytes.get(10)?, b'T' | b't' | b' ')
    {
        return None;
    }
    let (year, month, day) = (digits(text, 0..4)?, digits(text, 5..7)?, digits(text, 8..10)?);
    let (hour, minute, second) = (digits(text, 11..13)?, digits(text, 14..16)?, digits(text, 17..19)?);
    let valid = (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour <= 23
        && minute <= 59
        && second <= 60; // a leap second is read as the second after it
    if !valid {
        return None;
    }
    let (micros, rest) = fraction(text.get(19..)?)?;
    let offset_minutes = offset(rest)?;
    let minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute - offset_minutes;
    Some((minutes * 60 + second) * 1_000_000 + micros)
}

/// The zones that RFC 2822 names.
const ZONES: [(&str, &str); 12] = [
    ("GMT", "Z"),
    ("UTC", "Z"),
    ("UT", "Z"),
    ("Z", "Z"),
    ("EST", "-0500"),
    ("EDT", "-0400"),
    ("CST", "-0600"),
    ("CDT", "-0500"),
    ("MST", "-0700"),
    ("MDT", "-0600"),
    ("PST", "-0800"),
    ("PDT", "-0700"),
];

/// Microseconds since 1970 of a time as HTTP and mail write it: `Sun, 06 Nov 1994 08:49:37 GMT`, `6 Nov 1994 08:49 +0100`.
/// None for any other text.
pub fn parse_rfc2822(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = text.trim();
    let date = text.split_once(',').map_or(text, |(_, date)| date);
    let parts: Vec<&str> = date.split_ascii_whitespace().collect();
    let [day, month, year, time, zone] = parts.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? + 1;
    let of_name = |(name, offset): &(&str, &'static str)| (name == zone).then_some(*offset);
    let zone = ZONES.iter().find_map(of_name).unwrap_or(*zone);
    let seconds = if time.len() == 5 { ":00" } else { "" };
    parse_micros(&format!("{year}-{month:02}-{day:0>2}T{time}{seconds}{zone}"))
}

/// Microseconds since 1970 of a time in any form that logs have: as [`parse_micros`] and [`parse_rfc2822`] read it, and
/// `2026/11/21 10:00:00`, `2026-11-21 10:00:00 UTC`, `20261121T100000Z`. None for any other text.
pub fn parse_any(text: &str) -> Option<i64> {
    parse_micros(text).or_else(|| parse_micros(&extended(text)?)).or_else(|| parse_rfc2822(text))
}

/// A time without separators, with slashes or with the name of UTC, as ISO 8601 writes it in full; none if it has another form.
fn extended(text: &str) -> Option<String> {
    let named = [" UTC", " GMT"].iter().find_map(|zone| text.strip_suffix(zone));
    let (text, zone) = named.map_or((text, ""), |text| (text, "Z"));
    if digits(text, 0..8).is_some() && text.get(8..9)? == "T" {
        let [year, month, day] = [text.get(..4)?, text.get(4..6)?, text.get(6..8)?];
        let [hour, minute, rest] = [text.get(9..11)?, text.get(11..13)?, text.get(13..)?];
        return Some(format!("{year}-{month}-{day}T{hour}:{minute}:{rest}{zone}"));
    }
    let date = text.get(..10)?.replace('/', "-");
    Some(format!("{date}{}{zone}", text.get(10..)?))
}

fn digits(text: &str, range: std::ops::Range<usize>) -> Option<i64> {
    let digits = text.get(range)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// `.25…` as microseconds (truncated), and the rest of the text.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(rest) = text.strip_prefix(['.', ',']) else { return Some((0, text)) };
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = rest.split_at(length);
    let six: String = digits.chars().chain("000000".chars()).take(6).collect();
    (length > 0).then_some((six.parse().ok()?, rest))
}

/// `Z`, `+02:00`, `-0530`, `+02` or an empty text, in minutes.
fn offset(text: &str) -> Option<i64> {
    if matches!(text, "" | "Z" | "z") {
        return Some(0);
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = digits(text, 1..3)?;
    let minutes = match text.get(3..)? {
        "" => 0,
        rest => {
            let rest = rest.strip_prefix(':').unwrap_or(rest);
            if rest.len() != 2 {
                return None;
            }
            digits(rest, 0..2)?
        }
    };
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
}

fn leap(year: i64) -> bool {
    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times_are_read() {
        assert_eq!(parse_micros("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(parse_micros("2000-02-29T12:00:00Z"), Some(951_825_600_000_000));
        assert_eq!(parse_micros("2026-11-21T10:00:00.25+02:00"), Some(1_795_248_000_250_000));
        assert_eq!(parse_micros("2026-11-21 08:00:00"), Some(1_795_248_000_000_000));
        assert_eq!(parse_micros("2026-11-21T08:00:00.123456789Z"), Some(1_795_248_000_123_456));
        assert_eq!(parse_micros("1969-12-31T23:59:59-00:00"), Some(-1_000_000));
    }

    #[test]
    fn times_of_http_and_mail_are_read() {
        assert_eq!(parse_rfc2822("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777_000_000));
        assert_eq!(parse_rfc2822("6 Nov 1994 09:49 +0100"), Some(784_111_740_000_000));
        for bad in ["", "Sun, 06 Nov 1994 08:49:37", "Sun, 32 Nov 1994 08:49:37 GMT", "6 Nov é 08:49 GMT", "soon"] {
            assert_eq!(parse_rfc2822(bad), None, "{bad}");
        }
    }

    #[test]
    fn times_in_other_forms_of_logs_are_read() {
        let at = Some(1_795_255_200_000_000);
        for text in [
            "2026-11-21T10:00:00Z",
            "2026/11/21 10:00:00",
            "2026-11-21 10:00:00 UTC",
            "2026/11/21 10:00:00 GMT",
            "20261121T100000Z",
            "20261121T110000+0100",
            "Sat, 21 Nov 2026 05:00:00 EST",
        ] {
            assert_eq!(parse_any(text), at, "{text}");
        }
        assert_eq!(parse_any("20261121T100000.5"), Some(1_795_255_200_500_000));
        for bad in
            ["", "20261121", "20261121T1000", "2026/11/21", "2026-11-21 10:00:00 CET", "20261121é100000", "éééééééé"]
        {
            assert_eq!(parse_any(bad), None, "{bad}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for bad in [
            "",
            "2026",
            "2026-11-21",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-11-21T24:00:00Z",
            "2026-11-21T10:00:00.Z",
            "2026-11-21T10:00:00+2",
            "2026-11-21T10:00:00 UTC",
            "2026-11-21T10:0é:00Z",
            "20a6-11-21T10:00:00Z",
        ] {
            assert_eq!(parse_micros(bad), None, "{bad}");
        }
    }
}
