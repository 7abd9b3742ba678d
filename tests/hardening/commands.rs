//! Every command, and what each of those that write needs to write something. Whoever adds a command says here which it
//! is: what holds for all that write is tried on each of them.

use std::collections::BTreeSet;

use crate::place::Place;
use crate::propose::project::{PLAYBOOK, Project};

/// A command that writes into a project, in a project in which it does.
pub struct Writing {
    pub name: &'static str,
    pub args: &'static [&'static str],
    pub prepare: fn(&Project),
}

const TRACE: &str = "{\"run_id\":\"r1\",\"tool\":\"pay\",\"status\":\"error\",\"error\":{\"kind\":\"odd\"}}\n";
const KEPT: &str = "pay-odd-";

/// Every command that writes. `review` asks at a terminal; what it writes, `accept` and `reject` write too.
pub const WRITING: [Writing; 28] = [
    Writing { name: "init", args: &["init"], prepare: |_| {} },
    Writing { name: "init", args: &["init", "new/deep", "--from", "trace.jsonl"], prepare: with_trace },
    Writing { name: "check", args: &["check"], prepare: with_fixture },
    Writing { name: "check", args: &["check", "--accept"], prepare: with_fixture_as_expected },
    Writing { name: "check", args: &["check", "--report", "junit=out/check.xml"], prepare: with_out },
    Writing { name: "accept", args: &["accept"], prepare: with_pending },
    Writing { name: "reject", args: &["reject"], prepare: with_pending },
    Writing { name: "accept", args: &["accept", "ours", "--reason", "because"], prepare: with_edited_rows },
    Writing { name: "accept", args: &ACCEPT, prepare: |_| {} },
    Writing { name: "reject", args: &["reject", "said-no", "--reason", "no"], prepare: |_| {} },
    Writing { name: "propose keep", args: &KEEP, prepare: with_trace },
    Writing { name: "propose new", args: &["propose", "new", "odd_one", "--from", "ID"], prepare: with_kept },
    Writing { name: "propose new", args: &["propose", "new", "another", "--when", "{ status: 418 }"], prepare: |_| {} },
    Writing { name: "propose rebase", args: &["propose", "rebase", "said-no"], prepare: with_edited_rows },
    Writing { name: "coverage", args: &["coverage", "--write", "fixtures"], prepare: |_| {} },
    Writing { name: "verify", args: &["verify", "--write-fixtures", "fixtures/found"], prepare: with_broken_playbook },
    Writing { name: "coverage", args: &["coverage", "--report", "html=out/page.html"], prepare: with_out },
    Writing {
        name: "replay",
        args: &["replay", "trace.jsonl", "--report", "html=out/page.html"],
        prepare: with_trace_and_out,
    },
    Writing {
        name: "replay",
        args: &["replay", "trace.jsonl", "--audit", "out/audit.jsonl"],
        prepare: with_trace_and_out,
    },
    Writing {
        name: "replay",
        args: &["replay", "trace.jsonl", "--partial", "out/trace.part"],
        prepare: with_trace_and_out,
    },
    Writing { name: "impact", args: &IMPACT, prepare: with_trace_and_out },
    Writing {
        name: "impact",
        args: &["impact", "trace.jsonl", "-c", "study/retry-everything", "--partial", "out/impact.part"],
        prepare: with_trace_and_out,
    },
    Writing {
        name: "propose find",
        args: &["propose", "find", "trace.jsonl", "--partial", "out/find.part"],
        prepare: with_trace_and_out,
    },
    Writing { name: "propose check", args: &["propose", "check", "--report", "html=out/page.html"], prepare: with_out },
    Writing {
        name: "formats convert",
        args: &["formats", "convert", "chat.json", "-o", "out/trace.jsonl"],
        prepare: with_chat,
    },
    Writing {
        name: "confirm",
        args: &["confirm", "--draft", "trace.jsonl", "-o", "out/tools.yaml"],
        prepare: with_trace_and_out,
    },
    Writing { name: "confirm", args: &["confirm", "trace.jsonl", "--guessed"], prepare: with_trace },
    Writing { name: "confirm", args: &["confirm", "chat.jsonl", "--guessed"], prepare: with_facts_and_mapping },
];

const IMPACT: [&str; 6] =
    ["impact", "trace.jsonl", "--candidate", "study/retry-everything", "--report", "html=out/page.html"];
const KEEP: [&str; 8] = ["propose", "keep", "trace.jsonl", "r1#1", "--expect", "odd_one", "--note", "odd"];
pub const ACCEPT: [&str; 4] = ["accept", "said-no", "--reason", "because"];

/// Commands that write nothing, `review`, and `serve` and `proxy`, which append to their journals.
const READING: [&str; 23] = [
    "audit verify",
    "completions",
    "conform",
    "demo",
    "explain",
    "formats",
    "formats show",
    "formats try",
    "formats words",
    "graph draft",
    "graph history",
    "graph next",
    "graph show",
    "help",
    "history",
    "history verify",
    "lint",
    "merge",
    "propose list",
    "proxy",
    "review",
    "schema",
    "serve",
];

/// Commands that read a project or a playbook of it.
pub const JUDGING: [&[&str]; 15] = [
    &["check"],
    &["lint"],
    &["lint", PLAYBOOK],
    &["replay", "trace.jsonl"],
    &["explain", "trace.jsonl", "r1#1"],
    &["propose", "find", "trace.jsonl"],
    &["impact", "trace.jsonl", "--candidate", "standard"],
    &["propose", "check"],
    &["propose", "list"],
    &["history"],
    &["history", "verify"],
    &["coverage"],
    &["coverage", "--mutate"],
    &["verify"],
    &["review"],
];

