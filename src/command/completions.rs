//! `playproof completions SHELL`: prints a completion script. Installs nothing.

use clap::Command;
use clap_complete::{Shell, generate};

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Descriptions are one line each, whatever the terminal is.
pub const WIDTH: usize = 100;

/// For which shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Where each shell looks for the script:
  bash        playproof completions bash > ~/.local/share/bash-completion/completions/playproof
  zsh         playproof completions zsh > ~/.zfunc/_playproof      (with `fpath+=~/.zfunc` before `compinit`)
  fish        playproof completions fish > ~/.config/fish/completions/playproof.fish
  powershell  playproof completions powershell >> $PROFILE
  elvish      playproof completions elvish >> ~/.config/elvish/rc.elv

Then start a new shell.")]
pub struct Args {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// Prints.
pub fn run(args: &Args, definition: &mut Command, output: &mut Output) -> Result<Exit, Failure> {
    output.own(&script(args.shell, definition))?;
    Ok(Exit::Clean)
}

fn script(shell: Shell, definition: &mut Command) -> Vec<u8> {
    let mut script = Vec::new();
    generate(shell, definition, "playproof", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual::definition;
    use clap::ValueEnum;

    #[test]
    fn every_shell_s_script_names_every_command() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell, &mut definition(WIDTH))).unwrap();
            for command in definition(WIDTH).get_subcommands() {
                assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
            }
        }
    }
}
