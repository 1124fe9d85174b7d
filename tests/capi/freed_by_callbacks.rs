//! What a callback lets go of may be the very handle that the export on its stack was called with.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use agenthost::capi::*;

use crate::support::{CREATE, GET, LIST, alone, dispatch, host, take, text};

/// What `done` is to let go of, and what it got.
struct Call {
    host: *mut agenthost_host,
    pending: *mut agenthost_pending,
    reply: *mut agenthost_reply,
    response: String,
}

impl Call {
    fn of(host: *mut agenthost_host) -> Call {
        Call { host, pending: null_mut(), reply: null_mut(), response: String::new() }
    }
}

extern "C-unwind" fn done(data: *mut c_void, response: *mut agenthost_buffer) {
    let call = data.cast::<Call>();
    // SAFETY: the test's call is on its stack, and only used through this pointer until `done` has run.
    unsafe {
        agenthost_pending_free((*call).pending);
        agenthost_reply_free((*call).reply);
        agenthost_host_release((*call).host);
        (*call).response = take(response);
    }
}

/// A host whose slots defer into `place`.
fn deferring(place: &'static AtomicPtr<agenthost_reply>) -> *mut agenthost_host {
    let defer = |reply| {
        let mut deferred = null_mut();
        // SAFETY: the slot's reply, while the slot runs.
        assert_eq!(unsafe { agenthost_reply_defer(reply, &raw mut deferred) }, AGENTHOST_OK);
        place.store(deferred, Ordering::SeqCst);
    };
    host(defer, None)
}

fn begin(message: &str, call: *mut Call) -> agenthost_status {
    // SAFETY: the call outlives `done`; the handle is written where `done` finds it.
    unsafe {
        agenthost_dispatch_json_async((*call).host, text(message), null(), Some(done), call.cast(), &raw mut (*call).pending)
    }
}

fn assert_got(call: &Call, code: &str) {
    assert!(call.response.contains(code), "{}", call.response);
}

