//! Files of several threads that are committed together.
//!
//! ```text
//! thread 1: a.html  c.html  d.html …   \
//!                                       >  256 of them, or 64 MiB  -->  one commit
//! thread 2: b.html  e.html …           /
//! ```
//!
//! To wait for the disk takes as long for some hundreds of small files as for one, and what waits are
//! open files and bytes on the disk beside those that they replace, so both are bounded. One thread
//! commits what all have made; the others go on meanwhile. (Each with a batch of its own is slower: a
//! file system syncs for one at a time.)
//!
//! ```
//! use baselink::tree::together::Together;
//! use baselink::tree::write::{InPlace, Original, commit_all};
//!
//! let folder = tempfile::tempdir()?;
//! let together = Together::new(commit_all);
//! for name in ["a.html", "b.html"] {
//!     let page = folder.path().join(name);
//!     std::fs::write(&page, "old")?;
//!     let mut new = InPlace::default().begin(&Original::of(&page)?)?;
//!     new.write(|out| out.write_all(b"new"))?;
//!     assert!(together.add(new, 3, name).is_empty(), "two are few: nothing is committed yet");
//! }
//! let committed = together.commit();
//! assert_eq!(committed.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["a.html", "b.html"]);
//! assert!(committed.iter().all(|(_, result)| result.is_ok()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately absent: threads. Who adds what makes a batch full commits it.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Result;

/// So many files wait at most; each is open. Of those that are just being committed there are as many
/// again.
pub const FILES: usize = 256;

/// So many bytes wait at most, and one file.
pub const BYTES: u64 = 64 << 20;

/// What waits to be committed: each with what its maker calls it.
pub struct Together<N, D, T> {
    all: fn(Vec<N>) -> Vec<Result<D>>,
    waiting: Mutex<Waiting<N, T>>,
    /// Of who commits.
    turn: Mutex<()>,
}

struct Waiting<N, T> {
    files: Vec<(N, T)>,
    bytes: u64,
}

impl<N, T> Waiting<N, T> {
    fn is_full(&self) -> bool {
        self.files.len() >= FILES || self.bytes >= BYTES
    }
}

/// What was committed, in the order in which it was added, with what its maker calls it.
pub type Committed<D, T> = Vec<(T, Result<D>)>;

impl<N, D, T> Together<N, D, T> {
    /// Nothing yet; to be committed by `all`: [`write::commit_all`](super::write::commit_all) or
    /// [`maildir::commit_all`](super::maildir::commit_all).
    #[must_use]
    pub fn new(all: fn(Vec<N>) -> Vec<Result<D>>) -> Self {
        let waiting = Waiting { files: Vec::new(), bytes: 0 };
        Self { all, waiting: Mutex::new(waiting), turn: Mutex::new(()) }
    }

    /// Adds `new`, which has so many bytes. When enough wait, they are committed before this returns,
    /// and this says what became of them; also of those that other threads added.
    #[must_use]
    pub fn add(&self, new: N, bytes: u64, what: T) -> Committed<D, T> {
        let mut waiting = self.waiting();
        waiting.files.push((new, what));
        waiting.bytes = waiting.bytes.saturating_add(bytes);
        let is_full = waiting.is_full();
        drop(waiting);
        if is_full { self.take_turn(Waiting::is_full) } else { Vec::new() }
    }

    /// Commits all that waits.
    #[must_use]
    pub fn commit(&self) -> Committed<D, T> {
        self.take_turn(|waiting| !waiting.files.is_empty())
    }

    /// Waits for who is committing; then commits what there is, if there is still reason to.
    fn take_turn(&self, reason: impl Fn(&Waiting<N, T>) -> bool) -> Committed<D, T> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut waiting = self.waiting();
        if !reason(&waiting) {
            return Vec::new();
        }
        waiting.bytes = 0;
        let (files, names): (Vec<_>, Vec<_>) = waiting.files.drain(..).unzip();
        drop(waiting);
        names.into_iter().zip((self.all)(files)).collect()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting<N, T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<N, D, T> fmt::Debug for Together<N, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.waiting().files.len();
        f.debug_struct("Together").field("waiting", &waiting).finish_non_exhaustive()
    }
}
