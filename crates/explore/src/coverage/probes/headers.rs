//! Probes for what an upstream says of waiting in its headers: each source alone and before the next one, and each fault.

use std::sync::Arc;

use super::limits::in_words;
use crate::coverage::fixture_builder::{FixtureBuilder, LATENCY, NamedBuilder, failure, ok};
use crate::coverage::path::Generator;
use crate::shape::CallShape;
use playproof_engine::event::{Headers, WishFaults};
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{DelayFormat, DelaySource, Retry, ServerDelayMode};
use playproof_engine::upstream::UpstreamReply;

/// When the answer comes, by the upstream's own clock: in seconds since 1970, and as HTTP writes it.
const DATE: (u32, &str) = (784_111_770, "Sun, 06 Nov 1994 08:49:30 GMT");

/// Header lists that a playbook may read in different ways.
type Said = Vec<(String, String)>;

pub(super) fn for_headers(generator: &Generator<'_>) -> Vec<NamedBuilder> {
    let sources = &generator.plan.playbook.server_delay_sources;
    let mut found = Vec::new();
    for (id, verdict) in (0..).map(VerdictId).zip(&generator.plan.playbook.verdicts) {
        let Some(retry) = verdict.then.retry() else { continue };
        if !is_heard(retry) {
            continue;
        }
        let mut shapes = CallShape::all().into_iter();
        let Some((shape, made)) = shapes.find_map(|shape| Some((shape, generator.failure(id, shape, 1, None)?))) else {
            continue;
        };
        let tool = made.tool_for(shape);
        for said in all_said(sources) {
            let Some(mut failed) = in_words(failure(generator, made, shape, 1, tool), LATENCY) else { continue };
            if let UpstreamReply::Failed(Some(error)) = &mut failed.reply {
                let own = error.headers.iter().map(|header| (header.name.to_string(), header.value.to_string()));
                let headers = Headers::new(own.chain(said));
                Arc::make_mut(error).headers = headers;
            }
            let title = format!("{}: the upstream says in a header how long to wait", verdict.name);
            let builder = FixtureBuilder::of(title, shape, tool).answered([failed, ok()]);
            found.push((format!("{}-with-a-header", verdict.name), builder));
        }
    }
    found
}

fn is_heard(retry: &Retry) -> bool {
    retry.server_delay.mode != ServerDelayMode::Ignore || retry.server_delay.stops_at != WishFaults::default()
}

fn all_said(sources: &[DelaySource]) -> Vec<Said> {
    let of = |source: &DelaySource, value: String| vec![(source.header.clone(), value)];
    let mut all = Vec::new();
    for (n, source) in sources.iter().enumerate() {
        all.push([of(source, value(source, 2, "")), dated()].concat());
        if let Some(next) = sources.get(n + 1).filter(|next| next.header != source.header) {
            all.push([of(source, value(source, 2, "")), of(next, value(next, 3, "")), dated()].concat());
        }
        if source.format != DelayFormat::HttpDate {
            all.push([of(source, value(source, 2, ".5")), dated()].concat());
        }
        for fault in ["-1", "soon"] {
            all.push([of(source, fault.to_owned()), dated()].concat());
        }
        all.push([of(source, value(source, 2, "")), of(source, value(source, 3, "")), dated()].concat());
    }
    all
}

fn dated() -> Said {
    vec![("date".to_owned(), DATE.1.to_owned())]
}

/// A value that asks for so many seconds, and `places` more of its unit.
fn value(source: &DelaySource, seconds: u32, places: &str) -> String {
    match source.format {
        DelayFormat::Millis => format!("{}{places}", seconds * 1_000),
        DelayFormat::Seconds => format!("{seconds}{places}"),
        DelayFormat::UnixTime => format!("{}{places}", DATE.0 + seconds),
        DelayFormat::HttpDate => format!("Sun, 06 Nov 1994 08:49:{} GMT", 30 + seconds),
    }
}
