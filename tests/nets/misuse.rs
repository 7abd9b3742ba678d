//! Commands that are typed wrong, and projects that cannot be read: exit codes, messages, and the command to run next.

use crate::cli;
use crate::nets::{keep, typed, written};
use crate::propose::project::Project;

const COMMANDS: &str = "
--no-such-flag
no-such-command
chek
replay
replay no-such-file.jsonl
replay trace.jsonl --format yaml
replay trace.jsonl --format dot
replay trace.jsonl --playbook no-such
replay trace.jsonl --playbook standart
replay trace.jsonl --run [
replay trace.jsonl --seeds 1..3
replay trace.jsonl --map no-such.yaml
replay trace.jsonl --tools no-such.yaml
replay trace.jsonl --jobs none
replay trace.jsonl --fail-on everything
replay trace.jsonl --report html
replay trace.jsonl --report pdf=out
explain
explain trace.jsonl
explain trace.jsonl r9#9
explain trace.jsonl r1#1 --playbook nope
impact trace.jsonl
impact trace.jsonl --candidate nope
propose find trace.jsonl --format markdown
propose find no-such-folder
formats convert no-such.json
formats convert trace.jsonl --format nope
confirm
confirm trace.jsonl
confirm trace.jsonl --read x
confirm trace.jsonl --read pay* --write **
confirm --draft
lint nope
lint nope.yaml
check --run [
check --fixtures nowhere
check nope
accept
accept nope --reason x
accept said-no
reject
reject nope
diff
map try trace.jsonl
review
history nope
history verify --since nope
coverage nope
coverage --fail-under many
coverage --format dot
coverage --mutate nope
coverage --mutate --format lines
coverage standard reversing
propose
propose new
propose new Wrong-Name
propose check nope
propose rebase nope
propose keep trace.jsonl
propose keep trace.jsonl r9#9 --expect odd_one --note x
propose new odd_one --from nope
graph
graph show standard
graph show nope
graph next coffee nope
graph draft nope
graph history trace.jsonl
formats try
formats try nope nope
formats
schema
schema nope
completions
init extra words
help nope
help replay nope
demo extra
";

#[test]
fn commands_that_are_typed_wrong_say_what_they_said() {
    let project = Project::with_proposal();
    project.write("trace.jsonl", cli::TRACE);
    keep("misuse", &written(&project.path(""), &typed(COMMANDS)));
}

/// Project files that cannot be read.
const PROJECTS: [&str; 12] = [
    "",
    "7\n",
    "- a list\n",
    "format: project/9\n",
    "format: project/1\nplaybok: playbooks/ours.yaml\n",
    "format: project/1\nplaybook: [odd]\n",
    "format: project/1\nplaybook: nope\n",
    "format: project/1\nplaybook: ../outside.yaml\n",
    "format: project/1\nplaybook: playbooks/ours.yaml\nfixtures: -1\ngoldens: -1\n",
    "format: project/1\nredact: { args: [odd }\n",
    "format: project/1\nredact: { arg: [odd] }\nmap: nope\n",
    "format: project/1\nformat: project/1\n",
];

#[test]
fn projects_that_cannot_be_read_are_underlined_where_they_were() {
    let project = Project::new();
    let mut text = String::new();
    for written_wrong in PROJECTS {
        project.write("playproof.yaml", written_wrong);
        text.push_str(&format!("# {}\n", written_wrong.escape_debug()));
        text.push_str(&written(&project.path(""), &typed("check")));
    }
    keep("projects", &text);
}
