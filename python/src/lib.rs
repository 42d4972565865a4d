//! The Python module `baselink`: the functions of the Rust library, for bytes that Python holds.
//!
//! ```text
//! data --buffer--> bytes --options--> Rewriter --(without the GIL)--> result --rows--> NamedTuples of baselink/_types.py
//!                                                                            --columns--> Arrow buffers
//! ```
//!
//! Deliberately absent: any rule about links. Those are the library's.

mod archive;
mod buffer;
mod choose;
mod columns;
mod messages;
mod options;
mod rows;

use std::ffi::OsString;
use std::io::{self, ErrorKind};

use baselink::{Base, Edits, Format, Reason, Resolver};
use baselink_cli::cli;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet};

use crate::buffer::{Data, Output, bytes_of};
use crate::choose::Chooser;
use crate::messages::io_exception;
use crate::options::{at, builder_with_url, invalid, rewriter, text_of};
use crate::rows::{Rows, list_links};

/// The document with every relative link made absolute. No other byte changes.
///
/// `data` is str, bytes, a bytearray, a memoryview or any other buffer; the result is str for str, and otherwise bytes.
/// `url` is the absolute URL from which the document was retrieved (RFC 1808, section 3.3). Without it, and without a base in the document, the document is returned
/// unchanged, and `rewrite_report(data).counts["no-base"]` counts the links that stay. The options are those of
/// `baselink.Options`. No document raises an exception; a wrong argument, such as an archive of documents, raises ValueError
/// or TypeError.
///
/// >>> import baselink
/// >>> baselink.rewrite(b'<a href="../x.html">', "http://h.example/a/b.html")
/// b'<a href="http://h.example/x.html">'
#[pyfunction]
#[pyo3(signature = (data, /, url=None, **options))]
fn rewrite<'py>(
    data: &Bound<'py, PyAny>,
    url: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let rewriter = rewriter("rewrite", url, options)?;
    let data = Data::of(data)?;
    let (rewriter, bytes) = (data.rewriter(rewriter)?, data.bytes());
    let (edits, totals) = data.py().detach(|| rewriter.edits(bytes));
    edited(&data, &edits, totals.lacks_memory)
}

/// The document `data` with these edits.
fn edited<'py>(data: &Data<'py>, edits: &Edits, lacks_memory: bool) -> PyResult<Bound<'py, PyAny>> {
    let bytes = data.bytes();
    match data.unchanged() {
        Some(same) if edits.is_empty() && !lacks_memory => Ok(same),
        _ => {
            let output = data.py().detach(|| {
                let mut output = Output::default();
                if lacks_memory {
                    return Err(io::Error::from(ErrorKind::OutOfMemory));
                }
                output.0.try_reserve(bytes.len() + bytes.len() / 8)?;
                edits.write_to(bytes, &mut output).map(|()| output)
            });
            data.with(&output.map_err(io_exception)?.0)
        }
    }
}

/// The document with the references that `function` returns for its links; no other byte changes.
///
/// `function` gets each link, relative or absolute, that has a target and may be changed, also a base element's. It
/// returns a reference, which is escaped for its place, or None to keep the link as it is; `link.target` makes it
/// absolute, as in `rewrite`. `data`, `url` and `options` are those of `rewrite`. Other threads can run while the document
/// is read.
///
/// The outcome of the link is that of `rewrite`. Its line and column are 0, because they are not known yet; its start
/// and end are offsets in the decoded bytes of its own document, such as a part of a message.
///
/// Raises the exceptions of `function` unchanged, TypeError if its result is neither str nor None, and those of `rewrite`.
///
/// >>> import baselink
/// >>> from urllib.parse import quote
/// >>> def through_proxy(link):
/// ...     if link.role == "embedded" and link.target.startswith("http"):
/// ...         return "https://proxy.example/?a&url=" + quote(link.target, safe="")
/// >>> page = '<a href="http://h.example/"><img src="http://h.example/i.png">'
/// >>> baselink.rewrite_links(page, through_proxy)
/// '<a href="http://h.example/"><img src="https://proxy.example/?a&amp;url=http%3A%2F%2Fh.example%2Fi.png">'
#[pyfunction]
#[pyo3(signature = (data, function, /, url=None, **options))]
fn rewrite_links<'py>(
    data: &Bound<'py, PyAny>,
    function: &Bound<'py, PyAny>,
    url: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let chooser = Chooser::new(function)?;
    let rewriter = at(builder_with_url("rewrite_links", options)?, url)?;
    let data = Data::of(data)?;
    let (rewriter, bytes) = (data.rewriter(rewriter)?, data.bytes());
    let rewritten = py.detach(|| rewriter.rewrite_links(bytes, |link| chooser.choose(link)));
    match chooser.raised(py) {
        Some(raised) => Err(raised),
        None => edited(&data, &rewritten.edits, rewritten.totals.lacks_memory),
    }
}

