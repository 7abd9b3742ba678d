//! OpenAI chat messages, line by line: a conversation on a line of its own, or one message a line. Its memory follows the
//! conversations that go on, not the length of the file. Of the others it keeps hashes, so that their names stay unique.
//!
//! A conversation on one line ends with it, unless a later line repeats it and goes on: for that, the latest are kept
//! (`Histories`). One with a message a line goes on to the end of the file; if too many do, the one that was silent for longest
//! is forgotten. If it speaks again, its results still name their calls by id; those that name none, and calls that use an id
//! again, are no longer seen in the light of what was before.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::format::{FormatOptions, SourceFormat, output_of};
use super::message_reader::{MessageReader, ReadMessage};
use super::messages::{beginnings, end_all};
use super::names::UsedNames;
use super::openai::{Conversation, Found, found};
use super::run::{ImportOutput, Speakers};
use crate::hash;
use crate::histories::Beginnings;
use crate::imported::{ImportWarning, LossReport};
use crate::line_importer::{LineImporter, LineReader};
use crate::origin::LineFinder;
use crate::raw_value::RawValue;
use crate::reader_state::ReaderState;
use crate::tool_hints::{self, ListedTools};
use crate::trace_writer::TraceWriter;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};

/// The most conversations with one message a line whose state is kept.
const MAX_LIVE: usize = 1_000;

/// Reads documents of chat messages, each by itself.
#[derive(Clone, Debug)]
pub(crate) struct ChatReader {
    name: Arc<str>,
    messages: MessageReader,
    /// Messages are read again that an earlier conversation had: this one does not go on from it.
    reads_all: bool,
}

/// What a document says. Places are those behind the document's own.
#[derive(Debug)]
pub(crate) struct ChatDocument {
    tools: ListedTools,
    unreadable: Vec<String>,
    said: ChatContent,
}

#[derive(Debug)]
enum ChatContent {
    Conversations(Vec<ReadConversation>),
    /// One message of the conversation with this name.
    Message(Option<String>, Box<ReadMessage>),
}

#[derive(Debug)]
struct ReadConversation {
    base: Option<String>,
    place: String,
    beginnings: Beginnings,
    /// The first messages that were not read: an earlier conversation probably has them.
    unread: usize,
    messages: Vec<ReadMessage>,
}

impl LineReader for ChatReader {
    type Read = ChatDocument;

    fn read(&self, state: &mut ReaderState, number: usize, line: &[u8]) -> Result<ChatDocument, Report> {
        state.document((&self.name, number, line), |document, finder, state| self.document(document, finder, state))
    }
}

impl ChatReader {
    fn document(&self, document: RawValue<'_>, finder: &LineFinder, state: &mut ReaderState) -> ChatDocument {
        let mut unreadable = Vec::new();
        let said = match found(document, true, &mut unreadable) {
            Found::Conversations(all) => {
                ChatContent::Conversations(all.into_iter().map(|one| self.conversation(one, finder, state)).collect())
            }
            Found::Message(base, fields) => {
                ChatContent::Message(base, Box::new(self.messages.fields((&fields, document), finder, state)))
            }
        };
        ChatDocument { tools: tool_hints::listed_in(document.get()), unreadable, said }
    }

    fn conversation(
        &self,
        conversation: Conversation<'_>,
        finder: &LineFinder,
        state: &mut ReaderState,
    ) -> ReadConversation {
        let Conversation { label, thread, messages, place, .. } = conversation;
        let beginnings = beginnings(&thread, &messages);
        let unread = if self.reads_all { 0 } else { state.read_before(&beginnings) };
        let messages = messages.iter().skip(unread).map(|raw| self.messages.read(*raw, finder, state)).collect();
        ReadConversation { base: label.base, place, beginnings, unread, messages }
    }
}

/// Takes chat messages line by line.
#[derive(Debug)]
pub(crate) struct ChatLines {
    name: Arc<str>,
    output: ImportOutput,
    names: UsedNames,
    /// The documents so far.
    documents: u64,
    /// The lines so far that are no JSON.
    skipped: u64,
    /// A part of a document could not be read.
    has_unreadable: bool,
    /// The conversations so far.
    conversations: u64,
    /// Every conversation with one message a line, by the hash of its name.
    known: BTreeMap<u64, KnownConversation>,
    /// Those whose state is kept.
    live: BTreeMap<u64, LiveConversation>,
    /// The same by the number of their last document.
    by_last: BTreeMap<u64, u64>,
}

