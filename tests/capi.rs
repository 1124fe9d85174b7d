//! What only Rust can do behind the C interface: a service that panics.
#![allow(unsafe_code, reason = "the exports are called as C calls them")]

use std::panic::panic_any;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agenthost::capi::*;
use agenthost::host::{DeferringService, Host, HostOptions, Reply};
use agenthost::service::{Call, Request};

const CREATE: &str = r#"{"protocolVersion":"2026-07-01","requestId":"r","idempotencyKey":"k","operation":"create_run","body":{"context":{"runId":"run-1"}}}"#;

/// Panics in its slot, before or after it has deferred, and when it is destroyed.
struct Panics {
    defers: bool,
    destroyed: Arc<AtomicUsize>,
}

impl DeferringService for Panics {
    fn serve(&self, _: &Call<'_>, _: Request<'_>, reply: &mut Reply<'_>) {
        let _deferred = self.defers.then(|| reply.defer());
        panic_any("a secret cause".to_owned());
    }

    fn destroy(&self) {
        self.destroyed.fetch_add(1, Ordering::SeqCst);
        panic!("destroyed badly");
    }
}

/// One dispatch over C.
fn dispatch(host: *mut agenthost_host) -> (agenthost_status, String) {
    let message = agenthost_str { data: CREATE.as_ptr().cast(), len: CREATE.len() };
    let mut response = null_mut();
    // SAFETY: the host is counted, the message is readable, the place is writable, and the buffer is freed once.
    unsafe {
        let status = agenthost_dispatch_json(host, message, &raw mut response);
        let bytes = std::slice::from_raw_parts(agenthost_buffer_data(response).cast::<u8>(), agenthost_buffer_len(response));
        let text = String::from_utf8_lossy(bytes).into_owned();
        agenthost_buffer_free(response);
        (status, text)
    }
}

#[test]
fn a_panic_in_a_rust_service_is_internal_and_nothing_of_it_crosses_to_c() {
    std::panic::set_hook(Box::new(|_| {}));
    for defers in [false, true] {
        let destroyed = Arc::new(AtomicUsize::new(0));
        let service = Panics { defers, destroyed: destroyed.clone() };
        let host = into_raw(Host::deferring(Box::new(service), HostOptions::default()));
        for _ in 0..3 {
            let (status, response) = dispatch(host);
            assert_eq!(status, AGENTHOST_OK);
            assert!(response.contains(r#""code":"internal""#), "{response}");
            assert!(!response.contains("secret"), "{response}");
        }
        // SAFETY: the last count is given up.
        unsafe { agenthost_host_release(host) };
        assert_eq!(destroyed.load(Ordering::SeqCst), 1);
    }
    for kind in AGENTHOST_LIVE_HOSTS..=AGENTHOST_LIVE_RESPONSES {
        assert_eq!(agenthost_live(kind), 0, "kind {kind}");
    }
}
