//! The timelines of fixtures as `playproof replay` prints them, calls that go alike folded into the first of them.

use std::path::Path;

use assert_cmd::Command;
use playproof_engine::fixture::Fixture;

/// The columns of a timeline.
const WIDTH: &str = "80";

/// The calls of a fixture that a page shows; the others are counted.
const MOST_SHOWN: usize = 8;

/// What a page shows of a fixture.
pub struct Timelines {
    /// One text a call.
    pub shown: Vec<String>,
    /// Calls that the page does not show.
    pub left_out: usize,
}

/// A call as the program prints it.
struct Block<'a> {
    name: &'a str,
    text: &'a str,
}

/// The timelines of every fixture, in order: one process prints them all.
pub fn of_all(fixtures: &[(String, Fixture)]) -> Vec<Timelines> {
    let output = Command::cargo_bin("playproof")
        .expect("the binary of this build")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .env_clear()
        .env("COLUMNS", WIDTH)
        .arg("replay")
        .args(fixtures.iter().map(|(name, _)| format!("fixtures/{name}.yaml")))
        .output()
        .expect("the binary runs");
    let text = String::from_utf8(output.stdout).expect("output is UTF-8");
    let pages: Vec<&str> = text.split_inclusive("\nnext: playproof explain ").collect();
    assert_eq!(pages.len(), fixtures.len() + 1, "each fixture ends with the command to run next");
    pages.iter().take(fixtures.len()).map(|page| folded(&blocks(page))).collect()
}

/// The calls of a fixture's page.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let page = page.rsplit_once("\n\nnext: ").map_or(page, |(calls, _)| calls);
    let lines = page.split_inclusive('\n');
    let begins = lines.scan(0, |end, line| {
        let begin = *end;
        *end += line.len();
        Some((begin, name(line)))
    });
    let begins: Vec<(usize, &str)> = begins.filter_map(|(begin, name)| Some((begin, name?))).collect();
    let ends = begins.iter().skip(1).map(|(begin, _)| *begin).chain([page.len()]);
    begins.iter().zip(ends).map(|((begin, name), end)| Block { name, text: page[*begin..end].trim_end() }).collect()
}

/// The name of the call whose block a line begins: `1. TOOL  NAME ───`.
fn name(line: &str) -> Option<&str> {
    let (number, rest) = line.trim_end().strip_suffix('─')?.split_once(". ")?;
    number.parse::<u32>().ok()?;
    rest.trim_end_matches('─').trim_end().rsplit("  ").next()
}

/// What two calls must share to go alike: everything below their arguments, whatever the numbers.
fn likeness(text: &str) -> String {
    let below = text.split_once("\n\n").map_or(text, |(_, below)| below);
    let words = below.split_whitespace().map(|word| word.replace(|c: char| c.is_ascii_digit() || c == ',', "#"));
    let mut likeness = words.collect::<Vec<_>>().join(" ");
    while likeness.contains("##") {
        likeness = likeness.replace("##", "#");
    }
    likeness
}

fn folded(blocks: &[Block<'_>]) -> Timelines {
    let mut groups: Vec<(String, &Block<'_>, Vec<&str>)> = Vec::new();
    for block in blocks {
        let likeness = likeness(block.text);
        match groups.iter_mut().find(|(known, ..)| *known == likeness) {
            Some((.., others)) => others.push(block.name),
            None => groups.push((likeness, block, Vec::new())),
        }
    }
    let left_out = groups.iter().skip(MOST_SHOWN).map(|(.., others)| 1 + others.len()).sum();
    let shown = groups.iter().take(MOST_SHOWN).map(|(_, block, others)| match &others[..] {
        [] => block.text.to_owned(),
        [one] => format!("{}\n\n   {one} goes the same way", block.text),
        [one, two] => format!("{}\n\n   {one} and {two} go the same way", block.text),
        [first, .., last] => {
            format!("{}\n\n   {} others go the same way, {first} to {last}", block.text, others.len())
        }
    });
    Timelines { shown: shown.collect(), left_out }
}

#[test]
fn calls_that_go_alike_are_folded_and_others_are_not() {
    let block = |name: &str, wait: &str, end: &str| {
        format!(
            "1. a.b  {name} ───\n   read\n   args {{\"q\":\"{name}\"}}\n\n   p (ms)\n   {wait}  send\n   outcome  {end}\n\n"
        )
    };
    let page = |calls: &[String]| format!("title\n\n{}next: playproof explain ", calls.concat());
    let of = |calls: &[String]| folded(&blocks(&page(calls))).shown;
    let one = block("x-1", "     0", "ok");
    assert_eq!(of(std::slice::from_ref(&one)), [one.trim_end()]);
    let alike = of(&[one.clone(), block("x-2", "30,100", "ok")]);
    assert_eq!(alike, [format!("{}\n\n   x-2 goes the same way", one.trim_end())]);
    let others = of(&[one.clone(), block("x-2", "0", "ok"), block("y", "0", "ok"), block("z", "0", "ok")]);
    assert_eq!(others, [format!("{}\n\n   3 others go the same way, x-2 to z", one.trim_end())]);
    let other = block("y", "0", "failed");
    assert_eq!(of(&[one.clone(), other.clone()]), [one.trim_end(), other.trim_end()]);
}

#[test]
fn calls_that_are_not_shown_are_counted() {
    let words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "j"];
    let texts = words.map(|word| format!("1. t  {word} ───\n\n{word}"));
    let blocks: Vec<Block<'_>> = texts.iter().zip(words).map(|(text, name)| Block { name, text }).collect();
    let Timelines { shown, left_out } = folded(&blocks);
    assert_eq!((shown.len(), left_out), (MOST_SHOWN, 3));
}
