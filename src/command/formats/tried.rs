//! `playproof formats try FILE`: what each path of a mapping finds in the first calls of a recording.

use crate::exit::{Exit, Failure};
use crate::inputs;
use crate::output::Output;
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::terminal::Terminal;
use crate::threads::Threads;
use playproof_formats::shell::Command;
use playproof_intake::mapping::FoundRow;
use playproof_report::doc::{Block, Table, Text};
use playproof_report::text;

/// Calls and results that are shown.
const SHOWN: usize = 3;

/// The most characters of what a path found.
const MOST: usize = 200;

/// The recording and its mapping.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof formats try our.log --map our.mapping.yaml
  playproof formats try spans.json --as otlp-genai")]
pub struct Args {
    /// The recording, also gzip or zstd
    #[arg(value_name = "FILE")]
    pub input: String,

    /// The mapping file
    #[arg(long, value_name = "FILE")]
    pub map: Option<String>,

    /// The format, without a mapping file
    #[arg(long = "as", value_name = "FORMAT")]
    pub read_as: Option<String>,
}

/// Shows.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let redaction = Project::find()?.redaction;
    let options = ReadOptions { read_as: args.read_as.clone(), ..ReadOptions::plain(args.map.clone()) };
    let tried = inputs::tried(&args.input, &options.reading(Threads::default())?, SHOWN, &redaction)?;
    let again = Command::new("playproof replay").path(&args.input);
    let again = again.flag_if("--map", args.map.as_deref()).flag_if("--as", args.read_as.as_deref());
    let rest = [Block::Lines(tried.summary), Block::next(again)];
    let blocks: Vec<Block> = tried.rows.iter().map(card).chain(rest).collect();
    output.page(&terminal.out.drawn(&blocks))?;
    Ok(Exit::Clean)
}

/// A call or a result: its place, and a row for each part.
fn card(row: &FoundRow) -> Block {
    let mut table = Table::named(["", "", ""]);
    for value in &row.values {
        let found = value.value.as_deref().unwrap_or("-");
        table.row([&*value.field, &*value.paths, &*text::fitted(found, MOST)].map(Text::from));
    }
    let place = if row.place.is_empty() { "the document" } else { &row.place };
    Block::card(format!("{} at {place}", row.role), vec![Block::Table(table)])
}
