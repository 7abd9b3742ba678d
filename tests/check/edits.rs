//! Edits of a playbook: each is found, classified and shown at its row; undone, nothing has changed.

use crate::check::project::Project;

const PLAYBOOK: &str = "playbooks/standard.yaml";

/// An edit of the standard playbook and what `check` must say of it.
struct Edit {
    what: &'static str,
    old: &'static str,
    new: &'static str,
    /// The class, and the fixture that shows it.
    class: (&'static str, &'static str),
    row: &'static str,
    /// What is underlined.
    place: &'static str,
    /// The first changed decision: golden, run.
    first: (&'static str, &'static str),
}

const EDITS: &[Edit] = &[
    Edit {
        what: "a delay",
        old: "[200, 600, 1800]",
        new: "[300, 600, 1800]",
        class: ("timing_only", "keys-say-processed"),
        row: "verdict transient_timeout",
        place: "[300, 600, 1800]",
        first: ("retry_scheduled: 2, delay_ms: 200", "retry_scheduled: 2, delay_ms: 300"),
    },
    Edit {
        what: "a queue",
        old: "{ queue: policy_review } }\n    tell: { class: external_api_error }",
        new: "{ queue: unclassified } }\n    tell: { class: external_api_error }",
        class: ("outcome_changed", "a-denial-escalates-and-is-never-retried"),
        row: "verdict policy_denied",
        place: "escalate_to_human",
        first: ("escalated: policy_review", "escalated: unclassified"),
    },
    Edit {
        what: "a rule before another",
        old: "  - { rule: timeout-status, when: { status: [408, 504] }, verdict: transient_timeout }\n",
        new: "  - { rule: earlier, when: { kind: 5xx }, verdict: server_error_5xx }\n  \
              - { rule: timeout-status, when: { status: [408, 504] }, verdict: transient_timeout }\n",
        class: ("outcome_changed", "a-gateway-timeout-means-a-timeout"),
        row: "rule earlier",
        place: "earlier",
        first: (
            "failure_classified: transient_timeout, rule: timeout-status",
            "failure_classified: server_error_5xx, rule: earlier",
        ),
    },
    Edit {
        what: "the retry guard",
        old: "limits: {",
        new: "study: { why: to see what it stops, retry_guard: off }\nlimits: {",
        class: ("effect_changed", "unkeyed-server-error-is-not-retried"),
        row: "study retry_guard",
        place: "retry_guard",
        first: ("retry_suppressed: may_have_acted", "retry_scheduled: 2, delay_ms: 500"),
    },
    Edit {
        what: "an effect claim",
        old: "    effect: applied\n",
        new: "    effect: unknown\n",
        class: ("effect_changed", "the-worked-refund"),
        row: "verdict idempotency_conflict",
        place: "unknown",
        first: ("effect: applied", "effect: unknown"),
    },
];

#[test]
fn every_edit_is_found_classified_and_shown_and_leaves_nothing_behind_once_it_is_undone() {
    let project = Project::new();
    let (before, original) = (project.files(), project.read(PLAYBOOK));
    for edit in EDITS {
        project.edit(PLAYBOOK, edit.old, edit.new);
        let json = project.run(&["check", "--format", "json"]);
        assert_eq!(json.code, 1, "{}: {json:?}", edit.what);
        the_report_says(edit, &project, &json.out);
        let page = project.run(&["check"]);
        assert_eq!(page.code, 1, "{}", edit.what);
        the_page_says(edit, &page.out);
        every_report_says_the_same(edit, &project);

        project.write(PLAYBOOK, &original);
        let restored = project.run(&["check"]);
        assert_eq!((restored.code, restored.err.as_str()), (0, ""), "{}: {}", edit.what, restored.out);
        assert_eq!(project.files(), before, "{}: a file changed", edit.what);
    }
}

