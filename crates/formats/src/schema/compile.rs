//! From the text of a JSON Schema to its parts. It takes the keywords that our schemas use, and a test refuses every other.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::inline;
use super::part::{Choice, Others, Part, Type};
use crate::yaml::{MapEntry, Node, NodeKind, Scalar};
use playproof_engine::playbook::pattern::{self, Pattern};

/// A compiled schema.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The first is the whole file.
    parts: Vec<Part>,
    /// Keywords, types and words that were not understood.
    unknown: Vec<String>,
}

impl Schema {
    /// Compiles a schema of this repository. What it does not understand checks nothing, and a test finds it.
    pub fn compile(text: &str) -> Schema {
        let root = inline::whole(text);
        let mut compiler = Compiler { root: &root, parts: Vec::new(), found: BTreeMap::new(), unknown: Vec::new() };
        compiler.part(&root);
        Schema { parts: compiler.parts, unknown: compiler.unknown }
    }

    /// The keywords, types, words and patterns that were not understood: none in a schema that is right, as tests say.
    pub fn unknown(&self) -> Vec<String> {
        let patterns = self.parts.iter().filter_map(|part| part.pattern.as_ref()).map(|pattern| pattern.as_str());
        let wrong = patterns.filter(|pattern| pattern::check(pattern, true).is_err());
        self.unknown.iter().cloned().chain(wrong.map(|pattern| format!("pattern {pattern}"))).collect()
    }

    /// A part, without what it refers to.
    pub(crate) fn own(&self, part: usize) -> &Part {
        &self.parts[part] // numbers come from this schema
    }

    /// A part, or the one that it refers to.
    pub(crate) fn resolved(&self, mut part: usize) -> usize {
        while let Some(next) = self.own(part).refers {
            part = next;
        }
        part
    }
}

struct Compiler<'a> {
    root: &'a Value,
    parts: Vec<Part>,
    /// The parts of definitions, by reference.
    found: BTreeMap<String, usize>,
    unknown: Vec<String>,
}