#[derive(Debug)]
struct KnownConversation {
    /// Its messages so far.
    messages: u64,
    has_user: bool,
    /// The name of its run, if it is not its own.
    renamed: Option<Box<str>>,
}

#[derive(Debug)]
struct LiveConversation {
    speakers: Speakers,
    first: u64,
    last: u64,
}

impl ChatLines {
    pub(crate) fn new(name: &str, options: FormatOptions<'_>) -> ChatLines {
        ChatLines {
            name: name.into(),
            output: output_of(SourceFormat::OpenAi, options),
            names: UsedNames::default(),
            documents: 0,
            skipped: 0,
            has_unreadable: false,
            conversations: 0,
            known: BTreeMap::new(),
            live: BTreeMap::new(),
            by_last: BTreeMap::new(),
        }
    }

    /// The name of the run of the next conversation.
    fn new_name(&mut self, base: Option<&str>) -> String {
        self.conversations += 1;
        match base {
            Some(base) => self.names.free(base, '.'),
            None => self.names.free(&format!("run_{}", self.conversations), '.'),
        }
    }

    /// A message on a line of its own, of the conversation called `base`.
    fn message(&mut self, base: Option<&str>, message: ReadMessage) {
        let key = base.map_or(0, |base| hash::seed(base.as_bytes()));
        if !self.live.contains_key(&key) {
            self.begin(base, key);
        }
        let (Some(known), Some(live)) = (self.known.get_mut(&key), self.live.get_mut(&key)) else { return };
        live.speakers.message(message, &format!("[{}]", known.messages), &mut self.output);
        known.messages += 1;
        known.has_user = live.speakers.has_user;
        self.by_last.remove(&live.last);
        live.last = self.documents;
        self.by_last.insert(live.last, key);
    }

    /// Keeps the state of a conversation, which begins or goes on.
    fn begin(&mut self, base: Option<&str>, key: u64) {
        if self.live.len() == MAX_LIVE {
            self.forget();
        }
        let speakers = match self.known.get(&key) {
            Some(known) => Speakers::resume(known.renamed.as_deref().or(base), known.has_user),
            None => {
                let name = self.new_name(base);
                let renamed = base.filter(|base| *base != name).map(|_| name.as_str().into());
                self.known.insert(key, KnownConversation { messages: 0, has_user: false, renamed });
                // Messages without a name may belong to several conversations.
                Speakers::begin(base.map(|_| name.as_str()), &mut self.output)
            }
        };
        self.live.insert(key, LiveConversation { speakers, first: self.documents, last: self.documents });
    }

    /// Forgets the conversation that was silent for longest. Its run ends, unless a result may come for one of its calls.
    fn forget(&mut self) {
        let oldest = self.by_last.pop_first().and_then(|(_, key)| self.live.remove(&key));
        match oldest {
            Some(LiveConversation { speakers, .. }) if speakers.is_waiting() => {
                speakers.count_unanswered(&mut self.output);
            }
            Some(LiveConversation { speakers, .. }) => speakers.end(&mut self.output),
            None => {}
        }
    }
}

impl ChatLines {
    /// Takes the conversations of a document; `again` reads all of them without leaving anything out.
    fn conversations(
        &mut self,
        all: Vec<ReadConversation>,
        place: &str,
        again: impl Fn(ChatReader) -> Option<ChatDocument>,
    ) {
        let mut whole = None;
        for (n, mut read) in all.into_iter().enumerate() {
            let run = self.new_name(read.base.as_deref());
            let place = [place, &read.place].concat();
            let (mut speakers, known) = Speakers::begin_or_go_on(&read.beginnings, &run, &place, &mut self.output);
            if known < read.unread {
                let reader = ChatReader { reads_all: true, ..self.reader() };
                whole = whole.or_else(|| match again(reader)?.said {
                    ChatContent::Conversations(all) => Some(all),
                    ChatContent::Message(..) => None,
                });
                let of_it = whole.as_mut().and_then(|all| all.get_mut(n));
                if let Some(of_it) = of_it {
                    (read.messages, read.unread) = (std::mem::take(&mut of_it.messages), 0);
                }
            }
            if read.messages.is_empty() && read.unread == 0 {
                self.output.loss.warn(ImportWarning::EmptyRun, &place);
            }
            for (n, message) in (read.unread..).zip(read.messages).filter(|(n, _)| *n >= known) {
                speakers.message(message, &format!("{place}[{n}]"), &mut self.output);
            }
            speakers.leave(&read.beginnings, &mut self.output);
        }
    }
}

