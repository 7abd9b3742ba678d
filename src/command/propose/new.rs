//! `playproof propose new VERDICT`: drafts a proposal, with everything known filled in.

use super::args::New;
use super::evidence::EvidenceReader;
use super::playbooks::{is_own, own_playbook};
use super::stored::{self, BASE, COPY};
use crate::changeset::Change;
use crate::exit::{Exit, Failure};
use crate::input_paths::InputPaths;
use crate::kept;
use crate::output::Output;
use crate::playbooks;
use crate::project::Project;
use crate::terminal::Terminal;
use crate::verdicts::refuse_odd;
use crate::workspace::{Used, Workspace};
use playproof_analysis::kept::Kept;
use playproof_analysis::mining::NoRule;
use playproof_analysis::proposal;
use playproof_analysis::proposal::{NoDraft, Note, TrialPlans, changed_look_alikes, copy_of, fixtures, place_rule};
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::Plan;
use playproof_explore::to_yaml;
use playproof_formats::diagnostic::{Report, Source, did_you_mean};
use playproof_formats::shell::Command;
use playproof_formats::text::says_something;
use playproof_report::proposal as words;

/// Drafts.
///
/// # Errors
/// Nothing that would change, YAML that cannot be read, traces without such a cluster, files that cannot be written.
pub fn run(args: &New, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let project_lock = workspace.project_lock()?;
    let project = Project::find()?;
    refuse_name(args)?;
    let kept = args.from.as_deref().map(|id| kept::load(&workspace, &project.redaction, id)).transpose()?;
    let mut notes = Vec::new();
    let (name, used) = playbook_for(args, &workspace, kept.as_ref(), &mut notes)?;
    let id = id(args, &workspace, (&name, &used), &mut notes)?;
    let facts = playbooks::facts_said(args.tools.as_deref(), &project)?;
    let facts = kept.as_ref().map_or(facts.clone(), |kept| kept.tools(&facts));
    let before = Plan::new(used.loaded.playbook.clone(), &facts);
    let traces = InputPaths::find(&args.traces)?;
    let recordings =
        EvidenceReader { args, traces: &traces, workspace: &workspace, project: &project, terminal, plan: &before };
    let recorded = recordings.read(kept.as_ref())?;
    let evidence = recorded.as_ref().map(|recorded| &recorded.evidence);
    let (mut draft, said) = proposal::draft(&args.request(), (&name, &used.loaded), evidence)
        .map_err(|why| no_draft(args, (&name, &used), why))?;
    notes.extend(said);
    let folder = workspace.proposals().join(&id);
    let file = workspace.name(&folder.join(COPY));
    let typed = |report| Failure::from(at_flag(report, args)).next("playproof propose new --help");
    let (proposed, said) = place_rule(&mut draft, &file, &used.loaded).map_err(typed)?;
    notes.extend(said);
    let copied = &used.loaded.places.source.text;
    let copy = copy_of(&workspace.playbook_name(&name), copied, &proposed.places.source.text);
    let after = Plan::new(proposed.playbook, &facts);
    let plans = TrialPlans { draft: &draft, before: &before, after: &after };
    let expect = match draft.rule {
        Some(_) => changed_look_alikes(&plans, &project_fixtures(&workspace)?),
        None => Vec::new(),
    };
    notes.extend(expect.iter().map(|(id, class)| Note::LookAlikeChanges(id.clone(), *class)));
    draft.expect = expect;
    let mut changes = vec![
        Change::Write(folder.join(COPY), copy.into_bytes()),
        Change::Write(folder.join(BASE), copied.clone().into_bytes()),
        Change::Write(folder.join("adr.md"), words::adr(&draft, evidence).into_bytes()),
    ];
    let calls = recorded.as_ref().map(|recorded| recorded.calls(draft.rule.is_some(), &project, &after)).transpose()?;
    let plans = TrialPlans { draft: &draft, before: &before, after: &after };
    let (drafted, said) = fixtures(&plans, &id, evidence.zip(calls.as_ref()), &workspace.fixture_names()?);
    for one in drafted {
        let fixture = Fixture { title: words::title(&one.title), ..one.fixture };
        let path = folder.join("fixtures").join(format!("{}.yaml", one.name));
        changes.push(Change::Write(path, to_yaml(&fixture).into_bytes()));
    }
    notes.extend(said);
    if let Some(kept) = &kept {
        notes.extend(expects_another(args, kept));
    }
    project_lock.commit(&changes, output)?;
    let mut lines: Vec<String> =
        changes.iter().map(|change| format!("wrote {}", workspace.here(change.path()))).collect();
    lines.extend(notes.iter().map(words::note));
    lines.push(format!("next: {}", Command::new("playproof propose check").name(&id)));
    output.lines(&lines)?;
    Ok(Exit::Clean)
}

