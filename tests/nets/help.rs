//! Every page of help: of the program, of each command, and of each topic.

use crate::hardening::commands::all_commands;
use crate::nets::{keep, typed, written};
use crate::place::Place;

#[test]
fn the_pages_of_help_of_every_command_say_what_they_said() {
    let mut lines = "--help\n-h\nhelp\nhelp more\n".to_owned();
    let parents = ["graph", "propose"].map(str::to_owned);
    for command in all_commands().into_iter().chain(parents).filter(|command| command != "help") {
        lines.push_str(&format!("{command} --help\n"));
    }
    keep("help-of-commands", &written(Place::new().path("").as_path(), &typed(&lines)));
}

#[test]
fn the_topics_of_help_say_what_they_said() {
    let place = Place::new();
    let listed = place.run(&["help", "topics"]).exits(0).out;
    // A topic is listed on a line of its own, in front of what it is about.
    let topics: Vec<&str> = listed.lines().filter_map(|line| line.strip_prefix("  ")).filter_map(first_word).collect();
    assert!(topics.len() > 50, "{listed}");
    let lines: String = topics.iter().map(|topic| format!("help {topic}\n")).collect();
    let lines = format!("help topics\n{lines}help no-such-topic\n");
    keep("help-of-topics", &written(&place.path(""), &typed(&lines)));
}

fn first_word(line: &str) -> Option<&str> {
    line.split(' ').next().filter(|word| !word.is_empty())
}
