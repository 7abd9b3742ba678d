//! Tool facts, by name or glob, and which row applies if several match. Does not know where rows come from.

use std::sync::Arc;

use super::guess::{is_built_in_read, seems_to_read};
use super::request::ArgumentSchema;
use super::same_if::SameIf;
use crate::event::{Finding, FindingId, FindingSeverity};
use crate::glob::Glob;
use crate::time::Duration;
use crate::words;

/// The timeout of an attempt if neither the call nor the tool sets one.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_millis(30_000);

words! {
    /// Whether a tool changes the upstream.
    pub enum Access {
        /// It changes nothing.
        Read = "read",
        /// It may change something.
        Write = "write",
    }
}

/// The facts of one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ToolFacts {
    /// Whether it changes the upstream.
    pub access: Access,
    /// Whether doing it twice has the effect of doing it once.
    pub idempotent: bool,
    /// Whether each call is a new intent, even with the same arguments.
    pub repeatable: bool,
    /// The timeout of an attempt.
    pub timeout: Duration,
    /// Whether the upstream pays no attention to idempotency keys.
    pub ignores_keys: bool,
    /// Whether a call without an idempotency key is refused.
    pub needs_key: bool,
    /// Whether a request is never sent again, whatever is known of the attempts so far.
    pub never_retried: bool,
    /// Whether the same request in another run, input or file is the same intent.
    pub across_runs: bool,
    /// Whether a request is done at most once in its transaction.
    pub once: bool,
    /// Whether the client of the tool sends a request again by itself: then the answer is the answer to the last one. It
    /// decides nothing; `explain` tells.
    pub resends: bool,
    /// Whether people declared the facts; otherwise they are assumed.
    pub declared: bool,
    /// Whether the name of a tool that people did not declare suggests that it only reads. It weakens findings, and decides
    /// nothing.
    pub seems_to_read: bool,
}

impl ToolFacts {
    /// Whether each request adds an effect, of the same intent or of its own: doing it twice does more than doing it once.
    pub const fn adds_effects(self) -> bool {
        matches!(self.access, Access::Write) && !self.idempotent
    }

    /// The assumed facts of an undeclared tool: a write that is not idempotent.
    pub const ASSUMED: ToolFacts = ToolFacts {
        access: Access::Write,
        idempotent: false,
        repeatable: false,
        timeout: DEFAULT_TIMEOUT,
        ignores_keys: false,
        needs_key: false,
        never_retried: false,
        across_runs: false,
        once: false,
        resends: false,
        declared: false,
        seems_to_read: false,
    };

    /// The facts of what a program does with a transaction: nothing is sent for it.
    pub const NOTHING_SENT: ToolFacts = ToolFacts::BUILT_IN_READ;

    /// The facts of a tool that comes with an agent program and only reads.
    const BUILT_IN_READ: ToolFacts = ToolFacts { access: Access::Read, declared: true, ..ToolFacts::ASSUMED };

    /// A finding about a call of the tool, as serious as the facts make it: that an evident read may have acted twice is
    /// only worth knowing.
    #[must_use]
    pub fn weigh(self, finding: Finding) -> Finding {
        let is_weak = self.seems_to_read && finding.id == FindingId::PossibleDuplicateEffect;
        Finding { severity: if is_weak { FindingSeverity::Note } else { finding.severity }, ..finding }
    }
}

/// Tool facts by name or glob.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    rows: Arc<[ToolRow]>,
    /// Weaker rows, the strongest first. They supply the facts that stronger rows omit.
    weaker: Vec<Arc<[ToolRow]>>,
    /// Whether any row says what arguments its tool takes.
    any_schema: bool,
    /// Whether any row names a server.
    any_server: bool,
    /// Whether any row says what makes a request.
    any_request: bool,
    /// Whether any row says that its requests are done once.
    pub any_once: bool,
}

/// The facts of one name or glob.
#[derive(Clone, Debug)]
pub struct ToolRow {
    /// As written.
    pub pattern: String,
    /// Its facts; omitted ones have the assumed value.
    pub facts: ToolFacts,
    /// The facts that it leaves to weaker rows.
    omitted: OmittedFacts,
    /// The arguments that it takes, if it says so.
    schema: Option<ArgumentSchema>,
    /// What its breaker and its retry budgets are kept for, if it says so.
    server: Option<Arc<str>>,
    /// The arguments that make a request, if it says so.
    same_if: Option<SameIf>,
    /// How often the client of the tool itself sends a request again; it decides nothing here.
    upstream_retries: u32,
    /// None for a plain name.
    glob: Option<Glob>,
}

