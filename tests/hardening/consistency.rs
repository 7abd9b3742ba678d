//! Consistency: every command gives the same answer about the same file, from any folder.

use std::io::Write;

use crate::place::Place;

const CALL: &str = r#"{"run_id":"r1","call_id":"c1","tool":"pay","args":{"o":1},"status":"error","error":{"kind":"timeout","message":"t"}}
"#;

/// The commands that take a trace, with what stands before its name.
const COMMANDS: [&[&str]; 9] = [
    &["replay"],
    &["propose", "find"],
    &["confirm", "--draft"],
    &["formats", "convert"],
    &["impact", "-c", "study/retry-everything"],
    &["explain", "--call", "c1"],
    &["propose", "keep", "--expect", "odd_one", "--note", "n"],
    &["propose", "new", "v", "--means", "m", "--from-cluster", "1", "--trace"],
    &["init", "new", "--from"],
];

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).expect("memory");
    gzip.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn utf_16(bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    CALL.encode_utf16().flat_map(bytes).collect()
}

fn utf_32(bytes: fn(u32) -> [u8; 4]) -> Vec<u8> {
    CALL.chars().flat_map(|c| bytes(c.into())).collect()
}

fn cut(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() / 2);
    bytes
}

/// A tar archive that holds the call.
fn tar() -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..7].copy_from_slice(b"t.jsonl");
    header[257..262].copy_from_slice(b"ustar");
    [header, CALL.as_bytes().to_vec()].concat()
}

/// Files that no command can use, with what each says of them.
fn odd_inputs() -> Vec<(&'static str, Option<Vec<u8>>, &'static str)> {
    let twice = "it is compressed twice";
    let encoded = |bom: &[u8], text: Vec<u8>| Some([bom, &text].concat());
    vec![
        ("two.gz", Some(gzip(&gzip(CALL.as_bytes()))), twice),
        ("two.zst", Some(zstd(&zstd(CALL.as_bytes()))), twice),
        ("gzip.zst", Some(zstd(&gzip(CALL.as_bytes()))), twice),
        ("zstd.gz", Some(gzip(&zstd(CALL.as_bytes()))), twice),
        ("a.tar", Some(tar()), "it is a tar archive"),
        ("a.tgz", Some(gzip(&tar())), "it is a tar archive"),
        ("a.tar.zst", Some(zstd(&tar())), "it is a tar archive"),
        ("cut.gz", Some(cut(gzip(CALL.as_bytes()))), "its gzip data is cut short, damaged or"),
        ("cut-zstd", Some(cut(zstd(CALL.as_bytes()))), "its zstd data is cut short, damaged or"),
        ("begun.gz", Some(gzip(b"")[..3].to_vec()), "its gzip data is cut short, damaged or"),
        ("followed.gz", Some([gzip(CALL.as_bytes()), b"more".to_vec()].concat()), "data is cut short, damaged or"),
        ("followed.zst", Some([zstd(CALL.as_bytes()), b"more".to_vec()].concat()), "data is cut short, damaged or"),
        ("zip.gz", Some(gzip(b"PK\x03\x04zip")), "it is compressed by zip"),
        ("16.jsonl", encoded(b"\xff\xfe", utf_16(u16::to_le_bytes)), "this is UTF-16 text"),
        ("16le.jsonl", encoded(b"", utf_16(u16::to_le_bytes)), "this is UTF-16LE text"),
        ("16be.jsonl", encoded(b"", utf_16(u16::to_be_bytes)), "this is UTF-16BE text"),
        ("16bom.gz", Some(gzip(&[b"\xfe\xff", &*utf_16(u16::to_be_bytes)].concat())), "this is UTF-16 text"),
        ("32.jsonl", encoded(b"\xff\xfe\0\0", utf_32(u32::to_le_bytes)), "this is UTF-32 text"),
        ("32be.jsonl", encoded(b"\0\0\xfe\xff", utf_32(u32::to_be_bytes)), "this is UTF-32 text"),
        ("32le-bare.jsonl", encoded(b"", utf_32(u32::to_le_bytes)), "this is UTF-32LE text"),
        ("32be-bare.jsonl", encoded(b"", utf_32(u32::to_be_bytes)), "this is UTF-32BE text"),
        ("empty.jsonl", Some(Vec::new()), "it is empty"),
        ("bom.jsonl", Some(b"\xef\xbb\xbf".to_vec()), "it is empty"),
        ("empty.gz", Some(gzip(b"")), "it is empty"),
        ("missing.jsonl", None, "no such file"),
    ]
}

