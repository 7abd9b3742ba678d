//! The arguments of `playproof propose`.

use clap::Subcommand;

use super::find;
use crate::flags::Given;
use crate::format::formats;
use crate::read_options::ReadOptions;
use crate::reason;
use crate::reports::{self, ReportTo};
use crate::threads::Threads;
use crate::values::{whole, word};
use playproof_analysis::proposal::DraftRequest;
use playproof_engine::event::EffectClaim;
use playproof_formats::diagnostic::Source;
use playproof_formats::shell::Command;

const EXAMPLES: &str = "\
Steps:
  playproof propose find trace.jsonl                            which failures no rule matches
  playproof propose new request_rejected --from-cluster 1 --trace trace.jsonl
  playproof propose check ID                                    what it changes, and what speaks against it
  playproof accept ID --reason '...'                            changes playbook, fixtures, goldens, lock, docs/adr

A proposal is a folder, `proposals/ID/`. `propose new` drafts its files, and people complete them: playbook.yaml (a copy
of the playbook, to be edited), adr.md (why), fixtures/ (failures that it must catch, and similar ones that it must
not). Its first line names the text that was copied, and base.yaml keeps it.";

/// The arguments of `propose`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub what: What,
}

/// The commands about proposals.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Cluster failures that no rule matches; suggest a rule for each
    Find(Box<find::Args>),
    /// Draft a proposal for a new or existing verdict, with fixtures and a decision record
    New(Box<New>),
    /// Keep a recorded call that was handled wrong, with the verdict that it should have
    Keep(Box<Keep>),
    /// Show what proposals change, and what speaks against them
    Check(Box<Check>),
    /// Put a proposal on top of the playbook as it is now
    Rebase(Rebase),
    /// List the proposals that wait
    List,
}

/// The arguments of `propose new`, with the flags that were typed.
pub type New = Given<NewOptions>;

/// The arguments of `propose new`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
With --from-cluster, the recording gives the rule, both fixtures and the evidence of the decision record. With --from,
the kept call gives them, together with other kept calls and the traces after --trace. With neither, the
fixtures are made up from the rule. You write why the change is right and what follows from it.

A verdict of the playbook gets one more rule (--when, --from-cluster, --from) or new values (--then, --like,
--effect, --means).

--when takes the conditions of a playbook's rules: kind, status, code, message (contains, starts_with, equals, matches,
clause), tool and more. --then takes a compensation with its parameters: retry_with_backoff, refresh_evidence,
escalate_to_human, issue_reversal or deprecate_tool_call. `playproof schema playbook` lists both. If any part cannot be
used, nothing is written.

Exit codes: 0 written, 2 wrong usage, or nothing that can be drafted.

Examples:
  playproof propose new rate_limited --when '{ status: 429 }' --like transient_timeout
  playproof propose new request_rejected --from-cluster 1 --trace trace.jsonl --effect not_applied \\
      --then '{ deprecate_tool_call: { reason: the tool said no } }'
  playproof propose new policy_denied --when '{ message: { clause: not allowed } }'    one more rule for it")]
pub struct NewOptions {
    /// The verdict's name: a new one, or one of the playbook's
    #[arg(value_name = "VERDICT")]
    pub verdict: String,

    /// The condition of a new rule for the verdict, as YAML
    #[arg(long, value_name = "YAML")]
    pub when: Option<String>,

    /// Take the compensation of this verdict
    #[arg(long, value_name = "VERDICT", conflicts_with = "then")]
    pub like: Option<String>,

    /// Its compensation, as YAML [default for a new verdict: escalate to the default queue]
    #[arg(long, value_name = "YAML")]
    pub then: Option<String>,

    /// What the failure proves about the effect [default for a new verdict: that of --like, else unknown]
    #[arg(long, value_name = "EFFECT", value_parser = word(&EFFECTS))]
    pub effect: Option<EffectClaim>,

    /// What it means, in a sentence
    #[arg(long, value_name = "TEXT")]
    pub means: Option<String>,

    /// The playbook [default: that of the kept call, else the project's]
    #[arg(short, long, value_name = "P")]
    pub playbook: Option<String>,

    /// Take rule, fixtures and evidence from this kept call; where no rule can be derived, add --when
    #[arg(long, value_name = "KEPT", group = "evidence")]
    pub from: Option<String>,

    /// Take rule, fixtures and evidence from this cluster, by its number in `playproof propose find`
    #[arg(long, value_name = "K", group = "evidence", requires = "traces", conflicts_with = "when",
        value_parser = whole::<u16>(1..=1_000))]
    pub from_cluster: Option<u16>,

    /// The traces of the cluster, or traces with failures similar to the kept call; may be given several times
    #[arg(long = "trace", value_name = "TRACE", num_args = 1.., requires = "evidence")]
    pub traces: Vec<String>,

    /// Tool facts for the traces; they win over the playbook's
    #[arg(long, value_name = "FILE", requires = "evidence")]
    pub tools: Option<String>,

    /// How traces are read.
    #[command(flatten)]
    pub reading: ReadOptions,
}

