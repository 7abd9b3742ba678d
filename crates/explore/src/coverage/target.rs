//! The targets of coverage: everything that a fixture can exercise of a playbook, with ids that do not depend on places.

use playproof_engine::event::{AdmissionRefusal, CircuitChange, GuardKind, OutcomeWord, StopReason};
use playproof_engine::ids::{ActionId, BreakerId, QueueId, RuleId, StepId, VerdictId};
use playproof_engine::playbook::{
    Access, AfterRefresh, BudgetUnit, Compensation, InFlightKey, Others, Playbook, Sharing, UnsafePolicy,
};
use playproof_engine::time::Duration;
use playproof_engine::words;

/// One thing that a fixture can exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A rule gave a failure its verdict.
    Rule(RuleId),
    /// No rule matched, and `otherwise` gave the verdict.
    Otherwise,
    /// A failure got the verdict.
    Verdict(VerdictId),
    /// The verdict's own compensation ran (not a stand-in).
    Compensation(VerdictId),
    /// A call that a failure with the verdict ended told the agent the verdict's class.
    Told(VerdictId),
    /// A guard was asked about a failure with the verdict, and answered this way.
    Guard {
        /// The verdict.
        verdict: VerdictId,
        /// Which guard.
        guard: GuardKind,
        /// Whether it stopped the compensation.
        stops: bool,
    },
    /// A call ended this path.
    Outcome(OutcomeWord),
    /// Admission refused a call for this reason.
    Refusal(AdmissionRefusal),
    /// A limit ended a call.
    Stop(StopReason),
    /// A breaker made this transition.
    Circuit(BreakerId, CircuitStep),
    /// A call was handed to this queue.
    Queue(QueueId),
    /// A tool was called that this row of tool facts describes, by its index.
    Tool(usize),
    /// A call of an action was sent after another one, or at the beginning.
    Edge {
        /// The action before; none: the run begins.
        from: Option<ActionId>,
        /// The action.
        to: ActionId,
    },
    /// The step ended its action.
    Step(ActionId, StepId),
    /// A failure got the verdict in this cell.
    Cell(Cell),
}

/// A verdict and the kind of call that got it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The verdict.
    pub verdict: VerdictId,
    /// The tool's access.
    pub access: Access,
    /// Whether the call had an idempotency key.
    pub keyed: bool,
    /// Whether the call had a reversal token.
    pub token: bool,
    /// Not the first attempt.
    pub later: bool,
}

words! {
    /// The transitions of a breaker.
    pub enum CircuitStep {
        /// Its server fails.
        Opens = "closed_to_open",
        /// The first probe passes.
        Probes = "open_to_half_open",
        /// The probes say that the server works.
        Closes = "half_open_to_closed",
        /// They say that it does not.
        Reopens = "half_open_to_open",
    }
}

impl CircuitStep {
    /// The transition of a change of a breaker that is half open, or not.
    pub const fn of(change: CircuitChange, is_half_open: bool) -> CircuitStep {
        match change {
            CircuitChange::Opened { .. } if is_half_open => CircuitStep::Reopens,
            CircuitChange::Opened { .. } => CircuitStep::Opens,
            CircuitChange::HalfOpen => CircuitStep::Probes,
            CircuitChange::Closed => CircuitStep::Closes,
        }
    }
}

words! {
    /// The kinds of targets, in the order of reports.
    pub enum TargetKind {
        /// Rules, and `otherwise`.
        Rules = "rules",
        /// Verdicts.
        Verdicts = "verdicts",
        /// Compensations.
        Compensations = "compensations",
        /// Classes that verdicts tell.
        Told = "told",
        /// Guards, both ways.
        Guards = "guards",
        /// Outcomes.
        Outcomes = "outcomes",
        /// Reasons of admission to refuse a call.
        Refusals = "refusals",
        /// Stop reasons.
        Stops = "stops",
        /// Transitions of breakers.
        Circuits = "circuits",
        /// Queues.
        Queues = "queues",
        /// Rows of tool facts.
        Tools = "tools",
        /// Edges of the graph.
        Edges = "edges",
        /// Steps of actions.
        Steps = "steps",
        /// Cells.
        Cells = "cells",
    }
}

