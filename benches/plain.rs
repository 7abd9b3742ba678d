//! The best plain form of reading the same lines with serde_json: the tag is peeked at, then one struct a type,
//! strings borrowed, arguments skipped as raw JSON. Nothing is kept: this is what reading cannot be cheaper than.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use serde_json::value::RawValue;

/// A string that is copied only if it holds escapes.
struct S<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for S<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ReadS;
        impl<'de> Visitor<'de> for ReadS {
            type Value = S<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<S<'de>, E> {
                Ok(S(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<S<'de>, E> {
                Ok(S(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(ReadS)
    }
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    run_id: S<'a>,
    #[serde(borrow)]
    call_id: S<'a>,
    #[serde(borrow)]
    tool: S<'a>,
    at_ms: u64,
    #[serde(borrow)]
    args: &'a RawValue,
    #[serde(borrow)]
    idempotency_key: Option<S<'a>>,
    #[serde(borrow)]
    evidence_refs: Option<&'a RawValue>,
    #[serde(borrow)]
    reversal_token: Option<S<'a>>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    run_id: S<'a>,
    #[serde(borrow)]
    call_id: S<'a>,
    attempt: Option<u32>,
    started_ms: Option<u64>,
    at_ms: u64,
    #[serde(borrow)]
    status: S<'a>,
    #[serde(borrow)]
    error: Option<Failure<'a>>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow)]
    kind: Option<S<'a>>,
    #[serde(borrow)]
    message: Option<S<'a>>,
    status: Option<u16>,
    retry_after_ms: Option<u64>,
}

/// Reads every line and adds something up, so that nothing is optimised away.
pub fn deserialise(path: &Path) -> u64 {
    let mut file = File::open(path).expect("the trace");
    let (mut buffer, mut carry, mut sum) = (Vec::with_capacity(2 << 20), Vec::new(), 0);
    loop {
        buffer.clear();
        buffer.append(&mut carry);
        let read = file.by_ref().take(1 << 20).read_to_end(&mut buffer).expect("the trace is read");
        let end = memchr::memrchr(b'\n', &buffer).map_or(buffer.len(), |end| end + 1);
        carry.extend_from_slice(&buffer[end..]);
        let text = std::str::from_utf8(&buffer[..end]).expect("text");
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
            sum += line(&text[start..end]);
            start = end + 1;
        }
        if read == 0 {
            return sum;
        }
    }
}

fn line(line: &str) -> u64 {
    if line.get(..24).is_some_and(|start| start.contains("tool_call")) {
        let call: Call<'_> = serde_json::from_str(line).expect("a call");
        let texts = [&call.run_id, &call.call_id, &call.tool].map(|text| text.0.len()).iter().sum::<usize>();
        let more =
            [&call.idempotency_key, &call.reversal_token].map(|text| text.as_ref().map_or(0, |text| text.0.len()));
        let raw = call.args.get().len() + call.evidence_refs.map_or(0, |raw| raw.get().len());
        return (texts + more[0] + more[1] + raw) as u64 + call.at_ms;
    }
    let answer: Answer<'_> = serde_json::from_str(line).expect("an answer");
    let error = answer.error.map_or(0, |error| {
        let texts = [error.kind, error.message].map(|text| text.map_or(0, |text| text.0.len()));
        (texts[0] + texts[1]) as u64 + u64::from(error.status.unwrap_or(0)) + error.retry_after_ms.unwrap_or(0)
    });
    let texts = answer.run_id.0.len() + answer.call_id.0.len() + answer.status.0.len();
    texts as u64 + answer.at_ms + u64::from(answer.attempt.unwrap_or(1)) + answer.started_ms.unwrap_or(0) + error
}
