//! What the recorder writes: the same bytes from the same inputs under tokio's paused clock, whole up to what could not be
//! written, and durable where that is asked for. `crates/serve` reads its journals again.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use playproof_live::{Dispatcher, EffectClaim, Recorder};
use playproof_protocol::chain::{Wanted, verify};
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
    let (first, one) = recorded();
    story(&first).await;
    let (second, other) = recorded(); // its clock begins here, where the first story has ended
    story(&second).await;
    assert_eq!(one.text(), other.text());
    assert!(one.text().lines().count() > 30, "{}", one.text());
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

/// A file that is opened as a journal is.
fn opened(path: &Path) -> File {
    File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap()
}

#[tokio::test(start_paused = true)]
async fn who_goes_on_with_a_journal_knows_what_was_known_and_ends_what_was_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let (first, none) = Dispatcher::<u32>::resume(plan(), opened(&path)).unwrap();
    assert!(none.is_empty());
    let locked = Dispatcher::<u32>::resume(plan(), opened(&path)).unwrap_err();
    assert!(locked.to_string().contains("another program"), "{locked}");
    story(&first).await;
    let is_out = first.call(write("out"), silent);
    let waits = first.call(keyed("waits", "ik_00000009"), |_| async { failed("429_rate_limited") });
    let (out, waiting) = tokio::join!(
        timeout(Duration::from_millis(2), Box::pin(is_out)),
        timeout(Duration::from_millis(2), Box::pin(waits))
    );
    assert!(out.is_err() && waiting.is_err());
    drop(first);
    // Their program did not live to cancel them, and was writing a line when it died.
    let text = std::fs::read_to_string(&path).unwrap();
    let before = text.find("{\"type\":\"cancel\",\"id\":\"out\"").unwrap();
    std::fs::write(&path, format!("{}{{\"type\":\"wa", &text[..before])).unwrap();

    let (second, ended) = Dispatcher::<u32>::resume(plan(), opened(&path)).unwrap();
    let shown: Vec<_> = ended.iter().map(|end| (&*end.name, end.outcome.kind.as_str(), end.outcome.claim)).collect();
    let unknown = EffectClaim::Unknown;
    assert_eq!(shown, [("out", "escalated", unknown), ("waits", "cancelled", EffectClaim::NotApplied)], "{ended:#?}");
    assert_eq!(second.open_calls(), 0);
    let kept = second.call(keyed("again", "ik_00000001"), |_| async { unreachable!("its result is kept") }).await;
    assert_eq!((kept.outcome.kind.as_str(), kept.value), ("cached", None));
    let taken = second.call(write("out"), |_| after(1)).await;
    assert_eq!(taken.value, Some(7));
    assert_ne!(taken.name, "out");
    drop(second);
    assert!(Dispatcher::<u32>::resume(plan(), opened(&path)).is_ok_and(|(_, ended)| ended.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn a_damaged_journal_and_one_of_another_playbook_are_refused_and_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    story(&Dispatcher::resume(plan(), opened(&path)).unwrap().0).await;
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let decision = lines.iter().position(|line| line.contains("\"attempt_started\"")).unwrap();
    let other = lines[decision].replace("\"attempt\":1", "\"attempt\":2");
    for (line, damage) in [(2, "{\"type\":\"call\"}"), (3, "no JSON"), (decision + 1, &*other)] {
        let mut lines = lines.clone();
        lines[line - 1] = damage;
        let damaged = lines.join("\n") + "\n";
        std::fs::write(&path, &damaged).unwrap();
        let why = Dispatcher::<u32>::resume(plan(), opened(&path)).unwrap_err().to_string();
        assert!(why.starts_with(&format!("line {line}: ")), "{damage}: {why}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
    }
    std::fs::write(&path, text.replacen("\"playbook\":\"dispatcher\"", "\"playbook\":\"ours\"", 1)).unwrap();
    let why = Dispatcher::<u32>::resume(plan(), opened(&path)).unwrap_err().to_string();
    assert!(why.contains("another playbook"), "{why}");
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

#[tokio::test(start_paused = true)]
async fn a_chained_journal_is_whole_and_goes_on_as_a_chain() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let recorder = Recorder::durable(opened(&path)).chained();
    let _ = Dispatcher::<u32>::new(plan(), Some(recorder)).call(write("a"), |_| after(1)).await;
    let entries = |path: &Path| verify(&std::fs::read(path).unwrap(), &Wanted::default()).unwrap();
    let before = entries(&path);
    let (dispatcher, open) = Dispatcher::<u32>::resume(plan(), opened(&path)).unwrap();
    assert!(open.is_empty());
    let _ = dispatcher.call(write("b"), |_| after(1)).await;
    drop(dispatcher);
    let now = entries(&path);
    assert!(before.problems.is_empty() && now.problems.is_empty() && now.entries > before.entries, "{now:?}");
    let text = std::fs::read_to_string(&path).unwrap().replacen("\"id\":\"a\"", "\"id\":\"c\"", 1);
    std::fs::write(&path, &text).unwrap();
    let why = Dispatcher::<u32>::resume(plan(), opened(&path)).unwrap_err().to_string();
    assert!(why.contains("its chain is not whole: line 2 was altered"), "{why}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}
