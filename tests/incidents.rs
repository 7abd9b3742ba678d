//! The page of reported failures: every report is there, and every fixture that a row names shows what it says under the
//! playbooks that the row names.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::goldens::{playbooks, read, run};

/// The reports whose failures are stated, or of which the page says why they are not.
#[rustfmt::skip]
const REPORTS: [&str; 76] = [
    "crewAI#5802", "Composio#3654", "pierrezemb.fr",
    "akash-network/console#3449",
    "square-mcp-server#31",
    "stripe/ai#402",
    "PraisonAI#4256",
    "adyen-commercetools#1305", "flexprice#2488",
    "draft-ietf-httpapi-idempotency-key-header-06", "docs.stripe.com/api/idempotent_requests",
    "powertools-lambda#8049",
    "iceberg#18070", "iceberg#14196", "kitaru#876",
    "storecode.pro",
    "HotOS 2021", "OSDI 2022",
    "Google Cloud, report on 2025-06-12",
    "Cloudflare, post on 2025-09-12",
    "aws.amazon.com/message/101925",
    "Helicone#5672", "MemOS#1620", "pi#9595",
    "pi#4991",
    "OpenMeet#414", "bucketeer#2455", "fetcher#1249",
    "calino#163", "odata2ts#525", "iris-agentic-dev#7",
    "angular-oauth2-oidc#1135", "azure-sdk-for-js#4814",
    "open-saas#688", "vexa#519", "sendgrid/docs#2933",
    "aws-sdk-js#1262", "risingwave#25985",
    "broadway_rabbitmq#73", "symfony#34107",
    "OmniRoute#13836", "opossum#276",
    "hermes-agent#13474", "opossum#119",
    "linera-protocol#6577", "apollographql/router#746",
    "rueidis#1014", "tessera#611",
    "hermes-agent#100113", "hermes-agent#18164", "OpenHands/sdk#3873", "oh-my-openagent#6796",
    "ruby-mcp-client#178", "python-sdk#2507",
    "gbrain#4365", "agent-os#823",
    "tinyfish.ai",
    "pi#5016", "ogx#6231", "zed#29946",
    "voice-of-customer#356", "mcpsnoop#159",
    "vscode-copilot-release#9718", "open-webui#27599",
    "saga-lara-flow#64", "eliza#10846",
    "hoangdaochuz/booking#39", "own-pay#222",
    "django-cacheback#28", "DingoCache#77", "shelfmark#1079",
    "langgraph#6792", "langgraph#6603",
    "agent-os#1564", "breeze#3090", "agenticos#178",
];

/// A row of a table.
struct Row {
    pattern: String,
    reported: String,
    /// Names.
    fixtures: Vec<String>,
    answers: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The rows of every table of the page.
fn rows_of(page: &str) -> Vec<Row> {
    let lines = page.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    let cells = lines.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect::<Vec<_>>());
    let rows = cells.filter(|cells| cells.first() != Some(&"what went wrong"));
    rows.map(|cells| {
        let [pattern, reported, fixtures, answers] = cells[..] else { panic!("four cells: {cells:?}") };
        Row {
            pattern: pattern.to_owned(),
            reported: reported.to_owned(),
            fixtures: targets(fixtures),
            answers: answers.to_owned(),
        }
    })
    .collect()
}

/// The names of the fixtures to which a text links; the text of each link is the name.
fn targets(text: &str) -> Vec<String> {
    let links = text.split('[').skip(1).map(|link| link.split_once("](../fixtures/").expect("a link to a fixture"));
    let named = links.map(|(name, rest)| (name, rest.split_once(".yaml)").expect("a fixture").0));
    named.inspect(|(name, target)| assert_eq!(name, target)).map(|(name, _)| name.to_owned()).collect()
}

/// The playbooks that a text names in backticks.
fn playbooks_in(text: &str) -> BTreeSet<String> {
    let exists = |name: &&str| root().join(format!("playbooks/{name}.yaml")).is_file();
    text.split('`').skip(1).step_by(2).filter(exists).map(str::to_owned).collect()
}

