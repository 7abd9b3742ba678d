//! The blocks of a policy as blocks of a playbook: waits, wishes of the upstream, retry budgets, breakers, keys.

use super::amount::Amount;
use super::policy::Block;
use super::unmet::Unmet;
use super::yaml::Yaml;

/// The longest time of a playbook, in milliseconds.
pub(super) const A_DAY: Amount = Amount::whole(86_400_000);

/// The waits of a policy.
#[derive(Clone, Debug)]
pub(super) struct Waits {
    list: Option<Yaml>,
    keys: Vec<(String, Yaml)>,
    base: Option<Amount>,
    by_class: Vec<(String, Amount)>,
}

impl Waits {
    /// Waits of no time; `modulo`: what is drawn is a raw number.
    pub fn none(modulo: bool) -> Waits {
        let list = (!modulo).then(|| Yaml::List(vec![Amount::whole(0).into()]));
        let keys = vec![("kind".to_owned(), Yaml::plain("constant")), ("jitter".to_owned(), Yaml::plain("modulo"))];
        Waits { list, keys, base: Some(Amount::whole(0)), by_class: Vec::new() }
    }

    /// Reads `backoff`. `modulo`: what is drawn is a raw number; `since_wish`: a wish of the upstream starts them anew.
    pub fn read(mut block: Block<'_>, modulo: bool, counter: Option<&str>) -> Result<Waits, Unmet> {
        let kind = block.text("kind")?.unwrap_or("exponential");
        if kind == "none" {
            return Ok(Waits::none(modulo)); // its other keys change nothing
        }
        let mut waits = Waits { list: None, keys: Vec::new(), base: block.amount("base_ms")?, by_class: Vec::new() };
        if let Some(mut classes) = block.block("base_ms_by_class")? {
            waits.by_class = classes.amounts()?.into_iter().map(|(class, base)| (class.to_owned(), base)).collect();
        }
        let own =
            block.word("counter", &[("attempts", "call"), ("since_pushback", "since_server_delay"), ("own", "own")])?;
        let mut add = |key: &str, value: Option<Yaml>| {
            waits.keys.extend(value.map(|value| (key.to_owned(), value)));
        };
        add("kind", Some(Yaml::plain(kind)));
        let increment = block.amount("increment_ms")?;
        let multiplier = block.amount("multiplier")?;
        match kind {
            "constant" | "fibonacci" | "polly_v2" => {}
            "list" => {
                let list = block.list("list_ms")?.iter().map(|value| Amount::of(value).map(Yaml::from));
                waits.list = list.collect::<Option<Vec<_>>>().map(Yaml::List);
                block.take("max_ms");
                return block.finish().map(|()| waits);
            }
            "linear" => add("increment_ms", increment.or(waits.base).map(Yaml::from)),
            "exponential" => add("multiplier", multiplier.map(Yaml::from)),
            "decorrelated" => {
                add("multiplier", multiplier.map(Yaml::from));
                add("from", block.text("from")?.map(Yaml::plain));
            }
            "polynomial" => {
                add("coef_ms", block.amount("coef_ms")?.map(Yaml::from));
                add("exponent", block.amount("exponent")?.map(Yaml::from));
            }
            _ => return Err(Unmet::unsupported(format!("a playbook has no backoff of kind `{kind}`"))),
        }
        let (max, cap) = (block.amount("max_ms")?, block.text("cap")?);
        add("max_ms", max.map(Yaml::from));
        add("cap", cap.map(Yaml::plain));
        add("floor_ms", block.amount("floor_ms")?.map(Yaml::from));
        add("round", block.word("rounding", &[("floor", "whole_ms"), ("none", "none")])?.map(Yaml::plain));
        add("jitter", block.block("jitter")?.map(jitter).transpose()?.flatten());
        add("counter", Some(Yaml::plain(counter.or(own).unwrap_or("call"))));
        if let Some(max) = max.filter(|_| cap != Some("after_jitter")) {
            // A first wait above the longest is the longest.
            let bases = waits.by_class.iter_mut().map(|(_, base)| base).chain(&mut waits.base);
            bases.for_each(|base| *base = max.min(*base));
        }
        block.finish().map(|()| waits)
    }

    /// The classes with waits of their own.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        self.by_class.iter().map(|(class, _)| class.as_str())
    }

    /// The key of `retry_with_backoff`, and its value for a class.
    pub fn key(&self, class: Option<&str>) -> (&'static str, Yaml) {
        if let Some(list) = &self.list {
            return ("backoff_ms", list.clone());
        }
        let own = class.and_then(|class| self.by_class.iter().find(|(name, _)| name == class)).map(|(_, base)| *base);
        ("backoff", Yaml::Map(self.with_base(own)))
    }

    /// The formula without what counts retries, for open periods.
    pub fn formula(&self) -> Yaml {
        Yaml::Map(self.with_base(None).into_iter().filter(|(key, _)| key != "counter").collect())
    }

    fn with_base(&self, base: Option<Amount>) -> Vec<(String, Yaml)> {
        let mut keys = self.keys.clone();
        keys.extend(base.or(self.base).map(|base| ("base_ms".to_owned(), base.into())));
        keys
    }
}

