//! The contract's names as members of the package's enums, and what else the package gives this half at its import: calling
//! Python code later could end the process, see `user_code`.

use agenthost::protocol::{ErrorCode, Operation, Resolution, RunStatus};
use agenthost::runs::Reason;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};

/// What the package gives at its import.
struct Given {
    operations: Vec<Py<PyAny>>,
    run_statuses: Vec<Py<PyAny>>,
    resolutions: Vec<Py<PyAny>>,
    scan_json: Py<PyAny>,
    index: Py<PyAny>,
    copy_mapping: Py<PyAny>,
}

static GIVEN: PyOnceLock<Given> = PyOnceLock::new();

/// Keeps the members of the enums, each list in the order of the contract; the function of `json` that reads one value;
/// `operator.index`; and what makes a dict of a mapping, and None of anything else. The package calls this once, at its import.
#[pyfunction]
#[pyo3(signature = (operations, run_statuses, resolutions, *, scan_json, index, copy_mapping))]
pub(crate) fn prepare(
    py: Python<'_>,
    operations: Vec<Py<PyAny>>,
    run_statuses: Vec<Py<PyAny>>,
    resolutions: Vec<Py<PyAny>>,
    scan_json: Py<PyAny>,
    index: Py<PyAny>,
    copy_mapping: Py<PyAny>,
) {
    let _ = GIVEN.set(py, Given { operations, run_statuses, resolutions, scan_json, index, copy_mapping });
}

fn given(py: Python<'_>) -> PyResult<&Given> {
    GIVEN.get(py).ok_or_else(|| PyRuntimeError::new_err("import agenthost, not its native half"))
}

fn member<'py>(py: Python<'py>, members: &[Py<PyAny>], index: usize) -> PyResult<Bound<'py, PyAny>> {
    let member = members.get(index).ok_or_else(|| PyRuntimeError::new_err("an enum of the package lacks a member"))?;
    Ok(member.bind(py).clone())
}

/// The member of a run's status.
pub(crate) fn run_status(py: Python<'_>, status: RunStatus) -> PyResult<Bound<'_, PyAny>> {
    member(py, &given(py)?.run_statuses, status as usize)
}

/// The member of an approval's resolution.
pub(crate) fn resolution(py: Python<'_>, resolution: Resolution) -> PyResult<Bound<'_, PyAny>> {
    member(py, &given(py)?.resolutions, resolution as usize)
}

/// The member of an operation.
pub(crate) fn operation(py: Python<'_>, operation: Operation) -> PyResult<Bound<'_, PyAny>> {
    member(py, &given(py)?.operations, operation as usize)
}

/// The function of `json` that reads one value of a text: `(text, place)` to `(value, end)`.
pub(crate) fn scan_json(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    Ok(given(py)?.scan_json.bind(py))
}

/// `operator.index`. It runs a user's code.
pub(crate) fn index(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    Ok(given(py)?.index.bind(py))
}

/// What makes a dict of a mapping, and None of anything else. It runs a user's code.
pub(crate) fn copy_mapping(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    Ok(given(py)?.copy_mapping.bind(py))
}

/// The contract's names, by the name of their enum: what the package's enums are tested against.
#[pyfunction]
pub(crate) fn contract_names(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("Operation", PyList::new(py, Operation::ALL.map(Operation::name))?)?;
    dict.set_item("RunStatus", PyList::new(py, RunStatus::ALL.map(RunStatus::name))?)?;
    dict.set_item("Resolution", PyList::new(py, Resolution::ALL.map(Resolution::name))?)?;
    dict.set_item("ErrorCode", PyList::new(py, ErrorCode::ALL.map(ErrorCode::name))?)?;
    dict.set_item("ConflictReason", PyList::new(py, Reason::ALL.map(Reason::name))?)?;
    Ok(dict)
}
