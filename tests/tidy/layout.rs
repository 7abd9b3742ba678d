//! How a source file is laid out: its first line, its size, what a folder's root may hold.
//! The length of a function is clippy's to judge (`too_many_lines`).

use crate::tidy::imports::is_test_file;
use crate::tidy::scan;
use crate::tidy::tree::{Tree, Violation};

/// Lines of a file of `src` without its tests.
const LINES_MAX: usize = 800;

/// Files that may be longer, each with its reason.
const LONG: &[(&str, &str)] = &[];

/// Every file that does not say on its first line what it owns.
pub fn first_lines(tree: &Tree) -> Vec<Violation> {
    let rust = tree.rust("").filter(|(_, text)| !text.starts_with("//! "));
    rust.map(|(path, _)| Violation::of_file(path, "the first line must be a `//!` that says what the file owns"))
        .collect()
}

/// Every statement of a `mod.rs` that is not a re-export, and of a `lib.rs` that is neither a module nor a re-export.
pub fn roots(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.product() {
        let is_lib = path.ends_with("src/lib.rs");
        if !is_lib && !path.ends_with("/mod.rs") {
            continue;
        }
        let code = scan::without_attributes(&scan::without_tests(&scan::views(text).code));
        let mut from = 0;
        while !code[from..].trim().is_empty() {
            let start = from + code[from..].len() - code[from..].trim_start().len();
            let end = code[start..].find(';').map_or(code.len(), |end| start + end + 1);
            from = end;
            if !is_declaration(&code[start..end]) {
                violations.push(Violation::at(path, text, start, "a mod.rs or lib.rs re-exports only"));
                break;
            }
        }
    }
    violations
}

/// Whether a statement is `mod x;` or `use x;`.
fn is_declaration(statement: &str) -> bool {
    let bare = match statement.strip_prefix("pub") {
        Some(rest) => {
            rest.trim_start().strip_prefix('(').map_or(rest, |rest| rest.split_once(')').map_or("", |(_, rest)| rest))
        }
        None => statement,
    };
    let mut words = bare.split_whitespace();
    match words.next() {
        Some("mod") => words.next().is_some_and(|name| name.ends_with(';')),
        Some("use") => statement.ends_with(';'),
        _ => false,
    }
}

/// Every file of the product that is too long, and every exception that is no longer needed.
pub fn sizes(tree: &Tree, long: &[(&str, &str)]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.product().filter(|(path, _)| !is_test_file(path)) {
        let tests: usize =
            scan::test_items(&scan::views(text).code).into_iter().map(|item| text[item].lines().count()).sum();
        let lines = text.lines().count() - tests;
        let may_be_long = long.iter().any(|(name, _)| *name == path);
        if lines > LINES_MAX && !may_be_long {
            let message = format!("{lines} lines without tests (at most {LINES_MAX}): there is a second idea in it");
            violations.push(Violation::of_file(path, message));
        } else if lines <= LINES_MAX && may_be_long {
            violations.push(Violation::of_file(path, "is short again: take it from the list of long files"));
        }
    }
    let gone = long.iter().filter(|(name, _)| !tree.has(name));
    violations.extend(gone.map(|(name, _)| Violation::of_file(name, "is gone: take it from the list of long files")));
    violations
}

/// Every `tests.rs` in `src` that is not declared under `#[cfg(test)]`: the other rules take it for a test.
pub fn test_files(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.product().filter(|(path, _)| !is_test_file(path)) {
        let product = scan::without_tests(&scan::views(text).code);
        if let Some(offset) = product.find("mod tests;") {
            violations.push(Violation::at(path, text, offset, "`mod tests;` without `#[cfg(test)]`"));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::{assert_none, assert_one};

    #[test]
    fn every_file_says_first_what_it_owns() {
        assert_none(&first_lines(&Tree::of_this_package()));
        let bad = Tree::of(&[("benches/x.rs", "use std::fmt;\n//! late")]);
        assert_one(&first_lines(&bad), "benches/x.rs", 1, "`//!`");
    }

    #[test]
    fn roots_of_folders_hold_re_exports_and_the_library_its_modules() {
        assert_none(&roots(&Tree::of_this_package()));
    }

    #[test]
    fn a_re_export_of_any_shape_is_one() {
        let text = "//! m\n#![expect(x)]\nmod a;\npub mod b;\npub(crate) mod c;\npub use a::{A,\n B};\nuse b as d;\n#[cfg(test)]\nmod tests { fn f() {} }\n";
        assert_none(&roots(&Tree::of(&[("src/x/mod.rs", text)])));
    }

    #[test]
    fn a_function_in_a_mod_rs_is_caught() {
        let bad = Tree::of(&[("src/x/mod.rs", "//! m\nmod a;\n\npub fn f() { g(); }\n")]);
        assert_one(&roots(&bad), "src/x/mod.rs", 4, "re-exports only");
    }

    #[test]
    fn an_inline_module_in_a_mod_rs_is_caught() {
        let bad = Tree::of(&[("src/x/mod.rs", "mod a { pub struct S; }")]);
        assert_one(&roots(&bad), "src/x/mod.rs", 1, "re-exports only");
    }

    #[test]
    fn a_function_in_a_lib_rs_is_caught() {
        let bad = Tree::of(&[("src/lib.rs", "//! l\npub mod a;\nfn f() {}\n")]);
        assert_one(&roots(&bad), "src/lib.rs", 3, "re-exports only");
    }

    #[test]
    fn no_file_is_too_long() {
        assert_none(&sizes(&Tree::of_this_package(), LONG));
    }

    #[test]
    fn a_long_file_is_caught_and_long_tests_are_not() {
        let product = "fn f() {}\n".repeat(LINES_MAX);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "fn t() {}\n".repeat(1_200));
        let fine = format!("{product}{tests}");
        assert_none(&sizes(&Tree::of(&[("src/a.rs", &fine)]), &[]));
        let bad = format!("fn g() {{}}\n{fine}");
        assert_one(&sizes(&Tree::of(&[("src/a.rs", &bad)]), &[]), "src/a.rs", 1, "801 lines");
    }

    #[test]
    fn an_exception_that_nobody_needs_is_caught() {
        let tree = Tree::of(&[("src/a.rs", "fn f() {}\n")]);
        assert_one(&sizes(&tree, &[("src/a.rs", "why")]), "src/a.rs", 1, "short again");
        assert_one(&sizes(&tree, &[("src/b.rs", "why")]), "src/b.rs", 1, "gone");
    }

    #[test]
    fn files_of_unit_tests_are_declared_as_such() {
        assert_none(&test_files(&Tree::of_this_package()));
        let bad = Tree::of(&[("src/a/mod.rs", "mod b;\nmod tests;\n"), ("src/a/tests.rs", "//! t")]);
        assert_one(&test_files(&bad), "src/a/mod.rs", 2, "`mod tests;`");
    }
}
