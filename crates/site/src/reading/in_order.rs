//! Parallel work on many items, with the results received one by one in the order of the items.
//!
//! ```text
//! items --the calling thread--> jobs --work, on threads--> results --the calling thread, in order--> receive
//! ```
//!
//! The calling thread takes the items, and receives the results between them. Instead of waiting for a result, the calling
//! thread works on a job, too. A job is several small items, or one large item. [`Bounds`] limit the memory. The first error
//! ends all work. If one thread is allowed, the calling thread does everything.
//!
//! Each item gets a context of its own, such as a buffer for output. An item that is [alone](QueueItem::is_alone) gets the
//! context of `receive` instead, after all earlier results, so that large output needs no buffer.
//!
//! ```text
//! in_order(bounds, [8, 2], output, || buffer, |item, buffer| item * 10, |result, output| …)   -->   receives 80, then 20
//! ```
//!
//! Deliberately absent: the meaning of the items, and results out of order.

use std::{
    collections::VecDeque,
    convert::Infallible,
    mem,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, Sender, TryRecvError},
    },
    thread,
};

use baselink_files::shared::locked;

/// Limits on work under way.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// The number of threads, including the calling thread.
    pub threads: usize,
    /// The largest number of items whose results are not yet received.
    pub items: usize,
    /// The sum of the sizes of these items from which no more are taken.
    pub size: u64,
}

/// An item to work on.
pub struct QueueItem<I> {
    /// The item.
    pub value: I,
    /// Its share of [`Bounds::size`].
    pub size: u64,
    /// True if the calling thread works on the item, while no other work is under way.
    pub is_alone: bool,
}

/// The number of items, and the sum of their sizes, from which a worker takes no more at a time.
const TOGETHER: (usize, u64) = (8, 128 << 10);

/// Items for a worker, and the channel for their results.
type Job<I, R> = (Vec<I>, Sender<Vec<R>>);

/// The results of a job that were not received yet, and the sum of the sizes of its items.
type UnderWay<R> = (Receiver<Vec<R>>, u64);

/// Calls `work` for each of the `items`, and `receive` with the results and their contexts in the same order.
///
/// # Errors
///
/// The first error of `receive`, after which no more results are received.
pub fn in_order<I: Send, C: Send, R: Send, E>(
    bounds: Bounds,
    mut items: impl Iterator<Item = QueueItem<I>>,
    context: &mut C,
    blank: impl Fn() -> C + Sync,
    work: impl Fn(I, &mut C) -> R + Sync,
    mut receive: impl FnMut((R, C), &mut C) -> Result<(), E>,
) -> Result<(), E> {
    let work_buffered = |value: I| {
        let mut own = blank();
        (work(value, &mut own), own)
    };
    let is_over = AtomicBool::new(false);
    let (sender, jobs) = mpsc::channel();
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        let spawn = |_: &usize| {
            thread::Builder::new()
                .spawn_scoped(scope, || serve(&jobs, &is_over, work_buffered))
                .is_ok()
        };
        // No thread is needed before the first item that others may follow.
        let mut has_workers = None;
        let help = || help(&jobs, work_buffered);
        let mut queue = Queue {
            bounds,
            jobs: sender,
            help: &help,
            context,
            receive: &mut receive,
            group: Vec::new(),
            group_size: 0,
            under_way: VecDeque::new(),
            items: 0,
            size: 0,
        };
        let mut each = |item: QueueItem<I>| {
            let is_shared = !item.is_alone
                && *has_workers
                    .get_or_insert_with(|| (1..bounds.threads).filter(spawn).count() > 0);
            if is_shared {
                queue.add(item);
                return queue.make_room();
            }
            queue.receive_all()?;
            let result = work(item.value, queue.context);
            (queue.receive)((result, blank()), queue.context).map_err(Some)
        };
        let done = items
            .try_for_each(&mut each)
            .and_then(|()| queue.receive_all());
        is_over.store(true, Ordering::Relaxed);
        match done {
            Err(Some(error)) => Err(error),
            // A panic of a worker becomes one of the scope.
            Ok(()) | Err(None) => Ok(()),
        }
    })
}

/// Works on jobs until no more come, or the work is over.
fn serve<I, R>(jobs: &Mutex<Receiver<Job<I, R>>>, is_over: &AtomicBool, work: impl Fn(I) -> R) {
    loop {
        let job = locked(jobs).recv();
        let Ok((items, results)) = job else {
            return;
        };
        let mut done = Vec::with_capacity(items.len());
        for item in items {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            done.push(work(item));
        }
        // The calling thread no longer receives results after an error.
        let _ = results.send(done);
    }
}

