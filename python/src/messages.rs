//! The messages of a mailbox (RFC 4155), one by one, from a file that Python reads.
//!
//! ```text
//! for message in baselink.messages(open("inbox", "rb")): ...
//! ```
//!
//! Deliberately absent: undoing `>From `. A message has the bytes that it has in the file.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

use baselink_rewrite::container::mbox;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use pyo3::{PyTraverseError, PyVisit};

use crate::buffer::{bytes_of, to_python};
use crate::options::wrong_type;

/// A Python file object. All clones share one Python reference.
#[derive(Clone)]
pub(crate) struct PythonFile(Arc<Py<PyAny>>);

impl PythonFile {
    pub(crate) fn new(file: &Bound<'_, PyAny>) -> Self {
        Self(Arc::new(file.clone().unbind()))
    }

    /// Shows the file to Python's garbage collector. Only one of the owners of a clone may do this.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&*self.0)
    }
}

impl Read for PythonFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            py.check_signals()?;
            let read = self.0.bind(py).call_method1("read", (buffer.len(),))?;
            if read.is_instance_of::<PyString>() {
                return Err(PyTypeError::new_err(
                    "the file gives str: open it for bytes, with 'rb'",
                ));
            }
            let given = bytes_of("the result of read()", &read)?;
            let given = given.as_bytes();
            let Some(space) = buffer.get_mut(..given.len()) else {
                let message = format!(
                    "read({}) of the file gave {} bytes",
                    buffer.len(),
                    given.len()
                );
                return Err(PyOSError::new_err(message));
            };
            space.copy_from_slice(given);
            Ok(given.len())
        })
        .map_err(|error: PyErr| io::Error::other(error))
    }
}

/// Converts an error from reading or writing: to the exception that a Python file raised, or else to `MemoryError` or
/// `OSError`.
pub(crate) fn io_exception(error: io::Error) -> PyErr {
    match error.downcast::<PyErr>() {
        Ok(error) => error,
        Err(error) if error.kind() == ErrorKind::OutOfMemory => PyMemoryError::new_err(()),
        Err(error) => error.into(),
    }
}

/// An iterator over the messages of a mailbox.
#[pyclass(module = "baselink._baselink")]
pub(crate) struct Messages {
    // Python aligns objects to 16 bytes, but the search for lines needs a larger alignment.
    messages: Box<mbox::Messages<PythonFile>>,
    /// The Python file that `messages` reads.
    file: PythonFile,
}

/// The messages of a mailbox (mbox), read from `file`, a binary file that is open for reading. Memory holds one message
/// at a time. Each message has its bytes from the file, without the line `From `. Raises TypeError if `file` has no method
/// `read`, or if that returns no bytes, and the exceptions of `read` unchanged.
///
/// >>> import baselink, io
/// >>> [message for message in baselink.messages(io.BytesIO(b"From a\nSubject: x\n\ny\n"))]
/// [b'Subject: x\n\ny\n']
#[pyfunction]
#[pyo3(signature = (file, /))]
pub(crate) fn messages(file: &Bound<'_, PyAny>) -> PyResult<Messages> {
    if !file.hasattr("read")? {
        return Err(wrong_type(
            "file",
            file,
            "a binary file that is open for reading",
        ));
    }
    let file = PythonFile::new(file);
    Ok(Messages {
        messages: Box::new(mbox::Messages::new(file.clone())),
        file,
    })
}

#[pymethods]
impl Messages {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let messages = &mut self.messages;
        let next = py.detach(|| messages.next_message());
        let next = next.map_err(io_exception)?;
        next.map(|one| to_python(py, &one.bytes[one.message.range()]))
            .transpose()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.file.traverse(&visit)
    }
}
