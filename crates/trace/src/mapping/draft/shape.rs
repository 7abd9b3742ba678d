//! Which rows are calls and which are results: one row for both, or rows apart that an id joins.

use std::collections::BTreeSet;

use super::names::{self, Part};
use super::survey::{Field, Survey};
use super::text::flow;
use playproof_formats::yaml::scalar;

type Rows = BTreeSet<usize>;

/// Which rows are what, and how a mapping says so.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub(super) calls: Rows,
    pub(super) results: Rows,
    /// Conditions of `call.where`: path, and what must be there.
    pub(super) call_where: Vec<(String, String)>,
    pub(super) result_where: Vec<(String, String)>,
    /// The paths that join a result with its call, where they are rows apart.
    pub(super) ids: Option<(String, String)>,
    /// The condition under which a result that is told by its event is a failure.
    pub(super) failed: Option<(String, usize)>,
}

/// The shape of rows of which those with `tool` are calls or more; `told` tell how a call ended.
pub(super) fn shape(survey: &Survey, tool: &Field, told: &Rows) -> Shape {
    by_event(survey, tool)
        .or_else(|| by_tool(survey, tool, told))
        .or_else(|| by_arguments(survey, tool, told))
        .unwrap_or_else(|| together(survey, tool))
}

fn events<'s>(survey: &'s Survey, tool: &Field) -> Vec<&'s Field> {
    let is_event =
        |field: &&Field| field.path != tool.path && field.texts == field.rows.len() && field.values.len() <= 30;
    let ranked = |field: &'s Field| Part::Event.rank(&field.steps).map(|rank| (rank, field.steps.len(), field));
    let mut found: Vec<_> = survey.fields.values().filter(is_event).filter_map(ranked).collect();
    found.sort_by_key(|(rank, depth, _)| (*rank, *depth));
    found.into_iter().map(|(.., field)| field).filter(|field| tool.rows.is_subset(&field.rows)).collect()
}

/// `event: tool_start` and `event: tool_end`.
fn by_event(survey: &Survey, tool: &Field) -> Option<Shape> {
    events(survey, tool).into_iter().find_map(|event| {
        let with = |says: fn(&str) -> bool| event.values.iter().filter(move |(value, _)| says(value));
        let starts: Vec<_> = with(names::says_start).filter(|(_, rows)| rows.is_subset(&tool.rows)).collect();
        let calls: Rows = starts.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
        let ends: Vec<_> = with(names::says_end).filter(|(_, rows)| joined(survey, &calls, rows).is_some()).collect();
        let results: Rows = ends.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
        let values = |of: &[(&String, &Rows)]| flow(&of.iter().map(|(value, _)| value.as_str()).collect::<Vec<_>>());
        let bad: Vec<_> = ends.iter().copied().filter(|(value, _)| names::says_failure(value)).collect();
        let failed = || {
            (format!("{{ {}: {} }}", scalar(&event.path), values(&bad)), bad.iter().map(|(_, rows)| rows.len()).sum())
        };
        Some(Shape {
            ids: Some(joined(survey, &calls, &results)?),
            call_where: vec![(event.path.clone(), values(&starts))],
            result_where: vec![(event.path.clone(), values(&ends))],
            failed: (!bad.is_empty()).then(failed),
            calls,
            results,
        })
    })
}

/// Results are the rows that name no tool and tell how a call ended.
fn by_tool(survey: &Survey, tool: &Field, told: &Rows) -> Option<Shape> {
    let results: Rows = told.difference(&tool.rows).copied().collect();
    if told.iter().any(|row| tool.rows.contains(row)) {
        return None;
    }
    Some(Shape {
        ids: Some(joined(survey, &tool.rows, &results)?),
        calls: tool.rows.clone(),
        results,
        call_where: vec![(tool.path.clone(), "{ absent: false }".to_owned())],
        result_where: vec![(tool.path.clone(), "{ absent: true }".to_owned())],
        failed: None,
    })
}

/// Both name the tool; calls have arguments, results tell how it ended.
fn by_arguments(survey: &Survey, tool: &Field, told: &Rows) -> Option<Shape> {
    let args = survey.fields.values().find(|field| Part::Args.rank(&field.steps).is_some())?;
    let calls: Rows = args.rows.intersection(&tool.rows).copied().collect();
    let results: Rows = told.intersection(&tool.rows).copied().collect();
    if calls.intersection(&results).next().is_some() {
        return None;
    }
    let absent = |yes: bool| format!("{{ absent: {yes} }}");
    Some(Shape {
        ids: Some(joined(survey, &calls, &results)?),
        calls,
        results,
        call_where: vec![(args.path.clone(), absent(false))],
        result_where: vec![(tool.path.clone(), absent(false)), (args.path.clone(), absent(true))],
        failed: None,
    })
}

