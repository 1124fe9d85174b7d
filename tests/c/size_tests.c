/* Wrong, short and long struct sizes: too short is refused, a longer one is taken when its unknown tail is 0. */
#include <stdlib.h>

#include "answers.h"

enum { EXTRA = 16, LARGEST = 4096 };

/* A copy of a struct with another size and a tail, in memory of exactly that size. The caller frees it. */
static void *resized(const void *from, size_t known, size_t size, unsigned char last) {
    unsigned char *out = calloc(1, size);
    REQUIRE(out != NULL);
    memcpy(out, from, size < known ? size : known);
    memcpy(out, &size, sizeof size);
    if (size > known) out[size - 1] = last;
    return out;
}

/* Runs `give` with the struct in all sizes. `give` says what came of it; `good` is what that is for a good struct. */
static void in_all_sizes(const void *from, size_t known, int (*give)(const void *value), int good, const char *what) {
    size_t short_sizes[4];
    size_t i;
    void *value;
    short_sizes[0] = known - 1;
    short_sizes[1] = known - 8;
    short_sizes[2] = 16;
    short_sizes[3] = sizeof(size_t);
    for (i = 0; i < 4; i++) {
        value = resized(from, known, short_sizes[i], 0);
        check_equal_at(give(value), AGENTHOST_INVALID_SIZE, what, (int)short_sizes[i], "too short");
        free(value);
    }
    value = resized(from, known, sizeof(size_t), 0);
    for (i = 0; i < sizeof(size_t); i++) {
        memcpy(value, &i, sizeof i);
        check_equal_at(give(value), AGENTHOST_INVALID_SIZE, what, (int)i, "too short to be a struct at all");
    }
    free(value);
    for (i = 1; i <= EXTRA; i += 5) {
        value = resized(from, known, known + i, 0);
        check_equal_at(give(value), good, what, (int)(known + i), "longer, the tail is 0");
        free(value);
        value = resized(from, known, known + i, 1);
        check_equal_at(give(value), AGENTHOST_INVALID_SIZE, what, (int)(known + i), "longer, the tail is not 0");
        free(value);
    }
    value = resized(from, known, LARGEST, 0);
    check_equal_at(give(value), good, what, LARGEST, "as large as a struct may be");
    free(value);
    value = resized(from, known, LARGEST + 1, 0);
    check_equal_at(give(value), AGENTHOST_INVALID_SIZE, what, LARGEST + 1, "larger than any struct");
    free(value);
    /* What a variable holds that nobody has set: there is no such memory to look at. */
    value = resized(from, known, known, 0);
    memset(value, 0xff, sizeof(size_t));
    check_equal_at(give(value), AGENTHOST_INVALID_SIZE, what, -1, "larger than memory");
    free(value);
    value = resized(from, known, known, 0);
    check_equal_at(give(value), good, what, (int)known, "as it is");
    free(value);
}

/* ------------------------------------------------------------------------------------------------------------- answers */

static answer good;
static const void *given;
static answer_kind given_kind;
static int given_inside; /* 0: the answer itself; 1: its context; 2: its approval */

static void serve_given(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    agenthost_status *status = self->data;
    agenthost_run run = good.run;
    (void)request;
    if (given_inside == 1) run.context = given;
    if (given_inside == 2) run.approval = given;
    switch (given_kind) {
        case SUBMISSION: *status = agenthost_reply_submission(reply, given); break;
        case RUN: *status = agenthost_reply_run(reply, given_inside ? &run : given); break;
        case EVENT:
            *status = agenthost_reply_event(reply, given);
            if (*status == AGENTHOST_OK) agenthost_reply_page(reply, good.event.sequence, 0);
            break;
        default: *status = agenthost_reply_error(reply, given); break;
    }
    /* Misuse leaves the reply open. */
    CHECK_EQUAL(answer_well(call->operation, reply), *status == AGENTHOST_OK ? AGENTHOST_ALREADY_DONE : AGENTHOST_OK);
}