fn jitter(mut block: Block<'_>) -> Result<Option<Yaml>, Unmet> {
    let kind = block.text("kind")?.unwrap_or("none");
    let one = |kind: &str, value| Ok(Some(Yaml::Map(vec![(kind.to_owned(), value)])));
    match kind {
        "none" | "full" | "equal" | "modulo" => Ok(Some(Yaml::plain(kind))),
        "proportional" | "proportional_inclusive" => {
            let (low, high) = (block.amount("low")?, block.amount("high")?);
            // A unit that is included is shorter than a microsecond, or it counts.
            let unit = block.amount("unit_ms")?.filter(|unit| *unit >= Amount::millionths(1_000));
            if let Some(unit) = unit {
                return Err(Unmet::unsupported(format!("no jitter includes a further {unit} ms")));
            }
            one("proportional", Yaml::map([("low", low.map(Yaml::from)), ("high", high.map(Yaml::from))]))
        }
        "absolute" => one("absolute", Yaml::map([("ms", block.amount("ms")?.map(Yaml::from))])),
        "additive" => {
            let (ms, per_retry) = (block.amount("ms")?, block.amount("ms_per_n")?);
            let ms = ms.unwrap_or(Amount::whole(0));
            one("additive", Yaml::map([("ms", Some(ms.into())), ("ms_per_retry", per_retry.map(Yaml::from))]))
        }
        _ => Err(Unmet::unsupported(format!("a playbook has no jitter of kind `{kind}`"))),
    }
}

/// The wishes of the upstream: what a verdict says of them, and the headers that are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Wishes {
    pub mode: Option<Yaml>,
    pub sources: Vec<Yaml>,
    /// The headers by name.
    pub headers: Vec<String>,
    /// What they change in the count of waits.
    pub counter: Option<&'static str>,
}

impl Wishes {
    /// Reads `server_delay`.
    pub fn read(mut block: Block<'_>) -> Result<Wishes, Unmet> {
        let mut wishes = Wishes::default();
        for source in block.list("sources")? {
            let map = source.as_object().ok_or_else(|| block.odd("sources", source))?;
            let mut keys = Block::new("server_delay.sources", map);
            let header = keys.text("header")?.unwrap_or_default();
            let format = keys.text("format")?.map(Yaml::plain);
            let float = keys.is("float")?.map(Yaml::from);
            keys.finish()?;
            wishes.headers.push(header.to_owned());
            let source = Yaml::map([("header", Some(Yaml::quoted(header))), ("format", format), ("float", float)]);
            wishes.sources.push(source);
        }
        if block.text("precedence")?.is_some_and(|precedence| precedence != "configured") {
            return Err(Unmet::unsupported("headers are read in the order of the playbook"));
        }
        let max = block.amount("max_ms")?;
        let over_max = block.word("over_max", &[("discard", "discard"), ("cap", "cap")])?;
        let over_max = over_max.or(max.map(|_| "discard")).map(Yaml::plain);
        let mode = block.text("mode")?.unwrap_or("exact");
        let mut plain = |key| block.text(key).map(|word| word.map(Yaml::plain));
        let (zero, invalid) = (plain("zero")?, plain("invalid")?);
        let (negative, multiple) = (plain("negative")?, plain("multiple")?);
        let multiple = multiple.filter(|word| *word != Yaml::plain("first"));
        let resets = block.is("resets_backoff")? == Some(true);
        let freezes = block.is("advances_backoff")? == Some(false);
        wishes.counter = if resets { Some("since_server_delay") } else { freezes.then_some("own") };
        wishes.mode = Some(Yaml::map([
            ("mode", Some(Yaml::plain(mode))),
            ("window_ms", block.amount("window_ms")?.map(Yaml::from)),
            ("spread", block.amount("spread")?.map(Yaml::from)),
            ("max_ms", max.map(Yaml::from)),
            ("over_max", over_max.filter(|_| mode != "at_most" && max.is_some())),
            ("zero", zero),
            ("invalid", invalid),
            ("negative", negative),
            ("multiple", multiple),
        ]));
        block.finish().map(|()| wishes)
    }
}

/// A retry budget, and what the retries of classes take of it.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    pub keys: Vec<(String, Yaml)>,
    pub costs: Vec<(String, Amount)>,
}

