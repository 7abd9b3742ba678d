//! Reports beside the page: every kind says the same as the page, and GitHub's runner is told without being asked.

use crate::check::project::Project;

const CASE: &str = "unkeyed-server-error-is-not-retried";

/// A project without the retry guard.
fn unguarded() -> Project {
    let project = Project::new();
    project.edit("playbooks/standard.yaml", "limits: {", "study: { why: to see, retry_guard: off }\nlimits: {");
    project
}

#[test]
fn every_report_says_what_the_page_says() {
    let project = unguarded();
    let kinds = [
        "junit=out/check.xml",
        "sarif=out/check.sarif",
        "github=out/check.txt",
        "markdown=out/check.md",
        "json=out/check.json",
        "html=out/check.html",
    ];
    std::fs::create_dir(project.path("out")).expect("a folder");
    let args: Vec<&str> = ["check", CASE].into_iter().chain(kinds.iter().flat_map(|kind| ["--report", kind])).collect();
    let page = project.run_in_ci(&args);
    assert_eq!((page.code, page.err.as_str()), (1, ""));
    let contradiction = "effects: expected 1, got 3";
    assert!(page.out.contains(contradiction), "{}", page.out);
    for kind in kinds {
        let file = kind.split('=').next_back().expect("a file");
        let text = project.read(file);
        assert!(text.contains(CASE), "{file}");
        assert!(text.contains("retry_guard"), "{file}: {text}");
    }
    for file in ["out/check.xml", "out/check.md"] {
        assert!(project.read(file).contains(contradiction), "{file}");
        assert!(project.read(file).contains("guard weakened: 1 effect becomes 3"), "{file}");
        assert!(
            project
                .read(file)
                .contains(&format!("playproof replay fixtures/{CASE}.yaml --playbook playbooks/standard.yaml")),
            "{file}"
        );
    }
    let line =
        |text: &str| text.lines().position(|line| line.starts_with("study:")).map(|at| at + 1).expect("the switch");
    let line = line(&project.read("playbooks/standard.yaml"));
    let github = project.read("out/check.txt");
    assert!(github.contains(&format!("::error file=playbooks/standard.yaml,line={line},col=23,")), "{github}");
    let sarif: serde_json::Value = serde_json::from_str(&project.read("out/check.sarif")).expect("JSON");
    let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], line);
}

#[test]
fn the_reports_are_the_same_bytes_for_any_number_of_threads() {
    let project = unguarded();
    let write = |jobs: &str, to: &str| {
        let (xml, md) = (format!("junit={to}.xml"), format!("markdown={to}.md"));
        project.run_in_ci(&["check", "--jobs", jobs, "--report", &xml, "--report", &md]);
        (project.read(&format!("{to}.xml")), project.read(&format!("{to}.md")))
    };
    assert_eq!(write("1", "a"), write("4", "b"));
}

#[test]
fn github_s_runner_is_told_and_its_summary_is_added_to() {
    let project = unguarded();
    project.write("summary.md", "from an earlier step\n");
    let ran = project
        .command()
        .envs([("CI", "true"), ("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", "summary.md")])
        .args(["check", CASE])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("::error file=playbooks/standard.yaml,"), "{said}");
    let summary = project.read("summary.md");
    assert!(summary.starts_with("from an earlier step\n<!-- playproof check -->"), "{summary}");
}

#[test]
fn services_that_show_repositories_are_told_of_files_from_the_repository_s_root() {
    for is_file in [false, true] {
        let project = unguarded();
        let around = project.path("").parent().expect("a folder").to_path_buf();
        // In a work tree `.git` is a file.
        let made =
            if is_file { std::fs::write(around.join(".git"), "") } else { std::fs::create_dir(around.join(".git")) };
        made.expect("it is made");
        let args = ["check", CASE, "--report", "sarif=k.sarif", "--report", "github=k.txt", "--report", "json=k.json"];
        let ran = project.run_on_github(&args);
        assert!(ran.err.contains("::error file=place/playbooks/standard.yaml,"), "{}", ran.err);
        assert!(project.read("k.txt").contains("::error file=place/playbooks/standard.yaml,"));
        assert!(
            project.read("k.sarif").contains("\"uri\":\"place/playbooks/standard.yaml\""),
            "{}",
            project.read("k.sarif")
        );
        assert!(!project.read("k.json").contains("place/"), "programs go by the project");
        project.write("playproof.yaml", "format: project/1\nx: 1\n");
        let ran = project.run_on_github(&args).exits(2);
        assert!(ran.err.contains("::error file=place/playproof.yaml,line=2,"), "{}", ran.err);
    }
}

