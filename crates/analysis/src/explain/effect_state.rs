//! What is known of an effect.

/// Whether the effect is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EffectState {
    /// The effect is there.
    Done,
    /// The effect is not there.
    NotDone,
    /// The effect may be there.
    #[default]
    MaybeDone,
}
