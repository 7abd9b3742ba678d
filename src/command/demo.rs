//! `playproof demo [NAME]`: what was published about failures of tool calls, each as an example that runs within the program.
//! Reads no file and writes none.

use std::fmt::Write as _;

use crate::command::replay::{Rehearsal, beside_journal};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::playbooks;
use crate::terminal::Terminal;
use crate::threads::Threads;
use playproof_analysis::envelope::EnvelopeKind;
use playproof_engine::event::FindingId;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_explore::{Question, verify};
use playproof_formats::diagnostic::{Source, did_you_mean};
use playproof_formats::fixture;
use playproof_formats::playbook::embedded;
use playproof_report::doc::Block;
use playproof_report::text;
use playproof_report::verify::{Shown, counterexamples};
use playproof_serve::chain::{Chain, Wanted, verify as verify_chain};
use serde_json::Value;

/// States that are looked at for the playbook that lies: more than it has.
const STATES: u64 = 10_000;

/// An example by its name.
struct Demo {
    name: &'static str,
    /// What was published.
    published: &'static str,
    /// What people see.
    seen: &'static str,
    shows: Shows,
}

/// What runs.
enum Shows {
    /// A fixture under playbooks, and what the agent is told of a call.
    Fixture { text: &'static str, playbooks: &'static [&'static str], told: Option<(&'static str, EnvelopeKind)> },
    /// A fixture whose dispatcher dies, without a journal and with one.
    Crash { text: &'static str, playbook: &'static str },
    /// The shortest script of answers under which a playbook breaks a property.
    Lie { playbook: &'static str, property: FindingId },
}

/// All examples, in the order of the README.
const DEMOS: [Demo; 6] = [
    Demo {
        name: "conflict",
        published: "typed verdicts: a conflict is not retried",
        seen: "A retry loop refunds 3 times. The playbook sends one refund, and the planner reads the upstream's state first.",
        shows: Shows::Fixture {
            text: include_str!("demo/conflict.yaml"),
            playbooks: &["study/retry-everything", "standard"],
            told: None,
        },
    },
    Demo {
        name: "order",
        published: "refusals and recovery: `pay` before `take_order`",
        seen: "The payment is refused and nothing is sent. The agent is told which actions are valid, and recovers.",
        shows: Shows::Fixture {
            text: include_str!("demo/order.yaml"),
            playbooks: &["coffee"],
            told: Some(("pay", EnvelopeKind::Refusal)),
        },
    },
    Demo {
        name: "dispatcher",
        published: "a function call dispatcher: one key twice, forty calls at once",
        seen: "There is 1 payment; the second call gets its result.",
        shows: Shows::Fixture { text: include_str!("demo/dispatcher.yaml"), playbooks: &["dispatcher"], told: None },
    },
    Demo {
        name: "told",
        published: "failures as agents see them: a revoked token, a failed step",
        seen: "The agent is told that the same call cannot pass (`retriable: false`). The later step is skipped.",
        shows: Shows::Fixture {
            text: include_str!("demo/told.yaml"),
            playbooks: &["steps"],
            told: Some(("ship", EnvelopeKind::Failure)),
        },
    },
    Demo {
        name: "crash",
        published: "failure semantics: a crash between an effect and its commit",
        seen: "Without a journal the card is charged twice. With it, the second charge gets the result of the first, \
               and the commit is refused, because the state was lost.",
        shows: Shows::Crash { text: include_str!("demo/crash.yaml"), playbook: "standard" },
    },
    Demo {
        name: "lie",
        published: "a playbook that lies: it says that a call without an answer did nothing",
        seen: "`verify` asks a world that does not read the playbook, and shows the second payment.",
        shows: Shows::Lie {
            playbook: include_str!("../../docs/examples/refunds.yaml"),
            property: FindingId::DuplicateEffect,
        },
    },
];

/// Which example.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof demo              the first example, and the list
  playproof demo dispatcher   another one

The examples need no file, write none, and are always the same.

Exit codes: 0 the example did no harm, 1 it did, as it should (`conflict`, `crash`, `lie`), 2 there is no such example.")]
pub struct Args {
    /// conflict, order, dispatcher, told, crash or lie
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// Shows an example.
///
/// # Errors
/// No such example; output that cannot be written.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let [first, ..] = &DEMOS;
    let demo = match &args.name {
        None => first,
        Some(name) => DEMOS.iter().find(|demo| demo.name == name).ok_or_else(|| unknown(name))?,
    };
    let (blocks, is_found) = match &demo.shows {
        Shows::Fixture { text, playbooks, told } => rehearsed(text, playbooks, *told)?,
        Shows::Crash { text, playbook } => crash(text, playbook)?,
        Shows::Lie { playbook, property } => lie(playbook, *property)?,
    };
    let (page, exit) = (terminal.out.drawn(&blocks), if is_found { Exit::Found } else { Exit::Clean });
    let (palette, width) = (terminal.out.palette(), text::prose(terminal.out.width));
    let mut whole = format!("{}: {}\n\n{page}\n\n", palette.strong(demo.name), demo.published);
    let harm = if exit == Exit::Found { " The exit code is 1, as it should be." } else { "" };
    whole.push_str(&text::wrapped(&format!("{}{harm} Nothing was sent anywhere.", demo.seen), width).join("\n"));
    whole.push_str("\n\n");
    match &args.name {
        None => whole.push_str(&list()),
        Some(_) => whole.push_str(&format!("{} playproof demo {}", palette.strong("next:"), after(demo.name))),
    }
    output.page(&whole)?;
    Ok(exit)
}

/// All examples, and where to go on.
fn list() -> String {
    let mut lines = String::new();
    for demo in &DEMOS {
        let _ = writeln!(lines, "playproof demo {:10}  {}", demo.name, demo.published); // memory takes it
    }
    lines + "playproof replay trace.jsonl  your own recorded calls\nplayproof init                a project here"
}

/// The name of the example after one.
fn after(name: &str) -> &'static str {
    let names = DEMOS.iter().map(|demo| demo.name);
    names.clone().skip_while(|known| *known != name).nth(1).or(names.clone().next()).unwrap_or_default()
}

