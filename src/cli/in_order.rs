//! Parallel work on many items, with the results received one by one in the order of the items.
//!
//! ```text
//! items --the calling thread--> queue --work, on threads--> results --receive, in order, one at a time--> …
//! ```
//!
//! The calling thread only takes items from the iterator, so that reading goes on during the work. Each worker thread
//! processes one item at a time. The worker that finishes the next result also receives it, and any finished results
//! after it. [`Bounds`] limit the memory. The first error ends all work. If one thread is allowed, the calling thread
//! does everything.
//!
//! ```text
//! in_order(bounds, [(1, 8), (2, 8)].into_iter(), |item| item * 10, |result| …)   -->   receives 10, then 20
//! ```
//!
//! Deliberately absent: the meaning of the items, and results out of order.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::{iter, thread};

/// Limits on work under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The number of threads.
    pub(crate) threads: usize,
    /// The largest number of items whose results are not yet received.
    pub(crate) items: usize,
    /// The sum of the sizes of these items from which no more are taken.
    pub(crate) size: usize,
}

/// Calls `work` for each of the `items`, which come with their sizes, and `receive` with the results in the same order.
///
/// # Errors
///
/// The first error of `receive`, after which no more results are received.
pub(crate) fn in_order<I: Send, R: Send, E: Send>(
    bounds: Bounds,
    mut items: impl Iterator<Item = (I, usize)>,
    work: impl Fn(I) -> R + Sync,
    receive: impl FnMut(R) -> Result<(), E> + Send,
) -> Result<(), E> {
    let Some(first) = items.next() else {
        return Ok(());
    };
    let mut items = iter::once(first).chain(items);
    let queue = Queue::new(bounds, receive);
    let is_done = bounds.threads > 1
        && thread::scope(|scope| {
            let spawn = |_: &usize| {
                thread::Builder::new()
                    .spawn_scoped(scope, || queue.work(&work))
                    .is_ok()
            };
            let is_shared = (0..bounds.threads).filter(spawn).count() > 0;
            if is_shared {
                queue.feed(&mut items);
            }
            is_shared
        });
    let state = queue
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    match (state.failed, state.receive) {
        (Some(error), _) => Err(error),
        (None, Some(mut receive)) if !is_done => {
            items.try_for_each(|(item, _)| receive(work(item)))
        }
        (None, _) => Ok(()),
    }
}

/// [`in_order`] without sizes and errors; at most four items per thread are under way.
pub(crate) fn all_in_order<I: Send, R: Send>(
    threads: usize,
    items: impl Iterator<Item = I>,
    work: impl Fn(I) -> R + Sync,
    mut receive: impl FnMut(R) + Send,
) {
    let bounds = Bounds {
        threads,
        items: 4 * threads,
        size: usize::MAX,
    };
    let Ok(()) = in_order(bounds, items.map(|item| (item, 0)), work, |result| {
        receive(result);
        Ok::<_, Infallible>(())
    });
}

/// The state that the threads share.
struct Queue<I, R, E, F> {
    bounds: Bounds,
    state: Mutex<QueueState<I, R, E, F>>,
    /// Signals a new item, or the end of all items.
    item: Condvar,
    /// Signals that a result was received, or that the work is over.
    result: Condvar,
}

struct QueueState<I, R, E, F> {
    /// Items that no thread works on yet, with their numbers.
    items: VecDeque<(usize, I)>,
    /// True if all items were taken.
    is_last: bool,
    /// Results that were not received yet, by number.
    results: BTreeMap<usize, R>,
    /// The number of the result that is received next.
    due: usize,
    /// The sizes of the items whose results were not received yet.
    sizes: VecDeque<usize>,
    /// The sum of `sizes`.
    size: usize,
    /// `None` while a thread uses it.
    receive: Option<F>,
    /// The number of threads that wait for an item; at 0, the system call that wakes one is skipped.
    idle: usize,
    /// True if the calling thread waits; it is woken when half of the room is free, to save wake-ups.
    is_full: bool,
    failed: Option<E>,
    /// True if the work is over: an error was returned, or a thread panicked.
    is_over: bool,
}