/// Each row that names a tool is a call and its result; where a sort of row says `tool`, each row of that sort.
fn together(survey: &Survey, tool: &Field) -> Shape {
    let of_sort = |event: &Field| {
        let tools: Vec<_> = event.values.iter().filter(|(value, _)| names::says_tool(value)).collect();
        let rows: Rows = tools.iter().flat_map(|(_, rows)| rows.intersection(&tool.rows).copied()).collect();
        let told = (event.path.clone(), flow(&tools.iter().map(|(value, _)| value.as_str()).collect::<Vec<_>>()));
        (!rows.is_empty() && rows.len() < tool.rows.len()).then_some((rows, vec![told]))
    };
    if let Some((rows, told)) = events(survey, tool).into_iter().find_map(of_sort) {
        return Shape {
            calls: rows.clone(),
            results: rows,
            call_where: told.clone(),
            result_where: told,
            ..Shape::default()
        };
    }
    let mut shape = Shape { calls: tool.rows.clone(), results: tool.rows.clone(), ..Shape::default() };
    if tool.rows.len() < survey.rows {
        let told_apart = events(survey, tool).into_iter().find_map(|event| {
            let of_tools: Vec<_> = event.values.iter().filter(|(_, rows)| !rows.is_disjoint(&tool.rows)).collect();
            let apart = of_tools.iter().all(|(_, rows)| rows.is_subset(&tool.rows));
            let values: Vec<&str> = of_tools.iter().map(|(value, _)| value.as_str()).collect();
            apart.then(|| (event.path.clone(), flow(&values)))
        });
        let by_tool = || (tool.path.clone(), "{ absent: false }".to_owned());
        shape.call_where = vec![told_apart.unwrap_or_else(by_tool)];
        shape.result_where.clone_from(&shape.call_where);
    }
    shape
}

/// The paths of the ids that join results with calls: at least half of the results find a call.
fn joined(survey: &Survey, calls: &Rows, results: &Rows) -> Option<(String, String)> {
    let mut best: Option<((usize, usize), (String, String))> = None;
    for (rank, call) in ids(survey, calls).into_iter().chain(by_values(survey, calls)) {
        let known = keys(survey, call, calls);
        if known.len() * 2 < calls.len() {
            continue; // what many calls share joins nothing
        }
        for (other, result) in answers_to(survey, results) {
            let answers = keys(survey, result, results);
            let found = answers.intersection(&known).count();
            // Without a telling name, each must stand once in each sort of row, and in both.
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

/// What is no id by its name, behind what is one.
const UNNAMED: usize = 100;

/// The fields that may be ids of these rows by what stands in them: their names say nothing.
fn by_values<'s>(survey: &'s Survey, rows: &Rows) -> Vec<(usize, &'s Field)> {
    let known = [Part::Id, Part::Run, Part::Time, Part::Started, Part::Attempt, Part::Latency];
    let is_other = |field: &&Field| {
        let is_known = known.iter().any(|part| part.rank(&field.steps).is_some());
        is_label(field, rows) && !is_known
    };
    survey.fields.values().filter(is_other).map(|field| (UNNAMED, field)).collect()
}

/// The fields that may say which call a result answers: ids by name, else whatever else is there.
fn answers_to<'s>(survey: &'s Survey, results: &Rows) -> Vec<(usize, &'s Field)> {
    let mut fields = ids(survey, results);
    let named: BTreeSet<&str> = fields.iter().map(|(_, field)| field.path.as_str()).collect();
    let other = |field: &&Field| is_label(field, results) && !named.contains(field.path.as_str());
    let others: Vec<_> = survey.fields.values().filter(other).map(|field| (UNNAMED, field)).collect();
    fields.extend(others);
    fields
}

/// What the rows have in a field, each within its run: ids often begin anew in each.
pub(super) fn keys<'s>(survey: &'s Survey, field: &'s Field, rows: &Rows) -> BTreeSet<(&'s str, &'s str)> {
    let ranked = |field: &'s Field| Part::Run.rank(&field.steps).map(|rank| (rank, field.steps.len(), field));
    let runs = survey.fields.values().filter(|run| run.path != field.path && rows.is_subset(&run.rows));
    let run = runs.filter_map(ranked).min_by_key(|(rank, depth, _)| (*rank, *depth));
    let of_run = run.map(|(.., run)| run.by_row()).unwrap_or_default();
    let of_row = field.by_row();
    let key = |row: &usize| Some((of_run.get(row).copied().unwrap_or_default(), *of_row.get(row)?));
    rows.iter().filter_map(key).collect()
}

/// The fields that may be ids of most of these rows.
pub(super) fn ids<'s>(survey: &'s Survey, rows: &Rows) -> Vec<(usize, &'s Field)> {
    let ranked = |field: &'s Field| Part::Id.rank(&field.steps).map(|rank| (rank, field));
    survey.fields.values().filter(|field| is_label(field, rows)).filter_map(ranked).collect()
}

/// Whether the field holds a text or a number in most of these rows, outside of what tools answered.
fn is_label(field: &Field, rows: &Rows) -> bool {
    let common = field.rows.intersection(rows).count();
    field.texts + field.numbers == field.rows.len()
        && common > 0
        && common * 2 >= rows.len()
        && !super::failures::in_answer(field)
}
