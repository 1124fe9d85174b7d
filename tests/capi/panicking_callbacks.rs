//! Callbacks of a program in Rust that panic: each export gives its own status, the panic is logged where a log is left, and the host
//! and the runs go on.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use agenthost::capi::*;

use crate::support::{CREATE, alone, dispatch, end_panicking, host, host_with, take, text};

/// Counts the records of a log, all of which have to be of panics.
extern "C-unwind" fn count(data: *mut c_void, level: i32, message: agenthost_str, fields: agenthost_pairs) {
    assert_eq!(level, AGENTHOST_LOG_ERROR);
    // SAFETY: the text is borrowed for this call; the data is the test's counter.
    unsafe {
        let mut texts = vec![message];
        texts.extend((0..fields.count).map(|index| (*fields.items.add(index)).value));
        let texts = texts.into_iter().map(|text| std::slice::from_raw_parts(text.data.cast::<u8>(), text.len));
        let texts: Vec<_> = texts.map(String::from_utf8_lossy).collect();
        assert!(texts.iter().any(|text| text.contains("panicked")), "{texts:?}");
        (*data.cast::<AtomicUsize>()).fetch_add(1, Ordering::SeqCst);
    }
}

extern "C-unwind" fn done_panicking(data: *mut c_void, response: *mut agenthost_buffer) {
    take(response);
    // SAFETY: the data is the test's counter.
    unsafe { (*data.cast::<AtomicUsize>()).fetch_add(1, Ordering::SeqCst) };
    panic!("done");
}

extern "C-unwind" fn outcome_panicking(_: *mut c_void, outcome: *mut agenthost_outcome) {
    // SAFETY: the outcome is this callback's.
    unsafe { agenthost_outcome_free(outcome) };
    panic!("outcome");
}

extern "C-unwind" fn access_panicking(_: *mut c_void, _: *const agenthost_access_request) -> u32 {
    panic!("access");
}

extern "C-unwind" fn panicking(_: *mut c_void) {
    panic!("a callback without an answer");
}

extern "C-unwind" fn log_panicking(_: *mut c_void, _: i32, _: agenthost_str, _: agenthost_pairs) {
    panic!("the log");
}

#[test]
fn done_that_panics_is_logged_once_and_the_dispatch_is_ok() {
    let _alone = alone();
    let (logged, ran) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let host = host_with(|_| {}, Some(count), (&raw const logged).cast_mut().cast(), None);
    // A refusal needs no slot; it has no other record in the log.
    let message = text("no message");
    // SAFETY: the host is counted, and the counters outlive it.
    unsafe {
        let data = (&raw const ran).cast_mut().cast();
        for times in 1..=3 {
            assert_eq!(
                agenthost_dispatch_json_async(host, message, null(), Some(done_panicking), data, null_mut()),
                AGENTHOST_OK
            );
            assert_eq!((ran.load(Ordering::SeqCst), logged.load(Ordering::SeqCst)), (times, times));
        }
        assert_eq!(agenthost_host_close(host, 0), AGENTHOST_OK);
        agenthost_host_release(host);
    }
}

#[test]
fn notify_and_its_destroy_that_panic_are_logged_and_cancelling_is_ok() {
    let _alone = alone();
    static REPLY: AtomicPtr<agenthost_reply> = AtomicPtr::new(null_mut());
    let (logged, ran) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let defer = |reply| {
        let mut deferred = null_mut();
        // SAFETY: the slot's reply, while the slot runs.
        assert_eq!(unsafe { agenthost_reply_defer(reply, &raw mut deferred) }, AGENTHOST_OK);
        REPLY.store(deferred, Ordering::SeqCst);
    };
    let host = host_with(defer, Some(count), (&raw const logged).cast_mut().cast(), None);
    // SAFETY: every handle is used while it is alive, and freed once.
    unsafe {
        let data = (&raw const ran).cast_mut().cast();
        let mut pending = null_mut();
        let status = agenthost_dispatch_json_async(host, text(CREATE), null(), Some(done_panicking), data, &raw mut pending);
        assert_eq!(status, AGENTHOST_OK);
        let reply = REPLY.load(Ordering::SeqCst);
        let ask = || agenthost_reply_on_abandoned(reply, Some(panicking), null_mut(), Some(panicking));
        assert_eq!(ask(), AGENTHOST_OK);
        // A second one is refused: its data ends here, and nothing of the host's logs it.
        assert_eq!(ask(), AGENTHOST_ALREADY_DONE);
        assert_eq!(agenthost_reply_on_abandoned(reply, None, null_mut(), Some(panicking)), AGENTHOST_NULL_ARGUMENT);
        assert_eq!(logged.load(Ordering::SeqCst), 0);
        assert_eq!(agenthost_pending_cancel(pending), AGENTHOST_OK);
        // `notify`, and `done`.
        assert_eq!(logged.load(Ordering::SeqCst), 2);
        agenthost_pending_free(pending);
        agenthost_reply_free(reply);
        // And `destroy`, with the last who holds it.
        assert_eq!(logged.load(Ordering::SeqCst), 3);
        assert_eq!(agenthost_host_close(host, 0), AGENTHOST_OK);
        agenthost_host_release(host);
    }
}

