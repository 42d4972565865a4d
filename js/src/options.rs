//! Conversion of options, which come as a list of names and values in turn.
//!
//! ```text
//! ["url", "https://a.example/b", "resolver", "whatwg", "enable", "lazy", "enable", "text"]
//! ```
//!
//! Deliberately absent: their meaning. `index.d.ts` describes the options for people.

use baselink::{ContentLocationUse, Dkim, Format, Resolver, Rewriter, RewriterBuilder};
use baselink_scan::{group_of, is_read};

use crate::{TypeError, type_error};

/// All options of a document.
const NAMES: [&str; 12] = [
    "url",
    "format",
    "charset",
    "resolver",
    "fragments",
    "baseElement",
    "enable",
    "attributes",
    "localCopies",
    "assumeScheme",
    "contentLocation",
    "dkim",
];

/// Two names, each with its value.
type Pair<T> = [(&'static str, T); 2];

const CONTENT_LOCATION: Pair<ContentLocationUse> = [
    ("base", ContentLocationUse::Base),
    ("label", ContentLocationUse::Label),
];
const DKIM: Pair<Dkim> = [("rewrite", Dkim::Rewrite), ("keep", Dkim::Keep)];

/// Builds a rewriter for `data` from `options`.
pub(crate) fn rewriter_of(data: &[u8], options: Vec<String>) -> Result<Rewriter, TypeError> {
    let rewriter = rewriter(options)?;
    not_archive(rewriter.format(data))?;
    Ok(rewriter)
}

fn rewriter(options: Vec<String>) -> Result<Rewriter, TypeError> {
    let mut builder = Rewriter::builder();
    for [name, value] in options.as_chunks().0 {
        builder = option(builder, name, value)?;
    }
    let rewriter = builder.build().map_err(type_error)?;
    let options = rewriter.options();
    match group_of(options.format).filter(|_| !is_read(options.format, &options.scan)) {
        // The command reports the same error.
        Some(group) => Err(type_error(format!(
            "format '{}' requires enable '{group}'; by default such files have no links",
            options.format.name()
        ))),
        None => Ok(rewriter),
    }
}

/// The resolver in the options of `resolve` and `relativize`, which take no other option.
pub(crate) fn resolver(options: Vec<String>) -> Result<Resolver, TypeError> {
    let mut resolver = Resolver::default();
    for [name, value] in options.as_chunks().0 {
        match &**name {
            "resolver" => resolver = value.parse().map_err(type_error)?,
            _ => return Err(unknown(name, &["resolver"])),
        }
    }
    Ok(resolver)
}

fn option(builder: RewriterBuilder, name: &str, text: &str) -> Result<RewriterBuilder, TypeError> {
    Ok(match name {
        "url" => builder.url(text),
        "format" => builder.format(format(text)?),
        "charset" => builder.charset(text.parse().map_err(type_error)?),
        "resolver" => builder.resolver(text.parse().map_err(type_error)?),
        "fragments" => builder.fragments(text.parse().map_err(type_error)?),
        "baseElement" => builder.base_element(text.parse().map_err(type_error)?),
        "enable" => builder.enable(text.parse().map_err(type_error)?),
        "attributes" => builder.attributes([text.parse().map_err(type_error)?]),
        "localCopies" => builder.local_copies(text.parse().map_err(type_error)?),
        "assumeScheme" => builder.assume_scheme(text),
        "contentLocation" => builder.content_location(one_of(name, text, CONTENT_LOCATION)?),
        "dkim" => builder.dkim(one_of(name, text, DKIM)?),
        _ => return Err(unknown(name, &NAMES)),
    })
}

/// The format called `name`. `other`, with which every document stays unchanged, is accepted, too.
fn format(name: &str) -> Result<Format, TypeError> {
    if name == Format::Other.name() {
        return Ok(Format::Other);
    }
    not_archive(name.parse().map_err(type_error)?)
}

fn not_archive(format: Format) -> Result<Format, TypeError> {
    match format.is_archive() {
        true => Err(type_error(format!(
            "format '{}' is an archive of documents: the command baselink reads it",
            format.name()
        ))),
        false => Ok(format),
    }
}

fn one_of<T: Copy>(name: &str, text: &str, known: Pair<T>) -> Result<T, TypeError> {
    let [one, other] = known.map(|(name, _)| name);
    let found = known.into_iter().find(|(name, _)| *name == text);
    found
        .map(|(_, value)| value)
        .ok_or_else(|| type_error(format!("unknown {name} '{text}': it is {one} or {other}")))
}

fn unknown(name: &str, names: &[&str]) -> TypeError {
    type_error(format!(
        "unknown option '{name}': the options are {}",
        names.join(", ")
    ))
}
