//! The messages of a mailbox (RFC 4155), one by one, from a file that Python reads.
//!
//! ```text
//! for message in baselink.messages(open("inbox", "rb")): ...
//! ```
//!
//! Deliberately absent: undoing `>From `. A message has the bytes that it has in the file.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

use baselink::container::mbox;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use pyo3::{PyTraverseError, PyVisit};

use crate::buffer::{Data, copied};

/// A file object of Python. Python counts one reference, whoever else has it here.
#[derive(Clone)]
pub(crate) struct PythonFile(Arc<Py<PyAny>>);

impl PythonFile {
    pub(crate) fn new(file: &Bound<'_, PyAny>) -> Self {
        Self(Arc::new(file.clone().unbind()))
    }

    /// Shows Python's garbage collector the file, once for all that share it.
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
            let held = Data::of(&read)?;
            let given = held.bytes();
            let Some(space) = buffer.get_mut(..given.len()) else {
                let message =
                    format!("read({}) of the file gave {} bytes", buffer.len(), given.len());
                return Err(PyOSError::new_err(message));
            };
            space.copy_from_slice(given);
            Ok(given.len())
        })
        .map_err(|error: PyErr| io::Error::other(error))
    }
}

/// Converts an error from reading a file: the exception that Python raised, or the error of the system.
pub(crate) fn raised(error: io::Error) -> PyErr {
    match error.downcast::<PyErr>() {
        Ok(error) => error,
        Err(error) if error.kind() == ErrorKind::OutOfMemory => PyMemoryError::new_err(()),
        Err(error) => error.into(),
    }
}

/// The messages of a mailbox.
#[pyclass(module = "baselink._baselink")]
pub(crate) struct Messages {
    // Python aligns an object to 16 bytes, and what searches for lines wants more.
    messages: Box<mbox::Messages<PythonFile>>,
    /// Python file that the messages are read from.
    file: PythonFile,
}

/// The messages of a mailbox (mbox), which `file` gives: a binary file, open for reading. One message at a time is in
/// memory. Each has the bytes that it has in the file, without the line `From `.
///
/// >>> import baselink, io
/// >>> [message for message in baselink.messages(io.BytesIO(b"From a\nSubject: x\n\ny\n"))]
/// [b'Subject: x\n\ny\n']
#[pyfunction]
#[pyo3(signature = (file, /))]
pub(crate) fn messages(file: &Bound<'_, PyAny>) -> PyResult<Messages> {
    file.getattr("read")?;
    let file = PythonFile::new(file);
    Ok(Messages { messages: Box::new(mbox::Messages::new(file.clone())), file })
}

#[pymethods]
impl Messages {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let messages = &mut self.messages;
        let next = py.detach(|| messages.next_message());
        let next = next.map_err(raised)?;
        next.map(|one| copied(py, &one.bytes[one.message.range()])).transpose()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.file.traverse(&visit)
    }
}
