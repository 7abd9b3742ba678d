//! Checks a tree against its schema and reports every mistake in it, each with its place, what was expected and what was
//! probably meant. Reads no values.

use std::collections::BTreeMap;

use super::at::At;
use super::part::{Fault, Others, Part, Type};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::steps;
use crate::yaml::{MapEntry, Node, NodeKind, Scalar, flow, in_millis, millis, one_of, resolve, scalar, shorten};

/// The longest label below a value, in bytes. The message above it says the same, and is wrapped.
const LABEL: usize = 60;

/// The most words of which a message says how each is written.
const MOST_WORDS: usize = 4;

/// The most keys that a message lists.
const MOST_LISTED: usize = 40;

/// Reports all mistakes below `root`. Whether the file is read on: not if it is of another format or version.
pub(super) fn validate(root: At<'_>) -> bool {
    let format = root.part().keys.contains_key("format").then(|| root.get("format")).flatten();
    if let Some(format) = format.filter(|format| !format.fits()) {
        fault(format, "format");
        return false;
    }
    value(root, "the file");
    root.fits()
}

/// Checks a value that the schema leaves to its reader (`x-late`); `key` is what it is the value of.
pub(crate) fn check_late(at: At<'_>, key: &str) {
    value(at, key);
}

/// Reports what is wrong with a value and inside of it; `key` is what it is the value of.
fn value(at: At<'_>, key: &str) {
    if !at.fits() {
        return fault(at, key);
    }
    match &at.node().kind {
        NodeKind::Scalar { .. } => {}
        NodeKind::List(items) => list(at, items.len(), key),
        NodeKind::Map(entries) => map(at, entries, key),
    }
}

fn list(at: At<'_>, length: usize, key: &str) {
    let (least, most) = at.part().size;
    if length < least {
        let id = if length == 0 { "empty_list" } else { "too_few" };
        return at.wrong(id, format!("this list has {length} items, and needs {least} or more"), "too few");
    }
    if let Some((most, extra)) = most.and_then(|most| Some((most, at.all_items().nth(most)?))) {
        return extra.wrong("too_many", format!("there are {length} items; at most {most} are read"), "one too many");
    }
    at.items().for_each(|item| value(item, key));
}

fn map(at: At<'_>, entries: &[MapEntry], key: &str) {
    let part = at.part();
    let name = part.title.clone().unwrap_or_else(|| format!("`{key}`"));
    let unknown: Vec<&MapEntry> = match part.others {
        Others::Refused => entries.iter().filter(|entry| !part.keys.contains_key(&*entry.key)).collect(),
        Others::Any | Others::Each(_) => Vec::new(),
    };
    let suggested = unknown_keys(at, &name, entries, &unknown);
    size(at, &name, entries, unknown.len());
    let is_written = |key: &String| entries.iter().any(|entry| *entry.key == **key);
    let is_missing = |key: &&String| !is_written(key) && !suggested.contains(&key.as_str());
    for key in part.required.iter().filter(is_missing) {
        missing(at, &name, &format!("`{key}`"), part.keys.get(key).and_then(|number| writes(at, *number, key)));
    }
    for (key, needed) in part.dependent.iter().filter(|(key, _)| is_written(key)) {
        for needed in needed.iter().filter(is_missing) {
            let message = format!("`{key}` needs `{needed}`");
            let span = at.key_span(key).unwrap_or(at.span());
            at.report(Diagnostic::error("missing_key", message).at(span, format!("`{needed}` is missing")));
        }
    }
    for choice in &part.choices {
        let is_choice = |entry: &&MapEntry| choice.keys.iter().any(|key| **key == *entry.key);
        let chosen: Vec<&MapEntry> = entries.iter().filter(is_choice).collect();
        if choice.is_needed && chosen.is_empty() && choice.keys.iter().all(|key| is_missing(&key)) {
            let first = || choice.keys.iter().find_map(|key| writes(at, *part.keys.get(key)?, key));
            let help = first().filter(|_| !entries.is_empty()).or_else(|| written(at).map(write));
            missing(at, &name, &one_of(choice.keys.iter().map(String::as_str)), help);
        } else if choice.is_exclusive && chosen.len() > 1 {
            several(at, &name, &chosen);
        }
    }
    for (key, number) in &part.keys {
        kinds(at, &name, key, *number, is_missing(&key));
    }
    for (key, inner) in at.entries() {
        if let (Some(names), false) = (part.names, part.keys.contains_key(key.text)) {
            let written = Node { span: key.span.clone(), kind: text(key.text) };
            let names = at.schema().own(at.schema().resolved(names));
            if names.fault(&written).is_some() {
                at.report(name_fault(names, key.text).at(key.span.clone(), "not such a name"));
            }
        }
        if !part.is_late || part.keys.contains_key(key.text) {
            value(inner, key.text);
        }
    }
}

