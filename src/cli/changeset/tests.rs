//! Changesets made, failed and interrupted in every step.

#![expect(clippy::disallowed_methods, reason = "a test looks at what is on the disk")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::alone::{is_interrupted, is_still_there, missing_folders};
use super::back::{Recovered, put_back};
use super::forth::{commit as commit_watched, make, stage};
use super::journal::{Journal, path as journal_path};
use super::*;
use crate::cli::exit::Failure;

fn commit(staging: &Path, changes: &[Change]) -> Result<(), Failure> {
    Alone::at(staging)?.commit(changes)
}

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

fn project() -> (tempfile::TempDir, Vec<Change>) {
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
    (folder, changes)
}

/// As a changeset is left by a machine that stops after so many of its steps.
fn interrupted(staging: &Path, changes: &[Change], done: usize) -> Journal {
    let journal = stage(staging, &missing_folders(&staging.join("lock")), changes).unwrap();
    for (n, change) in changes.iter().enumerate().take(done) {
        make(staging, n, &journal.steps[n], change).unwrap();
    }
    journal
}

fn said<T: std::fmt::Debug>(result: Result<T, Failure>) -> String {
    format!("{:?}", result.unwrap_err())
}

#[test]
fn all_changes_are_made_and_nothing_else_is_left() {
    let (folder, changes) = project();
    let staging = folder.path().join("proposals/.accepting");
    commit(&staging, &changes).unwrap();
    let names: Vec<_> =
        tree(folder.path()).into_keys().map(|path| path.strip_prefix(folder.path()).unwrap().to_path_buf()).collect();
    let wanted = [
        "book.yaml",
        "docs",
        "docs/adr",
        "docs/adr/0001-x.md",
        "goldens",
        "goldens/a",
        "goldens/a/b.snap",
        "keep",
        "lock",
    ];
    assert_eq!(names, wanted.map(PathBuf::from));
    assert_eq!(fs::read_to_string(folder.path().join("lock")).unwrap(), "new lock");
}

#[test]
fn a_failure_at_any_change_leaves_everything_as_it_was() {
    let (folder, changes) = project();
    let staging = folder.path().join("proposals/.accepting");
    let before = tree(folder.path());
    // The last is the end: the journal cannot be removed.
    for at in 0..=changes.len() {
        let mut fails = |n| if n == at { Err(io::Error::from(ErrorKind::PermissionDenied)) } else { Ok(()) };
        let alone = Alone::at(&staging).unwrap();
        assert!(said(commit_watched(&staging, &[], &changes, &mut fails)).contains("permission denied"));
        drop(alone);
        assert_eq!(tree(folder.path()), before, "at {at}");
    }
}

#[test]
fn a_failure_that_cannot_be_taken_back_is_told_with_what_came_before_it() {
    let (folder, changes) = project();
    let staging = folder.path().join("proposals/.accepting");
    let mut fails = |n| {
        if n < 3 {
            return Ok(());
        }
        fs::write(journal_path(&staging), "{")?;
        Err(io::Error::from(ErrorKind::StorageFull))
    };
    let _alone = Alone::at(&staging).unwrap();
    let said = said(commit_watched(&staging, &[], &changes, &mut fails));
    assert!(said.contains("lock` cannot be written: the disk is full; and what had changed"), "{said}");
    assert!(said.contains("journal.json` cannot be put back") && said.contains("propose recover"), "{said}");
    assert!(!said.contains("nothing was changed"), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("book.yaml")).unwrap(), "new");
}

#[test]
fn a_target_that_is_a_folder_is_found_before_anything_changes() {
    let (folder, mut changes) = project();
    fs::create_dir_all(folder.path().join("in-the-way")).unwrap();
    changes.push(Change::Write(folder.path().join("in-the-way"), Vec::new()));
    let before = tree(folder.path());
    commit(&folder.path().join("staging"), &changes).unwrap_err();
    assert_eq!(tree(folder.path()), before);
}

#[test]
fn an_interruption_at_any_change_is_found_and_taken_back() {
    for done in 0..=6 {
        let (folder, changes) = project();
        let staging = folder.path().join("proposals/.accepting");
        let before = tree(folder.path());
        interrupted(&staging, &changes, done);
        assert!(is_interrupted(&staging));
        let refused = refuse_interrupted(&staging);
        // Before its first step it has changed nothing: whoever meets it clears it.
        assert_eq!(refused.is_err(), done > 0, "after {done}");
        assert_eq!(recover(&staging).unwrap().was_interrupted, done > 0);
        assert!(!is_interrupted(&staging));
        assert_eq!(tree(folder.path()), before, "after {done}");
    }
}

