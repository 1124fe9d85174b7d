//! Hosts: made, counted, closed.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use super::entry::{Done, Place, borrowed, entry, quietly};
use super::from_c::{self, Unread};
use super::live::{AGENTHOST_LIVE_HOSTS, Live};
use super::requests::sized;
use super::service::{Slots, agenthost_destroy, agenthost_service, destroy};
use super::sized::{self as grown, Sized};
use super::status::{
    AGENTHOST_FORKED, AGENTHOST_INVALID_ARGUMENT, AGENTHOST_NULL_ARGUMENT, AGENTHOST_TIMED_OUT, AGENTHOST_WOULD_DEADLOCK,
    agenthost_status,
};
use super::text::{agenthost_buffer, agenthost_pair, agenthost_pairs, agenthost_str};
use super::to_c;
use crate::dispatch::{DEFAULT_MAX_MESSAGE_BYTES, Dispatcher};
use crate::host::{CloseError, Host, HostOptions, HostedService, LogHook, LogLevel};
use crate::protocol::{Path, SensitiveNames, Violation};

/// A host. Counted: `agenthost_host_retain`, `agenthost_host_release`. Any number of threads may use it at once, each as long
/// as it, or somebody for it, holds a count.
pub struct agenthost_host {
    host: Host,
    _live: Live<AGENTHOST_LIVE_HOSTS>,
}

impl agenthost_host {
    pub(super) fn host(&self) -> &Host {
        &self.host
    }
}

/// Log level: a service failed or broke a rule of the contract, and a caller got `internal`.
pub const AGENTHOST_LOG_ERROR: i32 = 1;
/// Log level: something that should not happen, and did no harm.
pub const AGENTHOST_LOG_WARN: i32 = 2;
/// Log level: the life of the host.
pub const AGENTHOST_LOG_INFO: i32 = 3;
/// Log level: for whoever looks for a fault.
pub const AGENTHOST_LOG_DEBUG: i32 = 4;

/// A log hook: level (`AGENTHOST_LOG_...`), message and fields, borrowed for the call. Runs on any thread that has something
/// to say, with no lock of the library held. It is told names of members and causes of failures, never the values of requests
/// and answers.
pub type agenthost_log =
    Option<unsafe extern "C-unwind" fn(data: *mut c_void, level: i32, message: agenthost_str, fields: agenthost_pairs)>;

/// What a host can be told when it is made. Zeros are the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_host_options {
    /// `sizeof(agenthost_host_options)`.
    pub struct_size: usize,
    /// The most bytes of a message and of a response; exactly as many are allowed. 0: 16 MiB. (A refusal that would be larger
    /// is written all the same: it has at most 16 KiB.)
    pub max_message_bytes: u64,
    /// How long synchronous dispatch waits for a deferred answer, in milliseconds. 0: for ever.
    pub default_timeout_ms: u64,
    /// Names that are sensitive beside the built-in ones, compared like them. Copied. May be NULL when there are none.
    pub sensitive_names: *const agenthost_str,
    /// The number of `sensitive_names`.
    pub sensitive_name_count: usize,
    /// NULL: nothing is logged.
    pub log: agenthost_log,
    /// Given to `log`.
    pub log_data: *mut c_void,
    /// Lets go of `log_data`: once, when the host is closed, or its last count is released, or its making failed.
    pub log_destroy: agenthost_destroy,
    /// 1: a dispatch without a principal answers `unauthorized`.
    pub require_principal: u32,
    /// 0.
    pub reserved: u32,
}

sized!(agenthost_host_options);

/// The log hook of C, whose data ends with it.
pub(super) struct Log {
    log: agenthost_log,
    data: *mut c_void,
    destroy: agenthost_destroy,
}

// SAFETY: the header says that the hook runs on any thread, any number at once.
unsafe impl Send for Log {}
// SAFETY: as above.
unsafe impl Sync for Log {}

