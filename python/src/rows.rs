//! Results as Python objects: the NamedTuples of `baselink/_types.py`. Their fields have the same order here.
//!
//! ```text
//! LinkReport { element: "a", reference: "x", .. }  -->  Link(…, element='a', attribute='href', reference='x', …)
//! ```
//!
//! Deliberately absent: lists of links without an object for each link ([`crate::columns`]).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::vec::IntoIter;

use baselink::Lines;
use baselink::ListedLink;
use baselink::{BaseChain, Level};
use baselink::{Diagnostic, LinkReport, Outcome, Rewriter, RewriterBuilder, Rewritten, Span};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyIterator, PyList, PyString, PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit};

use crate::buffer::{Data, Place};
use crate::options::{at, builder, wrong_type};

/// The classes of `baselink/_types.py`.
struct Classes {
    /// `tuple.__new__`.
    new: Py<PyAny>,
    link: Py<PyType>,
    rewritten: Py<PyType>,
    rewritten_text: Py<PyType>,
    diagnostic: Py<PyType>,
    base: Py<PyType>,
    level: Py<PyType>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

/// Creates instances of the [`Classes`].
pub(crate) struct Rows<'py> {
    py: Python<'py>,
    classes: &'static Classes,
    new: Bound<'py, PyAny>,
    /// A cache of names, each in its [`slot`].
    names: RefCell<[Option<Bound<'py, PyString>>; NAMES]>,
}

/// The number of slots for names.
const NAMES: usize = 64;

/// The slot of a name in the cache. A document has few names: elements, attributes, outcomes, its base.
fn slot(name: &str) -> usize {
    let of = |byte: Option<&u8>| byte.map_or(0, |&byte| usize::from(byte));
    let bytes = name.as_bytes();
    (bytes.len() ^ of(bytes.first()) << 1 ^ of(bytes.last()) << 2) % NAMES
}

impl<'py> Rows<'py> {
    pub(crate) fn new(py: Python<'py>) -> PyResult<Self> {
        let classes = CLASSES.get_or_try_init(py, || {
            let module = py.import("baselink._types")?;
            let class = |name: &str| -> PyResult<Py<PyType>> {
                Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind())
            };
            PyResult::Ok(Classes {
                new: py.get_type::<PyTuple>().getattr("__new__")?.unbind(),
                link: class("Link")?,
                rewritten: class("Rewritten")?,
                rewritten_text: class("RewrittenText")?,
                diagnostic: class("Diagnostic")?,
                base: class("Base")?,
                level: class("Level")?,
            })
        })?;
        let (new, names) = (
            classes.new.bind(py).clone(),
            RefCell::new([const { None }; NAMES]),
        );
        Ok(Self {
            py,
            classes,
            new,
            names,
        })
    }

    /// Creates an instance of `class` with the fields `values`.
    fn make<V>(&self, class: &Py<PyType>, values: V) -> PyResult<Bound<'py, PyAny>>
    where
        V: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    {
        self.new
            .call1((class.bind(self.py), values.into_pyobject(self.py)?))
    }