/// The playbooks under which a fixture is run.
fn runs_of(name: &str) -> BTreeSet<String> {
    playbooks(&read(&path_of(name))).into_iter().collect()
}

fn path_of(fixture: &str) -> PathBuf {
    root().join(format!("fixtures/{fixture}.yaml"))
}

/// What is wrong with the page.
fn wrong_with(page: &str) -> Vec<String> {
    let rows = rows_of(page);
    let mut wrong = Vec::new();
    let reported: Vec<&str> = rows.iter().flat_map(|row| row.reported.split(", ")).collect();
    for report in REPORTS {
        if !rows.iter().any(|row| row.reported.contains(report)) {
            wrong.push(format!("no row has the report {report}"));
        }
    }
    for issue in reported.iter().filter(|report| report.contains('#')) {
        if !REPORTS.contains(issue) {
            wrong.push(format!("{issue} is no known report"));
        }
    }
    for row in &rows {
        let named = playbooks_in(&row.answers);
        let mut run = BTreeSet::new();
        for name in &row.fixtures {
            if path_of(name).is_file() {
                run.extend(runs_of(name));
            } else {
                wrong.push(format!("{}: there is no fixture {name}", row.pattern));
            }
        }
        if named.is_empty() {
            wrong.push(format!("{}: no playbook answers", row.pattern));
        }
        if let Some(not_run) = named.iter().find(|playbook| !run.contains(*playbook)) {
            wrong.push(format!("{}: no fixture of the row runs under {not_run}", row.pattern));
        }
    }
    wrong
}

fn page() -> String {
    fs::read_to_string(root().join("docs/incidents.md")).expect("the page")
}

#[test]
fn every_report_has_a_row_and_every_row_fixtures_that_run_under_its_playbooks() {
    let page = page();
    assert!(rows_of(&page).len() > 20, "the tables are read");
    assert_eq!(wrong_with(&page), Vec::<String>::new());
}

#[test]
fn the_fixtures_of_the_page_show_what_they_say() {
    for name in rows_of(&page()).into_iter().flat_map(|row| row.fixtures) {
        let fixture = read(&path_of(&name));
        for playbook in playbooks(&fixture) {
            assert_eq!(run(&fixture, &playbook).1, Vec::<String>::new(), "{name} under {playbook}");
            assert!(root().join(format!("goldens/{playbook}/{name}.snap")).is_file(), "{name}: a golden");
        }
    }
}

#[test]
fn a_page_that_is_not_true_is_caught() {
    let page = page();
    let caught = |from: &str, to: &str, sentence: &str| {
        assert!(page.contains(from), "{from}");
        let wrong = wrong_with(&page.replace(from, to));
        assert!(wrong.iter().any(|wrong| wrong.contains(sentence)), "{sentence}: {wrong:?}");
    };
    caught("crewAI#5802", "crewAI#5803", "no row has the report crewAI#5802");
    caught("crewAI#5802", "crewAI#5803", "crewAI#5803 is no known report");
    caught(
        "a-late-answer-changes-nothing",
        "a-late-answer-changes-all",
        "there is no fixture a-late-answer-changes-all",
    );
    caught("`preset/envoy` obeys", "`preset/polly` obeys", "runs under preset/polly");
    caught("`dispatcher`: one is sent", "one is sent", "no playbook answers");
}

#[test]
fn with_jitter_no_two_waits_are_equal_and_by_a_list_all_are() {
    let name = "calls-that-fail-together-come-back-one-by-one";
    let waits = |playbook: &str| -> Vec<String> {
        let (golden, _) = run(&read(&path_of(name)), playbook);
        let waits = golden.lines().filter_map(|line| line.split_once("delay_ms: "));
        waits.map(|(_, wait)| wait.split([',', ' ']).next().unwrap_or_default().to_owned()).collect()
    };
    let different = |waits: &[String]| waits.iter().collect::<BTreeSet<_>>().len();
    let (jitter, list) = (waits("preset/aws-2.0"), waits("standard"));
    assert_eq!((jitter.len(), different(&jitter)), (8, 8), "{jitter:?}");
    assert_eq!((list.len(), different(&list)), (8, 1), "{list:?}");
}
