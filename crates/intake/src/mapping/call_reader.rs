//! Reads the calls of rows, each by itself. Pairs nothing.

use std::borrow::Cow;

use super::condition::{ResultParts, any};
use super::model::{CallMap, Pairing, ResultMap};
use super::row_reader::{ReadRun, ReadValue, RowReader};
use super::time;
use super::values::listed;
use crate::hash;
use crate::imported::ImportWarning;
use crate::json::SourceArgs;
use crate::reader_state::ReaderState;
use crate::trace_writer::WrittenArgs;

/// A call.
#[derive(Debug)]
pub(super) struct ReadCall {
    pub(super) run: ReadRun,
    pub(super) tool: String,
    /// The tool as the source names it, if that is another name: its results name it so too.
    pub(super) named: Option<String>,
    pub(super) id: Option<String>,
    pub(super) at: Option<u64>,
    pub(super) args: Option<WrittenArgs>,
    pub(super) key: Option<String>,
    pub(super) evidence: Option<String>,
    pub(super) token: Option<String>,
    pub(super) transaction: Option<String>,
    pub(super) step: Option<(String, String)>,
    pub(super) timeout: Option<u64>,
    pub(super) request: Option<ReadRequest>,
}

/// What tells which answer belongs to a call, where answers carry the ids of requests.
#[derive(Debug)]
pub(super) struct ReadRequest {
    pub(super) source_id: String,
    pub(super) way: Option<String>,
    /// The hash of what it asks.
    pub(super) asks: u64,
    /// It may be one before it that is not finished.
    pub(super) goes_on: bool,
}

/// A request that is no call, whose answer carries its id.
#[derive(Debug)]
pub(super) struct OtherRequest {
    pub(super) source_id: String,
    pub(super) run: ReadRun,
    pub(super) way: Option<String>,
}

impl RowReader<'_, '_> {
    /// The transaction that a row names as calls do, and its run.
    pub(super) fn act(&mut self) -> Option<ReadValue<(String, ReadRun)>> {
        let mapping = self.mapping;
        for map in &mapping.calls {
            let label = self.scalar(map.transaction.as_ref()).filter(|label| !label.is_empty());
            if let Some(label) = label {
                let run = self.run(map.run.as_ref());
                return Some(self.said((label.into_owned(), run)));
            }
        }
        None
    }

    /// The call of a row; none: it names no tool.
    pub(super) fn call(
        &mut self,
        map: &CallMap,
        result: Option<&ResultMap>,
        state: &mut ReaderState,
    ) -> Option<ReadCall> {
        let (mapping, row) = (self.mapping, self.row);
        let named = self.scalar(Some(&map.tool));
        let named = match (named, self.scalar(map.server.as_ref())) {
            (Some(named), Some(server)) if !server.is_empty() => Some(Cow::Owned(format!("mcp__{server}__{named}"))),
            (named, _) => named,
        };
        let own = mapping.overrides.as_ref();
        let own = own.and_then(|own| own.other_tool(row, named.as_deref(), &mut self.noted.changed));
        let Some(tool) = own.as_deref().or(named.as_deref()).filter(|tool| !tool.is_empty()).map(str::to_owned) else {
            self.warn(ImportWarning::CallWithoutTool);
            return None;
        };
        let named = named.filter(|named| *named != tool).map(Cow::into_owned);
        let run = self.run(map.run.as_ref());
        let id = self.call_id(map, result);
        let args = self.find(map.args.as_ref());
        let args = args.as_ref().map(|args| SourceArgs::of(args.raw()));
        if matches!(args, Some(SourceArgs::Text(_))) {
            self.warn(ImportWarning::ArgumentsNotJson);
        }
        let at = self.time(map.at.as_ref());
        let at = at.or_else(|| self.times(result.filter(|_| map.at.is_none())?, None).0);
        let timeout = self.find(map.timeout.as_ref());
        let timeout =
            timeout.and_then(|found| time::span(found.raw(), self.duration_unit(map.timeout.as_ref(), &found)));
        let key = self.owned(map.key.as_ref());
        let token = self.owned(map.token.as_ref());
        let transaction = self.owned(map.transaction.as_ref()).filter(|label| !label.is_empty());
        let evidence = self.find(map.evidence.as_ref());
        let evidence = evidence.as_ref().map(|evidence| listed(evidence.raw()).into_owned());
        let step_of = map.step_of.as_ref();
        let step_of = step_of.map(|of| (self.owned(Some(&of.parent)), self.owned(Some(&of.step))));
        let step = match step_of {
            Some((Some(parent), Some(step))) if !parent.is_empty() && !step.is_empty() => Some((parent, step)),
            _ => None,
        };
        let args = args.as_ref().and_then(SourceArgs::as_json);
        let source_tool = named.as_deref().unwrap_or(&tool);
        let is_request = result.is_none() && mapping.pair == Pairing::Known;
        let request = if is_request { self.request(map, source_tool, args) } else { None };
        if result.is_none() {
            let guessed = request.as_ref().map(|request| &request.source_id).or(id.as_ref());
            state.tools.add("", guessed.map_or("", String::as_str), source_tool);
        }
        let args = args.map(|args| WrittenArgs::of(args, &tool, key.is_some()));
        Some(ReadCall { run, tool, named, id, at, args, key, evidence, token, transaction, step, timeout, request })
    }

    /// The id of a call. A call needs one if its row is also its result, or if results are paired by order: it defaults to the
    /// place of the row.
    fn call_id(&mut self, map: &CallMap, result: Option<&ResultMap>) -> Option<String> {
        let by_order = self.mapping.pair == Pairing::Order;
        let id = self.owned(map.id.as_ref());
        if id.is_none() && map.id.is_some() && !by_order {
            self.warn(ImportWarning::CallWithoutId);
        }
        let of_result = self.owned(result.and_then(|result| result.id.as_ref()));
        id.or(of_result).or_else(|| (result.is_some() || by_order).then(|| self.place.to_owned()))
    }

    /// What tells which answer a call gets, where answers carry the ids of requests.
    fn request(&mut self, map: &CallMap, tool: &str, args: Option<&str>) -> Option<ReadRequest> {
        let source_id = self.find(map.id.as_ref())?.raw().get().to_owned();
        let way = self.way();
        let asks = hash::of_request(tool, args.unwrap_or_default());
        let goes_on = any(&self.mapping.continues, self.row, &ResultParts::default());
        Some(ReadRequest { source_id, way, asks, goes_on })
    }

    /// A request that is no call.
    pub(super) fn other_request(&mut self) -> Option<OtherRequest> {
        let call = self.mapping.calls.first()?;
        let source_id = self.find(call.id.as_ref())?.raw().get().to_owned();
        let run = self.run(call.run.as_ref());
        Some(OtherRequest { source_id, run, way: self.way() })
    }
}
