//! Which files a page may replace, and what is refused before anything runs.

use super::{COMMANDS, place};

#[test]
fn a_page_replaces_a_page_and_no_other_file() {
    let place = place(6, "plain");
    for (name, args) in COMMANDS {
        let with = |file: &str| place.run(&[args, &["--report", &format!("html={file}")]].concat());
        place.write("page.html", "");
        with("page.html");
        let first = place.read("page.html");
        with("page.html");
        assert_eq!(place.read("page.html"), first, "{name}");
        place.write("notes.html", "<!doctype html>\nmine");
        let refused = with("notes.html").exits(2);
        assert!(refused.err.contains("it would be overwritten"), "{name}: {}", refused.err);
        assert_eq!((place.read("notes.html").as_str(), refused.out.as_str()), ("<!doctype html>\nmine", ""), "{name}");
        let folder = with("nowhere/page.html").exits(2);
        assert!(folder.err.contains("there is no folder `nowhere`"), "{name}: {}", folder.err);
        let kind = place.run(&[args, &["--report", "htm=x"]].concat()).exits(2);
        assert!(kind.err.contains("did you mean `html`?"), "{name}: {}", kind.err);
    }
}

#[test]
fn an_input_is_no_page() {
    let place = place(6, "plain");
    place.write("empty.jsonl", "");
    let ran = place.run(&["replay", "trace.jsonl", "empty.jsonl", "--report", "html=empty.jsonl"]).exits(2);
    assert!(ran.err.contains("`empty.jsonl` is an input"), "{}", ran.err);
}

#[test]
fn commands_that_have_no_page_to_write_refuse_one() {
    let place = place(6, "plain");
    for args in [
        &["coverage", "--write", "fixtures", "--report", "html=x.html"][..],
        &["replay", "fixtures/a-denial-goes-to-people.yaml", "--seeds", "1-2", "--report", "html=x.html"],
        &["replay", "trace.jsonl", "--same-decisions", "--report", "html=x.html"],
    ] {
        let ran = place.run(args).exits(2);
        assert!(ran.err.contains("cannot be used with"), "{args:?}: {}", ran.err);
    }
}
