//! Captures of an archive, and the selection of those that become resources.
//!
//! A URL may be captured more than once, and a capture may be a redirect or an error. [`Captures`] chooses the best
//! capture of each URL. Whole resources (a 2xx status except 204, 205 and 206) rank first, then resources with an empty
//! or incomplete body, then redirects with a `Location`, then all other captures. Within a rank, the capture nearest to
//! a requested date wins, or else the latest. Only responses to `GET` answer a link. A range (206) that covers the whole
//! resource is a success.
//!
//! Redirects are followed among the captures (RFC 9110, 15.4), and the URL of a redirect becomes another URL of the
//! final resource. A revisit record (ISO 28500, 6.7) refers to another capture and gets its body.
//!
//! ```
//! use baselink_site::collection::capture::{Capture, Captures};
//! let at = |url: &str, status, date: &str| Capture { status, date: date.parse().ok(), ..Capture::of(url) };
//! let mut captures = Captures::default();
//! captures.add(0, at("http://a/", 503, "2026-01-03"));
//! captures.add(1, at("http://a/", 200, "2026-01-01T10:00:00Z"));
//! captures.add(2, at("http://a/", 200, "20260102"));
//! captures.add(3, Capture { location: Some("/".into()), ..at("http://a/start", 301, "2026") });
//! let chosen = captures.choose(None, |_| true);
//! assert_eq!((chosen.resources.len(), chosen.resources[0].item), (1, 2));
//! assert_eq!(chosen.collection.locate("http://a/start"), chosen.collection.locate("http://a/"));
//! ```
//!
//! The captures and the collection share the table of URLs, so each URL is in memory once.
//!
//! Deliberately absent: bodies.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    fmt,
    str::FromStr,
    sync::{Arc, LazyLock},
    time::{SystemTime, UNIX_EPOCH},
};

use baselink_text::{Error, Result};
use baselink_url::{Base, Resolver};
use indexmap::IndexSet;
use jiff::{civil::DateTime, fmt::rfc2822::DateTimeParser, tz::TimeZone};
use regex::Regex;

use super::{
    file_names::{path, rounds},
    index::{Collection, ResourceKind, UrlTarget, saturated},
    normal::{MAX_REDIRECTS, fragment_of, normal, with_other_scheme},
};

/// The result of retrieving a URL at some time. It has many fields because records have many; most are empty.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// The URL, absolute.
    pub url: Box<str>,
    /// The name of the resource in the archive, if another resource has the same URL.
    pub key: Option<Box<str>>,
    /// The entity of a message whose labels its links use first ([`Collection::locate_link`]).
    pub entity: Option<Arc<str>>,
    /// The status code; 200 if the archive records no HTTP responses, 0 if there was no response.
    pub status: u16,
    /// True if the body is empty or incomplete.
    pub is_short: bool,
    /// True if the body is known to be incomplete.
    pub is_cut: bool,
    /// The time of the capture.
    pub date: Option<CaptureDate>,
    /// The media type without parameters.
    pub media_type: Arc<str>,
    /// The raw target of a redirect.
    pub location: Option<Box<str>>,
    /// Digests of the identifiers by which revisits refer to this capture; none for a revisit.
    pub names: Vec<u64>,
    /// For a revisit, the identifiers of the capture whose body it repeats, the most reliable first.
    pub repeats: Vec<u64>,
    /// Digests of the ids of the records about the same request (ISO 28500, 5.7).
    pub exchange: Vec<u64>,
    /// The method of a request, unless it is `GET`. Captures of the same exchange are then ignored.
    pub other_method: Option<Box<str>>,
}

impl Capture {
    /// Creates a capture of `url` with the status 200.
    pub fn of(url: &str) -> Self {
        Self {
            url: url.into(),
            status: 200,
            ..Self::default()
        }
    }
}

/// A time in UTC to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaptureDate(DateTime);

impl CaptureDate {
    /// The time in the value of a `Date` field of a message (RFC 5322, 3.3).
    pub fn of_message(value: &str) -> Option<Self> {
        let time = DateTimeParser::new().parse_timestamp(value.trim()).ok()?;
        Some(Self(TimeZone::UTC.to_datetime(time)))
    }

