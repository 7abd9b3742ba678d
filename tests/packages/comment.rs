//! The thin layers around the script: the comment on a pull request, with a `gh` of the test's own, and the installation
//! of the program, with a `python3` of the test's own.

use std::path::Path;
use std::process::Command;

use crate::place::{Place, Ran};

/// Keeps one comment in a file, says which call it got, and finds a comment by what is asked for in `--jq`.
const GH: &str = r#"#!/usr/bin/env bash
echo "$*" >>calls
[ "$2" = user ] && { echo "me"; exit 0; }
[ -z "${FORBIDDEN:-}" ] || { echo "HTTP 403: Resource not accessible by integration" >&2; exit 1; }
body=""
for word in "$@"; do case "$word" in body=@*) body="${word#body=@}" ;; esac; done
case "$*" in
    *"--method POST"*) [ ! -f body ] || exit 9; cp "$body" body ;;
    *"--method PATCH"*comments/42*) cp "$body" body ;;
    *"startswith(\"$(head -n 1 body 2>/dev/null)\")"*) [ ! -f body ] || echo 42 ;;
esac
"#;

/// Makes `FOLDER/bin/python`, which only tells what it was asked for.
const PYTHON: &str = r#"#!/usr/bin/env bash
mkdir -p "$3/bin"
printf '#!/usr/bin/env bash\necho "$*" >>asked\n' >"$3/bin/python"
printf '#!/usr/bin/env bash\necho playproof 1\n' >"$3/bin/playproof"
chmod +x "$3/bin/python" "$3/bin/playproof"
"#;

fn run(place: &Place, script: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Option<Ran> {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut bash = Command::new("bash");
    bash.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(script)).args(arguments).current_dir(place.path(""));
    bash.env("PATH", format!("{}:{path}", place.path("bin").display())).envs(variables.iter().copied());
    let output = bash.output().ok()?; // there is no bash here
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Some(Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) })
}

fn with_program(name: &str, text: &str) -> Place {
    let place = Place::new();
    place.write(&format!("bin/{name}"), text);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(place.path(&format!("bin/{name}")), mode).expect("a mode");
    }
    place
}

#[cfg(unix)]
#[test]
fn the_comment_is_added_once_and_then_updated() {
    let place = with_program("gh", GH);
    let say = |text: &str, variables: &[(&str, &str)]| {
        place.write("comment.md", text);
        run(&place, "tools/ci/comment.sh", &["comment.md", "o/r", "7"], variables)
    };
    let Some(first) = say("<!-- playproof: . -->\nfailed\n", &[]) else { return };
    assert!(first.exits(0).out.contains("is added"));
    let second = say("<!-- playproof: . -->\npassed\n", &[]).expect("bash").exits(0);
    assert!(second.out.contains("comment 42 is updated"), "{}", second.out);
    assert!(place.read("body").ends_with("passed\n"));
    let calls = place.read("calls");
    assert_eq!(calls.matches("--method POST").count(), 1, "{calls}");
    // The comment of another project, or of a person, is not ours.
    assert!(calls.contains(r#".user.type == "Bot" or .user.login == "me""#), "{calls}");
    let other = say("<!-- playproof: agents -->\npassed\n", &[]).expect("bash");
    assert_eq!(other.code, 0);
    assert!(other.err.contains("it cannot be added"), "it was not taken for the comment of `.`: {}", other.err);
    // A pull request from a fork may not comment.
    let fork = say("<!-- playproof: . -->\nfailed\n", &[("FORBIDDEN", "1")]).expect("bash").exits(0);
    assert!(fork.err.contains("HTTP 403") && fork.err.contains("the summary of the job has it"), "{}", fork.err);
    assert!(say("no marker\n", &[]).expect("bash").exits(2).err.contains("does not begin with its marker"));
}

#[cfg(unix)]
#[test]
fn the_action_installs_the_version_of_its_own_sources() {
    let place = with_program("python3", PYTHON);
    let Some(ran) = run(&place, "tools/ci/install.sh", &["tool"], &[]) else { return };
    ran.exits(0);
    assert!(place.read("asked").trim_end().ends_with(&format!("install playproof=={}", env!("CARGO_PKG_VERSION"))));
    assert_eq!(place.read("tool/program"), "tool/bin/playproof\n");
    run(&place, "tools/ci/install.sh", &["tool", "own.whl"], &[]).expect("bash").exits(0);
    assert!(place.read("asked").trim_end().ends_with("install own.whl"));
}
