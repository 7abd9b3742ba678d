//! The arguments of the program: options of all commands, and the list of commands. Each command's own arguments are
//! in its file.

use clap::{Parser, Subcommand};

use super::command::{
    accept, audit, check, completions, confirm, conform, coverage, demo, explain, formats, graph_args, help, history,
    impact, init, lint, merge, propose, proxy, reject, replay, review, schema, serve, verify,
};
use super::terminal::ColorChoice;

const ABOUT: &str = "\
Replays recorded failures of tool calls under a playbook, and tests playbooks.";

const AFTER_HELP: &str = "\
Start with `playproof demo`. `playproof help more` has the other commands too.
Exit codes: 0 clean, 1 a problem, 2 unusable, 3 inconclusive, 70 our bug.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "playproof",
    version,
    about = ABOUT,
    after_help = AFTER_HELP,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub struct Cli {
    /// auto, always or never; wins over NO_COLOR, CLICOLOR_FORCE
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub color: ColorChoice,

    /// Use paths outside the project (`playproof help outside`)
    #[arg(long, global = true)]
    pub allow_outside: bool,

    /// What to do.
    #[command(subcommand)]
    pub command: ParsedCommand,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum ParsedCommand {
    /// Show an example: conflict, order, dispatcher, told, crash or lie
    Demo(demo::Args),
    /// Start a project: a playbook, fixtures, goldens and a CI job
    Init(init::Args),
    /// Run recorded calls or fixtures under one or more playbooks
    Replay(replay::Args),
    /// Ask what reading a log guessed: which tools write?
    Confirm(Box<confirm::Args>),
    /// Explain one call: what happened, why, and what to do
    Explain(explain::Args),
    /// Find errors and likely mistakes in a playbook
    Lint(lint::Args),
    /// Compare runs with their goldens, rows with the lock; show the diff
    Check(check::Args),
    /// Decide at a terminal, one by one, what is accepted
    Review(review::Args),
    /// Accept goldens, edited rows of a playbook, or a proposal
    Accept(accept::Args),
    /// Reject goldens that wait, or proposals
    Reject(reject::Args),
    /// Find failures without a rule; draft and check changes of a playbook
    Propose(propose::Args),
    /// Show what fixtures exercise, and what changes they do not notice
    Coverage(coverage::Args),
    /// Try every answer of an upstream: which properties hold?
    Verify(verify::Args),
    /// Compare two playbooks on recorded calls
    Impact(impact::Args),
    /// Show accepted changes and their reasons, and verify the lock
    History(history::Args),
    /// Show the order of actions, ask it about a run, or draft it
    Graph(graph_args::Args),
    /// Compare a dispatcher of your own with a playbook
    Conform(conform::Args),
    /// Decide for a program, call by call, as the playbook was rehearsed
    Serve(serve::Args),
    /// Join an agent and its MCP server: record, compare, enforce
    Proxy(Box<proxy::Args>),
    /// List the formats of recordings; try a mapping, convert a recording
    Formats(formats::Args),
    /// Add partial results of `replay`, `impact` or `propose find`
    Merge(merge::Args),
    /// Verify an audit log whose lines are linked
    Audit(audit::Args),
    /// Explain a command, a finding, a lint or a word
    Help(help::Args),
    /// Print the JSON Schema of a file format, for editors
    Schema(schema::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }
}
