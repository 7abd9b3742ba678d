//! The dispatcher as a program has it: the future of a call makes its requests, and waits for them and for moments.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::time::Sleep;

use playproof_engine::drive::NewCall;
use playproof_engine::event::RequestKind;
use playproof_engine::ids::{AttemptNo, CallId};
use playproof_engine::plan::Plan;
use playproof_protocol::chain::{Chain, NoChain, bare};

use crate::core::{Core, Next};
use crate::journal::Unread;
use crate::recorder::Recorder;
use crate::request::{Attempt, Ended, Failure};

/// A dispatcher under one plan; results are of type `T`. Clones are the same dispatcher.
pub struct Dispatcher<T>(Arc<Mutex<Core<T>>>);

/// A run has calls that have not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCalls;

/// Why a journal cannot be gone on with.
#[derive(Debug)]
pub struct NoJournal(String);

impl fmt::Display for NoJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoJournal {}

impl From<io::Error> for NoJournal {
    fn from(error: io::Error) -> NoJournal {
        NoJournal(error.to_string())
    }
}

impl From<Unread> for NoJournal {
    fn from(why: Unread) -> NoJournal {
        NoJournal(match why {
            Unread::Damaged { line, what } => format!("line {line}: {what}"),
            Unread::Other(head) => format!("another playbook or version decided it: {head}"),
        })
    }
}

impl From<NoChain> for NoJournal {
    fn from(why: NoChain) -> NoJournal {
        NoJournal(why.to_string())
    }
}

impl<T> Clone for Dispatcher<T> {
    fn clone(&self) -> Self {
        Dispatcher(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Dispatcher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher").finish_non_exhaustive()
    }
}

impl<T: Clone> Dispatcher<T> {
    /// A dispatcher without calls. What it is told and decides is written by `recorder`.
    pub fn new(plan: Plan, recorder: Option<Recorder>) -> Dispatcher<T> {
        Dispatcher::in_slow_motion(plan, recorder, 1)
    }

    /// The same in slow motion, for tests: a microsecond takes so many of tokio's, whose timers count milliseconds. Under
    /// tokio's paused clock that costs no time, and waits of microseconds are exact.
    pub fn in_slow_motion(plan: Plan, recorder: Option<Recorder>, slowness: u32) -> Dispatcher<T> {
        let mut core = Core::new(plan, slowness.max(1));
        if let Some(recorder) = recorder {
            core.record(recorder);
            core.begin();
        }
        Dispatcher(Arc::new(Mutex::new(core)))
    }