/// The words for effects.
const EFFECTS: [(&str, EffectClaim); 3] =
    [("applied", EffectClaim::Applied), ("not_applied", EffectClaim::NotApplied), ("unknown", EffectClaim::Unknown)];

impl New {
    /// What is asked of the draft.
    pub fn request(&self) -> DraftRequest {
        let typed = |flag: &str, text: &Option<String>| text.as_deref().map(|text| Source::whole(flag, text));
        DraftRequest {
            verdict: self.verdict.clone(),
            when: typed("--when", &self.when),
            like: self.like.clone(),
            then: typed("--then", &self.then),
            effect: self.effect,
            means: self.means.clone(),
        }
    }

    /// The command as it was typed, for another verdict and without the flags `but`.
    pub fn again(&self, verdict: &str, but: &[&str]) -> Command {
        let command = self.command(verdict, but).flag_if("--when", self.when.as_deref());
        let command = if self.traces.is_empty() { command } else { command.and("--trace").paths(&self.traces) };
        self.flags.reading(&[]).after(command)
    }

    /// The same without the condition and the traces, which come last.
    pub fn command(&self, verdict: &str, but: &[&str]) -> Command {
        let flags = self.flags.without_reading(&["--when", "--trace"]).without(but);
        flags.after(Command::new("playproof propose new").name(verdict))
    }
}

formats!(Format: Table = "For people", Json = "One JSON document", Markdown = "For a pull request or a wiki");

/// The arguments of `propose keep`, with the flags that were typed.
pub type Keep = Given<KeepOptions>;

/// The arguments of `propose keep`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
`kept/ID.jsonl` is the slice of the trace, and `kept/ID.yaml` what should become of the call. `playproof check` says when
the playbook handles it right; until then it fails nothing. `playproof propose new VERDICT --from ID` drafts the change.

The slice holds the call with all its attempts, and at most 20 earlier calls of its run with the same intent (same tool
and same key or arguments) or the same reversal token: other calls do not change what a playbook does with it. If the
playbook lets calls share keys, permits, budgets or breakers, the slice holds the calls of the dispatcher (in most
traces: of the run), at most 1,000; a call that needs more is not kept. Text that the project redacts is taken out;
nothing is kept if the playbook would then decide otherwise.

Example:
  playproof propose keep trace.jsonl r1#3 --expect rate_limited --note 'a rate limit is no reason to call people'

Exit codes: 0 kept, or kept already, 2 wrong usage, or nothing that can be kept.")]
pub struct KeepOptions {
    /// A trace, or a foreign recording
    #[arg(value_name = "TRACE")]
    pub input: String,

    /// The call, as `playproof replay` and `explain` name it
    #[arg(value_name = "CALL")]
    pub call: Option<String>,

    /// The verdict that its failure should have: one of the playbook's, or a new one
    #[arg(long, value_name = "VERDICT")]
    pub expect: String,

    /// What was wrong with how it was handled; the author of the change reads it
    #[arg(long, value_name = "TEXT", value_parser = reason::parse)]
    pub note: String,

    /// The expected verdict is meant to be new, although the playbook has one of a similar name
    #[arg(long)]
    pub new: bool,

    /// The playbook: a name (of `playbooks/`, else embedded) or a path [default: the project's, or standard]
    #[arg(short, long, value_name = "P")]
    pub playbook: Option<String>,

    /// Tool facts; they win over the playbook's, and are kept with the call
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// How to read a foreign recording that is not recognised
    #[arg(long, value_name = "FILE")]
    pub map: Option<String>,
}

/// The arguments of `propose check`, with the flags that were typed.
pub type Check = Given<CheckOptions>;

/// The arguments of `propose check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof propose check                                  every proposal that waits
  playproof propose check ID --corpus traces/*.jsonl

Exit codes: 0 nothing speaks against them, 1 something does, 2 one that cannot be used, or none.")]
pub struct CheckOptions {
    /// The proposal [default: all]
    #[arg(value_name = "ID")]
    pub id: Option<String>,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Write the result as a page for a browser too: one file without scripts
    #[arg(long, value_name = "html=FILE", value_parser = reports::page)]
    pub report: Option<ReportTo>,

    /// Show also what changes on these recorded calls; all paths up to the next flag
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    pub corpus: Vec<String>,

    /// Accept that there are no proposals
    #[arg(long)]
    pub allow_empty: bool,

    /// Tool facts for the corpus; they win over those of the playbook
    #[arg(long, value_name = "FILE", requires = "corpus")]
    pub tools: Option<String>,

    /// The threads.
    #[command(flatten)]
    pub threads: Threads,

    /// How traces are read.
    #[command(flatten)]
    pub reading: ReadOptions,
}

/// The arguments of `propose rebase`.
#[derive(Debug, clap::Args)]
pub struct Rebase {
    /// The proposal
    #[arg(value_name = "ID")]
    pub id: String,
}
