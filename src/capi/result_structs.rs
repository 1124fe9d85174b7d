//! The results and the error as C sees them, both as a service answers and as a client reads them.

use super::constants::{agenthost_code, agenthost_resolution, agenthost_run_status};
use super::request_structs::agenthost_context;
use super::struct_size::sized_structs;
use super::text::{agenthost_optional_i64, agenthost_pairs, agenthost_str};

/// What a mutation answers: the run as it is now.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_submission {
    /// `sizeof(agenthost_submission)`.
    pub struct_size: usize,
    /// The run: the one that was asked for.
    pub run_id: agenthost_str,
    /// Its revision, 1 to 2^53-1.
    pub revision: u64,
    /// Its status.
    pub status: agenthost_run_status,
    /// 0.
    pub reserved: u32,
}

/// What a run waits for, or waited for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_approval {
    /// `sizeof(agenthost_approval)`.
    pub struct_size: usize,
    /// The approval. An identity: 1 to 1024 bytes, no U+0000.
    pub approval_id: agenthost_str,
    /// The tool call that needs it, not empty.
    pub tool_call_id: agenthost_str,
    /// The tool, not empty.
    pub tool_name: agenthost_str,
    /// What became of it.
    pub resolution: agenthost_resolution,
    /// 0.
    pub reserved: u32,
    /// Why it is needed, or why it was decided so.
    pub reason: agenthost_str,
    /// When it was asked for, in milliseconds since the Unix epoch.
    pub created_at_unix_ms: i64,
    /// When it was decided: null while pending, set once resolved.
    pub resolved_at_unix_ms: agenthost_optional_i64,
    /// Strings that belong to it; sensitive names are dropped before they leave.
    pub metadata: agenthost_pairs,
}

/// A run as it is now.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_run {
    /// `sizeof(agenthost_run)`.
    pub struct_size: usize,
    /// The run: the one that was asked for.
    pub run_id: agenthost_str,
    /// Its revision, 1 to 2^53-1.
    pub revision: u64,
    /// Its status.
    pub status: agenthost_run_status,
    /// 0.
    pub reserved: u32,
    /// Where it comes from. NULL from a service: every member has its default.
    pub context: *const agenthost_context,
    /// When it was created, in milliseconds since the Unix epoch, within 8.64e15 of it.
    pub created_at_unix_ms: i64,
    /// When it last changed.
    pub updated_at_unix_ms: i64,
    /// When it ended, or null.
    pub completed_at_unix_ms: agenthost_optional_i64,
    /// Its latest approval. NULL: none.
    pub approval: *const agenthost_approval,
    /// What it came to, as JSON text. Empty from a service means null. It leaves the host as it is: no secrets.
    pub result: agenthost_str,
    /// Why it failed, or empty.
    pub error: agenthost_str,
    /// Strings that belong to the run; sensitive names are dropped before they leave.
    pub metadata: agenthost_pairs,
}

/// Something that happened in a run.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_event {
    /// `sizeof(agenthost_event)`.
    pub struct_size: usize,
    /// The run: the one that was asked for.
    pub run_id: agenthost_str,
    /// Its place among the run's events, 1 to 2^53-1, after the cursor and after the event before it.
    pub sequence: u64,
    /// What kind of event it is, not empty.
    pub r#type: agenthost_str,
    /// The run's status after it.
    pub status: agenthost_run_status,
    /// 0.
    pub reserved: u32,
    /// The step that it belongs to, or empty.
    pub step_id: agenthost_str,
    /// The tool call that it belongs to, or empty.
    pub tool_call_id: agenthost_str,
    /// When it happened, in milliseconds since the Unix epoch.
    pub timestamp_unix_ms: i64,
    /// What happened, as JSON text. Empty from a service means null. It leaves the host as it is: no secrets.
    pub data: agenthost_str,
    /// Strings that belong to it; sensitive names are dropped before they leave.
    pub metadata: agenthost_pairs,
}

/// Why a call failed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_error {
    /// `sizeof(agenthost_error)`.
    pub struct_size: usize,
    /// The code. Of `AGENTHOST_CODE_INTERNAL` only `retryable` leaves the host.
    pub code: agenthost_code,
    /// 0 or 1: whether the same request may succeed later.
    pub retryable: u32,
    /// For people. It leaves the host as it is: no secrets.
    pub message: agenthost_str,
    /// For programs, as JSON text. Empty from a service means `{}`. It leaves the host as it is: no secrets.
    pub details: agenthost_str,
    /// Strings for programs; sensitive names are dropped before they leave.
    pub metadata: agenthost_pairs,
    /// Client: the code that was received when it is none of the contract's. A service leaves it empty.
    pub original_code: agenthost_str,
}

sized_structs!(agenthost_submission, agenthost_approval, agenthost_run, agenthost_event, agenthost_error);
