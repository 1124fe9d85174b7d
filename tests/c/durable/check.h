/* What the tests of durable runs check with. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agenthost.h"

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);            \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

#define TEXT agenthost_text
#define SOON 60000

static inline int is(agenthost_str text, const char *expected) {
    return text.len == strlen(expected) && memcmp(text.data, expected, text.len) == 0;
}

static inline int holds(agenthost_str text, const char *part) {
    size_t i, len = strlen(part);
    for (i = 0; i + len <= text.len; i++)
        if (memcmp(text.data + i, part, len) == 0) return 1;
    return 0;
}

static inline void envelope(char *out, size_t size, const char *operation, const char *key, const char *body) {
    snprintf(out, size,
             "{\"protocolVersion\":\"2026-07-01\",\"requestId\":\"r\",\"idempotencyKey\":\"%s\",\"operation\":\"%s\",\"body\":%s}",
             key, operation, body);
}

/* A response has to hold `part`. */
static inline void dispatch(agenthost_host *host, const char *operation, const char *key, const char *body, const char *part) {
    char message[2048];
    agenthost_buffer *response = NULL;
    agenthost_str text;
    envelope(message, sizeof message, operation, key, body);
    CHECK(agenthost_dispatch_json(host, TEXT(message), &response) == AGENTHOST_OK);
    text.data = agenthost_buffer_data(response);
    text.len = agenthost_buffer_len(response);
    if (!holds(text, part)) fprintf(stderr, "%.*s\n", (int)text.len, text.data);
    CHECK(holds(text, part));
    agenthost_buffer_free(response);
}

/* The same for a principal. */
static inline void dispatch_as(agenthost_host *host, const char *principal, const char *operation, const char *key, const char *body, const char *part) {
    char message[1024];
    agenthost_dispatch_options options;
    agenthost_buffer *response = NULL;
    agenthost_str text;
    AGENTHOST_INIT(&options);
    options.has_principal = 1;
    options.principal = TEXT(principal);
    envelope(message, sizeof message, operation, key, body);
    CHECK(agenthost_dispatch_json_with(host, TEXT(message), &options, &response) == AGENTHOST_OK);
    text.data = agenthost_buffer_data(response);
    text.len = agenthost_buffer_len(response);
    if (!holds(text, part)) fprintf(stderr, "%.*s\n", (int)text.len, text.data);
    CHECK(holds(text, part));
    agenthost_buffer_free(response);
}

/* An outcome without an error. */
static inline void well(agenthost_status status, agenthost_outcome **place) {
    agenthost_outcome *outcome = *place;
    const agenthost_error *error;
    CHECK(status == AGENTHOST_OK);
    CHECK(outcome != NULL);
    error = agenthost_outcome_error(outcome);
    if (error != NULL) fprintf(stderr, "%.*s\n", (int)error->message.len, error->message.data);
    CHECK(error == NULL);
}

/* An outcome with an error whose details hold `part`. */
static inline void badly(agenthost_status status, agenthost_outcome **place, agenthost_code code, const char *part) {
    agenthost_outcome *outcome = *place;
    CHECK(status == AGENTHOST_OK);
    CHECK(agenthost_outcome_error(outcome) != NULL);
    CHECK(agenthost_outcome_error(outcome)->code == code);
    CHECK(holds(agenthost_outcome_error(outcome)->details, part));
    CHECK(agenthost_outcome_claimed(outcome) == NULL && agenthost_outcome_number(outcome) == 0);
    agenthost_outcome_free(outcome);
}

/* options.c: the options of runs and their hosts, over a file in a folder. Five tests. */
void options_are_kept(const char *folder);

#endif
