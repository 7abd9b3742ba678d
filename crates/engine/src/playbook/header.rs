//! Tests of a header: whether they hold, and which texts they can hold for. A header with several values is one text, in
//! which they are joined by `, `.

use std::borrow::Cow;

use crate::event::{Header, Headers};

/// A test of one header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderTest {
    /// Its name in lower case.
    pub name: String,
    /// What is asked of it.
    pub op: HeaderOp,
    /// Whether the answer is turned around; the value of a header that is absent is not asked for.
    pub invert: bool,
}

/// What is asked of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderOp {
    /// It is there.
    Present,
    /// Its value is one of these.
    Equals(Vec<String>),
    /// Its value begins with one of these.
    Prefix(Vec<String>),
    /// Its value is a whole number from the first to below the second.
    Range(i64, i64),
}

impl HeaderTest {
    /// Whether it holds for these headers.
    pub fn holds(&self, headers: &Headers) -> bool {
        self.holds_for(joined(headers.values(&self.name)).as_deref())
    }

    /// Whether it holds for a header of this value; none: it is absent.
    pub fn holds_for(&self, value: Option<&str>) -> bool {
        let is = match (&self.op, value) {
            (HeaderOp::Present, value) => value.is_some(),
            (_, None) => return false,
            (HeaderOp::Equals(texts), Some(value)) => texts.iter().any(|text| text == value),
            (HeaderOp::Prefix(texts), Some(value)) => texts.iter().any(|text| value.starts_with(&**text)),
            (HeaderOp::Range(first, end), Some(value)) => {
                value.parse().is_ok_and(|number: i64| (*first..*end).contains(&number))
            }
        };
        is != self.invert
    }

    /// Whether it holds only if the header is there.
    pub fn requires_presence(&self) -> bool {
        !self.holds_for(None)
    }

    /// Whether no header satisfies both. Only what is certain counts.
    pub fn is_apart_from(&self, other: &HeaderTest) -> bool {
        if self.name != other.name {
            return false;
        }
        let none_holds = |few: &HeaderTest, test: &HeaderTest| {
            few.few().is_some_and(|few| !few.into_iter().any(|value| test.holds_for(value)))
        };
        let beside = match (&self.op, &other.op) {
            (HeaderOp::Range(first, end), HeaderOp::Range(other_first, other_end)) => {
                !self.invert && !other.invert && (end <= other_first || other_end <= first)
            }
            _ => false,
        };
        beside || none_holds(self, other) || none_holds(other, self)
    }

    /// Whether every header that satisfies `narrow` satisfies this. Only what is certain counts.
    pub fn covers(&self, narrow: &HeaderTest) -> bool {
        let is_wider = match (&self.op, &narrow.op) {
            (HeaderOp::Present, _) if !self.invert => narrow.requires_presence(),
            (HeaderOp::Range(first, end), HeaderOp::Range(from, to)) if !self.invert && !narrow.invert => {
                first <= from && to <= end
            }
            _ => self == narrow,
        };
        let all_hold = |few: Vec<Option<&str>>| few.into_iter().all(|value| self.holds_for(value));
        self.name == narrow.name && (is_wider || narrow.few().is_some_and(all_hold))
    }

    /// Headers for which it holds, each by name and value, the simplest first; empty if it asks for none.
    pub fn examples(&self) -> Vec<(String, String)> {
        let own = match &self.op {
            HeaderOp::Present => Vec::new(),
            HeaderOp::Equals(texts) | HeaderOp::Prefix(texts) => texts.clone(),
            HeaderOp::Range(first, end) => {
                [*first, *end, end.saturating_sub(1), first.saturating_sub(1)].map(|edge| edge.to_string()).into()
            }
        };
        let longer: Vec<String> = own.iter().map(|text| format!("{text}-")).collect();
        let all = own.into_iter().chain(longer).chain(["true", "-", "0"].map(str::to_owned));
        let held = all.filter(|value| self.requires_presence() && self.holds_for(Some(value)));
        held.map(|value| (self.name.clone(), value)).collect()
    }

    /// The only values for which it holds, if they are few; none of them: the header is absent.
    fn few(&self) -> Option<Vec<Option<&str>>> {
        match (&self.op, self.invert) {
            (HeaderOp::Present, true) => Some(vec![None]),
            (HeaderOp::Equals(texts), false) => Some(texts.iter().map(|text| Some(text.as_str())).collect()),
            _ => None,
        }
    }
}