    /// A Python string from the cache. Without the cache, listing links takes a tenth more time.
    fn name(&self, text: &str) -> Bound<'py, PyString> {
        let mut names = self.names.borrow_mut();
        match &mut names[slot(text)] {
            Some(known) if known.to_str().is_ok_and(|known| known == text) => known.clone(),
            other => other.insert(PyString::intern(self.py, text)).clone(),
        }
    }

    pub(crate) fn link(&self, link: &LinkReport, place: &Place) -> PyResult<Bound<'py, PyAny>> {
        let place = (
            self.name(&link.entity),
            place.line,
            place.column,
            place.start,
            place.end,
            (!link.element.is_empty()).then(|| self.name(&link.element)),
            link.attribute.as_deref().map(|name| self.name(name)),
        );
        let (entity, line, column, start, end, element, attribute) = place;
        // PyO3 converts tuples of at most 12 values; a longer one is made from an array.
        let values: [Bound<'py, PyAny>; 17] = [
            entity.into_any(),
            line.into_pyobject(self.py)?.into_any(),
            column.into_pyobject(self.py)?.into_any(),
            start.into_pyobject(self.py)?.into_any(),
            end.into_pyobject(self.py)?.into_any(),
            element.into_pyobject(self.py)?.into_any(),
            attribute.into_pyobject(self.py)?.into_any(),
            PyString::new(self.py, &link.reference).into_any(),
            link.base
                .as_deref()
                .map(|base| self.name(base))
                .into_pyobject(self.py)?
                .into_any(),
            self.name(link.rule.section()).into_any(),
            self.name(link.source.name()).into_any(),
            link.target.as_deref().into_pyobject(self.py)?.into_any(),
            self.name(link.role.name()).into_any(),
            self.name(link.outcome.name()).into_any(),
            link.reason
                .map(|reason| self.name(reason.name()))
                .into_pyobject(self.py)?
                .into_any(),
            self.name(link.kind.name()).into_any(),
            link.rel
                .as_deref()
                .map(|rel| self.name(rel))
                .into_pyobject(self.py)?
                .into_any(),
        ];
        self.new.call1((
            self.classes.link.bind(self.py),
            PyTuple::new(self.py, values)?,
        ))
    }

    pub(crate) fn rewritten(
        &self,
        data: &Data<'py>,
        rewritten: &Rewritten<'_>,
        lines: &Lines,
        output: &[u8],
    ) -> PyResult<Bound<'py, PyAny>> {
        let units = data.units()?;
        let place = |span: Span| units.place(span, lines.place(span.start));
        let link = |link: &LinkReport| self.link(link, &place(link.span));
        let links: PyResult<Vec<_>> = rewritten.report.links.iter().map(link).collect();
        let diagnostic = |found: &Diagnostic| {
            let code = self.name(found.code.name());
            let Place {
                line,
                column,
                start,
                end,
            } = place(found.span);
            let values = (code, &*found.message, line, column, start, end);
            self.make(&self.classes.diagnostic, values)
        };
        let found: PyResult<Vec<_>> = rewritten
            .totals
            .diagnostics
            .iter()
            .map(diagnostic)
            .collect();
        let counts = PyDict::new(self.py);
        for outcome in Outcome::ALL {
            counts.set_item(outcome.name(), rewritten.totals.count(outcome))?;
        }
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, reason, number) in rewritten.totals.counts() {
            if let Some(reason) = reason {
                *reasons.entry(reason.name()).or_default() += number;
            }
        }
        let output = data.with(output)?;
        let class = match output.is_instance_of::<PyString>() {
            true => &self.classes.rewritten_text,
            false => &self.classes.rewritten,
        };
        let (links, found) = (PyList::new(self.py, links?)?, PyList::new(self.py, found?)?);
        self.make(class, (output, links, counts, reasons, found))
    }

    pub(crate) fn base(&self, chain: &BaseChain) -> PyResult<Bound<'py, PyAny>> {
        let level = |level: &Level| {
            let values = (
                &*level.entity,
                level.rule.section(),
                level.source.name(),
                level.value.as_deref(),
                level.status.name(),
                &*level.reason,
            );
            self.make(&self.classes.level, values)
        };
        let levels: PyResult<Vec<_>> = chain.chain.iter().map(level).collect();
        let levels = PyList::new(self.py, levels?)?;
        let values = (
            chain.base.as_deref(),
            chain.rule.section(),
            chain.source.name(),
            levels,
        );
        self.make(&self.classes.base, values)
    }
}

