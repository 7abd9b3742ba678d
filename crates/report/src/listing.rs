//! Which calls a page shows: those that were asked for, the most serious first, alike ones folded with a count.
//! Keeps one call a group, and so many groups at most, so that memory does not grow with the trace. Draws nothing.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use foldhash::fast::FixedState;

use super::card::Alike;
use super::findings::order;
use super::text::escape_unprintable;
use playproof_analysis::replay::{CallMarks, FactsUsed, MessageTemplates, RequestMark, ShownCall, pairs};
use playproof_engine::call::{Place, RecordedCall, Reply};
use playproof_engine::event::{
    Decision, EffectClaim, FailureClass, Finding, FindingId, FindingSeverity, Outcome, OutcomeKind, PlaybookNames,
    Status,
};
use playproof_engine::glob::Glob;
use playproof_engine::sim::SimulationRecord;
use playproof_intake::origin::Sources;

/// References that are kept of the calls that went the same way as the one shown.
const OTHERS: usize = 4;

/// Groups of one intent that are kept apart, so that memory does not grow with the harm.
const INTENTS_MAX: usize = 2_000;

/// Requests of which it is kept how a call of them ended under a playbook; the greatest marks are forgotten.
const ENDED_MAX: usize = 65_536;

/// Groups of one kind that are kept apart, for the same reason: messages and tools may be as many as calls.
const KINDS_MAX: usize = 2_000;

/// Which calls are wanted.
#[derive(Clone, Debug, Default)]
pub struct CallSelection {
    /// What must be true of them.
    pub only: Only,
    /// Only this call: its reference, its place or its own id.
    pub call: Option<String>,
    /// What places are called.
    pub sources: Sources,
    /// Only calls of this run.
    pub run: Option<String>,
    /// Only calls of this tool, or of the tools that a glob matches.
    pub tool: Option<ToolSelection>,
    /// Only failed calls whose agent is told this class, under any of the playbooks.
    pub class: Option<FailureClass>,
    /// Each call by itself, none folded.
    pub unfolded: bool,
}

impl CallSelection {
    /// Whether a call is wanted.
    pub fn wants<'r>(
        &self,
        call: ShownCall<'_>,
        recorded: &[Finding],
        mut runs: impl Iterator<Item = (&'r PlaybookNames, &'r SimulationRecord)> + Clone,
    ) -> bool {
        let CallSelection { only, call: wanted, sources, run, tool, class, .. } = self;
        if run.as_deref().is_some_and(|run| !call.either(|call| call.run() == Some(run)))
            || tool.as_ref().is_some_and(|tool| !call.either(|call| tool.is_match(call.tool())))
        {
            return false;
        }
        let is_told = |class| runs.clone().any(|(_, record)| record.told.iter().any(|told| told.class == class));
        if class.is_some_and(|class| !is_told(class)) {
            return false;
        }
        if let Some(wanted) = wanted.as_deref() {
            let is_named = |call: &RecordedCall| call.id() == Some(wanted) || call.reference() == wanted;
            return call.either(is_named) || sources.is_place_of_call(wanted, &call);
        }
        let found = || !recorded.is_empty() || runs.clone().any(|(_, record)| !record.findings.is_empty());
        let failed = || {
            call.answers.iter().any(|answer| matches!(answer.reply, Reply::Failed(_)))
                || runs.clone().any(|(_, record)| record.outcomes.iter().any(is_failure))
        };
        match only {
            Only::Nothing => true,
            Only::FailedOrFound => failed() || found(),
            Only::Failed => failed(),
            Only::Found => found(),
            Only::Verdict(name) => runs.any(|(names, record)| {
                record.events.iter().any(|event| match event.what {
                    Decision::FailureClassified { verdict, .. } => names.verdict(verdict) == name,
                    _ => false,
                })
            }),
        }
    }
}

/// The name of a tool, or a glob of tools as in a playbook.
#[derive(Clone, Debug)]
pub struct ToolSelection {
    given: String,
    glob: Option<Glob>,
}

impl ToolSelection {
    /// Reads a name or a glob.
    ///
    /// # Errors
    /// Why the glob does not compile, in one line.
    pub fn new(given: &str) -> Result<ToolSelection, String> {
        Ok(ToolSelection { given: given.to_owned(), glob: Glob::of_tools(given)? })
    }

