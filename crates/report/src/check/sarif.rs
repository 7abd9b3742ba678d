//! A check as SARIF 2.1.0: one result per problem, with its place relative to the root of the repository.

use serde::Serialize;

use super::changes::CheckPage;
use super::problems::{Directions, Level, OTHERS, Problem, problems};
use crate::json::{Map, document};
use playproof_formats::golden::Class;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

#[derive(Serialize)]
struct SarifJson<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [RunJson<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunJson<'a> {
    tool: ToolJson,
    column_kind: &'static str,
    results: Vec<ResultJson<'a>>,
}

#[derive(Serialize)]
struct ToolJson {
    driver: DriverJson,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DriverJson {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<RuleJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RuleJson {
    id: &'static str,
    short_description: TextJson,
}

#[derive(Serialize)]
struct TextJson {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultJson<'a> {
    rule_id: &'a str,
    level: &'static str,
    message: TextJson,
    locations: [LocationJson; 1],
    partial_fingerprints: Map<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LocationJson {
    physical_location: PhysicalJson,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalJson {
    artifact_location: ArtifactJson,
    region: RegionJson,
}

#[derive(Serialize)]
struct ArtifactJson {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RegionJson {
    start_line: usize,
    start_column: usize,
}

/// The report.
pub fn sarif(shown: &CheckPage<'_>, directions: &Directions) -> String {
    let problems = problems(&CheckPage { show_args: true, ..*shown }, directions);
    let driver = DriverJson { name: "playproof", semantic_version: env!("CARGO_PKG_VERSION"), rules: rules() };
    let run = RunJson {
        tool: ToolJson { driver },
        column_kind: "unicodeCodePoints",
        results: problems.iter().map(|problem| result(problem, directions)).collect(),
    };
    document(&SarifJson { schema: SCHEMA, version: "2.1.0", runs: [run] }) + "\n"
}

fn rules() -> Vec<RuleJson> {
    let rules = Class::ALL.into_iter().map(|class| (class.as_str(), class.means())).chain(OTHERS);
    rules.map(|(id, means)| RuleJson { id, short_description: TextJson { text: means.to_owned() } }).collect()
}

fn result<'a>(problem: &'a Problem, directions: &Directions) -> ResultJson<'a> {
    let Problem { rule, about, message, spot, command, .. } = problem;
    let physical_location = PhysicalJson {
        artifact_location: ArtifactJson { uri: uri(&directions.path_in_repository(&spot.file)) },
        region: RegionJson { start_line: spot.line, start_column: spot.column },
    };
    ResultJson {
        rule_id: rule,
        level: match problem.level {
            Level::Error => "error",
            Level::Warning => "warning",
        },
        message: TextJson { text: format!("{about}: {message}\nrun: {command}") },
        locations: [LocationJson { physical_location }],
        partial_fingerprints: Map(vec![("playproof/v1", format!("{rule}/{about}"))]),
    }
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
