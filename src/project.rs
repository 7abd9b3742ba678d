//! The project's own defaults, `playproof.yaml`, found in the working directory or above it. Flags win over it.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::boundary::{Boundary, is_outside, leads_out};
use super::exit::Failure;
use super::files;
use super::input_kind::reject_conflict_markers;
use super::output::say;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::schema;
use playproof_formats::schema::{At, Schema};
use playproof_formats::text::escape_unprintable;
use playproof_intake::failure::WordTable;
use playproof_intake::redact::{BadRule, RedactionRules};

/// The file's name.
pub const FILE: &str = "playproof.yaml";

/// The name of the list of accepted mutants.
pub const MUTANTS: &str = "mutants.yaml";

/// The JSON Schema of the file, for editors.
pub const SCHEMA: &str = include_str!("../schemas/project.json");

static CHECKED: LazyLock<Schema> = LazyLock::new(|| Schema::compile(SCHEMA));

/// The keys whose values are paths; `playbook` may also be a name.
const PATHS: [&str; 6] = ["playbook", "tools", "fixtures", "goldens", "proposals", "map"];

/// The settings; paths are relative to the working directory.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The default playbook: a name or a path.
    pub playbook: Option<String>,
    /// The tool facts file.
    pub tools: Option<String>,
    /// The folder of fixtures.
    pub fixtures: Option<String>,
    /// The folder of goldens.
    pub goldens: Option<String>,
    /// The folder of proposals, with the history.
    pub proposals: Option<String>,
    /// The mapping file for recordings that are not recognised, or for what is different in those that are.
    pub map: Option<String>,
    /// What to hide of a trace.
    pub redaction: RedactionRules,
    /// The recordings whose runs are checked: files, folders or globs.
    pub traces: Vec<String>,
    /// Rows of failure words, which come after those of a mapping and before those of the program.
    pub words: WordTable,
    /// The paths that the file names.
    pub(super) named: Vec<NamedPath>,
    /// The file itself.
    pub(super) source: Option<Arc<Source>>,
}

/// A path that the file names.
#[derive(Clone, Debug)]
pub struct NamedPath {
    /// As seen from the working directory.
    pub path: String,
    /// Where it is named.
    place: Range<usize>,
}

impl Project {
    /// The project of the working directory, or the defaults.
    ///
    /// # Errors
    /// A file that cannot be read, or in which something is wrong.
    pub fn find() -> Result<Project, Failure> {
        files::upwards(FILE).map_or_else(|| Ok(Project::default()), |path| Project::read(&path))
    }

    /// The project that the file at `path` describes.
    ///
    /// # Errors
    /// A file that cannot be read, or in which something is wrong.
    pub fn read(path: &Path) -> Result<Project, Failure> {
        let root = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let source = files::read_small(&path.to_string_lossy())?;
        let source = Arc::new(Source { name: FILE.to_owned(), ..(*source).clone() });
        reject_conflict_markers(&source)?;
        parse(source, &root).map_err(|report| Failure::from(report).next("playproof schema project"))
    }

    /// The boundary of the project in `root`.
    pub fn boundary(&self, root: &Path) -> Boundary {
        Boundary::new(root, self.named.iter().map(|named| Path::new(&named.path)))
    }

    /// Refuses paths that lead out of the project in `root`; if that is allowed, prints a note instead.
    ///
    /// # Errors
    /// A path leads out, and that is not allowed.
    pub fn refuse_outside(&self, root: &Path, is_allowed: bool) -> Result<(), Failure> {
        let Some(source) = &self.source else { return Ok(()) };
        let outside = self.named.iter().filter(|named| is_outside(root, Path::new(&named.path)));
        let mut diagnostics = Vec::new();
        for named in outside {
            if is_allowed {
                say(&format!("note: `{}` lies outside this project, and `--allow-outside` allows it", named.path));
                continue;
            }
            let said = leads_out(root, Path::new(&named.path));
            let help =
                "a project's files lie below the folder of its playproof.yaml; `--allow-outside` if this is meant";
            diagnostics.push(Diagnostic::error("outside", said).at(named.place.clone(), "").help(help));
        }
        match diagnostics.is_empty() {
            true => Ok(()),
            false => Err(Report { source: Arc::clone(source), diagnostics }.into()),
        }
    }
}

/// If the failure is a missing file that the project names, the same failure with the place of the name; otherwise the
/// failure as given.
pub fn blamed(failure: Failure) -> Failure {
    let Failure::Reports { reports, next } = &failure else { return failure };
    let missing = |report: &&Report| report.diagnostics.iter().any(|said| said.id == "unreadable");
    let Some(missing) = reports.iter().find(missing) else { return failure };
    let name = &missing.source.name;
    if files::exists(name) {
        return failure;
    }
    let Ok(Project { named, source: Some(source), .. }) = Project::find() else { return failure };
    let Some(NamedPath { place, .. }) = named.into_iter().find(|named| named.path == *name) else { return failure };
    let why = missing.diagnostics.first().map_or("no such file", |said| &said.message);
    let said = Diagnostic::error("unreadable", format!("{name}: {why}"));
    let said = said.at(place, "named here").help(format!("paths in `{FILE}` are relative to its folder"));
    Failure::Reports { reports: vec![Report::one(source, said)], next: next.clone() }
}

/// The project's root: the folder of its file, else the working directory. Empty for the working directory, so that
/// paths below it stay short.
pub fn root() -> PathBuf {
    let found = files::upwards(FILE).and_then(|file| file.parent().map(Path::to_path_buf));
    found.filter(|root| files::from_here(root) != ".").unwrap_or_default()
}

