//! `playproof feedback show ID`: shows the note, the end of the call then and now, and explains the call.

use crate::command::explain;
use crate::command::explain::Search;
use crate::command::propose;
use crate::command::propose::Stand;
use crate::exit::{Exit, Failure};
use crate::feedback_store;
use crate::flags::Flags;
use crate::format::formats;
use crate::output::Output;
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use playproof_analysis::explain::Subject;
use playproof_analysis::feedback::{Ending, FeedbackState, JudgedFeedback, Kept};
use playproof_analysis::recorded::Arguments;
use playproof_engine::sim::Plan;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::shell::Command;
use playproof_report::block::Style;
use playproof_report::explain::page;
use playproof_report::feedback::{head, json_of};

formats!(Format: Table = "For people", Json = "One JSON document");

/// What is shown.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The feedback, as `playproof feedback list` names it
    #[arg(value_name = "ID")]
    pub id: String,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
}

/// Shows.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let (project, workspace) = (Project::find()?, Workspace::open()?);
    let kept = feedback_store::load(&workspace, &project.redaction, &args.id)?;
    let used = feedback_store::playbook(&workspace, &kept)?;
    let plan = kept.plan(&used.loaded.playbook, workspace.tools());
    let judged = JudgedFeedback::of(kept, &plan);
    let kept = &judged.kept;
    let subject = subject(&workspace, &project, kept, &plan)?;
    let Subject::Recorded { call, recorded, .. } = &subject else {
        return Err(Failure::new("its slice is no recording"));
    };
    let ending = Ending::of(&plan, call.raw(), &recorded.in_run);
    let is_new = kept.feedback.expects_new(&used.loaded.playbook);
    let slice = workspace.feedback_path(&kept.id, "jsonl");
    let slice = match args.format {
        Format::Json => workspace.name(&slice),
        Format::Table => workspace.here(&slice),
    };
    let next = next(kept, judged.state, &slice);
    if args.format == Format::Json {
        output.json(json_of(&judged, &ending, &slice, &next))?;
        return Ok(Exit::Clean);
    }
    let palette = terminal.out.palette();
    let style = Style { width: terminal.out.width, palette, arguments: Arguments::Values };
    let head = head(&judged, &ending, &slice, is_new, style);
    let parts = [
        head,
        page(&subject, &plan, &kept.tools(workspace.tools()), style),
        format!("{} {next}", palette.strong("next:")),
    ];
    output.page(&parts.join("\n\n"))?;
    Ok(Exit::Clean)
}

/// The call in its slice, with what the slice shows of it.
fn subject(workspace: &Workspace, project: &Project, kept: &Kept, plan: &Plan) -> Result<Subject, Failure> {
    let slice = workspace.feedback_path(&kept.id, "jsonl").to_string_lossy().into_owned();
    let search = Search {
        command: "playproof explain",
        call_flag: None,
        flags: Flags::default(),
        inputs: std::slice::from_ref(&slice),
        wanted: Some(&kept.feedback.call),
        reading: &ReadOptions::plain(None),
        beyond: MissingAnswerPolicy::Unanswered,
        pace: None,
        redaction: &project.redaction,
    };
    Ok(explain::find(&search, plan)?.subject)
}

fn next(kept: &Kept, state: FeedbackState, slice: &str) -> Command {
    match (state, &kept.feedback.before.failed) {
        (FeedbackState::Answered, _) => "playproof feedback list".into(),
        (FeedbackState::Closed, _) => Command::new("playproof feedback reopen").name(&kept.id),
        (FeedbackState::Open, None) => Command::new("playproof replay").path(slice),
        (FeedbackState::Open, Some(_)) if propose::stand(Some(&kept.feedback.playbook)) == Stand::NoneIsOwn => {
            "playproof init".into()
        }
        (FeedbackState::Open, Some(_)) => {
            let verdict = kept.feedback.expected.as_deref().unwrap_or("VERDICT");
            Command::new("playproof propose new").name(verdict).flag("--from-feedback", &kept.id)
        }
    }
}