fn text(text: &str) -> NodeKind {
    NodeKind::Scalar { text: text.into(), value: Scalar::Text }
}

fn name_fault(names: &Part, text: &str) -> Diagnostic {
    let what = names.title.as_deref().unwrap_or("a name that fits here");
    let diagnostic = Diagnostic::error("bad_name", format!("`{}` is not {what}", shorten(text)));
    let near = names.words.as_ref().and_then(|words| did_you_mean(text, words.iter().map(String::as_str)));
    match (near, &names.help) {
        (Some(near), _) => diagnostic.help(format!("did you mean `{near}`?")),
        (None, Some(help)) => diagnostic.help(help),
        (None, None) => diagnostic,
    }
}

/// Reports each unknown key, and returns the keys that were probably meant: these are not missing.
fn unknown_keys(at: At<'_>, name: &str, entries: &[MapEntry], unknown: &[&MapEntry]) -> Vec<&'static str> {
    if unknown.is_empty() {
        return Vec::new();
    }
    let keys = &at.part().keys;
    let written: BTreeMap<&str, ()> = entries.iter().map(|entry| (&*entry.key, ())).collect();
    let free: Vec<&str> = keys.keys().map(String::as_str).filter(|key| !written.contains_key(key)).collect();
    let known: Vec<String> = keys.keys().take(MOST_LISTED).map(|key| format!("`{key}`")).collect();
    let known = format!("known keys: {}", known.join(", "));
    let mut suggested = Vec::new();
    if let Some((help, meant)) = misplaced(at, entries, unknown) {
        let named: Vec<String> = unknown.iter().map(|entry| format!("`{}`", shorten(&entry.key))).collect();
        let keys = if named.len() == 1 { "key" } else { "keys" };
        let said = Diagnostic::error("unknown_key", format!("{name} has no {keys} {}", named.join(", ")));
        let label = |said: Diagnostic, entry: &&MapEntry| said.at(entry.key_span.clone(), "unknown key");
        at.report(unknown.iter().fold(said, label).help(help));
        return meant;
    }
    for entry in unknown {
        at.problems().push_with(|| {
            steps::count(free.len());
            let help = if let Some(text) = usual(at.part(), &entry.key) {
                let key = text.split(':').next().unwrap_or_default();
                suggested.extend(free.iter().copied().find(|known| *known == key));
                let value = keys.get(key).map(|number| at.with(&entry.value, *number)).filter(|value| value.fits());
                instead(value, key).unwrap_or_else(|| write(text))
            } else if let Some((key, help)) = in_millis(&entry.key, &entry.value, &free) {
                suggested.push(key);
                help
            } else if let Some(near) = did_you_mean(&entry.key, free.iter().copied()) {
                suggested.push(near);
                format!("did you mean `{near}`?")
            } else {
                known.clone()
            };
            let message = format!("{name} has no key `{}`", shorten(&entry.key));
            Diagnostic::error("unknown_key", message).at(entry.key_span.clone(), "unknown key").help(help)
        });
    }
    suggested
}

/// Where keys belong that a map does not know: what to write, and the keys that are then not missing.
fn misplaced(at: At<'_>, entries: &[MapEntry], unknown: &[&MapEntry]) -> Option<(String, Vec<&'static str>)> {
    let has = |number: usize, entry: &MapEntry| {
        let parts = at.with(at.node(), number).all_alternatives();
        let inner = parts.iter().find_map(|one| one.part().keys.get(&*entry.key));
        inner.is_some_and(|inner| at.with(&entry.value, *inner).fits())
    };
    let keys = &at.part().keys;
    let is_item = |one: &At<'_>| one.part().items.is_some_and(|item| entries.iter().all(|entry| has(item, entry)));
    if at.all_alternatives().iter().any(is_item) {
        return Some((write(format!("[{}]", in_braces(entries.iter()))), keys.keys().map(String::as_str).collect()));
    }
    let mut below = keys.iter().filter(|(_, number)| unknown.iter().all(|entry| has(**number, entry)));
    let (key, _) = below.next().filter(|_| below.next().is_none())?;
    let help = match entries.iter().any(|entry| *entry.key == **key) {
        true => format!("write {} inside of `{key}`", if unknown.len() == 1 { "it" } else { "them" }),
        false => write(format!("{key}: {}", in_braces(unknown.iter().copied()))),
    };
    Some((help, vec![key]))
}

/// Entries of a file as a map in one line, unless it is long.
fn in_braces<'e>(entries: impl Iterator<Item = &'e MapEntry>) -> String {
    let pairs = entries.map(|entry| format!("{}: {}", scalar(&entry.key), flow(&entry.value)));
    let text = pairs.collect::<Vec<_>>().join(", ");
    format!("{{ {} }}", if text.len() <= LABEL { &text } else { "..." })
}

