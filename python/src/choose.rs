//! The choice of the reference of each link, by a Python function.
//!
//! ```text
//! LinkReport --rows--> Link --function--> str or None --> Choice
//! ```
//!
//! Deliberately absent: the place of the link in the data. It is known only after the whole document was read.

use std::sync::OnceLock;

use baselink::{Choice, LinkReport};
use pyo3::prelude::*;

use crate::buffer::Units;
use crate::options::{text_of, wrong_type};
use crate::rows::Rows;

/// A Python function, and the exception with which it ended the choice.
pub(crate) struct Chooser {
    function: Py<PyAny>,
    raised: OnceLock<PyErr>,
}

impl Chooser {
    /// # Errors
    ///
    /// `TypeError` if `function` cannot be called.
    pub(crate) fn new(function: &Bound<'_, PyAny>) -> PyResult<Self> {
        if !function.is_callable() {
            return Err(wrong_type("function", function, "callable"));
        }
        Ok(Self {
            function: function.clone().unbind(),
            raised: OnceLock::new(),
        })
    }

    /// The choice for a link. After an exception, the function is not called again.
    pub(crate) fn choose(&self, link: &LinkReport) -> Choice {
        if self.raised.get().is_some() {
            return Choice::Kept;
        }
        Python::attach(|py| self.call(py, link)).unwrap_or_else(|error| {
            self.raised.get_or_init(|| error);
            Choice::Kept
        })
    }

    fn call(&self, py: Python<'_>, link: &LinkReport) -> PyResult<Choice> {
        let place = Units::BYTES.place(link.span, (0, 0));
        let link = Rows::new(py)?.link(link, &place)?;
        let reference = self.function.bind(py).call1((link,))?;
        if reference.is_none() {
            return Ok(Choice::Kept);
        }
        let reference = text_of("the result of the function", &reference)?;
        Ok(Choice::Reference(reference.to_owned()))
    }

    /// The exception that the function raised.
    pub(crate) fn raised(&self, py: Python<'_>) -> Option<PyErr> {
        self.raised.get().map(|error| error.clone_ref(py))
    }
}
