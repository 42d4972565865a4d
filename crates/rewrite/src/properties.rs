//! References in custom properties of a page, which browsers resolve where the properties are used (CSS Custom
//! Properties 1, 3): in the page itself, or in a style sheet.
//!
//! ```
//! use baselink_rewrite::{Options, rewrite};
//! let page = b"<link rel=stylesheet href=css/s.css><p style='--bg: url(../a.png)'>";
//! let report = rewrite(page, &Options::at("http://a/b/")).report;
//! assert_eq!(
//!     report.diagnostics[0].message,
//!     "a reference in a custom property leads elsewhere from a style sheet: '../a.png' is http://a/a.png in the \
//!      page, but http://a/b/a.png in a sheet"
//! );
//! ```
//!
//! A document is assumed to be the user of a property if its own styles use the property. Otherwise the users are its style
//! sheets in other folders, and the reference is kept. A document without such sheets tells nothing about the user.
//!
//! Deliberately absent: sheets of other hosts, and sheets that other sheets import.

use std::collections::HashSet;

use baselink_scan::css::uses::used;
use baselink_text::{Code, Diagnostic, Span};
use baselink_url::{Base, Reference};

use crate::{
    base::{abridged, folder},
    report::{CustomProperty, LinkReport, Outcome, PropertyUser, TargetInSheet},
};

/// The styles of a page with custom properties.
pub struct PageStyles {
    /// The bases of style sheets in other folders of the same host.
    sheets: Vec<Base>,
    /// True if a sheet in the folder of the page may use its properties, too.
    has_near: bool,
    /// The custom properties that styles in the page use.
    used: HashSet<Box<[u8]>>,
    /// The number of references that lead elsewhere from a sheet, and the first one with both targets.
    number: usize,
    first: Option<(Span, String)>,
}

impl PageStyles {
    /// Finds the styles of the document in `bytes`, which links the sheets `linked` and whose links have the base `own`.
    pub fn of(bytes: &[u8], linked: Vec<String>, own: Option<&Base>) -> Self {
        let mut styles = Self {
            sheets: Vec::new(),
            has_near: false,
            used: used(bytes).map(Box::from).collect(),
            number: 0,
            first: None,
        };
        let Some(own) = own else { return styles };
        for sheet in linked {
            let Ok(sheet) = own.resolve(&sheet) else {
                continue;
            };
            let is_known = |base: &Base| folder(base.as_str()) == folder(&sheet.url);
            styles.has_near |= is_known(own);
            let is_other = !is_known(own) && !styles.sheets.iter().any(is_known);
            if is_other && host(&sheet.url) == host(own.as_str()) {
                styles.sheets.push(Base::new(own.resolver(), &sheet.url));
            }
        }
        styles
    }

    /// The custom property `name` around `link`.
    pub fn property(&self, name: &str, link: &LinkReport) -> Box<CustomProperty> {
        let user = match &*self.sheets {
            _ if self.used.contains(name.as_bytes()) => PropertyUser::Own,
            [] => PropertyUser::Unknown,
            // The `initial-value` of a rule has no name of its own.
            [sheet] if !self.has_near && name.starts_with("--") => {
                PropertyUser::Sheet(sheet.as_str().to_owned())
            }
            _ => PropertyUser::Several,
        };
        let is_relative = link.outcome == Outcome::Rewritten;
        let sheets = self.sheets.iter().filter(|_| is_relative);
        let in_sheets = sheets.filter_map(|sheet| {
            let target = sheet.resolve(&link.reference).ok()?.url;
            (link.target.as_ref() != Some(&target)).then_some(TargetInSheet {
                base: sheet.as_str().to_owned(),
                target,
            })
        });
        Box::new(CustomProperty {
            in_sheets: in_sheets.collect(),
            user,
        })
    }

    /// Counts `link` if it leads elsewhere from a sheet. Returns true if such a link must be kept.
    pub fn keeps(&mut self, link: &LinkReport) -> bool {
        let property = link.custom_property.as_deref();
        let Some((property, other)) = property.and_then(|one| Some((one, one.in_sheets.first()?)))
        else {
            return false;
        };
        self.number += 1;
        self.first.get_or_insert_with(|| {
            let own = link.target.as_deref().unwrap_or_default();
            let [reference, own, other] = [&*link.reference, own, &*other.target].map(abridged);
            (
                link.span,
                format!("'{reference}' is {own} in the page, but {other} in a sheet"),
            )
        });
        property.user != PropertyUser::Own
    }

    /// The diagnostic about the counted links.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let (span, first) = self.first.as_ref()?;
        let message = match self.number {
            1 => {
                format!(
                    "a reference in a custom property leads elsewhere from a style sheet: {first}"
                )
            }
            number => format!(
                "{number} references in custom properties lead elsewhere from a style sheet, first: {first}"
            ),
        };
        Some(Diagnostic::new(Code::CustomProperty, *span, message))
    }
}

/// The scheme and host of `url`.
fn host(url: &str) -> (Option<&str>, Option<&str>) {
    let url = Reference::of(url);
    (url.scheme(), url.net_loc())
}
