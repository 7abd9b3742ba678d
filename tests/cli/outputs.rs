//! What a command writes to a file never takes the place of what people, or other programs, made.

use super::Place;

const CHAT: &str = include_str!("../samples/openai-chat.json");
const TRACE: &str = r#"{"run_id":"r","tool":"pay","args":{},"status":"ok"}
"#;

fn refused(place: &Place, args: &[&str], says: &str) {
    let before = place.everything();
    let run = place.run(args);
    assert!(run.code == 2 && run.err.contains(says), "{args:?}: {}", run.err);
    assert_eq!(place.everything(), before, "{args:?}");
}

#[test]
fn an_input_is_never_written_over_by_any_name() {
    let place = Place::new();
    place.write("chat.json", CHAT);
    place.write("a.jsonl", TRACE);
    place.write("map.yaml", "format: mapping/1\n");
    for name in ["chat.json", "./chat.json"] {
        refused(&place, &["formats", "convert", "chat.json", "-o", name], "is an input: it would be overwritten");
    }
    refused(&place, &["formats", "convert", "chat.json", "--map", "map.yaml", "-o", "map.yaml"], "is an input");
    refused(&place, &["confirm", "--draft", "a.jsonl", "-o", "./a.jsonl"], "is an input");
    refused(&place, &["confirm", "--draft", "chat.json", "a.jsonl", "-o", "a.jsonl"], "is an input");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(place.path().join("chat.json"), place.path().join("link.json")).expect("a link");
        refused(&place, &["formats", "convert", "chat.json", "-o", "link.json"], "is an input");
        refused(&place, &["formats", "convert", "link.json", "-o", "chat.json"], "is an input");
    }
}

#[test]
fn a_folder_in_place_of_an_output_and_a_name_that_is_empty_are_told_as_what_they_are() {
    let place = Place::new();
    place.write("chat.json", CHAT);
    place.write("a.jsonl", TRACE);
    place.write("there/a", "");
    for folder in [".", "./", "there", "there/", "new/", "/"] {
        let says = format!("`{folder}` is a folder, not a file");
        refused(&place, &["confirm", "--draft", "a.jsonl", "-o", folder], &says);
        refused(&place, &["formats", "convert", "chat.json", "-o", folder], &says);
        refused(&place, &["check", "--report", &format!("junit={folder}")], &says);
    }
    refused(&place, &["check", "--report", "junit="], "name the file that the junit report is written to");
    let named: [&[&str]; 8] = [
        &["confirm", "--draft", "a.jsonl", "-o", ""],
        &["formats", "convert", "chat.json", "--output="],
        &["replay", ""],
        &["replay", "a.jsonl", "--playbook", ""],
        &["lint", "a", ""],
        &["propose", "new", "a", "--from", ""],
        &["propose", "check", ""],
        &["init", ""],
    ];
    for args in named {
        refused(&place, args, "it is empty\n");
    }
    // A trace may hold an empty name.
    refused(&place, &["replay", "a.jsonl", "--run", ""], "there is no call in a run ``");
}

#[test]
fn an_import_replaces_its_own_earlier_trace_and_nothing_else() {
    let place = Place::new();
    place.write("chat.json", CHAT);
    place.write("mine.yaml", "format: playbook/1\n");
    refused(&place, &["formats", "convert", "chat.json", "-o", "mine.yaml"], "exists and is no trace");
    for _ in 0..2 {
        assert_eq!(place.run(&["formats", "convert", "chat.json", "-o", "trace.jsonl"]).code, 0);
    }
    place.write("mine.jsonl", TRACE);
    refused(&place, &["formats", "convert", "chat.json", "-o", "mine.jsonl"], "is no trace of this recording");
    refused(
        &place,
        &["formats", "convert", "chat.json", "-o", "mine.jsonl"],
        "formats convert chat.json --replace --output mine.jsonl\n",
    );
    let replaced = place.run(&["formats", "convert", "chat.json", "--replace", "--output", "mine.jsonl"]);
    assert_eq!((replaced.code, place.read("mine.jsonl")), (0, place.read("trace.jsonl")));
    let shown = place.run(&["formats", "convert", "chat.json", "-o", "-"]);
    assert_eq!((shown.code, shown.out), (0, place.read("trace.jsonl")));
    assert!(!place.path().join("-").exists());
    #[cfg(unix)]
    {
        let shown = place.run(&["formats", "convert", "chat.json", "-o", "/dev/stdout"]);
        assert!(
            shown.code == 0 && !shown.err.contains("next:"),
            "what a device takes cannot be replayed: {}",
            shown.err
        );
    }
}

#[test]
fn facts_that_people_confirmed_are_never_written_over() {
    let place = Place::new();
    place.write("a.jsonl", TRACE);
    std::fs::create_dir(place.path().join("tools")).expect("a folder");
    let first = place.run(&["confirm", "--draft", "a.jsonl", "-o", "tools/ours.yaml"]);
    assert_eq!(first.code, 0, "{}", first.err);
    place.edit("tools/ours.yaml", "# guessed: confirm", "# confirmed");
    let again = ["confirm", "--draft", "a.jsonl", "-o", "tools/ours.yaml"];
    refused(&place, &again, "facts that people confirmed in it would be overwritten");
    refused(&place, &again, "next: playproof confirm a.jsonl --tools tools/ours.yaml\n");
}

