//! Reads the recorded evidence for a draft: the failures of a cluster or a kept call, and the calls of its fixtures.
//! Decides nothing.

use std::collections::BTreeSet;

use super::args::New;
use crate::exit::Failure;
use crate::files;
use crate::flags::Flags;
use crate::input_paths::InputPaths;
use crate::inputs;
use crate::kept;
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::stream::Stream;
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::workspace::Workspace;
use playproof_analysis::kept::Kept;
use playproof_analysis::mining::{MinedPart, Miner};
use playproof_analysis::proposal::{DraftEvidence, NoCluster, RecordedCalls};
use playproof_analysis::replay::Replayed;
use playproof_engine::playbook::Access;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::counted;
use playproof_formats::shell::Command;

/// What was recorded, and the inputs that it was read from.
pub struct Recorded {
    /// What was recorded.
    pub evidence: DraftEvidence,
    inputs: Vec<(String, ReadOptions)>,
}

/// Where recordings are looked for, and how they are read.
pub struct EvidenceReader<'a> {
    /// What was asked.
    pub args: &'a New,
    /// The traces of `--trace`.
    pub traces: &'a InputPaths,
    /// The project's files.
    pub workspace: &'a Workspace,
    /// Its own defaults.
    pub project: &'a Project,
    /// For the progress.
    pub terminal: &'a Terminal,
    /// The playbook as it is.
    pub plan: &'a Plan,
}