impl Target {
    /// Its kind.
    pub const fn kind(self) -> TargetKind {
        match self {
            Target::Rule(_) | Target::Otherwise => TargetKind::Rules,
            Target::Verdict(_) => TargetKind::Verdicts,
            Target::Compensation(_) => TargetKind::Compensations,
            Target::Told(_) => TargetKind::Told,
            Target::Guard { .. } => TargetKind::Guards,
            Target::Outcome(_) => TargetKind::Outcomes,
            Target::Refusal(_) => TargetKind::Refusals,
            Target::Stop(_) => TargetKind::Stops,
            Target::Circuit(..) => TargetKind::Circuits,
            Target::Queue(_) => TargetKind::Queues,
            Target::Tool(_) => TargetKind::Tools,
            Target::Edge { .. } => TargetKind::Edges,
            Target::Step(..) => TargetKind::Steps,
            Target::Cell(_) => TargetKind::Cells,
        }
    }

    /// Its id: `rule timeout`, `retry_guard transient_timeout stops`, `cell policy_denied write keyed token first`.
    pub fn id(self, playbook: &Playbook) -> String {
        let verdict = |id: VerdictId| playbook.verdict(id).name.to_string();
        match self {
            Target::Rule(id) => format!("rule {}", playbook.rule(id).name),
            Target::Otherwise => "otherwise".to_owned(),
            Target::Verdict(id) => format!("verdict {}", verdict(id)),
            Target::Compensation(id) => format!("compensation {} {}", verdict(id), playbook.verdict(id).then.as_str()),
            Target::Told(id) => {
                let class = playbook.verdict(id).tell.as_ref().map_or("", |tell| tell.class.as_str());
                format!("told {} {class}", verdict(id))
            }
            Target::Guard { verdict: id, guard, stops } => {
                format!("{} {} {}", guard.as_str(), verdict(id), if stops { "stops" } else { "passes" })
            }
            Target::Outcome(outcome) => format!("outcome {}", outcome.as_str()),
            Target::Refusal(why) => format!("refused {}", why.as_str()),
            Target::Stop(stop) => format!("stop {}", stop.as_str()),
            Target::Circuit(id, step) => {
                let server = playbook.breakers.get(id.index()).map_or("?", |(server, _)| server);
                format!("circuit {server} {}", step.as_str())
            }
            Target::Queue(id) => format!("queue {}", playbook.queues.get(id.index()).map_or("?", |name| name)),
            Target::Tool(row) => format!("tool {}", playbook.tools.rows().get(row).map_or("?", |row| &row.pattern)),
            Target::Edge { from, to } => {
                let name = |id: ActionId| playbook.actions.get(id.index()).map_or("?", |action| &action.name);
                format!("edge {} {}", from.map_or("(begin)", name), name(to))
            }
            Target::Step(action, step) => {
                let action = playbook.actions.get(action.index());
                let step = action.and_then(|action| action.steps.get(step.index())).map_or("?", |step| &step.name);
                format!("step {} {step} fails", action.map_or("?", |action| &action.name))
            }
            Target::Cell(cell) => format!("cell {} {}", verdict(cell.verdict), cell.words()),
        }
    }
}