    /// The date as people write it: `31 January 2026, 10:20 UTC`.
    #[must_use]
    pub fn in_words(self) -> String {
        self.0.strftime("%-d %B %Y, %H:%M UTC").to_string()
    }

    /// The time as the file system represents it.
    pub fn time(self) -> SystemTime {
        let time = TimeZone::UTC.to_timestamp(self.0);
        time.and_then(SystemTime::try_from).unwrap_or(UNIX_EPOCH)
    }
}

/// Parses a date, and returns the first second of the period that it denotes. Only the year is required: `2026`,
/// `2026-01-31T10:20:30.5Z`, `20260131102030`.
impl FromStr for CaptureDate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        DateRange::from_str(text).map(|range| range.first)
    }
}

/// Formats a date as in RFC 3339.
impl fmt::Display for CaptureDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Z", self.0)
    }
}

/// The period that a date denotes; `2026` is a whole year.
#[derive(Clone, Copy)]
pub struct DateRange {
    first: CaptureDate,
    last: CaptureDate,
}

impl DateRange {
    /// The number of seconds between `date` and the period. A capture without a date is farthest.
    fn distance(self, date: Option<CaptureDate>) -> u64 {
        let Some(date) = date else { return u64::MAX };
        let before = self.first.0.duration_since(date.0);
        let after = date.0.duration_since(self.last.0);
        u64::try_from(before.max(after).as_secs()).unwrap_or(0)
    }
}

/// A date without fractions of a second: a year and pairs of digits, all separated or not.
static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = "^[-:TtZz ]*[0-9]{4}(?:[0-9]{2})*(?:[-:TtZz ]+[0-9]{2})*[-:TtZz ]*$";
    Regex::new(date).ok()
});

impl FromStr for DateRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let invalid = || {
            let example =
                "give a year or more of a date, such as 2024, 2024-05-31 or 20240531102030";
            Error::new(format!("'{text}' is not a date: {example}"))
        };
        // Fractions of a second and `Z` are ignored.
        let whole = text.trim().split('.').next().unwrap_or_default();
        let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
        let is_well_formed = DATE.as_ref().is_some_and(|date| date.is_match(whole));
        if !is_well_formed || digits.len() > "YYYYMMDDhhmmss".len() {
            return Err(invalid());
        }
        // A leap second counts as the last second of its minute.
        let at = |rest: &str| {
            let whole = [&digits, &rest[digits.len()..]].concat();
            DateTime::strptime("%Y%m%d%H%M%S", whole).map_err(|_| invalid())
        };
        let (first, last) = (at("YYYY0101000000")?, at("YYYY1201235959")?);
        let last = if digits.len() < "YYYYMMDD".len() {
            last.last_of_month()
        } else {
            last
        };
        Ok(Self {
            first: CaptureDate(first),
            last: CaptureDate(last),
        })
    }
}

/// The captures so far. Memory grows with their number, and with the lengths of different URLs.
#[derive(Default)]
pub struct Captures {
    /// The normalized URLs, and the keys of resources that share a URL.
    urls: IndexSet<Box<str>>,
    /// The number of bytes that the captures take in memory, roughly.
    pub size: u64,
    all: Vec<Candidate>,
    /// The bodies to which revisits may refer, by their identifiers.
    bodies: HashMap<u64, CapturedItem>,
    /// The ids of the exchanges to which captures belong, and the items of the captures.
    exchanges: Vec<(u64, u32)>,
    /// The ids of exchanges with another method than `GET`.
    other_methods: HashSet<u64>,
    /// The media types, each stored once.
    media_types: HashSet<Arc<str>>,
}

/// The number of bytes that a capture takes in memory without its URLs, roughly.
const OF_CAPTURE: usize = 256;

/// The item that contains a body, and the media type of the body.
type CapturedItem = (u32, Arc<str>);

/// A capture of a URL.
#[derive(Default)]
struct Candidate {
    /// The index of the URL.
    url: u32,
    item: u32,
    media_type: Arc<str>,
    status: u16,
    is_short: bool,
    is_cut: bool,
    date: Option<CaptureDate>,
    more: Option<Box<RareParts>>,
}

