//! Maps of files to URLs: any bytes are either a valid map or give an error on one line without control characters.
//!
//! Deliberately absent: the files of a map (`tests/trees/origin.rs`).

use std::path::Path;

use baselink_site::collection::origin::map::UrlMap;

/// Reads a map.
pub fn url_map(bytes: &[u8]) {
    match UrlMap::parse(bytes, Path::new("urls.csv")) {
        Ok(map) => drop(map.first().map(Path::to_owned)),
        Err(error) => {
            let message = error.to_string();
            assert!(
                !message.contains(char::is_control),
                "{}",
                message.escape_debug()
            );
            assert!(message.starts_with("urls.csv"), "{message}");
        }
    }
}
