//! Who may import whom. The table stands here and in CONTRIBUTING.md; a test holds the two together.

use std::collections::BTreeMap;

use crate::scan;
use crate::tree::{Tree, Violation};

/// What every module may import.
const OPEN: [&str; 6] = ["diagnostic", "glob", "ids", "shell", "text", "time"];

/// What else a module may import; rows are not transitive. `a::b` opens that part of `a` alone, `*` everything.
const TABLE: &[(&str, &[&str])] = &[
    ("time", &[]),
    ("ids", &[]),
    ("text", &[]),
    ("shell", &[]),
    ("diagnostic", &[]),
    ("glob", &[]),
    ("yaml", &[]),
    ("event", &[]),
    ("clock", &[]),
    ("trace", &["event", "yaml"]),
    ("playbook", &["event", "yaml"]),
    ("classify", &["event", "playbook", "trace"]),
    ("dispatch", &["event", "playbook"]),
    ("upstream", &["clock", "event", "trace"]),
    ("fixture", &["event", "trace", "upstream", "yaml"]),
    ("sim", &["classify", "clock", "dispatch", "event", "fixture", "playbook", "trace", "upstream", "yaml"]),
    ("golden", &["event", "yaml"]),
    ("history", &["golden", "yaml"]),
    ("feedback", &["classify", "event", "golden", "playbook", "sim", "trace", "upstream", "yaml"]),
    ("replay", &["classify", "clock", "dispatch", "event", "fixture", "playbook", "sim", "trace", "upstream", "yaml"]),
    ("check", &["event", "fixture", "golden", "playbook", "sim"]),
    (
        "mutation",
        &[
            "check::body_of",
            "check::map",
            "classify",
            "clock",
            "coverage",
            "dispatch",
            "event",
            "fixture",
            "golden::GoldenBody",
            "playbook",
            "replay",
            "sim",
            "trace",
            "upstream",
            "yaml",
        ],
    ),
    (
        "report",
        &[
            "check",
            "coverage",
            "event",
            "feedback",
            "fixture",
            "golden",
            "history",
            "impact",
            "mining",
            "mutation",
            "proposal",
            "replay",
            "sim",
            "trace::model",
            "trace::origin",
        ],
    ),
    ("impact", CAPABILITY),
    ("coverage", CAPABILITY),
    ("mining", CAPABILITY),
    (
        "proposal",
        &[
            "check", "classify", "clock", "dispatch", "event", "fixture", "golden", "playbook", "replay", "sim",
            "trace", "upstream", "yaml",
        ],
    ),
    // Decided, not built yet.
    ("verify", &["classify", "clock", "dispatch", "event", "fixture", "playbook", "upstream"]),
    ("live", &["classify", "dispatch", "event", "playbook"]),
    // The edge.
    ("cli", &["*"]),
    ("main", &["cli"]),
];

/// What the capabilities that build on replay may import.
const CAPABILITY: &[&str] = &[
    "classify", "clock", "dispatch", "event", "fixture", "golden", "playbook", "replay", "sim", "trace", "upstream",
    "yaml",
];

/// Every import of the product that the table does not allow.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.rust("src/").filter(|(path, _)| *path != "src/lib.rs" && !is_test_file(path)) {
        let module = module_of(path);
        let Some(row) = row_of(module[0]) else {
            let message = format!("`{}` has no row in the import table (tests/tidy/imports.rs)", module[0]);
            violations.push(Violation::of_file(path, message));
            continue;
        };
        let product = scan::without_tests(&scan::views(text).code);
        for found in scan::crate_paths(&product, &module, "playproof") {
            if let Some(message) = verdict(module[0], row, &found.segments) {
                violations.push(Violation::at(path, text, found.offset, message));
            }
        }
    }
    violations
}

/// Why this import is not allowed, if it is not.
fn verdict(module: &str, row: &[&str], import: &[String]) -> Option<String> {
    let full = import.join("::");
    let target = import.first()?; // the root itself: `pub(crate)`
    if target == module || OPEN.contains(&target.as_str()) && module != "main" {
        return None;
    }
    if row_of(target).is_none() {
        return Some(format!("`{full}` goes through the crate's root: name a module"));
    }
    let allowed = row.iter().any(|open| *open == "*" || full == *open || full.starts_with(&format!("{open}::")));
    (!allowed).then(|| format!("`{module}` may not import `{full}`: its row is {row:?}"))
}

fn row_of(module: &str) -> Option<&'static [&'static str]> {
    TABLE.iter().find(|(name, _)| *name == module).map(|(_, row)| *row)
}

/// `src/sim/world.rs` is `[sim, world]`.
fn module_of(path: &str) -> Vec<&str> {
    let inside = path.trim_start_matches("src/").trim_end_matches(".rs");
    inside.trim_end_matches("/mod").split('/').collect()
}

