/* What durable runs and their hosts can be given: limits, names, hooks; who owns the hooks' data; a disk that takes no more. */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "check.h"

/* What a hook was called with, on whatever thread, and how often its data was ended. */
typedef struct hook_calls {
    int errors; /* Of the rule: how often it was asked. */
    char last[256];
    int ended;
} hook_calls;

static pthread_mutex_t hook_lock = PTHREAD_MUTEX_INITIALIZER;

static int errors(hook_calls *of) {
    int errors;
    pthread_mutex_lock(&hook_lock);
    errors = of->errors;
    pthread_mutex_unlock(&hook_lock);
    return errors;
}

static void on_log(void *data, int32_t level, agenthost_str message, agenthost_pairs fields) {
    hook_calls *of = data;
    CHECK(fields.count == 0 || fields.items[0].key.len > 0);
    pthread_mutex_lock(&hook_lock);
    of->errors += level == AGENTHOST_LOG_ERROR;
    snprintf(of->last, sizeof of->last, "%.*s", (int)message.len, message.data);
    pthread_mutex_unlock(&hook_lock);
}

static void on_end(void *data) {
    ((hook_calls *)data)->ended++;
}

/* Ann sees what belongs to nobody, nobody sees anything, all others see everything. */
static uint32_t sees(void *data, const agenthost_access_request *asked) {
    hook_calls *of = data;
    pthread_mutex_lock(&hook_lock);
    of->errors++;
    pthread_mutex_unlock(&hook_lock);
    CHECK(asked->struct_size == sizeof *asked && asked->operation != 0 && asked->approver_count == 0);
    if (asked->principal == NULL) return 0;
    return is(*asked->principal, "ann") ? asked->owner == NULL : 1;
}

static void a_host_over_runs_has_its_options(void) {
    agenthost_runs *runs = NULL;
    agenthost_host *host = NULL, *other = NULL;
    agenthost_host_options options;
    agenthost_str name;
    hook_calls log = {0, "", 0};

    CHECK(agenthost_runs_open(TEXT("memory:"), NULL, &runs, NULL) == AGENTHOST_OK);
    AGENTHOST_INIT(&options);
    name = TEXT("shoe-size");
    options.max_message_bytes = 300;
    options.sensitive_names = &name;
    options.sensitive_name_count = 1;
    options.log = on_log;
    options.log_data = &log;
    options.log_destroy = on_end;
    CHECK(agenthost_runs_host(runs, &options, &host, NULL) == AGENTHOST_OK);
    dispatch(host, "create_run", "k", "{\"context\":{\"runId\":\"r\",\"metadata\":{\"Shoe-Size\":\"44\"}}}", "Shoe-Size");
    dispatch(host, "create_run", "k", "{\"context\":{\"runId\":\"run\"},\"metadata\":{\"a\":\"of some length, so that the response\",\"b\":\"is longer than the host allows\"}}", "\"revision\":1");
    CHECK(errors(&log) == 0);
    dispatch(host, "get_run", "k", "{\"runId\":\"run\"}", "\"internal\"");
    CHECK(errors(&log) == 1);

    /* Another host over the same runs has other options. */
    AGENTHOST_INIT(&options);
    options.require_principal = 1;
    CHECK(agenthost_runs_host(runs, &options, &other, NULL) == AGENTHOST_OK);
    dispatch(other, "get_run", "k", "{\"runId\":\"run\"}", "\"unauthorized\"");
    dispatch_as(other, "ann", "get_run", "k", "{\"runId\":\"run\"}", "\"not_found\"");

    CHECK(agenthost_runs_close(runs) == AGENTHOST_OK);
    dispatch(host, "get_run", "k", "{\"runId\":\"run\"}", "\"unavailable\"");
    CHECK(log.ended == 0);
    agenthost_host_release(host);
    CHECK(log.ended == 1);
    agenthost_host_release(other);

    /* Closed runs have hosts too: they answer. */
    CHECK(agenthost_runs_host(runs, NULL, &host, NULL) == AGENTHOST_OK);
    dispatch(host, "get_run", "k", "{\"runId\":\"run\"}", "\"unavailable\"");
    agenthost_runs_release(runs);
    dispatch(host, "get_run", "k", "{\"runId\":\"run\"}", "\"unavailable\"");
    agenthost_host_release(host);
}