/// The parts that few captures have.
#[derive(Default, PartialEq)]
struct RareParts {
    /// The URL, if it differs from its normal form.
    url: Option<Box<str>>,
    /// True if the resource has a key.
    has_key: bool,
    entity: Option<Arc<str>>,
    location: Option<Box<str>>,
    repeats: Vec<u64>,
}

static NO_PARTS: LazyLock<RareParts> = LazyLock::new(RareParts::default);

impl Candidate {
    fn more(&self) -> &RareParts {
        self.more.as_deref().unwrap_or(&NO_PARTS)
    }

    fn url(&self) -> Option<&str> {
        self.more().url.as_deref()
    }

    fn location(&self) -> Option<&str> {
        let location = self.more().location.as_deref();
        location.filter(|_| matches!(self.status, 300..=303 | 307 | 308))
    }

    /// True if the body is the whole resource. False for partial (206) and empty (204, 205) responses.
    fn is_resource(&self) -> bool {
        matches!(self.status, 200..=203 | 207..=299)
    }

    /// The rank of the capture among the captures of its URL. Within a class, the capture nearest to `near` ranks
    /// first.
    fn rank(&self, near: Option<DateRange>) -> impl Ord + use<> {
        let is_resource = self.is_resource();
        let is_whole = is_resource && !self.is_short;
        let is_redirect = self.location().is_some();
        let distance = near.map(|near| near.distance(self.date));
        let class = (is_whole, is_resource, is_redirect);
        (class, Reverse(distance), self.date)
    }

    /// Takes the body of the capture that this revisit repeats.
    fn find_body(&mut self, bodies: &HashMap<u64, CapturedItem>) {
        let mut names = self.more().repeats.iter();
        match names.find_map(|name| bodies.get(name)) {
            Some((item, media_type)) => {
                self.item = *item;
                // Only the record of the body proves that it is HTML.
                if matches!(&*self.media_type, "" | "text/html") {
                    self.media_type = Arc::clone(media_type);
                }
                if self.status == 304 {
                    self.status = 200;
                }
            }
            None if self.location().is_some() => {}
            // The body is missing.
            None => self.status = 304,
        }
    }
}

/// The resources of an archive.
#[derive(Default)]
pub struct ChosenCaptures {
    /// The resources in the order of their URLs, and then those with keys.
    pub resources: Vec<CapturedResource>,
    /// The resources by their URLs and by URLs that redirect to them. The names are the paths of their files.
    pub collection: Arc<Collection>,
}

/// A resource of an archive.
pub struct CapturedResource {
    /// The index of the normalized URL.
    number: u32,
    /// The URL, if it differs from its normal form.
    url: Option<Box<str>>,
    /// The time of the capture.
    pub date: Option<CaptureDate>,
    /// The media type without parameters.
    pub media_type: Arc<str>,
    /// The number of the item that contains the body.
    pub item: u32,
    /// The place of the first capture of the URL in the order of time.
    pub first: CaptureOrder,
}

/// The place of a capture in the order of time: its date and its item. Captures without a date come last.
pub type CaptureOrder = (bool, Option<CaptureDate>, u32);

impl ChosenCaptures {
    /// The URL of the resource as it was captured.
    pub fn url(&self, resource: usize) -> &str {
        let CapturedResource { number, url, .. } = &self.resources[resource];
        let normal = self.collection.urls.get_index(*number as usize);
        url.as_deref()
            .or(normal.map(|(url, _)| &**url))
            .unwrap_or_default()
    }
}

