//! `playproof propose new VERDICT`: a draft with all that is known filled in.

use clap::ValueEnum;
use serde_json::Value;

use super::args::{EffectWord, New};
use super::desk::own_playbook;
use super::{recorded, stored};
use crate::cli::changeset::Change;
use crate::cli::exit::{Exit, Failure};
use crate::cli::flags::Flags;
use crate::cli::kept;
use crate::cli::output::Output;
use crate::cli::playbooks;
use crate::cli::project::Project;
use crate::cli::stream::Stream;
use crate::cli::terminal::Terminal;
use crate::cli::workspace::{Used, Workspace};
use crate::coverage::{expected, probes, to_yaml};
use crate::diagnostic::{Source, did_you_mean};
use crate::feedback::{Kept, failure_at};
use crate::fixture::model::Fixture;
use crate::mining::{Cluster, Mined, Miner, Part, Undrawn};
use crate::playbook::fingerprint;
use crate::playbook::model::{Playbook, Tools, UNCLASSIFIED};
use crate::proposal::{self, Draft, DraftRule, Evidence, adr_text, apply, flow, proposal_text};
use crate::report::text::{counted, fitted, markdown, markdown_code, shell_words, visible};
use crate::sim::{Plan, Scenario, Simulator};
use crate::trace::model::Reply;
use crate::upstream::BeyondTape;
use crate::yaml;

/// Forms that are looked through for that of a feedback.
const FORMS_MAX: usize = 1_000;

/// A fixture of the draft under the name of its file.
type Drafted = (String, Fixture);

/// Drafts.
///
/// # Errors
/// A verdict that is there already, YAML that cannot be read, traces without such a form, files that cannot be written.
pub fn run(args: &New, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let alone = workspace.alone()?;
    let (name, used) = own_playbook(&workspace, args.playbook.as_deref())?;
    let id = args.verdict.replace(['_', '.'], "-").to_lowercase();
    refuse_taken(args, &workspace, &used.loaded.playbook, &id)?;
    let mut notes = Vec::new();
    let mut draft = draft(args, &name, &used, &mut notes)?;
    let project = Project::find()?;
    let facts = playbooks::facts(args.tools.as_deref(), &project)?;
    let mined = match args.from_cluster {
        Some(number) => Some(mine(args, number, &facts, &used, &project, terminal)?),
        None => None,
    };
    let kept = args.from_feedback.as_deref().map(|id| kept::load(&workspace, &project.redaction, id)).transpose()?;
    let facts = kept.as_ref().map_or(facts.clone(), |kept| kept.tools(&facts));
    if let Some(kept) = &kept {
        if draft.rule.is_none() {
            draft.rule = Some(drawn_for(args, kept, &workspace, (&facts, &used), &project, terminal)?);
        }
        draft.evidence = said(kept);
    }
    if let Some((cluster, mined)) = &mined {
        draft.rule = Some(drawn(cluster)?);
        draft.evidence = evidence(args, cluster, mined, &used.loaded.playbook);
    }
    let text = proposal_text(&draft);
    let folder = workspace.proposals().join(&id);
    let source = Source::whole(workspace.name(&folder.join("proposal.yaml")), text.as_str());
    let proposal = proposal::parse(source)?;
    let applied = apply(&used.loaded.places.source, &proposal)?;
    let plan = Plan::new(applied.loaded.playbook, &facts);
    let fixtures = match (&mined, &kept) {
        (Some((cluster, mined)), _) => recordings(args, cluster, mined, &name, &id, &plan, &project)?,
        (None, Some(kept)) => slices(kept, &args.verdict, &name, &id, &plan),
        (None, None) => made_up(&args.verdict, &name, &id, &plan),
    };
    let mut changes = vec![
        Change::Write(folder.join("proposal.yaml"), text.into_bytes()),
        Change::Write(folder.join("adr.md"), adr_text(&draft).into_bytes()),
    ];
    for (fixture_name, fixture) in &fixtures {
        let path = folder.join("fixtures").join(format!("{fixture_name}.yaml"));
        changes.push(Change::Write(path, to_yaml(fixture).into_bytes()));
    }
    alone.commit(&changes)?;
    let mut lines: Vec<String> =
        changes.iter().map(|change| format!("wrote {}", workspace.name(change.path()))).collect();
    lines.extend(notes);
    lines.push(format!("next: playproof propose check {id}"));
    output.page(&lines.iter().map(|line| visible(line).into_owned()).collect::<Vec<_>>().join("\n"))?;
    Ok(Exit::Clean)
}