/// The report of a proposed playbook at the flag whose text it is about, where it is about one.
fn at_flag(report: Report, args: &New) -> Report {
    let flags = [("--when", &args.when), ("--then", &args.then)];
    let typed = flags.into_iter().filter_map(|(flag, text)| Some((flag, text.as_deref()?)));
    for (flag, text) in typed {
        let starts: Vec<usize> = report.source.text.match_indices(text).map(|(at, _)| at).collect();
        let labels = || report.diagnostics.iter().flat_map(|said| &said.labels);
        let is_within = |start: usize| {
            labels().next().is_some()
                && labels().all(|label| start <= label.span.start && label.span.end <= start + text.len())
        };
        if let Some(start) = starts.into_iter().find(|start| is_within(*start)) {
            let mut diagnostics = report.diagnostics;
            for label in diagnostics.iter_mut().flat_map(|said| &mut said.labels) {
                label.span = label.span.start - start..label.span.end - start;
            }
            return Report { source: Source::whole(flag, text), diagnostics };
        }
    }
    report
}

fn project_fixtures(workspace: &Workspace) -> Result<Vec<(String, Fixture)>, Failure> {
    workspace.load_fixtures(&workspace.fixture_names()?, std::num::NonZeroUsize::MIN)
}

/// Refuses an impossible verdict name, or an empty meaning.
fn refuse_name(args: &New) -> Result<(), Failure> {
    if args.means.as_deref().is_some_and(|means| !says_something(means)) {
        return Err(Failure::new("`--means` is empty")
            .help("say in a sentence what the failure means, or leave the flag out and write it into the proposal")
            .next("playproof propose new --help"));
    }
    refuse_odd(&args.verdict)
}

/// The playbook that is asked for; else that of the kept call, where the project can change it; else the project's.
fn playbook_for(
    args: &New,
    workspace: &Workspace,
    kept: Option<&Kept>,
    notes: &mut Vec<Note>,
) -> Result<(String, Used), Failure> {
    let Some(kept) = kept.filter(|_| args.playbook.is_none()) else {
        return own_playbook(workspace, args.playbook.as_deref());
    };
    if let Ok((name, used)) = workspace.lasting_playbook(&kept.file.playbook)
        && is_own(workspace, &name, &used)
    {
        return Ok((name, used));
    }
    let (name, used) = own_playbook(workspace, None)?;
    let (kept, about) = (kept.id.clone(), kept.file.playbook.clone());
    notes.push(Note::AnotherPlaybook { kept, about, playbook: name.clone() });
    Ok((name, used))
}

/// The id of the proposal: the name of its folder, which is free.
fn id(
    args: &New,
    workspace: &Workspace,
    (name, used): (&str, &Used),
    notes: &mut Vec<Note>,
) -> Result<String, Failure> {
    let id = proposal::id_of(&args.verdict);
    let (is_there, near) = proposal::verdict_is_there(&args.verdict, name, &used.loaded.playbook);
    if is_there {
        return free_id(workspace, &id);
    }
    refuse_taken(workspace, &id)?;
    notes.extend(near);
    Ok(id)
}

