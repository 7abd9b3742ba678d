//! The forms of sentences that the advice is made of.

/// A reason, as an answer of its own and as what a person who decides must know.
pub(super) struct ReasonWords {
    pub answer: String,
    pub to_a_person: String,
}

/// No, because of this; and what to do, if anything.
pub(super) fn no(because: impl Into<String>, then: &str) -> ReasonWords {
    let to_a_person = because.into();
    ReasonWords { answer: format!("No, because {to_a_person}{then}."), to_a_person }
}

/// A sentence that goes on within another one.
pub(super) fn lower_first(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect()
}
