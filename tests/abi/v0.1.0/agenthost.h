/*
 * agenthost.h - the Agent Host protocol: JSON envelopes in, JSON envelopes out, a service of your own in between.
 *
 * Generated from src/capi; do not edit.
 *
 * Threads      Every function may be called from any thread unless it says otherwise. No function is async-signal-safe. No
 *              library lock is held while a callback runs.
 * Ownership    What a function makes for you is yours: handles that are counted end with _release, handles that have one
 *              owner end with _free. NULL is fine for both. Using a handle after its last _release or _free is undefined.
 * Borrowed     An agenthost_str is pointer and length, UTF-8, not NUL-terminated, and may contain U+0000. Length 0 ignores
 *              the pointer. Borrowed data is valid until the function or callback that brought it returns.
 * Structs      A struct with `struct_size` grows at its end. Zero it and set the size (AGENTHOST_INIT), then fill it. The library
 *              reads what both sides know and refuses bytes that it does not know unless they are 0. Such a struct is
 *              never embedded in another and never an array element.
 * Callbacks    Must return normally: an exception, longjmp, pthread_exit or pthread_cancel out of a callback ends the
 *              process with a message.
 * Failures     Status codes are for misuse. A failure of the protocol is AGENTHOST_OK plus a response that says so.
 */


#ifndef AGENTHOST_H
#define AGENTHOST_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header's library. */
#define AGENTHOST_VERSION "0.1.0"


/**
 * `agenthost_live`: hosts, by their last release.
 */
#define AGENTHOST_LIVE_HOSTS 1

/**
 * `agenthost_live`: deferred replies.
 */
#define AGENTHOST_LIVE_REPLIES 2

/**
 * `agenthost_live`: handles of asynchronous dispatches.
 */
#define AGENTHOST_LIVE_PENDINGS 3

/**
 * `agenthost_live`: buffers.
 */
#define AGENTHOST_LIVE_BUFFERS 4

/**
 * `agenthost_live`: requests of a client.
 */
#define AGENTHOST_LIVE_REQUESTS 5

/**
 * `agenthost_live`: responses of a client.
 */
#define AGENTHOST_LIVE_RESPONSES 6

/**
 * `agenthost_live`: opened durable runs, by their last release.
 */
#define AGENTHOST_LIVE_RUNS 8

/**
 * `agenthost_live`: outcomes of durable runs.
 */
#define AGENTHOST_LIVE_OUTCOMES 9

/**
 * Log level: a service failed or broke a rule of the contract, and a caller got `internal`.
 */
#define AGENTHOST_LOG_ERROR 1

/**
 * Log level: something that should not happen, and did no harm.
 */
#define AGENTHOST_LOG_WARN 2

/**
 * Log level: the life of the host.
 */
#define AGENTHOST_LOG_INFO 3

/**
 * Log level: for finding a fault.
 */
#define AGENTHOST_LOG_DEBUG 4

/**
 * `agenthost_list_runs.has_owner`: whoever owns them.
 */
#define AGENTHOST_OWNER_ANY 0

/**
 * `agenthost_list_runs.has_owner`: only runs of `owner`, which is not empty.
 */
#define AGENTHOST_OWNER_GIVEN 1

/**
 * `agenthost_list_runs.has_owner`: only runs that no principal created.
 */
#define AGENTHOST_OWNER_NONE 2

/**
 * The interface's version: major << 16 | minor. A library serves every header of its own major whose minor is not above its
 * own.
 */
#define AGENTHOST_ABI_VERSION 1

/**
 * Bytes that the library made and you own. One owner; ends with `agenthost_buffer_free`.
 */
typedef struct agenthost_buffer agenthost_buffer;

/**
 * A host. Counted: `agenthost_host_retain`, `agenthost_host_release`. Any number of threads may use it at once, each as long
 * as it, or somebody for it, holds a count.
 */
typedef struct agenthost_host agenthost_host;

/**
 * What a call of durable runs came to. One owner; any number of threads may read it; ends with `agenthost_outcome_free`.
 */
typedef struct agenthost_outcome agenthost_outcome;

/**
 * An asynchronous dispatch. One owner; ends with `agenthost_pending_free`, which does not cancel.
 */
typedef struct agenthost_pending agenthost_pending;

/**
 * Where a slot answers. The one that is given to a slot is borrowed until the slot returns, for the slot's thread only. One
 * that was deferred is yours until `agenthost_reply_free`.
 *
 * The functions that answer copy all they are given before they return, and return
 * - `AGENTHOST_OK`: the answer is taken;
 * - `AGENTHOST_BAD_ANSWER`: a rule of the contract, UTF-8 or JSON is broken: `internal` is taken, the rule is logged;
 * - `AGENTHOST_ALREADY_DONE`: answered, deferred, cancelled or timed out before: nobody gets this answer;
 * - `AGENTHOST_NULL_ARGUMENT`, `AGENTHOST_INVALID_SIZE`, `AGENTHOST_WRONG_OPERATION`: nothing happened, the reply is open.
 */
typedef struct agenthost_reply agenthost_reply;

/**
 * A request, frozen. One owner; any number of threads may read it; ends with `agenthost_request_free`.
 */
typedef struct agenthost_request agenthost_request;

/**
 * A response that was checked. One owner; any number of threads may read it; ends with `agenthost_response_free`.
 */
typedef struct agenthost_response agenthost_response;

/**
 * Opened durable runs: the service of a host, and the side of workers and operators. Counted: `agenthost_runs_retain`,
 * `agenthost_runs_release`. Any number of threads may use it at once.
 */
typedef struct agenthost_runs agenthost_runs;

/**
 * What a function of this interface came to. Protocol failures are `AGENTHOST_OK` plus an envelope.
 */
typedef int32_t agenthost_status;

/**
 * Whether an approval can be decided, and what became of it.
 */
typedef int32_t agenthost_approval_state;

/**
 * Borrowed UTF-8 text: pointer and length in bytes, not NUL-terminated, may contain U+0000. Length 0 ignores the pointer. What
 * the library hands out is valid until the function or callback that brought it returns, unless it says otherwise.
 * Frozen for ever: may be embedded and used in arrays.
 */
typedef struct agenthost_str {
    /**
     * The first byte.
     */
    const char *data;
    /**
     * The number of bytes.
     */
    size_t len;
} agenthost_str;

/**
 * Which approvals. All that is given has to fit.
 */
typedef struct agenthost_approval_filter {
    /**
     * `sizeof(agenthost_approval_filter)`.
     */
    size_t struct_size;
    /**
     * In this state; 0 for any.
     */
    agenthost_approval_state state;
    /**
     * `AGENTHOST_OWNER_...`: of the run.
     */
    uint32_t has_owner;
    /**
     * A principal; empty unless `has_owner` is `AGENTHOST_OWNER_GIVEN`.
     */
    struct agenthost_str owner;
    /**
     * 1: only of runs for `agent_id`.
     */
    uint32_t has_agent_id;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * An agent; empty for runs without one, and when `has_agent_id` is 0.
     */
    struct agenthost_str agent_id;
    /**
     * That name this principal among their approvers; empty for any.
     */
    struct agenthost_str approver;
    /**
     * Of this run; empty for any.
     */
    struct agenthost_str run_id;
    /**
     * For this tool; empty for any.
     */
    struct agenthost_str tool_name;
} agenthost_approval_filter;

/**
 * Gets the outcome of a call; it is yours. Runs once, on any thread, perhaps before the call returns, with no lock of the library
 * held. It must be short: it may run on the thread that every write goes through. A call from it that would wait is
 * `AGENTHOST_WOULD_DEADLOCK`.
 */
typedef void (*agenthost_outcome_done)(void *data, struct agenthost_outcome *outcome);

/**
 * The state of a run.
 */
typedef int32_t agenthost_run_status;

/**
 * What a mutation answers: the run as it is now.
 */
typedef struct agenthost_submission {
    /**
     * `sizeof(agenthost_submission)`.
     */
    size_t struct_size;
    /**
     * The run: the one that was asked for.
     */
    struct agenthost_str run_id;
    /**
     * Its revision, 1 to 2^53-1.
     */
    uint64_t revision;
    /**
     * Its status.
     */
    agenthost_run_status status;
    /**
     * 0.
     */
    uint32_t reserved;
} agenthost_submission;

/**
 * A number that may be null. Frozen for ever.
 */
typedef struct agenthost_optional_i64 {
    /**
     * 0: null. 1: `value` counts.
     */
    uint64_t present;
    /**
     * The number.
     */
    int64_t value;
} agenthost_optional_i64;

/**
 * A name and its value. Frozen for ever.
 */
typedef struct agenthost_pair {
    /**
     * The name.
     */
    struct agenthost_str key;
    /**
     * The value.
     */
    struct agenthost_str value;
} agenthost_pair;

/**
 * A map of strings; the names are distinct. Frozen for ever.
 */
typedef struct agenthost_pairs {
    /**
     * The first pair; ignored when `count` is 0.
     */
    const struct agenthost_pair *items;
    /**
     * The number of pairs.
     */
    size_t count;
} agenthost_pairs;

/**
 * Where a run comes from. Every string is empty where nothing is known.
 */
