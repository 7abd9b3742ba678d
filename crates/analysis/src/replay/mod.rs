//! Replays recorded calls: streaming, in order, on any number of threads.

mod attempts;
mod begun_again;
mod bounded_map;
mod buffer_pool;
mod call_result;
mod counts;
mod distribution;
mod effect_scope;
mod effect_sums;
mod engine;
mod facts_cache;
mod failures;
mod frequent;
mod graph_counts;
mod hidden_intent;
mod io;
mod lanes;
mod message_template;
mod odd_steps;
mod open_actions;
pub mod pairs;
mod parts_link;
mod pipeline;
mod plan_state;
mod possible_duplicates;
mod recorded;
mod recorded_outages;
mod repeated_actions;
mod run_ends;
mod shared_counts;
mod stages;
mod step_order;
mod successes;
mod summary;
mod told_again;
mod used_keys;

pub use attempts::{Judges, finding, judge as judge_attempts};
pub use call_result::{CallMarks, CallResult, FactsUsed, RequestMark, ShownCall};
pub use counts::Counts;
pub use distribution::{Distribution, Percentiles};
pub use engine::replay;
pub use failures::FailureCounts;
pub use frequent::{Frequent, FrequentRow};
pub use graph_counts::{GraphCounts, Refusals};
pub use hidden_intent::SentIn;
pub use io::{InputAccount, Inputs, Observer, ReplayError, ReplayOptions, Replayed, UnreadInput};
pub use lanes::{SessionOptions, Sessions, key_hash};
pub use message_template::{MessageTemplates, has_predicate, head, write_template};
pub use odd_steps::{OddStepCount, OddSteps};
pub use parts_link::{InTwoParts, LinkObserver, PartLinks};
pub use possible_duplicates::PossibleDuplicates;
pub use recorded::RecordingAnalysis;
pub use run_ends::{UnsettledRuns, UnsettledWrite};
pub use shared_counts::{
    ByDispatcher, CircuitCounts, DispatcherName, RetryBudgetCounts, SharedCounts, Sum, ToolCallCounts,
};
pub use stages::told_at;
pub use step_order::has_steps;
pub use summary::{Effects, FindingCounts, Summary};
pub use told_again::settle_told;

pub use playproof_intake::digest::FirstUnknown;
pub use playproof_intake::input::TraceInput;
pub use playproof_intake::wire::UnknownName;