    /// What was given.
    pub fn as_str(&self) -> &str {
        &self.given
    }

    fn is_match(&self, tool: &str) -> bool {
        self.glob.as_ref().map_or(self.given == tool, |glob| glob.is_match(tool))
    }
}

/// What must be true of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Only {
    /// It failed, or something was found.
    #[default]
    FailedOrFound,
    /// Nothing.
    Nothing,
    /// An attempt failed.
    Failed,
    /// Something was found.
    Found,
    /// A failure got this verdict, under any of the playbooks.
    Verdict(String),
}

/// A call with what each playbook made of it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ListedCall {
    /// The call.
    pub call: RecordedCall,
    /// What was known of its tool.
    pub facts: FactsUsed,
    /// What the recording shows of it.
    pub recorded: Vec<Finding>,
    /// One simulation a playbook, in the order of the command line.
    pub records: Vec<SimulationRecord>,
}

/// Calls that went the same way.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Group {
    rank: Rank,
    /// What went the same way but for the intent.
    kind: u64,
    /// What they all want done once; none if they want several things.
    intent: Option<u128>,
    /// The request of the one that is shown.
    request: RequestMark,
    /// What became of the call before the one that is shown, where a playbook then would not have let it be made.
    #[serde(skip)]
    pub prevented: Option<String>,
    /// How many there are.
    pub count: u64,
    /// They are of several kinds that are not told apart, for there are too many; the one that is shown is among the
    /// most serious of them.
    pub is_mixed: bool,
    /// The one that is shown.
    pub detail: Box<ListedCall>,
    /// Where that stands.
    shown: (Place, u64),
    /// The first ones of all, by where they stand, with their references; in the end with names that are theirs alone.
    members: Vec<((Place, u64), String)>,
    /// What stands behind this is none of them.
    until: Option<(Place, u64)>,
}

/// The place of a group among the others; the least is shown first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
struct Rank {
    order: Option<(FindingSeverity, u8)>,
    id: Option<FindingId>,
    /// More is worse.
    spared: u32,
}

impl Rank {
    fn of<'a>(findings: impl Iterator<Item = &'a Finding>) -> Rank {
        let worst = findings.min_by_key(|finding| (order(finding), finding.id, u32::MAX - finding.count));
        Rank {
            order: worst.map(order),
            id: worst.map(|worst| worst.id),
            spared: u32::MAX - worst.map_or(0, |worst| worst.count),
        }
    }

    /// What was found at worst; calls of one kind have it in common.
    fn worst(self) -> (Option<FindingSeverity>, Option<FindingId>) {
        (self.severity(), self.id)
    }

    /// A call in which something was found comes before one that merely failed.
    fn key(self) -> (bool, Rank) {
        (self.order.is_none(), self)
    }

    fn severity(self) -> Option<FindingSeverity> {
        self.order.map(|(severity, _)| severity)
    }
}

/// Collects groups, on any number of threads and in any order.
#[derive(Debug)]
pub struct Listing {
    selection: CallSelection,
    groups: Mutex<Groups>,
}

/// Where a call stands, and what becomes of it under each playbook, where its agent does not go on with it.
type EndedCall = ((Place, u64), Vec<Option<EndedAs>>);

playproof_engine::words! {
    /// What becomes of a call, where its agent does not go on with it.
    pub enum EndedAs {
        /// It is escalated.
        ToPeople = "goes to people",
        /// It ends as deprecated.
        GivenUp = "is given up",
        /// It is reversed.
        TakenBack = "is taken back",
    }
}

/// What a later call may have in common with one that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
enum EndMark {
    Request(RequestMark),
    Place(Place),
}

impl EndMark {
    fn behind(self, inputs: u32) -> EndMark {
        match self {
            EndMark::Request(request) => EndMark::Request(request.behind(inputs)),
            EndMark::Place(place) => EndMark::Place(place.behind(inputs)),
        }
    }
}