impl Collection {
    /// Adds the captures of other sources, whose files lie in the folders of their collections. A URL leads to its latest capture,
    /// or to that nearest to `near`, whatever a file claims about itself.
    pub fn add_captures(&mut self, sources: &[&ChosenCaptures], near: Option<DateRange>) {
        let mut found = Vec::new();
        for source in sources {
            let captured = &source.collection;
            let mut numbers = Vec::new();
            for number in 0..captured.count() {
                let path = captured.in_library(captured.path(number));
                numbers.push(self.add(&path, ResourceKind::File, []));
            }
            for (url, (text, target)) in captured.urls.iter().enumerate() {
                // Other URLs, such as `cid:`, are valid only inside their source.
                if !text.starts_with("http") {
                    continue;
                }
                match *target {
                    UrlTarget::Resource(number) => {
                        let date = source.resources[number as usize].date;
                        let own = numbers[number as usize];
                        let fragment = captured.fragments.get(&url);
                        found.extend(own.map(|own| (date, own, text, fragment)));
                    }
                    UrlTarget::Failure(_) if self.locate(text).resource().is_none() => {
                        // If the URL is known, another capture answers it.
                        self.urls.entry(text.clone()).or_insert(*target);
                    }
                    UrlTarget::Failure(_) | UrlTarget::Outside => {}
                }
            }
        }
        found.sort_by_key(|&(date, ..)| (near.map(|near| Reverse(near.distance(date))), date));
        for (_, number, url, fragment) in found {
            let known = self.assign_url(number, url);
            self.fragments.remove(&known);
            let fragment = fragment.cloned();
            self.fragments
                .extend(fragment.map(|fragment| (known, fragment)));
        }
    }
}

impl Captures {
    /// Adds a capture. `item` is the number of its record or entry, in the order of the archive. A capture is ignored if
    /// its URL is not absolute, if there was no response, or if it answers another method than `GET`.
    pub fn add(&mut self, item: u32, capture: Capture) {
        if capture.other_method.is_some() {
            return self.other_methods.extend(capture.exchange);
        }
        let Some(normal) = normal(&capture.url).filter(|_| capture.status > 0) else {
            return;
        };
        let normal = normal.into_owned();
        let location = capture.location.as_deref().map_or(0, str::len);
        self.size += (OF_CAPTURE + 2 * capture.url.len() + location) as u64;
        let known = self.media_types.get(&capture.media_type).cloned();
        let media_type = known.unwrap_or_else(|| {
            self.media_types.insert(Arc::clone(&capture.media_type));
            capture.media_type
        });
        for name in capture.names {
            // The first item with the body wins.
            let body = || (item, Arc::clone(&media_type));
            self.bodies.entry(name).or_insert_with(body);
        }
        let exchange = capture.exchange.into_iter();
        self.exchanges.extend(exchange.map(|id| (id, item)));
        let has_key = capture.key.is_some();
        let text = capture.key.as_deref().unwrap_or(&normal);
        let number = self.urls.insert_full(text.into()).0;
        let more = RareParts {
            url: (*capture.url != *text).then_some(capture.url),
            has_key,
            entity: capture.entity,
            location: capture.location,
            repeats: capture.repeats,
        };
        self.all.push(Candidate {
            url: saturated(number),
            item,
            media_type,
            status: capture.status,
            is_short: capture.is_short,
            is_cut: capture.is_cut,
            date: capture.date,
            more: (more != RareParts::default()).then(|| Box::new(more)),
        });
    }

    /// The best capture of each URL, and the places of the first captures. A URL without a capture gets one with the status 0.
    fn best(
        self,
        near: Option<DateRange>,
    ) -> (IndexSet<Box<str>>, Vec<Candidate>, Vec<CaptureOrder>) {
        let Self {
            urls,
            mut all,
            bodies,
            exchanges,
            other_methods,
            ..
        } = self;
        let ignored = exchanges
            .into_iter()
            .filter(|(id, _)| other_methods.contains(id));
        let ignored: HashSet<u32> = ignored.map(|(_, item)| item).collect();
        all.retain(|capture| !ignored.contains(&capture.item));
        let mut best: Vec<Candidate> = Vec::new();
        best.resize_with(urls.len(), Candidate::default);
        let mut firsts = vec![(true, None, u32::MAX); urls.len()];
        for mut capture in all {
            let first = &mut firsts[capture.url as usize];
            *first = (capture.date.is_none(), capture.date, capture.item).min(*first);
            if !capture.more().repeats.is_empty() {
                capture.find_body(&bodies);
            }
            // Among equals, the later one wins.
            let before = &mut best[capture.url as usize];
            if before.status == 0 || capture.rank(near) >= before.rank(near) {
                *before = capture;
            }
        }
        (urls, best, firsts)
    }

