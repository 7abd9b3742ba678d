//! The calls of a fixture in the order of a page, each followed by its steps. Runs nothing.

use playproof_engine::fixture::{Fixture, FixtureCall};
use playproof_engine::time::Instant;

/// A call of the fixture, or a step of one.
pub struct PageCall<'a> {
    pub name: &'a str,
    pub is_step: bool,
    /// The name of the calls that the fixture writes as one, if it is one of several.
    group: Option<&'a str>,
    pub tool: &'a str,
    pub args: &'a str,
    pub key: Option<String>,
    pub token: Option<&'a str>,
    pub at: Instant,
}

impl PageCall<'_> {
    /// Whether the fixture writes it as one of several.
    pub fn is_one_of_several(&self) -> bool {
        self.group.is_some()
    }

    /// Whether the fixture writes both as one.
    pub fn is_one_with(&self, other: &PageCall<'_>) -> bool {
        self.group.is_some() && self.group == other.group
    }
}

/// The calls and those of their steps that a run has; `tool_of` gives the tool of a call that a run has.
pub fn page_calls<'a>(fixture: &'a Fixture, tool_of: impl Fn(&str) -> Option<&'a str>) -> Vec<PageCall<'a>> {
    let mut all = Vec::new();
    for call in &fixture.calls {
        let FixtureCall { name, group, tool, args, key, token, at, .. } = call;
        let (group, tool) = (group.as_deref(), tool_of(name).unwrap_or(tool));
        all.push(PageCall {
            name,
            is_step: false,
            group,
            tool,
            args,
            key: key.clone(),
            token: token.as_deref(),
            at: *at,
        });
        for step in &call.steps {
            let Some(tool) = tool_of(&step.name) else { continue };
            let key = key.as_ref().map(|key| format!("{key}/{}", step.step));
            let group = step.group.as_deref();
            all.push(PageCall {
                name: &step.name,
                is_step: true,
                group,
                tool,
                args: &step.args,
                key,
                token: None,
                at: *at,
            });
        }
    }
    all
}
