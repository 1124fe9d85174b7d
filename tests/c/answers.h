/* Good answers of every kind, and every member of theirs, so that a test can break one at a time. */
#ifndef TESTS_ANSWERS_H
#define TESTS_ANSWERS_H

#include "harness.h"

typedef enum answer_kind { SUBMISSION, RUN, EVENT, ERROR, ANSWER_KINDS } answer_kind;

/* The structs of all kinds, filled well and leading to one another. */
typedef struct answer {
    agenthost_pair pairs[2];
    agenthost_submission submission;
    agenthost_context context;
    agenthost_approval approval;
    agenthost_run run;
    agenthost_event event;
    agenthost_error error;
} answer;

void answer_init(answer *self);
/* Gives the answer of a kind; an event is followed by its page. */
agenthost_status answer_give(const answer *self, answer_kind kind, agenthost_reply *reply);
/* An operation that the kind answers. */
agenthost_operation answer_operation(answer_kind kind);

typedef enum member_type { IDENTITY, NOT_EMPTY, TEXT, FREE_JSON, PAIRS, MEMBER_TYPES } member_type;

typedef struct member {
    const char *name;
    answer_kind kind;
    member_type type;
    size_t offset; /* of an agenthost_str or agenthost_pairs in `answer` */
} member;

extern const member members[];
extern const size_t member_count;
agenthost_str *member_text(answer *self, const member *which);
agenthost_pairs *member_pairs(answer *self, const member *which);

/* Dispatches a call that is answered so. What the answer's function returned goes to *status; when that left the reply open, it
 * is answered well. `times_logged` counts the records that came with it. */
outcome answer_dispatch(const answer *self, answer_kind kind, agenthost_status *status, int *times_logged);
/* The answer is refused as one that breaks a rule, or as misuse that leaves the reply open, or it is taken. */
void expect_bad(const answer *self, answer_kind kind, const char *what);
void expect_misuse(const answer *self, answer_kind kind, agenthost_status expected, const char *what);
void expect_taken(const answer *self, answer_kind kind, const char *what);

#endif
