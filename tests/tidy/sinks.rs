//! What of a trace goes to readers: what draws is given what is shown, and asks for nothing that is recorded.

use crate::tidy::scan;
use crate::tidy::tree::{Tree, Violation};

/// How recorded texts are asked for.
const RECORDED: &str = ".raw()";

/// It looks for the names that people type, and folds calls by what is recorded.
const CHOOSES: &str = "crates/report/src/listing.rs";

/// Reporters that ask for what is recorded.
pub fn recorded(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.rust("crates/report/src/").filter(|(path, _)| *path != CHOOSES) {
        let code = scan::views(text).code;
        let said = || "draws what is recorded; only what is shown is redacted".to_owned();
        violations.extend(code.match_indices(RECORDED).map(|(offset, _)| Violation::at(path, text, offset, said())));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::{assert_none, assert_one};

    #[test]
    fn no_reporter_asks_for_what_is_recorded() {
        assert_none(&recorded(&Tree::of_this_package()));
    }

    #[test]
    fn a_reporter_that_asks_for_it_is_caught() {
        let bad = "fn f(call: SeenCall<'_>) {\n    call.raw();\n}";
        assert_one(&recorded(&Tree::of(&[("crates/report/src/a.rs", bad)])), "crates/report/src/a.rs", 2, "recorded");
        assert_none(&recorded(&Tree::of(&[("crates/report/src/a.rs", "fn f() {} // .raw()")])));
    }
}
