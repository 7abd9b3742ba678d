//! The client and the tests of the npm package run against the program.

use crate::packages::{all_pass, is_there};

#[test]
fn the_package_passes_its_tests_against_the_program() {
    match is_there("node", ["-e", "process.exit(+(parseInt(process.versions.node) < 20))"]) {
        true => all_pass("tools/release/npm/tests", "fail 0\n", &["node"]),
        false => println!("skipped: there is no Node 20 or later"),
    }
}