/// A key in place of another one, with the value that is written, which fits it too.
fn instead(value: Option<At<'_>>, key: &str) -> Option<String> {
    Some(match &value?.node().kind {
        NodeKind::Scalar { text, value } if *value != Scalar::Text => write(format!("{key}: {}", shorten(text))),
        NodeKind::Scalar { .. } | NodeKind::List(_) | NodeKind::Map(_) => format!("write `{key}` in place of it"),
    })
}

fn size(at: At<'_>, name: &str, entries: &[MapEntry], unknown: usize) {
    let part = at.part();
    let (least, most) = part.size;
    let known: Vec<&MapEntry> = entries.iter().filter(|entry| part.keys.contains_key(&*entry.key)).collect();
    if entries.len() < least {
        let keys: Vec<&str> = part.keys.keys().map(String::as_str).collect();
        let diagnostic = Diagnostic::error("empty_map", format!("{name} is empty")).at(at.span(), "nothing is written");
        return at.report(match keys.is_empty() {
            true => diagnostic.help("write at least one entry"),
            false => diagnostic.help(format!("write {}", one_of(keys.into_iter()))),
        });
    }
    match most {
        Some(1) if known.len() > 1 => several(at, name, &known),
        Some(most) if most != 1 && entries.len() > most && unknown == 0 => {
            let message = format!("{name} has {} entries; at most {most} are read", entries.len());
            let extra = entries.get(most).map_or(at.span(), |entry| entry.key_span.clone());
            at.report(Diagnostic::error("too_many", message).at(extra, "one too many"));
        }
        _ => {}
    }
}

fn missing(at: At<'_>, name: &str, keys: &str, help: Option<String>) {
    let message = format!("{name} needs {keys}");
    let diagnostic = Diagnostic::error("missing_key", message).at(at.span(), format!("{keys} is missing"));
    at.report(match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    });
}

/// How a key is written, of the part with this number.
fn writes(at: At<'_>, number: usize, key: &str) -> Option<String> {
    let (own, part) = (at.schema().own(number), at.schema().own(at.schema().resolved(number)));
    if let Some(text) = own.written.as_ref().or(part.written.as_ref()) {
        return Some(write(format!("{key}: {text}")));
    }
    let words = part.words.as_ref().filter(|words| words.len() <= MOST_WORDS)?;
    let pairs: Vec<String> = words.iter().map(|word| format!("{key}: {word}")).collect();
    Some(format!("write {}", one_of(pairs.iter().map(String::as_str))))
}

/// How the value at a place is usually written.
fn written(at: At<'_>) -> Option<&'static str> {
    at.stated().written.as_deref().or(at.part().written.as_deref())
}

/// What people mean by a word that they write for a part, or as a key of it.
fn usual<'p>(part: &'p Part, word: &str) -> Option<&'p str> {
    part.meant.get(&word.to_ascii_lowercase()).map(String::as_str)
}

/// A value as it is written in a file: a text in quotes.
fn quoted(text: &str, value: Scalar) -> String {
    match value {
        Scalar::Text => format!("'{}'", shorten(text).replace('\'', "''")),
        _ => text.to_owned(),
    }
}