impl Cell {
    /// The kind of call: `write keyed token first`.
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

/// All targets of a playbook, kind by kind, each in the order of the file.
pub fn targets(playbook: &Playbook) -> Vec<Target> {
    let verdicts = || (0..).map(VerdictId).take(playbook.verdicts.len());
    let mut targets: Vec<Target> = (0..).map(RuleId).take(playbook.rules.len()).map(Target::Rule).collect();
    targets.push(Target::Otherwise);
    targets.extend(verdicts().map(Target::Verdict));
    targets.extend(verdicts().map(Target::Compensation));
    targets.extend(verdicts().filter(|id| playbook.verdict(*id).tell.is_some()).map(Target::Told));
    for verdict in verdicts() {
        for guard in guards_of(&playbook.verdict(verdict).then) {
            targets.extend([false, true].map(|stops| Target::Guard { verdict, guard, stops }));
        }
    }
    let Sharing { dedupe, budget, .. } = playbook.sharing;
    let refusals = refusals(playbook);
    let outcomes = OutcomeWord::ALL.into_iter().filter(|outcome| match outcome {
        OutcomeWord::Refused => !refusals.is_empty(),
        OutcomeWord::Joined => dedupe.is_some_and(|rules| rules.in_flight == InFlightKey::Join),
        OutcomeWord::Cached => dedupe.is_some_and(|rules| rules.window > Duration::ZERO),
        OutcomeWord::Skipped => playbook.actions.iter().any(|action| action.steps.len() > 1),
        OutcomeWord::Cancelled => false, // its caller's act, whatever the playbook
        _ => true,
    });
    targets.extend(outcomes.map(Target::Outcome));
    targets.extend(refusals.into_iter().map(Target::Refusal));
    let stops = StopReason::ALL.into_iter().filter(|stop| match stop {
        StopReason::Budget => budget.is_some_and(|budget| budget.counts == BudgetUnit::Attempts),
        StopReason::CircuitOpen => !playbook.breakers.is_empty(),
        StopReason::RetryBudget => !playbook.retry_budgets.is_empty(),
        _ => true,
    });
    targets.extend(stops.map(Target::Stop));
    let breakers = (0..).map(BreakerId).take(playbook.breakers.len());
    targets.extend(breakers.flat_map(|id| CircuitStep::ALL.map(|step| Target::Circuit(id, step))));
    targets.extend((0..).map(QueueId).take(playbook.queues.len()).map(Target::Queue));
    targets.extend((0..playbook.tools.rows().len()).map(Target::Tool));
    if let Some(graph) = &playbook.graph {
        let begins = graph.entry.iter().map(|to| (None, *to));
        let rows = (0..).map(ActionId).zip(&graph.next);
        let edges = begins.chain(rows.flat_map(|(from, row)| row.iter().map(move |to| (Some(from), *to))));
        targets.extend(edges.map(|(from, to)| Target::Edge { from, to }));
    }
    for (id, action) in (0..).map(ActionId).zip(&playbook.actions) {
        targets.extend((0..).map(StepId).take(action.steps.len()).map(|step| Target::Step(id, step)));
    }
    targets.extend(verdicts().flat_map(Cell::of).map(Target::Cell));
    targets
}

/// Why admission can refuse a call, in the order of its checks.
pub(super) fn refusals(playbook: &Playbook) -> Vec<AdmissionRefusal> {
    let Sharing { dedupe, budget, permits } = playbook.sharing;
    let tools = playbook.tools.rows();
    let can = |why: &AdmissionRefusal| match why {
        AdmissionRefusal::UnknownAction => playbook.graph.as_ref().is_some_and(|graph| graph.others == Others::Refuse),
        AdmissionRefusal::InvalidTransition => playbook.graph.is_some(),
        AdmissionRefusal::ValidationFailed => playbook.actions.iter().any(|action| action.inputs.is_some()),
        AdmissionRefusal::NotFound => playbook.refuses_unknown_tools,
        AdmissionRefusal::Schema => tools.iter().any(|row| row.schema().is_some()),
        AdmissionRefusal::KeyMissing => tools.iter().any(|row| row.facts.needs_key),
        AdmissionRefusal::KeyLength | AdmissionRefusal::KeyReused => dedupe.is_some(),
        AdmissionRefusal::KeyInFlight => dedupe.is_some_and(|rules| rules.in_flight == InFlightKey::Refuse),
        AdmissionRefusal::Unsettled => dedupe.is_some() && tools.iter().any(|row| row.facts.ignores_keys),
        AdmissionRefusal::BudgetExceeded => budget.is_some(),
        AdmissionRefusal::CircuitOpen => !playbook.breakers.is_empty(),
        AdmissionRefusal::QueueFull => permits.is_some(),
        AdmissionRefusal::RolledBack => false, // what a program does with its transactions, no row decides
    };
    AdmissionRefusal::ALL.into_iter().filter(can).collect()
}

/// The guards before a compensation, or before its stand-in.
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