fn the_report_says(edit: &Edit, project: &Project, json: &str) {
    let report: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let (class, fixture) = edit.class;
    let results = report["results"].as_array().expect("results");
    let id = format!("standard/{fixture}");
    let result = results.iter().find(|result| result["id"] == *id).unwrap_or_else(|| panic!("{id}"));
    assert_eq!(result["class"], class, "{}", edit.what);
    let changes = report["rows"][0]["changes"].as_array().expect("rows");
    assert!(changes.iter().any(|change| change["row"] == edit.row), "{}: {changes:?}", edit.what);
    assert_eq!((&result["first"]["golden"], &result["first"]["run"]), (&edit.first.0.into(), &edit.first.1.into()));
    let place = &result["place"];
    assert_eq!(place["file"], PLAYBOOK, "{result}");
    let text = project.read(PLAYBOOK);
    let at = |name: &str| place[name].as_u64().and_then(|at| usize::try_from(at - 1).ok()).expect("a number");
    let line = text.lines().nth(at("line")).expect("a line");
    assert!(line[at("column")..].starts_with(edit.place), "{}: `{line}` at {}", edit.what, at("column"));
}

fn the_page_says(edit: &Edit, page: &str) {
    let class = edit.class.0.replace('_', " ");
    assert!(page.contains(&format!("{class}  standard/{}", edit.class.1)) || page.contains(edit.class.1), "{page}");
    assert!(page.contains(edit.row), "{}: {page}", edit.what);
    let said = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(&format!("golden {}", edit.first.0)), "{}: {page}", edit.what);
    assert!(said.contains(&format!("run {}", edit.first.1)), "{}: {page}", edit.what);
    assert!(page.contains("next: playproof "), "{page}");
}

/// Class, row, first decision and line, as they are in the JSON, in every other report and in the page's counts.
fn every_report_says_the_same(edit: &Edit, project: &Project) {
    let id = format!("standard/{}", edit.class.1);
    let files = ["junit=o.xml", "sarif=o.sarif", "github=o.github", "markdown=o.md", "json=o.json"];
    let args: Vec<&str> = ["check", &id].into_iter().chain(files.iter().flat_map(|file| ["--report", file])).collect();
    let page = project.run_in_ci(&args).out;
    let read = |file: &str| project.read(&format!("o.{file}"));
    let json: serde_json::Value = serde_json::from_str(&read("json")).expect("JSON");
    let result = &json["results"][0];
    let (class, row) = (edit.class.0, format!("row `{}`", edit.row));
    let title = class.replace('_', " ");
    assert_eq!(result["place"]["row"], edit.row, "{}: {result}", edit.what);
    let line = &result["place"]["line"];
    assert_eq!(json["counts"][class], 1, "{}: {json}", edit.what);
    assert!(page.contains(&format!("1 {title}")), "{}: {page}", edit.what);
    let contradiction = result["contradictions"][0].as_str().unwrap_or_default();
    assert_eq!(contradiction.is_empty(), json["counts"]["contradicting"] == 0, "{json}");
    let says_all = |file: &str, message: &str| {
        for said in [edit.first.0, edit.first.1, &row, contradiction] {
            assert!(message.contains(said), "{}: `{said}` in {file}: {message}", edit.what);
        }
    };

    let xml = read("xml");
    let xml = roxmltree::Document::parse(&xml).expect("XML");
    let case = xml.descendants().find(|node| node.attribute("name") == Some(edit.class.1)).expect("the case");
    let failure = case.first_element_child().expect("a failure");
    assert_eq!(failure.attribute("type"), Some(class), "{}", edit.what);
    says_all("junit", failure.attribute("message").unwrap_or_default());
    assert!(failure.text().unwrap_or_default().contains(&format!("{PLAYBOOK}:{line}\n")), "{failure:?}");

    let sarif: serde_json::Value = serde_json::from_str(&read("sarif")).expect("JSON");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], class, "{}", edit.what);
    says_all("sarif", result["message"]["text"].as_str().unwrap_or_default());
    assert_eq!(&result["locations"][0]["physicalLocation"]["region"]["startLine"], line);

    let github = read("github");
    let annotation = github.lines().next().unwrap_or_default();
    assert!(annotation.contains(&format!("title={title}%3A {id}::")), "{}: {annotation}", edit.what);
    assert!(annotation.contains(&format!(" file={PLAYBOOK},line={line},")), "{}: {annotation}", edit.what);
    says_all("github", annotation);

    let comment = read("md").replace('\\', "");
    let cell = comment.lines().find(|text| text.contains(&format!("| `{id}` |"))).unwrap_or_default();
    assert!(cell.starts_with(&format!("| {title} |")), "{}: {comment}", edit.what);
    says_all("markdown", cell);
    assert!(comment.contains(&format!("{PLAYBOOK}:{line}\n")), "{}: {comment}", edit.what);
    files.iter().filter_map(|report| report.split_once('=')).for_each(|(_, file)| project.remove(file));
}

