//! The inputs of a replay, opened one after the other, with a progress bar on long ones where a person watches.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::exit::Failure;
use crate::terminal::Terminal;
use crate::{files, inputs};
use playproof_analysis::replay::{Input, Inputs};
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_report::overview::InputNote;
use playproof_trace::foreign::LossReport;
use playproof_trace::mapping::Mapping;
use playproof_trace::origin::Sources;
use playproof_trace::redact::RedactionRules;

/// Shorter inputs are read before anyone could look at a bar.
const LONG: u64 = 64 << 20;

/// What the feed learns about the inputs while it opens them.
pub type Notes = Arc<Mutex<Learned>>;

/// The inputs as they turned out to be.
#[derive(Debug, Default)]
pub struct Learned {
    /// Of each that was opened, in their order.
    pub notes: Vec<InputNote>,
    /// Why one could not be opened, with what to run next.
    pub refused: Option<Failure>,
}

/// The inputs, each opened when it is its turn; `sources` learns where their lines come from.
pub fn open<'a>(
    paths: &'a [String],
    mapping: Option<&'a Mapping>,
    redaction: &'a RedactionRules,
    notes: Notes,
    sources: Sources,
    bar: ProgressBar,
) -> Inputs<'a> {
    Box::new(paths.iter().enumerate().map(move |(n, path)| {
        let mut input = inputs::trace(path, mapping, redaction).map_err(|failure| {
            let report = as_report(&failure);
            notes.lock().unwrap_or_else(PoisonError::into_inner).refused = Some(failure);
            report
        })?;
        if let Some(origins) = input.origins.take() {
            sources.learn(n, origins);
        }
        let remarks = input.loss.as_ref().map_or_else(Vec::new, LossReport::remarks);
        let read_as = input.loss.take().map(|loss| loss.read_as);
        let note = InputNote { name: input.name.clone(), read_as, remarks };
        notes.lock().unwrap_or_else(PoisonError::into_inner).notes.push(note);
        Ok(Input::own(input.name, Counted { source: input.lines, bar: bar.clone() }))
    }))
}

/// A bar over all inputs, or one that is never drawn.
pub fn bar(paths: &[String], terminal: &Terminal) -> ProgressBar {
    let sizes: Option<Vec<u64>> = paths.iter().map(|path| files::size(path)).collect();
    let total: Option<u64> = sizes.map(|sizes| sizes.iter().sum());
    match total.filter(|total| *total >= LONG && terminal.err.is_terminal && !terminal.ci) {
        None => ProgressBar::hidden(),
        Some(total) => {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("replaying {wide_bar} {bytes}/{total_bytes}, {eta} left");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        }
    }
}

/// Tells the bar how much was read.
struct Counted {
    source: Box<dyn Read + Send>,
    bar: ProgressBar,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}

/// What ends the replay; whoever started it says the failure itself.
fn as_report(failure: &Failure) -> Report {
    let message = match failure {
        Failure::Said { message, .. } => message.clone(),
        Failure::Reports { .. } | Failure::PipeClosed => "the input cannot be read".to_owned(),
    };
    Report::one(Source::whole("", ""), Diagnostic::error("input", message))
}
