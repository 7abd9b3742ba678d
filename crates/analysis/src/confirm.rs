//! Suspected and unfinished results, by the template of their message, and the entries of a mapping that decide them once.
//! Reads no files.

use std::collections::BTreeMap;

use crate::replay::{MessageTemplates, has_predicate, head};
use playproof_engine::call::{RecordedCall, Reply};
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::yaml::lines::{block_end, indentation, inserted, is_flow, line_break, line_start, replaced};
use playproof_formats::yaml::{self, NodeKind, scalar};

/// The most templates that are kept: further ones are counted together.
const MOST: usize = 10_000;

/// A file that answers go to where neither a flag nor a project names one.
#[derive(Clone, Copy, Debug)]
pub struct AnswerFile {
    /// Its path below the folder.
    pub path: &'static str,
    format: &'static str,
}

/// Answers about tools.
pub const FACTS: AnswerFile = AnswerFile { path: "tools.yaml", format: "format: tools/1" };

/// Answers about results.
pub const MAPPING: AnswerFile = AnswerFile { path: "mapping.yaml", format: "format: mapping/1" };

impl AnswerFile {
    /// Whether a text is one of this format.
    pub fn is_of(self, text: &str) -> bool {
        text.contains(self.format)
    }
}

/// One template of results that nothing has decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTemplate {
    /// The message without its variable parts.
    pub template: String,
    /// Results with it.
    pub count: u64,
    /// The tool of the first result.
    pub tool: String,
    /// The message of the first result, as recorded.
    pub example: String,
    /// The results say that the work is not done yet; else they are suspected.
    pub is_unfinished: bool,
}

/// The results of a recording that only suggest a failure, or say that the work is not done yet.
#[derive(Debug, Default)]
pub struct OpenResults {
    found: BTreeMap<(bool, String), OpenTemplate>,
    templates: MessageTemplates,
    /// Results whose template was not kept.
    pub others: u64,
}

/// What a person says of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// These results failed.
    Failed,
    /// They are answers.
    Ok,
    /// The work was not done yet.
    Unfinished,
}

impl OpenResults {
    /// Takes the results of one call.
    pub fn add(&mut self, call: &RecordedCall) {
        for answer in &call.answers {
            let (error, is_unfinished) = match &answer.reply {
                Reply::Suspected(error) => (error, false),
                Reply::Unfinished(error) => (error, true),
                Reply::Ok | Reply::Failed(_) => continue,
            };
            let message = error.as_deref().and_then(|error| error.message.as_deref()).unwrap_or_default();
            let template = self.templates.template(message, call.args()).to_owned();
            let key = (is_unfinished, template);
            if self.found.len() >= MOST && !self.found.contains_key(&key) {
                self.others += 1;
                continue;
            }
            let template = key.1.clone();
            let first = || OpenTemplate {
                template,
                count: 0,
                tool: call.tool().to_owned(),
                example: message.to_owned(),
                is_unfinished,
            };
            self.found.entry(key).or_insert_with(first).count += 1;
        }
    }

    /// The templates, the commonest first.
    pub fn templates(&self) -> Vec<&OpenTemplate> {
        let mut all: Vec<&OpenTemplate> = self.found.values().collect();
        all.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.template.cmp(&other.template)));
        all
    }
}

/// The least bytes of a part of a template that stands for all of it.
const TELLING: usize = 12;

/// The condition of a mapping that holds for the results of a template: its longest part without a placeholder that says
/// what failed. If no part says that: the beginning, or the longest part. What is short or a single word stands in other
/// messages, too: then the whole template. None for a template without words.
pub fn condition(template: &str) -> Option<String> {
    let (test, part) = telling_part(template)?;
    let is_telling = part.len() >= TELLING && part.contains(' ');
    let (test, part) = if is_telling { (test, part) } else { ("matches", pattern(template)) };
    Some(format!("{{ message: {{ {test}: {} }} }}", scalar(&part)))
}

/// A regular expression that the messages of a template match, and no others.
fn pattern(template: &str) -> String {
    let placeholders =
        [("<n>", r"\S*\d\S*"), ("<id>", r"\S+"), ("<path>", r"\S+"), ("<text>", ".+"), ("<arg>", ".+"), (" ", r"\s+")];
    let pattern = placeholders.iter().fold(regex::escape(template), |text, (name, any)| text.replace(name, any));
    // A first sentence and the beginning of a long line have no end of their own.
    let is_open = template.ends_with(['.', '!', '?']) || template.len() > 300;
    format!("^{pattern}{}", if is_open { "" } else { r"\s*(\n|$)" })
}