impl<I, R, E, F: FnMut(R) -> Result<(), E>> Queue<I, R, E, F> {
    fn new(bounds: Bounds, receive: F) -> Self {
        let state = QueueState {
            items: VecDeque::new(),
            is_last: false,
            results: BTreeMap::new(),
            due: 0,
            sizes: VecDeque::new(),
            size: 0,
            receive: Some(receive),
            idle: 0,
            is_full: false,
            failed: None,
            is_over: false,
        };
        Self {
            bounds,
            state: Mutex::new(state),
            item: Condvar::new(),
            result: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<I, R, E, F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `items` as long as there is room for them, and waits until all results are received.
    fn feed(&self, items: &mut dyn Iterator<Item = (I, usize)>) {
        let _watch = PanicGuard(self);
        let has_room = |state: &QueueState<I, R, E, F>| {
            let Bounds { items, size, .. } = self.bounds;
            state.sizes.is_empty() || state.sizes.len() < items && state.size < size
        };
        for number in 0.. {
            if self.wait(has_room).is_over {
                break;
            }
            let Some((item, size)) = items.next() else {
                break;
            };
            let mut state = self.lock();
            state.items.push_back((number, item));
            state.sizes.push_back(size);
            state.size += size;
            if state.idle > 0 {
                self.item.notify_one();
            }
        }
        self.lock().is_last = true;
        self.item.notify_all();
        drop(self.wait(|state| state.sizes.is_empty()));
    }

    /// Waits until `holds` returns true, or the work is over.
    fn wait(
        &self,
        holds: impl Fn(&QueueState<I, R, E, F>) -> bool,
    ) -> MutexGuard<'_, QueueState<I, R, E, F>> {
        let mut state = self.lock();
        loop {
            if state.is_over || holds(&state) {
                return state;
            }
            state.is_full = true;
            state = self
                .result
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Works on items until no more come.
    fn work(&self, work: &impl Fn(I) -> R) {
        let _watch = PanicGuard(self);
        let mut state = self.lock();
        while !state.is_over {
            let Some((number, item)) = state.items.pop_front() else {
                if state.is_last {
                    return;
                }
                state.idle += 1;
                state = self
                    .item
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            drop(state);
            let result = work(item);
            state = self.lock();
            state.results.insert(number, result);
            state = self.deliver(state);
        }
    }

    /// Receives the result that is due and the finished ones after it, unless another thread is doing so.
    fn deliver<'q>(
        &'q self,
        mut state: MutexGuard<'q, QueueState<I, R, E, F>>,
    ) -> MutexGuard<'q, QueueState<I, R, E, F>> {
        while !state.is_over
            && let Some(mut receive) = state.receive.take()
        {
            let due = state.due;
            let Some(result) = state.results.remove(&due) else {
                state.receive = Some(receive);
                break;
            };
            drop(state);
            let received = receive(result);
            state = self.lock();
            state.receive = Some(receive);
            state.due += 1;
            state.size -= state.sizes.pop_front().unwrap_or_default();
            if let Err(error) = received {
                (state.failed, state.is_over) = (Some(error), true);
                self.item.notify_all();
            }
            let Bounds { items, size, .. } = self.bounds;
            let is_half = state.sizes.len() <= items / 2 && state.size <= size / 2;
            if state.is_full && (is_half || state.is_over) {
                state.is_full = false;
                self.result.notify_one();
            }
        }
        state
    }
}

/// Wakes all waiting threads if its own thread panics.
struct PanicGuard<'q, I, R, E, F: FnMut(R) -> Result<(), E>>(&'q Queue<I, R, E, F>);

impl<I, R, E, F: FnMut(R) -> Result<(), E>> Drop for PanicGuard<'_, I, R, E, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().is_over = true;
            self.0.item.notify_all();
            self.0.result.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    fn bounds(threads: usize) -> Bounds {
        Bounds {
            threads,
            items: 4,
            size: 100,
        }
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for threads in [1, 2, 5] {
            let mut received = Vec::new();
            let work = |item: u32| {
                // Every third item takes longer than the next two.
                thread::sleep(Duration::from_micros(if item.is_multiple_of(3) {
                    300
                } else {
                    0
                }));
                item * 10
            };
            let done = in_order(
                bounds(threads),
                (0..200).map(|item| (item, 1)),
                work,
                |result| {
                    received.push(result);
                    Ok::<_, ()>(())
                },
            );
            assert_eq!(done, Ok(()));
            assert!(
                received.iter().copied().eq((0..200).map(|item| item * 10)),
                "{threads}"
            );
        }
    }

    #[test]
    fn work_under_way_stays_within_the_bounds() {
        // After an item larger than the bound, no other is taken until its result is received.
        for (size, most) in [(1, 4), (30, 4), (60, 2), (1_000, 1)] {
            let (taken, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let items = (0..100).map(|item| {
                let taken = taken.fetch_add(1, Ordering::SeqCst) + 1;
                assert!(taken - received.load(Ordering::SeqCst) <= most, "{size}");
                (item, size)
            });
            let done = in_order(
                bounds(3),
                items,
                |item: i32| item,
                |_| {
                    received.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, ()>(())
                },
            );
            assert_eq!((done, received.into_inner()), (Ok(()), 100));
        }
    }

    #[test]
    fn the_first_error_ends_all_work() {
        for threads in [1, 3] {
            let mut received = Vec::new();
            let done = in_order(
                bounds(threads),
                (0..).map(|item| (item, 1)),
                |item| item,
                |item| {
                    received.push(item);
                    if item < 7 { Ok(()) } else { Err(item) }
                },
            );
            assert_eq!(done, Err(7));
            assert_eq!(received, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }

    #[test]
    fn a_panic_wakes_all_threads() {
        for panics_in_work in [true, false] {
            let panicked = std::panic::catch_unwind(|| {
                let work = |item: u32| {
                    assert!(!panics_in_work || item != 5);
                    item
                };
                in_order(bounds(2), (0..).map(|item| (item, 1)), work, |item| {
                    assert!(panics_in_work || item != 5);
                    Ok::<_, ()>(())
                })
            });
            assert!(panicked.is_err(), "{panics_in_work}");
        }
    }

    #[test]
    fn no_items_need_no_work() {
        let done = in_order(
            bounds(2),
            std::iter::empty::<(u8, usize)>(),
            |item| item,
            |_| Err(()),
        );
        assert_eq!(done, Ok(()));
    }
}
