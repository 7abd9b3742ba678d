//! The reports as one JSON document, `mutation/1`.

use crate::mutation::{Judged, Judgement, MutationReport};
use crate::report::json::Object;

/// The document.
pub fn json(reports: &[MutationReport]) -> String {
    let mut out = Vec::new();
    let mut document = Object::open(&mut out);
    document.text("format", "mutation/1");
    document.objects("playbooks", reports, |object, report| {
        object.text("playbook", &report.playbook);
        object.texts("fixtures", report.fixtures.iter().map(String::as_str));
        object.number("runs", report.runs as u64);
        object.objects("mutants", &report.mutants, |object, judged| mutant(object, judged, report));
        object.objects("stale", &report.stale, |object, stale| {
            object.text("mutant", &stale.mutant).text("why", &stale.why);
        });
    });
    document.end();
    String::from_utf8_lossy(&out).into_owned()
}

fn mutant(object: &mut Object<'_>, judged: &Judged, report: &MutationReport) {
    object.text("id", &judged.id).text("row", &judged.row).text("what", &judged.what);
    let shown_by = match &judged.judgement {
        Judgement::Caught(by) => {
            let names = by.iter().filter_map(|&place| report.fixtures.get(place)).map(String::as_str);
            object.text("judgement", "caught").texts("by", names);
            return;
        }
        Judgement::NotJudged => {
            object.text("judgement", "not_judged");
            return;
        }
        Judgement::NotShown => {
            object.text("judgement", "no_difference_found");
            return;
        }
        Judgement::Accepted { why, shown_by } => {
            object.text("judgement", "accepted").text("why", why);
            shown_by
        }
        Judgement::Survived { shown_by } => {
            object.text("judgement", "survived");
            shown_by
        }
    };
    object.object("shown_by", |object| {
        object.text("name", &shown_by.name).text("text", &shown_by.text);
    });
}
