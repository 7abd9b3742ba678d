//! How many lines each package may have without tests. Who deletes code lowers a ceiling; it goes up only in the commit of a
//! capability, which says what pays for it.

use std::collections::BTreeSet;

use crate::tidy::tree::{Tree, Violation};

/// The most lines of each package.
const CEILINGS: [(&str, usize); 11] = [
    ("crates/analysis/src", 18_400),
    ("crates/engine/src", 21_400),
    ("crates/explore/src", 5_520),
    ("crates/formats/src", 12_560),
    ("crates/report/src", 12_150),
    ("crates/intake/src", 23_650),
    ("crates/live/src", 1_600),
    ("crates/proxy/src", 2_210),
    ("crates/protocol/src", 2_400),
    ("crates/serve/src", 2_900),
    ("src", 19_780),
];

/// A package this far below its ceiling gets a lower one.
const SLACK: usize = 1_000;

/// Every package with more lines than its ceiling, far fewer, or no ceiling.
pub fn ceilings(tree: &Tree, ceilings: &[(&str, usize)]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let packages: BTreeSet<&str> = tree.product().filter_map(|(path, _)| package_of(path)).collect();
    for package in packages {
        let lines = lines_without_tests(tree, package);
        let message = match ceilings.iter().find(|(name, _)| *name == package) {
            None => format!("{lines} lines without a ceiling"),
            Some((_, most)) if lines > *most => {
                format!("{lines} lines without tests (at most {most}): delete as many as the new ones need")
            }
            Some((_, most)) if lines + SLACK < *most => {
                format!("{lines} lines are far below {most}: lower the ceiling")
            }
            Some(_) => continue,
        };
        violations.push(Violation::of_file(package, message));
    }
    violations
}

/// The folder of a package's sources.
fn package_of(path: &str) -> Option<&str> {
    path.find("src/").map(|at| &path[..at + "src".len()])
}

/// The lines of a package without its modules of tests.
fn lines_without_tests(tree: &Tree, package: &str) -> usize {
    let files: Vec<_> = tree.product().filter(|(path, _)| package_of(path) == Some(package)).collect();
    let tests: BTreeSet<String> = files.iter().flat_map(|(path, text)| modules_of_tests(path, text)).collect();
    let is_test = |path: &str| path.contains("/tests/") || tests.iter().any(|test| is_of_module(path, test));
    files.iter().filter(|(path, _)| !is_test(path)).map(|(_, text)| before_tests(text).lines().count()).sum()
}

/// The paths, without ending, of the modules that a file declares for tests alone.
fn modules_of_tests(path: &str, text: &str) -> Vec<String> {
    let stem = path.trim_end_matches(".rs");
    let folder = ["/mod", "/lib", "/main"].iter().find_map(|root| stem.strip_suffix(root)).unwrap_or(stem);
    let after_marker = text.split("#[cfg(test)]").skip(1);
    let declared = after_marker.filter_map(|after| after.trim_start().split_once(';')?.0.strip_prefix("mod "));
    let names = declared.filter(|name| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_'));
    names.map(|name| format!("{folder}/{name}")).collect()
}

/// Whether a file is the module of this path, or below it.
fn is_of_module(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// A file up to its module of tests.
fn before_tests(text: &str) -> &str {
    let starts = text.match_indices("#[cfg(test)]\n").filter(|(at, _)| *at == 0 || text[..*at].ends_with('\n'));
    let mut inline = starts.filter(|(at, marker)| {
        let mut after = text[at + marker.len()..].lines().skip_while(|line| line.starts_with("#["));
        after.next().is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    });
    inline.next().map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::{assert_none, assert_one};

    #[test]
    fn no_package_grows() {
        assert_none(&ceilings(&Tree::of_this_package(), &CEILINGS));
    }

    #[test]
    fn a_line_too_many_is_caught_and_tests_are_not_counted() {
        let text = "//! a\n\n#[cfg(test)]\nmod long;\n\n#[cfg(test)]\nmod tests {\n    fn f() {}\n}\n";
        let tree = Tree::of(&[("src/a.rs", text), ("src/a/long.rs", text), ("src/b/tests/c.rs", text)]);
        assert_none(&ceilings(&tree, &[("src", 5)]));
        assert_one(&ceilings(&tree, &[("src", 4)]), "src", 1, "5 lines without tests (at most 4)");
    }

    #[test]
    fn a_ceiling_that_is_far_too_high_and_a_package_without_one_are_caught() {
        let tree = Tree::of(&[("crates/a/src/lib.rs", "//! a\n")]);
        assert_one(&ceilings(&tree, &[("crates/a/src", 5_000)]), "crates/a/src", 1, "lower the ceiling");
        assert_one(&ceilings(&tree, &[]), "crates/a/src", 1, "without a ceiling");
    }
}
