//! A state that several threads change, and for whose changes they wait. Knows nothing of the state.

use std::sync::{Condvar, Mutex, PoisonError};

/// A state that threads share. If one panics, the others still reach it.
#[derive(Debug)]
pub struct Shared<T> {
    state: Mutex<Waited<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Waited<T> {
    state: T,
    /// Threads that wait for a change.
    waiting: usize,
}

impl<T> Shared<T> {
    /// Shares a state.
    pub const fn new(state: T) -> Shared<T> {
        Shared { state: Mutex::new(Waited { state, waiting: 0 }), changed: Condvar::new() }
    }

    /// Changes the state, and wakes the threads that wait.
    pub fn change(&self, change: impl FnOnce(&mut T)) {
        let mut shared = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut shared.state);
        let is_awaited = shared.waiting > 0;
        drop(shared);
        if is_awaited {
            self.changed.notify_all(); // a system call: only if a thread waits
        }
    }

    /// Waits until `find` finds something in the state, which it may take.
    pub fn wait<F>(&self, mut find: impl FnMut(&mut T) -> Option<F>) -> F {
        let mut shared = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(found) = find(&mut shared.state) {
                return found;
            }
            shared.waiting += 1;
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
            shared.waiting -= 1;
        }
    }

    /// Makes `change` if this thread panics before the guard is dropped, so that no other waits forever.
    pub fn at_panic<F: Fn(&mut T)>(&self, change: F) -> impl Drop + use<'_, T, F> {
        PanicGuard { shared: self, change }
    }

    /// The state at the end.
    pub fn into_inner(self) -> T {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).state
    }
}

struct PanicGuard<'s, T, F: Fn(&mut T)> {
    shared: &'s Shared<T>,
    change: F,
}

impl<T, F: Fn(&mut T)> Drop for PanicGuard<'_, T, F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.change(&self.change);
        }
    }
}
