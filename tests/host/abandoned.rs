//! The hook of a deferred reply: at most once, and dropped when it cannot run any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agenthost::host::{AbandonedHook, AnswerError};

use crate::stage::{Stage, arrived, dispatch, well};

/// A hook, how often it ran, and whether it still exists.
fn hook() -> (AbandonedHook, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let inside = count.clone();
    let hook = move || {
        inside.fetch_add(1, Ordering::SeqCst);
    };
    (Arc::new(hook), count)
}

fn runs(count: &Arc<AtomicUsize>) -> usize {
    count.load(Ordering::SeqCst)
}

/// The hook holds the other count.
fn is_dropped(count: &Arc<AtomicUsize>) -> bool {
    Arc::strong_count(count) == 1
}

#[test]
fn registered_before_and_after_the_call_is_abandoned() {
    for before in [true, false] {
        let stage = Stage::default();
        let host = stage.deferring();
        let (response, pending) = dispatch(&host);
        let mut reply = stage.take();
        let (hook, count) = hook();
        if before {
            reply.on_abandoned(hook).unwrap();
            assert_eq!(runs(&count), 0);
            assert_eq!(pending.cancel(), Ok(true));
        } else {
            assert_eq!(pending.cancel(), Ok(true));
            reply.on_abandoned(hook).unwrap();
        }
        assert_eq!((runs(&count), is_dropped(&count)), (1, false));
        drop(reply);
        assert_eq!((runs(&count), is_dropped(&count)), (1, true));
        assert_eq!(arrived(&response), "unavailable/cancelled");
    }
}

#[test]
fn an_answer_or_a_drop_ends_it_unrun() {
    let stage = Stage::default();
    let host = stage.deferring();
    let (response, pending) = dispatch(&host);
    let mut reply = stage.take();
    let (first, count) = hook();
    reply.on_abandoned(first).unwrap();
    reply.answer(&well()).unwrap();
    assert_eq!(pending.cancel(), Ok(false));
    let (second, late) = hook();
    assert_eq!(reply.on_abandoned(second), Err(AnswerError::AlreadyDone));
    assert!(is_dropped(&late));
    drop(reply);
    assert_eq!((runs(&count), is_dropped(&count)), (0, true));
    assert_eq!(arrived(&response), "ok");

    let (response, _) = dispatch(&host);
    let mut reply = stage.take();
    reply.answer(&well()).unwrap();
    let (late, count) = hook();
    assert_eq!(reply.on_abandoned(late), Err(AnswerError::AlreadyDone));
    assert_eq!((runs(&count), is_dropped(&count)), (0, true));
    assert_eq!(arrived(&response), "ok");

    let (response, _) = dispatch(&host);
    let mut reply = stage.take();
    let (third, count) = hook();
    reply.on_abandoned(third).unwrap();
    drop(reply);
    assert_eq!((runs(&count), is_dropped(&count)), (0, true));
    assert_eq!(arrived(&response), "unavailable/dropped");
}

#[test]
fn a_hook_that_panics_does_not_change_the_answer() {
    let stage = Stage::default();
    let host = stage.deferring();
    let (response, pending) = dispatch(&host);
    let mut reply = stage.take();
    reply.on_abandoned(Arc::new(|| panic!("no lock"))).unwrap();
    assert_eq!(pending.cancel(), Ok(true));
    assert_eq!(arrived(&response), "unavailable/cancelled");
    assert_eq!(host.close(None), Ok(()));
}
