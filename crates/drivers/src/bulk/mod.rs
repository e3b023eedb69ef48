//! Bulk loads over several connections: one thread fills batches, and one thread per connection sends them.

pub(crate) mod text;

use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use jsonathlon_driver_api::driver::{self, DriverError, LoadSink, Result};

/// Maximum number of connections of a load. A server holds in memory what each of them has sent.
const AT_A_TIME: usize = 8;
/// Maximum size of all batches being sent, in bytes. A larger batch is sent alone, since a few documents can
/// be that large.
const UNDER_WAY: usize = 64 << 20;

/// Number of connections of a load that may use `cores` cores; 0 means all cores of the process.
pub(crate) fn connections(cores: usize) -> usize {
    driver::cores(cores).clamp(1, AT_A_TIME)
}

/// Positions in the stream of all offered documents, each with the reason of the rejection.
#[derive(Debug, Default)]
pub(crate) struct RejectedDocuments(pub(crate) Vec<(u64, String)>);

impl RejectedDocuments {
    pub(crate) fn push(&mut self, ordinal: u64, reason: String) {
        self.0.push((ordinal, reason));
    }

    pub(crate) fn append(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// Reports the rejected documents in stream order and returns their number.
    pub(crate) fn report(mut self, sink: &mut dyn LoadSink) -> u64 {
        self.0.sort_by_key(|(ordinal, _)| *ordinal);
        let count = self.0.len() as u64;
        for (ordinal, reason) in self.0 {
            sink.refused(ordinal, reason);
        }
        count
    }
}

/// Calls `fill` until it returns `None`, passes each batch to the next idle connection, and returns the
/// rejected documents. One further batch waits while all connections are busy, or while its `bytes` would
/// exceed the limit. A connection that failed is not used again.
///
/// # Errors
/// The first error of `fill` or `send`. Batches that are being sent are completed first.
///
/// # Panics
/// If `send` panics.
pub(crate) fn send_in_parallel<C: Send, B: Send>(
    connections: &mut [C],
    bytes: impl Fn(&B) -> usize + Sync,
    mut fill: impl FnMut() -> Result<Option<B>>,
    send: impl Fn(&mut C, B) -> Result<RejectedDocuments> + Sync,
) -> Result<RejectedDocuments> {
    let (give, batches) = sync_channel::<B>(0);
    let batches = Arc::new(Mutex::new(batches));
    let (tell, told) = channel::<(usize, Result<RejectedDocuments>)>();
    let mut refused = RejectedDocuments::default();
    let mut under_way = 0;
    std::thread::scope(|scope| {
        for connection in connections {
            let (batches, tell, send, bytes) = (batches.clone(), tell.clone(), &send, &bytes);
            let work = move || {
                while let Some(batch) = next(&batches) {
                    let size = bytes(&batch);
                    let answer = send(connection, batch);
                    let failed = answer.is_err();
                    if tell.send((size, answer)).is_err() || failed {
                        return;
                    }
                }
            };
            std::thread::Builder::new()
                .name("bulk".into())
                .spawn_scoped(scope, work)
                .map_err(|error| DriverError::Unavailable(format!("failed to start a thread: {error}")))?;
        }
        drop(tell);
        // Only the threads hold the receiving end, so sending fails once all of them have ended.
        drop(batches);
        // Dropped at the end of this block, whichever way it is left, so that the threads end.
        let give = give;
        while let Some(batch) = fill()? {
            // Checked before sending more, because the load fails with the first error anyway.
            for (size, answer) in told.try_iter() {
                under_way -= size;
                refused.append(answer?);
            }
            let size = bytes(&batch);
            while under_way > 0 && under_way + size > UNDER_WAY {
                let Ok((size, answer)) = told.recv() else { break };
                under_way -= size;
                refused.append(answer?);
            }
            under_way += size;
            if give.send(batch).is_err() {
                break;
            }
        }
        drop(give);
        told.iter().try_for_each(|(_, answer)| {
            refused.append(answer?);
            Ok::<(), DriverError>(())
        })
    })?;
    Ok(refused)
}

fn next<B>(batches: &Mutex<Receiver<B>>) -> Option<B> {
    batches.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn refusing(ordinal: u64) -> RejectedDocuments {
        RejectedDocuments(vec![(ordinal, "no".into())])
    }

    #[test]
    fn every_batch_is_sent_once_by_some_connection() {
        let mut connections = vec![Vec::new(); 3];
        let mut batches = 0..100;
        let send = |connection: &mut Vec<u64>, batch| {
            connection.push(batch);
            Ok(refusing(batch))
        };
        let refused = send_in_parallel(&mut connections, |_| 1, || Ok(batches.next()), send).unwrap();
        let mut ordinals: Vec<u64> = refused.0.iter().map(|(ordinal, _)| *ordinal).collect();
        ordinals.sort_unstable();
        assert_eq!(ordinals, (0..100).collect::<Vec<_>>());
        let mut sent = connections.concat();
        sent.sort_unstable();
        assert_eq!(sent, ordinals);
    }

    #[test]
    fn no_more_is_under_way_than_may_be_but_for_one_batch() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        for (size, at_once) in [(UNDER_WAY / 2, 2), (UNDER_WAY / 2 + 1, 1), (2 * UNDER_WAY, 1)] {
            let mut batches = 0..40;
            let send = |_: &mut (), _| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::yield_now();
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(RejectedDocuments::default())
            };
            send_in_parallel(&mut [(); 4], |_| size, || Ok(batches.next()), send).unwrap();
            assert!(most.swap(0, Ordering::SeqCst) <= at_once, "{size}");
        }
    }

    /// Endless batches. Filling batch number `fails` returns an error.
    fn endless(fails: u64) -> impl FnMut() -> Result<Option<u64>> {
        let mut count = 0;
        move || {
            count += 1;
            if count == fails { Err(DriverError::Refused("no".into())) } else { Ok(Some(count)) }
        }
    }

    #[test]
    fn the_first_failure_ends_it_wherever_it_is_and_its_connection_is_left_alone() {
        for (filled, sent) in [(7, 0), (0, 7)] {
            let mut connections = [false; 2];
            let failed = send_in_parallel(
                &mut connections,
                |_| 1,
                endless(filled),
                |broken, batch| {
                    assert!(!*broken, "a broken connection got another batch");
                    *broken = batch == sent;
                    if *broken {
                        Err(DriverError::Refused("no".into()))
                    } else {
                        Ok(RejectedDocuments::default())
                    }
                },
            );
            assert!(matches!(failed, Err(DriverError::Refused(_))), "{failed:?}");
        }
        // Every connection fails, so no thread is left to receive a batch.
        let failed =
            send_in_parallel(&mut [(); 2], |_| 1, endless(0), |(), _| Err(DriverError::Refused("no".into())));
        assert!(matches!(failed, Err(DriverError::Refused(_))), "{failed:?}");
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_thread_that_panics_ends_it_too() {
        send_in_parallel(&mut [()], |_| 1, endless(0), |(), _| panic!("on purpose")).ok();
    }

    #[test]
    fn connections_are_as_many_as_cores_within_reason() {
        assert!((1..=AT_A_TIME).contains(&connections(0)));
        assert_eq!((connections(1), connections(3), connections(1000)), (1, 3, AT_A_TIME));
    }
}