#[test]
fn every_command_gives_the_same_answer_about_an_odd_file_from_any_folder() {
    let place = Place::begun();
    place.write("below/x", "");
    for (name, content, wanted) in odd_inputs() {
        content.iter().for_each(|content| place.write_bytes(name, content));
        let absolute = place.path(name).to_string_lossy().into_owned();
        for command in COMMANDS {
            for (folder, path) in
                [("", name), ("", &format!("./{name}")), ("", &absolute), ("below", &format!("../{name}"))]
            {
                let ran = place.run_below(folder, &[command, &[path]].concat());
                let first = ran.err.lines().find(|line| !line.starts_with("note:")).unwrap_or_default();
                assert_eq!(ran.code, 2, "{command:?} {path}: {ran:?}");
                assert_eq!(
                    first.trim_start(),
                    format!("× {path}: {}", first.rsplit(": ").next().unwrap_or_default()),
                    "{command:?}"
                );
                assert!(first.contains(wanted), "{command:?} {path}: {}", ran.err);
            }
        }
    }
}

#[test]
fn a_long_file_that_is_cut_short_is_told_as_a_short_one() {
    let place = Place::begun();
    // So that nothing is wrong with what tells what the file is.
    let calls: String = (0..20_000).map(|n| CALL.replace("c1", &format!("c{}", n * 7_919 % 10_007))).collect();
    for (name, bytes, test) in
        [("t.gz", cut(gzip(calls.as_bytes())), "gzip -t t.gz"), ("t", cut(zstd(calls.as_bytes())), "zstd -t t")]
    {
        place.write_bytes(name, &bytes);
        // Only what is foreign is imported.
        for command in COMMANDS.iter().filter(|command| !["formats", "init"].contains(&command[0])) {
            let ran = place.run(&[command, &[name][..]].concat());
            let said = format!("× {name}: its {} data is cut short, damaged or", &test[..4]);
            assert!(ran.code == 2 && ran.err.contains(&said), "{command:?}: {ran:?}");
            assert!(ran.err.ends_with(&format!("next: {test}\n")), "{command:?}: {ran:?}");
        }
    }
}

#[test]
fn messages_name_a_file_of_the_project_from_where_people_stand() {
    let place = Place::begun();
    place.write("below/x", "");
    place.write("t.jsonl", CALL);
    let commands: [&[&str]; 6] = [
        &["lint"],
        &["lint", "ours"],
        &["coverage"],
        &["coverage", "--mutate", "--max-calls", "9"],
        &["replay", "../t.jsonl"],
        &["impact", "../t.jsonl", "-c", "standard"],
    ];
    let whole = place.read("playbooks/ours.yaml");
    for playbook in [&whole, &format!("{whole}odd: 1\n")] {
        place.write("playbooks/ours.yaml", playbook);
        for command in commands {
            let ran = place.run_below("below", command);
            let root = place.path("").canonicalize().expect("a folder");
            let said = ran.out + &ran.err;
            assert!(!said.contains(&*root.to_string_lossy()), "{command:?}: {said}");
            assert!(said.contains("../playbooks/ours.yaml") || playbook == &whole, "{command:?}: {said}");
        }
    }
}

#[test]
fn what_is_compressed_once_is_read_by_every_command() {
    let place = Place::begun();
    for (name, content) in [("t.gz", gzip(CALL.as_bytes())), ("t.jsonl.zst", zstd(CALL.as_bytes()))] {
        place.write_bytes(name, &content);
        for command in &COMMANDS[..6] {
            let ran = place.run(&[*command, &[name]].concat());
            assert!(
                ran.code < 2 || command[0] == "formats" && ran.err.contains("needs no conversion"),
                "{command:?}: {ran:?}"
            );
        }
    }
}

