//! Bars with their numbers beside them. Each is a small SVG, so that words and numbers stay text of the page.

use super::markup::Html;
use crate::doc::Bars;
use crate::text;

/// The width of a whole bar, in its own units.
const WHOLE: u64 = 1_000;

/// Labels up to this length need little room.
const SHORT: usize = 4;

/// Bars below each other.
pub(crate) fn bars(chart: &Bars) -> Html {
    Html::of(|html| {
        html.element("div", "", |html| {
            html.line("h3", "", &text::fitted(&chart.title, 160));
            let is_short = chart.bars.iter().all(|bar| bar.label.len() <= SHORT);
            html.element("table", if is_short { "bars short" } else { "bars" }, |html| {
                for bar in &chart.bars {
                    html.element("tr", "", |html| {
                        html.element("th", "", |html| html.name(&text::fitted(&bar.label, 160)));
                        html.element("td", "bar", |html| draw(html, bar.value, chart.of));
                        html.line("td", "n", &bar.said);
                    });
                }
            });
        });
    })
}

fn draw(html: &mut Html, value: u64, of: u64) {
    let view = format!("0 0 {WHOLE} 10");
    let attributes = [("viewBox", view.as_str()), ("preserveAspectRatio", "none"), ("aria-hidden", "true")];
    html.tag("svg", &attributes, |html| {
        rect(html, "back", WHOLE);
        rect(html, "part", width(value, of));
    });
}

fn rect(html: &mut Html, class: &str, width: u64) {
    html.tag("rect", &[("class", class), ("width", &width.to_string()), ("height", "10")], |_| {});
}

/// The width of a bar: at least one hundredth for what is there at all.
fn width(value: u64, of: u64) -> u64 {
    match (value, of) {
        (0, _) | (_, 0) => 0,
        _ => {
            let width = u128::from(value) * u128::from(WHOLE) / u128::from(of);
            u64::try_from(width).unwrap_or(WHOLE).clamp(WHOLE / 100, WHOLE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_a_share_of_the_longest_and_what_is_there_is_seen() {
        let widths = [(0, 5), (5, 0), (1, 1_000_000), (1, 2), (2, 2), (u64::MAX, u64::MAX)];
        assert_eq!(widths.map(|(value, of)| width(value, of)), [0, 0, 10, 500, 1_000, 1_000]);
    }
}
