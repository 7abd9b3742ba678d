//! What the documents name must exist: files and folders in backticks, and the targets of relative links.

use std::collections::BTreeSet;

use crate::tidy::tree::{Tree, Violation, is_generated};

/// What a name begins with that is meant as a path of this package.
const ROOTS: [&str; 13] = [
    "crates/",
    "src/",
    "tests/",
    "benches/",
    "fixtures/",
    "goldens/",
    "playbooks/",
    "tools/",
    "docs/",
    "fuzz/",
    "examples/",
    ".ci/",
    ".github/",
];

/// Endings of files that stand at the root.
const ROOT_FILES: [&str; 4] = [".md", ".toml", ".lock", "LICENSE"];

/// Every name in a document to which nothing corresponds.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md") && !path.starts_with("tests/")) {
        for (offset, name) in names_in(text) {
            if is_path(name) && !exists(tree, name) {
                violations.push(Violation::at(path, text, offset, format!("`{name}` does not exist")));
            }
        }
        for (offset, target) in links_in(text) {
            let from_here = path.rsplit_once('/').map_or(target.to_owned(), |(folder, _)| format!("{folder}/{target}"));
            if !tree.has(&normal(&from_here)) {
                violations.push(Violation::at(path, text, offset, format!("the link to `{target}` leads nowhere")));
            }
        }
    }
    violations
}

/// Every package, every folder of its sources, and every decision, that the architecture does not name.
pub fn architecture(tree: &Tree) -> Vec<Violation> {
    const DOCUMENT: &str = "DESIGN.md";
    let Some(text) = tree.text(DOCUMENT) else { return vec![Violation::of_file(DOCUMENT, "is missing")] };
    let mut folders: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (path, _) in tree.product() {
        let (package, inside) = path.split_once("src/").unwrap_or(("", path));
        folders.insert((package, inside.split_once('/').map_or("", |(folder, _)| folder)));
    }
    let unnamed = folders.iter().filter(|(package, folder)| {
        let head = if package.is_empty() { "\nsrc/ ".to_owned() } else { format!("\n{package} ") };
        let of_package = text.split_once(&head).map_or("", |(_, rest)| rest.split("\ncrates/").next().unwrap_or(rest));
        of_package.is_empty() || !folder.is_empty() && !of_package.contains(&format!(" {folder}/ "))
    });
    let missing = unnamed.map(|(package, folder)| format!("the packages have no `{package}src/{folder}`"));
    let decisions = tree.texts().map(|(path, _)| path).filter(|path| path.starts_with("docs/adr/"));
    let untold = decisions.filter(|path| !text.contains(&format!("]({path})")));
    let untold = untold.map(|path| format!("the decisions do not name `{path}`"));
    missing.chain(untold).map(|message| Violation::of_file(DOCUMENT, message)).collect()
}

/// The words of every line that stand in backticks or in a fenced block, with their offsets. A block that is marked
/// `in=FOLDER` is about a project of the reader's.
fn names_in(text: &str) -> Vec<(usize, &str)> {
    let mut names = Vec::new();
    let mut fenced = false;
    let mut elsewhere = false;
    for line in text.split_inclusive('\n') {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            fenced = !fenced;
            elsewhere = fenced && info.contains(" in=");
        } else if elsewhere {
            continue;
        } else if fenced {
            names.extend(words(line));
        } else {
            names.extend(line.split('`').skip(1).step_by(2).flat_map(words));
        }
    }
    names.into_iter().map(|name| (name.as_ptr() as usize - text.as_ptr() as usize, name)).collect()
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split([' ', '\n', '\t', ',', ';', '(', ')', '"', '\'', '=', '|']).map(|word| {
        let place = word.trim_end_matches(|c: char| c.is_ascii_digit()); // `a.rs:12` names `a.rs`
        if place.ends_with(':') { place } else { word }.trim_end_matches(['.', ':'])
    })
}

fn is_path(word: &str) -> bool {
    let at_root = !word.contains('/') && ROOT_FILES.iter().any(|end| word.ends_with(end) && word.len() > end.len());
    at_root && word.starts_with(|c: char| c.is_ascii_uppercase()) || ROOTS.iter().any(|root| word.starts_with(root))
}

