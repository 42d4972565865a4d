//! Rows as columns, in the layout of Arrow ("Arrow Columnar Format", Variable-size Binary Layout), without an object
//! for each row.
//!
//! ```text
//! "a", None, "img"  -->  validity 0b101 · offsets 0 1 1 4 · bytes "aimg"
//! ```
//!
//! `baselink/arrow.py` wraps the buffers by `pyarrow.Array.from_buffers`, without a copy. Numbers are signed and have
//! 64 bits, because Spark has no unsigned numbers.
//!
//! Deliberately absent: pyarrow. Other libraries for Arrow can wrap the same buffers.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::slice;

use baselink::{LinkReport, Reason, RewriterBuilder};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::buffer::{Data, Place, to_python};
use crate::options::{at, builder};
use crate::rows::{iterator, pair};

/// The maximum number of rows in a batch. Spark is slower with larger batches.
const ROWS: usize = 1 << 12;
/// The number of bytes of text after which a batch is complete.
const BYTES: usize = 16 << 20;
/// The maximum length of a text. Offsets in a column have 31 bits, so a text of this length fits into any incomplete
/// batch.
pub(crate) const LONGEST: usize = i32::MAX as usize - BYTES;

/// The type of the values in a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    /// Texts, or other bytes.
    Bytes,
    Number,
}

/// The types of the fields of `Link`, in their order.
pub(crate) const LINK: [Type; 17] = {
    let mut types = [Type::Bytes; 17];
    // Line, column, start, end.
    (types[1], types[2], types[3], types[4]) =
        (Type::Number, Type::Number, Type::Number, Type::Number);
    types
};

struct Column {
    /// One bit for each row, the lowest first; it is set if the row has a value.
    validity: Vec<u8>,
    /// The number of rows without a value.
    absent: usize,
    rows: usize,
    /// The start of the first value, then the end of each value; empty for numbers.
    offsets: Vec<u8>,
    values: Vec<u8>,
}

impl Column {
    fn new(of: Type) -> Self {
        let offsets = if of == Type::Bytes {
            0_i32.to_le_bytes().to_vec()
        } else {
            Vec::new()
        };
        Self {
            validity: Vec::new(),
            absent: 0,
            rows: 0,
            offsets,
            values: Vec::new(),
        }
    }

    fn push_validity(&mut self, is_present: bool) {
        if self.rows.is_multiple_of(8) {
            self.validity.push(0);
        }
        if let Some(last) = self.validity.last_mut() {
            *last |= u8::from(is_present) << (self.rows % 8);
        }
        self.absent += usize::from(!is_present);
        self.rows += 1;
    }

    /// The number of absent values, and the buffers: validity, offsets and bytes, or validity and numbers.
    fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let validity = (self.absent > 0)
            .then(|| to_python(py, &self.validity))
            .transpose()?;
        let values = to_python(py, &self.values)?;
        let buffers = match self.offsets.is_empty() {
            true => (validity, values).into_pyobject(py)?,
            false => (validity, to_python(py, &self.offsets)?, values).into_pyobject(py)?,
        };
        (self.absent, buffers).into_pyobject(py)
    }
}

pub(crate) struct Batch {
    columns: Vec<Column>,
    rows: usize,
    /// The total size of all texts in bytes.
    size: usize,
    /// True if memory for a text was lacking.
    lacks_memory: bool,
}

impl Batch {
    fn new(types: &[Type]) -> Self {
        let columns = types.iter().copied().map(Column::new).collect();
        Self {
            columns,
            rows: 0,
            size: 0,
            lacks_memory: false,
        }
    }

    fn is_full(&self) -> bool {
        self.rows >= ROWS || self.size >= BYTES
    }

    /// The number of rows, and for each column the number of absent values and the buffers.
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        if self.lacks_memory {
            return Err(PyMemoryError::new_err(()));
        }
        let columns: PyResult<Vec<_>> = self.columns.iter().map(|one| one.buffers(py)).collect();
        (self.rows, PyTuple::new(py, columns?)?).into_pyobject(py)
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
        Self {
            current: Batch::new(&types),
            complete: VecDeque::new(),
            types,
        }
    }

    /// Begins a row. The caller must add a value for each column.
    pub(crate) fn row(&mut self) -> Row<'_> {
        if self.current.is_full() {
            self.complete_current();
        }
        let Batch {
            columns,
            rows,
            size,
            lacks_memory,
        } = &mut self.current;
        *rows += 1;
        Row {
            columns: columns.iter_mut(),
            size,
            lacks_memory,
        }
    }

    fn complete_current(&mut self) {
        let next = Batch::new(&self.types);
        self.complete
            .push_back(std::mem::replace(&mut self.current, next));
    }

    /// Completes the last batch, after the last row.
    pub(crate) fn finish(&mut self) {
        if self.current.rows > 0 {
            self.complete_current();
        }
    }

    pub(crate) fn has_complete(&self) -> bool {
        !self.complete.is_empty()
    }

    /// The next complete batch.
    pub(crate) fn take(&mut self) -> Option<Batch> {
        self.complete.pop_front()
    }
}

