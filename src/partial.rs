//! Partial results: what a command counts as a file (`partial/1`), and several such files added. Draws nothing.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::exit::{Exit, Failure};
use super::flags::Flags;
use super::input_paths::InputPaths;
use super::output::Output;
use super::project::Project;
use super::stream::Streamed;
use super::{files, outputs, playbooks};
use playproof_analysis::replay::{InTwoParts, PartLinks, Replayed};
use playproof_engine::sim::Plan;
use playproof_formats::playbook::fingerprint;
use playproof_formats::shell::Command;
use playproof_intake::hash;
use playproof_intake::origin::{Origins, Sources};
use playproof_report::overview::InputNote;
use playproof_report::text::{count, escape_unprintable, fitted};

/// The name of the format.
const FORMAT: &str = "partial/1";

/// How such a file begins.
const BEGINS: &[u8] = br#"{"format":"partial/"#;

/// The format, version and command are in the first so many bytes.
const HEAD: usize = 256;

/// Why a file is damaged that is no JSON.
const NO_JSON: &str = "it ends too early, or is no JSON";

/// Seeds for the hashes of tool facts and of names.
const TOOLS: u64 = 51;
const NAMES_IN_ORDER: u64 = 52;

/// The most characters of the names of what is not compared.
const NAMES: usize = 400;

/// The flags that parts need not have in common, and that a part may not bring: they say where the result goes.
const OF_ONE_PART: [&str; 4] = ["--partial", "--jobs", "--allow-empty", "--report"];

/// What a command counts of its inputs beside their replay.
pub trait Sums: Serialize + DeserializeOwned {
    /// The command.
    const COMMAND: &'static str;

    /// Adds those of inputs that come behind `before` others.
    fn merge(&mut self, later: Self, before: u32);

    /// What a count by name may lack at most, because there are too many names.
    fn missed_at_most(&self) -> u64;

    /// What else is not as exact as in one call of the command, one sentence each.
    fn remarks(&self) -> Vec<&'static str>;
}

/// The result of a command over its inputs: what a page is made from.
#[derive(Debug, Serialize, Deserialize)]
pub struct Whole<S> {
    /// The counts of the replay.
    pub replayed: Replayed,
    /// How each input was read.
    pub notes: Vec<InputNote>,
    /// What the command counts beside.
    pub sums: S,
    /// What is not as exact as in one call of the command, one sentence each.
    #[serde(skip)]
    pub remarks: Vec<String>,
}

impl<S: Sums> Whole<S> {
    /// Adds that of further inputs.
    fn merge(&mut self, later: Whole<S>) {
        let before = u32::try_from(self.replayed.inputs.len()).unwrap_or(u32::MAX);
        self.sums.merge(later.sums, before);
        self.replayed.merge(later.replayed);
        self.notes.extend(later.notes);
    }

    /// Says what is not as exact as in one call of the command.
    fn remark(&mut self, links: &PartLinks, linked: &InTwoParts) {
        let names = |names: &mut dyn Iterator<Item = &Box<str>>| {
            let names: Vec<String> = names.map(|name| format!("`{}`", escape_unprintable(name))).collect();
            fitted(&names.join(", "), NAMES).into_owned()
        };
        let said = &mut self.remarks;
        if !linked.tools.is_empty() {
            said.push(format!(
                "Not compared from part to part: calls of {}. They share a key, are the same in all runs, or name no run.",
                names(&mut linked.tools.iter())
            ));
        }
        if !linked.dispatchers.is_empty() {
            said.push(format!(
                "Not compared from part to part: calls of the dispatchers {}. What they share begins anew in each part.",
                names(&mut linked.dispatchers.iter())
            ));
        }
        if let Some(most) = links.cut_at() {
            said.push(format!("Not all parts are compared: one has more than {} runs or keys.", count(most as u64)));
        }
        let missed = self.sums.missed_at_most().max(self.replayed.missed_at_most());
        if missed > 0 {
            said.push(format!(
                "Names are too many to keep all: a count by name may lack up to {}. Sums are exact.",
                count(missed)
            ));
        }
        said.extend(self.sums.remarks().into_iter().map(str::to_owned));
    }
}

/// A command as it reads and decides: its results add up only if it did so in the same way each time.
#[derive(Clone, Copy)]
pub struct Maker<'a> {
    /// The flags that were typed.
    pub flags: &'a Flags,
    /// The file of tool facts among them.
    pub tools: Option<&'a str>,
    /// The project.
    pub project: &'a Project,
    /// The plans of its playbooks.
    pub plans: &'a [Plan],
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct Partial<S> {
    format: String,
    version: String,
    command: String,
    made: MadeBy,
    /// The inputs, in their order.
    files: Vec<String>,
    /// Where the lines of each foreign input come from.
    origins: Vec<Option<Origins>>,
    links: PartLinks,
    whole: Whole<S>,
}

