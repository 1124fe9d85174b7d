//! Durable runs: opened, counted, closed, and put behind a host.

use std::sync::Arc;
use std::time::Duration;

use super::entry::{Done, borrowed, entry, place, quietly};
use super::from_c::{self, Unread};
use super::host::{agenthost_host, explain, into_raw, reason, unexplained};
use super::live::{AGENTHOST_LIVE_RUNS, Live};
use super::requests::sized;
use super::sized::{self as grown, Sized};
use super::status::{AGENTHOST_FORKED, AGENTHOST_INVALID_ARGUMENT, AGENTHOST_WOULD_DEADLOCK, agenthost_status};
use super::text::{agenthost_buffer, agenthost_str};
use crate::host::{HostOptions, fork};
use crate::protocol::{Path, Violation};
use crate::runs::{OpenError, Runs, RunsOptions};

/// Opened durable runs: the service of a host, and the side of workers and operators. Counted: `agenthost_runs_retain`,
/// `agenthost_runs_release`. Any number of threads may use it at once.
pub struct agenthost_runs {
    runs: Runs,
    process: u64,
    _live: Live<AGENTHOST_LIVE_RUNS>,
}

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
}

sized!(agenthost_runs_options);

fn options_of(options: &agenthost_runs_options) -> Result<RunsOptions, Unread> {
    let path = Path::ROOT.member("options");
    if options.reserved != 0 {
        return Err(Violation::new(path.member("reserved"), "expected 0").into());
    }
    let default = RunsOptions::default();
    let time = |ms: u64, default: Duration| if ms == 0 { default } else { Duration::from_millis(ms) };
    Ok(RunsOptions {
        lease: time(options.lease_ms, default.lease),
        max_attempts: if options.max_attempts == 0 { default.max_attempts } else { options.max_attempts },
        key_ttl: time(options.key_ttl_ms, default.key_ttl),
        require_principal: from_c::flag(options.require_principal, path.member("require_principal"))?,
        ..default
    })
}

/// Opens runs: `memory:` for runs that end with the process, `sqlite:path` for a file, which is made where there is none. What is
/// overdue is ended before this returns. `options` may be NULL: every default. `*runs` is yours: one count. `why` may be NULL;
/// on `AGENTHOST_INVALID_ARGUMENT` it gets a text that says what was expected, or why the store cannot be opened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_open(
    url: agenthost_str,
    options: *const agenthost_runs_options,
    runs: *mut *mut agenthost_runs,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    entry(|| {
        unexplained(why);
        let fail = |unread: Unread| {
            let (status, text) = reason(unread);
            explain(why, &text);
            status
        };
        // SAFETY: the caller keeps the header's rules.
        let place = unsafe { place(runs) }?;
        // SAFETY: as above.
        let url = unsafe { from_c::text(url, Path::ROOT.member("url")) }.map_err(fail)?;
        let options = if options.is_null() {
            RunsOptions::default()
        } else {
            // SAFETY: as above.
            let options = unsafe { grown::read(options) }.map_err(|status| fail(status.into()))?;
            options_of(&options).map_err(fail)?
        };
        let opened = Runs::open(url, options).map_err(|error: OpenError| {
            explain(why, &error.to_string());
            AGENTHOST_INVALID_ARGUMENT
        })?;
        let handle = agenthost_runs { runs: opened, process: fork::generation(), _live: Live::new() };
        *place = Arc::into_raw(Arc::new(handle)).cast_mut();
        Ok(())
    })
}

/// The runs behind a pointer, in the process that opened them.
///
/// # Safety
/// `runs` is NULL, or runs that somebody holds a count of until the export returns.
pub(super) unsafe fn runs<'a>(runs: *const agenthost_runs) -> Done<&'a Runs> {
    // SAFETY: by this function's own contract.
    let handle = unsafe { borrowed(runs) }?;
    if handle.process == fork::generation() { Ok(&handle.runs) } else { Err(AGENTHOST_FORKED) }
}

/// Takes another count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_retain(runs: *mut agenthost_runs) -> agenthost_status {
    entry(|| {
        // SAFETY: the caller holds a count.
        unsafe { self::runs(runs) }?;
        // SAFETY: `agenthost_runs_open` has made the pointer, and it is alive.
        unsafe { Arc::increment_strong_count(runs.cast_const()) };
        Ok(())
    })
}

/// Finishes what was accepted, ends every wait with `unavailable`, and refuses everything from then on. Closing again is OK.
/// `AGENTHOST_WOULD_DEADLOCK`: called from a callback of these runs; nothing happened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_close(runs: *mut agenthost_runs) -> agenthost_status {
    entry(|| {
        // SAFETY: the caller holds a count.
        let runs = unsafe { self::runs(runs) }?;
        if Runs::in_callback() {
            return Err(AGENTHOST_WOULD_DEADLOCK);
        }
        runs.close();
        Ok(())
    })
}

/// Gives a count up. When the last count and the last host over these runs are gone they are closed. In a forked child it only
/// forgets. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_release(runs: *mut agenthost_runs) {
    quietly(|| {
        // SAFETY: the caller holds a count; in a forked child, whose threads and locks are gone, it is only forgotten.
        if unsafe { self::runs(runs) }.is_ok() {
            // SAFETY: the caller gives up a count of what `agenthost_runs_open` has made.
            unsafe { Arc::decrement_strong_count(runs.cast_const()) };
        }
    });
}

/// A host that these runs serve, with a host's defaults. `*host` is yours: one count. It keeps the runs open; closing it does
/// not close them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_host(runs: *mut agenthost_runs, host: *mut *mut agenthost_host) -> agenthost_status {
    entry(|| {
        // SAFETY: the caller keeps the header's rules.
        let place = unsafe { place(host) }?;
        // SAFETY: as above.
        let runs = unsafe { self::runs(runs) }?;
        *place = into_raw(runs.host(HostOptions::default()));
        Ok(())
    })
}
