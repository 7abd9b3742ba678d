//! What the documents name must exist: files and folders in backticks, and the targets of relative links with their
//! anchors. The book has every page of `docs/`.

use std::collections::BTreeSet;

use crate::tidy::scan::{Views, views};
use crate::tidy::tree::{Tree, Violation, is_generated};

/// What a name begins with that is meant as a path of this package.
const ROOTS: [&str; 14] = [
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
    "help/",
    "examples/",
    ".ci/",
    ".github/",
];

/// Endings of files that stand at the root.
const ROOT_FILES: [&str; 4] = [".md", ".toml", ".lock", "LICENSE"];

/// The contents of the book.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Where links of the book lead: the book itself, and the folder that is copied beside it.
const BESIDE_THE_BOOK: [&str; 2] = ["docs/", "fixtures/"];

/// What is no document of this package: tests, and texts that speak of the projects of users.
const OF_OTHERS: [&str; 2] = ["tests/", "help/"];

/// Every name in a document to which nothing corresponds.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        if OF_OTHERS.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        for (offset, name) in names_in(text) {
            if is_path(name) && !exists(tree, name) {
                violations.push(Violation::at(path, text, offset, format!("`{name}` does not exist")));
            }
        }
        for Link { offset, file, part } in links_in(text) {
            let target = if file.is_empty() { path.to_owned() } else { from_page(path, file) };
            let anchored = |part| tree.text(&target).is_none_or(|text| anchors(text).contains(part));
            if !tree.has(&target) {
                violations.push(Violation::at(path, text, offset, format!("the link to `{file}` leads nowhere")));
            } else if part.is_some_and(|part| target.ends_with(".md") && !anchored(part)) {
                let part = part.unwrap_or_default();
                violations.push(Violation::at(path, text, offset, format!("`{target}` has no heading `#{part}`")));
            }
        }
    }
    violations
}

/// Every page of `docs/` that the book does not have under its own heading, and every link out of the book to what does
/// not lie beside it. A link in the book that leads nowhere is a link like others.
pub fn book(tree: &Tree) -> Vec<Violation> {
    let Some(summary) = tree.text(SUMMARY) else { return vec![Violation::of_file(SUMMARY, "is missing")] };
    let mut violations = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md") && *path != SUMMARY) {
        let Some(page) = path.strip_prefix("docs/") else { continue };
        let heading = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
        if summary.matches(&format!("- [{heading}]({page})\n")).count() != 1 {
            violations.push(Violation::of_file(path, format!("`{SUMMARY}` does not have `[{heading}]({page})` once")));
        }
        for Link { offset, file, .. } in links_in(text) {
            let target = from_page(path, file);
            if !file.is_empty() && !BESIDE_THE_BOOK.iter().any(|folder| target.starts_with(folder)) {
                let message = format!("the link to `{file}` leads out of the book");
                violations.push(Violation::at(path, text, offset, message));
            }
        }
    }
    violations
}

/// Every document that a string of the program names, where `help page` does not print it.
pub fn pages(tree: &Tree) -> Vec<Violation> {
    let printed = tree.text("src/command/help.rs").unwrap_or_default();
    let mut violations = Vec::new();
    for (path, text) in tree.product().filter(|(_, text)| text.contains("docs/")) {
        let Views { code, comments } = views(text);
        let in_string = |offset: &usize| [&code, &comments].iter().all(|view| view[*offset..].starts_with(' '));
        for offset in text.match_indices("docs/").map(|(offset, _)| offset).filter(in_string) {
            let name = text[offset..].split_once(".md").map(|(name, _)| name.trim_start_matches("docs/"));
            let name = name.filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
            if name.is_some_and(|name| !printed.contains(&format!("include_str!(\"../../docs/{name}.md\")"))) {
                violations.push(Violation::at(path, text, offset, "`help page` does not print this document"));
            }
        }
    }
    violations
}

/// Every package, and every folder of its sources, that the architecture does not name.
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
        of_package.is_empty() || !folder.is_empty() && !of_package.contains(&format!(" {folder}/"))
    });
    let missing = unnamed.map(|(package, folder)| format!("the packages have no `{package}src/{folder}`"));
    missing.map(|message| Violation::of_file(DOCUMENT, message)).collect()
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

/// A relative link.
struct Link<'a> {
    offset: usize,
    /// Empty: the page itself.
    file: &'a str,
    /// Behind `#`.
    part: Option<&'a str>,
}

