//! Maps of files to URLs: any bytes are one or are refused, in one line that has no control character.
//!
//! Deliberately absent: files, of which the map says the URLs (`tests/trees/origin.rs`).

use std::path::Path;

use baselink::collection::origin::map::UrlMap;

/// Reads a map.
pub fn url_map(bytes: &[u8]) {
    match UrlMap::parse(bytes, Path::new("urls.csv")) {
        Ok(map) => assert!(map.len() <= bytes.len()),
        Err(error) => {
            let said = error.to_string();
            assert!(!said.contains(char::is_control), "{}", said.escape_debug());
            assert!(said.starts_with("urls.csv"), "{said}");
        }
    }
}
