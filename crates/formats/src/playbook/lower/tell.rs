//! What a verdict tells the agent: its class, the boundary that the class can have, and the author's details.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::schema::At;
use playproof_engine::event::{Boundary, FailureClass};
use playproof_engine::playbook::Tell;

/// The `tell` written at `at`.
pub(super) fn tell(at: At<'_>) -> Option<Tell> {
    let class = at.word("class", FailureClass::parse)?;
    let place = at.get("class")?.span();
    let boundary = boundary(at, class, &place);
    let transient = transient(at, class, &place);
    let details = at.get("details").into_iter().flat_map(At::entries);
    let details: Option<Vec<(Arc<str>, Arc<str>)>> =
        details.map(|(key, value)| Some((key.text.into(), value.text()?.into()))).collect();
    let mut details = details?;
    details.sort();
    Some(Tell { class, boundary: boundary?, transient: transient?, details })
}

/// The boundary: a written one that its class can have, else the only one.
fn boundary(at: At<'_>, class: FailureClass, class_place: &Range<usize>) -> Option<Boundary> {
    let allowed = || class.boundaries().iter().map(|one| format!("`{}`", one.as_str())).collect::<Vec<_>>().join(", ");
    let Some(written) = at.get("boundary") else {
        return class.only_boundary().or_else(|| {
            let message = format!("`{}` has several boundaries: `tell` needs `boundary`", class.as_str());
            let missing =
                Diagnostic::error("missing_boundary", message).at(class_place.clone(), "from which boundary?");
            at.report(missing.help(format!("write `boundary: ...`, one of {}", allowed())));
            None
        });
    };
    let boundary = Boundary::parse(written.text()?)?;
    if !class.boundaries().contains(&boundary) {
        let message = format!("`{}` does not come from the boundary `{}`", class.as_str(), boundary.as_str());
        at.report(
            Diagnostic::error("wrong_boundary", message)
                .at(written.span(), "not a boundary of this class")
                .at(class_place.clone(), "the class")
                .help(format!("its boundaries: {}", allowed())),
        );
    }
    Some(boundary)
}

/// Whether the failures pass: written exactly if that depends on their cause.
fn transient(at: At<'_>, class: FailureClass, class_place: &Range<usize>) -> Option<Option<bool>> {
    let written = at.optional("transient", At::flag)?;
    match (class.depends_on_cause(), at.key_span("transient")) {
        (true, None) => {
            let message = format!("whether `{}` passes depends on the cause: `tell` needs `transient`", class.as_str());
            let missing = Diagnostic::error("missing_transient", message).at(class_place.clone(), "does it pass?");
            at.report(missing.help(
                "write `transient: true` if the same call may succeed later without a change by people, else `transient: false`",
            ));
        }
        (false, Some(place)) => {
            let message = format!("whether `{}` passes is known: `transient` is not for it", class.as_str());
            at.report(
                Diagnostic::error("no_transient", message)
                    .at(place, "not for this class")
                    .at(class_place.clone(), "the class")
                    .help("remove it"),
            );
        }
        (true, Some(_)) | (false, None) => {}
    }
    Some(written)
}
