//! What recordings say for a draft: the failures of a form, or the one of a feedback, and the others beside them.
//! Finds and words it; decides nothing.

use super::args::New;
use super::drafting::command;
use crate::exit::Failure;
use crate::files;
use crate::flags::Flags;
use crate::kept;
use crate::project::Project;
use crate::reading::Reading;
use crate::stream::Stream;
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use playproof_analysis::feedback::Kept;
use playproof_analysis::mining::{Cluster, Mined, Miner, Part, Undrawn};
use playproof_analysis::proposal::Evidence;
use playproof_analysis::replay::Replayed;
use playproof_engine::call::RecordedCall;
use playproof_engine::ids::AttemptNo;
use playproof_engine::playbook::{Playbook, UNCLASSIFIED};
use playproof_engine::sim::Plan;
use playproof_engine::upstream::BeyondTape;
use playproof_formats::shell::Command;
use playproof_report::text::{counted, fitted, markdown, markdown_code};

/// What was seen.
pub struct Seen {
    /// The failures that the draft is for, with the others beside them.
    pub cluster: Cluster,
    /// What they were read from, and how.
    pub inputs: Vec<(String, Reading)>,
    /// What the record says of it.
    pub evidence: Evidence,
    /// The call of a feedback, and its note; none: the cluster's examples speak.
    pub own: Option<(RecordedCall, String)>,
    /// Nothing was looked at but what is kept.
    pub is_kept_alone: bool,
}

impl Seen {
    /// The rule that could not be drawn.
    pub fn undrawn(&self, why: &Undrawn, args: &New) -> Failure {
        let said = match why {
            Undrawn::NothingToAsk => "its failures say nothing that a rule could ask".to_owned(),
            Undrawn::Redacted => "all that its failures say is redacted".to_owned(),
            Undrawn::CatchesAlso(form) => format!("every rule for it catches `{form}` too"),
            Undrawn::NoValidRule => "what tells it from others is no valid rule".to_owned(),
        };
        let what = match (&args.from_feedback, args.from_cluster) {
            (Some(id), _) => format!("`{id}`"),
            (None, number) => format!("form {}", number.unwrap_or_default()),
        };
        // A cluster and a condition of one's own do not go together: fixtures are then made up.
        let whole = New { from_cluster: None, tools: None, ..args.clone() };
        Failure::said(format!("no rule could be drawn for {what}: {said}"))
            .help("write the rule yourself: `--when` asks for kind, status, code, message, tool and more")
            .next(command(&whole, &args.verdict).and("--when '{ ... }'"))
    }
}

/// Where things are looked for.
pub struct Place<'a> {
    /// What was asked.
    pub args: &'a New,
    /// The project's files.
    pub workspace: &'a Workspace,
    /// Its own defaults.
    pub project: &'a Project,
    /// For the progress.
    pub terminal: &'a Terminal,
}

/// What the cluster of this number holds.
///
/// # Errors
/// Traces that cannot be read, or have no such form.
pub fn of_cluster(place: &Place<'_>, number: u16, plan: &Plan) -> Result<Seen, Failure> {
    let args = place.args;
    refuse_standard_input(args)?;
    let (part, replayed) = mined(place, &args.traces, &args.reading, plan)?;
    let mined = part.finish(plan, &replayed, usize::from(number));
    let Some(cluster) = mined.shown.get(usize::from(number) - 1) else {
        let flags = Flags::default().with("--playbook", args.playbook.as_deref());
        let flags = flags.with("--tools", args.tools.as_deref()).reading(&args.reading);
        let mine = Command::new("playproof mine").paths(&args.traces);
        let (said, help) = match mined.clusters {
            0 if mined.failures == 0 => (
                "no recorded attempt failed: there is no form to draft from".to_owned(),
                "`--when` drafts a rule without a recording",
            ),
            0 => (
                format!("{} has a use for every failure here: there is no form to draft from", mined.playbook),
                "`feedback add` keeps a call that was handled wrong all the same, and is drafted from too",
            ),
            forms => (
                format!("there is no form {number}: {} mined", counted(forms as u64, "form was", "forms were")),
                "the first is the most pressing; which there are depends on playbook and tool facts",
            ),
        };
        return Err(Failure::said(said).help(help).next(flags.after(mine)));
    };
    Ok(Seen {
        evidence: evidence(args, cluster, &mined, &plan.playbook),
        cluster: cluster.clone(),
        inputs: args.traces.iter().map(|path| (path.clone(), args.reading.clone())).collect(),
        own: None,
        is_kept_alone: false,
    })
}

fn refuse_standard_input(args: &New) -> Result<(), Failure> {
    match args.traces.iter().find(|path| *path == files::STDIN) {
        None => Ok(()),
        Some(path) => Err(Failure::said(format!("`{path}` cannot be drafted from: it is read twice"))
            .help("keep standard input in a file first")
            .next(command(args, &args.verdict).and("--trace trace.jsonl"))),
    }
}