impl Log {
    /// None when there is nothing to call and nothing to end.
    pub(super) fn of(log: agenthost_log, data: *mut c_void, destroy: agenthost_destroy) -> Option<Log> {
        (log.is_some() || destroy.is_some()).then_some(Log { log, data, destroy })
    }

    pub(super) fn write(&self, level: LogLevel, message: &str, fields: &[(&str, &str)]) {
        let Some(log) = self.log else { return };
        let level = match level {
            LogLevel::Error => AGENTHOST_LOG_ERROR,
            LogLevel::Warn => AGENTHOST_LOG_WARN,
            LogLevel::Info => AGENTHOST_LOG_INFO,
            LogLevel::Debug => AGENTHOST_LOG_DEBUG,
        };
        let pairs: Vec<_> =
            fields.iter().map(|(key, value)| agenthost_pair { key: to_c::text(key), value: to_c::text(value) }).collect();
        let fields = agenthost_pairs { items: pairs.as_ptr(), count: pairs.len() };
        // SAFETY: the data lives until this struct ends, what is handed out until the hook returns.
        unsafe { log(self.data, level, to_c::text(message), fields) };
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // SAFETY: the host lets go of its hook once, when it does not run and will not run.
        unsafe { destroy(self.destroy, self.data) };
    }
}

/// Writes why a function failed to the place that its caller gave for it.
pub(super) fn explain(why: *mut *mut agenthost_buffer, text: &str) {
    if !why.is_null() {
        // SAFETY: the header says that `why` is NULL or writable.
        unsafe { *why = agenthost_buffer::make(text.as_bytes().to_vec()) };
    }
}

/// Sets the place for a reason to NULL: only a failure writes one.
pub(super) fn unexplained(why: *mut *mut agenthost_buffer) {
    if !why.is_null() {
        // SAFETY: the header says that `why` is NULL or writable.
        unsafe { *why = std::ptr::null_mut() };
    }
}

/// What was read, or why it could not be: a status and a text for `why`.
pub(super) type Explained<T> = Result<T, (agenthost_status, String)>;

/// What is wrong with a struct that grew beyond this library.
pub(super) const UNKNOWN_TAIL: &str = "struct_size: expected zeros behind what this library knows";

/// Why something could not be read, as a status and a text.
pub(super) fn reason(unread: Unread) -> (agenthost_status, String) {
    match unread {
        Unread::Broken(violation) => (AGENTHOST_INVALID_ARGUMENT, violation.to_string()),
        Unread::Misuse(AGENTHOST_NULL_ARGUMENT) => (AGENTHOST_NULL_ARGUMENT, "a required pointer is NULL".into()),
        Unread::Misuse(status) => (status, "a struct_size is too small, or an unknown tail is not 0".into()),
    }
}

/// Makes a host. `options` may be NULL: every default.
///
/// Takes `service->user_data` and `options->log_data` over whatever it returns: on failure both destroys have run before it
/// returns. (Except of a struct that is NULL or whose `struct_size` is below the first release's: there is nothing to read.) `why` may be NULL; on failure it gets a text that says which member, and what was
/// expected. `*host` is yours: one count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_host_new(
    service: *const agenthost_service,
    options: *const agenthost_host_options,
    host: *mut *mut agenthost_host,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    entry(|| {
        unexplained(why);
        let fail = |(status, text): (agenthost_status, String)| {
            explain(why, &text);
            Err(status)
        };
        // What can be read is taken over first, so that it is ended whatever comes.
        // SAFETY: the caller keeps the header's rules.
        let (taken, options) = unsafe { (take(service), host_options(options)) };
        let service = Service::of(&taken);
        // SAFETY: as above.
        let Ok(place) = (unsafe { Place::of(host) }) else {
            return fail((AGENTHOST_NULL_ARGUMENT, "host: expected a place for the host, found NULL".into()));
        };
        let slots = match taken {
            Taken::Nothing(status) => return fail((status, "service: expected a struct with its size in struct_size".into())),
            Taken::All(_, Some(status)) => return fail((status, format!("service.{UNKNOWN_TAIL}"))),
            Taken::All(slots, None) => slots,
        };
        if let Some(slot) = slots.missing_slot() {
            let text = format!("service.{slot}: expected a function, found NULL: all six slots are required");
            return fail((AGENTHOST_NULL_ARGUMENT, text));
        }
        let options = match options {
            Ok(options) => options,
            Err(trouble) => return fail(trouble),
        };
        place.put(into_raw(Host::deferring(Box::new(service.keep(slots)), options)));
        Ok(())
    })
}