/// Groups by what makes them one: they add up in any order.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Groups {
    /// Calls of one kind.
    kinds: BTreeMap<u64, Group>,
    /// Calls of one kind and one intent, where harm was done.
    intents: BTreeMap<u64, Group>,
    /// Signatures of intents from here on are not kept apart. There are many, and the least are kept whatever the order
    /// in which they come, so that all orders end alike.
    beyond: Option<u64>,
    /// Calls of kinds that are too many to be kept apart, by the worst that was found.
    #[serde(with = "pairs")]
    mixed: BTreeMap<(Option<FindingSeverity>, Option<FindingId>), Group>,
    /// Signatures of kinds from here on are among those.
    kinds_beyond: Option<u64>,
    /// By request, and by place: the first call that the agent does not go on with under some playbook, and what becomes of it
    /// under each.
    #[serde(with = "pairs")]
    ended: BTreeMap<EndMark, EndedCall>,
    /// The names of the playbooks.
    playbooks: Vec<String>,
}

impl Listing {
    /// A listing of nothing yet.
    pub fn new(selection: CallSelection) -> Listing {
        Listing { selection, groups: Mutex::default() }
    }

    /// Takes a call, if it is wanted.
    pub fn take<'r>(
        &self,
        call: ShownCall<'_>,
        marks: CallMarks,
        recorded: &[Finding],
        runs: impl Iterator<Item = (&'r PlaybookNames, &'r SimulationRecord)> + Clone,
        templates: &mut MessageTemplates,
    ) {
        let CallMarks { intent, request, case } = marks;
        self.note_end(&call, request, runs.clone());
        if !self.selection.wants(call, recorded, runs.clone()) {
            return;
        }
        let kind = self.kind(call.raw(), recorded, runs.clone(), templates);
        let rank = Rank::of(recorded.iter().chain(runs.clone().flat_map(|(_, record)| &record.findings)));
        let detail = || {
            let records = runs.map(|(_, record)| record.clone().without_raw()).collect();
            let (call, facts) = ((*call).clone(), call.known_facts());
            Box::new(ListedCall { call, facts, recorded: recorded.to_vec(), records })
        };
        // Harm to one thing is not harm to another; the same harm in many runs is one case.
        let apart = (rank.severity() == Some(FindingSeverity::Unsafe) && !self.selection.unfolded)
            .then(|| FixedState::default().hash_one((kind, case)));
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let apart = apart.filter(|apart| groups.beyond.is_none_or(|beyond| *apart < beyond));
        let known = match apart {
            Some(apart) => groups.intents.get_mut(&apart),
            None if groups.kinds_beyond.is_some_and(|beyond| kind >= beyond) => groups.mixed.get_mut(&rank.worst()),
            None => groups.kinds.get_mut(&kind),
        };
        if let Some(known) = known {
            return known.add(&call, (intent, request), rank, detail);
        }
        let new = Group {
            rank,
            kind,
            intent: Some(intent),
            request,
            prevented: None,
            count: 1,
            is_mixed: false,
            detail: detail(),
            shown: (call.place, call.number),
            members: vec![member(&call)],
            until: None,
        };
        match apart {
            Some(apart) => drop(groups.intents.insert(apart, new)),
            None => groups.take_kind(new),
        }
        let most = if self.selection.unfolded { usize::MAX } else { KINDS_MAX };
        groups.bound(most);
    }

    /// Notes a call that people get, or that is given up: its agent has no reason to make it again.
    fn note_end<'r>(
        &self,
        call: &RecordedCall,
        request: RequestMark,
        runs: impl Iterator<Item = (&'r PlaybookNames, &'r SimulationRecord)> + Clone,
    ) {
        let ended =
            |record: &SimulationRecord| record.outcomes.first().and_then(|outcome| goes_on_without(outcome.kind));
        if !runs.clone().any(|(_, record)| ended(record).is_some()) {
            return;
        }
        let place = (call.place, call.number);
        let new = || runs.clone().map(|(_, record)| ended(record)).collect();
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let Groups { ended: known, playbooks, .. } = &mut *groups;
        if playbooks.is_empty() {
            playbooks.extend(runs.clone().map(|(names, _)| names.playbook.to_string()));
        }
        for mark in [EndMark::Request(request), EndMark::Place(call.place)] {
            note_first(known, mark, (place, &new));
        }
    }

    /// The groups of the calls that were taken.
    pub fn into_groups(self) -> Groups {
        self.groups.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls of the same kind went the same way: tool, findings, and under each playbook what was decided.
    fn kind<'r>(
        &self,
        call: &RecordedCall,
        recorded: &[Finding],
        runs: impl Iterator<Item = (&'r PlaybookNames, &'r SimulationRecord)>,
        templates: &mut MessageTemplates,
    ) -> u64 {
        let mut hash = FixedState::default().build_hasher();
        if self.selection.unfolded {
            (call.place, call.number).hash(&mut hash);
        }
        call.tool().hash(&mut hash);
        for finding in recorded {
            found(finding, &mut hash);
        }
        for answer in &call.answers {
            match &answer.reply {
                Reply::Ok => true.hash(&mut hash),
                Reply::Failed(error) | Reply::Suspected(error) | Reply::Unfinished(error) => {
                    let error = error.as_deref();
                    answer.reply.is_failure().hash(&mut hash);
                    error.and_then(|error| error.kind.as_deref()).hash(&mut hash);
                    let message = error.and_then(|error| error.message.as_deref()).unwrap_or("");
                    templates.template(message, call.args()).hash(&mut hash);
                }
            }
        }
        for (_, record) in runs {
            for finding in &record.findings {
                found(finding, &mut hash);
            }
            for event in &record.events {
                decided(event.what, &mut hash);
            }
        }
        hash.finish()
    }
}

