//! Feeds random bytes to the target `cases`; what must hold stands in `tests/corpus/targets.rs`.
#![no_main]

#[path = "../../tests/corpus/targets.rs"]
#[expect(dead_code, reason = "each fuzz target runs one of them")]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::cases(data));
