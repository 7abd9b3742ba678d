//! Counts of calls that may have made an effect again, by why that is not certain and by tool.

use super::counts::Counts;

/// Calls that may have made an effect again, by tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PossibleDuplicates {
    /// The tool is not declared: it may be a read.
    pub undeclared: Counts,
    /// The call had a key: an upstream that honours it repeated its first answer.
    pub keyed: Counts,
    /// An identical call without ok may have acted.
    pub failed: Counts,
    /// Resent after a failure that may have acted; the tool is not declared.
    pub resent: Counts,
    /// The calls name no run: they may belong to different runs.
    pub without_run: Counts,
    /// The id of their run occurs in two inputs.
    pub two_inputs: Counts,
    /// The arguments of a call are not recorded.
    pub without_arguments: Counts,
    /// A run may have made a write of another run again.
    pub begun_again: Counts,
}

impl PossibleDuplicates {
    /// Each list.
    pub fn lists(&self) -> impl Iterator<Item = &Counts> {
        let PossibleDuplicates { undeclared, keyed, failed, resent, .. } = self;
        let PossibleDuplicates { without_run, two_inputs, without_arguments, begun_again, .. } = self;
        [undeclared, keyed, failed, resent, without_run, two_inputs, without_arguments, begun_again].into_iter()
    }

    /// Adds what was counted later.
    pub fn merge(&mut self, later: &PossibleDuplicates) {
        self.undeclared.merge(&later.undeclared);
        self.keyed.merge(&later.keyed);
        self.failed.merge(&later.failed);
        self.resent.merge(&later.resent);
        self.without_run.merge(&later.without_run);
        self.two_inputs.merge(&later.two_inputs);
        self.without_arguments.merge(&later.without_arguments);
        self.begun_again.merge(&later.begun_again);
    }
}
