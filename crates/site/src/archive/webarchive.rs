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
//! rejects cycles, and [`GROWTH`] limits repetition. Open collections are kept on an explicit stack, so nesting
//! does not cause recursion.
//!
//! Deliberately absent: `WebResourceResponse`, which is a serialized macOS object with status and header fields;
//! CDATA in XML, which Apple's programs do not write; and writing archives.

use std::{borrow::Cow, collections::HashMap, io::Cursor};

use baselink_rewrite::{Options, Source};
use baselink_scan::MediaType;
use baselink_text::{Charset, Code, Error, Result, cause};
use plist::stream::{BinaryReader, Event, OwnedEvent, XmlReader};

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

/// The parts of a resource read so far.
#[derive(Default)]
struct ResourceDraft {
    /// The URL from which it was retrieved.
    url: Option<String>,
    media_type: Option<MediaType>,
    /// The encoding that Safari used.
    charset: Option<Charset>,
    /// The bytes, without content codings.
    body: Option<Vec<u8>>,
    /// The number of the frame. The page is 0, and each frame has a higher number than its parent.
    frame: usize,
    /// True if the resource is the document of its frame.
    is_main: bool,
}

/// An open collection.
enum OpenCollection {
    /// The dictionary of an archive, with the number of its frame.
    Archive(usize),
    /// The array of an archive's resources, with the number of its frame.
    Resources(usize),
    /// An array of archives.
    Archives,
    /// The dictionary of a resource.
    Resource(ResourceDraft),
}

/// Converts the events of a property list into resources.
#[derive(Default)]
struct Resources {
    /// The open collections of interest, each with the key of the next value.
    open: Vec<(OpenCollection, Option<Cow<'static, str>>)>,
    /// The number of skipped open collections, all inside the last of `open`.
    skipped: usize,
    /// The number of archives so far, one per frame.
    frames: usize,
    drafts: Vec<ResourceDraft>,
}

/// Reads a whole web archive of Safari. Time and memory are proportional to the length of `bytes`.
///
/// The resources of the page come first, then those of each frame in file order, with the main resource first in each. They are
/// followed by anomalies: resources without URL or body, and the point where a broken list ends.
///
/// # Errors
///
/// Returns an error if `bytes` are not a property list, or contain no resource of a web archive.
pub fn web_archive<'o>(
    bytes: &[u8],
    options: &'o Options,
    wanted: Wanted,
) -> Result<impl Iterator<Item = Entry> + use<'o>> {
    let mut found = Resources::default();
    let broken = found.read(bytes).err();
    let mut drafts = found.drafts;
    if drafts.is_empty() {
        let why = broken.unwrap_or_else(|| "it has no WebMainResource".to_owned());
        return Err(Error::new(format!("not a web archive of Safari: {why}")));
    }
    drafts.sort_by_key(|draft| (draft.frame, !draft.is_main));
    let end = drafts.len() as u64;
    let is_whole = |(_, draft): &(u64, ResourceDraft)| draft.url.is_some() && draft.body.is_some();
    let (resources, others): (Vec<_>, Vec<_>) = (0..).zip(drafts).partition(is_whole);
    let missing = others.into_iter().map(|(number, draft)| {
        let key = draft.url.map_or("URL", |_| "Data");
        let message = format!("a resource without WebResource{key}; skipped");
        Entry::at(number).noting(Code::RecordBroken, message)
    });
    let broken = broken.map(|why| {
        let message = format!("{why}; the rest was not read");
        Entry::at(end).noting(Code::RecordBroken, message)
    });
    let mut taken = HashMap::new();
    let resources = resources.into_iter().map(move |(number, draft)| {
        let (url, body) = (
            draft.url.unwrap_or_default(),
            draft.body.unwrap_or_default(),
        );
        // A frame may have the URL of the page, and another body.
        let digest = hashed(&body);
        let is_other = *taken.entry(url.clone()).or_insert(digest) != digest;
        let mut capture = Capture::of(&url);
        capture.key = is_other.then(|| format!("frame:/{number}/{}", file_name_of(&url)).into());
        let resource = ArchivedResource {
            source: Source::WebArchive,
            capture,
            part: None,
            body,
            media_type: draft.media_type,
            charset: draft.charset,
        };
        Entry::at(number).holding(resource, options, wanted)
    });
    Ok(resources.chain(missing).chain(broken))
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

