//! An agent's host that makes 2,000 refunds, 32 at a time, under a playbook, while their service is stopped, killed and started
//! again, and while callers give up. Then it compares what the journal claims of each key with the ledger of the service.
//! `refunds PORT PLAYBOOK JOURNAL LEDGER`.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use playproof_live::{
    Attempt, Dispatcher, ErrorFacts, Failure, NewCall, OutcomeKind, Recorder, RequestKind, Span, plan_of,
};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const REFUNDS: u32 = 2_000;
const AT_ONCE: usize = 32;
const TOOL: &str = "payments.issue_refund";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, port, playbook, journal, ledger] = &arguments[..] else { panic!("refunds PORT PLAYBOOK JOURNAL LEDGER") };
    let text = std::fs::read_to_string(playbook).expect("the playbook");
    let plan = plan_of("dispatcher", &text, None).unwrap_or_else(|wrong| panic!("{wrong}"));
    let recorder = Recorder::durable(File::create(journal).expect("the journal"));
    let dispatcher = Dispatcher::new(plan, Some(recorder));
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let port: u16 = port.parse().expect("a port");
    let mut refunds = JoinSet::new();
    for n in 0..REFUNDS {
        let place = Arc::clone(&places).acquire_owned().await.expect("places");
        let dispatcher = dispatcher.clone();
        refunds.spawn(async move {
            let is_done = refund(&dispatcher, n, port).await;
            drop(place);
            is_done
        });
    }
    let done = refunds.join_all().await.into_iter().filter(|is_done| *is_done).count();
    assert_eq!((dispatcher.open_calls(), dispatcher.lost_lines()), (0, 0));
    println!("{done} of {REFUNDS} refunds have a receipt; the callers of the others gave up, or people have them");
    compare(journal, ledger)
}

/// Refunds an order; one caller in ten soon gives up.
async fn refund(dispatcher: &Dispatcher<String>, n: u32, port: u16) -> bool {
    for _ in 0..4 {
        let new = NewCall {
            run: format!("run {}", n / 10),
            tool: TOOL.to_owned(),
            args: format!("{{\"order\":\"o_{n}\",\"amount\":{}}}", n % 90 + 10),
            key: Some(format!("ik_{n:06}")),
            timeout: Some(Span::from_millis(1_000)),
            ..NewCall::default()
        };
        let call = dispatcher.call(new, |attempt| post(port, attempt));
        let ended = if n % 10 == 3 {
            let Ok(ended) = tokio::time::timeout(Duration::from_millis(u64::from(n % 40)), call).await else {
                return false;
            };
            ended
        } else {
            call.await
        };
        // Who is told that he may, or how long the circuit stays open, makes the call again.
        let is_refused = matches!(ended.outcome.kind, OutcomeKind::Refused(_));
        let Some(told) = ended.told.filter(|told| told.retriable || is_refused) else { return ended.value.is_some() };
        let wait = told.retry_after.map_or(1_000, Span::as_millis);
        tokio::time::sleep(Duration::from_millis(wait + 100)).await;
    }
    false
}

/// One request, in the HTTP of a few lines.
async fn post(port: u16, attempt: Attempt) -> Result<String, Failure> {
    if !matches!(attempt.asked, RequestKind::Attempt(_)) {
        return Err(Attempt::refused());
    }
    let failed = |kind: &str| Failure::from(ErrorFacts { kind: Some(kind.into()), ..ErrorFacts::default() });
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.map_err(|_| failed("not_sent"))?;
    let (key, body) = (attempt.key.unwrap_or_default(), attempt.args);
    let request = format!(
        "POST /refunds HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Idempotency-Key: {key}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut answer = String::new();
    let exchange = async {
        stream.write_all(request.as_bytes()).await?;
        stream.read_to_string(&mut answer).await
    };
    exchange.await.map_err(|_| failed("transient"))?;
    let status = answer.split_whitespace().nth(1).and_then(|status| status.parse().ok());
    match status {
        Some(200) => Ok(answer.rsplit("\r\n").next().unwrap_or_default().to_owned()),
        Some(429) => Err(failed("429_rate_limited")),
        Some(500..) => Err(failed("5xx")),
        Some(_) => Err(failed("invalid_arguments")),
        None => Err(failed("transient")), // the connection ended without an answer
    }
}

/// Compares what is claimed of each key with what was done.
fn compare(journal: &str, ledger: &str) -> ExitCode {
    let lines = |path: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    let mut effects: BTreeMap<String, u32> = BTreeMap::new();
    for line in lines(ledger) {
        *effects.entry(line["key"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    let (mut keys, mut claims, mut outcomes) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::<String, u32>::new());
    for line in lines(journal) {
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        match (&*text("type"), &*text("event")) {
            ("call", _) => drop(keys.insert(text("id"), text("key"))),
            ("decision", "outcome") => {
                let key = keys.get(&text("id")).cloned().unwrap_or_default();
                claims.entry(key).or_insert_with(Vec::new).push(text("effect"));
                *outcomes.entry(format!("{}, effect {}", text("outcome"), text("effect"))).or_default() += 1;
            }
            _ => {}
        }
    }
    println!("\nthe journal, {} calls:", outcomes.values().sum::<u32>());
    outcomes.iter().for_each(|(outcome, calls)| println!("  {calls:6} {outcome}"));
    let twice = effects.values().filter(|effects| **effects > 1).count();
    let contradicted = claims.iter().filter(|(key, claims)| {
        let is_there = effects.contains_key(*key);
        (claims.iter().any(|claim| claim == "applied") && !is_there)
            || (claims.iter().all(|claim| claim == "not_applied") && is_there)
    });
    let contradicted = contradicted.inspect(|(key, claims)| println!("  contradicted: {key}: {claims:?}")).count();
    println!("\nthe ledger: {} refunds, {twice} made twice, {contradicted} claims that it contradicts", effects.len());
    if twice + contradicted == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
