//! Lint of rules that take words anywhere in a message for a proof that a write did nothing.

use crate::diagnostic::Diagnostic;
use crate::playbook::places::Loaded;
use playproof_engine::event::EffectClaim;
use playproof_engine::ids::RuleId;
use playproof_engine::playbook::{Access, ConditionKind, MessageOp, MessageTest, Playbook, When};

/// The kind of a failure about which only words are known.
const WORDS_ALONE: &str = "tool_error";

/// Rules for writes that claim `not_applied` and recognise the failure by `contains` alone.
pub(super) fn by_words(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    let playbook = &loaded.playbook;
    for (id, rule) in (0..).map(RuleId).zip(&playbook.rules) {
        let verdict = playbook.verdict(rule.verdict);
        if verdict.effect != EffectClaim::NotApplied || !is_by_words(&rule.when) || !may_write(playbook, &rule.when) {
            continue;
        }
        let said = format!("`{}` claims that a write did nothing, from words anywhere in a message", rule.name);
        found.push(
            Diagnostic::warning("words_prove_nothing", said)
                .at(loaded.places.when(id).unwrap_or_default(), "a tool may have acted and say these words")
                .help("ask for a `status`, a `code` or a `kind`, or for `clause` instead of `contains`"),
        );
    }
}

/// Whether only words anywhere in the message distinguish the failure.
fn is_by_words(when: &When) -> bool {
    let kinds = when.texts(ConditionKind::Kind);
    let is_anywhere = |test: &MessageTest| match test.op {
        MessageOp::Contains => true,
        MessageOp::Matches => !test.any_of.iter().all(|regex| regex.starts_with('^') && regex.ends_with('$')),
        MessageOp::StartsWith | MessageOp::Equals | MessageOp::Clause => false,
    };
    when.messages().iter().any(|test| test.op == MessageOp::Contains)
        && when.messages().iter().all(is_anywhere)
        && kinds.iter().all(|kind| kind == WORDS_ALONE)
        && when.get(ConditionKind::Status).is_none()
        && when.get(ConditionKind::Code).is_none()
}

/// Whether the rule matches failures of a tool that writes.
fn may_write(playbook: &Playbook, when: &When) -> bool {
    let reads = |tool: &String| {
        let row = playbook.tools.rows().iter().find(|row| row.pattern == *tool);
        row.map_or_else(|| playbook.tools.facts(tool), |row| row.facts).access == Access::Read
    };
    let tools = when.texts(ConditionKind::Tool);
    when.access() != Some(Access::Read) && (tools.is_empty() || !tools.iter().all(reads))
}