/// A unit test's own file; `layout` sees to it that it is declared under `#[cfg(test)]`.
pub fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// The table of CONTRIBUTING.md against this one.
pub fn compare_with_document(tree: &Tree) -> Vec<Violation> {
    const DOCUMENT: &str = "CONTRIBUTING.md";
    let Some(text) = tree.text(DOCUMENT) else { return vec![Violation::of_file(DOCUMENT, "is missing")] };
    let written: BTreeMap<&str, Vec<&str>> = text.lines().filter_map(table_row).collect();
    let mut violations = Vec::new();
    for (module, row) in TABLE {
        match written.get(module) {
            Some(names) if names == row => {}
            Some(names) => {
                let message = format!("the row of `{module}` says {names:?}, the test says {row:?}");
                violations.push(Violation::of_file(DOCUMENT, message));
            }
            None => violations.push(Violation::of_file(DOCUMENT, format!("the row of `{module}` is missing"))),
        }
    }
    let unknown = written.keys().filter(|module| row_of(module).is_none());
    violations.extend(unknown.map(|module| Violation::of_file(DOCUMENT, format!("`{module}` is not in the test"))));
    violations
}

/// The names in a line such as ``| `sim` | `event` `trace` |``.
fn table_row(line: &str) -> Option<(&str, Vec<&str>)> {
    let (module, imports) = line.strip_prefix("| `")?.split_once("` |")?;
    Some((module, imports.split('`').skip(1).step_by(2).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{assert_none, assert_one};

    #[test]
    fn this_package_imports_only_what_the_table_allows() {
        assert_none(&check(&Tree::of_this_package()));
    }

    #[test]
    fn the_table_of_contributing_is_the_table_of_the_test() {
        assert_none(&compare_with_document(&Tree::of_this_package()));
    }

    #[test]
    fn a_dispatcher_that_looks_at_the_trace_is_caught() {
        let bad = Tree::of(&[("src/dispatch/machine.rs", "//! d\nuse crate::{event::Names, trace::model};")]);
        assert_one(&check(&bad), "src/dispatch/machine.rs", 2, "`dispatch` may not import `trace::model`");
    }

    #[test]
    fn a_path_in_the_midst_of_code_is_caught() {
        let bad = Tree::of(&[("src/upstream/tape.rs", "fn f() {\n  let x = crate::playbook::model::X;\n}")]);
        assert_one(&check(&bad), "src/upstream/tape.rs", 2, "playbook::model::X");
    }

    #[test]
    fn a_super_that_leaves_its_folder_is_caught() {
        let bad = Tree::of(&[("src/clock/mod.rs", "use super::sim::World;")]);
        assert_one(&check(&bad), "src/clock/mod.rs", 1, "sim::World");
    }

    #[test]
    fn a_part_that_is_open_does_not_open_the_whole() {
        let good = Tree::of(&[("src/report/table.rs", "use crate::trace::model::RecordedCall;")]);
        assert_none(&check(&good));
        let bad = Tree::of(&[("src/report/table.rs", "use crate::trace::read::Reader;")]);
        assert_one(&check(&bad), "src/report/table.rs", 1, "trace::read::Reader");
    }

    #[test]
    fn a_folder_without_a_row_is_caught() {
        let bad = Tree::of(&[("src/magic/mod.rs", "//! m")]);
        assert_one(&check(&bad), "src/magic/mod.rs", 1, "no row");
    }

    #[test]
    fn a_name_taken_from_the_crate_s_root_is_caught() {
        let bad = Tree::of(&[("src/sim/run.rs", "use crate::*;")]);
        assert_one(&check(&bad), "src/sim/run.rs", 1, "root");
    }

    #[test]
    fn the_binary_may_call_nothing_but_the_command_line() {
        let bad = Tree::of(&[("src/main.rs", "fn main() { playproof::sim::run() }")]);
        assert_one(&check(&bad), "src/main.rs", 1, "sim::run");
    }

    #[test]
    fn tests_may_import_what_they_like() {
        let text = "#[cfg(test)]\nmod tests { use crate::sim::X; }\n// crate::sim\nconst S: &str = \"crate::sim::X\";";
        assert_none(&check(&Tree::of(&[("src/clock/queue.rs", text), ("src/clock/tests.rs", "use crate::sim::X;")])));
    }

    #[test]
    fn a_row_that_differs_in_the_document_is_caught() {
        let mut text = String::new();
        for (module, row) in TABLE {
            let row = if *module == "dispatch" { &["trace"] } else { *row };
            let names: Vec<String> = row.iter().map(|name| format!("`{name}`")).collect();
            text.push_str(&format!("| `{module}` | {} |\n", names.join(" ")));
        }
        assert_one(
            &compare_with_document(&Tree::of(&[("CONTRIBUTING.md", &text)])),
            "CONTRIBUTING.md",
            1,
            "`dispatch`",
        );
    }
}
