//! Web archives of Safari (`.webarchive`): a page and its resources in a property list, binary or XML.
//!
//! The dictionary of an archive contains a resource (`WebMainResource`), an array of resources (`WebSubresources`)
//! and an array of archives, one per frame (`WebSubframeArchives`). The dictionary of a resource contains
//! `WebResourceURL`, `WebResourceMIMEType`, `WebResourceTextEncodingName`, `WebResourceFrameName` and
//! `WebResourceData`, a body without content codings. There is no specification; WebKit writes the format in
//! `LegacyWebArchive.cpp`.
//!
//! ```
//! use baselink_site::archive::WebArchive;
//! let page = b"<plist><dict><key>WebMainResource</key><dict><key>WebResourceURL</key><string>http://a/</string>\
//!     <key>WebResourceMIMEType</key><string>text/html</string><key>WebResourceData</key><data>PHA+</data></dict></dict></plist>";
//! let archive = WebArchive::read(page)?;
//! assert_eq!((archive.resources[0].url.as_str(), &archive.resources[0].body[..]), ("http://a/", &b"<p>"[..]));
//! # Ok::<(), baselink_text::Error>(())
//! ```
//!
//! In a binary list, several references may lead to the same object, even from inside the object. The parser
//! rejects cycles, and [`GROWTH`] limits repetition. Open collections are kept on an explicit stack, so nesting
//! does not cause recursion.
//!
//! Deliberately absent: `WebResourceResponse`, which is a serialized macOS object with status and header fields;
//! CDATA in XML, which Apple's programs do not write; and writing archives.

use std::{borrow::Cow, io::Cursor};

use baselink_rewrite::archive::{Anomaly, Offset};
use baselink_text::{Code, Error, Result, cause};
use plist::stream::{BinaryReader, Event, OwnedEvent, XmlReader};

/// The first bytes of a binary property list.
const BINARY: &[u8] = b"bplist00";
/// The maximum number of bytes of strings, data and references per byte of the file. An object counts once for each
/// reference to it, although the file contains it once.
const GROWTH: usize = 16;
/// The number of bytes that may always be read, even from a very short file.
const LEAST: usize = 64 << 10;

/// The resources of a web archive of Safari.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct WebArchive {
    /// The resources: first those of the page, then those of each frame in file order, with the main resource first
    /// in each.
    pub resources: Vec<WebResource>,
    /// Resources that cannot be used, and the point where a broken list ends.
    pub anomalies: Vec<Anomaly>,
}

/// A resource of a web archive of Safari.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct WebResource {
    /// The number of the resource in the archive, from 0. It is the offset of an [`Anomaly`].
    pub number: u64,
    /// The URL from which it was retrieved.
    pub url: String,
    /// The media type without parameters; empty if the archive has none.
    pub media_type: String,
    /// The label of the encoding that Safari used.
    pub charset: Option<String>,
    /// The name of the frame, for the main resource of a frame.
    pub frame_name: Option<String>,
    /// The bytes, without content codings.
    pub body: Vec<u8>,
    /// The number of the frame. The page is 0, and each frame has a higher number than its parent.
    pub frame: usize,
    /// True if the resource is the document of its frame.
    pub is_main: bool,
}

/// The parts of a resource read so far.
#[derive(Default)]
struct ResourceDraft {
    resource: WebResource,
    has_url: bool,
    has_body: bool,
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

impl OpenCollection {
    fn is_dictionary(&self) -> bool {
        matches!(self, Self::Archive(_) | Self::Resource(_))
    }
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
    has_ended: bool,
}

impl WebArchive {
    /// Reads a whole archive. Time and memory are proportional to the length of `bytes`.
    ///
    /// A resource without URL or body is an anomaly. If the list is broken after the first resource, the fault is
    /// an anomaly too.
    ///
    /// # Errors
    ///
    /// Returns an error if `bytes` are not a property list, or contain no resource of a web archive.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut binary = None;
        let mut xml = None;
        if bytes.starts_with(BINARY) {
            binary = Some(BinaryReader::new(Cursor::new(bytes)))
        } else {
            xml = Some(XmlReader::new(bytes))
        }
        let events = binary
            .into_iter()
            .flatten()
            .chain(xml.into_iter().flatten());
        let mut budget = bytes.len().saturating_mul(GROWTH).saturating_add(LEAST);
        let mut found = Resources::default();
        let mut broken = None;
        for event in events {
            let processed = event.map_err(|error| match error.as_io() {
                Some(error) => format!("its property list cannot be read: {}", cause(error)),
                None => format!("its property list cannot be read: {error}"),
            });
            let processed = processed.and_then(|event| {
                budget = budget.checked_sub(cost(&event)).ok_or_else(|| {
                    format!("its property list expands to more than {GROWTH} times the length of the file")
                })?;
                found.process(event).map_err(str::to_owned)
            });
            if let Err(why) = processed {
                broken = Some(why);
                break;
            }
            if found.has_ended {
                break;
            }
        }
        if broken.is_none() && !found.has_ended {
            broken = Some("its property list ends inside a collection".to_owned());
        }
        let not_an_archive = |why: &str| Error::new(format!("not a web archive of Safari: {why}"));
        match broken {
            Some(why) if found.drafts.is_empty() => Err(not_an_archive(&why)),
            None if found.drafts.is_empty() => Err(not_an_archive("it has no WebMainResource")),
            broken => Ok(Self::of(found.drafts, broken)),
        }
    }

