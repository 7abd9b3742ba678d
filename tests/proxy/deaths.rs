//! Deaths: the proxy, its server or its client dies at a random moment. No process is left, and no claim contradicts the ledger.
//!
//! `PLAYPROOF_DEATHS=200 cargo test --test all proxy::deaths` tries more.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::proxy::process::{Proxied, call, has_python, place, recorded, until};

fn is_alive(pid: &str) -> bool {
    Command::new("kill")
        .args(["-0", pid])
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[test]
fn a_death_leaves_no_process_and_no_claim_that_the_ledger_contradicts() {
    if !has_python() {
        return;
    }
    let deaths = std::env::var("PLAYPROOF_DEATHS").ok().and_then(|said| said.parse().ok()).unwrap_or(20);
    let mut heard_of = [0; 3];
    for death in 0..deaths {
        let place = place();
        let args = ["--record", "rec", "--playbook", "standard", "--enforce", "--unlocked"];
        let server = "echo $$ >pid; exec python3 -u server.py";
        let mut proxied = Proxied::before(&place, &args, &["sh", "-c", server]);
        until("the server starts", || place.path("pid").exists() && place.read("pid").ends_with('\n'));
        for id in 0..6_u32 {
            let (name, wait) = (format!("e{id}"), f64::from(id) * 0.01);
            let steps = match id % 3 {
                0 => json!([[{"sleep": wait}, {"effect": name}, {"result": {"content": []}}]]),
                1 => {
                    json!([[{"result": {"isError": true, "content": [{"type": "text", "text": "429 Too Many Requests: retry after 0.02 s"}]}}],
                    [{"sleep": wait}, {"effect": name}, {"result": {"content": []}}]])
                }
                _ => {
                    json!([[{"effect": name}, {"sleep": wait}, {"error": {"code": -1, "message": "502 Bad Gateway"}}]])
                }
            };
            assert!(proxied.say(&call(id, "pay", &json!({"do": steps, "id": id}))));
        }
        // A Python needs some 50 ms before it reads.
        std::thread::sleep(Duration::from_millis(30 + death * 37 % 140));
        let pid = place.read("pid").trim().to_owned();
        let victim = match death % 3 {
            0 => proxied.child.id().to_string(),
            1 => pid.clone(),
            _ => String::new(), // the client: its ends of the pipes close
        };
        if !victim.is_empty() {
            let _ = Command::new("kill").args(["-9", &victim]).status();
        }
        let (rest, _, _) = proxied.end();
        until("the server ends with the proxy", || !is_alive(&pid));
        let ledger = if place.path("ledger").exists() { place.read("ledger") } else { String::new() };
        let effects: Vec<&str> = ledger.lines().collect();
        assert_eq!(effects.iter().collect::<BTreeSet<_>>().len(), effects.len(), "one effect at most: {effects:?}");
        for answer in rest.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let effect = format!("e{}", answer["id"]);
            let is_applied = effects.contains(&&*effect);
            let claim = answer["result"]["_meta"]["playproof/outcome"]["effect"].as_str().unwrap_or("-");
            match claim {
                "applied" => assert!(is_applied, "{answer}"),
                "not_applied" => assert!(!is_applied, "{answer}"),
                _ => {}
            }
            if answer["error"].is_null() && answer["result"]["isError"] != json!(true) {
                assert!(is_applied, "{answer}");
            }
            heard_of[usize::try_from(death % 3).unwrap_or_default()] += 1;
        }
        place.run(&["replay", &recorded(&place), "--playbook", "standard", "--same-decisions", "--allow-skipped", "1"]);
    }
    assert!(heard_of[1] > 0, "no answer came before a server died: {heard_of:?}");
}