/// The facts that a row omits. A row never omits the access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OmittedFacts {
    /// Whether doing it twice has the effect of doing it once.
    pub idempotent: bool,
    /// Whether each call is a new intent.
    pub repeatable: bool,
    /// The timeout of an attempt.
    pub timeout: bool,
    /// What a key is worth upstream.
    pub keys: bool,
    /// Whether the tool needs a key.
    pub key: bool,
    /// Whether a request is never sent again.
    pub retry: bool,
    /// Whether runs are apart.
    pub across: bool,
    /// Whether a request is done once.
    pub once: bool,
}

impl OmittedFacts {
    /// The facts that both omit.
    fn and(self, other: OmittedFacts) -> OmittedFacts {
        OmittedFacts {
            idempotent: self.idempotent && other.idempotent,
            repeatable: self.repeatable && other.repeatable,
            timeout: self.timeout && other.timeout,
            keys: self.keys && other.keys,
            key: self.key && other.key,
            retry: self.retry && other.retry,
            across: self.across && other.across,
            once: self.once && other.once,
        }
    }
}

impl PartialEq for ToolRow {
    fn eq(&self, other: &ToolRow) -> bool {
        let parts = |row: &ToolRow| (row.facts, row.omitted, row.upstream_retries);
        parts(self) == parts(other)
            && (&self.pattern, &self.schema, &self.server) == (&other.pattern, &other.schema, &other.server)
            && self.same_if == other.same_if
    }
}

impl Eq for ToolRow {}

impl ToolRow {
    /// A row that omits no fact; `pattern` is a plain name unless it contains one of `*?[{`.
    ///
    /// # Errors
    /// The pattern is a glob that does not compile.
    pub fn new(pattern: impl Into<String>, facts: ToolFacts) -> Result<ToolRow, String> {
        let pattern = pattern.into();
        let glob = Glob::of_tools(&pattern)?;
        let omitted = OmittedFacts::default();
        Ok(ToolRow { pattern, facts, omitted, schema: None, server: None, same_if: None, upstream_retries: 0, glob })
    }

    /// The same row, which leaves the omitted facts to weaker rows.
    #[must_use]
    pub fn omitting(self, omitted: OmittedFacts) -> ToolRow {
        ToolRow { omitted, ..self }
    }

    /// The same row with the arguments that it takes.
    #[must_use]
    pub fn taking(self, schema: Option<ArgumentSchema>) -> ToolRow {
        ToolRow { schema, ..self }
    }

    /// The same row with the server of its tool.
    #[must_use]
    pub fn of_server(self, server: Option<Arc<str>>) -> ToolRow {
        ToolRow { server, ..self }
    }

    /// The same row with the arguments that make a request of its tool.
    #[must_use]
    pub fn same_if(self, same_if: Option<SameIf>) -> ToolRow {
        ToolRow { same_if, ..self }
    }

    /// The same row, where the client of the tool sends a request again up to `upstream_retries` times.
    #[must_use]
    pub fn retried_upstream(self, upstream_retries: u32) -> ToolRow {
        let facts = ToolFacts { resends: upstream_retries > 0, ..self.facts };
        ToolRow { upstream_retries, facts, ..self }
    }

    /// How often the client of the tool itself sends a request again.
    pub const fn upstream_retries(&self) -> u32 {
        self.upstream_retries
    }

    /// The server of its tool, if it says so.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The arguments that make a request, if it says so.
    pub const fn identity(&self) -> Option<&SameIf> {
        self.same_if.as_ref()
    }

    /// The arguments that it takes, if it says so.
    pub const fn schema(&self) -> Option<&ArgumentSchema> {
        self.schema.as_ref()
    }

    /// Its facts, with omitted ones taken from `weaker`.
    fn over(&self, weaker: ToolFacts) -> ToolFacts {
        let OmittedFacts { idempotent, repeatable, timeout, keys, key, retry, across, once } = self.omitted;
        ToolFacts {
            idempotent: if idempotent { weaker.idempotent } else { self.facts.idempotent },
            repeatable: if repeatable { weaker.repeatable } else { self.facts.repeatable },
            timeout: if timeout { weaker.timeout } else { self.facts.timeout },
            ignores_keys: if keys { weaker.ignores_keys } else { self.facts.ignores_keys },
            needs_key: if key { weaker.needs_key } else { self.facts.needs_key },
            never_retried: if retry { weaker.never_retried } else { self.facts.never_retried },
            across_runs: if across { weaker.across_runs } else { self.facts.across_runs },
            once: if once { weaker.once } else { self.facts.once },
            resends: self.facts.resends || weaker.resends,
            ..self.facts
        }
    }
}

impl Tools {
    /// The rows in the order of the file.
    pub fn new(rows: Vec<ToolRow>) -> Tools {
        Tools::of(rows.into(), Vec::new())
    }