    /// Chooses the resources whose URLs satisfy `takes`. If a URL was captured more than once, the capture nearest to `near` wins.
    /// The path of a file does not depend on `takes`.
    pub fn choose(self, near: Option<DateRange>, takes: impl Fn(&str) -> bool) -> ChosenCaptures {
        let (urls, best, firsts) = self.best(near);
        let is_resource = |index: &usize| best[*index].is_resource();
        let mut order: Vec<usize> = (0..urls.len()).filter(is_resource).collect();
        order.sort_unstable_by_key(|&index| (best[index].more().has_key, &urls[index]));
        let resource = |number: usize| {
            let index = order[number];
            let capture = &best[index];
            let named = capture.url().filter(|_| !capture.more().has_key);
            (named.unwrap_or(&urls[index]), &*capture.media_type)
        };
        let rounds = rounds(order.len(), resource);
        // The paths of the files are derived from URLs and are not used to find them.
        let mut collection = Collection::default();
        collection.only_urls = true;
        let mut resources = Vec::with_capacity(order.len());
        let mut targets = vec![UrlTarget::Outside; urls.len()];
        for (number, (&index, round)) in order.iter().zip(rounds).enumerate() {
            let capture = &best[index];
            if !takes(capture.url().unwrap_or(&urls[index])) {
                continue;
            }
            // Paths are distinct, so each is new.
            let place = path(resource(number), round);
            let place = collection.files.insert_full(place.into_bytes().into()).0;
            targets[index] = UrlTarget::of(place);
            collection.add_host(&urls[index]);
            let entity = capture.more().entity.clone();
            collection
                .entities
                .extend(entity.map(|entity| (place, entity)));
            collection.cut.extend(capture.is_cut.then_some(place));
            resources.push(CapturedResource {
                number: saturated(index),
                url: capture.url().map(Into::into),
                date: capture.date,
                media_type: Arc::clone(&capture.media_type),
                item: capture.item,
                first: firsts[index],
            });
        }
        let next = |index| Some((index, next_of(index, &urls, &best)?));
        let next: HashMap<usize, usize> = (0..urls.len()).filter_map(next).collect();
        // The last fragment of a location applies (Fetch Standard, 4.4, HTTP-redirect fetch).
        let end_of = |first: usize| {
            let (mut at, mut fragment) = (first, None);
            for _ in 0..MAX_REDIRECTS {
                let location = best[at].location().unwrap_or_default();
                fragment = fragment_of(location).or(fragment);
                at = *next.get(&at)?;
                if best[at].is_resource() {
                    return Some((at, fragment));
                }
            }
            None
        };
        let others = best
            .iter()
            .enumerate()
            .filter(|(_, capture)| capture.status > 0 && !capture.is_resource());
        for (index, capture) in others {
            targets[index] = match end_of(index) {
                Some((end, fragment)) => {
                    let fragment = fragment.map(|fragment| (index, fragment.into()));
                    collection.fragments.extend(fragment);
                    targets[end]
                }
                None => {
                    collection.add_host(&urls[index]);
                    UrlTarget::Failure(capture.status)
                }
            };
        }
        drop((best, firsts));
        collection.urls = urls.into_iter().zip(targets).collect();
        collection.note_uses();
        collection.has_captures = true;
        ChosenCaptures {
            resources,
            collection: collection.into(),
        }
    }
}

