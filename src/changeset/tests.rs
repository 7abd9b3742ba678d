//! Changesets made, failed, and stopped after every step.

#![expect(clippy::disallowed_methods, reason = "a test looks at what is on the disk")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::apply::{commit as commit_watched, place as put_in_place, stage};
use super::disk::{identity, write_new};
use super::project_lock::is_still_there;
use super::staging::{JOURNAL, staged};
use super::*;
use crate::boundary::Boundary;
use crate::exit::Failure;
use crate::output::Output;

const STAGING: &str = "proposals/.accepting";

fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_path_buf()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => {
                    found.insert(path.clone(), None);
                    left.push(path);
                }
                false => drop(found.insert(path.clone(), Some(fs::read(&path).unwrap()))),
            }
        }
    }
    found
}

/// A folder with a few files, and changes of them.
struct Place {
    folder: tempfile::TempDir,
    changes: Vec<Change>,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("proposals/x")).unwrap();
        for (name, text) in [("book.yaml", "old"), ("lock", "old lock"), ("proposals/x/p.yaml", "p"), ("keep", "k")] {
            fs::write(path(name), text).unwrap();
        }
        let changes = vec![
            Change::Write(path("book.yaml"), b"new".to_vec()),
            Change::Create(path("docs/adr/0001-x.md"), b"why".to_vec()),
            Change::Write(path("goldens/a/b.snap"), b"g".to_vec()),
            Change::Write(path("lock"), b"new lock".to_vec()),
            Change::Remove(path("proposals/x/p.yaml")),
            Change::Remove(path("none")),
        ];
        Place { folder, changes }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tree(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        tree(self.folder.path())
    }

    /// What is there once every change is made.
    fn after(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut tree = self.tree();
        for change in &self.changes {
            match change.text() {
                Some(text) => drop(tree.insert(change.path().to_path_buf(), Some(text.to_vec()))),
                None => drop(tree.remove(change.path())),
            }
        }
        tree.remove(&self.path("proposals/x"));
        tree.remove(&self.path("proposals"));
        let folders = ["docs", "docs/adr", "goldens", "goldens/a"].map(|name| (self.path(name), None));
        tree.extend(folders);
        tree
    }

    fn boundary(&self) -> Boundary {
        Boundary::new(self.folder.path(), [])
    }

    fn lock(&self) -> Result<ProjectLock, Failure> {
        ProjectLock::at(&self.boundary(), &self.path(STAGING))
    }

    fn commit(&self) -> Result<(), Failure> {
        self.lock()?.commit(&self.changes, &mut Output::default())
    }

    fn finish(&self) -> Result<(), Failure> {
        finish(&self.boundary(), &self.path(STAGING), true)
    }

    /// As a machine leaves it that stops when the change is decided and so many of its files are in place.
    fn interrupted(&self, done: usize) {
        let lock = self.lock().unwrap();
        let journal = stage(&lock.boundary, &lock.staging, &self.changes).unwrap();
        for (n, step) in journal.steps.iter().enumerate().take(done) {
            put_in_place(step, &staged(&lock.staging, n), &self.folder.path().join(&step.path)).unwrap();
        }
    }

    fn edit_journal(&self, old: &str, new: &str) {
        let path = self.path(STAGING).join(JOURNAL);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{text}");
        fs::write(path, text.replace(old, new)).unwrap();
    }
}

fn describe<T: std::fmt::Debug>(result: Result<T, Failure>) -> String {
    format!("{:?}", result.unwrap_err())
}

#[test]
fn all_changes_are_made_and_nothing_else_is_left() {
    let place = Place::new();
    let after = place.after();
    place.commit().unwrap();
    assert_eq!(place.tree(), after);
}

#[test]
fn many_changes_which_are_synced_together_are_finished_like_few() {
    for done in [0, 40, 100] {
        let mut place = Place::new();
        let many = (0..100).map(|n| Change::Create(place.path(&format!("goldens/a/{n}.snap")), vec![n; 9]));
        place.changes.extend(many.collect::<Vec<_>>());
        let after = place.after();
        place.interrupted(done);
        place.finish().unwrap();
        assert_eq!(place.tree(), after, "{done}");
    }
}

