//! Arguments that are not compared as they are written: those with an idempotency key among them, and those that are an
//! object as JSON text. Hashes and compares nothing else.

use std::borrow::Cow;

use crate::{canonical, json};
use playproof_engine::call::KEY_ARGUMENTS;

/// What arguments mean that are not compared as they are written.
struct ArgsMeaning {
    /// The hash of what is compared.
    hash: u128,
    /// The argument that is an idempotency key. It says which request this is, not what is wanted: it is not compared.
    key: Option<String>,
}

/// The hash of arguments by meaning (0: there are none) and the key of their call. `read` is the hash of the arguments as
/// written and whether one of them has the name of a key, if both are known; `own` is the key that the line names, which
/// counts before an argument.
#[inline]
pub fn of<'a>(
    args: Option<&str>,
    read: Option<(u128, bool)>,
    own: Option<Cow<'a, str>>,
) -> (u128, Option<Cow<'a, str>>) {
    let Some(args) = args else { return (0, own) };
    let is_rare = args.starts_with('"') || read.map_or_else(|| args.contains("idempotency"), |(_, has_key)| has_key);
    match if is_rare { rare_meaning(args) } else { None } {
        Some(ArgsMeaning { hash, key }) => (hash, own.or(key.map(Cow::Owned))),
        None => (read.map_or_else(|| canonical::hash_of(args), |(hash, _)| hash), own),
    }
}

/// The meaning of arguments that are an object as JSON text, or that hold an idempotency key; none for all others.
#[cold]
fn rare_meaning(args: &str) -> Option<ArgsMeaning> {
    let text: Option<String> = args.starts_with('"').then(|| serde_json::from_str(args).ok()).flatten();
    let object = text.as_deref().filter(|text| json::parse(text).ok().and_then(json::object).is_some());
    match without_key(object.unwrap_or(args)) {
        Some((rest, key)) => Some(ArgsMeaning { hash: canonical::hash_of(&rest), key }),
        None => object.map(|object| ArgsMeaning { hash: canonical::hash_of(object), key: None }),
    }
}

/// Arguments without those that are an idempotency key, and the first that is one: a text that is not blank, or a number.
/// `null`, blanks, objects, lists and booleans are no key, and are no part of what is wanted either. None: no argument has such a name.
pub fn without_key(args: &str) -> Option<(String, Option<String>)> {
    if !args.contains("idempotency") {
        return None;
    }
    let fields = json::object(json::parse(args).ok()?)?;
    if !fields.iter().any(|(name, _)| KEY_ARGUMENTS.contains(&name)) {
        return None;
    }
    let value = |name| fields.get(name).filter(|value| !matches!(value.get(), "true" | "false"));
    let key = |name| json::scalar(value(name)?).filter(|key| !key.trim().is_empty()).map(Cow::into_owned);
    let rest = fields.iter().filter(|(field, _)| !KEY_ARGUMENTS.contains(field));
    let rest = rest.map(|(field, value)| Some(format!("{}:{}", serde_json::to_string(field).ok()?, value.get())));
    Some((format!("{{{}}}", rest.collect::<Option<Vec<_>>>()?.join(",")), KEY_ARGUMENTS.into_iter().find_map(key)))
}
