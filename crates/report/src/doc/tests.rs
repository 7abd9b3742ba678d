//! One page drawn three ways: nothing that it says is markup, and what does not fit is counted.

use super::page::{Bar, Bars, Block, Doc, Item, Listed, Side, Table, Text, TimedLine, Tone, first};
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
        Block::pairs([("why", Text::from("because")), ("nothing", Text::default())]),
        Block::Table(table),
        Block::List(vec![Item { said: "entry".into(), below: vec![Text::new(Tone::Soft, "below")] }]),
        Block::Lines("  as\n  it is".to_owned()),
        Block::Source { report, said: String::new() },
        Block::Room(vec![Block::Listing(vec![Listed {
            mark: "1/2".to_owned(),
            number: 7,
            text: "a: 1".to_owned(),
            is_marked: true,
        }])]),
        Block::folded("more", vec![Block::para("folded")]),
        Block::card(Text::new(Tone::Doubt, "tag").say(" title"), vec![Block::para("inside")]),
        Block::section("empty", "Empty", vec![Block::List(Vec::new())]),
        Block::section("full", "Full", vec![first(1, ["one", "two"].into_iter())]),
        Block::next("playproof check".into()),
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

fn side(title: &str, lines: &[(&str, Tone, &str)]) -> Side {
    let line = |(at, tone, said): &(&str, Tone, &str)| TimedLine {
        at: (*at).to_owned(),
        said: Text::new(*tone, *said),
        booked: if *tone == Tone::Good { "+1 effect".to_owned() } else { String::new() },
        is_marked: *tone == Tone::Doubt,
    };
    let end = vec![("outcome", Text::new(Tone::Strong, "succeeded")).into()];
    Side { title: title.to_owned(), lines: lines.iter().map(line).collect(), end, below: Vec::new() }
}

/// Two timelines and a chart.
fn beside() -> [Block; 2] {
    let one = side("recorded", &[("0", Tone::Bad, "attempt 1: <timeout>"), ("1,200", Tone::Good, "attempt 2: ok")]);
    let two = side("standard", &[("0", Tone::Doubt, "stopped")]);
    let bar = |label: &str, value: u64| Bar { label: label.to_owned(), value, said: value.to_string() };
    let bars = Bars { title: "spread".to_owned(), of: 30, bars: vec![bar("p50", 0), bar("p99", 1), bar("max", 30)] };
    [Block::Beside(vec![one, two]), Block::Charts(vec![bars])]
}

#[test]
fn timelines_stand_side_by_side_or_below_each_other_and_bars_beside_their_numbers() {
    let drawn = |width| super::drawn(&beside(), width, Palette::new(false));
    let wide = "\
recorded (ms)                            standard (ms)
      0  attempt 1: <timeout>            ≠ 0  stopped
  1,200  attempt 2: ok
  outcome  succeeded                       outcome  succeeded

spread
p50   0
p99   1  █
max  30  ██████████████████████████████";
    assert_eq!(drawn(79), wide);
    let narrow =
        "recorded (ms)\n      0  attempt 1: <timeout>\n  1,200  attempt 2: ok\n  outcome  succeeded\n\nstandard (ms)\n";
    assert!(drawn(60).starts_with(narrow), "{}", drawn(60));
    let comment = Doc::with("", beside().into()).markdown();
    assert!(comment.contains("  1,200  attempt 2: ok\n") && comment.contains("```"), "{comment}");
    let page = Doc::with("", beside().into()).html();
    for part in [
        "<td class=\"at\">0</td><td class=\"bad\">attempt 1: &lt;timeout&gt;</td><td class=\"ledger\"></td>",
        "<td class=\"good\">attempt 2: ok</td><td class=\"ledger\">+1 effect</td>",
        "<tr class=\"departs\">",
        "<dt>outcome</dt><dd><span class=\"strong\">succeeded</span></dd>",
        "<table class=\"bars short\">",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_link_leads_only_to_a_card_that_the_page_has_room_for() {
    let card = |n: usize| Block::Card {
        id: format!("card-{n}"),
        title: Text::from(format!("{n}. it")),
        inside: vec![Block::Lines("x".repeat(300_000))],
    };
    let links = (1..5).fold(Text::from("see"), |said, n| said.link(format!("card-{n}"), format!("#{n}")));
    let doc = Doc::with("", vec![Block::Para(links), Block::section("all", "All", (1..4).map(card).collect())]);
    let page = doc.html();
    assert!(page.contains("see <a href=\"#card-1\">#1</a> <a href=\"#card-2\">#2</a></p>"), "{}", &page[..9_000]);
    assert!(page.contains("id=\"card-2\"") && !page.contains("card-3") && page.contains("1 part is left out"));
    let shown = doc.terminal(60, Palette::new(false));
    assert!(shown.starts_with("see\n\nAll\n1. it ────") && !shown.contains("#1"), "{}", &shown[..200]);
}

#[test]
fn a_table_of_which_no_row_fits_has_no_header_either() {
    let mut table = Table::named(["what"]);
    table.row([Text::from("y".repeat(30_000))]);
    let doc = Doc::with("", vec![Block::Lines("x".repeat(40_000)), Block::Table(table)]);
    let page = doc.markdown();
    assert!(!page.contains("what") && page.ends_with("1 more part is not shown."), "{}", &page[page.len() - 100..]);
}
