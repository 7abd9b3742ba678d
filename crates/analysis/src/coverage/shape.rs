//! The circumstances of a call that a compensation can depend on, and a call that has them.

use playproof_engine::playbook::Access;

/// What a made-up call is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub access: Access,
    pub idempotent: bool,
    pub keyed: bool,
    pub token: bool,
}

/// A keyed write: the call on which most can happen.
pub(super) const KEYED: Shape = Shape { access: Access::Write, idempotent: false, keyed: true, token: false };

/// A write that must not be sent twice.
pub(super) const UNKEYED: Shape = Shape { keyed: false, ..KEYED };

impl Shape {
    /// Every shape, the plainest first; a read is never called idempotent, for it makes no difference.
    pub fn all() -> Vec<Shape> {
        let mut shapes = Vec::new();
        for token in [false, true] {
            for (access, idempotent) in [(Access::Write, false), (Access::Read, false), (Access::Write, true)] {
                shapes.extend([true, false].map(|keyed| Shape { access, idempotent, keyed, token }));
            }
        }
        shapes
    }

    /// Whether sending such a call again cannot act twice.
    pub const fn is_safe_to_resend(self) -> bool {
        matches!(self.access, Access::Read) || self.idempotent || self.keyed
    }

    /// A tool of this shape, where no rule asks for another.
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