impl EvidenceReader<'_> {
    /// What the kept call or the cluster that is asked for holds; none where neither is.
    ///
    /// # Errors
    /// Recordings that cannot be read, or hold no such failure.
    pub fn read(&self, kept: Option<&Kept>) -> Result<Option<Recorded>, Failure> {
        match (kept, self.args.from_cluster) {
            (Some(kept), _) => self.kept(kept).map(Some),
            (None, Some(number)) => self.cluster(number).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn cluster(&self, number: u16) -> Result<Recorded, Failure> {
        let args = self.args;
        self.refuse_standard_input()?;
        let (part, replayed) = self.mined(self.traces, &args.reading, args.flags.reading(&[]))?;
        let number = usize::from(number);
        let mined = part.finish(self.plan, &replayed, number);
        let evidence = DraftEvidence::of_cluster(&mined, number, self.traces.files(), &self.plan.playbook);
        let evidence = evidence.map_err(|why| self.no_cluster(number, why))?;
        Ok(Recorded { evidence, inputs: self.recordings().collect() })
    }

    fn recordings(&self) -> impl Iterator<Item = (String, ReadOptions)> {
        self.traces.files().iter().map(|path| (path.clone(), self.args.reading.clone()))
    }

    fn no_cluster(&self, number: usize, why: NoCluster) -> Failure {
        let args = self.args;
        let flags = args.flags.reading(&["--playbook", "--tools"]);
        let find = Command::new("playproof propose find").paths(self.traces.shortest());
        let (said, help) = match why {
            NoCluster::NothingFailed => (
                "no recorded attempt failed: there is no cluster to draft from".to_owned(),
                "`--when` drafts a rule without a recording",
            ),
            NoCluster::AllHandled(playbook) => (
                format!("{playbook} handles every failure here: there is no cluster to draft from"),
                "`playproof propose keep` keeps a call that was handled wrong, and `--from` drafts from it",
            ),
            NoCluster::Only(clusters) => (
                format!(
                    "there is no cluster {number}: {} mined",
                    counted(clusters as u64, "cluster was", "clusters were")
                ),
                "cluster 1 is the most urgent; playbook and tool facts decide which clusters there are",
            ),
        };
        Failure::new(said).help(help).next(flags.after(find))
    }

    fn refuse_standard_input(&self) -> Result<(), Failure> {
        match self.args.traces.iter().find(|path| *path == files::STDIN) {
            None => Ok(()),
            Some(path) => Err(Failure::new(format!("`{path}` cannot be drafted from: it is read twice"))
                .help("keep standard input in a file first")
                .next(self.args.command(&self.args.verdict, &[]).and("--trace trace.jsonl"))),
        }
    }

    /// The evidence of a kept call: the call, the other kept calls, and the traces of `--trace`.
    fn kept(&self, kept: &Kept) -> Result<Recorded, Failure> {
        let args = self.args;
        let (slices, slice) = (self.slices(kept)?, self.workspace.kept_path(&kept.id, "jsonl"));
        // Slices are in our own format, whatever `--map` reads.
        let plain = ReadOptions { map: None, ..args.reading.clone() };
        let (mut part, _) =
            self.mined(&InputPaths::find(&slices)?, &plain, args.flags.reading(&[]).without(&["--map"]))?;
        if !args.traces.is_empty() {
            self.refuse_standard_input()?;
            let (more, _) = self.mined(self.traces, &args.reading, args.flags.reading(&[]))?;
            part.merge(more.after_inputs(u32::try_from(slices.len()).unwrap_or(u32::MAX)));
        }
        let nothing = || {
            Failure::new(format!("the attempt that `{}` is about did not fail: no verdict can answer it", kept.id))
                .next(Command::new("playproof explain").path(&self.workspace.here(&slice)))
        };
        let evidence = DraftEvidence::of_kept(kept, part, self.plan, args.traces.is_empty()).ok_or_else(nothing)?;
        let slices = slices.into_iter().map(|path| (path, plain.clone()));
        Ok(Recorded { evidence, inputs: slices.chain(self.recordings()).collect() })
    }

    /// The slice of a kept call, and the slices of all others that do not expect the same verdict: look-alikes.
    fn slices(&self, kept: &Kept) -> Result<Vec<String>, Failure> {
        let slice = |id: &str| self.workspace.kept_path(id, "jsonl").to_string_lossy().into_owned();
        let mut slices = vec![slice(&kept.id)];
        for id in self.workspace.kept_ids()?.iter().filter(|id| **id != kept.id) {
            // `check` reports one that cannot be read.
            let other = kept::load(self.workspace, &self.project.redaction, id);
            if other.is_ok_and(|other| other.file.expect != self.args.verdict) {
                slices.push(slice(id));
            }
        }
        Ok(slices)
    }

    fn mined(
        &self,
        inputs: &InputPaths,
        reading: &ReadOptions,
        flags: Flags,
    ) -> Result<(MinedPart, Replayed), Failure> {
        let args = self.args;
        let command = args.command(&args.verdict, &[]).flag_if("--when", args.when.as_deref());
        let stream = Stream {
            command: if args.traces.is_empty() { command } else { command.and("--trace") },
            ..Stream::new("propose", inputs, reading, flags)
        };
        stream.refuse_repeated()?;
        let miner = Miner { sources: inputs.sources().clone() };
        let mut all = MinedPart::default();
        let plans = std::slice::from_ref(self.plan);
        let streamed = stream.run(plans, &miner, self.project, self.terminal, |part| all.merge(part))?.all_read()?;
        Ok((all, streamed.replayed))
    }
}

impl Recorded {
    /// The calls for the fixtures of a draft, redacted; the first of each reference.
    ///
    /// # Errors
    /// An input that cannot be read.
    pub fn calls(&self, has_rule: bool, project: &Project, plan: &Plan) -> Result<RecordedCalls, Failure> {
        let wanted: BTreeSet<(u32, &str)> = self
            .evidence
            .wanted(has_rule)
            .into_iter()
            .map(|example| (example.place.input, example.reference.as_str()))
            .collect();
        let writes = |tool: &str| plan.facts(tool).access == Access::Write;
        let mut calls = RecordedCalls::new();
        for (number, (input, reading)) in (0..).zip(&self.inputs) {
            if !wanted.iter().any(|(input, _)| *input == number) {
                continue;
            }
            let mapping = reading.reading(Threads::default())?;
            let opened = inputs::trace(input, &mapping, &project.redaction)?;
            opened.each_call(0, reading.options(), &project.redaction, &writes, |closed| {
                let reference = closed.shown().reference();
                if wanted.contains(&(number, reference.as_str())) {
                    calls.entry((number, reference)).or_insert_with(|| closed.shown().clone());
                }
            })?;
        }
        Ok(calls)
    }
}
