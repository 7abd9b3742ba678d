//! Deaths: the process, its driver, or both die at random moments. The upstream's ledger counts effects; nothing is sent
//! twice, no claim contradicts the ledger, and every end that was heard is found again. A journal that is written after the
//! answer is found out.
//!
//! `PLAYPROOF_DEATHS=1000 cargo test --test all deaths` tries more.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::place::Place;
use crate::serve::process::{HELLO, Serving};

const ARGS: [&str; 5] = ["--playbook", "standard", "--unlocked", "--journal", "calls.jsonl"];

/// Deaths that are tried, unless the environment says more.
const DEATHS: usize = 100;

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// The upstream: it honours keys, and remembers who acted.
#[derive(Default)]
struct Upstream {
    effects: BTreeMap<String, u32>,
    requests: BTreeMap<(String, u64), u32>,
}

impl Upstream {
    /// A request: it acts, or not; what its driver would hear.
    fn answer(&mut self, call: &Value, attempt: u64, random: &mut Random) -> Value {
        let id = call["id"].as_str().unwrap_or_default().to_owned();
        *self.requests.entry((id.clone(), attempt)).or_default() += 1;
        let luck = random.below(10);
        if luck == 0 {
            return json!({"error": {"kind": "429_rate_limited", "status": 429}});
        }
        let effects = self.effects.entry(id).or_default();
        *effects = if call["key"].is_string() { 1 } else { *effects + 1 };
        match luck {
            1 | 2 => json!({"timeout": true}),
            3 => json!({"error": {"kind": "connection_reset"}}),
            _ => json!({"ok": true}),
        }
    }
}

/// A driver with its memory.
#[derive(Default)]
struct Driver {
    calls: BTreeMap<String, Value>,
    /// Requests that are wanted and not made.
    wanted: Vec<(String, u64)>,
    /// What was made, and its answer line once it came.
    made: BTreeMap<(String, u64), Option<Value>>,
    waits: Vec<(String, u64)>,
    ended: BTreeSet<String>,
}

impl Driver {
    fn take(&mut self, answer: &Value, heard: &mut BTreeMap<String, Value>) {
        for want in answer["do"].as_array().into_iter().flatten() {
            self.want(want, heard);
        }
    }

    fn want(&mut self, want: &Value, heard: &mut BTreeMap<String, Value>) {
        let text = |key: &str| want[key].as_str().map(str::to_owned);
        if let (Some(id), Some(attempt)) = (text("send"), want["attempt"].as_u64()) {
            if !self.made.contains_key(&(id.clone(), attempt)) && !self.wanted.contains(&(id.clone(), attempt)) {
                self.wanted.push((id, attempt));
            }
        } else if let (Some(id), Some(until)) = (text("wait"), want["until_ms"].as_u64()) {
            self.waits.push((id, until));
        } else if let Some(id) = text("done") {
            let end = json!([want["outcome"], want["effect"], want["attempts"]]);
            let known = heard.entry(id.clone()).or_insert_with(|| end.clone());
            assert_eq!(*known, end, "{id} ended twice, and otherwise");
            self.ended.insert(id);
        }
    }

    /// What it says to a process that begins: nothing is made again.
    fn says_to(&mut self, hello: &Value, heard: &mut BTreeMap<String, Value>) -> Vec<Value> {
        self.waits.clear();
        let mut says = Vec::new();
        for end in hello["ended"].as_array().expect("ends") {
            self.want(end, heard);
        }
        let mut known: BTreeSet<String> = self.ended.clone();
        for open in hello["open"].as_array().expect("calls") {
            let id = open["id"].as_str().expect("an id").to_owned();
            known.insert(id.clone());
            let is_own = self.calls.contains_key(&id);
            for want in open["do"].as_array().expect("wants") {
                let made = want["attempt"].as_u64().and_then(|attempt| self.made.get(&(id.clone(), attempt)));
                match (is_own, made, want["attempt"].as_u64()) {
                    (true, Some(Some(answer)), _) => says.push(answer.clone()),
                    (true, ..) => self.want(want, heard),
                    (false, _, Some(attempt)) => says.push(
                        json!({"type": "answer", "id": id, "attempt": attempt, "error": {"kind": "interrupted"}}),
                    ),
                    (false, _, None) => says.push(json!({"type": "cancel", "id": id})),
                }
            }
        }
        says.extend(self.calls.iter().filter(|(id, _)| !known.contains(*id)).map(|(_, call)| call.clone()));
        says
    }
}