impl LineImporter for ChatLines {
    type Reader = ChatReader;

    fn reader(&self) -> ChatReader {
        ChatReader { name: Arc::clone(&self.name), messages: self.output.reader.clone(), reads_all: false }
    }

    fn take(&mut self, read: ChatDocument, number: usize, line: &[u8]) {
        let ChatDocument { tools, unreadable, said } = read;
        let place = format!("[{}]", self.documents);
        tool_hints::add_all(&tools, &mut self.output.loss.hints);
        self.has_unreadable |= !unreadable.is_empty();
        for rest in unreadable {
            self.output.loss.warn(ImportWarning::NotReadable, &format!("{place}{rest}"));
        }
        match said {
            ChatContent::Conversations(all) => {
                let again = |reader: ChatReader| reader.read(&mut ReaderState::default(), number, line).ok();
                self.conversations(all, &place, again);
            }
            ChatContent::Message(base, message) => self.message(base.as_deref(), *message),
        }
        self.documents += 1;
    }

    fn skip(&mut self, number: usize) {
        self.skipped += 1;
        self.output.loss.warn(ImportWarning::NotJson, &format!("line {number}"));
    }

    /// Messages on lines of their own: their runs end in another order. What is unreadable: the first of it is another one.
    fn needs_whole(&self) -> bool {
        !self.known.is_empty() || self.has_unreadable
    }

    /// Writes the ends of the conversations that went on.
    fn end(&mut self) {
        let mut live: Vec<_> = std::mem::take(&mut self.live).into_values().collect();
        live.sort_by_key(|live| live.first);
        live.into_iter().for_each(|live| live.speakers.end(&mut self.output));
        self.by_last.clear();
        end_all(&mut self.output);
    }

    fn loss(&mut self) -> &mut LossReport {
        &mut self.output.loss
    }

    fn lines(&mut self) -> &mut TraceWriter {
        &mut self.output.lines
    }

    /// An error: the source has one document, or mostly lines that are no JSON, or no conversation: it is to be read as a whole.
    fn finish(self) -> Result<LossReport, Report> {
        if self.documents < 2 || self.documents < self.skipped || self.output.loss.runs == 0 {
            let diagnostic = Diagnostic::error("empty_import", "no runs in the lines of this file");
            return Err(Report::one(Source::whole(&*self.name, ""), diagnostic));
        }
        Ok(self.output.finish().loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::import_whole;
    use crate::imported::Imported;
    use crate::origin::Origins;

    fn read(lines: impl Iterator<Item = String>) -> ChatLines {
        let mut chat = ChatLines::new("log", FormatOptions::default());
        let (reader, mut state) = (chat.reader(), ReaderState::default());
        for (n, line) in (1..).zip(lines).filter(|(_, line)| !line.is_empty()) {
            let read = reader.read(&mut state, n, line.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
            chat.take(read, n, line.as_bytes());
        }
        chat
    }

    fn call(id: &str) -> String {
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","function":{{"name":"pay","arguments":"{{}}"}}}}]}}"#
        )
    }

    fn answer(id: &str) -> String {
        format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"done"}}"#)
    }

