//! What `propose new` was told, as a draft: which verdict, under which id, with which rule. Reads no traces.

use clap::ValueEnum;
use serde_json::Value;

use super::args::{EffectWord, New};
use super::seen::Seen;
use super::stored;
use crate::exit::Failure;
use crate::flags::Flags;
use crate::verdicts::refuse_odd;
use crate::workspace::{Used, Workspace};
use playproof_analysis::proposal;
use playproof_analysis::proposal::{Draft, DraftRule, Evidence, VerdictChange, flow};
use playproof_engine::ids::first_free;
use playproof_engine::playbook::{Playbook, Verdict};
use playproof_formats::diagnostic::{Source, did_you_mean};
use playproof_formats::playbook::fingerprint;
use playproof_formats::shell::Command;
use playproof_formats::yaml;

/// What the proposal is for, and where it will lie.
pub struct Target {
    /// Its id: the name of its folder.
    pub id: String,
    /// Whether the playbook has the verdict already.
    pub is_there: bool,
}

/// Refuses what cannot be the name of a verdict, or what it means.
///
/// # Errors
/// Such a name, with the nearest that can be one.
pub fn refuse_name(args: &New) -> Result<(), Failure> {
    if args.means.as_deref().is_some_and(|means| means.trim().is_empty()) {
        return Err(Failure::said("`--means` is empty")
            .help("say in a sentence what the failure means, or leave the flag out and write it into the proposal")
            .next("playproof propose new --help"));
    }
    refuse_odd(&args.verdict, |near| again(args, near))
}

/// Where the proposal will lie.
///
/// # Errors
/// A proposal or other files that lie there already.
pub fn target(
    args: &New,
    workspace: &Workspace,
    name: &str,
    playbook: &Playbook,
    notes: &mut Vec<String>,
) -> Result<Target, Failure> {
    let verdict = &args.verdict;
    // Without a dash at its front, which a command would take for a flag.
    let slug = verdict.replace(['_', '.'], "-").trim_start_matches('-').to_lowercase();
    if verdict_of(playbook, verdict).is_some() {
        return Ok(Target { id: free_id(workspace, &slug)?, is_there: true });
    }
    refuse_taken(workspace, &slug)?;
    if let Some(near) = did_you_mean(verdict, playbook.verdicts.iter().map(|verdict| &*verdict.name)) {
        notes.push(format!("`{verdict}` is a new verdict; {name} has `{near}`, which may be meant"));
    }
    Ok(Target { id: slug, is_there: false })
}

fn verdict_of<'a>(playbook: &'a Playbook, name: &str) -> Option<&'a Verdict> {
    playbook.verdicts.iter().find(|verdict| *verdict.name == *name)
}

fn refuse_taken(workspace: &Workspace, id: &str) -> Result<(), Failure> {
    if stored::is_reserved(id) {
        return Err(Failure::said(format!("a proposal cannot lie in `{id}`: the folder is there for something else"))
            .help("choose another name for the verdict")
            .next("playproof propose list"));
    }
    if stored::ids(workspace)?.iter().any(|known| known == id) {
        return Err(Failure::said(format!("there is a proposal `{id}` already"))
            .help(format!(
                "go on with it, or put it aside: {}",
                Command::new("playproof propose reject").name(id).and("--reason '...'")
            ))
            .next(Command::new("playproof propose check").name(id)));
    }
    if let Some(file) = stored::files(&workspace.proposals().join(id))?.first() {
        let file = workspace.here(file);
        return Err(Failure::said(format!("`{file}` is there already, and is no part of a proposal"))
            .help("move it away, or choose another name for the verdict")
            .next(Command::new("git log --oneline --").path(&file)));
    }
    Ok(())
}

/// The slug with the first number that no proposal and no fixture has: the verdict itself came first.
fn free_id(workspace: &Workspace, slug: &str) -> Result<String, Failure> {
    let fixtures = workspace.fixture_names()?;
    for number in 2..1_000 {
        let id = format!("{slug}-{number}");
        let is_fixture = |name: &String| *name == id || *name == format!("not-{id}");
        if !stored::is_reserved(&id)
            && stored::files(&workspace.proposals().join(&id))?.is_empty()
            && !fixtures.iter().any(is_fixture)
        {
            return Ok(id);
        }
    }
    Err(Failure::said(format!("there are too many proposals for `{slug}`")).next("playproof propose list"))
}

