//! What a mapping loses is said wherever its lines are read, in the same words.

use super::Place;

const LOG: &str = r#"{"ev":"start","sess":"A","req":1,"svc":"refund","t":"2026-01-05T10:00:00Z"}
{"ev":"end","sess":"A","req":1,"t":"2026-01-05T10:00:05Z","err":"gateway timed out"}
{"ev":"heartbeat","sess":"A"}
"#;
const MAP: &str = "format: mapping/1
time: ms
call: { where: { ev: start }, run: sess, id: req, tool: svc, at: t }
result: { where: { ev: end }, run: sess, id: req, at: t, message: err }
failed: { err: { absent: false } }
";

#[test]
fn replay_says_of_a_mapped_log_what_import_says_of_it() {
    let place = Place::new();
    place.write("gw.log", LOG);
    place.write("times.yaml", MAP.replace("at: t", "at: ev"));
    place.write("typo.yaml", MAP.replace("time: ms", "time: iso").replace("ev: end", "ev: nd"));
    for (map, remarks) in [
        (
            "times.yaml",
            [
                "2 times that could not be read, left out (first at line 1: `ev` is `start`)",
                "1 row that is neither call nor result, left out (first at line 3)",
            ],
        ),
        (
            "typo.yaml",
            [
                "2 rows that are neither call nor result, left out (first at line 2)",
                "no row fits `result.where`, so no call has a result",
            ],
        ),
    ] {
        let imported = place.run(&["formats", "convert", "gw.log", "--map", map]);
        for remark in remarks {
            assert!(imported.err.contains(remark), "{remark}\n{}", imported.err);
        }
        for format in ["table", "markdown", "json", "jsonl"] {
            let run = place.run(&["replay", "gw.log", "--map", map, "--format", format]);
            for remark in remarks {
                let said = run.out.replace('\\', ""); // Markdown escapes
                assert!(said.contains(remark), "{format}: {remark}\n{}{}", run.out, run.err);
            }
        }
        let json: serde_json::Value =
            serde_json::from_str(&place.run(&["replay", "gw.log", "--map", map, "--format", "json"]).out)
                .expect("JSON");
        assert_eq!(json["inputs"][0]["odd_in_the_source"], serde_json::json!(remarks));
    }
}

#[test]
fn an_import_counts_the_results_that_find_no_call_because_no_id_is_mapped() {
    let place = Place::new();
    place.write("gw.log", LOG);
    place.write("noid.yaml", MAP.replace("id: req, ", "").replace("time: ms", "time: iso"));
    let run = place.run(&["formats", "convert", "gw.log", "--map", "noid.yaml"]);
    for said in [
        "1 call without a result",
        "- 1 result without a call, kept as an orphan\n",
        "- which call a result answers: the mapping names no `id`\n",
    ] {
        assert!(run.err.contains(said), "{said}\n{}", run.err);
    }
    let replayed = place.run(&["replay", "gw.log", "--map", "noid.yaml"]);
    assert!(replayed.out.contains("1 call without a result, 1 orphan result"), "{}", replayed.out);
}

#[test]
fn import_and_replay_refuse_a_row_that_is_too_deep_at_its_place_in_the_log_or_skip_it() {
    let place = Place::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    place.write("gw.log", format!("{LOG}{{\"ev\":\"start\",\"svc\":\"pay\",\"a\":{deep}}}\n"));
    place.write("m.yaml", MAP.replace("time: ms", "time: iso").replace("at: t }\nresult", "args: a }\nresult"));
    for command in [&["formats", "convert"][..], &["replay"]] {
        let run = place.run(&[command, &["gw.log", "--map", "m.yaml"]].concat());
        assert_eq!((run.code, run.err.contains("gw.log:4:1")), (2, true), "{}", run.err);
        assert!(!run.err.contains("tool_call"), "{}", run.err);
        let skipped = place.run(&[command, &["gw.log", "--map", "m.yaml", "--skip-invalid"]].concat());
        let said = "1 row too large for a trace, left out (first at line 4)";
        assert!(skipped.code == 0 && (skipped.out + &skipped.err).contains(said), "{command:?}");
    }
}

/// Recordings from 16 MiB on are read by lines, through a temporary file.
#[test]
#[cfg(unix)]
fn a_long_log_is_replayed_as_from_standard_input_and_leaves_no_temporary_file() {
    let place = Place::new();
    let padding = "p".repeat(900_000);
    let call =
        |n: usize| LOG.replace("\"A\"", &format!("\"A{n}\"")).replace("\"t\":", &format!("\"x\":\"{padding}\",\"t\":"));
    let log: String = (0..10).map(call).collect();
    assert!(log.len() > 16 << 20);
    place.write("gw.log", &log);
    place.write("times.yaml", MAP.replace("time: ms", "time: iso"));
    place.write("temporary/.keep", "");
    let args = |name| ["replay", name, "--map", "times.yaml", "--format", "json", "--all"];
    let whole = place.run_with(&args("-"), &log);
    let before = place.files();
    let long = run_with_temporary(&place, &place.path().join("temporary"), &args("gw.log"));
    assert_eq!(long.out, whole.out.replace("<stdin>", "gw.log"));
    assert!(long.out.contains("gateway timed out") && place.files() == before, "{}", long.err);
    let nowhere = run_with_temporary(&place, &place.path().join("nowhere"), &args("gw.log"));
    assert_eq!(nowhere.out, long.out, "it is read as a whole where no temporary file can be written");
}

fn run_with_temporary(place: &Place, folder: &std::path::Path, args: &[&str]) -> crate::place::Ran {
    crate::place::ran(place.command().env("TMPDIR", folder).args(args))
}
