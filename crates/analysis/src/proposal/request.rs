//! Turns a request for a proposal, with recorded evidence, into a draft. Reads no recording.

use std::sync::Arc;

use serde_json::Value;

use super::draft::{Draft, ProposedRule, VerdictChange, compensation, flow};
use super::edit::with_draft;
use super::evidence::DraftEvidence;
use super::gates::UNWRITTEN;
use crate::check::CaseId;
use crate::mining::NoRule;
use playproof_engine::event::EffectClaim;
use playproof_engine::ids::first_free;
use playproof_engine::playbook::{Playbook, Verdict};
use playproof_formats::diagnostic::{Report, Source, did_you_mean};
use playproof_formats::golden::Class;
use playproof_formats::playbook;
use playproof_formats::playbook::Loaded;
use playproof_formats::playbook::lint::silent_rules;
use playproof_formats::yaml;

/// A request for a new proposal.
#[derive(Clone, Debug, Default)]
pub struct DraftRequest {
    /// The verdict, of the playbook or new.
    pub verdict: String,
    /// The condition of a rule for it, as YAML.
    pub when: Option<Arc<Source>>,
    /// The verdict whose compensation it copies.
    pub like: Option<String>,
    /// Its compensation, as YAML.
    pub then: Option<Arc<Source>>,
    /// Its effect claim.
    pub effect: Option<EffectClaim>,
    /// Its meaning.
    pub means: Option<String>,
}

/// Why there is no draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoDraft {
    /// YAML that cannot be read.
    Yaml(Report),
    /// The playbook does not have the verdict to copy.
    UnknownVerdict(String),
    /// No rule can be drafted from the evidence.
    NoRule(NoRule),
    /// The recorded failures already get the verdict, and nothing else changes.
    GivenAlready,
    /// Nothing changes.
    NothingChanges,
}

/// A note for the author of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The project cannot change the playbook of this kept call: the draft is for another one.
    AnotherPlaybook {
        /// The kept call.
        kept: String,
        /// Its playbook.
        about: String,
        /// The playbook of the draft.
        playbook: String,
    },
    /// The name of the new verdict is similar to another.
    NearVerdict {
        /// The new verdict.
        verdict: String,
        /// The playbook.
        playbook: String,
        /// The similar verdict.
        near: String,
    },
    /// The compensation names this queue, which the playbook lacks.
    AddsQueue(String),
    /// No compensation is given: failures escalate to this queue.
    EscalatesTo(String),
    /// The verdict exists already.
    VerdictThere {
        /// The playbook.
        playbook: String,
        /// The verdict.
        verdict: String,
        /// The rule that is added for it.
        rule: Option<String>,
        /// The keys of the verdict that change.
        keys: Vec<&'static str>,
    },
    /// The rule goes before this one, which would otherwise catch all its failures.
    RuleBefore(String),
    /// An earlier look-alike gets the verdict.
    LookAlikeChanges(CaseId, Class),
    /// The look-alike is synthetic.
    LookAlikeMadeUp(WhySynthetic),
    /// Only kept calls were searched for a look-alike.
    KeptAlone,
    /// The gate refuses the failing call of the fixture, and no calls before it are known that lead to it.
    RefusedAtGate {
        /// Its tool.
        tool: String,
        /// The playbook.
        playbook: String,
    },
    /// The kept call expects another verdict.
    ExpectsAnother {
        /// The kept call.
        kept: String,
        /// The verdict that it expects.
        expected: String,
        /// The verdict of the draft.
        verdict: String,
    },
}

/// Why a look-alike is synthetic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhySynthetic {
    /// No other failure was recorded.
    NoOther,
    /// The draft gives this verdict to all others that were tried.
    AllCaught(String),
}

/// The id of a proposal for a verdict, without a leading dash, which a command would take for a flag.
pub fn id_of(verdict: &str) -> String {
    verdict.replace(['_', '.'], "-").trim_start_matches('-').to_lowercase()
}

/// Whether the playbook has this verdict; if not, a note on a similar one.
pub fn verdict_is_there(verdict: &str, name: &str, playbook: &Playbook) -> (bool, Option<Note>) {
    if verdict_of(playbook, verdict).is_some() {
        return (true, None);
    }
    let near = did_you_mean(verdict, playbook.verdicts.iter().map(|verdict| &*verdict.name));
    let note = near.map(|near| Note::NearVerdict {
        verdict: verdict.to_owned(),
        playbook: name.to_owned(),
        near: near.to_owned(),
    });
    (false, note)
}

