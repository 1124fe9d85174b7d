//! The structs that C gets lead to each other and to texts: whoever follows them finds what is meant, as long as the handle lives.

use std::ptr::{null, null_mut};

use agenthost::capi::*;

use crate::support::{CREATE, alone, dispatch, host, take, text};

/// # Safety
/// The text is readable.
unsafe fn read<'a>(text: agenthost_str) -> &'a str {
    // SAFETY: by this function's own contract; the library only hands out UTF-8.
    unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(text.data.cast(), text.len)) }
}

/// # Safety
/// The pairs are readable, and there are some.
unsafe fn first<'a>(pairs: agenthost_pairs) -> (&'a str, &'a str) {
    // SAFETY: by this function's own contract.
    unsafe { (read((*pairs.items).key), read((*pairs.items).value)) }
}

#[test]
fn a_response_leads_to_its_run_its_context_its_approval_and_their_texts() {
    let _alone = alone();
    let message = r#"{"protocolVersion":"2026-07-01","requestId":"r","operation":"get_run","ok":true,"body":{
        "runId":"run-1","revision":2,"status":"waiting_for_approval",
        "context":{"runId":"run-1","traceId":"trace","requestId":"","tenantId":"","userId":"","applicationId":"","workspaceId":"",
            "conversationId":"","agentId":"agent","locale":"","deadlineUnixMs":null,"metadata":{"where":"context"}},
        "createdAtUnixMs":1,"updatedAtUnixMs":2,"completedAtUnixMs":null,
        "approval":{"approvalId":"approval","toolCallId":"call","toolName":"tool","resolution":"pending","reason":"why",
            "createdAtUnixMs":2,"resolvedAtUnixMs":null,"metadata":{"where":"approval"}},
        "result":{"half":1},"error":"","metadata":{"where":"run"}},"error":null}"#;
    let (mut response, mut why) = (null_mut(), null_mut());
    // SAFETY: the places are writable, and what is read belongs to the response, which is freed at the end.
    unsafe {
        let status = agenthost_response_parse_any(text(message), &raw mut response, &raw mut why);
        assert_eq!(status, AGENTHOST_OK, "{}", if why.is_null() { String::new() } else { take(why) });
        let run = agenthost_response_run(response);
        assert_eq!(
            (read((*run).run_id), read((*run).result), first((*run).metadata)),
            ("run-1", r#"{"half":1}"#, ("where", "run"))
        );
        let context = (*run).context;
        assert_eq!((read((*context).trace_id), first((*context).metadata)), ("trace", ("where", "context")));
        let approval = (*run).approval;
        assert_eq!((read((*approval).tool_name), first((*approval).metadata)), ("tool", ("where", "approval")));
        assert_eq!(read(agenthost_response_request_id(response)), "r");
        agenthost_response_free(response);
    }
}

