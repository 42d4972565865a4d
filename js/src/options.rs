//! Conversion of options, which come as a list of names and values in turn.
//!
//! ```text
//! ["url", "https://a.example/b", "resolver", "whatwg", "enable", "lazy", "enable", "text"]
//! ```
//!
//! Deliberately absent: their meaning. `index.d.ts` describes the options for people.

use baselink::{
    ContentLocationUse, Dkim, Error, ErrorKind, Format, Resolver, Rewriter, RewriterBuilder,
};
use baselink_scan::{group_of, is_read};
use baselink_text::error::meant_option;
use wasm_bindgen::JsValue;

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

/// Builds a rewriter for `data`, which is a string of JavaScript or bytes, from `options`.
pub(crate) fn rewriter_of(
    data: &[u8],
    is_text: bool,
    options: &[JsValue],
) -> Result<Rewriter, TypeError> {
    let rewriter = match is_text {
        true => rewriter(options)?.for_text(),
        false => rewriter(options)?,
    };
    let format = rewriter.format(data);
    if format.is_archive() {
        return Err(type_error(format!(
            "format '{}' is an archive of documents: the command baselink reads it",
            format.name()
        )));
    }
    Ok(rewriter)
}

fn rewriter(options: &[JsValue]) -> Result<Rewriter, TypeError> {
    let mut builder = Rewriter::builder();
    for pair in options.as_chunks().0 {
        let (name, text) = named_text(pair, &NAMES)?;
        builder = option(builder, &name, &text).map_err(|error| invalid(&name, &error))?;
    }
    let rewriter = builder.build().map_err(|error| match error.kind() {
        ErrorKind::Url => invalid("url", &error),
        _ => invalid("assumeScheme", &error),
    })?;
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
pub(crate) fn resolver(options: &[JsValue]) -> Result<Resolver, TypeError> {
    let mut resolver = Resolver::default();
    for pair in options.as_chunks().0 {
        let (name, text) = named_text(pair, &["resolver"])?;
        resolver = text.parse().map_err(|error| invalid(&name, &error))?;
    }
    Ok(resolver)
}

/// The name and the value of an option, if the name is among `names` and the value is a string.
fn named_text([name, value]: &[JsValue; 2], names: &[&str]) -> Result<(String, String), TypeError> {
    let name = name.as_string().unwrap_or_default();
    if !names.contains(&&*name) {
        return Err(unknown(&name, names));
    }
    match value.as_string() {
        Some(text) => Ok((name, text)),
        None => Err(type_error(format!("{name} must be a string"))),
    }
}

fn option(builder: RewriterBuilder, name: &str, text: &str) -> Result<RewriterBuilder, Error> {
    Ok(match name {
        "url" => builder.url(text),
        // With `other`, every document stays unchanged.
        "format" if text == Format::Other.name() => builder.format(Format::Other),
        "format" => builder.format(text.parse()?),
        "charset" => builder.charset(text.parse()?),
        "resolver" => builder.resolver(text.parse()?),
        "fragments" => builder.fragments(text.parse()?),
        "baseElement" => builder.base_element(text.parse()?),
        "enable" => builder.enable(text.parse()?),
        "attributes" => builder.attributes([text.parse()?]),
        "localCopies" => builder.local_copies(text.parse()?),
        "assumeScheme" => builder.assume_scheme(text),
        "contentLocation" => builder.content_location(one_of(text, CONTENT_LOCATION)?),
        _ => builder.dkim(one_of(text, DKIM)?),
    })
}

fn one_of<T: Copy>(text: &str, known: Pair<T>) -> Result<T, Error> {
    let [one, other] = known.map(|(name, _)| name);
    let found = known.into_iter().find(|(name, _)| *name == text);
    found
        .map(|(_, value)| value)
        .ok_or_else(|| Error::new(format!("unknown value '{text}'; use {one} or {other}")))
}

/// The error about the value of the option or argument `name`.
pub(crate) fn invalid(name: &str, error: &Error) -> TypeError {
    type_error(format!("{name}: {error}"))
}

/// The error about an option that is not among `names`.
fn unknown(name: &str, names: &[&str]) -> TypeError {
    type_error(match (name, meant_option(name, names)) {
        ("choose", _) => {
            "choose is an option of rewrite, rewriteReport and RewriterStream".to_owned()
        }
        ("maxBytes", _) => "maxBytes is an option of RewriterStream".to_owned(),
        (_, Some(meant)) => format!("unknown option '{name}'; did you mean '{meant}'?"),
        (_, None) => format!(
            "unknown option '{name}': the options are {}",
            names.join(", ")
        ),
    })
}
