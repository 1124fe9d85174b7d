//! How durable runs are opened.

use std::ffi::c_void;
use std::sync::Arc;

use super::callback::{self, agenthost_destroy};
use super::constants::{Constant, agenthost_operation};
use super::failure::Failure;
use super::host_options::{TakenOptions, milliseconds, nonzero, take_options, texts};
use super::log::{self, agenthost_log};
use super::struct_size::sized_structs;
use super::text::agenthost_str;
use super::values_from_c;
use super::values_to_c;
use crate::binding::{DurableSettings, HostSettings};
use crate::protocol::Path;
use crate::runs::{AccessHook, AccessRequest, RunsOptions};

/// What a rule of who may see a run is asked about. Borrowed for the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_access_request {
    /// `sizeof(agenthost_access_request)`.
    pub struct_size: usize,
    /// Who calls; NULL for embedded use.
    pub principal: *const agenthost_str,
    /// The principal that created the run; NULL where there was none.
    pub owner: *const agenthost_str,
    /// What is asked for. Waiting for events counts as `AGENTHOST_LIST_EVENTS`.
    pub operation: agenthost_operation,
    /// 0.
    pub reserved: u32,
    /// Of `AGENTHOST_RESOLVE_APPROVAL` the principals that the approval names, else those that the pending approvals name.
    pub approvers: *const agenthost_str,
    /// The number of `approvers`.
    pub approver_count: usize,
}

/// Who may see a run and do to it what is asked, in place of the built-in rule (its owner and calls without a principal everything, an
/// approver what names it): 1 allows it, anything else hides the run as `not_found`. It does not replace four eyes. Runs on any thread,
/// in the middle of a transaction: it must be quick, and must not call these runs.
pub type agenthost_access =
    Option<unsafe extern "C-unwind" fn(data: *mut c_void, request: *const agenthost_access_request) -> u32>;

/// How runs are opened. Zeros are the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_runs_options {
    /// `sizeof(agenthost_runs_options)`.
    pub struct_size: usize,
    /// How long a worker may be silent before somebody else may take over, in milliseconds, at most 24 h. 0: 30 s.
    pub lease_ms: u64,
    /// How often a run may be taken over from a silent worker before it fails. 0: 10.
    pub max_attempts: u64,
    /// How long an idempotency key is remembered, in milliseconds. 0: 24 h.
    pub key_ttl_ms: u64,
    /// 1: a client's call without a principal is `unauthorized`.
    pub require_principal: u32,
    /// 0.
    pub reserved: u32,
    /// Names that are sensitive beside the built-in ones: metadata of runs, approvals and events with one is refused. Copied. May be
    /// NULL when there are none.
    pub sensitive_names: *const agenthost_str,
    /// The number of `sensitive_names`.
    pub sensitive_name_count: usize,
    /// NULL: nothing is logged.
    pub log: agenthost_log,
    /// Given to `log`.
    pub log_data: *mut c_void,
    /// Lets go of `log_data`: once, when the runs and every host over them are gone, or their opening failed. On any thread.
    pub log_destroy: agenthost_destroy,
    /// NULL: the built-in rule.
    pub access: agenthost_access,
    /// Given to `access`.
    pub access_data: *mut c_void,
    /// Lets go of `access_data`, like `log_destroy`.
    pub access_destroy: agenthost_destroy,
}

sized_structs!(agenthost_runs_options);

/// C's rule of who may see a run, whose data ends with it.
struct AccessCallback {
    access: agenthost_access,
    data: *mut c_void,
    destroy: agenthost_destroy,
}

// SAFETY: the header says that the rule runs on any thread, any number at once.
unsafe impl Send for AccessCallback {}
// SAFETY: as above.
unsafe impl Sync for AccessCallback {}

impl AccessCallback {
    fn allows(&self, request: &AccessRequest<'_>) -> bool {
        let Some(access) = self.access else { return false };
        let (principal, owner) = (request.principal.map(values_to_c::text), request.owner.map(values_to_c::text));
        let pointer = |text: &Option<agenthost_str>| text.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let approvers: Vec<agenthost_str> = request.approvers.iter().map(|name| values_to_c::text(name)).collect();
        let request = agenthost_access_request {
            struct_size: size_of::<agenthost_access_request>(),
            principal: pointer(&principal),
            owner: pointer(&owner),
            operation: request.operation.to_number(),
            reserved: 0,
            approvers: approvers.as_ptr(),
            approver_count: approvers.len(),
        };
        // SAFETY: the data lives until this struct ends, what is handed out until the rule returns.
        unsafe { access(self.data, &raw const request) == 1 }
    }
}

impl Drop for AccessCallback {
    fn drop(&mut self) {
        // SAFETY: the runs let go of their rule once, when it does not run and will not run.
        unsafe { callback::destroy(self.destroy, self.data) };
    }
}

/// The options; NULL: every default. Their hooks are taken over whatever comes of it.
///
/// # Safety
/// As [`take_options`] and [`texts`].
pub(super) unsafe fn runs_options(options: *const agenthost_runs_options) -> Result<RunsOptions, Failure> {
    // SAFETY: by this function's own contract.
    let Some(TakenOptions { options, unknown_tail }) = unsafe { take_options(options) }? else {
        return Ok(RunsOptions::default());
    };
    let log = log::hook(options.log, options.log_data, options.log_destroy);
    let access = AccessCallback { access: options.access, data: options.access_data, destroy: options.access_destroy };
    unknown_tail?;
    let path = Path::ROOT.member("options");
    values_from_c::reserved(options.reserved, path)?;
    let require_principal = values_from_c::flag(options.require_principal, path.member("require_principal"))?;
    let host = HostSettings {
        // SAFETY: by this function's own contract.
        sensitive_names: unsafe { texts(options.sensitive_names, options.sensitive_name_count, path.member("sensitive_names")) }?,
        require_principal,
        ..HostSettings::default()
    };
    let settings = DurableSettings {
        host,
        lease: milliseconds(options.lease_ms),
        max_attempts: nonzero(options.max_attempts),
        key_ttl: milliseconds(options.key_ttl_ms),
        operators: Vec::new(),
    };
    let rule = access.access.is_some();
    let rule = rule.then(|| Arc::new(move |request: &AccessRequest<'_>| access.allows(request)) as AccessHook);
    Ok(RunsOptions { access: rule, ..settings.runs_options(log)? })
}