    fn of(conversation: &str, message: &str) -> String {
        message.replacen('{', &format!(r#"{{"thread_id":"{conversation}","#), 1)
    }

    /// The same lines read one by one and as a whole.
    fn both(lines: &[String]) -> [(String, String, Origins); 2] {
        let mut chat = read(lines.iter().cloned());
        chat.end();
        let Imported { lines: bytes, origins, .. } = chat.lines().take_imported();
        let loss = chat.finish().unwrap_or_else(|report| panic!("{report}"));
        let text = |bytes| String::from_utf8(bytes).expect("text");
        let lined = (text(bytes), loss.to_string(), origins);
        let whole = import_whole(SourceFormat::OpenAi, lines.join("\n").as_bytes(), "log", FormatOptions::default());
        let whole = whole.unwrap_or_else(|report| panic!("{report}"));
        [lined, (text(whole.lines), whole.loss.to_string(), whole.origins)]
    }

    #[test]
    fn conversations_read_line_by_line_are_those_of_the_whole_file() {
        let messages = [call("a"), answer("a"), call("a"), call("a"), answer("a"), answer("b")].join(",");
        let user = call("u").replace("assistant", "user");
        let lines = [
            format!(r#"{{"id":"one","messages":[{messages}]}}"#),
            String::new(),
            format!("[{messages}]"),
            format!(r#"[{{"id":"one","messages":[]}},{{"id":"run_2","messages":[{user}]}},7]"#),
            format!(r#"{{"id":"one","messages":[{messages}]}}"#),
            "{}".to_owned(),
        ];
        let [lined, whole] = both(&lines);
        assert_eq!(lined, whole);
        assert!(whole.0.contains(r#""run_id":"one.3""#) && whole.0.contains("run_2.2.user"), "{}", whole.0);
    }

    #[test]
    fn messages_on_lines_of_their_own_are_those_of_the_whole_file() {
        let messages = [call("a"), answer("a"), call("a"), call("a"), answer("b")];
        let [lined, whole] = both(&messages);
        assert_eq!(lined, whole, "without names");
        let named: Vec<String> =
            ["x", "y"].iter().flat_map(|name| messages.iter().map(|message| of(name, message))).collect();
        let [lined, whole] = both(&named);
        let without_ends =
            |text: &str| text.lines().filter(|line| !line.contains("run_end")).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!((without_ends(&lined.0), &lined.1), (without_ends(&whole.0), &whole.1));
        assert!(
            lined.0.ends_with("{\"type\":\"run_end\",\"run_id\":\"x\"}\n{\"type\":\"run_end\",\"run_id\":\"y\"}\n")
        );
    }

    #[test]
    fn what_is_kept_does_not_grow_with_the_conversations() {
        let on_a_line = |n: u32| format!(r#"{{"messages":[{},{}]}}"#, call(&format!("{n}")), answer(&format!("{n}")));
        let mut chat = read((0..5_000).map(on_a_line));
        assert_eq!((chat.live.len(), chat.known.len(), chat.by_last.len()), (0, 0, 0));
        assert_eq!(chat.lines().take_imported().lines.split(|byte| *byte == b'\n').count(), 15_001);
        let of_many = |n: u32| of(&format!("c{}", n / 2), &if n.is_multiple_of(2) { call("a") } else { answer("a") });
        let mut chat = read((0..5_000).map(of_many));
        assert_eq!((chat.live.len(), chat.known.len(), chat.by_last.len()), (MAX_LIVE, 2_500, MAX_LIVE));
        chat.end();
        assert_eq!(chat.live.len(), 0);
        let text = String::from_utf8(chat.lines().take_imported().lines).expect("text");
        assert_eq!(text.matches("run_end").count(), 2_500, "each that was forgotten had ended");
        assert_eq!(chat.finish().map(|loss| (loss.runs, loss.unanswered)).ok(), Some((2_500, 0)));
    }

    #[test]
    fn a_forgotten_conversation_goes_on_under_its_name() {
        let others = (0..=MAX_LIVE).map(|n| of(&format!("o{n}"), &call("a")));
        let lines =
            std::iter::once(of("c", &call("a"))).chain(others).chain([of("c", &answer("a")), of("c", &call("b"))]);
        let mut chat = read(lines);
        chat.end();
        let text = String::from_utf8(chat.lines().take_imported().lines).expect("text");
        let of_it: Vec<&str> = text.lines().filter(|line| line.contains(r#""run_id":"c""#)).collect();
        assert_eq!(of_it.len(), 4, "{of_it:?}");
        assert!(of_it[1].contains(r#""call_id":"a""#) && of_it[3].contains("run_end"), "{of_it:?}");
        assert!(of_it[2].contains(r#""source":"[2].tool_calls[0]""#), "{of_it:?}");
        let loss = chat.finish().unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(loss.runs, MAX_LIVE as u64 + 2);
    }
}
