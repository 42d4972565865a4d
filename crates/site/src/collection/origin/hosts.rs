//! Hosts in the folder names that crawlers write.
//!
//! | program | folder of `https://a.example:8080/` |
//! |---|---|
//! | wget | `a.example:8080` |
//! | wget for Windows | `a.example+8080` |
//! | HTTrack | `a.example_8080` |
//!
//! ```
//! use std::path::Path;
//! use baselink_text::Format;
//! use baselink_site::collection::origin::Origins;
//! use baselink_files::walk::{EntryKind, TreeEntry};
//! let entry = TreeEntry {
//!     root: Path::new("crawl").into(),
//!     relative: ["a.example_8080", "b"].map(Into::into).to_vec(),
//!     path: "crawl/a.example_8080/b".into(),
//!     kind: EntryKind::File,
//!     size: 0,
//! };
//! let origins = Origins { has_hosts: true, ..Origins::default() };
//! let (retrieval, _) = origins.of(&entry, &entry, Format::Html, b"");
//! assert_eq!(retrieval.unwrap().url, "https://a.example:8080/b");
//! ```
//!
//! Deliberately absent: access to the folders.

use std::sync::LazyLock;

use baselink_url as resolve;
use regex::Regex;

use super::names::is_number;

/// The net_loc that a folder name denotes in URLs with `scheme`; `None` if the name cannot be a host.
pub(crate) fn net_loc(folder: &str, scheme: &str) -> Option<String> {
    let (host, port) = of_folder(folder)?;
    let net_loc = port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    // The URL Standard rejects some hosts, such as 1.2.3.999.
    resolve::parses(&format!("{scheme}://{net_loc}/")).then_some(net_loc)
}

/// True if a folder name is almost certainly a host: it has a dot, a port or brackets, or is `localhost`.
pub fn is_telling(folder: &str) -> bool {
    of_folder(folder).is_some_and(|(host, port)| port.is_some() || is_telling_host(host))
}

fn is_telling_host(host: &str) -> bool {
    host.contains('.') || host.starts_with('[') || host.eq_ignore_ascii_case("localhost")
}

/// The host and the port in a folder name, as written.
fn of_folder(folder: &str) -> Option<(&str, Option<&str>)> {
    if let Some((host, port)) = folder.rsplit_once(['+', '_'])
        && is_number(port)
        // `a_8080` may be a host name. In `a.example_8080`, the `_` would be in the top-level domain, so it separates a
        // port.
        && (folder.as_bytes()[host.len()] == b'+' || is_telling_host(host))
    {
        let is_host = host_and_port(host).is_some_and(|(_, other_port)| other_port.is_none());
        return is_host.then_some((host, Some(port)));
    }
    host_and_port(folder)
}

/// A host and a port (RFC 1123, 2.1; for brackets, RFC 3986, 3.2.2). `_` is allowed because it occurs in practice.
static HOST_AND_PORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let label = "[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?";
    let host = format!(r"\[[^\]]*\]|{label}(?:\.{label})*");
    Regex::new(&format!("^({host})(?::([0-9]+))?$")).ok()
});

/// The host and the port of `net_loc`; `None` if it has other parts or is invalid.
fn host_and_port(net_loc: &str) -> Option<(&str, Option<&str>)> {
    let parts = HOST_AND_PORT.as_ref()?.captures(net_loc)?;
    let port = parts.get(2).map(|port| port.as_str());
    Some((parts.get(1)?.as_str(), port))
}
