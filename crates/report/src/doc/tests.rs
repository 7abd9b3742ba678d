//! One page drawn three ways: nothing that it says is markup, and what does not fit is counted.

use super::page::{Block, Doc, Item, Listed, Table, Text, Tone, first};
use crate::style::Palette;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};

const ODD: &str = "<b>`x` | **y** \u{1b}[31m @team\n";

/// A page with every block.
fn every_block() -> Doc {
    let mut table = Table::columns([("what", false), ("count", true)]);
    table.head("odd");
    table.row([Text::code(ODD), "7".into()]);
    table.toned(Tone::Bad, ["b".into(), "1,000".into()]);
    let source = Source::whole("p.yaml", "a: 1\nb: 2\n");
    let report = Report::one(source, Diagnostic::error("x", "wrong").at(3..4, "here"));
    let mut doc = Doc::new(Text::from("About ").name("it"));
    doc.answer = vec![Block::Para(Text::new(Tone::Good, "all is well"))];
    doc.blocks = vec![
        Block::para(ODD),
        Block::Pairs(vec![("why", "because".into()), ("nothing", Text::default())]),
        Block::Table(table),
        Block::List(vec![Item { said: "entry".into(), below: vec![Text::new(Tone::Soft, "below")] }]),
        Block::Lines("  as\n  it is".to_owned()),
        Block::Source(report, String::new()),
        Block::Room(vec![Block::Listing(vec![Listed {
            mark: "1/2".to_owned(),
            number: 7,
            text: "a: 1".to_owned(),
            is_marked: true,
        }])]),
        Block::Fold("more".into(), vec![Block::para("folded")], true),
        Block::Card(Text::new(Tone::Doubt, "tag").say(" title"), vec![Block::para("inside")]),
        Block::Section("empty".to_owned(), "Empty".to_owned(), vec![Block::List(Vec::new())]),
        Block::Section("full".to_owned(), "Full".to_owned(), vec![first(1, ["one", "two"].into_iter())]),
        Block::Next("playproof check".into()),
    ];
    doc
}

#[test]
fn a_terminal_sets_blocks_apart_and_ends_with_the_answer() {
    let wanted = "\
About it

<b>`x` | **y** \\u{1b}[31m @team\\n

why  because

what                               count
odd
<b>`x` | **y** \\u{1b}[31m @team\\n      7
b                                  1,000

entry
  below

  as
  it is

  × wrong
   ╭─[p.yaml:1:4]
";
    let page = every_block().terminal(60, Palette::new(false));
    assert!(page.starts_with(wanted), "{page}");
    let end = "# more\nfolded\n\ntag title\n   inside\n\nFull\none\nand 1 more\n\nnext: playproof check\n\nall is well";
    assert!(page.ends_with(end), "{page}");
    let coloured = every_block().terminal(60, Palette::new(true));
    let styles = |(n, part): (usize, &str)| if n == 0 { part } else { part.split_once('m').unwrap().1 }.to_owned();
    let plain: String = coloured.split("\u{1b}[").enumerate().map(styles).collect();
    assert_eq!(plain, page, "colour moves nothing");
}

#[test]
fn markdown_holds_no_markup_of_what_it_says() {
    let page = every_block().markdown();
    assert!(page.starts_with("## About `it`\n\nall is well\n\n&lt;b&gt;\\`x\\` | \\*\\*y\\*\\* "), "{page}");
    for part in ["\n- why: because\n", "\n| what | count |\n| --- | ---: |\n| **odd** |  |\n", "\n- entry\n  - below\n"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(
        page.contains("<details><summary>more</summary>\n\nfolded\n\n</details>\n\n### tag title\n\ninside"),
        "{page}"
    );
    assert!(page.ends_with("### Full\n\n- one\n- and 1 more\n\nNext: `playproof check`"), "{page}");
    assert!(!page.contains("Empty") && !page.contains("nothing") && !page.contains("1/2"), "{page}");
}

#[test]
fn a_page_for_a_browser_escapes_what_it_says_and_has_room_for_more() {
    let page = every_block().html();
    let answer = page.find("<p class=\"good\">all is well</p>").unwrap();
    assert!(answer < page.find("&lt;b&gt;").unwrap() && !page.contains("<b>"), "{page}");
    for part in [
        "<span class=\"tag doubt\">tag</span> title</h3><p>inside</p>",
        "<h2>Full</h2><ul><li>one</li>",
        "<tr class=\"changed harm\"><th>b</th><td class=\"n\">1,000</td></tr>",
        "<tr class=\"changed\"><td class=\"at\">1/2</td>",
        "<summary>more</summary><p>folded</p>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Empty"), "{page}");
}

#[test]
fn what_a_comment_or_a_page_has_no_room_for_is_counted() {
    let mut doc = Doc::new("long");
    doc.blocks = vec![Block::Lines("x".repeat(25_000)); 40];
    let comment = doc.comment("<!-- marker -->");
    assert!(comment.starts_with("<!-- marker -->\n## long\n") && comment.len() < 61_000, "{}", comment.len());
    assert!(comment.ends_with("38 more parts are not shown.\n"));
    let page = doc.html();
    assert!(page.len() < 850_000 && page.contains("9 parts are left out, because"), "{}", page.len());
}