/// The relative targets of `[text](target)`.
fn links_in(text: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    for (offset, _) in text.match_indices("](") {
        let target = text[offset + 2..].split([')', '\n']).next().unwrap_or("");
        let (file, part) = target.split_once('#').map_or((target, None), |(file, part)| (file, Some(part)));
        if !target.is_empty() && !file.contains("://") && !file.starts_with("mailto:") {
            links.push(Link { offset, file, part });
        }
    }
    links
}

/// The anchors of a page's headings: in lower case, without punctuation, a hyphen for each space, and a number behind
/// each repetition.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if fenced || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let again = (1..).map(|n| format!("{anchor}-{n}"));
        let free = std::iter::once(anchor.clone()).chain(again).find(|one| !anchors.contains(one));
        anchors.extend(free);
    }
    anchors
}

/// A path that is written in the page `path`, from the root.
fn from_page(path: &str, file: &str) -> String {
    normal(&path.rsplit_once('/').map_or(file.to_owned(), |(folder, _)| format!("{folder}/{file}")))
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
        let good = "[a](0002-b.md) [c](../../README.md) [d](https://e.f)";
        assert_none(&check(&Tree::of(&[("docs/adr/0001-a.md", good), ("docs/adr/0002-b.md", ""), ("README.md", "")])));
        let bad = Tree::of(&[("docs/adr/0001-a.md", "\n[a](README.md)")]);
        assert_one(&check(&bad), "docs/adr/0001-a.md", 2, "leads nowhere");
    }
    #[test]
    fn an_anchor_without_its_heading_is_caught() {
        let page = ("docs/b.md", "# B\n## `x`, and Y_z\n```\n# c\n```\n## B\n#!no\n");
        let to = |part: &str| format!("\n[a](b.md#{part})");
        for good in ["b", "x-and-y_z", "b-1"] {
            assert_none(&check(&Tree::of(&[("docs/a.md", &to(good)), page])));
        }
        for bad in ["c", "x", "b-2", "no", "B"] {
            assert_one(&check(&Tree::of(&[("docs/a.md", &to(bad)), page])), "docs/a.md", 2, "has no heading `#");
        }
        assert_none(&check(&Tree::of(&[("docs/a.md", "# A\n[a](#a)")])));
        assert_one(
            &check(&Tree::of(&[("docs/a.md", "# A\n[a](#b)")])),
            "docs/a.md",
            2,
            "`docs/a.md` has no heading `#b`",
        );
    }

    #[test]
    fn help_prints_each_document_that_the_program_names() {
        assert_none(&pages(&Tree::of_this_package()));
        let help = ("src/command/help.rs", r#"include_str!("../../docs/a.md")"#);
        let named = Tree::of(&[help, ("src/a.rs", "// docs/b.md\nconst A: &str = \"docs/a.md and\ndocs/c-d.md\";")]);
        assert_one(&pages(&named), "src/a.rs", 3, "`help page`");
    }

    #[test]
    fn the_book_has_every_page() {
        assert_none(&book(&Tree::of_this_package()));
    }

    #[test]
    fn a_page_that_the_book_lacks_is_caught_and_so_is_a_link_out_of_it() {
        let summary = ("docs/SUMMARY.md", "# Summary\n\n- [A](a.md)\n  - [B: `c`](adr/b.md)\n");
        let page = ("docs/a.md", "# A\n[f](../fixtures/f.yaml) [b](adr/b.md#x) [w](https://x.y)");
        let decision = ("docs/adr/b.md", "<!-- x -->\n# B: `c`\n[a](../a.md)");
        assert_none(&book(&Tree::of(&[summary, page, decision])));
        let absent = Tree::of(&[summary, page, decision, ("docs/c.md", "# C")]);
        assert_one(&book(&absent), "docs/c.md", 1, "does not have `[C](c.md)` once");
        let renamed = Tree::of(&[summary, page, ("docs/adr/b.md", "# D")]);
        assert_one(&book(&renamed), "docs/adr/b.md", 1, "`[D](adr/b.md)`");
        let out = Tree::of(&[summary, page, ("docs/adr/b.md", "# B: `c`\n[r](../../README.md)")]);
        assert_one(&book(&out), "docs/adr/b.md", 2, "leads out of the book");
        assert_one(&book(&Tree::of(&[page])), "docs/SUMMARY.md", 1, "is missing");
    }
}