impl Groups {
    /// Takes in the groups of inputs that come behind `inputs` others, which these are of. `is_unfolded`: each call stands by
    /// itself.
    pub fn merge(&mut self, later: Groups, inputs: u32, is_unfolded: bool) {
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        self.beyond = least(self.beyond, later.beyond);
        self.kinds_beyond = least(self.kinds_beyond, later.kinds_beyond);
        let intents = self.beyond.map_or_else(BTreeMap::new, |from| self.intents.split_off(&from));
        let kinds = self.kinds_beyond.map_or_else(BTreeMap::new, |from| self.kinds.split_off(&from));
        intents.into_values().chain(kinds.into_values()).for_each(|group| self.take_kind(group));
        for (apart, group) in later.intents {
            let group = group.behind(inputs);
            match self.beyond.is_some_and(|beyond| apart >= beyond) {
                true => self.take_kind(group),
                false => merge(&mut self.intents, apart, group),
            }
        }
        for group in later.kinds.into_values() {
            // What tells single calls apart has the place of each in its own part.
            let kind = if is_unfolded { FixedState::default().hash_one((group.kind, inputs)) } else { group.kind };
            self.take_kind(Group { kind, ..group.behind(inputs) });
        }
        for (worst, group) in later.mixed {
            merge(&mut self.mixed, worst, group.behind(inputs));
        }
        for (mark, ((place, number), ends)) in later.ended {
            note_first(&mut self.ended, mark.behind(inputs), ((place.behind(inputs), number), || ends));
        }
        if self.playbooks.is_empty() {
            self.playbooks = later.playbooks;
        }
        self.bound(if is_unfolded { usize::MAX } else { KINDS_MAX });
    }

    /// Calls that were wanted.
    pub fn calls(&self) -> u64 {
        self.all().map(|group| group.count).sum()
    }

    /// Whether there were so many ends of calls that some are forgotten.
    pub fn has_forgotten(&self) -> bool {
        self.ended.len() >= ENDED_MAX
    }

    /// The groups, the most serious first, then in the order of the inputs, which are called as in `sources`.
    pub fn ranked(self, sources: &Sources) -> Vec<Group> {
        let Groups { kinds, intents, mixed, ended, playbooks, .. } = self;
        let mut groups: Vec<Group> =
            kinds.into_values().chain(intents.into_values()).chain(mixed.into_values()).collect();
        for group in &mut groups {
            let named = group.detail.recorded.iter().map(|finding| finding.other_line).max().filter(|line| *line > 0);
            let named = named.and_then(|line| ended.get(&EndMark::Place(Place { line, ..group.shown.0 })));
            let before =
                ended.get(&EndMark::Request(group.request)).filter(|(place, _)| *place < group.shown).or(named);
            group.prevented = before.and_then(|(_, ended)| prevented(&playbooks, ended));
        }
        // A reference is a call's own name in its input alone.
        if sources.name(1).is_some() {
            for ((place, _), name) in groups.iter_mut().flat_map(|group| &mut group.members) {
                if sources.is_named_apart(place.input) {
                    *name = sources.describe(*place);
                }
            }
        }
        groups.sort_by_cached_key(Group::order);
        groups
    }

