//! What decides: it stands at the head of a journal, and in the answer to `hello`.

use playproof_engine::time::Instant;

use crate::object::Object;
use crate::protocol::PROTOCOL;

/// What decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decider {
    /// The name of the playbook.
    pub playbook: String,
    /// The fingerprint of the playbook.
    pub fingerprint: String,
    /// The version of the engine.
    pub engine: String,
    /// Whether it decides in the shadow: what it decides is kept, and nobody obeys it.
    pub shadow: bool,
}

impl Decider {
    /// The first line of a journal that begins after a moment.
    pub fn head(&self, at: Instant) -> String {
        let mut head = String::new();
        self.write(Object::new(&mut head).text("type", "journal")).at("at_ms", at).end();
        head.push('\n');
        head
    }

    /// The protocol, and what decides.
    pub fn write<'o>(&self, object: Object<'o>) -> Object<'o> {
        let object = object
            .text("protocol", PROTOCOL)
            .text("playbook", &self.playbook)
            .text("fingerprint", &self.fingerprint)
            .text("engine", &self.engine);
        if self.shadow { object.truth("shadow", true) } else { object }
    }
}
