//! The contents of a folder.
//!
//! Deliberately absent: circular symbolic links. No test that uses this module creates one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files below `folder`, by their paths relative to it.
pub(crate) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}