/// Rewrites a document and reports every link and every anomaly: `.output`, `.links`, `.counts` by outcome, `.reasons`
/// with their numbers, `.diagnostics`.
///
/// Takes the arguments of `rewrite`, and raises the same exceptions: ValueError or TypeError for a wrong argument.
///
/// >>> import baselink
/// >>> found = baselink.rewrite_report(b"<a href=x><img src=''>", "http://h.example/")
/// >>> found.output, found.counts["rewritten"], found.reasons
/// (b"<a href=http://h.example/x><img src=''>", 1, {'empty': 1})
/// >>> all(link.is_intended for link in found.links)
/// True
#[pyfunction]
#[pyo3(signature = (data, /, url=None, **options))]
fn rewrite_report<'py>(
    data: &Bound<'py, PyAny>,
    url: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let rewriter = rewriter("rewrite_report", url, options)?;
    let data = Data::of(data)?;
    let (rewriter, bytes) = (data.rewriter(rewriter)?, data.bytes());
    let results = py.detach(|| {
        let rewritten = rewriter.rewrite(bytes);
        let (lines, mut output) = (rewritten.lines(), Output::default());
        rewritten.edits.write_to(bytes, &mut output)?;
        Ok((rewritten, lines, output))
    });
    let (rewritten, lines, Output(output)) = results.map_err(io_exception)?;
    Rows::new(py)?.rewritten(&data, &rewritten, &lines, &output)
}

/// Every link of a document, in document order, with its position, base, target and outcome.
///
/// Takes the arguments of `rewrite`, and raises the same exceptions: ValueError or TypeError for a wrong argument. Offsets
/// and columns count the characters of str, and otherwise bytes.
///
/// >>> import baselink
/// >>> [link.target for link in baselink.links(b"<a href=x><img srcset='y 2x'>", "http://h.example/a/")]
/// ['http://h.example/a/x', 'http://h.example/a/y']
#[pyfunction]
#[pyo3(signature = (data, /, url=None, **options))]
fn links(
    data: &Bound<'_, PyAny>,
    url: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<Py<PyAny>>> {
    let rewriter = rewriter("links", url, options)?;
    list_links(&Data::of(data)?, rewriter)
}

/// The base URL of a document, with its rule and source (RFC 1808, section 3). `str()` of the result explains it.
///
/// For a message, this is the base of the outermost heading; for a mailbox, that of its first message. Takes the
/// arguments of `rewrite`, and raises the same exceptions: ValueError or TypeError for a wrong argument.
///
/// >>> import baselink
/// >>> found = baselink.base(b"<base href=/b/>", "http://h.example/a")
/// >>> found.base, found.rule, found.source
/// ('http://h.example/b/', '3.1', 'base-element')
/// >>> print(found)
/// base: http://h.example/b/ (3.1 base-element)
///   3.1 base-element: /b/: taken, the first base element with an href, in tree order, relative to the outer base http://h.example/a
///   3.2 encapsulating: absent, the document is not inside another document
///   3.3 retrieval: http://h.example/a: passed-over, an inner level gave the base
///   3.4 default: passed-over, an inner level gave the base
#[pyfunction]
#[pyo3(signature = (data, /, url=None, **options))]
fn base<'py>(
    data: &Bound<'py, PyAny>,
    url: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let rewriter = rewriter("base", url, options)?;
    let data = Data::of(data)?;
    let (rewriter, bytes) = (data.rewriter(rewriter)?, data.bytes());
    let chain = py.detach(|| rewriter.base(bytes));
    Rows::new(py)?.base(&chain)
}

fn absolute(base: &Bound<'_, PyAny>, resolver: &str) -> PyResult<Base> {
    let resolver: Resolver = resolver
        .parse()
        .map_err(|error| invalid("resolver", &error))?;
    Base::parse(resolver, text_of("base", base)?).map_err(|error| invalid("base", &error))
}

