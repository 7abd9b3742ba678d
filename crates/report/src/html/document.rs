//! The whole page: its head, its policy, its sections, and how long it may be.

use super::markup::Html;
use crate::text;

/// How every page begins.
const BEGINNING: &str = "<!doctype html>\n<!-- playproof page -->\n";

/// The looks of every page.
pub(super) const STYLE: &str = include_str!("style.css");

/// The policy of every page: nothing is loaded and nothing runs; only this style sheet, by its hash, counts.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'sha256-hphwiy+8q2ZTPfVKizUXiuM+AcqMseRW6U5gFTiSgiw='; base-uri 'none'; form-action 'none'";

/// The most bytes of the pieces of a page; its head, style sheet and end take some more.
const BYTES_MAX: usize = 800_000;

/// The most characters of a title among the contents.
const CONTENTS: usize = 60;

/// Whether the text that begins like this is a page of ours.
pub fn is_page(beginning: &[u8]) -> bool {
    beginning.starts_with(BEGINNING.as_bytes())
}

/// A page that grows section by section.
#[derive(Debug)]
pub(crate) struct Document {
    title: String,
    body: Html,
    contents: Vec<(String, String)>,
}

impl Document {
    /// A page with its title.
    pub fn new(title: &str) -> Document {
        Document { title: title.to_owned(), body: Html::default(), contents: Vec::new() }
    }

    /// Something that stands in no section.
    pub fn add(&mut self, piece: &Html) {
        self.body.add(piece);
        self.body.newline();
    }

    /// A section with its title; none without contents.
    pub fn section(&mut self, id: &str, title: &str, inside: &Html) {
        if inside.is_empty() {
            return;
        }
        self.contents.push((id.to_owned(), text::fitted(title, CONTENTS).into_owned()));
        self.body.tag("section", &[("id", id)], |html| {
            html.line("h2", "", title);
            html.add(inside);
        });
        self.body.newline();
    }

    /// As many of the pieces, in their order, as there is room for.
    pub fn fitting(&self, pieces: impl IntoIterator<Item = Html>) -> Vec<Html> {
        let mut room = BYTES_MAX.saturating_sub(self.body.len());
        let fits = |piece: &Html| {
            let fits = piece.len() <= room;
            room = room.saturating_sub(piece.len());
            fits
        };
        pieces.into_iter().take_while(fits).collect()
    }

    /// Says how many parts the page leaves out; nothing if none.
    pub fn left_out(&mut self, count: usize) {
        if count > 0 {
            let parts = text::counted(count as u64, "part is", "parts are");
            let said = format!("{parts} left out, because this page would be too long.");
            self.add(&Html::of(|html| html.line("p", "soft", &said)));
        }
    }

    /// The file.
    pub fn finish(self) -> String {
        let page = Html::of(|html| {
            html.tag("html", &[("lang", "en")], |html| {
                html.element("head", "", |html| self.head(html));
                html.newline();
                html.element("body", "", |html| self.main(html));
            });
        });
        page.into_file(BEGINNING)
    }

    fn head(&self, html: &mut Html) {
        html.tag("meta", &[("charset", "utf-8")], |_| {});
        html.tag("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)], |_| {});
        html.tag("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")], |_| {});
        html.tag("meta", &[("name", "color-scheme"), ("content", "light dark")], |_| {});
        html.tag("meta", &[("name", "referrer"), ("content", "no-referrer")], |_| {});
        html.line("title", "", &self.title);
        html.style(STYLE);
    }

    fn main(&self, html: &mut Html) {
        html.tag("header", &[("id", "top")], |html| {
            html.line("h1", "", &self.title);
            if self.contents.len() > 1 {
                html.element("nav", "", |html| {
                    for (id, title) in &self.contents {
                        html.link(id, title);
                        html.text(" ");
                    }
                });
            }
        });
        html.newline();
        html.element("main", "", |html| {
            html.newline();
            html.add(&self.body);
        });
        html.newline();
        html.line("footer", "", "Made by playproof. This page holds no script and asks for nothing.");
    }
}
