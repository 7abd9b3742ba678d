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
        refused(&place, &["import", "chat.json", "-o", name], "is an input: it would be overwritten");
    }
    refused(&place, &["import", "chat.json", "--map", "map.yaml", "-o", "map.yaml"], "is an input");
    refused(&place, &["tools", "a.jsonl", "-o", "./a.jsonl"], "is an input");
    refused(&place, &["tools", "chat.json", "a.jsonl", "-o", "a.jsonl"], "is an input");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(place.path().join("chat.json"), place.path().join("link.json")).expect("a link");
        refused(&place, &["import", "chat.json", "-o", "link.json"], "is an input");
        refused(&place, &["import", "link.json", "-o", "chat.json"], "is an input");
    }
}

#[test]
fn a_folder_in_place_of_an_output_and_a_name_that_is_empty_are_told_as_what_they_are() {
    let place = Place::new();
    place.write("chat.json", CHAT);
    place.write("a.jsonl", TRACE);
    place.write("there/a", "");
    for folder in [".", "./", "there", "there/", "new/", "/"] {
        let says = format!("`{folder}` is a folder, and a file is written");
        refused(&place, &["tools", "a.jsonl", "-o", folder], &says);
        refused(&place, &["import", "chat.json", "-o", folder], &says);
        refused(&place, &["check", "--report", &format!("junit={folder}")], &says);
    }
    refused(&place, &["check", "--report", "junit="], "name the file that the junit report is written to");
    let named: [&[&str]; 8] = [
        &["tools", "a.jsonl", "-o", ""],
        &["import", "chat.json", "--output="],
        &["replay", ""],
        &["replay", "a.jsonl", "--playbook", ""],
        &["lint", "a", ""],
        &["feedback", "show", ""],
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
    refused(&place, &["import", "chat.json", "-o", "mine.yaml"], "is there already, and is no trace");
    for _ in 0..2 {
        assert_eq!(place.run(&["import", "chat.json", "-o", "trace.jsonl"]).code, 0);
    }
    place.write("mine.jsonl", TRACE);
    refused(&place, &["import", "chat.json", "-o", "mine.jsonl"], "is no trace of this recording");
    refused(&place, &["import", "chat.json", "-o", "mine.jsonl"], "import chat.json --replace --output mine.jsonl\n");
    let replaced = place.run(&["import", "chat.json", "--replace", "--output", "mine.jsonl"]);
    assert_eq!((replaced.code, place.read("mine.jsonl")), (0, place.read("trace.jsonl")));
    let shown = place.run(&["import", "chat.json", "-o", "-"]);
    assert_eq!((shown.code, shown.out), (0, place.read("trace.jsonl")));
    assert!(!place.path().join("-").exists());
    #[cfg(unix)]
    {
        let shown = place.run(&["import", "chat.json", "-o", "/dev/stdout"]);
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
    let first = place.run(&["tools", "a.jsonl", "-o", "tools/ours.yaml"]);
    assert_eq!(first.code, 0, "{}", first.err);
    place.edit("tools/ours.yaml", "# guessed: confirm", "# confirmed");
    let again = ["tools", "a.jsonl", "-o", "tools/ours.yaml"];
    refused(&place, &again, "facts that people confirmed in it would be overwritten");
    refused(&place, &again, "next: playproof tools a.jsonl | diff tools/ours.yaml -\n");
}
