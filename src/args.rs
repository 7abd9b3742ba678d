//! The command line as it is typed. Each command's own arguments stand beside the command.

use clap::{Parser, Subcommand};

use super::command::{
    accept, check, completions, coverage, diff, explain, feedback, help, history, impact, import, init, lint, mine,
    mutate, propose, reject, replay, review, schema, tools,
};
use super::terminal::ColorChoice;

const LONG_ABOUT: &str = "\
Rehearses a failure playbook before production does.

Playproof loads the recorded tool calls of LLM agents, puts every failure through a playbook's classifier and
dispatcher against a simulated upstream on a virtual clock, and shows what was decided, what it did to the
upstream, and why. Nothing is sent anywhere.";

const AFTER_HELP: &str = "\
Examples:
  playproof init --from trace.jsonl               a project in this folder, with what the trace needs
  playproof replay trace.jsonl                    what the standard playbook would have done
  playproof replay trace.jsonl --playbook my.yaml --playbook standard
                                                  two playbooks side by side
  playproof explain trace.jsonl r1#3              one call, in sentences
  playproof lint my.yaml                          what is wrong with a playbook
  playproof check                                 nothing drifts unreviewed
  playproof help duplicate_effect                 what a finding means
  playproof help topics                           everything that `help` explains

Exit codes: 0 clean, 1 an unsafe finding or a divergence, 2 unusable input or usage, 3 inconclusive, 70 our bug.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "playproof",
    version,
    about = "Rehearses a failure playbook before production does",
    long_about = LONG_ABOUT,
    after_help = AFTER_HELP,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub struct Cli {
    /// When to colour; wins over NO_COLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    pub color: ColorChoice,

    /// Use paths of playproof.yaml that lead out of its project; other links that lead out of it are still refused, with
    /// this flag too
    #[arg(long, global = true)]
    pub allow_outside: bool,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a project: playbook, three fixtures with goldens, configuration, a CI job; never overwrites
    Init(init::Args),
    /// Run recorded calls or a fixture: verdicts, compensations, outcomes, effects, findings
    Replay(replay::Args),
    /// Say in sentences what happened to one call, why, and whether it is safe to send again
    Explain(explain::Args),
    /// Say what is wrong, or legal but likely not meant, in a playbook
    Lint(lint::Args),
    /// Hold every fixture against its golden and every playbook against its approved rows
    Check(check::Args),
    /// Decide at a terminal, one by one, what of a check's findings is accepted
    Review(review::Args),
    /// Accept what a check found, as the new goldens
    Accept(accept::Args),
    /// Forget what waits for review
    Reject(reject::Args),
    /// Show what waits for review
    Diff(diff::Args),
    /// Show what was accepted and why, and verify that it explains the rows as they are
    History(history::Args),
    /// Say what the fixtures exercise of a playbook, and which fixtures would exercise the rest
    Coverage(coverage::Args),
    /// Change a playbook one row at a time, and say which changes no fixture notices
    Mutate(mutate::Args),
    /// Say what a change of playbook changes on recorded calls, cause by cause, widening first
    Impact(impact::Args),
    /// Find failures that a playbook has no use for, by the form of their message, with a rule for each
    Mine(mine::Args),
    /// Keep calls that a playbook handled wrong, and say which of them it answers by now
    Feedback(feedback::Args),
    /// Propose a change of a playbook, see what it changes, and accept it with all that belongs to it
    Propose(propose::Args),
    /// Turn a foreign recording into a trace, and say what it cannot tell
    Import(import::Args),
    /// Write a tool facts file from a trace, with guesses to confirm
    Tools(tools::Args),
    /// Print the JSON Schema of a file format, for editors
    Schema(schema::Args),
    /// Print a script with which a shell completes this command line
    Completions(completions::Args),
    /// Explain a command, a finding, a lint or a word
    Help(help::Args),
    /// The old spelling of `playproof accept PLAYBOOK`
    #[command(hide = true)]
    Approve(accept::Approve),
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
