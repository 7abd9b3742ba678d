//! The rows of every shipped playbook as the lock names them, and the fingerprints of playbooks and rows.

use std::fmt::Write as _;

use playproof_formats::diagnostic::Source;
use playproof_formats::playbook;

use crate::nets::keep;

#[test]
fn the_rows_and_fingerprints_of_the_shipped_playbooks_are_as_they_were() {
    let mut text = String::new();
    for name in playbook::EMBEDDED {
        let source = Source::whole(*name, playbook::embedded(name).expect("it is embedded"));
        let loaded = playbook::parse(source).unwrap_or_else(|report| panic!("{report}"));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name} {}", playbook::fingerprint(&loaded.playbook));
        for row in playbook::rows(&loaded.playbook) {
            let _ = writeln!(text, "  {}: {}", row.name, row.text);
        }
    }
    keep("rows", &text);
}
