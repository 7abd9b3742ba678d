//! Setting up a project in a folder that is a map: which files are planned, kept and refused; what recordings give.

use std::collections::BTreeMap;
use std::sync::Arc;

use playproof_analysis::setup::*;
use playproof_engine::playbook::Tools;
use playproof_formats::diagnostic::Source;
use playproof_formats::golden::Lock;
use playproof_intake::assemble::{AssembleOptions, Assembler};
use playproof_intake::digest::read_piece;
use playproof_intake::pieces::Chunks;
use playproof_intake::redact::RedactionRules;

/// A folder with these files; a path that ends in `/` is a folder.
struct Files {
    there: BTreeMap<&'static str, String>,
    settings: Settings,
    has_history: bool,
    has_goldens: bool,
    below: Option<&'static str>,
}

fn folder(there: &[(&'static str, &str)]) -> Files {
    let there = there.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
    Files { there, settings: Settings::None, has_history: false, has_goldens: false, below: None }
}

impl ProjectFolder for Files {
    type Error = String;

    fn file(&self, path: &str) -> Result<Option<Arc<Source>>, String> {
        match self.there.contains_key(format!("{path}/").as_str()) {
            true => Err(format!("{path} is a folder")),
            false => Ok(self.there.get(path).map(|text| Source::whole(path, text.as_str()))),
        }
    }

    fn refuse_other_fixtures(&self) -> Result<(), String> {
        if self.there.contains_key("fixtures/other.yaml") { Err("another's fixture".to_owned()) } else { Ok(()) }
    }

    fn tools(&self) -> Result<Tools, String> {
        Ok(Tools::default())
    }

    fn has_goldens(&self) -> Result<bool, String> {
        Ok(self.has_goldens)
    }

    fn has_history(&self) -> Result<bool, String> {
        Ok(self.has_history)
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn names_tools(&self, path: &str) -> bool {
        self.there.get("playproof.yaml").is_some_and(|text| text.contains(path))
    }

    fn below_repository(&self) -> Option<String> {
        self.below.map(str::to_owned)
    }
}

fn planned(folder: &Files, recordings: &Recordings) -> ProjectFiles {
    let tools = recordings.tools(&["t.jsonl".to_owned()]);
    plan(folder, recordings, tools).unwrap_or_else(|why| panic!("{why:?}"))
}

fn refused(folder: &Files) -> NoPlan<String> {
    plan(folder, &Recordings::default(), None).expect_err("it is refused")
}

/// The paths of all files, those that are kept with a mark.
fn paths(planned: &ProjectFiles) -> Vec<String> {
    planned.files.iter().map(|file| format!("{}{}", if file.kept { "kept " } else { "" }, file.path)).collect()
}

fn file(planned: &ProjectFiles, purpose: Purpose) -> &ProjectFile {
    planned.files.iter().find(|file| file.purpose == purpose).unwrap_or_else(|| panic!("{purpose:?}"))
}

/// What `trace` shows, read as `t.jsonl` under these rules.
fn recorded(trace: &str, redaction: &RedactionRules) -> Recordings {
    let mut recordings = Recordings::default();
    let path = "traces/t.jsonl".to_owned();
    let mut recording =
        RecordingSummary { path, mapping: None, is_given: false, calls: 0, failed: 0, unknown_fields: 0 };
    let mut assembler = Assembler::new(0, "t", AssembleOptions::default(), &|_| true);
    let (mut closed, mut chunks) = (Vec::new(), Chunks::new(trace.as_bytes()));
    while let Some(piece) = chunks.next(Vec::new()).unwrap() {
        assembler.take(read_piece(&piece, redaction), &mut closed).unwrap();
    }
    assembler.finish(&mut closed);
    for mut call in closed {
        redaction.show(&mut call);
        recordings.on_call(&mut recording, &call);
    }
    recordings.inputs.push(recording);
    recordings
}

fn failure(run: &str, tool: &str, error: &str) -> String {
    format!(
        "{{\"type\":\"tool_call\",\"run_id\":\"{run}\",\"call_id\":\"c\",\"tool\":\"{tool}\",\"args\":{{\"order\":\"o-77\"}}}}\n\
         {{\"type\":\"tool_result\",\"run_id\":\"{run}\",\"call_id\":\"c\",\"attempt\":1,\"status\":\"error\",\"error\":{error}}}\n"
    )
}

const DENIED: &str = r#"{"kind":"403_forbidden","message":"not for you"}"#;
const STRANGE: &str = r#"{"kind":"strange","message":"hm"}"#;

#[test]
fn an_empty_folder_gets_every_file_and_nothing_is_left_to_do() {
    let planned = planned(&folder(&[]), &Recordings::default());
    assert_eq!(
        paths(&planned),
        [
            "playproof.yaml",
            "playbooks/ours.yaml",
            "fixtures/a-keyed-refund-meets-its-own-effect.yaml",
            "fixtures/an-unkeyed-refund-is-not-sent-twice.yaml",
            "fixtures/a-denial-goes-to-people.yaml",
            "goldens/ours/a-keyed-refund-meets-its-own-effect.snap",
            "goldens/ours/an-unkeyed-refund-is-not-sent-twice.snap",
            "goldens/ours/a-denial-goes-to-people.snap",
            "goldens/playbook.lock",
            "proposals/history/0001-ours-the-beginning-462402.yaml",
            "goldens/.gitattributes",
            "goldens/.gitignore",
            ".github/workflows/playproof.yml",
        ]
    );
    assert_eq!(planned.by_hand, []);
    assert!(planned.is_whole);
}

#[test]
fn what_is_there_is_kept_and_the_lock_approves_the_playbook_that_is_kept() {
    let begun = planned(&folder(&[]), &Recordings::default());
    let own = file(&begun, Purpose::Playbook).source.text.replace("max_attempts: 6", "max_attempts: 3");
    let planned = planned(&folder(&[("playbooks/ours.yaml", &own)]), &Recordings::default());
    let kept: Vec<String> = paths(&planned).into_iter().filter(|path| path.starts_with("kept")).collect();
    assert_eq!(kept, ["kept playbooks/ours.yaml"]);
    let lock = Lock::parse(Arc::clone(&file(&planned, Purpose::Lock).source)).unwrap();
    assert_eq!(lock.playbooks["ours"].rows["limit max_attempts"].text, "3");
}

#[test]
fn a_lock_or_a_history_that_is_there_is_not_explained_anew() {
    let with_lock = planned(&folder(&[("goldens/playbook.lock", "")]), &Recordings::default());
    let with_history = planned(&Files { has_history: true, ..folder(&[]) }, &Recordings::default());
    let with_goldens = planned(&Files { has_goldens: true, ..folder(&[]) }, &Recordings::default());
    for (planned, was_accepted, has_history) in
        [(with_lock, false, false), (with_history, true, true), (with_goldens, true, false)]
    {
        let is_planned = |purpose| planned.files.iter().any(|file| file.purpose == purpose);
        assert!(!is_planned(Purpose::History));
        assert_eq!((is_planned(Purpose::Golden), is_planned(Purpose::Lock)), (!was_accepted, !was_accepted));
        let verifies = file(&planned, Purpose::Workflow).source.text.contains("history verify");
        assert_eq!(verifies, has_history);
    }
}

#[test]
fn a_project_that_lies_elsewhere_gets_neither_playbook_nor_goldens() {
    let settings = Settings::Elsewhere;
    let folder = Files { settings, ..folder(&[("playproof.yaml", "playbook: mine.yaml")]) };
    let planned = planned(&folder, &recorded(&failure("r", "pay", DENIED), &RedactionRules::default()));
    assert_eq!(paths(&planned), ["kept playproof.yaml", "tools/t.yaml", ".github/workflows/playproof.yml"]);
    assert_eq!(planned.by_hand, [ByHand::NameTools("tools/t.yaml".into()), ByHand::OwnLayout]);
    assert!(!planned.is_whole);
}

#[test]
fn a_project_below_its_repository_is_told_to_move_its_workflow() {
    let planned = planned(&Files { below: Some("agents"), ..folder(&[]) }, &Recordings::default());
    assert!(planned.by_hand.contains(&ByHand::MoveWorkflow(".github/workflows/playproof.yml".into())));
    assert!(file(&planned, Purpose::Workflow).source.text.contains("working-directory: \"agents\""));
}

#[test]
fn what_is_in_the_way_and_what_is_wrong_in_kept_files_is_refused() {
    let refused = |files: &[(&'static str, &str)]| refused(&folder(files));
    assert!(matches!(refused(&[("playbooks/ours.yaml/", "")]), NoPlan::Folder(why) if why.contains("ours.yaml")));
    assert!(matches!(refused(&[("fixtures/other.yaml", "")]), NoPlan::Folder(_)));
    assert!(matches!(refused(&[("playbooks/ours.yaml", "a: b")]), NoPlan::Playbook(_)));
    let fixture = "fixtures/an-unkeyed-refund-is-not-sent-twice.yaml";
    assert!(matches!(refused(&[(fixture, "a: b")]), NoPlan::File(_)));
}

#[test]
fn a_failure_that_a_rule_knows_becomes_a_fixture_without_its_arguments() {
    let trace = [failure("r1", "pay", STRANGE), failure("r2", "pay", DENIED)].concat();
    let planned = planned(&folder(&[]), &recorded(&trace, &RedactionRules::default()));
    let own = file(&planned, Purpose::OwnFailure);
    assert_eq!(own.path, "fixtures/pay-meets-policy-denied.yaml");
    assert!(own.source.text.contains("not for you") && !own.source.text.contains("o-77"), "{}", own.source.text);
    let strange = recorded(&failure("r1", "pay", STRANGE), &RedactionRules::default());
    let planned = plan(&folder(&[]), &strange, None).unwrap();
    assert_eq!(file(&planned, Purpose::Denial).path, "fixtures/a-denial-goes-to-people.yaml");
}

#[test]
fn calls_and_failures_are_counted_and_tools_are_named_after_the_first_recording() {
    let ok = r#"{"run_id":"r3","tool":"pay","status":"ok"}"#;
    let recordings = recorded(&format!("{}{ok}\n", failure("r1", "pay", DENIED)), &RedactionRules::default());
    let [read] = recordings.inputs.as_slice() else { panic!("{:?}", recordings.inputs) };
    assert_eq!((read.calls, read.failed), (2, 1));
    let (path, text) = recordings.tools(&["traces/t.jsonl".to_owned()]).unwrap();
    assert_eq!(path, "tools/t.yaml");
    assert!(text.contains("pay"), "{text}");
}

#[test]
fn two_logs_of_one_shape_share_a_mapping_and_others_get_one_of_another_name() {
    let (mut recordings, redaction) = (Recordings::default(), RedactionRules::default());
    let mut import = |path: &str, text: &str| recordings.import(path, path, text.as_bytes(), &redaction);
    let one = r#"{"tool_name":"pay","id":"a1","success":false,"error_message":"boom"}"#;
    let other = r#"{"function":"pay","call":"a1","state":"failed","reason":"boom"}"#;
    assert_eq!(import("a/log.txt", one).unwrap().1, "mappings/log.yaml");
    assert_eq!(import("b/log.txt", one).unwrap().1, "mappings/log.yaml");
    match import("c/log.txt", other) {
        Ok((_, mapping)) => assert_eq!(mapping, "mappings/log-2.yaml"),
        Err(why) => panic!("{why:?}"),
    }
    assert!(matches!(import("d", r#"{"a":1}"#), Err(NoMapping::Unmapped(_))));
    assert!(matches!(import("d", "not json"), Err(NoMapping::Unreadable(_))));
}

#[test]
fn a_mapping_that_would_say_what_is_redacted_is_not_drafted() {
    let redaction = RedactionRules::new(&[], &["tool_name".to_owned()]).unwrap();
    let one = r#"{"tool_name":"pay","id":"a1","status":"error","error_message":"no"}
{"tool_name":"pay","id":"a2","status":"ok","error_message":null}"#;
    let said = Recordings::default().import("a", "a", one.as_bytes(), &redaction);
    assert!(matches!(said, Err(NoMapping::Redacted)), "{:?}", said.map(|(_, file)| file));
}
