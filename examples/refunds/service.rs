//! A service that refunds orders, over HTTP. It honours idempotency keys, and has a line in its ledger for each refund, written
//! before it answers. `service PORT LEDGER`.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::{Value, json};

/// The refunds that were made.
struct Ledger {
    keys: BTreeSet<String>,
    file: File,
    requests: u64,
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, port, path] = &arguments[..] else { panic!("service PORT LEDGER") };
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let keys = lines.filter_map(|line| Some(line["key"].as_str()?.to_owned())).collect();
    let file = OpenOptions::new().append(true).create(true).open(path).expect("the ledger");
    let ledger = Arc::new(Mutex::new(Ledger { keys, file, requests: 0 }));
    let service = Router::new().route("/refunds", post(refund)).with_state(ledger);
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.expect("the port");
    axum::serve(listener, service).await.expect("the service");
}

/// Refunds an order once for each key. Some requests are refused, some take their time before or after the refund.
async fn refund(
    State(ledger): State<Arc<Mutex<Ledger>>>,
    headers: HeaderMap,
    Json(order): Json<Value>,
) -> (StatusCode, Json<Value>) {
    let Some(key) = headers.get("idempotency-key").and_then(|key| key.to_str().ok()) else {
        return (StatusCode::BAD_REQUEST, Json(json!({"error": "no idempotency key"})));
    };
    let number = {
        let mut ledger = ledger.lock().expect("no panic");
        ledger.requests += 1;
        ledger.requests
    };
    tokio::time::sleep(Duration::from_millis(number % 7 * 3)).await;
    match number % 900 {
        7 => return (StatusCode::TOO_MANY_REQUESTS, Json(json!({"error": "later"}))),
        190 => return (StatusCode::SERVICE_UNAVAILABLE, Json(json!({"error": "busy"}))),
        _ => {}
    }
    {
        let mut ledger = ledger.lock().expect("no panic");
        if ledger.keys.insert(key.to_owned()) {
            let line = json!({"key": key, "order": order["order"], "amount": order["amount"]});
            writeln!(ledger.file, "{line}").expect("the ledger is written");
        }
    }
    tokio::time::sleep(Duration::from_millis(number % 5 * 3)).await;
    (StatusCode::OK, Json(json!({"receipt": format!("receipt of {key}")})))
}
