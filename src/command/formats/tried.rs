//! `playproof formats try FILE`: what each path of a mapping finds in the first calls of a recording.

use std::fmt::Write;

use crate::exit::{Exit, Failure};
use crate::inputs;
use crate::output::Output;
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::terminal::Terminal;
use playproof_formats::shell::Command;
use playproof_formats::text::escape_unprintable;
use playproof_intake::mapping::FoundRow;
use playproof_report::text;

/// Calls and results that are shown.
const SHOWN: usize = 3;

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
    let tried = inputs::tried(&args.input, &options.reading()?, SHOWN, &redaction)?;
    let mut page = String::new();
    for row in &tried.rows {
        page.push_str(&block(row, terminal.out.width));
    }
    let again = Command::new("playproof replay").path(&args.input);
    let again = again.flag_if("--map", args.map.as_deref()).flag_if("--as", args.read_as.as_deref());
    output.page(&format!("{page}{}\n\nnext: {again}\n", escape_lines(&tried.summary)))?;
    Ok(Exit::Clean)
}

/// A call or a result: its place, and a line for each part.
fn block(row: &FoundRow, width: usize) -> String {
    let of = |value: &Option<String>| {
        value.as_deref().map_or("-".to_owned(), |value| escape_unprintable(value).into_owned())
    };
    let columns = |part: fn(&playproof_intake::mapping::FoundValue) -> &str| {
        row.values.iter().map(|value| text::width(part(value))).max().unwrap_or_default()
    };
    let (field, path) = (columns(|value| &value.field), columns(|value| &value.paths).min(40));
    let mut page = format!(
        "{} at {}\n",
        row.role,
        escape_unprintable(if row.place.is_empty() { "the document" } else { &row.place })
    );
    for value in &row.values {
        let paths = text::fitted(&value.paths, path);
        let line = format!("  {:field$}  {paths:path$}  {}", value.field, of(&value.value));
        let _ = writeln!(page, "{}", text::fitted(&line, width.max(60))); // writing to a String cannot fail
    }
    page.push('\n');
    page
}

fn escape_lines(text: &str) -> String {
    text.lines().map(|line| escape_unprintable(line).into_owned()).collect::<Vec<_>>().join("\n")
}