#[test]
fn no_folder_is_made_for_an_output_and_the_one_that_is_missing_is_named() {
    for is_project in [false, true] {
        let place = Place::new();
        if is_project {
            place.run(&["init"]).exits(0);
        }
        place.write("chat.json", CHAT);
        place.write("a.jsonl", TRACE);
        let elsewhere = tempfile::tempdir().expect("a folder");
        let elsewhere = elsewhere.path().join("none").to_string_lossy().into_owned();
        for (folder, file) in
            [("none", "none/x"), ("none/deep", "none/deep/x"), (&*elsewhere, &*format!("{elsewhere}/x"))]
        {
            let said = format!("there is no folder `{folder}` for `{file}`");
            refused(&place, &["formats", "convert", "chat.json", "-o", file], &said);
            refused(&place, &["confirm", "--draft", "a.jsonl", "-o", file], &said);
            refused(&place, &["check", "--report", &format!("junit={file}")], &said);
            refused(&place, &["confirm", "--draft", "a.jsonl", "-o", file], &format!("next: mkdir -p {folder}\n"));
            assert!(!std::path::Path::new(&elsewhere).exists());
        }
        refused(&place, &["confirm", "--draft", "a.jsonl", "-o", "a.jsonl/x"], "`a.jsonl` is not a folder");
        std::fs::create_dir(place.path().join("none")).expect("a folder");
        place.run(&["confirm", "--draft", "a.jsonl", "-o", "none/x"]).exits(0);
    }
}

#[test]
fn an_output_that_a_project_would_read_as_its_own_file_is_refused() {
    let place = Place::new();
    place.write("ours/chat.json", CHAT);
    place.write("ours/a.jsonl", TRACE);
    place.run(&["init", "ours"]).exits(0);
    place.edit("ours/playproof.yaml", "goldens: goldens", "goldens: kept");
    std::fs::rename(place.path().join("ours/goldens"), place.path().join("ours/kept")).expect("it moves");
    let (a, chat) = ("ours/a.jsonl", "ours/chat.json");
    for (file, what) in [
        ("fixtures/x.yaml", "a fixture"),
        ("fixtures/x.yml", "a fixture"),
        ("kept/x.snap", "a golden"),
        ("kept/ours/x.snap.new", "a golden"),
        ("kept/playbook.lock", "a golden"),
        ("proposals/x.xml", "a file of a proposal"),
        ("proposals/history/0002-x.yaml", "a file of a proposal"),
        ("playbooks/standard.yaml", "a playbook"),
        ("playproof.yaml", "the settings of a project"),
        ("mutants.yaml", "a list of accepted mutants"),
    ] {
        let said = format!("{file}` would be read as {what}");
        for folder in ["", "ours/", "ours/fixtures/../"] {
            let name = format!("{folder}{file}");
            let run = |args: &[&str]| match folder {
                "" => place.run_below("ours", args),
                _ => place.run(args),
            };
            let (a, chat) = if folder.is_empty() { ("a.jsonl", "chat.json") } else { (a, chat) };
            let before = place.everything();
            for args in [
                &["confirm", "--draft", a, "-o", &name][..],
                &["formats", "convert", chat, "-o", &name, "--replace"],
                &["check", "--report", &format!("json={name}")],
                &["replay", a, "--report", &format!("html={name}")],
            ] {
                let ran = run(args);
                assert!(ran.code == 2 && ran.err.contains(&said), "{args:?}: {}", ran.err);
                assert_eq!(place.everything(), before, "{args:?}");
            }
        }
    }
    // A trace beside fixtures is read by nobody unasked.
    place.run_below("ours", &["formats", "convert", "chat.json", "-o", "fixtures/x.jsonl"]).exits(0);
    place.run_below("ours", &["check"]).exits(0);
    let nested = place.run(&["init", "ours/fixtures/new"]).exits(2);
    assert!(nested.err.contains("`ours/fixtures/new/playproof.yaml` would be read as a fixture"), "{}", nested.err);
    #[cfg(unix)]
    {
        let place = Place::new();
        place.write("a.jsonl", TRACE);
        place.run(&["init", "ours"]).exits(0);
        std::os::unix::fs::symlink("ours/goldens/playbook.lock", place.path().join("link")).expect("a link");
        let run = place.run(&["confirm", "--draft", "a.jsonl", "-o", "link"]).exits(2);
        assert!(run.err.contains("`link` would be read as a golden"), "{}", run.err);
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_that_nobody_reads_is_told_of_after_a_second() {
    let place = Place::new();
    place.run(&["init"]).exits(0);
    place.write("chat.json", CHAT);
    place.write("a.jsonl", TRACE);
    assert!(std::process::Command::new("mkfifo").arg(place.path().join("pipe")).status().expect("mkfifo").success());
    let said = "`pipe` cannot be written: it is a pipe, and nothing has opened it to read within a second";
    for args in [
        &["formats", "convert", "chat.json", "-o", "pipe"][..],
        &["confirm", "--draft", "a.jsonl", "-o", "pipe"],
        &["check", "--report", "json=pipe"],
        &["replay", "a.jsonl", "--report", "html=pipe"],
    ] {
        let run = place.run(args).exits(2);
        assert!(run.err.contains(said), "{args:?}: {}", run.err);
    }
    let mut summary = place.command();
    let summary = summary.envs([("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", "pipe")]).arg("check").output();
    let summary = String::from_utf8(summary.expect("it runs").stderr).expect("UTF-8");
    assert!(summary.contains(said), "{summary}");
}