fn slice(place: &Place<'_>, id: &str) -> String {
    place.workspace.feedback_path(id, "jsonl").to_string_lossy().into_owned()
}

/// What a feedback holds; what else is kept, and the traces that are named, stand beside it.
///
/// # Errors
/// A feedback in which nothing failed, or that is closed; files that cannot be read.
pub fn of_feedback(place: &Place<'_>, kept: &Kept, plan: &Plan) -> Result<Seen, Failure> {
    let args = place.args;
    if let Some(reason) = &kept.feedback.closed {
        return Err(Failure::said(format!("`{}` is closed: {reason}", kept.id))
            .help("open it again if something is to be done about it after all")
            .next(Command::new("playproof feedback reopen").name(&kept.id)));
    }
    let nothing = || {
        Failure::said(format!("nothing failed in the call of `{}`, so that no verdict can answer it", kept.id))
            .next(Command::new("playproof feedback show").name(&kept.id))
    };
    let (call, failed) = kept.call().zip(kept.feedback.before.failed.as_ref()).ok_or_else(nothing)?;
    let mut slices = vec![slice(place, &kept.id)];
    for id in place.workspace.feedback_ids()?.iter().filter(|id| **id != kept.id) {
        // What cannot be read is told of where it is meant itself; what is to get the same verdict is no look-alike.
        let other = kept::load(place.workspace, &place.project.redaction, id);
        if other.is_ok_and(|other| other.feedback.expected.as_deref() != Some(&args.verdict)) {
            slices.push(slice(place, id));
        }
    }
    // Slices are in our own format, whatever `--map` reads.
    let plain = Reading { map: None, ..args.reading.clone() };
    let (mut part, _) = mined(place, &slices, &plain, plan)?;
    if !args.traces.is_empty() {
        refuse_standard_input(args)?;
        let (more, _) = mined(place, &args.traces, &args.reading, plan)?;
        part.merge(more.after_inputs(u32::try_from(slices.len()).unwrap_or(u32::MAX)));
    }
    let traces = args.traces.iter().map(|path| (path.clone(), args.reading.clone()));
    let both = (call, kept.recorded().unwrap_or(call));
    let cluster = part.around(plan, both, AttemptNo::new(failed.attempt)).ok_or_else(nothing)?;
    Ok(Seen {
        evidence: said(kept, call, &cluster, &plan.playbook),
        cluster,
        inputs: slices.into_iter().map(|path| (path, plain.clone())).chain(traces).collect(),
        is_kept_alone: args.traces.is_empty(),
        own: Some((call.clone(), kept.feedback.note.clone())),
    })
}

fn mined(place: &Place<'_>, inputs: &[String], reading: &Reading, plan: &Plan) -> Result<(Part, Replayed), Failure> {
    let args = place.args;
    let command = command(args, &args.verdict).flag_if("--when", args.when.as_deref());
    let stream = Stream {
        name: "propose",
        command: if args.traces.is_empty() { command } else { command.and("--trace") },
        flags: Flags::default().reading(reading),
        inputs,
        sources: crate::inputs::sources(inputs),
        reading,
        beyond: BeyondTape::Unanswered,
        jobs: None,
        allow_empty: None,
    };
    let mut all = Part::default();
    let plans = std::slice::from_ref(plan);
    let streamed = stream.run(plans, &Miner, place.project, place.terminal, |part| all.merge(part))?;
    Ok((all, streamed.replayed))
}

/// What a feedback says, for the record.
fn said(kept: &Kept, call: &RecordedCall, cluster: &Cluster, playbook: &Playbook) -> Evidence {
    let from = &kept.feedback.came_from;
    let seen = format!("Seen in {}, call {}", markdown_code(&from.trace), markdown_code(&from.call));
    let pattern = format!("{seen} (feedback {}): {}", markdown_code(&kept.id), markdown(&kept.feedback.note));
    let message = cluster.examples.first().and_then(|example| example.message.as_deref());
    let message = markdown_code(&fitted(message.unwrap_or("(no message)"), 300));
    Evidence {
        pattern: vec![pattern],
        example: vec![format!("- {}: {message}", markdown_code(call.tool()))],
        today: vec![today(cluster, playbook, "it is not what is meant")],
    }
}

/// What was seen of a cluster, for the record.
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
    let today = today(cluster, playbook, "it does not help");
    Evidence { pattern: vec![pattern], example: vec![example.collect::<Vec<_>>().join("\n")], today: vec![today] }
}

fn today(cluster: &Cluster, playbook: &Playbook, known: &str) -> String {
    let then = playbook.verdicts.iter().find(|verdict| *verdict.name == *cluster.verdict);
    let then = then.map_or("nothing", |verdict| verdict.then.as_str());
    let meaning = if cluster.verdict == UNCLASSIFIED { "no rule knows them" } else { known };
    format!("Today they get the verdict `{}` ({meaning}), and are answered with `{then}`.", cluster.verdict)
}
