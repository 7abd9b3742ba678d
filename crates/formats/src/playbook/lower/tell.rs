//! What a verdict tells the agent: its class, the boundary that the class can have, and the author's details.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::playbook::places::TellPlaces;
use crate::playbook::syntax;
use crate::yaml::{Cursor, MapReader};
use playproof_engine::event::{Boundary, FailureClass};
use playproof_engine::playbook::Tell;

/// The `tell` written at `at`.
pub(super) fn tell(at: Cursor<'_>) -> Option<(Tell, TellPlaces)> {
    let record = at.record("`tell`", syntax::TELL)?;
    let written_class = record.required("class");
    let class = written_class.and_then(|class| class.word(&FailureClass::TABLE));
    let written_boundary = record.optional("boundary");
    let boundary = written_boundary.map(|boundary| boundary.word(&Boundary::TABLE));
    let written_transient = record.optional("transient");
    let details = record.optional("details").map_or_else(|| Some(Vec::new()), details);
    if class.is_none() {
        written_transient.and_then(Cursor::bool)?; // which class it is for is unknown, and its value can still be wrong
    }
    let (class, class_place) = (class?, written_class?.span());
    let boundary = boundary_of(&record, class, &class_place, boundary);
    let transient = transient_of(&record, class, &class_place, written_transient);
    let tell = Tell { class, boundary: boundary?, transient: transient?, details: details? };
    Some((
        tell,
        TellPlaces {
            whole: at.span(),
            class: class_place,
            boundary: written_boundary.map(Cursor::span),
            transient: written_transient.map(Cursor::span),
        },
    ))
}

/// The boundary: a written one that its class can have, else the only one.
fn boundary_of(
    record: &MapReader<'_>,
    class: FailureClass,
    class_place: &Range<usize>,
    written: Option<Option<Boundary>>,
) -> Option<Boundary> {
    let allowed = || class.boundaries().iter().map(|one| format!("`{}`", one.as_str())).collect::<Vec<_>>().join(", ");
    match written {
        Some(Some(boundary)) if !class.boundaries().contains(&boundary) => {
            let message = format!("`{}` does not come from the boundary `{}`", class.as_str(), boundary.as_str());
            let place = record.optional("boundary")?.span();
            record.cursor().report(
                Diagnostic::error("wrong_boundary", message)
                    .at(place, "not a boundary of this class")
                    .at(class_place.clone(), "the class")
                    .help(format!("its boundaries: {}", allowed())),
            );
            None
        }
        Some(boundary) => boundary,
        None => class.only_boundary().or_else(|| {
            let message = format!("`{}` has several boundaries: `tell` needs `boundary`", class.as_str());
            let missing =
                Diagnostic::error("missing_boundary", message).at(class_place.clone(), "from which boundary?");
            record.cursor().report(missing.help(format!("write `boundary: ...`, one of {}", allowed())));
            None
        }),
    }
}

/// Whether the failures pass: written exactly if that depends on their cause.
fn transient_of(
    record: &MapReader<'_>,
    class: FailureClass,
    class_place: &Range<usize>,
    written: Option<Cursor<'_>>,
) -> Option<Option<bool>> {
    match (class.depends_on_cause(), written) {
        (true, Some(transient)) => transient.bool().map(Some),
        (false, None) => Some(None),
        (true, None) => {
            let message = format!("whether `{}` passes depends on the cause: `tell` needs `transient`", class.as_str());
            let missing = Diagnostic::error("missing_transient", message).at(class_place.clone(), "does it pass?");
            record.cursor().report(missing.help(
                "write `transient: true` if the same call may succeed later without a change by people, else `transient: false`",
            ));
            None
        }
        (false, Some(_)) => {
            let message = format!("whether `{}` passes is known: `transient` is not for it", class.as_str());
            let place = record.key_span("transient")?;
            record.cursor().report(
                Diagnostic::error("no_transient", message)
                    .at(place, "not for this class")
                    .at(class_place.clone(), "the class")
                    .help("remove it"),
            );
            None
        }
    }
}

/// The author's details, sorted by key.
fn details(at: Cursor<'_>) -> Option<Vec<(Arc<str>, Arc<str>)>> {
    let mut details = Vec::new();
    let mut good = true;
    for (n, (key, value)) in at.entries("`details`")?.enumerate() {
        if n == syntax::MOST_DETAILS {
            let message = format!("there are more than {} details", syntax::MOST_DETAILS);
            at.report(Diagnostic::error("too_many", message).at(key.span.clone(), "one too many"));
            return None;
        }
        if Tell::COMPUTED.contains(&key.text) {
            let message = format!("`{}` is computed for each call: `details` cannot give it", key.text);
            at.report(
                Diagnostic::error("computed_detail", message)
                    .at(key.span.clone(), "not for `details`")
                    .help("remove it, or choose another name"),
            );
            good = false;
            continue; // no value would be right
        }
        let (is_name, text) = (at.named(&key, ""), value.words());
        match text.filter(|_| is_name) {
            Some(text) => details.push((key.text.into(), text.into())),
            None => good = false,
        }
    }
    details.sort();
    good.then_some(details)
}
