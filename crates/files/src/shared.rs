//! Values that several threads change.
//!
//! ```
//! let shared = std::sync::Mutex::new(1);
//! *baselink_files::shared::locked(&shared) += 1;
//! assert_eq!(*baselink_files::shared::locked(&shared), 2);
//! ```
//!
//! Deliberately absent: values that a panic can leave half changed.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `shared`, even if another thread panicked while it held the lock.
pub fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