typedef struct agenthost_context {
    /**
     * `sizeof(agenthost_context)`.
     */
    size_t struct_size;
    /**
     * The run. An identity (1 to 1024 bytes, no U+0000), and required, in `create_run`; may be empty in a view.
     */
    struct agenthost_str run_id;
    /**
     * The trace that the run belongs to.
     */
    struct agenthost_str trace_id;
    /**
     * The application's request that led to the run; not the protocol's request id.
     */
    struct agenthost_str request_id;
    /**
     * The tenant that the run is for.
     */
    struct agenthost_str tenant_id;
    /**
     * The user that the run is for.
     */
    struct agenthost_str user_id;
    /**
     * The application that submitted it.
     */
    struct agenthost_str application_id;
    /**
     * The workspace that it works in.
     */
    struct agenthost_str workspace_id;
    /**
     * The conversation that it belongs to.
     */
    struct agenthost_str conversation_id;
    /**
     * The agent that is to do it.
     */
    struct agenthost_str agent_id;
    /**
     * A language tag such as `en-US`.
     */
    struct agenthost_str locale;
    /**
     * When the run has to end, in milliseconds since the Unix epoch, within 8.64e15 of it.
     */
    struct agenthost_optional_i64 deadline_unix_ms;
    /**
     * Strings without secrets: in `create_run` a sensitive name refuses the request.
     */
    struct agenthost_pairs metadata;
} agenthost_context;

/**
 * What became of an approval.
 */
typedef int32_t agenthost_resolution;

/**
 * What a run waits for, or waited for.
 */
typedef struct agenthost_approval {
    /**
     * `sizeof(agenthost_approval)`.
     */
    size_t struct_size;
    /**
     * The approval. An identity: 1 to 1024 bytes, no U+0000.
     */
    struct agenthost_str approval_id;
    /**
     * The tool call that needs it, not empty.
     */
    struct agenthost_str tool_call_id;
    /**
     * The tool, not empty.
     */
    struct agenthost_str tool_name;
    /**
     * What became of it.
     */
    agenthost_resolution resolution;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * Why it is needed, or why it was decided so.
     */
    struct agenthost_str reason;
    /**
     * When it was asked for, in milliseconds since the Unix epoch.
     */
    int64_t created_at_unix_ms;
    /**
     * When it was decided: null while pending, set once resolved.
     */
    struct agenthost_optional_i64 resolved_at_unix_ms;
    /**
     * Strings that belong to it; sensitive names are dropped before they leave.
     */
    struct agenthost_pairs metadata;
} agenthost_approval;

/**
 * A run as it is now.
 */
typedef struct agenthost_run {
    /**
     * `sizeof(agenthost_run)`.
     */
    size_t struct_size;
    /**
     * The run: the one that was asked for.
     */
    struct agenthost_str run_id;
    /**
     * Its revision, 1 to 2^53-1.
     */
    uint64_t revision;
    /**
     * Its status.
     */
    agenthost_run_status status;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * Where it comes from. NULL from a service: every member has its default.
     */
    const struct agenthost_context *context;
    /**
     * When it was created, in milliseconds since the Unix epoch, within 8.64e15 of it.
     */
    int64_t created_at_unix_ms;
    /**
     * When it last changed.
     */
    int64_t updated_at_unix_ms;
    /**
     * When it ended, or null.
     */
    struct agenthost_optional_i64 completed_at_unix_ms;
    /**
     * Its latest approval. NULL: none.
     */
    const struct agenthost_approval *approval;
    /**
     * What it came to, as JSON text. Empty from a service means null. It leaves the host as it is: no secrets.
     */
    struct agenthost_str result;
    /**
     * Why it failed, or empty.
     */
    struct agenthost_str error;
    /**
     * Strings that belong to the run; sensitive names are dropped before they leave.
     */
    struct agenthost_pairs metadata;
} agenthost_run;

/**
 * Something that happened in a run.
 */
typedef struct agenthost_event {
    /**
     * `sizeof(agenthost_event)`.
     */
    size_t struct_size;
    /**
     * The run: the one that was asked for.
     */
    struct agenthost_str run_id;
    /**
     * Its place among the run's events, 1 to 2^53-1, after the cursor and after the event before it.
     */
    uint64_t sequence;
    /**
     * What kind of event it is, not empty.
     */
    struct agenthost_str type;
    /**
     * The run's status after it.
     */
    agenthost_run_status status;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * The step that it belongs to, or empty.
     */
    struct agenthost_str step_id;
    /**
     * The tool call that it belongs to, or empty.
     */
    struct agenthost_str tool_call_id;
    /**
     * When it happened, in milliseconds since the Unix epoch.
     */
    int64_t timestamp_unix_ms;
    /**
     * What happened, as JSON text. Empty from a service means null. It leaves the host as it is: no secrets.
     */
    struct agenthost_str data;
    /**
     * Strings that belong to it; sensitive names are dropped before they leave.
     */
    struct agenthost_pairs metadata;
} agenthost_event;

/**
 * The code of an error.
 */
typedef int32_t agenthost_code;

/**
 * Why a call failed.
 */
typedef struct agenthost_error {
    /**
     * `sizeof(agenthost_error)`.
     */
    size_t struct_size;
    /**
     * The code. Of `AGENTHOST_CODE_INTERNAL` only `retryable` leaves the host.
     */
    agenthost_code code;
    /**
     * 0 or 1: whether the same request may succeed later.
     */
    uint32_t retryable;
    /**
     * For people. It leaves the host as it is: no secrets.
     */
    struct agenthost_str message;
    /**
     * For programs, as JSON text. Empty from a service means `{}`. It leaves the host as it is: no secrets.
     */
    struct agenthost_str details;
    /**
     * Strings for programs; sensitive names are dropped before they leave.
     */
    struct agenthost_pairs metadata;
    /**
     * Client: the code that was received when it is none of the contract's. A service leaves it empty.
     */
    struct agenthost_str original_code;
} agenthost_error;

/**
 * The end of a callback's data; may be NULL. It runs once, after the last call that could use `data`.
 */
typedef void (*agenthost_destroy)(void *data);

/**
 * One of the six operations.
 */
typedef int32_t agenthost_operation;

/**
 * What a slot gets about the call, beside the request. Borrowed until the slot returns.
 */
typedef struct agenthost_call {
    /**
     * `sizeof(agenthost_call)`.
     */
    size_t struct_size;
    /**
     * The operation of the request.
     */
    agenthost_operation operation;
    /**
     * 1: `principal` counts. 0: none was given. An empty principal is never delivered.
     */
    uint32_t has_principal;
    /**
     * Whom the transport authenticated. It never comes from the message.
     */
    struct agenthost_str principal;
    /**
     * Names this request; echoed in the response.
     */
    struct agenthost_str request_id;
    /**
     * Names the mutation: a retry carries the same key. Empty for reads that have none.
     */
    struct agenthost_str idempotency_key;
    /**
     * The envelope's metadata.
     */
    struct agenthost_pairs metadata;
} agenthost_call;

/**
 * Submits a run.
 */
typedef struct agenthost_create_run {
    /**
     * `sizeof(agenthost_create_run)`.
     */
    size_t struct_size;
    /**
     * Where the run comes from; names the run. Not NULL.
     */
    const struct agenthost_context *context;
    /**
     * What the run is to work on, as JSON text. Never empty towards a service; empty from a client means `{}`.
     */
    struct agenthost_str input;
    /**
     * Strings that belong to the run.
     */
    struct agenthost_pairs metadata;
} agenthost_create_run;

/**
 * Reads a run.
 */
typedef struct agenthost_get_run {
    /**
     * `sizeof(agenthost_get_run)`.
     */
    size_t struct_size;
    /**
     * The run.
     */
    struct agenthost_str run_id;
} agenthost_get_run;

/**
 * Cancels a run.
 */
typedef struct agenthost_cancel_run {
    /**
     * `sizeof(agenthost_cancel_run)`.
     */
    size_t struct_size;
    /**
     * The run.
     */
    struct agenthost_str run_id;
    /**
     * The revision that the caller has seen, 1 to 2^53-1.
     */
    uint64_t expected_revision;
    /**
     * Why. Empty from a client means the contract's default, `agent run cancelled`.
     */
    struct agenthost_str reason;
} agenthost_cancel_run;

/**
 * Approves or denies what a run waits for.
 */
typedef struct agenthost_resolve_approval {
    /**
     * `sizeof(agenthost_resolve_approval)`.
     */
    size_t struct_size;
    /**
     * The run.
     */
    struct agenthost_str run_id;
    /**
     * The revision that the caller has seen, 1 to 2^53-1.
     */
    uint64_t expected_revision;
    /**
     * The approval, as the run's view names it.
     */
    struct agenthost_str approval_id;
    /**
     * `AGENTHOST_APPROVAL_APPROVED` or `AGENTHOST_APPROVAL_DENIED`.
     */
    agenthost_resolution resolution;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * Why; may be empty.
     */
    struct agenthost_str reason;
    /**
     * Strings that belong to the resolution.
     */
    struct agenthost_pairs metadata;
} agenthost_resolve_approval;

/**
 * Lets an approved run go on.
 */
typedef struct agenthost_resume_run {
    /**
     * `sizeof(agenthost_resume_run)`.
     */
    size_t struct_size;
    /**
     * The run.
     */
    struct agenthost_str run_id;
    /**
     * The revision that the caller has seen, 1 to 2^53-1.
     */
    uint64_t expected_revision;
    /**
     * The approval that was given.
     */
    struct agenthost_str approval_id;
    /**
     * What the run gets to go on with, as JSON text. Never empty towards a service; empty from a client means `{}`.
     */
    struct agenthost_str input;
} agenthost_resume_run;

/**
 * Reads events after a cursor.
 */
typedef struct agenthost_list_events {
    /**
     * `sizeof(agenthost_list_events)`.
     */
    size_t struct_size;
    /**
     * The run.
     */
    struct agenthost_str run_id;
    /**
     * Only events with a larger sequence are asked for; 0 for all, at most 2^53-1.
     */
    uint64_t after_sequence;
    /**
     * The most events that the page may hold, 1 to 1000. 0 from a client means the contract's default, 256.
     */
    uint64_t limit;
} agenthost_list_events;

