//! The tools that logs call or list, with what tool lists say of them. Asks nothing.

use std::collections::BTreeSet;

use crate::exit::Failure;
use crate::input_paths::InputPaths;
use crate::output::to_stderr;
use crate::project;
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::threads::Threads;
use crate::{files, inputs};
use playproof_analysis::confirm::{OpenResults, OpenTemplate};
use playproof_analysis::replay::Frequent;
use playproof_engine::call::Reply;
use playproof_intake::tool_facts::{ToolCount, argument_names, listed};
use playproof_intake::tool_hints::{self, HintsByTool};
use playproof_report::text;

/// The most tools that are kept. A log with more probably names a tool anew in each call.
const MOST_TOOLS: usize = 5_000;

/// The most arguments of a tool whose names are kept.
const MOST_ARGUMENTS: usize = 64;

/// What is kept of one tool.
#[derive(Debug, Default)]
struct SeenTool {
    /// Its failed calls.
    failed: u64,
    /// Whether its name is hidden where it is shown.
    is_redacted: bool,
    /// The names of its arguments.
    args: BTreeSet<String>,
}

/// The tools of logs.
pub struct SeenTools {
    counts: Frequent<Box<str>, SeenTool>,
    hints: HintsByTool,
    open: OpenResults,
    /// The logs in one line.
    pub logs: String,
}

impl SeenTools {
    /// Reads the logs.
    ///
    /// # Errors
    /// A log that cannot be used; no calls in any.
    pub fn read(paths: &InputPaths, reading: &ReadOptions, project: &Project) -> Result<SeenTools, Failure> {
        let mapping = reading.reading(Threads::default())?;
        let mut counts: Frequent<Box<str>, SeenTool> = Frequent::new(MOST_TOOLS);
        let mut folded = 0;
        let mut hints = HintsByTool::new();
        let mut open = OpenResults::default();
        for (number, path) in paths.files().iter().enumerate() {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let input = inputs::trace(path, &mapping, &project.redaction)?;
            if let Some(loss) = &input.loss {
                tool_hints::append(&loss.hints, &project.redaction, &mut hints);
            }
            // A trace of our own format says itself what a result is.
            let is_foreign = input.loss.is_some();
            let ledger = input.each_call(number, reading.options(), &project.redaction, &|_| true, |closed| {
                let failed = closed.shown().answers.iter().any(|answer| matches!(answer.reply, Reply::Failed(_)));
                let row = counts.row(closed.shown().tool().into(), |_, row| folded += row.count);
                row.count += 1;
                row.value.failed += u64::from(failed);
                let names = closed.shown().args().map(argument_names).unwrap_or_default();
                let room = MOST_ARGUMENTS.saturating_sub(row.value.args.len());
                row.value.args.extend(names.into_iter().take(room));
                if is_foreign {
                    open.add(closed.shown());
                }
                row.value.is_redacted = closed.raw().tool() != closed.shown().tool();
            })?;
            reading.account_for(&files::display_name(path), &ledger)?;
        }
        counts.cut(|_, row| folded += row.count);
        if folded > 0 {
            let calls = text::counted(folded, "call", "calls");
            let most = text::count(MOST_TOOLS as u64);
            to_stderr(&format!("note: +{calls} of rarer tools: the {most} most frequent tools are kept\n"));
        }
        if open.others > 0 {
            let results = text::counted(open.others, "result", "results");
            to_stderr(&format!("note: +{results} with further messages: as many messages are kept as can be asked\n"));
        }
        let root = project::root();
        let name = |path: &String| files::lasting(&root, &files::display_name(path));
        let logs = said(&paths.files().iter().map(name).collect::<Vec<_>>());
        if counts.rows().next().is_none() {
            return Err(Failure::new(format!("no calls in {logs}"))
                .help("a call is a line with `tool`, or what a mapping (`--map`) makes one of")
                .next("playproof schema trace"));
        }
        Ok(SeenTools { counts, hints, open, logs })
    }

    /// The templates of results that are perhaps failures, or not done yet, except where their text is redacted: no
    /// condition of a mapping would match them.
    pub fn open(&self) -> impl Iterator<Item = &OpenTemplate> {
        self.open.templates().into_iter().filter(|open| !open.example.contains("[redacted]"))
    }

    /// The tools, with their calls; those that are only listed last.
    pub fn tools(&self) -> impl Iterator<Item = ToolCount<'_>> {
        let called = self.counts.rows().map(|(tool, row)| {
            let SeenTool { failed, is_redacted, args } = &row.value;
            let hints = self.hints.get(&**tool).copied().unwrap_or_default();
            ToolCount { tool, is_redacted: *is_redacted, calls: row.count, failed: *failed, hints, args: Some(args) }
        });
        called.chain(listed(&self.hints))
    }
}

/// The logs in one line, however many there are.
fn said(names: &[String]) -> String {
    match names {
        [first, _, _, rest @ ..] if !rest.is_empty() => format!("{first} and {} more", names.len() - 1),
        few => few.join(", "),
    }
}
