//! Guesses which rows are calls and which are results: one row for both, or separate rows that an id joins.

use std::collections::BTreeSet;

use super::names::{self, FieldRole};
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
    by_event(survey, tool)
        .or_else(|| by_tool(survey, tool, signalled))
        .or_else(|| by_arguments(survey, tool, signalled))
        .unwrap_or_else(|| together(survey, tool))
}

fn events<'s>(survey: &'s Survey, tool: &FieldStats) -> Vec<&'s FieldStats> {
    let is_event =
        |field: &&FieldStats| field.path != tool.path && field.texts == field.rows.len() && field.values.len() <= 30;
    let ranked =
        |field: &'s FieldStats| FieldRole::Event.rank(&field.steps).map(|rank| (rank, field.steps.len(), field));
    let mut found: Vec<_> = survey.fields.values().filter(is_event).filter_map(ranked).collect();
    found.sort_by_key(|(rank, depth, _)| (*rank, *depth));
    found.into_iter().map(|(.., field)| field).filter(|field| tool.rows.is_subset(&field.rows)).collect()
}

/// By events: `event: tool_start` and `event: tool_end`.
fn by_event(survey: &Survey, tool: &FieldStats) -> Option<RowRoles> {
    events(survey, tool).into_iter().find_map(|event| {
        let with = |says: fn(&str) -> bool| event.values.iter().filter(move |(value, _)| says(value));
        let starts: Vec<_> = with(names::means_start).filter(|(_, rows)| rows.is_subset(&tool.rows)).collect();
        let calls: RowSet = starts.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
        let ends: Vec<_> = with(names::means_end).filter(|(_, rows)| joined(survey, &calls, rows).is_some()).collect();
        let results: RowSet = ends.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
        let values = |of: &[(&String, &RowSet)]| flow(&of.iter().map(|(value, _)| value.as_str()).collect::<Vec<_>>());
        let bad: Vec<_> = ends.iter().copied().filter(|(value, _)| names::means_failure(value)).collect();
        let failed = || {
            (format!("{{ {}: {} }}", scalar(&event.path), values(&bad)), bad.iter().map(|(_, rows)| rows.len()).sum())
        };
        Some(RowRoles {
            ids: Some(joined(survey, &calls, &results)?),
            call_where: vec![(event.path.clone(), values(&starts))],
            result_where: vec![(event.path.clone(), values(&ends))],
            failed: (!bad.is_empty()).then(failed),
            calls,
            results,
        })
    })
}

/// By the tool: results name no tool and signal how a call ended.
fn by_tool(survey: &Survey, tool: &FieldStats, signalled: &RowSet) -> Option<RowRoles> {
    let results: RowSet = signalled.difference(&tool.rows).copied().collect();
    if signalled.iter().any(|row| tool.rows.contains(row)) {
        return None;
    }
    Some(RowRoles {
        ids: Some(joined(survey, &tool.rows, &results)?),
        calls: tool.rows.clone(),
        results,
        call_where: vec![(tool.path.clone(), "{ absent: false }".to_owned())],
        result_where: vec![(tool.path.clone(), "{ absent: true }".to_owned())],
        failed: None,
    })
}

/// By arguments: both name the tool; calls have arguments, and results signal how a call ended.
fn by_arguments(survey: &Survey, tool: &FieldStats, signalled: &RowSet) -> Option<RowRoles> {
    let args = survey.fields.values().find(|field| FieldRole::Args.rank(&field.steps).is_some())?;
    let calls: RowSet = args.rows.intersection(&tool.rows).copied().collect();
    let results: RowSet = signalled.intersection(&tool.rows).copied().collect();
    if calls.intersection(&results).next().is_some() {
        return None;
    }
    let absent = |yes: bool| format!("{{ absent: {yes} }}");
    Some(RowRoles {
        ids: Some(joined(survey, &calls, &results)?),
        calls,
        results,
        call_where: vec![(args.path.clone(), absent(false))],
        result_where: vec![(tool.path.clone(), absent(false)), (args.path.clone(), absent(true))],
        failed: None,
    })
}

