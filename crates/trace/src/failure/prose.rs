//! Tells titles, labels and paragraphs from the message of a failure whose words they share.

use std::sync::LazyLock;

use super::patterns::{self, LazyPattern};
use super::tool_name::has_word;

/// Whether a text is the title or the definition of a work: `Access Denied (1948 film)`, `Bad Gateway is a band`.
pub(super) fn is_title(text: &str) -> bool {
    static WORK: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^[^\n:.(]{1,80} (\(|(is|was|are) (an?|the) )([\w-]+ ){0,4}(film|movie|album|song|single|band|novel|book|poem|play|musical|story|game|series|episode|magazine|painting|disambiguation)\b",
        )
    });
    patterns::matches(&WORK, text)
}

/// Whether a text is a title with its author, such as `Cannot Buy Me Love - The Beatles`.
pub(super) fn is_authored(text: &str) -> bool {
    let Some((title, _)) = text.split_once(" - ") else { return false };
    let is_capital = |word: &str| word.starts_with(char::is_uppercase);
    let capitals = title.split(' ').filter(|word| is_capital(word)).count();
    capitals > 1 && title.split(' ').all(|word| word.len() <= 3 || is_capital(word))
}

/// Keys of the labels of a program, beside which `error` is a label too.
const LABELS: [&str; 18] = [
    "back", "cancel", "close", "common", "confirm", "delete", "edit", "home", "loading", "logout", "menu", "no", "ok",
    "save", "settings", "submit", "welcome", "yes",
];

/// Whether keys are those of the labels of a program.
pub(super) fn are_labels<'k>(keys: impl Iterator<Item = &'k str>) -> bool {
    keys.filter(|key| LABELS.contains(key)).take(2).count() == 2
}

/// Whether every line of a text is the label of a program, behind its key.
pub(super) fn is_labels(text: &str) -> bool {
    let lines = || text.lines().filter(|line| !line.trim().is_empty()).take(60);
    let key = |line: &'_ str| line.split_once([':', '=']).map(|(key, _)| key.trim().len());
    let is_key = |line: &str| key(line).is_some_and(|len| (1..=40).contains(&len)) && !line.starts_with(' ');
    lines().all(is_key) && are_labels(lines().filter_map(|line| Some(line.split_once([':', '='])?.0.trim())))
}

/// Whether a text is an entry of a reference work on errors: a code, what it means, its cause and its remedy.
pub(super) fn is_reference(text: &str) -> bool {
    let has = |labels: &[&str]| {
        text.lines().skip(1).take(60).any(|line| labels.iter().any(|label| line.trim_start().starts_with(label)))
    };
    has(&["Meaning:", "Definition:"]) || has(&["Cause:"]) && has(&["Fix:", "Solution:", "Resolution:", "Remedy:"])
}

/// Whether a text has more sentences than a message: what it asks the reader to do does not count.
pub(super) fn is_long(text: &str) -> bool {
    sentences(text) > 2
}

/// Whether a text of several sentences is what a tool that holds knowledge tells.
pub(super) fn is_knowledge(text: &str, tool: Option<&str>) -> bool {
    const WORDS: [&str; 9] = ["kb", "knowledge", "faq", "wiki", "wikipedia", "policy", "policies", "docs", "search"];
    sentences(text) > 1 && tool.is_some_and(|tool| has_word(tool, &WORDS))
}

/// Words before what there is in place of what was asked for.
pub(super) const CHOICES: [&str; 8] =
    ["Allowed", "Available", "Did you mean", "Existing", "Known", "Possible", "Supported", "Valid"];

/// Whether a text begins with the choices that there are: `Available rooms: ...`.
pub(super) fn begins_with_choices(text: &str) -> bool {
    CHOICES.iter().any(|head| text.strip_prefix(head).is_some_and(|rest| rest.starts_with([' ', ':'])))
}

/// Whether a sentence asks the reader to do something, by its first word.
pub(super) fn asks_the_reader(sentence: &str) -> bool {
    const REQUESTS: &str = "Add Ask Call Check Choose Confirm Contact Ensure Install Make Open Pass Please Provide Read Retry Run See Set Start Try Use Verify";
    let word = sentence.split_whitespace().next().unwrap_or_default();
    let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
    word.starts_with(char::is_uppercase) && REQUESTS.split(' ').any(|request| request == word)
}

/// The number of sentences, without those that ask the reader to do something.
pub(super) fn sentences(text: &str) -> usize {
    let is_capital = |sentence: &str| sentence.trim_start().starts_with(char::is_uppercase);
    let is_next = |sentence: &&str| sentence.starts_with(char::is_whitespace) && is_capital(sentence);
    1 + text.split(['.', '!', '?']).filter(is_next).filter(|sentence| !asks_the_reader(sentence)).count()
}