/**
 * The application behind a host: six slots, all required. Each runs on the thread that dispatches, on any number of threads
 * at once, and answers through `reply` before it returns, or defers it. A slot that does neither answers `internal`. After a
 * mutation `internal` and `unavailable` mean that the outcome is not known: callers retry with the same idempotency key.
 */
typedef struct agenthost_service {
    /**
     * `sizeof(agenthost_service)`.
     */
    size_t struct_size;
    /**
     * Given to every slot.
     */
    void *user_data;
    /**
     * Lets go of `user_data`: once, when the host is closed, or its last count is released, or its making failed.
     */
    agenthost_destroy destroy;
    /**
     * Accepts a run.
     */
    void (*create_run)(void *user_data,
                       const struct agenthost_call *call,
                       const struct agenthost_create_run *request,
                       struct agenthost_reply *reply);
    /**
     * Reads a run.
     */
    void (*get_run)(void *user_data,
                    const struct agenthost_call *call,
                    const struct agenthost_get_run *request,
                    struct agenthost_reply *reply);
    /**
     * Cancels a run that is still at the expected revision.
     */
    void (*cancel_run)(void *user_data,
                       const struct agenthost_call *call,
                       const struct agenthost_cancel_run *request,
                       struct agenthost_reply *reply);
    /**
     * Approves or denies what a run waits for.
     */
    void (*resolve_approval)(void *user_data,
                             const struct agenthost_call *call,
                             const struct agenthost_resolve_approval *request,
                             struct agenthost_reply *reply);
    /**
     * Lets an approved run go on.
     */
    void (*resume_run)(void *user_data,
                       const struct agenthost_call *call,
                       const struct agenthost_resume_run *request,
                       struct agenthost_reply *reply);
    /**
     * Reads the events after a cursor, at most `limit` of them.
     */
    void (*list_events)(void *user_data,
                        const struct agenthost_call *call,
                        const struct agenthost_list_events *request,
                        struct agenthost_reply *reply);
} agenthost_service;

/**
 * A log hook: level (`AGENTHOST_LOG_...`), message and fields, borrowed for the call. Runs on any thread that has something
 * to say, with no lock of the library held. It gets names of members and causes of failures, never the values of requests
 * and answers.
 */
typedef void (*agenthost_log)(void *data, int32_t level, struct agenthost_str message, struct agenthost_pairs fields);

/**
 * The options of a host. Zeros are the defaults.
 */
typedef struct agenthost_host_options {
    /**
     * `sizeof(agenthost_host_options)`.
     */
    size_t struct_size;
    /**
     * The most bytes of a message and of a response; exactly as many are allowed. 0: 16 MiB. (A refusal that would be larger
     * is written all the same: it has at most 16 KiB.)
     */
    uint64_t max_message_bytes;
    /**
     * How long synchronous dispatch waits for a deferred answer, in milliseconds. 0: for ever.
     */
    uint64_t default_timeout_ms;
    /**
     * Names that are sensitive beside the built-in ones, compared like them. Copied. May be NULL when there are none.
     */
    const struct agenthost_str *sensitive_names;
    /**
     * The number of `sensitive_names`.
     */
    size_t sensitive_name_count;
    /**
     * NULL: nothing is logged.
     */
    agenthost_log log;
    /**
     * Given to `log`.
     */
    void *log_data;
    /**
     * Lets go of `log_data`: once, when the host is closed, or its last count is released, or its making failed.
     */
    agenthost_destroy log_destroy;
    /**
     * 1: a dispatch without a principal answers `unauthorized`.
     */
    uint32_t require_principal;
    /**
     * 0.
     */
    uint32_t reserved;
} agenthost_host_options;

/**
 * What belongs to one dispatch, beside the message. Zeros are the defaults.
 */
typedef struct agenthost_dispatch_options {
    /**
     * `sizeof(agenthost_dispatch_options)`.
     */
    size_t struct_size;
    /**
     * 1: `principal` is what the transport authenticated, UTF-8, not empty, without U+0000. 0: there is none, and `principal` is empty.
     */
    uint32_t has_principal;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * Whom the transport authenticated. Never take it from the message.
     */
    struct agenthost_str principal;
    /**
     * How long to wait for a deferred answer, in milliseconds. 0: the host's default. It never cuts a slot short.
     * Asynchronous dispatch refuses any other value.
     */
    uint64_t timeout_ms;
} agenthost_dispatch_options;

/**
 * The end of an asynchronous dispatch. `response` is yours. No lock of the library is held.
 */
typedef void (*agenthost_done)(void *data, struct agenthost_buffer *response);

/**
 * What goes around a request. Zeros are the defaults.
 */
typedef struct agenthost_request_options {
    /**
     * `sizeof(agenthost_request_options)`.
     */
    size_t struct_size;
    /**
     * Names the request. Empty: a new UUIDv7.
     */
    struct agenthost_str request_id;
    /**
     * Names the mutation. Empty: a new UUIDv7 for mutations, none for reads.
     */
    struct agenthost_str idempotency_key;
    /**
     * Empty: the preferred one. Any other is written as it is.
     */
    struct agenthost_str protocol_version;
    /**
     * The envelope's metadata.
     */
    struct agenthost_pairs metadata;
} agenthost_request_options;

/**
 * What a rule of who may see a run is asked about. Borrowed for the call.
 */
typedef struct agenthost_access_request {
    /**
     * `sizeof(agenthost_access_request)`.
     */
    size_t struct_size;
    /**
     * Who calls; NULL for embedded use.
     */
    const struct agenthost_str *principal;
    /**
     * The principal that created the run; NULL where there was none.
     */
    const struct agenthost_str *owner;
    /**
     * What is asked for. Waiting for events counts as `AGENTHOST_LIST_EVENTS`.
     */
    agenthost_operation operation;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * Of `AGENTHOST_RESOLVE_APPROVAL` the principals that the approval names, else those that the pending approvals name.
     */
    const struct agenthost_str *approvers;
    /**
     * The number of `approvers`.
     */
    size_t approver_count;
} agenthost_access_request;

/**
 * Who may see a run and do to it what is asked, in place of the built-in rule (its owner and calls without a principal everything, an
 * approver what names it): 1 allows it, anything else hides the run as `not_found`. It does not replace four eyes. Runs on any thread,
 * in the middle of a transaction: it must be quick, and must not call these runs.
 */
typedef uint32_t (*agenthost_access)(void *data, const struct agenthost_access_request *request);

/**
 * How runs are opened. Zeros are the defaults.
 */
typedef struct agenthost_runs_options {
    /**
     * `sizeof(agenthost_runs_options)`.
     */
    size_t struct_size;
    /**
     * How long a worker may be silent before somebody else may take over, in milliseconds, at most 24 h. 0: 30 s.
     */
    uint64_t lease_ms;
    /**
     * How often a run may be taken over from a silent worker before it fails. 0: 10.
     */
    uint64_t max_attempts;
    /**
     * How long an idempotency key is remembered, in milliseconds. 0: 24 h.
     */
    uint64_t key_ttl_ms;
    /**
     * 1: a client's call without a principal is `unauthorized`.
     */
    uint32_t require_principal;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * Names that are sensitive beside the built-in ones: metadata of runs, approvals and events with one is refused. Copied. May be
     * NULL when there are none.
     */
    const struct agenthost_str *sensitive_names;
    /**
     * The number of `sensitive_names`.
     */
    size_t sensitive_name_count;
    /**
     * NULL: nothing is logged.
     */
    agenthost_log log;
    /**
     * Given to `log`.
     */
    void *log_data;
    /**
     * Lets go of `log_data`: once, when the runs and every host over them are gone, or their opening failed. On any thread.
     */
    agenthost_destroy log_destroy;
    /**
     * NULL: the built-in rule.
     */
    agenthost_access access;
    /**
     * Given to `access`.
     */
    void *access_data;
    /**
     * Lets go of `access_data`, like `log_destroy`.
     */
    agenthost_destroy access_destroy;
} agenthost_runs_options;

/**
 * What a denial does.
 */
typedef int32_t agenthost_on_denied;

/**
 * An approval as the inbox shows it: with all that it takes to judge and to decide it.
 */
typedef struct agenthost_inbox_approval {
    /**
     * `sizeof(agenthost_inbox_approval)`.
     */
    size_t struct_size;
    /**
     * Its place in the order of creation of all approvals: the cursor.
     */
    uint64_t position;
    /**
     * Its run.
     */
    struct agenthost_str run_id;
    /**
     * The run's revision now: what `resolve_approval` has to expect.
     */
    uint64_t revision;
    /**
     * The run's state now.
     */
    agenthost_run_status run_status;
    /**
     * Whether it can be decided, and what became of it.
     */
    agenthost_approval_state state;
    /**
     * 1: `owner` created the run. 0: no principal did.
     */
    uint32_t has_owner;
    /**
     * 1: the owner of the run may not decide it.
     */
    uint32_t not_owner;
    /**
     * The principal that created the run.
     */
    struct agenthost_str owner;
    /**
     * The agent of the run, or empty.
     */
    struct agenthost_str agent_id;
    /**
     * The approval, as the run's view shows it.
     */
    const struct agenthost_approval *approval;
    /**
     * JSON: what is to be approved, exactly. Empty where the worker gave none.
     */
    struct agenthost_str arguments;
    /**
     * When it is denied by itself, in milliseconds since the Unix epoch; null for never.
     */
    struct agenthost_optional_i64 expires_at_unix_ms;
    /**
     * What a denial does.
     */
    agenthost_on_denied on_denied;
    /**
     * 1: nobody decided it in time.
     */
    uint32_t expired;
    /**
     * The principals that may decide it.
     */
    const struct agenthost_str *approvers;
    /**
     * The number of `approvers`; 0: whoever may see the run.
     */
    size_t approver_count;
    /**
     * 1: `decided_by` decided it. 0: nobody known.
     */
    uint32_t has_decided_by;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * The principal that decided it.
     */
    struct agenthost_str decided_by;
} agenthost_inbox_approval;

