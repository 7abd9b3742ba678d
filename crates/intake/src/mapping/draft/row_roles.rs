//! Guesses which rows are calls and which are results: one row for both, or separate rows that an id joins.

use std::collections::BTreeSet;

use super::failures::in_answer;
use super::names;
use super::survey::{FieldStats, Survey};
use super::text::flow;
use playproof_formats::yaml::scalar;

type RowSet = BTreeSet<usize>;

/// Which rows are calls and results, and how a mapping selects them.
#[derive(Clone, Debug, Default)]
pub(super) struct RowRoles {
    pub(super) calls: RowSet,
    pub(super) results: RowSet,
    /// Conditions of `call.where`: path and test.
    pub(super) call_where: Vec<(String, String)>,
    pub(super) result_where: Vec<(String, String)>,
    /// The paths of the ids that join results with calls, if they are separate rows.
    pub(super) ids: Option<(String, String)>,
    /// The condition for a failure, where the event's name tells results; with its number of rows.
    pub(super) failed: Option<(String, usize)>,
}

/// Guesses the roles of rows. Rows with `tool` may be calls, results or both; the `signalled` rows signal how a call ended.
pub(super) fn row_roles(survey: &Survey, tool: &FieldStats, signalled: &RowSet) -> RowRoles {
    let apart = |roles: RowRoles| Some(RowRoles { ids: Some(joined(survey, &roles.calls, &roles.results)?), ..roles });
    let mut by_event = events(survey, tool).filter_map(|event| apart(by_event(survey, tool, event)));
    by_event
        .next()
        .or_else(|| apart(by_tool(tool, signalled)?))
        .or_else(|| apart(by_arguments(survey, tool, signalled)?))
        .unwrap_or_else(|| together(survey, tool))
}

/// The fields that name events, where each row with a tool has one.
fn events<'s>(survey: &'s Survey, tool: &FieldStats) -> impl Iterator<Item = &'s FieldStats> {
    let is_event = |field: &FieldStats| field.texts == field.rows.len() && field.values.len() <= 30;
    let fields = survey.named("event").map(|(_, field)| field);
    fields.filter(move |field| field.path != tool.path && is_event(field) && tool.rows.is_subset(&field.rows))
}

/// By events: `event: tool_start` and `event: tool_end`.
fn by_event(survey: &Survey, tool: &FieldStats, event: &FieldStats) -> RowRoles {
    let with = |says: fn(&str) -> bool| event.values.iter().filter(move |(value, _)| says(value));
    let rows_of = |of: &[(&String, &RowSet)]| of.iter().flat_map(|(_, rows)| rows.iter().copied()).collect::<RowSet>();
    let values = |of: &[(&String, &RowSet)]| flow(&of.iter().map(|(value, _)| value.as_str()).collect::<Vec<_>>());
    let starts: Vec<_> = with(names::means_start).filter(|(_, rows)| rows.is_subset(&tool.rows)).collect();
    let calls = rows_of(&starts);
    let ends: Vec<_> = with(names::means_end).filter(|(_, rows)| joined(survey, &calls, rows).is_some()).collect();
    let bad: Vec<_> = ends.iter().copied().filter(|(value, _)| names::means("means_failure", value)).collect();
    let failed = || (format!("{{ {}: {} }}", scalar(&event.path), values(&bad)), rows_of(&bad).len());
    RowRoles {
        results: rows_of(&ends),
        call_where: vec![(event.path.clone(), values(&starts))],
        result_where: vec![(event.path.clone(), values(&ends))],
        failed: (!bad.is_empty()).then(failed),
        calls,
        ids: None,
    }
}

/// By the tool: results name no tool and signal how a call ended.
fn by_tool(tool: &FieldStats, signalled: &RowSet) -> Option<RowRoles> {
    tool.rows.is_disjoint(signalled).then(|| RowRoles {
        calls: tool.rows.clone(),
        results: signalled.clone(),
        call_where: vec![absent(tool, false)],
        result_where: vec![absent(tool, true)],
        ..RowRoles::default()
    })
}

/// By arguments: both name the tool; calls have arguments, and results signal how a call ended.
fn by_arguments(survey: &Survey, tool: &FieldStats, signalled: &RowSet) -> Option<RowRoles> {
    let (_, args) = survey.named("args").next()?;
    let calls: RowSet = args.rows.intersection(&tool.rows).copied().collect();
    let results: RowSet = signalled.intersection(&tool.rows).copied().collect();
    calls.is_disjoint(&results).then(|| RowRoles {
        calls,
        results,
        call_where: vec![absent(args, false)],
        result_where: vec![absent(tool, false), absent(args, true)],
        ..RowRoles::default()
    })
}

/// The condition that a field is absent, or that it is there.
fn absent(field: &FieldStats, is_absent: bool) -> (String, String) {
    (field.path.clone(), format!("{{ absent: {is_absent} }}"))
}