/// The draft.
///
/// # Errors
/// YAML that cannot be read, a verdict to take after that is not there, nothing that would change.
pub fn draft(
    args: &New,
    target: &Target,
    (name, used): (&str, &Used),
    seen: Option<&Seen>,
    notes: &mut Vec<String>,
) -> Result<Draft, Failure> {
    let playbook = &used.loaded.playbook;
    let change = match verdict_of(playbook, &args.verdict).filter(|_| target.is_there) {
        Some(verdict) => VerdictChange::Changed(changed(args, used, verdict)?),
        None => added(args, used, notes)?,
    };
    let rule = rule(args, target, playbook, seen)?;
    if let VerdictChange::Changed(parts) = &change {
        notes.push(said_of_change(args, name, parts, rule.as_ref(), seen)?);
    }
    Ok(Draft {
        playbook: name.to_owned(),
        base: fingerprint(playbook).to_string(),
        verdict: args.verdict.clone(),
        change,
        rule,
        expect: Vec::new(),
        evidence: seen.map_or_else(Evidence::default, |seen| seen.evidence.clone()),
    })
}

fn added(args: &New, used: &Used, notes: &mut Vec<String>) -> Result<VerdictChange, Failure> {
    let playbook = &used.loaded.playbook;
    let like = args.like.as_deref().map(|like| liked(used, like)).transpose()?;
    let then = match (&args.then, &like) {
        (Some(then), _) => one_line("--then", then)?,
        (None, Some((then, _))) => then.clone(),
        (None, None) => {
            let queue = playbook.default_queue.and_then(|queue| playbook.queues.get(queue.index()));
            let queue = queue.or(playbook.queues.first()).map_or("people", |queue| queue);
            notes.push(format!("without --then and --like the verdict escalates to `{queue}`"));
            format!("{{ escalate_to_human: {{ queue: {queue} }} }}")
        }
    };
    let effect = effect_word(args).or(like.map(|(_, effect)| effect)).unwrap_or("unknown");
    Ok(VerdictChange::Added { means: args.means.clone(), effect: effect.to_owned(), then })
}

/// What becomes other in a verdict that is there.
fn changed(args: &New, used: &Used, verdict: &Verdict) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut parts = Vec::new();
    if let Some(means) = args.means.as_deref().filter(|means| **means != *verdict.means) {
        parts.push(("means", Value::from(means).to_string()));
    }
    if let Some(effect) = effect_word(args).filter(|effect| *effect != verdict.effect.as_str()) {
        parts.push(("effect", effect.to_owned()));
    }
    let then = match (&args.then, &args.like) {
        (Some(then), _) => Some(one_line("--then", then)?),
        (None, Some(like)) => Some(liked(used, like)?.0),
        (None, None) => None,
    };
    let now = proposal::compensation(&used.loaded.places.source, &verdict.name);
    parts.extend(then.filter(|then| now.as_ref() != Some(then)).map(|then| ("then", then)));
    Ok(parts)
}

/// The compensation of a verdict, and what it says about the effect.
fn liked(used: &Used, like: &str) -> Result<(String, &'static str), Failure> {
    let playbook = &used.loaded.playbook;
    let then = proposal::compensation(&used.loaded.places.source, like);
    let verdict = verdict_of(playbook, like).zip(then);
    verdict.map(|(verdict, then)| (then, verdict.effect.as_str())).ok_or_else(|| {
        let names = || playbook.verdicts.iter().map(|verdict| &*verdict.name);
        let said = Failure::said(format!("`{}` has no verdict `{like}`", playbook.name));
        match did_you_mean(like, names()) {
            Some(near) => said.help(format!("did you mean `{near}`?")),
            None => said.help(format!("it has {}", names().collect::<Vec<_>>().join(", "))),
        }
        .next("playproof propose new --help")
    })
}

