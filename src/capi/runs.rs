//! Durable runs: opened, counted, closed, and put behind a host.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use super::entry::{Done, Place, borrowed, entry, quietly};
use super::from_c;
use super::host::{
    Explained, Log, Taken, UNKNOWN_TAIL, agenthost_host, agenthost_host_options, agenthost_log, explain, host_options, into_raw,
    names, reason, take, unexplained,
};
use super::live::{AGENTHOST_LIVE_RUNS, Live};
use super::requests::sized;
use super::service::{agenthost_destroy, destroy};
use super::sized::Sized;
use super::status::{AGENTHOST_FORKED, AGENTHOST_INVALID_ARGUMENT, AGENTHOST_WOULD_DEADLOCK, agenthost_status};
use super::text::{agenthost_buffer, agenthost_str};
use super::to_c;
use crate::host::{LogLevel, fork};
use crate::protocol::{Path, Violation};
use crate::runs::{Access, OpenError, Runs, RunsOptions, SharedLog};

/// Opened durable runs: the service of a host, and the side of workers and operators. Counted: `agenthost_runs_retain`,
/// `agenthost_runs_release`. Any number of threads may use it at once.
pub struct agenthost_runs {
    runs: Runs,
    process: u64,
    _live: Live<AGENTHOST_LIVE_RUNS>,
}

/// Who may see a run, in place of the built-in rule (its owner, and calls without a principal): 1 shows it, anything else hides it as
/// `not_found`. `principal` is the call's, `owner` the run's, both borrowed for the call, NULL where there is none. Runs on any thread,
/// in the middle of a transaction: it must be quick, and must not call these runs.
pub type agenthost_access =
    Option<unsafe extern "C-unwind" fn(data: *mut c_void, principal: *const agenthost_str, owner: *const agenthost_str) -> u32>;

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

sized!(agenthost_runs_options);

/// C's rule of who may see a run, whose data ends with it.
struct Rule {
    access: agenthost_access,
    data: *mut c_void,
    destroy: agenthost_destroy,
}

// SAFETY: the header says that the rule runs on any thread, any number at once.
unsafe impl Send for Rule {}
// SAFETY: as above.
unsafe impl Sync for Rule {}

impl Rule {
    fn shows(&self, principal: Option<&str>, owner: Option<&str>) -> bool {
        let Some(access) = self.access else { return false };
        let (principal, owner) = (principal.map(to_c::text), owner.map(to_c::text));
        let pointer = |text: &Option<agenthost_str>| text.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the data lives until this struct ends, what is handed out until the rule returns.
        unsafe { access(self.data, pointer(&principal), pointer(&owner)) == 1 }
    }
}

impl Drop for Rule {
    fn drop(&mut self) {
        // SAFETY: the runs let go of their rule once, when it does not run and will not run.
        unsafe { destroy(self.destroy, self.data) };
    }
}

/// The options; NULL: every default. Their hooks are taken over whatever comes of it.
///
/// # Safety
/// As [`take`] and [`names`].
unsafe fn runs_options(options: *const agenthost_runs_options) -> Explained<RunsOptions> {
    let default = RunsOptions::default();
    if options.is_null() {
        return Ok(default);
    }
    // SAFETY: by this function's own contract.
    let (options, trouble) = match unsafe { take(options) } {
        Taken::Nothing(status) => {
            return Err((status, "options: expected NULL or a struct with its size in struct_size".into()));
        }
        Taken::All(options, trouble) => (options, trouble),
    };
    let log = Log::of(options.log, options.log_data, options.log_destroy).map(|log| {
        Arc::new(move |level: LogLevel, message: &str, fields: &[(&str, &str)]| log.write(level, message, fields)) as SharedLog
    });
    let rule = Rule { access: options.access, data: options.access_data, destroy: options.access_destroy };
    if let Some(status) = trouble {
        return Err((status, format!("options.{UNKNOWN_TAIL}")));
    }
    let path = Path::ROOT.member("options");
    if options.reserved != 0 {
        return Err(reason(Violation::new(path.member("reserved"), "expected 0").into()));
    }
    let require_principal = from_c::flag(options.require_principal, path.member("require_principal")).map_err(reason)?;
    let path = path.member("sensitive_names");
    // SAFETY: by this function's own contract.
    let sensitive_names = unsafe { names(options.sensitive_names, options.sensitive_name_count, path) }.map_err(reason)?;
    let time = |ms: u64, default: Duration| if ms == 0 { default } else { Duration::from_millis(ms) };
    Ok(RunsOptions {
        lease: time(options.lease_ms, default.lease),
        max_attempts: if options.max_attempts == 0 { default.max_attempts } else { options.max_attempts },
        key_ttl: time(options.key_ttl_ms, default.key_ttl),
        require_principal,
        sensitive_names,
        access: rule
            .access
            .is_some()
            .then(|| Arc::new(move |principal: Option<&str>, owner: Option<&str>| rule.shows(principal, owner)) as Access),
        log,
    })
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
    entry(|| {
        unexplained(why);
        let fail = |(status, text): (agenthost_status, String)| {
            explain(why, &text);
            status
        };
        // SAFETY: the caller keeps the header's rules.
        let options = unsafe { runs_options(options) };
        // SAFETY: as above.
        let place = unsafe { Place::of(runs) }?;
        // SAFETY: as above.
        let url = unsafe { from_c::text(url, Path::ROOT.member("url")) }.map_err(reason).map_err(fail)?;
        let opened = Runs::open(url, options.map_err(fail)?)
            .map_err(|error: OpenError| fail((AGENTHOST_INVALID_ARGUMENT, error.to_string())))?;
        let handle = agenthost_runs { runs: opened, process: fork::generation(), _live: Live::new() };
        place.put(Arc::into_raw(Arc::new(handle)).cast_mut());
        Ok(())
    })
}

/// The runs behind a pointer, in the process that opened them. A clone, as a callback may release the last count meanwhile.
///
/// # Safety
/// `runs` is NULL, or runs that somebody holds a count of now.
pub(super) unsafe fn runs(runs: *const agenthost_runs) -> Done<Runs> {
    // SAFETY: by this function's own contract.
    let handle = unsafe { borrowed(runs) }?;
    if handle.process == fork::generation() { Ok(handle.runs.clone()) } else { Err(AGENTHOST_FORKED) }
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
    entry(|| {
        unexplained(why);
        // SAFETY: the caller keeps the header's rules.
        let options = unsafe { host_options(options) };
        // SAFETY: as above.
        let place = unsafe { Place::of(host) }?;
        // SAFETY: as above.
        let runs = unsafe { self::runs(runs) }?;
        let options = options.map_err(|(status, text)| {
            explain(why, &text);
            status
        })?;
        place.put(into_raw(runs.host(options)));
        Ok(())
    })
}