/* Every way in which options are refused ends the hooks' data, once. */
static void wrong_options_are_named(void) {
    agenthost_runs *runs = NULL;
    agenthost_host *host = NULL;
    agenthost_buffer *why = NULL;
    agenthost_host_options of_host;
    agenthost_runs_options of_runs;
    struct {
        agenthost_host_options known;
        uint64_t tail;
    } longer;
    agenthost_str text;
    hook_calls log = {0, "", 0}, rule = {0, "", 0};

    CHECK(agenthost_runs_open(TEXT("memory:"), NULL, &runs, NULL) == AGENTHOST_OK);
    AGENTHOST_INIT(&of_host);
    of_host.log = on_log;
    of_host.log_data = &log;
    of_host.log_destroy = on_end;

    CHECK(agenthost_runs_host(NULL, &of_host, &host, &why) == AGENTHOST_NULL_ARGUMENT && host == NULL && why == NULL);
    CHECK(log.ended == 1);
    CHECK(agenthost_runs_host(runs, &of_host, NULL, NULL) == AGENTHOST_NULL_ARGUMENT);
    CHECK(log.ended == 2);
    of_host.require_principal = 2;
    CHECK(agenthost_runs_host(runs, &of_host, &host, &why) == AGENTHOST_INVALID_ARGUMENT && host == NULL && why != NULL);
    text.data = agenthost_buffer_data(why);
    text.len = agenthost_buffer_len(why);
    CHECK(log.ended == 3 && holds(text, "options.require_principal"));
    agenthost_buffer_free(why);
    of_host.require_principal = 0;
    of_host.sensitive_name_count = 1;
    CHECK(agenthost_runs_host(runs, &of_host, &host, NULL) == AGENTHOST_NULL_ARGUMENT && host == NULL && log.ended == 4);
    of_host.sensitive_name_count = 0;
    of_host.reserved = 1;
    CHECK(agenthost_runs_host(runs, &of_host, &host, NULL) == AGENTHOST_INVALID_ARGUMENT && host == NULL && log.ended == 5);
    of_host.reserved = 0;
    memset(&longer, 0, sizeof longer);
    longer.known = of_host;
    longer.known.struct_size = sizeof longer;
    longer.tail = 1;
    CHECK(agenthost_runs_host(runs, &longer.known, &host, &why) == AGENTHOST_INVALID_SIZE && host == NULL && log.ended == 6);
    agenthost_buffer_free(why);
    longer.tail = 0;
    CHECK(agenthost_runs_host(runs, &longer.known, &host, &why) == AGENTHOST_OK && why == NULL && log.ended == 6);
    agenthost_host_release(host);
    CHECK(log.ended == 7);
    /* There is nothing to read in a struct that is too small. */
    of_host.struct_size = sizeof of_host - 1;
    CHECK(agenthost_runs_host(runs, &of_host, &host, &why) == AGENTHOST_INVALID_SIZE && host == NULL && why != NULL && log.ended == 7);
    agenthost_buffer_free(why);
    agenthost_runs_release(runs);

    log.ended = 0;
    AGENTHOST_INIT(&of_runs);
    of_runs.log = on_log;
    of_runs.log_data = &log;
    of_runs.log_destroy = on_end;
    of_runs.access = sees;
    of_runs.access_data = &rule;
    of_runs.access_destroy = on_end;
    CHECK(agenthost_runs_open(TEXT("nothing:"), &of_runs, &runs, NULL) == AGENTHOST_INVALID_ARGUMENT && runs == NULL);
    CHECK(log.ended == 1 && rule.ended == 1);
    CHECK(agenthost_runs_open(TEXT("memory:"), &of_runs, NULL, NULL) == AGENTHOST_NULL_ARGUMENT);
    CHECK(log.ended == 2 && rule.ended == 2);
    of_runs.lease_ms = 25 * 3600 * 1000;
    CHECK(agenthost_runs_open(TEXT("memory:"), &of_runs, &runs, &why) == AGENTHOST_INVALID_ARGUMENT && runs == NULL);
    text.data = agenthost_buffer_data(why);
    text.len = agenthost_buffer_len(why);
    CHECK(log.ended == 3 && rule.ended == 3 && holds(text, "lease"));
    agenthost_buffer_free(why);
    of_runs.lease_ms = 0;
    of_runs.sensitive_name_count = 1;
    CHECK(agenthost_runs_open(TEXT("memory:"), &of_runs, &runs, NULL) == AGENTHOST_NULL_ARGUMENT && runs == NULL);
    CHECK(log.ended == 4 && rule.ended == 4);
    of_runs.struct_size = sizeof of_runs - 1;
    CHECK(agenthost_runs_open(TEXT("memory:"), &of_runs, &runs, NULL) == AGENTHOST_INVALID_SIZE && runs == NULL);
    CHECK(log.ended == 4 && rule.ended == 4);
}

