//! Whether a file is one of our reports, by its beginning. Reads no file.

use super::markdown::MARKER;

/// How the reports begin, whatever they say.
const BEGINNINGS: [&str; 7] = [
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"playproof check\"",
    "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\"",
    "{\"format\":\"check/1\"",
    "::error file=",
    "::warning file=",
    "::notice title=playproof",
    MARKER,
];

/// Whether the text that begins like this is one that a check wrote, of any kind, and may write anew.
pub fn is_report(beginning: &[u8]) -> bool {
    BEGINNINGS.iter().any(|known| beginning.starts_with(known.as_bytes()))
}