/// The requested draft for the playbook that fixtures call `name`, with notes for its author.
///
/// # Errors
/// A request that cannot be used, or that changes nothing.
pub fn draft(
    request: &DraftRequest,
    (name, loaded): (&str, &Loaded),
    evidence: Option<&DraftEvidence>,
) -> Result<(Draft, Vec<Note>), NoDraft> {
    let playbook = &loaded.playbook;
    let mut notes = Vec::new();
    let known = verdict_of(playbook, &request.verdict);
    let change = match known {
        Some(verdict) => VerdictChange::Changed(changed(request, loaded, verdict)?),
        None => added(request, loaded, &mut notes)?,
    };
    let queues = new_queues(request, playbook)?;
    notes.extend(queues.iter().cloned().map(Note::AddsQueue));
    let rule = rule(request, known.is_some(), playbook, evidence)?;
    let rule = rule.or_else(|| known.is_none().then(|| unwritten(&request.verdict)));
    if let VerdictChange::Changed(parts) = &change {
        match (&rule, parts.as_slice(), evidence) {
            (None, [], Some(_)) => return Err(NoDraft::GivenAlready),
            (None, [], None) => return Err(NoDraft::NothingChanges),
            _ => {}
        }
        notes.push(Note::VerdictThere {
            playbook: name.to_owned(),
            verdict: request.verdict.clone(),
            rule: rule.as_ref().map(|rule| rule.name.clone()),
            keys: parts.iter().map(|(key, _)| *key).collect(),
        });
    }
    let (playbook, verdict) = (name.to_owned(), request.verdict.clone());
    Ok((Draft { playbook, verdict, queues, change, rule, expect: Vec::new() }, notes))
}

/// The rule of a new verdict, with a placeholder for its author.
fn unwritten(verdict: &str) -> ProposedRule {
    ProposedRule { name: verdict.replace('_', "-"), when: format!("{{ kind: '{UNWRITTEN}' }}"), before: None }
}

fn verdict_of<'a>(playbook: &'a Playbook, name: &str) -> Option<&'a Verdict> {
    playbook.verdicts.iter().find(|verdict| *verdict.name == *name)
}

fn added(request: &DraftRequest, loaded: &Loaded, notes: &mut Vec<Note>) -> Result<VerdictChange, NoDraft> {
    let playbook = &loaded.playbook;
    let like = request.like.as_deref().map(|like| liked(loaded, like)).transpose()?;
    let then = match (&request.then, &like) {
        (Some(then), _) => one_line(then)?,
        (None, Some((then, _))) => then.clone(),
        (None, None) => {
            let queue = playbook.default_queue.and_then(|queue| playbook.queues.get(queue.index()));
            let queue = queue.or(playbook.queues.first()).map_or("people", |queue| queue);
            notes.push(Note::EscalatesTo(queue.to_owned()));
            format!("{{ escalate_to_human: {{ queue: {queue} }} }}")
        }
    };
    let effect = request.effect.or(like.map(|(_, effect)| effect)).unwrap_or(EffectClaim::Unknown);
    let means = request.means.clone();
    let means = means.unwrap_or_else(|| format!("{UNWRITTEN} - what this failure means, in a sentence"));
    Ok(VerdictChange::Added { means, effect, then })
}

/// The changed values of an existing verdict.
fn changed(request: &DraftRequest, loaded: &Loaded, verdict: &Verdict) -> Result<Vec<(&'static str, String)>, NoDraft> {
    let mut parts = Vec::new();
    if let Some(means) = request.means.as_deref().filter(|means| **means != *verdict.means) {
        parts.push(("means", Value::from(means).to_string()));
    }
    if let Some(effect) = request.effect.filter(|effect| *effect != verdict.effect) {
        parts.push(("effect", effect.as_str().to_owned()));
    }
    let then = match (&request.then, &request.like) {
        (Some(then), _) => Some(one_line(then)?),
        (None, Some(like)) => Some(liked(loaded, like)?.0),
        (None, None) => None,
    };
    let now = compensation(loaded, &verdict.name);
    parts.extend(then.filter(|then| now.as_ref() != Some(then)).map(|then| ("then", then)));
    Ok(parts)
}

