//! Lines of a file with places underlined, each with its reason: the rows of a playbook that decided something.

use std::collections::BTreeSet;
use std::ops::Range;

use super::markup::Html;
use crate::text;
use playproof_formats::diagnostic::{Label, Report, Source};

/// The most lines that are shown of a file at once.
const LINES_MAX: usize = 24;

/// The most characters of a line.
const LINE: usize = 400;

/// Every diagnostic of a report: its message unless it is `said` already, its lines underlined, its help.
pub(super) fn report(report: &Report, said: &str) -> Html {
    Html::of(|html| {
        for diagnostic in &report.diagnostics {
            if diagnostic.message != said {
                html.line("p", "bad", &text::fitted(&diagnostic.message, LINE));
            }
            html.add(&underlined(&report.source, &diagnostic.labels, 1));
            if let Some(help) = &diagnostic.help {
                html.line("p", "soft", &format!("help: {}", text::fitted(help, LINE)));
            }
        }
    })
}

/// The lines of a source that have labels, with `context` lines around each; nothing without labels.
pub(super) fn underlined(source: &Source, labels: &[Label], context: usize) -> Html {
    let lines = Lines::of(&source.text);
    let placed: Vec<(usize, &Label)> = labels.iter().map(|label| (lines.at(label.span.start), label)).collect();
    let Some((first, _)) = placed.first() else { return Html::default() };
    let around = |line: &usize| line.saturating_sub(context)..=(line + context).min(lines.0.len().saturating_sub(1));
    let shown: BTreeSet<usize> = placed.iter().flat_map(|(line, _)| around(line)).take(LINES_MAX).collect();
    Html::of(|html| {
        html.element("div", "source", |html| {
            let place = format!("{}:{}", text::fitted_path(&source.name, 100), source.first_line + first);
            html.line("div", "file mono", &place);
            html.element("table", "mono", |html| {
                let mut before = None;
                for line in shown {
                    if before.is_some_and(|before| before + 1 < line) {
                        row(html, "⋮", |_| {});
                    }
                    before = Some(line);
                    let here: Vec<&Label> =
                        placed.iter().filter(|(at, _)| *at == line).map(|(_, label)| *label).collect();
                    let number = (source.first_line + line).to_string();
                    row(html, &number, |html| draw(html, &source.text, lines.range(line), &here));
                }
            });
        });
    })
}

fn row(html: &mut Html, number: &str, inside: impl FnOnce(&mut Html)) {
    html.element("tr", "", |html| {
        html.line("td", "at", number);
        html.element("td", "", inside);
    });
}

/// A line with its places underlined, then their reasons.
fn draw(html: &mut Html, source: &str, line: Range<usize>, labels: &[&Label]) {
    let said = source.get(line.clone()).unwrap_or_default();
    let mut spans: Vec<Range<usize>> = labels
        .iter()
        .map(|label| {
            label.span.start.max(line.start) - line.start..label.span.end.min(line.end).max(line.start) - line.start
        })
        .filter(|span| !span.is_empty())
        .collect();
    spans.sort_by_key(|span| span.start);
    let mut at = 0;
    for span in spans {
        let (Some(before), Some(inside)) =
            (said.get(at..span.start.max(at)), said.get(span.start.max(at)..span.end.max(at)))
        else {
            continue;
        };
        html.text(&text::fitted(before, LINE));
        html.line("mark", "", &text::fitted(inside, LINE));
        at = span.end.max(at);
    }
    html.text(&text::fitted(said.get(at..).unwrap_or_default(), LINE));
    for label in labels.iter().filter(|label| !label.text.is_empty()) {
        html.text("  ");
        html.line("span", "why", &format!("← {}", text::fitted(&label.text, LINE)));
    }
}

/// Where the lines of a text are.
struct Lines(Vec<Range<usize>>);

impl Lines {
    fn of(text: &str) -> Lines {
        let mut start = 0;
        let line = |line: &str| {
            let range = start..start + line.trim_end_matches(['\n', '\r']).len();
            start += line.len();
            range
        };
        Lines(text.split_inclusive('\n').map(line).collect())
    }

    /// The line, from 0, of a byte.
    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|line| line.start <= offset).saturating_sub(1)
    }

    fn range(&self, line: usize) -> Range<usize> {
        self.0.get(line).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_formats::diagnostic::Diagnostic;

    #[test]
    fn a_place_is_underlined_in_its_line_with_its_reason() {
        let source = Source::lines("p.yaml", "one\ntwo: <x>\nthree\nfour\nfive\nsix: 6\n", 10);
        let said = Diagnostic::error("x", "m").at(9..12, "was 1").at(29..32, "");
        let drawn = Html::of(|html| html.add(&underlined(&source, &said.labels, 1)));
        let page = format!("{drawn:?}");
        for part in
            ["p.yaml:11", "two: <mark>&lt;x&gt;</mark>  <span class=\\\"why\\\">← was 1</span>", ">⋮<", "<mark>"]
        {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(underlined(&source, &[], 1), Html::default());
    }

    #[test]
    fn places_beyond_the_text_or_across_lines_are_cut() {
        let source = Source::whole("p", "ab\ncd");
        let labels = [Label { span: 1..9, text: String::new() }, Label { span: 50..60, text: String::new() }];
        assert!(format!("{:?}", underlined(&source, &labels, 1)).contains("a<mark>b</mark>"));
        underlined(&Source::whole("p", ""), &labels, 1);
    }
}
