//! `playproof help [TOPIC]`: a command, a finding, a lint or a word. Holds no texts of its own.

use clap::builder::StyledStr;

use super::schema;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal::Terminal;
use crate::topics;
use crate::topics::Topic;
use playproof_formats::diagnostic::did_you_mean;
use playproof_formats::playbook::{EMBEDDED, embedded};
use playproof_formats::shell::Command;
use playproof_report::style::Palette;
use playproof_report::text;

/// What people ask, and what answers it.
const QUESTIONS: [(&str, &str); 10] = [
    ("What does it do?", "playproof demo"),
    ("What would it have done with my failures?", "playproof replay LOG"),
    ("Why is everything a doubt?", "playproof confirm LOG"),
    ("Was this paid twice?", "playproof help duplicate"),
    ("May this call be sent again?", "playproof help retry"),
    ("What does a timeout mean?", "playproof help timeout"),
    ("How do I write a playbook?", "playproof init"),
    ("Is my playbook right?", "playproof help right"),
    ("How do I put it into CI?", "playproof help ci"),
    ("How do I use it in Python?", "playproof help python"),
];

/// The pages that texts of the program name: not everybody who has it has the documents.
const PAGES: [(&str, &str); 14] = [
    ("actions", include_str!("../../docs/actions.md")),
    ("admission", include_str!("../../docs/admission.md")),
    ("audit", include_str!("../../docs/audit.md")),
    ("ci", include_str!("../../docs/ci.md")),
    ("corpus", include_str!("../../docs/corpus.md")),
    ("dispatch", include_str!("../../docs/dispatch-protocol.md")),
    ("mappings", include_str!("../../docs/mappings.md")),
    ("proxy", include_str!("../../docs/proxy.md")),
    ("python", include_str!("../../docs/python.md")),
    ("transactions", include_str!("../../docs/transactions.md")),
    ("verify", include_str!("../../docs/verify.md")),
    ("waits", include_str!("../../docs/waits.md")),
    ("what-the-agent-is-told", include_str!("../../docs/what-the-agent-is-told.md")),
    ("your-retry-code", include_str!("../../docs/your-retry-code.md")),
];

/// What to explain.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof help                    what people ask
  playproof help more               the commands that `--help` leaves out
  playproof help replay             one command
  playproof help propose new        a command of `propose`
  playproof help duplicate_effect   a finding
  playproof help playbook standard  the text of an embedded playbook
  playproof help topics             everything that can be explained")]
pub struct Args {
    /// A command, the id of a finding or a lint, an outcome, a compensation, a verdict of `standard`, an error kind, a key of a file format, `playbook NAME`, `page NAME`, `more`, or `topics`
    #[arg(value_name = "TOPIC")]
    pub topic: Vec<String>,
}

/// Explains. `more` is the second page of the commands.
pub fn run(
    args: &Args,
    definition: &mut clap::Command,
    more: fn(&clap::Command) -> StyledStr,
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if args.topic.is_empty() {
        output.page(&questions(definition, terminal.out.palette(), terminal.out.width))?;
        return Ok(Exit::Clean);
    }
    if let [word, name] = args.topic.as_slice()
        && word == "playbook"
    {
        output.page(embedded(name).ok_or_else(|| no_playbook(name))?)?;
        return Ok(Exit::Clean);
    }
    if let [word, name @ ..] = args.topic.as_slice()
        && word == "page"
    {
        output.page(document(&name.join(" "))?)?;
        return Ok(Exit::Clean);
    }
    let topic = args.topic.join(" ");
    let topic = topic.as_str();
    let palette = terminal.out.palette();
    let all = topics::all();
    let command = args.topic.iter().try_fold(&mut *definition, |command, name| command.find_subcommand_mut(name));
    if let Some(command) = command {
        page(&command.render_long_help(), terminal, output)?;
        for topic in all.iter().filter(|known| known.is(topic)) {
            output.page(&format!("\n{}", explain(topic, palette, terminal.out.width)))?;
        }
        return Ok(Exit::Clean);
    }
    if topic == "more" {
        return page(&more(definition), terminal, output);
    }
    let of_sort = |known: &&Topic| topic == "topics" || topic.strip_suffix('s') == Some(known.sort);
    let listed: Vec<&Topic> = all.iter().filter(of_sort).collect();
    let known: Vec<&Topic> = all.iter().filter(|known| known.is(topic)).collect();
    let keys = if known.is_empty() { topics::keys_of_files(topic, schema::all()) } else { Vec::new() };
    let known: Vec<&Topic> = known.into_iter().chain(&keys).collect();
    if known.is_empty() && listed.is_empty() {
        return Err(unknown(topic, &all, definition));
    }
    let list = (!listed.is_empty()).then(|| list(&listed, palette, terminal.out.width));
    let explained = known.into_iter().map(|topic| explain(topic, palette, terminal.out.width));
    output.page(&list.into_iter().chain(explained).collect::<Vec<_>>().join("\n\n"))?;
    Ok(Exit::Clean)
}

/// What people ask, the command that answers, and the names of all commands.
fn questions(definition: &clap::Command, palette: Palette, width: usize) -> String {
    let longest = QUESTIONS.iter().map(|(question, _)| question.len()).max().unwrap_or_default();
    let ask = |(question, answer): &(&str, &str)| format!("  {question:longest$}  {}", palette.strong(answer));
    let names = definition.get_subcommands().filter(|command| !command.is_hide_set()).map(clap::Command::get_name);
    let names = text::wrapped(&format!("Commands: {}.", names.collect::<Vec<_>>().join(", ")), text::prose(width));
    let mut lines = vec![palette.strong("What people ask:")];
    lines.extend(QUESTIONS.iter().map(ask));
    lines.push(String::new());
    lines.extend(names);
    lines.push("`playproof help COMMAND` explains one, and `playproof --help` lists them.".to_owned());
    lines.join("\n")
}

