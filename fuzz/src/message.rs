//! Messages: the laws of `tests/referee/message.rs`, which keep the meaning of everything except the links.
//!
//! Deliberately absent: other policies of the base element. Under them, a part may depend on its label, which only a
//! second run shows.

use baselink::Dkim;
use baselink_rewrite::base::ContentLocationUse;
use baselink_rewrite::{Options, rewrite};
use baselink_scan::attributes::{Group, Groups};
use baselink_text::format::Format;

use super::laws::chosen;

#[path = "../../tests/referee/message.rs"]
mod referee;

/// Checks the laws for a message.
pub fn message(bytes: &[u8]) {
    let (message, drawn) = chosen(bytes, Format::Message);
    let choice = bytes.last().copied().unwrap_or_default();
    let mut options = Options {
        format: Format::Message,
        retrieval: drawn.retrieval,
        dkim: if choice & 2 == 0 {
            Dkim::Rewrite
        } else {
            Dkim::Keep
        },
        ..Options::default()
    };
    if choice & 4 != 0 {
        options.content_location = ContentLocationUse::Label;
    }
    if choice & 8 != 0 {
        options.scan.groups.insert(Group::Text);
    }
    referee::hold(message, &options);
    // With all groups, headings change too.
    let (resolver, fragments) = (drawn.resolver, drawn.fragments);
    let mut options = Options {
        resolver,
        fragments,
        ..options
    };
    options.scan.groups = Groups::all();
    let rewritten = rewrite(message, &options);
    referee::always(message, &options, &rewritten, &rewritten.output());
}
