//! How an event loop learns that calls are answered: a pipe that the loop watches. Whoever answers, a thread that commits
//! perhaps, writes one byte and goes on; it never waits for the GIL, and does not care whether the loop still runs.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

/// The calls of one event loop that are answered and that it has not heard of yet.
pub(crate) struct Ringing {
    state: Mutex<Answered>,
}

struct Answered {
    keys: Vec<u64>,
    /// Holds one byte as long as there are keys, so no write ever blocks and no read waits.
    reader: PipeReader,
    writer: PipeWriter,
}

impl Ringing {
    /// The call of that key is answered.
    pub(crate) fn ring(&self, key: u64) {
        let mut answered = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        answered.keys.push(key);
        if answered.keys.len() == 1 {
            // Both ends stand here: it cannot be closed.
            let _ = answered.writer.write_all(&[1]);
        }
    }
}

/// A pipe for an event loop to watch.
#[pyclass(frozen, module = "agenthost._native")]
pub(crate) struct Bell {
    pub(crate) ringing: Arc<Ringing>,
}

#[pymethods]
impl Bell {
    #[new]
    fn new() -> PyResult<Self> {
        let (reader, writer) = std::io::pipe()?;
        Ok(Bell { ringing: Arc::new(Ringing { state: Mutex::new(Answered { keys: Vec::new(), reader, writer }) }) })
    }

    /// What to watch for reading.
    fn fileno(&self) -> i32 {
        self.ringing.state.lock().unwrap_or_else(PoisonError::into_inner).reader.as_raw_fd()
    }

    /// The keys of the calls that were answered since the last time.
    fn answered(&self) -> PyResult<Vec<u64>> {
        let mut answered = self.ringing.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !answered.keys.is_empty() {
            answered.reader.read_exact(&mut [0])?;
        }
        Ok(std::mem::take(&mut answered.keys))
    }
}