impl Writing {
    /// The project, in which the command has something to write.
    pub fn project(&self) -> Project {
        let project = Project::with_proposal();
        (self.prepare)(&project);
        project
    }

    /// The command as it is typed there.
    pub fn args(&self, place: &Place) -> Vec<String> {
        let id = || {
            let files = place.files().into_keys();
            let mut ids = files.filter_map(|name| Some(name.strip_prefix("kept/")?.strip_suffix(".yaml")?.to_owned()));
            ids.next().unwrap_or_else(|| KEPT.to_owned())
        };
        self.args.iter().map(|arg| if *arg == "ID" { id() } else { (*arg).to_owned() }).collect()
    }

    pub fn run(&self, place: &Place) -> crate::place::Ran {
        let args = self.args(place);
        place.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

fn with_trace(project: &Project) {
    project.write("trace.jsonl", TRACE);
}

/// A folder for outputs: none is made for them.
fn with_out(project: &Project) {
    std::fs::create_dir(project.path("out")).expect("a folder");
}

fn with_trace_and_out(project: &Project) {
    with_trace(project);
    with_out(project);
}

fn with_chat(project: &Project) {
    with_out(project);
    project.copy("tests/samples/openai-chat.json", "chat.json");
}

/// A log whose guesses are of two kinds, and the files that their answers go to.
fn with_facts_and_mapping(project: &Project) {
    let call = "{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"load_shelf\",\"arguments\":\"{}\"}}";
    let asked = format!("{{\"role\":\"assistant\",\"tool_calls\":[{call}]}}");
    let told = "{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"Lift 3 is not ready\"}";
    project.write("chat.jsonl", &format!("{{\"messages\":[{asked},{told}]}}\n"));
    project.write("facts.yaml", "format: tools/1\ntools:\n  other: { access: read }\n");
    project.write("map.yaml", "format: mapping/1\nnot_failed: { message: { starts_with: Shelf } }\n");
    project.write("playproof.yaml", &(project.read("playproof.yaml") + "tools: facts.yaml\nmap: map.yaml\n"));
}

fn with_fixture(project: &Project) {
    let text = project.read("fixtures/slow.yaml");
    project.write("fixtures/another.yaml", &text);
}

fn with_fixture_as_expected(project: &Project) {
    with_fixture(project);
    project.edit("fixtures/declined.yaml", "effect: not_applied", "effect: unknown");
}

fn with_pending(project: &Project) {
    with_fixture(project);
    assert_eq!(project.run(&["check"]).code, 1);
    assert!(project.path("goldens/ours/another.snap.new").exists());
}

fn with_edited_rows(project: &Project) {
    project.edit("fixtures/declined.yaml", "effect: not_applied", "effect: unknown");
    project.edit(PLAYBOOK, "backoff_ms: [200]", "backoff_ms: [250]");
}

/// A playbook that breaks a property.
fn with_broken_playbook(project: &Project) {
    let means = "means: No answer in time.   # who knows\n    effect: ";
    project.edit(PLAYBOOK, &format!("{means}unknown"), &format!("{means}not_applied"));
}

fn with_kept(project: &Project) {
    with_trace(project);
    project.run(&KEEP).exits(0);
}

/// The commands that a page of help lists.
pub fn listed(page: &str) -> Vec<String> {
    const HEADINGS: [&str; 5] = ["Commands:", "Every day:", "Analysis:", "Reference:", "More commands:"];
    let mut is_of_commands = false;
    let mut commands = Vec::new();
    for line in page.lines() {
        match line.strip_prefix("  ") {
            Some(row) if is_of_commands => commands.extend(row.split(' ').next().filter(|name| !name.is_empty())),
            Some(_) => {}
            None => is_of_commands = HEADINGS.contains(&line),
        }
    }
    commands.into_iter().map(str::to_owned).collect()
}

/// Every command that the two pages of the program's help list.
pub fn all_commands() -> BTreeSet<String> {
    let place = Place::new();
    let mut all = BTreeSet::new();
    for command in [&["--help"][..], &["help", "more"]].iter().flat_map(|page| listed(&place.run(page).out)) {
        let below = listed(&place.run(&[&command, "--help"]).out);
        all.extend(below.iter().map(|below| format!("{command} {below}")));
        // Each of these alone is a command, and has others below it.
        if below.is_empty() || ["formats", "history"].contains(&&*command) {
            all.insert(command);
        }
    }
    all
}

#[test]
fn a_new_command_cannot_forget_to_say_whether_it_writes() {
    let known = WRITING.iter().map(|writing| writing.name).chain(READING);
    assert_eq!(all_commands(), known.map(str::to_owned).collect());
}

#[test]
fn every_command_that_writes_does_so_in_its_project_and_leaves_no_stray() {
    for writing in &WRITING {
        let project = writing.project();
        let before = project.everything();
        let ran = writing.run(&project);
        assert!(ran.code <= 1, "{:?}: {ran:?}", writing.args);
        let after = project.everything();
        assert_ne!(before, after, "{:?}", writing.args);
        let stray = after.keys().find(|name| name.contains(".accepting") || name.contains(".playproof-"));
        assert_eq!(stray, None, "{:?}", writing.args);
    }
}