static void runs_have_their_rule_of_who_sees_what(void) {
    agenthost_runs *runs = NULL;
    agenthost_host *host = NULL;
    agenthost_runs_options options;
    agenthost_claim_request request;
    agenthost_new_event event;
    const agenthost_new_event *events = &event;
    agenthost_outcome *claimed = NULL, *outcome = NULL;
    agenthost_pair pair;
    agenthost_str name, agent = {NULL, 0};
    hook_calls rule = {0, "", 0};

    AGENTHOST_INIT(&options);
    name = TEXT("shoe-size");
    options.sensitive_names = &name;
    options.sensitive_name_count = 1;
    options.access = sees;
    options.access_data = &rule;
    options.access_destroy = on_end;
    CHECK(agenthost_runs_open(TEXT("memory:"), &options, &runs, NULL) == AGENTHOST_OK);
    CHECK(agenthost_runs_host(runs, NULL, &host, NULL) == AGENTHOST_OK);
    dispatch_as(host, "bob", "create_run", "k", "{\"context\":{\"runId\":\"run\"}}", "\"revision\":1");
    dispatch_as(host, "cid", "get_run", "k", "{\"runId\":\"run\"}", "\"created\"");
    dispatch_as(host, "ann", "get_run", "k", "{\"runId\":\"run\"}", "\"not_found\"");
    dispatch(host, "get_run", "k", "{\"runId\":\"run\"}", "\"not_found\"");
    CHECK(errors(&rule) >= 3);

    /* The names of the runs hold for workers too. */
    AGENTHOST_INIT(&request);
    request.agent_ids = &agent;
    request.agent_id_count = 1;
    well(agenthost_runs_claim(runs, &request, NULL, NULL, &claimed), &claimed);
    AGENTHOST_INIT(&event);
    event.type = TEXT("progress");
    pair.key = TEXT("SHOE-SIZE");
    pair.value = TEXT("44");
    event.metadata.items = &pair;
    event.metadata.count = 1;
    badly(agenthost_runs_append_events(runs, TEXT("run"), agenthost_outcome_claimed(claimed)->token, &events, 1, TEXT(""), NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_INVALID_REQUEST, "SHOE-SIZE");
    agenthost_outcome_free(claimed);

    agenthost_runs_release(runs);
    CHECK(rule.ended == 0);
    agenthost_host_release(host);
    CHECK(rule.ended == 1);
}

/* A filter that is given by mistake is refused; it never means other runs than those that were asked for. */
static void an_owner_that_is_given_by_mistake_is_never_none(void) {
    static const char *const owners[] = {"bob", "", "somebody", "bob"};
    static const uint32_t has[] = {0, AGENTHOST_OWNER_GIVEN, AGENTHOST_OWNER_NONE, 3};
    static const char *const paths[] = {"owner", "owner", "owner", "hasOwner"};
    agenthost_runs *runs = NULL;
    agenthost_host *host = NULL;
    agenthost_outcome *outcome = NULL;
    agenthost_list_runs list;
    size_t i;

    CHECK(agenthost_runs_open(TEXT("memory:"), NULL, &runs, NULL) == AGENTHOST_OK);
    CHECK(agenthost_runs_host(runs, NULL, &host, NULL) == AGENTHOST_OK);
    dispatch_as(host, "bob", "create_run", "k", "{\"context\":{\"runId\":\"bobs\"}}", "\"revision\":1");
    dispatch(host, "create_run", "k", "{\"context\":{\"runId\":\"nobodys\"}}", "\"revision\":1");
    for (i = 0; i < sizeof has / sizeof *has; i++) {
        AGENTHOST_INIT(&list);
        list.has_owner = has[i];
        list.owner = TEXT(owners[i]);
        badly(agenthost_runs_list(runs, &list, NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_INVALID_REQUEST, paths[i]);
    }
    AGENTHOST_INIT(&list);
    list.agent_id = TEXT("agent");
    badly(agenthost_runs_list(runs, &list, NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_INVALID_REQUEST, "agentId");
    list.agent_id = TEXT("");
    list.reserved = 1;
    badly(agenthost_runs_list(runs, &list, NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_INVALID_REQUEST, "reserved");
    list.reserved = 0;

    /* Likewise no agent to wait for: it is refused, as claiming is, and nobody waits for ever. */
    badly(agenthost_runs_wait_for_work(runs, NULL, 0, 1000, NULL, NULL, &outcome), &outcome, AGENTHOST_CODE_INVALID_REQUEST, "agentIds");
    CHECK(agenthost_runs_wait_for_work(runs, NULL, 1, 1000, NULL, NULL, &outcome) == AGENTHOST_NULL_ARGUMENT && outcome == NULL);

    list.has_owner = AGENTHOST_OWNER_GIVEN;
    list.owner = TEXT("bob");
    well(agenthost_runs_list(runs, &list, NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_run_count(outcome) == 1 && is(agenthost_outcome_run(outcome, 0)->run_id, "bobs"));
    agenthost_outcome_free(outcome);
    list.has_owner = AGENTHOST_OWNER_NONE;
    list.owner = TEXT("");
    well(agenthost_runs_list(runs, &list, NULL, NULL, &outcome), &outcome);
    CHECK(agenthost_outcome_run_count(outcome) == 1 && is(agenthost_outcome_run(outcome, 0)->run_id, "nobodys"));
    agenthost_outcome_free(outcome);
    agenthost_host_release(host);
    agenthost_runs_release(runs);
}

/* A file that may not grow any further, as on a full disk: the log says why, the caller that it may retry, and so it is. */
static void a_full_disk_is_unavailable_and_logged(const char *folder) {
    agenthost_runs *runs = NULL;
    agenthost_host *host = NULL;
    agenthost_runs_options options;
    struct rlimit before, tight;
    char url[4096];
    hook_calls log = {0, "", 0};

    AGENTHOST_INIT(&options);
    options.log = on_log;
    options.log_data = &log;
    options.log_destroy = on_end;
    snprintf(url, sizeof url, "sqlite:%s/full.db", folder);
    CHECK(agenthost_runs_open(TEXT(url), &options, &runs, NULL) == AGENTHOST_OK);
    CHECK(agenthost_runs_host(runs, NULL, &host, NULL) == AGENTHOST_OK);
    dispatch(host, "create_run", "first", "{\"context\":{\"runId\":\"first\"}}", "\"revision\":1");

    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    tight = before;
    tight.rlim_cur = 4096;
    CHECK(setrlimit(RLIMIT_FSIZE, &tight) == 0);
    dispatch(host, "create_run", "k", "{\"context\":{\"runId\":\"run\"}}", "\"unavailable\"");
    dispatch(host, "get_run", "k", "{\"runId\":\"first\"}", "\"created\"");
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    /* At least once: a timer may have met the full disk too. */
    CHECK(errors(&log) >= 1 && strcmp(log.last, "a store failed") == 0);
    dispatch(host, "get_run", "k", "{\"runId\":\"run\"}", "\"not_found\"");
    dispatch(host, "create_run", "k", "{\"context\":{\"runId\":\"run\"}}", "\"revision\":1");
    agenthost_host_release(host);
    agenthost_runs_release(runs);
    CHECK(log.ended == 1);
}

void options_are_kept(const char *folder) {
    a_host_over_runs_has_its_options();
    wrong_options_are_named();
    runs_have_their_rule_of_who_sees_what();
    an_owner_that_is_given_by_mistake_is_never_none();
    a_full_disk_is_unavailable_and_logged(folder);
}
