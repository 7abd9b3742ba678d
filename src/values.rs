//! Checks values of the command line beyond their type: ranges of numbers, empty names. The options are defined beside
//! the commands.

use std::any::TypeId;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command};

use super::{files, meant};
use playproof_report::text::count;

/// Options whose value may be empty: a trace may name its runs and calls so.
const OF_A_TRACE: [&str; 2] = ["run", "call"];

/// Reads a whole number of this range.
pub fn whole<N: TryFrom<u64>>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<N, String> + Clone {
    move |given| {
        let number = given.parse().ok().filter(|number| range.contains(number));
        let (from, to) = (count(*range.start()), count(*range.end()));
        number.and_then(|number| N::try_from(number).ok()).ok_or(format!("expected a whole number from {from} to {to}"))
    }
}

/// Reads one of the words of `table`, and names them all in its help and errors.
pub fn word<T: Copy + Send + Sync + 'static>(table: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(table.iter().map(|(word, _)| *word)).try_map(|given| {
        let known = table.iter().find(|(word, _)| *word == given);
        known.map(|(_, meaning)| *meaning).ok_or("not one of the words")
    })
}

/// Reads a number of threads.
///
/// # Errors
/// No number, or none in the range.
pub fn threads(given: &str) -> Result<NonZeroUsize, String> {
    let threads = whole::<usize>(1..=1_000)(given);
    let all = |said| format!("{said}; without the option all cores work");
    threads.map_err(all).map(|threads| NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN)) // the range begins at 1
}

/// A share in tenths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permille(pub usize);

/// A percentage: `80`, `87.5` or `87.5%`.
///
/// # Errors
/// No percentage, or one beyond 100.
pub fn permille(given: &str) -> Result<Permille, String> {
    let bad = || "expected a percentage from 0 to 100 with at most one decimal".to_owned();
    let number = given.trim_end_matches('%').trim_end();
    let (whole, tenths) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str, most: usize| {
        let is_number = (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<usize>().ok().filter(|_| is_number)
    };
    let permille = digits(whole, 3).zip(digits(tenths, 1)).map(|(whole, tenths)| whole * 10 + tenths);
    permille.filter(|permille| *permille <= 1_000).map(Permille).ok_or_else(bad)
}

/// The argument; one that wants a number also takes `-1`, so that its own error tells the range.
pub fn taking_signs(arg: Arg) -> Arg {
    let numbers = [TypeId::of::<u64>(), TypeId::of::<u16>(), TypeId::of::<NonZeroUsize>(), TypeId::of::<Permille>()];
    let value = arg.get_value_parser().type_id();
    let is_number = numbers.iter().any(|number| value == *number);
    arg.allow_negative_numbers(is_number)
}

/// Refuses a value that is empty: nothing is called so.
///
/// # Errors
/// An empty value.
pub fn refuse_empty(definition: &mut Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    if let Some((name, below)) = matches.subcommand() {
        let Some(command) = definition.find_subcommand_mut(name) else { return Ok(()) };
        return refuse_empty(command, below);
    }
    let is_empty = |arg: &&Arg| {
        let id = arg.get_id().as_str();
        let given = matches.try_get_raw(id).ok().flatten();
        !OF_A_TRACE.contains(&id) && given.is_some_and(|mut values| values.any(|value| value.is_empty()))
    };
    let empty = definition.get_arguments().find(is_empty).map(ToString::to_string);
    empty.map_or(Ok(()), |arg| {
        let said = format!("invalid value '' for '{arg}': it is empty");
        Err(definition.error(ErrorKind::ValueValidation, said))
    })
}

/// The error without tips that do not help: to pass a word that names no file as a value behind `--`, or to allow what
/// was not asked for.
pub fn without_vain_tip(mut error: clap::Error) -> clap::Error {
    let names_a_file = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => files::exists(word),
        _ => true,
    };
    if error.kind() == ErrorKind::UnknownArgument && !names_a_file {
        error.remove(ContextKind::Suggested);
    }
    // Typed by mistake, the flag would use files outside the project.
    if matches!(error.get(ContextKind::SuggestedArg), Some(ContextValue::String(arg)) if arg == "--allow-outside") {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
    error
}

/// The error with the command that has another name here.
pub fn with_new_name(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    if let Some(now) = meant::command_word(typed) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::String(now.to_owned()));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_read_to_a_tenth() {
        assert_eq!(permille("80"), Ok(Permille(800)));
        assert_eq!(permille("87.5%"), Ok(Permille(875)));
        assert_eq!(permille("100"), Ok(Permille(1_000)));
        for bad in ["", "-1", "101", "100.1", "8.55", "x", ".5", "1e2"] {
            assert!(permille(bad).is_err(), "{bad}");
        }
    }
    use crate::manual::definition;

    /// Every option that has a value, with its command.
    fn options(command: &Command, words: &[String]) -> Vec<(Vec<String>, String)> {
        let own = command.get_arguments().filter(|arg| arg.get_action().takes_values());
        let own = own.filter_map(|arg| Some((words.to_vec(), format!("--{}", arg.get_long()?))));
        let below = command.get_subcommands().flat_map(|below| {
            let words = [words, &[below.get_name().to_owned()]].concat();
            options(below, &words)
        });
        own.chain(below).collect()
    }

    #[test]
    fn no_option_says_of_a_number_what_a_parser_says_or_gives_a_tip_that_cannot_work() {
        let options = options(&definition(80), &["playproof".to_owned()]);
        assert!(options.len() > 50, "{options:?}");
        for (words, option) in options {
            for value in ["x", "-1", "99999999999999999999999"] {
                let typed = [&words[..], &[option.clone(), value.to_owned()]].concat();
                let refused = definition(80).try_get_matches_from(&typed).map_err(without_vain_tip);
                let said = refused.err().map(|error| error.to_string()).unwrap_or_default();
                for odd in ["digit", "too large", "not in", "tip: to pass"] {
                    assert!(!said.contains(odd), "{typed:?}: {said}");
                }
            }
        }
    }

    #[test]
    fn a_mistyped_flag_is_never_taken_for_the_one_that_allows_paths_outside() {
        let said = |flag: &str| {
            let refused = definition(80).try_get_matches_from(["playproof", "accept", flag]);
            refused.map_err(without_vain_tip).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert!(said("--all").starts_with("error: unexpected argument '--all'"), "{}", said("--all"));
        assert!(!said("--all").contains("--allow-outside"), "{}", said("--all"));
        assert!(said("--reson").contains("a similar argument exists: '--reason'"), "{}", said("--reson"));
    }

    #[test]
    fn a_number_out_of_its_range_and_what_is_no_number_are_told_the_range() {
        let top = whole::<u16>(1..=1_000);
        assert_eq!((top("1"), top("1000")), (Ok(1), Ok(1_000)));
        for given in ["0", "1001", "-1", "x", "", " 3", "1.5", "99999999999999999999999"] {
            assert_eq!(top(given), Err("expected a whole number from 1 to 1,000".to_owned()), "{given}");
        }
        assert_eq!(whole::<u64>(0..=u64::MAX)("18446744073709551615"), Ok(u64::MAX));
        assert!(threads("0").is_err() && threads("8") == Ok(NonZeroUsize::MIN.saturating_add(7)));
    }
}
