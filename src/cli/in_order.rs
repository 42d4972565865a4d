//! Parallel work on many items, with the results received one by one in the order of the items.
//!
//! ```text
//! items --the calling thread--> queue --work, on threads--> results --receive, in order, one at a time--> …
//! ```
//!
//! The calling thread only takes items from the iterator, so that reading goes on during the work. Each worker thread
//! takes several small items, or one large item. The worker that finishes the next result also receives it, and any
//! finished results after it. [`Bounds`] limit the memory. The first error ends all work. If one thread is allowed,
//! the calling thread does everything.
//!
//! Each item gets a context of its own, such as a buffer for output. An item that is [alone](QueueItem::is_alone) gets the
//! context of `receive` instead, after all earlier results, so that large output needs no buffer.
//!
//! ```text
//! in_order(bounds, [8, 2], output, || buffer, |item, buffer| item * 10, |result, output| …)   -->   receives 80, then 20
//! ```
//!
//! Deliberately absent: the meaning of the items, and results out of order.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

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

/// An item to work on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueItem<I> {
    pub(crate) value: I,
    pub(crate) size: usize,
    /// True if the calling thread works on the item, while no other work is under way.
    pub(crate) is_alone: bool,
}

/// The number of items, and the sum of their sizes, from which a worker takes no more at a time.
const TOGETHER: (usize, usize) = (8, 128 << 10);

/// Calls `work` for each of the `items`, and `receive` with the results and their contexts in the same order.
///
/// # Errors
///
/// The first error of `receive`, after which no more results are received.
pub(crate) fn in_order<I: Send, C: Send, R: Send, E: Send>(
    bounds: Bounds,
    items: impl Iterator<Item = QueueItem<I>>,
    context: &mut C,
    blank: impl Fn() -> C + Sync,
    work: impl Fn(I, &mut C) -> R + Sync,
    receive: impl FnMut((R, C), &mut C) -> Result<(), E> + Send,
) -> Result<(), E> {
    let mut receiver = Receiver { context, receive };
    let mut items = items.peekable();
    let work_alone = |receiver: &mut Receiver<'_, C, _>, value: I| {
        let result = work(value, receiver.context);
        receiver.receive((result, blank()))
    };
    // No thread is needed before the first item that others may follow.
    while let Some(item) = items.next_if(|item| item.is_alone) {
        work_alone(&mut receiver, item.value)?;
    }
    if items.peek().is_none() {
        return Ok(());
    }
    let work_buffered = |value: I| {
        let mut own = blank();
        (work(value, &mut own), own)
    };
    let queue = Queue::new(bounds, receiver);
    thread::scope(|scope| {
        let spawn = |_: &usize| {
            let worker = thread::Builder::new();
            worker
                .spawn_scoped(scope, || queue.work(&work_buffered))
                .is_ok()
        };
        let wanted = if bounds.threads > 1 {
            bounds.threads
        } else {
            0
        };
        if (0..wanted).filter(spawn).count() > 0 {
            queue.feed(&mut items, work_alone);
        }
    });
    let state = queue
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = state.failed {
        return Err(error);
    }
    let Some(mut receiver) = state.receiver else {
        return Ok(());
    };
    // Without threads, all items remain.
    for item in items {
        if item.is_alone {
            work_alone(&mut receiver, item.value)?;
        } else {
            let (result, own) = work_buffered(item.value);
            receiver.receive((result, own))?;
        }
    }
    Ok(())
}

/// [`in_order`] without sizes, contexts and errors; at most four items per thread are under way.
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
    let items = items.map(|value| QueueItem {
        value,
        size: TOGETHER.1,
        is_alone: false,
    });
    let work = |item, (): &mut ()| work(item);
    let Ok(()) = in_order(
        bounds,
        items,
        &mut (),
        || (),
        work,
        |received, ()| {
            receive(received.0);
            Ok::<_, Infallible>(())
        },
    );
}

/// The function that receives results, and its context.
struct Receiver<'c, C, F> {
    context: &'c mut C,
    receive: F,
}

