//! `--beyond-tape`: the answers after the end of a recording.

use super::output::say;
use playproof_engine::playbook::Ask;
use playproof_engine::sim::Plan;
use playproof_engine::upstream::BeyondTape;
use playproof_formats::playbook::KNOWN_KINDS;
use playproof_formats::playbook::lint::likely_kind;

/// Warns of a modelled error kind that no rule of a playbook names. A modelled failure has no message and no status, so
/// hardly any rule can match it.
pub fn warn(beyond: &BeyondTape, plans: &[&Plan]) {
    if let BeyondTape::Fail(kind) = beyond {
        plans.iter().filter_map(|plan| unnamed(kind, plan)).for_each(|said| say(&said));
    }
}

fn unnamed(kind: &str, plan: &Plan) -> Option<String> {
    let named: Vec<&str> =
        plan.playbook.rules.iter().flat_map(|rule| rule.when.texts(Ask::Kind)).map(String::as_str).collect();
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
pub fn parse(text: &str) -> Result<BeyondTape, String> {
    match text.split_once(':') {
        None if text == "ok" => Ok(BeyondTape::Ok),
        None if text == "repeat" => Ok(BeyondTape::Repeat),
        Some(("fail", kind)) if !kind.is_empty() => Ok(BeyondTape::Fail(kind.into())),
        _ => {
            Err("it is `ok`, `repeat` (the last recorded answer again) or `fail:KIND`, such as `fail:timeout`"
                .to_owned())
        }
    }
}

/// The text that [`parse`] reads; none without an answer.
pub fn word(beyond: &BeyondTape) -> Option<String> {
    match beyond {
        BeyondTape::Unanswered => None,
        BeyondTape::Ok => Some("ok".to_owned()),
        BeyondTape::Repeat => Some("repeat".to_owned()),
        BeyondTape::Fail(kind) => Some(format!("fail:{kind}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_are_read_and_nothing_else() {
        assert_eq!(parse("ok"), Ok(BeyondTape::Ok));
        assert_eq!(parse("repeat"), Ok(BeyondTape::Repeat));
        assert_eq!(parse("fail:timeout"), Ok(BeyondTape::Fail("timeout".into())));
        assert!(parse("fail").is_err() && parse("fail:").is_err() && parse("OK").is_err());
    }
}