#[test]
fn the_ends_of_a_service_and_its_log_that_panic_end_the_host() {
    let _alone = alone();
    let logged = AtomicUsize::new(0);
    let host = host_with(|_| {}, Some(count), (&raw const logged).cast_mut().cast(), Some(panicking));
    // SAFETY: the only count is given up.
    unsafe {
        assert_eq!(agenthost_host_close(host, 0), AGENTHOST_OK);
        agenthost_host_release(host);
    }
    // The service's end is `end_panicking`: the log was still there.
    assert_eq!(logged.load(Ordering::SeqCst), 1);
}

#[test]
fn a_host_that_cannot_be_made_says_so_whatever_panics() {
    let _alone = alone();
    let service = crate::support::service(|_| {}, Some(end_panicking));
    let mut options = crate::support::options(None, null_mut(), Some(panicking));
    options.require_principal = 2;
    let (mut host, mut why) = (null_mut(), null_mut());
    // SAFETY: the structs are whole, and the places are writable.
    let status = unsafe { agenthost_host_new(&raw const service, &raw const options, &raw mut host, &raw mut why) };
    assert_eq!((status, host.is_null()), (AGENTHOST_INVALID_ARGUMENT, true));
    assert!(take(why).contains("require_principal"));
}

#[test]
fn a_log_that_panics_changes_no_answer() {
    let _alone = alone();
    // The slot does not answer, which is logged.
    let host = host(|_| {}, Some(log_panicking));
    let (status, response) = dispatch(host, CREATE);
    assert_eq!(status, AGENTHOST_OK);
    assert!(response.contains("internal"), "{response}");
    // SAFETY: the only count is given up.
    unsafe { agenthost_host_release(host) };
}

#[test]
fn callbacks_of_runs_that_panic_reach_nobody() {
    let _alone = alone();
    let logged = AtomicUsize::new(0);
    let options = agenthost_runs_options {
        struct_size: size_of::<agenthost_runs_options>(),
        lease_ms: 0,
        max_attempts: 0,
        key_ttl_ms: 0,
        require_principal: 0,
        reserved: 0,
        sensitive_names: null(),
        sensitive_name_count: 0,
        log: Some(count),
        log_data: (&raw const logged).cast_mut().cast(),
        log_destroy: Some(panicking),
        access: Some(access_panicking),
        access_data: null_mut(),
        access_destroy: Some(panicking),
    };
    let (mut runs, mut host) = (null_mut(), null_mut());
    // SAFETY: every handle is used while it is alive, and freed once.
    unsafe {
        assert_eq!(agenthost_runs_open(text("memory:"), &raw const options, &raw mut runs, null_mut()), AGENTHOST_OK);
        assert_eq!(agenthost_runs_host(runs, null(), &raw mut host, null_mut()), AGENTHOST_OK);
        assert!(dispatch(host, CREATE).1.contains(r#""ok":true"#));
        // Whoever asks whether a run may be seen gets no run.
        let response = dispatch(host, crate::support::GET).1;
        assert!(response.contains(r#""ok":false"#), "{response}");
        for _ in 0..3 {
            assert_eq!(agenthost_runs_purge(runs, 0, Some(outcome_panicking), null_mut(), null_mut()), AGENTHOST_OK);
        }
        // What was refused before the runs were asked is an outcome like any other.
        for run_id in ["", "\u{7f}"] {
            let status = agenthost_runs_compact(runs, text(run_id), 1, Some(outcome_panicking), null_mut(), null_mut());
            assert_eq!(status, AGENTHOST_OK);
        }
        let not_utf8 = agenthost_str { data: c"\xff".as_ptr(), len: 1 };
        let status = agenthost_runs_compact(runs, not_utf8, 1, Some(outcome_panicking), null_mut(), null_mut());
        assert_eq!(status, AGENTHOST_OK);
        let mut outcome = null_mut();
        assert_eq!(agenthost_runs_purge(runs, 0, None, null_mut(), &raw mut outcome), AGENTHOST_OK);
        assert!(agenthost_outcome_error(outcome).is_null());
        agenthost_outcome_free(outcome);
        agenthost_host_release(host);
        assert_eq!(agenthost_runs_close(runs), AGENTHOST_OK);
        assert_eq!(logged.load(Ordering::SeqCst), 7);
        agenthost_runs_release(runs);
    }
}