/**
 * An approval that was decided, with what was decided about.
 */
typedef struct agenthost_decided_approval {
    /**
     * `sizeof(agenthost_decided_approval)`.
     */
    size_t struct_size;
    /**
     * The approval.
     */
    const struct agenthost_approval *approval;
    /**
     * JSON: what was approved or denied, exactly. Execute these and no others. Empty where the suspension gave none.
     */
    struct agenthost_str arguments;
    /**
     * 1: `decided_by` did. 0: nobody known.
     */
    uint32_t has_decided_by;
    /**
     * 1: nobody decided in time, which counts as denied.
     */
    uint32_t expired;
    /**
     * The principal that decided.
     */
    struct agenthost_str decided_by;
} agenthost_decided_approval;

/**
 * A run that was claimed, with all that there is to go on with.
 */
typedef struct agenthost_claimed {
    /**
     * `sizeof(agenthost_claimed)`.
     */
    size_t struct_size;
    /**
     * The run.
     */
    struct agenthost_str run_id;
    /**
     * The right to work on it, which every call brings. A secret: do not log it.
     */
    struct agenthost_str token;
    /**
     * 0: no principal created it. 1: `owner` did.
     */
    uint32_t has_owner;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * The principal that created it.
     */
    struct agenthost_str owner;
    /**
     * How often it has been claimed since it started or was resumed last, from 1.
     */
    uint64_t attempt;
    /**
     * Its revision.
     */
    uint64_t revision;
    /**
     * When the lease ends unless a call renews it, in milliseconds since the Unix epoch.
     */
    int64_t lease_ends_at_unix_ms;
    /**
     * The lease in milliseconds; a heartbeat is due at a third of it.
     */
    uint64_t lease_ms;
    /**
     * Where it comes from.
     */
    const struct agenthost_context *context;
    /**
     * What it is to work on, JSON.
     */
    struct agenthost_str input;
    /**
     * Strings that belong to it.
     */
    struct agenthost_pairs metadata;
    /**
     * After a resume: the approvals that were asked for, in order, all decided. NULL when there are none.
     */
    const struct agenthost_decided_approval *const *approvals;
    /**
     * The number of `approvals`.
     */
    size_t approval_count;
    /**
     * After a resume: what `suspend` was given, JSON. Else empty.
     */
    struct agenthost_str continuation;
    /**
     * After a resume: the input of `resume_run`, JSON. Else empty.
     */
    struct agenthost_str resume_input;
} agenthost_claimed;

/**
 * The outcome of a tool call that counts.
 */
typedef struct agenthost_admitted {
    /**
     * `sizeof(agenthost_admitted)`.
     */
    size_t struct_size;
    /**
     * The tool call.
     */
    struct agenthost_str tool_call_id;
    /**
     * The tool.
     */
    struct agenthost_str tool_name;
    /**
     * The execution's key.
     */
    struct agenthost_str key;
    /**
     * The sequence of the event that says so.
     */
    uint64_t sequence;
    /**
     * The outcome that was admitted first, JSON.
     */
    struct agenthost_str outcome;
    /**
     * 1: it had been admitted before this call.
     */
    uint32_t repeated;
    /**
     * 0.
     */
    uint32_t reserved;
} agenthost_admitted;

/**
 * A run, in short.
 */
typedef struct agenthost_run_summary {
    /**
     * `sizeof(agenthost_run_summary)`.
     */
    size_t struct_size;
    /**
     * The run.
     */
    struct agenthost_str run_id;
    /**
     * 0: no principal created it. 1: `owner` did.
     */
    uint32_t has_owner;
    /**
     * Its state.
     */
    agenthost_run_status status;
    /**
     * The principal that created it.
     */
    struct agenthost_str owner;
    /**
     * The agent that is to do it, or empty.
     */
    struct agenthost_str agent_id;
    /**
     * How the last worker called itself, or empty.
     */
    struct agenthost_str worker;
    /**
     * The number of its state changes.
     */
    uint64_t revision;
    /**
     * The sequence of the first event that is still there.
     */
    uint64_t first_sequence;
    /**
     * The sequence of its last event.
     */
    uint64_t head_sequence;
    /**
     * How often it has been claimed since it started or was resumed last.
     */
    uint64_t attempt;
    /**
     * When it was created, in milliseconds since the Unix epoch.
     */
    int64_t created_at_unix_ms;
    /**
     * When it got its last event.
     */
    int64_t updated_at_unix_ms;
    /**
     * When it ended.
     */
    struct agenthost_optional_i64 completed_at_unix_ms;
    /**
     * When it has to end.
     */
    struct agenthost_optional_i64 deadline_unix_ms;
} agenthost_run_summary;

/**
 * Why a call conflicts with the state of a durable run: the `reason` in the error's details. 0: no such conflict.
 */
typedef int32_t agenthost_reason;

/**
 * What a worker looks for.
 */
typedef struct agenthost_claim_request {
    /**
     * `sizeof(agenthost_claim_request)`.
     */
    size_t struct_size;
    /**
     * The agents whose runs it works on; the empty text for runs without one.
     */
    const struct agenthost_str *agent_ids;
    /**
     * The number of `agent_ids`, at least 1.
     */
    size_t agent_id_count;
    /**
     * How it calls itself, for people; may be empty.
     */
    struct agenthost_str worker;
    /**
     * How long it may be silent, in milliseconds, at most 24 h. 0: the default of the runs.
     */
    uint64_t lease_ms;
} agenthost_claim_request;

/**
 * Something that happened, from a worker.
 */
typedef struct agenthost_new_event {
    /**
     * `sizeof(agenthost_new_event)`.
     */
    size_t struct_size;
    /**
     * What kind of event: 1 to 255 bytes, none of the library's own.
     */
    struct agenthost_str type;
    /**
     * The step that it belongs to, or empty.
     */
    struct agenthost_str step_id;
    /**
     * The tool call that it belongs to, or empty.
     */
    struct agenthost_str tool_call_id;
    /**
     * JSON, at most 1 MiB; empty means null.
     */
    struct agenthost_str data;
    /**
     * Strings, without sensitive names.
     */
    struct agenthost_pairs metadata;
} agenthost_new_event;

/**
 * An approval that a worker asks for. Two may be about the same tool call.
 */
typedef struct agenthost_approval_request {
    /**
     * `sizeof(agenthost_approval_request)`.
     */
    size_t struct_size;
    /**
     * The tool call that needs it: 1 to 255 bytes.
     */
    struct agenthost_str tool_call_id;
    /**
     * The tool: 1 to 255 bytes.
     */
    struct agenthost_str tool_name;
    /**
     * Why it is needed, at most 64 KiB; may be empty.
     */
    struct agenthost_str reason;
    /**
     * Strings that belong to it, at most 64 KiB, without sensitive names and names that begin with `agenthost.`.
     */
    struct agenthost_pairs metadata;
    /**
     * JSON: what is to be approved, exactly, at most 64 KiB. Empty: nothing in particular. Whoever may see the run sees it.
     */
    struct agenthost_str arguments;
    /**
     * When it is denied by itself, in milliseconds since the Unix epoch; null for never.
     */
    struct agenthost_optional_i64 expires_at_unix_ms;
    /**
     * What a denial does: `AGENTHOST_ON_DENIED_...`; 0 for `AGENTHOST_ON_DENIED_FAIL`.
     */
    agenthost_on_denied on_denied;
    /**
     * 1: the owner of the run may not decide it (four eyes).
     */
    uint32_t not_owner;
    /**
     * The principals that may decide it, each once; they see the run from then on. May be NULL when there are none: then whoever may see
     * the run may decide.
     */
    const struct agenthost_str *approvers;
    /**
     * The number of `approvers`, at most 64.
     */
    size_t approver_count;
} agenthost_approval_request;

/**
 * What makes a run go on once all its approvals are decided.
 */
typedef int32_t agenthost_resume_mode;

/**
 * What a run waits for, and how it goes on.
 */
typedef struct agenthost_suspension {
    /**
     * `sizeof(agenthost_suspension)`.
     */
    size_t struct_size;
    /**
     * The approvals.
     */
    const struct agenthost_approval_request *const *approvals;
    /**
     * The number of `approvals`, 1 to 64.
     */
    size_t approval_count;
    /**
     * JSON for the worker that goes on, at most 4 MiB; empty means null.
     */
    struct agenthost_str continuation;
    /**
     * What makes the run go on once all is decided: `AGENTHOST_RESUME_...`; 0 for `AGENTHOST_RESUME_EXPLICIT`.
     */
    agenthost_resume_mode resume;
    /**
     * 0.
     */
    uint32_t reserved;
} agenthost_suspension;

/**
 * What a tool call came to.
 */
typedef struct agenthost_tool_result {
    /**
     * `sizeof(agenthost_tool_result)`.
     */
    size_t struct_size;
    /**
     * The step that it belongs to, or empty.
     */
    struct agenthost_str step_id;
    /**
     * The tool call: 1 to 255 bytes. One result is admitted for each.
     */
    struct agenthost_str tool_call_id;
    /**
     * The tool, not empty.
     */
    struct agenthost_str tool_name;
    /**
     * Names the execution: 1 to 255 bytes. A retry brings the same.
     */
    struct agenthost_str key;
    /**
     * JSON, at most 4 MiB; empty means null.
     */
    struct agenthost_str outcome;
} agenthost_tool_result;

