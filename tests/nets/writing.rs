//! What the commands that write say, and which files they add, change and remove.

use std::fmt::Write as _;

use crate::hardening::commands::WRITING;
use crate::nets::keep;

#[test]
fn the_pages_of_commands_that_write_are_as_they_were() {
    let mut text = String::new();
    for writing in &WRITING {
        let project = writing.project();
        let before = project.files();
        let ran = writing.run(&project);
        let after = project.files();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "$ playproof {}\nexit {}\n{}", writing.args(&project).join(" "), ran.code, ran.out);
        if !ran.err.is_empty() {
            let _ = writeln!(text, "--- stderr\n{}", ran.err);
        }
        for name in before.keys().chain(after.keys().filter(|name| !before.contains_key(*name))) {
            let change = match (before.get(name), after.get(name)) {
                (Some(was), Some(is)) if was == is => continue,
                (Some(_), Some(_)) => "changed",
                (Some(_), None) => "removed",
                _ => "added",
            };
            let _ = writeln!(text, "{change} {name}");
        }
        text.push('\n');
    }
    keep("writing", &text);
}
