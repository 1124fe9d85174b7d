#include "names.h"

#include <stddef.h>
#include <string.h>

/* In the order of the header's constants, which begin at 1. */
const char *const operation_names[] = {"create_run", "get_run",     "cancel_run", "resolve_approval",
                                       "resume_run", "list_events", NULL};
const char *const run_status_names[] = {"created", "running",   "waiting_for_approval", "completed",
                                        "failed",  "cancelled", "timed_out",            NULL};
const char *const resolution_names[] = {"pending", "approved", "denied", NULL};
const char *const code_names[] = {"invalid_request", "unsupported_protocol_version", "unauthorized", "forbidden",
                                  "not_found",       "conflict",                     "unavailable",  "internal",
                                  NULL};

int32_t number_of_name(const char *const *names, const char *name) {
    int32_t number;
    for (number = 1; names[number - 1] != NULL; number++) {
        if (strcmp(names[number - 1], name) == 0) return number;
    }
    return 0;
}

const char *name_of_number(const char *const *names, int32_t number) {
    int32_t i;
    for (i = 1; names[i - 1] != NULL; i++) {
        if (i == number) return names[i - 1];
    }
    return "?";
}
