//! Ten thousand calls at once: each end is accounted for, and nothing is left.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::place::{after, dispatcher, write};

const CALLS: u32 = 10_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_at_once_all_end_and_leave_nothing() {
    let dispatcher = dispatcher();
    let began = Instant::now();
    let (out, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let calls: Vec<_> = (0..CALLS)
        .map(|n| {
            let (dispatcher, out, most) = (dispatcher.clone(), Arc::clone(&out), Arc::clone(&most));
            tokio::spawn(async move {
                let call = dispatcher.call(write(&format!("c{n}")), |_| {
                    let out = Out::new(&out, &most);
                    async move {
                        let _out = out;
                        match n % 50 {
                            1 => std::panic::resume_unwind(Box::new("a handler")), // without a message
                            2 => std::thread::sleep(Duration::from_millis(1)),
                            _ => tokio::task::yield_now().await,
                        }
                        Ok(n)
                    }
                });
                match n % 5 {
                    0 => timeout(Duration::from_micros(u64::from(n) * 37 % 900_000), call).await.ok(),
                    _ => Some(call.await),
                }
            })
        })
        .collect();
    let (mut ended, mut dropped, mut panicked) = (0, 0, 0);
    for (n, call) in calls.into_iter().enumerate() {
        match call.await {
            Ok(Some(end)) => {
                assert_eq!(end.value, u32::try_from(n).ok(), "{:?}", end.outcome);
                ended += 1;
            }
            Ok(None) => dropped += 1,
            Err(error) => panicked += u32::from(error.is_panic()),
        }
    }
    assert_eq!(ended + dropped + panicked, CALLS);
    assert!(ended >= 7_000 && dropped > 0 && panicked == 200, "{ended} ended, {dropped} dropped, {panicked} panicked");
    assert_eq!(dispatcher.open_calls(), 0);
    assert_eq!((out.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (0, 8), "eight permits, and none is lost");
    assert!(dispatcher.call(write("last"), |_| after(1)).await.value.is_some());
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

/// Counts the requests that are out.
struct Out(Arc<AtomicU32>);

impl Out {
    fn new(out: &Arc<AtomicU32>, most: &AtomicU32) -> Out {
        most.fetch_max(out.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        Out(Arc::clone(out))
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
