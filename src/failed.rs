//! Prints a failure on standard error, and the one command to run next.

use std::sync::Arc;

use super::exit::{Exit, Failure};
use super::output::to_stderr;
use super::terminal::StreamStyle;
use super::{files, project};
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::shell::Command;
use playproof_formats::text::escape_unprintable;
use playproof_report::diagnostic;
use playproof_report::style::Palette;

/// Says what went wrong, and the one command to run next: the failure's own, or `fallback`.
pub fn fail(failure: &Failure, fallback: &Command, stream: StreamStyle) -> Exit {
    let palette = Palette::new(stream.colour);
    match failure {
        Failure::PipeClosed => {}
        Failure::Message { message, help, next, .. } => {
            to_stderr(&format!("{} {}\n", palette.bad("error:"), escape_unprintable(message)));
            if let Some(help) = help {
                to_stderr(&format!("  {} {}\n", palette.strong("help:"), escape_unprintable(help)));
            }
            say_next(next.as_ref().unwrap_or(fallback), palette);
        }
        Failure::Reports { reports, next } => {
            warn(reports, stream);
            to_stderr(&format!("{}\n", palette.bad(&diagnostic::tally(reports))));
            say_next(next.as_ref().unwrap_or(fallback), palette);
        }
    }
    failure.exit()
}

/// Prints warnings.
pub fn warn(reports: &[Report], stream: StreamStyle) {
    for report in reports {
        to_stderr(&diagnostic::render(&from_here(report), stream.width, stream.colour));
    }
}

/// The same with the name of its source as it is found from the working directory, where it has it from the project's
/// root.
fn from_here(report: &Report) -> Report {
    let (name, root) = (&report.source.name, project::root());
    let is_of_root = !files::exists(name) && files::exists(&root.join(name).to_string_lossy());
    let name = if is_of_root { files::way_up(&root) + name } else { name.clone() };
    let source = Arc::new(Source { name, ..(*report.source).clone() });
    Report { source, diagnostics: report.diagnostics.clone() }
}

/// The command to run next.
pub fn say_next(next: &Command, palette: Palette) {
    to_stderr(&format!("  {} {}\n", palette.strong("next:"), next));
}
