//! Compressed input is decoded in one place, so that every command reads the same files and says the same of damaged ones.

use crate::tidy::scan;
use crate::tidy::tree::{Tree, Violation};

/// The crates that decode.
const DECODERS: [&str; 2] = ["flate2::", "ruzstd::"];

/// Where they are used.
const PLACE: &str = "crates/intake/src/decompress.rs";

/// Other files that decode.
pub fn elsewhere(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.product().filter(|(path, _)| *path != PLACE) {
        let code = scan::without_tests(&scan::views(text).code);
        for decoder in DECODERS {
            let said = || format!("`{decoder}` is used in {PLACE} alone");
            violations.extend(code.match_indices(decoder).map(|(offset, _)| Violation::at(path, text, offset, said())));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::{assert_none, assert_one};

    #[test]
    fn compressed_input_is_decoded_in_one_place() {
        assert_none(&elsewhere(&Tree::of_this_package()));
    }

    #[test]
    fn a_second_decoder_is_caught() {
        let bad = "fn f(file: File) {\n    ruzstd::decoding::StreamingDecoder::new(file);\n}";
        assert_one(&elsewhere(&Tree::of(&[("src/cli/a.rs", bad)])), "src/cli/a.rs", 2, "alone");
        assert_none(&elsewhere(&Tree::of(&[(PLACE, bad)])));
    }
}