/// A row that is being written, column by column.
pub(crate) struct Row<'a> {
    columns: slice::IterMut<'a, Column>,
    size: &'a mut usize,
    lacks_memory: &'a mut bool,
}

impl Row<'_> {
    /// Adds a text. A text longer than [`LONGEST`] is absent.
    pub(crate) fn text(&mut self, text: Option<&str>) -> &mut Self {
        self.bytes(text.map(str::as_bytes))
    }

    pub(crate) fn bytes(&mut self, bytes: Option<&[u8]>) -> &mut Self {
        let Some(column) = self.columns.next() else {
            return self;
        };
        let bytes = bytes.filter(|bytes| bytes.len() <= LONGEST);
        let has_room = column
            .values
            .try_reserve(bytes.map_or(0, <[u8]>::len))
            .is_ok();
        *self.lacks_memory |= !has_room;
        let bytes = bytes.filter(|_| has_room);
        column.push_validity(bytes.is_some());
        let bytes = bytes.unwrap_or_default();
        column.values.extend_from_slice(bytes);
        *self.size += bytes.len();
        let end = i32::try_from(column.values.len()).unwrap_or(i32::MAX);
        column.offsets.extend_from_slice(&end.to_le_bytes());
        self
    }

    /// Adds the level of an error, and the error.
    pub(crate) fn error(&mut self, error: Option<&str>) -> &mut Self {
        self.text(error.map(|_| "error")).text(error)
    }

    pub(crate) fn number(&mut self, number: Option<u64>) -> &mut Self {
        let Some(column) = self.columns.next() else {
            return self;
        };
        column.push_validity(number.is_some());
        let number = i64::try_from(number.unwrap_or_default()).unwrap_or(i64::MAX);
        column.values.extend_from_slice(&number.to_le_bytes());
        self
    }

    /// Adds the fields of a link.
    pub(crate) fn link(&mut self, link: &LinkReport, place: &Place) -> &mut Self {
        self.text(Some(&link.entity));
        for number in [place.line, place.column, place.start, place.end] {
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
            .text(Some(link.kind.name()))
            .text(link.rel.as_deref())
    }

    /// Adds an absent value for each column of `types`.
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

/// An iterator over the links of many documents, in batches.
#[pyclass(module = "baselink._baselink")]
pub(crate) struct LinkColumns {
    documents: Py<PyIterator>,
    builder: RewriterBuilder,
    /// The number of the next document, counted from 0.
    number: u64,
    batches: Batches,
}

/// link_columns(documents, /, **options)
/// --
///
/// The links of many documents as Arrow buffers. `documents` is an iterable, as for `iter_links`. Each batch is a pair:
/// its number of rows, and for each column the number of absent values and the buffers. The first column has the number
/// of the document, the others the fields of `Link`. `baselink.arrow` makes record batches of the buffers. Raises the
/// exceptions of `iter_links`: ValueError or TypeError.
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
    let documents = iterator(documents)?;
    Ok(LinkColumns {
        documents,
        builder,
        number: 0,
        batches: Batches::new(types),
    })
}

#[pymethods]
impl LinkColumns {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        while !self.batches.has_complete() {
            // Python handles signals only between its own instructions.
            py.check_signals()?;
            let Some(document) = self.documents.bind(py).clone().next() else {
                self.batches.finish();
                break;
            };
            let (data, url) = pair(&document?)?;
            let data = Data::of(&data)?;
            let rewriter = data.rewriter(at(self.builder.clone(), url.as_ref())?)?;
            let (bytes, units) = (data.bytes(), data.units()?);
            let (number, batches) = (self.number, &mut self.batches);
            py.detach(|| {
                rewriter.links(bytes, |found| {
                    let place = units.place(found.link.span, (found.line, found.column));
                    batches.row().number(Some(number)).link(&found.link, &place);
                    ControlFlow::Continue(())
                });
            });
            self.number += 1;
        }
        let batch = self.batches.take();
        batch.map(|batch| batch.into_python(py)).transpose()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.documents)
    }
}
