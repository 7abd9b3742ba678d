//! Lists the formats of recordings that are recognised, and prints the mapping of each and the words of failures.

use super::{convert, tried};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::inputs::{self, Reading};
use crate::output::Output;
use crate::terminal::Terminal;
use playproof_formats::shell::Command;
use playproof_intake::builtin::{self, FORMATS};
use playproof_intake::failure::FAILURE_WORDS;
use playproof_intake::mapping::Mapping;
use playproof_report::doc::Block;

/// What is shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof formats                                the names of all formats
  playproof formats show otlp-genai > my.yaml      the mapping of a format, to start from
  playproof formats try our.log --map my.yaml      what each path of a mapping finds in a recording
  playproof formats convert chat.json -o t.jsonl   a recording as a trace, and what is lost
  playproof formats words                          by what a text without a flag is a failure
  playproof replay FILE --as otlp-genai            reads a file as this format")]
pub struct Args {
    /// What to do; the list without one
    #[command(subcommand)]
    pub what: Option<What>,
}

/// What is done.
#[derive(Debug, clap::Subcommand)]
pub enum What {
    /// Print the mapping of a format
    Show {
        /// The name of the format, or a mapping file
        #[arg(value_name = "FORMAT")]
        name: String,

        /// Print its paths, for a program: each on a line behind the part of calls or results that it leads to
        #[arg(long)]
        paths: bool,
    },
    /// Print the words by which a text without a flag is a failure, perhaps one, or not done yet
    Words,
    /// Show what each path of a mapping finds in the first calls and results
    Try(tried::Args),
    /// Convert a foreign recording into a trace, and report what is lost
    Convert(Box<convert::Args>),
}

/// Prints, tries or converts.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    match &args.what {
        None => {
            let formats = FORMATS.iter().map(|format| (format.name, format.title));
            output.page(&terminal.out.drawn(&[Block::pairs(formats)]))?;
        }
        Some(What::Words) => output.page(FAILURE_WORDS)?,
        Some(What::Try(args)) => return tried::run(args, terminal, output),
        Some(What::Convert(args)) => return convert::run(args, terminal, output),
        Some(What::Show { name, paths: true }) => output.page(&paths(&mapping(name)?))?,
        Some(What::Show { name, paths: false }) => output.page(mapping(name)?.text())?,
    }
    Ok(Exit::Clean)
}

/// The mapping of a format, or of a file.
fn mapping(name: &str) -> Result<Mapping, Failure> {
    if builtin::find(name).is_none() && files::exists(name) {
        return inputs::mapping(name);
    }
    let format = Reading::format(name)?;
    format.mapping().cloned().ok_or_else(|| {
        Failure::new(format!("`{name}` is built in, and has no mapping"))
            .help("a mapping without `call` says what is different in your recordings")
            .next(Command::new("playproof schema").name("mapping"))
    })
}

fn paths(mapping: &Mapping) -> String {
    mapping.paths().iter().map(|(part, path)| format!("{part}: {path}\n")).collect()
}
