//! Durable runs: opened, counted, closed, and put behind a host.

use std::mem::ManuallyDrop;

use super::export::{Place, StatusResult, guarded};
use super::failure::{Failure, Why};
use super::handles::{CountedHandle, borrowed};
use super::host::{agenthost_host, into_raw};
use super::host_options::{agenthost_host_options, host_options};
use super::live::{AGENTHOST_LIVE_RUNS, Live};
use super::runs_options::{agenthost_runs_options, runs_options};
use super::status::{AGENTHOST_FORKED, AGENTHOST_INVALID_ARGUMENT, AGENTHOST_WOULD_DEADLOCK, agenthost_status};
use super::text::{agenthost_buffer, agenthost_str};
use super::values_from_c;
use crate::host::fork;
use crate::protocol::Path;
use crate::runs::Runs;

/// Opened durable runs: the service of a host, and the side of workers and operators. Counted: `agenthost_runs_retain`,
/// `agenthost_runs_release`. Any number of threads may use it at once.
pub struct agenthost_runs {
    runs: ManuallyDrop<Runs>,
    process: u64,
    _live: Live<AGENTHOST_LIVE_RUNS>,
}

impl CountedHandle for agenthost_runs {
    fn check_process(&self) -> StatusResult {
        if self.process == fork::generation() { Ok(()) } else { Err(AGENTHOST_FORKED) }
    }
}

/// In a forked child, whose threads and locks are gone, the runs are only forgotten.
impl Drop for agenthost_runs {
    fn drop(&mut self) {
        if self.check_process().is_ok() {
            // SAFETY: this is the end of the handle: nobody uses the runs afterwards.
            unsafe { ManuallyDrop::drop(&mut self.runs) };
        }
    }
}

/// Opens runs: `memory:` for runs that end with the process, `sqlite:path` for a file, which is made where there is none. What is
/// overdue is ended before this returns. `options` may be NULL: every default. `*runs` is yours: one count.
///
/// Takes `options->log_data` and `options->access_data` over whatever it returns, as `agenthost_host_new` does. `why` may be NULL; on
/// failure it gets a text that says what was expected, or why the store cannot be opened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_open(
    url: agenthost_str,
    options: *const agenthost_runs_options,
    runs: *mut *mut agenthost_runs,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    guarded(|| unsafe {
        let why = Why::of(why);
        open(url, options, runs).map_err(|failure| failure.explain(&why))
    })
}

/// # Safety
/// As [`values_from_c::text`], [`runs_options`] and [`Place::of`].
unsafe fn open(
    url: agenthost_str,
    options: *const agenthost_runs_options,
    runs: *mut *mut agenthost_runs,
) -> Result<(), Failure> {
    // SAFETY: by this function's own contract.
    let options = unsafe { runs_options(options) };
    // SAFETY: as above.
    let place =
        unsafe { Place::of(runs) }.map_err(|status| Failure::new(status, "runs: expected a place for the runs, found NULL"))?;
    // SAFETY: as above.
    let url = unsafe { values_from_c::text(url, Path::ROOT.member("url")) }?;
    let runs = Runs::open(url, options?).map_err(|error| Failure::new(AGENTHOST_INVALID_ARGUMENT, error.to_string()))?;
    let handle = agenthost_runs { runs: ManuallyDrop::new(runs), process: fork::generation(), _live: Live::new() };
    place.put(handle.into_raw());
    Ok(())
}

/// The runs behind a pointer, in the process that opened them. A clone, as a callback may release the last count meanwhile.
///
/// # Safety
/// `runs` is NULL, or runs that somebody holds a count of now.
pub(super) unsafe fn runs(runs: *const agenthost_runs) -> StatusResult<Runs> {
    // SAFETY: by this function's own contract.
    let handle = unsafe { borrowed(runs) }?;
    handle.check_process()?;
    Ok(Runs::clone(&handle.runs))
}

/// Takes another count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_retain(runs: *mut agenthost_runs) -> agenthost_status {
    // SAFETY: the caller holds a count.
    guarded(|| unsafe { agenthost_runs::retain(runs) })
}

/// Finishes what was accepted, ends every wait with `unavailable`, and refuses everything from then on. Closing again is OK.
/// `AGENTHOST_WOULD_DEADLOCK`: called from a callback of these runs; nothing happened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_close(runs: *mut agenthost_runs) -> agenthost_status {
    guarded(|| {
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
    // SAFETY: the caller gives up a count.
    unsafe { agenthost_runs::release(runs) };
}

/// A host that these runs serve. `options` may be NULL: every default. `*host` is yours: one count. It keeps the runs open; closing
/// it does not close them. A host over closed runs answers `unavailable`. Takes `options->log_data` over whatever it returns, and tells
/// `why`, as `agenthost_host_new` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_host(
    runs: *mut agenthost_runs,
    options: *const agenthost_host_options,
    host: *mut *mut agenthost_host,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    guarded(|| unsafe {
        let why = Why::of(why);
        let options = host_options(options);
        let place = Place::of(host)?;
        let runs = self::runs(runs)?;
        let options = options.map_err(|failure| failure.explain(&why))?;
        place.put(into_raw(runs.host(options)));
        Ok(())
    })
}
