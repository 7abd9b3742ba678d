//! Takes tool facts, mappings and one failure from the user's recordings. The failure becomes a fixture with recorded
//! answers and with arguments as names and types. Opens nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::starter::{NamedText, PLAYBOOK};
use crate::recorded::{of_recorded, without_echoes};
use playproof_engine::call::{AnswerTo, RecordedCall, Reply};
use playproof_engine::event::{Decision, EffectClaim, OutcomeKind};
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::{CallId, first_free};
use playproof_engine::playbook::Access;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord, Simulator};
use playproof_explore::{expected, to_yaml};
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::fixture;
use playproof_intake::call::CompletedCall;
use playproof_intake::imported::Imported;
use playproof_intake::mapping;
use playproof_intake::mapping::{DraftDoubt, Mapping, Unmapped};
use playproof_intake::redact::RedactionRules;
use playproof_intake::tool_facts::{ToolCount, listed, render};
use playproof_intake::tool_hints::HintsByTool;

/// The most different failures that are kept.
const FAILURES: usize = 300;

const HEAD: &str = "\
# A failure from your own recording, with what the playbook does about it today: if that is right, it is what must stay.
# Arguments are names and types alone. The message is as recorded, because rules read it: look at it before you commit.
# Whether a failed attempt acted is not recorded; where it did, say `applied: true` behind its answer.
";

/// The results of reading recordings.
#[derive(Debug, Default)]
pub struct Recordings {
    /// Drafted mappings.
    pub mappings: Vec<DraftMapping>,
    /// The recordings, in order.
    pub inputs: Vec<RecordingSummary>,
    tools: BTreeMap<String, ToolTally>,
    /// What tool lists in the recordings say of tools.
    pub hints: HintsByTool,
    /// Failed calls as shown, each with a different failure.
    failing: Vec<RecordedCall>,
    /// By tool, failure, and whether the call has a key: without one it is another danger.
    seen: BTreeSet<(String, FailureKey, bool)>,
}

/// The first failure of a call: kind and status, if recorded.
type FailureKey = Option<(Option<Box<str>>, Option<u16>)>;

#[derive(Debug, Default)]
struct ToolTally {
    calls: u64,
    failed: u64,
    is_redacted: bool,
}

/// A drafted mapping.
#[derive(Debug)]
pub struct DraftMapping {
    stem: String,
    /// Its text.
    pub text: String,
    mapping: Mapping,
}

impl DraftMapping {
    /// Its file, below the project's root.
    pub fn path(&self) -> String {
        format!("mappings/{}.yaml", self.stem)
    }
}

/// A summary of one recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingSummary {
    /// Its path, as given.
    pub path: String,
    /// The file of its mapping.
    pub mapping: Option<String>,
    /// Whether the mapping was given: its path is then not relative to the project's folder.
    pub is_given: bool,
    /// Its calls.
    pub calls: u64,
    /// The calls with a failed attempt.
    pub failed: u64,
    /// Fields of its lines that have no meaning in our own format.
    pub unknown_fields: u64,
}

/// Why a recording has no mapping.
#[derive(Clone, Debug)]
pub enum NoMapping {
    /// It cannot be read at all.
    Unreadable(Report),
    /// No mapping can be drafted of it.
    Unmapped(Unmapped),
    /// The mapping would contain redacted text.
    Redacted,
    /// The mapping that can be drafted of it reads it wrong.
    Doubtful(DraftDoubt),
}

impl From<Report> for NoMapping {
    fn from(report: Report) -> NoMapping {
        NoMapping::Unreadable(report)
    }
}

impl Recordings {
    /// Reads a foreign recording under the first mapping that reads it, or under one that is drafted from it; gives the
    /// file of that mapping too. `lasting` is what the draft calls the recording.
    ///
    /// # Errors
    /// There is no such mapping.
    pub fn import(
        &mut self,
        path: &str,
        lasting: &str,
        bytes: &[u8],
        redaction: &RedactionRules,
    ) -> Result<(Imported, String), NoMapping> {
        for drafted in &self.mappings {
            let read = mapping::apply(&drafted.mapping, bytes, path, redaction).ok();
            if let Some(imported) = read.filter(|imported| imported.loss.results > 0) {
                return Ok((imported, drafted.path()));
            }
        }
        let draft = mapping::draft(bytes, lasting).map_err(|report| redaction.report(report))?;
        let draft = draft.map_err(NoMapping::Unmapped)?;
        if draft.of_rows.iter().any(|said| redaction.text(said) != **said) {
            return Err(NoMapping::Redacted);
        }
        let mapping = mapping::parse(Source::whole("drafted mapping", &*draft.text))?;
        let imported = mapping::apply(&mapping, bytes, path, redaction)?;
        if let Some(doubt) = mapping::doubt(&imported) {
            return Err(NoMapping::Doubtful(doubt));
        }
        let taken: BTreeSet<&str> = self.mappings.iter().map(|drafted| drafted.stem.as_str()).collect();
        let stem = first_free(&stem(path), |name| taken.contains(name));
        let drafted = DraftMapping { stem, text: draft.text, mapping };
        let file = drafted.path();
        self.mappings.push(drafted);
        Ok((imported, file))
    }

