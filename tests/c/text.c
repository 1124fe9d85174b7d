#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_free(text *out) {
    free(out->data);
    memset(out, 0, sizeof *out);
}

void text_bytes(text *out, const char *bytes, size_t length) {
    if (out->length + length + 1 > out->room) {
        out->room = 2 * (out->length + length) + 64;
        out->data = realloc(out->data, out->room);
        if (out->data == NULL) abort();
    }
    if (length > 0) memcpy(out->data + out->length, bytes, length);
    out->length += length;
    out->data[out->length] = 0;
}

void text_raw(text *out, const char *raw) { text_bytes(out, raw, strlen(raw)); }

void text_string(text *out, agenthost_str string) {
    size_t i;
    text_raw(out, "\"");
    for (i = 0; i < string.len; i++) {
        char escaped[8];
        unsigned char c = (unsigned char)string.data[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            snprintf(escaped, sizeof escaped, "\\u%04x", c);
            text_raw(out, escaped);
        } else {
            text_bytes(out, string.data + i, 1);
        }
    }
    text_raw(out, "\"");
}

void text_unsigned(text *out, uint64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    text_raw(out, digits);
}

void text_signed(text *out, int64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, number);
    text_raw(out, digits);
}

void text_optional(text *out, agenthost_optional_i64 number) {
    if (number.present) text_signed(out, number.value);
    else text_raw(out, "null");
}

void text_pairs(text *out, agenthost_pairs pairs) {
    size_t i;
    text_raw(out, "{");
    for (i = 0; i < pairs.count; i++) {
        if (i > 0) text_raw(out, ",");
        text_string(out, pairs.items[i].key);
        text_raw(out, ":");
        text_string(out, pairs.items[i].value);
    }
    text_raw(out, "}");
}

void text_member(text *out, const char *name) {
    if (out->length > 0 && out->data[out->length - 1] != '{') text_raw(out, ",");
    text_string(out, agenthost_text(name));
    text_raw(out, ":");
}

void text_string_member(text *out, const char *name, agenthost_str string) {
    text_member(out, name);
    text_string(out, string);
}

void text_unsigned_member(text *out, const char *name, uint64_t number) {
    text_member(out, name);
    text_unsigned(out, number);
}

void text_signed_member(text *out, const char *name, int64_t number) {
    text_member(out, name);
    text_signed(out, number);
}

void text_optional_member(text *out, const char *name, agenthost_optional_i64 number) {
    text_member(out, name);
    text_optional(out, number);
}

void text_pairs_member(text *out, const char *name, agenthost_pairs pairs) {
    text_member(out, name);
    text_pairs(out, pairs);
}

void text_json_member(text *out, const char *name, agenthost_str json) {
    text_member(out, name);
    text_bytes(out, json.data, json.len);
}
