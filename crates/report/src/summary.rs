//! The summary of a replay as sections of rows, for whatever page: recorded beside every playbook.
//! Rows in which nothing was counted are left out. Draws nothing.

use playproof_analysis::replay::{GraphCounts, OddStepCount, OddSteps, Refusals, Replayed, Summary};
use playproof_engine::event::{AdmissionRefusal, EffectClaim, FindingBy, FindingKind, OutcomeWord, PlaybookNames};

use super::text;
use super::timeline::millis;

/// The most different spans that a cell has: those from a failure to the next success.
const MOST_SPANS: usize = 8;

/// Rows that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What they are about; empty for the first one.
    pub title: &'static str,
    /// Never empty.
    pub rows: Vec<Row>,
}

/// One thing that was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What.
    pub label: String,
    /// As recorded; empty where a recording does not tell.
    pub recorded: String,
    /// Under each playbook; empty where that means nothing.
    pub values: Vec<String>,
    /// What a page can link it with.
    pub of: RowOf,
}

/// What a row counts calls of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowOf {
    /// Nothing that a call has by itself.
    #[default]
    Other,
    /// A finding.
    Finding(FindingKind),
    /// A verdict, by name.
    Verdict(String),
    /// Failures of a verdict with a message template.
    Failure(String, String),
    /// A queue, by name.
    Queue(String),
}

/// A replay with the names of its playbooks.
#[derive(Clone, Copy, Debug)]
pub struct Totals<'a> {
    /// What was counted.
    pub replayed: &'a Replayed,
    /// One a playbook.
    pub names: &'a [&'a PlaybookNames],
}