#[test]
fn without_the_retry_guard_one_effect_becomes_several_and_the_headline_says_so() {
    let project = Project::new();
    let guard = &EDITS[3];
    project.edit(PLAYBOOK, guard.old, guard.new);
    let page = project.run(&["check", "unkeyed-server-error-is-not-retried"]);
    assert!(page.out.contains("guard weakened: 1 effect becomes 3"), "{}", page.out);
    assert!(page.out.contains("playbooks/standard.yaml:"), "{}", page.out);
}

#[test]
fn comments_and_layout_of_a_playbook_do_not_count() {
    let project = Project::new();
    project.edit(
        PLAYBOOK,
        "limits: { max_attempts: 6, deadline_ms: 60000 }",
        "limits:   # of one call\n  deadline_ms: 60000\n  max_attempts: 6",
    );
    assert_eq!(project.run(&["check"]).code, 0);
}

#[test]
fn a_golden_that_was_laid_out_anew_says_the_same() {
    let project = Project::new();
    let golden = "goldens/standard/the-worked-refund.snap";
    let text = project.read(golden).replace("+0:   ", "+0: ").replace('\n', "\r\n");
    project.write(golden, &text);
    assert_eq!(project.run(&["check"]).code, 0);
}

#[test]
fn tool_facts_that_changed_are_blamed_and_no_rule_is() {
    let facts = |row: &str| format!("format: tools/1\ntools:\n  payments.issue_refund: {row}\n");
    let project = Project::new();
    project.write("playproof.yaml", "format: project/1\ntools: facts.yaml\n");
    project.write("facts.yaml", &facts("{ access: write } # guessed: confirm"));
    assert_eq!(project.run(&["check"]).code, 0);
    let args = ["check", "standard/unkeyed-server-error-is-not-retried"];
    for (row, underlined, said) in [
        ("{ access: write, idempotent: true }", "true }", "with `idempotent: false` the run is as accepted"),
        ("{ access: read }", "read }", "with `access: write` the run is as accepted"),
    ] {
        project.write("facts.yaml", &facts(row));
        let page = project.run(&args).out;
        assert!(page.contains("[facts.yaml:3:") && page.contains(said), "{page}");
        assert!(page.contains("because  no row of the playbook changed; with `"), "{page}");
        assert!(!page.contains("playbooks/standard.yaml:"), "{page}");
        let json = project.run(&[&args[..], &["--format", "json"]].concat()).out;
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let place = &json["results"][0]["place"];
        assert_eq!((&place["file"], &place["row"]), (&"facts.yaml".into(), &"tool payments.issue_refund".into()));
        let line = project.read("facts.yaml").lines().nth(2).expect("a line").to_owned();
        let column = place["column"].as_u64().and_then(|at| usize::try_from(at - 1).ok()).expect("a number");
        assert!(line[column..].starts_with(underlined), "{place}");
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("   outcome changed ")).collect();
        let once: std::collections::BTreeSet<&&str> = rows.iter().collect();
        assert!(!rows.is_empty() && once.len() == rows.len(), "{page}");
    }
}