fn refuse_taken(args: &New, workspace: &Workspace, playbook: &Playbook, id: &str) -> Result<(), Failure> {
    let verdict = &args.verdict;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if verdict.is_empty() || verdict.len() > 100 || !verdict.chars().all(fits) || verdict.starts_with(['.', '-']) {
        return Err(Failure::said(format!("`{verdict}` cannot be the name of a verdict"))
            .help("letters, digits and _ - . such as `request_rejected`"));
    }
    if playbook.verdicts.iter().any(|known| *known.name == **verdict) {
        return Err(Failure::said(format!("`{}` has a verdict `{verdict}` already", playbook.name))
            .help("to change it, write a proposal with `change_verdict` or `add_rule`")
            .next("playproof help propose"));
    }
    if stored::is_reserved(id) {
        return Err(Failure::said(format!("a proposal cannot lie in `{id}`: the folder is there for something else"))
            .help("choose another name for the verdict"));
    }
    if stored::ids(workspace)?.iter().any(|known| known == id) {
        return Err(
            Failure::said(format!("there is a proposal `{id}` already")).next(format!("playproof propose check {id}"))
        );
    }
    if let Some(file) = stored::files(&workspace.proposals().join(id))?.first() {
        let said = format!("`{}` is there already, and is no part of a proposal", workspace.name(file));
        return Err(Failure::said(said).help("move it away, or choose another name for the verdict"));
    }
    Ok(())
}

fn draft(args: &New, name: &str, used: &Used, notes: &mut Vec<String>) -> Result<Draft, Failure> {
    let playbook = &used.loaded.playbook;
    let (like_then, like_effect) = match &args.like {
        Some(like) => {
            let verdict = playbook.verdicts.iter().find(|verdict| *verdict.name == **like);
            let verdict = verdict.ok_or_else(|| no_verdict(playbook, like))?;
            (proposal::compensation(&used.loaded.places.source, like), Some(verdict.effect.as_str()))
        }
        None => (None, None),
    };
    let then = match (&args.then, like_then) {
        (Some(then), _) => one_line("--then", then)?,
        (None, Some(then)) => then,
        (None, None) => {
            let queue = playbook.default_queue.and_then(|queue| playbook.queues.get(queue.index()));
            let queue = queue.or(playbook.queues.first()).map_or("people", |queue| queue);
            notes.push(format!("without --then and --like the verdict escalates to `{queue}`"));
            format!("{{ escalate_to_human: {{ queue: {queue} }} }}")
        }
    };
    let effect = match args.effect {
        Some(EffectWord::Applied) => "applied",
        Some(EffectWord::NotApplied) => "not_applied",
        Some(EffectWord::Unknown) => "unknown",
        None => like_effect.unwrap_or("unknown"),
    };
    let when = args.when.as_deref().map(|when| one_line("--when", when)).transpose()?;
    let rule = when.map(|when| DraftRule { name: args.verdict.replace('_', "-"), when });
    Ok(Draft {
        playbook: name.to_owned(),
        base: fingerprint(playbook).to_string(),
        verdict: args.verdict.clone(),
        means: args.means.clone(),
        effect: effect.to_owned(),
        then,
        rule,
        evidence: Evidence::default(),
    })
}

fn no_verdict(playbook: &Playbook, like: &str) -> Failure {
    let said = Failure::said(format!("`{}` has no verdict `{like}`", playbook.name));
    match did_you_mean(like, playbook.verdicts.iter().map(|verdict| &*verdict.name)) {
        Some(near) => said.help(format!("did you mean `{near}`?")),
        None => said,
    }
}

/// The command as it was typed, but for the traces, which come last, and the condition.
fn command(args: &New) -> String {
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
    let mut words = vec!["propose", "new", args.verdict.as_str()];
    for (flag, value) in flags {
        words.extend(value.iter().flat_map(|value| [flag, value]));
    }
    shell_words(&words)
}

/// YAML from the command line, in one line.
fn one_line(flag: &str, text: &str) -> Result<String, Failure> {
    let read: Result<Value, _> = yaml::parse(Source::whole(flag, text), |root| root.json());
    Ok(flow(&read.map_err(|report| Failure::from(report).next("playproof help propose"))?))
}

fn mine(
    args: &New,
    number: u16,
    facts: &Tools,
    used: &Used,
    project: &Project,
    terminal: &Terminal,
) -> Result<(Cluster, Mined), Failure> {
    // One more, for want of a look-alike.
    let mined = mined(args, &args.traces, usize::from(number) + 1, facts, used, project, terminal)?;
    match mined.shown.get(usize::from(number) - 1) {
        Some(cluster) => Ok((cluster.clone(), mined)),
        None => Err(Failure::said(format!(
            "there is no form {number}: {} mined",
            counted(mined.clusters as u64, "form was", "forms were")
        ))
        .next(format!("playproof mine {}", shell_words(&args.traces)))),
    }
}