/// A label, and what is counted under it.
type Counter = (&'static str, fn(&Summary) -> u64);

/// The same of calls that are not taken for steps.
type OddCounter = (&'static str, fn(&OddSteps) -> OddStepCount);

impl Totals<'_> {
    /// Every section that has rows.
    pub fn sections(&self) -> Vec<Section> {
        let all = [
            ("", self.calls()),
            (self.findings_title(), self.findings()),
            ("Verdicts of failures", self.verdicts()),
            ("Outcomes", self.outcomes()),
            ("Effects", self.effects()),
            ("Graph", self.graph()),
            ("Steps", self.odd_steps()),
        ];
        let sections = all.into_iter().map(|(title, rows)| Section { title, rows });
        sections.filter(|section| !section.rows.is_empty()).collect()
    }

    fn calls(&self) -> Vec<Row> {
        let first = self.replayed.summaries.first();
        let recorded =
            |value: fn(&Summary) -> u64| first.map_or_else(String::new, |summary| text::count(value(summary)));
        let mut rows = vec![
            self.recorded_only("calls", recorded(|summary| summary.calls)),
            self.recorded_only("  with a failed attempt", recorded(|summary| summary.failed_calls)),
        ];
        let mut upstream = self.row("upstream calls", |summary| text::count(summary.requests));
        upstream.recorded = recorded(|summary| summary.requests_recorded);
        rows.push(upstream);
        rows.push(self.row("  beyond the recording", |summary| {
            let extra = summary.requests.saturating_sub(summary.requests_recorded);
            if extra == 0 { String::new() } else { format!("+{}", text::count(extra)) }
        }));
        rows.push(self.row("  recorded answers unused", |summary| counted(summary.tape_left)));
        rows.push(self.row("delay added, ms", |summary| match summary.added_delay.as_micros() {
            0 => "0".to_owned(),
            _ => millis(summary.added_delay),
        }));
        rows.push(self.row("calls off tape", |summary| counted(summary.off_tape_calls)));
        rows.push(self.row("runs off tape", |summary| {
            let bound = if summary.off_tape_runs_bound { "≥ " } else { "" };
            if summary.off_tape_runs == 0 {
                String::new()
            } else {
                format!("{bound}{}", text::count(summary.off_tape_runs))
            }
        }));
        rows.retain(is_said);
        rows
    }

    /// By name, because two playbooks need not have the same verdicts.
    fn verdicts(&self) -> Vec<Row> {
        let of = |name: &str| (name.to_owned(), RowOf::Verdict(name.to_owned()));
        self.by_name(of, |summary, names| {
            names.verdicts.iter().map(|name| &**name).zip(summary.verdicts.iter().copied()).collect()
        })
    }

    fn queues(&self) -> Vec<Row> {
        let of = |name: &str| (format!("  in queue {name}"), RowOf::Queue(name.to_owned()));
        self.by_name(of, |summary, names| {
            names.queues.iter().map(|name| &**name).zip(summary.queues.iter().copied()).collect()
        })
    }

    /// Each queue stands below the escalations.
    fn outcomes(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for outcome in OutcomeWord::ALL {
            rows.push(self.row(outcome.as_str(), |summary| counted(summary.outcome(outcome))));
            if outcome == OutcomeWord::Escalated {
                rows.extend(self.queues());
            }
        }
        rows.retain(is_said);
        rows
    }

    /// What the outcomes claim, a call each; then what the upstream is known to have done, an attempt each.
    fn effects(&self) -> Vec<Row> {
        let claims = EffectClaim::ALL.into_iter().map(|claim| {
            self.row(&format!("calls that claim {}", claim.as_str()), |summary| counted(summary.claim(claim)))
        });
        let all: [Counter; 5] = [
            ("attempts of writes, ok as recorded", |summary| summary.effects.recorded),
            ("attempts of writes, ok as a joined resend", |summary| summary.effects.inferred),
            ("attempts of writes, ok as modelled", |summary| summary.effects.modelled),
            ("attempts of writes, effect not observed", |summary| summary.effects.unobserved),
            ("effects taken back", |summary| summary.effects.reversed),
        ];
        let upstream = all.into_iter().map(|(label, value)| self.row(label, |summary| counted(value(summary))));
        claims.chain(upstream).filter(is_said).collect()
    }

    /// What the graph refused, what the recordings say of it, and how agents went on.
    fn graph(&self) -> Vec<Row> {
        let of = |summary: &Summary, value: fn(&GraphCounts) -> u64| counted(summary.graph.as_ref().map_or(0, value));
        let part = |part: u64, of: u64| match of {
            0 => String::new(),
            of => format!("{} of {}", text::count(part), text::count(of)),
        };
        let graph = |summary: &Summary, value: &dyn Fn(&GraphCounts) -> String| {
            summary.graph.as_ref().map_or_else(String::new, value)
        };
        let mut rows = vec![
            self.row("calls that the gate judged", |summary| of(summary, |graph| graph.calls)),
            self.row("recorded refusals that it agrees with", |summary| {
                graph(summary, &|graph| part(graph.agreed.total(), graph.recorded))
            }),
        ];
        for (n, why) in AdmissionRefusal::OF_GATE.into_iter().enumerate() {
            let count = move |refusals: Refusals| refusals.rows().nth(n).map_or(0, |(_, count)| count);
            let first = format!("refused first in its run: {}", why.as_str());
            rows.push(self.row(&first, |summary| graph(summary, &|graph| counted(count(graph.first)))));
            let later = format!("refused after that, off tape: {}", why.as_str());
            rows.push(self.row(&later, |summary| graph(summary, &|graph| counted(count(graph.later)))));
        }
        rows.push(self.row("after a refusal or a failure, the next call was let through", |summary| {
            graph(summary, &|graph| part(graph.valid_after_refusal, graph.after_refusal))
        }));
        rows.push(self.row("calls until one succeeded (how often)", |summary| {
            graph(summary, &|graph| {
                let each = graph.until_ok.iter().map(|(calls, count)| format!("{calls} ({})", text::count(*count)));
                let mut each: Vec<String> = each.take(MOST_SPANS).collect();
                let more: u64 = graph.until_ok.values().skip(MOST_SPANS).sum();
                each.extend((more > 0).then(|| format!("more ({})", text::count(more))));
                each.join(", ")
            })
        }));
        rows.retain(is_said);
        rows
    }

    /// Recorded calls that say that they are steps and are none, with the place of the first.
    fn odd_steps(&self) -> Vec<Row> {
        let all: [OddCounter; 2] = [
            ("calls that name a step that no action has with their tool", |odd| odd.no_step),
            ("calls that name a step of a call that is not found before them", |odd| odd.no_action),
        ];
        let row = |(label, value): OddCounter| {
            let firsts = self.replayed.summaries.iter().filter_map(|summary| value(&summary.odd_steps).first);
            let first = firsts.min().map_or_else(String::new, |place| match self.replayed.inputs.as_slice() {
                [_] => format!(" (line {})", place.line),
                inputs => {
                    let input = usize::try_from(place.input).ok().and_then(|n| inputs.get(n));
                    format!(" ({}:{})", input.map_or("?", |input| &input.name), place.line)
                }
            });
            self.row(&format!("{label}{first}"), |summary| counted(value(&summary.odd_steps).calls))
        };
        all.into_iter().map(row).filter(is_said).collect()
    }

    /// A failure of a recorded attempt means what any of the playbooks says, so that their order does not matter.
    fn findings_title(&self) -> &'static str {
        let has_recorded =
            || FindingKind::all().any(|kind| self.replayed.recorded.of_kind(kind, FindingBy::Recorded) > 0);
        match self.names.len() > 1 && has_recorded() {
            true => "Findings; recorded ones by any playbook",
            false => "Findings, by the calls that show them",
        }
    }

    fn findings(&self) -> Vec<Row> {
        let rows = FindingKind::all().map(|kind| {
            let label = format!("{:6}  {}", kind.severity.as_str(), kind.id.as_str());
            let mut row = self.row(&label, |summary| counted(summary.findings.of_kind(kind, FindingBy::Playbook)));
            row.recorded = counted(self.replayed.recorded.of_kind(kind, FindingBy::Recorded));
            row.of = RowOf::Finding(kind);
            row
        });
        rows.filter(is_said).collect()
    }

    /// A row for each name that any playbook has; `of` gives its label and what it counts.
    fn by_name<'s>(
        &'s self,
        of: impl Fn(&str) -> (String, RowOf),
        counts: impl Fn(&'s Summary, &'s PlaybookNames) -> Vec<(&'s str, u64)>,
    ) -> Vec<Row> {
        let columns: Vec<Vec<(&str, u64)>> =
            self.replayed.summaries.iter().zip(self.names).map(|(summary, names)| counts(summary, names)).collect();
        let mut all: Vec<&str> = Vec::new();
        for (name, _) in columns.iter().flatten() {
            if !all.contains(name) {
                all.push(name);
            }
        }
        let value = |column: &Vec<(&str, u64)>, wanted: &str| {
            column.iter().find(|(name, _)| *name == wanted).map_or_else(String::new, |(_, count)| counted(*count))
        };
        let row = |name: &str| {
            let (label, of) = of(name);
            Row {
                label,
                recorded: String::new(),
                values: columns.iter().map(|column| value(column, name)).collect(),
                of,
            }
        };
        all.into_iter().map(row).filter(is_said).collect()
    }

    fn row(&self, label: &str, value: impl Fn(&Summary) -> String) -> Row {
        let values = self.replayed.summaries.iter().map(value).collect();
        Row { label: label.to_owned(), recorded: String::new(), values, of: RowOf::Other }
    }

    fn recorded_only(&self, label: &str, recorded: String) -> Row {
        Row { label: label.to_owned(), recorded, values: vec![String::new(); self.names.len()], of: RowOf::Other }
    }
}

fn counted(count: u64) -> String {
    if count == 0 { String::new() } else { text::count(count) }
}

fn is_said(row: &Row) -> bool {
    !row.recorded.is_empty() || row.values.iter().any(|value| !value.is_empty())
}
