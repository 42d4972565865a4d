//! The link of a feed's entry as the base of what the entry contains: `link` with `rel="alternate"` in Atom
//! (RFC 4287, 4.2.7), `link` in RSS, else a `guid` that is a permalink (RSS 2.0).
//!
//! No standard says so: the base of an entry is `xml:base`, and without one the URL of the feed (RFC 4287, 2).
//! But many who write feeds put the content of a page into them as it is, and some readers resolve it as it
//! was meant. So it counts on request, and where no `xml:base` is in force.
//!
//! ```
//! use baselink::base::{self, Outer};
//! use baselink::format::Format;
//! use baselink::resolve::Profile;
//! let feed = b"<rss><channel><item><link>http://a/1</link><description/></item></channel></rss>";
//! let options = baselink::ScanOptions { entry_links: true, ..Default::default() };
//! let document = baselink::scan_as(Format::Xml, feed, &options).unwrap();
//! let chain = base::establish(&document, Outer::Retrieval(None), Profile::Rfc1808);
//! assert_eq!(&*chain.elements[0].base.as_ref().unwrap().url, "http://a/1");
//! assert_eq!(chain.base, None);
//! ```
//!
//! Deliberately absent: the link of the feed itself, which some readers take. It is the page of the site, and
//! no entry.

use super::xml_base::{Given, for_its, xml_base};
use super::{BaseChain, ElementChain, Established, Level, Rule, Source, Status};
use crate::document::ElementBase;
use crate::resolve::Profile;

impl BaseChain {
    /// Adds the base of the content of an entry to those of elements, and says what it is; nothing where the
    /// entry has no link, and the base is the one `around` it.
    pub(super) fn entry_link(
        &mut self,
        declared: &ElementBase,
        around: ElementChain,
        profile: Profile,
    ) -> Option<Level> {
        let ElementBase { value, is_known, span, .. } = declared;
        if value.is_empty() {
            self.elements.push(around);
            return None;
        }
        let outer = around.base.as_ref().map(|base| &base.url);
        let scheme = self.assumed_scheme.as_ref();
        let (taken, status, reason) = xml_base(value, *is_known, outer, (profile, scheme));
        let (status, reason) = match &taken {
            Some(given) => (Status::PassedOver, for_its("entry", &given.base)),
            None => (status, reason),
        };
        let level = self.xml_base_level(value, *span, status, reason);
        self.elements.push(match taken {
            Some(Given { base: url, is_absolute }) => ElementChain {
                base: Some(Established { url, rule: Rule::Embedded, source: Source::EntryLink }),
                is_from_outside: around.is_from_outside && !is_absolute,
            },
            None => around,
        });
        Some(Level { source: Source::EntryLink, ..level })
    }
}
