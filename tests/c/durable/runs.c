/* Durable runs from C: a run's whole life over a file, with every call of the worker's and the operator's side, and misuse. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* A claim, copied out of its outcome. */
typedef struct claim {
    char run_id[64];
    char token[64];
} claim;

static int take(agenthost_runs *runs, claim *out) {
    agenthost_claim_request request;
    agenthost_outcome *outcome = NULL;
    agenthost_str agent = {NULL, 0};
    const agenthost_claimed *claimed;
    int found;
    AGENTHOST_INIT(&request);
    request.agent_ids = &agent;
    request.agent_id_count = 1;
    request.worker = TEXT("a worker in C");
    well(agenthost_runs_claim(runs, &request, NULL, NULL, &outcome), &outcome);
    claimed = agenthost_outcome_claimed(outcome);
    found = claimed != NULL;
    if (found) {
        CHECK(claimed->token.len == 32 && claimed->lease_ms == 30000 && claimed->has_owner == 0);
        CHECK(is(claimed->context->run_id, "run") && is(claimed->input, "{\"n\":1}") && claimed->metadata.count == 1);
        snprintf(out->run_id, sizeof out->run_id, "%.*s", (int)claimed->run_id.len, claimed->run_id.data);
        snprintf(out->token, sizeof out->token, "%.*s", (int)claimed->token.len, claimed->token.data);
        if (claimed->approval_count != 0) {
            const agenthost_decided_approval *first = claimed->approvals[0], *second = claimed->approvals[1];
            CHECK(claimed->approval_count == 2 && is(first->arguments, "{\"path\":\"/tmp\"}") && second->arguments.len == 0);
            CHECK(first->approval->resolution == AGENTHOST_APPROVAL_APPROVED && first->has_decided_by == 0);
            CHECK(second->approval->resolution == AGENTHOST_APPROVAL_DENIED && is(second->approval->reason, "not today"));
            CHECK(second->has_decided_by == 1 && is(second->decided_by, "bob") && second->expired == 0);
            CHECK(is(claimed->continuation, "[7]") && is(claimed->resume_input, "{\"go\":true}"));
        }
    }
    agenthost_outcome_free(outcome);
    return found;
}

/* An outcome that another thread brings. */
typedef struct inbox {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    agenthost_outcome *outcome;
    agenthost_status waited, close;
    agenthost_runs *runs;
} inbox;

static void receive(void *data, agenthost_outcome *outcome) {
    inbox *in = data;
    pthread_mutex_lock(&in->lock);
    in->outcome = outcome;
    if (in->runs != NULL) {
        agenthost_outcome *runs = NULL;
        in->waited = agenthost_runs_list(in->runs, NULL, NULL, NULL, &runs);
        agenthost_outcome_free(runs);
        in->close = agenthost_runs_close(in->runs);
    }
    pthread_cond_signal(&in->changed);
    pthread_mutex_unlock(&in->lock);
}

static agenthost_outcome *received(inbox *in) {
    agenthost_outcome *outcome;
    pthread_mutex_lock(&in->lock);
    while (in->outcome == NULL) pthread_cond_wait(&in->changed, &in->lock);
    outcome = in->outcome;
    in->outcome = NULL;
    pthread_mutex_unlock(&in->lock);
    return outcome;
}

#define INBOX {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, AGENTHOST_OK, AGENTHOST_OK, NULL}

/* An outcome with a conflict, which brings its reason and a number. */
static void conflicts(agenthost_status status, agenthost_outcome **place, agenthost_reason reason, const char *name, uint64_t expected) {
    const agenthost_error *error;
    uint64_t number = 0;
    CHECK(status == AGENTHOST_OK && *place != NULL);
    error = agenthost_outcome_error(*place);
    CHECK(error != NULL && error->code == AGENTHOST_CODE_CONFLICT && agenthost_error_reason(error) == reason);
    CHECK(agenthost_error_number(error, TEXT(name), &number) == 1 && number == expected);
    agenthost_outcome_free(*place);
    *place = NULL;
}

