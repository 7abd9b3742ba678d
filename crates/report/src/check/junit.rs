//! A check as JUnit XML in the dialect of Jenkins: one suite per playbook, one case per run; rows and orphan goldens
//! have their own suites. Contains no timestamp, host or duration.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::changes::CheckPage;
use super::problems::{Directions, NOT_CHECKED, Problem, problems};
use playproof_formats::text::push_escaped;

/// The report.
pub fn junit(shown: &CheckPage<'_>, directions: &Directions) -> String {
    let problems = problems(&CheckPage { show_args: true, ..*shown }, directions);
    let of = |about: &str| problems.iter().filter(|problem| problem.about == about).collect::<Vec<_>>();
    let mut suites: BTreeMap<String, Vec<TestCase<'_>>> = BTreeMap::new();
    for result in &shown.report.results {
        let case = TestCase { name: &result.id.fixture, problems: of(&result.id.to_string()) };
        suites.entry(format!("playproof.{}", result.id.playbook.replace('/', "."))).or_default().push(case);
    }
    let apart = [
        (NOT_CHECKED, "playproof-inputs"),
        ("row_not_approved", "playproof-rows"),
        ("orphan_golden", "playproof-goldens"),
    ];
    for (rule, suite) in apart {
        for problem in problems.iter().filter(|problem| problem.rule == rule) {
            let case = TestCase { name: &problem.about, problems: vec![problem] };
            suites.entry(suite.to_owned()).or_default().push(case);
        }
    }
    let count = |broken: bool| problems.iter().filter(|problem| is_error(problem) == broken).count();
    let tests: usize = suites.values().map(Vec::len).sum();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let (failures, errors) = (count(false), count(true));
    // Writing to a String cannot fail.
    let _ = writeln!(
        xml,
        "<testsuites name=\"playproof check\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">"
    );
    for (name, cases) in &suites {
        suite(&mut xml, name, cases);
    }
    xml + "</testsuites>\n"
}

struct TestCase<'a> {
    name: &'a str,
    problems: Vec<&'a Problem>,
}

fn is_error(problem: &Problem) -> bool {
    [NOT_CHECKED, "unreadable_golden"].contains(&problem.rule)
}

fn suite(xml: &mut String, name: &str, cases: &[TestCase<'_>]) {
    let count =
        |broken: bool| cases.iter().flat_map(|case| &case.problems).filter(|one| is_error(one) == broken).count();
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\">",
        escape(name),
        cases.len(),
        count(false),
        count(true)
    );
    for case in cases {
        let head = format!("    <testcase name=\"{}\" classname=\"{}\"", escape(case.name), escape(name));
        if case.problems.is_empty() {
            let _ = writeln!(xml, "{head}/>");
            continue;
        }
        let _ = writeln!(xml, "{head}>");
        for problem in &case.problems {
            let tag = if is_error(problem) { "error" } else { "failure" };
            let (rule, message) = (problem.rule, escape(&problem.message));
            let _ =
                writeln!(xml, "      <{tag} type=\"{rule}\" message=\"{message}\">{}</{tag}>", escape(&body(problem)));
        }
        let _ = writeln!(xml, "    </testcase>");
    }
    let _ = writeln!(xml, "  </testsuite>");
}

fn body(problem: &Problem) -> String {
    format!("{}\n{}:{}\nrun: {}\n", problem.body.trim_end(), problem.spot.file, problem.spot.line, problem.command)
}

/// Text for an attribute or an element: markup and unprintable characters are escaped.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            c => push_escaped(&mut out, c),
        }
    }
    out
}