fn unknown(name: &str) -> Failure {
    let names = DEMOS.iter().map(|demo| demo.name);
    let failure = Failure::new(format!("there is no example `{name}`"));
    let failure = failure.help(format!("there are {}", names.clone().collect::<Vec<_>>().join(", ")));
    failure.next("playproof demo").near(did_you_mean(name, names), "playproof demo")
}

/// A fixture under the playbooks, side by side, and what the agent is told; whether harm was done, or something that was said
/// is not so.
fn rehearsed(
    text: &str,
    playbooks: &[&str],
    told: Option<(&str, EnvelopeKind)>,
) -> Result<(Vec<Block>, bool), Failure> {
    let fixture = fixture::parse(Source::whole("demo", text))?;
    let plans = playbooks.iter().map(|name| Ok(((*name).to_owned(), plan(name)?)));
    let plans = plans.collect::<Result<Vec<_>, Failure>>()?;
    let rehearsal = Rehearsal::run("demo", &fixture, &plans, None).with_envelope(told.map(|(_, kind)| kind));
    let (mut blocks, mut is_found) = (rehearsal.overview(), rehearsal.exit(false) == Exit::Found);
    if let Some(most) = rehearsal.peak_in_flight().filter(|most| *most > 1) {
        blocks.push(Block::para(format!("At most {most} calls were out at the same time.")));
    }
    if let Some((call, kind)) = told
        && let Some(envelope) = rehearsal.envelope_of(call)
    {
        blocks.push(Block::Lines(format!("The agent gets, for `{call}`:\n{envelope}")));
        if kind == EnvelopeKind::Failure {
            let mut lines = Vec::new();
            rehearsal.write_audit_lines(&mut lines);
            let is_kept = is_audited(&envelope, &lines);
            is_found |= !is_kept;
            blocks.push(Block::para(match is_kept {
                true => "The audit log has a line with this `audit_id`. Its chain of hashes is whole; with that line altered, it is not.",
                false => "The audit log has no line with this `audit_id`, or its chain of hashes does not show what was altered.",
            }));
        }
    }
    Ok((blocks, is_found))
}