#[test]
fn done_may_free_the_handle_that_it_is_cancelled_by() {
    let _alone = alone();
    static REPLY: AtomicPtr<agenthost_reply> = AtomicPtr::new(null_mut());
    let mut call = Call::of(deferring(&REPLY));
    let call = &raw mut call;
    assert_eq!(begin(CREATE, call), AGENTHOST_OK);
    // SAFETY: as above; the reply is freed by `done`.
    unsafe {
        (*call).reply = REPLY.load(Ordering::SeqCst);
        assert_eq!(agenthost_pending_cancel((*call).pending), AGENTHOST_OK);
        assert_got(&*call, r#""code":"unavailable""#);
    }
}

#[test]
fn done_may_free_the_reply_that_it_is_answered_by() {
    let _alone = alone();
    static REPLY: AtomicPtr<agenthost_reply> = AtomicPtr::new(null_mut());
    type Answer = unsafe fn(*mut agenthost_reply) -> agenthost_status;
    let error = agenthost_error {
        struct_size: size_of::<agenthost_error>(),
        code: AGENTHOST_CODE_NOT_FOUND,
        retryable: 0,
        message: text("none"),
        details: text(""),
        metadata: agenthost_pairs { items: null(), count: 0 },
        original_code: text(""),
    };
    static ERROR: AtomicPtr<agenthost_error> = AtomicPtr::new(null_mut());
    ERROR.store(Box::into_raw(Box::new(error)), Ordering::SeqCst);
    let answers: [(&str, Answer, agenthost_status, &str); 5] = [
        (GET, |reply| unsafe { agenthost_reply_error(reply, ERROR.load(Ordering::SeqCst)) }, AGENTHOST_OK, "not_found"),
        (CREATE, |reply| unsafe { agenthost_reply_json(reply, text("{}")) }, AGENTHOST_BAD_ANSWER, "internal"),
        (
            CREATE,
            |reply| unsafe { agenthost_reply_json(reply, text(r#"{"runId":"run-1","revision":1,"status":"created"}"#)) },
            AGENTHOST_OK,
            r#""ok":true"#,
        ),
        (LIST, |reply| unsafe { agenthost_reply_page(reply, 0, 0) }, AGENTHOST_OK, r#""ok":true"#),
        (LIST, |reply| unsafe { agenthost_reply_page(reply, 0, 2) }, AGENTHOST_BAD_ANSWER, "internal"),
    ];
    for (message, answer, status, part) in answers {
        let mut call = Call::of(deferring(&REPLY));
        let call = &raw mut call;
        assert_eq!(begin(message, call), AGENTHOST_OK);
        // SAFETY: as above; the reply is freed by `done`.
        unsafe {
            (*call).reply = REPLY.load(Ordering::SeqCst);
            assert_eq!(answer((*call).reply), status);
            assert_got(&*call, part);
        }
    }
    // SAFETY: it was boxed above.
    drop(unsafe { Box::from_raw(ERROR.load(Ordering::SeqCst)) });
}

#[test]
fn done_may_let_go_of_the_host_that_is_being_dispatched_to() {
    let _alone = alone();
    let answers = |reply| {
        let body = text(r#"{"runId":"run-1","revision":1,"status":"created"}"#);
        // SAFETY: the slot's reply, while the slot runs.
        unsafe { agenthost_reply_json(reply, body) };
    };
    for (message, part) in [("no message", "invalid_request"), (CREATE, r#""ok":true"#)] {
        let mut call = Call::of(host(answers, None));
        let call = &raw mut call;
        assert_eq!(begin(message, call), AGENTHOST_OK);
        // SAFETY: `done` has run.
        assert_got(unsafe { &*call }, part);
    }
}

#[test]
fn a_slot_may_let_go_of_the_host_that_it_serves() {
    let _alone = alone();
    static HOST: AtomicPtr<agenthost_host> = AtomicPtr::new(null_mut());
    // SAFETY: the one count is given up once.
    HOST.store(host(|_| unsafe { agenthost_host_release(HOST.load(Ordering::SeqCst)) }, None), Ordering::SeqCst);
    let (status, response) = dispatch(HOST.load(Ordering::SeqCst), CREATE);
    assert_eq!(status, AGENTHOST_OK);
    assert!(response.contains("internal"), "{response}");
}

#[test]
fn done_may_let_go_of_the_host_that_is_being_closed() {
    let _alone = alone();
    static REPLY: AtomicPtr<agenthost_reply> = AtomicPtr::new(null_mut());
    let mut call = Call::of(deferring(&REPLY));
    let call = &raw mut call;
    assert_eq!(begin(CREATE, call), AGENTHOST_OK);
    // SAFETY: as above; `done` gives up the only count and frees the reply.
    unsafe {
        (*call).reply = REPLY.load(Ordering::SeqCst);
        assert_eq!(agenthost_host_close((*call).host, 0), AGENTHOST_OK);
        assert_got(&*call, "unavailable");
    }
}

#[test]
fn notify_may_free_the_reply_that_it_is_asked_for_by() {
    let _alone = alone();
    static REPLY: AtomicPtr<agenthost_reply> = AtomicPtr::new(null_mut());
    extern "C-unwind" fn notify(_: *mut c_void) {
        // SAFETY: the reply is this test's, and freed once.
        unsafe { agenthost_reply_free(REPLY.load(Ordering::SeqCst)) };
    }
    let mut call = Call::of(deferring(&REPLY));
    let call = &raw mut call;
    assert_eq!(begin(CREATE, call), AGENTHOST_OK);
    // SAFETY: as above; `done` has run when cancelling returns, `notify` frees the reply.
    unsafe {
        assert_eq!(agenthost_pending_cancel((*call).pending), AGENTHOST_OK);
        assert_eq!(agenthost_reply_on_abandoned(REPLY.load(Ordering::SeqCst), Some(notify), null_mut(), None), AGENTHOST_OK);
    }
}

/// `destroy` of a notification that comes too late.
#[test]
fn destroy_may_free_the_reply_that_it_could_not_be_kept_with() {
    let _alone = alone();
    static REPLY: AtomicPtr<agenthost_reply> = AtomicPtr::new(null_mut());
    extern "C-unwind" fn notify(_: *mut c_void) {
        panic!("the call is answered");
    }
    extern "C-unwind" fn destroy(_: *mut c_void) {
        // SAFETY: the reply is this test's, and freed once.
        unsafe { agenthost_reply_free(REPLY.load(Ordering::SeqCst)) };
    }
    let mut call = Call::of(deferring(&REPLY));
    let call = &raw mut call;
    assert_eq!(begin(LIST, call), AGENTHOST_OK);
    let reply = REPLY.load(Ordering::SeqCst);
    // SAFETY: as above; `destroy` frees the reply.
    unsafe {
        assert_eq!(agenthost_reply_page(reply, 0, 0), AGENTHOST_OK);
        assert_eq!(agenthost_reply_on_abandoned(reply, Some(notify), null_mut(), Some(destroy)), AGENTHOST_ALREADY_DONE);
    }
}

#[test]
fn a_log_hook_may_answer_through_the_reply_whose_answer_it_is_told_of() {
    let _alone = alone();
    static REPLY: AtomicPtr<agenthost_reply> = AtomicPtr::new(null_mut());
    extern "C-unwind" fn log(_: *mut c_void, _: i32, _: agenthost_str, _: agenthost_pairs) {
        // SAFETY: the slot's reply, on its thread, while the slot runs.
        let status = unsafe { agenthost_reply_json(REPLY.load(Ordering::SeqCst), text("{}")) };
        assert_eq!(status, AGENTHOST_ALREADY_DONE);
    }
    let breaks = |reply| {
        REPLY.store(reply, Ordering::SeqCst);
        // SAFETY: as above.
        assert_eq!(unsafe { agenthost_reply_json(reply, text("{}")) }, AGENTHOST_BAD_ANSWER);
    };
    let host = host(breaks, Some(log));
    assert!(dispatch(host, CREATE).1.contains("internal"));
    // SAFETY: the only count is given up.
    unsafe { agenthost_host_release(host) };
}

#[test]
fn a_slot_may_look_at_the_place_of_the_response() {
    let _alone = alone();
    static PLACE: AtomicPtr<*mut agenthost_buffer> = AtomicPtr::new(null_mut());
    // SAFETY: the place is the test's, and nobody else's thread uses it.
    let looks = |_| assert!(unsafe { (*PLACE.load(Ordering::SeqCst)).is_null() });
    let host = host(looks, None);
    let mut response = host.cast();
    PLACE.store(&raw mut response, Ordering::SeqCst);
    // SAFETY: as above; the only count is given up.
    unsafe {
        assert_eq!(agenthost_dispatch_json(host, text(CREATE), PLACE.load(Ordering::SeqCst)), AGENTHOST_OK);
        assert!(take(*PLACE.load(Ordering::SeqCst)).contains("internal"));
        agenthost_host_release(host);
    }
}

/// An outcome's `done` that lets go of the only count of the runs.
extern "C-unwind" fn release_runs(data: *mut c_void, outcome: *mut agenthost_outcome) {
    // SAFETY: the test gives the only count to this callback.
    unsafe {
        agenthost_outcome_free(outcome);
        agenthost_runs_release(data.cast());
    }
}

fn open_runs() -> *mut agenthost_runs {
    let mut runs = null_mut();
    // SAFETY: the place is writable.
    assert_eq!(unsafe { agenthost_runs_open(text("memory:"), null(), &raw mut runs, null_mut()) }, AGENTHOST_OK);
    runs
}

#[test]
fn done_may_let_go_of_the_runs_that_are_called() {
    let _alone = alone();
    let runs = open_runs();
    // SAFETY: `done` gives up the only count.
    let status = unsafe { agenthost_runs_purge(runs, 0, Some(release_runs), runs.cast(), null_mut()) };
    assert_eq!(status, AGENTHOST_OK);
    let runs = open_runs();
    // SAFETY: as above.
    let status = unsafe { agenthost_runs_compact(runs, text("none"), 1, Some(release_runs), runs.cast(), null_mut()) };
    assert_eq!(status, AGENTHOST_OK);
}

#[test]
fn done_may_let_go_of_the_runs_that_are_being_closed() {
    let _alone = alone();
    let runs = open_runs();
    let agent = text("agent");
    // SAFETY: `done` gives up the only count, at the latest when the runs are closed.
    unsafe {
        let status =
            agenthost_runs_wait_for_work(runs, &raw const agent, 1, 3_600_000, Some(release_runs), runs.cast(), null_mut());
        assert_eq!(status, AGENTHOST_OK);
        assert_eq!(agenthost_runs_close(runs), AGENTHOST_OK);
    }
}