/// The service's data until a host has it: whatever comes in between ends it.
struct Service {
    destroy: agenthost_destroy,
    data: *mut c_void,
}

impl Service {
    fn of(taken: &Taken<agenthost_service>) -> Service {
        match taken {
            Taken::All(service, _) => Service { destroy: service.destroy, data: service.user_data },
            Taken::Nothing(_) => Service { destroy: None, data: std::ptr::null_mut() },
        }
    }

    /// The host's from now on.
    fn keep(mut self, service: agenthost_service) -> Slots {
        self.destroy = None;
        Slots(service)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // SAFETY: it was taken over, and no slot will use it.
        unsafe { destroy(self.destroy, self.data) };
    }
}

/// A struct that is taken over as far as it can be read, so that what it owns is ended whatever comes.
pub(super) enum Taken<T> {
    Nothing(agenthost_status),
    All(T, Option<agenthost_status>),
}

/// # Safety
/// As [`grown::read`].
pub(super) unsafe fn take<T: Sized>(pointer: *const T) -> Taken<T> {
    // SAFETY: by this function's own contract.
    match unsafe { grown::read(pointer) } {
        Ok(value) => Taken::All(value, None),
        Err(status) if pointer.is_null() => Taken::Nothing(status),
        Err(status) => {
            // SAFETY: by this function's own contract the size may be read.
            let size = unsafe { pointer.cast::<usize>().read() };
            if size < T::FIRST_SIZE {
                return Taken::Nothing(status);
            }
            // SAFETY: at least the first release's struct may be read, which is all that this library knows.
            Taken::All(unsafe { pointer.read() }, Some(status))
        }
    }
}

/// A host's options; NULL: every default. Their log hook is taken over whatever comes of it.
///
/// # Safety
/// As [`grown::read`] and [`names`].
pub(super) unsafe fn host_options(options: *const agenthost_host_options) -> Explained<HostOptions> {
    if options.is_null() {
        return Ok(HostOptions::default());
    }
    // SAFETY: by this function's own contract.
    let (options, trouble) = match unsafe { take(options) } {
        Taken::Nothing(status) => {
            return Err((status, "options: expected NULL or a struct with its size in struct_size".into()));
        }
        Taken::All(options, trouble) => (options, trouble),
    };
    let log = Log::of(options.log, options.log_data, options.log_destroy);
    if let Some(status) = trouble {
        return Err((status, format!("options.{UNKNOWN_TAIL}")));
    }
    let max_message_bytes = match options.max_message_bytes {
        0 => DEFAULT_MAX_MESSAGE_BYTES,
        most => usize::try_from(most).unwrap_or(usize::MAX),
    };
    let path = Path::ROOT.member("options");
    let require_principal = from_c::flag(options.require_principal, path.member("require_principal")).map_err(reason)?;
    if options.reserved != 0 {
        return Err(reason(Violation::new(path.member("reserved"), "expected 0").into()));
    }
    let path = path.member("sensitive_names");
    // SAFETY: by this function's own contract.
    let sensitive_names = unsafe { names(options.sensitive_names, options.sensitive_name_count, path) }.map_err(reason)?;
    let log = log
        .map(|log| Box::new(move |level, message: &str, fields: &[(&str, &str)]| log.write(level, message, fields)) as LogHook);
    let dispatcher = Dispatcher { max_message_bytes, sensitive_names, require_principal };
    Ok(HostOptions { dispatcher, default_timeout: milliseconds(options.default_timeout_ms), log })
}