#[test]
fn a_failure_before_the_first_file_leaves_everything_as_it_was() {
    let place = Place::new();
    let before = place.tree();
    let mut fails = |_| Err(io::Error::from(ErrorKind::PermissionDenied));
    let lock = place.lock().unwrap();
    let refused = describe(commit_watched(&lock.boundary, &lock.staging, &place.changes, &mut fails));
    drop(lock);
    assert!(refused.contains("permission denied") && refused.contains("nothing was changed"), "{refused}");
    assert_eq!(place.tree(), before);
}

#[test]
fn a_failure_later_on_is_told_and_the_next_command_goes_on() {
    // The last is the end: the journal cannot be removed.
    for at in 1..=5 {
        let place = Place::new();
        let after = place.after();
        let mut fails = |n| if n == at { Err(io::Error::from(ErrorKind::StorageFull)) } else { Ok(()) };
        let lock = place.lock().unwrap();
        let refused = describe(commit_watched(&lock.boundary, &lock.staging, &place.changes, &mut fails));
        drop(lock);
        assert!(refused.contains(&format!("committed, and {at} of its 5 files are in place")), "{refused}");
        assert!(refused.contains("the disk is full") && !refused.contains("nothing was changed"), "{refused}");
        assert_eq!(fs::read(place.path("book.yaml")).unwrap(), b"new");
        place.finish().unwrap();
        assert_eq!(place.tree(), after, "at {at}");
    }
}

#[test]
fn an_interruption_after_any_step_is_finished_by_whoever_comes_next() {
    let next: [fn(&Place); 2] = [|place| place.finish().unwrap(), |place| drop(place.lock().unwrap())];
    for done in 0..=5 {
        for next in next {
            let place = Place::new();
            let after = place.after();
            place.interrupted(done);
            assert!(has_journal(&place.path(STAGING)));
            next(&place);
            assert_eq!(place.tree(), after, "after {done}");
        }
    }
}

#[test]
fn finishing_that_was_itself_interrupted_goes_on() {
    for stopped in 0..=5 {
        let place = Place::new();
        let after = place.after();
        place.interrupted(2);
        let journal = fs::read_to_string(place.path(STAGING).join(JOURNAL)).unwrap();
        for (n, step) in Journal::parse(&journal).unwrap().steps.iter().enumerate().take(stopped) {
            put_in_place(step, &staged(&place.path(STAGING), n), &place.path(&step.path.to_string_lossy())).unwrap();
        }
        place.finish().unwrap();
        assert_eq!(place.tree(), after, "after {stopped}");
    }
}

#[test]
fn what_never_came_to_its_journal_is_cleared_by_whoever_meets_it() {
    let met: [fn(&Place) -> bool; 2] = [|place| place.finish().is_ok(), |place| place.lock().is_ok()];
    for meets in met {
        let place = Place::new();
        let before = place.tree();
        place.interrupted(0);
        fs::rename(place.path(STAGING).join(JOURNAL), place.path(STAGING).join("journal.tmp")).unwrap();
        assert!(meets(&place));
        assert_eq!(place.tree(), before);
    }
}

#[test]
fn a_new_project_that_was_never_decided_leaves_no_folder_behind() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("new");
    let boundary = Boundary::new(&root, []);
    let staging = root.join(STAGING);
    let taken = Change::Create(root.join("a/../../b"), vec![1]);
    let lock = ProjectLock::at(&boundary, &staging).unwrap();
    assert!(describe(lock.commit(&[taken], &mut Output::default())).contains("leads out of the project"));
    drop(lock);
    assert_eq!(tree(folder.path()), BTreeMap::new());
}

#[test]
fn two_at_once_are_told_apart() {
    let place = Place::new();
    let other = place.lock().unwrap();
    assert!(describe(place.commit()).contains("right now"));
    assert!(place.finish().is_ok(), "what is read is whole until a change is decided");
    stage(&other.boundary, &other.staging, &place.changes).unwrap();
    assert!(describe(place.finish()).contains("right now"));
}

#[test]
fn who_only_looks_for_a_moment_is_waited_for() {
    let place = Place::new();
    let other = place.lock().unwrap();
    let ends = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(30));
        drop(other);
    });
    place.commit().unwrap();
    ends.join().unwrap();
    assert!(!place.path(STAGING).exists());
}

