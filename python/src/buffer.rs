//! Access to the bytes of Python objects without a copy.
//!
//! ```text
//! bytes                      read directly, because they never change
//! bytearray, memoryview, …   read through a memoryview, which keeps the memory in its place
//! ```
//!
//! In the stable interface of CPython 3.10, only `PyObject_AsReadBuffer` gives access to the memory of an object other
//! than `bytes`. `PyBuffer` exists from 3.11 on.
//!
//! Deliberately absent: protection against another thread that writes to the memory while it is read. As with
//! `hashlib`, the result is then meaningless.

use std::ffi::{c_int, c_void};
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::options::wrong_type;

#[allow(unsafe_code)]
unsafe extern "C" {
    fn PyObject_AsReadBuffer(
        object: *mut ffi::PyObject,
        buffer: *mut *const c_void,
        length: *mut ffi::Py_ssize_t,
    ) -> c_int;
}

/// The bytes of a Python object, which stay in place as long as this value exists.
pub(crate) struct Data<'py> {
    start: *const u8,
    length: usize,
    /// The Python object that owns the bytes.
    held: Bound<'py, PyAny>,
    of: PhantomData<&'py [u8]>,
}

impl<'py> Data<'py> {
    /// Borrows the bytes of the argument `data`.
    ///
    /// # Errors
    ///
    /// `TypeError` if `data` has no bytes, `ValueError` if its bytes are not contiguous.
    pub(crate) fn of(data: &Bound<'py, PyAny>) -> PyResult<Self> {
        Self::of_argument("data", data)
    }

    /// Borrows the bytes of the argument `name`.
    pub(crate) fn of_argument(name: &str, data: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = data.cast::<PyBytes>() {
            let (start, length) = (bytes.as_bytes().as_ptr(), bytes.as_bytes().len());
            return Ok(Self {
                start,
                length,
                held: data.clone(),
                of: PhantomData,
            });
        }
        let view = PyMemoryView::from(data).map_err(|error| {
            match error.is_instance_of::<PyTypeError>(data.py()) {
                true => wrong_type(name, data, "bytes, a bytearray or a memoryview"),
                false => error,
            }
        })?;
        if !view.getattr("c_contiguous")?.extract::<bool>()? {
            return Err(PyValueError::new_err(
                "the memoryview is not contiguous: use bytes(view) to copy it",
            ));
        }
        let (mut start, mut length) = (std::ptr::null(), 0);
        // SAFETY: `view` is a live object, and both pointers lead to local variables.
        #[allow(unsafe_code)]
        let status =
            unsafe { PyObject_AsReadBuffer(view.as_ptr(), &raw mut start, &raw mut length) };
        if status != 0 {
            return Err(PyErr::fetch(data.py()));
        }
        let length = usize::try_from(length).unwrap_or_default();
        Ok(Self {
            start: start.cast(),
            length,
            held: view.into_any(),
            of: PhantomData,
        })
    }

    pub(crate) fn py(&self) -> Python<'py> {
        self.held.py()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: CPython gave this pointer and length. `held` is `bytes`, or a memoryview that exports the buffer
        // until it is dropped, so the bytes are neither moved nor freed.
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts(self.start, self.length)
        }
    }
}

/// The size up to which copying the bytes is faster than releasing and reacquiring the GIL.
const SMALL: usize = 1 << 14;

/// Copies `bytes` to a new object `bytes`. Most of the time is spent on the first access to new memory, so the GIL is
/// released.
pub(crate) fn to_python<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    if bytes.len() <= SMALL {
        return Ok(PyBytes::new(py, bytes));
    }
    let length = ffi::Py_ssize_t::try_from(bytes.len())?;
    // SAFETY: with a null source, the function leaves the memory uninitialized. No other code has the object before all
    // its bytes are written.
    #[allow(unsafe_code)]
    unsafe {
        let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), length);
        let copy = Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked::<PyBytes>();
        let memory = std::slice::from_raw_parts_mut(
            ffi::PyBytes_AsString(copy.as_ptr()).cast::<MaybeUninit<u8>>(),
            bytes.len(),
        );
        py.detach(|| {
            bytes
                .as_ptr()
                .copy_to_nonoverlapping(memory.as_mut_ptr().cast(), bytes.len())
        });
        Ok(copy)
    }
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