fn mined(
    args: &New,
    inputs: &[String],
    top: usize,
    facts: &Tools,
    used: &Used,
    project: &Project,
    terminal: &Terminal,
) -> Result<Mined, Failure> {
    let plans = [Plan::new(used.loaded.playbook.clone(), facts)];
    let command = match args.from_cluster {
        Some(_) => format!("{} --trace", command(args)),
        None => command(args),
    };
    let stream = Stream {
        command: &command,
        flags: Flags::default().reading(&args.reading),
        inputs,
        sources: crate::cli::inputs::sources(inputs),
        reading: &args.reading,
        beyond: BeyondTape::Unanswered,
        jobs: None,
        allow_empty: false,
    };
    let mut all = Part::default();
    let streamed = stream.run(&plans, &Miner, project, terminal, |part| all.merge(part))?;
    let [plan] = &plans;
    Ok(all.finish(plan, &streamed.replayed, top))
}

/// The rule that would catch the failure of a feedback.
fn drawn_for(
    args: &New,
    kept: &Kept,
    workspace: &Workspace,
    (facts, used): (&Tools, &Used),
    project: &Project,
    terminal: &Terminal,
) -> Result<DraftRule, Failure> {
    let slice = workspace.feedback_path(&kept.id, "jsonl").to_string_lossy().into_owned();
    let mined = mined(args, &[slice], FORMS_MAX, facts, used, project, terminal)?;
    let (_, verdict) = kept.state(&Plan::new(used.loaded.playbook.clone(), facts));
    let failed = kept.call().zip(kept.feedback.before.failed.as_ref());
    let error = failed.and_then(|(call, failed)| failure_at(call, failed.attempt));
    let of_call = |cluster: &&Cluster| error.zip(verdict.as_deref()).is_some_and(|(e, v)| cluster.holds(e, v));
    let cluster = mined.shown.iter().find(of_call).ok_or_else(|| {
        Failure::said(format!("no rule could be drawn for `{}`: its failure has a verdict already", kept.id))
            .help("say what tells it from the others of that verdict")
            .next(format!("playproof {} --when '{{ ... }}'", command(args)))
    })?;
    drawn(cluster)
}

/// What a feedback says, for the record.
fn said(kept: &Kept) -> Evidence {
    let from = &kept.feedback.came_from;
    let seen = format!("Seen in {}, call {}", markdown_code(&from.trace), markdown_code(&from.call));
    let pattern = format!("{seen} (feedback {}): {}", markdown_code(&kept.id), markdown(&kept.feedback.note));
    let failed = kept.calls.get(kept.about).and_then(|call| {
        let message = call.answers.iter().find_map(|answer| match &answer.reply {
            Reply::Failed(error) => error.as_ref()?.message.as_deref(),
            Reply::Ok => None,
        });
        Some(format!("- {}: {}", markdown_code(call.tool()), markdown_code(&fitted(message?, 300))))
    });
    Evidence { pattern: vec![pattern], example: failed.into_iter().collect(), today: Vec::new() }
}

/// The fixture of a feedback's call, and one of another verdict whose author must say why it is near.
fn slices(kept: &Kept, verdict: &str, playbook: &str, id: &str, plan: &Plan) -> Vec<Drafted> {
    let mut fixtures = made_up(verdict, playbook, id, plan);
    if let (Some(call), Some((_, caught))) = (kept.calls.get(kept.about), fixtures.first_mut()) {
        let title = fitted(&kept.feedback.note, 120).into_owned();
        *caught = with_expectation(recorded::fixture(call, title, playbook, plan), playbook, plan);
    }
    fixtures
}

fn drawn(cluster: &Cluster) -> Result<DraftRule, Failure> {
    match &cluster.rule {
        Ok(drawn) => Ok(DraftRule { name: drawn.name.clone(), when: drawn.when.clone() }),
        Err(why) => {
            let said = match why {
                Undrawn::NothingToAsk => "its failures say nothing that a rule could ask".to_owned(),
                Undrawn::CatchesAlso(form) => format!("every rule for it catches `{form}` too"),
                Undrawn::NoValidRule => "what tells it from others is no valid rule".to_owned(),
            };
            Err(Failure::said(format!("no rule could be drawn for form {}: {said}", cluster.number))
                .help("write the rule yourself")
                .next("playproof propose new VERDICT --when '{ ... }'"))
        }
    }
}

