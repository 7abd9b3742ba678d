//! A check as GitHub workflow commands: annotations at lines of files of the repository, the most serious first, within
//! GitHub's limits.

use super::changes::CheckPage;
use super::problems::{Directions, Level, Problem, problems};
use playproof_formats::text::escape_plain_page;

/// GitHub shows this many annotations of one level per step and silently drops the rest.
const MOST: usize = 10;

/// The workflow commands, one per line; empty without problems.
pub fn annotations(shown: &CheckPage<'_>, directions: &Directions) -> String {
    let problems = problems(shown, directions);
    let mut lines: Vec<String> = Vec::new();
    let mut left = 0;
    for level in [Level::Error, Level::Warning] {
        let of_level: Vec<&Problem> = problems.iter().filter(|problem| problem.level == level).collect();
        lines.extend(of_level.iter().take(MOST).map(|problem| command(problem, directions)));
        left += of_level.len().saturating_sub(MOST);
    }
    if left > 0 {
        let problems = if left == 1 { "problem is" } else { "problems are" };
        lines.push(format!(
            "::notice title=playproof check::{left} more {problems} not shown here; run: playproof check"
        ));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn command(problem: &Problem, directions: &Directions) -> String {
    let word = match problem.level {
        Level::Error => "error",
        Level::Warning => "warning",
    };
    let title = property(&format!("{}: {}", problem.rule.replace('_', " "), problem.about));
    let file = property(&directions.path_in_repository(&problem.spot.file));
    let (line, column) = (problem.spot.line, problem.spot.column);
    let message = data(&format!("{}\nrun: {}", problem.message, problem.command));
    format!("::{word} file={file},line={line},col={column},title={title}::{message}")
}

/// The message of a workflow command.
fn data(text: &str) -> String {
    escape_plain_page(text).replace('%', "%25").replace('\n', "%0A")
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_end_a_command_or_a_property_are_escaped() {
        assert_eq!(data("100%\r\n::error::x"), "100%25\\r%0A\\u{3a}:error::x");
        assert_eq!(data("a\u{1b}[31mb\u{202e}c"), "a\\u{1b}[31mb\\u{202e}c");
        assert_eq!(property("a:b,c"), "a%3Ab%2Cc");
    }
}