impl<C, F> Receiver<'_, C, F> {
    fn receive<R, E>(&mut self, received: (R, C)) -> Result<(), E>
    where
        F: FnMut((R, C), &mut C) -> Result<(), E>,
    {
        (self.receive)(received, self.context)
    }
}

/// The state that the threads share. A result is a pair of the worker's result and its context.
struct Queue<'c, I, C, R, E, F> {
    bounds: Bounds,
    state: Mutex<QueueState<'c, I, C, R, E, F>>,
    /// Signals a new item, or the end of all items.
    item: Condvar,
    /// Signals that a result was received, or that the work is over.
    result: Condvar,
}

struct QueueState<'c, I, C, R, E, F> {
    /// Items that no thread works on yet, with their numbers and sizes.
    items: VecDeque<(usize, usize, I)>,
    /// True if all items were taken.
    is_last: bool,
    /// Results that were not received yet, by number.
    results: BTreeMap<usize, (R, C)>,
    /// The number of the result that is received next.
    due: usize,
    /// The sizes of the items whose results were not received yet.
    sizes: VecDeque<usize>,
    /// The sum of `sizes`.
    size: usize,
    /// `None` while a thread uses it.
    receiver: Option<Receiver<'c, C, F>>,
    /// The number of threads that wait for an item; at 0, the system call that wakes one is skipped.
    idle: usize,
    /// True if the calling thread waits; it is woken when half of the room is free, to save wake-ups.
    is_full: bool,
    failed: Option<E>,
    /// True if the work is over: an error was returned, or a thread panicked.
    is_over: bool,
}

impl<'c, I, C, R, E, F> QueueState<'c, I, C, R, E, F> {
    /// Takes several small items, or one large item, and leaves some for other threads.
    fn take_items(&mut self, threads: usize) -> Vec<(usize, I)> {
        let most = (self.items.len() / threads).clamp(1, TOGETHER.0);
        let (mut taken, mut sum) = (Vec::new(), 0);
        while taken.len() < most
            && sum < TOGETHER.1
            && let Some((number, size, value)) = self.items.pop_front()
        {
            sum += size;
            taken.push((number, value));
        }
        taken
    }
}

type Locked<'q, 'c, I, C, R, E, F> = MutexGuard<'q, QueueState<'c, I, C, R, E, F>>;