    /// Builds the archive from `drafts` in file order. `broken` is the fault that ended the list.
    fn of(mut drafts: Vec<ResourceDraft>, broken: Option<String>) -> Self {
        drafts.sort_by_key(|draft| (draft.resource.frame, !draft.resource.is_main));
        let mut archive = Self::default();
        let mut number = 0;
        for ResourceDraft {
            mut resource,
            has_url,
            has_body,
        } in drafts
        {
            let missing = match (has_url, has_body) {
                (true, true) => None,
                (false, _) => Some("a resource without WebResourceURL; skipped"),
                (true, false) => Some("a resource without WebResourceData; skipped"),
            };
            match missing {
                Some(message) => archive.report(number, message),
                None => {
                    resource.number = number;
                    archive.resources.push(resource);
                }
            }
            number += 1;
        }
        if let Some(why) = broken {
            archive.report(number, format!("{why}; the rest was not read"));
        }
        archive
    }

    fn report(&mut self, number: u64, message: impl Into<Cow<'static, str>>) {
        let anomaly = Anomaly {
            offset: Offset {
                file: number,
                within: 0,
            },
            code: Code::RecordBroken,
            message: message.into(),
        };
        self.anomalies.push(anomaly);
    }
}

/// The size of `length` object numbers.
fn numbers(length: u64) -> usize {
    usize::try_from(length)
        .unwrap_or(usize::MAX)
        .saturating_mul(size_of::<u64>())
}

/// The cost of `event`, which counts towards the limit.
fn cost(event: &OwnedEvent) -> usize {
    let length = match event {
        Event::Data(data) => data.len(),
        Event::String(text) => text.len(),
        // The parser stores the number of each element and each key.
        Event::StartArray(Some(length)) => numbers(*length),
        Event::StartDictionary(Some(length)) => numbers(*length).saturating_mul(2),
        _ => 0,
    };
    length.saturating_add(1)
}

impl Resources {
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
            self.has_ended = self.open.is_empty();
            return Ok(());
        }
        let frames = self.frames;
        let Some((outer, key)) = self.open.last_mut() else {
            if !matches!(event, Event::StartDictionary(_)) {
                return Err("its property list is not a dictionary");
            }
            self.open.push((OpenCollection::Archive(0), None));
            return Ok(());
        };
        if outer.is_dictionary() && key.is_none() {
            let Event::String(name) = event else {
                return Err("a dictionary in it has a key that is not a string");
            };
            *key = Some(name);
            return Ok(());
        }
        let key = key.take().unwrap_or_default();
        let inner = match (outer, &*key, event) {
            (OpenCollection::Archive(frame), "WebMainResource", Event::StartDictionary(_)) => {
                Some(OpenCollection::Resource(ResourceDraft::of(*frame, true)))
            }
            (OpenCollection::Resources(frame), _, Event::StartDictionary(_)) => {
                Some(OpenCollection::Resource(ResourceDraft::of(*frame, false)))
            }
            (OpenCollection::Archive(frame), "WebSubresources", Event::StartArray(_)) => {
                Some(OpenCollection::Resources(*frame))
            }
            (OpenCollection::Archive(_), "WebSubframeArchives", Event::StartArray(_)) => {
                Some(OpenCollection::Archives)
            }
            (OpenCollection::Archives, _, Event::StartDictionary(_)) => {
                self.frames += 1;
                Some(OpenCollection::Archive(frames + 1))
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
    fn of(frame: usize, is_main: bool) -> Self {
        Self {
            resource: WebResource {
                frame,
                is_main,
                ..WebResource::default()
            },
            ..Self::default()
        }
    }

    /// Stores the value of `key` if it is of interest.
    fn set(&mut self, key: &str, value: OwnedEvent) {
        let Self {
            resource,
            has_url,
            has_body,
        } = self;
        match (key, value) {
            ("WebResourceData", Event::Data(data)) => {
                (resource.body, *has_body) = (data.into_owned(), true);
            }
            ("WebResourceURL", Event::String(url)) => {
                (resource.url, *has_url) = (url.into_owned(), true);
            }
            ("WebResourceMIMEType", Event::String(name)) => resource.media_type = name.into_owned(),
            ("WebResourceTextEncodingName", Event::String(label)) => {
                resource.charset = Some(label.into_owned());
            }
            ("WebResourceFrameName", Event::String(name)) => {
                resource.frame_name = Some(name.into_owned());
            }
            _ => {}
        }
    }
}
