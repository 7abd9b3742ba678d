//! What a mapping without `call` says otherwise of a recognised format. It is final, and every change is counted.

use std::borrow::Cow;

use super::condition::{ResultParts, any};
use super::model::Mapping;
use super::row::SourceRow;
use super::values::{kind_of, scalar_of};
use crate::failure::{Assessment, ToolResult, assess, failure_of};
use crate::imported::Changed;
use crate::json;
use crate::raw_value::RawValue;
use playproof_formats::diagnostic::{Diagnostic, Report};

/// The parts of a result, with the status and the code that its content gives if the source names none.
fn with_found<'a>(parts: &ResultParts<'a>, said: &Assessment, own: &Mapping) -> ResultParts<'a> {
    let mut parts = parts.clone();
    if let Some(failure) = said.failure() {
        parts.status = parts.status.or_else(|| failure.status.map(|status| Cow::Owned(status.to_string())));
        parts.code = parts.code.or_else(|| failure.code.clone().map(Cow::Owned));
    }
    let body = parts.body.as_deref().filter(|body| body.trim_start().starts_with('{') && own.reads_content());
    if let Some(fields) = body.and_then(|body| json::object(json::parse(body).ok()?)) {
        let field = |names: &[&str]| names.iter().find_map(|name| json::scalar(fields.get(name)?));
        let (status, code) = (field(&["status", "status_code", "statusCode"]), field(&["code"]));
        let [status, code] = [status, code].map(|text| text.map(|text| Cow::Owned(text.into_owned())));
        (parts.status, parts.code) = (parts.status.or(status), parts.code.or(code));
    }
    parts
}

impl Mapping {
    /// Whether the result of `row` failed by this mapping, else as the format says.
    pub(super) fn corrected(
        &self,
        row: &SourceRow<'_>,
        parts: &ResultParts<'_>,
        result: &ToolResult<'_>,
        said: Assessment,
        changed: &mut Changed,
    ) -> Assessment {
        let parts = &with_found(parts, &said, self);
        let decided = match () {
            () if any(&self.not_failed, row, parts) => Some(false),
            () if any(&self.failed.conditions, row, parts) => Some(true),
            () => None,
        };
        let decided = decided.or_else(|| {
            // The flag of the format is stronger: it tells of this result, and not of each answer.
            let is_denied = said != Assessment::Ok && result.flag.is_none() && any(&self.not_suspected, row, parts);
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
        if let Assessment::Failed(failure) = &mut said
            && let Some(kind) = kind_of(&self.kinds, row, parts).filter(|kind| *kind != failure.kind)
        {
            changed.kinds += 1;
            kind.clone_into(&mut failure.kind);
            failure.kind_from = None;
        }
        said
    }

    /// [`Mapping::corrected`] for a result with its content alone.
    pub(crate) fn corrected_content(
        &self,
        row: RawValue<'_>,
        result: &ToolResult<'_>,
        said: Assessment,
        changed: &mut Changed,
    ) -> Assessment {
        let parts = ResultParts { body: result.body.map(Cow::Borrowed), ..ResultParts::default() };
        self.corrected(&SourceRow::alone(row), &parts, result, said, changed)
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

    /// The run of a row by this mapping, if that is another one than `named`.
    pub(super) fn other_run(&self, row: &SourceRow<'_>, named: Option<&str>, changed: &mut Changed) -> Option<String> {
        let own = scalar_of(self.run.as_ref()?, row).filter(|own| !own.is_empty() && Some(&**own) != named)?;
        changed.runs += 1;
        Some(own.into_owned())
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
