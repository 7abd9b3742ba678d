//! What a failed answer says of waiting: its headers, read by the playbook's sources. Pure; decides nothing.

use std::sync::LazyLock;

use super::http_date::parse_http_date;
use crate::event::{ErrorFacts, ServerSays};
use crate::playbook::{DelayFormat, DelaySource};
use crate::time::{Duration, Instant};

/// The first moment, in microseconds, that is a time since 1970 and not a time since the beginning of a run: the year 2000.
const FIRST_DATE: u64 = 946_684_800_000_000;

/// What one header says.
enum Wish {
    Wait(Duration),
    Negative,
    /// It says until when, and when it was said is unknown.
    Undated,
    Unreadable,
}

/// What `error` says of waiting. `answered` is the time of the answer in its recording; a moment before the year 2000 is no
/// date. The sources are read in order, and the first that can be read counts. Without any of their headers, the wait that
/// the adapter has read counts; without sources, the wait that is asked for under any playbook.
pub fn server_says(error: &ErrorFacts, sources: &[DelaySource], answered: Option<Instant>) -> ServerSays {
    if sources.is_empty() {
        return ServerSays::from(asked_wait(error, answered));
    }
    let mut says = ServerSays::default();
    let mut is_found = false;
    for source in sources {
        let values = error.headers.values(&source.header);
        let Some(value) = values.first().map(|header| &*header.value) else { continue };
        is_found = true;
        says.faults.multiple |= values.len() > 1;
        match wish(source, value, now(error, answered)) {
            Wish::Wait(wait) => return ServerSays { wait: Some(wait), ..says },
            Wish::Negative => says.faults.negative = true,
            Wish::Undated => {}
            Wish::Unreadable => says.faults.invalid |= !is_read_by_another(source, sources, value),
        }
    }
    if is_found { says } else { ServerSays::from(error.retry_after) }
}

/// The wait that `error` asks for under any playbook: the one that the adapter has read, else that of the usual headers.
pub fn asked_wait(error: &ErrorFacts, answered: Option<Instant>) -> Option<Duration> {
    static USUAL: LazyLock<[DelaySource; 3]> = LazyLock::new(|| {
        let source = |header: &str, format, float| DelaySource { header: header.to_owned(), format, float };
        [
            source("retry-after-ms", DelayFormat::Millis, true),
            source("retry-after", DelayFormat::Seconds, true),
            source("retry-after", DelayFormat::HttpDate, false),
        ]
    });
    error.retry_after.or_else(|| server_says(error, USUAL.as_slice(), answered).wait)
}

/// Whether a source with another format of the same header can read the value.
fn is_read_by_another(source: &DelaySource, sources: &[DelaySource], value: &str) -> bool {
    let mut others = sources.iter().filter(|other| other.header == source.header);
    others.any(|other| !matches!(wish(other, value, None), Wish::Unreadable))
}

/// The server's own time of the answer, else that of its recording; in microseconds since 1970.
fn now(error: &ErrorFacts, answered: Option<Instant>) -> Option<u64> {
    let recorded = || answered.map(Instant::as_micros).filter(|at| *at >= FIRST_DATE);
    error.headers.first("date").and_then(parse_http_date).or_else(recorded)
}

fn wish(source: &DelaySource, value: &str, now: Option<u64>) -> Wish {
    let number = |unit| micros(value, unit, source.float);
    let until = |date: Option<i128>| match (date, now) {
        (None, _) => Wish::Unreadable,
        (Some(_), None) => Wish::Undated,
        (Some(date), Some(now)) => wait(date - i128::from(now)),
    };
    match source.format {
        DelayFormat::Millis => number(1_000).map_or(Wish::Unreadable, wait),
        DelayFormat::Seconds => number(1_000_000).map_or(Wish::Unreadable, wait),
        DelayFormat::HttpDate => until(parse_http_date(value).map(i128::from)),
        DelayFormat::UnixTime => until(number(1_000_000)),
    }
}

fn wait(micros: i128) -> Wish {
    match u64::try_from(micros) {
        Ok(micros) => Wish::Wait(Duration::from_micros(micros)),
        Err(_) if micros < 0 => Wish::Negative,
        Err(_) => Wish::Unreadable,
    }
}