/// The URL that `reference` means in a document with this base (RFC 1808, section 4).
///
/// `resolver` is "rfc1808", "rfc3986" or "whatwg", which resolves as browsers do. Raises ValueError if `base` is not an
/// absolute URL, or if the reference has no target.
///
/// >>> import baselink
/// >>> baselink.resolve("http://a/b/c/d;p?q", "../g")
/// 'http://a/b/g'
/// >>> baselink.resolve("http://a/b", "../g"), baselink.resolve("http://a/b", "../g", resolver="whatwg")
/// ('http://a/../g', 'http://a/g')
#[pyfunction]
#[pyo3(signature = (base, reference, *, resolver="rfc1808"))]
fn resolve(
    base: &Bound<'_, PyAny>,
    reference: &Bound<'_, PyAny>,
    resolver: &str,
) -> PyResult<String> {
    let reference = text_of("reference", reference)?;
    let target = absolute(base, resolver)?.resolve(reference);
    target.map(|target| target.url).map_err(|why| {
        PyValueError::new_err(format!("reference: '{reference}' has no target: {why}"))
    })
}

/// A short reference that means `target` in a document with this base: a fragment, a query, a relative path, an
/// absolute path, or else `target` itself. Raises ValueError if `base` is not an absolute URL.
///
/// >>> import baselink
/// >>> baselink.relativize("http://a/b/c/d", "http://a/b/g")
/// '../g'
#[pyfunction]
#[pyo3(signature = (base, target, *, resolver="rfc1808"))]
fn relativize(
    base: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    resolver: &str,
) -> PyResult<String> {
    Ok(absolute(base, resolver)?.relativize(text_of("target", target)?))
}

/// The key of `url` among the captures of archives, or None: URLs with the same key lead to the same resource.
///
/// The key has no fragment and no scheme `http` or `https`; otherwise it is in normal form (RFC 3986, 6.2.2 and 6.2.3).
/// Raises TypeError if `url` is not str.
///
/// >>> import baselink
/// >>> baselink.capture_key("HTTPS://A.example:443/%7eb#c")
/// '//a.example/~b'
#[pyfunction]
#[pyo3(signature = (url, /))]
fn capture_key(url: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    Ok(baselink::capture_key(text_of("url", url)?))
}

/// The format of a document, detected from its file name (or None) and its first bytes; 2,048 bytes are enough.
///
/// The result is a value of the option `format`, or the name of a format of archives, such as "warc". "other" means that the
/// format is unknown. Raises TypeError if `head` has no bytes.
///
/// >>> import baselink
/// >>> baselink.detect("a.svg", b""), baselink.detect(None, b"From: me@h.example\n\n")
/// ('svg', 'message')
#[pyfunction]
#[pyo3(signature = (name, head))]
fn detect(name: Option<&str>, head: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    let head = bytes_of("head", head)?;
    Ok(Format::detect(name, head.as_bytes()).name())
}

/// Runs the command line `typed`, which begins with the name of the program. Returns the exit status.
#[pyfunction]
#[pyo3(signature = (typed, /))]
fn command(py: Python<'_>, typed: Vec<OsString>) -> u8 {
    py.detach(|| cli::run(typed))
}

/// True if Python's alignment of objects suffices for `T`. Python aligns every object to 16 bytes only (on 64-bit
/// systems), and PyO3 does not check this.
const fn is_aligned<T>() -> bool {
    align_of::<T>() <= 2 * size_of::<usize>()
}

const _: () = assert!(
    is_aligned::<archive::ArchiveColumns>()
        && is_aligned::<columns::LinkColumns>()
        && is_aligned::<messages::Messages>()
        && is_aligned::<rows::LinkIterator>()
);

/// The names that the Python files of the package import. The module does not need the GIL to protect its state.
#[pymodule(gil_used = false)]
mod _baselink {
    #[pymodule_export]
    use super::archive::{ArchiveColumns, archive_rows};
    #[pymodule_export]
    use super::columns::{LinkColumns, link_columns};
    #[pymodule_export]
    use super::messages::{Messages, messages};
    #[pymodule_export]
    use super::rows::{LinkIterator, iter_links};
    use super::{Bound, PyFrozenSet, PyModule, PyModuleMethods, PyResult, Reason};
    #[pymodule_export]
    use super::{
        base, capture_key, command, detect, links, relativize, resolve, rewrite, rewrite_links,
        rewrite_report,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        let intended = Reason::ALL
            .into_iter()
            .filter(|reason| reason.is_intended());
        let intended = PyFrozenSet::new(module.py(), intended.map(Reason::name))?;
        module.add("INTENDED", intended)
    }
}