static int give_answer(const void *value) {
    stub service = {0};
    agenthost_status status = -1;
    agenthost_host *host = stub_host(&service, serve_given, &status);
    given = value;
    dispatch(host, answer_operation(given_kind));
    agenthost_host_release(host);
    return status;
}

static void answers(void) {
    answer_init(&good);
    given_inside = 0;
    given_kind = SUBMISSION;
    in_all_sizes(&good.submission, sizeof good.submission, give_answer, AGENTHOST_OK, "agenthost_submission");
    given_kind = RUN;
    in_all_sizes(&good.run, sizeof good.run, give_answer, AGENTHOST_OK, "agenthost_run");
    given_kind = EVENT;
    in_all_sizes(&good.event, sizeof good.event, give_answer, AGENTHOST_OK, "agenthost_event");
    given_kind = ERROR;
    in_all_sizes(&good.error, sizeof good.error, give_answer, AGENTHOST_OK, "agenthost_error");
    given_kind = RUN;
    given_inside = 1;
    in_all_sizes(&good.context, sizeof good.context, give_answer, AGENTHOST_OK, "agenthost_context");
    given_inside = 2;
    in_all_sizes(&good.approval, sizeof good.approval, give_answer, AGENTHOST_OK, "agenthost_approval");
}

/* --------------------------------------------------------------------------------------------------------------- hosts */

static stub owner;

static int make(const agenthost_service *service, const agenthost_host_options *options) {
    agenthost_host *host = NULL;
    agenthost_buffer *why = NULL;
    agenthost_status status = agenthost_host_new(service, options, &host, &why);
    CHECK((host != NULL) == (status == AGENTHOST_OK));
    CHECK((why != NULL) == (status != AGENTHOST_OK));
    agenthost_buffer_free(why);
    agenthost_host_release(host);
    return status;
}

/* The data is taken over when at least the first release's struct is there, and the size is one that a struct may have. */
static int expected_ends(size_t size, size_t known) { return size >= known && size <= LARGEST; }

static int give_service(const void *value) {
    size_t size = ((const agenthost_service *)value)->struct_size;
    agenthost_host_options options;
    int status;
    memset(&owner, 0, sizeof owner);
    options = stub_options(&owner);
    status = make(value, &options);
    CHECK_EQUAL(atomic_load(&owner.destroyed), expected_ends(size, sizeof(agenthost_service)));
    CHECK_EQUAL(atomic_load(&owner.log_destroyed), 1);
    return status;
}

static int give_options(const void *value) {
    size_t size = ((const agenthost_host_options *)value)->struct_size;
    agenthost_service service;
    int status;
    memset(&owner, 0, sizeof owner);
    service = stub_service(&owner);
    status = make(&service, value);
    CHECK_EQUAL(atomic_load(&owner.destroyed), 1);
    CHECK_EQUAL(atomic_load(&owner.log_destroyed), expected_ends(size, sizeof(agenthost_host_options)));
    return status;
}

static void hosts(void) {
    agenthost_service service = stub_service(&owner);
    agenthost_host_options options = stub_options(&owner);
    in_all_sizes(&service, sizeof service, give_service, AGENTHOST_OK, "agenthost_service");
    in_all_sizes(&options, sizeof options, give_options, AGENTHOST_OK, "agenthost_host_options");
}

/* ------------------------------------------------------------------------------------------------------------ dispatch */

static int give_dispatch_options(const void *value) {
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_well, NULL);
    agenthost_buffer *response = NULL;
    agenthost_pending *pending = NULL;
    inbox in = INBOX;
    agenthost_str request = request_of(AGENTHOST_GET_RUN);
    agenthost_status status = agenthost_dispatch_json_with(host, request, value, &response);
    CHECK((response != NULL) == (status == AGENTHOST_OK));
    CHECK_EQUAL(agenthost_dispatch_json_async(host, request, value, inbox_done, &in, &pending), status);
    CHECK_EQUAL(atomic_load(&in.count), status == AGENTHOST_OK);
    CHECK((pending != NULL) == (status == AGENTHOST_OK));
    agenthost_pending_free(pending);
    agenthost_buffer_free(response);
    agenthost_host_release(host);
    return status;
}

