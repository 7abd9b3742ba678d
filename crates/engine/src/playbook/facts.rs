//! What is known of tools, by name or glob, and which row speaks where several do. Where rows come from is not known here.

use crate::glob::Glob;
use crate::time::Duration;

/// The timeout of an attempt where neither call nor tool says one (DESIGN.md section 2).
pub const DEFAULT_TIMEOUT: Duration = Duration::from_millis(30_000);

/// Whether a tool changes the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// It only looks.
    Read,
    /// It may change something.
    Write,
}

impl Access {
    /// The word of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
        }
    }
}

/// What is known of one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ToolFacts {
    /// Whether it changes the upstream.
    pub access: Access,
    /// Whether doing it twice is doing it once.
    pub idempotent: bool,
    /// Whether each call is meant anew, even with the same arguments.
    pub repeatable: bool,
    /// The timeout of an attempt.
    pub timeout: Duration,
    /// People said so; otherwise it is assumed.
    pub declared: bool,
}

impl ToolFacts {
    /// What is assumed of a tool that nobody declared: a write that is not idempotent.
    pub const ASSUMED: ToolFacts = ToolFacts {
        access: Access::Write,
        idempotent: false,
        repeatable: false,
        timeout: DEFAULT_TIMEOUT,
        declared: false,
    };
}

/// Tool facts by name or glob.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    rows: Vec<ToolRow>,
    /// Rows of which only what those before them do not say counts, the strongest first.
    weaker: Vec<Vec<ToolRow>>,
}

/// One declared name or glob.
#[derive(Clone, Debug)]
pub struct ToolRow {
    /// As written.
    pub pattern: String,
    /// What it says, and the assumption for what it does not say.
    pub facts: ToolFacts,
    /// Which facts it leaves to weaker rows.
    omitted: OmittedFacts,
    /// None for a plain name.
    glob: Option<Glob>,
}

/// The facts that a row does not say. Its access it always says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OmittedFacts {
    /// Whether doing it twice is doing it once.
    pub idempotent: bool,
    /// Whether each call is meant anew.
    pub repeatable: bool,
    /// The timeout of an attempt.
    pub timeout: bool,
}

impl OmittedFacts {
    /// The facts that neither says.
    fn and(self, other: OmittedFacts) -> OmittedFacts {
        OmittedFacts {
            idempotent: self.idempotent && other.idempotent,
            repeatable: self.repeatable && other.repeatable,
            timeout: self.timeout && other.timeout,
        }
    }
}

impl PartialEq for ToolRow {
    fn eq(&self, other: &ToolRow) -> bool {
        (&self.pattern, self.facts, self.omitted) == (&other.pattern, other.facts, other.omitted)
    }
}

impl Eq for ToolRow {}

impl ToolRow {
    /// A row that says every fact; `pattern` is a plain name unless it holds one of `*?[{`.
    ///
    /// # Errors
    /// A glob that does not parse.
    pub fn new(pattern: impl Into<String>, facts: ToolFacts) -> Result<ToolRow, String> {
        let pattern = pattern.into();
        let glob = Glob::of_tools(&pattern)?;
        Ok(ToolRow { pattern, facts, omitted: OmittedFacts::default(), glob })
    }

    /// The same row, which says all of `facts`.
    #[must_use]
    pub fn with_facts(self, facts: ToolFacts) -> ToolRow {
        ToolRow { facts, omitted: OmittedFacts::default(), ..self }
    }

    /// The same row, which leaves what it does not say to weaker ones.
    #[must_use]
    pub fn omitting(self, omitted: OmittedFacts) -> ToolRow {
        ToolRow { omitted, ..self }
    }

    /// What it says, and for the rest what `weaker` facts say.
    fn over(&self, weaker: ToolFacts) -> ToolFacts {
        let OmittedFacts { idempotent, repeatable, timeout } = self.omitted;
        ToolFacts {
            idempotent: if idempotent { weaker.idempotent } else { self.facts.idempotent },
            repeatable: if repeatable { weaker.repeatable } else { self.facts.repeatable },
            timeout: if timeout { weaker.timeout } else { self.facts.timeout },
            ..self.facts
        }
    }
}

impl Tools {
    /// The rows in the order of the file.
    pub fn new(rows: Vec<ToolRow>) -> Tools {
        Tools { rows, weaker: Vec::new() }
    }

    /// The rows in the order of the file.
    pub fn rows(&self) -> &[ToolRow] {
        &self.rows
    }

    /// These facts, and behind them those of `weaker`.
    #[must_use]
    pub fn over(&self, weaker: &Tools) -> Tools {
        let weaker = self.weaker.iter().chain([&weaker.rows]).chain(&weaker.weaker).cloned().collect();
        Tools { rows: self.rows.clone(), weaker }
    }

    /// What is known of `tool`: what its own row says, else the first glob that matches; for what that row does not
    /// say, weaker facts; else the assumption. A weaker row of its own name speaks before a glob.
    pub fn facts(&self, tool: &str) -> ToolFacts {
        self.matching_rows(tool).fold(ToolFacts::ASSUMED, |weaker, row| row.over(weaker))
    }

    /// Whether the weakest of these rows that speaks for `tool` says a fact of it that no stronger one says.
    pub fn needs_weakest_row(&self, tool: &str) -> bool {
        let mut rows = self.matching_rows(tool);
        let Some(weakest) = rows.next() else { return false };
        let left = rows.map(|row| row.omitted).reduce(OmittedFacts::and);
        left.is_none_or(|left| left.and(weakest.omitted) != left)
    }

    /// The rows that speak for `tool`, the weakest first: of each file one, but no glob before a weaker row of its name.
    fn matching_rows(&self, tool: &str) -> impl Iterator<Item = &ToolRow> {
        let mut is_named = false;
        let rows = self.weaker.iter().rev().chain([&self.rows]);
        rows.filter_map(move |rows| rows.get(place(rows, tool)?)).filter(move |row| {
            let speaks = row.glob.is_none() || !is_named;
            is_named |= row.glob.is_none();
            speaks
        })
    }

    /// The place of the row that speaks for `tool`: its own row, else the first glob that matches.
    pub fn place(&self, tool: &str) -> Option<usize> {
        place(&self.rows, tool)
    }
}

fn place(rows: &[ToolRow], tool: &str) -> Option<usize> {
    let named = rows.iter().position(|row| row.glob.is_none() && row.pattern == tool);
    named.or_else(|| rows.iter().position(|row| row.glob.as_ref().is_some_and(|glob| glob.is_match(tool))))
}