#[test]
fn a_new_project_that_was_interrupted_leaves_no_folder_behind() {
    for done in 0..=2 {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let changes = [Change::Create(path("new/a/1"), vec![1]), Change::Create(path("new/proposals/2"), vec![2])];
        interrupted(&path("new/proposals/.accepting"), &changes, done);
        recover(&path("new/proposals/.accepting")).unwrap();
        assert_eq!(tree(folder.path()), BTreeMap::new(), "after {done}");
    }
}

#[test]
fn a_way_back_that_was_interrupted_goes_on() {
    for stopped in 0..=6 {
        let (folder, changes) = project();
        let staging = folder.path().join("staging");
        let before = tree(folder.path());
        let journal = interrupted(&staging, &changes, 6);
        for (n, step) in journal.steps.iter().enumerate().rev().take(stopped) {
            put_back(step, n, &staging).unwrap();
        }
        assert!(said(Alone::at(&staging)).contains("interrupted"));
        recover(&staging).unwrap();
        assert_eq!(tree(folder.path()), before, "after {stopped}");
    }
}

#[test]
fn two_at_once_are_told_apart_and_an_interruption_is_not_written_over() {
    let (folder, changes) = project();
    let staging = folder.path().join("proposals/.accepting");
    let before = tree(folder.path());
    let other = Alone::at(&staging).unwrap();
    assert!(said(commit(&staging, &changes)).contains("right now"));
    assert!(said(recover(&staging)).contains("right now"));
    assert!(refuse_interrupted(&staging).is_ok(), "what is read is whole until the journal is written");
    let journal = interrupted(&staging, &changes, 1);
    assert!(said(refuse_interrupted(&staging)).contains("right now"));
    drop((other, journal));
    assert!(said(commit(&staging, &changes)).contains("interrupted"));
    recover(&staging).unwrap();
    assert_eq!(tree(folder.path()), before);
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
fn what_never_came_to_its_journal_is_cleared_by_whoever_meets_it() {
    let met: [fn(&Path) -> bool; 3] = [
        |staging| refuse_interrupted(staging).is_ok(),
        |staging| Alone::at(staging).is_ok(),
        |staging| recover(staging).unwrap() == Recovered { was_interrupted: true, ..Recovered::default() },
    ];
    for meets in met {
        let (folder, _) = project();
        let staging = folder.path().join("proposals/.accepting");
        let before = tree(folder.path());
        fs::create_dir_all(&staging).unwrap();
        for left in ["0.new", "0.old", "lock", ".gitignore", "journal.tmp"] {
            fs::write(staging.join(left), "half").unwrap();
        }
        assert!(meets(&staging));
        assert_eq!(tree(folder.path()), before);
    }
}

#[test]
fn a_file_that_is_to_be_new_is_never_overwritten() {
    let (folder, mut changes) = project();
    let staging = folder.path().join("proposals/.accepting");
    changes.push(Change::Create(folder.path().join("keep"), b"mine".to_vec()));
    let before = tree(folder.path());
    let refused = said(commit(&staging, &changes));
    assert!(refused.contains("keep` cannot be written: there is a file of this name now"), "{refused}");
    assert_eq!(tree(folder.path()), before);
}

#[test]
fn a_file_that_appears_meanwhile_is_neither_overwritten_nor_removed() {
    // One that is to be created, one that is written anew; right before its step, and before the first one.
    for (new, appears_at) in [("docs/adr/0001-x.md", 1), ("docs/adr/0001-x.md", 0), ("goldens/a/b.snap", 0)] {
        let (folder, changes) = project();
        let staging = folder.path().join("proposals/.accepting");
        let theirs = folder.path().join(new);
        let mut before = tree(folder.path());
        let mut appears = |n| {
            if n == appears_at {
                fs::create_dir_all(theirs.parent().unwrap())?;
                fs::write(&theirs, "theirs")?;
            }
            Ok(())
        };
        let alone = Alone::at(&staging).unwrap();
        assert!(said(commit_watched(&staging, &[], &changes, &mut appears)).contains("of this name now"));
        drop(alone);
        let above = theirs.ancestors().skip(1).take_while(|above| *above != folder.path());
        before.extend(above.map(|above| (above.to_path_buf(), None)));
        before.insert(theirs.clone(), Some(b"theirs".to_vec()));
        assert_eq!(tree(folder.path()), before, "{new}");
    }
}

#[test]
fn a_file_that_another_program_made_after_the_interruption_stays() {
    for done in 0..=1 {
        let (folder, changes) = project();
        let staging = folder.path().join("proposals/.accepting");
        let mut before = tree(folder.path());
        interrupted(&staging, &changes, done);
        let theirs = folder.path().join("docs/adr/0001-x.md");
        fs::create_dir_all(theirs.parent().unwrap()).unwrap();
        fs::write(&theirs, "theirs").unwrap();
        let recovered = recover(&staging).unwrap();
        assert_eq!((recovered.back.len(), recovered.aside), (done, Vec::new()));
        before.extend(["docs", "docs/adr"].map(|name| (folder.path().join(name), None)));
        before.insert(theirs, Some(b"theirs".to_vec()));
        assert_eq!(tree(folder.path()), before);
    }
}

#[test]
fn what_somebody_wrote_after_the_interruption_is_moved_aside_and_named() {
    let (folder, changes) = project();
    let staging = folder.path().join("proposals/.accepting");
    let mut before = tree(folder.path());
    interrupted(&staging, &changes, 3);
    for name in ["book.yaml", "goldens/a/b.snap"] {
        fs::write(folder.path().join(name), "mended by hand").unwrap();
    }
    let recovered = recover(&staging).unwrap();
    let names: Vec<_> = recovered.aside.iter().map(|(_, aside)| aside.rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["book.yaml.aside", "b.snap.aside"]);
    for name in ["book.yaml.aside", "goldens/a/b.snap.aside"] {
        before.insert(folder.path().join(name), Some(b"mended by hand".to_vec()));
    }
    before.extend(["goldens", "goldens/a"].map(|name| (folder.path().join(name), None)));
    assert_eq!(tree(folder.path()), before);
}

#[test]
fn a_project_that_was_moved_meanwhile_is_put_back_where_it_lies_now() {
    let (folder, changes) = project();
    let project = folder.path().join("one");
    fs::create_dir_all(&project).unwrap();
    let changes: Vec<Change> = changes[..1].iter().map(|_| Change::Write(project.join("b"), b"new".to_vec())).collect();
    fs::write(project.join("b"), "old").unwrap();
    interrupted(&project.join("proposals/.accepting"), &changes, 1);
    let moved = folder.path().join("two");
    fs::rename(&project, &moved).unwrap();
    recover(&moved.join("proposals/.accepting")).unwrap();
    assert_eq!(fs::read_to_string(moved.join("b")).unwrap(), "old");
    assert!(!project.exists());
}

#[test]
fn a_file_that_is_marked_read_only_is_not_written_over() {
    let (folder, changes) = project();
    let book = folder.path().join("book.yaml");
    let mut rights = fs::metadata(&book).unwrap().permissions();
    rights.set_readonly(true);
    fs::set_permissions(&book, rights).unwrap();
    let before = tree(folder.path());
    let refused = said(commit(&folder.path().join("proposals/.accepting"), &changes));
    assert!(refused.contains("book.yaml` cannot be written: it is read-only"), "{refused}");
    assert_eq!(tree(folder.path()), before);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_what_it_leads_to_is_written_and_put_back() {
    let (folder, changes) = project();
    let (real, link) = (folder.path().join("real.yaml"), folder.path().join("book.yaml"));
    fs::rename(&link, &real).unwrap();
    std::os::unix::fs::symlink("real.yaml", &link).unwrap();
    let staging = folder.path().join("proposals/.accepting");
    let before = tree(folder.path());
    interrupted(&staging, &changes, 1);
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    recover(&staging).unwrap();
    assert_eq!(tree(folder.path()), before);
    commit(&staging, &changes).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
}

#[test]
fn a_journal_that_cannot_be_read_is_told_and_nothing_is_touched() {
    let (folder, changes) = project();
    let staging = folder.path().join("proposals/.accepting");
    interrupted(&staging, &changes, 2);
    let whole = fs::read_to_string(journal_path(&staging)).unwrap();
    for journal in ["{ half".to_owned(), whole.replace("changeset/1", "changeset/2")] {
        fs::write(journal_path(&staging), journal).unwrap();
        let before = tree(folder.path());
        assert!(said(recover(&staging)).contains("it is no journal"));
        assert!(said(Alone::at(&staging)).contains("interrupted"));
        let after = tree(folder.path());
        assert!(before.iter().all(|(path, text)| after.get(path) == Some(text)));
    }
}

#[test]
fn who_only_looks_for_a_moment_is_waited_for() {
    let (folder, changes) = project();
    let staging = folder.path().join("proposals/.accepting");
    let other = Alone::at(&staging).unwrap();
    let ends = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(30));
        drop(other);
    });
    commit(&staging, &changes).unwrap();
    ends.join().unwrap();
    assert!(!staging.exists());
}
