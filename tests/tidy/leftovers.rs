//! What must not stay behind in any file: notes to oneself, places of one machine, hosts of package registries.

use crate::tidy::scan;
use crate::tidy::tree::{Tree, Violation};

/// Macros of unfinished code. Written apart, so that this file passes its own rule.
const UNFINISHED: [&str; 3] = [concat!("todo", "!"), concat!("unimplemented", "!"), concat!("dbg", "!")];

/// Notes to oneself.
const NOTES: [&str; 3] = [concat!("FIX", "ME"), concat!("TO", "DO"), concat!("XX", "X")];

/// Where the folders of people and build machines begin.
const MACHINE: [&str; 6] = [
    concat!("/", "work/"),
    concat!("/", "root/"),
    concat!("/", "home/"),
    concat!("/", "Users/"),
    concat!("/", "var/folders/"),
    concat!("C:", "\\"),
];

/// Hosts of package registries: where packages come from is the business of whoever builds.
const REGISTRIES: [&str; 8] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("npmjs", ".com"),
    concat!("npmjs", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("rubygems", ".org"),
    concat!("proxy.golang", ".org"),
    concat!("debian", ".org"),
];

/// Files that tools write and that name the registry by their nature.
fn is_generated(path: &str) -> bool {
    path.ends_with("Cargo.lock")
}

/// Unfinished code and notes in Rust sources.
pub fn unfinished(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.rust("") {
        let views = scan::views(text);
        violations.extend(hits(path, &views.code, &UNFINISHED, "is left over"));
        violations.extend(hits(
            path,
            &views.comments,
            &NOTES,
            "is a note to oneself: do it, or say what is not done and why",
        ));
    }
    violations
}

/// Paths of one machine, in any text.
pub fn machine_paths(tree: &Tree) -> Vec<Violation> {
    let texts = tree.texts().filter(|(path, _)| !path.starts_with("tests/corpus/"));
    texts.flat_map(|(path, text)| hits(path, text, &MACHINE, "is a place on one machine")).collect()
}

/// Hosts of package registries, in any text.
pub fn registries(tree: &Tree) -> Vec<Violation> {
    let texts = tree.texts().filter(|(path, _)| !is_generated(path));
    texts.flat_map(|(path, text)| hits(path, text, &REGISTRIES, "is a package registry")).collect()
}

/// Every place where a needle stands as a word of its own.
fn hits(path: &str, text: &str, needles: &[&str], why: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for needle in needles {
        for (offset, _) in text.match_indices(needle) {
            let before = text[..offset].chars().next_back().is_some_and(|c| c.is_alphanumeric() || "_.-".contains(c));
            if !before {
                violations.push(Violation::at(path, text, offset, format!("`{needle}` {why}")));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::{assert_none, assert_one};

    #[test]
    fn nothing_is_left_over() {
        assert_none(&unfinished(&Tree::of_this_package()));
    }

    #[test]
    fn no_file_names_a_place_on_one_machine() {
        assert_none(&machine_paths(&Tree::of_this_package()));
    }

    #[test]
    fn no_file_names_a_package_registry() {
        assert_none(&registries(&Tree::of_this_package()));
    }

    #[test]
    fn unfinished_code_is_caught_and_text_about_it_is_not() {
        let bad = format!("fn f() {{\n    {}()\n}}", UNFINISHED[0]);
        assert_one(&unfinished(&Tree::of(&[("src/a.rs", &bad)])), "src/a.rs", 2, "left over");
        let fine = format!("const S: &str = \"{}\"; // {}", UNFINISHED[0], UNFINISHED[1]);
        assert_none(&unfinished(&Tree::of(&[("src/a.rs", &fine)])));
    }

    #[test]
    fn a_note_to_oneself_is_caught() {
        let bad = format!("// {}: later", NOTES[0]);
        assert_one(&unfinished(&Tree::of(&[("tests/a.rs", &bad)])), "tests/a.rs", 1, "note");
    }

    #[test]
    fn a_place_on_one_machine_is_caught() {
        let bad = format!("x\nsee {}me/notes.txt", MACHINE[2]);
        assert_one(&machine_paths(&Tree::of(&[("docs/a.md", &bad)])), "docs/a.md", 2, "one machine");
        assert_none(&machine_paths(&Tree::of(&[("docs/a.md", "homework/x https://a.b/home/c")])));
    }

    #[test]
    fn a_registry_is_caught() {
        let bad = format!("https://{}/crates/x", REGISTRIES[0]);
        assert_one(&registries(&Tree::of(&[("docs/a.md", &bad)])), "docs/a.md", 1, "registry");
    }
}
