//! A check as SARIF 2.1.0: one result a problem, with its place in the playbook or the golden, from the root of the
//! repository.

use super::page::Shown;
use super::problems::{Directions, Level, OTHERS, Problem, problems};
use crate::golden::Class;
use crate::report::json::Object;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The report.
pub fn sarif(shown: &Shown<'_>, directions: &Directions) -> String {
    let problems = problems(&Shown { show_args: true, ..*shown }, directions);
    let mut out = Vec::new();
    let mut document = Object::open(&mut out);
    document.text("$schema", SCHEMA).text("version", "2.1.0");
    document.objects("runs", [()], |run, ()| {
        run.object("tool", |tool| {
            tool.object("driver", |driver| {
                driver.text("name", "playproof").text("semanticVersion", env!("CARGO_PKG_VERSION"));
                driver.objects("rules", rules(), |rule, (id, means)| {
                    rule.text("id", id).object("shortDescription", |text| {
                        text.text("text", means);
                    });
                });
            });
        });
        run.text("columnKind", "unicodeCodePoints");
        run.objects("results", &problems, |object, problem| result(object, problem, directions));
    });
    document.end();
    String::from_utf8_lossy(&out).into_owned() + "\n"
}

fn rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    Class::ALL.into_iter().map(|class| (class.as_str(), class.means())).chain(OTHERS)
}

fn result(object: &mut Object<'_>, problem: &Problem, directions: &Directions) {
    let level = match problem.level {
        Level::Error => "error",
        Level::Warning => "warning",
    };
    object.text("ruleId", problem.rule).text("level", level);
    object.object("message", |message| {
        message.text("text", &format!("{}: {}\nrun: {}", problem.about, problem.message, problem.command));
    });
    object.objects("locations", [&problem.spot], |location, spot| {
        location.object("physicalLocation", |place| {
            place.object("artifactLocation", |file| {
                file.text("uri", &uri(&directions.path_in_repository(&spot.file)));
            });
            place.object("region", |region| {
                region.number("startLine", spot.line as u64).number("startColumn", spot.column as u64);
            });
        });
    });
    object.object("partialFingerprints", |prints| {
        prints.text("playproof/v1", &format!("{}/{}", problem.rule, problem.about));
    });
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