impl Budget {
    /// Reads `budget`; none: there is none.
    pub fn read(mut block: Block<'_>) -> Result<Option<Budget>, Unmet> {
        let kind = block.text("kind")?.unwrap_or("none");
        let numbers: &[&str] = match kind {
            "none" => return Ok(None),
            "token_bucket" => &["capacity", "cost", "no_retry_credit", "success_credit", "refill_per_sec"],
            "throttle" => &["max_tokens", "token_ratio", "allow_above"],
            "deposit_withdraw" => &["ttl_ms", "min_retries_per_sec", "retry_percent"],
            "concurrency_ratio" => &["budget_percent", "min_retry_concurrency"],
            "inflight_share" => &["max_share", "min_retry_concurrency"],
            _ => return Err(Unmet::unsupported(format!("a playbook has no retry budget of kind `{kind}`"))),
        };
        let mut keys = vec![("kind".to_owned(), Yaml::plain(kind))];
        for key in numbers {
            keys.extend(block.amount(key)?.map(|amount| ((*key).to_owned(), amount.into())));
        }
        for key in ["refund", "rounding"] {
            keys.extend(block.text(key)?.map(|word| (key.to_owned(), Yaml::plain(word))));
        }
        if block.amount("failure_cost")?.is_some_and(|cost| cost != Amount::whole(1)) {
            return Err(Unmet::unsupported("a failure takes one token"));
        }
        let costs = block.block("cost_by_class")?.map(|mut costs| costs.amounts()).transpose()?.unwrap_or_default();
        let costs = costs.into_iter().map(|(class, cost)| (class.to_owned(), cost)).collect();
        block.finish().map(|()| Some(Budget { keys, costs }))
    }
}

/// Reads `breaker`.
pub(super) fn breaker(mut block: Block<'_>) -> Result<Yaml, Unmet> {
    let window = block.block("window")?.map(window).transpose()?;
    let part = block.amount("failure_rate")?;
    let (slow, slow_rate) = (block.amount("slow_call_ms")?, block.amount("slow_call_rate")?);
    // More than all never fail: such a breaker opens as seldom as one for answers that take over a day.
    let never = part.is_some_and(|part| part > Amount::whole(1)).then_some((A_DAY, Amount::whole(1)));
    let (slow, slow_rate) = slow.zip(slow_rate).or(never).unzip();
    let growing = block.block("open_backoff")?.map(|formula| Waits::read(formula, false, None)).transpose()?;
    let open = block.amount("open_ms")?.unwrap_or(Amount::whole(30_000));
    let another = block.amount("trial_per_open_ms")?;
    let half_open = block.block("half_open")?.map(|half_open| probes(half_open, another)).transpose()?;
    let rules = Yaml::map([
        ("window", window),
        ("min_calls", block.amount("min_calls")?.map(Yaml::from)),
        ("failure_rate", part.filter(|part| *part <= Amount::whole(1)).map(Yaml::from)),
        ("failure_count", block.amount("failure_count")?.map(Yaml::from)),
        ("slow_call_ms", slow.map(Yaml::from)),
        ("slow_call_rate", slow_rate.map(Yaml::from)),
        ("evaluate_on", block.text("evaluate_on")?.map(Yaml::plain)),
        ("open_ms", growing.is_none().then(|| open.into())),
        ("open_backoff", growing.map(|growing| growing.formula())),
        ("open_boundary", block.text("open_boundary")?.map(Yaml::quoted)),
        ("half_open", half_open),
    ]);
    // How the case reads a rate, and which changes by hand it allows.
    for key in ["rate_null_below_min", "strict_transitions"] {
        block.is(key)?;
    }
    block.finish().map(|()| rules)
}

/// Reads the window of a breaker.
pub(super) fn window(mut block: Block<'_>) -> Result<Yaml, Unmet> {
    let keys = match block.text("kind")?.unwrap_or("count") {
        "count" => Yaml::map([("calls", block.amount("size")?.map(Yaml::from))]),
        "time" => Yaml::map([
            ("time_ms", block.amount("size_ms")?.map(Yaml::from)),
            ("buckets", block.amount("buckets")?.map(Yaml::from)),
            ("align", block.text("align")?.map(Yaml::plain)),
        ]),
        kind => return Err(Unmet::unsupported(format!("a breaker has no window of kind `{kind}`"))),
    };
    block.finish().map(|()| keys)
}

fn probes(mut block: Block<'_>, another: Option<Amount>) -> Result<Yaml, Unmet> {
    let mode = block.text("mode")?.unwrap_or("single_probe");
    let permits = block.amount("permits")?;
    if mode == "single_probe" && permits.is_some_and(|permits| permits != Amount::whole(1)) {
        return Err(Unmet::unsupported("a single probe is one"));
    }
    let max_wait = block.amount("max_wait_ms")?;
    let keys = Yaml::map([
        ("mode", Some(Yaml::plain(mode))),
        ("another_after_ms", another.map(Yaml::from)),
        ("permits", permits.filter(|_| mode != "single_probe").map(Yaml::from)),
        ("max_wait_ms", max_wait.map(Yaml::from)),
        ("on_max_wait", block.text("on_max_wait")?.filter(|_| max_wait.is_some()).map(Yaml::plain)),
        ("capacity", block.amount("capacity")?.map(Yaml::from)),
        ("success_threshold", block.amount("success_threshold")?.map(Yaml::from)),
        ("failure_threshold", block.amount("failure_threshold")?.map(Yaml::from)),
    ]);
    block.finish().map(|()| keys)
}
