//! Resolves the names given to `accept`, `reject` and `review`: runs, playbooks or proposals.

use crate::checking;
use crate::command::propose::stored;
use crate::exit::Failure;
use crate::workspace::Workspace;
use playproof_analysis::check::CaseId;
use playproof_formats::diagnostic::did_you_mean;
use playproof_formats::shell::Command;

/// The names by kind.
#[derive(Debug, Default)]
pub struct ArgumentNames {
    /// Fixtures, or single runs, as they were typed.
    pub runs: Vec<String>,
    /// Playbooks, as fixtures know them.
    pub playbooks: Vec<String>,
    /// Proposals by id.
    pub proposals: Vec<String>,
}

/// One of the three, with the spelling that can mean nothing else.
struct Meaning {
    what: &'static str,
    spelling: String,
}

impl ArgumentNames {
    /// Finds what each name means. `waiting` are runs that can be named although no fixture of theirs is there.
    ///
    /// # Errors
    /// A name that means nothing, or more than one thing.
    pub fn find(workspace: &Workspace, asked: &[String], waiting: &[CaseId]) -> Result<ArgumentNames, Failure> {
        let fixtures = workspace.checked_names()?;
        let run_of = |name: &str| match waiting.iter().find(|id| workspace.names_run(name, id)) {
            Some(id) => Some(id.clone()),
            None => run_of_a_fixture(workspace, name, &fixtures),
        };
        let mut named = ArgumentNames::default();
        let add = |names: &mut Vec<String>, name: String| {
            if !names.contains(&name) {
                names.push(name);
            }
        };
        for name in asked {
            let run = run_of(name);
            let proposal = stored::known(workspace, name);
            let playbook = workspace.playbook_named(name);
            // An embedded playbook that the project does not use hides no fixture and no proposal of its name.
            let is_other = run.is_some() || proposal.is_some();
            let playbook = playbook.filter(|playbook| !is_other || is_in_use(workspace, playbook));
            let meanings: Vec<Meaning> = [
                run.as_ref().map(|id| meaning_of_run(workspace, name, id)),
                playbook
                    .as_ref()
                    .map(|name| Meaning { what: "a playbook", spelling: spelling_of_playbook(workspace, name) }),
                proposal
                    .as_ref()
                    .map(|id| Meaning { what: "a proposal", spelling: spelling_of_proposal(workspace, id) }),
            ]
            .into_iter()
            .flatten()
            .collect();
            if let [first, .., last] = meanings.as_slice() {
                return Err(ambiguous(name, first, last));
            }
            match (run, playbook, proposal) {
                (Some(_), ..) => add(&mut named.runs, name.clone()),
                (_, Some(playbook), _) => add(&mut named.playbooks, playbook),
                (.., Some(proposal)) => add(&mut named.proposals, proposal),
                (None, None, None) => return Err(unknown(workspace, name)?),
            }
        }
        Ok(named)
    }

    /// Refuses the name of a proposal that was decided before: since then it may be the name of its fixture.
    ///
    /// # Errors
    /// There is one.
    pub fn refuse_decided(&self, workspace: &Workspace) -> Result<(), Failure> {
        self.runs.iter().try_for_each(|name| stored::decided(workspace, name)?.map_or(Ok(()), Err))
    }

    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.playbooks.is_empty() && self.proposals.is_empty()
    }
}

/// The run that `name` is, or one of the fixture that it is.
fn run_of_a_fixture(workspace: &Workspace, name: &str, fixtures: &[String]) -> Option<CaseId> {
    let id = |playbook: &str, fixture: &String| CaseId { playbook: playbook.to_owned(), fixture: fixture.clone() };
    if let Some(fixture) = fixtures.iter().find(|fixture| workspace.names_fixture(name, fixture)) {
        return Some(id("", fixture));
    }
    let run = workspace.run_named(name)?;
    let split = |fixture: &String| {
        let playbook = run.strip_suffix(fixture.as_str())?.strip_suffix('/')?;
        workspace.playbook_named(playbook).is_some_and(|known| known == playbook).then(|| id(playbook, fixture))
    };
    fixtures.iter().find_map(split)
}

