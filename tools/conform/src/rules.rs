//! The rules of a case's playbook: which failures are sent again, in the order in which a policy decides.

use serde_json::Value;

use super::amount::Amount;
use super::case::CaseKind;
use super::matchers::{Conditions, any, both, conditions, header};
use super::policy::Block;
use super::unmet::Unmet;
use super::yaml::Yaml;

/// The verdict of failures that are sent again.
pub(super) const AGAIN: &str = "again";
/// The verdict of failures that are not.
pub(super) const NOT_RETRYABLE: &str = "not_retryable";
/// The verdict of a wish to wait for a failure that is otherwise not sent again.
const PUSHED_BACK: &str = "pushed_back";

/// Failures that are sent again in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    /// Their class, if it has a wait or a cost of its own.
    pub class: Option<String>,
    /// Whether they need an idempotent call.
    pub may_have_acted: bool,
    /// Whether their retries cost nothing.
    pub is_free: bool,
}

impl Variant {
    /// The name of the verdict.
    pub fn name(&self) -> String {
        let base = if self.is_free { PUSHED_BACK } else { AGAIN };
        let class = self.class.as_ref().map(|class| format!("_{class}")).unwrap_or_default();
        format!("{base}{class}{}", if self.may_have_acted { "_if_idempotent" } else { "" })
    }
}

/// The rules, and the verdicts that they need.
#[derive(Debug)]
pub(super) struct Rules {
    rules: Vec<(Conditions, String)>,
    /// What is sent again.
    pub variants: Vec<Variant>,
    /// What is sent again without being counted, and how often.
    pub uncounted: Vec<(String, Amount)>,
    /// What ends a call, by its reason.
    pub ends: Vec<&'static str>,
    /// The verdict of all other failures.
    pub otherwise: &'static str,
    /// Whether some failure is sent again only for idempotent calls.
    pub guards: bool,
}

impl Rules {
    /// Reads the matchers of `retry`, of a case of this kind. `classes` have waits or costs of their own; `wishes` are the headers by which the
    /// upstream says how long to wait.
    pub fn read(retry: &mut Block<'_>, kind: CaseKind, classes: &[String], wishes: &[String]) -> Result<Rules, Unmet> {
        let mut rules = Rules {
            rules: Vec::new(),
            variants: vec![Variant { class: None, may_have_acted: false, is_free: false }],
            uncounted: Vec::new(),
            ends: vec![NOT_RETRYABLE],
            otherwise: NOT_RETRYABLE,
            guards: false,
        };
        let is_enabled = retry.is("enabled")? != Some(false);
        let (first, methods, never) = (retry.list("first")?, retry.list("methods")?, retry.list("never_on")?);
        // A case of keys has no policy of retries, and sends nothing again.
        let all = if kind == CaseKind::Dedupe { Vec::new() } else { vec![any()] };
        let mut on = retry.take("retry_on").map_or(Ok(all), matchers)?;
        if kind == CaseKind::Backoff {
            on = vec![any()]; // a wait follows any failure
        }
        let transparent = retry.block("transparent")?;
        let guarded = Guarded::read(retry)?;
        let order: Vec<&str> = retry.list("order")?.iter().filter_map(Value::as_str).collect();
        let overrides = retry.is("pushback_overrides_class")? == Some(true);
        let place = |step| order.iter().position(|one| *one == step);
        let wish_first = place("pushback").zip(place("classify")).is_some_and(|(wish, class)| wish < class);
        retry.is("charge_pushback_stop")?;
        if !is_enabled {
            rules.ends.push("disabled");
            rules.otherwise = "disabled";
            return Ok(rules);
        }
        if kind == CaseKind::Retry {
            rules.end(vec![("header", header("committed", "present", true.into()))], "committed");
        }
        rules.transparent(transparent)?;
        rules.overrides(first)?;
        if !methods.is_empty() {
            let names = methods.iter().filter_map(Value::as_str).map(Yaml::quoted).collect();
            let other = Yaml::map([
                ("name", Some(Yaml::quoted("method"))),
                ("equals", Some(Yaml::List(names))),
                ("invert", Some(true.into())),
            ]);
            rules.end(vec![("header", other)], NOT_RETRYABLE);
        }
        for conditions in matchers(&Value::from(never))? {
            rules.end(conditions, NOT_RETRYABLE);
        }
        rules.again(&on, classes, &guarded)?;
        rules.wishes(wishes, overrides, wish_first);
        Ok(rules)
    }

    /// The rules as they are written.
    pub fn yaml(&self) -> impl Iterator<Item = Yaml> {
        self.rules.iter().enumerate().map(|(n, (conditions, verdict))| {
            let when = conditions.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
            Yaml::map([
                ("rule", Some(Yaml::plain(format!("rule-{}", n + 1)))),
                ("when", Some(Yaml::Map(when))),
                ("verdict", Some(Yaml::plain(verdict))),
            ])
        })
    }

