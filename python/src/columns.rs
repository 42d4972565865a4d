//! Rows as columns, in the layout of Arrow ("Arrow Columnar Format", Variable-size Binary Layout): no object for a row.
//!
//! ```text
//! "a", None, "img"  -->  validity 0b101 · offsets 0 1 1 4 · bytes "aimg"
//! ```
//!
//! `baselink/arrow.py` wraps the buffers by `pyarrow.Array.from_buffers`, without a copy. Numbers have 64 bits and a sign,
//! because Spark knows no others.
//!
//! Deliberately absent: pyarrow. Whoever has another library for Arrow wraps the same buffers with it.

use std::collections::VecDeque;
use std::slice;

use baselink::rewrite::ListedLink;
use baselink::{Reason, RewriterBuilder};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::buffer::{Data, copied};
use crate::options::{at, builder};
use crate::rows::pair;

/// A batch has at most so many rows: Spark is quicker with them than with larger ones.
const ROWS: usize = 1 << 12;
/// A batch with so many bytes of texts is complete.
const BYTES: usize = 16 << 20;
/// Offsets in a column have 31 bits. So long a text still fits, whatever is in the batch.
pub(crate) const LONGEST: usize = i32::MAX as usize - BYTES;

/// Type of the values in a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    /// Texts, or other bytes.
    Bytes,
    Number,
}

/// The types of the fields of `Link`, in their order.
pub(crate) const LINK: [Type; 15] = {
    let mut types = [Type::Bytes; 15];
    // Line, column, start, end.
    (types[1], types[2], types[3], types[4]) =
        (Type::Number, Type::Number, Type::Number, Type::Number);
    types
};

struct Column {
    /// A bit a row, the lowest first: whether there is a value.
    validity: Vec<u8>,
    absent: usize,
    rows: usize,
    /// Start of the first value, then the end of each value; empty for numbers.
    offsets: Vec<u8>,
    values: Vec<u8>,
}

impl Column {
    fn new(of: Type) -> Self {
        let offsets = if of == Type::Bytes { 0_i32.to_le_bytes().to_vec() } else { Vec::new() };
        Self { validity: Vec::new(), absent: 0, rows: 0, offsets, values: Vec::new() }
    }

    fn say_present(&mut self, is_present: bool) {
        if self.rows.is_multiple_of(8) {
            self.validity.push(0);
        }
        if let Some(last) = self.validity.last_mut() {
            *last |= u8::from(is_present) << (self.rows % 8);
        }
        self.absent += usize::from(!is_present);
        self.rows += 1;
    }

    /// Number of absent values, and the buffers: validity, offsets and bytes, or validity and numbers.
    fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let validity = (self.absent > 0).then(|| copied(py, &self.validity)).transpose()?;
        let values = copied(py, &self.values)?;
        let buffers = match self.offsets.is_empty() {
            true => (validity, values).into_pyobject(py)?,
            false => (validity, copied(py, &self.offsets)?, values).into_pyobject(py)?,
        };
        (self.absent, buffers).into_pyobject(py)
    }
}

struct Batch {
    columns: Vec<Column>,
    rows: usize,
    /// Total size of the column's texts in bytes.
    size: usize,
    /// True if there was no memory for a batch.
    lacks_memory: bool,
}

impl Batch {
    fn new(types: &[Type]) -> Self {
        let columns = types.iter().copied().map(Column::new).collect();
        Self { columns, rows: 0, size: 0, lacks_memory: false }
    }

    fn is_full(&self) -> bool {
        self.rows >= ROWS || self.size >= BYTES
    }
}

/// Rows, in batches.
pub(crate) struct Batches {
    types: Vec<Type>,
    current: Batch,
    complete: VecDeque<Batch>,
}

impl Batches {
    pub(crate) fn new(types: Vec<Type>) -> Self {
        Self { current: Batch::new(&types), complete: VecDeque::new(), types }
    }

    /// A new row, which has to get a value for each column.
    pub(crate) fn row(&mut self) -> Row<'_> {
        if self.current.is_full() {
            self.complete_current();
        }
        let Batch { columns, rows, size, lacks_memory } = &mut self.current;
        *rows += 1;
        Row { columns: columns.iter_mut(), size, lacks_memory }
    }

    fn complete_current(&mut self) {
        let next = Batch::new(&self.types);
        self.complete.push_back(std::mem::replace(&mut self.current, next));
    }

    /// Says that no more rows come.
    pub(crate) fn finish(&mut self) {
        if self.current.rows > 0 {
            self.complete_current();
        }
    }

    pub(crate) fn has_complete(&self) -> bool {
        !self.complete.is_empty()
    }

    /// The next complete batch: how many rows it has, and for each column how many values are absent and its buffers.
    pub(crate) fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(Batch { columns, rows, lacks_memory, .. }) = self.complete.pop_front() else {
            return Ok(None);
        };
        if lacks_memory {
            return Err(PyMemoryError::new_err(()));
        }
        let columns: PyResult<Vec<_>> = columns.iter().map(|column| column.buffers(py)).collect();
        (rows, PyTuple::new(py, columns?)?).into_pyobject(py).map(Some)
    }
}