    fn all(&self) -> impl Iterator<Item = &Group> {
        self.kinds.values().chain(self.intents.values()).chain(self.mixed.values())
    }

    /// Where too many are kept apart, folds the last into those of its kind, or into those of all kinds.
    fn bound(&mut self, kinds: usize) {
        while self.intents.len() > INTENTS_MAX {
            let Some((signature, last)) = self.intents.pop_last() else { return };
            self.beyond = Some(signature);
            self.take_kind(last);
        }
        while self.kinds.len() > kinds {
            let Some((signature, last)) = self.kinds.pop_last() else { return };
            self.kinds_beyond = Some(signature);
            self.take_kind(last);
        }
    }

    /// Takes a group in by its kind.
    fn take_kind(&mut self, group: Group) {
        match self.kinds_beyond.is_some_and(|beyond| group.kind >= beyond) {
            true => merge(&mut self.mixed, group.rank.worst(), Group { is_mixed: true, ..group }),
            false => merge(&mut self.kinds, group.kind, group),
        }
    }
}

/// Notes the end of a call under a mark, unless one before it is known.
fn note_first(
    known: &mut BTreeMap<EndMark, EndedCall>,
    mark: EndMark,
    (place, ends): ((Place, u64), impl FnOnce() -> Vec<Option<EndedAs>>),
) {
    match known.entry(mark) {
        Entry::Vacant(first) => drop(first.insert((place, ends()))),
        Entry::Occupied(mut first) if place < first.get().0 => drop(first.insert((place, ends()))),
        Entry::Occupied(_) => {}
    }
    while known.len() > ENDED_MAX {
        known.pop_last();
    }
}

fn merge<K: Ord>(among: &mut BTreeMap<K, Group>, key: K, group: Group) {
    match among.entry(key) {
        Entry::Vacant(new) => drop(new.insert(group)),
        Entry::Occupied(known) => known.into_mut().merge(group),
    }
}

impl Group {
    /// The most serious call is shown, of equals the first; whatever the order in which they come.
    fn add(
        &mut self,
        call: &RecordedCall,
        (intent, request): (u128, RequestMark),
        rank: Rank,
        detail: impl FnOnce() -> Box<ListedCall>,
    ) {
        self.count += 1;
        self.intent = self.intent.filter(|known| *known == intent);
        let place = (call.place, call.number);
        if self.until.is_none_or(|until| place < until) {
            let at = self.members.partition_point(|(before, _)| *before < place);
            self.members.insert(at, member(call));
            self.keep_first_members();
        }
        if (rank.key(), place) < self.order() {
            (self.detail, self.shown, self.request) = (detail(), place, request);
            self.rank = rank;
        }
    }

    /// The same, of inputs that come behind `inputs` others.
    fn behind(mut self, inputs: u32) -> Group {
        let call = &mut self.detail.call;
        call.place = call.place.behind(inputs);
        for answer in &mut call.answers {
            answer.place = answer.place.behind(inputs);
        }
        self.shown.0 = self.shown.0.behind(inputs);
        for ((place, _), _) in &mut self.members {
            *place = place.behind(inputs);
        }
        self.until = self.until.map(|(place, number)| (place.behind(inputs), number));
        self.request = self.request.behind(inputs);
        self
    }

    fn order(&self) -> ((bool, Rank), (Place, u64)) {
        (self.rank.key(), self.shown)
    }

    /// The severity of the worst that was found.
    pub fn severity(&self) -> Option<FindingSeverity> {
        self.rank.severity()
    }

    /// Takes in a group of the same kind.
    fn merge(&mut self, other: Group) {
        self.count += other.count;
        self.intent = self.intent.filter(|intent| other.intent == Some(*intent));
        if other.order() < self.order() {
            (self.detail, self.shown, self.request) = (other.detail, other.shown, other.request);
            self.rank = other.rank;
        }
        self.members.extend(other.members);
        self.members.sort_unstable();
        self.keep_first_members();
    }

    fn keep_first_members(&mut self) {
        self.members.truncate(OTHERS + 1);
        self.until = self.members.get(OTHERS).map(|(last, _)| *last);
    }

    /// The calls that went the same way as the one shown.
    pub fn alike(&self) -> Alike {
        let others = self.members.iter().filter(|(place, _)| *place != self.shown).map(|(_, name)| name);
        let others: Vec<String> = others.take(OTHERS).cloned().collect();
        let more = self.count.saturating_sub(1 + others.len() as u64);
        Alike { others, more, several_intents: self.intent.is_none(), is_mixed: self.is_mixed }
    }
}

