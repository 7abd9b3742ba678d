//! The Python client of the wheel: its own tests run against the program, and its documents run as they are written.

use crate::packages::{all_pass, is_there};

#[test]
fn the_client_passes_its_tests_against_the_program() {
    match is_there("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]) {
        true => all_pass("tools/release/python/tests", "\nOK", &["python3", "-W", "error"]),
        false => println!("skipped: there is no Python 3.9 or later"),
    }
}
