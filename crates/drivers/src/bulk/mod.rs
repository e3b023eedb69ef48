//! Bulk loads over several connections: one thread fills batches, and one thread per connection sends them.

pub(crate) mod text;

use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use jsonathlon_driver_api::driver::{self, DriverError, LoadSink, Result};

/// Maximum number of connections of a load. A server holds in memory what each of them has sent.
const MAX_CONNECTIONS: usize = 8;
/// Maximum size of all batches being sent, in bytes. A larger batch is sent alone, since a few documents can
/// be that large.
const MAX_PENDING_BYTES: usize = 64 << 20;

/// Number of connections of a load that may use `cores` cores; 0 means all cores of the process.
pub(crate) fn connections(cores: usize) -> usize {
    driver::cores(cores).clamp(1, MAX_CONNECTIONS)
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
            sink.reject(ordinal, reason);
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
    let (batch_sender, batches) = sync_channel::<B>(0);
    let batches = Arc::new(Mutex::new(batches));
    let (result_sender, results) = channel::<(usize, Result<RejectedDocuments>)>();
    let mut rejected = RejectedDocuments::default();
    let mut pending_bytes = 0;
    std::thread::scope(|scope| {
        for connection in connections {
            let (batches, result_sender) = (batches.clone(), result_sender.clone());
            let (send, bytes) = (&send, &bytes);
            let work = move || {
                while let Some(batch) = next_batch(&batches) {
                    let size = bytes(&batch);
                    let result = send(connection, batch);
                    let has_failed = result.is_err();
                    if result_sender.send((size, result)).is_err() || has_failed {
                        return;
                    }
                }
            };
            std::thread::Builder::new()
                .name("bulk".into())
                .spawn_scoped(scope, work)
                .map_err(|error| DriverError::Unavailable(format!("failed to start a thread: {error}")))?;
        }
        drop(result_sender);
        // Only the threads hold the receiving end, so sending fails once all of them have ended.
        drop(batches);
        // Dropped at the end of this block, whichever way it is left, so that the threads end.
        let batch_sender = batch_sender;
        while let Some(batch) = fill()? {
            // Checked before sending more, because the load fails with the first error anyway.
            for (size, result) in results.try_iter() {
                pending_bytes -= size;
                rejected.append(result?);
            }
            let size = bytes(&batch);
            while pending_bytes > 0 && pending_bytes + size > MAX_PENDING_BYTES {
                let Ok((size, result)) = results.recv() else { break };
                pending_bytes -= size;
                rejected.append(result?);
            }
            pending_bytes += size;
            if batch_sender.send(batch).is_err() {
                break;
            }
        }
        drop(batch_sender);
        results.iter().try_for_each(|(_, result)| {
            rejected.append(result?);
            Ok::<(), DriverError>(())
        })
    })?;
    Ok(rejected)
}

fn next_batch<B>(batches: &Mutex<Receiver<B>>) -> Option<B> {
    batches.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn rejecting(ordinal: u64) -> RejectedDocuments {
        RejectedDocuments(vec![(ordinal, "no".into())])
    }

    #[test]
    fn every_batch_is_sent_once_by_some_connection() {
        let mut connections = vec![Vec::new(); 3];
        let mut batches = 0..100;
        let send = |connection: &mut Vec<u64>, batch| {
            connection.push(batch);
            Ok(rejecting(batch))
        };
        let rejected = send_in_parallel(&mut connections, |_| 1, || Ok(batches.next()), send).unwrap();
        let mut ordinals: Vec<u64> = rejected.0.iter().map(|(ordinal, _)| *ordinal).collect();
        ordinals.sort_unstable();
        assert_eq!(ordinals, (0..100).collect::<Vec<_>>());
        let mut sent = connections.concat();
        sent.sort_unstable();
        assert_eq!(sent, ordinals);
    }

    #[test]
    fn no_more_is_under_way_than_may_be_but_for_one_batch() {
        let (active, peak) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let half = MAX_PENDING_BYTES / 2;
        for (size, limit) in [(half, 2), (half + 1, 1), (2 * MAX_PENDING_BYTES, 1)] {
            let mut batches = 0..40;
            let send = |_: &mut (), _| {
                peak.fetch_max(active.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::yield_now();
                active.fetch_sub(1, Ordering::SeqCst);
                Ok(RejectedDocuments::default())
            };
            send_in_parallel(&mut [(); 4], |_| size, || Ok(batches.next()), send).unwrap();
            assert!(peak.swap(0, Ordering::SeqCst) <= limit, "{size}");
        }
    }

    /// Endless batches. Filling batch number `failing_batch` returns an error.
    fn endless(failing_batch: u64) -> impl FnMut() -> Result<Option<u64>> {
        let mut count = 0;
        move || {
            count += 1;
            if count == failing_batch { Err(DriverError::Refused("no".into())) } else { Ok(Some(count)) }
        }
    }

    #[test]
    fn the_first_failure_ends_it_wherever_it_is_and_its_connection_is_left_alone() {
        for (failing_fill, failing_send) in [(7, 0), (0, 7)] {
            let mut connections = [false; 2];
            let result = send_in_parallel(
                &mut connections,
                |_| 1,
                endless(failing_fill),
                |is_broken, batch| {
                    assert!(!*is_broken, "a broken connection got another batch");
                    *is_broken = batch == failing_send;
                    if *is_broken {
                        Err(DriverError::Refused("no".into()))
                    } else {
                        Ok(RejectedDocuments::default())
                    }
                },
            );
            assert!(matches!(result, Err(DriverError::Refused(_))), "{result:?}");
        }
        // Every connection fails, so no thread is left to receive a batch.
        let result =
            send_in_parallel(&mut [(); 2], |_| 1, endless(0), |(), _| Err(DriverError::Refused("no".into())));
        assert!(matches!(result, Err(DriverError::Refused(_))), "{result:?}");
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_thread_that_panics_ends_it_too() {
        send_in_parallel(&mut [()], |_| 1, endless(0), |(), _| panic!("on purpose")).ok();
    }

    #[test]
    fn connections_are_as_many_as_cores_within_reason() {
        assert!((1..=MAX_CONNECTIONS).contains(&connections(0)));
        assert_eq!((connections(1), connections(3), connections(1000)), (1, 3, MAX_CONNECTIONS));
    }
}
