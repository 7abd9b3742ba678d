//! How an upstream answers repeated idempotency keys, as words; `upstream` answers so.

/// The key dialects of upstreams: how they answer a repeated key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyDialect {
    /// Repeats the first `ok`.
    Replay,
    /// As `Replay`; 409 while a request is in flight, whatever it ends with; 422 for other arguments.
    Ietf,
    /// Answers 409: the key was processed.
    Conflict,
    /// Forgets a key if its answer was lost, and acts again.
    Lossy,
    /// Ignores keys.
    #[default]
    None,
}

impl KeyDialect {
    /// Every dialect.
    pub const ALL: [KeyDialect; 5] =
        [KeyDialect::Replay, KeyDialect::Ietf, KeyDialect::Conflict, KeyDialect::Lossy, KeyDialect::None];

    /// The word in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            KeyDialect::Replay => "replay",
            KeyDialect::Ietf => "ietf",
            KeyDialect::Conflict => "conflict",
            KeyDialect::Lossy => "lossy",
            KeyDialect::None => "none",
        }
    }

    /// Whether the answer to a key that has acted may be the first `ok` again, without another effect.
    pub const fn repeats_its_ok(self) -> bool {
        match self {
            KeyDialect::Replay | KeyDialect::Ietf | KeyDialect::Lossy => true,
            KeyDialect::Conflict | KeyDialect::None => false,
        }
    }
}