impl Resources {
    /// Processes the events of the property list `bytes`, up to the end of its dictionary.
    ///
    /// # Errors
    ///
    /// Fails with a sentence about the fault of the list.
    fn read(&mut self, bytes: &[u8]) -> Result<(), String> {
        let events: Box<dyn Iterator<Item = _>> = if bytes.starts_with(BINARY) {
            Box::new(BinaryReader::new(Cursor::new(bytes)))
        } else {
            Box::new(XmlReader::new(bytes))
        };
        let mut budget = (bytes.len() as u64).saturating_mul(GROWTH) + LEAST;
        for event in events {
            let event = event.map_err(|error| {
                let why = error.as_io().map_or_else(|| error.to_string(), cause);
                format!("its property list cannot be read: {why}")
            })?;
            budget = budget.checked_sub(cost(&event)).ok_or_else(|| {
                format!(
                    "its property list expands to more than {GROWTH} times the length of the file"
                )
            })?;
            self.process(event)?;
            if self.open.is_empty() {
                return Ok(());
            }
        }
        Err("its property list ends inside a collection".to_owned())
    }

    /// Processes the next event.
    ///
    /// # Errors
    ///
    /// Fails with a sentence about the fault of the list.
    fn process(&mut self, event: OwnedEvent) -> Result<(), &'static str> {
        let is_start = matches!(event, Event::StartArray(_) | Event::StartDictionary(_));
        if self.skipped > 0 {
            match event {
                _ if is_start => self.skipped += 1,
                Event::EndCollection => self.skipped -= 1,
                _ => {}
            }
            return Ok(());
        }
        if matches!(event, Event::EndCollection) {
            match self.open.pop() {
                None => return Err("its property list ends a collection that it did not begin"),
                Some((_, Some(_))) => return Err("a dictionary in it ends after a key"),
                Some((OpenCollection::Resource(draft), None)) => self.drafts.push(draft),
                Some(_) => {}
            }
            return Ok(());
        }
        let Some((outer, key)) = self.open.last_mut() else {
            if !matches!(event, Event::StartDictionary(_)) {
                return Err("its property list is not a dictionary");
            }
            self.open.push((OpenCollection::Archive(0), None));
            return Ok(());
        };
        let is_dictionary = matches!(
            outer,
            OpenCollection::Archive(_) | OpenCollection::Resource(_)
        );
        if is_dictionary && key.is_none() {
            let Event::String(name) = event else {
                return Err("a dictionary in it has a key that is not a string");
            };
            *key = Some(name);
            return Ok(());
        }
        let key = key.take().unwrap_or_default();
        let inner = match (outer, &*key, event) {
            (OpenCollection::Archive(frame), "WebMainResource", Event::StartDictionary(_))
            | (OpenCollection::Resources(frame), _, Event::StartDictionary(_)) => {
                Some(OpenCollection::Resource(ResourceDraft {
                    frame: *frame,
                    // An element of an array has no key.
                    is_main: !key.is_empty(),
                    ..ResourceDraft::default()
                }))
            }
            (OpenCollection::Archive(frame), "WebSubresources", Event::StartArray(_)) => {
                Some(OpenCollection::Resources(*frame))
            }
            (OpenCollection::Archive(_), "WebSubframeArchives", Event::StartArray(_)) => {
                Some(OpenCollection::Archives)
            }
            (OpenCollection::Archives, _, Event::StartDictionary(_)) => {
                self.frames += 1;
                Some(OpenCollection::Archive(self.frames))
            }
            (OpenCollection::Resource(draft), key, event) => {
                draft.set(key, event);
                None
            }
            _ => None,
        };
        match inner {
            Some(inner) => self.open.push((inner, None)),
            None => self.skipped += usize::from(is_start),
        }
        Ok(())
    }
}

impl ResourceDraft {
    /// Stores the value of `key` if it is of interest.
    fn set(&mut self, key: &str, value: OwnedEvent) {
        match (key, value) {
            ("WebResourceData", Event::Data(data)) => self.body = Some(data.into_owned()),
            ("WebResourceURL", Event::String(url)) => self.url = Some(url.into_owned()),
            ("WebResourceMIMEType", Event::String(name)) => {
                self.media_type = MediaType::read(name.as_bytes());
            }
            ("WebResourceTextEncodingName", Event::String(label)) => {
                self.charset = Charset::for_label(&label);
            }
            _ => {}
        }
    }
}