#[test]
fn a_report_that_cannot_be_written_or_is_not_known_is_wrong_use() {
    let project = Project::new();
    let unknown = project.run(&["check", "--report", "junt=x.xml"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("did you mean `junit`"), "{}", unknown.err);
    let folder = project.run(&["check", "--report", "junit=fixtures"]);
    assert_eq!(folder.code, 2);
    assert!(folder.err.contains("`fixtures` is a folder, not a file"), "{}", folder.err);
}

#[test]
fn a_report_replaces_a_report_and_no_other_file() {
    let project = Project::few();
    project.write("notes.md", "mine\n");
    let kinds = ["junit", "sarif", "github", "markdown", "json", "html"];
    for (file, said) in [
        ("playbooks/reversing.yaml", "would be read as a playbook"),
        ("goldens/playbook.lock", "would be read as a golden"),
        ("fixtures/the-worked-refund.yaml", "would be read as a fixture"),
        ("notes.md", "is no report of a check"),
    ] {
        let before = project.read(file);
        for kind in kinds {
            let ran = project.run(&["check", "--report", &format!("{kind}={file}")]);
            assert!(ran.code == 2 && ran.err.contains(said), "{kind} {file}: {}", ran.err);
            assert_eq!(project.read(file), before);
        }
    }
    project.edit("playbooks/standard.yaml", "limits: {", "study: { why: to see, retry_guard: off }\nlimits: {");
    for first in kinds {
        for then in kinds {
            project.run(&["check", "--report", &format!("{first}=out")]);
            let again = project.run(&["check", "--report", &format!("{then}=out")]);
            assert!(!again.err.contains("is no report"), "{first}, {then}: {}", again.err);
        }
    }
}

#[test]
fn two_reports_to_one_file_or_one_to_standard_output_are_wrong_use() {
    let project = Project::few();
    for other in ["json=x", "json=./x", "junit=x"] {
        let ran = project.run(&["check", "--report", "junit=x", "--report", other]);
        assert!(ran.code == 2 && ran.err.contains("two reports would be written"), "{}", ran.err);
        assert!(!project.path("x").exists());
    }
    let ran = project.run(&["check", "--report", "junit=-"]);
    assert!(ran.code == 2 && ran.err.contains("such as `junit=playproof.xml`"), "{}", ran.err);
    assert!(!project.path("-").exists());
}

#[test]
fn a_check_that_could_not_run_leaves_no_report_of_an_earlier_one() {
    let project = Project::few();
    let kinds = ["junit=k.xml", "sarif=k.sarif", "github=k.txt", "markdown=k.md", "json=k.json", "html=k.html"];
    let args: Vec<&str> = ["check"].into_iter().chain(kinds.iter().flat_map(|kind| ["--report", kind])).collect();
    assert_eq!(project.run(&args).code, 0);
    let (fixture, told) = ("fixtures/the-worked-refund.yaml", "playproof.yaml");
    for (broken, text) in [(fixture, "format: fixture/1\ncalls: [\n"), (told, "format: project/1\nx: 1\n")] {
        project.write(broken, text);
        let ran = project.run(&args);
        assert_eq!(ran.code, 2, "{}", ran.err);
        for kind in kinds {
            let file = kind.split('=').next_back().expect("a file");
            let text = project.read(file);
            assert!(text.contains(broken) && !text.contains("a-reversal"), "{file}: {text}");
        }
        assert!(
            project
                .read("k.xml")
                .contains("<testsuites name=\"playproof check\" tests=\"1\" failures=\"0\" errors=\"1\">")
        );
        assert!(
            project.read("k.txt").starts_with(&format!("::error file={broken},line=")),
            "{}",
            project.read("k.txt")
        );
        assert!(project.read("k.md").contains("Nothing was checked: 1 problem."));
        let json: serde_json::Value = serde_json::from_str(&project.read("k.json")).expect("JSON");
        assert_eq!((&json["verdict"], &json["in_the_way"][0]["file"]), (&"unusable".into(), &broken.into()));
        let sarif: serde_json::Value = serde_json::from_str(&project.read("k.sarif")).expect("JSON");
        assert_eq!(
            (&sarif["runs"][0]["results"][0]["ruleId"], &sarif["runs"][0]["results"][0]["level"]),
            (&"not_checked".into(), &"error".into())
        );
    }
    project.remove(told);
    let mut nothing = args.clone();
    nothing.push("no-such-fixture");
    assert_eq!(project.run(&nothing).code, 2);
    assert!(project.read("k.md").contains("no-such-fixture"));
}
