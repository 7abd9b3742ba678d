//! Tells the foreign formats apart by the shape of their beginning. Parses nothing, and never claims our own lines.

/// A foreign format that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceFormat {
    /// Arrays of OpenAI chat messages, or JSON Lines of them.
    OpenAi,
    /// A results file of tau-bench.
    Tau,
    /// A results file of tau2-bench.
    Tau2,
}

impl SourceFormat {
    /// The name for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            SourceFormat::OpenAi => "OpenAI chat messages",
            SourceFormat::Tau => "tau-bench results",
            SourceFormat::Tau2 => "tau2-bench results",
        }
    }
}

/// The `type`s of our own trace format.
const OWN_TYPES: [&[u8]; 6] = [b"tool_call", b"tool_result", b"run_end", b"crash", b"commit", b"rolled_back"];

/// The foreign format that `bytes` begin like. A beginning is enough: 64 KiB tell all but the strangest files.
pub fn detect(bytes: &[u8]) -> Option<SourceFormat> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut skim = Skim { bytes, at: 0 };
    match skim.next()? {
        b'{' => of_object(&skim.keys()),
        b'[' => of_array(skim),
        _ => None,
    }
}

fn of_object(keys: &Keys<'_>) -> Option<SourceFormat> {
    if keys.has("tool", b'"') || keys.own_type {
        return None;
    }
    let cut_tau2 = keys.cut && keys.has("info", b'{') && (keys.has("timestamp", b'"') || keys.has("tasks", b'['));
    if keys.has("simulations", b'[') || cut_tau2 {
        return Some(SourceFormat::Tau2);
    }
    (keys.has("messages", b'[') || keys.has("role", b'"')).then_some(SourceFormat::OpenAi)
}

fn of_array(mut skim: Skim<'_>) -> Option<SourceFormat> {
    match skim.next()? {
        b'{' => {
            let keys = skim.keys();
            let cut_tau = keys.cut && keys.any("task_id") && keys.any("reward");
            if keys.has("traj", b'[') || cut_tau {
                return Some(SourceFormat::Tau);
            }
            of_object(&keys).filter(|&format| format == SourceFormat::OpenAi)
        }
        b'[' if skim.next()? == b'{' => skim.keys().has("role", b'"').then_some(SourceFormat::OpenAi),
        _ => None,
    }
}

/// The names of one object as far as the bytes reach, each with the first byte of its value.
#[derive(Default)]
struct Keys<'a> {
    names: Vec<(&'a [u8], u8)>,
    own_type: bool,
    cut: bool,
}

impl Keys<'_> {
    fn has(&self, name: &str, first: u8) -> bool {
        self.names.contains(&(name.as_bytes(), first))
    }

    fn any(&self, name: &str) -> bool {
        self.names.iter().any(|&(known, _)| known == name.as_bytes())
    }
}

/// A walk over JSON that may be cut anywhere and is not checked.
struct Skim<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Skim<'a> {
    /// The next byte that is no white space; steps over it.
    fn next(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            if !byte.is_ascii_whitespace() {
                return Some(byte);
            }
        }
    }

    /// The names of the object whose brace was just stepped over.
    fn keys(&mut self) -> Keys<'a> {
        let mut keys = Keys::default();
        keys.cut = self.fill(&mut keys).is_none();
        keys
    }

    /// None where the bytes end first.
    fn fill(&mut self, keys: &mut Keys<'a>) -> Option<()> {
        loop {
            match self.next()? {
                b'"' => {}
                b',' => continue,
                _ => return Some(()), // the closing brace, or nothing that we know
            }
            let name = self.rest_of_string()?;
            if self.next()? != b':' {
                return Some(());
            }
            let first = self.next()?;
            keys.names.push((name, first));
            if first == b'"' {
                let value = self.rest_of_string()?;
                keys.own_type |= name == b"type" && OWN_TYPES.contains(&value);
            } else {
                self.rest_of_value(first)?;
            }
        }
    }

    /// The content of the string whose opening quote was just stepped over, escapes as written.
    fn rest_of_string(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return self.bytes.get(start..self.at - 1);
            }
        }
    }

    /// Steps over the rest of a value that began with `first` and is no string.
    fn rest_of_value(&mut self, first: u8) -> Option<()> {
        let mut depth = usize::from(matches!(first, b'{' | b'['));
        if depth == 0 {
            while !matches!(self.bytes.get(self.at)?, b',' | b'}' | b']') {
                self.at += 1;
            }
            return Some(());
        }
        while depth > 0 {
            match self.next()? {
                b'"' => drop(self.rest_of_string()?),
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_known_by_its_beginning() {
        let openai = Some(SourceFormat::OpenAi);
        for text in [
            "[{\"role\":\"user\",\"content\":\"hi\"}]",
            " [\n[ {\"content\": null, \"role\": \"assistant\"",
            "{\"id\": 7, \"messages\": [",
            "{\"messages\": [{\"role\":\"user\"}]}\n{\"messages\": []}",
            "\u{feff}{\"role\":\"user\",\"content\":\"\\\"\"}",
        ] {
            assert_eq!(detect(text.as_bytes()), openai, "{text}");
        }
        assert_eq!(detect(b"[{\"task_id\": 1, \"info\": {\"a\": [1]}, \"traj\": []}]"), Some(SourceFormat::Tau));
        assert_eq!(detect(b"[{\"task_id\": 1, \"reward\": 0, \"info\": {\"a\":"), Some(SourceFormat::Tau));
        assert_eq!(detect(b"{\"simulations\":[{"), Some(SourceFormat::Tau2));
        assert_eq!(detect(b"{\"timestamp\": \"t\", \"info\": {\"simulations"), Some(SourceFormat::Tau2));
    }

    #[test]
    fn our_own_lines_and_what_nobody_knows_are_not_claimed() {
        for text in [
            "",
            "[]",
            "{}",
            "7",
            "[7]",
            "{\"tool\":\"x\",\"messages\":[],\"role\":\"agent\"}",
            "{\"type\":\"tool_result\",\"role\":\"agent\",\"status\":\"ok\"}",
            "{\"messages\": 3}",
            "{\"role\": 3}",
            "[[[{\"role\":\"user\"}]]]",
            "{\"timestamp\": \"t\", \"info\": {}}",
            "{\"\\",
        ] {
            assert_eq!(detect(text.as_bytes()), None, "{text}");
        }
    }
}