/**
 * Which runs to list. All that is given has to fit. What is given beside a flag that does not ask for it is refused.
 */
typedef struct agenthost_list_runs {
    /**
     * `sizeof(agenthost_list_runs)`.
     */
    size_t struct_size;
    /**
     * In this state; 0 for any.
     */
    agenthost_run_status status;
    /**
     * `AGENTHOST_OWNER_...`.
     */
    uint32_t has_owner;
    /**
     * A principal; empty unless `has_owner` is `AGENTHOST_OWNER_GIVEN`.
     */
    struct agenthost_str owner;
    /**
     * 1: only runs for `agent_id`.
     */
    uint32_t has_agent_id;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * An agent; empty for runs without one, and when `has_agent_id` is 0.
     */
    struct agenthost_str agent_id;
    /**
     * The cursor of the page before; 0 for the first.
     */
    uint64_t after;
    /**
     * The most runs of the page, 1 to 1000; 0 for 100.
     */
    uint64_t limit;
} agenthost_list_runs;

/**
 * Done.
 */
#define AGENTHOST_OK 0

/**
 * A required pointer is NULL. Nothing happened.
 */
#define AGENTHOST_NULL_ARGUMENT 1

/**
 * A value is out of range; `why`, where a function offers it, names it. Nothing happened.
 */
#define AGENTHOST_INVALID_ARGUMENT 2

/**
 * A `struct_size` is too small or over 4096, or the struct has an unknown tail that is not 0. Nothing happened.
 */
#define AGENTHOST_INVALID_SIZE 3

/**
 * The host is closing or closed (never from dispatch: that answers `unavailable`).
 */
#define AGENTHOST_CLOSED 4

/**
 * This process is a fork of the one that made the handle. The handle can only be released.
 */
#define AGENTHOST_FORKED 5

/**
 * Answered, cancelled or deferred before: this call changed nothing.
 */
#define AGENTHOST_ALREADY_DONE 6

/**
 * This kind of answer does not fit the operation: nothing changed.
 */
#define AGENTHOST_WRONG_OPERATION 7

/**
 * The answer breaks a rule of the contract: it went out as `internal`, the rule is logged.
 */
#define AGENTHOST_BAD_ANSWER 8

/**
 * Client: not a valid answer to this request; `why` says which rule it breaks.
 */
#define AGENTHOST_BAD_RESPONSE 9

/**
 * Close only: a callback is still on some thread's stack.
 */
#define AGENTHOST_TIMED_OUT 10

/**
 * The call could only wait for itself.
 */
#define AGENTHOST_WOULD_DEADLOCK 11

/**
 * A port of another major version.
 */
#define AGENTHOST_ABI_MISMATCH 12

/**
 * A bug in the library or in a service written in Rust; logged.
 */
#define AGENTHOST_PANIC 13

/**
 * Submits a run.
 */
#define AGENTHOST_CREATE_RUN 1

/**
 * Reads a run.
 */
#define AGENTHOST_GET_RUN 2

/**
 * Cancels a run.
 */
#define AGENTHOST_CANCEL_RUN 3

/**
 * Approves or denies what a run waits for.
 */
#define AGENTHOST_RESOLVE_APPROVAL 4

/**
 * Lets an approved run go on.
 */
#define AGENTHOST_RESUME_RUN 5

/**
 * Reads a run's events after a cursor.
 */
#define AGENTHOST_LIST_EVENTS 6

/**
 * Accepted, not started.
 */
#define AGENTHOST_RUN_CREATED 1

/**
 * Being worked on.
 */
#define AGENTHOST_RUN_RUNNING 2

/**
 * Suspended until an approval is resolved.
 */
#define AGENTHOST_RUN_WAITING_FOR_APPROVAL 3

/**
 * Ended with a result.
 */
#define AGENTHOST_RUN_COMPLETED 4

/**
 * Ended with an error, or its approval was denied.
 */
#define AGENTHOST_RUN_FAILED 5

/**
 * Ended by `cancel_run`.
 */
#define AGENTHOST_RUN_CANCELLED 6

/**
 * Ended by its deadline.
 */
#define AGENTHOST_RUN_TIMED_OUT 7

/**
 * Nobody has decided yet. Not a decision in `resolve_approval`.
 */
#define AGENTHOST_APPROVAL_PENDING 1

/**
 * The tool call may go on.
 */
#define AGENTHOST_APPROVAL_APPROVED 2

/**
 * The tool call may not go on.
 */
#define AGENTHOST_APPROVAL_DENIED 3

/**
 * It ends the run as failed.
 */
#define AGENTHOST_ON_DENIED_FAIL 1

/**
 * The run goes on once all is decided, and its worker is told.
 */
#define AGENTHOST_ON_DENIED_RESUME 2

/**
 * A client calls `resume_run`.
 */
#define AGENTHOST_RESUME_EXPLICIT 1

/**
 * The last decision does, in the same transaction; the resume input is then `{}`.
 */
#define AGENTHOST_RESUME_AUTO 2

/**
 * It can be decided.
 */
#define AGENTHOST_APPROVAL_STATE_PENDING 1

/**
 * It was approved.
 */
#define AGENTHOST_APPROVAL_STATE_APPROVED 2

/**
 * It was denied, or expired.
 */
#define AGENTHOST_APPROVAL_STATE_DENIED 3

/**
 * Its run ended before anybody decided it.
 */
#define AGENTHOST_APPROVAL_STATE_CLOSED 4

/**
 * The request breaks a rule of the contract or of the service.
 */
#define AGENTHOST_CODE_INVALID_REQUEST 1

/**
 * The host does not speak the request's protocol version.
 */
#define AGENTHOST_CODE_UNSUPPORTED_PROTOCOL_VERSION 2

/**
 * Nobody was authenticated.
 */
#define AGENTHOST_CODE_UNAUTHORIZED 3

/**
 * The principal may not do that.
 */
#define AGENTHOST_CODE_FORBIDDEN 4

/**
 * There is no such run for this principal.
 */
#define AGENTHOST_CODE_NOT_FOUND 5

/**
 * The run is in another state or revision than the request expects.
 */
#define AGENTHOST_CODE_CONFLICT 6

/**
 * Not now. After a mutation the outcome is not known: send the same bytes again.
 */
#define AGENTHOST_CODE_UNAVAILABLE 7

/**
 * A fault of the host. After a mutation the outcome is not known: send the same bytes again.
 */
#define AGENTHOST_CODE_INTERNAL 8

/**
 * The run is at another revision than the call expects; the number `currentRevision` says which.
 */
#define AGENTHOST_REASON_REVISION_MISMATCH 1

/**
 * The run's state does not allow the call.
 */
#define AGENTHOST_REASON_INVALID_STATE 2

/**
 * The approval is not the run's current one.
 */
#define AGENTHOST_REASON_APPROVAL_MISMATCH 3

/**
 * There is a run of that id, from another request.
 */
#define AGENTHOST_REASON_RUN_EXISTS 4

/**
 * The key was used for another request.
 */
#define AGENTHOST_REASON_IDEMPOTENCY_MISMATCH 5

/**
 * A worker has the run, or it waits for one: try again after the number `retryAfterMs`.
 */
#define AGENTHOST_REASON_CLAIM_HELD 6

/**
 * The worker does not have the run any more.
 */
#define AGENTHOST_REASON_CLAIM_LOST 7

/**
 * The events after the cursor were compacted away; those from the number `firstSequence` on are there.
 */
#define AGENTHOST_REASON_CURSOR_EXPIRED 8

/**
 * The cursor is after the run's last event, the number `headSequence`: it belongs to a run that was purged and created again.
 */
#define AGENTHOST_REASON_CURSOR_AHEAD 9

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * What a status means, for people. Static text, NUL-terminated, never NULL, also for a number that is no status.
 */
const char *agenthost_status_text(agenthost_status status);

/**
 * The buffer's first byte; valid until it is freed. Not NUL-terminated. NULL for NULL.
 */
const char *agenthost_buffer_data(const struct agenthost_buffer *buffer);

/**
 * The number of bytes in the buffer. 0 for NULL.
 */
size_t agenthost_buffer_len(const struct agenthost_buffer *buffer);

/**
 * Frees a buffer. NULL is fine.
 */
void agenthost_buffer_free(struct agenthost_buffer *buffer);

/**
 * How many handles of a kind (`AGENTHOST_LIVE_...`) exist in this process; 0 for a kind that is not known. For tests: other
 * threads may be changing it.
 */
uint64_t agenthost_live(int32_t kind);

/**
 * Lists approvals, whoever owns their runs, in the order of their creation: those behind the cursor `after` (0: from the first), at
 * most `limit` (1 to 1000; 0 for 100) and 4 MiB. `filter` may be NULL: all. It costs by the page, not by what there is. Outcome:
 * approvals of the inbox, cursor.
 */
agenthost_status agenthost_runs_list_approvals(struct agenthost_runs *runs,
                                               const struct agenthost_approval_filter *filter,
                                               uint64_t after,
                                               uint64_t limit,
                                               agenthost_outcome_done done,
                                               void *data,
                                               struct agenthost_outcome **outcome);

/**
 * The same, and waits for an approval, at most `timeout_ms`, when there is none yet: the feed of a notifier, which keeps the cursor of
 * what it has handled, and so loses none. The cursor of a page without approvals is `after`.
 */
agenthost_status agenthost_runs_wait_approvals(struct agenthost_runs *runs,
                                               const struct agenthost_approval_filter *filter,
                                               uint64_t after,
                                               uint64_t limit,
                                               uint64_t timeout_ms,
                                               agenthost_outcome_done done,
                                               void *data,
                                               struct agenthost_outcome **outcome);

