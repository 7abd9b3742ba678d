//! The keys of repeatable tools, of all inputs: each of their calls is a request of its own, to which a key that another one
//! has used does not belong.

use playproof_engine::evidence::Moment;

use super::bounded_map::BoundedMap;

/// By key: when the first two calls with it were made.
#[derive(Debug, Default)]
pub(super) struct UsedKeys(BoundedMap<[Option<Moment>; 2]>);

impl UsedKeys {
    /// Takes the next call with a key.
    pub(super) fn take(&mut self, key: u128, made: Moment) {
        if let Some(free) = self.0.entry(key, Default::default).iter_mut().find(|known| known.is_none()) {
            *free = Some(made);
        }
    }

    /// Whether, at a moment, a call has used a key that is not the one that was made at `own`.
    pub(super) fn is_used_by_another(&self, key: u128, own: Moment, now: Moment) -> bool {
        let mut made = self.0.get(&key).into_iter().flatten().flatten();
        made.any(|made| *made != own && !made.is_after(now))
    }
}
