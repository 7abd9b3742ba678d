//! Aligns the events of a golden with those of a run, for one call, by the longest common subsequence: one inserted event
//! does not make all later ones differ.

use crate::golden::body::EventLine;
use playproof_engine::event::{EventKind, FieldKey};

/// The largest alignment table. Longer lists are paired by place alone: no person reads such a golden.
const MOST_CELLS: usize = 4_000_000;

/// An event and its attempt.
struct AlignedEvent<'a> {
    event: &'a EventLine,
    /// Attempts started so far: a verdict on the second attempt does not match one on the first.
    attempts: usize,
}

fn with_attempts<'a>(events: &[&'a EventLine]) -> Vec<AlignedEvent<'a>> {
    let mut attempts = 0;
    let numbered = events.iter().map(|event| {
        attempts += usize::from(event.kind == EventKind::AttemptStarted);
        AlignedEvent { event, attempts }
    });
    numbered.collect()
}

/// Pairs of places in `expected` and `actual`, in order; every place of both is in exactly one pair.
pub(super) fn align(expected: &[&EventLine], actual: &[&EventLine]) -> Vec<(Option<usize>, Option<usize>)> {
    let (expected, actual) = (&with_attempts(expected)[..], &with_attempts(actual)[..]);
    let same = |(e, a): &(&AlignedEvent<'_>, &AlignedEvent<'_>)| alike(e, a) == Some(SAME);
    let head = expected.iter().zip(actual).take_while(same).count();
    let (rest_e, rest_a) = (&expected[head..], &actual[head..]); // `head` is at most either length
    let tail = rest_e.iter().rev().zip(rest_a.iter().rev()).take_while(same).count();
    let middle = (&rest_e[..rest_e.len() - tail], &rest_a[..rest_a.len() - tail]);

    let mut pairs: Vec<_> = (0..head).map(|n| (Some(n), Some(n))).collect();
    let shift = |n: Option<usize>| n.map(|n| n + head);
    pairs.extend(common_subsequence(middle.0, middle.1).into_iter().map(|(e, a)| (shift(e), shift(a))));
    let (end_e, end_a) = (expected.len() - tail, actual.len() - tail);
    pairs.extend((0..tail).map(|n| (Some(end_e + n), Some(end_a + n))));
    pair_first_unaligned(pairs)
}

/// The similarity of two equal events.
const SAME: u32 = u32::MAX;

/// The similarity of two events that can be aligned; none if they cannot.
fn alike(expected: &AlignedEvent<'_>, actual: &AlignedEvent<'_>) -> Option<u32> {
    let same_attempt = expected.attempts == actual.attempts;
    let (expected, actual) = (expected.event, actual.event);
    let same_value = expected.value == actual.value;
    let is_same_one = match expected.kind.value_key() {
        FieldKey::Outcome => true,                            // a call has one
        FieldKey::Attempt | FieldKey::Evidence => same_value, // the number identifies the event
        _ => same_attempt,
    };
    if expected.kind != actual.kind || !is_same_one {
        return None;
    }
    if same_value && expected.fields == actual.fields {
        return Some(SAME);
    }
    let fields = expected.fields.iter().filter(|field| actual.fields.contains(field)).count();
    Some(100 + 10 * u32::from(same_value) + u32::try_from(fields).unwrap_or(9).min(9))
}

/// The weight of a pair in the alignment: pairing at all counts most.
fn weight(expected: &AlignedEvent<'_>, actual: &AlignedEvent<'_>) -> Option<u32> {
    alike(expected, actual).map(|alike| alike.min(120))
}

fn common_subsequence(
    expected: &[AlignedEvent<'_>],
    actual: &[AlignedEvent<'_>],
) -> Vec<(Option<usize>, Option<usize>)> {
    let (rows, columns) = (expected.len(), actual.len());
    if (rows + 1).saturating_mul(columns + 1) > MOST_CELLS {
        return (0..rows.max(columns)).map(|n| ((n < rows).then_some(n), (n < columns).then_some(n))).collect();
    }
    // best[e][a]: the weight of the best alignment of expected[e..] and actual[a..]
    let mut best = vec![vec![0_u32; columns + 1]; rows + 1];
    for e in (0..rows).rev() {
        for a in (0..columns).rev() {
            let skip = best[e + 1][a].max(best[e][a + 1]);
            let take = weight(&expected[e], &actual[a]).map_or(0, |weight| weight + best[e + 1][a + 1]);
            best[e][a] = skip.max(take);
        }
    }
    let (mut e, mut a) = (0, 0);
    let mut pairs = Vec::with_capacity(rows.max(columns));
    while e < rows && a < columns {
        let take = weight(&expected[e], &actual[a]).map(|weight| weight + best[e + 1][a + 1]);
        if take == Some(best[e][a]) {
            pairs.push((Some(e), Some(a)));
            (e, a) = (e + 1, a + 1);
        } else if best[e + 1][a] == best[e][a] {
            pairs.push((Some(e), None));
            e += 1;
        } else {
            pairs.push((None, Some(a)));
            a += 1;
        }
    }
    pairs.extend((e..rows).map(|e| (Some(e), None)));
    pairs.extend((a..columns).map(|a| (None, Some(a))));
    pairs
}

/// Pairs the first unaligned events of both sides where both have some at the same place: the two diverge there.
fn pair_first_unaligned(pairs: Vec<(Option<usize>, Option<usize>)>) -> Vec<(Option<usize>, Option<usize>)> {
    let mut met = Vec::with_capacity(pairs.len());
    let mut gap: (Vec<usize>, Vec<usize>) = Default::default();
    let close = |gap: &mut (Vec<usize>, Vec<usize>), met: &mut Vec<_>| {
        let (expected, actual) = std::mem::take(gap);
        let both = usize::from(!expected.is_empty() && !actual.is_empty());
        if let (Some(&e), Some(&a), 1) = (expected.first(), actual.first(), both) {
            met.push((Some(e), Some(a)));
        }
        met.extend(expected.into_iter().skip(both).map(|e| (Some(e), None)));
        met.extend(actual.into_iter().skip(both).map(|a| (None, Some(a))));
    };
    for pair in pairs {
        match pair {
            (Some(e), None) => gap.0.push(e),
            (None, Some(a)) => gap.1.push(a),
            aligned => {
                close(&mut gap, &mut met);
                met.push(aligned);
            }
        }
    }
    close(&mut gap, &mut met);
    met
}