fn write(text: impl AsRef<str>) -> String {
    format!("write `{}`", text.as_ref())
}

/// Reports keys of which only one is written.
fn several(at: At<'_>, name: &str, entries: &[&MapEntry]) {
    let keys: Vec<&str> = entries.iter().map(|entry| &*entry.key).collect();
    let message = format!("{name} has one of {}, not {}", one_of(keys.iter().copied()), keys.len());
    let diagnostic = Diagnostic::error("several_chosen", message).help("remove all but one");
    let labels = entries.iter().zip(std::iter::once("one").chain(std::iter::repeat("another")));
    at.report(labels.fold(diagnostic, |all, (entry, label)| all.at(entry.key_span.clone(), label)));
}

/// Reports a key that stands beside the wrong kind, or is missing beside its own.
fn kinds(at: At<'_>, name: &str, key: &str, number: usize, is_missing: bool) {
    let part = at.schema().own(number);
    let Some((beside, kinds)) = &part.only else { return };
    let Some(kind) = at.field(beside).and_then(At::text) else { return };
    let is_for = kinds.iter().any(|known| known == kind);
    if let (Some(span), false) = (at.key_span(key), is_for) {
        let message = format!("`{key}` is for {}", one_of(kinds.iter().map(String::as_str)));
        at.report(Diagnostic::error("other_kind", message).at(span, format!("not for `{kind}`")));
    }
    if is_for && part.is_needed && is_missing {
        missing(at, &format!("{name} with `{beside}: {kind}`"), &format!("`{key}`"), writes(at, number, key));
    }
}

/// Reports what is wrong with the value itself.
fn fault(at: At<'_>, key: &str) {
    let alternatives = at.alternatives();
    let (NodeKind::Scalar { .. }, Some(near)) = (&at.node().kind, nearest(at, &alternatives)) else {
        return at.report(unexpected(at, &alternatives, key));
    };
    at.report(match near.part().fault(at.node()) {
        Some(Fault::Empty) => Diagnostic::error("empty_text", "this text is empty").at(at.span(), "write a few words"),
        Some(Fault::Form) => {
            let text = near.node().text().unwrap_or_default();
            let fault = name_fault(near.part(), text).at(at.span(), "not of this form");
            match meant(at.node(), if alternatives.is_empty() { std::slice::from_ref(&at) } else { &alternatives }, key)
            {
                Some(help) => fault.help(help),
                None => fault,
            }
        }
        _ => unexpected(at, &alternatives, key),
    });
}

