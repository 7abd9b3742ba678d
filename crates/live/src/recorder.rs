//! Writes the journal of a dispatcher, as `playproof serve` writes its own: what was said, and behind it what was decided.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};

use playproof_engine::drive::{Dispatcher, Want};
use playproof_engine::event::{DecisionEvent, Draw};
use playproof_engine::ids::AttemptNo;
use playproof_engine::plan::Plan;
use playproof_engine::time::Instant;
use playproof_formats::playbook::fingerprint;
use playproof_protocol::chain::Chain;
use playproof_protocol::decider::Decider;
use playproof_protocol::driver_lines;
use playproof_protocol::mentioned::Mentioned;

/// Where lines go.
enum Sink {
    Written(Box<dyn Write + Send>),
    Durable(File),
}

/// Writes what a dispatcher was told, and what it decided.
pub struct Recorder {
    sink: Sink,
    /// The chain of the lines, if they are linked.
    chain: Option<Chain>,
    mentioned: Mentioned,
    /// Lines that are written together.
    lines: String,
    lost: u64,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Writes to `out`, the lines of one input at once.
    pub fn new(out: impl Write + Send + 'static) -> Recorder {
        Recorder::of(Sink::Written(Box::new(out)))
    }

    /// Writes to a file, durably before anything follows from a line: a request, or an end. It waits for the disk.
    pub fn durable(file: File) -> Recorder {
        Recorder::of(Sink::Durable(file))
    }

    fn of(sink: Sink) -> Recorder {
        Recorder { sink, chain: None, mentioned: Mentioned::default(), lines: String::new(), lost: 0 }
    }

    /// The same, whose lines are linked to one another: `playproof audit verify` finds what was done to them.
    #[must_use]
    pub fn chained(self) -> Recorder {
        self.going_on(Chain::default())
    }

    /// The same, which goes on with a chain.
    pub(crate) fn going_on(self, chain: Chain) -> Recorder {
        Recorder { chain: Some(chain), ..self }
    }

    /// The lines that could not be written. After the first one nothing is written any more: what is there is a whole journal
    /// up to that line.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    /// The head: what decides.
    pub(crate) fn begin(&mut self, plan: &Plan) {
        self.lines.push_str(&head(plan));
        self.write(true);
    }

    /// What is said.
    pub(crate) fn said(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    /// The draw of the wait that follows.
    pub(crate) fn draw(&mut self, name: &str, attempt: AttemptNo, draw: Draw) {
        self.said(&driver_lines::draw(name, attempt, draw));
    }

    /// What was decided.
    pub(crate) fn decided(&mut self, now: Instant, dispatcher: &Dispatcher, wants: &[Want], events: &[DecisionEvent]) {
        for record in self.records(now, dispatcher, wants, events) {
            self.said(&record);
        }
        let follows = |want: &Want| matches!(want, Want::Send { .. } | Want::End { .. });
        self.write(wants.iter().any(follows));
    }

    /// The lines of what was decided.
    pub(crate) fn records(
        &mut self,
        now: Instant,
        dispatcher: &Dispatcher,
        wants: &[Want],
        events: &[DecisionEvent],
    ) -> Vec<String> {
        let step = |want: &Want| match want {
            Want::Step { call, action } => {
                let (made, of) = dispatcher.made(*call).zip(dispatcher.made(*action))?;
                Some(driver_lines::step_record(now, made, &of.name))
            }
            Want::Send { .. } | Want::Wait { .. } | Want::End { .. } => None,
        };
        let decided = self.mentioned.objects(dispatcher, events);
        wants.iter().filter_map(step).chain(decided.iter().map(|event| driver_lines::decision(event))).collect()
    }

    fn write(&mut self, is_needed: bool) {
        let mut linked = Vec::new();
        let lines = match &mut self.chain {
            Some(chain) => {
                chain.link(&mut linked, self.lines.as_bytes());
                linked.as_slice()
            }
            None => self.lines.as_bytes(),
        };
        let written = match &mut self.sink {
            _ if self.lost > 0 => Err(io::ErrorKind::WriteZero.into()),
            Sink::Written(out) => out.write_all(lines).and_then(|()| out.flush()),
            Sink::Durable(file) => {
                let written = file.write_all(lines);
                if is_needed { written.and_then(|()| file.sync_data()) } else { written }
            }
        };
        if written.is_err() {
            self.lost += self.lines.matches('\n').count() as u64;
        }
        self.lines.clear();
    }
}

/// The head of a journal that begins under a plan.
pub(crate) fn head(plan: &Plan) -> String {
    let decider = Decider {
        playbook: plan.playbook.name.to_string(),
        fingerprint: fingerprint(&plan.playbook).to_string(),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        shadow: false,
    };
    decider.head(Instant::ZERO)
}
