//! The report as one JSON document, `coverage/1`.

use crate::coverage::{CoverageReport, Group, Item, State};
use crate::diagnostic::Source;
use crate::report::json::Object;

/// The document; `source` is the playbook's text, for the lines of its parts.
pub fn json(report: &CoverageReport, source: &Source) -> String {
    let mut out = Vec::new();
    let mut document = Object::open(&mut out);
    let (covered, coverable) = report.tally(None);
    document.text("format", "coverage/1").text("playbook", &report.playbook);
    document.texts("fixtures", report.fixtures.iter().map(String::as_str));
    document.number("covered", covered as u64).number("coverable", coverable as u64);
    document.number("permille", report.permille() as u64);
    document.objects("groups", Group::ALL, |object, group| {
        let (covered, coverable) = report.tally(Some(group));
        object.text("group", group.as_str());
        object.number("covered", covered as u64).number("coverable", coverable as u64);
    });
    document.objects("goals", &report.items, |object, item| goal(object, item, report, source));
    document.objects("suggestions", &report.suggestions, |object, suggestion| {
        object.text("name", &suggestion.name);
        object.texts("adds", ids(report, &suggestion.adds)).text("text", &suggestion.text);
    });
    document.end();
    String::from_utf8_lossy(&out).into_owned()
}

fn goal(object: &mut Object<'_>, item: &Item, report: &CoverageReport, source: &Source) {
    object.text("id", &item.id).text("group", item.goal.group().as_str());
    match &item.state {
        State::Covered(by) => {
            let names = by.iter().filter_map(|&place| report.fixtures.get(place)).map(String::as_str);
            object.text("state", "covered").texts("by", names);
        }
        State::Unreachable(why) => {
            object.text("state", "unreachable").text("why", why);
        }
        State::Reachable(place) => {
            let name = report.suggestions.get(*place).map(|suggestion| suggestion.name.as_str());
            object.text("state", "reachable").text_if("suggestion", name);
        }
        State::Undecided => {
            object.text("state", "undecided");
        }
    }
    object.number_if("line", item.place.as_ref().map(|place| source.place(place.start).0 as u64));
}

fn ids<'r>(report: &'r CoverageReport, places: &'r [usize]) -> impl Iterator<Item = &'r str> {
    places.iter().filter_map(|&place| report.items.get(place)).map(|item| item.id.as_str())
}