fn is_in_use(workspace: &Workspace, playbook: &str) -> bool {
    workspace.playbook_argument(playbook) != playbook
        || workspace.read_lock().ok().flatten().is_some_and(|lock| lock.playbooks.contains_key(playbook))
}

fn meaning_of_run(workspace: &Workspace, asked: &str, id: &CaseId) -> Meaning {
    match workspace.names_fixture(asked, &id.fixture) {
        true => Meaning { what: "a fixture", spelling: workspace.fixture_name(&id.fixture) },
        false => Meaning { what: "a run", spelling: workspace.name(&workspace.golden(id).accepted) },
    }
}

fn spelling_of_playbook(workspace: &Workspace, name: &str) -> String {
    let file = workspace.playbook_name(name);
    if file == name { format!("playbooks/{name}") } else { file }
}

fn spelling_of_proposal(workspace: &Workspace, id: &str) -> String {
    format!("{}/{id}", workspace.name(workspace.proposals()))
}

/// The name of a proposal in a suggested command: its id, where that names nothing else.
pub fn argument_of_proposal(workspace: &Workspace, id: &str) -> String {
    match ArgumentNames::find(workspace, &[id.to_owned()], &[]) {
        Ok(_) => id.to_owned(),
        Err(_) => spelling_of_proposal(workspace, id),
    }
}

fn ambiguous(name: &str, first: &Meaning, second: &Meaning) -> Failure {
    Failure::new(format!("`{name}` is the name of {} and of {}", first.what, second.what))
        .help(format!("say which: `{}` or `{}`; nothing was changed", first.spelling, second.spelling))
}

fn unknown(workspace: &Workspace, name: &str) -> Result<Failure, Failure> {
    workspace.refuse_empty()?;
    if let Some(failure) = stored::decided(workspace, name)? {
        return Ok(failure);
    }
    let mut runs = workspace.goldens_that_end_in(".snap", &[])?;
    if let Some(id) = runs.iter().find(|id| workspace.names_run(name, id)) {
        let golden = workspace.here(&workspace.golden(id).accepted);
        return Ok(Failure::new(format!("`{name}` has a golden, and no fixture that runs it"))
            .help("restore the fixture, or remove the golden")
            .next(Command::new("rm").path(&golden)));
    }
    let failure = Failure::new(format!("no fixture, run, playbook or proposal is called `{name}`"));
    runs.extend(workspace.goldens_that_end_in(".snap.new", &[])?);
    let fixtures = workspace.fixture_names()?;
    let proposals = stored::ids(workspace)?;
    let playbooks: Vec<String> = runs.iter().map(|id| id.playbook.clone()).collect();
    let all = [&fixtures[..], &proposals, &playbooks].concat();
    let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
    // A folder before the name says which kind of name it is.
    let folders = [
        (workspace.fixtures_name(), fixtures),
        (workspace.name(workspace.proposals()), proposals.clone()),
        ("playbooks".to_owned(), playbooks),
    ];
    let bare = checking::bare(name).trim_start_matches("./");
    let below = folders
        .iter()
        .find_map(|(folder, known)| Some((bare.strip_prefix(folder.as_str())?.strip_prefix('/')?, known)));
    let (wanted, known) = below.map_or_else(|| (bare, [all, runs].concat()), |(wanted, known)| (wanted, known.clone()));
    Ok(match did_you_mean(wanted, known.iter().map(String::as_str)) {
        None => failure.next("playproof check"),
        Some(near) => {
            let is_proposal = proposals.iter().any(|id| id == near);
            let near = if is_proposal { argument_of_proposal(workspace, near) } else { near.to_owned() };
            failure.typo(name, &near)
        }
    })
}