/// # Safety
/// `sensitive_names` leads to `count` texts.
pub(super) unsafe fn names(
    sensitive_names: *const agenthost_str,
    count: usize,
    path: Path<'_>,
) -> Result<SensitiveNames, Unread> {
    if count == 0 {
        return Ok(SensitiveNames::built_in());
    }
    if sensitive_names.is_null() {
        return Err(AGENTHOST_NULL_ARGUMENT.into());
    }
    // SAFETY: by this function's own contract.
    let texts = unsafe { std::slice::from_raw_parts(sensitive_names, count) };
    let mut names = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        // SAFETY: as above.
        names.push(unsafe { from_c::text(*text, path.element(index)) }?);
    }
    SensitiveNames::with(names).map_err(|error| Violation::new(path, error.to_string()).into())
}

/// Milliseconds as C says them; 0 is none.
pub(super) fn milliseconds(milliseconds: u64) -> Option<Duration> {
    (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
}

/// A host made in Rust as a handle for C: one count, for its owner to release.
pub fn into_raw(host: Host) -> *mut agenthost_host {
    Arc::into_raw(Arc::new(agenthost_host { host, _live: Live::new() })).cast_mut()
}

/// What the host behind a pointer shares with its calls. Callbacks may run while it is held: one of them may release the last count.
///
/// # Safety
/// `host` is NULL, or a host that somebody holds a count of now.
pub(super) unsafe fn host(host: *const agenthost_host) -> Done<Arc<HostedService>> {
    // SAFETY: by this function's own contract.
    Ok(unsafe { borrowed(host) }?.host.hosted())
}

/// Takes another count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_host_retain(host: *mut agenthost_host) -> agenthost_status {
    entry(|| {
        // SAFETY: the caller holds a count.
        if unsafe { borrowed(host.cast_const()) }?.host.is_forked() {
            return Err(AGENTHOST_FORKED);
        }
        // SAFETY: `into_raw` has made the pointer, and it is alive.
        unsafe { Arc::increment_strong_count(host.cast_const()) };
        Ok(())
    })
}

/// Refuses new calls (they answer `unavailable`), waits up to `timeout_ms` for those in flight, then answers every deferred
/// one `unavailable`. 0 does not wait; UINT64_MAX waits for ever.
/// - `AGENTHOST_OK`: no slot, `done`, `notify` or log callback runs or will run, and `destroy` has returned. Closing again is OK.
///   Two may still come, as they are asked for when the host is closing already: the `done` of an asynchronous dispatch that begins
///   then, and the `notify` that `agenthost_reply_on_abandoned` is given then; each runs before the function returns that asks for it.
/// - `AGENTHOST_TIMED_OUT`: a callback is still on some thread's stack; nothing was destroyed; call again.
/// - `AGENTHOST_WOULD_DEADLOCK`: called from a callback of this host; the host is now closing.
/// - `AGENTHOST_FORKED`: nothing happened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_host_close(host: *mut agenthost_host, timeout_ms: u64) -> agenthost_status {
    entry(|| {
        let timeout = (timeout_ms != u64::MAX).then(|| Duration::from_millis(timeout_ms));
        // SAFETY: the caller holds a count.
        match unsafe { self::host(host) }?.close(timeout) {
            Ok(()) => Ok(()),
            Err(CloseError::TimedOut) => Err(AGENTHOST_TIMED_OUT),
            Err(CloseError::WouldDeadlock) => Err(AGENTHOST_WOULD_DEADLOCK),
            Err(CloseError::Forked) => Err(AGENTHOST_FORKED),
        }
    })
}

/// Gives a count up. The last release closes with timeout 0, then waits for callbacks that are on other threads' stacks. `destroy` runs
/// on the thread that closes or releases, never on a thread of the service, so it may join them. (A last release from inside a
/// callback of this host does not wait: `destroy` then runs where the last callback returns.) In a forked child it only
/// forgets. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_host_release(host: *mut agenthost_host) {
    if !host.is_null() {
        // SAFETY: the caller gives up a count of what `into_raw` has made.
        quietly(|| unsafe { Arc::decrement_strong_count(host.cast_const()) });
    }
}
