//! Mined clusters as one JSON document.

use super::page::Shown;
use crate::mining::{Cluster, Undrawn};
use crate::report::json::{Object, write_inputs, write_place};
use crate::trace::origin::Sources;

/// The document, ending with a line break.
pub fn json(shown: &Shown<'_>) -> Vec<u8> {
    let mined = shown.mined;
    let mut out = Vec::new();
    let mut document = Object::open(&mut out);
    document.text("format", "mining/1").text("playbook", &mined.playbook);
    write_inputs(&mut document, shown.replayed, shown.notes, shown.names);
    document.number("failures", mined.failures).number("unclassified", mined.unclassified);
    document.number("exhausted", mined.exhausted).number("undetermined_calls", mined.undetermined);
    document.number("failures_of_rarer_forms", mined.folded).number("forms", mined.clusters as u64);
    document.objects("clusters", &mined.shown, |object, cluster| fill(object, cluster, shown.names));
    document.end();
    out.push(b'\n');
    out
}

fn fill(object: &mut Object<'_>, cluster: &Cluster, names: &Sources) {
    object.number("number", cluster.number as u64).text("form", &cluster.form);
    object.text_if("kind", cluster.kind.as_deref()).number_if("status", cluster.status.map(u64::from));
    object.text_if("code", cluster.code.as_deref()).text("verdict", &cluster.verdict);
    object.number("failures", cluster.failures).number("of_the_same_form_that_were_helped", cluster.helped);
    object.number_if("failures_missed_at_most", (cluster.missed > 0).then_some(cluster.missed));
    object.number("writes", cluster.writes).number("risk", cluster.risk);
    object.objects("tools", cluster.tools.rows(), |object, (tool, failures)| {
        object.text("tool", tool).number("failures", failures);
    });
    object.objects("examples", &cluster.examples, |object, example| {
        object.text("call", &example.reference);
        write_place(object, names, example.place);
        object.text("tool", &example.tool);
        object.text_or_null("message", example.message.as_deref());
    });
    object.objects("look_alikes", &cluster.look_alikes, |object, alike| {
        object.text("form", &alike.form).text_if("kind", alike.kind.as_deref());
        object.number_if("status", alike.status.map(u64::from)).text("verdict", &alike.verdict);
        object.number("failures", alike.failures).text_or_null("message", alike.message());
    });
    match &cluster.rule {
        Ok(drawn) => {
            object.object("rule", |object| {
                object.text("name", &drawn.name).text("when", &drawn.when).text("yaml", &drawn.yaml);
                object.number("caught", drawn.caught as u64).number("spared", drawn.spared as u64);
                object.text_if("before", cluster.before.as_deref());
            });
        }
        Err(why) => {
            let (why, also) = match why {
                Undrawn::NothingToAsk => ("nothing_to_ask", None),
                Undrawn::Redacted => ("redacted", None),
                Undrawn::CatchesAlso(form) => ("catches_also", Some(form.as_str())),
                Undrawn::NoValidRule => ("no_valid_rule", None),
            };
            object.object("no_rule", |object| {
                object.text("why", why).text_if("catches_also", also);
            });
        }
    }
}