    /// The rows in the order of the file.
    pub fn rows(&self) -> &[ToolRow] {
        &self.rows
    }

    /// These rows, followed by the rows of `weaker`.
    #[must_use]
    pub fn over(&self, weaker: &Tools) -> Tools {
        let weaker = self.weaker.iter().chain([&weaker.rows]).chain(&weaker.weaker).cloned().collect();
        Tools::of(Arc::clone(&self.rows), weaker)
    }

    fn of(rows: Arc<[ToolRow]>, weaker: Vec<Arc<[ToolRow]>>) -> Tools {
        let any = |says: fn(&ToolRow) -> bool| weaker.iter().chain([&rows]).any(|rows| rows.iter().any(says));
        let (any_schema, any_server) = (any(|row| row.schema.is_some()), any(|row| row.server.is_some()));
        let any_request = any(|row| row.same_if.is_some() || row.facts.across_runs);
        let any_once = any(|row| row.facts.once);
        Tools { rows, weaker, any_schema, any_server, any_request, any_once }
    }

    /// The facts of `tool`: from the row of its name, else from the first glob that matches. Weaker rows supply omitted
    /// facts, else the assumption holds. A weaker row of its name takes precedence over a glob.
    pub fn facts(&self, tool: &str) -> ToolFacts {
        let facts = self.matching_rows(tool).fold(ToolFacts::ASSUMED, |weaker, row| row.over(weaker));
        if !facts.declared && is_built_in_read(tool) {
            return ToolFacts::BUILT_IN_READ;
        }
        ToolFacts { seems_to_read: !facts.declared && seems_to_read(tool), ..facts }
    }

    /// Whether a row says how long an attempt of `tool` may take.
    pub fn has_timeout(&self, tool: &str) -> bool {
        self.matching_rows(tool).any(|row| !row.omitted.timeout)
    }

    /// The arguments that `tool` takes, from the strongest row that says so.
    pub fn schema(&self, tool: &str) -> Option<&ArgumentSchema> {
        if !self.any_schema {
            return None; // each call asks
        }
        self.matching_rows(tool).filter_map(ToolRow::schema).last()
    }

    /// Whether any row says what makes a request of its tool.
    pub const fn tell_requests(&self) -> bool {
        self.any_request
    }

    /// The arguments that make a request of `tool`, from the strongest row that says so. Each call of a repeatable tool is a
    /// request of its own.
    pub fn same_if(&self, tool: &str) -> Option<&SameIf> {
        if !self.any_request || self.facts(tool).repeatable {
            return None; // each call asks
        }
        self.matching_rows(tool).filter_map(ToolRow::identity).last()
    }

    /// What the breaker and the retry budgets of `tool` are kept for: its server from the strongest row that says so, else
    /// the tool itself.
    pub fn server<'a>(&'a self, tool: &'a str) -> &'a str {
        if !self.any_server {
            return tool; // each call asks
        }
        self.matching_rows(tool).filter_map(ToolRow::server).last().unwrap_or(tool)
    }

    /// Whether a row says what arguments its tool takes, or that it needs a key.
    pub fn check_requests(&self) -> bool {
        let mut rows = self.weaker.iter().chain([&self.rows]);
        self.any_schema || rows.any(|rows| rows.iter().any(|row| row.facts.needs_key))
    }

    /// Whether the weakest matching row supplies a fact of `tool` that every stronger one omits.
    pub fn needs_weakest_row(&self, tool: &str) -> bool {
        let mut rows = self.matching_rows(tool);
        let Some(weakest) = rows.next() else { return false };
        let left = rows.map(|row| row.omitted).reduce(OmittedFacts::and);
        left.is_none_or(|left| left.and(weakest.omitted) != left)
    }

    /// The rows that apply to `tool`, the weakest first: one of each file, but no glob over a weaker row of its name.
    fn matching_rows(&self, tool: &str) -> impl Iterator<Item = &ToolRow> {
        let mut is_named = false;
        let rows = self.weaker.iter().rev().chain([&self.rows]);
        rows.filter_map(move |rows| rows.get(place(rows, tool)?)).filter(move |row| {
            let applies = row.glob.is_none() || !is_named;
            is_named |= row.glob.is_none();
            applies
        })
    }

    /// The place of the row that applies to `tool`: the row of its name, else the first glob that matches.
    pub fn place(&self, tool: &str) -> Option<usize> {
        place(&self.rows, tool)
    }
}

fn place(rows: &[ToolRow], tool: &str) -> Option<usize> {
    let named = rows.iter().position(|row| row.glob.is_none() && row.pattern == tool);
    named.or_else(|| rows.iter().position(|row| row.glob.as_ref().is_some_and(|glob| glob.is_match(tool))))
}
