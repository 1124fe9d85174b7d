//! A service as C plugs it in, whose slots do what each test says.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agenthost::capi::*;

pub(crate) const CREATE: &str = r#"{"protocolVersion":"2026-07-01","requestId":"r","idempotencyKey":"k","operation":"create_run","body":{"context":{"runId":"run-1"}}}"#;
pub(crate) const GET: &str = r#"{"protocolVersion":"2026-07-01","requestId":"r","operation":"get_run","body":{"runId":"run-1"}}"#;
pub(crate) const LIST: &str =
    r#"{"protocolVersion":"2026-07-01","requestId":"r","operation":"list_events","body":{"runId":"run-1"}}"#;

pub(crate) fn text(text: &str) -> agenthost_str {
    agenthost_str { data: text.as_ptr().cast(), len: text.len() }
}

/// One test at a time, as all of them share the counts of handles: when it ends there are none.
pub(crate) struct Alone(#[allow(dead_code, reason = "held until the test ends")] MutexGuard<'static, ()>);

pub(crate) fn alone() -> Alone {
    static ONE: Mutex<()> = Mutex::new(());
    Alone(ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Drop for Alone {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            for kind in AGENTHOST_LIVE_HOSTS..=AGENTHOST_LIVE_OUTCOMES {
                assert_eq!(agenthost_live(kind), 0, "handles left, of kind {kind}");
            }
        }
    }
}

/// What a slot does, whichever operation it is for.
pub(crate) type Serve = Box<dyn Fn(*mut agenthost_reply) + Send + Sync>;

extern "C-unwind" fn slot<T>(data: *mut c_void, _: *const agenthost_call, _: *const T, reply: *mut agenthost_reply) {
    // SAFETY: the data is the box that `host` has leaked to its service, until `end` takes it back.
    (unsafe { &*data.cast::<Serve>() })(reply);
}

extern "C-unwind" fn end(data: *mut c_void) {
    // SAFETY: the host lets go of its service once, when no slot runs.
    drop(unsafe { Box::from_raw(data.cast::<Serve>()) });
}

/// Like `end`, and panics.
pub(crate) extern "C-unwind" fn end_panicking(data: *mut c_void) {
    end(data);
    panic!("the service's end");
}

/// Such a service.
pub(crate) fn service(
    serve: impl Fn(*mut agenthost_reply) + Send + Sync + 'static,
    destroy: agenthost_destroy,
) -> agenthost_service {
    let serve: Serve = Box::new(serve);
    agenthost_service {
        struct_size: size_of::<agenthost_service>(),
        user_data: Box::into_raw(Box::new(serve)).cast(),
        destroy,
        create_run: Some(slot),
        get_run: Some(slot),
        cancel_run: Some(slot),
        resolve_approval: Some(slot),
        resume_run: Some(slot),
        list_events: Some(slot),
    }
}

pub(crate) fn options(log: agenthost_log, log_data: *mut c_void, log_destroy: agenthost_destroy) -> agenthost_host_options {
    agenthost_host_options {
        struct_size: size_of::<agenthost_host_options>(),
        max_message_bytes: 0,
        default_timeout_ms: 0,
        sensitive_names: null(),
        sensitive_name_count: 0,
        log,
        log_data,
        log_destroy,
        require_principal: 0,
        reserved: 0,
    }
}

fn new_host(service: agenthost_service, options: agenthost_host_options) -> *mut agenthost_host {
    let mut host = null_mut();
    // SAFETY: the structs are whole, and the place is writable.
    assert_eq!(unsafe { agenthost_host_new(&raw const service, &raw const options, &raw mut host, null_mut()) }, AGENTHOST_OK);
    host
}

/// A host of such a service; one count.
pub(crate) fn host(serve: impl Fn(*mut agenthost_reply) + Send + Sync + 'static, log: agenthost_log) -> *mut agenthost_host {
    new_host(service(serve, Some(end)), options(log, null_mut(), None))
}

/// The same with all of a log hook; the service's end panics.
pub(crate) fn host_with(
    serve: impl Fn(*mut agenthost_reply) + Send + Sync + 'static,
    log: agenthost_log,
    log_data: *mut c_void,
    log_destroy: agenthost_destroy,
) -> *mut agenthost_host {
    new_host(service(serve, Some(end_panicking)), options(log, log_data, log_destroy))
}

/// A buffer's text; frees it.
pub(crate) fn take(buffer: *mut agenthost_buffer) -> String {
    // SAFETY: the buffer is the caller's, and freed once.
    unsafe {
        let bytes = std::slice::from_raw_parts(agenthost_buffer_data(buffer).cast::<u8>(), agenthost_buffer_len(buffer));
        let text = String::from_utf8_lossy(bytes).into_owned();
        agenthost_buffer_free(buffer);
        text
    }
}

/// One dispatch over C.
pub(crate) fn dispatch(host: *mut agenthost_host, message: &str) -> (agenthost_status, String) {
    let mut response = null_mut();
    // SAFETY: the host is counted, the message is readable, and the place is writable.
    let status = unsafe { agenthost_dispatch_json(host, text(message), &raw mut response) };
    (status, take(response))
}
