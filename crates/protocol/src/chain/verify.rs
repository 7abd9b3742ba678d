//! Whether lines are a whole chain, and what was done to them if they are not: one problem for each cause.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::canonical;
use super::hash::Hash;

/// What is known of a chain beside its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// How many entries it has.
    pub entries: Option<u64>,
    /// The hash of its last entry.
    pub head: Option<Hash>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The entries, without those that do not belong.
    pub entries: u64,
    /// The hash of the last one.
    pub head: Hash,
    /// In the order of the lines.
    pub problems: Vec<Problem>,
}

/// Why there is nothing to verify, or to go on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoChain {
    /// No line.
    Empty,
    /// No line has `prev` and `hash`.
    Unchained,
    /// Its hashes need a key.
    Keyed,
    /// It is not whole.
    Broken(Problem),
}

/// Something that was done to a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: u64,
    /// What was done.
    pub cause: Cause,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its hash is not that of its text.
    Altered,
    /// It is the same as an earlier line.
    Repeated(u64),
    /// No other line goes on from it, and one that does not is in its place.
    Inserted,
    /// It belongs behind another line; none: at the beginning.
    Moved(Option<u64>),
    /// The entry that it goes on from is not here.
    Removed,
    /// It goes on from nothing, as the first entry of a chain.
    BeginsAnew,
    /// Entries behind it are missing, or it was torn.
    CutOff,
    /// There are as many entries as are known of, and it is not the last that is known.
    HashedAnew,
    /// It stands behind the end.
    Appended,
}

impl Cause {
    /// Its name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Cause::Altered => "altered",
            Cause::Repeated(_) => "repeated",
            Cause::Inserted => "inserted",
            Cause::Moved(_) => "moved",
            Cause::Removed => "removed",
            Cause::BeginsAnew => "begins_anew",
            Cause::CutOff => "cut_off",
            Cause::HashedAnew => "hashed_anew",
            Cause::Appended => "appended",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Altered => f.write_str("was altered: its hash is not that of its text"),
            Cause::Repeated(of) => write!(f, "repeats line {of}"),
            Cause::Inserted => f.write_str("was inserted: the chain goes on without it"),
            Cause::Moved(Some(behind)) => write!(f, "was moved: it belongs behind line {behind}"),
            Cause::Moved(None) => f.write_str("was moved: it belongs at the beginning"),
            Cause::Removed => {
                f.write_str("goes on from an entry that is not here: it was removed, or altered and hashed anew")
            }
            Cause::BeginsAnew => f.write_str("begins a new chain: entries before it were removed, or two files joined"),
            Cause::CutOff => f.write_str("is where the file was cut off: what followed is missing"),
            Cause::HashedAnew => f.write_str("is not the last entry that is known: the entries were hashed anew"),
            Cause::Appended => f.write_str("stands behind the end of the chain: it was appended"),
        }
    }
}

impl fmt::Display for NoChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoChain::Empty => f.write_str("it is empty"),
            NoChain::Unchained => {
                f.write_str("no line is JSON in UTF-8 with `prev` and `hash` of `sha256:`: it is no chain")
            }
            NoChain::Keyed => {
                f.write_str("its hashes are made with a key (`hmac-sha256:`), which only its owner can verify")
            }
            NoChain::Broken(Problem { line, cause }) => write!(f, "its chain is not whole: line {line} {cause}"),
        }
    }
}

/// A line of a chain.
#[derive(Clone, Copy, Debug)]
struct Link {
    line: u64,
    prev: Option<Hash>,
    /// What it says its hash is.
    said: Option<Hash>,
    /// What its hash is; none: it is no entry.
    own: Option<Hash>,
}

impl Link {
    fn is_altered(&self) -> bool {
        self.own.is_none() || self.own != self.said
    }
}

