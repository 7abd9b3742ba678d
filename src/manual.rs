//! The help pages of the commands, fitted to a width. What they say stands beside each command.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::{Command, CommandFactory};

use super::args::Cli;
use super::values::taking_signs;
use playproof_report::text;
use playproof_report::text::prose;

/// The commands of the first page of help under their headings, in its order.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Every day", &["init", "replay", "confirm", "explain", "lint", "check", "propose"]),
    ("Analysis", &["verify", "coverage", "impact"]),
    ("Reference", &["formats", "help"]),
];

/// The commands of the second page, `help more`.
const MORE: [(&str, &[&str]); 1] = [(
    "More commands",
    &[
        "review",
        "accept",
        "reject",
        "demo",
        "history",
        "graph",
        "serve",
        "proxy",
        "conform",
        "merge",
        "audit",
        "schema",
        "completions",
    ],
)];

/// The definition that arguments are parsed with, its pages as they are written. Only the commands in `args` take values with
/// a sign; `definition` has all.
pub fn plain(args: &[OsString]) -> Command {
    let is_typed = |below: &Command| args.iter().any(|arg| *arg == below.get_name());
    Cli::command().mut_args(taking_signs).mut_subcommands(|below| if is_typed(&below) { signed(below) } else { below })
}

/// The definition that `help` prints from, its pages `width` columns wide.
pub fn definition(width: usize) -> Command {
    let definition = fitted(Cli::command(), prose(width));
    let template = template(&definition);
    let mut definition = definition.help_template(template);
    definition.build();
    definition
}

/// The first page of help: clap knows no groups of commands.
fn template(definition: &Command) -> String {
    let header = definition.get_styles().get_header();
    let literal = definition.get_styles().get_literal();
    let commands = grouped(definition, &GROUPS);
    let (colour, outside) =
        (format!("{literal}--color{literal:#} WHEN"), format!("{literal}--allow-outside{literal:#}"));
    let options = format!("{colour}, {outside}, {literal}--help{literal:#}, {literal}--version{literal:#}");
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}\n{header}Options:{header:#} {options}{{after-help}}"
    )
}

/// The second page of help: the commands that the first does not name, and the options of all.
pub fn more(definition: &Command) -> StyledStr {
    let header = *definition.get_styles().get_header();
    let commands = grouped(definition, &MORE);
    let template = format!("{commands}\n{header}Options of all commands:{header:#}\n{{options}}");
    definition.clone().help_template(template).render_help()
}

/// Commands in lines below their headings.
fn grouped(definition: &Command, groups: &[(&str, &[&str])]) -> String {
    let header = definition.get_styles().get_header();
    let literal = definition.get_styles().get_literal();
    let longest = groups.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or(0);
    let mut lines = String::new();
    for (heading, names) in groups {
        lines.push_str(&format!("{header}{heading}:{header:#}\n"));
        for name in *names {
            let about = definition.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let about = about.unwrap_or_default();
            lines.push_str(&format!("  {literal}{name}{literal:#}{:1$}{about}\n", "", longest + 2 - name.len()));
        }
    }
    lines
}

/// The command with its prose fitted, and those below it.
fn fitted(mut command: Command, width: usize) -> Command {
    if let Some(page) = command.get_after_help().map(|page| reflowed(&page.to_string(), width)) {
        command = command.after_help(page);
    }
    if let Some(about) = command.get_long_about().map(|about| reflowed(&about.to_string(), width)) {
        command = command.long_about(about);
    }
    command.term_width(width).mut_args(taking_signs).mut_subcommands(|below| fitted(below, width))
}

/// The command whose arguments take values that begin with a sign, and those below it.
fn signed(command: Command) -> Command {
    command.mut_args(taking_signs).mut_subcommands(signed)
}

/// The text wrapped anew: lines without an indent belong to one paragraph, however the source breaks them; indented
/// lines are rows, whose explanations go below them where not all of them fit beside.
fn reflowed(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let (mut paragraph, mut rows): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for line in text.lines().chain([""]) {
        let is_row = line.starts_with(' ');
        if !is_row {
            lines.extend(fitted_rows(&std::mem::take(&mut rows), width));
        }
        if is_row {
            rows.push(line);
        } else if !line.is_empty() {
            paragraph.push(line);
        }
        if (is_row || line.is_empty() || line.ends_with(':')) && !paragraph.is_empty() {
            lines.extend(text::wrapped(&std::mem::take(&mut paragraph).join(" "), width));
        }
        if line.is_empty() {
            lines.push(String::new());
        }
    }
    lines.join("\n").trim_end().to_owned()
}

/// Rows as they are, or each with its second column below its first.
fn fitted_rows(rows: &[&str], width: usize) -> Vec<String> {
    if rows.iter().all(|row| text::width(row) <= width) {
        return rows.iter().map(|&row| row.to_owned()).collect();
    }
    rows.iter().flat_map(|row| stacked(row, width)).collect()
}

fn stacked(row: &str, width: usize) -> Vec<String> {
    let (indent, said) = row.split_at(row.len() - row.trim_start().len());
    let (first, second) = said.split_once("  ").unwrap_or((said, ""));
    let below = format!("{indent}    ");
    let second = text::wrapped(second.trim_start(), width.saturating_sub(below.len()));
    let second = second.iter().filter(|piece| !piece.is_empty()).map(|piece| format!("{below}{piece}"));
    std::iter::once(format!("{indent}{first}")).chain(second).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_is_wrapped_once_however_its_source_breaks_it() {
        let text = "Exit codes: 0 clean, 1 an unsafe\nfinding, 2 unusable.\n\nExamples:\n  a\n  b";
        assert_eq!(reflowed(text, 40), "Exit codes: 0 clean, 1 an unsafe\nfinding, 2 unusable.\n\nExamples:\n  a\n  b");
        assert_eq!(reflowed(text, 80), "Exit codes: 0 clean, 1 an unsafe finding, 2 unusable.\n\nExamples:\n  a\n  b");
    }

    #[test]
    fn the_explanation_of_an_example_goes_below_it_where_both_do_not_fit() {
        let line = "  playproof check    every fixture";
        assert_eq!(reflowed(line, 40), line);
        assert_eq!(reflowed(line, 24), "  playproof check\n      every fixture");
    }

    #[test]
    fn every_command_stands_under_one_heading_in_one_line() {
        let definition = definition(100);
        let shown = definition.get_subcommands().filter(|command| !command.is_hide_set());
        let mut all: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().chain(&MORE).flat_map(|(_, names)| *names).copied().collect();
        all.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, all);
        for command in definition.get_subcommands().filter(|command| !command.is_hide_set()) {
            let about = command.get_about().unwrap().to_string();
            assert!(!about.contains(['{', '}']), "a template would read it: {about}");
        }
    }

    #[test]
    fn each_page_of_help_fits_on_one_screen() {
        for width in [80, 100] {
            let mut definition = definition(width);
            for page in [definition.render_help(), more(&definition)] {
                let page = page.to_string();
                assert!(page.lines().count() <= 24, "{page}");
                assert!(page.lines().all(|line| line.len() <= width), "{page}");
            }
        }
    }

    #[test]
    fn no_line_of_any_help_page_is_wider_than_the_page() {
        for width in [60, 80, 100, 120] {
            let mut definition = definition(width);
            for command in definition.get_subcommands_mut() {
                let page = command.render_long_help().to_string();
                // A command to copy is never broken.
                let wide = page.lines().find(|line| line.len() > width && !line.trim_start().starts_with("playproof"));
                assert_eq!(wide, None, "{} at {width}", command.get_name());
            }
        }
    }
}
