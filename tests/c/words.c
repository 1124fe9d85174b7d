#include "words.h"

#include <stddef.h>
#include <string.h>

/* In the order of the header's constants, which begin at 1. */
const char *const operation_words[] = {"create_run", "get_run",     "cancel_run", "resolve_approval",
                                       "resume_run", "list_events", NULL};
const char *const run_status_words[] = {"created", "running",   "waiting_for_approval", "completed",
                                        "failed",  "cancelled", "timed_out",            NULL};
const char *const resolution_words[] = {"pending", "approved", "denied", NULL};
const char *const code_words[] = {"invalid_request", "unsupported_protocol_version", "unauthorized", "forbidden",
                                  "not_found",       "conflict",                     "unavailable",  "internal",
                                  NULL};

int32_t word_number(const char *const *words, const char *word) {
    int32_t number;
    for (number = 1; words[number - 1] != NULL; number++) {
        if (strcmp(words[number - 1], word) == 0) return number;
    }
    return 0;
}

const char *number_word(const char *const *words, int32_t number) {
    int32_t i;
    for (i = 1; words[i - 1] != NULL; i++) {
        if (i == number) return words[i - 1];
    }
    return "?";
}
