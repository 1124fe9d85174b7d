/* Hosts are made, counted and ended: every destroy runs exactly once, whatever comes. */
#include "harness.h"

static int make(const agenthost_service *service, const agenthost_host_options *options, agenthost_host **host) {
    agenthost_buffer *why = NULL;
    agenthost_status status = agenthost_host_new(service, options, host, &why);
    CHECK((why != NULL) == (status != AGENTHOST_OK));
    CHECK(why == NULL || agenthost_buffer_len(why) > 0);
    agenthost_buffer_free(why);
    return status;
}

static void every_failing_creation_ends_everything_once(void) {
    static const agenthost_str no_name[] = {{"", 0}}, no_text[] = {{"\xff", 1}}, null_text[] = {{NULL, 1}}, no_letters[] = {{"--", 2}};
    size_t i;
    for (i = 0; i < 9; i++) {
        stub owner = {0};
        agenthost_service service = stub_service(&owner);
        agenthost_host_options options = stub_options(&owner);
        agenthost_host *host = NULL;
        int expected = AGENTHOST_INVALID_ARGUMENT;
        options.sensitive_name_count = 1;
        switch (i) {
            case 0: options.sensitive_names = no_name; break;
            case 1: options.sensitive_names = no_text; break;
            case 2: options.sensitive_names = no_letters; break;
            case 3: options.sensitive_names = null_text; expected = AGENTHOST_NULL_ARGUMENT; break;
            case 4: expected = AGENTHOST_NULL_ARGUMENT; break;
            case 5: options.sensitive_name_count = 0; options.require_principal = 2; break;
            case 6: options.sensitive_name_count = 0; options.reserved = 1; break;
            case 7: options.sensitive_name_count = 0; service.get_run = NULL; expected = AGENTHOST_NULL_ARGUMENT; break;
            default: options.sensitive_name_count = 0; expected = AGENTHOST_NULL_ARGUMENT; break;
        }
        CHECK_EQUAL(make(&service, &options, i == 8 ? NULL : &host), expected);
        CHECK(host == NULL);
        CHECK_EQUAL(atomic_load(&owner.destroyed), 1);
        CHECK_EQUAL(atomic_load(&owner.log_destroyed), 1);
    }
}

static void a_service_that_cannot_be_read_still_ends_the_log(void) {
    stub owner = {0};
    agenthost_host_options options = stub_options(&owner);
    agenthost_host *host = NULL;
    CHECK_EQUAL(make(NULL, &options, &host), AGENTHOST_NULL_ARGUMENT);
    CHECK_EQUAL(atomic_load(&owner.log_destroyed), 1);
    CHECK_EQUAL(atomic_load(&owner.destroyed), 0);
}

static void destroys_that_are_null_are_fine(void) {
    stub owner = {0};
    agenthost_service service = stub_service(&owner);
    agenthost_host_options options = stub_options(&owner);
    agenthost_host *host = NULL;
    owner.serve = serve_well;
    service.destroy = NULL;
    options.log_destroy = NULL;
    REQUIRE(make(&service, &options, &host) == AGENTHOST_OK);
    CHECK_SUCCESS(dispatch(host, AGENTHOST_GET_RUN));
    CHECK_EQUAL(agenthost_host_close(host, 0), AGENTHOST_OK);
    agenthost_host_release(host);
    service.get_run = NULL;
    CHECK_EQUAL(make(&service, &options, &host), AGENTHOST_NULL_ARGUMENT);
}

static void log_data_without_a_log_lives_as_long_as_the_host(void) {
    stub owner = {0};
    agenthost_service service = stub_service(&owner);
    agenthost_host_options options = stub_options(&owner);
    agenthost_host *host = NULL;
    owner.serve = serve_nothing;
    options.log = NULL;
    REQUIRE(make(&service, &options, &host) == AGENTHOST_OK);
    CHECK_CODE(dispatch(host, AGENTHOST_GET_RUN), INTERNAL);
    CHECK_EQUAL(atomic_load(&owner.log_destroyed), 0);
    agenthost_host_release(host);
    CHECK_EQUAL(atomic_load(&owner.log_destroyed), 1);
    CHECK_EQUAL(atomic_load(&owner.logged), 0);
}

static void the_last_release_ends_a_host_and_no_other_does(void) {
    stub owner = {0};
    agenthost_host *host = stub_host(&owner, serve_well, NULL);
    CHECK_EQUAL(agenthost_host_retain(host), AGENTHOST_OK);
    CHECK_EQUAL(agenthost_host_retain(host), AGENTHOST_OK);
    CHECK_EQUAL(agenthost_live(AGENTHOST_LIVE_HOSTS), 1);
    agenthost_host_release(host);
    agenthost_host_release(host);
    CHECK_SUCCESS(dispatch(host, AGENTHOST_CREATE_RUN));
    CHECK_EQUAL(atomic_load(&owner.destroyed), 0);
    agenthost_host_release(host);
    CHECK_EQUAL(atomic_load(&owner.destroyed), 1);
    CHECK_EQUAL(atomic_load(&owner.log_destroyed), 1);
    CHECK(pthread_equal(owner.destroyed_on, pthread_self()));
}

static void options_are_copied(void) {
    stub owner = {0};
    agenthost_service service = stub_service(&owner);
    agenthost_host_options options = stub_options(&owner);
    agenthost_host *host = NULL;
    char name[] = "badge";
    agenthost_str names[1];
    names[0] = agenthost_text(name);
    owner.serve = serve_well;
    options.sensitive_names = names;
    options.sensitive_name_count = 1;
    REQUIRE(make(&service, &options, &host) == AGENTHOST_OK);
    memset(name, 'x', sizeof name - 1);
    memset(names, 0, sizeof names);
    memset(&service, 0, sizeof service);
    memset(&options, 0, sizeof options);
    CHECK_EQUAL(agenthost_is_sensitive_name(host, agenthost_text("user_Badge")), 1);
    CHECK_EQUAL(agenthost_is_sensitive_name(host, agenthost_text("password")), 1);
    CHECK_EQUAL(agenthost_is_sensitive_name(host, agenthost_text("xxxxx")), 0);
    CHECK_EQUAL(agenthost_is_sensitive_name(NULL, agenthost_text("user_Badge")), 0);
    CHECK_SUCCESS(dispatch(host, AGENTHOST_GET_RUN));
    agenthost_host_release(host);
}

const test making_tests[] = {
    {"every failing creation ends everything exactly once", every_failing_creation_ends_everything_once},
    {"a service that cannot be read still ends the log", a_service_that_cannot_be_read_still_ends_the_log},
    {"destroys that are null are fine", destroys_that_are_null_are_fine},
    {"log data without a log lives as long as the host", log_data_without_a_log_lives_as_long_as_the_host},
    {"the last release ends a host, and no other does", the_last_release_ends_a_host_and_no_other_does},
    {"options are copied", options_are_copied},
    {NULL, NULL},
};
