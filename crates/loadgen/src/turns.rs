//! Fair lock for writing clients of an embedded engine that admits a single writer at a time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};

/// A lock that each holder hands to the thread that has waited longest.
///
/// `std::sync::Mutex` is not fair: a thread that releases it usually reacquires it before the next one has
/// woken up.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    is_taken: bool,
    waiting: VecDeque<Arc<Waiter>>,
}

#[derive(Debug)]
struct Waiter {
    thread: Thread,
    has_come: AtomicBool,
}

/// Guard of the lock, which is handed on when the guard is dropped.
pub(crate) struct Turn<'a>(&'a Turns);

impl Turns {
    /// Waits for the lock in first-come, first-served order.
    pub(crate) fn take(&self) -> Turn<'_> {
        let waiter = {
            let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
            if !line.is_taken {
                line.is_taken = true;
                return Turn(self);
            }
            let waiter = Arc::new(Waiter { thread: thread::current(), has_come: AtomicBool::new(false) });
            line.waiting.push_back(Arc::clone(&waiter));
            waiter
        };
        // `park` may return spuriously, and any thread may call `unpark`.
        while !waiter.has_come.load(Ordering::Acquire) {
            thread::park();
        }
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut line = self.0.line.lock().unwrap_or_else(PoisonError::into_inner);
        match line.waiting.pop_front() {
            // `is_taken` stays set, so that no other thread can acquire the lock in between.
            Some(next) => {
                drop(line);
                next.has_come.store(true, Ordering::Release);
                next.thread.unpark();
            }
            None => line.is_taken = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits until `length` threads are queued.
    fn await_line(turns: &Turns, length: usize) {
        while turns.line.lock().unwrap().waiting.len() < length {
            thread::yield_now();
        }
    }

    #[test]
    fn turns_come_in_the_order_in_which_they_were_asked_for() {
        const WRITERS: usize = 16;
        let (turns, came) = (Turns::default(), Mutex::new(Vec::new()));
        let first = turns.take();
        thread::scope(|scope| {
            for number in 0..WRITERS {
                let (turns, came) = (&turns, &came);
                scope.spawn(move || {
                    let _turn = turns.take();
                    came.lock().unwrap().push(number);
                });
                await_line(turns, number + 1);
            }
            drop(first);
        });
        assert_eq!(came.into_inner().unwrap(), (0..WRITERS).collect::<Vec<_>>());
        assert!(!turns.line.lock().unwrap().is_taken, "the last one has let it go");
    }

    #[test]
    fn whoever_comes_back_stands_behind_those_who_wait() {
        let (turns, came) = (Turns::default(), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            let first = turns.take();
            scope.spawn(|| {
                let _turn = turns.take();
                came.lock().unwrap().push("other");
            });
            await_line(&turns, 1);
            drop(first);
            let _again = turns.take();
            came.lock().unwrap().push("first again");
        });
        assert_eq!(came.into_inner().unwrap(), ["other", "first again"]);
    }

    #[test]
    fn one_at_a_time_has_it() {
        const TIMES: usize = 1_000;
        let (turns, is_inside, times) = (Turns::default(), AtomicBool::new(false), Mutex::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..TIMES {
                        let turn = turns.take();
                        assert!(!is_inside.swap(true, Ordering::SeqCst), "two have it");
                        *times.lock().unwrap() += 1;
                        is_inside.store(false, Ordering::SeqCst);
                        drop(turn);
                    }
                });
            }
        });
        assert_eq!(times.into_inner().unwrap(), 4 * TIMES);
    }
}