/// The part that a single value of the right type is meant for.
fn nearest<'a>(at: At<'a>, alternatives: &[At<'a>]) -> Option<At<'a>> {
    let formed = |one: &&At<'a>| matches!(one.part().fault(at.node()), Some(Fault::Empty | Fault::Form));
    if alternatives.is_empty() { Some(at) } else { alternatives.iter().find(formed).copied() }
}

fn unexpected(at: At<'_>, alternatives: &[At<'_>], key: &str) -> Diagnostic {
    let is_wait = key.ends_with("_ms");
    let all = if alternatives.is_empty() { std::slice::from_ref(&at) } else { alternatives };
    let mut told: Vec<String> = Vec::new();
    for one in all {
        let what = one.part().expects(is_wait);
        if !told.contains(&what) {
            told.push(what);
        }
    }
    let what = match &at.part().title {
        Some(title) if !alternatives.is_empty() => title.clone(),
        _ => told.join(" or "),
    };
    let label = if what.len() > LABEL { "none of these".to_owned() } else { format!("expected {what}") };
    let diagnostic = Diagnostic::error("wrong_type", format!("expected {what}, found {}", at.node().describe()));
    let diagnostic = diagnostic.at(at.span(), label);
    let of_part = || all.iter().find_map(|one| one.part().help.clone());
    let only_word = || match all {
        [one] => one.part().words.as_deref().and_then(|words| if let [word] = words { Some(word) } else { None }),
        _ => None,
    };
    let usual = || written(at).map(str::to_owned).or_else(|| only_word().cloned());
    match meant(at.node(), all, key).or_else(of_part).or_else(|| usual().map(write)) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// What was probably meant by a value of another type.
fn meant(node: &Node, all: &[At<'_>], key: &str) -> Option<String> {
    let takes = |of: Type| all.iter().any(|one| one.part().takes(of));
    let NodeKind::Scalar { text, value } = &node.kind else { return wrapped(node, all) };
    if let Some(help) = all.iter().find_map(|one| meant_by(*one, text, *value)) {
        return Some(help);
    }
    let words = all.iter().filter_map(|one| one.part().words.as_ref()).flatten().map(String::as_str);
    if let Some(near) = did_you_mean(text, words) {
        return Some(format!("did you mean `{near}`?"));
    }
    let is_text = *value == Scalar::Text;
    match text.to_ascii_lowercase().as_str() {
        plain @ ("true" | "false") if is_text && takes(Type::Bool) => {
            return Some(format!("write `{plain}` without quotes"));
        }
        "yes" | "on" | "y" if is_text && takes(Type::Bool) => return Some("write `true`".into()),
        "no" | "off" | "n" if is_text && takes(Type::Bool) => return Some("write `false`".into()),
        _ => {}
    }
    if is_text && (takes(Type::Whole) || takes(Type::Number)) {
        if let (true, Some(ms)) = (key.ends_with("_ms"), millis(text, None)) {
            return Some(format!("write `{ms}`, in milliseconds"));
        }
        let plain = text.replace(['_', '\''], "");
        let how = if plain == **text { " without quotes" } else { "" };
        return plain.parse::<f64>().is_ok().then(|| format!("write `{}`{how}", shorten(&plain)));
    }
    if (*value == Scalar::Null || text.eq_ignore_ascii_case("none"))
        && all.iter().any(|one| one.part().takes(Type::List) && one.part().size.0 == 0)
    {
        return Some(format!("write `{key}: []` for none"));
    }
    let holds = |one: &&At<'_>| one.part().items.is_some_and(|items| one.with(node, items).fits());
    if all.iter().any(|one| holds(&one) || holds_each(*one, text)) {
        return Some(format!("write `{key}: [{}]`", shorten(text)));
    }
    let quoted = Node { span: node.span.clone(), kind: NodeKind::Scalar { text: text.clone(), value: Scalar::Text } };
    if !is_text && *value != Scalar::Null && all.iter().any(|one| one.part().fault(&quoted).is_none()) {
        return Some(format!("write it in quotes: `\"{}\"`", shorten(text)));
    }
    wrapped(node, all)
}

/// Whether a list takes each of the words that a text has between commas.
fn holds_each(at: At<'_>, text: &str) -> bool {
    let Some(items) = at.part().items.filter(|_| text.contains(',')) else { return false };
    text.split(',').map(str::trim).all(|word| {
        let node = Node { span: at.span(), kind: NodeKind::Scalar { text: word.into(), value: resolve(word) } };
        !word.is_empty() && at.with(&node, items).fits()
    })
}

/// What people mean by a word or a number that they write in the place of a part.
fn meant_by(at: At<'_>, text: &str, value: Scalar) -> Option<String> {
    let part = at.part();
    let of_map = |text: &str| if part.takes(Type::Map) { format!("{{ {text} }}") } else { text.to_owned() };
    if let Some(text) = usual(part, text) {
        return Some(write(of_map(text)));
    }
    let form = match value {
        Scalar::Whole(_) => usual(part, "<number>"),
        Scalar::Text => usual(part, "<text>"),
        Scalar::Null | Scalar::Bool(_) | Scalar::Huge | Scalar::Float(_) => None,
    };
    if let Some(form) = form {
        return Some(write(of_map(&form.replace("{}", &quoted(text, value)))));
    }
    let number = *part.keys.get(text)?;
    let form = at.schema().own(at.schema().resolved(number)).written.as_deref()?;
    Some(write(of_map(&format!("{text}: {form}"))))
}

/// How a map with one key is written.
fn wrapped(node: &Node, all: &[At<'_>]) -> Option<String> {
    let NodeKind::Scalar { .. } = node.kind else { return None };
    let map = all.iter().find(|one| one.part().size.1 == Some(1) && !one.part().keys.is_empty())?;
    let keys = one_of(map.part().keys.keys().map(String::as_str));
    Some(format!("write `KIND: {{ ... }}`, where KIND is {keys}"))
}