/// Verifies lines of JSON. Blank lines are none.
///
/// # Errors
/// There is nothing to verify.
pub fn verify(bytes: &[u8], wanted: &Wanted) -> Result<Verified, NoChain> {
    let (mut links, mut is_keyed) = (Vec::new(), false);
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes); // an editor's mark is no part of an entry
    for (line, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if text.trim_ascii().is_empty() {
            continue;
        }
        let entry = std::str::from_utf8(text).ok().and_then(canonical::entry);
        let hash_in = |text: Option<&String>| text.and_then(|text| Hash::parse(text));
        is_keyed |= entry.iter().any(|it| it.hash.as_ref().is_some_and(|hash| hash.starts_with("hmac-sha256:")));
        links.push(Link {
            line,
            prev: hash_in(entry.as_ref().and_then(|entry| entry.prev.as_ref())),
            said: hash_in(entry.as_ref().and_then(|entry| entry.hash.as_ref())),
            own: entry.map(|entry| Hash::of(entry.prev.as_deref().unwrap_or_default(), &entry.text)),
        });
    }
    if links.is_empty() {
        return Err(NoChain::Empty);
    }
    if links.iter().all(|link| link.said.is_none() || link.prev.is_none()) {
        return Err(if is_keyed { NoChain::Keyed } else { NoChain::Unchained });
    }
    let is_torn = !bytes.ends_with(b"\n") && links.last().is_some_and(|link| link.own.is_none());
    Ok(found(links, is_torn, wanted))
}

/// What was done to links.
fn found(mut links: Vec<Link>, is_torn: bool, wanted: &Wanted) -> Verified {
    let mut problems = Vec::new();
    let mut add = |link: &Link, cause| problems.push(Problem { line: link.line, cause });
    if is_torn && let Some(torn) = links.pop() {
        add(&torn, Cause::CutOff);
    }
    let mut known: BTreeMap<Hash, u64> = BTreeMap::new();
    links.retain(|link| {
        let earlier = link.said.filter(|_| !link.is_altered()).and_then(|hash| known.insert(hash, link.line));
        earlier.inspect(|earlier| add(link, Cause::Repeated(*earlier))).is_none()
    });
    let Order { order, before, inserted } = Order::of(&links);
    let moved = moved(&order);
    for (at, link) in links.iter().enumerate() {
        let is_anew = before[at] == Before::Nothing && order.first() != Some(&at);
        let follows_moved = at > 0 && moved[at - 1] && before[at] == Before::Link(at - 1);
        match before[at] {
            _ if inserted.contains(&at) => add(link, Cause::Inserted),
            _ if link.is_altered() => add(link, Cause::Altered),
            Before::Link(before) if moved[at] && !follows_moved => add(link, Cause::Moved(Some(links[before].line))),
            Before::Nothing if moved[at] => add(link, Cause::Moved(None)),
            Before::Nothing if is_anew => add(link, Cause::BeginsAnew),
            Before::Missing => add(link, Cause::Removed),
            Before::Link(_) | Before::Nothing => {}
        }
    }
    let entries = (order.len() - inserted.len()) as u64;
    let chain: Vec<&Link> = order.iter().filter(|at| !inserted.contains(at)).map(|at| &links[*at]).collect();
    let last = chain.last().copied();
    let is_head = |link: &Link| wanted.head.is_some() && (link.said == wanted.head || link.own == wanted.head);
    let behind_head = chain.iter().position(|link| is_head(link)).map(|at| chain.get(at + 1));
    let is_known = wanted.head.is_none() || is_torn || last.is_some_and(Link::is_altered);
    match (behind_head, last) {
        (Some(Some(appended)), _) => add(appended, Cause::Appended),
        (None, Some(last)) if !is_known && wanted.entries == Some(entries) => add(last, Cause::HashedAnew),
        (None, Some(last)) if !is_known => add(last, Cause::CutOff),
        _ => {}
    }
    let lacks = |cause: fn(&Cause) -> bool, problems: &[Problem]| !problems.iter().any(|problem| cause(&problem.cause));
    let more = wanted.entries.and_then(|most| chain.get(usize::try_from(most).ok()?));
    if wanted.entries.is_some_and(|wanted| entries < wanted)
        && lacks(|cause| matches!(cause, Cause::Removed | Cause::BeginsAnew | Cause::CutOff), &problems)
        && let Some(last) = last
    {
        problems.push(Problem { line: last.line, cause: Cause::CutOff });
    } else if lacks(|cause| matches!(cause, Cause::Appended | Cause::BeginsAnew), &problems)
        && let Some(more) = more
    {
        problems.push(Problem { line: more.line, cause: Cause::Appended });
    }
    problems.sort_by_key(|problem| problem.line);
    Verified { entries, head: last.and_then(|link| link.said).unwrap_or_default(), problems }
}

