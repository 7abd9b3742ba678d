//! Each lint has its heading in `help/lints.md`, and each heading its lint.

use std::collections::BTreeSet;

use crate::tidy::tree::{Tree, Violation};

const TEXTS: &str = "help/lints.md";

/// Where lints are written, each with its id.
const LINTS: [(&str, &str); 4] = [
    ("crates/formats/src/playbook/lint/", "Diagnostic::warning("),
    ("crates/formats/src/playbook/lint/", "Diagnostic::note("),
    ("crates/explore/src/lint.rs", "Diagnostic::error("),
    ("crates/explore/src/lint.rs", "Diagnostic::note("),
];

/// Ids without a heading, and headings without an id.
pub fn unexplained(tree: &Tree) -> Vec<Violation> {
    let headings: BTreeSet<&str> =
        tree.text(TEXTS).unwrap_or_default().lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let mut ids = BTreeSet::new();
    let mut violations = Vec::new();
    let written = LINTS.into_iter().flat_map(|(folder, said)| tree.rust(folder).map(move |file| (said, file)));
    for (said, (path, text)) in written {
        for (offset, _) in text.match_indices(said) {
            let Some(id) = text[offset + said.len()..].trim_start().split('"').nth(1) else { continue };
            if ids.insert(id) && !headings.contains(id) {
                violations.push(Violation::at(path, text, offset, format!("`{id}` has no heading in {TEXTS}")));
            }
        }
    }
    let unknown = headings.difference(&ids).map(|id| Violation::of_file(TEXTS, format!("no lint is called `{id}`")));
    violations.into_iter().chain(unknown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::{assert_none, assert_one};

    #[test]
    fn every_lint_is_explained_and_nothing_else() {
        assert_none(&unexplained(&Tree::of_this_package()));
    }

    #[test]
    fn a_lint_without_a_heading_and_a_heading_without_a_lint_are_seen() {
        let source = "crates/formats/src/playbook/lint/a.rs";
        let text = "fn a() {\n    Diagnostic::warning(\n        \"odd_wait\", message)\n}\n";
        assert_one(&unexplained(&Tree::of(&[(source, text)])), source, 2, "odd_wait");
        let texts = (TEXTS, "# Lints\n\n## odd_wait\n\n## gone\n");
        assert_one(&unexplained(&Tree::of(&[(source, text), texts])), TEXTS, 1, "gone");
    }
}
