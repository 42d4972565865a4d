//! Conversion of keyword arguments to options.
//!
//! ```text
//! rewrite(page, url, resolver="whatwg", enable="lazy")
//! ```
//!
//! Deliberately absent: their meaning. `Options` in `baselink/_types.py` describes the options for people.

use baselink::{ContentLocationUse, Dkim, Error, ErrorKind, Format, Rewriter, RewriterBuilder};
use baselink_rewrite::Options;
use baselink_scan::{group_of, is_read};
use baselink_text::error::meant_option;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

/// All keyword arguments. Functions with a URL for each document do not take the first one.
const NAMES: [&str; 12] = [
    "url",
    "format",
    "charset",
    "resolver",
    "fragments",
    "base_element",
    "enable",
    "attributes",
    "local_copies",
    "assume_scheme",
    "content_location",
    "dkim",
];

/// Builds a rewriter from the URL and the keyword `options` of a call of `function`.
pub(crate) fn rewriter(
    function: &str,
    url: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Rewriter> {
    at(builder_with_url(function, options)?, url)
}

/// Builds a rewriter for documents that were retrieved from `url`.
pub(crate) fn at(builder: RewriterBuilder, url: Option<&Bound<'_, PyAny>>) -> PyResult<Rewriter> {
    let builder = match url {
        Some(url) => builder.url(text_of("url", url)?),
        None => builder,
    };
    let rewriter = builder.build().map_err(|error| match error.kind() {
        ErrorKind::Url => invalid("url", &error),
        _ => invalid("assume_scheme", &error),
    })?;
    let Options { format, scan, .. } = rewriter.options();
    check_not_archive(*format)?;
    match group_of(*format).filter(|_| !is_read(*format, scan)) {
        // The command reports the same error.
        Some(group) => Err(PyValueError::new_err(format!(
            "format '{}' requires enable '{group}'; by default such files have no links",
            format.name()
        ))),
        None => Ok(rewriter),
    }
}

/// Builds a `RewriterBuilder` from the keyword `options` of a call of `function`, which has a keyword `url`.
pub(crate) fn builder_with_url(
    function: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<RewriterBuilder> {
    builder_of(function, &NAMES, options)
}

/// Builds a `RewriterBuilder` from the keyword `options` of a call of `function`, which has no keyword `url`.
pub(crate) fn builder(
    function: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<RewriterBuilder> {
    builder_of(function, &NAMES[1..], options)
}

fn builder_of(
    function: &str,
    names: &[&str],
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<RewriterBuilder> {
    let mut builder = Rewriter::builder();
    for (name, value) in options.into_iter().flatten() {
        let name: &str = name.extract()?;
        if !names.contains(&name) {
            let advice = match meant_option(name, names) {
                Some(meant) => format!("did you mean '{meant}'?"),
                None if meant_option(name, &NAMES) == Some("url") => {
                    "each document has a URL of its own".to_owned()
                }
                None => format!("there are {}", names.join(", ")),
            };
            return Err(PyTypeError::new_err(format!(
                "{function}() got an unexpected keyword argument '{name}'; {advice}"
            )));
        }
        // None selects the default.
        if !value.is_none() {
            builder = option(builder, name, &value)?;
        }
    }
    Ok(builder)
}

fn option(
    mut builder: RewriterBuilder,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<RewriterBuilder> {
    if !matches!(name, "enable" | "attributes") {
        return option_of_text(builder, name, text_of(name, value)?)
            .map_err(|error| invalid(name, &error));
    }
    for one in texts(value, name)? {
        builder = option_of_text(builder, name, &one).map_err(|error| invalid(name, &error))?;
    }
    Ok(builder)
}

fn option_of_text(
    builder: RewriterBuilder,
    name: &str,
    text: &str,
) -> Result<RewriterBuilder, Error> {
    Ok(match name {
        // `Format::detect` returns `other` for an unknown format.
        "format" if text == Format::Other.name() => builder.format(Format::Other),
        "format" => builder.format(text.parse()?),
        "charset" => builder.charset(text.parse()?),
        "resolver" => builder.resolver(text.parse()?),
        "fragments" => builder.fragments(text.parse()?),
        "base_element" => builder.base_element(text.parse()?),
        "enable" => builder.enable(text.parse()?),
        "attributes" => builder.attributes([text.parse()?]),
        "local_copies" => builder.local_copies(text.parse()?),
        "assume_scheme" => builder.assume_scheme(text),
        "content_location" => {
            let uses = [
                ("base", ContentLocationUse::Base),
                ("label", ContentLocationUse::Label),
            ];
            builder.content_location(one_of(text, uses)?)
        }
        _ => builder.dkim(one_of(
            text,
            [("rewrite", Dkim::Rewrite), ("keep", Dkim::Keep)],
        )?),
    })
}

/// The error about the value of the argument `name`.
pub(crate) fn invalid(name: &str, error: &Error) -> PyErr {
    PyValueError::new_err(format!("{name}: {error}"))
}

/// Rejects the format of an archive, which only the other readers take apart.
pub(crate) fn check_not_archive(format: Format) -> PyResult<()> {
    match format.is_archive() {
        true => Err(PyValueError::new_err(format!(
            "format '{}' is an archive of documents: baselink.warc and the command baselink read it",
            format.name()
        ))),
        false => Ok(()),
    }
}

/// The text of the argument `name`.
pub(crate) fn text_of<'a>(name: &str, value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    match value.cast::<PyString>() {
        Ok(text) => text.to_str(),
        Err(_) => Err(wrong_type(name, value, "str")),
    }
}

fn one_of<T: Copy>(text: &str, [one, other]: [(&str, T); 2]) -> Result<T, Error> {
    let wrong = || {
        let (one, other) = (one.0, other.0);
        Error::new(format!("unknown value '{text}'; use {one} or {other}"))
    };
    [one, other]
        .into_iter()
        .find(|known| known.0 == text)
        .map(|known| known.1)
        .ok_or_else(wrong)
}

/// Converts a text or a sequence of texts.
fn texts(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() {
        return Ok(vec![value.extract()?]);
    }
    let all = value
        .try_iter()
        .map_err(|_| wrong_type(name, value, "str, or an iterable of str"))?;
    all.map(|one| text_of(name, &one?).map(str::to_owned))
        .collect()
}

/// The error for the argument `name` whose type is not the `wanted` one. It names the conversion if there is one.
pub(crate) fn wrong_type(name: &str, value: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let advice = match name {
        "url" if value.is_instance_of::<PyBytes>() => ": pass url.decode()",
        "url" => ": pass str(url)",
        "documents" => ": pass [data] for one document",
        "file" => ": pass open(path, 'rb'), or io.BytesIO(data)",
        "data" if value.hasattr("__fspath__").unwrap_or_default() => ": pass path.read_bytes()",
        "data" if value.hasattr("read").unwrap_or_default() => ": pass file.read()",
        _ => "",
    };
    match value.get_type().name() {
        Ok(class) => {
            PyTypeError::new_err(format!("{name} must be {wanted}, and not {class}{advice}"))
        }
        Err(error) => error,
    }
}
