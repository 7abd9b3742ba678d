//! Pages and reports of one small check, read back by real parsers.

use std::collections::BTreeMap;

use super::sarif_shape::assert_sarif;
use super::{CheckPage, Directions, MARKER, annotations, comment, json, junit, page, sarif};
use crate::style::Palette;
use playproof_analysis::check::{CaseId, CaseResult, CheckReport, Diverged, GoldenState, PlaybookRows};
use playproof_engine::sim::Contradiction;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::golden::{GoldenBody, GoldenFile, RowChange, compare, parse_body};

const GOLDEN: &str = "\
pay: { outcome: escalated, queue: people, effect: unknown, attempts: 1, verdicts: [slow], last_error: timeout }
ledger:
  'pay{\"card\":\"4111\"}': applied x1
findings: []
events:
- { +0:    pay, attempt_started: 1 }
- { +0:    pay, retry_suppressed: may_have_acted }
";

const ODD: &str = "it's <b>\"odd\"</b> & `so` ::error:: 100%\u{1b}[31m @team | ]]>";

fn diverged(name: &str, edits: &[(&str, &str)]) -> CaseResult {
    let run = edits.iter().fold(GOLDEN.to_owned(), |text, (old, new)| text.replace(old, new));
    let body = |text: &str| parse_body(Source::whole(format!("goldens/p/{name}.snap"), text)).unwrap();
    let golden =
        GoldenFile { body: Source::whole(format!("goldens/p/{name}.snap"), GOLDEN), ..GoldenFile::new(name, "p", "") };
    let comparison = compare(&body(GOLDEN), &body(&run));
    result(name, GoldenState::Diverged(Box::new(Diverged { golden, comparison })))
}

fn result(name: &str, golden: GoldenState) -> CaseResult {
    CaseResult {
        id: CaseId { playbook: "p".into(), fixture: name.into() },
        title: ODD.into(),
        body: GoldenBody::default(),
        golden,
        contradictions: Vec::new(),
        unexpected_harm: Vec::new(),
    }
}

fn report() -> CheckReport {
    let unreadable = Report::one(
        Source::whole("goldens/p/torn.snap", "x"),
        Diagnostic::error("empty_file", format!("broken: {ODD}")).at(0..1, "here"),
    );
    let twice = [("applied x1", "applied x3"), ("4111", "4111")];
    let mut contradicting = diverged("wrong", &[("people", "others")]);
    contradicting.contradictions.push(Contradiction {
        call: Some("pay".into()),
        field: "queue",
        expected: "people".into(),
        actual: ODD.into(),
    });
    let change = RowChange { name: "limit max_attempts".into(), before: Some("6".into()), after: Some("7".into()) };
    CheckReport {
        results: vec![
            contradicting,
            diverged("doubled", &twice),
            result("fine", GoldenState::Same),
            diverged("later", &[("+0:    pay, retry", "+9:    pay, retry")]),
            result("new", GoldenState::Missing),
            result("torn", GoldenState::Unreadable(unreadable)),
        ],
        orphans: vec!["goldens/p/gone.snap".into()],
        rows: vec![PlaybookRows { playbook: "p".into(), is_locked: true, is_used: true, changes: vec![change] }],
        ended_early: false,
        kept: Vec::new(),
    }
}

/// Draws a report of `report`.
fn drawn<T>(report: &CheckReport, draw: impl Fn(&CheckPage<'_>, &Directions) -> T) -> T {
    let causes = BTreeMap::new();
    let shown = CheckPage { report, causes: &causes, above: "", show_args: false };
    let fixtures = BTreeMap::from([("p/new".to_owned(), "fixtures/new.yaml".to_owned())]);
    let directions = Directions { fixtures, lock: "goldens/playbook.lock".into(), ..Directions::default() };
    draw(&shown, &directions)
}

#[test]
fn the_page_is_worst_first_and_holds_no_control_characters() {
    let page = drawn(&report(), |shown, directions| page(shown, directions, None).terminal(80, Palette::new(false)));
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("`{text}` in {page}"));
    let order = ["p/torn", "p/wrong", "p/doubled", "p/later", "p/new", "limit max_attempts", "goldens/p/gone.snap"];
    assert!(order.map(at).is_sorted(), "{page}");
    assert!(!page.contains('\u{1b}'), "{page}");
    let summary: Vec<&str> = page.lines().rev().take(3).collect();
    let summary = summary.into_iter().rev().collect::<Vec<_>>().join(" ");
    let parts = [
        "6 runs: 1 as accepted, 1 unreadable, 1 effect changed, 1 outcome changed, 1 timing only, 1 without a golden",
        "1 orphan golden, 1 row not approved; 1 run contradicts its fixture",
    ];
    assert_eq!(summary, parts.join(", "), "{page}");
}