/// The values of a header as one text; none: it is absent.
pub fn joined(values: &[Header]) -> Option<Cow<'_, str>> {
    match values {
        [] => None,
        [one] => Some(Cow::Borrowed(&one.value)),
        several => {
            let values: Vec<&str> = several.iter().map(|header| &*header.value).collect();
            Some(Cow::Owned(values.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn test(op: HeaderOp, invert: bool) -> HeaderTest {
        HeaderTest { name: "x-a".into(), op, invert }
    }

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn each_test_asks_for_its_own_part_of_a_header() {
        let held = |op: HeaderOp, invert| {
            [None, Some("503"), Some("5"), Some("retry-please")].map(|value| test(op.clone(), invert).holds_for(value))
        };
        assert_eq!(held(HeaderOp::Present, false), [false, true, true, true]);
        assert_eq!(held(HeaderOp::Present, true), [true, false, false, false]);
        assert_eq!(held(HeaderOp::Equals(texts(&["5", "6"])), false), [false, false, true, false]);
        assert_eq!(
            held(HeaderOp::Equals(texts(&["5", "6"])), true),
            [false, true, false, true],
            "an absent one differs in nothing"
        );
        assert_eq!(held(HeaderOp::Prefix(texts(&["retry"])), false), [false, false, false, true]);
        assert_eq!(held(HeaderOp::Range(500, 505), false), [false, true, false, false]);
        let edges =
            ["499", "500", "504", "505"].map(|value| test(HeaderOp::Range(500, 505), false).holds_for(Some(value)));
        assert_eq!(edges, [false, true, true, false], "the end is outside");
    }

    #[test]
    fn several_values_are_one_text() {
        let headers = Headers::new([("X-A", "1"), ("x-a", "2"), ("x-b", "1")]);
        assert!(test(HeaderOp::Equals(texts(&["1, 2"])), false).holds(&headers));
        assert!(!test(HeaderOp::Equals(texts(&["1"])), false).holds(&headers));
        assert!(test(HeaderOp::Prefix(texts(&["1"])), false).holds(&headers));
    }

    #[test]
    fn two_ranges_are_apart_or_one_covers_the_other_by_their_bounds() {
        let of = |first, end| test(HeaderOp::Range(first, end), false);
        assert!(of(0, 5).is_apart_from(&of(5, 9)) && of(5, 9).is_apart_from(&of(0, 5)));
        assert!(!of(0, 6).is_apart_from(&of(5, 9)) && !of(5, 9).is_apart_from(&of(0, 6)));
        assert!(of(0, 9).covers(&of(0, 9)) && of(0, 9).covers(&of(3, 4)));
        assert!(!of(0, 9).covers(&of(0, 10)) && !of(1, 9).covers(&of(0, 9)));
        let other = HeaderTest { name: "x-b".into(), ..of(5, 9) };
        assert!(!of(0, 5).is_apart_from(&other) && !of(0, 9).covers(&other), "another header");
    }

    fn any_test() -> impl Strategy<Value = HeaderTest> {
        let some = || proptest::collection::vec("[012-]{0,2}", 1..3);
        let op = prop_oneof![
            Just(HeaderOp::Present),
            some().prop_map(HeaderOp::Equals),
            some().prop_map(HeaderOp::Prefix),
            (-2_i64..12, 1_i64..9).prop_map(|(first, length)| HeaderOp::Range(first, first + length)),
        ];
        ("x-[ab]", op, any::<bool>()).prop_map(|(name, op, invert)| HeaderTest { name, op, invert })
    }

    proptest! {
        #[test]
        fn what_is_said_of_two_tests_is_true_of_every_header(
            (a, b) in (any_test(), any_test()), value in proptest::option::of("[012-]{0,3}"),
        ) {
            let headers = Headers::new(value.iter().map(|value| (&*a.name, value)));
            prop_assert!(!(a.is_apart_from(&b) && a.holds(&headers) && b.holds(&headers)));
            prop_assert!(!(a.covers(&b) && b.holds(&headers) && !a.holds(&headers)));
            let examples = a.examples();
            prop_assert!(examples.is_empty() || a.requires_presence());
            for example in examples {
                prop_assert!(a.holds(&Headers::new([example])));
            }
        }
    }
}
