//! `--beyond-tape`: the answers after the end of a recording.

use super::output::say;
use playproof_engine::playbook::ConditionKind;
use playproof_engine::sim::Plan;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::playbook::KNOWN_KINDS;
use playproof_formats::playbook::lint::likely_kind;

/// Warns of a modelled error kind that no rule of a playbook names. A modelled failure has no message and no status, so
/// hardly any rule can match it.
pub fn warn(beyond: &MissingAnswerPolicy, plans: &[&Plan]) {
    if let MissingAnswerPolicy::Fail(kind) = beyond {
        plans.iter().filter_map(|plan| unnamed(kind, plan)).for_each(|said| say(&said));
    }
}

fn unnamed(kind: &str, plan: &Plan) -> Option<String> {
    let named: Vec<&str> =
        plan.playbook.rules.iter().flat_map(|rule| rule.when.texts(ConditionKind::Kind)).map(String::as_str).collect();
    if named.contains(&kind) || plan.playbook.rules.is_empty() {
        return None;
    }
    let near = likely_kind(kind, named.iter().copied().chain(KNOWN_KINDS));
    let meant = near.map(|near| format!("; did you mean `fail:{near}`?")).unwrap_or_default();
    Some(format!("warning: no rule of `{}` names the error kind `{kind}`{meant}", plan.names.playbook))
}

/// Reads `ok`, `repeat` or `fail:KIND`.
///
/// # Errors
/// Any other text.
pub fn parse(text: &str) -> Result<MissingAnswerPolicy, String> {
    match text.split_once(':') {
        None if text == "ok" => Ok(MissingAnswerPolicy::Ok),
        None if text == "repeat" => Ok(MissingAnswerPolicy::Repeat),
        Some(("fail", kind)) if !kind.is_empty() => Ok(MissingAnswerPolicy::Fail(kind.into())),
        _ => {
            Err("it is `ok`, `repeat` (the last recorded answer again) or `fail:KIND`, such as `fail:timeout`"
                .to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_are_read_and_nothing_else() {
        assert_eq!(parse("ok"), Ok(MissingAnswerPolicy::Ok));
        assert_eq!(parse("repeat"), Ok(MissingAnswerPolicy::Repeat));
        assert_eq!(parse("fail:timeout"), Ok(MissingAnswerPolicy::Fail("timeout".into())));
        assert!(parse("fail").is_err() && parse("fail:").is_err() && parse("OK").is_err());
    }
}