#[cfg(unix)]
#[test]
fn a_lock_on_a_file_that_has_lost_its_name_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.lock");
    let file = File::create(&path).unwrap();
    assert!(is_still_there(&file, &path));
    fs::remove_file(&path).unwrap();
    assert!(!is_still_there(&file, &path));
    let other = File::create(&path).unwrap();
    assert!(!is_still_there(&file, &path) && is_still_there(&other, &path));
}

#[test]
fn what_may_not_be_written_is_found_before_anything_changes() {
    let read_only = |place: &Place, name: &str| {
        let mut rights = fs::metadata(place.path(name)).unwrap().permissions();
        rights.set_readonly(true);
        fs::set_permissions(place.path(name), rights).unwrap();
    };
    type Make = fn(&Path) -> Change;
    let cases: [(&str, Make, &str); 6] = [
        ("keep", |root| Change::Create(root.join("keep"), vec![1]), "there is a file of this name now"),
        ("proposals", |root| Change::Write(root.join("proposals"), vec![1]), "it is a directory"),
        ("keep", |root| Change::Write(root.join("keep/x"), vec![1]), "a file is in the place of its folder"),
        ("book.yaml", |root| Change::Write(root.join("book.yaml"), vec![1]), "it is read-only"),
        ("keep", |root| Change::Write(root.join("../x"), vec![1]), "leads out of the project"),
        (STAGING, |root| Change::Remove(root.join("proposals/x")), "it is a directory"),
    ];
    for (name, change, says) in cases {
        let mut place = Place::new();
        place.changes.push(change(&place.path("")));
        if name == "book.yaml" {
            read_only(&place, name);
        }
        let before = place.tree();
        let refused = describe(place.commit());
        assert!(refused.contains(says), "{refused}");
        assert_eq!(place.tree(), before, "{name}");
    }
}

#[test]
fn what_somebody_writes_meanwhile_is_set_aside() {
    // One that is written anew, one that is to be created, one that is to go; each not yet in its place.
    for (name, done) in [("book.yaml", 0), ("docs/adr/0001-x.md", 1), ("proposals/x/p.yaml", 3)] {
        let place = Place::new();
        let mut after = place.after();
        place.interrupted(done);
        fs::create_dir_all(place.path(name).parent().unwrap()).unwrap();
        fs::write(place.path(name), "theirs").unwrap();
        place.finish().unwrap();
        after.insert(place.path(&format!("{name}.aside")), Some(b"theirs".to_vec()));
        if name.starts_with("proposals") {
            after.extend(["proposals", "proposals/x"].map(|folder| (place.path(folder), None)));
        }
        assert_eq!(place.tree(), after, "{name}");
    }
}

#[test]
fn what_somebody_writes_once_a_file_is_in_its_place_stays() {
    let place = Place::new();
    let mut after = place.after();
    place.interrupted(5);
    fs::write(place.path("book.yaml"), "theirs").unwrap();
    place.finish().unwrap();
    after.insert(place.path("book.yaml"), Some(b"theirs".to_vec()));
    assert_eq!(place.tree(), after);
}