/// The index of the resource or redirect to which the redirect at index `from` leads.
fn next_of(from: usize, urls: &IndexSet<Box<str>>, best: &[Candidate]) -> Option<usize> {
    let redirect = &best[from];
    let url = redirect.url().unwrap_or(&urls[from]);
    let location = redirect.location()?;
    // Browsers resolve a location by the URL Standard (Fetch Standard, 2.2.6, "location URL"). The resolver applies only
    // to links.
    let to = Base::new(Resolver::Whatwg, url).resolve(location).ok()?.url;
    let to = normal(&to)?;
    // If the capture of the target is an error, the target with the other scheme, `http` or `https`, may be a resource.
    let known = |url: &str| {
        let at = urls.get_index_of(url)?;
        (best[at].is_resource() || best[at].location().is_some()).then_some(at)
    };
    known(&to).or_else(|| known(&with_other_scheme(&to)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::collection::{Located, hashed};
    use baselink_url::capture_key;

    fn capture(url: &str, status: u16, date: &str) -> Capture {
        Capture {
            status,
            date: date.parse().ok(),
            ..Capture::of(url)
        }
    }

    fn redirect(url: &str, to: &str) -> Capture {
        Capture {
            status: 302,
            location: Some(to.into()),
            ..Capture::of(url)
        }
    }

    /// Bug 108: the redirect had no target.
    #[test]
    fn a_redirect_to_an_error_ends_at_the_page_with_the_other_scheme() {
        let all = vec![
            redirect("http://a/start", "https://a/x"),
            capture("https://a/x", 503, "2026"),
            capture("http://a/x", 200, "2026"),
        ];
        let chosen = chosen(None, all);
        assert_eq!(end(&chosen, "http://a/start"), Some("http://a/x"));
    }

    fn chosen(near: Option<&str>, all: Vec<Capture>) -> ChosenCaptures {
        let mut captures = Captures::default();
        for (item, capture) in (0..).zip(all) {
            captures.add(item, capture);
        }
        captures.choose(near.map(|near| near.parse().unwrap()), |_| true)
    }

    /// The URL of the resource to which `url` redirects.
    fn end<'a>(chosen: &'a ChosenCaptures, url: &str) -> Option<&'a str> {
        Some(chosen.url(chosen.collection.locate(url).resource()?.number))
    }

    #[test]
    fn urls_have_one_key_if_they_lead_to_one_resource() {
        let urls = [
            "http://a/~b",
            "HTTPS://A:443/x/../%7Eb#c",
            "https://a:80/~b",
            "http://a:443/~b",
            "http://a/~b?",
            "ftp://a/~b",
            "http://a/../~b",
        ];
        for one in urls {
            let chosen = chosen(None, vec![capture(one, 200, "2026")]);
            for other in urls {
                let key = capture_key(one).filter(|key| capture_key(other).as_ref() == Some(key));
                assert_eq!(
                    end(&chosen, other).is_some(),
                    key.is_some(),
                    "{one} {other}"
                );
            }
        }
    }

    #[test]
    fn dates_follow_the_gregorian_calendar() {
        for (text, seconds, shown) in [
            ("1970", 0, "1970-01-01T00:00:00Z"),
            ("2000-02-29T12:30:15Z", 951_827_415, "2000-02-29T12:30:15Z"),
            ("20260131102030", 1_769_854_830, "2026-01-31T10:20:30Z"),
            (
                "2026-01-31T10:20:30.123456Z",
                1_769_854_830,
                "2026-01-31T10:20:30Z",
            ),
            ("1969-12-31T23:59:59Z", -1, "1969-12-31T23:59:59Z"),
            (
                "2016-12-31T23:59:60Z",
                1_483_228_799,
                "2016-12-31T23:59:59Z",
            ),
        ] {
            let date: CaptureDate = text.parse().unwrap();
            let epoch = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
            assert_eq!(
                (date.0.duration_since(epoch).as_secs(), &*date.to_string()),
                (seconds, shown),
                "{text}"
            );
        }
        for text in [
            "",
            "26",
            "2026-13",
            "2026-02-29",
            "20260131102060x",
            "now",
            "2026-1-1",
        ] {
            assert!(text.parse::<CaptureDate>().is_err(), "{text}");
        }
        let february: DateRange = "2024-02".parse().unwrap();
        assert_eq!(february.last.to_string(), "2024-02-29T23:59:59Z");
        assert_eq!(
            "2023-12".parse::<DateRange>().unwrap().last.to_string(),
            "2023-12-31T23:59:59Z"
        );
    }

    #[test]
    fn the_best_capture_of_a_url_wins() {
        let items = |near, all| -> Vec<u32> {
            chosen(near, all)
                .resources
                .iter()
                .map(|resource| resource.item)
                .collect()
        };
        let three = || {
            vec![
                capture("http://a/", 200, "2024-06-01"),
                capture("http://a/", 503, "2026-01-01"),
                capture("HTTP://A:80/#x", 200, "2025-01-01"),
            ]
        };
        assert_eq!(items(None, three()), [2]);
        assert_eq!(items(Some("2024"), three()), [0]);
        assert_eq!(items(Some("2024-12-31"), three()), [2]);
        // Queries with the same parameters in another order are different. A page wins over a redirect.
        let all = vec![
            capture("http://a/?x&y", 200, "2024"),
            capture("http://a/?y&x", 200, "2024"),
            redirect("http://a/?x&y", "/?y&x"),
            capture("http://a/404", 404, "2024"),
            capture("http://a/part", 206, "2024"),
            capture("http://a/same", 304, "2024"),
        ];
        assert_eq!(items(None, all), [0, 1]);
    }

    #[test]
    fn redirects_end_in_the_archive_or_nowhere() {
        let found = chosen(
            None,
            vec![
                capture("https://a/end", 200, "2024"),
                redirect("http://a/end", "https://a/end"),
                redirect("http://a/1", "2"),
                redirect("http://a/2", "http://a/end#x"),
                redirect("http://a/circle", "/circle2"),
                redirect("http://a/circle2", "/circle"),
                redirect("http://a/out", "http://b/"),
                redirect("http://a/gone", "404"),
                capture("http://a/404", 404, "2024"),
            ],
        );
        for path in ["1", "2", "end"] {
            assert_eq!(
                end(&found, &format!("http://a/{path}")),
                Some("https://a/end"),
                "{path}"
            );
        }
        for (path, status) in [
            ("404", 404),
            ("circle", 302),
            ("circle2", 302),
            ("gone", 302),
            ("out", 302),
        ] {
            let url = format!("http://a/{path}");
            assert_eq!(found.collection.locate(&url), Located::Failed(status));
        }
        assert_eq!(found.collection.failures().count(), 5);
        // The redirect to http://b/ was captured, but http://b/ was not.
        for (url, is_host_known) in [
            ("http://a/x", true),
            ("https://a/", true),
            ("http://b/", false),
        ] {
            assert_eq!(
                found.collection.locate(url),
                Located::Outside { is_host_known }
            );
        }
    }

    #[test]
    fn unselected_captures_are_outside_the_collection() {
        let mut captures = Captures::default();
        let all = [
            capture("http://a/x", 200, "2026"),
            capture("http://A/y", 200, "2026"),
            redirect("http://a/to-x", "x"),
            redirect("http://c/to-y", "//a/y"),
        ];
        (0..)
            .zip(all)
            .for_each(|(item, capture)| captures.add(item, capture));
        let found = captures.choose(None, |url| url.ends_with('y'));
        assert_eq!((found.resources.len(), found.url(0)), (1, "http://A/y"));
        assert_eq!(found.collection.path(0), b"a/y");
        for (url, expected) in [
            ("http://a/y", Some("http://A/y")),
            ("http://c/to-y", Some("http://A/y")),
            ("http://a/x", None),
            ("http://a/to-x", None),
        ] {
            assert_eq!(end(&found, url), expected, "{url}");
        }
    }

    #[test]
    fn a_revisit_has_the_body_of_another_capture() {
        let name = hashed(("digest", "sha1:X"));
        let revisit = |url, date| Capture {
            repeats: vec![hashed(("id", "unknown")), name],
            ..capture(url, 304, date)
        };
        let first = Capture {
            names: vec![name],
            media_type: "text/css".into(),
            ..capture("http://a/", 200, "2024")
        };
        let found = chosen(
            None,
            vec![
                revisit("http://b/", "2025"),
                first.clone(),
                revisit("http://a/", "2026"),
            ],
        );
        let all = found.resources.iter().enumerate();
        let all: Vec<_> = all
            .map(|(at, resource)| (found.url(at), resource.item, &*resource.media_type))
            .collect();
        assert_eq!(
            all,
            [("http://a/", 1, "text/css"), ("http://b/", 1, "text/css")]
        );
        // If the body is missing, an earlier capture wins.
        let lost = Capture {
            names: Vec::new(),
            ..first
        };
        let found = chosen(
            None,
            vec![
                lost,
                revisit("http://a/", "2026"),
                revisit("http://b/", "2026"),
            ],
        );
        assert_eq!((found.resources.len(), found.resources[0].item), (1, 0));
        assert_eq!(found.collection.locate("http://b/"), Located::Failed(304));
    }
}
