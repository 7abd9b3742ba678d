//! What holds of every page: its policy names its style sheet, and it is never too long.

use sha2::{Digest, Sha256};

use super::document::{Document, POLICY, STYLE, is_page};
use super::markup::Html;
use super::table::Rows;

/// The bytes in base64.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits = group.iter().chain([0, 0].iter()).take(3).fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        let letter = |n: usize| if n <= group.len() { char::from(LETTERS[bits >> (18 - 6 * n) & 63]) } else { '=' };
        (0..4).map(letter).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[test]
fn the_policy_lets_in_the_style_sheet_and_nothing_else() {
    assert_eq!(["", "f", "fo", "foo"].map(|text| base64(text.as_bytes())), ["", "Zg==", "Zm8=", "Zm9v"]);
    let hash = base64(&Sha256::digest(STYLE.as_bytes()));
    assert!(POLICY.contains(&format!("style-src 'sha256-{hash}'")), "the policy needs the hash {hash}");
    assert!(POLICY.starts_with("default-src 'none'; "));
    let foreign = ["url(", "@import", "http", "</"].into_iter().find(|part| STYLE.contains(part));
    assert_eq!(foreign, None, "a style sheet may load something");
}

#[test]
fn a_page_takes_what_fits_and_says_what_is_left_out() {
    let mut page = Document::new("Title: <about>");
    let piece = Html::of(|html| html.line("p", "", &"x".repeat(100_000)));
    let fits = page.fitting(vec![piece.clone(); 20]);
    assert_eq!(fits.len(), 7);
    page.section("long", "Long", &fits[0]);
    page.section("none", "None", &Html::default());
    page.left_out(14);
    let page = page.finish();
    assert!(is_page(page.as_bytes()) && !is_page(b"<!doctype html>"));
    assert!(page.contains("14 parts are left out") && page.contains("<h1>Title: &lt;about&gt;</h1>"));
    assert!(!page.contains("None"), "a section without contents is none");
}

#[test]
fn a_table_counts_the_rows_that_do_not_fit() {
    let mut table = Rows::new("", [("a", false), ("b", true)]);
    for _ in 0..1_000 {
        table.row("", |html| html.line("td", "", &"<".repeat(500)));
    }
    let table = table.finish();
    assert!(table.len() < 70_000, "{}", table.len());
    assert!(format!("{table:?}").contains("more rows are left out"));
    assert!(Rows::new("", [("a", false)]).finish().is_empty());
}