#[test]
fn a_journal_that_was_not_written_here_is_refused_and_nothing_is_touched() {
    let identity = |place: &Place, name: &str| identity(&place.path(name)).unwrap();
    let edits: [fn(&Place); 7] = [
        |place| place.edit_journal("changeset/2", "changeset/1"),
        |place| place.edit_journal("book.yaml", "../book.yaml"),
        |place| place.edit_journal("\"files\"", "\"flies\""),
        |place| place.edit_journal("{", ""),
        |place| fs::write(place.path(STAGING).join("0.new"), "other").unwrap(),
        |place| fs::write(place.path(STAGING).join("lock"), "1:1").unwrap(),
        |place| fs::remove_file(place.path(STAGING).join("lock")).unwrap(),
    ];
    let as_another: [&dyn Fn(&Place); 2] =
        [&|place| place.edit_journal(&format!("\"root\":\"{}", identity(place, "")), "\"root\":\"1:1"), &|place| {
            place.edit_journal(&format!("\"staging\":\"{}", identity(place, STAGING)), "\"staging\":\"1:1")
        }];
    let edits = edits.iter().map(|edit| edit as &dyn Fn(&Place));
    for (n, edit) in edits.chain(as_another).enumerate() {
        let place = Place::new();
        place.interrupted(1);
        edit(&place);
        let before = place.tree();
        for refused in [describe(place.finish()), describe(place.lock())] {
            assert!(refused.contains(STAGING) && refused.contains("rm -r "), "{n}: {refused}");
        }
        assert_eq!(place.tree(), before, "{n}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn folders_of_two_file_systems_are_two_even_where_they_have_one_number() {
    use std::os::unix::fs::MetadataExt;
    let number = |folder: &str| fs::metadata(folder).unwrap().ino();
    assert_eq!(number("/proc"), number("/sys"));
    assert_ne!(identity(Path::new("/proc")).unwrap(), identity(Path::new("/sys")).unwrap());
}

#[cfg(unix)]
#[test]
fn a_journal_or_a_staged_text_behind_a_link_is_refused() {
    for name in [JOURNAL, "0.new", "lock"] {
        let place = Place::new();
        place.interrupted(0);
        let link = place.path(STAGING).join(name);
        fs::rename(&link, place.path("elsewhere")).unwrap();
        std::os::unix::fs::symlink(place.path("elsewhere"), &link).unwrap();
        let before = place.tree();
        for refused in [describe(place.finish()), describe(place.lock())] {
            assert!(refused.contains(name), "{refused}");
        }
        assert_eq!(place.tree(), before, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn what_another_user_made_is_not_gone_on_with() {
    const NOBODY: Option<u32> = Some(65_534);
    for name in ["", "lock", JOURNAL, "0.new"] {
        let place = Place::new();
        place.interrupted(0);
        let theirs = place.path(STAGING).join(name);
        if std::os::unix::fs::chown(&theirs, NOBODY, None).is_err() {
            return; // only root can give a file away
        }
        let before = place.tree();
        for said in [describe(place.finish()), describe(place.lock())] {
            assert!(said.contains("another user made it"), "{name}: {said}");
        }
        assert_eq!(place.tree(), before, "{name}");
    }
}

#[test]
fn a_journal_that_leads_out_of_the_project_is_not_finished() {
    let (place, other) = (Place::new(), tempfile::tempdir().unwrap());
    fs::write(other.path().join("book.yaml"), "theirs").unwrap();
    place.interrupted(0);
    place.edit_journal("\"book.yaml\"", &format!("{:?}", other.path().join("book.yaml")));
    let before = (place.tree(), tree(other.path()));
    for refused in [describe(place.finish()), describe(place.lock())] {
        assert!(refused.contains("leads out of the project"), "{refused}");
    }
    assert_eq!((place.tree(), tree(other.path())), before);
}

#[cfg(unix)]
#[test]
fn a_link_that_came_between_a_kill_and_its_end_is_not_written_through() {
    let (place, other) = (Place::new(), tempfile::tempdir().unwrap());
    place.interrupted(0);
    std::os::unix::fs::symlink(other.path(), place.path("goldens")).unwrap();
    let before = place.tree();
    for refused in [describe(place.finish()), describe(place.lock())] {
        assert!(refused.contains("goldens` is a symbolic link"), "{refused}");
    }
    assert_eq!((place.tree(), tree(other.path())), (before, BTreeMap::new()));
}

#[cfg(unix)]
#[test]
fn a_file_in_a_read_only_folder_is_refused_before_anything_changes() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    fs::set_permissions(place.path("proposals/x"), fs::Permissions::from_mode(0o555)).unwrap();
    let before = place.tree();
    let refused = describe(place.commit());
    assert!(refused.contains("its folder is read-only") && refused.contains("nothing was changed"), "{refused}");
    assert_eq!(place.tree(), before);
}

#[test]
fn nothing_is_set_aside_over_what_was_set_aside_before() {
    let place = Place::new();
    place.interrupted(0);
    fs::write(place.path("book.yaml.aside"), "first").unwrap();
    fs::write(place.path("book.yaml"), "second").unwrap();
    place.finish().unwrap();
    for (name, text) in [("book.yaml.aside", "first"), ("book.yaml.aside-2", "second"), ("book.yaml", "new")] {
        assert_eq!(fs::read_to_string(place.path(name)).unwrap(), text, "{name}");
    }
}

#[test]
fn a_text_is_staged_over_no_file() {
    let place = Place::new();
    assert!(write_new(&place.path("keep"), b"other", &place.path("keep")).is_err());
    assert_eq!(fs::read(place.path("keep")).unwrap(), b"k");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    for mode in [0o600, 0o755] {
        let place = Place::new();
        fs::set_permissions(place.path("book.yaml"), fs::Permissions::from_mode(mode)).unwrap();
        place.commit().unwrap();
        assert_eq!(fs::metadata(place.path("book.yaml")).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[cfg(unix)]
#[test]
fn a_link_with_the_name_of_a_staged_text_is_not_removed() {
    let place = Place::new();
    let lock = place.lock().unwrap();
    let link = place.path(STAGING).join("7.new");
    std::os::unix::fs::symlink(place.path("keep"), &link).unwrap();
    drop(lock);
    assert!(fs::symlink_metadata(link).is_ok());
}

#[test]
fn what_git_must_not_see_is_said_again_where_a_kill_left_that_empty() {
    let place = Place::new();
    let (before, ignored) = (place.tree(), place.path(STAGING).join(".gitignore"));
    for left in ["", "*", "*\n"] {
        fs::create_dir_all(place.path(STAGING)).unwrap();
        fs::write(&ignored, left).unwrap();
        let lock = place.lock().unwrap();
        assert_eq!(fs::read_to_string(&ignored).unwrap(), "*\n", "{left:?}");
        drop(lock);
        assert_eq!(place.tree(), before, "{left:?}");
    }
    fs::create_dir_all(place.path(STAGING)).unwrap();
    fs::write(&ignored, "theirs").unwrap();
    drop(place.lock().unwrap());
    assert_eq!(fs::read_to_string(&ignored).unwrap(), "theirs");
}

#[test]
fn only_what_a_program_staged_is_removed() {
    let place = Place::new();
    for name in ["notes", "1.new.bak", "x.new", ".gitignore"] {
        fs::create_dir_all(place.path(STAGING)).unwrap();
        fs::write(place.path(STAGING).join(name), "theirs").unwrap();
    }
    let before = place.tree();
    place.finish().unwrap();
    drop(place.lock().unwrap());
    assert_eq!(place.tree(), before);
    fs::write(place.path(STAGING).join("0.new"), "theirs").unwrap();
    let before = place.tree();
    place.finish().unwrap();
    assert!(describe(place.lock()).contains("0.new` is not used: it came with a copy, an archive or a repository"));
    assert_eq!(place.tree(), before);
}

#[test]
fn where_no_project_is_nothing_is_removed_or_made() {
    let place = Place::new();
    fs::create_dir_all(place.path(STAGING)).unwrap();
    for name in ["notes", "0.new", "lock"] {
        fs::write(place.path(STAGING).join(name), "theirs").unwrap();
        let before = place.tree();
        finish(&place.boundary(), &place.path(STAGING), false).unwrap();
        assert_eq!(place.tree(), before);
    }
    // What a killed `init` has left is surely ours.
    let place = Place::new();
    let before = place.tree();
    place.interrupted(0);
    fs::remove_file(place.path(STAGING).join(JOURNAL)).unwrap();
    finish(&place.boundary(), &place.path(STAGING), false).unwrap();
    assert_eq!(place.tree(), before);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_way_is_named_and_what_it_leads_to_stays() {
    use std::os::unix::fs::symlink;
    for link in ["proposals", STAGING, "proposals/.accepting/lock", "goldens", "goldens/a/b.snap", "book.yaml"] {
        let place = Place::new();
        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join("0.new"), "theirs").unwrap();
        let to =
            if link.ends_with("lock") || link.contains('.') && !link.ends_with("accepting") { "0.new" } else { "" };
        let path = place.path(link);
        let _ = fs::remove_file(&path).and_then(|()| fs::create_dir_all(path.parent().unwrap()));
        let _ = fs::remove_dir_all(&path).and_then(|()| fs::create_dir_all(path.parent().unwrap()));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(other.path().join(to), &path).unwrap();
        let before = (place.tree(), tree(other.path()));
        let refused = describe(place.commit());
        assert!(refused.contains(&format!("{link}` is a symbolic link")), "{link}: {refused}");
        assert_eq!((place.tree(), tree(other.path())), before, "{link}");
    }
}