/// What was seen, for the record.
fn evidence(args: &New, cluster: &Cluster, mined: &Mined, playbook: &Playbook) -> Evidence {
    let files: Vec<String> =
        args.traces.iter().map(|path| markdown_code(path.rsplit('/').next().unwrap_or(path))).collect();
    let tools: Vec<String> =
        cluster.tools.rows().iter().map(|(tool, count)| format!("{} ({count})", markdown_code(tool))).collect();
    let pattern = format!(
        "{} of {} recorded in {} have this form, {} of them of tools that write:\n\n- {}\n\nTools: {}.",
        cluster.failures,
        counted(mined.failures, "failed attempt", "failed attempts"),
        files.join(", "),
        cluster.writes,
        markdown_code(if cluster.form.is_empty() { "(no message)" } else { &cluster.form }),
        tools.join(", ")
    );
    let example = cluster.examples.iter().map(|example| {
        let message = example.message.as_deref().unwrap_or("(no message)");
        format!("- {}: {}", markdown_code(&example.tool), markdown_code(&fitted(message, 300)))
    });
    let then = playbook.verdicts.iter().find(|verdict| *verdict.name == *cluster.verdict);
    let then = then.map_or("nothing", |verdict| verdict.then.as_str());
    let meaning = if cluster.verdict == UNCLASSIFIED { "no rule knows them" } else { "it does not help" };
    let today =
        format!("Today they get the verdict `{}` ({meaning}), and are answered with `{then}`.", cluster.verdict);
    let pattern = vec![pattern];
    Evidence { pattern, example: vec![example.collect::<Vec<_>>().join("\n")], today: vec![today] }
}

/// The fixture that the rule must catch, and one that looks like it and that it must not, from the recording.
fn recordings(
    args: &New,
    cluster: &Cluster,
    mined: &Mined,
    playbook: &str,
    id: &str,
    plan: &Plan,
    project: &Project,
) -> Result<Vec<Drafted>, Failure> {
    let look_alike = cluster.look_alikes.iter().find_map(|alike| alike.example.as_ref());
    let other = mined.shown.iter().rev().find(|other| other.number != cluster.number);
    let look_alike = look_alike.or_else(|| other.and_then(|other| other.examples.first()));
    let wanted = [(id.to_owned(), cluster.examples.first()), (format!("not-{id}"), look_alike)];
    let mut fixtures = Vec::new();
    for (name, example) in wanted {
        let Some(example) = example else { continue };
        let Some(input) = usize::try_from(example.place.input).ok().and_then(|n| args.traces.get(n)) else { continue };
        let call = recorded::call(input, &example.reference, &args.reading, &project.redaction, plan)?;
        let message = example.message.as_deref().unwrap_or("nothing");
        let title = format!("{} says: {}", call.tool(), fitted(message, 120));
        let fixture = recorded::fixture(&call, visible(&title).into_owned(), playbook, plan);
        fixtures.push((name, with_expectation(fixture, playbook, plan)));
    }
    if fixtures.len() < 2 {
        fixtures.extend(made_up(&args.verdict, playbook, id, plan).into_iter().skip(fixtures.len()));
    }
    Ok(fixtures)
}

/// What a run shows, as what the fixture is meant to show: for its author to read.
fn with_expectation(mut fixture: Fixture, playbook: &str, plan: &Plan) -> Fixture {
    let scenario = Scenario::of_fixture(&fixture, |tool| plan.facts(tool));
    let mut simulator = Simulator::new();
    let record = simulator.rehearse(plan, &scenario);
    let shown = expected(plan, &scenario, record);
    drop(scenario);
    fixture.expect.insert(playbook.to_owned(), shown);
    fixture
}

/// A failure made up for the verdict, and one of another verdict whose author must say why it is near.
fn made_up(verdict: &str, playbook: &str, id: &str, plan: &Plan) -> Vec<Drafted> {
    let verdicts_of = |fixture: &Fixture| -> Vec<String> {
        let calls = fixture.expect.get(playbook).into_iter().flat_map(|expect| expect.calls.values());
        calls.flat_map(|call| call.verdicts.clone().unwrap_or_default()).collect()
    };
    let all: Vec<Fixture> =
        probes(plan, playbook).into_iter().map(|probe| with_expectation(probe.fixture, playbook, plan)).collect();
    let gets = |fixture: &&Fixture| verdicts_of(fixture).iter().any(|one| one == verdict);
    let catch = all.iter().find(gets).cloned();
    let other = all.iter().find(|fixture| verdicts_of(fixture).iter().any(|one| one == UNCLASSIFIED));
    let other = other.or_else(|| all.iter().find(|fixture| !gets(fixture) && !verdicts_of(fixture).is_empty()));
    let look_alike = other.cloned().map(|fixture| Fixture {
        title: format!("write this - a failure that looks like {verdict} and is none"),
        ..fixture
    });
    let named = [(id.to_owned(), catch), (format!("not-{id}"), look_alike)];
    named.into_iter().filter_map(|(name, fixture)| Some((name, fixture?))).collect()
}
