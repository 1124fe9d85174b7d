//! The contract's words as members of the package's enums.

use agenthost::protocol::{ErrorCode, Operation, Resolution, RunStatus};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use crate::values::named;

/// The members of one enum, in the order of the contract.
struct Members(PyOnceLock<Vec<Py<PyAny>>>);

impl Members {
    const fn new() -> Members {
        Members(PyOnceLock::new())
    }

    fn get<'py>(&self, py: Python<'py>, class: &str, names: &[&'static str], index: usize) -> PyResult<Bound<'py, PyAny>> {
        let members = self.0.get_or_try_init(py, || {
            let class = py.import("agenthost._words")?.getattr(class)?;
            names.iter().map(|name| class.call1((*name,)).map(Bound::unbind)).collect::<PyResult<_>>()
        })?;
        Ok(members[index].bind(py).clone())
    }
}

/// The member of a run's status.
pub(crate) fn run_status(py: Python<'_>, status: RunStatus) -> PyResult<Bound<'_, PyAny>> {
    static MEMBERS: Members = Members::new();
    MEMBERS.get(py, "RunStatus", &RunStatus::ALL.map(RunStatus::name), status as usize)
}

/// The member of an approval's resolution.
pub(crate) fn resolution(py: Python<'_>, resolution: Resolution) -> PyResult<Bound<'_, PyAny>> {
    static MEMBERS: Members = Members::new();
    MEMBERS.get(py, "Resolution", &Resolution::ALL.map(Resolution::name), resolution as usize)
}

/// The member of an operation.
pub(crate) fn operation(py: Python<'_>, operation: Operation) -> PyResult<Bound<'_, PyAny>> {
    static MEMBERS: Members = Members::new();
    MEMBERS.get(py, "Operation", &Operation::ALL.map(Operation::name), operation as usize)
}

/// An operation, by its name or its member.
pub(crate) fn read_operation(value: &Bound<'_, PyAny>) -> PyResult<Operation> {
    named("operation", value, Operation::from_name, &Operation::ALL.map(Operation::name))
}

/// The words of the contract, by the name of their enum: what the package's enums are tested against.
#[pyfunction]
pub(crate) fn words(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let dict = pyo3::types::PyDict::new(py);
    let list = |names: Vec<&'static str>| names.into_iter().map(|name| PyString::new(py, name)).collect::<Vec<_>>();
    dict.set_item("Operation", list(Operation::ALL.iter().map(|word| word.name()).collect()))?;
    dict.set_item("RunStatus", list(RunStatus::ALL.iter().map(|word| word.name()).collect()))?;
    dict.set_item("Resolution", list(Resolution::ALL.iter().map(|word| word.name()).collect()))?;
    dict.set_item("ErrorCode", list(ErrorCode::ALL.iter().map(|word| word.name()).collect()))?;
    Ok(dict.into_any())
}