#[test]
fn what_programs_read_is_the_same_from_any_folder_and_names_no_machine() {
    let place = Place::begun();
    place.write("below/x", "");
    place.write("t.jsonl", CALL);
    for args in [
        &["lint", "--format", "json"][..],
        &["check", "--format", "json"],
        &["history", "--format", "json"],
        &["coverage", "--format", "json"],
    ] {
        let (here, below) = (place.run(args), place.run_below("below", args));
        assert_eq!(here.out, below.out, "{args:?}");
        assert!(!here.out.contains(&*place.path("").to_string_lossy()), "{args:?}: {}", here.out);
    }
    let absolute = |name: &str| place.path(name).to_string_lossy().into_owned();
    let lint = place.run(&["lint", "--format", "json"]).out;
    for path in [absolute("playbooks/ours.yaml"), "./playbooks/ours.yaml".to_owned()] {
        assert_eq!(place.run(&["lint", &path, "--format", "json"]).out, lint);
    }
    assert_eq!(place.run_below("below", &["lint", "../playbooks/ours.yaml", "--format", "json"]).out, lint);
}

#[test]
fn comments_in_files_name_a_trace_from_the_project_s_root() {
    let place = Place::begun();
    place.write("below/x", "");
    place.write("t.jsonl", CALL);
    let absolute = place.path("t.jsonl").to_string_lossy().into_owned();
    let drafted = place.run(&["confirm", "--draft", "t.jsonl"]).exits(0).out;
    assert_eq!(place.run(&["confirm", "--draft", &absolute]).exits(0).out, drafted);
    assert_eq!(place.run_below("below", &["confirm", "--draft", "../t.jsonl"]).exits(0).out, drafted);
    let around = Place::new();
    around.write("p/t.jsonl", CALL);
    around.write("p/log.json", "{\"t\":\"pay\",\"ok\":false}\n{\"t\":\"pay\",\"ok\":true}\n");
    let (trace, log) = (around.path("p/t.jsonl"), around.path("p/log.json"));
    let args = ["init", "p", "--from", &*trace.to_string_lossy(), "--from", &*log.to_string_lossy()];
    around.run(&args);
    for (name, content) in around.files() {
        let text = String::from_utf8_lossy(&content);
        assert!(!text.contains(&*around.path("").to_string_lossy()), "{name}: {text}");
    }
}

#[cfg(unix)]
#[test]
fn a_project_file_that_is_no_file_is_refused_and_never_taken_for_none() {
    for is_folder in [true, false] {
        let place = Place::begun();
        place.write("trace.jsonl", CALL);
        place.remove("playproof.yaml");
        match is_folder {
            true => std::fs::create_dir(place.path("playproof.yaml")).expect("a folder"),
            false => std::os::unix::fs::symlink("gone.yaml", place.path("playproof.yaml")).expect("a link"),
        }
        for command in [&["check"][..], &["history"], &["lint"], &["replay", "trace.jsonl"]] {
            let ran = place.run(command).exits(2);
            assert!(ran.err.contains("playproof.yaml"), "{command:?}: {}", ran.err);
        }
    }
}

#[test]
fn json_names_a_file_of_the_project_in_one_way_from_wherever_it_is_asked() {
    let place = Place::begun();
    place.write("trace.jsonl", CALL);
    place.write("sub/kept", "");
    let absolute = place.path("trace.jsonl").to_string_lossy().into_owned();
    for command in [&["replay"][..], &["propose", "find"], &["impact", "--candidate", "study/retry-everything"]] {
        let with = |path| [command, &[path, "--format", "json"]].concat();
        let at_root = place.run(&with("trace.jsonl"));
        assert!(at_root.out.contains("\"trace.jsonl\""), "{}", at_root.out);
        for named in [place.run_below("sub", &with("../trace.jsonl")), place.run(&with(&absolute))] {
            // What to type next depends on where people stand.
            let without_next = |text: &str| text.split(",\"next\":").next().unwrap_or_default().to_owned();
            assert_eq!(without_next(&named.out), without_next(&at_root.out), "{command:?}");
        }
    }
}

