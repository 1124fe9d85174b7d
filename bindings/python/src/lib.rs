//! The native half of the Python package `agenthost`: carries values between Python and the core. It knows no rule of the
//! protocol and no event loop, and runs no service: see `host` for why.
//!
//! 1. `values`, `user_code`, `enums`, `json`, `loads`, `message`, `texts`, `collector` - from Python values to the core's and back.
//! 2. `context`, `request`, `input`, `result`, `page` - the frozen objects of the contract. `members` - what most of them consist of.
//! 3. `host` - the two halves of a dispatch. `gil` - when it is given up.
//! 4. `durable` - a host of durable runs. `notifier` - how an event loop learns that its calls are answered.
//! 5. `client` - requests to bytes, responses to objects.
//! 6. `live` - what is alive. `interpreter` - where the module may be imported.

mod client;
mod collector;
mod context;
mod durable;
mod enums;
mod gil;
mod host;
mod input;
mod interpreter;
mod json;
mod live;
mod loads;
mod members;
mod message;
mod notifier;
mod page;
mod request;
mod result;
mod texts;
mod user_code;
mod values;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The native half of `agenthost`. Import from `agenthost`.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use super::client::{PreparedRequest, Refusal, decode, encode_request, is_sensitive_name, negotiate_version};
    #[pymodule_export]
    use super::context::{Call, ExecutionContext};
    #[pymodule_export]
    use super::durable::{Closing, NativeDurableHost, Opening, Waiting};
    #[pymodule_export]
    use super::enums::{contract_names, prepare};
    #[pymodule_export]
    use super::gil::exiting;
    #[pymodule_export]
    use super::host::{NativeHost, OpenCall};
    #[pymodule_export]
    use super::live::live;
    #[pymodule_export]
    use super::notifier::Notifier;
    #[pymodule_export]
    use super::page::{Event, EventPage};
    #[pymodule_export]
    use super::request::{CancelRun, CreateRun, GetRun, ListEvents, ResolveApproval, ResumeRun};
    #[pymodule_export]
    use super::result::{ApprovalView, RunSubmission, RunView};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::interpreter::refuse_subinterpreters(module.py())?;
        module.add("SUPPORTED_VERSIONS", PyTuple::new(module.py(), agenthost::protocol::SUPPORTED_VERSIONS)?)?;
        module.add("DEFAULT_MAX_MESSAGE_BYTES", agenthost::dispatch::DEFAULT_MAX_MESSAGE_BYTES)?;
        module.add("LARGE_MESSAGE_BYTES", super::gil::LARGE)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
