//! Whether a drafted mapping reads a recording as its author would: it sees the failures.

use crate::failure::{Assessment, ToolResult, assess};
use crate::imported::Imported;

/// A draft finds no failure, and so many of so many results look like one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftDoubt {
    /// Results that look like failures.
    pub looking: u64,
    /// Results whose text is known.
    pub of: u64,
}

/// One result in so many looks like a failure, and none is one: then the draft misses the failures.
const SHARE: u64 = 5;

/// What is wrong with the draft that read `imported`.
pub fn doubt(imported: &Imported) -> Option<DraftDoubt> {
    let (mut looking, mut of) = (imported.loss.suspected, imported.loss.suspected);
    for text in imported.origins.ok_texts() {
        let seen = assess(&ToolResult { body: Some(text), ..ToolResult::default() });
        looking += u64::from(seen != Assessment::Ok);
        of += 1;
    }
    (imported.loss.failures == 0 && looking > 0 && looking * SHARE >= of).then_some(DraftDoubt { looking, of })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imported::LossReport;
    use crate::origin::Origins;

    /// A draft that read results of which `failures` failed and the others have `oks`.
    fn read(oks: &[&str], failures: u64) -> Imported {
        let mut origins = Origins::default();
        oks.iter().for_each(|text| origins.push_ok(text));
        Imported { lines: Vec::new(), origins, loss: LossReport { failures, ..LossReport::default() } }
    }

    #[test]
    fn a_fifth_of_results_that_look_like_failures_is_a_doubt_if_none_failed() {
        let (four, five) = (["Error: a", "ok", "ok", "ok", "ok"], ["Error: a", "ok", "ok", "ok", "ok", "ok"]);
        assert_eq!(doubt(&read(&four, 0)), Some(DraftDoubt { looking: 1, of: 5 }));
        assert_eq!((doubt(&read(&five, 0)), doubt(&read(&four, 1))), (None, None));
    }
}
