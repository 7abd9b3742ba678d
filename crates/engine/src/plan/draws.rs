//! Draws that nothing else gives: a pure function of seed, call and attempt. Never a stream, so that one more retry of one
//! call changes no draw of another.

use crate::event::Draw;
use crate::ids::AttemptNo;

/// The draw that comes with the answer to an attempt of a call.
pub(super) fn draw(seed: u64, call: &str, attempt: AttemptNo) -> Draw {
    let mut state = mixed(seed);
    for part in call.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..part.len()].copy_from_slice(part);
        state = mixed(state ^ u64::from_le_bytes(bytes));
    }
    state = mixed(state ^ call.len() as u64);
    state = mixed(state ^ u64::from(attempt.get()));
    let billionths = (u128::from(state) * u128::from(Draw::ONE)) >> 64;
    u32::try_from(billionths).ok().and_then(Draw::from_billionths).unwrap_or(Draw::ZERO) // below one
}

/// The next output of SplitMix64 (Steele, Lea and Flood 2014) from a state.
const fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_add(GOLDEN_GAMMA);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixer_is_the_published_one() {
        let states = (0..4).scan(1_234_567_u64, |state, _| {
            let output = mixed(*state);
            *state = state.wrapping_add(GOLDEN_GAMMA);
            Some(output)
        });
        let published: Vec<u64> = vec![
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
        ];
        assert_eq!(states.collect::<Vec<_>>(), published);
    }

    #[test]
    fn a_draw_depends_on_seed_call_and_attempt_alone() {
        let draw = |seed, call, attempt| draw(seed, call, AttemptNo::new(attempt)).to_string();
        assert_eq!(draw(7, "refund", 1), draw(7, "refund", 1));
        let all = [(7, "refund", 1), (8, "refund", 1), (7, "refunds", 1), (7, "refund", 2), (7, "", 1), (7, "\0", 1)];
        let drawn: std::collections::BTreeSet<String> = all.map(|(seed, call, n)| draw(seed, call, n)).into();
        assert_eq!(drawn.len(), all.len());
    }

    #[test]
    fn draws_spread_evenly() {
        let mut tenths = [0_u32; 10];
        for attempt in 1..=10_000 {
            let tenth = draw(0, "search", AttemptNo::new(attempt)).billionths() / (Draw::ONE / 10);
            tenths[(tenth as usize).min(9)] += 1;
        }
        assert!(tenths.iter().all(|count| (850..1_150).contains(count)), "{tenths:?}");
    }
}
