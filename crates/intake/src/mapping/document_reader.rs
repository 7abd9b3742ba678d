//! Reads documents, each by itself and on any thread: their rows, and what a row says without the rows before it. Pairs
//! nothing and writes no lines: `apply` takes what is read, in order.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::call_reader::{OtherRequest, ReadCall};
use super::condition::{ResultParts, any};
use super::conversation::Conversation;
use super::known::Known;
use super::model::{Mapping, SkippedRows, ValueSource};
use super::result_reader::ReadResult;
use super::row::{SourceRow, rows_of};
use super::row_reader::{Noted, ReadRun, ReadValue, RowReader};
use super::values::of_document;
use crate::hash;
use crate::histories::Beginnings;
use crate::json::Parsed;
use crate::line_importer::LineReader;
use crate::origin::{LineFinder, SourceSpan};
use crate::reader_state::ReaderState;
use crate::tool_hints::{self, ListedTools};
use playproof_engine::event::Act;
use playproof_formats::diagnostic::Report;

/// Reads the documents of a source.
#[derive(Clone, Debug)]
pub struct DocumentReader {
    pub(super) mapping: Arc<Mapping>,
    pub(super) name: Arc<str>,
    /// Reports quote values.
    pub(super) is_quoted: bool,
    pub(super) known: Arc<Known>,
}

/// What a document says.
#[derive(Debug)]
pub struct ReadDocument {
    pub(super) place: String,
    pub(super) tools: ListedTools,
    /// Its conversation, if it is a request.
    pub(super) conversation: Option<Beginnings>,
    /// The first messages that were not read: an earlier conversation probably has them.
    pub(super) unread: usize,
    /// The lists of paths that lead to rows.
    pub(super) lists: BTreeSet<usize>,
    pub(super) rows: Vec<ReadRow>,
}

/// What a row says.
#[derive(Debug)]
pub(super) struct ReadRow {
    /// The message of the conversation in which it lies.
    pub(super) message: Option<usize>,
    /// None: it was not read, for its message was not.
    pub(super) said: Option<Box<SaidOfRow>>,
}

#[derive(Debug)]
pub(super) struct SaidOfRow {
    pub(super) place: String,
    pub(super) span: SourceSpan,
    /// The paths of conditions that it has.
    pub(super) seen: Vec<usize>,
    pub(super) seen_in_result: Vec<usize>,
    /// The hash of the value by which copies are known, with the number of its selector.
    pub(super) unique: Option<(u64, usize)>,
    pub(super) begins_run: bool,
    pub(super) is_skipped: bool,
    pub(super) act: Option<(Act, ReadValue<(String, ReadRun)>)>,
    pub(super) call: Option<ReadValue<Option<ReadCall>>>,
    pub(super) result: Option<ReadResult>,
    pub(super) other_request: Option<ReadValue<Option<OtherRequest>>>,
}

impl LineReader for DocumentReader {
    type Read = ReadDocument;

    fn read(&self, state: &mut ReaderState, number: usize, line: &[u8]) -> Result<ReadDocument, Report> {
        state.document((&self.name, number, line), |document, finder, state| {
            let document = Parsed::from(document);
            let rows = self.rows_of(&document);
            self.document((&document, &rows), place_of_line(number), finder, state)
        })
    }
}

/// The place of a document that is a line.
pub(super) fn place_of_line(line: usize) -> String {
    ["line ", itoa::Buffer::new().format(line)].concat()
}

/// The rows of a document, each with the lists that lead to it.
pub(super) type SourceRows<'a> = Vec<(SourceRow<'a>, Vec<usize>)>;