static void dispatch_options(void) {
    agenthost_dispatch_options options;
    AGENTHOST_INIT(&options);
    options.has_principal = 1;
    options.principal = agenthost_text("somebody");
    in_all_sizes(&options, sizeof options, give_dispatch_options, AGENTHOST_OK, "agenthost_dispatch_options");
    options.reserved = 1;
    CHECK_EQUAL(give_dispatch_options(&options), AGENTHOST_INVALID_ARGUMENT);
    options.reserved = 0;
    options.has_principal = 2;
    CHECK_EQUAL(give_dispatch_options(&options), AGENTHOST_INVALID_ARGUMENT);
}

/* -1, say, as other functions return it: no text and no array is that long. */
static void lengths_that_are_larger_than_memory(void) {
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_well, NULL);
    agenthost_dispatch_options options;
    agenthost_host_options of_host = stub_options(&service);
    agenthost_service slots = stub_service(&service);
    agenthost_host *other = NULL;
    agenthost_str message = request_of(AGENTHOST_GET_RUN), name = agenthost_text("shoe-size");
    agenthost_buffer *response = NULL, *why = NULL;
    message.len = (size_t)-1;
    CHECK_EQUAL(agenthost_dispatch_json(host, message, &response), AGENTHOST_INVALID_ARGUMENT);
    AGENTHOST_INIT(&options);
    options.has_principal = 1;
    options.principal.data = "somebody";
    options.principal.len = (size_t)-1;
    CHECK_EQUAL(agenthost_dispatch_json_with(host, request_of(AGENTHOST_GET_RUN), &options, &response), AGENTHOST_INVALID_ARGUMENT);
    CHECK(response == NULL);
    CHECK_EQUAL(atomic_load(&service.served), 0);
    agenthost_host_release(host);
    of_host.sensitive_names = &name;
    of_host.sensitive_name_count = (size_t)-1 / sizeof name;
    CHECK_EQUAL(agenthost_host_new(&slots, &of_host, &other, &why), AGENTHOST_INVALID_ARGUMENT);
    CHECK(other == NULL && agenthost_buffer_len(why) > 0);
    agenthost_buffer_free(why);
}

/* ------------------------------------------------------------------------------------------------------------ requests */

static agenthost_context context;
static agenthost_get_run get;

static int built(agenthost_status status, agenthost_request *request, agenthost_buffer *why) {
    CHECK((request != NULL) == (status == AGENTHOST_OK));
    CHECK((why != NULL) == (status != AGENTHOST_OK));
    agenthost_request_free(request);
    agenthost_buffer_free(why);
    return status;
}

#define GIVE(name)                                                                    \
    static int give_##name(const void *value) {                                       \
        agenthost_request *request = NULL;                                            \
        agenthost_buffer *why = NULL;                                                 \
        agenthost_status status = agenthost_request_##name(value, NULL, &request, &why); \
        return built(status, request, why);                                           \
    }
GIVE(create_run)
GIVE(get_run)
GIVE(cancel_run)
GIVE(resolve_approval)
GIVE(resume_run)
GIVE(list_events)

static int give_context(const void *value) {
    agenthost_create_run create;
    AGENTHOST_INIT(&create);
    create.context = value;
    return give_create_run(&create);
}

static int give_request_options(const void *value) {
    agenthost_request *request = NULL;
    agenthost_buffer *why = NULL;
    agenthost_status status = agenthost_request_get_run(&get, value, &request, &why);
    return built(status, request, why);
}

