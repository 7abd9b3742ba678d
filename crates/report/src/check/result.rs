//! One result that does not pass, as a card of the page.

use std::sync::Arc;

use super::changes::{CheckPage, class_tone, difference};
use crate::doc::{Block, Text, Tone};
use playproof_analysis::check::{CaseResult, GoldenState};
use playproof_formats::diagnostic::{Report, Source};

/// The most contradictions that are shown.
const MOST: usize = 100;

/// One result that does not pass.
pub fn result(shown: &CheckPage<'_>, result: &CaseResult) -> Block {
    let mut inside = vec![Block::Para(Text::new(Tone::Soft, &*result.title))];
    inside.extend(result.contradictions.iter().take(MOST).map(|contradiction| {
        Block::Para(Text::new(Tone::Bad, "contradicts the fixture: ").say(contradiction.to_string()))
    }));
    match &result.golden {
        GoldenState::Unreadable(report) => {
            inside.push(Block::Source { report: for_reader(shown, report), said: String::new() })
        }
        GoldenState::Missing => inside.push(Block::para("this run is not accepted yet")),
        GoldenState::Diverged(diverged) => {
            let cause = shown.causes.get(&result.id).cloned();
            let cause = cause
                .map(|cause| playproof_analysis::check::Cause { report: for_reader(shown, &cause.report), ..cause });
            inside.extend(difference(&diverged.comparison, cause.as_ref(), shown.show_args, ["golden", "run"]));
        }
        GoldenState::Same => {}
    }
    Block::card(word(result).say("  ").name(result.id.to_string()), inside)
}

fn word(result: &CaseResult) -> Text {
    match (&result.golden, result.worst()) {
        (GoldenState::Unreadable(_), _) => Text::new(Tone::Bad, "unreadable golden"),
        (_, Some(class)) => Text::new(class_tone(class), class.words()),
        (GoldenState::Missing, _) => Text::new(Tone::Doubt, "no golden"),
        _ => Text::new(Tone::Bad, "contradicts its fixture"),
    }
}

/// A diagnostic report, with file names for the reader.
fn for_reader(shown: &CheckPage<'_>, report: &Report) -> Report {
    if shown.above.is_empty() || report.source.name.starts_with(['/', '<']) {
        return report.clone();
    }
    let source = Source { name: format!("{}{}", shown.above, report.source.name), ..(*report.source).clone() };
    Report { source: Arc::new(source), diagnostics: report.diagnostics.clone() }
}
