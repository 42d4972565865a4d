//! Documents as bytes, whatever Python object holds them, and Python objects of bytes.
//!
//! ```text
//! bytes                            read in place, because they never change
//! bytearray, memoryview, mmap, …   copied, because another thread or process may write to them
//! str                              encoded as UTF-8; places are counted in characters
//! ```
//!
//! Deliberately absent: access to the memory of other objects than `bytes`. If such memory changed during a call, a
//! text that was valid UTF-8 would no longer be valid, which is undefined behaviour in Rust.

use std::io;

use baselink::{Rewriter, Span};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyString};

use crate::options::{check_not_archive, wrong_type};

/// The encoding of text, and its treatment of lone surrogates.
const UTF_8: (&str, &str) = ("utf-8", "surrogatepass");

/// A document as bytes.
pub(crate) struct Data<'py> {
    bytes: Bound<'py, PyBytes>,
    /// The text, if the document is str. Then the bytes are its UTF-8, with three bytes for a lone surrogate.
    text: Option<Bound<'py, PyString>>,
}

impl<'py> Data<'py> {
    /// The document in the argument `data`.
    ///
    /// # Errors
    ///
    /// `TypeError` if `data` is neither str nor has bytes.
    pub(crate) fn of(data: &Bound<'py, PyAny>) -> PyResult<Self> {
        let text = data.cast::<PyString>().ok().cloned();
        let bytes = match &text {
            Some(text) => text.call_method1("encode", UTF_8)?.cast_into()?,
            None => bytes_of("data", data)?,
        };
        Ok(Self { bytes, text })
    }

    pub(crate) fn py(&self) -> Python<'py> {
        self.bytes.py()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_bytes()
    }

    /// The rewriter for this document.
    ///
    /// # Errors
    ///
    /// `ValueError` if the document is an archive of documents.
    pub(crate) fn rewriter(&self, rewriter: Rewriter) -> PyResult<Rewriter> {
        check_not_archive(rewriter.format(self.bytes()))?;
        Ok(match self.text {
            Some(_) => rewriter.for_text(),
            None => rewriter,
        })
    }

    /// The document itself, if `bytes` cannot be an object of its own: a subclass, or another buffer.
    pub(crate) fn unchanged(&self) -> Option<Bound<'py, PyAny>> {
        match &self.text {
            Some(text) => Some(text.clone().into_any()),
            None => self
                .bytes
                .cast_exact::<PyBytes>()
                .ok()
                .cloned()
                .map(Bound::into_any),
        }
    }

    /// The rewritten document `output`, of the type of this one. A part of a message in str may have got bytes of another
    /// encoding; then the result is this document.
    pub(crate) fn with(&self, output: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let output = to_python(self.py(), output)?;
        match &self.text {
            Some(text) => Ok(output
                .call_method1("decode", UTF_8)
                .unwrap_or_else(|_| text.clone().into_any())),
            None => Ok(output.into_any()),
        }
    }

    /// The units in which the places of this document are counted.
    pub(crate) fn units(&self) -> PyResult<Units<'_>> {
        Ok(match &self.text {
            Some(text) if text.len()? < self.bytes().len() => Units::characters(self.bytes()),
            _ => Units::BYTES,
        })
    }
}

/// The bytes of the argument `name`.
pub(crate) fn bytes_of<'py>(
    name: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.clone());
    }
    let view = PyMemoryView::from(value).map_err(|error| {
        match error.is_instance_of::<PyTypeError>(value.py()) {
            true if name == "data" => wrong_type(name, value, "str, bytes or another buffer"),
            true => wrong_type(name, value, "bytes, a bytearray or a memoryview"),
            false => error,
        }
    })?;
    Ok(view.call_method0("tobytes")?.cast_into()?)
}

/// Copies `bytes` to a new object `bytes`.
///
/// # Errors
///
/// `MemoryError` if memory is lacking; `PyBytes::new` would panic.
pub(crate) fn to_python<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |memory| {
        memory.copy_from_slice(bytes);
        Ok(())
    })
}

/// The place of a link or an anomaly.
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The length of a block of bytes whose characters are counted at once.
const BLOCK: usize = 64;

/// The units of offsets and columns: bytes, or the characters of str.
pub(crate) struct Units<'a> {
    /// UTF-8; empty if the units are bytes.
    encoded: &'a [u8],
    /// The number of characters before each block.
    before: Vec<usize>,
}

impl<'a> Units<'a> {
    pub(crate) const BYTES: Self = Self {
        encoded: &[],
        before: Vec::new(),
    };

    fn characters(encoded: &'a [u8]) -> Self {
        let mut before = vec![0];
        let mut sum = 0;
        for block in encoded.chunks(BLOCK) {
            sum += characters_in(block);
            before.push(sum);
        }
        Self { encoded, before }
    }

    fn at(&self, offset: usize) -> usize {
        match self.before.get(offset / BLOCK) {
            Some(before) => before + characters_in(&self.encoded[offset - offset % BLOCK..offset]),
            None => offset,
        }
    }

    /// The place of the bytes `span`, which begin in this line and column.
    pub(crate) fn place(&self, span: Span, (line, column): (usize, usize)) -> Place {
        let start = self.at(span.start);
        let column = match self.before.is_empty() {
            true => column,
            false => start - self.at(span.start + 1 - column) + 1,
        };
        Place {
            line,
            column,
            start,
            end: self.at(span.end),
        }
    }
}

/// The number of characters that begin in `bytes`.
fn characters_in(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

/// Output in memory. If memory runs out, a write fails; a write to a `Vec` would end the process.
#[derive(Default)]
pub(crate) struct Output(pub(crate) Vec<u8>);

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_reserve(bytes.len())?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