    /// Goes on with a journal, or begins one in an empty file, which is opened for reading and writing. A torn last line is
    /// dropped: nothing followed from it. The calls that were open when their program died are ended, and given: what was out
    /// is answered with the kind `interrupted`, for which the playbook has rules, and what waited is cancelled. The results of
    /// earlier calls are gone: who is served from a key's kept result gets no value. A chained journal goes on with its chain.
    ///
    /// # Errors
    /// The file cannot be read or written, or another program has it; a damaged line or chain; a journal of another playbook or
    /// version.
    pub fn resume(plan: Plan, mut file: File) -> Result<(Dispatcher<T>, Vec<Ended<T>>), NoJournal> {
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => NoJournal("another program has the journal".to_owned()),
            TryLockError::Error(error) => error.into(),
        })?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1));
        file.set_len(bytes.len() as u64)?;
        file.seek(SeekFrom::End(0))?;
        let recorder = Recorder::durable(file);
        let recorder = if Chain::has_begun(&bytes) { recorder.going_on(Chain::of(&bytes)?) } else { recorder };
        let text = std::str::from_utf8(&bytes).map_err(|_| NoJournal("it is not UTF-8".to_owned()))?;
        let text = bare(text.as_bytes());
        let text = std::str::from_utf8(&text).unwrap_or_default(); // it was
        let mut core = Core::new(plan, 1);
        core.record(recorder);
        let mut ended = Vec::new();
        if text.is_empty() {
            core.begin();
        } else {
            let decided = core.read(text)?;
            ended = core.go_on(decided);
        }
        Ok((Dispatcher(Arc::new(Mutex::new(core))), ended))
    }

    /// Makes a call. `upstream` makes one request of it, as often as the playbook says: [`Attempt::asked`] says whether it is
    /// an attempt, a refresh of the evidence or a reversal.
    ///
    /// The call is made when the future is polled first, and cancelled when it is dropped. A request whose time is over is
    /// dropped. A future that is not polled makes no request, and keeps its permit.
    pub async fn call<F, Fut>(&self, new: NewCall, mut upstream: F) -> Ended<T>
    where
        F: FnMut(Attempt) -> Fut,
        Fut: Future<Output = Result<T, Failure>>,
    {
        let call = self.with(|core| core.call(new));
        let mut guard = Guard { dispatcher: self, call, is_over: false };
        let mut out: Option<Out<Fut>> = None;
        let mut sleep: Option<Pin<Box<Sleep>>> = None;
        let ended = std::future::poll_fn(move |context| {
            loop {
                if let Some(Out { of, asked, request }) = &mut out
                    && let Poll::Ready(result) = request.as_mut().poll(context)
                {
                    let (of, asked) = (*of, *asked);
                    out = None;
                    self.with(|core| core.answered(of, asked, result));
                }
                match self.with(|core| core.next(call, context.waker())) {
                    Next::Send(of, attempt) => {
                        let asked = attempt.asked;
                        out = Some(Out { of, asked, request: Box::pin(upstream(attempt)) });
                    }
                    Next::Stop => out = None,
                    Next::End(ended) => return Poll::Ready(ended),
                    Next::Wait(None) => return Poll::Pending,
                    Next::Wait(Some(due)) => {
                        if !has_come(&mut sleep, due, context) {
                            return Poll::Pending;
                        }
                        self.with(|core| core.fire_own(call, due));
                    }
                }
            }
        })
        .await;
        guard.is_over = true;
        ended
    }

    /// An attempt of the call `name` is answered though its request was dropped: one that runs elsewhere, such as in a task. It
    /// changes no decision of that call, and is evidence for later ones. False: nobody lacks this answer.
    pub fn late(&self, name: &str, attempt: AttemptNo, result: Result<(), Failure>) -> bool {
        self.with(|core| core.late(name, attempt, result))
    }

    /// A run makes no more calls: what it used is forgotten.
    ///
    /// # Errors
    /// It has open calls.
    pub fn end_run(&self, run: &str) -> Result<(), OpenCalls> {
        if self.with(|core| core.end_run(run)) { Ok(()) } else { Err(OpenCalls) }
    }

    /// The calls that have not ended.
    pub fn open_calls(&self) -> usize {
        self.with(|core| core.open_calls())
    }

    /// The lines that the recorder could not write. Its file is whole up to the first of them, and ends there; calls go on.
    pub fn lost_lines(&self) -> u64 {
        self.with(|core| core.lost_lines())
    }

    /// Does something behind the lock. Futures are woken, and results dropped, when it is free again.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut Core<T>) -> R) -> R {
        let mut core = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let result = act(&mut core);
        let afterwards = core.take_afterwards();
        drop(core);
        for waker in afterwards.woken {
            waker.wake();
        }
        result
    }
}

/// A request that is out.
struct Out<Fut> {
    of: CallId,
    asked: RequestKind,
    request: Pin<Box<Fut>>,
}

/// Whether a moment has come; if not, the future is woken then.
fn has_come(sleep: &mut Option<Pin<Box<Sleep>>>, due: tokio::time::Instant, context: &mut Context<'_>) -> bool {
    let sleep = sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
    if sleep.deadline() != due {
        sleep.as_mut().reset(due);
    }
    sleep.as_mut().poll(context).is_ready()
}

/// Tells the dispatcher that a caller went away: its future was dropped, or its handler panicked.
struct Guard<'a, T: Clone> {
    dispatcher: &'a Dispatcher<T>,
    call: CallId,
    is_over: bool,
}

impl<T: Clone> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        if !self.is_over {
            self.dispatcher.with(|core| core.gone(self.call));
        }
    }
}
