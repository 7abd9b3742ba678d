//! A recording in YAML as JSON, each value in the line in which it was. Knows no format.

use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::yaml::{self, Node, NodeKind, Scalar};

/// The JSON of a YAML text, called `name`. Tags are left out; a number that JSON cannot hold is a text.
pub(super) fn to_json(text: &str, name: &str) -> Result<String, Report> {
    let source = Source::whole(name, text);
    let root = yaml::recording(&source)?;
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(newline, _)| newline + 1)).collect();
    let mut writer = Writer { starts, line: 1, json: String::with_capacity(text.len()) };
    writer.value(&root);
    Ok(writer.json)
}

struct Writer {
    /// The start of each line of the YAML.
    starts: Vec<usize>,
    /// The line that is written, from 1.
    line: usize,
    json: String,
}

impl Writer {
    /// Writes a value, in a later line if it stands there.
    fn value(&mut self, node: &Node) {
        let line = self.starts.partition_point(|start| *start <= node.span.start);
        let breaks = line.saturating_sub(self.line); // none for an alias, which has the place of its value
        self.json.extend(std::iter::repeat_n('\n', breaks));
        self.line += breaks;
        match &node.kind {
            NodeKind::Scalar { text, value } => self.scalar(text, *value),
            NodeKind::List(items) => {
                self.json.push('[');
                for (n, item) in items.iter().enumerate() {
                    self.json.push_str(if n > 0 { "," } else { "" });
                    self.value(item);
                }
                self.json.push(']');
            }
            NodeKind::Map(entries) => {
                self.json.push('{');
                for (n, entry) in entries.iter().enumerate() {
                    self.json.push_str(if n > 0 { "," } else { "" });
                    self.text(&entry.key);
                    self.json.push(':');
                    self.value(&entry.value);
                }
                self.json.push('}');
            }
        }
    }

    fn scalar(&mut self, text: &str, value: Scalar) {
        match value {
            Scalar::Null => self.json.push_str("null"),
            Scalar::Bool(value) => self.json.push_str(if value { "true" } else { "false" }),
            Scalar::Whole(number) => self.json.push_str(&number.to_string()),
            Scalar::Float(_) if serde_json::from_str::<serde_json::Number>(text).is_ok() => self.json.push_str(text),
            Scalar::Float(_) | Scalar::Huge | Scalar::Text => self.text(text),
        }
    }

    fn text(&mut self, text: &str) {
        self.json.push_str(&serde_json::Value::from(text).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_its_own_line() {
        let text = "---\na:\n- b: &x 'it''s'\n  c: [1, 2.50,\n      .inf, ~]\nd:\n  e: *x\n  f: !!binary |\n    aGk=\n";
        let json = "[{\"b\":\"it's\",\"c\":\n[1,2.50,\n\".inf\",null]}]";
        let all = to_json(text, "t").unwrap_or_else(|report| panic!("{report}"));
        assert!(all.contains(json), "{all}");
        let line_of = |part: &str| all.find(part).map(|at| all[..at].matches('\n').count() + 1);
        assert_eq!((line_of("{\"b\""), line_of("\".inf\""), line_of("\"aGk=")), (Some(3), Some(5), Some(9)), "{all}");
        assert!(serde_json::from_str::<serde_json::Value>(&all).is_ok(), "{all}");
    }

    #[test]
    fn broken_yaml_is_reported_at_its_place() {
        let report = to_json("interactions:\n- request: {method: GET\n", "t.yaml").expect_err("broken");
        assert!(report.to_string().starts_with("t.yaml:"), "{report}");
    }
}
