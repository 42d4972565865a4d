//! The places where the custom properties of a collection are used, and so the base of the URLs in them.
//!
//! ```text
//! index.html  <p style="--bg: url(/a.png)">, css/s.css  p { background: var(--bg) }  -->  --bg is used in css/
//! ```
//!
//! Every style sheet is assumed to belong to every page. A reference can then be relative only if all users of its
//! property are in one folder, because it leads elsewhere from any other folder.
//!
//! Deliberately absent: the cascade, and scripts.

use std::collections::{HashMap, HashSet};

use super::path::split_name;
use baselink_scan::css::uses::{Use, each_use};
use baselink_text::format::Format;

/// The number of properties that pass on a value beyond which its users count as unknown.
const MOST: usize = 256;

/// The folder that contains all users of a property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum UserFolder {
    /// The folder of a property without users.
    #[default]
    None,
    /// The folder of this file.
    Of(Box<[u8]>),
    Several,
}

impl UserFolder {
    /// Adds the folder of the file at `path`.
    fn add(&mut self, path: &[u8]) {
        match self {
            Self::None => *self = Self::Of(path.into()),
            Self::Of(known) if are_beside(known, path) => {}
            _ => *self = Self::Several,
        }
    }

    fn merge(&mut self, other: &Self) {
        match other {
            Self::None => {}
            Self::Of(path) => self.add(path),
            Self::Several => *self = Self::Several,
        }
    }
}

/// True if two files are in the same folder.
fn are_beside(left: &[u8], right: &[u8]) -> bool {
    split_name(left).0 == split_name(right).0
}

/// The users of one property.
#[derive(Debug, Default)]
struct Users {
    /// The folder of the style sheets that use the property.
    sheets: UserFolder,
    /// The folder of the pages that use the property.
    pages: UserFolder,
    /// The custom properties whose values contain this one.
    properties: HashSet<Box<[u8]>>,
}

/// The uses of custom properties in style sheets and pages. Memory grows with the number of names.
#[derive(Debug, Default)]
pub struct PropertyUses(HashMap<Box<[u8]>, Users>);

/// The base of a URL in a custom property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PropertyBase {
    /// The base of the document or style sheet that declares the property.
    Own,
    /// The folder of the file with this path.
    FolderOf(Box<[u8]>),
}

/// True if files of this format may use custom properties: style sheets, and pages.
#[must_use]
pub fn has_styles(format: Format) -> bool {
    matches!(
        format,
        Format::Css | Format::Html | Format::Xhtml | Format::Svg
    )
}

impl PropertyUses {
    /// Adds the uses in a file at `path`, which may also be a URL. Formats without styles have none.
    pub fn add(&mut self, path: &[u8], bytes: &[u8], format: Format) {
        let is_page = format != Format::Css;
        if !has_styles(format) {
            return;
        }
        let has = |tag: &[u8]| memchr::memmem::find(bytes, tag).is_some();
        let has_base = is_page && (has(b"<base") || has(b"<BASE"));
        each_use(bytes, is_page, &mut |name, kind| {
            if !self.0.contains_key(name) {
                self.0.insert(name.into(), Users::default());
            }
            let Some(users) = self.0.get_mut(name) else {
                return;
            };
            match kind {
                // The base of the page may be in another folder.
                Use::Direct if has_base => users.pages = UserFolder::Several,
                Use::Direct if is_page => users.pages.add(path),
                Use::Direct => users.sheets.add(path),
                Use::In(outer) if users.properties.contains(outer) => {}
                Use::In(outer) => drop(users.properties.insert(outer.into())),
                Use::Unclear => users.sheets = UserFolder::Several,
            }
        });
    }

    /// Adds the uses in other files.
    pub fn merge(&mut self, others: Self) {
        for (name, other) in others.0 {
            let users = self.0.entry(name).or_default();
            users.sheets.merge(&other.sheets);
            users.pages.merge(&other.pages);
            users.properties.extend(other.properties);
        }
    }

    /// Replaces each path by the one that `new` returns; `None` means an unknown folder.
    #[must_use]
    pub fn with_paths(mut self, new: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Self {
        for users in self.0.values_mut() {
            for folder in [&mut users.sheets, &mut users.pages] {
                if let UserFolder::Of(path) = folder {
                    *folder =
                        new(path).map_or(UserFolder::Several, |path| UserFolder::Of(path.into()));
                }
            }
        }
        self
    }

    /// The base of a URL in the custom property `name`, which is declared in the file at `path`, a page or a style
    /// sheet. `None` if there are several bases.
    pub(super) fn base(
        &self,
        name: &[u8],
        (path, is_page): (&[u8], bool),
        has_declared_base: bool,
    ) -> Option<PropertyBase> {
        let [mut others, pages] = self.users(name);
        // A property of a page is used in no other page.
        let is_used_here = is_page && pages != UserFolder::None;
        if !is_page {
            others.merge(&pages);
        }
        match others {
            UserFolder::None => Some(PropertyBase::Own),
            UserFolder::Of(user) if are_beside(&user, path) && !has_declared_base => {
                Some(PropertyBase::Own)
            }
            UserFolder::Of(user) if !is_used_here => Some(PropertyBase::FolderOf(user)),
            UserFolder::Of(_) | UserFolder::Several => None,
        }
    }

    /// All users of `name` in sheets and pages, also by way of other properties.
    fn users(&self, name: &[u8]) -> [UserFolder; 2] {
        let (mut sheets, mut pages) = (UserFolder::None, UserFolder::None);
        let (mut seen, mut open) = (HashSet::new(), vec![name]);
        while let Some(name) = open.pop() {
            if seen.len() > MOST {
                return [UserFolder::Several, UserFolder::Several];
            }
            let Some(users) = self.0.get(name).filter(|_| seen.insert(name)) else {
                continue;
            };
            sheets.merge(&users.sheets);
            pages.merge(&users.pages);
            open.extend(users.properties.iter().map(|name| &**name));
        }
        [sheets, pages]
    }
}