/// A decimal number of `unit` microseconds, cut to whole ones. Decimal places are read only if it is a `float`.
fn micros(value: &str, unit: i128, float: bool) -> Option<i128> {
    let (is_negative, digits) = value.strip_prefix('-').map_or((false, value), |digits| (true, digits));
    let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_whole = !digits.contains('.');
    // Eighteen digits are more than the end of time, and their product with a unit fits.
    if whole.is_empty() || whole.len() > 18 || !is_number(whole) || !is_number(places) || !(is_whole || float) {
        return None;
    }
    let six: String = places.chars().chain("000000".chars()).take(6).collect();
    let micros = whole.parse::<i128>().ok()? * unit + six.parse::<i128>().ok()? * unit / 1_000_000;
    Some(if is_negative { -micros } else { micros })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Headers, WishFaults};
    use proptest::prelude::*;

    fn source(header: &str, format: DelayFormat) -> DelaySource {
        DelaySource { header: header.into(), format, float: false }
    }

    fn float(header: &str, format: DelayFormat) -> DelaySource {
        DelaySource { float: true, ..source(header, format) }
    }

    fn error(headers: &[(&str, &str)]) -> ErrorFacts {
        ErrorFacts { headers: Headers::new(headers.iter().copied()), ..ErrorFacts::default() }
    }

    /// What the headers say, in microseconds.
    fn said(sources: &[DelaySource], headers: &[(&str, &str)]) -> (Option<u64>, WishFaults) {
        let says = server_says(&error(headers), sources, None);
        (says.wait.map(Duration::as_micros), says.faults)
    }

    const NONE: WishFaults = WishFaults { invalid: false, negative: false, multiple: false };

    #[test]
    fn each_format_is_read_strictly() {
        use DelayFormat::{Millis, Seconds};
        let of = |format, value| said(&[source("retry-after", format)], &[("Retry-After", value)]);
        assert_eq!(of(Seconds, "5"), (Some(5_000_000), NONE));
        assert_eq!(of(Millis, " 1500 "), (Some(1_500_000), NONE));
        for (value, negative) in [("-1", true), ("-0", false)] {
            let waits = (!negative).then_some(0);
            assert_eq!(of(Millis, value), (waits, WishFaults { negative, ..NONE }), "{value}");
        }
        let invalid = (None, WishFaults { invalid: true, ..NONE });
        for value in [
            "",
            "5.1",
            "+5",
            "5s",
            "1e3",
            "-",
            "99999999999999999999",
            "999999999999999999",
            "Fri, 17 Jul 2020 11:59:51 GMT",
        ] {
            assert_eq!(of(Seconds, value), invalid, "{value}");
        }
        let of = |value| said(&[float("retry-after", Seconds)], &[("retry-after", value)]);
        assert_eq!(
            (of("0.5"), of("1.0000019"), of("2.")),
            ((Some(500_000), NONE), (Some(1_000_001), NONE), (Some(2_000_000), NONE))
        );
        assert_eq!((of(".5"), of("1.5.5")), (invalid, invalid));
    }

    #[test]
    fn a_time_needs_the_time_of_the_answer() {
        let dates = [source("retry-after", DelayFormat::HttpDate), source("x-reset", DelayFormat::UnixTime)];
        let until = ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(said(&dates, &[until]), (None, NONE), "nothing says when the answer came");
        assert_eq!(said(&dates, &[until, ("date", "Sun, 06 Nov 1994 08:49:30 GMT")]), (Some(7_000_000), NONE));
        let passed = (None, WishFaults { negative: true, ..NONE });
        assert_eq!(said(&dates, &[until, ("date", "Sun, 06 Nov 1994 08:49:38 GMT")]), passed);
        let reset = |at: u64| {
            let error = error(&[("x-reset", "1000000007")]);
            server_says(&error, &dates, Some(Instant::from_millis(at))).wait.map(Duration::as_millis)
        };
        assert_eq!((reset(1_000_000_000_000), reset(1_000_000_007_000)), (Some(7_000), Some(0)));
        assert_eq!((reset(1_000_000_007_001), reset(1_500)), (None, None), "1.5 s after the start of a run is no date");
    }

    #[test]
    fn the_first_source_that_can_be_read_counts() {
        use DelayFormat::{HttpDate, Millis, Seconds};
        let client = [float("retry-after-ms", Millis), float("retry-after", Seconds), source("retry-after", HttpDate)];
        assert_eq!(said(&client, &[("retry-after", "2"), ("retry-after-ms", "1")]).0, Some(1_000));
        let second = said(&client, &[("retry-after-ms", "soon"), ("retry-after", "2")]);
        assert_eq!(second, (Some(2_000_000), WishFaults { invalid: true, ..NONE }));
        let date = [("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), ("date", "Sun, 06 Nov 1994 08:49:36 GMT")];
        assert_eq!(said(&client, &date), (Some(1_000_000), NONE), "what one format cannot read is valid in another");
        assert_eq!(said(&client, &date[..1]), (None, NONE));
        let twice = said(&client, &[("retry-after", "2"), ("retry-after", "9")]);
        assert_eq!(twice, (Some(2_000_000), WishFaults { multiple: true, ..NONE }));
    }

    #[test]
    fn the_adapters_reading_counts_where_no_source_has_a_header() {
        let own = Some(Duration::from_millis(40));
        let wait = |sources: &[DelaySource], headers| {
            let error = ErrorFacts { retry_after: own, ..error(headers) };
            server_says(&error, sources, None).wait
        };
        let sources = [source("retry-after", DelayFormat::Seconds)];
        assert_eq!((wait(&[], &[("retry-after", "2")]), wait(&sources, &[("x-a", "2")])), (own, own));
        assert_eq!(wait(&sources, &[("retry-after", "2")]), Some(Duration::from_millis(2_000)));
        assert_eq!(
            wait(&sources, &[("retry-after", "soon")]),
            None,
            "a header that cannot be read is not read otherwise"
        );
    }

    proptest! {
        #[test]
        fn any_header_can_be_read(value in "[-+0-9.eé ]{0,24}", date in "[A-Z, a-z0-9:]{0,30}", float in any::<bool>()) {
            for format in DelayFormat::ALL {
                let sources = [DelaySource { header: "x".into(), format, float }];
                let _ = said(&sources, &[("x", &value), ("date", &date)]);
            }
        }

        #[test]
        fn a_number_that_is_written_is_read(millis in 0_u64..1_000_000_000_000) {
            let sources = [float("x", DelayFormat::Seconds)];
            let value = format!("{}.{:03}", millis / 1_000, millis % 1_000);
            prop_assert_eq!(said(&sources, &[("x", &value)]).0, Some(millis * 1_000));
        }
    }
}
