//! The numbers of the committed header are the library's.

use std::collections::BTreeMap;

use agenthost::capi::*;

/// The names in the header and what they are here.
macro_rules! constants {
    ($($name:ident),* $(,)?) => { [$((stringify!($name), i64::from($name))),*] };
}

#[test]
fn the_constants_of_the_header_are_the_librarys() {
    let library = BTreeMap::from(constants![
        AGENTHOST_LIVE_HOSTS,
        AGENTHOST_LIVE_REPLIES,
        AGENTHOST_LIVE_PENDINGS,
        AGENTHOST_LIVE_BUFFERS,
        AGENTHOST_LIVE_REQUESTS,
        AGENTHOST_LIVE_RESPONSES,
        AGENTHOST_LIVE_RUNS,
        AGENTHOST_LIVE_OUTCOMES,
        AGENTHOST_LOG_ERROR,
        AGENTHOST_LOG_WARN,
        AGENTHOST_LOG_INFO,
        AGENTHOST_LOG_DEBUG,
        AGENTHOST_ABI_VERSION,
        AGENTHOST_OK,
        AGENTHOST_NULL_ARGUMENT,
        AGENTHOST_INVALID_ARGUMENT,
        AGENTHOST_INVALID_SIZE,
        AGENTHOST_CLOSED,
        AGENTHOST_FORKED,
        AGENTHOST_ALREADY_DONE,
        AGENTHOST_WRONG_OPERATION,
        AGENTHOST_BAD_ANSWER,
        AGENTHOST_BAD_RESPONSE,
        AGENTHOST_TIMED_OUT,
        AGENTHOST_WOULD_DEADLOCK,
        AGENTHOST_ABI_MISMATCH,
        AGENTHOST_PANIC,
        AGENTHOST_CREATE_RUN,
        AGENTHOST_GET_RUN,
        AGENTHOST_CANCEL_RUN,
        AGENTHOST_RESOLVE_APPROVAL,
        AGENTHOST_RESUME_RUN,
        AGENTHOST_LIST_EVENTS,
        AGENTHOST_RUN_CREATED,
        AGENTHOST_RUN_RUNNING,
        AGENTHOST_RUN_WAITING_FOR_APPROVAL,
        AGENTHOST_RUN_COMPLETED,
        AGENTHOST_RUN_FAILED,
        AGENTHOST_RUN_CANCELLED,
        AGENTHOST_RUN_TIMED_OUT,
        AGENTHOST_APPROVAL_PENDING,
        AGENTHOST_APPROVAL_APPROVED,
        AGENTHOST_APPROVAL_DENIED,
        AGENTHOST_APPROVAL_STATE_APPROVED,
        AGENTHOST_APPROVAL_STATE_CLOSED,
        AGENTHOST_APPROVAL_STATE_DENIED,
        AGENTHOST_APPROVAL_STATE_PENDING,
        AGENTHOST_ON_DENIED_FAIL,
        AGENTHOST_ON_DENIED_RESUME,
        AGENTHOST_RESUME_AUTO,
        AGENTHOST_RESUME_EXPLICIT,
        AGENTHOST_REASON_REVISION_MISMATCH,
        AGENTHOST_REASON_INVALID_STATE,
        AGENTHOST_REASON_APPROVAL_MISMATCH,
        AGENTHOST_REASON_RUN_EXISTS,
        AGENTHOST_REASON_IDEMPOTENCY_MISMATCH,
        AGENTHOST_REASON_CLAIM_HELD,
        AGENTHOST_REASON_CLAIM_LOST,
        AGENTHOST_REASON_CURSOR_EXPIRED,
        AGENTHOST_REASON_CURSOR_AHEAD,
        AGENTHOST_OWNER_ANY,
        AGENTHOST_OWNER_GIVEN,
        AGENTHOST_OWNER_NONE,
        AGENTHOST_CODE_INVALID_REQUEST,
        AGENTHOST_CODE_UNSUPPORTED_PROTOCOL_VERSION,
        AGENTHOST_CODE_UNAUTHORIZED,
        AGENTHOST_CODE_FORBIDDEN,
        AGENTHOST_CODE_NOT_FOUND,
        AGENTHOST_CODE_CONFLICT,
        AGENTHOST_CODE_UNAVAILABLE,
        AGENTHOST_CODE_INTERNAL,
    ]);
    let header = include_str!("../../include/agenthost.h");
    let mut found = BTreeMap::new();
    for line in header.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["#define", name, value] = words[..]
            && let Ok(value) = value.parse::<i64>()
        {
            assert!(found.insert(name, value).is_none(), "{name} twice");
        }
    }
    assert_eq!(found, library);
}
