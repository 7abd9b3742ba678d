//! What must hold for any bytes that a reader is given. Shared by the fuzz targets and by the test that replays
//! their corpora; knows neither.

use playproof::classify::Classifier;
use playproof::diagnostic::{Report, Source};
use playproof::fixture;
use playproof::playbook::{self, lint};
use playproof::trace::import::{self, Imported, SourceFormat};
use playproof::trace::mapping;
use playproof::yaml;

/// What people write: any text gives a tree or a report that points into it.
pub fn yaml(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match yaml::parse(Source::whole("fuzz.yaml", text), |root| root.json()) {
        Ok(value) => drop(serde_json::to_string(&value).expect("any value is JSON")),
        Err(report) => points_into_its_source(&report),
    }
}

/// A playbook: what is accepted can be linted, fingerprinted, compiled, and every place lies in the text.
pub fn playbook(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match playbook::parse(Source::whole("fuzz.yaml", text)) {
        Ok(loaded) => {
            let diagnostics = lint::lint(&loaded);
            if !diagnostics.is_empty() {
                points_into_its_source(&Report { source: loaded.places.source.clone(), diagnostics });
            }
            let names: Vec<_> = playbook::rows(&loaded.playbook).into_iter().map(|row| row.name).collect();
            assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "rows have names of their own");
            Classifier::new(&loaded.playbook);
        }
        Err(report) => points_into_its_source(&report),
    }
}

/// A tool facts file.
pub fn tools(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match playbook::tools::parse(Source::whole("fuzz.yaml", text)) {
        Ok(tools) => assert!(tools.rows().iter().all(|row| row.facts.declared)),
        Err(report) => points_into_its_source(&report),
    }
}

/// A fixture: what is accepted shows something.
pub fn fixture(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match fixture::parse(Source::whole("fuzz.yaml", text)) {
        Ok(fixture) => assert!(!fixture.expect.is_empty() && !fixture.calls.is_empty()),
        Err(report) => points_into_its_source(&report),
    }
}

/// Foreign recordings: whatever is accepted becomes whole lines of JSON, as many as the report says.
pub fn import(data: &[u8]) {
    import::detect(data);
    for format in [SourceFormat::OpenAi, SourceFormat::Tau, SourceFormat::Tau2] {
        match import::import(format, data, "fuzz.json") {
            Ok(imported) => balances(&imported),
            Err(report) => points_into_its_source(&report),
        }
    }
}

/// A mapping and, behind a line of dashes, rows for it: any text is a mapping or a report, and what a mapping makes
/// of any rows is whole lines.
pub fn mapping(data: &[u8]) {
    let cut = data.windows(5).position(|window| window == b"\n---\n").unwrap_or(data.len());
    let (map, rows) = data.split_at(cut);
    let Ok(text) = std::str::from_utf8(map) else { return };
    let applied = mapping::parse(Source::whole("fuzz.yaml", text))
        .and_then(|mapping| mapping::apply(&mapping, rows.get(5..).unwrap_or_default(), "fuzz.jsonl"));
    match applied {
        Ok(imported) => balances(&imported),
        Err(report) => points_into_its_source(&report),
    }
}

/// An import is whole lines of JSON, and counts no more of anything than it holds.
fn balances(imported: &Imported) {
    let text = std::str::from_utf8(&imported.lines).expect("lines are UTF-8");
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is cut short");
    for line in text.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("a line is one JSON value");
    }
    let loss = &imported.loss;
    assert!(loss.runs > 0, "an import without runs is an error");
    assert!(loss.failures <= loss.results && loss.unanswered <= loss.calls, "the account balances");
}

/// A report has something to say, and every place that it names is inside its text.
fn points_into_its_source(report: &Report) {
    assert!(!report.diagnostics.is_empty(), "a report without a diagnostic");
    for diagnostic in &report.diagnostics {
        assert!(!diagnostic.message.is_empty(), "{} says nothing", diagnostic.id);
        for label in &diagnostic.labels {
            let place = report.source.text.get(label.span.clone());
            assert!(
                place.is_some(),
                "{} points at {:?} of {} bytes",
                diagnostic.id,
                label.span,
                report.source.text.len()
            );
        }
    }
    assert!(!report.to_string().is_empty());
}