/// The compensation and the effect claim of a verdict.
fn liked(loaded: &Loaded, like: &str) -> Result<(String, EffectClaim), NoDraft> {
    let then = compensation(loaded, like);
    let verdict = verdict_of(&loaded.playbook, like).zip(then);
    verdict.map(|(verdict, then)| (then, verdict.effect)).ok_or_else(|| NoDraft::UnknownVerdict(like.to_owned()))
}

/// The requested rule, otherwise the one drafted from the evidence; before the rule that matches these failures today.
fn rule(
    request: &DraftRequest,
    is_there: bool,
    playbook: &Playbook,
    evidence: Option<&DraftEvidence>,
) -> Result<Option<ProposedRule>, NoDraft> {
    let before = evidence.and_then(|evidence| evidence.cluster.before.clone());
    if let Some(when) = &request.when {
        let is_rule = |name: &str| playbook.rules.iter().any(|rule| *rule.name == *name);
        let name = first_free(&request.verdict.replace('_', "-"), is_rule);
        return Ok(Some(ProposedRule { name, when: one_line(when)?, before }));
    }
    let Some(evidence) = evidence else { return Ok(None) };
    if is_there && evidence.cluster.verdict == request.verdict {
        return Ok(None);
    }
    let drawn = evidence.cluster.rule.as_ref().map_err(|why| NoDraft::NoRule(why.clone()))?;
    Ok(Some(ProposedRule { name: drawn.name.clone(), when: drawn.when.clone(), before }))
}

/// The queues of the requested compensation that the playbook lacks. A name that is similar to one of its queues is
/// probably misspelt, and is left to the reader of the playbook.
fn new_queues(request: &DraftRequest, playbook: &Playbook) -> Result<Vec<String>, NoDraft> {
    let Some(then) = &request.then else { return Ok(Vec::new()) };
    let then: Value = yaml::parse(Arc::clone(then), |root| root.json()).map_err(NoDraft::Yaml)?;
    let mut queues = Vec::new();
    add_queues(&then, &mut queues);
    let known = || playbook.queues.iter().map(|queue| &**queue);
    queues.retain(|queue| !known().any(|known| known == queue) && did_you_mean(queue, known()).is_none());
    queues.sort_unstable();
    queues.dedup();
    Ok(queues)
}

fn add_queues(then: &Value, queues: &mut Vec<String>) {
    for (key, value) in then.as_object().into_iter().flatten() {
        match value {
            Value::String(queue) if key == "queue" => queues.push(queue.clone()),
            other => add_queues(other, queues),
        }
    }
}

/// Typed YAML in one line.
fn one_line(typed: &Arc<Source>) -> Result<String, NoDraft> {
    let read: Result<Value, _> = yaml::parse(Arc::clone(typed), |root| root.json());
    read.map(|value| flow(&value)).map_err(NoDraft::Yaml)
}

/// The playbook with the draft in it; `file` is its name in messages. A rule without a given place that could never match
/// is moved up, but no further than needed.
///
/// # Errors
/// A draft that does not fit the playbook.
pub fn place_rule(draft: &mut Draft, file: &str, loaded: &Loaded) -> Result<(Loaded, Option<Note>), Report> {
    let tried = |draft: &Draft| playbook::parse(with_draft(&loaded.places.source, draft, file)?);
    let last = tried(draft)?;
    let Some(rule) = draft.rule.clone().filter(|rule| rule.before.is_none() && is_silent(&last, &rule.name)) else {
        return Ok((last, None));
    };
    for other in loaded.playbook.rules.iter().rev() {
        let before = Some(other.name.to_string());
        let moved = Draft { rule: Some(ProposedRule { before, ..rule.clone() }), ..draft.clone() };
        let earlier = tried(&moved)?;
        if !is_silent(&earlier, &rule.name) {
            *draft = moved;
            return Ok((earlier, Some(Note::RuleBefore(other.name.to_string()))));
        }
    }
    Ok((last, None))
}

/// Whether a rule of the proposed playbook can never match.
fn is_silent(proposed: &Loaded, rule: &str) -> bool {
    let rules = proposed.playbook.rules.iter().zip(silent_rules(proposed));
    rules.filter(|(known, _)| *known.name == *rule).any(|(_, why)| why.is_some())
}