/// What becomes of a call, where its agent does not go on with it.
const fn goes_on_without(end: OutcomeKind) -> Option<EndedAs> {
    match end {
        OutcomeKind::Escalated(_) => Some(EndedAs::ToPeople),
        OutcomeKind::Deprecated(_) => Some(EndedAs::GivenUp),
        OutcomeKind::Reversed(_) => Some(EndedAs::TakenBack),
        _ => None,
    }
}

/// Under which playbooks the call before goes which way.
fn prevented(playbooks: &[String], ended: &[Option<EndedAs>]) -> Option<String> {
    let mut ways: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, way) in playbooks.iter().zip(ended).filter_map(|(name, way)| Some((name, (*way)?.as_str()))) {
        let name = format!("`{}`", escape_unprintable(name));
        match ways.iter_mut().find(|(known, _)| *known == way) {
            Some((_, names)) => names.push(name),
            None => ways.push((way, vec![name])),
        }
    }
    let said: Vec<String> =
        ways.iter().map(|(way, names)| format!("under {} the call before it {way}", names.join(" and "))).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// What counts of a finding: what its sentence claims. Counts that grow from call to call are shown as the greatest.
fn found(finding: &Finding, hash: &mut impl Hasher) {
    use FindingId::{DuplicateEffect, FutileRetry, PossibleDuplicateEffect, RunawayLoop};
    let grows = matches!(finding.id, DuplicateEffect | PossibleDuplicateEffect | RunawayLoop | FutileRetry);
    (finding.id, finding.by, if grows { 0 } else { finding.count }).hash(hash);
}

fn member(call: &RecordedCall) -> ((Place, u64), String) {
    ((call.place, call.number), call.reference())
}

/// What counts of a decision, whenever it was taken and whatever the error's words were.
fn decided(what: Decision, hash: &mut impl Hasher) {
    match what {
        Decision::FailureClassified { verdict, rule, ignored } => (1_u8, verdict, rule, ignored).hash(hash),
        Decision::AttemptFinished { status, .. } => {
            (2_u8, matches!(status, Status::Ok), matches!(status, Status::Unanswered)).hash(hash);
        }
        Decision::RetrySuppressed { why } => (3_u8, why).hash(hash),
        Decision::ReversalRefused { why } => (4_u8, why).hash(hash),
        Decision::Refused { why, .. } => (6_u8, why).hash(hash),
        // Which call it was that had the key differs from call to call.
        Decision::Outcome(Outcome { kind: OutcomeKind::Joined { ended, .. }, claim, .. }) => {
            (7_u8, ended, claim).hash(hash)
        }
        Decision::Outcome(Outcome { kind: OutcomeKind::Cached { .. }, claim, .. }) => (8_u8, claim).hash(hash),
        Decision::Outcome(outcome) => {
            let Outcome { kind, claim, attempts, .. } = outcome;
            (5_u8, kind, claim, attempts).hash(hash);
        }
        _ => {}
    }
}

