//! What the recorder writes: the same bytes from the same inputs under tokio's paused clock, whole up to what could not be
//! written, and durable where that is asked for. `crates/serve` reads its journals again.

use std::fs::File;
use std::time::Duration;

use playproof_live::{Dispatcher, Recorder};
use tokio::time::{sleep, timeout};

use crate::place::{Memory, after, failed, keyed, plan, recorded, silent, write};

/// What some callers do in the same way each time.
async fn story(dispatcher: &Dispatcher<u32>) {
    let kept = dispatcher.call(keyed("a", "ik_00000001"), |_| after(3));
    let joins = dispatcher.call(keyed("b", "ik_00000001"), |_| after(3));
    let fails = dispatcher.call(keyed("c", "ik_00000002"), |_| async { failed("5xx") });
    let dropped = timeout(Duration::from_millis(2), dispatcher.call(write("d"), silent));
    let _ = tokio::join!(kept, joins, fails, dropped);
    sleep(Duration::from_secs(1)).await;
    let _ = dispatcher.call(write("e"), silent).await;
}

#[tokio::test(start_paused = true)]
async fn the_same_story_under_the_paused_clock_has_the_same_journal() {
    let ((first, one), (second, other)) = (recorded(), recorded());
    story(&first).await;
    // Tokio's clock goes on from where the first story ended.
    let second = {
        drop(second);
        Dispatcher::new(plan(), Some(Recorder::new(other.clone())))
    };
    let before = other.text().lines().count();
    story(&second).await;
    let told: Vec<String> = other.text().lines().skip(before - 1).map(str::to_owned).collect();
    assert_eq!(one.text().lines().collect::<Vec<_>>(), told);
    assert!(told.len() > 30, "{told:#?}");
}

#[tokio::test(start_paused = true)]
async fn lines_that_cannot_be_written_are_counted_and_calls_go_on() {
    let memory = Memory::of_size(600);
    let dispatcher = Dispatcher::new(plan(), Some(Recorder::new(memory.clone())));
    assert_eq!(dispatcher.lost_lines(), 0);
    story(&dispatcher).await;
    assert!(dispatcher.lost_lines() > 20, "{}", dispatcher.lost_lines());
    assert_eq!((dispatcher.open_calls(), memory.text().len()), (0, 600));
}

#[tokio::test(start_paused = true)]
async fn a_durable_journal_has_each_line_before_its_request_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let dispatcher = Dispatcher::new(plan(), Some(Recorder::durable(File::create(&path).unwrap())));
    let ended = dispatcher
        .call(write("a"), |attempt| {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.contains("\"type\":\"call\",\"id\":\"a\"") && text.contains("\"attempt_started\""), "{text}");
            assert_eq!(attempt.name, "a");
            after(1)
        })
        .await;
    assert_eq!(ended.value, Some(7));
    assert!(std::fs::read_to_string(&path).unwrap().contains("\"event\":\"outcome\""));
}
