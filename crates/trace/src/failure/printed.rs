//! Reads the printed form of an MCP result in Python: its flag and its texts. Evaluates nothing.

use crate::python::string;

/// The printed form of an MCP result: its flag, and its texts.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_result_gives_its_flag_and_its_texts() {
        let text = "meta=None content=[TextContent(type='text', text='a \\'b\\' isError=True', annotations=None), \
                    TextContent(type='text', text=\"c\")] structuredContent=None isError=False";
        let found = printed_result(text).expect("a result");
        assert_eq!((found.is_error, found.texts), (Some(false), vec!["a 'b' isError=True".into(), "c".into()]));
        assert!(printed_result("content is king").is_none());
    }
}