/// What an entry goes on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// The link at this place.
    Link(usize),
    /// Nothing: it is the first entry.
    Nothing,
    /// An entry that is not here.
    Missing,
}

/// The order that links say they have.
struct Order {
    /// The places of links, in that order.
    order: Vec<usize>,
    before: Vec<Before>,
    /// Those that nothing goes on from, while something goes on without them.
    inserted: BTreeSet<usize>,
}

impl Order {
    fn of(links: &[Link]) -> Order {
        let mut places: BTreeMap<Hash, usize> = BTreeMap::new();
        for (at, link) in links.iter().enumerate() {
            for hash in [link.said, link.own].into_iter().flatten() {
                places.entry(hash).or_insert(at);
            }
        }
        let is_altered = |at: usize| links.get(at).is_some_and(Link::is_altered);
        let before = |(at, link): (usize, &Link)| match link.prev.and_then(|prev| places.get(&prev)) {
            Some(before) if *before != at => Before::Link(*before),
            // What an altered line says of its place is not known: it stands where it stands.
            _ if at > 0 && (is_altered(at) && link.prev != Some(Hash::default()) || is_altered(at - 1)) => {
                Before::Link(at - 1)
            }
            _ if link.prev == Some(Hash::default()) || is_altered(at) => Before::Nothing,
            _ => Before::Missing,
        };
        let before: Vec<Before> = links.iter().enumerate().map(before).collect();
        let mut behind: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
        for (at, before) in before.iter().enumerate() {
            if let Before::Link(before) = before {
                behind[*before].push(at);
            }
        }
        let mut inserted = BTreeSet::new();
        for behind_one in &behind {
            let is_worse = |at: &&usize| (is_altered(**at), behind[**at].is_empty(), **at);
            let goes_on = behind_one.iter().min_by_key(is_worse);
            inserted.extend(behind_one.iter().filter(|at| Some(*at) != goes_on));
        }
        let (mut order, mut is_placed) = (Vec::with_capacity(links.len()), vec![false; links.len()]);
        let starts = (0..links.len()).filter(|at| !matches!(before[*at], Before::Link(_)));
        for start in starts.chain(0..links.len()) {
            let mut next = vec![start];
            while let Some(at) = next.pop() {
                if !std::mem::replace(&mut is_placed[at], true) {
                    order.push(at);
                    next.extend(behind[at].iter().rev());
                }
            }
        }
        Order { order, before, inserted }
    }
}

/// Which places are out of order: all but those of a longest run that is in order.
fn moved(order: &[usize]) -> Vec<bool> {
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), vec![None; order.len()]);
    for place in order {
        let at = ends.partition_point(|end| end < place);
        before[*place] = at.checked_sub(1).and_then(|at| ends.get(at)).copied();
        ends.truncate(ends.len().max(at + 1));
        if at == ends.len() { ends.push(*place) } else { ends[at] = *place }
    }
    let mut moved = vec![true; order.len()];
    let mut kept = ends.last().copied();
    while let Some(place) = kept {
        moved[place] = false;
        kept = before[place];
    }
    moved
}