    fn end(&mut self, conditions: Conditions, end: &'static str) {
        if !self.ends.contains(&end) {
            self.ends.push(end);
        }
        self.rules.push((conditions, end.to_owned()));
    }

    /// Requests that the upstream never saw, and the one that it refused before anything else happened.
    fn transparent(&mut self, block: Option<Block<'_>>) -> Result<(), Unmet> {
        let Some(mut block) = block else { return Ok(()) };
        let of = |word| ("header", header("unprocessed", "equals", Yaml::quoted(word)));
        for word in ["refused", "miscarried"] {
            let most = block.amount(word)?.unwrap_or(Amount::whole(0));
            if most > Amount::whole(0) {
                let first = (word == "refused").then(|| ("attempt", Amount::whole(1).into()));
                self.rules.push((std::iter::once(of(word)).chain(first).collect(), word.to_owned()));
                self.uncounted.push((word.to_owned(), most));
            }
        }
        self.end(vec![of("dropped")], NOT_RETRYABLE);
        block.finish()
    }

    /// What decides before all matchers.
    fn overrides(&mut self, first: &[Value]) -> Result<(), Unmet> {
        for pair in first {
            let (Some(matcher), Some(retries)) = (pair.get(0), pair.get(1).and_then(Value::as_bool)) else {
                return Err(Unmet::unsupported(format!("`first: {pair}` is no matcher with its answer")));
            };
            for conditions in conditions(matcher)? {
                match retries {
                    true => self.rules.push((conditions, AGAIN.to_owned())),
                    false => self.end(conditions, NOT_RETRYABLE),
                }
            }
        }
        Ok(())
    }

    /// What is sent again: by class, and only for idempotent calls where the policy says so.
    fn again(&mut self, on: &[Conditions], classes: &[String], guarded: &Guarded) -> Result<(), Unmet> {
        let classes = || classes.iter().map(Some).chain([None]);
        let guards: Vec<(bool, Conditions)> = match guarded {
            Guarded::Never => vec![(false, any())],
            Guarded::Always => vec![(true, any())],
            Guarded::On(matchers) => {
                matchers.iter().map(|matcher| (true, matcher.clone())).chain([(false, any())]).collect()
            }
        };
        self.guards = *guarded != Guarded::Never;
        for (may_have_acted, guard) in guards {
            for class in classes() {
                let kind = class.map_or_else(any, |class| vec![("kind", Yaml::quoted(class))]);
                let variant = Variant { class: class.cloned(), may_have_acted, is_free: false };
                for matcher in on {
                    let Some(narrow) = both(matcher, &kind)? else { continue };
                    let Some(conditions) = both(&narrow, &guard)? else { continue };
                    if self.rules.iter().any(|(known, _)| *known == conditions) {
                        continue; // a rule before it decides
                    }
                    self.rules.push((conditions, variant.name()));
                    if !self.variants.contains(&variant) {
                        self.variants.push(variant.clone());
                    }
                }
            }
        }
        Ok(())
    }

    /// A wish to wait that decides before the class does: one that can be read is granted if `overrides`, and any other
    /// one ends the call by itself, as a failure that counts.
    fn wishes(&mut self, headers: &[String], overrides: bool, is_first: bool) {
        for name in headers.iter().filter(|_| overrides || is_first) {
            let readable = Yaml::List(vec![Amount::whole(0).into(), Amount::whole(1 << 50).into()]);
            if overrides {
                let variant = Variant { class: None, may_have_acted: false, is_free: true };
                self.rules.push((vec![("header", header(name, "range", readable.clone()))], variant.name()));
                self.variants.push(variant);
            }
            let unreadable = Yaml::map([
                ("name", Some(Yaml::quoted(name))),
                ("range", Some(readable)),
                ("invert", Some(true.into())),
            ]);
            self.rules.push((vec![("header", unreadable)], AGAIN.to_owned()));
        }
    }
}

/// The failures that are sent again only for idempotent calls.
#[derive(PartialEq, Eq)]
enum Guarded {
    Never,
    Always,
    On(Vec<Conditions>),
}

impl Guarded {
    fn read(retry: &mut Block<'_>) -> Result<Guarded, Unmet> {
        match retry.take("idempotent_only") {
            None | Some(Value::Bool(false)) => Ok(Guarded::Never),
            Some(Value::Bool(true)) => Ok(Guarded::Always),
            Some(list) => matchers(list).map(Guarded::On),
        }
    }
}

fn matchers(list: &Value) -> Result<Vec<Conditions>, Unmet> {
    let list = list.as_array().ok_or_else(|| Unmet::unsupported(format!("{list} is no list of matchers")))?;
    let all: Vec<Vec<Conditions>> = list.iter().map(conditions).collect::<Result<_, _>>()?;
    Ok(all.into_iter().flatten().collect())
}
