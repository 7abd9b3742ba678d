//! What can be exercised of a playbook, each with an id that does not depend on where it stands in the file.

use playproof_engine::event::{GuardKind, OutcomeWord, StopReason};
use playproof_engine::ids::{QueueId, RuleId, VerdictId};
use playproof_engine::playbook::{Access, AfterRefresh, Compensation, Playbook, UnsafePolicy};
use playproof_engine::words;

/// One thing that a fixture can exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    /// A rule gave a failure its verdict.
    Rule(RuleId),
    /// No rule matched, and `otherwise` gave the verdict.
    Otherwise,
    /// A failure got the verdict.
    Verdict(VerdictId),
    /// The verdict's own compensation ran (not what stands in for it).
    Compensation(VerdictId),
    /// A guard was asked for a failure of the verdict, and answered so.
    Guard {
        /// The verdict.
        verdict: VerdictId,
        /// Which guard.
        guard: GuardKind,
        /// It stopped what was to be done.
        stops: bool,
    },
    /// A call ended this way.
    Outcome(OutcomeWord),
    /// A limit ended a call.
    Stop(StopReason),
    /// A call was handed to this queue.
    Queue(QueueId),
    /// A call was made of a tool for which this row speaks, by its place.
    Tool(usize),
    /// A failure got the verdict under these circumstances.
    Cell(Cell),
}

/// A verdict and the circumstances in which it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The verdict.
    pub verdict: VerdictId,
    /// Of the tool.
    pub access: Access,
    /// Whether the call had an idempotency key.
    pub keyed: bool,
    /// Whether the call had a reversal token.
    pub token: bool,
    /// Not the first attempt.
    pub later: bool,
}

words! {
    /// The sorts of goals, in the order of reports.
    pub enum Group {
        /// Rules, and `otherwise`.
        Rules = "rules",
        /// Verdicts.
        Verdicts = "verdicts",
        /// Compensations.
        Compensations = "compensations",
        /// Guards, both ways.
        Guards = "guards",
        /// Outcomes.
        Outcomes = "outcomes",
        /// Stop reasons.
        Stops = "stops",
        /// Queues.
        Queues = "queues",
        /// Rows of tool facts.
        Tools = "tools",
        /// Cells.
        Cells = "cells",
    }
}

impl Goal {
    /// Which sort it is.
    pub const fn group(self) -> Group {
        match self {
            Goal::Rule(_) | Goal::Otherwise => Group::Rules,
            Goal::Verdict(_) => Group::Verdicts,
            Goal::Compensation(_) => Group::Compensations,
            Goal::Guard { .. } => Group::Guards,
            Goal::Outcome(_) => Group::Outcomes,
            Goal::Stop(_) => Group::Stops,
            Goal::Queue(_) => Group::Queues,
            Goal::Tool(_) => Group::Tools,
            Goal::Cell(_) => Group::Cells,
        }
    }

    /// Its id: `rule timeout`, `retry_guard transient_timeout stops`, `cell policy_denied write keyed token first`.
    pub fn id(self, playbook: &Playbook) -> String {
        let verdict = |id: VerdictId| playbook.verdict(id).name.to_string();
        match self {
            Goal::Rule(id) => format!("rule {}", playbook.rule(id).name),
            Goal::Otherwise => "otherwise".to_owned(),
            Goal::Verdict(id) => format!("verdict {}", verdict(id)),
            Goal::Compensation(id) => format!("compensation {} {}", verdict(id), playbook.verdict(id).then.as_str()),
            Goal::Guard { verdict: id, guard, stops } => {
                format!("{} {} {}", guard.as_str(), verdict(id), if stops { "stops" } else { "passes" })
            }
            Goal::Outcome(outcome) => format!("outcome {}", outcome.as_str()),
            Goal::Stop(stop) => format!("stop {}", stop.as_str()),
            Goal::Queue(id) => format!("queue {}", playbook.queues.get(id.index()).map_or("?", |name| name)),
            Goal::Tool(row) => format!("tool {}", playbook.tools.rows().get(row).map_or("?", |row| &row.pattern)),
            Goal::Cell(cell) => format!("cell {} {}", verdict(cell.verdict), cell.words()),
        }
    }
}

impl Cell {
    /// The circumstances: `write keyed token first`.
    pub fn words(self) -> String {
        let access = self.access.as_str();
        let keyed = if self.keyed { "keyed" } else { "unkeyed" };
        let token = if self.token { "token" } else { "tokenless" };
        format!("{access} {keyed} {token} {}", if self.later { "later" } else { "first" })
    }

    /// The sixteen cells of a verdict, in the order of reports.
    pub fn of(verdict: VerdictId) -> impl Iterator<Item = Cell> {
        (0..16_u8).map(move |bits| Cell {
            verdict,
            access: if bits & 8 == 0 { Access::Read } else { Access::Write },
            later: bits & 4 != 0,
            keyed: bits & 2 != 0,
            token: bits & 1 != 0,
        })
    }
}

/// Everything that can be exercised of a playbook, group by group, each in the order of the file.
pub fn goals(playbook: &Playbook) -> Vec<Goal> {
    let verdicts = || (0..).map(VerdictId).take(playbook.verdicts.len());
    let mut goals: Vec<Goal> = (0..).map(RuleId).take(playbook.rules.len()).map(Goal::Rule).collect();
    goals.push(Goal::Otherwise);
    goals.extend(verdicts().map(Goal::Verdict));
    goals.extend(verdicts().map(Goal::Compensation));
    for verdict in verdicts() {
        for guard in guards_of(&playbook.verdict(verdict).then) {
            goals.extend([false, true].map(|stops| Goal::Guard { verdict, guard, stops }));
        }
    }
    let outcomes = OutcomeWord::ALL.into_iter().filter(|&outcome| outcome != OutcomeWord::Refused); // nothing refuses yet
    goals.extend(outcomes.map(Goal::Outcome));
    goals.extend(StopReason::ALL.map(Goal::Stop));
    goals.extend((0..).map(QueueId).take(playbook.queues.len()).map(Goal::Queue));
    goals.extend((0..playbook.tools.rows().len()).map(Goal::Tool));
    goals.extend(verdicts().flat_map(Cell::of).map(Goal::Cell));
    goals
}

/// The guards that stand before a compensation, or before what stands in for it.
pub(super) fn guards_of(compensation: &Compensation) -> Vec<GuardKind> {
    let on_unsafe = |on_unsafe: &UnsafePolicy| match on_unsafe {
        UnsafePolicy::End(_) => vec![GuardKind::Retry],
        UnsafePolicy::Reverse(_) => vec![GuardKind::Retry, GuardKind::Token],
    };
    match compensation {
        Compensation::RetryWithBackoff(retry) => on_unsafe(&retry.on_unsafe),
        Compensation::RefreshEvidence(refresh) if refresh.then == AfterRefresh::Retry => on_unsafe(&refresh.on_unsafe),
        Compensation::IssueReversal(_) => vec![GuardKind::Token],
        Compensation::RefreshEvidence(_) | Compensation::EscalateToHuman(_) | Compensation::DeprecateToolCall(_) => {
            Vec::new()
        }
    }
}
