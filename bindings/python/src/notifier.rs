//! How an event loop learns that calls are answered: a pipe that the loop watches. Whoever answers, a thread that commits
//! perhaps, writes one byte and goes on; it never waits for the GIL, and does not care whether the loop still runs.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::Arc;

use agenthost::binding::{Notify, NotifyQueue};
use pyo3::prelude::*;

/// Holds one byte as long as calls wait in the queue, so no write ever blocks and no read waits. Both ends stand here: neither can
/// fail.
pub(crate) struct Pipe {
    reader: PipeReader,
    writer: PipeWriter,
}

impl Notify for Pipe {
    fn notify(&mut self) {
        let _ = self.writer.write_all(&[1]);
    }

    fn acknowledge(&mut self) {
        let _ = self.reader.read_exact(&mut [0]);
    }
}

/// The keys of the calls of one event loop that are answered and that it has not heard of yet.
pub(crate) type AnsweredCalls = NotifyQueue<u64, Pipe>;

/// A pipe for an event loop to watch.
#[pyclass(frozen, module = "agenthost._native")]
pub(crate) struct Notifier {
    pub(crate) calls: Arc<AnsweredCalls>,
}

#[pymethods]
impl Notifier {
    #[new]
    fn new() -> PyResult<Self> {
        let (reader, writer) = std::io::pipe()?;
        Ok(Notifier { calls: Arc::new(NotifyQueue::new(Pipe { reader, writer })) })
    }

    /// What to watch for reading.
    fn fileno(&self) -> Option<i32> {
        self.calls.with_notify(|pipe| pipe.reader.as_raw_fd())
    }

    /// The keys of the calls that were answered since the last time.
    fn answered(&self) -> Vec<u64> {
        self.calls.take_all()
    }
}