/// One row for both: each row with a tool is a call and its result. If events name tools, only the rows of those events.
fn together(survey: &Survey, tool: &FieldStats) -> RowRoles {
    let of_event = |event: &FieldStats| {
        let tools: Vec<_> = event.values.iter().filter(|(value, _)| names::means_tool(value)).collect();
        let rows: RowSet = tools.iter().flat_map(|(_, rows)| rows.intersection(&tool.rows).copied()).collect();
        let signalled = (event.path.clone(), flow(&tools.iter().map(|(value, _)| value.as_str()).collect::<Vec<_>>()));
        (!rows.is_empty() && rows.len() < tool.rows.len()).then_some((rows, vec![signalled]))
    };
    if let Some((rows, signalled)) = events(survey, tool).into_iter().find_map(of_event) {
        return RowRoles {
            calls: rows.clone(),
            results: rows,
            call_where: signalled.clone(),
            result_where: signalled,
            ..RowRoles::default()
        };
    }
    let mut roles = RowRoles { calls: tool.rows.clone(), results: tool.rows.clone(), ..RowRoles::default() };
    if tool.rows.len() < survey.rows {
        let by_event_value = events(survey, tool).into_iter().find_map(|event| {
            let of_tools: Vec<_> = event.values.iter().filter(|(_, rows)| !rows.is_disjoint(&tool.rows)).collect();
            let apart = of_tools.iter().all(|(_, rows)| rows.is_subset(&tool.rows));
            let values: Vec<&str> = of_tools.iter().map(|(value, _)| value.as_str()).collect();
            apart.then(|| (event.path.clone(), flow(&values)))
        });
        let by_tool = || (tool.path.clone(), "{ absent: false }".to_owned());
        roles.call_where = vec![by_event_value.unwrap_or_else(by_tool)];
        roles.result_where.clone_from(&roles.call_where);
    }
    roles
}

/// The paths of the ids that join results with calls: at least half of the results find a call.
fn joined(survey: &Survey, calls: &RowSet, results: &RowSet) -> Option<(String, String)> {
    let mut best: Option<((usize, usize), (String, String))> = None;
    for (rank, call) in ids(survey, calls).into_iter().chain(by_values(survey, calls)) {
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
fn by_values<'s>(survey: &'s Survey, rows: &RowSet) -> Vec<(usize, &'s FieldStats)> {
    let known =
        [FieldRole::Id, FieldRole::Run, FieldRole::Time, FieldRole::Started, FieldRole::Attempt, FieldRole::Latency];
    let is_other = |field: &&FieldStats| {
        let is_known = known.iter().any(|part| part.rank(&field.steps).is_some());
        is_label(field, rows) && !is_known
    };
    survey.fields.values().filter(is_other).map(|field| (UNNAMED, field)).collect()
}

/// The fields that may name the call of a result: ids by name, then other fields.
fn answers_to<'s>(survey: &'s Survey, results: &RowSet) -> Vec<(usize, &'s FieldStats)> {
    let mut fields = ids(survey, results);
    let named: BTreeSet<&str> = fields.iter().map(|(_, field)| field.path.as_str()).collect();
    let other = |field: &&FieldStats| is_label(field, results) && !named.contains(field.path.as_str());
    let others: Vec<_> = survey.fields.values().filter(other).map(|field| (UNNAMED, field)).collect();
    fields.extend(others);
    fields
}

/// The values of a field in these rows, each with its run: ids often restart in each run.
pub(super) fn keys<'s>(survey: &'s Survey, field: &'s FieldStats, rows: &RowSet) -> BTreeSet<(&'s str, &'s str)> {
    let ranked = |field: &'s FieldStats| FieldRole::Run.rank(&field.steps).map(|rank| (rank, field.steps.len(), field));
    let runs = survey.fields.values().filter(|run| run.path != field.path && rows.is_subset(&run.rows));
    let run = runs.filter_map(ranked).min_by_key(|(rank, depth, _)| (*rank, *depth));
    let of_run = run.map(|(.., run)| run.by_row()).unwrap_or_default();
    let of_row = field.by_row();
    let key = |row: &usize| Some((of_run.get(row).copied().unwrap_or_default(), *of_row.get(row)?));
    rows.iter().filter_map(key).collect()
}

/// The fields that may be ids of these rows, by name.
pub(super) fn ids<'s>(survey: &'s Survey, rows: &RowSet) -> Vec<(usize, &'s FieldStats)> {
    let ranked = |field: &'s FieldStats| FieldRole::Id.rank(&field.steps).map(|rank| (rank, field));
    survey.fields.values().filter(|field| is_label(field, rows)).filter_map(ranked).collect()
}

/// Whether the field holds a text or a number in most of these rows, and is not inside an answer.
fn is_label(field: &FieldStats, rows: &RowSet) -> bool {
    let common = field.rows.intersection(rows).count();
    field.texts + field.numbers == field.rows.len()
        && common > 0
        && common * 2 >= rows.len()
        && !super::failures::in_answer(field)
}
