//! Mutants of what verdicts tell the agent: without it, another class, another cause. Boundary and details decide nothing,
//! and no golden has them.

use playproof_engine::event::FailureClass;
use playproof_engine::playbook::{Tell, Verdict};

/// A change: its name, what is done in words, and the changed `tell`.
pub(super) type TellChange = (String, String, Option<Tell>);

/// The changes of what a verdict tells; none if it leaves that to the error.
pub(super) fn of_verdict(verdict: &Verdict) -> Vec<TellChange> {
    let Some(tell) = &verdict.tell else { return Vec::new() };
    let mut all = vec![("tell-drop".to_owned(), "without `tell`".to_owned(), None)];
    for class in [FailureClass::NetworkError, FailureClass::ExternalApiError, FailureClass::CapabilityDenied] {
        if class != tell.class {
            let what = format!("`class: {}` instead of `{}`", class.as_str(), tell.class.as_str());
            let other = Tell { details: tell.details.clone(), ..Tell::of(class) };
            all.push((format!("tell-{}", class.as_str()), what, Some(other)));
        }
    }
    if let Some(transient) = tell.transient {
        let other = Tell { transient: Some(!transient), ..tell.clone() };
        all.push((format!("tell-transient-{}", !transient), format!("`transient: {}`", !transient), Some(other)));
    }
    all
}