impl Compiler<'_> {
    /// Compiles a part, and returns its number.
    fn part(&mut self, schema: &Value) -> usize {
        let number = self.parts.len();
        self.parts.push(Part::default());
        let mut part = Part::default();
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            self.keyword(&mut part, keyword, value);
        }
        self.parts[number] = part; // pushed above
        number
    }

    /// The number of the definition that a reference names: it is compiled once.
    fn reference(&mut self, reference: &str) -> usize {
        if let Some(known) = self.found.get(reference) {
            return *known;
        }
        let root = self.root;
        let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        if target.is_none() {
            self.unknown.push(format!("$ref {reference}"));
        }
        // The number is known before the part is compiled, because it may refer to itself.
        self.found.insert(reference.to_owned(), self.parts.len());
        self.part(target.unwrap_or(&Value::Null))
    }

    fn keyword(&mut self, part: &mut Part, keyword: &str, value: &Value) {
        match keyword {
            "$ref" => part.refers = Some(self.reference(value.as_str().unwrap_or_default())),
            "title" => part.title = value.as_str().map(str::to_owned),
            "default" => part.default = Some(node(value)),
            "errorMessage" => part.help = value.as_str().map(str::to_owned),
            "x-write" => part.written = value.as_str().map(str::to_owned),
            "x-meant" => {
                let meant = value.as_object().into_iter().flatten();
                part.meant = meant.filter_map(|(word, text)| Some((word.clone(), text.as_str()?.to_owned()))).collect();
            }
            "x-only" => {
                part.only =
                    value.as_object().and_then(|only| only.iter().next()).map(|(k, v)| (k.clone(), self.texts(v)));
            }
            "x-needed" => part.is_needed = true,
            "x-late" => part.is_late = true,
            "x-inert" => part.is_inert = true,
            "x-whole" => part.is_whole = true,
            "x-of" => part.of = value.as_str().map(str::to_owned),
            "x-with" => part.with = value.as_str().map(str::to_owned),
            "x-instead" => part.instead = value.as_str().map(str::to_owned),
            "examples" => part.example = value.get(0).map(node),
            "type" => part.types = self.types(value),
            "enum" | "const" => self.words(part, value),
            "not" => part.refused = self.texts(&value["enum"]),
            "minimum" => part.bounds.0 = Some(number(value)),
            "maximum" => part.bounds.1 = Some(number(value)),
            "multipleOf" => {
                part.places = number(value).split_once('.').and_then(|(_, rest)| rest.len().try_into().ok())
            }
            "minLength" => part.is_filled = true,
            "pattern" => part.pattern = value.as_str().map(|text| Arc::new(Pattern::new(text, true))),
            "items" => part.items = Some(self.part(value)),
            "minItems" | "minProperties" => part.size.0 = size(value),
            "maxItems" | "maxProperties" => part.size.1 = Some(size(value)),
            "properties" => {
                let keys = value.as_object().into_iter().flatten();
                part.keys = keys.map(|(key, schema)| (key.clone(), self.part(schema))).collect();
            }
            "additionalProperties" => {
                part.others = match value {
                    Value::Bool(true) => Others::Any,
                    Value::Bool(false) => Others::Refused,
                    schema => Others::Each(self.part(schema)),
                }
            }
            "propertyNames" => part.names = Some(self.part(value)),
            "required" => part.required = self.texts(value),
            "anyOf" | "oneOf" if value[0].get("required").is_some() => {
                let keys = each(value).flat_map(|one| self.texts(&one["required"])).collect();
                part.choices.push(Choice { keys, is_exclusive: keyword == "oneOf", is_needed: true });
            }
            "x-one-of" if value[0].is_array() => each(value).for_each(|one| self.keyword(part, keyword, one)),
            "x-one-of" => part.choices.push(Choice { keys: self.texts(value), is_exclusive: true, is_needed: false }),
            "dependentRequired" => {
                let dependent = value.as_object().into_iter().flatten();
                part.dependent = dependent.map(|(key, needed)| (key.clone(), self.texts(needed))).collect();
            }
            "maxLength" => part.longest = Some(size(value)),
            "anyOf" | "oneOf" => part.any_of = each(value).map(|one| self.part(one)).collect(),
            // These are for people and editors, or checked by what reads the file.
            "$schema" | "$id" | "$defs" | "description" | "uniqueItems" => {}
            _ => self.unknown.push(keyword.to_owned()),
        }
    }

    /// The words of an enumeration. Editors that read YAML 1.1 take `off` for `false`: that word is theirs alone.
    fn words(&mut self, part: &mut Part, value: &Value) {
        match value {
            Value::Bool(_) => {
                part.types = vec![Type::Bool];
                part.words = Some(vec![value.to_string()]);
            }
            // `false` beside words is what those editors make of `off`.
            _ => part.words = Some(self.texts(&each(value).filter(|word| !word.is_boolean()).cloned().collect())),
        }
    }

    fn types(&mut self, value: &Value) -> Vec<Type> {
        let words = self.texts(value);
        words.iter().filter_map(|word| kind(word).or_else(|| self.missed(&format!("type {word}")))).collect()
    }

    fn texts(&mut self, value: &Value) -> Vec<String> {
        let text = |text: &Value| text.as_str().map(str::to_owned).or_else(|| self.missed(&format!("no text: {text}")));
        each(value).filter_map(text).collect()
    }

    /// Takes down what is not understood.
    fn missed<T>(&mut self, what: &str) -> Option<T> {
        self.unknown.push(what.to_owned());
        None
    }
}

/// The values of a list, or the single one.
fn each(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice).iter()
}

fn kind(word: &str) -> Option<Type> {
    Some(match word {
        "null" => Type::Null,
        "boolean" => Type::Bool,
        "integer" => Type::Whole,
        "number" => Type::Number,
        "string" => Type::Text,
        "array" => Type::List,
        "object" => Type::Map,
        _ => return None,
    })
}

fn number(value: &Value) -> String {
    match value.as_f64().filter(|_| value.is_f64()) {
        Some(float) => float.to_string(),
        None => value.to_string(),
    }
}

fn size(value: &Value) -> usize {
    value.as_u64().and_then(|size| size.try_into().ok()).unwrap_or_default()
}

/// A default as the value that a file would have, at no place.
fn node(value: &Value) -> Node {
    let scalar = |value: Scalar, text: String| NodeKind::Scalar { text: text.into(), value };
    let entries = |fields: &Map<String, Value>| -> Vec<MapEntry> {
        let entry =
            |(key, value): (&String, &Value)| MapEntry { key: key.as_str().into(), key_span: 0..0, value: node(value) };
        fields.iter().map(entry).collect()
    };
    let kind = match value {
        Value::Null => scalar(Scalar::Null, String::new()),
        Value::Bool(flag) => scalar(Scalar::Bool(*flag), flag.to_string()),
        Value::String(text) => scalar(Scalar::Text, text.clone()),
        Value::Number(own) => match own.as_i128() {
            Some(whole) => scalar(Scalar::Whole(whole), whole.to_string()),
            None => scalar(Scalar::Float(own.as_f64().unwrap_or_default()), number(value)),
        },
        Value::Array(items) => NodeKind::List(items.iter().map(node).collect()),
        Value::Object(fields) => NodeKind::Map(entries(fields)),
    };
    Node { span: 0..0, kind }
}
