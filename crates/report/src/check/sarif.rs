//! A check as SARIF 2.1.0: one result per problem, with its place relative to the root of the repository.

use super::changes::CheckPage;
use super::problems::{Directions, Level, OTHERS, Problem, problems};
use crate::json::{Object, document};
use playproof_formats::golden::Class;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The report.
pub fn sarif(shown: &CheckPage<'_>, directions: &Directions) -> String {
    let problems = problems(&CheckPage { show_args: true, ..*shown }, directions);
    let driver = Object::default()
        .with("name", "playproof")
        .with("semanticVersion", env!("CARGO_PKG_VERSION"))
        .with("rules", rules());
    let results: Vec<Object> = problems.iter().map(|problem| result(problem, directions)).collect();
    let run = Object::default()
        .with("tool", Object::default().with("driver", driver))
        .with("columnKind", "unicodeCodePoints")
        .with("results", results);
    document(&Object::default().with("$schema", SCHEMA).with("version", "2.1.0").with("runs", [run])) + "\n"
}

fn rules() -> Vec<Object> {
    let rules = Class::ALL.into_iter().map(|class| (class.as_str(), class.means())).chain(OTHERS);
    let text = |text: &str| Object::default().with("text", text);
    rules.map(|(id, means)| Object::default().with("id", id).with("shortDescription", text(means))).collect()
}

fn result(problem: &Problem, directions: &Directions) -> Object {
    let Problem { rule, about, message, spot, command, .. } = problem;
    let level = match problem.level {
        Level::Error => "error",
        Level::Warning => "warning",
    };
    let text = Object::default().with("text", format!("{about}: {message}\nrun: {command}"));
    let file = Object::default().with("uri", uri(&directions.path_in_repository(&spot.file)));
    let region = Object::default().with("startLine", spot.line).with("startColumn", spot.column);
    let place = Object::default().with("artifactLocation", file).with("region", region);
    Object::default()
        .with("ruleId", rule)
        .with("level", level)
        .with("message", text)
        .with("locations", [Object::default().with("physicalLocation", place)])
        .with("partialFingerprints", Object::default().with("playproof/v1", format!("{rule}/{about}")))
}

/// A path as a relative URI reference.
fn uri(path: &str) -> String {
    let keep = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(byte);
    path.bytes().map(|byte| if keep(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_uri() {
        assert_eq!(uri("goldens/a b/ü#1.snap"), "goldens/a%20b/%C3%BC%231.snap");
    }
}