#[test]
fn results_that_differ_in_the_same_words_are_shown_once_with_the_names_of_the_others() {
    let twin = |name| diverged(name, &[("+0:    pay, retry", "+9:    pay, retry")]);
    let report = CheckReport { results: vec![twin("a"), twin("b"), twin("c")], ..CheckReport::default() };
    let page = drawn(&report, |shown, directions| page(shown, directions, None).terminal(80, Palette::new(false)));
    assert_eq!(page.matches("first difference").count(), 1, "{page}");
    assert!(page.contains("the same in 2 more runs:\n   p/b\n   p/c"), "{page}");
}

#[test]
fn junit_is_xml_in_which_each_run_is_a_case() {
    let text = drawn(&report(), junit);
    let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let root = document.root_element();
    assert_eq!(
        (root.attribute("tests"), root.attribute("failures"), root.attribute("errors")),
        (Some("8"), Some("6"), Some("1"))
    );
    let case = |name: &str| {
        let found =
            root.descendants().find(|node| node.has_tag_name("testcase") && node.attribute("name") == Some(name));
        found.unwrap_or_else(|| panic!("{name} in {text}"))
    };
    assert_eq!(case("fine").children().count(), 0);
    let failure = case("doubled").first_element_child().unwrap();
    assert_eq!((failure.tag_name().name(), failure.attribute("type")), ("failure", Some("effect_changed")));
    assert!(failure.text().unwrap().contains("run: playproof check p/doubled"), "{text}");
    assert!(failure.text().unwrap().contains("applied x3"), "{text}");
    let error = case("torn").first_element_child().unwrap();
    assert_eq!(error.tag_name().name(), "error");
    assert!(error.attribute("message").unwrap().contains("it's <b>\"odd\"</b> & `so`"), "{text}");
    assert_eq!(text, drawn(&report(), junit), "the same bytes");
}

#[test]
fn junit_has_no_attribute_that_jenkins_does_not_know_and_its_counts_add_up() {
    let text = drawn(&report(), junit);
    let document = roxmltree::Document::parse(&text).unwrap();
    let counts = ["tests", "failures", "errors"];
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let (known, required): (&[&str], &[&str]) = match node.tag_name().name() {
            "testsuites" => (&["name", "tests", "failures", "errors"], &[]),
            "testsuite" => (&["name", "tests", "failures", "errors", "skipped"], &["name", "tests"]),
            "testcase" => (&["name", "classname"], &["name", "classname"]),
            "failure" | "error" => (&["type", "message"], &[]),
            other => panic!("{other} in {text}"),
        };
        assert!(node.attributes().all(|attribute| known.contains(&attribute.name())), "{node:?}");
        assert!(required.iter().all(|name| node.has_attribute(*name)), "{node:?}");
        if node.has_tag_name("testcase") {
            assert!(!node.attribute("classname").unwrap_or_default().is_empty());
        }
    }
    let number = |node: roxmltree::Node<'_, '_>, name: &str| node.attribute(name).and_then(|n| n.parse::<u32>().ok());
    for count in counts {
        let suites = document.root_element().children().filter(|node| node.has_tag_name("testsuite"));
        let sum: u32 = suites.filter_map(|suite| number(suite, count)).sum();
        assert_eq!(number(document.root_element(), count), Some(sum), "{count}");
    }
}

