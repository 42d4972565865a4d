//! Web archives of Safari (`.webarchive`): a page and its resources in a property list, binary or XML.
//!
//! The dictionary of an archive contains a resource (`WebMainResource`), an array of resources (`WebSubresources`)
//! and an array of archives, one per frame (`WebSubframeArchives`). The dictionary of a resource contains
//! `WebResourceURL`, `WebResourceMIMEType`, `WebResourceTextEncodingName` and `WebResourceData`, a body without content
//! codings. There is no specification; WebKit writes the format in
//! `LegacyWebArchive.cpp`.
//!
//! ```
//! use baselink_rewrite::Options;
//! use baselink_site::archive::{Wanted, web_archive};
//! let page = b"<plist><dict><key>WebMainResource</key><dict><key>WebResourceURL</key><string>http://a/</string>\
//!     <key>WebResourceMIMEType</key><string>text/html</string><key>WebResourceData</key><data>PHA+</data></dict></dict></plist>";
//! let entry = web_archive(page, &Options::default(), Wanted::Documents)?.next().unwrap();
//! assert_eq!((entry.key.url.as_deref(), entry.bytes()), (Some("http://a/"), &b"<p>"[..]));
//! # Ok::<(), baselink_text::Error>(())
//! ```
//!
//! In a binary list, several references may lead to the same object, even from inside the object. The parser
//! rejects cycles, and [`GROWTH`] limits repetition.
//!
//! Deliberately absent: `WebResourceResponse`, which is a serialized macOS object with status and header fields;
//! the resources of a list that is damaged; CDATA in XML, which Apple's programs do not write; and writing archives.

use std::{collections::HashMap, io::Cursor};

use baselink_rewrite::{Options, Source};
use baselink_scan::MediaType;
use baselink_text::{Charset, Code, Error, Result, cause};
use plist::{
    Dictionary, Value,
    stream::{BinaryReader, Event, OwnedEvent, XmlReader},
};

use super::{
    entry::{ArchivedResource, Entry, Wanted},
    message::file_name_of,
};
use crate::collection::{capture::Capture, hashed};

/// The first bytes of a binary property list.
const BINARY: &[u8] = b"bplist00";
/// The maximum number of bytes of strings, data and references per byte of the file. An object counts once for each
/// reference to it, although the file contains it once.
const GROWTH: u64 = 16;
/// The number of bytes that may always be read, even from a very short file.
const LEAST: u64 = 64 << 10;
/// The size of the number of an object, which the parser stores for each element and each key.
const NUMBER: u64 = 8;
/// The maximum number of collections inside each other; a frame adds two.
const DEPTH: i64 = 256;

/// Reads a whole web archive of Safari. Time and memory are proportional to the length of `bytes`.
///
/// The resources of the page come first, then those of each frame in file order, with the main resource first in each. A
/// resource without URL or body is an anomaly.
///
/// # Errors
///
/// Returns an error if `bytes` are not a whole property list, or contain no resource of a web archive.
pub fn web_archive<'o>(
    bytes: &[u8],
    options: &'o Options,
    wanted: Wanted,
) -> Result<impl Iterator<Item = Entry> + use<'o>> {
    let mut resources = Vec::new();
    let refused = |why: String| Error::new(format!("not a web archive of Safari: {why}"));
    let mut archives = vec![property_list(bytes).map_err(refused)?];
    while let Some(archive) = archives.pop() {
        let mut archive = archive.into_dictionary().unwrap_or_default();
        resources.extend(archive.remove("WebMainResource"));
        resources.extend(elements(&mut archive, "WebSubresources"));
        archives.extend(
            elements(&mut archive, "WebSubframeArchives")
                .into_iter()
                .rev(),
        );
    }
    if resources.is_empty() {
        return Err(refused("it has no WebMainResource".to_owned()));
    }
    let mut taken = HashMap::new();
    let resources = resources.into_iter().filter_map(Value::into_dictionary);
    Ok((0..).zip(resources).map(move |(number, mut resource)| {
        let url = string(&mut resource, "WebResourceURL");
        let body = resource
            .remove("WebResourceData")
            .and_then(Value::into_data);
        let (Some(url), Some(body)) = (&url, body) else {
            let key = url.map_or("URL", |_| "Data");
            let message = format!("a resource without WebResource{key}; skipped");
            return Entry::at(number).noting(Code::RecordBroken, message);
        };
        // A frame may have the URL of the page, and another body.
        let digest = hashed(&body);
        let is_other = *taken.entry(url.clone()).or_insert(digest) != digest;
        let mut capture = Capture::of(url);
        capture.key = is_other.then(|| format!("frame:/{number}/{}", file_name_of(url)).into());
        let media_type = string(&mut resource, "WebResourceMIMEType");
        let label = string(&mut resource, "WebResourceTextEncodingName");
        let resource = ArchivedResource {
            source: Source::WebArchive,
            capture,
            part: None,
            body,
            media_type: media_type.and_then(|name| MediaType::read(name.as_bytes())),
            charset: label.and_then(|label| Charset::for_label(&label)),
        };
        Entry::at(number).holding(resource, options, wanted)
    }))
}

/// Takes the elements of the array `key`; empty if there is none.
fn elements(dictionary: &mut Dictionary, key: &str) -> Vec<Value> {
    let array = dictionary.remove(key).and_then(Value::into_array);
    array.unwrap_or_default()
}

/// Takes the string `key`.
fn string(dictionary: &mut Dictionary, key: &str) -> Option<String> {
    dictionary.remove(key).and_then(Value::into_string)
}

/// Reads the property list `bytes`.
///
/// # Errors
///
/// Fails with a sentence about the fault of the list.
fn property_list(bytes: &[u8]) -> Result<Value, String> {
    let events: Box<dyn Iterator<Item = _>> = if bytes.starts_with(BINARY) {
        Box::new(BinaryReader::new(Cursor::new(bytes)))
    } else {
        Box::new(XmlReader::new(bytes))
    };
    let mut budget = (bytes.len() as u64).saturating_mul(GROWTH) + LEAST;
    let (mut depth, mut is_bounded) = (0, true);
    let list = Value::from_events(events.take_while(|event| {
        let Ok(event) = event else { return true };
        match event {
            Event::StartArray(_) | Event::StartDictionary(_) => depth += 1,
            Event::EndCollection => depth -= 1,
            _ => {}
        }
        let cost = cost(event);
        is_bounded = cost <= budget && depth <= DEPTH;
        budget = budget.saturating_sub(cost);
        is_bounded
    }));
    if !is_bounded {
        return Err(format!(
            "its property list expands to more than {GROWTH} times the length of the file, or nests more than {DEPTH} collections"
        ));
    }
    list.map_err(|error| {
        let why = error.as_io().map_or_else(|| error.to_string(), cause);
        format!("its property list cannot be read: {why}")
    })
}

/// The cost of `event`, which counts towards the limit.
fn cost(event: &OwnedEvent) -> u64 {
    let length = match event {
        Event::Data(data) => data.len() as u64,
        Event::String(text) => text.len() as u64,
        Event::StartArray(Some(length)) => length.saturating_mul(NUMBER),
        Event::StartDictionary(Some(length)) => length.saturating_mul(2 * NUMBER),
        _ => 0,
    };
    length.saturating_add(1)
}