/// Whether something of this name exists; a part with a placeholder or a glob stands for anything.
fn exists(tree: &Tree, name: &str) -> bool {
    let certain =
        name.split('/').take_while(|part| !part.contains(['*', '<', '{', '…', '$'])).collect::<Vec<_>>().join("/");
    tree.has(&certain) || is_generated(&certain)
}

/// The relative targets of `[text](target)` outside of code, without `#parts`.
fn links_in(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (start, _) in text.match_indices("](") {
        let target = text[start + 2..].split([')', '\n']).next().unwrap_or("");
        let file = target.split('#').next().unwrap_or("");
        if !file.is_empty() && !file.contains("://") && !file.starts_with("mailto:") {
            links.push((start, file));
        }
    }
    links
}

/// `docs/adr/../x.md` is `docs/x.md`.
fn normal(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::{assert_none, assert_one};

    #[test]
    fn what_the_documents_name_exists() {
        assert_none(&check(&Tree::of_this_package()));
    }

    #[test]
    fn the_architecture_names_every_package_and_folder() {
        assert_none(&architecture(&Tree::of_this_package()));
    }

    #[test]
    fn a_folder_that_the_architecture_does_not_name_is_caught() {
        let design = ("DESIGN.md", "\nsrc/   words\n  a/   words\ncrates/x/  words\n  b/ c/  words\n");
        assert_none(&architecture(&Tree::of(&[
            design,
            ("src/a/x.rs", ""),
            ("src/b.rs", ""),
            ("crates/x/src/c/d.rs", ""),
        ])));
        assert_one(&architecture(&Tree::of(&[design, ("src/c/d/e.rs", "")])), "DESIGN.md", 1, "`src/c`");
        assert_one(
            &architecture(&Tree::of(&[design, ("crates/x/src/a/b.rs", "")])),
            "DESIGN.md",
            1,
            "`crates/x/src/a`",
        );
        assert_one(&architecture(&Tree::of(&[design, ("crates/y/src/lib.rs", "")])), "DESIGN.md", 1, "`crates/y/src/`");
        assert_one(
            &architecture(&Tree::of(&[design, ("docs/adr/0001-x.md", "")])),
            "DESIGN.md",
            1,
            "`docs/adr/0001-x.md`",
        );
    }

    #[test]
    fn a_file_that_is_gone_is_caught_in_prose_and_in_a_block() {
        let bad = Tree::of(&[("README.md", "see\n`src/gone.rs`.")]);
        assert_one(&check(&bad), "README.md", 2, "`src/gone.rs`");
        let bad = Tree::of(&[("README.md", "```\nplayproof replay fixtures/gone.yaml --all\n```")]);
        assert_one(&check(&bad), "README.md", 2, "`fixtures/gone.yaml`");
        let bad = Tree::of(&[("README.md", "read `GONE.md`")]);
        assert_one(&check(&bad), "README.md", 1, "`GONE.md`");
    }

    #[test]
    fn a_placeholder_stands_for_anything_in_a_folder_that_exists() {
        let text = "`goldens/<playbook>/<name>.snap`, `src/*/mod.rs`, `https://x/y.md`, `a/b`, `src/`";
        assert_none(&check(&Tree::of(&[("README.md", text), ("src/a/mod.rs", ""), ("goldens/a/b.snap", "")])));
        assert_one(&check(&Tree::of(&[("README.md", "`goldens/<playbook>`")])), "README.md", 1, "`goldens/<playbook>`");
    }

    #[test]
    fn a_link_that_leads_nowhere_is_caught() {
        let good = "[a](0002-b.md#part) [c](../../README.md) [d](https://e.f)";
        assert_none(&check(&Tree::of(&[("docs/adr/0001-a.md", good), ("docs/adr/0002-b.md", ""), ("README.md", "")])));
        let bad = Tree::of(&[("docs/adr/0001-a.md", "\n[a](README.md)")]);
        assert_one(&check(&bad), "docs/adr/0001-a.md", 2, "leads nowhere");
    }
}
