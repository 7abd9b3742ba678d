//! Partial results: the sums of a replay as a file (`partial/1`), and the sums of several files. Draws nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::args::Args;
use crate::exit::{Exit, Failure};
use crate::flags::Flags;
use crate::input_paths::InputPaths;
use crate::output::Output;
use crate::project::Project;
use crate::{files, outputs, playbooks};
use playproof_analysis::replay::{FailureCounts, PartLinks, Replayed};
use playproof_engine::sim::Plan;
use playproof_formats::playbook::fingerprint;
use playproof_formats::shell::Command;
use playproof_intake::hash;
use playproof_intake::origin::{Origins, Sources};
use playproof_report::listing::Groups;
use playproof_report::overview::InputNote;
use playproof_report::text::{count, escape_unprintable};

/// The name of the format.
const FORMAT: &str = "partial/1";

/// How such a file begins.
const BEGINS: &[u8] = br#"{"format":"partial/"#;

/// A seed for the hash of tool facts.
const TOOLS: u64 = 51;

/// The flags that parts need not have in common, and that a part may not bring: they say where the result goes.
const OF_ONE_PART: [&str; 4] = ["--partial", "--jobs", "--allow-empty", "--report"];

/// What a page is made from.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sums {
    /// The counts.
    pub replayed: Replayed,
    /// How each input was read.
    pub notes: Vec<InputNote>,
    /// Failures by verdict and template, one a playbook.
    pub failures: Vec<FailureCounts>,
    /// The calls that a page may list.
    pub groups: Groups,
}

impl Sums {
    /// Adds those of further inputs. `is_unfolded`: each call is listed by itself.
    fn merge(&mut self, later: Sums, is_unfolded: bool) {
        let before = u32::try_from(self.replayed.inputs.len()).unwrap_or(u32::MAX);
        self.groups.merge(later.groups, before, is_unfolded);
        self.replayed.merge(later.replayed);
        self.notes.extend(later.notes);
        self.failures.iter_mut().zip(later.failures).for_each(|(all, later)| all.merge(later));
    }

    /// What is not as exact as in one replay of all inputs, one sentence each.
    fn remarks(&self, links: &PartLinks, linked: &BTreeSet<Box<str>>) -> Vec<String> {
        let mut said = Vec::new();
        if !linked.is_empty() {
            let tools: Vec<String> = linked.iter().map(|tool| format!("`{}`", escape_unprintable(tool))).collect();
            said.push(format!(
                "Not compared from part to part: calls of {}. They share a key, are the same in all runs, or name no run.",
                tools.join(", ")
            ));
        }
        if let Some(most) = links.cut_at() {
            said.push(format!("Not all parts are compared: one has more than {} runs or keys.", count(most as u64)));
        }
        let by_failure = self.failures.iter().map(FailureCounts::missed_at_most);
        let missed = by_failure.chain([self.replayed.missed_at_most()]).max().unwrap_or(0);
        if missed > 0 {
            said.push(format!(
                "Names are too many to keep all: a count by name may lack up to {}. Sums are exact.",
                count(missed)
            ));
        }
        if self.groups.has_forgotten() {
            said.push("Calls that end are too many to keep all: what came before a listed call may be missing.".into());
        }
        said
    }
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct Partial {
    format: String,
    version: String,
    made: MadeBy,
    /// The inputs, in their order.
    files: Vec<String>,
    /// Where the lines of each foreign input come from.
    origins: Vec<Option<Origins>>,
    links: PartLinks,
    sums: Sums,
}

/// What all parts have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct MadeBy {
    flags: Flags,
    /// The playbooks with their fingerprints.
    playbooks: Vec<(String, String)>,
    /// A hash of the tool facts.
    tools: String,
}

/// The start of a file of whatever version.
#[derive(Debug, Deserialize)]
struct Head {
    format: String,
    version: String,
}

