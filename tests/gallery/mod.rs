//! The gallery of `docs/gallery/`: every fixture with its timelines, as the program prints them.
//! `UPDATE_DOCUMENTS=1 cargo test --test all gallery` writes it. `themes` puts fixtures on pages, `timelines` cuts what
//! the program prints, `pages` writes Markdown.

mod pages;
mod themes;
mod timelines;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::{env, fs};

use crate::goldens::fixtures;
use pages::Behaviour;

const FOLDER: &str = "docs/gallery";

/// A page that is longer is hard to read, and slow to open.
const MOST_BYTES: usize = 150_000;

/// The texts of all pages, by path.
fn fresh() -> BTreeMap<String, String> {
    let fixtures = fixtures();
    let timelines = timelines::of_all(&fixtures);
    let behaviours: Vec<Behaviour> =
        fixtures.iter().zip(timelines).map(|((name, fixture), calls)| Behaviour::new(name, fixture, calls)).collect();
    let pages = themes::THEMES.iter().enumerate().map(|(at, theme)| {
        let path = format!("{FOLDER}/{}.md", theme.file);
        (path, pages::page(theme, &pages::of_theme(&behaviours, at)))
    });
    let incidents = (format!("{FOLDER}/incidents.md"), pages::incidents(&behaviours));
    pages.chain([incidents, (format!("{FOLDER}.md"), pages::contents(&behaviours))]).collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The pages that are there, by path.
fn present() -> BTreeMap<String, String> {
    let folder = fs::read_dir(root().join(FOLDER)).into_iter().flatten();
    let names = folder.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name in UTF-8"));
    let paths = names.map(|name| format!("{FOLDER}/{name}")).chain([format!("{FOLDER}.md")]);
    paths.filter_map(|path| fs::read_to_string(root().join(&path)).ok().map(|text| (path, text))).collect()
}

#[test]
fn the_gallery_shows_every_fixture_as_the_program_does() {
    let (fresh, present) = (fresh(), present());
    if fresh != present && env::var_os("UPDATE_DOCUMENTS").is_some() {
        fs::create_dir_all(root().join(FOLDER)).expect("the folder can be made");
        for path in present.keys().filter(|path| !fresh.contains_key(*path)) {
            fs::remove_file(root().join(path)).expect("the page can be removed");
        }
        for (path, text) in &fresh {
            fs::write(root().join(path), text).expect("the page can be written");
        }
    }
    let paths = fresh.keys().chain(present.keys());
    let stale: BTreeSet<&String> = paths.filter(|path| fresh.get(*path) != present.get(*path)).collect();
    assert_eq!(stale, BTreeSet::new(), "`UPDATE_DOCUMENTS=1 cargo test --test all gallery` writes these pages");
    for (path, text) in &fresh {
        assert!(text.len() < MOST_BYTES, "{path} has {} bytes: divide its theme", text.len());
        assert!(text.contains("\n## "), "{path} has no fixture");
    }
}
