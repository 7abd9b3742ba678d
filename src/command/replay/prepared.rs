//! What every kind of replay takes from its arguments: playbooks with their plans, and how pages are drawn.

use super::args::{Args, Format};
use crate::exit::Failure;
use crate::flags::Flags;
use crate::playbooks;
use playproof_analysis::recorded::Arguments;
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_formats::playbook::Loaded;

/// A fixture with its path, and the plans of its playbooks by name.
pub type LoadedFixture<'a> = (&'a String, Fixture, Vec<(String, Plan)>);

/// The flags that were typed, with other playbooks.
pub fn with_playbooks(args: &Args, playbooks: &[&str]) -> Flags {
    let named = playbooks.iter().fold(Flags::default(), |flags, playbook| flags.with("--playbook", Some(playbook)));
    named.and(args.flags.without(&["--playbook"]))
}

/// How much of the arguments the page in the terminal shows; one for others shows as much as that of `--report`.
pub fn arguments(args: &Args) -> Arguments {
    if args.format == Format::Markdown { arguments_of_page(args) } else { Arguments::Values }
}

/// How much of the arguments the page of `--report` shows.
pub fn arguments_of_page(args: &Args) -> Arguments {
    if args.show_args { Arguments::Values } else { Arguments::Types }
}

/// The plans of playbooks by name, told apart, and the playbooks with the places of their rows.
pub fn plans(names: &[String], tools: &Tools, seed: Option<u64>) -> Result<(Vec<Plan>, Vec<Loaded>), Failure> {
    let loaded = names.iter().map(|name| playbooks::load(name)).collect::<Result<Vec<Loaded>, Failure>>()?;
    let plan = |loaded: &Loaded| Plan::new(loaded.playbook.clone(), tools).with_seed(seed);
    let mut plans: Vec<Plan> = loaded.iter().map(plan).collect();
    playbooks::tell_apart(&mut plans, names);
    Ok((plans, loaded))
}
