//! The summary of a replay under one playbook, and the account of the inputs.

use super::write::Object;
use crate::event::{EffectClaim, FindingBy, FindingId, Names, OutcomeWord};
use crate::replay::{Counts, FindingCounts, Replayed, Summary};
use crate::report::overview::InputNote;
use crate::trace::model::Place;
use crate::trace::origin::Sources;

/// Writes the account of a replay's inputs into an object.
pub fn write_inputs(object: &mut Object<'_>, replayed: &Replayed, notes: &[InputNote], sources: &Sources) {
    let notes = notes.iter().map(Some).chain(std::iter::repeat(None));
    let inputs = (0_u32..).zip(&replayed.inputs).zip(notes);
    object.objects("inputs", inputs, |object, ((n, input), note)| {
        object.text("name", sources.name_from_root(n).unwrap_or(&input.name));
        for (key, count) in input.ledger.rows() {
            object.number(key, count);
        }
        let firsts = [("first_unknown_type", &input.firsts.kind), ("first_unknown_field", &input.firsts.field)];
        for (key, first) in firsts {
            if let Some((line, first)) = first {
                object.object(key, |object| {
                    object.text("name", &first.to_string()).number("line", *line);
                });
            }
        }
        if let Some((note, read_as)) = note.and_then(|note| Some((note, note.read_as.as_ref()?))) {
            object.text("read_as", read_as);
            object.texts("odd_in_the_source", note.remarks.iter().map(String::as_str));
        }
    });
}

/// Writes where a call stands into an object: `input`, `line`, and `path` where the line alone does not tell it.
pub fn write_place(object: &mut Object<'_>, sources: &Sources, place: Place) {
    let origin = sources.of(place);
    object
        .text_if("input", sources.name_from_root(place.input))
        .number("line", origin.line)
        .text_if("path", origin.path);
}

/// Writes the keys of a whole replay into an object: `inputs`, `recorded`, `playbooks`.
pub fn fill_replayed(
    object: &mut Object<'_>,
    replayed: &Replayed,
    names: &[&Names],
    notes: &[InputNote],
    sources: &Sources,
) {
    write_inputs(object, replayed, notes, sources);
    object.object("recorded", |object| {
        findings(object, &replayed.recorded, FindingBy::Recorded);
        counts(object, "possible_duplicates_by_undeclared_tool", &replayed.possible_duplicates.undeclared);
        counts(object, "possible_duplicates_by_keyed_tool", &replayed.possible_duplicates.keyed);
        counts(object, "possible_duplicates_by_failed_tool", &replayed.possible_duplicates.failed);
        counts(object, "possible_duplicates_by_resent_tool", &replayed.possible_duplicates.resent);
    });
    let pairs = replayed.summaries.iter().zip(names);
    object.objects("playbooks", pairs, |object, (summary, names)| fill(object, summary, names));
}

fn fill(object: &mut Object<'_>, summary: &Summary, names: &Names) {
    object.text("playbook", &names.playbook);
    object.number("calls", summary.calls).number("failed_calls", summary.failed_calls);
    object.number("failed_attempts", summary.failed_attempts);
    named(object, "verdicts", &names.verdicts, &summary.verdicts);
    object.object("outcomes", |object| {
        // No playbook refuses calls yet: the key comes with the first that does.
        let said = OutcomeWord::ALL.into_iter().zip(summary.outcomes);
        for (outcome, count) in said.filter(|(outcome, count)| *outcome != OutcomeWord::Refused || *count > 0) {
            object.number(outcome.as_str(), count);
        }
    });
    object.object("claims", |object| {
        for claim in EffectClaim::ALL {
            object.number(claim.as_str(), summary.claim(claim));
        }
    });
    findings(object, &summary.findings, FindingBy::Playbook);
    object.millis("added_delay_ms", summary.added_delay);
    object.number("upstream_calls_recorded", summary.requests_recorded).number("upstream_calls", summary.requests);
    let effects = &summary.effects;
    object.object("effects", |object| {
        object.number("recorded", effects.recorded).number("inferred", effects.inferred);
        object.number("modelled", effects.modelled).number("reversed", effects.reversed);
        object.number("unobserved", effects.unobserved);
    });
    named(object, "queues", &names.queues, &summary.queues);
    object.number("off_tape_calls", summary.off_tape_calls).number("off_tape_runs", summary.off_tape_runs);
    object.flag("off_tape_runs_is_lower_bound", summary.off_tape_runs_bound).number("tape_left", summary.tape_left);
    let [attempt, refresh, reversal] = summary.undetermined;
    object.object("undetermined_for_lack_of", |object| {
        object.number("attempt", attempt).number("refresh", refresh).number("reversal", reversal);
    });
    counts(object, "unclassified_by_message", &summary.unclassified);
}

fn named(object: &mut Object<'_>, key: &str, names: &[std::sync::Arc<str>], values: &[u64]) {
    let pairs = names.iter().zip(values);
    object.objects(key, pairs, |object, (name, count)| {
        object.text("name", name).number("count", *count);
    });
}

fn findings(object: &mut Object<'_>, counts: &FindingCounts, by: FindingBy) {
    let seen = FindingId::ALL.into_iter().map(|id| (id, counts.count(id, by))).filter(|(_, count)| *count > 0);
    object.objects("findings", seen, |object, (id, count)| {
        object.text("id", id.as_str()).text("severity", id.severity().as_str()).number("calls", count);
    });
}

fn counts(object: &mut Object<'_>, key: &str, counts: &Counts) {
    object.objects(key, counts.rows(), |object, (name, count)| {
        object.text("name", name).number("count", count);
    });
    if counts.others() > 0 {
        object.number("uncounted_by_name", counts.others());
    }
}
