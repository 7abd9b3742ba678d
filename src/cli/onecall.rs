//! Finds the one call of a trace that is meant: by reference, or by its own id. Says which ones are near where none is.

use super::exit::Failure;
use super::reading::each_call;
use super::{files, inputs};
use crate::diagnostic::did_you_mean;
use crate::report::text;
use crate::trace::assemble::{AssembleOptions, TracedCall, Writes};
use crate::trace::redact::RedactionRules;

/// References that are listed where a name does not tell.
const LISTED: usize = 10;

/// Names that are remembered, to say which is near.
const REMEMBERED: usize = 100_000;

/// How the call is looked for.
pub struct Search<'a> {
    /// The command, for those that it suggests.
    pub command: &'a str,
    /// The input.
    pub input: &'a str,
    /// The reference or id; none where the input has a single call.
    pub wanted: Option<&'a str>,
    /// The mapping file of a foreign input.
    pub map: Option<&'a str>,
    /// How a trace is read.
    pub options: AssembleOptions,
    /// What must not be shown.
    pub redaction: &'a RedactionRules,
}

impl Search<'_> {
    /// Finds the call in a trace; `writes` says which tools change the upstream.
    ///
    /// # Errors
    /// An input that cannot be read; no such call, or several.
    pub fn in_trace(&self, writes: &Writes<'_>) -> Result<Box<TracedCall>, Failure> {
        let mut found: Vec<Box<TracedCall>> = Vec::new();
        let mut count = 0_usize;
        let mut names: Vec<String> = Vec::new();
        self.each(writes, |traced| {
            let call = &traced.call;
            let reference = call.reference();
            let is_wanted = self.wanted.is_none_or(|wanted| reference == wanted || call.id() == Some(wanted));
            if names.len() < REMEMBERED {
                names.extend([Some(reference.as_str()), call.id()].into_iter().flatten().map(str::to_owned));
            }
            if is_wanted {
                count += 1;
                // A reference is unique, and stands above a call's own label.
                if Some(reference.as_str()) == self.wanted {
                    found.insert(0, traced);
                } else if found.len() <= LISTED {
                    found.push(traced);
                }
            }
        })?;
        let exact = found.first().is_some_and(|first| Some(first.call.reference().as_str()) == self.wanted);
        if count > 1 && !exact {
            let references: Vec<String> = found.iter().map(|traced| traced.call.reference()).collect();
            return Err(self.several(&references.iter().map(String::as_str).collect::<Vec<_>>()));
        }
        let names = || names.iter().map(String::as_str).collect::<Vec<_>>();
        found.into_iter().next().ok_or_else(|| self.unknown(self.wanted.unwrap_or(""), &names()))
    }

    /// Gives every call of the trace to `each`, in the order in which they close.
    ///
    /// # Errors
    /// An input that cannot be read.
    pub fn each(&self, writes: &Writes<'_>, mut each: impl FnMut(Box<TracedCall>)) -> Result<(), Failure> {
        let mapping = self.map.map(inputs::mapping).transpose()?;
        let input = inputs::trace(self.input, mapping.as_ref())?;
        each_call(0, input, self.options.clone(), self.redaction, writes, |closed| each(closed.into_box())).map(drop)
    }

    /// That several calls may be meant.
    pub fn several(&self, names: &[&str]) -> Failure {
        let more = if names.len() > LISTED { ", and more" } else { "" };
        let listed = listed(names);
        let said = match self.wanted {
            Some(wanted) => format!("`{wanted}` is the id of several calls: {}{more}", listed.join(", ")),
            None => format!("say which call: {}{more}", listed.join(", ")),
        };
        Failure::said(said).next(self.again(listed.first().map_or("", |first| first)))
    }

    /// That no call is meant.
    pub fn unknown(&self, wanted: &str, names: &[&str]) -> Failure {
        let failure = Failure::said(format!("there is no call `{wanted}` in {}", files::display_name(self.input)));
        if names.is_empty() {
            return failure.help("it holds no calls at all");
        }
        match did_you_mean(wanted, names.iter().copied()) {
            Some(near) => failure.help(format!("did you mean `{near}`?")).next(self.again(near)),
            None => failure
                .help(format!(
                    "calls are named by run and number, or by their own id, such as {}",
                    listed(names).join(", ")
                ))
                .next(format!("playproof replay {}", text::shell_word(self.input))),
        }
    }

    fn again(&self, call: &str) -> String {
        format!("playproof {} {}", self.command, text::shell_words(&[self.input, "--call", call]))
    }
}

fn listed(names: &[&str]) -> Vec<String> {
    names.iter().take(LISTED).map(|name| text::fitted(name, 60).into_owned()).collect()
}
