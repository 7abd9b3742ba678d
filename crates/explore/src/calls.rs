//! The kinds of calls that a playbook may treat differently: what they change, whether they have a key or a token, and the
//! tools that the playbook names.

use std::collections::BTreeSet;

use playproof_engine::fixture::{Fixture, FixtureCall, FixtureTool};
use playproof_engine::playbook::{Access, ConditionKind, ToolFacts};
use playproof_engine::sim::Plan;
use playproof_engine::upstream::{KeyDialect, Script};
use playproof_formats::playbook::example_texts;

use crate::assumption::Assumption;
use crate::shape::CallShape;

/// The key of every keyed call.
pub(crate) const KEY: &str = "key_1";

/// One kind of call.
#[derive(Clone, Debug)]
pub struct CallKind {
    /// Its name, for people.
    pub name: String,
    /// The tool that its calls name.
    pub tool: String,
    /// The pattern of tools in the playbook that it stands for, if any.
    pub pattern: Option<String>,
    /// Its properties.
    pub shape: CallShape,
    /// The facts of the tool.
    pub facts: ToolFacts,
    /// Whether the playbook declares the tool; else the fixture does.
    pub declared: bool,
}

impl CallKind {
    /// The kinds of call under a playbook: every shape, then every tool that it or one of its rules names.
    pub fn all(plan: &Plan) -> Vec<CallKind> {
        let shapes = CallShape::all().into_iter().filter(|shape| plan.shares_tokens || !shape.token);
        let shapes: Vec<CallShape> = shapes.filter(|shape| !shape.token || shape.access == Access::Write).collect();
        let mut all: Vec<CallKind> = shapes.iter().filter_map(|shape| CallKind::of_shape(plan, *shape)).collect();
        let rows = plan.playbook.tools.rows().iter().map(|row| row.pattern.clone());
        let globs = plan.playbook.rules.iter().flat_map(|rule| rule.when.texts(ConditionKind::Tool).to_vec());
        let mut known = BTreeSet::new();
        for pattern in rows.chain(globs) {
            let tool = example_texts::of_glob(&pattern);
            if !known.insert(tool.clone()) {
                continue;
            }
            let facts = plan.facts(&tool);
            let facts = ToolFacts { declared: true, ..facts };
            let fits = |shape: &&CallShape| shape.access == facts.access && shape.idempotent == facts.idempotent;
            all.extend(shapes.iter().filter(fits).map(|shape| CallKind {
                name: format!("{pattern}, {}", shape.words()),
                tool: tool.clone(),
                pattern: Some(pattern.clone()),
                shape: *shape,
                facts,
                declared: plan.facts(&tool).declared,
            }));
        }
        all
    }

    /// Calls of a tool that no row declares; none: rows declare every tool, with a dot and without, and stand for them.
    fn of_shape(plan: &Plan, shape: CallShape) -> Option<CallKind> {
        let tools = [shape.tool().to_owned(), shape.tool().replace('.', "_")];
        let befores = ["", "other_", "one_more_"];
        let mut names = tools.iter().flat_map(|tool| befores.map(|before| format!("{before}{tool}")));
        let tool = names.find(|name| !plan.facts(name).declared)?;
        let facts =
            ToolFacts { access: shape.access, idempotent: shape.idempotent, declared: true, ..ToolFacts::ASSUMED };
        Some(CallKind { name: shape.words(), tool, pattern: None, shape, facts, declared: false })
    }

    /// Whether a playbook cannot tell a call of this kind from one of another.
    pub(crate) fn is_like(&self, plan: &Plan, other: &CallKind) -> bool {
        let differs_by_name = plan.shares_state || plan.classifier.asks().tools || plan.checks_requests;
        self.tool == other.tool && self.shape == other.shape
            || !differs_by_name && self.shape == other.shape && self.facts == other.facts
    }

    /// Whether a request can change something.
    pub fn writes(&self) -> bool {
        self.facts.access == Access::Write
    }

    /// Whether a request can change something in a world without this assumption.
    pub(crate) fn acts_without(&self, dropped: Option<&Assumption>) -> bool {
        self.writes() || matches!(dropped, Some(Assumption::Tool(pattern)) if self.pattern.as_ref() == Some(pattern))
    }

    /// Whether an assumption is about calls of this kind.
    pub(crate) fn is_concerned(&self, by: &Assumption) -> bool {
        !matches!(by, Assumption::Tool(pattern) if self.pattern.as_ref() != Some(pattern))
    }

    /// The key that the upstream sees of a call.
    pub fn key(&self) -> Option<&'static str> {
        self.shape.keyed.then_some(KEY)
    }

    /// A fixture with one call of this kind and these answers.
    pub fn fixture(&self, plan: &Plan, title: &str, script: Script) -> Fixture {
        let args = plan.schema(&self.tool).map_or(r#"{"order":"o_91"}"#, |schema| schema.example());
        let call = FixtureCall {
            name: "call".to_owned(),
            tool: self.tool.clone(),
            args: args.to_owned(),
            key: self.key().map(str::to_owned),
            token: self.shape.token.then(|| "token_1".to_owned()),
            script,
            ..FixtureCall::default()
        };
        let facts = FixtureTool {
            pattern: self.tool.clone(),
            writes: self.writes(),
            idempotent: Some(self.facts.idempotent),
            ..FixtureTool::default()
        };
        Fixture {
            title: title.to_owned(),
            keys: KeyDialect::None,
            tools: if self.declared { Vec::new() } else { vec![facts] },
            calls: vec![call],
            ..Fixture::default()
        }
    }
}
