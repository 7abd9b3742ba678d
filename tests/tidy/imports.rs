//! Who may import whom inside the engine, and that no files of a package import each other in a circle. Packages are
//! Cargo's to hold apart.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::scan;
use crate::tidy::tree::{Tree, Violation};

/// Where the engine's sources lie.
const ENGINE: &str = "crates/engine/src/";

/// What every module of the engine may import.
const OPEN: [&str; 5] = ["decimal", "glob", "ids", "time", "words"];

/// What else a module of the engine may import; rows are not transitive.
const TABLE: &[(&str, &[&str])] = &[
    ("decimal", &[]),
    ("time", &[]),
    ("ids", &[]),
    ("glob", &[]),
    ("event", &[]),
    ("clock", &[]),
    ("call", &["event"]),
    ("playbook", &["event"]),
    ("classify", &["event", "playbook"]),
    ("dispatch", &["event", "playbook"]),
    ("upstream", &["call", "event"]),
    ("fixture", &["event", "playbook", "upstream"]),
    ("plan", &["call", "classify", "dispatch", "event", "playbook", "upstream"]),
    ("evidence", &["call", "classify", "dispatch", "event", "plan", "playbook", "upstream"]),
    ("drive", &["call", "classify", "dispatch", "event", "evidence", "plan", "playbook", "upstream"]),
    (
        "sim",
        &[
            "call", "classify", "clock", "dispatch", "drive", "event", "evidence", "fixture", "plan", "playbook",
            "upstream",
        ],
    ),
];

/// Every import of the engine that the table does not allow.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in product(tree, ENGINE) {
        let module = module_of(path.trim_start_matches(ENGINE));
        let Some(row) = row_of(module[0]) else {
            let message = format!("`{}` has no row in the import table (tests/tidy/imports.rs)", module[0]);
            violations.push(Violation::of_file(path, message));
            continue;
        };
        for found in scan::crate_paths(&scan::without_tests(&scan::views(text).code), &module, "playproof_engine") {
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
    let target = import.first()?.as_str(); // the root itself: `pub(crate)`
    if target == module || OPEN.contains(&target) || row.contains(&target) {
        return None;
    }
    if row_of(target).is_none() {
        return Some(format!("`{full}` goes through the crate's root: name a module"));
    }
    Some(format!("`{module}` may not import `{full}`: its row is {row:?}"))
}

fn row_of(module: &str) -> Option<&'static [&'static str]> {
    TABLE.iter().find(|(name, _)| *name == module).map(|(_, row)| *row)
}

/// Files of a package that import each other in a circle.
pub fn circles(tree: &Tree) -> Vec<Violation> {
    let lib = |path: &str| path.ends_with("/src/lib.rs") || path == "src/lib.rs";
    let roots = tree.rust("").map(|(path, _)| path).filter(|path| lib(path) && !path.starts_with("tests/"));
    let of_package = |root| {
        let message = |circle: Vec<String>| format!("{} import each other in a circle", circle.join(", "));
        let found = circles_of(&imports_of(tree, root)).into_iter();
        found.map(|circle| Violation::of_file(root, message(circle))).collect::<Vec<_>>()
    };
    roots.map(|path| path.trim_end_matches("lib.rs")).flat_map(of_package).collect()
}

/// The modules that each file of a package imports, by their paths. A name that a folder re-exports is looked up there, and a
/// folder's own file imports nothing: it only lists what lies below it.
fn imports_of(tree: &Tree, root: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<Vec<String>, Vec<Vec<String>>> = BTreeMap::new();
    let mut folders = BTreeSet::new();
    for (path, text) in product(tree, root) {
        let module = module_of(path.trim_start_matches(root));
        let own: Vec<String> = module.iter().map(ToString::to_string).collect();
        let is_folder = path.ends_with("/mod.rs");
        let code = scan::without_tests(&scan::views(text).code);
        // What a folder lists begins at the folder.
        let code = if is_folder { code.replace("use ", "use super::self_::") } else { code };
        let paths = scan::crate_paths(&code, &module, "crate").into_iter().map(|path| path.segments);
        let paths = paths.map(|path| match path.iter().position(|name| name == "self_") {
            Some(at) => own.iter().chain(&path[at + 1..]).cloned().collect(),
            None => path,
        });
        found.insert(own.clone(), paths.collect());
        folders.extend(is_folder.then_some(own));
    }
    let target = |path: &[String]| {
        let mut path = path.to_vec();
        // A name is re-exported a few times at most.
        for _ in 0..4 {
            let module = (1..=path.len()).rev().map(|end| &path[..end]).find(|module| found.contains_key(*module))?;
            let name = path.get(module.len()).filter(|_| folders.contains(module));
            let listed = name.and_then(|name| found[module].iter().find(|listed| listed.last() == Some(name)));
            match listed {
                Some(listed) => path = listed.iter().chain(&path[module.len() + 1..]).cloned().collect(),
                None => return Some(module.join("/")),
            }
        }
        None
    };
    let files = found.iter().filter(|(module, _)| !folders.contains(*module));
    let imports = files.map(|(module, paths)| {
        let own = module.join("/");
        let targets = paths.iter().filter_map(|path| target(path)).filter(|target| *target != own).collect();
        (own, targets)
    });
    imports.collect()
}

