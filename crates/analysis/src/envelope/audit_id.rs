//! The id under which a failed call is found in an audit log.

use sha2::{Digest, Sha256};

/// `audit-` and 16 hexadecimal digits: a hash of the run and of the call's name in it. The same call always has the same id.
pub fn audit_id(run: Option<&str>, call: &str) -> String {
    let mut hash = Sha256::new_with_prefix(if run.is_some() { b"run" } else { b"any" });
    hash.update(run.unwrap_or_default());
    hash.update([0]); // no name of a run contains it
    hash.update(call);
    let digits = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("audit-{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_id_is_stable_and_depends_on_run_and_call() {
        let id = audit_id(Some("r1"), "r1#3");
        assert_eq!(id, "audit-2a74427aa14e9457");
        let others = [audit_id(Some("r1"), "r1#4"), audit_id(Some("r2"), "r1#3"), audit_id(None, "r1#3")];
        let joined = audit_id(Some("r1r1"), "#3");
        assert!(!others.contains(&id) && joined != id);
    }
}
