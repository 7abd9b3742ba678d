//! A small project of its own in a folder that goes with the value, and the program run in it with a cleaned
//! environment.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const PLAYBOOK: &str = "playbooks/ours.yaml";

const TEXT: &str = "\
# Ours: comments and layout are kept.
format: playbook/1
name: ours

verdicts:
  slow:
    means: No answer in time.   # who knows
    effect: unknown
    then: { retry_with_backoff: { backoff_ms: [200] } }

  # Nobody knows.
  unclassified:
    means: No rule knows this failure.
    effect: unknown
    then: { escalate_to_human: { queue: people } }

classify:
  - { rule: timeout, when: { kind: timeout }, verdict: slow }
  - { rule: gateway,   when: { status: 504 }, verdict: slow }

otherwise: unclassified
default_queue: people
queues: [people]
";

const SLOW: &str = "\
format: fixture/1
title: A charge without a key that times out waits for people
calls:
  charge: { tool: payments.charge, args: { amount: 5 } }
upstream:
  charge: [{ timeout: {}, applied: true }]
expect:
  ours: { charge: { outcome: escalated, queue: people }, effects: 1 }
";

const REFUSED: &str = "\
format: fixture/1
title: A card that was declined
calls:
  charge: { tool: payments.charge, args: { amount: 5 } }
upstream:
  charge: [{ error: { kind: tool_error, message: card 4 was declined }, latency_ms: 5 }]
expect:
  ours: { charge: { effect: unknown }, effects: 0 }
";

/// The folder; it is removed with the value.
pub struct Project {
    /// All of it: a test may write beside the project.
    _around: tempfile::TempDir,
    folder: PathBuf,
}

/// What the program did.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Project {
    /// A project in which everything is as accepted and approved.
    pub fn new() -> Project {
        let around = tempfile::tempdir().expect("a folder");
        let folder = around.path().join("project");
        let project = Project { _around: around, folder };
        project.write("playproof.yaml", "format: project/1\nplaybook: playbooks/ours.yaml\n");
        project.write(PLAYBOOK, TEXT);
        project.write("fixtures/slow.yaml", SLOW);
        project.write("fixtures/declined.yaml", REFUSED);
        assert_eq!(project.run(&["check", "--accept"]).code, 1, "rows are approved apart");
        assert_eq!(project.run(&["approve", "--reason", "the first"]).code, 0);
        assert_eq!(project.run(&["check"]).code, 0);
        project
    }

    /// The same with a proposal for failures that say `declined`, ready to be accepted.
    pub fn with_proposal() -> Project {
        let project = Project::new();
        // What the fixture is meant to show is people's to say, and changes with the meaning.
        project.edit("fixtures/declined.yaml", "effect: unknown", "effect: not_applied");
        let new = project.run(&[
            "propose",
            "new",
            "said_no",
            "--when",
            "{ message: { contains: declined } }",
            "--effect",
            "not_applied",
            "--means",
            "The tool said no.",
            "--then",
            "{ deprecate_tool_call: { reason: said no } }",
        ]);
        assert_eq!(new.code, 0, "{new:?}");
        project.edit("proposals/said-no/proposal.yaml", "expect: {}", "expect:\n  ours/declined: effect_changed");
        project.edit("proposals/said-no/fixtures/not-said-no.yaml", "write this - ", "");
        project.write("proposals/said-no/adr.md", &record("Nobody can do anything about it."));
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// Replaces the first place in a file that says `old`.
    pub fn edit(&self, name: &str, old: &str, new: &str) {
        let text = self.read(name);
        assert!(text.contains(old), "`{old}` in {name}: {text}");
        self.write(name, &text.replacen(old, new, 1));
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.run_in("", args)
    }

    /// The same from a folder of the project.
    pub fn run_in(&self, folder: &str, args: &[&str]) -> Ran {
        ran(Command::new(env!("CARGO_BIN_EXE_playproof")).current_dir(self.folder.join(folder)).args(args))
    }

    /// The same in a shell that has set limits before.
    #[cfg(unix)]
    pub fn limited(&self, limits: &str, args: &[&str]) -> Ran {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{limits}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_playproof")]).args(args);
        ran(shell.current_dir(&self.folder))
    }

    /// Runs it and gives the exit code and everything that was said; the files are as they were.
    pub fn refused(&self, args: &[&str]) -> (i32, String) {
        let before = self.files();
        let ran = self.run(args);
        assert_eq!(self.files(), before, "{ran:?}");
        (ran.code, ran.out + &ran.err)
    }

    /// Every file with its content, by name.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.folder, "", &mut files);
        files
    }

    /// None where there is no git.
    pub fn git(&self, args: &[&str]) -> Option<bool> {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
        let ran = Command::new("git").current_dir(&self.folder).args(who).args(args).output().ok()?;
        Some(ran.status.success())
    }

    /// A repository in which everything is committed.
    pub fn commit(&self) -> Option<bool> {
        self.git(&["init", "-q", "-b", "main"])?;
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "-m", "all"])
    }
}

/// A record that says something in each part.
pub fn record(consequences: &str) -> String {
    format!(
        "# The verdict `said_no`\n\n## Pattern\n\nThe message says declined.\n\n## Example\n\n`card 4 was declined`\n\n\
         ## Why the existing verdicts do not cover it\n\nPeople look at it and can do nothing.\n\n\
         ## Consequences\n\n{consequences}\n"
    )
}

fn ran(command: &mut Command) -> Ran {
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()); // for git
    let output = command.output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

fn collect(folder: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true if name != ".git" => collect(&entry.path(), &format!("{name}/"), files),
            true => {}
            false => drop(files.insert(name, fs::read(entry.path()).expect("a file"))),
        }
    }
}