/// What all parts have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct MadeBy {
    flags: Flags,
    /// The playbooks with their fingerprints.
    playbooks: Vec<(String, String)>,
    /// A hash of what they name, in its order: the sums have numbers for names.
    order: String,
    /// A hash of the tool facts.
    tools: String,
}

/// The start of a file of whatever version.
#[derive(Debug, Deserialize)]
struct Head {
    format: String,
    version: String,
    #[serde(default)]
    command: String,
}

impl MadeBy {
    fn of(maker: Maker<'_>) -> Result<MadeBy, Failure> {
        let names: Vec<_> = maker.plans.iter().map(|plan| &plan.names).collect();
        let playbooks = maker.plans.iter().map(|plan| {
            let name = plan.names.playbook.to_string();
            (name, fingerprint(&plan.playbook).to_string())
        });
        let tools = playbooks::facts_bytes(maker.tools, maker.project)?;
        Ok(MadeBy {
            flags: maker.flags.without(&OF_ONE_PART),
            playbooks: playbooks.collect(),
            order: format!("{:032x}", hash::bytes(format!("{names:?}").as_bytes(), NAMES_IN_ORDER)),
            tools: format!("{:032x}", hash::bytes(&tools, TOOLS)),
        })
    }

    /// What two of them, made by one command, do not have in common; none: they are alike.
    fn differs(&self, other: &MadeBy, command: &'static str) -> Option<String> {
        let named = |made: &MadeBy| {
            let short = |(name, print): &(String, String)| format!("`{name}` ({})", print.get(..12).unwrap_or(print));
            made.playbooks.iter().map(short).collect::<Vec<_>>().join(", ")
        };
        let typed = |made: &MadeBy| made.flags.after(Command::new("playproof").and(command)).to_string();
        if self.playbooks != other.playbooks {
            Some(format!("under two playbooks, {} and {}", named(self), named(other)))
        } else if self.order != other.order {
            Some("under playbooks whose rows have another order".to_owned())
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
pub fn refuse(flags: &Flags, file: &str, paths: &InputPaths) -> Result<(), Failure> {
    if flags.of_stdin() > 0 {
        return Err(Failure::new("`--partial` keeps no playbook and no tool facts, and `merge` needs them again")
            .help("give them as files"));
    }
    outputs::refuse_input(file, paths.files().iter().map(String::as_str))?;
    outputs::refuse(file)?;
    outputs::refuse_others(file, "partial result of Playproof", |start| start.starts_with(BEGINS))
}

/// Writes what a command counted as a file.
///
/// # Errors
/// An input was not read to its end; names of tools or runs are redacted; the file cannot be written.
pub fn write<S: Sums>(
    maker: Maker<'_>,
    file: &str,
    paths: &InputPaths,
    streamed: Streamed,
    sums: S,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Streamed { replayed, notes, links, .. } = streamed.all_read()?;
    if maker.project.redaction.has_numbered_names() {
        return Err(Failure::new("redaction hides names of tools or runs, so the sums cannot be written as a part")
            .help("partial results need names of tools, runs and calls as they are; redact other texts"));
    }
    let files = paths.files().to_vec();
    let partial = Partial {
        format: FORMAT.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: S::COMMAND.to_owned(),
        made: MadeBy::of(maker)?,
        origins: (0..files.len()).map(|input| paths.sources().origins(input).cloned()).collect(),
        files,
        links,
        whole: Whole { replayed, notes, sums, remarks: Vec::new() },
    };
    let mut bytes = serde_json::to_vec(&partial).map_err(|error| Failure::new(format!("`{file}`: {error}")))?;
    bytes.push(b'\n');
    outputs::write(file, &bytes, output)?;
    Ok(Exit::Clean)
}

/// Files of one command; each is read and parsed once, one after the other.
pub struct PartFiles {
    command: String,
    first: (String, Vec<u8>),
    others: Vec<String>,
}

impl PartFiles {
    /// Reads what made the first file.
    ///
    /// # Errors
    /// It cannot be read, is no partial result, or one of another version.
    pub fn read(names: &[String]) -> Result<PartFiles, Failure> {
        let Some((first, others)) = names.split_first() else { return Err(Failure::new("there is no part")) };
        let bytes = files::bytes(Path::new(first))?;
        let command = command_of(first, &bytes)?;
        Ok(PartFiles { command, first: (first.clone(), bytes), others: others.to_vec() })
    }

    /// The command that made them.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Reads the files.
    ///
    /// # Errors
    /// One cannot be read, is of another command or version, or is damaged; two of them cannot be added.
    pub fn parts<S: Sums>(self) -> Result<Parts<S>, Failure> {
        let PartFiles { command, first: (first, bytes), others } = self;
        let mut parts = vec![parsed(first.clone(), &bytes)?];
        drop(bytes);
        for name in others {
            let bytes = files::bytes(Path::new(&name))?;
            let other = command_of(&name, &bytes)?;
            if other != command {
                let made = format!("`playproof {command}` and `playproof {other}`");
                return Err(Failure::new(format!("`{first}` and `{name}` were made by two commands, {made}"))
                    .help("parts of one command add up"));
            }
            parts.push(parsed(name, &bytes)?);
        }
        parts.sort_by(|(_, one), (_, other)| {
            (&one.files, one.links.first_run()).cmp(&(&other.files, other.links.first_run()))
        });
        for pair in parts.windows(2) {
            if let [(name, one), (other_name, other)] = pair
                && let Some(how) = one.made.differs(&other.made, S::COMMAND)
            {
                return Err(Failure::new(format!("`{name}` and `{other_name}` were made {how}"))
                    .help("parts add up only if one binary made all of them in the same way"));
            }
        }
        Ok(Parts(parts))
    }
}

/// Several files of one command, read and in the order of their inputs.
pub struct Parts<S>(Vec<(String, Partial<S>)>);

impl<S: Sums> Parts<S> {
    /// The arguments of the command whose parts they are, with more flags.
    pub fn words(&self, more: &Flags) -> Vec<String> {
        let flags = self.0.first().map(|(_, part)| part.made.flags.without(&OF_ONE_PART)).unwrap_or_default();
        flags.and(more.clone()).words().chain(["--".to_owned()]).chain(self.files()).collect()
    }

    fn files(&self) -> Vec<String> {
        self.0.iter().flat_map(|(_, part)| part.files.clone()).collect()
    }

    /// The inputs.
    pub fn inputs(&self) -> InputPaths {
        InputPaths::read_before(self.files())
    }

    /// Adds them.
    ///
    /// # Errors
    /// They were made under other playbooks or tool facts than these; an input or a run is in two of them.
    pub fn add(self, maker: Maker<'_>, sources: &Sources) -> Result<Whole<S>, Failure> {
        let now = MadeBy::of(maker)?;
        let differs = |made: &MadeBy| MadeBy { flags: made.flags.clone(), ..now.clone() }.differs(made, S::COMMAND);
        if let Some((name, how)) = self.0.first().and_then(|(name, part)| Some((name, differs(&part.made)?))) {
            return Err(Failure::new(format!("`{name}` and this command differ: {how}"))
                .help("`merge` reads playbooks and tool facts again; they must be as they were"));
        }
        let all_origins = self.0.iter().flat_map(|(_, part)| &part.origins).enumerate();
        for (input, origins) in all_origins {
            origins.iter().for_each(|origins| sources.set_origins(input, origins.clone()));
        }
        self.refuse_twice()?;
        let mut linked = InTwoParts::default();
        let mut parts = self.0.into_iter().map(|(_, part)| (part.whole, part.links));
        let Some((mut whole, mut links)) = parts.next() else { return Err(Failure::new("there is no part")) };
        for (later, others) in parts {
            whole.merge(later);
            links.merge(others, &mut linked);
        }
        whole.remark(&links, &linked);
        Ok(whole)
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

/// A part with the name of its file.
fn parsed<S: Sums>(name: String, bytes: &[u8]) -> Result<(String, Partial<S>), Failure> {
    let damaged = |error: serde_json::Error| {
        let why = if error.is_data() { error.to_string() } else { NO_JSON.to_owned() };
        Failure::new(format!("`{name}` is damaged: {why}"))
            .help(format!("make it again with `playproof {} --partial`", S::COMMAND))
    };
    let part = serde_json::from_slice(bytes).map_err(damaged)?;
    Ok((name, part))
}

/// Reads the longest run of whole fields within [`HEAD`].
fn head(bytes: &[u8]) -> Option<Head> {
    let start = bytes.get(..HEAD).unwrap_or(bytes);
    let mut ends = (0..start.len()).rev().filter_map(|at| start.split_at_checked(at));
    ends.find_map(|(fields, rest)| {
        let fields = rest.starts_with(b",\"").then(|| [fields, b"}"].concat())?;
        serde_json::from_slice(&fields).ok()
    })
}

/// The command that made a file; none but this version can read it further.
fn command_of(file: &str, bytes: &[u8]) -> Result<String, Failure> {
    let head = head(bytes);
    let own = env!("CARGO_PKG_VERSION");
    match head.filter(|_| bytes.starts_with(BEGINS)) {
        Some(head) if (&*head.format, &*head.version) == (FORMAT, own) => Ok(head.command),
        Some(Head { format, version, .. }) => {
            Err(Failure::new(format!("`{file}` is {format} of Playproof {version}, and this is {own}"))
                .help("one version must make and add all parts"))
        }
        None if bytes.starts_with(BEGINS) => {
            Err(Failure::new(format!("`{file}` is damaged: {NO_JSON}")).help("make it again with `--partial`"))
        }
        None => Err(Failure::new(format!("`{file}` is no partial result"))
            .help("`replay`, `impact` and `propose find` write one with `--partial FILE`")),
    }
}
