//! What `lint` says of globs that a dot stops before a tool of the project or of a trace.

use super::Place;

const BOOK: &str = "tools:\n  payments.issue_refund";

#[test]
fn a_glob_that_a_dot_stops_is_named_with_the_tools_of_fixtures_facts_and_traces() {
    let place = Place::new();
    place.run(&["init"]).exits(0);
    place.run(&["lint"]).exits(0);
    place
        .write("t.jsonl", "{\"tool\":\"search.a.b\",\"status\":\"ok\"}\n{\"tool\":\"search.web\",\"status\":\"ok\"}\n");
    let run = place.run(&["lint", "--trace", "t.jsonl"]).exits(1);
    assert!(run.out.contains("`search.*` does not match `search.a.b`\n"), "{}", run.out);
    assert!(run.out.contains("next: playproof help glob_stops_at_dot"), "{}", run.out);

    place.write(
        "facts.yaml",
        "format: tools/1\ntools:\n  search.fact.x: { access: read }\n  '*.web': { access: read }\n",
    );
    place.edit("playproof.yaml", "playbook:", "tools: facts.yaml\nplaybook:");
    place.copy_fixture("a-glob-of-reads-stops-at-a-dot.yaml");
    std::fs::rename(place.path().join("a-glob-of-reads-stops-at-a-dot.yaml"), place.path().join("fixtures/deep.yaml"))
        .expect("a fixture");
    let run = place.run(&["lint"]).exits(1);
    assert!(run.out.contains("`search.*` does not match `search.index.delete`\n"), "{}", run.out);
    assert!(!run.out.contains("archive"), "`**` crosses: {}", run.out);
    place.edit("fixtures/deep.yaml", "archive.**", "'archive.*'");
    place.write("t.jsonl", "{\"tool\":\"a.b.web\",\"status\":\"ok\"}\n");
    let run = place.run(&["lint", "--trace", "t.jsonl"]).exits(1);
    assert!(run.out.contains("`archive.*` does not match `archive.index.list`\n"), "in the fixture: {}", run.out);
    assert!(run.out.contains("`*.web` does not match `a.b.web`\n"), "in the tool facts: {}", run.out);

    place.edit(
        "playbooks/ours.yaml",
        BOOK,
        &BOOK.replace("payments", "search.index.delete: { access: write }\n  payments"),
    );
    place.write("facts.yaml", "format: tools/1\ntools:\n  search.fact.x: { access: read }\n");
    place.edit("fixtures/deep.yaml", "'archive.*'", "archive.**");
    let run = place.run(&["lint"]).exits(0);
    assert!(run.out.contains("clean"), "a row of its own says that it is meant: {}", run.out);
}
