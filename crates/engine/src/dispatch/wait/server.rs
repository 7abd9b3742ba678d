//! What the upstream's wish to wait makes of the playbook's own wait.

use super::fixed::Fixed;
use super::jitter;
use crate::event::{Draw, ServerSays};
use crate::playbook::{Jitter, OverMax, ServerDelay, ServerDelayMode, Terminal};
use crate::time::Duration;

/// The wish after the playbook's bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// There is none, or it does not count.
    None,
    /// To wait so long.
    Wait(Duration),
    /// It is too long, and the call ends: as exhausted, or so.
    TooLong(Option<Terminal>),
}

/// Whether what the upstream says forbids a retry.
pub(super) const fn forbids_retry(delay: &ServerDelay, says: ServerSays) -> bool {
    delay.stops_at.intersects(says.faults)
}

/// The wish that `told` becomes.
pub(super) fn wish(delay: &ServerDelay, told: Option<Duration>) -> Wish {
    let Some(told) = told.filter(|_| delay.mode != ServerDelayMode::Ignore) else { return Wish::None };
    match delay.max.filter(|max| told > *max) {
        _ if told == Duration::ZERO && delay.ignores_zero => Wish::None,
        None => Wish::Wait(told),
        Some(max) if delay.mode == ServerDelayMode::AtMost => Wish::Wait(max),
        Some(max) => match delay.over_max {
            OverMax::Stop => Wish::TooLong(None),
            OverMax::End(end) => Wish::TooLong(Some(end)),
            OverMax::Cap => Wish::Wait(max),
            OverMax::Discard => Wish::None,
        },
    }
}

/// The wait of a wish that counts; `own` computes the playbook's own wait, if the mode needs it.
pub(super) fn wait(
    mode: ServerDelayMode,
    wish: Duration,
    jitter: &Jitter,
    draw: Draw,
    own: impl FnOnce() -> Duration,
) -> Duration {
    match mode {
        ServerDelayMode::Ignore => own(),
        ServerDelayMode::Exact | ServerDelayMode::AtMost => wish,
        ServerDelayMode::AtLeast => wish.max(own()),
        ServerDelayMode::Window { by } => {
            let own = own();
            own.max(wish.min(own.plus(by)))
        }
        ServerDelayMode::LowerBoundJitter { spread } => {
            let part = Fixed::from(wish).by_ratio(spread);
            let drawn = match jitter {
                Jitter::Modulo => jitter::modulo(part, draw),
                _ => part.by_draw(draw),
            };
            Fixed::from(wish).plus(drawn).round()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::QueueId;
    use crate::playbook::Ratio;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn each_mode_joins_the_wish_and_the_own_wait() {
        let draw = Draw::parse("0.5").unwrap();
        let waits =
            |mode| [0, 100, 250, 900].map(|told| wait(mode, ms(told), &Jitter::None, draw, || ms(200)).as_millis());
        assert_eq!(waits(ServerDelayMode::Ignore), [200, 200, 200, 200]);
        assert_eq!(waits(ServerDelayMode::Exact), [0, 100, 250, 900]);
        assert_eq!(waits(ServerDelayMode::AtLeast), [200, 200, 250, 900]);
        assert_eq!(waits(ServerDelayMode::Window { by: ms(500) }), [200, 200, 250, 700]);
        assert_eq!(waits(ServerDelayMode::LowerBoundJitter { spread: Ratio(500_000) }), [0, 125, 312, 1_125]);
    }

    #[test]
    fn a_wish_over_the_longest_one_stops_is_cut_is_ignored_or_ends_the_call() {
        let end = Terminal::Escalate(QueueId(0));
        let told = |over_max, told| {
            let mode = ServerDelayMode::Exact;
            wish(&ServerDelay { mode, max: Some(ms(100)), over_max, ..ServerDelay::IGNORED }, Some(ms(told)))
        };
        for over_max in [OverMax::Stop, OverMax::Cap, OverMax::Discard, OverMax::End(end)] {
            assert_eq!(told(over_max, 100), Wish::Wait(ms(100)), "the longest wish itself counts");
        }
        assert_eq!(told(OverMax::Stop, 101), Wish::TooLong(None));
        assert_eq!(told(OverMax::Cap, 101), Wish::Wait(ms(100)));
        assert_eq!(told(OverMax::Discard, 101), Wish::None);
        let at_most = ServerDelay { mode: ServerDelayMode::AtMost, max: Some(ms(100)), ..ServerDelay::IGNORED };
        assert_eq!(wish(&at_most, Some(ms(101))), Wish::Wait(ms(100)));
        assert_eq!(told(OverMax::End(end), 101), Wish::TooLong(Some(end)));
    }

    #[test]
    fn a_wish_of_no_time_counts_unless_the_playbook_says_otherwise() {
        let delay = ServerDelay { mode: ServerDelayMode::Exact, ..ServerDelay::IGNORED };
        assert_eq!(wish(&delay, Some(Duration::ZERO)), Wish::Wait(Duration::ZERO));
        assert_eq!(wish(&ServerDelay { ignores_zero: true, ..delay }, Some(Duration::ZERO)), Wish::None);
        assert_eq!(wish(&ServerDelay::IGNORED, Some(ms(5))), Wish::None);
    }
}