/**
 * Answers a mutation.
 */
agenthost_status agenthost_reply_submission(struct agenthost_reply *reply,
                                            const struct agenthost_submission *submission);

/**
 * Answers `get_run`.
 */
agenthost_status agenthost_reply_run(struct agenthost_reply *reply, const struct agenthost_run *run);

/**
 * Adds an event to the answer of `list_events`: zero or more events, in order, then one `agenthost_reply_page`.
 */
agenthost_status agenthost_reply_event(struct agenthost_reply *reply, const struct agenthost_event *event);

/**
 * Answers `list_events` with the events that were added. `next_sequence` is the last event's sequence, or the request's
 * cursor when there is no event; `has_more` (0 or 1) says whether more events are there already.
 */
agenthost_status agenthost_reply_page(struct agenthost_reply *reply, uint64_t next_sequence, uint32_t has_more);

/**
 * Answers any operation with a failure.
 */
agenthost_status agenthost_reply_error(struct agenthost_reply *reply, const struct agenthost_error *error);

/**
 * Answers any operation with its result as JSON text, for services that have it so. Checked like the others.
 */
agenthost_status agenthost_reply_json(struct agenthost_reply *reply, struct agenthost_str body);

/**
 * Answers any operation with `internal`, as the service failed, and logs why: `cause` and the fields, at `AGENTHOST_LOG_ERROR`. It is
 * logged also when the call has another answer or was deferred (`AGENTHOST_ALREADY_DONE`). None of it reaches the caller. What is
 * not UTF-8 is logged with replacement characters.
 */
agenthost_status agenthost_reply_fail(struct agenthost_reply *reply,
                                      struct agenthost_str cause,
                                      struct agenthost_pairs fields);

/**
 * Takes the reply out of the slot. `*deferred` is yours: it works from any thread, one thread at a time, also after the slot
 * has returned, and needs exactly one `agenthost_reply_free`, answered or not. The borrowed reply then answers
 * `AGENTHOST_ALREADY_DONE`. A deferred reply keeps neither the service nor the request alive: copy what you need before the
 * slot returns. A reply that is deferred already: `AGENTHOST_ALREADY_DONE`.
 */
agenthost_status agenthost_reply_defer(struct agenthost_reply *reply,
                                       struct agenthost_reply **deferred);

/**
 * Gives up a deferred reply. Unanswered it answers `unavailable` here; while its slot still runs it goes back to the slot
 * instead (which answers through the borrowed reply, or returns and answers `internal`). A reply that a slot borrows is
 * left alone. NULL is fine.
 */
void agenthost_reply_free(struct agenthost_reply *deferred);

/**
 * 1 when nobody waits for the answer any more: cancelled, timed out, host closed. 0 otherwise, and for NULL.
 */
uint32_t agenthost_reply_is_abandoned(const struct agenthost_reply *reply);

/**
 * Has `notify` run when nobody waits for a deferred reply any more. `notify` runs at most once, on the thread that gives the
 * call up, perhaps before this function returns, perhaps while another thread answers. `destroy` (may be NULL) runs exactly
 * once, after which `notify` is not running and will not run: on the thread of whichever of `notify`,
 * `agenthost_reply_free` or a failure of this function comes last. `AGENTHOST_ALREADY_DONE`: the call is answered, or has a
 * notification already. `AGENTHOST_INVALID_ARGUMENT`: the reply is one that a slot borrows.
 */
agenthost_status agenthost_reply_on_abandoned(struct agenthost_reply *deferred,
                                              void (*notify)(void *data),
                                              void *data,
                                              agenthost_destroy destroy);

/**
 * Makes a host. `options` may be NULL: every default.
 *
 * Takes `service->user_data` and `options->log_data` over whatever it returns: on failure both destroys have run before it
 * returns. (Except of a struct that is NULL or whose `struct_size` is below the first release's or over 4096: there is nothing to read.)
 * `why` may be NULL; on failure it gets a text that says which member, and what was expected. `*host` is yours: one count.
 */
agenthost_status agenthost_host_new(const struct agenthost_service *service,
                                    const struct agenthost_host_options *options,
                                    struct agenthost_host **host,
                                    struct agenthost_buffer **why);

/**
 * Takes another count.
 */
agenthost_status agenthost_host_retain(struct agenthost_host *host);

/**
 * Refuses new calls (they answer `unavailable`), waits up to `timeout_ms` for those in flight, then answers every deferred
 * one `unavailable`. 0 does not wait; UINT64_MAX waits for ever.
 * - `AGENTHOST_OK`: no slot, `done`, `notify` or log callback runs or will run, and `destroy` has returned. Closing again is OK. Only
 *   what is asked for from then on still comes, on the thread that asks: the `done` of a dispatch (`unavailable`), and the `notify` of
 *   `agenthost_reply_on_abandoned`, each before its function returns.
 * - `AGENTHOST_TIMED_OUT`: a callback is still on some thread's stack; nothing was destroyed; call again.
 * - `AGENTHOST_WOULD_DEADLOCK`: called from a callback of this host; the host is now closing.
 * - `AGENTHOST_FORKED`: nothing happened.
 */
agenthost_status agenthost_host_close(struct agenthost_host *host,
                                      uint64_t timeout_ms);

/**
 * Gives a count up. The last release closes with timeout 0, then waits for callbacks that are on other threads' stacks. `destroy` runs
 * on the thread that closes or releases, never on a thread of the service, so it may join them. (A last release from inside a
 * callback of this host does not wait: `destroy` then runs where the last callback returns.) In a forked child it only
 * forgets. NULL is fine.
 */
void agenthost_host_release(struct agenthost_host *host);

/**
 * Any bytes in, one response envelope out, with the host's defaults and no principal. See `agenthost_dispatch_json_with`.
 */
agenthost_status agenthost_dispatch_json(struct agenthost_host *host,
                                         struct agenthost_str message,
                                         struct agenthost_buffer **response);

/**
 * Any bytes in, one response envelope out. `message` is borrowed until the function returns. The slot runs on this thread; when
 * it defers, the function waits. A timeout never cuts a slot short: it bounds the wait that follows, and answers `unavailable`.
 * `options` may be NULL. `*response` is yours. A host that is closing or closed answers `unavailable`: that is OK.
 *
 * Not OK: `*response` is NULL. `AGENTHOST_NULL_ARGUMENT`; `AGENTHOST_INVALID_SIZE`; `AGENTHOST_INVALID_ARGUMENT`: a principal that
 * is empty, not UTF-8 or holds U+0000, or one beside `has_principal` 0, or a flag that is not 0 or 1; `AGENTHOST_FORKED`.
 */
agenthost_status agenthost_dispatch_json_with(struct agenthost_host *host,
                                              struct agenthost_str message,
                                              const struct agenthost_dispatch_options *options,
                                              struct agenthost_buffer **response);

/**
 * Dispatches without waiting.
 *
 * OK: `done` runs exactly once. It may run before this function returns. It never runs while the slot runs: it runs on this
 * thread after the slot has returned, or later on the thread that answers, cancels, closes or drops the reply. Not OK: `done`
 * never runs. `message` is borrowed until this function returns, not until `done`. `options` may be NULL; a `timeout_ms` other
 * than 0 is `AGENTHOST_INVALID_ARGUMENT` (the library has no timer: use yours, and cancel). `pending` may be NULL. It is written
 * before the slot runs, so that another thread may cancel meanwhile. A dispatch that begins when the host is closing answers
 * `unavailable`; its `done` runs before this function returns, also when `agenthost_host_close` has returned OK meanwhile.
 */
agenthost_status agenthost_dispatch_json_async(struct agenthost_host *host,
                                               struct agenthost_str message,
                                               const struct agenthost_dispatch_options *options,
                                               agenthost_done done,
                                               void *done_data,
                                               struct agenthost_pending **pending);

/**
 * Gives the call up. OK: this cancel decided the answer, `unavailable`. `AGENTHOST_ALREADY_DONE`: something else did. Says
 * nothing about the run. Any thread, also inside `done`.
 */
agenthost_status agenthost_pending_cancel(struct agenthost_pending *pending);

/**
 * Forgets the handle. Does not cancel. Allowed inside `done`, and before it. NULL is fine.
 */
void agenthost_pending_free(struct agenthost_pending *pending);

/**
 * Builds a request that submits a run. The dispatcher's rules are checked here: `AGENTHOST_INVALID_ARGUMENT` and a text in `*why` (which
 * may be NULL) that names the member. `options` may be NULL. `*request` is yours.
 */
agenthost_status agenthost_request_create_run(const struct agenthost_create_run *body,
                                              const struct agenthost_request_options *options,
                                              struct agenthost_request **request,
                                              struct agenthost_buffer **why);

/**
 * Builds a request that reads a run. See `agenthost_request_create_run`.
 */
agenthost_status agenthost_request_get_run(const struct agenthost_get_run *body,
                                           const struct agenthost_request_options *options,
                                           struct agenthost_request **request,
                                           struct agenthost_buffer **why);

/**
 * Builds a request that cancels a run. See `agenthost_request_create_run`.
 */
agenthost_status agenthost_request_cancel_run(const struct agenthost_cancel_run *body,
                                              const struct agenthost_request_options *options,
                                              struct agenthost_request **request,
                                              struct agenthost_buffer **why);

/**
 * Builds a request that approves or denies what a run waits for. See `agenthost_request_create_run`.
 */
agenthost_status agenthost_request_resolve_approval(const struct agenthost_resolve_approval *body,
                                                    const struct agenthost_request_options *options,
                                                    struct agenthost_request **request,
                                                    struct agenthost_buffer **why);

