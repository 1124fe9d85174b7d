/* Text that grows, and JSON written into it. */
#ifndef TESTS_TEXT_H
#define TESTS_TEXT_H

#include "agenthost.h"

typedef struct text {
    char *data;
    size_t length;
    size_t room;
} text;

void text_free(text *out);
void text_raw(text *out, const char *raw);
void text_bytes(text *out, const char *bytes, size_t length);
/* A JSON string; a number; a number or null; a map of strings. */
void text_string(text *out, agenthost_str string);
void text_unsigned(text *out, uint64_t number);
void text_signed(text *out, int64_t number);
void text_optional(text *out, agenthost_optional_i64 number);
void text_pairs(text *out, agenthost_pairs pairs);

/* Members of an object: `"name":` and the value, with a comma before all but the first. */
void text_member(text *out, const char *name);
void text_string_member(text *out, const char *name, agenthost_str string);
void text_unsigned_member(text *out, const char *name, uint64_t number);
void text_signed_member(text *out, const char *name, int64_t number);
void text_optional_member(text *out, const char *name, agenthost_optional_i64 number);
void text_pairs_member(text *out, const char *name, agenthost_pairs pairs);
/* Free JSON as it came. */
void text_json_member(text *out, const char *name, agenthost_str json);

#endif
