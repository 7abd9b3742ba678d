//! Tool facts of a file beside those of the playbook: each fact that the file gives wins, and no other is lost.

use super::Place;

#[test]
fn a_confirmed_row_of_a_file_keeps_what_the_playbook_alone_says() {
    let place = Place::with_trace();
    place.write("tools.yaml", "format: tools/1\ntools:\n  payments.issue_refund: { access: write }\n");
    for command in [&["replay", "trace.jsonl", "--all"][..], &["explain", "trace.jsonl", "r1#1"]] {
        let page = place.run(&[command, &["--tools", "tools.yaml"]].concat());
        assert!(page.out.contains("write, not idempotent, timeout 5000 ms"), "{}", page.out);
    }
    place.edit("tools.yaml", "access: write", "access: write, timeout_ms: 7000, idempotent: true");
    let page = place.run(&["replay", "trace.jsonl", "--all", "--tools", "tools.yaml"]);
    assert!(page.out.contains("write, idempotent, timeout 7000 ms"), "{}", page.out);
    let page = place.run(&["replay", "trace.jsonl", "--all"]);
    assert!(page.out.contains("write, not idempotent, timeout 5000 ms"), "{}", page.out);
}

#[test]
fn a_glob_of_a_file_yields_to_the_tools_own_row_in_the_playbook_and_the_help_says_so() {
    let place = Place::with_trace();
    place.write("tools.yaml", "format: tools/1\ntools:\n  payments.*: { access: read, timeout_ms: 7000 }\n");
    let page = place.run(&["replay", "trace.jsonl", "--all", "--tools", "tools.yaml"]);
    assert!(page.out.contains("write, not idempotent, timeout 5000 ms"), "{}", page.out);
    let help = place.run(&["confirm", "--help"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("A row with a tool's exact name wins over a row with a glob, in either file"), "{help}");
}
