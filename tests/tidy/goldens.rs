//! Every fixture has its goldens and every golden its fixture, by names and the fixture's `playbooks` alone.

use std::collections::BTreeSet;

use crate::tidy::tree::{Tree, Violation};

/// The playbook of fixtures that name none.
const DEFAULT_PLAYBOOK: &str = "standard";

/// Goldens that are missing, and goldens that nothing asks for.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut wanted = BTreeSet::new();
    let mut violations = Vec::new();
    for (path, text) in tree.texts() {
        let Some(name) = path.strip_prefix("fixtures/").and_then(|name| name.strip_suffix(".yaml")) else { continue };
        for playbook in playbooks(text) {
            let golden = format!("goldens/{playbook}/{name}.snap");
            if !tree.has(&golden) {
                violations.push(Violation::of_file(path, format!("`{golden}` is missing")));
            }
            wanted.insert(golden);
        }
    }
    let goldens =
        tree.texts().map(|(path, _)| path).filter(|path| path.starts_with("goldens/") && path.ends_with(".snap"));
    let unasked = goldens.filter(|path| !wanted.contains(*path));
    violations.extend(unasked.map(|path| Violation::of_file(path, "no fixture asks for this golden")));
    violations
}

/// The names under the top-level key `playbooks`, written as `[a, b]` or one a line.
fn playbooks(text: &str) -> Vec<String> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("playbooks:"));
    let Some(first) = lines.next() else { return vec![DEFAULT_PLAYBOOK.to_owned()] };
    let inline = first["playbooks:".len()..].split('#').next().unwrap_or("").trim();
    let names: Vec<&str> = if inline.is_empty() {
        lines.map_while(|line| line.trim_start().strip_prefix("- ")).collect()
    } else {
        inline.trim_matches(['[', ']']).split(',').collect()
    };
    names.into_iter().map(|name| name.trim().trim_matches(['"', '\'']).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::{assert_none, assert_one};

    #[test]
    fn fixtures_and_goldens_belong_together() {
        assert_none(&check(&Tree::of_this_package()));
    }

    #[test]
    fn playbooks_are_read_in_each_way_to_write_them() {
        assert_eq!(playbooks("title: t"), ["standard"]);
        assert_eq!(playbooks("title: t\nplaybooks: [a, study/b]   # why\ncalls:"), ["a", "study/b"]);
        assert_eq!(playbooks("playbooks:\n  - a\n  - \"b\"\ncalls:\n  - c"), ["a", "b"]);
    }

    #[test]
    fn a_fixture_without_one_of_its_goldens_is_caught() {
        let fixture = ("fixtures/denied.yaml", "playbooks: [standard, study/old]");
        let bad = Tree::of(&[fixture, ("goldens/standard/denied.snap", "")]);
        assert_one(&check(&bad), "fixtures/denied.yaml", 1, "`goldens/study/old/denied.snap`");
    }

    #[test]
    fn a_golden_without_a_fixture_is_caught() {
        let bad = Tree::of(&[("goldens/study/old/denied.snap", "")]);
        assert_one(&check(&bad), "goldens/study/old/denied.snap", 1, "no fixture");
    }

    #[test]
    fn a_pending_golden_is_no_golden() {
        let bad = Tree::of(&[("fixtures/denied.yaml", ""), ("goldens/standard/denied.snap.new", "")]);
        assert_one(&check(&bad), "fixtures/denied.yaml", 1, "missing");
    }
}
