//! What changed rows of a playbook reach: the kinds of call whose answers they decide, and the assumptions that they make.

use std::collections::BTreeSet;

use playproof_engine::sim::Plan;

use crate::alphabet::Alphabet;
use crate::assumption::Assumption;
use crate::calls::CallKind;
use crate::world::WORLD;

/// What changed rows reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The names of the kinds of call.
    kinds: BTreeSet<String>,
    verdicts: BTreeSet<String>,
    tools: BTreeSet<String>,
}

/// The names in changed rows.
#[derive(Default)]
struct Named {
    /// Verdicts of changed rows, and those that changed rules give or gave.
    verdicts: BTreeSet<String>,
    tools: BTreeSet<String>,
    /// A row that every call may meet, such as a limit.
    everywhere: bool,
}

impl Changed {
    /// What the rows of these names reach under the playbooks that have them: as it was, if that is known, and as it is.
    pub fn rows<'a>(names: impl IntoIterator<Item = &'a str>, plans: &[&Plan]) -> Changed {
        let (mut changed, mut named) = (Changed::default(), Named::default());
        for row in names {
            match row.split_once(' ') {
                Some(("verdict", name)) => drop(changed.verdicts.insert(name.to_owned())),
                Some(("tool", pattern)) => drop(changed.tools.insert(pattern.to_owned())),
                Some(("queue", _)) => {}
                Some(("rule", name)) => named.add_rule(name, plans),
                _ => named.everywhere = true,
            }
        }
        named.verdicts.extend(changed.verdicts.iter().cloned());
        named.tools.extend(changed.tools.iter().cloned());
        for plan in plans {
            let kinds = CallKind::all(plan).into_iter().filter(|kind| named.is_met(plan, kind));
            changed.kinds.extend(kinds.map(|kind| kind.name));
        }
        changed
    }

    /// Whether calls of this kind meet a changed row.
    pub(crate) fn reaches(&self, kind: &CallKind) -> bool {
        self.kinds.contains(&kind.name)
    }

    /// Whether a changed row makes this assumption.
    pub(crate) fn assumes(&self, assumption: &Assumption) -> bool {
        match assumption {
            Assumption::Verdict(name) => self.verdicts.contains(name),
            Assumption::Tool(pattern) => self.tools.contains(pattern),
            Assumption::Keys | Assumption::KindAndStatus | Assumption::RefusalsDidNothing => false,
        }
    }
}

impl Named {
    fn add_rule(&mut self, name: &str, plans: &[&Plan]) {
        let of = |plan: &&Plan| {
            let rule = plan.playbook.rules.iter().find(|rule| *rule.name == *name)?;
            Some(plan.playbook.verdict(rule.verdict).name.to_string())
        };
        let given: Vec<String> = plans.iter().filter_map(of).collect();
        self.everywhere |= given.is_empty(); // of a rule that is gone, nobody knows what it gave
        self.verdicts.extend(given);
    }

    fn is_met(&self, plan: &Plan, kind: &CallKind) -> bool {
        if self.everywhere || kind.pattern.as_ref().is_some_and(|pattern| self.tools.contains(pattern)) {
            return true;
        }
        let alphabet = Alphabet::of(plan, kind, &WORLD, None);
        let mut verdicts = alphabet.attempts().iter().flat_map(|letter| letter.verdicts());
        verdicts.any(|verdict| self.verdicts.contains(&*plan.playbook.verdict(*verdict).name))
    }
}
