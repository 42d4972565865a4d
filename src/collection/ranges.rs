//! Resources that were captured in ranges, and are put together (RFC 9110, 15.3.7.3).
//!
//! ```
//! use baselink_cli::collection::ranges::{BodyRange, covering};
//! let range = |first, end| BodyRange { first, end, length: 8, validator: 0 };
//! assert_eq!(covering(vec![(range(4, 8), 'b'), (range(0, 2), 'x'), (range(0, 5), 'a')]), Some(vec!['x', 'a', 'b']));
//! assert_eq!(covering(vec![(range(0, 3), 'a'), (range(4, 8), 'b')]), None);
//! ```
//!
//! Deliberately absent: ranges of a compressed representation, and several ranges in one response.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The place of a body in its resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BodyRange {
    /// The digest of the `ETag` or else `Last-Modified`. Only ranges with the same one belong together.
    pub validator: u64,
    /// The length of the resource.
    pub length: u64,
    /// The offset of the first byte.
    pub first: u64,
    /// The offset after the last byte.
    pub end: u64,
}

/// The ranges that cover their resource together, in order; `None` if some bytes are lacking.
pub fn covering<T>(mut all: Vec<(BodyRange, T)>) -> Option<Vec<T>> {
    all.sort_by_key(|(range, _)| *range);
    let (mut resource, mut end, mut found) = ((0, 0), 0, Vec::new());
    for (range, one) in all {
        if resource != (range.validator, range.length) {
            (resource, end, found) = ((range.validator, range.length), 0, Vec::new());
        }
        if range.first <= end && range.end > end {
            end = range.end;
            found.push(one);
        }
        if end == range.length {
            return Some(found);
        }
    }
    None
}

/// The bodies of resources of which some ranges were read, by the numbers of the resources.
#[derive(Debug, Default)]
pub struct GatheredBodies {
    all: Mutex<HashMap<u32, (Vec<u8>, usize)>>,
}

impl GatheredBodies {
    /// Adds a range of the resource with this number, which has `count` ranges. Returns its body once it is whole.
    pub fn add(
        &self,
        number: u32,
        (range, body): (BodyRange, &[u8]),
        count: usize,
    ) -> Option<Vec<u8>> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let (whole, read) = all.entry(number).or_default();
        let (first, end) = (
            usize::try_from(range.first).ok()?,
            usize::try_from(range.end).ok()?,
        );
        whole.resize(whole.len().max(end), 0);
        // The file may have changed since its captures were chosen.
        let place = whole.get_mut(first..end)?;
        if place.len() == body.len() {
            place.copy_from_slice(body);
        }
        *read += 1;
        let is_whole = *read == count;
        is_whole
            .then(|| all.remove(&number))
            .flatten()
            .map(|(whole, _)| whole)
    }
}