#[test]
fn sarif_has_what_its_schema_wants() {
    let log: serde_json::Value = serde_json::from_str(&drawn(&report(), sarif)).unwrap();
    assert_sarif(&log);
    assert_sarif(&serde_json::from_str(&drawn(&CheckReport::default(), sarif)).unwrap());
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 7);
    let doubled = results.iter().find(|result| result["ruleId"] == "effect_changed").unwrap();
    let place = &doubled["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "goldens/p/doubled.snap");
    assert_eq!(place["region"]["startLine"], 3, "the ledger's line");
}

#[test]
fn annotations_are_one_line_each_escaped_and_within_github_s_limits() {
    let text = drawn(&report(), annotations);
    assert_eq!(text.lines().count(), 7);
    for line in text.lines() {
        assert!(line.starts_with("::error file=") || line.starts_with("::warning file="), "{line}");
    }
    assert!(text.lines().next().unwrap().contains("title=unreadable golden%3A p/torn::"), "{text}");
    let many = CheckReport {
        results: (0..30).map(|n| diverged(&format!("f{n}"), &[("applied x1", "applied x2")])).collect(),
        ..CheckReport::default()
    };
    let text = drawn(&many, annotations);
    assert_eq!(text.lines().filter(|line| line.starts_with("::error ")).count(), 10);
    assert!(
        text.ends_with("::notice title=playproof check::20 more problems are not shown here; run: playproof check\n")
    );
    assert_eq!(drawn(&CheckReport::default(), annotations), "");
}

#[test]
fn a_comment_begins_with_its_marker_hides_arguments_and_lets_no_markup_through() {
    let text =
        drawn(&report(), |shown, directions| comment(shown, directions, Some(&"playproof accept p/doubled".into())));
    assert!(text.starts_with(MARKER));
    assert!(text.contains("pay{card: text}") && !text.contains("4111"), "{text}");
    let prose: String = text.split("```").step_by(2).collect();
    assert!(!prose.contains("<b>") && !prose.contains(" @team"), "{prose}");
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    let shown =
        drawn(&report(), |shown, directions| comment(&CheckPage { show_args: true, ..*shown }, directions, None));
    assert!(shown.contains("4111"));
}

#[test]
fn a_comment_stays_below_github_s_limit_and_counts_what_it_leaves_out() {
    let many = CheckReport {
        results: (0..900).map(|n| diverged(&format!("f{n}"), &[("applied x1", "applied x2")])).collect(),
        ..CheckReport::default()
    };
    let text = drawn(&many, |shown, directions| comment(shown, directions, None));
    assert!(text.chars().count() < 65_536);
    assert!(text.contains("more parts are not shown"), "{}", &text[text.len() - 200..]);
}

#[test]
fn json_names_every_run_and_is_the_same_each_time() {
    let draw = || drawn(&report(), |shown, directions| json(shown, directions, Some(&"playproof check".into())));
    let value: serde_json::Value = serde_json::from_str(&draw()).unwrap();
    assert_eq!(value["format"], "check/1");
    let statuses: Vec<&str> =
        value["results"].as_array().unwrap().iter().map(|one| one["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["contradicts", "diverged", "passed", "diverged", "missing", "unreadable"]);
    assert_eq!(value["results"][1]["effects"], serde_json::json!({ "golden": 1, "run": 3 }));
    assert_eq!(value["rows"][0]["changes"][0]["after"], "7");
    assert_eq!(value["next"], "playproof check");
    assert_eq!(draw(), draw());
}

#[test]
fn a_file_is_named_from_the_root_of_the_repository() {
    let named = |project: &str, file: &str| {
        Directions { in_repository: project.to_owned(), ..Directions::default() }.path_in_repository(file)
    };
    assert_eq!(named("", "goldens/x"), "goldens/x");
    assert_eq!(named("a/b", "goldens/x"), "a/b/goldens/x");
    assert_eq!(named("a/b", "../x"), "a/x");
    assert_eq!(named("a/b", "../../x"), "x");
    assert_eq!(named("a/b", "../../../x"), "../x");
    assert_eq!(named("a/b", "/elsewhere/x"), "/elsewhere/x");
}
