//! The schemas of playbooks and of tool facts files: the only place of their keys, words, bounds and defaults. Reads nothing.

use std::sync::LazyLock;

use crate::schema::{PLAYBOOK_SCHEMA, Schema};

/// The JSON Schema of a playbook. Reading also checks what several keys say together.
pub const SCHEMA: &str = PLAYBOOK_SCHEMA;

/// The JSON Schema of a tool facts file.
pub const TOOLS_SCHEMA: &str = include_str!("../../../../schemas/tools.json");

/// The version of the format, with which a fingerprint begins.
pub(super) const FORMAT: &str = "playbook/1";

pub(super) static PLAYBOOK: LazyLock<Schema> = LazyLock::new(|| Schema::compile(SCHEMA));
pub(super) static TOOLS: LazyLock<Schema> = LazyLock::new(|| Schema::compile(TOOLS_SCHEMA));