impl<'c, I, C, R, E, F> Queue<'c, I, C, R, E, F>
where
    F: FnMut((R, C), &mut C) -> Result<(), E>,
{
    fn new(bounds: Bounds, receiver: Receiver<'c, C, F>) -> Self {
        let state = QueueState {
            items: VecDeque::new(),
            is_last: false,
            results: BTreeMap::new(),
            due: 0,
            sizes: VecDeque::new(),
            size: 0,
            receiver: Some(receiver),
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

    fn lock(&self) -> Locked<'_, 'c, I, C, R, E, F> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `items` as long as there is room for them, and waits until all results are received.
    fn feed(
        &self,
        items: &mut dyn Iterator<Item = QueueItem<I>>,
        work_alone: impl Fn(&mut Receiver<'c, C, F>, I) -> Result<(), E>,
    ) {
        let _watch = PanicGuard(self);
        let Bounds {
            items: most, size, ..
        } = self.bounds;
        let mut number = 0;
        while !self
            .wait(|state| state.sizes.is_empty() || state.sizes.len() < most && state.size < size)
            .is_over
        {
            let Some(item) = items.next() else {
                break;
            };
            if item.is_alone {
                let mut state = self.wait(|state| state.sizes.is_empty());
                let Some(mut receiver) = state.receiver.take().filter(|_| !state.is_over) else {
                    break;
                };
                drop(state);
                let result = work_alone(&mut receiver, item.value);
                let mut state = self.lock();
                state.receiver = Some(receiver);
                self.end_after(&mut state, result);
                continue;
            }
            let mut state = self.lock();
            state.items.push_back((number, item.size, item.value));
            state.sizes.push_back(item.size);
            state.size += item.size;
            number += 1;
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
        holds: impl Fn(&QueueState<'c, I, C, R, E, F>) -> bool,
    ) -> Locked<'_, 'c, I, C, R, E, F> {
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
    fn work(&self, work: &impl Fn(I) -> (R, C)) {
        let _watch = PanicGuard(self);
        let mut state = self.lock();
        while !state.is_over {
            let taken = state.take_items(self.bounds.threads);
            if taken.is_empty() {
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
            }
            drop(state);
            let results: Vec<_> = taken
                .into_iter()
                .map(|(number, value)| (number, work(value)))
                .collect();
            state = self.lock();
            state.results.extend(results);
            state = self.deliver(state);
        }
    }

    /// Receives the result that is due and the finished ones after it, unless another thread is doing so.
    fn deliver<'q>(
        &'q self,
        mut state: Locked<'q, 'c, I, C, R, E, F>,
    ) -> Locked<'q, 'c, I, C, R, E, F> {
        while !state.is_over
            && let Some(mut receiver) = state.receiver.take()
        {
            let due = state.due;
            let Some((result, own)) = state.results.remove(&due) else {
                state.receiver = Some(receiver);
                break;
            };
            drop(state);
            let received = receiver.receive((result, own));
            state = self.lock();
            state.receiver = Some(receiver);
            state.due += 1;
            state.size -= state.sizes.pop_front().unwrap_or_default();
            self.end_after(&mut state, received);
            let Bounds { items, size, .. } = self.bounds;
            let is_half = state.sizes.len() <= items / 2 && state.size <= size / 2;
            if state.is_full && (is_half || state.is_over) {
                state.is_full = false;
                self.result.notify_one();
            }
        }
        state
    }

    /// Ends the work if `received` is an error.
    fn end_after(&self, state: &mut QueueState<'c, I, C, R, E, F>, received: Result<(), E>) {
        if let Err(error) = received {
            (state.failed, state.is_over) = (Some(error), true);
            self.item.notify_all();
        }
    }
}

/// Wakes all waiting threads if its own thread panics.
struct PanicGuard<'q, 'c, I, C, R, E, F>(&'q Queue<'c, I, C, R, E, F>);

impl<I, C, R, E, F> Drop for PanicGuard<'_, '_, I, C, R, E, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            let Queue {
                state,
                item,
                result,
                ..
            } = self.0;
            state.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
            item.notify_all();
            result.notify_one();
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

    /// Works on items with sizes, without contexts.
    fn run<I: Send, R: Send, E: Send>(
        bounds: Bounds,
        items: impl Iterator<Item = (I, usize)>,
        work: impl Fn(I) -> R + Sync,
        mut receive: impl FnMut(R) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let items = items.map(|(value, size)| QueueItem {
            value,
            size,
            is_alone: false,
        });
        let work = |item, (): &mut ()| work(item);
        in_order(
            bounds,
            items,
            &mut (),
            || (),
            work,
            |(result, ()), ()| receive(result),
        )
    }

    #[test]
    fn an_item_alone_gets_the_context_of_the_results() {
        for threads in [1, 3] {
            let items = (0..40).map(|value| QueueItem {
                value,
                size: 1,
                is_alone: value % 7 == 0 || value > 30,
            });
            let mut all = Vec::new();
            let work = |value: i32, own: &mut Vec<i32>| own.push(value);
            let done = in_order(
                bounds(threads),
                items,
                &mut all,
                Vec::new,
                work,
                |((), mut own), all| {
                    all.append(&mut own);
                    Ok::<_, ()>(())
                },
            );
            assert_eq!(done, Ok(()));
            assert!(all.into_iter().eq(0..40), "{threads}");
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
            let done = run(
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
            let done = run(
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
            let done = run(
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
                run(bounds(2), (0..).map(|item| (item, 1)), work, |item| {
                    assert!(panics_in_work || item != 5);
                    Ok::<_, ()>(())
                })
            });
            assert!(panicked.is_err(), "{panics_in_work}");
        }
    }

    #[test]
    fn no_items_need_no_work() {
        let done = run(
            bounds(2),
            std::iter::empty::<(u8, usize)>(),
            |item| item,
            |_| Err(()),
        );
        assert_eq!(done, Ok(()));
    }
}
