//! Reusable buffers and calls, shared by all threads. Knows nothing of their contents.

use std::sync::{Mutex, MutexGuard, PoisonError};

use playproof_intake::call::CallBuilder;
use playproof_intake::digest;
use playproof_intake::digest::CallPool;

/// The usual number of calls of a piece.
const CALLS_A_PIECE: usize = 512;

/// The most calls in the pool.
const MAX_SPARE_CALLS: usize = 16 * CALLS_A_PIECE;

/// Larger buffers, grown by a long line, are dropped.
const MAX_SPARE_BUFFER: usize = 2 << 20;

/// A pool of allocations, because a trace has millions of calls.
#[derive(Default)]
pub(super) struct BufferPool {
    buffers: Mutex<Vec<Vec<u8>>>,
    calls: Mutex<CallPool>,
}

impl BufferPool {
    pub(super) fn buffer(&self) -> Vec<u8> {
        lock(&self.buffers).pop().unwrap_or_default()
    }

    pub(super) fn keep_buffer(&self, buffer: Vec<u8>) {
        if buffer.capacity() <= MAX_SPARE_BUFFER {
            lock(&self.buffers).push(buffer);
        }
    }

    /// As many calls as a piece of an input may need.
    pub(super) fn calls(&self) -> CallPool {
        let mut calls = lock(&self.calls);
        let keep = calls.len().saturating_sub(CALLS_A_PIECE);
        calls.split_off(keep)
    }

    pub(super) fn keep_calls(&self, done: impl IntoIterator<Item = Box<CallBuilder>>) {
        digest::recycle(done, &mut lock(&self.calls), MAX_SPARE_CALLS);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
