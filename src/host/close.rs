//! Closing a host: refuse, wait, give up, destroy.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::inner::HostInner;

/// Why a host is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseError {
    /// A callback is still on some thread's stack. Nothing was destroyed; the host is closing: close it again.
    #[error("a callback of the host is still running: close it again")]
    TimedOut,
    /// Called from a callback of the same host: it could only wait for itself. The host is closing now.
    #[error("called from a callback of the same host: it could only wait for itself")]
    WouldDeadlock,
    /// This process is a fork of the one that made the host.
    #[error("this process is a fork of the one that made the host")]
    Forked,
}

/// Refuses new calls, and waits for those in flight, without a `timeout` for as long as it takes. True when there is none left.
pub(super) fn drain(inner: &HostInner, timeout: Option<Duration>) -> Result<bool, CloseError> {
    if inner.is_forked() {
        return Err(CloseError::Forked);
    }
    inner.activity.begin_closing();
    if inner.activity.is_on_this_thread() {
        return Err(CloseError::WouldDeadlock);
    }
    Ok(inner.activity.wait_idle(deadline_of(timeout), || inner.is_idle()))
}

/// Drains, answers what is left, and destroys when no callback runs any more, all within `timeout`.
pub(super) fn close(inner: &Arc<HostInner>, timeout: Option<Duration>) -> Result<(), CloseError> {
    let deadline = deadline_of(timeout);
    drain(inner, timeout)?;
    inner.abandon_calls();
    match inner.activity.destroy(deadline, || inner.is_idle(), || inner.destroy()) {
        true => Ok(()),
        false => Err(CloseError::TimedOut),
    }
}

/// The last handle is gone: closes without waiting for what is in flight. Inside of a callback of the host the last callback
/// destroys.
pub(super) fn close_for_good(inner: &Arc<HostInner>) {
    if inner.is_forked() {
        return;
    }
    inner.activity.begin_closing();
    inner.abandon_calls();
    if inner.activity.is_on_this_thread() {
        inner.activity.orphan();
    } else {
        inner.activity.destroy(None, || inner.is_idle(), || inner.destroy());
    }
}

/// When a wait ends; never, when there is no such time.
fn deadline_of(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|timeout| Instant::now().checked_add(timeout))
}