fn refuse_taken(workspace: &Workspace, id: &str) -> Result<(), Failure> {
    if stored::is_reserved(id) {
        return Err(Failure::new(format!("a proposal cannot lie in `{id}`: the folder is there for something else"))
            .help("choose another name for the verdict")
            .next("playproof propose list"));
    }
    if stored::ids(workspace)?.iter().any(|known| known == id) {
        return Err(Failure::new(format!("there is a proposal `{id}` already"))
            .help(format!(
                "go on with it, or put it aside: {}",
                Command::new("playproof reject").name(id).and("--reason '...'")
            ))
            .next(Command::new("playproof propose check").name(id)));
    }
    if let Some(file) = stored::files(&workspace.proposals().join(id))?.first() {
        let file = workspace.here(file);
        return Err(Failure::new(format!("`{file}` is there already, and is no part of a proposal"))
            .help("move it away, or choose another name for the verdict")
            .next(Command::new("git log --oneline --").path(&file)));
    }
    Ok(())
}

/// The id with the first number that no proposal and no fixture has: the verdict itself came first.
fn free_id(workspace: &Workspace, first: &str) -> Result<String, Failure> {
    let fixtures = workspace.fixture_names()?;
    for number in 2..1_000 {
        let id = format!("{first}-{number}");
        let is_fixture = |name: &String| *name == id || *name == format!("not-{id}");
        if !stored::is_reserved(&id)
            && stored::files(&workspace.proposals().join(&id))?.is_empty()
            && !fixtures.iter().any(is_fixture)
        {
            return Ok(id);
        }
    }
    Err(Failure::new(format!("there are too many proposals for `{first}`")).next("playproof propose list"))
}

fn no_draft(args: &New, (name, used): (&str, &Used), why: NoDraft) -> Failure {
    let verdict = &args.verdict;
    let there = words::verdict_there(name, verdict);
    match why {
        NoDraft::Yaml(report) => Failure::from(report).next("playproof propose new --help"),
        NoDraft::UnknownVerdict(like) => {
            let playbook = &used.loaded.playbook;
            let names = || playbook.verdicts.iter().map(|verdict| &*verdict.name);
            let help = match did_you_mean(&like, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", names().collect::<Vec<_>>().join(", ")),
            };
            Failure::new(format!("`{}` has no verdict `{like}`", playbook.name))
                .help(help)
                .next("playproof propose new --help")
        }
        NoDraft::NoRule(why) => no_rule(args, &why),
        NoDraft::GivenAlready => Failure::new(format!("{there}, and gives it to these failures"))
            .help("say what is to be other: `--then YAML` for what follows, `--effect` for what it says of the effect")
            .next(args.again(verdict, &["--like", "--then"]).and("--then '{ ... }'")),
        NoDraft::NothingChanges => Failure::new(format!("{there}, and nothing of it would change"))
            .help("`--when YAML` adds a rule for it, `--then YAML` changes what follows from it")
            .next(args.again(verdict, &[]).and("--when '{ ... }'")),
    }
}

fn no_rule(args: &New, why: &NoRule) -> Failure {
    let said = match why {
        NoRule::NothingToAsk => "its failures say nothing that a rule could ask".to_owned(),
        NoRule::Redacted => "all that its failures say is redacted".to_owned(),
        NoRule::CatchesAlso(template) => format!("every rule for it catches `{template}` too"),
        NoRule::MatchesSuccess(tool) => format!("every rule for it also matches a successful result of `{tool}`"),
        NoRule::NoValidRule => "what tells it from others is no valid rule".to_owned(),
    };
    let what = match (&args.from, args.from_cluster) {
        (Some(id), _) => format!("`{id}`"),
        (None, number) => format!("cluster {}", number.unwrap_or_default()),
    };
    // A cluster and a condition of one's own do not go together: fixtures are then made up.
    Failure::new(format!("no rule could be drawn for {what}: {said}"))
        .help("write the rule yourself: `--when` asks for kind, status, code, message, tool and more")
        .next(args.command(&args.verdict, &["--from-cluster", "--tools"]).and("--when '{ ... }'"))
}

/// That the kept call expects another verdict than this one.
fn expects_another(args: &New, kept: &Kept) -> Option<Note> {
    let expected = kept.file.expect.clone();
    let (kept, verdict) = (kept.id.clone(), args.verdict.clone());
    (expected != verdict).then_some(Note::ExpectsAnother { kept, expected, verdict })
}