/// Everything that is not killed.
struct World {
    place: Place,
    upstream: Upstream,
    random: Random,
    now: u64,
    heard: BTreeMap<String, Value>,
    /// Those of the process, of its driver, and of both.
    deaths: [usize; 3],
    journal: Journal,
}

/// When a journal has a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Journal {
    /// Before its answer.
    First,
    /// After its answer, which is a bug: the last line is lost with its process.
    Late,
}

impl World {
    /// Says a line, unless the process dies with it; then a new one begins.
    fn say(&mut self, process: &mut Serving, driver: &mut Driver, line: &Value) {
        let mut line = line.clone();
        line["at_ms"] = self.now.into();
        if self.random.below(8) == 0 {
            process.write(&line.to_string());
            if self.random.below(2) == 0 {
                std::thread::sleep(std::time::Duration::from_micros(self.random.below(3_000)));
            }
            return self.die(process, driver);
        }
        match process.say(&line.to_string()) {
            Some(answer) => driver.take(&answer, &mut self.heard),
            None => self.die(process, driver),
        }
    }

    /// The process dies, or its driver, or both. Without its driver, the process ends by itself.
    fn die(&mut self, process: &mut Serving, driver: &mut Driver) {
        let who = usize::try_from(self.random.below(3)).expect("one of three");
        self.deaths[who] += 1;
        match who {
            1 => assert_eq!(process.end(), Some(0), "its driver has died"),
            _ => process.kill(),
        }
        if self.journal == Journal::Late {
            self.lose_a_line();
        }
        *process = Serving::start(&self.place, &ARGS);
        let hello = process.say(HELLO).expect("it goes on");
        self.now = self.now.max(hello["at_ms"].as_u64().expect("a moment") + 1);
        if who > 0 {
            *driver = Driver::default();
        }
        for line in driver.says_to(&hello, &mut self.heard) {
            self.say(process, driver, &line);
        }
    }

    /// The last line of the driver is lost, with what follows from it.
    fn lose_a_line(&self) {
        let Some(journal) = self.place.files().remove("calls.jsonl") else { return };
        let journal = String::from_utf8(journal).expect("lines of text");
        let is_said = |line: &&str| {
            ["call", "answer", "wake", "cancel"].iter().any(|kind| line.contains(&format!("\"type\":\"{kind}\"")))
        };
        if let Some(last) = journal.lines().rfind(is_said) {
            let at = journal.rfind(last).expect("it is there");
            self.place.write("calls.jsonl", &journal[..at]);
        }
    }

    /// One thing happens; false: nothing is left.
    fn step(&mut self, process: &mut Serving, driver: &mut Driver) -> bool {
        self.now += self.random.below(40);
        if !driver.wanted.is_empty() {
            let place = usize::try_from(self.random.below(driver.wanted.len() as u64)).expect("a place");
            let request = driver.wanted.remove(place);
            let Some(call) = driver.calls.get(&request.0) else { return true };
            let came = self.upstream.answer(call, request.1, &mut self.random);
            driver.made.insert(request.clone(), None);
            if self.random.below(6) == 0 {
                self.die(process, driver); // it has acted, and its driver does not know yet
            }
            if !driver.made.contains_key(&request) {
                return true; // nor ever will
            }
            let mut answer = json!({"type": "answer", "id": request.0, "attempt": request.1});
            answer.as_object_mut().expect("an object").extend(came.as_object().expect("an object").clone());
            driver.made.insert(request, Some(answer.clone()));
            self.say(process, driver, &answer);
            return true;
        }
        match driver.waits.pop() {
            Some((id, until)) => {
                self.now = self.now.max(until);
                self.say(process, driver, &json!({"type": "wake", "id": id}));
                true
            }
            None => false,
        }
    }
}