fn page(page: &StyledStr, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let page = if terminal.out.colour { page.ansi().to_string() } else { page.to_string() };
    output.page(&page)?;
    Ok(Exit::Clean)
}

fn explain(topic: &Topic, palette: Palette, width: usize) -> String {
    let head = match topic.sort {
        "lint" => format!("{} (lint)", palette.strong(&topic.id)), // its title is the first sentence of its text
        sort => format!("{} ({sort}): {}", palette.strong(&topic.id), topic.title),
    };
    let mut lines = text::wrapped(&head, text::prose(width));
    for paragraph in topic.text.split("\n\n") {
        lines.push(String::new());
        if paragraph.starts_with("    ") {
            lines.extend(paragraph.lines().flat_map(|row| fitted_row(row, text::prose(width))));
        } else {
            lines.extend(text::wrapped(&paragraph.replace('\n', " "), text::prose(width)));
        }
    }
    lines.join("\n")
}

/// A row of two columns as it is, or with its second column wrapped.
fn fitted_row(row: &str, width: usize) -> Vec<String> {
    let indent = row.len() - row.trim_start().len();
    let second = row[indent..].find("  ").map(|at| indent + at);
    let second = second.map(|at| at + row[at..].len() - row[at..].trim_start().len());
    match second.filter(|_| text::width(row) > width).and_then(|at| row.split_at_checked(at)) {
        Some((first, said)) => text::hanging(first, said, width),
        None => vec![row.to_owned()],
    }
}

fn list(all: &[&Topic], palette: Palette, width: usize) -> String {
    let longest = all.iter().map(|topic| topic.id.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    let mut sort = "";
    for topic in all {
        if topic.sort != sort {
            if !sort.is_empty() {
                lines.push(String::new());
            }
            sort = topic.sort;
            lines.push(palette.strong(&format!("{sort}s")));
        }
        let title = text::wrapped(&topic.title, text::prose(width).saturating_sub(longest + 4));
        let names = std::iter::once(&*topic.id).chain(std::iter::repeat(""));
        lines.extend(title.iter().zip(names).map(|(piece, name)| format!("  {name:longest$}  {piece}")));
    }
    lines.join("\n")
}

/// The page of this name.
fn document(name: &str) -> Result<&'static str, Failure> {
    let typed = name.trim_start_matches("docs/").trim_end_matches(".md");
    let page = PAGES.iter().find(|(known, _)| *known == typed).map(|(_, text)| *text);
    let names = PAGES.map(|(name, _)| name);
    page.ok_or_else(|| {
        let failure =
            Failure::new(format!("there is no page `{name}`")).help(format!("there are {}", names.join(", ")));
        failure.next("playproof help page dispatch").near(did_you_mean(name, names), "playproof help page")
    })
}

/// That no playbook of this name is embedded.
fn no_playbook(name: &str) -> Failure {
    let failure = Failure::new(format!("no embedded playbook is called `{name}`"));
    let failure = failure.help(format!("there are {}", EMBEDDED.join(", "))).next("playproof help playbook standard");
    failure.near(did_you_mean(name, EMBEDDED.iter().copied()), "playproof help playbook")
}

fn unknown(topic: &str, all: &[Topic], definition: &clap::Command) -> Failure {
    let commands: Vec<String> = definition.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let names = all.iter().map(|topic| &*topic.id).chain(commands.iter().map(String::as_str));
    let failure = Failure::new(format!("nothing is known of `{topic}`"));
    let near = did_you_mean(topic, names);
    if near.is_none()
        && let Some(known) = all.iter().rev().find(|known| known.names(topic))
    {
        let failure = failure.help(format!("the text of `{}` speaks of it", known.id));
        return failure.next(Command::new("playproof help").name(&known.id));
    }
    failure.next("playproof help topics").near(near, "playproof help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_has_an_answer_that_can_be_typed() {
        let mut definition = crate::manual::definition(80);
        let page = questions(&definition, Palette::new(false), 80);
        assert!(page.lines().count() <= 24 && page.lines().all(|line| text::width(line) <= 80), "{page}");
        let all = topics::all();
        for (question, answer) in QUESTIONS {
            let mut words = answer.split(' ').skip(1);
            let (command, topic) = (words.next().unwrap_or_default(), words.next());
            assert!(definition.find_subcommand_mut(command).is_some(), "{question}");
            if command == "help" {
                assert!(all.iter().any(|known| topic.is_some_and(|topic| known.is(topic))), "{question}");
            }
        }
    }

    /// The help of a command and of those below it.
    fn helps(command: &mut clap::Command) -> Vec<String> {
        let own = command.render_long_help().to_string();
        std::iter::once(own).chain(command.get_subcommands_mut().flat_map(helps)).collect()
    }

    #[test]
    fn each_document_that_a_text_of_the_program_names_is_a_page() {
        let mut definition = crate::manual::definition(80);
        let commands = helps(&mut definition);
        let topics = topics::all().into_iter().map(|topic| topic.text.into_owned());
        let (mut named, mut wrong) = (0, Vec::new());
        for text in topics.chain(commands).chain(schema::all().map(|(_, text)| text)) {
            let pages = text.split("docs/").skip(1).filter_map(|rest| rest.split_once(".md"));
            let pages = pages.filter(|(name, _)| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
            for (name, _) in pages {
                named += 1;
                wrong.extend(document(&format!("docs/{name}.md")).err().map(|_| name.to_owned()));
            }
        }
        assert!(named > 10 && wrong.is_empty(), "{named}: {wrong:?}");
    }
}
