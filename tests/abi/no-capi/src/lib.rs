//! Uses the crate, so that its code is linked.

use agenthost::dispatch::Dispatcher;

/// The number of bytes that the dispatcher answers to a message that is none.
#[unsafe(no_mangle)]
pub extern "C" fn no_capi_probe() -> usize {
    match Dispatcher::default().decode(b"{", None) {
        agenthost::dispatch::Decoded::Refused(response) => response.len(),
        agenthost::dispatch::Decoded::Call(_) => 0,
    }
}