impl MadeBy {
    fn of(args: &Args, project: &Project, plans: &[Plan]) -> Result<MadeBy, Failure> {
        let playbooks = plans.iter().map(|plan| {
            let name = plan.names.playbook.to_string();
            (name, fingerprint(&plan.playbook).to_string())
        });
        let tools = playbooks::facts_bytes(args.tools.as_deref(), project)?;
        Ok(MadeBy {
            flags: args.flags.without(&OF_ONE_PART),
            playbooks: playbooks.collect(),
            tools: format!("{:032x}", hash::bytes(&tools, TOOLS)),
        })
    }

    /// What two of them do not have in common; none: they are alike.
    fn differs(&self, other: &MadeBy) -> Option<String> {
        let named = |made: &MadeBy| {
            let short = |(name, print): &(String, String)| format!("`{name}` ({})", print.get(..12).unwrap_or(print));
            made.playbooks.iter().map(short).collect::<Vec<_>>().join(", ")
        };
        let typed = |made: &MadeBy| made.flags.after(Command::new("playproof replay")).to_string();
        if self.playbooks != other.playbooks {
            Some(format!("under two playbooks, {} and {}", named(self), named(other)))
        } else if self.tools != other.tools {
            Some("with two files of tool facts".to_owned())
        } else {
            (self.flags != other.flags).then(|| format!("by two commands, `{}` and `{}`", typed(self), typed(other)))
        }
    }
}

/// Refuses a file that may not be written, and flags that read standard input: `merge` reads their files again.
///
/// # Errors
/// It is one of them.
pub fn refuse(args: &Args, file: &str, paths: &InputPaths) -> Result<(), Failure> {
    if args.flags.of_stdin() > 0 {
        return Err(Failure::new("`--partial` keeps no playbook and no tool facts, and `merge` needs them again")
            .help("give them as files"));
    }
    outputs::refuse_input(file, paths.files().iter().map(String::as_str))?;
    outputs::refuse(file)?;
    outputs::refuse_others(file, "partial result of Playproof", |start| start.starts_with(BEGINS))
}