fn telling_part(template: &str) -> Option<(&'static str, String)> {
    let placeholders = ["<text>", "<path>", "<id>", "<arg>", "<n>"];
    let literal = placeholders.iter().fold(template.to_owned(), |text, name| text.replace(name, "\n"));
    let parts = || literal.split('\n').map(str::trim).filter(|part| part.len() > 3);
    let begins = |part: &&str| template.starts_with(*part);
    let telling = parts().filter(|part| has_predicate(part)).max_by_key(|part| part.len());
    let part = telling.or_else(|| parts().next().filter(begins)).or_else(|| parts().max_by_key(|part| part.len()));
    let part = part.or_else(|| Some(template).filter(|template| !template.trim().is_empty()))?;
    Some((if begins(&part) { "starts_with" } else { "contains" }, part.to_owned()))
}

/// A row of failure words for the results of a template that say that the work is not done yet.
fn row(open: &OpenTemplate) -> String {
    let line = yaml::quoted(head(&open.example));
    format!("{{ where: first, {}, examples: [{line}, {line}] }}", says(&open.template))
}

/// What a row says of the messages of a template.
fn says(template: &str) -> String {
    format!("says: unfinished, pattern: {}", yaml::quoted(&pattern(template)))
}

/// The lines of a mapping that decide results. A line that is commented out decides nothing.
#[derive(Debug, Default)]
pub struct Decisions<'a> {
    of_messages: Vec<&'a str>,
    of_words: Vec<&'a str>,
}

impl Decisions<'_> {
    /// Those of a mapping; none of a text that is no YAML.
    pub fn of(mapping: &str) -> Decisions<'_> {
        let Ok(tree) = yaml::tree(&Source::whole("mapping", mapping)) else { return Decisions::default() };
        let lines = |key: &str| {
            let value = tree.entry(key).and_then(|found| mapping.get(found.value.span.clone()));
            value.unwrap_or_default().lines().filter(|line| !line.trim_start().starts_with('#'))
        };
        Decisions {
            of_messages: lines("failed").chain(lines("not_failed")).collect(),
            of_words: lines("words").collect(),
        }
    }

    /// Whether an entry decides a template already.
    pub fn hold(&self, open: &OpenTemplate) -> bool {
        let has = |lines: &[&str], entry: &str| lines.iter().any(|line| line.contains(entry));
        condition(&open.template).is_some_and(|entry| has(&self.of_messages, &entry))
            || has(&self.of_words, &says(&open.template))
    }
}

/// The text of a mapping with what was decided: the keys `failed`, `not_failed` and `words` get an entry for each template,
/// and all other text stays. An empty text becomes a mapping that changes a recognised format.
///
/// # Errors
/// A text that is no YAML.
pub fn decided(text: &str, decisions: &[(&OpenTemplate, Confirmed)]) -> Result<String, Report> {
    let mut text = if text.trim().is_empty() { "format: mapping/1\n".to_owned() } else { text.to_owned() };
    for (open, confirmed) in decisions {
        let (key, entry) = match confirmed {
            Confirmed::Failed => ("failed", condition(&open.template)),
            Confirmed::Ok => ("not_failed", condition(&open.template)),
            Confirmed::Unfinished => ("words", (!open.template.is_empty()).then(|| row(open))),
        };
        if let Some(entry) = entry {
            text = with_entry(&text, key, &entry)?;
        }
    }
    Ok(text)
}