/// The links of a document as Python objects.
pub(crate) fn list_links(data: &Data<'_>, rewriter: Rewriter) -> PyResult<Vec<Py<PyAny>>> {
    let (py, bytes) = (data.py(), data.bytes());
    let rewriter = data.rewriter(rewriter)?;
    let mut found = Some(Vec::new());
    py.detach(|| {
        rewriter.links(bytes, |link| {
            let Some(links) = &mut found else {
                return ControlFlow::Break(());
            };
            match links.try_reserve(1) {
                Ok(()) => links.push(link),
                // This drops the links found so far, so their memory is released at once.
                Err(_) => found = None,
            }
            ControlFlow::Continue(())
        })
    });
    let found = found.ok_or_else(|| PyMemoryError::new_err(()))?;
    let (rows, units) = (Rows::new(py)?, data.units()?);
    let row = |found: &ListedLink| {
        let place = units.place(found.link.span, (found.line, found.column));
        Ok(rows.link(&found.link, &place)?.unbind())
    };
    found.iter().map(row).collect()
}

/// An iterator over the links of many documents.
#[pyclass(module = "baselink._baselink")]
pub(crate) struct LinkIterator {
    documents: Py<PyIterator>,
    builder: RewriterBuilder,
    /// The number of documents read so far.
    number: usize,
    /// The links of the last document that were not returned yet.
    found: IntoIter<Py<PyAny>>,
}

/// The links of many documents, each with the number of its document, counted from 0.
///
/// `documents` is an iterable of pairs of data and URL, or of data alone. Memory holds the links of one document at a
/// time. The options are those of `baselink.Options`. Raises ValueError or TypeError for a wrong option at once, and for a
/// wrong document or URL when its turn comes; the next call goes on with the document after it.
///
/// >>> import baselink
/// >>> pages = [(b"<a href=x>", "http://h.example/"), (b"<a href=y>", None)]
/// >>> [(number, link.target) for number, link in baselink.iter_links(pages)]
/// [(0, 'http://h.example/x'), (1, None)]
#[pyfunction]
#[pyo3(signature = (documents, /, **options))]
pub(crate) fn iter_links(
    documents: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<LinkIterator> {
    let builder = builder("iter_links", options)?;
    // Errors in the options are raised before the first document is requested.
    at(builder.clone(), None)?;
    let documents = iterator(documents)?;
    Ok(LinkIterator {
        documents,
        builder,
        number: 0,
        found: Vec::new().into_iter(),
    })
}

#[pymethods]
impl LinkIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<(usize, Bound<'py, PyAny>)>> {
        loop {
            if let Some(link) = self.found.next() {
                return Ok(Some((self.number - 1, link.into_bound(py))));
            }
            // Python handles signals only between its own instructions.
            py.check_signals()?;
            let Some(next) = self.documents.bind(py).clone().next() else {
                return Ok(None);
            };
            let next = next?;
            self.number += 1;
            let (data, url) = pair(&next)?;
            let data = Data::of(&data)?;
            let rewriter = at(self.builder.clone(), url.as_ref())?;
            self.found = list_links(&data, rewriter)?.into_iter();
        }
    }

    /// Shows `documents` to Python's garbage collector. The links refer only to texts and numbers, so they cannot be
    /// part of a cycle.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.documents)
    }
}

/// The iterator of `documents`. The items of a single document would be numbers, or characters.
pub(crate) fn iterator(documents: &Bound<'_, PyAny>) -> PyResult<Py<PyIterator>> {
    let is_text = documents.is_instance_of::<PyString>();
    let is_data =
        documents.is_instance_of::<PyBytes>() || documents.is_instance_of::<PyByteArray>();
    if is_text || is_data {
        let wanted = "an iterable of data, or of pairs of data and URL";
        return Err(wrong_type("documents", documents, wanted));
    }
    Ok(documents.try_iter()?.unbind())
}

/// An item of `documents`: data, and its URL if the item is a pair.
type Item<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// Splits an item of `documents`, which is a pair of data and URL, or data alone.
pub(crate) fn pair<'py>(document: &Bound<'py, PyAny>) -> PyResult<Item<'py>> {
    match document.cast::<PyTuple>() {
        Ok(pair) => pair.extract(),
        Err(_) => Ok((document.clone(), None)),
    }
}