static void requests(void) {
    agenthost_create_run create;
    agenthost_cancel_run cancel;
    agenthost_resolve_approval resolve;
    agenthost_resume_run resume;
    agenthost_list_events list;
    agenthost_request_options options;
    agenthost_str run_id = agenthost_text("run-1");
    AGENTHOST_INIT(&context);
    context.run_id = run_id;
    AGENTHOST_INIT(&create);
    create.context = &context;
    AGENTHOST_INIT(&get);
    AGENTHOST_INIT(&cancel);
    AGENTHOST_INIT(&resolve);
    AGENTHOST_INIT(&resume);
    AGENTHOST_INIT(&list);
    AGENTHOST_INIT(&options);
    get.run_id = cancel.run_id = resolve.run_id = resume.run_id = list.run_id = run_id;
    cancel.expected_revision = resolve.expected_revision = resume.expected_revision = 1;
    resolve.approval_id = resume.approval_id = agenthost_text("approval-1");
    resolve.resolution = AGENTHOST_APPROVAL_DENIED;
    in_all_sizes(&create, sizeof create, give_create_run, AGENTHOST_OK, "agenthost_create_run");
    in_all_sizes(&get, sizeof get, give_get_run, AGENTHOST_OK, "agenthost_get_run");
    in_all_sizes(&cancel, sizeof cancel, give_cancel_run, AGENTHOST_OK, "agenthost_cancel_run");
    in_all_sizes(&resolve, sizeof resolve, give_resolve_approval, AGENTHOST_OK, "agenthost_resolve_approval");
    in_all_sizes(&resume, sizeof resume, give_resume_run, AGENTHOST_OK, "agenthost_resume_run");
    in_all_sizes(&list, sizeof list, give_list_events, AGENTHOST_OK, "agenthost_list_events");
    in_all_sizes(&context, sizeof context, give_context, AGENTHOST_OK, "agenthost_context of a request");
    in_all_sizes(&options, sizeof options, give_request_options, AGENTHOST_OK, "agenthost_request_options");
    resolve.reserved = 1;
    CHECK_EQUAL(give_resolve_approval(&resolve), AGENTHOST_INVALID_ARGUMENT);
    resolve.reserved = 0;
    for (resolve.resolution = -1; resolve.resolution <= 4; resolve.resolution++) {
        int decides = resolve.resolution == AGENTHOST_APPROVAL_APPROVED || resolve.resolution == AGENTHOST_APPROVAL_DENIED;
        CHECK_EQUAL(give_resolve_approval(&resolve), decides ? AGENTHOST_OK : AGENTHOST_INVALID_ARGUMENT);
    }
    context.deadline_unix_ms.present = 2;
    CHECK_EQUAL(give_create_run(&create), AGENTHOST_INVALID_ARGUMENT);
}

static void serve_sizes(stub *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    static const size_t sizes[] = {sizeof(agenthost_create_run),       sizeof(agenthost_get_run),    sizeof(agenthost_cancel_run),
                                   sizeof(agenthost_resolve_approval), sizeof(agenthost_resume_run), sizeof(agenthost_list_events)};
    (void)self;
    CHECK_EQUAL(call->struct_size, sizeof *call);
    CHECK(AGENTHOST_HAS(call, agenthost_call, metadata));
    CHECK_EQUAL(*(const size_t *)request, sizes[call->operation - 1]);
    answer_well(call->operation, reply);
}

static void what_the_library_hands_out(void) {
    agenthost_operation operation;
    stub service = {0};
    agenthost_host *host = stub_host(&service, serve_sizes, NULL);
    for (operation = AGENTHOST_CREATE_RUN; operation <= AGENTHOST_LIST_EVENTS; operation++) CHECK_SUCCESS(dispatch(host, operation));
    CHECK_EQUAL(atomic_load(&service.served), 6);
    agenthost_host_release(host);
}

const test size_tests[] = {
    {"sizes: of the structs of answers", answers},
    {"sizes: of a service and host options; what was readable is ended", hosts},
    {"sizes: of dispatch options, and their flags", dispatch_options},
    {"sizes: lengths that are larger than memory", lengths_that_are_larger_than_memory},
    {"sizes: of the structs of requests, and their numbers", requests},
    {"sizes: of what the library hands out", what_the_library_hands_out},
    {NULL, NULL},
};