/// One row for both: each row with a tool is a call and its result. If events name tools, only the rows of those events.
fn together(survey: &Survey, tool: &FieldStats) -> RowRoles {
    let of_events = |event: &FieldStats, values: Vec<(&String, &RowSet)>| {
        let rows: RowSet = values.iter().flat_map(|(_, rows)| rows.intersection(&tool.rows).copied()).collect();
        let names: Vec<&str> = values.iter().map(|(value, _)| value.as_str()).collect();
        (rows, vec![(event.path.clone(), flow(&names))])
    };
    let by_name = events(survey, tool).find_map(|event| {
        let named = event.values.iter().filter(|(value, _)| names::means("means_tool", value));
        let found = of_events(event, named.collect());
        (!found.0.is_empty() && found.0.len() < tool.rows.len()).then_some(found)
    });
    let by_rows = || {
        events(survey, tool).find_map(|event| {
            let of_tools = event.values.iter().filter(|(_, rows)| !rows.is_disjoint(&tool.rows));
            let of_tools: Vec<_> = of_tools.collect();
            of_tools.iter().all(|(_, rows)| rows.is_subset(&tool.rows)).then(|| of_events(event, of_tools))
        })
    };
    let (rows, conditions) = match by_name {
        Some(found) => found,
        None if tool.rows.len() == survey.rows => (tool.rows.clone(), Vec::new()),
        None => by_rows().unwrap_or_else(|| (tool.rows.clone(), vec![absent(tool, false)])),
    };
    RowRoles {
        calls: rows.clone(),
        results: rows,
        call_where: conditions.clone(),
        result_where: conditions,
        ..RowRoles::default()
    }
}

/// The paths of the ids that join results with calls: at least half of the results find a call.
fn joined(survey: &Survey, calls: &RowSet, results: &RowSet) -> Option<(String, String)> {
    let mut best: Option<((usize, usize), (String, String))> = None;
    for (rank, call) in ids(survey, calls).chain(by_values(survey, calls)) {
        let known = keys(survey, call, calls);
        if known.len() * 2 < calls.len() {
            continue; // a value that many calls share joins nothing
        }
        for (other, result) in answers_to(survey, results) {
            let answers = keys(survey, result, results);
            let found = answers.intersection(&known).count();
            // Without a usual name, each value must be in exactly one call and one result.
            let is_sure = calls.len() > 1
                && known.len() == calls.len()
                && answers.len() == results.len()
                && found == answers.len();
            if rank >= UNNAMED && (call.path != result.path || !is_sure) {
                continue;
            }
            let place = (rank + other, usize::from(call.path != result.path));
            if found * 2 >= answers.len() && found > 0 && best.as_ref().is_none_or(|(known, _)| place < *known) {
                best = Some((place, (call.path.clone(), result.path.clone())));
            }
        }
    }
    best.map(|(_, paths)| paths)
}

/// The paths of the ids of results of several sorts, beginning with `first`: each sort may have a path of its own.
pub(super) fn ids_of_results(survey: &Survey, roles: &RowRoles, first: &str) -> Vec<String> {
    let mut paths = vec![first.to_owned()];
    let mut rest = roles.results.clone();
    while let Some(field) = paths.last().and_then(|path| survey.fields.get(path)) {
        rest.retain(|row| !field.rows.contains(row));
        let more = if rest.is_empty() { None } else { joined(survey, &roles.calls, &rest) };
        let Some((call, path)) = more.filter(|(_, path)| !paths.contains(path)) else { break };
        if roles.ids.as_ref().is_none_or(|(of_call, _)| *of_call != call) {
            break;
        }
        paths.push(path);
    }
    paths
}

/// The rank of fields that are no ids by name: after those that are.
const UNNAMED: usize = 100;

/// The fields that may be ids of these rows by their values alone.
fn by_values<'s>(survey: &'s Survey, rows: &RowSet) -> impl Iterator<Item = (usize, &'s FieldStats)> {
    const KNOWN: [&str; 6] = ["id", "run", "at", "started", "attempt", "latency"];
    let is_known = |field: &FieldStats| KNOWN.iter().any(|key| field.rank(key).is_some());
    let others = survey.fields.values().filter(move |field| is_label(field, rows) && !is_known(field));
    others.map(|field| (UNNAMED, field))
}

/// The fields that may name the call of a result: ids by name, then other fields.
fn answers_to<'s>(survey: &'s Survey, results: &RowSet) -> impl Iterator<Item = (usize, &'s FieldStats)> {
    let others = survey.fields.values().filter(move |field| is_label(field, results) && field.rank("id").is_none());
    ids(survey, results).chain(others.map(|field| (UNNAMED, field)))
}

/// The values of a field in these rows, each with its run: ids often restart in each run.
pub(super) fn keys<'s>(survey: &'s Survey, field: &'s FieldStats, rows: &RowSet) -> BTreeSet<(&'s str, &'s str)> {
    let mut runs = survey.named("run").map(|(_, run)| run);
    let run = runs.find(|run| run.path != field.path && rows.is_subset(&run.rows));
    let of_run = run.map(FieldStats::by_row).unwrap_or_default();
    let of_row = field.by_row();
    let key = |row: &usize| Some((of_run.get(row).copied().unwrap_or_default(), *of_row.get(row)?));
    rows.iter().filter_map(key).collect()
}

/// The fields that may be ids of these rows, by name.
pub(super) fn ids<'s>(survey: &'s Survey, rows: &RowSet) -> impl Iterator<Item = (usize, &'s FieldStats)> {
    survey.named("id").filter(move |(_, field)| is_label(field, rows))
}

/// Whether the field holds a text or a number in most of these rows, and is not inside an answer.
fn is_label(field: &FieldStats, rows: &RowSet) -> bool {
    field.is_label() && field.is_usual(rows) && !in_answer(field)
}
