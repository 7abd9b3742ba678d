//! A small project of its own, and the same with a proposal.

use std::ops::Deref;

use crate::place::Place;

pub const PLAYBOOK: &str = "playbooks/ours.yaml";

/// The edited copy of the proposal.
pub const COPY: &str = "proposals/said-no/playbook.yaml";

/// Its decision record.
pub const RECORD: &str = "proposals/said-no/adr.md";

pub const TEXT: &str = "\
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

/// The project; its folder is removed with the value.
pub struct Project(Place);

impl Deref for Project {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Project {
    /// A project in which everything is as accepted and approved.
    pub fn new() -> Project {
        Project::on(TEXT)
    }

    /// The same with this playbook.
    pub fn on(playbook: &str) -> Project {
        let project = Project(Place::new());
        project.write("playproof.yaml", "format: project/1\nplaybook: playbooks/ours.yaml\n");
        project.write(PLAYBOOK, playbook);
        project.write("fixtures/slow.yaml", SLOW);
        project.write("fixtures/declined.yaml", REFUSED);
        assert_eq!(project.run(&["check", "--accept"]).code, 1, "rows are approved apart");
        assert_eq!(project.run(&["accept", "--reason", "the first"]).code, 0);
        assert_eq!(project.run(&["check"]).code, 0);
        project
    }

    /// The same with a proposal for failures that say `declined`, ready to be accepted.
    pub fn with_proposal() -> Project {
        Project::with_proposal_on(TEXT)
    }

    /// The same with this playbook.
    pub fn with_proposal_on(playbook: &str) -> Project {
        let project = Project::on(playbook);
        // What the fixture is meant to show is people's to say, and changes with the meaning.
        project.edit("fixtures/declined.yaml", "effect: unknown", "effect: not_applied");
        let new = project.run(&[
            "propose",
            "new",
            "said_no",
            "--when",
            "{ message: { clause: declined } }",
            "--effect",
            "not_applied",
            "--means",
            "The tool said no.",
            "--then",
            "{ deprecate_tool_call: { reason: said no } }",
        ]);
        assert_eq!(new.code, 0, "{new:?}");
        project.edit("proposals/said-no/fixtures/not-said-no.yaml", "write this - ", "");
        project.expects_harm("said-no-acted", "untruthful_outcome");
        project.write(RECORD, &record("Nobody can do anything about it."));
        project.names_golden("said-no", "ours/declined", "effect_changed");
        project
    }

    /// Says in a fixture of the proposal `said-no` that its harm is meant.
    pub fn expects_harm(&self, fixture: &str, finding: &str) {
        let file = format!("proposals/said-no/fixtures/{fixture}.yaml");
        self.write(&file, &format!("{}    findings: [{finding}]\n", self.read(&file)));
    }

    /// Names a golden that changes in the record of a proposal.
    pub fn names_golden(&self, id: &str, golden: &str, class: &str) {
        let name = format!("proposals/{id}/adr.md");
        let (text, part) = (self.read(&name), "## Changed goldens\n");
        let part = if text.contains(part) { "" } else { part };
        self.write(&name, &format!("{text}{part}- `{golden}`: {class}\n"));
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
