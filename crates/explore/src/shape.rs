//! The properties of a call that a compensation can depend on.

use playproof_engine::playbook::Access;

/// The properties of a synthetic call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallShape {
    /// Whether its tool writes.
    pub access: Access,
    /// Whether its tool is idempotent.
    pub idempotent: bool,
    /// Whether it has an idempotency key.
    pub keyed: bool,
    /// Whether it has a reversal token.
    pub token: bool,
}

/// A keyed write: the call with the most possible outcomes.
pub const KEYED: CallShape = CallShape { access: Access::Write, idempotent: false, keyed: true, token: false };

/// A write that must not be sent twice.
pub const UNKEYED: CallShape = CallShape { keyed: false, ..KEYED };

impl CallShape {
    /// Every shape, the simplest first. Reads are not also idempotent: it makes no difference.
    pub fn all() -> Vec<CallShape> {
        let mut shapes = Vec::new();
        for token in [false, true] {
            for (access, idempotent) in [(Access::Write, false), (Access::Read, false), (Access::Write, true)] {
                shapes.extend([true, false].map(|keyed| CallShape { access, idempotent, keyed, token }));
            }
        }
        shapes
    }

    /// Whether a resend of such a call cannot act twice.
    pub const fn is_safe_to_resend(self) -> bool {
        matches!(self.access, Access::Read) || self.idempotent || self.keyed
    }

    /// The tool of this shape, unless a rule asks for another.
    pub const fn tool(self) -> &'static str {
        match (self.access, self.idempotent) {
            (Access::Read, _) => "orders.look_up",
            (Access::Write, false) => "orders.cancel",
            (Access::Write, true) => "orders.set_address",
        }
    }

    /// For names: `a-keyed-write-with-token`.
    pub fn words(self) -> String {
        let keyed = if self.keyed { "a-keyed" } else { "an-unkeyed" };
        let access = match (self.access, self.idempotent) {
            (Access::Read, _) => "read",
            (Access::Write, false) => "write",
            (Access::Write, true) => "idempotent-write",
        };
        format!("{keyed}-{access}{}", if self.token { "-with-token" } else { "" })
    }
}
