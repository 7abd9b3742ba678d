//! The headers of a failed answer, and what it says of retrying. Plain values; reads no header's meaning.

use crate::time::Duration;

/// One header of an answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Header {
    /// Its name in lower case.
    pub name: Box<str>,
    /// Its value without outer blanks.
    pub value: Box<str>,
}

/// The headers of a failed answer, sorted by name. A header with several values stands once for each, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Headers(Box<[Header]>); // usually empty, and then without an allocation

impl Headers {
    /// The headers of these names and values, in any order and case.
    pub fn new<N: AsRef<str>, V: AsRef<str>>(all: impl IntoIterator<Item = (N, V)>) -> Headers {
        let header = |(name, value): (N, V)| Header {
            name: name.as_ref().trim().to_ascii_lowercase().into(),
            value: value.as_ref().trim().into(),
        };
        let mut all: Vec<Header> = all.into_iter().map(header).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name)); // stable: the values of one header keep their order
        Headers(all.into())
    }

    /// Every header, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = &Header> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The headers by name, each with its values.
    pub fn by_name(&self) -> impl Iterator<Item = &[Header]> {
        self.0.chunk_by(|a, b| a.name == b.name)
    }

    /// The values of the header `name`, which is in lower case; empty if it is absent.
    pub fn values(&self, name: &str) -> &[Header] {
        let start = self.0.partition_point(|header| *header.name < *name);
        let rest = self.0.get(start..).unwrap_or_default();
        let count = rest.iter().take_while(|header| *header.name == *name).count();
        rest.get(..count).unwrap_or_default()
    }

    /// Its first value.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.values(name).first().map(|header| &*header.value)
    }
}

/// What a failed answer says of waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ServerSays {
    /// How long to wait before the call is sent again.
    pub wait: Option<Duration>,
    /// What is wrong with the headers that say it, up to the first that can be read.
    pub faults: WishFaults,
}

/// What can be wrong with a wish to wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WishFaults {
    /// No source can read the value.
    pub invalid: bool,
    /// It is below zero, or a time that has passed.
    pub negative: bool,
    /// The header has several values.
    pub multiple: bool,
}

impl WishFaults {
    /// Whether both have one of the faults.
    pub const fn intersects(self, other: WishFaults) -> bool {
        (self.invalid && other.invalid) || (self.negative && other.negative) || (self.multiple && other.multiple)
    }
}

impl From<Option<Duration>> for ServerSays {
    fn from(wait: Option<Duration>) -> ServerSays {
        ServerSays { wait, faults: WishFaults::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found_by_name_whatever_their_order_and_case() {
        let headers = Headers::new([("X-B", " 2 "), ("x-a", "1"), ("x-b", "1"), ("X-C", "")]);
        let values = |name| headers.values(name).iter().map(|header| &*header.value).collect::<Vec<_>>();
        assert_eq!((values("x-a"), values("x-b"), values("x-c")), (vec!["1"], vec!["2", "1"], vec![""]));
        assert_eq!((headers.first("x-b"), headers.first("x"), headers.first("x-d")), (Some("2"), None, None));
        assert_eq!(headers.by_name().map(<[Header]>::len).collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!(size_of::<Headers>(), 2 * size_of::<usize>());
    }
}
