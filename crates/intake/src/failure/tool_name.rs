//! What the name of a tool says that it does: it looks, it writes, or it runs programs. Reads no result.

use super::word_list::WordList;
use playproof_engine::words;

words! {
    /// What the tools of a class do.
    pub enum ToolClass {
        /// They run commands or code, whose output may be anything.
        Program = "program",
        /// They look, read, search or calculate, and change nothing.
        Looking = "looking",
        /// They change, send or end something, or their name does not tell.
        Writing = "writing",
    }
}

impl ToolClass {
    /// The class of a tool, by its name.
    pub(super) fn of(tool: &str) -> ToolClass {
        match () {
            () if runs_programs(tool) => ToolClass::Program,
            () if asks(tool) || is_reader(tool) || begins_with(tool, &LOOKS) => ToolClass::Looking,
            () => ToolClass::Writing,
        }
    }
}

/// First words that ask, whatever the name goes on with: `get_payment_update`.
static ASKS: WordList = WordList::of("check count fetch get is list lookup preview query read show view");
/// First words that ask, unless the name goes on with what it does then: `find_and_replace`.
static FINDS: WordList = WordList::of("exists find has search status track validate verify");
/// Other first words of tools that look or calculate.
static LOOKS: WordList = WordList::of(
    "analyze analyse answer browse calculate classify compare compute convert describe detect estimate evaluate \
    explain explore extract format glob inspect ls monitor parse plan predict recall recommend retrieve review \
    scan stat summarize think trace translate",
);
/// Words of tools that hand on documents, or texts of others.
static READS: WordList = WordList::of(
    "ask article browser cat console crawl diff doc docs documents faq fetch find get grep head help history kb \
    knowledge log logs lookup page query read scrape search show tail view wiki wikipedia",
);
/// Words of tools that change, send or end something.
static WRITES: WordList = WordList::of(
    "add append apply assign book cancel charge close commit copy create delete deploy disable edit enable insert \
    install issue kill merge modify move overwrite patch pay post publish push put refund remove rename replace \
    restart save schedule send set stop submit terminate transfer uninstall update upload upsert withdraw write",
);
/// Words of tools that act on what others only show: a page, a console.
static ACTS: WordList =
    WordList::of("click confirm connect drag fill goto join launch mark navigate press scroll toggle trigger");

/// Whether a tool's name says that it asks how something is, and changes nothing.
pub(super) fn asks(tool: &str) -> bool {
    let tells =
        || words_of(tool).last().is_some_and(|word| const { &WordList::of("exists status") }.has_in_any_case(word));
    begins_with(tool, &ASKS) || (begins_with(tool, &FINDS) || tells()) && !has_word(tool, &WRITES)
}

/// Whether a tool's name says that it changes, sends or ends something, and not that it tells of that.
pub(super) fn is_writer(tool: &str) -> bool {
    has_word(tool, &WRITES) && !begins_with(tool, &ASKS)
}

/// Whether a tool's name says that it acts on what others only show.
pub(super) fn acts(tool: &str) -> bool {
    !asks(tool) && has_word(tool, &ACTS)
}

/// Whether a tool's name says that it reads documents or searches.
pub(super) fn is_reader(tool: &str) -> bool {
    has_word(tool, &READS) && !has_word(tool, &WRITES) && !acts(tool)
}

/// Whether a tool's name says that it runs commands, whose output may be anything.
pub(super) fn is_shell(tool: &str) -> bool {
    has_word(tool, const { &WordList::of("shell bash sh exec execute command cmd terminal run") })
}

/// Whether a tool's name says that it runs commands or code: what ran before a refusal stays done.
pub(super) fn runs_programs(tool: &str) -> bool {
    static LINES: WordList = WordList::of("bash cmd powershell sh shell terminal zsh");
    static CODE: WordList = WordList::of("code exec interpreter notebook python repl script");
    let runs_commands = has_word(tool, const { &WordList::of("command") })
        && has_word(tool, const { &WordList::of("exec execute run start") });
    has_word(tool, &LINES) || has_word(tool, &CODE) || runs_commands
}

/// Whether a tool hands on what programs, documents or others say.
pub(super) fn hands_on(tool: &str) -> bool {
    static OTHERS: WordList = WordList::of("agent docker git make node npm ssh task test tests");
    runs_programs(tool) || has_word(tool, &OTHERS) && !is_writer(tool) || is_reader(tool) && !asks(tool)
}

/// Whether a tool takes away what it names: the second time, it is not there.
pub(super) fn removes(tool: &str) -> bool {
    static REMOVES: WordList = WordList::of(
        "abort archive cancel clear close consume deactivate delete destroy discard drop end kill leave move purge \
        release remove rename revoke stop unsubscribe void withdraw",
    );
    has_word(tool, &REMOVES) && !asks(tool)
}

fn begins_with(tool: &str, list: &WordList) -> bool {
    words_of(tool).next().is_some_and(|word| list.has_in_any_case(word))
}

/// Whether one of `list` is a word of a tool's name.
pub(super) fn has_word(tool: &str, list: &WordList) -> bool {
    words_of(tool).any(|word| list.has_in_any_case(word))
}

/// The words of a tool's name in small letters.
pub(super) fn words(tool: &str) -> Vec<String> {
    words_of(tool).map(str::to_ascii_lowercase).collect()
}

/// The words of a tool's name as they are written: a capital begins one.
fn words_of(tool: &str) -> impl Iterator<Item = &str> {
    let mut rest = tool;
    std::iter::from_fn(move || {
        let start = rest.bytes().position(|byte| byte.is_ascii_alphanumeric())?;
        let is_end = |byte: u8| !byte.is_ascii_alphanumeric() || byte.is_ascii_uppercase();
        let length = rest[start + 1..].bytes().position(is_end).map_or(rest.len() - start, |length| length + 1);
        let piece = &rest[start..start + length]; // it ends before a letter, or at the end
        rest = &rest[start + length..];
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_asks_or_writes_by_the_words_of_its_name() {
        for (tool, is_asking, is_writing) in [
            ("get_payment_update", true, false),
            ("order_status", true, false),
            ("set_status", false, true),
            ("verifyRefundUpdate", false, true),
            ("find_and_replace", false, true),
            ("search_replace", false, true),
            ("search_orders", true, false),
            ("delete_user", false, true),
            ("frobnicate", false, false),
        ] {
            assert_eq!((asks(tool), is_writer(tool)), (is_asking, is_writing), "{tool}");
        }
    }

    #[test]
    fn a_tool_is_of_a_class_by_its_name() {
        for (tool, class) in [
            ("bash", ToolClass::Program),
            ("python_repl", ToolClass::Program),
            ("run_command", ToolClass::Program),
            ("get_order", ToolClass::Looking),
            ("Read", ToolClass::Looking),
            ("calculate_tax", ToolClass::Looking),
            ("open_page", ToolClass::Looking),
            ("run_action", ToolClass::Writing),
            ("log_entry_create", ToolClass::Writing),
            ("frobnicate", ToolClass::Writing),
        ] {
            assert_eq!(ToolClass::of(tool), class, "{tool}");
        }
    }
}
