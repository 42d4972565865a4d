//! The job with lol_html: a handler for every element makes the attributes absolute that the table names for that
//! element. A selector for each name in the table is slower, because lol_html tries all selectors on every tag.
//!
//! Deliberately absent: places on any element (`style`, `itemid`), and attributes that the table names by a prefix.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::sync::LazyLock;

use baselink_scan::attributes::{Condition, Namespace, Syntax, TABLE};
use baselink_scan::value;
use baselink_url::Base;
use lol_html::html_content::Element;
use lol_html::{ElementContentHandlers, HtmlRewriter, Settings};

use crate::jobs::row;
use crate::tools::Tools;

/// The attributes of an element that hold references, and their syntax.
type Places = Vec<(&'static str, Syntax)>;

/// The places of the table that are rewritten by default, by element.
static PLACES: LazyLock<HashMap<&'static str, Places>> = LazyLock::new(|| {
    let mut places: HashMap<_, Places> = HashMap::new();
    for row in TABLE.iter() {
        let counts = row.group.is_none()
            && row.namespace.is_none_or(|known| known == Namespace::Html)
            && matches!(
                row.syntax,
                Syntax::Url | Syntax::Spaces | Syntax::Srcset | Syntax::Refresh
            )
            && (row.when == Condition::Always || row.syntax == Syntax::Refresh);
        if counts && !row.elements.contains('*') {
            for name in row.elements.split(' ').filter(|name| !name.contains(':')) {
                places
                    .entry(name)
                    .or_default()
                    .push((row.attribute, row.syntax));
            }
        }
    }
    places
});

pub(crate) fn places(element: &str) -> &'static [(&'static str, Syntax)] {
    PLACES.get(element).map_or(&[], Vec::as_slice)
}

/// The value with its references resolved; `None` if nothing changes.
pub(crate) fn absolute(base: &Base, value: &str, syntax: Syntax) -> Option<String> {
    let spans = match syntax {
        Syntax::Url => {
            return resolved(base, value.trim_matches(|c: char| c <= ' ')).map(Cow::into_owned);
        }
        Syntax::Spaces => value::space_separated(value),
        Syntax::Srcset => value::srcset(value),
        Syntax::Refresh => value::refresh(value)
            .map(|refresh| refresh.span)
            .into_iter()
            .collect(),
        _ => Vec::new(),
    };
    let mut result = String::with_capacity(value.len() + 64 * spans.len());
    let mut at = 0;
    for span in spans {
        if let Some(url) = resolved(base, &value[span.range()]) {
            result.push_str(&value[at..span.start]);
            result.push_str(&url);
            at = span.end;
        }
    }
    result.push_str(&value[at..]);
    (at > 0).then_some(result)
}

fn resolved<'a>(base: &Base, reference: &'a str) -> Option<Cow<'a, str>> {
    if let Some(splice) = base.splice(reference.as_bytes()) {
        return Some(format!("{}{}", splice.prefix, &reference[splice.dropped..]).into());
    }
    if reference.is_empty() || !base.is_relative(reference) {
        return None;
    }
    base.resolve(reference).ok().map(|target| target.url.into())
}

fn handler(base: &Base, element: &mut Element<'_, '_>) {
    if element.attributes().is_empty() {
        return;
    }
    for &(attribute, syntax) in places(&element.tag_name()) {
        if let Some(value) = element.get_attribute(attribute)
            && let Some(value) = absolute(base, &value, syntax)
        {
            element.set_attribute(attribute, &value).unwrap();
        }
    }
}

fn settings(tools: &Tools) -> Settings<'_, '_> {
    let handlers = ElementContentHandlers::default().element(|element: &mut Element<'_, '_>| {
        handler(&tools.base, element);
        Ok(())
    });
    Settings::new()
        .append_element_content_handler((Cow::Borrowed(&tools.selector), handlers))
        .with_strict(false)
}

pub(crate) fn rewrite(tools: &Tools, page: &[u8], out: &mut Vec<u8>) {
    let mut rewriter =
        HtmlRewriter::new(settings(tools), |chunk: &[u8]| out.extend_from_slice(chunk));
    rewriter.write(page).unwrap();
    rewriter.end().unwrap();
}

/// Writes a line for each link in the same places.
pub(crate) fn list(tools: &Tools, page: &[u8], out: &mut Vec<u8>) {
    let handlers = ElementContentHandlers::default().element(|element: &mut Element<'_, '_>| {
        if element.attributes().is_empty() {
            return Ok(());
        }
        let name = element.tag_name();
        for &(attribute, syntax) in places(&name) {
            let Some(value) = element.get_attribute(attribute) else {
                continue;
            };
            let at = element.source_location().bytes().start;
            let mut line = |reference: &str| {
                let target = resolved(&tools.base, reference).unwrap_or_default();
                row(out, at, [&name, attribute, reference, &target]);
            };
            match syntax {
                Syntax::Url => line(value.trim_matches(|c: char| c <= ' ')),
                Syntax::Spaces => {
                    value::space_separated(&value)
                        .iter()
                        .for_each(|span| line(&value[span.range()]));
                }
                Syntax::Srcset => {
                    value::srcset(&value)
                        .iter()
                        .for_each(|span| line(&value[span.range()]));
                }
                Syntax::Refresh => {
                    value::refresh(&value)
                        .iter()
                        .for_each(|refresh| line(&value[refresh.span.range()]));
                }
                _ => {}
            }
        }
        Ok(())
    });
    let settings = Settings::new()
        .append_element_content_handler((Cow::Borrowed(&tools.selector), handlers))
        .with_strict(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    rewriter.write(page).unwrap();
    rewriter.end().unwrap();
}

/// Rewrites from file to file without holding the whole document in memory.
pub(crate) fn stream(tools: &Tools, from: &Path, to: &Path) {
    let (mut from, to) = (File::open(from).unwrap(), File::create(to).unwrap());
    let mut to = BufWriter::with_capacity(1 << 18, to);
    let mut rewriter =
        HtmlRewriter::new(settings(tools), |chunk: &[u8]| to.write_all(chunk).unwrap());
    let mut buffer = vec![0; 1 << 18];
    loop {
        match from.read(&mut buffer).unwrap() {
            0 => break,
            length => rewriter.write(&buffer[..length]).unwrap(),
        }
    }
    rewriter.end().unwrap();
    to.flush().unwrap();
}
