//! A service in Rust that panics behind the C interface.

use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agenthost::capi::*;
use agenthost::host::{DeferringService, Host, HostOptions, Reply};
use agenthost::service::{Call, Request};

use crate::support::{CREATE, alone, dispatch};

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

#[test]
fn a_panic_in_a_rust_service_is_internal_and_nothing_of_it_crosses_to_c() {
    let _alone = alone();
    for defers in [false, true] {
        let destroyed = Arc::new(AtomicUsize::new(0));
        let service = Panics { defers, destroyed: destroyed.clone() };
        let host = into_raw(Host::deferring(Box::new(service), HostOptions::default()));
        for _ in 0..3 {
            let (status, response) = dispatch(host, CREATE);
            assert_eq!(status, AGENTHOST_OK);
            assert!(response.contains(r#""code":"internal""#), "{response}");
            assert!(!response.contains("secret"), "{response}");
        }
        // SAFETY: the last count is given up.
        unsafe { agenthost_host_release(host) };
        assert_eq!(destroyed.load(Ordering::SeqCst), 1);
    }
}
