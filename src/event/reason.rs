//! Why something was stopped, refused or given up.

use crate::ids::ReasonId;

/// Why a further attempt was suppressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SuppressedWhy {
    /// The tool is a write that is not idempotent, the call has no key, and an earlier attempt may have acted.
    MayHaveActed,
    /// The same, and an earlier attempt did act.
    HasActed,
}

impl SuppressedWhy {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            SuppressedWhy::MayHaveActed => "may_have_acted",
            SuppressedWhy::HasActed => "has_acted",
        }
    }
}

/// Why a reversal was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusedWhy {
    /// The call carries no reversal token.
    NoToken,
    /// The token has been sent for redemption before, whatever came of it.
    TokenRedeemed,
    /// The upstream refused the redemption.
    UpstreamRefused,
    /// The redemption timed out; it may have been redeemed.
    NoAnswer,
    /// The redemption failed, and the failure does not say that it was refused: it may have been redeemed.
    UpstreamFailed,
}

impl RefusedWhy {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            RefusedWhy::NoToken => "no_token",
            RefusedWhy::TokenRedeemed => "token_redeemed",
            RefusedWhy::UpstreamRefused => "upstream_refused",
            RefusedWhy::NoAnswer => "no_answer",
            RefusedWhy::UpstreamFailed => "upstream_failed",
        }
    }

    /// Every reason.
    pub const ALL: [RefusedWhy; 5] = [
        RefusedWhy::NoToken,
        RefusedWhy::TokenRedeemed,
        RefusedWhy::UpstreamRefused,
        RefusedWhy::NoAnswer,
        RefusedWhy::UpstreamFailed,
    ];

    /// Whether the token was sent: the guard let it pass, and the upstream has seen it.
    pub const fn was_sent(self) -> bool {
        match self {
            RefusedWhy::NoToken | RefusedWhy::TokenRedeemed => false,
            RefusedWhy::UpstreamRefused | RefusedWhy::NoAnswer | RefusedWhy::UpstreamFailed => true,
        }
    }
}

/// Why a call was refused before its first attempt, in the order in which admission asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TurnedAway {
    /// The graph has no such action.
    UnknownAction,
    /// The graph does not allow the action after the last one.
    InvalidTransition,
    /// The action's own validation failed.
    ValidationFailed,
    /// The tool is not declared, and the playbook refuses what is not.
    NotFound,
    /// The arguments do not fit the tool's schema.
    Schema,
    /// The idempotency key belongs to another request.
    KeyReused,
    /// The run has no tool calls left.
    BudgetExceeded,
    /// The breaker of the tool's server is open.
    CircuitOpen,
}

impl TurnedAway {
    /// Every reason, in its order.
    pub const ALL: [TurnedAway; 8] = [
        TurnedAway::UnknownAction,
        TurnedAway::InvalidTransition,
        TurnedAway::ValidationFailed,
        TurnedAway::NotFound,
        TurnedAway::Schema,
        TurnedAway::KeyReused,
        TurnedAway::BudgetExceeded,
        TurnedAway::CircuitOpen,
    ];

    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            TurnedAway::UnknownAction => "unknown_action",
            TurnedAway::InvalidTransition => "invalid_transition",
            TurnedAway::ValidationFailed => "validation_failed",
            TurnedAway::NotFound => "not_found",
            TurnedAway::Schema => "schema",
            TurnedAway::KeyReused => "key_reused",
            TurnedAway::BudgetExceeded => "budget_exceeded",
            TurnedAway::CircuitOpen => "circuit_open",
        }
    }
}

/// The limit that ended a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// The verdict's own number of retries.
    MaxRetries,
    /// `limits.max_attempts`.
    MaxAttempts,
    /// `limits.deadline_ms`.
    Deadline,
    /// The upstream asked to wait longer than `max_wait_ms`.
    MaxWait,
    /// `max_refreshes`.
    MaxRefreshes,
    /// The refresh itself failed.
    RefreshFailed,
    /// A refused reversal, where a study playbook gives up on it.
    ReversalRefused,
}

impl StopReason {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            StopReason::MaxRetries => "max_retries",
            StopReason::MaxAttempts => "max_attempts",
            StopReason::Deadline => "deadline",
            StopReason::MaxWait => "max_wait",
            StopReason::MaxRefreshes => "max_refreshes",
            StopReason::RefreshFailed => "refresh_failed",
            StopReason::ReversalRefused => "reversal_refused",
        }
    }
}

/// Why a call was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeprecatedWhy {
    /// The playbook's own `reason`.
    Stated(ReasonId),
    /// `refresh_evidence: { then: abort }`.
    RefreshAbort,
    /// A study playbook gives up after the first refresh that did not help.
    RefreshFutile,
}
