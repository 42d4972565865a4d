//! Links in custom properties of CSS, which browsers resolve where the properties are used (CSS Custom Properties 1, 3).
//!
//! ```text
//! index.html  <p style="--bg: url(a.png)">, css/s.css  p { background: var(--bg) }  -->  css/a.png
//! ```
//!
//! Deliberately absent: the user of a property, which `baselink-rewrite` finds.

use baselink_rewrite::{
    LinkReport,
    report::{PropertyUser, TargetInSheet},
};
use baselink_url::Category;

use super::spelling::category;
use crate::collection::Collection;

/// The target of `link` from a style sheet that its page links, if only this target is a resource.
pub fn in_sheet<'l>(link: &'l LinkReport, collection: &Collection) -> Option<&'l TargetInSheet> {
    let in_sheets = &link.custom_property.as_ref()?.in_sheets;
    let is_file = |url: &str| collection.locate(url).resource().is_some();
    let other = in_sheets.iter().find(|other| is_file(&other.target))?;
    (!link.target.as_deref().is_some_and(is_file)).then_some(other)
}

/// True if `link` is written as a relative path.
pub fn is_relative(link: &LinkReport) -> bool {
    category(&link.reference) == Category::RelPath
}

/// The user of the custom property around `link`.
pub fn property_user(link: &LinkReport) -> Option<&PropertyUser> {
    Some(&link.custom_property.as_ref()?.user)
}