/// Calls that run until all have ended; the deaths on the way, of each kind.
fn story(seed: u64, journal: Journal) -> [usize; 3] {
    let (place, random) = (Place::new(), Random(seed));
    let mut process = Serving::start(&place, &ARGS);
    let (upstream, heard) = (Upstream::default(), BTreeMap::new());
    let mut world = World { place, upstream, random, now: 0, heard, deaths: [0; 3], journal };
    let mut driver = Driver::default();
    let mut all = BTreeSet::new();
    for number in 0..6 {
        let id = format!("{seed}-{number}");
        let mut call = json!({"type": "call", "id": id, "run": "r", "tool": "pay", "args": {"n": number}});
        if number % 2 == 0 {
            call["key"] = format!("ik_{id}").into();
        }
        all.insert(id.clone());
        driver.calls.insert(id, call.clone());
        world.say(&mut process, &mut driver, &call);
        for _ in 0..world.random.below(3) {
            world.step(&mut process, &mut driver);
        }
    }
    for _ in 0..1_000 {
        if !world.step(&mut process, &mut driver) {
            break;
        }
    }
    process.kill();
    let hello = Serving::start(&world.place, &ARGS).say(HELLO).expect("it goes on");
    assert_eq!(hello["open"], json!([]), "seed {seed}: every call ends");
    let found: BTreeMap<&str, &Value> = hello["ended"]
        .as_array()
        .expect("ends")
        .iter()
        .map(|end| (end["done"].as_str().expect("an id"), end))
        .collect();
    for (id, end) in &world.heard {
        let again = found.get(id.as_str()).map(|end| json!([end["outcome"], end["effect"], end["attempts"]]));
        assert_eq!(again.as_ref(), Some(end), "seed {seed}: an end that was heard is found again");
    }
    for ((id, attempt), times) in &world.upstream.requests {
        assert_eq!(*times, 1, "seed {seed}: attempt {attempt} of {id} was sent {times} times");
    }
    for id in all {
        let effects = world.upstream.effects.get(&id).copied().unwrap_or_default();
        assert!(effects <= 1, "seed {seed}: {id} has {effects} effects");
        match found.get(id.as_str()).map(|end| end["effect"].as_str().expect("a claim")) {
            Some("applied") => assert_eq!(effects, 1, "seed {seed}: {id} claims its effect"),
            Some("not_applied") => assert_eq!(effects, 0, "seed {seed}: {id} claims none"),
            Some(_) => {} // unknown
            None => assert_eq!(effects, 0, "seed {seed}: {id} acted, and nobody knows of it"),
        }
    }
    world.deaths
}

#[test]
fn nothing_is_sent_twice_and_every_call_ends_with_a_true_claim_whoever_dies() {
    let wanted = std::env::var("PLAYPROOF_DEATHS").ok().and_then(|text| text.parse().ok()).unwrap_or(DEATHS);
    let (mut deaths, mut stories) = ([0; 3], 0);
    while deaths.iter().sum::<usize>() < wanted || deaths.iter().any(|of_kind| *of_kind < wanted / 4) {
        let died = story(stories, Journal::First);
        deaths.iter_mut().zip(died).for_each(|(all, more)| *all += more);
        stories += 1;
    }
    let [process, driver, both] = deaths;
    println!("deaths in {stories} stories: {process} of the process, {driver} of its driver, {both} of both");
}

#[test]
fn a_journal_that_is_written_after_the_answer_is_found_out() {
    const SAYS: [&str; 5] =
        ["every call ends", "ended twice, and otherwise", "is found again", "times", "acted, and nobody knows of it"];
    let found = |seed| {
        let why = std::panic::catch_unwind(|| story(seed, Journal::Late)).err()?;
        why.downcast_ref::<String>().cloned()
    };
    let first = (0..40).find_map(found).expect("a seeded bug is not found");
    assert!(SAYS.iter().any(|says| first.contains(says)), "{first}");
}