fn is_failure(outcome: &Outcome) -> bool {
    outcome.kind != OutcomeKind::Succeeded || outcome.claim == EffectClaim::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::call::{AnswerTo, CallTexts, RecordedAnswer};
    use playproof_engine::event::{FindingBy, StatusFrom};
    use playproof_engine::ids::CallId;

    fn call(line: u64, tool: &str, reply: Reply) -> RecordedCall {
        let mut call = RecordedCall::new(CallTexts { tool, ..CallTexts::default() }, Place { input: 0, line });
        call.number = line;
        call.number_in_run = u32::try_from(line).unwrap();
        let to = AnswerTo::Attempt;
        let place = call.place;
        call.answers.push(RecordedAnswer {
            to,
            attempt: None,
            started: None,
            at: None,
            reply,
            inferred: false,
            status_from: StatusFrom::Flag,
            draw: None,
            line_hash: 0,
            place,
        });
        call
    }

    fn ranked(listing: Listing) -> Vec<Group> {
        let sources = listing.selection.sources.clone();
        listing.into_groups().ranked(&sources)
    }

    fn found(id: FindingId, count: u32) -> Finding {
        Finding::new(id, FindingBy::Recorded, CallId(0), count)
    }

    fn marks(of: u128) -> CallMarks {
        CallMarks { intent: of, request: RequestMark { input: Some(0), request: of }, case: of }
    }

    #[test]
    fn the_same_harm_in_many_runs_and_files_is_one_case() {
        let listing = Listing::new(CallSelection::default());
        for run in 0..10_u32 {
            for case in 0..2_u32 {
                let mut call = call(u64::from(case) + 1, "a", Reply::Ok);
                call.place.input = run;
                let marks = CallMarks { case: case.into(), ..marks(u128::from(run * 2 + case)) };
                let twice = [found(FindingId::DuplicateEffect, 2)];
                listing.take(
                    ShownCall::plain(&call),
                    marks,
                    &twice,
                    std::iter::empty(),
                    &mut MessageTemplates::default(),
                );
            }
        }
        let counts: Vec<u64> = ranked(listing).iter().map(|group| group.count).collect();
        assert_eq!(counts, [10, 10]);
    }

    #[test]
    fn what_becomes_of_the_call_before_is_said_once_for_each_way() {
        let playbooks = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let said = |ended: [Option<EndedAs>; 3]| prevented(&playbooks, &ended);
        let people = Some(EndedAs::ToPeople);
        assert_eq!(
            said([people, None, people]).as_deref(),
            Some("under `a` and `c` the call before it goes to people")
        );
        assert_eq!(said([None; 3]), None);
    }

    fn listing(calls: &[(RecordedCall, Vec<Finding>)]) -> Listing {
        let listing = Listing::new(CallSelection::default());
        for (call, findings) in calls {
            listing.take(
                ShownCall::plain(call),
                marks(7),
                findings,
                std::iter::empty(),
                &mut MessageTemplates::default(),
            );
        }
        listing
    }

    fn shown(listing: Listing) -> Vec<(String, u64, Vec<String>)> {
        let groups = ranked(listing).into_iter();
        groups.map(|group| (group.detail.call.reference(), group.count, group.alike().others)).collect()
    }

    #[test]
    fn the_most_serious_comes_first_and_calls_without_failure_or_finding_do_not_come() {
        let calls = [
            (call(1, "a", Reply::Ok), vec![]),
            (call(2, "b", Reply::Failed(None)), vec![]),
            (call(3, "c", Reply::Ok), vec![found(FindingId::FutileRetry, 1)]),
            (call(4, "d", Reply::Ok), vec![found(FindingId::DuplicateEffect, 2)]),
            (call(5, "e", Reply::Ok), vec![found(FindingId::DuplicateEffect, 3)]),
        ];
        let names: Vec<String> = shown(listing(&calls)).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["#5", "#4", "#3", "#2"]);
    }

    #[test]
    fn what_may_have_acted_twice_comes_before_what_was_only_sent_again() {
        let calls = [
            (call(1, "a", Reply::Ok), vec![found(FindingId::RetriedAfterDenial, 1)]),
            (
                call(2, "b", Reply::Ok),
                vec![found(FindingId::RetriedAfterConflict, 1), found(FindingId::UnsafeRetry, 1)],
            ),
        ];
        let groups = ranked(listing(&calls));
        let of = |group: &Group| (group.detail.call.reference(), group.severity());
        let unsafe_ones = ["#2", "#1"].map(|name| (name.to_owned(), Some(FindingSeverity::Unsafe)));
        assert_eq!(groups.iter().map(of).collect::<Vec<_>>(), unsafe_ones);
    }

    #[test]
    fn calls_that_went_the_same_way_are_folded_and_the_worst_of_them_is_shown() {
        let mut calls = [
            (call(1, "a", Reply::Ok), vec![found(FindingId::DuplicateEffect, 2)]),
            (call(2, "a", Reply::Ok), vec![found(FindingId::DuplicateEffect, 3)]),
            (call(3, "a", Reply::Ok), vec![found(FindingId::DuplicateEffect, 2)]),
        ];
        let one = vec![("#2".to_owned(), 3, vec!["#1".to_owned(), "#3".to_owned()])];
        for _ in 0..3 {
            calls.rotate_left(1);
            assert_eq!(shown(listing(&calls)), one, "in any order");
        }
    }

    #[test]
    fn harm_to_one_intent_is_never_folded_into_harm_to_another_and_doubts_are() {
        let take = |id: FindingId, counts: [u32; 3]| {
            let listing = Listing::new(CallSelection::default());
            for (line, (intent, count)) in (1..).zip([7, 7, 8].into_iter().zip(counts)) {
                listing.take(
                    ShownCall::plain(&call(line, "a", Reply::Ok)),
                    marks(intent),
                    &[found(id, count)],
                    std::iter::empty(),
                    &mut MessageTemplates::default(),
                );
            }
            ranked(listing)
        };
        let groups = take(FindingId::DuplicateEffect, [2, 3, 2]);
        let counts: Vec<_> = groups.iter().map(|group| (group.count, group.alike().several_intents)).collect();
        assert_eq!(counts, [(2, false), (1, false)]);
        let groups = take(FindingId::PossibleDuplicateEffect, [2, 3, 2]);
        let counts: Vec<_> = groups.iter().map(|group| (group.count, group.alike().several_intents)).collect();
        assert_eq!(counts, [(3, true)]);
        assert_eq!(take(FindingId::Unclassified, [1, 2, 1]).len(), 2, "another count is another claim");
    }

    #[test]
    fn calls_of_several_inputs_are_told_apart_though_they_share_a_reference() {
        let alike = |names: &[&str], inputs: [u32; 3]| {
            let sources = Sources::new(names.iter().map(|name| (*name).to_owned()));
            let listing = Listing::new(CallSelection { sources, ..CallSelection::default() });
            for (number, input) in (1..).zip(inputs) {
                let mut call = call(number, "a", Reply::Failed(None));
                (call.place.input, call.number_in_run) = (input, 1);
                listing.take(
                    ShownCall::plain(&call),
                    marks(7),
                    &[],
                    std::iter::empty(),
                    &mut MessageTemplates::default(),
                );
            }
            let group = ranked(listing).remove(0);
            (group.count, group.alike().others)
        };
        let others = vec!["b.jsonl:2".to_owned(), "b.jsonl:3".to_owned()];
        assert_eq!(alike(&["a.jsonl", "b.jsonl"], [0, 1, 1]), (3, others));
        assert_eq!(alike(&["a.jsonl"], [0; 3]).1, ["#1", "#1"]);
    }

    #[test]
    fn very_many_intents_are_folded_so_that_memory_has_a_bound() {
        let listing = Listing::new(CallSelection::default());
        let most = u64::try_from(INTENTS_MAX).unwrap() + 50;
        for line in 1..=most {
            let findings = [found(FindingId::DuplicateEffect, 2)];
            listing.take(
                ShownCall::plain(&call(line, "a", Reply::Ok)),
                marks(line.into()),
                &findings,
                std::iter::empty(),
                &mut MessageTemplates::default(),
            );
        }
        let groups = ranked(listing);
        assert_eq!(groups.len(), INTENTS_MAX + 1);
        assert_eq!(groups.iter().map(|group| group.count).sum::<u64>(), most);
        assert_eq!(groups.iter().filter(|group| group.alike().several_intents).count(), 1);
    }

    #[test]
    fn very_many_kinds_are_folded_so_that_memory_has_a_bound() {
        let listing = Listing::new(CallSelection::default());
        let most = u64::try_from(KINDS_MAX).unwrap() + 50;
        for line in 1..=most {
            let call = call(line, &format!("tool {line}"), Reply::Failed(None));
            listing.take(
                ShownCall::plain(&call),
                marks(line.into()),
                &[],
                std::iter::empty(),
                &mut MessageTemplates::default(),
            );
        }
        let groups = ranked(listing);
        assert_eq!(groups.len(), KINDS_MAX + 1);
        assert_eq!(groups.iter().map(|group| group.count).sum::<u64>(), most);
        assert_eq!(groups.iter().filter(|group| group.is_mixed).count(), 1);
    }

    #[test]
    fn each_call_stands_by_itself_where_nothing_is_folded() {
        let listing = Listing::new(CallSelection { unfolded: true, ..CallSelection::default() });
        for line in 1..=3 {
            let call = call(line, "a", Reply::Failed(None));
            listing.take(ShownCall::plain(&call), marks(7), &[], std::iter::empty(), &mut MessageTemplates::default());
        }
        assert_eq!(shown(listing).len(), 3);
    }
}
