//! The id under which a failed call is found in an audit log.

use playproof_intake::hash;

/// `audit-` and 16 hexadecimal digits: a hash of the run and of the call's name in it. The same call always has the same id.
pub fn audit_id(run: Option<&str>, call: &str) -> String {
    let run = run.map_or(0, |run| hash::seed(run.as_bytes()));
    let hash = hash::half(hash::bytes(call.as_bytes(), run));
    let mut id = String::from("audit-");
    id.reserve_exact(16);
    for place in (0..16).rev() {
        let digit = hash >> (4 * place) & 15;
        id.push(char::from(b"0123456789abcdef"[digit as usize])); // 15 at most; `format!` takes five times as long
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_id_is_stable_and_depends_on_run_and_call() {
        let id = audit_id(Some("r1"), "r1#3");
        assert_eq!(id, "audit-de461e7927c5bcdf");
        let others = [audit_id(Some("r1"), "r1#4"), audit_id(Some("r2"), "r1#3"), audit_id(None, "r1#3")];
        let joined = audit_id(Some("r1r1"), "#3");
        assert!(!others.contains(&id) && joined != id);
    }
}