/// Whether the audit lines have that of an envelope, and none of them can be altered without being found in their chain.
fn is_audited(envelope: &str, lines: &[u8]) -> bool {
    let mut linked = Vec::new();
    Chain::default().link(&mut linked, lines);
    let linked = String::from_utf8_lossy(&linked);
    let altered = linked.replace("\"retriable\":false", "\"retriable\":true");
    let is_whole = |text: &str| {
        verify_chain(text.as_bytes(), &Wanted::default()).is_ok_and(|verified| verified.problems.is_empty())
    };
    let id = |line: &str, at: &str| Some(serde_json::from_str::<Value>(line).ok()?.pointer(at)?.as_str()?.to_owned());
    let told = id(envelope, "/error/audit_id");
    told.is_some()
        && linked.lines().any(|line| id(line, "/audit_id") == told)
        && is_whole(&linked)
        && !is_whole(&altered)
}

fn plan(name: &str) -> Result<Plan, Failure> {
    let source = Source::whole(name, embedded(name).unwrap_or_default());
    Ok(Plan::new(playbooks::loaded(source, name)?.playbook, &Tools::default()))
}

/// A fixture whose dispatcher dies, without a journal beside with one; whether more was done without.
fn crash(text: &str, playbook: &str) -> Result<(Vec<Block>, bool), Failure> {
    let fixture = fixture::parse(Source::whole("demo", text))?;
    let (table, is_worse) = beside_journal(&plan(playbook)?, &fixture);
    Ok((vec![Block::Table(table)], is_worse))
}

/// The shortest script of answers under which a playbook breaks a property, if there is one.
fn lie(playbook: &str, property: FindingId) -> Result<(Vec<Block>, bool), Failure> {
    let loaded = playbooks::loaded(Source::whole("refunds.yaml", playbook), "refunds")?;
    let plan = Plan::new(loaded.playbook.clone(), &Tools::default());
    let jobs = Threads::default().number();
    let question = Question { playbook: "refunds", properties: &[property], states: STATES, jobs, changed: None };
    let result = verify(&plan, &question);
    let shown = Shown { result: &result, plan: &plan, loaded: &loaded, against: None };
    Ok((counterexamples(&shown), result.counterexamples().next().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_in_which_nothing_goes_wrong_finds_nothing() {
        let [conflict, .., dies, lies] = &DEMOS;
        let (Shows::Fixture { text, .. }, Shows::Crash { text: dying, playbook }) = (&conflict.shows, &dies.shows)
        else {
            panic!("the order of the examples")
        };
        let is_found = |found: Result<(Vec<Block>, bool), Failure>| found.is_ok_and(|(_, is_found)| is_found);
        assert!(is_found(crash(dying, playbook)) && !is_found(crash(text, "standard")));
        let Shows::Lie { playbook, property } = lies.shows else { panic!("the last one") };
        let mended = playbook.replace("effect: not_applied", "effect: unknown");
        assert!(is_found(lie(playbook, property)) && !is_found(lie(&mended, property)));
    }

    #[test]
    fn an_audit_log_without_the_line_of_the_envelope_is_no_proof() {
        let envelope = r#"{"error":{"audit_id":"audit-1"}}"#;
        let line = |id: &str, retriable: bool| format!(r#"{{"audit_id":"{id}","retriable":{retriable}}}"#) + "\n";
        assert!(is_audited(envelope, line("audit-1", false).as_bytes()));
        assert!(!is_audited(envelope, line("audit-2", false).as_bytes()));
        assert!(!is_audited(envelope, line("audit-1", true).as_bytes()), "nothing in it was altered");
        assert!(!is_audited(r#"{"error":{}}"#, b"{}\n"));
    }
}