#[test]
fn every_command_says_the_same_where_no_project_is() {
    let commands: [&[&str]; 11] = [
        &["check"],
        &["history"],
        &["history", "verify"],
        &["propose", "check"],
        &["propose", "list"],
        &["accept", "x", "--reason", "y"],
        &["accept"],
        &["reject"],
        &["accept", "--reason", "y"],
        &["coverage"],
        &["coverage", "--mutate"],
    ];
    let (nowhere, without_fixtures) = (Place::new(), Place::begun());
    std::fs::remove_dir_all(without_fixtures.path("fixtures")).expect("it goes");
    std::fs::remove_dir_all(without_fixtures.path("goldens")).expect("it goes");
    std::fs::remove_dir_all(without_fixtures.path("proposals")).expect("it goes");
    let said =
        "this is no project: there is no `playproof.yaml` here or above, and there are no fixtures in `fixtures`";
    for command in commands {
        let ran = nowhere.run(command).exits(2);
        assert!(ran.err.contains(said) && ran.err.ends_with("next: playproof init\n"), "{command:?}: {}", ran.err);
        let ran = without_fixtures.run(command);
        assert!(!ran.err.contains("this is no project"), "{command:?}: {}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_told_and_never_taken_for_nothing() {
    let golden = "goldens/ours/a-denial-goes-to-people.snap";
    for (link, there) in [
        ("proposals/history", true),
        ("proposals", true),
        ("goldens/playbook.lock", true),
        ("goldens", true),
        ("fixtures/more", false),
        ("fixtures", true),
        ("playbooks/ours.yaml", true),
        ("playproof.yaml", true),
        (golden, true),
    ] {
        for target in ["nowhere", link.rsplit('/').next().expect("a name")] {
            let place = Place::begun();
            if there {
                std::fs::rename(place.path(link), place.path("aside")).expect("it moves");
            }
            std::os::unix::fs::symlink(target, place.path(link)).expect("a link");
            for command in [&["check"][..], &["check", "--accept"]] {
                let ran = place.run(command);
                let leads = match target {
                    "nowhere" => "is a symbolic link to `nowhere`, which does not exist",
                    _ => "too many levels of symbolic links",
                };
                let said = (ran.out.clone() + &ran.err).replace("\n  │ ", " ");
                let is_told = said.contains(leads) || said.contains("is a symbolic link: nothing");
                assert!(ran.code == 2 && is_told, "{link} to {target}: {ran:?}");
            }
        }
    }
    let place = Place::begun();
    std::os::unix::fs::symlink("nowhere", place.path("fixtures/.#lock")).expect("a link");
    place.run(&["check"]).exits(0);
    let place = Place::new();
    std::os::unix::fs::symlink("nowhere", place.path("playproof.yaml")).expect("a link");
    let ran = place.run(&["init"]).exits(2);
    assert!(ran.err.contains("it is a symbolic link to `nowhere`, which does not exist"), "{}", ran.err);
}

#[test]
fn a_check_does_not_pass_where_the_history_cannot_be_read() {
    let place = Place::begun();
    std::fs::rename(place.path("proposals/history"), place.path("aside")).expect("it moves");
    place.write("proposals/history", "");
    for command in [&["check"][..], &["history"], &["history", "verify"], &["accept", "--reason", "x"]] {
        let ran = place.run(command).exits(2);
        assert!(ran.err.contains("proposals/history"), "{command:?}: {}", ran.err);
    }
    place.remove("proposals/history");
    place.run(&["check"]).exits(0);
    place.write("proposals/history/0001-ours.yaml", "format: history/1\nx: [\n");
    place.run(&["check"]).exits(2);
}

#[test]
fn a_path_that_only_a_shell_could_read_is_refused_where_it_stands() {
    for key in ["playbook", "tools", "fixtures", "goldens", "proposals"] {
        for path in ["~/x.yaml", "~ann/x.yaml", "$HOME/x.yaml"] {
            let place = Place::new();
            place.write("playproof.yaml", &format!("format: project/1\n{key}: {path}\n"));
            for command in [&["check"][..], &["init"], &["accept", "--reason", "x"]] {
                let (code, said) = place.refused(command);
                let is_told = said.contains("playproof.yaml:2:") && said.contains(&format!("very name is `./{path}`"));
                assert!(code == 2 && is_told, "{key}: {path}: {said}");
            }
        }
    }
    let place = Place::begun();
    place.edit("playproof.yaml", "goldens: goldens", "goldens: ./~");
    place.run(&["check", "--accept"]);
    assert!(place.path("~").exists(), "a folder may be called so");
}
