//! Lines of a file with places underlined, each with its reason: the rows of a playbook that decided something.

use std::collections::BTreeSet;
use std::ops::Range;

use super::markup::Html;
use crate::text;
use playproof_formats::diagnostic::{Label, Report, Source};

/// The most lines that are shown of a file at once.
const LINES_MAX: usize = 24;

/// The most lines of one row, beside those with labels.
const ROW_LINES_MAX: usize = 20;

/// The most characters of a line.
const LINE: usize = 400;

/// Every diagnostic of a report: its message unless it is `said` already, its lines underlined, its help.
pub(crate) fn report(report: &Report, said: &str) -> Html {
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
fn underlined(source: &Source, labels: &[Label], context: usize) -> Html {
    let lines = Lines::of(&source.text);
    let labelled: BTreeSet<usize> = labels.iter().map(|label| lines.at(label.span.start)).collect();
    let around = |line: &usize| line.saturating_sub(context)..=(line + context).min(lines.0.len().saturating_sub(1));
    let shown: BTreeSet<usize> = labelled.iter().flat_map(around).take(LINES_MAX).collect();
    let numbers: Vec<String> = labelled.iter().map(|line| (source.first_line + line).to_string()).collect();
    drawn(source, &lines, labels, &shown, &numbers.join(", "))
}

/// The whole row of a playbook that begins at `begins`, with its labels.
pub(crate) fn row(source: &Source, begins: &Range<usize>, labels: &[Label]) -> Html {
    let lines = Lines::of(&source.text);
    let (first, last) = lines.row(&source.text, begins);
    let labelled = labels.iter().map(|label| lines.at(label.span.start));
    let shown: BTreeSet<usize> = (first..=last).take(ROW_LINES_MAX).chain(labelled).collect();
    let (from, to) = (source.first_line + first, source.first_line + last);
    let numbers = if from == to { from.to_string() } else { format!("{from}-{to}") };
    drawn(source, &lines, labels, &shown, &numbers)
}

/// The lines `shown`, of which `numbers` tells the numbers.
fn drawn(source: &Source, lines: &Lines, labels: &[Label], shown: &BTreeSet<usize>, numbers: &str) -> Html {
    if shown.is_empty() {
        return Html::default();
    }
    Html::of(|html| {
        html.element("div", "source", |html| {
            let place = format!("{}:{}", text::fitted_path(&source.name, 100), text::fitted(numbers, 60));
            html.line("div", "file mono", &place);
            html.element("table", "mono", |html| {
                let mut before = None;
                for &line in shown {
                    if before.is_some_and(|before| before + 1 < line) {
                        numbered(html, "⋮", |_| {});
                    }
                    before = Some(line);
                    let here = |label: &&Label| {
                        (lines.at(label.span.start)..=lines.at(label.span.end.max(1) - 1)).contains(&line)
                    };
                    let here: Vec<&Label> = labels.iter().filter(here).collect();
                    let number = (source.first_line + line).to_string();
                    numbered(html, &number, |html| draw(html, &source.text, lines.range(line), &here));
                }
            });
        });
    })
}

fn numbered(html: &mut Html, number: &str, inside: impl FnOnce(&mut Html)) {
    html.element("tr", "", |html| {
        html.line("td", "at", number);
        html.element("td", "", inside);
    });
}

/// A line with its places underlined, then the reasons of those that begin here.
fn draw(html: &mut Html, source: &str, line: Range<usize>, labels: &[&Label]) {
    let said = source.get(line.clone()).unwrap_or_default();
    let indent = line.start + said.len() - said.trim_start().len();
    let mut spans: Vec<Range<usize>> = labels
        .iter()
        .map(|label| {
            label.span.start.max(indent) - line.start..label.span.end.min(line.end).max(line.start) - line.start
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
    let begins = |label: &&&Label| label.span.start >= line.start && !label.text.is_empty();
    for label in labels.iter().filter(begins) {
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

    /// The first and the last line of the row that begins at `begins`. Lines that are indented further belong to the row.
    /// If a value begins a line of its own, the line of its key belongs to the row, too.
    fn row(&self, text: &str, begins: &Range<usize>) -> (usize, usize) {
        let said = |line: usize| text.get(self.range(line)).unwrap_or_default();
        let indent = |line: usize| said(line).len() - said(line).trim_start().len();
        let is_written = |line: &usize| !matches!(said(*line).trim_start().chars().next(), None | Some('#'));
        let own = self.at(begins.start);
        let is_value = self.range(own).start + indent(own) == begins.start && !said(own)[indent(own)..].contains(": {");
        let above = (0..own).rev().filter(is_written).find(|line| indent(*line) < indent(own));
        let first =
            match above.filter(|above| is_value && begins.end > self.range(own).end && said(*above).ends_with(':')) {
                Some(above) => above,
                None => own,
            };
        let within = (first + 1..self.0.len()).take_while(|line| !is_written(line) || indent(*line) > indent(first));
        (first, within.filter(is_written).last().unwrap_or(first).max(self.at(begins.end.max(1) - 1)))
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
    fn a_row_is_shown_whole_and_what_follows_is_not() {
        let rules = "classify:\n  - rule: a\n    when: { kind: x }\n\n    verdict: v\n  # of b\n  - { rule: b }\n";
        let source = Source::whole("p.yaml", rules);
        let (name, when) = (rules.find("a\n").unwrap(), rules.find("{ kind").unwrap());
        let label = Label { span: when..when + 11, text: "gave `v`".to_owned() };
        let page = format!("{:?}", row(&source, &(name..name + 1), &[label]));
        for part in ["p.yaml:2-5", "- rule: a", "when: <mark>{ kind: x }</mark>", "verdict: v"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("rule: b") && !page.contains("of b") && !page.contains("classify"), "{page}");
    }

    #[test]
    fn a_part_whose_value_begins_a_line_is_shown_with_its_name() {
        let text = "budget:\n  tool_calls: 3\n  counts: attempts\nlimits: { max_attempts: 4 }\n";
        let source = Source::whole("p.yaml", text);
        let value = text.find("tool_calls").unwrap()..text.find("limits").unwrap() - 1;
        let page = format!("{:?}", row(&source, &value, &[]));
        assert!(page.contains("p.yaml:1-3") && page.contains("budget:") && !page.contains("limits"), "{page}");
        let limit = text.find("4 }").unwrap();
        let page = format!("{:?}", row(&source, &(limit..limit + 1), &[]));
        assert!(page.contains("p.yaml:4") && !page.contains("budget:"), "{page}");
    }

    #[test]
    fn places_beyond_the_text_or_across_lines_are_cut() {
        let source = Source::whole("p", "ab\ncd");
        let labels = [Label { span: 1..9, text: String::new() }, Label { span: 50..60, text: String::new() }];
        assert!(format!("{:?}", underlined(&source, &labels, 1)).contains("a<mark>b</mark>"));
        underlined(&Source::whole("p", ""), &labels, 1);
    }
}