/// Parses the file; `root` is its folder.
fn parse(source: Arc<Source>, root: &Path) -> Result<Project, Report> {
    let whole = Arc::clone(&source);
    schema::read(source, &CHECKED, |file| {
        let place = |key: &str| file.optional(key, At::text).map(|path| path.map(|path| below(root, path)));
        let mut named = Vec::new();
        for key in PATHS {
            let Some(at) = file.get(key) else { continue };
            let Some(typed) = at.text() else { continue };
            let path = if key == "playbook" { playbook(root, typed) } else { below(root, typed) };
            if key != "playbook" || is_path(&path) {
                check_path(at, typed, &path);
                named.push(NamedPath { path, place: at.span() });
            }
        }
        Some(Project {
            playbook: file.optional("playbook", At::text)?.map(|name| playbook(root, name)),
            tools: place("tools")?,
            fixtures: place("fixtures")?,
            goldens: place("goldens")?,
            proposals: place("proposals")?,
            map: place("map")?,
            redaction: file.optional("redaction", redaction)?.unwrap_or_default(),
            traces: file.optional("traces", |traces| recordings(root, traces))?.unwrap_or_default(),
            words: file.optional("words", WordTable::read_own)?.unwrap_or_default(),
            named,
            source: Some(whole),
        })
    })
}

/// Refuses a path that no file has.
fn check_path(at: At<'_>, typed: &str, path: &str) {
    if escape_unprintable(path) != path {
        at.wrong("bad_path", "a path with invisible characters", "");
    }
    if typed.starts_with(['~', '$']) {
        let said = "a path for a shell: `~` and variables are not expanded here";
        let help = format!("write the path itself; a folder of this very name is `./{typed}`");
        at.report(Diagnostic::error("bad_path", said).at(at.span(), "").help(help));
    }
}

fn recordings(root: &Path, at: At<'_>) -> Option<Vec<String>> {
    at.one_or_many().into_iter().map(|path| Some(below(root, path.text()?))).collect()
}

fn redaction(at: At<'_>) -> Option<RedactionRules> {
    let values = |key: &str| at.get(key).map(At::one_or_many).unwrap_or_default();
    let (keys, patterns) = (values("keys"), values("patterns"));
    let texts = |all: &[At<'_>]| all.iter().map(|one| one.text().map(str::to_owned)).collect::<Option<Vec<String>>>();
    let bad = |one: Option<&At<'_>>, what: &str, why: &str| {
        let why = why.lines().last().unwrap_or_default();
        one.unwrap_or(&at).wrong("bad_redaction", format!("this is not a {what}: {why}"), "");
        None
    };
    match RedactionRules::new(&texts(&keys)?, &texts(&patterns)?) {
        Ok(rules) => Some(rules),
        Err(BadRule::Key(n, why)) => bad(keys.get(n), "glob", &why),
        Err(BadRule::Pattern(n, why)) => bad(patterns.get(n), "regular expression", &why),
    }
}

fn playbook(root: &Path, name: &str) -> String {
    if is_path(name) { below(root, name) } else { name.to_owned() }
}

/// Whether a playbook is named by its path.
pub fn is_path(name: &str) -> bool {
    name == files::STDIN || [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending))
}

fn below(root: &Path, path: &str) -> String {
    files::from_here(&root.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Project, Report> {
        parse(Source::whole(FILE, text), Path::new("/project"))
    }

    #[test]
    fn paths_are_taken_from_the_project_s_root_and_embedded_names_are_not() {
        let project = read("format: project/1\nplaybook: standard\ntools: facts/t.yaml\n").unwrap();
        assert_eq!(project.playbook.as_deref(), Some("standard"));
        assert_eq!(project.tools.as_deref(), Some("/project/facts/t.yaml"));
        let project = read("format: project/1\nplaybook: books/mine.yaml\n").unwrap();
        assert_eq!(project.playbook.as_deref(), Some("/project/books/mine.yaml"));
    }

    #[test]
    fn unknown_keys_and_bad_redactions_are_refused_with_their_place() {
        let report = read("format: project/1\nplaybok: standard\n").unwrap_err();
        assert!(report.to_string().starts_with("playproof.yaml:2:1:"), "{report}");
        let report = read("format: project/1\nredaction: { keys: [ok, '[z'] }\n").unwrap_err();
        assert!(report.to_string().starts_with("playproof.yaml:2:25: this is not a glob"), "{report}");
        let report = read("format: project/1\nredaction: { patterns: '(x' }\n").unwrap_err();
        assert!(report.to_string().contains("this is not a regular expression"), "{report}");
    }

    #[test]
    fn rows_of_failure_words_are_read_with_their_places() {
        let row = "{ where: first, says: failed, pattern: '^lift', examples: [Lift 3 is asleep, Lift 7 is asleep] }";
        let project = read(&format!("format: project/1\nwords: [{row}]\n")).unwrap();
        assert!(!project.words.is_empty());
        let odd = row.replace("Lift 7", "The gate");
        let report = read(&format!("format: project/1\nwords: [{odd}]\n")).unwrap_err();
        assert!(report.to_string().contains("does not match its own example"), "{report}");
        let claims = row.replace("failed,", "failed, kind: 403_forbidden,");
        let report = read(&format!("format: project/1\nwords: [{claims}]\n")).unwrap_err();
        assert!(report.to_string().contains("it needs `proves: nothing_done`"), "{report}");
    }

    #[test]
    fn no_keyword_of_the_schema_is_passed_over() {
        assert!(CHECKED.unknown().is_empty(), "{:?}", CHECKED.unknown());
    }
}