/// A text with one more entry in the list of a key.
fn with_entry(text: &str, key: &str, entry: &str) -> Result<String, Report> {
    let tree = yaml::tree(&Source::whole("mapping", text))?;
    let Some(found) = tree.entry(key) else {
        return Ok(inserted(text, text.len(), &[format!("{key}:"), format!("  - {entry}")]));
    };
    let span = found.value.span.clone();
    let old = text.get(span.clone()).unwrap_or_default();
    let blanks = " ".repeat(indentation(text, span.start));
    let is_flow = is_flow(text, &found.value);
    Ok(match &found.value.kind {
        NodeKind::List(items) if is_flow => {
            let (at, comma) = (span.end.saturating_sub(1), if items.is_empty() { " " } else { ", " });
            replaced(text, at..at, &format!("{comma}{entry} "))
        }
        NodeKind::List(_) => {
            let at = block_end(text, &found.value, indentation(text, line_start(text, found.key_span.start)));
            inserted(text, at, &[format!("{blanks}- {entry}")])
        }
        NodeKind::Map(_) if old.contains('\n') => {
            // A map over several lines becomes the first item of a list.
            let (end, behind) = (line_break(text), text.get(span.end..).unwrap_or_default());
            let behind = text.len() - behind.trim_start_matches(['\n', '\r']).len();
            let first = old.replace('\n', "\n  ");
            replaced(text, span.start..behind, &format!("- {}{end}{blanks}- {entry}{end}", first.trim_end()))
        }
        NodeKind::Map(_) if !is_flow => replaced(text, span, &format!("[{{ {old} }}, {entry}]")),
        NodeKind::Map(_) | NodeKind::Scalar { .. } => replaced(text, span, &format!("[{old}, {entry}]")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_intake::mapping;

    fn open(template: &str, example: &str) -> OpenTemplate {
        OpenTemplate {
            template: template.to_owned(),
            count: 1,
            tool: "load_shelf".to_owned(),
            example: example.to_owned(),
            is_unfinished: false,
        }
    }

    fn written(text: &str, decisions: &[(&OpenTemplate, Confirmed)]) -> String {
        let text = decided(text, decisions).unwrap_or_else(|report| panic!("{report}"));
        mapping::parse(Source::whole("m", text.as_str())).unwrap_or_else(|report| panic!("{report}\n{text}"));
        text
    }

    #[test]
    fn what_was_decided_is_written_under_its_key_and_all_other_text_stays() {
        let (busy, none) = (open("Lift <n> is not ready", "Lift 3 is not ready"), open("No shelf", "No shelf"));
        let waits = open("Shelf <n> waits for the smith", "Shelf 7 waits for the smith");
        let all = [(&busy, Confirmed::Failed), (&none, Confirmed::Ok), (&waits, Confirmed::Unfinished)];
        let text = written("", &all);
        assert!(text.contains("failed:\n  - { message: { contains: is not ready } }\n"), "{text}");
        assert!(text.contains("not_failed:\n  - { message: { matches: '^No\\s+shelf\\s*(\\n|$)' } }\n"), "{text}");
        let other = open("Gate <n> is shut", "Gate 2 is shut");
        assert!([&busy, &none, &waits].iter().all(|open| Decisions::of(&text).hold(open)), "{text}");
        assert!(!Decisions::of(&text).hold(&other) && !Decisions::of("").hold(&busy), "{text}");
        let (off, moved) = (text.replace("  - {", "  # - {"), text.replace("failed:", "kinds:"));
        assert!([&busy, &none, &waits].iter().all(|open| !Decisions::of(&off).hold(open)), "{off}");
        assert!(!Decisions::of(&moved).hold(&busy), "{moved}");
        for before in [
            "format: mapping/1\nfailed: { message: { starts_with: Oops } } # ours\nkinds: {}\n",
            "format: mapping/1\nfailed: [{ message: { starts_with: Oops } }]\n",
            "format: mapping/1\nfailed:\n  - message: { starts_with: Oops }\n# last\n",
            "format: mapping/1\nfailed:\n  message: { starts_with: Oops }\n",
            "format: mapping/1\nfailed:\n  - message: { starts_with: Oops }",
        ] {
            let text = written(before, &[(&busy, Confirmed::Failed)]);
            assert!(text.contains("starts_with: Oops") && text.contains("contains: is not ready"), "{text}");
            assert_eq!(before.contains("# "), text.contains("# "), "{text}");
        }
    }

    #[test]
    fn a_condition_has_the_words_that_say_what_failed() {
        for (template, wanted) in [
            ("Order <n> cannot be shipped", "{ message: { contains: cannot be shipped } }"),
            ("Customer <n> not found", r"{ message: { matches: '^Customer\s+\S*\d\S*\s+not\s+found\s*(\n|$)' } }"),
            ("User not found", "{ message: { starts_with: User not found } }"),
            (
                "Sorry <arg> is gone for good",
                r"{ message: { matches: '^Sorry\s+.+\s+is\s+gone\s+for\s+good\s*(\n|$)' } }",
            ),
            ("<id> is gone for good <arg> today", "{ message: { contains: is gone for good } }"),
        ] {
            assert_eq!(condition(template).as_deref(), Some(wanted), "{template}");
        }
        assert_eq!(condition(""), None, "every message begins with no word");
    }
}
