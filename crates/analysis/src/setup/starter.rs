//! The initial texts of a project. Reads and writes nothing.

/// The name of the project's playbook.
pub const PLAYBOOK: &str = "ours";

/// Its path.
pub const PLAYBOOK_FILE: &str = "playbooks/ours.yaml";

/// The name and the text of a fixture.
pub type NamedText = (String, String);

/// The initial fixtures of every project.
pub fn fixtures() -> Vec<NamedText> {
    let named = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
    let both = [
        ("a-keyed-refund-meets-its-own-effect", include_str!("starter/a-keyed-refund-meets-its-own-effect.yaml")),
        ("an-unkeyed-refund-is-not-sent-twice", include_str!("starter/an-unkeyed-refund-is-not-sent-twice.yaml")),
    ];
    both.map(named).into()
}

/// The fixture for a project without a recorded failure.
pub fn denial() -> NamedText {
    ("a-denial-goes-to-people".to_owned(), include_str!("starter/a-denial-goes-to-people.yaml").to_owned())
}

/// `playproof.yaml`, with the file of tool facts and the mapping for recordings of no known format.
pub fn config(tools: Option<&str>, map: Option<&str>) -> String {
    let tools = match tools {
        Some(path) => format!("tools: {path}\n"),
        None => "# tools: tools.yaml          # what is known of your tools: `playproof confirm TRACE`\n".to_owned(),
    };
    let map = map.map_or_else(String::new, |path| {
        format!("map: {path} # how your recordings are read; `--map` names another one\n")
    });
    format!(
        "\
# What commands use in this folder and below it, where no flag says otherwise. Paths are taken from this file's folder.
format: project/1
playbook: {PLAYBOOK_FILE}
{tools}{map}fixtures: fixtures
goldens: goldens
proposals: proposals
# What is taken out of every text of a trace that is shown or written, by key and by pattern. Times, statuses and numbers
# of attempts are always shown, and patterns see no percent or base64 encoding: `playproof help redaction`. Capitals do
# not count in keys, and do in patterns; `password=x` within a message is no JSON, and needs a pattern.
# redaction: {{ keys: [email, '*_token'], patterns: ['\\b\\d{{13,19}}\\b'] }}
"
    )
}

/// The playbook: the rows that teams change first, and those of `standard` behind them.
pub const PLAYBOOK_TEXT: &str = include_str!("starter/ours.yaml");

/// The CI job; `below` is the path of the project in its repository, if not at the root. A project without a history has
/// none to verify.
pub fn workflow(below: Option<&str>, has_history: bool) -> String {
    let mut text = include_str!("starter/playproof.yml").replace("PLAYPROOF_VERSION", env!("CARGO_PKG_VERSION"));
    if !has_history && let Some(step) = text.find("      - name: Every accepted change") {
        text.truncate(step);
    }
    match below {
        None => text,
        Some(below) => {
            let folder = serde_json::Value::from(below);
            let place =
                format!("    timeout-minutes: 10\n    defaults:\n      run:\n        working-directory: {folder}\n");
            text.replace("    timeout-minutes: 10\n", &place)
        }
    }
}

/// How git merges the lock.
pub const ATTRIBUTES: &str = "\
# One line a row: where two branches add rows at the same place, both are wanted. A row that both changed is then there
# twice, and `playproof check` refuses it.
playbook.lock merge=union
";

/// The files that git ignores.
pub const IGNORED: &str = "\
# What waits for review; `playproof review` or `playproof accept` makes goldens of it.
*.snap.new
# What a command has left that was killed; the next one removes it.
.playproof-*
";

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_formats::diagnostic::Source;
    use playproof_formats::playbook::{embedded, parse, rows};

    #[test]
    fn the_project_s_playbook_is_short_and_decides_as_the_standard_one() {
        let load =
            |text: &str| parse(Source::whole("playbook", text)).unwrap_or_else(|report| panic!("{report}")).playbook;
        let (ours, standard) = (load(PLAYBOOK_TEXT), load(embedded("standard").unwrap()));
        let mut own = rows(&ours);
        own.retain(|row| row.name != "extends");
        assert_eq!(own, rows(&standard));
        assert_eq!(&*ours.name, PLAYBOOK);
        assert!(PLAYBOOK_TEXT.lines().count() <= 60);
    }

    #[test]
    fn the_ci_job_names_our_version_and_its_folder() {
        let text = workflow(Some("agents/refunds"), true);
        assert!(text.contains("        working-directory: \"agents/refunds\"\n"), "{text}");
        let wheel =
            format!("install playproof=={}\n          || cargo install --locked --git ", env!("CARGO_PKG_VERSION"));
        assert!(text.contains(&wheel), "{text}");
        assert!(!text.contains("PLAYPROOF_VERSION"), "{text}");
    }

    #[test]
    fn the_ci_job_verifies_a_history_only_where_there_is_one() {
        assert!(workflow(None, true).ends_with("        run: playproof history verify\n"));
        assert!(workflow(None, false).ends_with("        run: playproof check\n"));
    }
}
