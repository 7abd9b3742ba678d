//! `playproof propose new VERDICT`: a draft with all that is known filled in.

use std::path::PathBuf;

use super::args::New;
use super::changed;
use super::desk::{is_own, own_playbook};
use super::drafting::{self, Target};
use super::samples::{Bench, fixtures};
use super::seen;
use crate::changeset::Change;
use crate::exit::{Exit, Failure};
use crate::kept;
use crate::output::Output;
use crate::playbooks;
use crate::project::Project;
use crate::terminal::Terminal;
use crate::workspace::{Used, Workspace};
use playproof_analysis::coverage::to_yaml;
use playproof_analysis::feedback::{Feedback, Kept};
use playproof_analysis::proposal;
use playproof_analysis::proposal::{Applied, Draft, DraftRule, adr_text, apply, proposal_text};
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::lint::silent_rules;
use playproof_formats::shell::Command;

/// Drafts.
///
/// # Errors
/// Nothing that would change, YAML that cannot be read, traces without such a form, files that cannot be written.
pub fn run(args: &New, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let project_lock = workspace.project_lock()?;
    let project = Project::find()?;
    drafting::refuse_name(args)?;
    let kept = args.from_feedback.as_deref().map(|id| kept::load(&workspace, &project.redaction, id)).transpose()?;
    let mut notes = Vec::new();
    let (name, used) = playbook_for(args, &workspace, kept.as_ref(), &mut notes)?;
    let target = drafting::target(args, &workspace, &name, &used.loaded.playbook, &mut notes)?;
    let facts = playbooks::facts_said(args.tools.as_deref(), &project)?;
    let facts = kept.as_ref().map_or(facts.clone(), |kept| kept.tools(&facts));
    let before = Plan::new(used.loaded.playbook.clone(), &facts);
    let source = seen::Place { args, workspace: &workspace, project: &project, terminal };
    let seen = match &kept {
        Some(kept) => Some(seen::of_feedback(&source, kept, &before)?),
        None => args.from_cluster.map(|number| seen::of_cluster(&source, number, &before)).transpose()?,
    };
    let mut draft = drafting::draft(args, &target, (&name, &used), seen.as_ref(), &mut notes)?;
    let folder = workspace.proposals().join(&target.id);
    let file = workspace.name(&folder.join("proposal.yaml"));
    let applied = placed(&mut draft, &file, &used, &mut notes)?;
    let after = Plan::new(applied.loaded.playbook, &facts);
    draft.expect = changed::named(&draft, &workspace, [&before, &after], &mut notes)?;
    let text = proposal_text(&draft);
    let bench = Bench { draft: &draft, before: &before, after: &after };
    let mut changes = vec![
        Change::Write(folder.join("proposal.yaml"), text.into_bytes()),
        Change::Write(folder.join("adr.md"), adr_text(&draft).into_bytes()),
    ];
    for (fixture_name, fixture) in fixtures(&bench, &target, &workspace, &project, seen.as_ref(), &mut notes)? {
        let path = folder.join("fixtures").join(format!("{fixture_name}.yaml"));
        changes.push(Change::Write(path, to_yaml(&fixture).into_bytes()));
    }
    if let Some(kept) = &kept {
        changes.extend(answered(args, &workspace, kept, &mut notes)?);
    }
    project_lock.commit(&changes, output)?;
    say(&workspace, &target, &changes, notes, output)
}

/// What the proposal makes of the playbook. A rule that was typed and that earlier rules leave nothing to stands
/// before them: as late as it can speak.
fn placed(draft: &mut Draft, file: &str, used: &Used, notes: &mut Vec<String>) -> Result<Applied, Failure> {
    let tried = |draft: &Draft| -> Result<Applied, Failure> {
        let typed = |report| Failure::from(report).next("playproof propose new --help");
        let text = proposal_text(draft);
        let proposal = proposal::parse(Source::whole(file, text)).map_err(typed)?;
        apply(&used.loaded.places.source, &proposal).map_err(typed)
    };
    let last = tried(draft)?;
    let Some(rule) = draft.rule.clone().filter(|rule| rule.before.is_none() && is_silent(&last, &rule.name)) else {
        return Ok(last);
    };
    for other in used.loaded.playbook.rules.iter().rev() {
        let before = Some(other.name.to_string());
        let moved = Draft { rule: Some(DraftRule { before, ..rule.clone() }), ..draft.clone() };
        let earlier = tried(&moved)?;
        if !is_silent(&earlier, &rule.name) {
            notes.push(format!("the rule stands before `{}`, which would leave nothing to it", other.name));
            *draft = moved;
            return Ok(earlier);
        }
    }
    Ok(last)
}

/// Whether a rule of the playbook as proposed can never speak.
fn is_silent(applied: &Applied, rule: &str) -> bool {
    let rules = applied.loaded.playbook.rules.iter().zip(silent_rules(&applied.loaded));
    rules.filter(|(known, _)| *known.name == *rule).any(|(_, why)| why.is_some())
}

fn say(
    workspace: &Workspace,
    target: &Target,
    changes: &[Change],
    notes: Vec<String>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut lines: Vec<String> =
        changes.iter().map(|change| format!("wrote {}", workspace.here(change.path()))).collect();
    lines.extend(notes);
    lines.push(format!("next: {}", Command::new("playproof propose check").name(&target.id)));
    output.lines(&lines)?;
    Ok(Exit::Clean)
}

/// The playbook that is asked for; else that of the feedback, where the project can change it; else the project's.
fn playbook_for(
    args: &New,
    workspace: &Workspace,
    kept: Option<&Kept>,
    notes: &mut Vec<String>,
) -> Result<(String, Used), Failure> {
    let Some(kept) = kept.filter(|_| args.playbook.is_none()) else {
        return own_playbook(workspace, args.playbook.as_deref());
    };
    if let Ok((name, used)) = workspace.lasting_playbook(&kept.feedback.playbook)
        && is_own(workspace, &name, &used)
    {
        return Ok((name, used));
    }
    let (name, used) = own_playbook(workspace, None)?;
    let about = &kept.feedback.playbook;
    notes.push(format!("{} is about `{about}`, which the project cannot change: this is for `{name}`", kept.id));
    Ok((name, used))
}

/// The feedback with the verdict that this asks for, where nobody had said which one is expected.
///
/// # Errors
/// A feedback that is written so that it cannot be edited without a hand.
fn answered(
    args: &New,
    workspace: &Workspace,
    kept: &Kept,
    notes: &mut Vec<String>,
) -> Result<Option<Change>, Failure> {
    let (verdict, path): (_, PathBuf) = (&args.verdict, workspace.feedback_path(&kept.id, "yaml"));
    match &kept.feedback.expected {
        Some(expected) if expected == verdict => Ok(None),
        Some(expected) => {
            notes.push(format!(
                "{} expects `{expected}`, not `{verdict}`: this alone will not answer it; to expect this one: \
                 playproof feedback edit {} --expected {verdict}",
                kept.id, kept.id
            ));
            Ok(None)
        }
        None => {
            notes.push(format!("{} expects `{verdict}` from now on, and is answered when this is accepted", kept.id));
            let feedback = Feedback { expected: Some(verdict.clone()), ..kept.feedback.clone() };
            Ok(Some(Change::Write(path, kept::edited(kept, &feedback)?.into_bytes())))
        }
    }
}
