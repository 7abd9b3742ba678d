//! Mutates the shipped playbooks and a fixture byte by byte and piece by piece: no reader may panic, whatever comes.

use proptest::prelude::*;

use crate::corpus::targets;

const FIXTURE: &str = "\
format: fixture/1
title: A refund times out after it landed
playbooks: [standard]
calls:
  refund: { tool: payments.issue_refund, args: { order: o_91, amount: 4200 }, idempotency_key: ik_91, at_ms: 5 }
upstream:
  refund: { attempts: [{ timeout: {}, applied: true }, { error: absent }], refresh: [{ ok: {}, latency_ms: 4 }] }
keys: ietf
before: [{ tool: payments.issue_refund, key: k, args: {} }]
tools: { 'payments.*': { access: write } }
expect:
  standard: { refund: { outcome: deprecated, effect: applied, verdicts: [a] }, effects: 1, findings: [] }
";

const TOOLS: &str =
    "format: tools/1\ntools:\n  pay: { access: write, timeout_ms: 5000 }\n  'search.*': { access: read }\n";

/// One of each thing that lies beside a playbook.
const PROJECT: [&str; 3] =
    [include_str!("project/record.yaml"), include_str!("project/lock.yaml"), include_str!("project/kept.yaml")];

/// Pieces that mean something to YAML or to the formats.
const PIECES: [&str; 24] = [
    "[",
    "]",
    "{",
    "}",
    ": ",
    "- ",
    "\n",
    "\t",
    "&a ",
    "*a",
    "<<: ",
    "#",
    "'",
    "\"",
    "|",
    ">",
    "~",
    "-1",
    "1e999",
    "!!x ",
    "\u{feff}",
    "---\n",
    "on_unsafe: ",
    "study: { why: w }\n",
];

#[derive(Clone, Debug)]
enum Mutation {
    Replace(prop::sample::Index, u8),
    Insert(prop::sample::Index, usize),
    Remove(prop::sample::Index, usize),
    Copy(prop::sample::Index, prop::sample::Index, usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        (index(), 0..PIECES.len()).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        (index(), 1_usize..40).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (index(), index(), 1_usize..80).prop_map(|(from, to, length)| Mutation::Copy(from, to, length)),
    ]
}

fn mutate(text: &str, mutations: &[Mutation]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for mutation in mutations {
        if bytes.is_empty() {
            break;
        }
        match mutation {
            Mutation::Replace(at, byte) => *at.get_mut(&mut bytes) = *byte,
            Mutation::Insert(at, piece) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, PIECES[*piece].bytes());
            }
            Mutation::Remove(at, length) => {
                let at = at.index(bytes.len());
                bytes.drain(at..(at + length).min(bytes.len()));
            }
            Mutation::Copy(from, to, length) => {
                let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
                let copied = bytes[from..(from + length).min(bytes.len())].to_vec();
                bytes.splice(to..to, copied);
            }
        }
    }
    bytes
}

/// As bytes, and with what is not UTF-8 replaced, so that the readers see most of it.
fn run(target: fn(&[u8]), text: &str, mutations: &[Mutation]) {
    let bytes = mutate(text, mutations);
    target(String::from_utf8_lossy(&bytes).as_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_mutation_of_a_shipped_playbook_makes_its_reader_panic(
        which in 0..playproof_formats::playbook::EMBEDDED.len(),
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        let text = playproof_formats::playbook::embedded(playproof_formats::playbook::EMBEDDED[which]).expect("embedded");
        run(targets::playbook, text, &mutations);
    }

    #[test]
    fn no_mutation_of_a_fixture_or_of_tool_facts_makes_their_readers_panic(
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        run(targets::fixture, FIXTURE, &mutations);
        run(targets::tools, TOOLS, &mutations);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_mutation_of_what_lies_beside_a_playbook_makes_its_readers_panic(
        which in 0..PROJECT.len(),
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        run(targets::project, PROJECT[which], &mutations);
    }
}

#[test]
fn what_is_mutated_is_valid() {
    use playproof_formats::diagnostic::Source;
    playproof_formats::history::parse(Source::whole("t", PROJECT[0])).unwrap_or_else(|report| panic!("{report}"));
    playproof_formats::golden::Lock::parse(Source::whole("t", PROJECT[1])).unwrap_or_else(|report| panic!("{report}"));
    playproof_analysis::kept::parse(Source::whole("t", PROJECT[2])).unwrap_or_else(|report| panic!("{report}"));
    playproof_formats::fixture::parse(Source::whole("t", FIXTURE)).unwrap_or_else(|report| panic!("{report}"));
    playproof_formats::playbook::tools::parse(Source::whole("t", TOOLS)).unwrap_or_else(|report| panic!("{report}"));
}