/// Sets of modules each of which imports all others, by way of others or not.
fn circles_of(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reach = |from: &String| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&String> = imports.get(from).into_iter().flatten().collect();
        while let Some(next) = open.pop() {
            if reached.insert(next.clone()) {
                open.extend(imports.get(next).into_iter().flatten());
            }
        }
        reached
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = imports.keys().map(|module| (module, reach(module))).collect();
    let circle = |module: &String| -> Vec<String> {
        let back = |other: &&String| reached[module].contains(*other) && reached[*other].contains(module);
        reached.keys().copied().filter(back).cloned().collect()
    };
    let all: BTreeSet<Vec<String>> = imports.keys().map(circle).filter(|circle| !circle.is_empty()).collect();
    all.into_iter().collect()
}

/// The files of a folder that belong to the product, without the list of its modules.
fn product<'a>(tree: &'a Tree, root: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let is_root = move |path: &str| matches!(path.strip_prefix(root), Some("lib.rs" | "main.rs"));
    tree.rust(root).filter(move |(path, _)| !is_root(path) && !is_test_file(path))
}

/// `sim/world.rs` is `[sim, world]`.
fn module_of(path: &str) -> Vec<&str> {
    path.trim_end_matches(".rs").trim_end_matches("/mod").split('/').collect()
}

/// A unit test's own file; `layout` sees to it that it is declared under `#[cfg(test)]`.
pub fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::{assert_none, assert_one};

    #[test]
    fn the_engine_imports_only_what_the_table_allows() {
        assert_none(&check(&Tree::of_this_package()));
    }

    #[test]
    fn no_modules_import_each_other_in_a_circle() {
        assert_none(&circles(&Tree::of_this_package()));
    }

    #[test]
    fn a_dispatcher_that_looks_at_the_trace_is_caught() {
        let path = "crates/engine/src/dispatch/machine.rs";
        let bad = Tree::of(&[(path, "//! d\nuse crate::{event::Names, call::RecordedCall};")]);
        assert_one(&check(&bad), path, 2, "`dispatch` may not import `call::RecordedCall`");
    }

    #[test]
    fn a_path_in_the_midst_of_code_is_caught() {
        let path = "crates/engine/src/upstream/tape.rs";
        let bad = Tree::of(&[(path, "fn f() {\n  let x = crate::playbook::X;\n}")]);
        assert_one(&check(&bad), path, 2, "playbook::X");
    }

    #[test]
    fn a_super_that_leaves_its_folder_is_caught() {
        let path = "crates/engine/src/clock/mod.rs";
        assert_one(&check(&Tree::of(&[(path, "use super::sim::World;")])), path, 1, "sim::World");
    }

    #[test]
    fn a_module_without_a_row_is_caught() {
        let path = "crates/engine/src/magic/mod.rs";
        assert_one(&check(&Tree::of(&[(path, "//! m")])), path, 1, "no row");
    }

    #[test]
    fn a_name_taken_from_the_crate_s_root_is_caught() {
        let path = "crates/engine/src/sim/run.rs";
        assert_one(&check(&Tree::of(&[(path, "use crate::*;")])), path, 1, "root");
    }

    #[test]
    fn tests_may_import_what_they_like() {
        let text = "#[cfg(test)]\nmod tests { use crate::sim::X; }\n// crate::sim\nconst S: &str = \"crate::sim::X\";";
        let queue = ("crates/engine/src/clock/queue.rs", text);
        assert_none(&check(&Tree::of(&[queue, ("crates/engine/src/clock/tests.rs", "use crate::sim::X;")])));
    }

    #[test]
    fn a_circle_is_caught_also_through_a_third() {
        let lib = ("crates/x/src/lib.rs", "mod a;");
        let a = ("crates/x/src/a.rs", "use crate::b::deep::B;");
        let b = ("crates/x/src/b/deep.rs", "use crate::c::{C, D};");
        let good = Tree::of(&[lib, a, b, ("crates/x/src/c.rs", "use crate::d::D;")]);
        assert_none(&circles(&good));
        let bad = Tree::of(&[lib, a, b, ("crates/x/src/c.rs", "use crate::a::A;")]);
        assert_one(&circles(&bad), "crates/x/src/", 1, "a, b/deep, c import each other");
    }

    #[test]
    fn a_circle_of_files_in_a_folder_is_caught_also_through_a_name_that_the_folder_lists() {
        let files = |of_b| {
            let lib = ("crates/x/src/lib.rs", "mod f;");
            let a = ("crates/x/src/f/a.rs", "use super::b::B;");
            let mods = ("crates/x/src/f/mod.rs", "mod a; mod b; pub use a::{A, other};");
            Tree::of(&[lib, mods, a, ("crates/x/src/f/b.rs", of_b)])
        };
        assert_none(&circles(&files("use super::{c::C, d};")));
        assert_one(&circles(&files("use super::{a, c::C};")), "crates/x/src/", 1, "f/a, f/b import each other");
        assert_one(&circles(&files("use crate::f::A;")), "crates/x/src/", 1, "f/a, f/b import each other");
    }
}