/// Works on the next job, if a job waits for a worker; `false` if not.
fn help<I, R>(jobs: &Mutex<Receiver<Job<I, R>>>, work: impl Fn(I) -> R) -> bool {
    // A worker that holds the lock waits for a job or takes the next one.
    let Some((items, results)) = jobs.try_lock().ok().and_then(|jobs| jobs.try_recv().ok()) else {
        return false;
    };
    let _ = results.send(items.into_iter().map(work).collect());
    true
}

/// The error for which no more results are received; `None` if a worker panicked.
type Stop<E> = Option<E>;

/// The items that were taken and whose results were not received yet.
struct Queue<'a, I, C, R, E> {
    bounds: Bounds,
    jobs: Sender<Job<I, R>>,
    /// Works on a job that waits for a worker; `false` if there is none.
    help: &'a dyn Fn() -> bool,
    context: &'a mut C,
    /// Receives a result.
    receive: &'a mut dyn FnMut(R, &mut C) -> Result<(), E>,
    /// Items that are not in a job yet, and the sum of their sizes.
    group: Vec<I>,
    group_size: u64,
    under_way: VecDeque<UnderWay<R>>,
    /// The number of all items, and the sum of their sizes.
    items: usize,
    size: u64,
}

impl<I, C, R, E> Queue<'_, I, C, R, E> {
    fn add(&mut self, item: QueueItem<I>) {
        self.items += 1;
        self.size += item.size;
        self.group.push(item.value);
        self.group_size += item.size;
        let most = (self.bounds.items / (2 * self.bounds.threads)).clamp(1, TOGETHER.0);
        if self.group.len() >= most || self.group_size >= TOGETHER.1 {
            self.send();
        }
    }

    /// Makes a job of the group.
    fn send(&mut self) {
        let items = mem::take(&mut self.group);
        if items.is_empty() {
            return;
        }
        let (sender, results) = mpsc::channel();
        let size = mem::take(&mut self.group_size);
        self.under_way.push_back((results, size));
        // The receiver lives as long as the scope.
        let _ = self.jobs.send((items, sender));
    }

    /// Receives finished results, and waits for others until there is room for another item.
    fn make_room(&mut self) -> Result<(), Stop<E>> {
        loop {
            let is_full = self.items >= self.bounds.items
                || (self.items > 0 && self.size >= self.bounds.size);
            if is_full {
                self.send();
            }
            if !self.receive_next(is_full)? {
                return Ok(());
            }
        }
    }

    fn receive_all(&mut self) -> Result<(), Stop<E>> {
        self.send();
        while self.receive_next(true)? {}
        Ok(())
    }

    /// Receives the results of the oldest job, or works on another job if it is to be awaited; `false` if there is none, or
    /// it is not finished and must not be awaited.
    fn receive_next(&mut self, waits: bool) -> Result<bool, Stop<E>> {
        let Some((oldest, size)) = self.under_way.front() else {
            return Ok(false);
        };
        let results = match oldest.try_recv() {
            Err(TryRecvError::Empty) if !waits => return Ok(false),
            Err(TryRecvError::Empty) if (self.help)() => return Ok(true),
            Err(TryRecvError::Empty) => oldest.recv().map_err(|_| None)?,
            found => found.map_err(|_| None)?,
        };
        self.items -= results.len();
        self.size -= size;
        self.under_way.pop_front();
        for result in results {
            (self.receive)(result, self.context).map_err(Some)?;
        }
        Ok(true)
    }
}

/// [`in_order`] without sizes, contexts and errors; at most 64 items per thread are under way.
pub fn all_in_order<I: Send, R: Send>(
    threads: usize,
    items: impl Iterator<Item = I>,
    work: impl Fn(I) -> R + Sync,
    mut receive: impl FnMut(R),
) {
    let bounds = Bounds {
        threads,
        items: 64 * threads,
        size: u64::MAX,
    };
    let items = items.map(|value| QueueItem {
        value,
        size: 1,
        is_alone: false,
    });
    let Ok(()) = in_order(
        bounds,
        items,
        &mut (),
        || (),
        |item, ()| work(item),
        |received, ()| {
            receive(received.0);
            Ok::<_, Infallible>(())
        },
    );
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
        items: impl Iterator<Item = (I, u64)>,
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
            std::iter::empty::<(u8, u64)>(),
            |item| item,
            |_| Err(()),
        );
        assert_eq!(done, Ok(()));
    }
}