impl DocumentReader {
    pub(super) fn rows_of<'a>(&self, document: &Parsed<'a>) -> SourceRows<'a> {
        rows_of(document, &self.mapping.records, |list| self.mapping.has_only_results(list), &self.name)
    }

    /// A reader of a row at a place, which is that of its document and its own.
    fn row_reader<'r, 'a>(
        &'r self,
        row: &'r SourceRow<'a>,
        (document, place): (&'r str, &'r str),
        in_request: bool,
    ) -> RowReader<'r, 'a> {
        let DocumentReader { mapping, name, is_quoted, known } = self;
        RowReader {
            mapping,
            name,
            is_quoted: *is_quoted,
            known,
            row,
            place,
            document,
            in_request,
            noted: Noted::default(),
        }
    }

    /// What a document with these rows says.
    pub(super) fn document(
        &self,
        (document, rows): (&Parsed<'_>, &SourceRows<'_>),
        place: String,
        finder: &LineFinder,
        state: &mut ReaderState,
    ) -> ReadDocument {
        let conversation = Conversation::of(document);
        let message_of = |row: &SourceRow<'_>| conversation.as_ref()?.message_of(&row.path);
        let beginnings = conversation.as_ref().map(|conversation| {
            let is_call = |(row, lists): &&(SourceRow<'_>, Vec<usize>)| {
                self.mapping.calls.iter().any(|call| lists.contains(&call.records) && call.is_for(row))
            };
            let calls: BTreeSet<usize> =
                rows.iter().filter(is_call).filter_map(|(row, _)| conversation.message_of(&row.path)).collect();
            Beginnings::of(conversation.name, &conversation.messages, |message| calls.contains(&message))
        });
        let unread = beginnings.as_ref().map_or(0, |next| state.read_before(next));
        let lists = rows.iter().flat_map(|(_, lists)| lists.iter().copied()).collect();
        let mut read = |(row, lists): &(SourceRow<'_>, Vec<usize>)| {
            let message = message_of(row);
            let is_read = message.is_none_or(|message| message >= unread);
            let span = finder.find(row.value.text);
            let said = is_read.then(|| {
                let at = of_document(&place, &row.path);
                let reader = self.row_reader(row, (&place, &at), conversation.is_some());
                Box::new(reader.row(lists, span, state))
            });
            ReadRow { message, said }
        };
        let rows = rows.iter().map(&mut read).collect();
        let tools = tool_hints::listed_in(document.text);
        ReadDocument { place, tools, conversation: beginnings, unread, lists, rows }
    }
}

impl<'a> RowReader<'_, 'a> {
    fn row(mut self, lists: &[usize], span: SourceSpan, state: &mut ReaderState) -> SaidOfRow {
        let (mapping, row, nothing) = (self.mapping, self.row, ResultParts::default());
        let unseen = &self.known.unseen;
        let result = mapping.results.iter().position(|map| lists.contains(&map.records) && map.is_for(row));
        let mut said = SaidOfRow {
            place: self.place.to_owned(),
            span,
            seen: unseen.found(row, false),
            seen_in_result: result.map_or_else(Vec::new, |_| unseen.found(row, true)),
            unique: self.unique(),
            begins_run: any(&mapping.new_run, row, &nothing),
            is_skipped: matches!(&mapping.skip, SkippedRows::Where(when) if any(when, row, &nothing)),
            act: None,
            call: None,
            result: None,
            other_request: None,
        };
        if said.is_skipped {
            return said;
        }
        let acts = [(Act::Begin, &mapping.begin), (Act::Commit, &mapping.commit)];
        let act = acts.into_iter().find(|(_, when)| any(when, row, &nothing));
        said.act = act.and_then(|(act, _)| Some((act, self.act()?)));
        let call = mapping.calls.iter().find(|map| lists.contains(&map.records) && map.is_for(row));
        let result = result.and_then(|number| Some((number, mapping.results.get(number)?)));
        said.call = call.map(|map| {
            let value = self.call(map, result.map(|(_, map)| map), state);
            self.said(value)
        });
        said.result = result.map(|(number, map)| self.result((number, map), call, state));
        if call.is_none() && result.is_none() && any(&mapping.other_request, row, &nothing) {
            let value = self.other_request();
            said.other_request = Some(self.said(value));
        }
        said
    }

    /// The hash of the value of `unique`, at the first path that finds one.
    fn unique(&self) -> Option<(u64, usize)> {
        let unique = self.mapping.unique.as_ref()?;
        let paths = (0u64..).zip(unique.sources.iter().filter_map(ValueSource::path));
        let (number, value) = paths.filter_map(|(number, path)| Some((number, self.row.find(path)?))).next()?;
        Some((hash::half(hash::bytes(value.raw().get().as_bytes(), number)), unique.number))
    }
}