/**
 * Builds a request that lets an approved run go on. See `agenthost_request_create_run`.
 */
agenthost_status agenthost_request_resume_run(const struct agenthost_resume_run *body,
                                              const struct agenthost_request_options *options,
                                              struct agenthost_request **request,
                                              struct agenthost_buffer **why);

/**
 * Builds a request that reads events after a cursor. See `agenthost_request_create_run`.
 */
agenthost_status agenthost_request_list_events(const struct agenthost_list_events *body,
                                               const struct agenthost_request_options *options,
                                               struct agenthost_request **request,
                                               struct agenthost_buffer **why);

/**
 * The envelope: the same bytes each time, send them again to retry. Borrowed from the request.
 */
struct agenthost_str agenthost_request_bytes(const struct agenthost_request *request);

/**
 * What names the request. Borrowed from the request.
 */
struct agenthost_str agenthost_request_id(const struct agenthost_request *request);

/**
 * What names the mutation; empty for a read without a key. Borrowed from the request.
 */
struct agenthost_str agenthost_request_idempotency_key(const struct agenthost_request *request);

/**
 * Frees a request. NULL is fine.
 */
void agenthost_request_free(struct agenthost_request *request);

/**
 * Checks that `message` answers `request`, and takes it apart. `message` is copied. A well-formed refusal is OK, with
 * `agenthost_response_error`. `AGENTHOST_BAD_RESPONSE`: not an answer to this request, and `*why` (which may be NULL) says which rule
 * it breaks. Of metadata what has a sensitive name is dropped. `*response` is yours.
 */
agenthost_status agenthost_response_parse(const struct agenthost_request *request,
                                          struct agenthost_str message,
                                          struct agenthost_response **response,
                                          struct agenthost_buffer **why);

/**
 * Like `agenthost_response_parse`, of a response whose request is not known (in a log, in a proxy): everything but "it
 * answers this request" is checked.
 */
agenthost_status agenthost_response_parse_any(struct agenthost_str message,
                                              struct agenthost_response **response,
                                              struct agenthost_buffer **why);

/**
 * The operation that the response names. 0 for NULL, and when it is a refusal of a version that this library does not speak
 * with an operation that it does not know.
 */
agenthost_operation agenthost_response_operation(const struct agenthost_response *response);

/**
 * The request that it answers; empty in a refusal whose request could not be read. Borrowed from the response.
 */
struct agenthost_str agenthost_response_request_id(const struct agenthost_response *response);

/**
 * The version that it is written in. Borrowed from the response.
 */
struct agenthost_str agenthost_response_protocol_version(const struct agenthost_response *response);

/**
 * The error, or NULL. After a mutation `AGENTHOST_CODE_INTERNAL` and `AGENTHOST_CODE_UNAVAILABLE` mean that the outcome is not known: send
 * the same bytes again. Borrowed from the response, like what the next three return; at most one of the four is there.
 */
const struct agenthost_error *agenthost_response_error(const struct agenthost_response *response);

/**
 * The result of a mutation, or NULL.
 */
const struct agenthost_submission *agenthost_response_submission(const struct agenthost_response *response);

/**
 * The result of `get_run`, or NULL.
 */
const struct agenthost_run *agenthost_response_run(const struct agenthost_response *response);

/**
 * 1 when it is the result of `list_events`, else 0.
 */
uint32_t agenthost_response_is_page(const struct agenthost_response *response);

/**
 * The number of events of the page; 0 when it is none.
 */
size_t agenthost_response_event_count(const struct agenthost_response *response);

/**
 * An event of the page by its place from 0, or NULL when there is none. Borrowed from the response.
 */
const struct agenthost_event *agenthost_response_event(const struct agenthost_response *response, size_t index);

/**
 * The cursor for the next page; 0 when it is no page.
 */
uint64_t agenthost_response_next_sequence(const struct agenthost_response *response);

/**
 * 1 when more events are there already, else 0.
 */
uint32_t agenthost_response_has_more(const struct agenthost_response *response);

/**
 * Frees a response, and everything that was borrowed from it. NULL is fine.
 */
void agenthost_response_free(struct agenthost_response *response);

/**
 * The most preferred supported version that is offered; `data` is NULL when there is none (then negotiation fails), or when
 * `offered` is NULL or not readable. Static.
 */
struct agenthost_str agenthost_negotiate_version(const struct agenthost_str *offered,
                                                 size_t count);

/**
 * 1 when `name` looks as if its value were a secret: by the built-in names, and a host's own when `host` is not NULL. A name
 * that is not UTF-8 is judged by its ASCII letters and digits like any other. Else 0.
 */
uint32_t agenthost_is_sensitive_name(const struct agenthost_host *host,
                                     struct agenthost_str name);

/**
 * Opens runs: `memory:` for runs that end with the process, `sqlite:path` for a file, which is made where there is none. What is
 * overdue is ended before this returns. `options` may be NULL: every default. `*runs` is yours: one count.
 *
 * Takes `options->log_data` and `options->access_data` over whatever it returns, as `agenthost_host_new` does. `why` may be NULL; on
 * failure it gets a text that says what was expected, or why the store cannot be opened.
 */
agenthost_status agenthost_runs_open(struct agenthost_str url,
                                     const struct agenthost_runs_options *options,
                                     struct agenthost_runs **runs,
                                     struct agenthost_buffer **why);

/**
 * Takes another count.
 */
agenthost_status agenthost_runs_retain(struct agenthost_runs *runs);

/**
 * Finishes what was accepted, ends every wait with `unavailable`, and refuses everything from then on. Closing again is OK.
 * `AGENTHOST_WOULD_DEADLOCK`: called from a callback of these runs; nothing happened.
 */
agenthost_status agenthost_runs_close(struct agenthost_runs *runs);

/**
 * Gives a count up. When the last count and the last host over these runs are gone they are closed. In a forked child it only
 * forgets. NULL is fine.
 */
void agenthost_runs_release(struct agenthost_runs *runs);

/**
 * A host that these runs serve. `options` may be NULL: every default. `*host` is yours: one count. It keeps the runs open; closing
 * it does not close them. A host over closed runs answers `unavailable`. Takes `options->log_data` over whatever it returns, and tells
 * `why`, as `agenthost_host_new` does.
 */
agenthost_status agenthost_runs_host(struct agenthost_runs *runs,
                                     const struct agenthost_host_options *options,
                                     struct agenthost_host **host,
                                     struct agenthost_buffer **why);

/**
 * The error, or NULL. `AGENTHOST_CODE_UNAVAILABLE` and `AGENTHOST_CODE_INTERNAL` mean that it is not known whether the call was done: call
 * again. Borrowed from the outcome, like everything below.
 */
const struct agenthost_error *agenthost_outcome_error(const struct agenthost_outcome *outcome);

/**
 * Of suspend, complete and fail: the run afterwards. Else NULL.
 */
const struct agenthost_submission *agenthost_outcome_submission(const struct agenthost_outcome *outcome);

/**
 * Of suspend: how many approvals it made.
 */
size_t agenthost_outcome_approval_id_count(const struct agenthost_outcome *outcome);

/**
 * Of suspend: the id of an approval by its place from 0, in the order of the suspension. Else empty.
 */
struct agenthost_str agenthost_outcome_approval_id(const struct agenthost_outcome *outcome, size_t index);

/**
 * The number of approvals of the inbox.
 */
size_t agenthost_outcome_inbox_count(const struct agenthost_outcome *outcome);

/**
 * An approval of the inbox by its place from 0, or NULL.
 */
const struct agenthost_inbox_approval *agenthost_outcome_inbox_approval(const struct agenthost_outcome *outcome,
                                                                        size_t index);

/**
 * Of claim: the run, or NULL when there is none to be had.
 */
const struct agenthost_claimed *agenthost_outcome_claimed(const struct agenthost_outcome *outcome);

/**
 * One number: of heartbeat the lease's end (milliseconds since the Unix epoch), of append the sequence of the first event, of
 * waiting for work 1 when there is some, of compact the first sequence that is left, of purge and timers how many runs. Else 0.
 */
int64_t agenthost_outcome_number(const struct agenthost_outcome *outcome);

/**
 * Of waiting for events: the run's status. Of waiting for the end of a claim: the run's status once the claim is lost, 0 while it
 * is valid. Else 0.
 */
agenthost_run_status agenthost_outcome_status(const struct agenthost_outcome *outcome);

/**
 * The cursor of the next page of events, runs or approvals. Else 0.
 */
uint64_t agenthost_outcome_next(const struct agenthost_outcome *outcome);

/**
 * 1 when there may be more behind the page, else 0.
 */
uint32_t agenthost_outcome_has_more(const struct agenthost_outcome *outcome);

/**
 * The number of events.
 */
size_t agenthost_outcome_event_count(const struct agenthost_outcome *outcome);

/**
 * An event by its place from 0, or NULL.
 */
const struct agenthost_event *agenthost_outcome_event(const struct agenthost_outcome *outcome, size_t index);

/**
 * The number of admitted results.
 */
size_t agenthost_outcome_admitted_count(const struct agenthost_outcome *outcome);

/**
 * An admitted result by its place from 0, or NULL.
 */
const struct agenthost_admitted *agenthost_outcome_admitted(const struct agenthost_outcome *outcome, size_t index);

/**
 * The number of runs.
 */
size_t agenthost_outcome_run_count(const struct agenthost_outcome *outcome);

/**
 * A run by its place from 0, or NULL.
 */
const struct agenthost_run_summary *agenthost_outcome_run(const struct agenthost_outcome *outcome, size_t index);

/**
 * Frees an outcome, and everything that was borrowed from it. NULL is fine.
 */
