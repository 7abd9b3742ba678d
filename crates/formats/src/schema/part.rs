//! One compiled part of a schema, and what it says of a single value. Walks no tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::yaml::{Node, NodeKind, Scalar, one_of};
use playproof_engine::decimal;
use playproof_engine::playbook::pattern::Pattern;

/// The types of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Null,
    Bool,
    Whole,
    Number,
    Text,
    List,
    Map,
}

/// The keys of a map that have no part of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Others {
    /// Any.
    #[default]
    Any,
    /// None.
    Refused,
    /// Each has a value of this part.
    Each(usize),
}

/// One key of some that exclude each other, or of which one is needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    /// The keys.
    pub keys: Vec<String>,
    /// Whether one at most is written.
    pub is_exclusive: bool,
    /// Whether one must be written.
    pub is_needed: bool,
}

/// What a value must be. Parts that it refers to are numbers of the schema that it belongs to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// The part that says all but the default and the kinds.
    pub refers: Option<usize>,
    /// Its name in messages: `a rule`.
    pub title: Option<String>,
    /// The value of a key that is not written.
    pub default: Option<Node>,
    /// The key beside it whose value decides whether it may be written, and the words of that value.
    pub only: Option<(String, Vec<String>)>,
    /// Whether it must be written where it may be, of a key that only some kinds have.
    pub is_needed: bool,
    /// Whether no change of it decides anything.
    pub is_inert: bool,
    /// Whether it changes only as a whole.
    pub is_whole: bool,
    /// The part of the file whose names it takes.
    pub of: Option<String>,
    /// The part of the file without which it decides nothing.
    pub with: Option<String>,
    /// The key beside it that takes the same value and asks for something near.
    pub instead: Option<String>,
    /// A value that fits.
    pub example: Option<Node>,
    /// Empty: any.
    pub types: Vec<Type>,
    /// The words, one of which it is.
    pub words: Option<Vec<String>>,
    /// The words that it is not.
    pub refused: Vec<String>,
    /// The least and the largest number, as written.
    pub bounds: (Option<String>, Option<String>),
    /// The decimal places of a number.
    pub places: Option<u32>,
    /// Whether a text must not be blank.
    pub is_filled: bool,
    /// The most characters of a text.
    pub longest: Option<usize>,
    /// The form of a text.
    pub pattern: Option<Arc<Pattern>>,
    /// What to do where it is wrong.
    pub help: Option<String>,
    /// How it is usually written.
    pub written: Option<String>,
    /// What people write in its place or, of a map, as its key, and what they mean. `<number>` and `<text>` are any number
    /// and any text, which goes in the place of `{}`.
    pub meant: BTreeMap<String, String>,
    /// Each item of a list.
    pub items: Option<usize>,
    /// The fewest and the most items or keys.
    pub size: (usize, Option<usize>),
    /// The part of each key.
    pub keys: BTreeMap<String, usize>,
    /// The other keys.
    pub others: Others,
    /// Whether the values of the other keys are checked by what reads them, which knows their names.
    pub is_late: bool,
    /// The names of the other keys.
    pub names: Option<usize>,
    /// The keys that must be written.
    pub required: Vec<String>,
    /// The keys that must be written beside another one.
    pub dependent: BTreeMap<String, Vec<String>>,
    /// Keys of which one is written.
    pub choices: Vec<Choice>,
    /// The parts, one of which it fits.
    pub any_of: Vec<usize>,
}

/// What is wrong with a single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is of another type, out of bounds, or another word.
    Type,
    /// A blank text.
    Empty,
    /// A text of another form.
    Form,
}

impl Part {
    /// What is wrong with a value, apart from what is inside of it.
    pub fn fault(&self, node: &Node) -> Option<Fault> {
        let (text, value) = match &node.kind {
            NodeKind::List(_) => return (!self.takes(Type::List)).then_some(Fault::Type),
            NodeKind::Map(_) => return (!self.takes(Type::Map)).then_some(Fault::Type),
            NodeKind::Scalar { text, value } => (&**text, *value),
        };
        if let Some(words) = &self.words {
            return (!words.iter().any(|word| word == text)).then_some(Fault::Type);
        }
        let is_typed = match value {
            Scalar::Null => self.takes(Type::Null),
            Scalar::Bool(_) => self.takes(Type::Bool),
            Scalar::Whole(_) | Scalar::Huge => {
                (self.takes(Type::Whole) || self.takes(Type::Number)) && self.is_within(text, value)
            }
            Scalar::Float(_) => self.takes(Type::Number) && self.is_within(text, value),
            Scalar::Text => self.takes(Type::Text),
        };
        if !is_typed {
            return Some(Fault::Type);
        }
        if value == Scalar::Text && self.is_filled && text.trim().is_empty() {
            return Some(Fault::Empty);
        }
        let is_short = self.longest.is_none_or(|longest| text.chars().count() <= longest);
        let is_formed = is_short && self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(text));
        (value == Scalar::Text && (!is_formed || self.refused.iter().any(|word| word == text))).then_some(Fault::Form)
    }

    /// Whether it takes values of this type at all.
    pub fn takes(&self, of: Type) -> bool {
        self.types.is_empty() && self.words.is_none() || self.types.contains(&of)
    }

    fn is_within(&self, text: &str, value: Scalar) -> bool {
        let (least, most) = &self.bounds;
        if let Some(places) = self.places {
            let scaled = |text: &Option<String>| text.as_deref().and_then(|text| decimal::parse(text, places));
            let Some(number) = decimal::parse(text, places) else { return false };
            return scaled(least).is_none_or(|least| least <= number) && scaled(most).is_none_or(|most| number <= most);
        }
        let whole = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<i128>().ok());
        match value {
            Scalar::Whole(number) => {
                whole(least).is_none_or(|least| least <= number) && whole(most).is_none_or(|most| number <= most)
            }
            Scalar::Huge => self.types.is_empty(),
            _ => true,
        }
    }

    /// What is expected of a value, for messages; empty: any value, or one of other parts.
    pub fn expects(&self, in_millis: bool) -> String {
        if let Some(words) = &self.words {
            return one_of(words.iter().map(String::as_str));
        }
        let bounds = match &self.bounds {
            (Some(least), Some(most)) => format!(" from {least} to {most}"),
            (Some(least), None) => format!(" from {least}"),
            _ => String::new(),
        };
        let places = match self.places {
            Some(3) => " with at most three decimal places",
            Some(_) => " with at most six decimal places",
            None => "",
        };
        let told: Vec<String> = self
            .types
            .iter()
            .map(|of| match of {
                Type::Null => "nothing".to_owned(),
                Type::Bool => "`true` or `false`".to_owned(),
                Type::Whole if in_millis => format!("whole milliseconds{bounds}"),
                Type::Whole => format!("a whole number{bounds}"),
                Type::Number => format!("a number{bounds}{places}"),
                Type::Text => self.title.clone().unwrap_or_else(|| "a text".to_owned()),
                Type::List => "a list".to_owned(),
                Type::Map => match &self.title {
                    Some(title) => format!("{title}, written as a map"),
                    None => "a map".to_owned(),
                },
            })
            .collect();
        told.join(" or ")
    }
}