#[test]
fn an_error_and_a_page_lead_to_their_texts() {
    let _alone = alone();
    let failure = r#"{"protocolVersion":"2026-07-01","requestId":"r","operation":"get_run","ok":false,"body":{},
        "error":{"code":"not_found","message":"none","retryable":false,"details":{"a":1},"metadata":{"where":"error"}}}"#;
    let page = r#"{"protocolVersion":"2026-07-01","requestId":"r","operation":"list_events","ok":true,"body":{"events":[
        {"runId":"run-1","sequence":1,"type":"a","status":"running","stepId":"","toolCallId":"","timestampUnixMs":1,"data":null,"metadata":{"n":"1"}},
        {"runId":"run-1","sequence":2,"type":"b","status":"running","stepId":"","toolCallId":"","timestampUnixMs":1,"data":[2],"metadata":{"n":"2"}}
        ],"nextSequence":2,"hasMore":false},"error":null}"#;
    let mut response = null_mut();
    // SAFETY: as above.
    unsafe {
        assert_eq!(agenthost_response_parse_any(text(failure), &raw mut response, null_mut()), AGENTHOST_OK);
        let error = agenthost_response_error(response);
        assert_eq!((read((*error).details), first((*error).metadata)), (r#"{"a":1}"#, ("where", "error")));
        agenthost_response_free(response);
        assert_eq!(agenthost_response_parse_any(text(page), &raw mut response, null_mut()), AGENTHOST_OK);
        for (index, name, number) in [(0, "a", "1"), (1, "b", "2")] {
            let event = agenthost_response_event(response, index);
            assert_eq!((read((*event).r#type), first((*event).metadata)), (name, ("n", number)));
        }
        agenthost_response_free(response);
    }
}

#[test]
fn a_request_is_read_and_read_back() {
    let _alone = alone();
    let context = agenthost_context {
        struct_size: size_of::<agenthost_context>(),
        run_id: text("run-1"),
        trace_id: text(""),
        request_id: text(""),
        tenant_id: text("tenant"),
        user_id: text(""),
        application_id: text(""),
        workspace_id: text(""),
        conversation_id: text(""),
        agent_id: text(""),
        locale: text(""),
        deadline_unix_ms: agenthost_optional_i64 { present: 0, value: 0 },
        metadata: agenthost_pairs { items: null(), count: 0 },
    };
    let pair = agenthost_pair { key: text("region"), value: text("eu") };
    let create = agenthost_create_run {
        struct_size: size_of::<agenthost_create_run>(),
        context: &raw const context,
        input: text("[1]"),
        metadata: agenthost_pairs { items: &raw const pair, count: 1 },
    };
    let mut request = null_mut();
    // SAFETY: the structs are whole, and what is read belongs to the request, which is freed at the end.
    unsafe {
        assert_eq!(agenthost_request_create_run(&raw const create, null(), &raw mut request, null_mut()), AGENTHOST_OK);
        let bytes = read(agenthost_request_bytes(request));
        assert!(bytes.contains("\"tenant\"") && bytes.contains("[1]") && bytes.contains("\"region\""), "{bytes}");
        assert_eq!(read(agenthost_request_idempotency_key(request)).len(), 36);
        agenthost_request_free(request);
    }
}

#[test]
fn a_claimed_run_leads_to_its_context_its_approval_and_their_texts() {
    let _alone = alone();
    let (mut runs, mut serving) = (null_mut(), null_mut());
    let agent = text("");
    let claim = agenthost_claim_request {
        struct_size: size_of::<agenthost_claim_request>(),
        agent_ids: &raw const agent,
        agent_id_count: 1,
        worker: text("worker"),
        lease_ms: 0,
    };
    let pair = agenthost_pair { key: text("where"), value: text("approval") };
    let approver = text("bob");
    let approval = agenthost_approval_request {
        struct_size: size_of::<agenthost_approval_request>(),
        tool_call_id: text("call"),
        tool_name: text("tool"),
        reason: text("why"),
        metadata: agenthost_pairs { items: &raw const pair, count: 1 },
        arguments: text("[7]"),
        expires_at_unix_ms: agenthost_optional_i64 { present: 0, value: 0 },
        on_denied: 0,
        not_owner: 0,
        approvers: &raw const approver,
        approver_count: 0,
    };
    let inbox_only = agenthost_approval_request { approver_count: 1, on_denied: AGENTHOST_ON_DENIED_RESUME, ..approval };
    let approvals = [&raw const approval, &raw const inbox_only];
    let suspension = agenthost_suspension {
        struct_size: size_of::<agenthost_suspension>(),
        approvals: approvals.as_ptr(),
        approval_count: 1,
        continuation: text(r#"{"step":2}"#),
        resume: 0,
        reserved: 0,
    };
    // SAFETY: every handle is used while it is alive, and freed once.
    unsafe {
        assert_eq!(agenthost_runs_open(text("memory:"), null(), &raw mut runs, null_mut()), AGENTHOST_OK);
        assert_eq!(agenthost_runs_host(runs, null(), &raw mut serving, null_mut()), AGENTHOST_OK);
        assert!(dispatch(serving, CREATE).1.contains(r#""ok":true"#));
        let claimed = || {
            let mut outcome = null_mut();
            assert_eq!(agenthost_runs_claim(runs, &raw const claim, None, null_mut(), &raw mut outcome), AGENTHOST_OK);
            assert!(!agenthost_outcome_claimed(outcome).is_null());
            outcome
        };
        let first_claim = claimed();
        let run = agenthost_outcome_claimed(first_claim);
        assert_eq!((read((*run).run_id), read((*(*run).context).run_id), (*run).approvals.is_null()), ("run-1", "run-1", true));
        let mut suspended = null_mut();
        let status = agenthost_runs_suspend(
            runs,
            text("run-1"),
            (*run).token,
            &raw const suspension,
            None,
            null_mut(),
            &raw mut suspended,
        );
        assert_eq!(status, AGENTHOST_OK);
        let approval = read(agenthost_outcome_approval_id(suspended, 0)).to_owned();
        agenthost_outcome_free(suspended);
        agenthost_outcome_free(first_claim);
        for (operation, revision, more) in
            [("resolve_approval", 3, r#""resolution":"approved""#), ("resume_run", 4, r#""input":{"go":true}"#)]
        {
            let message = format!(
                r#"{{"protocolVersion":"2026-07-01","requestId":"r","idempotencyKey":"{operation}","operation":"{operation}",
                "body":{{"runId":"run-1","expectedRevision":{revision},"approvalId":"{approval}",{more}}}}}"#
            );
            let response = dispatch(serving, &message).1;
            assert!(response.contains(r#""ok":true"#), "{response}");
        }
        let second_claim = claimed();
        let run = agenthost_outcome_claimed(second_claim);
        assert_eq!((read((*run).continuation), read((*run).resume_input)), (r#"{"step":2}"#, r#"{"go":true}"#));
        let decided = *(*run).approvals;
        assert_eq!(((*run).approval_count, read((*decided).arguments)), (1, "[7]"));
        assert_eq!(first((*(*decided).approval).metadata), ("where", "approval"));
        let again = agenthost_suspension { approvals: approvals.as_ptr().add(1), ..suspension };
        let token = (*run).token;
        let status = agenthost_runs_suspend(runs, text("run-1"), token, &raw const again, None, null_mut(), &raw mut suspended);
        assert_eq!(status, AGENTHOST_OK);
        agenthost_outcome_free(suspended);
        agenthost_outcome_free(second_claim);
        let mut inbox = null_mut();
        assert_eq!(agenthost_runs_list_approvals(runs, null(), 0, 0, None, null_mut(), &raw mut inbox), AGENTHOST_OK);
        assert_eq!(agenthost_outcome_inbox_count(inbox), 2);
        let waiting = agenthost_outcome_inbox_approval(inbox, 1);
        assert_eq!(((*waiting).approver_count, read(*(*waiting).approvers), read((*waiting).run_id)), (1, "bob", "run-1"));
        assert_eq!(first((*(*waiting).approval).metadata), ("where", "approval"));
        agenthost_outcome_free(inbox);
        let mut outcome = null_mut();
        let status = agenthost_runs_wait_events(runs, text("run-1"), 0, 0, 0, None, null_mut(), &raw mut outcome);
        assert_eq!(status, AGENTHOST_OK);
        assert_eq!(read((*agenthost_outcome_event(outcome, 0)).run_id), "run-1");
        agenthost_outcome_free(outcome);
        assert_eq!(agenthost_runs_list(runs, null(), None, null_mut(), &raw mut outcome), AGENTHOST_OK);
        assert_eq!(read((*agenthost_outcome_run(outcome, 0)).worker), "worker");
        agenthost_outcome_free(outcome);
        agenthost_host_release(serving);
        agenthost_runs_release(runs);
    }
}

#[test]
fn an_answer_is_read_through_all_that_it_leads_to() {
    let _alone = alone();
    let serving = host(
        |reply| {
            let none = agenthost_pairs { items: null(), count: 0 };
            let approval = agenthost_approval {
                struct_size: size_of::<agenthost_approval>(),
                approval_id: text("approval"),
                tool_call_id: text("call"),
                tool_name: text("tool"),
                resolution: AGENTHOST_APPROVAL_PENDING,
                reserved: 0,
                reason: text(""),
                created_at_unix_ms: 1,
                resolved_at_unix_ms: agenthost_optional_i64 { present: 0, value: 0 },
                metadata: none,
            };
            let run = agenthost_run {
                struct_size: size_of::<agenthost_run>(),
                run_id: text("run-1"),
                revision: 2,
                status: AGENTHOST_RUN_WAITING_FOR_APPROVAL,
                reserved: 0,
                context: null(),
                created_at_unix_ms: 1,
                updated_at_unix_ms: 1,
                completed_at_unix_ms: agenthost_optional_i64 { present: 0, value: 0 },
                approval: &raw const approval,
                result: text(""),
                error: text(""),
                metadata: none,
            };
            // SAFETY: the slot's reply, while the slot runs; the structs are whole.
            assert_eq!(unsafe { agenthost_reply_run(reply, &raw const run) }, AGENTHOST_OK);
        },
        None,
    );
    let response = dispatch(serving, crate::support::GET).1;
    assert!(response.contains(r#""toolName":"tool""#), "{response}");
    // SAFETY: the only count is given up.
    unsafe { agenthost_host_release(serving) };
}
