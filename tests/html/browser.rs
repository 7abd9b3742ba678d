//! Pages in a real browser, where the machine has one (Chromium): nothing is asked for, nothing is said on its console,
//! nothing overflows, and injected markup is text. Without a browser the test says so and passes.

#![cfg(unix)]

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::{COMMANDS, HOSTILE, page, place};
use crate::place::Place;

/// Names under which the browser is installed.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// How long the browser may take for one answer.
const LONGEST: Duration = Duration::from_secs(60);

/// What is wrong with the page that is open: what is wider than the window, short words in cells that are cut into lines,
/// scripts, images, and what markup ran.
const EXAMINE: &str = "(() => {
    const width = document.documentElement.clientWidth;
    const wide = [...document.querySelectorAll('body *')].filter(e => !e.closest('svg') && !e.closest('.scroll')
        && e.getBoundingClientRect().right > width + 1).map(e => e.outerHTML.slice(0, 200));
    const lines = e => { const r = document.createRange(); r.selectNodeContents(e);
        return new Set([...r.getClientRects()].map(b => Math.round(b.top))).size; };
    const cut = [...document.querySelectorAll('th, td')].filter(e => /^\\w{2,6}$/.test(e.textContent) && lines(e) > 1)
        .map(e => e.outerHTML.slice(0, 200));
    const foreign = [...document.querySelectorAll('script, img, iframe, object, embed, link, base, form')];
    return JSON.stringify({ wide, cut, scroll: document.documentElement.scrollWidth - width, foreign: foreign.length,
        back: getComputedStyle(document.body).backgroundColor, title: document.title.length > 0 });
})()";

#[test]
fn pages_open_in_a_browser_without_requests_messages_and_overflow() {
    let Some(program) = browser() else {
        println!("no browser is installed ({}): the pages were not opened", BROWSERS.join(", "));
        return;
    };
    let (plain, hostile) = (place(60, "plain"), place(30, HOSTILE));
    let mut browser = Browser::start(&program, &plain);
    for (place, kind) in [(&plain, "plain"), (&hostile, "hostile")] {
        for (name, args) in COMMANDS {
            page(place, name, &[args, if name == "replay" { &["--show-args"] } else { &[] }].concat());
            for (width, scheme) in [(400, "light"), (400, "dark"), (1_200, "light"), (1_200, "dark")] {
                let seen = browser.open(&place.path(&format!("{name}.html")), width, scheme);
                let about = format!("{kind} {name} at {width}, {scheme}: {seen:?}");
                assert_eq!((seen.requests, seen.messages.len()), (1, 0), "{about}");
                let none = &json!([]);
                assert_eq!((&seen.found["wide"], &seen.found["cut"]), (none, none), "{about}");
                assert_eq!(seen.found["foreign"], 0, "{about}");
                assert!(seen.found["scroll"].as_i64().is_some_and(|more| more <= 0), "{about}");
                let back = if scheme == "light" { "rgb(255, 255, 255)" } else { "rgb(18, 22, 29)" };
                assert_eq!(seen.found["back"], back, "the style sheet counts: {about}");
            }
        }
    }
}

fn browser() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let all = std::env::split_paths(&paths).flat_map(|folder| BROWSERS.map(|name| folder.join(name)));
    let mut found = all.filter(|path| path.is_file());
    found.next()
}

/// A browser that is told what to do through a pipe.
struct Browser {
    process: Child,
    to: File,
    from: Receiver<Value>,
    /// The tab.
    session: String,
    /// The number of the last request.
    last: u64,
    /// What the browser said of itself since the page was opened.
    events: Vec<Value>,
}

/// What became of a page.
#[derive(Debug)]
struct Seen {
    requests: usize,
    messages: Vec<Value>,
    found: Value,
}

impl Browser {
    fn start(program: &Path, place: &Place) -> Browser {
        let [to, from] = ["browser.in", "browser.out"].map(|name| place.path(name));
        let made = Command::new("mkfifo").args([&to, &from]).status().expect("mkfifo");
        assert!(made.success());
        let flags =
            "--headless --no-sandbox --disable-gpu --no-first-run --disable-dev-shm-usage --remote-debugging-pipe";
        let command = format!("exec \"$0\" {flags} --user-data-dir=\"$3\" about:blank 3<\"$1\" 4>\"$2\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).arg(program).args([&to, &from, &place.path("browser.profile")]);
        let process = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the browser starts");
        let to = OpenOptions::new().write(true).open(to).expect("the pipe to the browser");
        let out = File::open(from).expect("the pipe from the browser");
        let (send, from) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(out).split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { break };
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        let mut browser = Browser { process, to, from, session: String::new(), last: 0, events: Vec::new() };
        let target = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.ask("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Network", "Log", "Runtime"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Opens a page in a window of a width and a colour scheme, and examines it.
    fn open(&mut self, page: &Path, width: u32, scheme: &str) -> Seen {
        let window = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", &window);
        let scheme = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", &scheme);
        self.events.clear();
        let went = self.ask("Page.navigate", &json!({ "url": format!("file://{}", page.display()) }));
        assert!(went["errorText"].is_null(), "{went}");
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            self.hear();
        }
        let found = self.ask("Runtime.evaluate", &json!({ "expression": EXAMINE, "returnByValue": true }));
        let found = found["result"]["value"].as_str().expect("what was found");
        let of = |methods: &[&str]| {
            let is_one = |event: &&Value| methods.iter().any(|method| event["method"] == *method);
            self.events.iter().filter(is_one).cloned().collect::<Vec<_>>()
        };
        Seen {
            requests: of(&["Network.requestWillBeSent"]).len(),
            messages: of(&[
                "Log.entryAdded",
                "Runtime.consoleAPICalled",
                "Runtime.exceptionThrown",
                "Page.javascriptDialogOpening",
            ]),
            found: serde_json::from_str(found).expect("JSON"),
        }
    }

    /// Asks for something, and waits for the answer.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        loop {
            let heard = self.hear();
            if heard["id"] == self.last {
                assert!(heard["error"].is_null(), "{method}: {heard}");
                return heard["result"].clone();
            }
        }
    }

    /// Waits for the next message; events are kept.
    fn hear(&mut self) -> Value {
        let heard = self.from.recv_timeout(LONGEST).expect("the browser answers");
        if heard["method"].is_string() {
            self.events.push(heard.clone());
        }
        heard
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
