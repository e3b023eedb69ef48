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
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    is_taken: bool,
    waiting: VecDeque<Arc<Waiter>>,
}

#[derive(Debug)]
struct Waiter {
    thread: Thread,
    has_turn: AtomicBool,
}

/// Guard of the lock, which is handed on when the guard is dropped.
pub(crate) struct Turn<'a>(&'a Turns);

impl Turns {
    /// Waits for the lock in first-come, first-served order.
    pub(crate) fn take(&self) -> Turn<'_> {
        let waiter = {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            if !queue.is_taken {
                queue.is_taken = true;
                return Turn(self);
            }
            let waiter = Arc::new(Waiter { thread: thread::current(), has_turn: AtomicBool::new(false) });
            queue.waiting.push_back(Arc::clone(&waiter));
            waiter
        };
        // `park` may return spuriously, and any thread may call `unpark`.
        while !waiter.has_turn.load(Ordering::Acquire) {
            thread::park();
        }
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner);
        match queue.waiting.pop_front() {
            // `is_taken` stays set, so that no other thread can acquire the lock in between.
            Some(waiter) => {
                drop(queue);
                waiter.has_turn.store(true, Ordering::Release);
                waiter.thread.unpark();
            }
            None => queue.is_taken = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits until `length` threads are queued.
    fn await_queue(turns: &Turns, length: usize) {
        while turns.queue.lock().unwrap().waiting.len() < length {
            thread::yield_now();
        }
    }

    #[test]
    fn turns_come_in_the_order_in_which_they_were_asked_for() {
        const WRITERS: usize = 16;
        let (turns, order) = (Turns::default(), Mutex::new(Vec::new()));
        let first_turn = turns.take();
        thread::scope(|scope| {
            for number in 0..WRITERS {
                let (turns, order) = (&turns, &order);
                scope.spawn(move || {
                    let _turn = turns.take();
                    order.lock().unwrap().push(number);
                });
                await_queue(turns, number + 1);
            }
            drop(first_turn);
        });
        assert_eq!(order.into_inner().unwrap(), (0..WRITERS).collect::<Vec<_>>());
        assert!(!turns.queue.lock().unwrap().is_taken, "the last one has let it go");
    }

    #[test]
    fn whoever_comes_back_stands_behind_those_who_wait() {
        let (turns, order) = (Turns::default(), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            let first_turn = turns.take();
            scope.spawn(|| {
                let _turn = turns.take();
                order.lock().unwrap().push("other");
            });
            await_queue(&turns, 1);
            drop(first_turn);
            let _second_turn = turns.take();
            order.lock().unwrap().push("first again");
        });
        assert_eq!(order.into_inner().unwrap(), ["other", "first again"]);
    }

    #[test]
    fn one_at_a_time_has_it() {
        const TIMES: usize = 1_000;
        let (turns, is_inside, count) = (Turns::default(), AtomicBool::new(false), Mutex::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..TIMES {
                        let turn = turns.take();
                        assert!(!is_inside.swap(true, Ordering::SeqCst), "two have it");
                        *count.lock().unwrap() += 1;
                        is_inside.store(false, Ordering::SeqCst);
                        drop(turn);
                    }
                });
            }
        });
        assert_eq!(count.into_inner().unwrap(), 4 * TIMES);
    }
}