    /// Takes a call of `recording`.
    pub fn on_call(&mut self, recording: &mut RecordingSummary, closed: &CompletedCall) {
        let (raw, shown) = (closed.raw(), closed.shown());
        let failure: Option<FailureKey> = raw.answers.iter().find_map(|answer| match &answer.reply {
            Reply::Failed(error) => Some(error.as_deref().map(|error| (error.kind.clone(), error.status))),
            Reply::Ok | Reply::Suspected(_) | Reply::Unfinished(_) => None,
        });
        let failed = u64::from(failure.is_some());
        recording.calls += 1;
        recording.failed += failed;
        let row = self.tools.entry(shown.tool().to_owned()).or_default();
        row.calls += 1;
        row.failed += failed;
        row.is_redacted = raw.tool() != shown.tool();
        if let Some(failure) = failure
            && self.failing.len() < FAILURES
            && self.seen.insert((raw.tool().to_owned(), failure, raw.is_keyed()))
        {
            self.failing.push(shown.clone());
        }
    }

    /// The file and the text of the tool facts; `names` are what the recordings are called in it.
    pub fn tools(&self, names: &[String]) -> Option<(String, String)> {
        let count = |(tool, row): (_, &ToolTally)| {
            let ToolTally { calls, failed, is_redacted } = *row;
            ToolCount {
                tool,
                is_redacted,
                calls,
                failed,
                hints: self.hints.get(tool).copied().unwrap_or_default(),
                args: None,
            }
        };
        let rows = self.tools.iter().map(|(tool, row)| count((tool.as_str(), row)));
        let first = self.inputs.first()?;
        Some((format!("tools/{}.yaml", stem(&first.path)), render(&names.join(", "), rows.chain(listed(&self.hints)))))
    }

    /// The fixture of the most dangerous failure that a rule matches and whose recording is complete; none without one.
    pub(super) fn fixture(&self, plan: &Plan) -> Option<NamedText> {
        let mut simulator = Simulator::new();
        let all = self.failing.iter().filter_map(|call| of_call(plan, &mut simulator, call));
        // Of several as dangerous ones, the first.
        all.reduce(|most, next| if next.0 > most.0 { next } else { most }).map(|(_, named)| named)
    }
}

/// How dangerous a failed call is: it writes, nobody knows whether it acted, no key tells a retry from a second request.
type Danger = (bool, bool, bool);

fn of_call(plan: &Plan, simulator: &mut Simulator, call: &RecordedCall) -> Option<(Danger, NamedText)> {
    let mut fixture = scripted(call)?;
    let scenario = Scenario::of_fixture(&fixture, plan);
    let record = simulator.run_fixture(plan, &scenario);
    let verdict = known_verdict(plan, record)?;
    let claim = record.outcomes.first().map(|outcome| outcome.claim);
    let writes = plan.facts(call.tool()).access == Access::Write;
    let danger = (writes, claim == Some(EffectClaim::Unknown), !call.is_keyed());
    let expect = expected(plan, &scenario, record);
    fixture.title = format!("{} ends as recorded: {verdict}", call.tool());
    fixture.expect.insert(PLAYBOOK.to_owned(), expect.into());
    let text = HEAD.to_owned() + &to_yaml(&fixture);
    let name = format!("{}-meets-{}", slug(call.tool()), slug(&verdict));
    fixture::parse(Source::whole("recorded", &*text)).ok().map(|_| (danger, (name, text)))
}

/// The last verdict of a run, if rules gave all verdicts and the end is determined.
fn known_verdict(plan: &Plan, record: &SimulationRecord) -> Option<String> {
    let outcome = record.outcomes.first()?;
    let classified = record.events_of(CallId(0)).filter_map(|event| match event.what {
        Decision::FailureClassified { verdict, .. } => Some(verdict),
        _ => None,
    });
    let verdicts: Vec<_> = classified.collect();
    let unknown = verdicts.contains(&plan.playbook.otherwise);
    let is_open = matches!(outcome.kind, OutcomeKind::Undetermined(_));
    let last = verdicts.last().filter(|_| !unknown && !is_open && record.findings.is_empty())?;
    Some(plan.names.verdict(*last).to_owned())
}

/// The call with its answers as a script; none if other requests than attempts were answered.
fn scripted(call: &RecordedCall) -> Option<Fixture> {
    let is_plain = call.answers.iter().all(|answer| answer.to == AnswerTo::Attempt);
    is_plain.then(|| without_echoes(of_recorded(call), call))
}

/// The name of a file without folders and endings.
fn stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    slug(name.trim_start_matches('.').split('.').next().unwrap_or(name))
}

/// A name as part of a file's name.
fn slug(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(60).collect();
    if slug.is_empty() { "a-tool".to_owned() } else { slug }
}
