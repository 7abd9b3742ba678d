//! What a mapping without `call` says otherwise of a recognised format. It is final, and every change is counted.

use std::borrow::Cow;

use super::condition::{self, ResultParts, RowCondition};
use super::model::Mapping;
use super::row::SourceRow;
use super::values::scalar_of;
use crate::failure::{Assessment, ToolResult, assess, failure_of};
use crate::imported::Changed;
use crate::json;
use crate::raw_value::RawValue;
use playproof_formats::diagnostic::{Diagnostic, Report};

/// What a mapping says of the result of a row, as far as that depends on the parts of the result.
#[derive(Debug)]
pub(crate) struct OwnRules {
    not_failed: Vec<RowCondition>,
    failed: Vec<RowCondition>,
    not_suspected: Vec<RowCondition>,
    kinds: Vec<(String, Vec<RowCondition>)>,
    /// A condition asks for the status or the code, which the content may tell.
    reads_content: bool,
}

/// Whether one of `conditions` on the parts of a result holds.
fn any(conditions: &[RowCondition], parts: &ResultParts<'_>) -> bool {
    condition::any(conditions, &SourceRow::alone(RawValue::of_checked("null")), parts)
}

impl OwnRules {
    /// The parts of a result, with the status and the code that its content gives if the source names none.
    fn with_found<'a>(&self, parts: &ResultParts<'a>, said: &Assessment) -> ResultParts<'a> {
        let mut parts = parts.clone();
        if let Some(failure) = said.failure() {
            parts.status = parts.status.or_else(|| failure.status.map(|status| Cow::Owned(status.to_string())));
            parts.code = parts.code.or_else(|| failure.code.clone().map(Cow::Owned));
        }
        let body = parts.body.as_deref().filter(|body| body.trim_start().starts_with('{') && self.reads_content);
        if let Some(fields) = body.and_then(|body| json::object(json::parse(body).ok()?)) {
            let field = |names: &[&str]| names.iter().find_map(|name| json::scalar(fields.get(name)?));
            let (status, code) = (field(&["status", "status_code", "statusCode"]), field(&["code"]));
            let [status, code] = [status, code].map(|text| text.map(|text| Cow::Owned(text.into_owned())));
            (parts.status, parts.code) = (parts.status.or(status), parts.code.or(code));
        }
        parts
    }

    /// Whether a result failed by the mapping, else as the format says.
    pub(super) fn corrected(
        &self,
        parts: &ResultParts<'_>,
        result: &ToolResult<'_>,
        said: Assessment,
        changed: &mut Changed,
    ) -> Assessment {
        let parts = &self.with_found(parts, &said);
        let decided = match () {
            () if any(&self.not_failed, parts) => Some(false),
            () if any(&self.failed, parts) => Some(true),
            () => None,
        };
        let decided = decided.or_else(|| {
            // The flag of the format is stronger: it tells of this result, and not of each answer.
            let is_denied = said != Assessment::Ok && result.flag.is_none() && any(&self.not_suspected, parts);
            (is_denied && assess(&ToolResult { flag: Some(false), ..*result }) == Assessment::Ok).then_some(false)
        });
        let mut said = match (decided, said) {
            (Some(true), Assessment::Ok | Assessment::Suspected(_) | Assessment::Unfinished(_)) => {
                changed.failed += 1;
                Assessment::Failed(failure_of(result))
            }
            (Some(false), Assessment::Failed(_) | Assessment::Suspected(_) | Assessment::Unfinished(_)) => {
                changed.not_failed += 1;
                Assessment::Ok
            }
            (_, said) => said,
        };
        let kind = self.kinds.iter().find(|(_, when)| any(when, parts)).map(|(kind, _)| kind);
        if let Assessment::Failed(failure) = &mut said
            && let Some(kind) = kind.filter(|kind| **kind != failure.kind)
        {
            changed.kinds += 1;
            kind.clone_into(&mut failure.kind);
            failure.kind_from = None;
        }
        said
    }

    /// [`OwnRules::corrected`] for a result with its content alone.
    pub(crate) fn corrected_content(
        &self,
        result: &ToolResult<'_>,
        said: Assessment,
        changed: &mut Changed,
    ) -> Assessment {
        let parts = ResultParts { body: result.body.map(Cow::Borrowed), ..ResultParts::default() };
        self.corrected(&parts, result, said, changed)
    }
}

impl Mapping {
    /// What the mapping says of the result of `row`.
    pub(super) fn rules_of(&self, row: &SourceRow<'_>) -> OwnRules {
        let rest =
            |conditions: &[RowCondition]| conditions.iter().filter_map(|condition| condition.rest(row)).collect();
        OwnRules {
            not_failed: rest(&self.not_failed),
            failed: rest(&self.failed.conditions),
            not_suspected: rest(&self.not_suspected),
            kinds: self.kinds.iter().map(|kind| (kind.name.clone(), rest(&kind.when))).collect(),
            reads_content: self.reads_content(),
        }
    }

    /// What the mapping says of the result in `row`, of which nothing else is known.
    pub(crate) fn rules_of_content(&self, row: RawValue<'_>) -> OwnRules {
        self.rules_of(&SourceRow::alone(row))
    }

    /// The tool of the call in `row` by this mapping, if that is another one than `named`.
    pub(crate) fn corrected_tool(&self, row: RawValue<'_>, named: &str, changed: &mut Changed) -> Option<String> {
        self.other_tool(&SourceRow::alone(row), Some(named), changed).map(Cow::into_owned)
    }

    /// The tool of the call of a row by this mapping, if that is another one than `named`.
    pub(super) fn other_tool<'a>(
        &self,
        row: &SourceRow<'a>,
        named: Option<&str>,
        changed: &mut Changed,
    ) -> Option<Cow<'a, str>> {
        let own = scalar_of(self.tool.as_ref()?, row).filter(|own| !own.is_empty() && Some(&**own) != named)?;
        changed.tools += 1;
        Some(own)
    }

    /// The run of a row by this mapping.
    pub(super) fn own_run(&self, row: &SourceRow<'_>) -> Option<String> {
        scalar_of(self.run.as_ref()?, row).filter(|own| !own.is_empty()).map(Cow::into_owned)
    }

    /// Whether it names the runs of a recognised format.
    pub(crate) fn names_runs(&self) -> bool {
        self.run.is_some()
    }

    /// The report of a mapping that names the runs of a format which has them in its structure.
    pub(crate) fn refused_runs(&self, format: &str) -> Report {
        let message = format!("the runs of {format} are its conversations: no field names them");
        let span = self.run.as_ref().map_or(0..0, |run| run.span.clone());
        Report::one(self.source.clone(), Diagnostic::error("no_override", message).at(span, "remove this"))
    }
}