void agenthost_outcome_free(struct agenthost_outcome *outcome);

/**
 * The reason of a conflict of durable runs, `AGENTHOST_REASON_...`; 0 for any other error, and for NULL. `error` is an outcome's, a
 * response's, or one of your own.
 */
agenthost_reason agenthost_error_reason(const struct agenthost_error *error);

/**
 * A number that a conflict brings: `name` is the member of the error's details, `currentRevision`, `retryAfterMs`, `firstSequence` or
 * `headSequence`, as the reason says. 1: `*number` is written. 0: there is none, and it is untouched. `error` as for
 * `agenthost_error_reason`.
 */
uint32_t agenthost_error_number(const struct agenthost_error *error,
                                struct agenthost_str name,
                                uint64_t *number);

/**
 * Takes the longest claimable run of the agents. Outcome: `agenthost_outcome_claimed`, NULL when there is none.
 *
 * Of this and all calls below: give `done` (and `data`), which gets the outcome later, or NULL and `outcome`, for which the call waits.
 * A call that waits is `AGENTHOST_WOULD_DEADLOCK` inside a callback of runs.
 * Not OK: `done` does not run, and `*outcome` is NULL. Values that break a rule are an outcome with an error, which names the member.
 */
agenthost_status agenthost_runs_claim(struct agenthost_runs *runs,
                                      const struct agenthost_claim_request *request,
                                      agenthost_outcome_done done,
                                      void *data,
                                      struct agenthost_outcome **outcome);

/**
 * Says that the worker is alive. Outcome: the lease's end, `agenthost_outcome_number`.
 */
agenthost_status agenthost_runs_heartbeat(struct agenthost_runs *runs,
                                          struct agenthost_str run_id,
                                          struct agenthost_str token,
                                          agenthost_outcome_done done,
                                          void *data,
                                          struct agenthost_outcome **outcome);

/**
 * Appends 1 to 1000 events, all or none. With a key (empty: none) a retry stores nothing twice. Outcome: the first event's
 * sequence, `agenthost_outcome_number`.
 */
agenthost_status agenthost_runs_append_events(struct agenthost_runs *runs,
                                              struct agenthost_str run_id,
                                              struct agenthost_str token,
                                              const struct agenthost_new_event *const *events,
                                              size_t event_count,
                                              struct agenthost_str key,
                                              agenthost_outcome_done done,
                                              void *data,
                                              struct agenthost_outcome **outcome);

/**
 * Ends the claim and has the run wait for approvals, 1 to 64. Outcome: `agenthost_outcome_submission`, `agenthost_outcome_approval_id`
 * for each, in order.
 */
agenthost_status agenthost_runs_suspend(struct agenthost_runs *runs,
                                        struct agenthost_str run_id,
                                        struct agenthost_str token,
                                        const struct agenthost_suspension *suspension,
                                        agenthost_outcome_done done,
                                        void *data,
                                        struct agenthost_outcome **outcome);

/**
 * Records the outcome of a tool call for good. Outcome: one admitted result, the first.
 */
agenthost_status agenthost_runs_admit_tool_result(struct agenthost_runs *runs,
                                                  struct agenthost_str run_id,
                                                  struct agenthost_str token,
                                                  const struct agenthost_tool_result *result,
                                                  agenthost_outcome_done done,
                                                  void *data,
                                                  struct agenthost_outcome **outcome);

/**
 * Ends the run well, with a result (JSON, at most 4 MiB; empty means null). Outcome: `agenthost_outcome_submission`.
 */
agenthost_status agenthost_runs_complete(struct agenthost_runs *runs,
                                         struct agenthost_str run_id,
                                         struct agenthost_str token,
                                         struct agenthost_str result,
                                         agenthost_outcome_done done,
                                         void *data,
                                         struct agenthost_outcome **outcome);

/**
 * Ends the run with an error, a text that is not empty. Outcome: `agenthost_outcome_submission`.
 */
agenthost_status agenthost_runs_fail(struct agenthost_runs *runs,
                                     struct agenthost_str run_id,
                                     struct agenthost_str token,
                                     struct agenthost_str error,
                                     agenthost_outcome_done done,
                                     void *data,
                                     struct agenthost_outcome **outcome);

/**
 * Gives the run back: somebody may claim it `delay_ms` from now. The outcome holds nothing but an error.
 */
agenthost_status agenthost_runs_give_back(struct agenthost_runs *runs,
                                          struct agenthost_str run_id,
                                          struct agenthost_str token,
                                          uint64_t delay_ms,
                                          agenthost_outcome_done done,
                                          void *data,
                                          struct agenthost_outcome **outcome);

/**
 * Waits, at most `timeout_ms`, until the claim is not valid any more. Outcome: `agenthost_outcome_status`, 0 while it is valid.
 */
agenthost_status agenthost_runs_wait_claim_lost(struct agenthost_runs *runs,
                                                struct agenthost_str run_id,
                                                struct agenthost_str token,
                                                uint64_t timeout_ms,
                                                agenthost_outcome_done done,
                                                void *data,
                                                struct agenthost_outcome **outcome);

/**
 * Waits, at most `timeout_ms`, until one of the agents, of which there is at least one, has a run that can be claimed. Outcome: 1 or 0,
 * `agenthost_outcome_number`.
 */
agenthost_status agenthost_runs_wait_for_work(struct agenthost_runs *runs,
                                              const struct agenthost_str *agent_ids,
                                              size_t agent_id_count,
                                              uint64_t timeout_ms,
                                              agenthost_outcome_done done,
                                              void *data,
                                              struct agenthost_outcome **outcome);

/**
 * Reads a run's events after `after`, at most `limit` (1 to 1000, 0 for 256), and waits for one, at most `timeout_ms`. Returns at once
 * when the run has ended. For whoever may see every run. Outcome: events, cursor, `agenthost_outcome_status`.
 */
agenthost_status agenthost_runs_wait_events(struct agenthost_runs *runs,
                                            struct agenthost_str run_id,
                                            uint64_t after,
                                            uint64_t limit,
                                            uint64_t timeout_ms,
                                            agenthost_outcome_done done,
                                            void *data,
                                            struct agenthost_outcome **outcome);

/**
 * Lists runs, whoever owns them, in the order of their creation. `request` may be NULL: all. Outcome: runs, cursor.
 */
agenthost_status agenthost_runs_list(struct agenthost_runs *runs,
                                     const struct agenthost_list_runs *request,
                                     agenthost_outcome_done done,
                                     void *data,
                                     struct agenthost_outcome **outcome);

/**
 * The admitted results of a run whose tool call ids follow `after` (empty: from the first), at most `limit` (1 to 1000) and 4 MiB.
 * The last one's id is the cursor of the next page. Outcome: admitted results.
 */
agenthost_status agenthost_runs_admitted_results(struct agenthost_runs *runs,
                                                 struct agenthost_str run_id,
                                                 struct agenthost_str after,
                                                 uint64_t limit,
                                                 agenthost_outcome_done done,
                                                 void *data,
                                                 struct agenthost_outcome **outcome);

/**
 * Removes the run's events up to and with `through`, but for the last. Outcome: the first sequence that is left.
 */
agenthost_status agenthost_runs_compact(struct agenthost_runs *runs,
                                        struct agenthost_str run_id,
                                        uint64_t through,
                                        agenthost_outcome_done done,
                                        void *data,
                                        struct agenthost_outcome **outcome);

/**
 * Deletes the runs that ended before a time (milliseconds since the Unix epoch). Outcome: how many.
 */
agenthost_status agenthost_runs_purge(struct agenthost_runs *runs,
                                      int64_t ended_before_unix_ms,
                                      agenthost_outcome_done done,
                                      void *data,
                                      struct agenthost_outcome **outcome);

/**
 * Writes a consistent copy of everything to a file that does not exist yet, while the work goes on.
 */
agenthost_status agenthost_runs_backup(struct agenthost_runs *runs,
                                       struct agenthost_str path,
                                       agenthost_outcome_done done,
                                       void *data,
                                       struct agenthost_outcome **outcome);

/**
 * The library's version, for example `0.1.0`. Static text, NUL-terminated.
 */
const char *agenthost_version(void);

/**
 * The library's `AGENTHOST_ABI_VERSION`, to compare with the header's.
 */
uint32_t agenthost_abi_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* AGENTHOST_H */

/* ------------------------------------------------------------------------------------------------ conveniences */

#ifndef AGENTHOST_CONVENIENCES
#define AGENTHOST_CONVENIENCES

/* Zeroes a struct of this header and sets its size. Works in C and C++. */
#define AGENTHOST_INIT(pointer) agenthost_init((pointer), sizeof *(pointer))

/* 1 when a struct that the library handed you has `member`. */
#define AGENTHOST_HAS(pointer, type, member) \
    ((pointer)->struct_size >= offsetof(type, member) + sizeof((pointer)->member))

static inline void agenthost_init(void *pointer, size_t size) {
#ifdef __cplusplus
    unsigned char *bytes = static_cast<unsigned char *>(pointer);
    size_t *struct_size = static_cast<size_t *>(pointer);
#else
    unsigned char *bytes = (unsigned char *)pointer;
    size_t *struct_size = (size_t *)pointer;
#endif
    size_t i;
    for (i = 0; i < size; i++) bytes[i] = 0;
    *struct_size = size;
}

/* A NUL-terminated text as an agenthost_str; NULL is the empty text. */
static inline agenthost_str agenthost_text(const char *nul_terminated) {
    agenthost_str out;
    out.data = nul_terminated;
    out.len = 0;
    if (nul_terminated) while (nul_terminated[out.len]) out.len++;
    return out;
}

#endif /* AGENTHOST_CONVENIENCES */