static void a_run_lives(agenthost_runs *runs, const char *copy) {
    agenthost_host *host = NULL;
    agenthost_outcome *outcome = NULL;
    agenthost_new_event event;
    const agenthost_new_event *events[2];
    agenthost_suspension suspension;
    agenthost_approval_request needed, welcome;
    const agenthost_approval_request *approvals[2];
    agenthost_approval_filter filter;
    agenthost_str approver;
    agenthost_tool_result result;
    agenthost_list_runs list;
    claim first, second;
    char body[512], approval[64], mail[64];
    inbox in = INBOX, feed = INBOX;
    agenthost_str agent = {NULL, 0};
    int64_t sequence;

    CHECK(agenthost_runs_host(runs, NULL, &host, NULL) == AGENTHOST_OK);
    CHECK(agenthost_runs_wait_for_work(runs, &agent, 1, SOON, receive, &in, NULL) == AGENTHOST_OK);
    dispatch(host, "create_run", "create", "{\"context\":{\"runId\":\"run\"},\"input\":{\"n\":1},\"metadata\":{\"k\":\"v\"}}", "\"revision\":1");
    dispatch(host, "create_run", "create", "{\"input\":{\"n\":1.0},\"metadata\":{\"k\":\"v\"},\"context\":{\"runId\":\"run\"}}", "\"revision\":1");
    outcome = received(&in);
    CHECK(agenthost_outcome_number(outcome) == 1);
    agenthost_outcome_free(outcome);

    CHECK(take(runs, &first) == 1);
    CHECK(take(runs, &second) == 0);
    well(agenthost_runs_heartbeat(runs, TEXT("run"), TEXT(first.token), NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_number(outcome) > 1600000000000);
    agenthost_outcome_free(outcome);

    AGENTHOST_INIT(&event);
    event.type = TEXT("progress");
    event.data = TEXT("{\"percent\":50}");
    events[0] = events[1] = &event;
    well(agenthost_runs_append_events(runs, TEXT("run"), TEXT(first.token), events, 2, TEXT("k"), NULL, NULL, &outcome), &outcome);
    sequence = agenthost_outcome_number(outcome);
    CHECK(sequence == 3);
    agenthost_outcome_free(outcome);
    well(agenthost_runs_append_events(runs, TEXT("run"), TEXT(first.token), events, 2, TEXT("k"), NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_number(outcome) == sequence);
    agenthost_outcome_free(outcome);

    AGENTHOST_INIT(&result);
    result.tool_call_id = TEXT("call 1");
    result.tool_name = TEXT("search");
    result.key = TEXT("try 1");
    result.outcome = TEXT("[1,2]");
    well(agenthost_runs_admit_tool_result(runs, TEXT("run"), TEXT(first.token), &result, NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_admitted_count(outcome) == 1 && agenthost_outcome_admitted(outcome, 1) == NULL);
    CHECK(agenthost_outcome_admitted(outcome, 0)->repeated == 0 && agenthost_outcome_admitted(outcome, 0)->sequence == 5);
    agenthost_outcome_free(outcome);
    result.outcome = TEXT("[3]");
    well(agenthost_runs_admit_tool_result(runs, TEXT("run"), TEXT(first.token), &result, NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_admitted(outcome, 0)->repeated == 1 && is(agenthost_outcome_admitted(outcome, 0)->outcome, "[1,2]"));
    agenthost_outcome_free(outcome);
    well(agenthost_runs_admitted_results(runs, TEXT("run"), TEXT(""), 10, NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_admitted_count(outcome) == 1 && agenthost_outcome_has_more(outcome) == 0);
    agenthost_outcome_free(outcome);

    AGENTHOST_INIT(&suspension);
    AGENTHOST_INIT(&needed);
    needed.tool_call_id = TEXT("call 2");
    needed.tool_name = TEXT("delete");
    needed.arguments = TEXT("{\"path\":\"/tmp\"}");
    AGENTHOST_INIT(&welcome);
    welcome.tool_call_id = TEXT("call 3");
    welcome.tool_name = TEXT("mail");
    welcome.on_denied = AGENTHOST_ON_DENIED_RESUME;
    approver = TEXT("bob");
    welcome.approvers = &approver;
    welcome.approver_count = 1;
    approvals[0] = &needed;
    approvals[1] = &welcome;
    suspension.approvals = approvals;
    suspension.approval_count = 0;
    badly(agenthost_runs_suspend(runs, TEXT("run"), TEXT(first.token), &suspension, NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_INVALID_REQUEST, "approvals");
    suspension.approval_count = 2;
    CHECK(agenthost_runs_wait_approvals(runs, NULL, 0, 0, SOON, receive, &feed, NULL) == AGENTHOST_OK);
    suspension.continuation = TEXT("[7]");
    CHECK(agenthost_runs_wait_claim_lost(runs, TEXT("run"), TEXT(first.token), SOON, receive, &in, NULL) == AGENTHOST_OK);
    well(agenthost_runs_suspend(runs, TEXT("run"), TEXT(first.token), &suspension, NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_submission(outcome)->status == AGENTHOST_RUN_WAITING_FOR_APPROVAL);
    CHECK(agenthost_outcome_submission(outcome)->revision == 3);
    CHECK(agenthost_outcome_approval_id_count(outcome) == 2 && agenthost_outcome_approval_id(outcome, 2).len == 0);
    snprintf(approval, sizeof approval, "%.*s", (int)agenthost_outcome_approval_id(outcome, 0).len, agenthost_outcome_approval_id(outcome, 0).data);
    snprintf(mail, sizeof mail, "%.*s", (int)agenthost_outcome_approval_id(outcome, 1).len, agenthost_outcome_approval_id(outcome, 1).data);
    agenthost_outcome_free(outcome);
    outcome = received(&in);
    CHECK(agenthost_outcome_status(outcome) == AGENTHOST_RUN_WAITING_FOR_APPROVAL);
    agenthost_outcome_free(outcome);
    badly(agenthost_runs_heartbeat(runs, TEXT("run"), TEXT(first.token), NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_CONFLICT, "claim_lost");

    outcome = received(&feed);
    CHECK(agenthost_outcome_inbox_count(outcome) == 2 && agenthost_outcome_inbox_approval(outcome, 2) == NULL);
    CHECK(is(agenthost_outcome_inbox_approval(outcome, 0)->arguments, "{\"path\":\"/tmp\"}") && agenthost_outcome_next(outcome) == 2);
    CHECK(agenthost_outcome_inbox_approval(outcome, 1)->on_denied == AGENTHOST_ON_DENIED_RESUME);
    agenthost_outcome_free(outcome);
    AGENTHOST_INIT(&filter);
    filter.state = AGENTHOST_APPROVAL_STATE_PENDING;
    filter.approver = TEXT("bob");
    well(agenthost_runs_list_approvals(runs, &filter, 0, 0, NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_inbox_count(outcome) == 1 && is(agenthost_outcome_inbox_approval(outcome, 0)->approvers[0], "bob"));
    agenthost_outcome_free(outcome);
    filter.state = 5;
    badly(agenthost_runs_list_approvals(runs, &filter, 0, 0, NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_INVALID_REQUEST, "state");

    snprintf(body, sizeof body, "{\"runId\":\"run\",\"expectedRevision\":3,\"approvalId\":\"%s\",\"resolution\":\"approved\"}", approval);
    dispatch(host, "resolve_approval", "resolve", body, "\"revision\":4");
    snprintf(body, sizeof body, "{\"runId\":\"run\",\"expectedRevision\":4,\"approvalId\":\"%s\",\"resolution\":\"denied\",\"reason\":\"not today\"}", mail);
    dispatch(host, "resolve_approval", "deny without a principal", body, "\"unauthorized\"");
    dispatch_as(host, "bob", "resolve_approval", "deny", body, "\"revision\":5");
    snprintf(body, sizeof body, "{\"runId\":\"run\",\"expectedRevision\":5,\"approvalId\":\"%s\",\"input\":{\"go\":true}}", approval);
    dispatch(host, "resume_run", "resume", body, "\"revision\":6");
    CHECK(take(runs, &second) == 1);
    well(agenthost_runs_give_back(runs, TEXT("run"), TEXT(second.token), 0, NULL, NULL, &outcome), &outcome);
    agenthost_outcome_free(outcome);
    CHECK(take(runs, &second) == 1);
    badly(agenthost_runs_complete(runs, TEXT("run"), TEXT(second.token), TEXT("{1}"), NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_INVALID_REQUEST, "result");
    badly(agenthost_runs_fail(runs, TEXT("run"), TEXT("no token"), TEXT("e"), NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_INVALID_REQUEST, "token");
    CHECK(agenthost_runs_wait_events(runs, TEXT("run"), 10, 0, SOON, receive, &in, NULL) == AGENTHOST_OK);
    well(agenthost_runs_complete(runs, TEXT("run"), TEXT(second.token), TEXT("\"done\""), NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_submission(outcome)->status == AGENTHOST_RUN_COMPLETED && agenthost_outcome_approval_id_count(outcome) == 0);
    agenthost_outcome_free(outcome);
    outcome = received(&in);
    CHECK(agenthost_outcome_event_count(outcome) == 1 && agenthost_outcome_status(outcome) == AGENTHOST_RUN_COMPLETED);
    CHECK(is(agenthost_outcome_event(outcome, 0)->type, "run_completed") && agenthost_outcome_next(outcome) == 11);
    agenthost_outcome_free(outcome);

    AGENTHOST_INIT(&list);
    list.status = AGENTHOST_RUN_COMPLETED;
    list.has_owner = AGENTHOST_OWNER_NONE;
    well(agenthost_runs_list(runs, &list, NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_run_count(outcome) == 1 && is(agenthost_outcome_run(outcome, 0)->run_id, "run"));
    CHECK(agenthost_outcome_run(outcome, 0)->head_sequence == 11 && agenthost_outcome_run(outcome, 0)->completed_at_unix_ms.present == 1);
    agenthost_outcome_free(outcome);
    well(agenthost_runs_compact(runs, TEXT("run"), 4, NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_number(outcome) == 5);
    agenthost_outcome_free(outcome);
    conflicts(agenthost_runs_wait_events(runs, TEXT("run"), 0, 0, 0, NULL, NULL, &outcome), &outcome, AGENTHOST_REASON_CURSOR_EXPIRED, "firstSequence", 5);
    conflicts(agenthost_runs_wait_events(runs, TEXT("run"), 12, 0, SOON, NULL, NULL, &outcome), &outcome, AGENTHOST_REASON_CURSOR_AHEAD, "headSequence", 11);
    if (copy != NULL) {
        well(agenthost_runs_backup(runs, TEXT(copy), NULL, NULL, &outcome), &outcome);
        agenthost_outcome_free(outcome);
    } else {
        badly(agenthost_runs_backup(runs, TEXT("copy"), NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_INVALID_REQUEST, "");
    }
    well(agenthost_runs_purge(runs, INT64_MAX, NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_number(outcome) == 1);
    agenthost_outcome_free(outcome);
    dispatch(host, "get_run", "k", "{\"runId\":\"run\"}", "not_found");
    agenthost_host_release(host);
}

static void an_error_that_is_no_conflict_has_no_reason(void) {
    agenthost_error error;
    uint64_t number = 5;

    CHECK(agenthost_error_reason(NULL) == 0 && agenthost_error_number(NULL, TEXT("headSequence"), &number) == 0);
    AGENTHOST_INIT(&error);
    error.code = AGENTHOST_CODE_CONFLICT;
    error.message = TEXT("m");
    CHECK(agenthost_error_reason(&error) == 0);
    error.details = TEXT("{\"reason\":\"another\",\"headSequence\":-1}");
    CHECK(agenthost_error_reason(&error) == 0 && agenthost_error_number(&error, TEXT("headSequence"), &number) == 0);
    error.details = TEXT("{\"reason\":\"claim_lost\",\"n\":7}");
    CHECK(agenthost_error_reason(&error) == AGENTHOST_REASON_CLAIM_LOST);
    CHECK(agenthost_error_number(&error, TEXT("n"), NULL) == 0 && number == 5);
    CHECK(agenthost_error_number(&error, TEXT("n"), &number) == 1 && number == 7);
    error.code = AGENTHOST_CODE_NOT_FOUND;
    CHECK(agenthost_error_reason(&error) == 0 && agenthost_error_number(&error, TEXT("n"), &number) == 0);
    error.code = 99;
    CHECK(agenthost_error_reason(&error) == 0);
    error.struct_size = 3;
    CHECK(agenthost_error_reason(&error) == 0);
}

static void misuse_is_a_status(void) {
    agenthost_runs *runs = NULL;
    agenthost_runs_options options;
    agenthost_claim_request request;
    agenthost_buffer *why = NULL;
    agenthost_outcome *outcome = NULL;
    agenthost_str agent = {NULL, 0};
    inbox in = INBOX;

    CHECK(agenthost_runs_open(TEXT("mysql:x"), NULL, &runs, &why) == AGENTHOST_INVALID_ARGUMENT);
    CHECK(runs == NULL && why != NULL && agenthost_buffer_len(why) > 0);
    agenthost_buffer_free(why);
    CHECK(agenthost_runs_open(TEXT("memory:"), NULL, NULL, NULL) == AGENTHOST_NULL_ARGUMENT);
    AGENTHOST_INIT(&options);
    options.require_principal = 2;
    CHECK(agenthost_runs_open(TEXT("memory:"), &options, &runs, NULL) == AGENTHOST_INVALID_ARGUMENT);
    options.require_principal = 0;
    options.struct_size = 4;
    CHECK(agenthost_runs_open(TEXT("memory:"), &options, &runs, NULL) == AGENTHOST_INVALID_SIZE);
    CHECK(agenthost_runs_open(TEXT("memory:"), NULL, &runs, NULL) == AGENTHOST_OK);

    AGENTHOST_INIT(&request);
    CHECK(agenthost_runs_claim(NULL, &request, NULL, NULL, &outcome) == AGENTHOST_NULL_ARGUMENT);
    CHECK(agenthost_runs_claim(runs, NULL, NULL, NULL, &outcome) == AGENTHOST_NULL_ARGUMENT && outcome == NULL);
    CHECK(agenthost_runs_claim(runs, &request, NULL, NULL, NULL) == AGENTHOST_NULL_ARGUMENT);
    CHECK(agenthost_runs_claim(runs, &request, receive, &in, &outcome) == AGENTHOST_INVALID_ARGUMENT);
    badly(agenthost_runs_claim(runs, &request, NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_INVALID_REQUEST, "agentIds");
    request.agent_id_count = 1;
    CHECK(agenthost_runs_claim(runs, &request, NULL, NULL, &outcome) == AGENTHOST_NULL_ARGUMENT);
    agent.data = "\xff";
    agent.len = 1;
    request.agent_ids = &agent;
    badly(agenthost_runs_claim(runs, &request, NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_INVALID_REQUEST, "agentIds");

    /* A callback cannot wait for, nor close, what it is a callback of; one that runs before its call returns may do both. */
    agent.len = 0;
    in.runs = runs;
    CHECK(agenthost_runs_claim(runs, &request, receive, &in, NULL) == AGENTHOST_OK);
    agenthost_outcome_free(received(&in));
    CHECK(in.close == AGENTHOST_WOULD_DEADLOCK || in.close == AGENTHOST_OK);
    CHECK(in.waited == in.close);
    CHECK(agenthost_runs_retain(runs) == AGENTHOST_OK);
    agenthost_runs_release(runs);
    CHECK(agenthost_runs_close(runs) == AGENTHOST_OK && agenthost_runs_close(runs) == AGENTHOST_OK);
    badly(agenthost_runs_claim(runs, &request, NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_UNAVAILABLE, "");
    agenthost_runs_release(runs);
    agenthost_runs_release(NULL);
    agenthost_outcome_free(NULL);
    CHECK(agenthost_outcome_error(NULL) == NULL && agenthost_outcome_event_count(NULL) == 0 && agenthost_outcome_status(NULL) == 0);
}

static void a_forked_child_is_told_and_opens_its_own(const char *url) {
    agenthost_runs *runs = NULL, *own = NULL;
    agenthost_outcome *outcome = NULL;
    int ends[2], status;
    char verdict = 'n';
    pid_t child;
    CHECK(agenthost_runs_open(TEXT(url), NULL, &runs, NULL) == AGENTHOST_OK);
    CHECK(pipe(ends) == 0);
    child = fork();
    if (child == 0) {
        int forked = agenthost_runs_purge(runs, 0, NULL, NULL, &outcome) == AGENTHOST_FORKED &&
                     agenthost_runs_close(runs) == AGENTHOST_FORKED && agenthost_runs_retain(runs) == AGENTHOST_FORKED;
        agenthost_runs_release(runs);
        forked = forked && agenthost_runs_open(TEXT(url), NULL, &own, NULL) == AGENTHOST_OK &&
                 agenthost_runs_purge(own, 0, NULL, NULL, &outcome) == AGENTHOST_OK && agenthost_runs_close(own) == AGENTHOST_OK;
        agenthost_runs_release(own);
        /* Not by its status: under memcheck that tells what the child, which may only forget, has forgotten. */
        _exit(forked && write(ends[1], "y", 1) == 1 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    close(ends[1]);
    CHECK(read(ends[0], &verdict, 1) == 1 && verdict == 'y');
    close(ends[0]);
    agenthost_runs_release(runs);
}

int main(int argc, char **argv) {
    agenthost_runs *runs = NULL;
    char url[4096], copy[4096];
    int kind;
    CHECK(argc == 2);
    an_error_that_is_no_conflict_has_no_reason();
    misuse_is_a_status();
    options_are_kept(argv[1]);
    CHECK(agenthost_runs_open(TEXT("memory:"), NULL, &runs, NULL) == AGENTHOST_OK);
    a_run_lives(runs, NULL);
    agenthost_runs_release(runs);
    snprintf(url, sizeof url, "sqlite:%s/runs.db", argv[1]);
    snprintf(copy, sizeof copy, "%s/copy.db", argv[1]);
    a_forked_child_is_told_and_opens_its_own("memory:");
    a_forked_child_is_told_and_opens_its_own(url);
    CHECK(agenthost_runs_open(TEXT(url), NULL, &runs, NULL) == AGENTHOST_OK);
    a_run_lives(runs, copy);
    agenthost_runs_release(runs);
    for (kind = 1; kind <= AGENTHOST_LIVE_OUTCOMES; kind++) CHECK(agenthost_live(kind) == 0);
    puts("c-durable: 10 passed, 0 failed");
    return 0;
}
