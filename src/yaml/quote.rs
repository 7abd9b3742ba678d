//! Texts as YAML that is read back as the very same text. Writes no format.

/// The text in single quotes, or in double quotes where a line could break.
pub fn quoted(text: &str) -> String {
    if text.chars().any(char::is_control) {
        return serde_json::Value::from(text).to_string();
    }
    format!("'{}'", text.replace('\'', "''"))
}