/// A row that is being written, column by column.
pub(crate) struct Row<'a> {
    columns: slice::IterMut<'a, Column>,
    size: &'a mut usize,
    lacks_memory: &'a mut bool,
}

impl Row<'_> {
    /// A text, unless it is absent, or longer than a column can hold.
    pub(crate) fn text(&mut self, text: Option<&str>) -> &mut Self {
        self.bytes(text.map(str::as_bytes))
    }

    pub(crate) fn bytes(&mut self, bytes: Option<&[u8]>) -> &mut Self {
        let Some(column) = self.columns.next() else { return self };
        let bytes = bytes.filter(|bytes| bytes.len() <= LONGEST);
        let has_room = column.values.try_reserve(bytes.map_or(0, <[u8]>::len)).is_ok();
        *self.lacks_memory |= !has_room;
        let bytes = bytes.filter(|_| has_room);
        column.say_present(bytes.is_some());
        let bytes = bytes.unwrap_or_default();
        column.values.extend_from_slice(bytes);
        *self.size += bytes.len();
        let end = i32::try_from(column.values.len()).unwrap_or(i32::MAX);
        column.offsets.extend_from_slice(&end.to_le_bytes());
        self
    }

    pub(crate) fn number(&mut self, number: Option<u64>) -> &mut Self {
        let Some(column) = self.columns.next() else { return self };
        column.say_present(number.is_some());
        let number = i64::try_from(number.unwrap_or_default()).unwrap_or(i64::MAX);
        column.values.extend_from_slice(&number.to_le_bytes());
        self
    }

    /// The fields of a link.
    pub(crate) fn link(&mut self, ListedLink { link, line, column }: &ListedLink) -> &mut Self {
        self.text(Some(&link.entity));
        for number in [*line, *column, link.span.start, link.span.end] {
            self.number(Some(number as u64));
        }
        self.text(Some(&*link.element).filter(|name| !name.is_empty()))
            .text(link.attribute.as_deref())
            .text(Some(&link.reference))
            .text(link.base.as_deref())
            .text(Some(link.rule.section()))
            .text(Some(link.source.name()))
            .text(link.target.as_deref())
            .text(Some(link.role.name()))
            .text(Some(link.outcome.name()))
            .text(link.reason.map(Reason::name))
    }

    /// Every column of `types` without a value.
    pub(crate) fn absent(&mut self, types: &[Type]) -> &mut Self {
        for of in types {
            match of {
                Type::Bytes => self.bytes(None),
                Type::Number => self.number(None),
            };
        }
        self
    }
}

/// The links of many documents, in batches.
#[pyclass(module = "baselink._baselink")]
pub(crate) struct LinkColumns {
    documents: Py<PyIterator>,
    builder: RewriterBuilder,
    number: u64,
    batches: Batches,
}

/// link_columns(documents, /, **options)
/// --
///
/// The links of many documents as Arrow buffers. `documents` is what `iter_links` takes. Each batch is how many rows it
/// has, and for each column how many values are absent and its buffers. The first column is the number of the document,
/// the others are the fields of `Link`. `baselink.arrow` makes record batches of them.
///
/// >>> import baselink
/// >>> [(rows, columns)] = baselink.link_columns([(b"<a href=x>", "http://h.example/")])
/// >>> rows, columns[8]
/// (1, (0, (None, b'\x00\x00\x00\x00\x01\x00\x00\x00', b'x')))
#[pyfunction]
#[pyo3(signature = (documents, /, **options), text_signature = None)]
pub(crate) fn link_columns(
    documents: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<LinkColumns> {
    let mut types = vec![Type::Number];
    types.extend(LINK);
    let builder = builder("link_columns", options)?;
    // Errors in the options are raised at once.
    at(builder.clone(), None)?;
    let documents = documents.try_iter()?.unbind();
    Ok(LinkColumns { documents, builder, number: 0, batches: Batches::new(types) })
}

#[pymethods]
impl LinkColumns {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        while !self.batches.has_complete() {
            // Python sees no signal while it runs none of its own code.
            py.check_signals()?;
            let Some(document) = self.documents.bind(py).clone().next() else {
                self.batches.finish();
                break;
            };
            let (data, url) = pair(&document?)?;
            let held = Data::of(&data)?;
            let rewriter = at(self.builder.clone(), url.as_deref())?;
            let bytes = held.bytes();
            let (number, batches) = (self.number, &mut self.batches);
            py.detach(|| {
                rewriter.links(bytes, |found| {
                    batches.row().number(Some(number)).link(&found);
                });
            });
            self.number += 1;
        }
        self.batches.next(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.documents)
    }
}