/// Writes the sums of a replay as a file.
///
/// # Errors
/// Names of tools or runs are redacted; the file cannot be written.
pub fn write(
    args: &Args,
    file: &str,
    (paths, project, plans): (&InputPaths, &Project, &[Plan]),
    (sums, links): (Sums, PartLinks),
    output: &mut Output,
) -> Result<Exit, Failure> {
    if project.redaction.has_numbered_names() {
        return Err(Failure::new("redaction hides names of tools or runs, so the sums cannot be written as a part")
            .help("partial results need names of tools, runs and calls as they are; redact other texts"));
    }
    let files = paths.files().to_vec();
    let origins = (0..files.len()).map(|input| paths.sources().origins(input).cloned()).collect();
    let made = MadeBy::of(args, project, plans)?;
    let (format, version) = (FORMAT.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let partial = Partial { format, version, made, files, origins, links, sums };
    let mut bytes = serde_json::to_vec(&partial).map_err(|error| Failure::new(format!("`{file}`: {error}")))?;
    bytes.push(b'\n');
    outputs::write(file, &bytes, output)?;
    Ok(Exit::Clean)
}

/// Several files, read and in the order of their inputs.
pub struct Parts(Vec<(String, Partial)>);

impl Parts {
    /// Reads the files.
    ///
    /// # Errors
    /// One cannot be read, or is of another version; two of them cannot be added.
    pub fn read(files: &[String]) -> Result<Parts, Failure> {
        let mut parts =
            files.iter().map(|file| Ok((file.clone(), read(file)?))).collect::<Result<Vec<_>, Failure>>()?;
        parts.sort_by(|(_, one), (_, other)| {
            (&one.files, one.links.first_run()).cmp(&(&other.files, other.links.first_run()))
        });
        for pair in parts.windows(2) {
            if let [(name, one), (other_name, other)] = pair
                && let Some(how) = one.made.differs(&other.made)
            {
                return Err(Failure::new(format!("`{name}` and `{other_name}` were made {how}"))
                    .help("parts add up only if one binary made all of them in the same way"));
            }
        }
        Ok(Parts(parts))
    }

    /// The command whose parts they are, with more flags.
    pub fn words(&self, more: &Flags) -> Vec<String> {
        let flags = self.0.first().map(|(_, part)| part.made.flags.without(&OF_ONE_PART)).unwrap_or_default();
        flags.and(more.clone()).words().chain(["--".to_owned()]).chain(self.files()).collect()
    }

    /// The inputs.
    pub fn files(&self) -> Vec<String> {
        self.0.iter().flat_map(|(_, part)| part.files.clone()).collect()
    }

    /// Adds them, and says what is not as exact as in one replay of all inputs.
    ///
    /// # Errors
    /// They were made under other playbooks or tool facts than these; an input or a run is in two of them.
    pub fn add(
        self,
        (args, project): (&Args, &Project),
        plans: &[Plan],
        sources: &Sources,
    ) -> Result<(Sums, Vec<String>), Failure> {
        let now = MadeBy::of(args, project, plans)?;
        let differs = |part: &Partial| MadeBy { flags: part.made.flags.clone(), ..now.clone() }.differs(&part.made);
        if let Some((name, how)) = self.0.first().and_then(|(name, part)| Some((name, differs(part)?))) {
            return Err(Failure::new(format!("`{name}` and this command differ: {how}"))
                .help("`merge` reads playbooks and tool facts again; they must be as they were"));
        }
        let all_origins = self.0.iter().flat_map(|(_, part)| &part.origins).enumerate();
        for (input, origins) in all_origins {
            origins.iter().for_each(|origins| sources.set_origins(input, origins.clone()));
        }
        self.refuse_twice()?;
        let is_unfolded = args.all || args.call.is_some();
        let mut linked = BTreeSet::new();
        let mut parts = self.0.into_iter().map(|(_, part)| (part.sums, part.links));
        let Some((mut sums, mut links)) = parts.next() else { return Err(Failure::new("there is no part")) };
        for (later, others) in parts {
            sums.merge(later, is_unfolded);
            links.merge(others, &mut linked);
        }
        let remarks = sums.remarks(&links, &linked);
        Ok((sums, remarks))
    }

    /// Refuses an input or a run that is in two parts.
    fn refuse_twice(&self) -> Result<(), Failure> {
        let (mut files, mut runs) = (BTreeMap::new(), BTreeMap::new());
        for (name, part) in &self.0 {
            let twice = |what: &str, of: &str, other: &String| {
                Err(Failure::new(format!("the {what} `{}` is in both `{other}` and `{name}`", escape_unprintable(of)))
                    .help("it would count twice: a part has whole runs, and each run is in one part"))
            };
            for file in part.files.iter().filter(|file| *file != files::STDIN) {
                if let Some(other) = files.insert(file, name) {
                    return twice("input", file, other);
                }
            }
            for run in part.links.runs() {
                if let Some(other) = runs.insert(run, name) {
                    return twice("run", run, other);
                }
            }
        }
        Ok(())
    }
}

fn read(file: &str) -> Result<Partial, Failure> {
    let bytes = files::bytes(Path::new(file))?;
    let head: Option<Head> = serde_json::from_slice(&bytes).ok();
    let (own, made_by) =
        (env!("CARGO_PKG_VERSION"), |head: &Head| format!("{} of Playproof {}", head.format, head.version));
    match head.filter(|_| bytes.starts_with(BEGINS)) {
        None => {
            Err(Failure::new(format!("`{file}` is no partial result"))
                .help("`playproof replay --partial FILE` writes one"))
        }
        Some(head) if (&*head.format, &*head.version) != (FORMAT, own) => {
            Err(Failure::new(format!("`{file}` is {}, and this is {own}", made_by(&head)))
                .help("one version must make and add all parts"))
        }
        Some(_) => serde_json::from_slice(&bytes).map_err(|error| {
            Failure::new(format!("`{file}` is damaged: {error}"))
                .help("make it again with `playproof replay --partial`")
        }),
    }
}
