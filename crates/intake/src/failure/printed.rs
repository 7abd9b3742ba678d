//! Reads the printed form of an MCP result or of a tool message in Python: its flag and its texts. Evaluates nothing.

use crate::python::string;

/// The printed form of a result: its flag, and its texts.
pub(super) struct PrintedResult {
    pub(super) is_error: Option<bool>,
    pub(super) texts: Vec<String>,
}

/// The MCP result that `text` prints, such as `meta=None content=[TextContent(type='text', text='...')] isError=True`.
pub(super) fn printed_result(text: &str) -> Option<PrintedResult> {
    const HEADS: [&str; 6] =
        ["meta=", "_meta=", "CallToolResult(", "content=[", "result=CallToolResult(", "root=CallToolResult("];
    if !HEADS.iter().any(|head| text.starts_with(head)) {
        return None;
    }
    let mut result = PrintedResult { is_error: None, texts: Vec::new() };
    let mut rest = text;
    // Outside string literals, `text=` begins the text of a part, and `isError=` the flag.
    while let Some(at) = rest.find(['\'', '"', '=']) {
        let (before, found) = rest.split_at(at);
        if found.starts_with('=') {
            let value = found.get(1..)?;
            match before.trim_end() {
                name if name.ends_with("isError") || name.ends_with("is_error") => {
                    result.is_error = Some(value.starts_with("True"));
                }
                name if name.ends_with("text") && value.starts_with(['\'', '"']) => {
                    // A text that is cut has no end.
                    let Some((content, after)) = string(value) else {
                        result.texts.push(value.get(1..)?.to_owned());
                        break;
                    };
                    result.texts.push(content);
                    rest = after;
                    continue;
                }
                _ => {}
            }
            rest = value;
        } else {
            rest = string(found)?.1;
        }
    }
    (result.is_error.is_some() || !result.texts.is_empty()).then_some(result)
}

/// The tool message that `text` prints, such as `content='...' name='search' tool_call_id='call_1' status='error'`.
pub(super) fn printed_message(text: &str) -> Option<PrintedResult> {
    let inner = text.strip_prefix("ToolMessage(").unwrap_or(text);
    let (content, fields) = string(inner.strip_prefix("content=")?)?;
    // Fields follow, and name the call that the message answers.
    let fields = fields.strip_prefix(", ").or_else(|| fields.strip_prefix(' '))?;
    if !fields.contains("tool_call_id='") {
        return None;
    }
    let is_error = fields.contains("status='error'").then_some(true);
    Some(PrintedResult { is_error, texts: vec![content] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_tool_message_gives_its_status_and_its_content() {
        let read = |text: &str| printed_message(text).map(|found| (found.is_error, found.texts.concat()));
        let call = "name='chart' tool_call_id='call_1'";
        assert_eq!(read(&format!("content='{{\"ok\": \\'a\\'}}' {call}")), Some((None, "{\"ok\": 'a'}".into())));
        assert_eq!(read(&format!("content=\"x\" {call} status='error'")), Some((Some(true), "x".into())));
        assert_eq!(
            read("ToolMessage(content='x', tool_call_id='call_1', status='error')"),
            Some((Some(true), "x".into()))
        );
        for other in ["content='x'", "content='x' and more", "content=[1] tool_call_id='a'", "content is king"] {
            assert!(read(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_printed_result_gives_its_flag_and_its_texts() {
        let text = "meta=None content=[TextContent(type='text', text='a \\'b\\' isError=True', annotations=None), \
                    TextContent(type='text', text=\"c\")] structuredContent=None isError=False";
        let found = printed_result(text).expect("a result");
        assert_eq!((found.is_error, found.texts), (Some(false), vec!["a 'b' isError=True".into(), "c".into()]));
        assert!(printed_result("content is king").is_none());
    }
}
