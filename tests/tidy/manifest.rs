//! Cargo.toml says of every dependency what it is for, and pins none: Cargo.lock does.

use crate::tidy::tree::{Tree, Violation};

/// Every dependency of a manifest without a word on its line or on the lines above it, or with an exact version.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with("Cargo.toml")) {
        let mut in_table = false;
        let mut commented = false;
        for line in text.lines() {
            let offset = line.as_ptr() as usize - text.as_ptr() as usize;
            if line.starts_with('[') {
                in_table = line.trim_end_matches(']').ends_with("dependencies");
            } else if let Some((name, value)) = line.split_once('=').filter(|(_, value)| {
                in_table && !line.starts_with('#') && !value.contains("workspace = true") && !value.contains("path =")
            }) {
                if !commented && !value.contains('#') {
                    let message = format!("`{}` does not say what it is for", name.trim());
                    violations.push(Violation::at(path, text, offset, message));
                }
                if value.contains("\"=") {
                    violations.push(Violation::at(
                        path,
                        text,
                        offset,
                        format!("`{}` is pinned: `Cargo.lock` holds the exact version", name.trim()),
                    ));
                }
            }
            commented = line.starts_with('#');
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::{assert_none, assert_one};

    #[test]
    fn every_dependency_says_what_it_is_for() {
        assert_none(&check(&Tree::of_this_package()));
    }

    #[test]
    fn a_dependency_without_a_word_is_caught() {
        let bad = "[package]\nname = \"x\"\n[dev-dependencies]\na = \"1.0.0\" # for a\n# for b\nb = \"1.0.0\"\nc = \"1.0.0\"\n";
        assert_one(&check(&Tree::of(&[("Cargo.toml", bad)])), "Cargo.toml", 7, "`c` does not say");
    }

    #[test]
    fn a_dependency_that_is_pinned_is_caught() {
        let bad = "[dependencies]\na = { version = \"=1.2.3\" } # for a\n";
        assert_one(&check(&Tree::of(&[("Cargo.toml", bad)])), "Cargo.toml", 2, "is pinned");
    }
}
