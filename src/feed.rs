//! Opens the inputs of a replay one after the other, with a progress bar for long inputs on a terminal.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::exit::Failure;
use super::inputs::Reading;
use super::terminal::Terminal;
use super::{files, inputs};
use playproof_analysis::replay::{Inputs, TraceInput};
use playproof_intake::imported::LossReport;
use playproof_intake::origin::Sources;
use playproof_intake::redact::RedactionRules;
use playproof_report::overview::InputNote;

/// Inputs of this size get a progress bar.
const LONG: u64 = 64 << 20;

/// What the feed learns about the inputs, shared with its owner.
pub type Notes = Arc<Mutex<Learned>>;

/// What the feed learns while it opens the inputs.
#[derive(Debug, Default)]
pub struct Learned {
    /// A note on each opened input, in order.
    pub notes: Vec<InputNote>,
    /// The inputs that cannot be opened, by their places, and why.
    pub refused: Vec<(usize, Failure)>,
}

/// The inputs, each opened in its turn; `sources` learns the origins of their lines. One that cannot be opened is empty.
pub fn open<'a>(
    paths: &'a [String],
    reading: &'a Reading,
    redaction: &'a RedactionRules,
    notes: Notes,
    sources: Sources,
    bar: ProgressBar,
) -> Inputs<'a> {
    Box::new(paths.iter().enumerate().map(move |(n, path)| {
        let mut learned = notes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut input = inputs::trace(path, reading, redaction).unwrap_or_else(|failure| {
            learned.refused.push((n, failure));
            TraceInput::own(files::display_name(path), io::empty())
        });
        if let Some(origins) = input.origins.take() {
            sources.set_origins(n, origins);
        }
        let remarks = input.loss.as_ref().map_or_else(Vec::new, LossReport::remarks);
        let read_as = input.loss.take().map(|loss| loss.read_as);
        learned.notes.push(InputNote { name: input.name.clone(), read_as, remarks, unread: false });
        TraceInput::own(input.name, CountingReader { source: input.lines, bar: bar.clone() })
    }))
}

/// A progress bar over all inputs, or a hidden one.
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

/// Advances the bar with each read.
struct CountingReader {
    source: Box<dyn Read + Send>,
    bar: ProgressBar,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}