fn effect_word(args: &New) -> Option<&'static str> {
    args.effect.map(|effect| match effect {
        EffectWord::Applied => "applied",
        EffectWord::NotApplied => "not_applied",
        EffectWord::Unknown => "unknown",
    })
}

/// The rule that is asked for, else that for what was seen; before the rule that these failures match today.
fn rule(args: &New, target: &Target, playbook: &Playbook, seen: Option<&Seen>) -> Result<Option<DraftRule>, Failure> {
    let before = seen.and_then(|seen| seen.cluster.before.clone());
    if let Some(when) = &args.when {
        let is_rule = |name: &str| playbook.rules.iter().any(|rule| *rule.name == *name);
        let name = first_free(&args.verdict.replace('_', "-"), is_rule);
        return Ok(Some(DraftRule { name, when: one_line("--when", when)?, before }));
    }
    let Some(seen) = seen else { return Ok(None) };
    if target.is_there && seen.cluster.verdict == args.verdict {
        return Ok(None);
    }
    let drawn = seen.cluster.rule.as_ref().map_err(|why| seen.undrawn(why, args))?;
    Ok(Some(DraftRule { name: drawn.name.clone(), when: drawn.when.clone(), before }))
}

/// What is done with a verdict that is there already.
fn said_of_change(
    args: &New,
    name: &str,
    parts: &[(&'static str, String)],
    rule: Option<&DraftRule>,
    seen: Option<&Seen>,
) -> Result<String, Failure> {
    let verdict = &args.verdict;
    let there = format!("{name} has the verdict `{verdict}` already");
    let keys: Vec<String> = parts.iter().map(|(key, _)| format!("`{key}`")).collect();
    match (rule, keys.as_slice()) {
        (Some(rule), []) => Ok(format!("{there}: this adds the rule `{}` for it", rule.name)),
        (Some(rule), keys) => {
            Ok(format!("{there}: this adds the rule `{}` for it, and changes its {}", rule.name, keys.join(", ")))
        }
        (None, keys) if !keys.is_empty() => Ok(format!("{there}: this changes its {}", keys.join(", "))),
        (None, _) if seen.is_some() => Err(Failure::said(format!("{there}, and gives it to these failures"))
            .help("say what is to be other: `--then YAML` for what follows, `--effect` for what it says of the effect")
            .next(again(&New { like: None, then: None, ..args.clone() }, verdict).and("--then '{ ... }'"))),
        (None, _) => Err(Failure::said(format!("{there}, and nothing of it would change"))
            .help("`--when YAML` adds a rule for it, `--then YAML` changes what follows from it")
            .next(again(args, verdict).and("--when '{ ... }'"))),
    }
}

/// YAML from the command line, in one line.
fn one_line(flag: &str, text: &str) -> Result<String, Failure> {
    let read: Result<Value, _> = yaml::parse(Source::whole(flag, text), |root| root.json());
    Ok(flow(&read.map_err(|report| Failure::from(report).next("playproof propose new --help"))?))
}

/// The whole command as it was typed, for another verdict.
fn again(args: &New, verdict: &str) -> Command {
    let command = command(args, verdict).flag_if("--when", args.when.as_deref());
    let command = if args.traces.is_empty() { command } else { command.and("--trace").paths(&args.traces) };
    Flags::default().reading(&args.reading).after(command)
}

/// The command as it was typed, for another verdict and but for the traces, which come last, and the condition.
pub fn command(args: &New, verdict: &str) -> Command {
    let number = args.from_cluster.map(|number| number.to_string());
    let effect = args.effect.and_then(|effect| effect.to_possible_value()).map(|effect| effect.get_name().to_owned());
    let flags = [
        ("--like", &args.like),
        ("--then", &args.then),
        ("--effect", &effect),
        ("--means", &args.means),
        ("--playbook", &args.playbook),
        ("--tools", &args.tools),
        ("--from-feedback", &args.from_feedback),
        ("--from-cluster", &number),
    ];
    let new = Command::new("playproof propose new").name(verdict);
    flags.into_iter().fold(new, |command, (flag, value)| command.flag_if(flag, value.as_deref()))
}
