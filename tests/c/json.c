#include "json.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *at;
    const char *end;
} reader;

static json *read_value(reader *in);

static void skip_space(reader *in) {
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r')) in->at++;
}

static int take(reader *in, char expected) {
    if (in->at == in->end || *in->at != expected) return 0;
    in->at++;
    return 1;
}

static int take_word(reader *in, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0) return 0;
    in->at += length;
    return 1;
}

static int read_hex(reader *in, unsigned *out) {
    int i;
    *out = 0;
    if (in->end - in->at < 4) return 0;
    for (i = 0; i < 4; i++) {
        char c = *in->at++;
        unsigned digit;
        if (c >= '0' && c <= '9') digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f') digit = (unsigned)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F') digit = (unsigned)(c - 'A') + 10;
        else return 0;
        *out = *out * 16 + digit;
    }
    return 1;
}

static char *put_utf8(char *out, unsigned point) {
    if (point < 0x80) {
        *out++ = (char)point;
    } else if (point < 0x800) {
        *out++ = (char)(0xc0 | point >> 6);
        *out++ = (char)(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        *out++ = (char)(0xe0 | point >> 12);
        *out++ = (char)(0x80 | (point >> 6 & 0x3f));
        *out++ = (char)(0x80 | (point & 0x3f));
    } else {
        *out++ = (char)(0xf0 | point >> 18);
        *out++ = (char)(0x80 | (point >> 12 & 0x3f));
        *out++ = (char)(0x80 | (point >> 6 & 0x3f));
        *out++ = (char)(0x80 | (point & 0x3f));
    }
    return out;
}

static int read_escape(reader *in, char **out) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *found;
    unsigned point, low;
    char c;
    if (in->at == in->end) return 0;
    c = *in->at++;
    if (c != 'u') {
        found = c == 0 ? NULL : strchr(names, c);
        if (found == NULL) return 0;
        *(*out)++ = values[found - names];
        return 1;
    }
    if (!read_hex(in, &point)) return 0;
    if (point >= 0xd800 && point < 0xdc00) {
        if (!take_word(in, "\\u") || !read_hex(in, &low) || low < 0xdc00 || low > 0xdfff) return 0;
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    } else if (point >= 0xdc00 && point <= 0xdfff) {
        return 0;
    }
    *out = put_utf8(*out, point);
    return 1;
}

/* A string becomes UTF-8 that is never longer than what stood there. */
static int read_string(reader *in, char **text, size_t *length) {
    char *out;
    if (!take(in, '"')) return 0;
    out = *text = malloc((size_t)(in->end - in->at) + 1);
    if (out == NULL) abort();
    while (in->at < in->end && *in->at != '"') {
        if ((unsigned char)*in->at < 0x20) return 0;
        if (*in->at == '\\') {
            in->at++;
            if (!read_escape(in, &out)) return 0;
        } else {
            *out++ = *in->at++;
        }
    }
    *length = (size_t)(out - *text);
    *out++ = 0;
    /* The whole rest of the document was reserved: give back what the string does not need. */
    *text = realloc(*text, (size_t)(out - *text));
    if (*text == NULL) abort();
    return take(in, '"');
}

static int read_digits(reader *in, json *value) {
    const char *start = in->at;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9') {
        uint64_t digit = (uint64_t)(*in->at++ - '0');
        if (value->magnitude > (UINT64_MAX - digit) / 10) value->is_integer = 0;
        else value->magnitude = value->magnitude * 10 + digit;
    }
    return in->at > start;
}

static int read_number(reader *in, json *value) {
    const char *start = in->at;
    char *copy;
    json ignored;
    memset(&ignored, 0, sizeof ignored);
    value->kind = JSON_NUMBER;
    value->is_integer = 1;
    value->is_negative = take(in, '-');
    if (in->at < in->end && *in->at == '0') {
        in->at++;
    } else if (!read_digits(in, value)) {
        return 0;
    }
    if (take(in, '.')) {
        value->is_integer = 0;
        if (!read_digits(in, &ignored)) return 0;
    }
    if (in->at < in->end && (*in->at == 'e' || *in->at == 'E')) {
        in->at++;
        value->is_integer = 0;
        if (!take(in, '-')) take(in, '+');
        if (!read_digits(in, &ignored)) return 0;
    }
    if (value->is_negative && value->magnitude > (uint64_t)INT64_MAX + 1) value->is_integer = 0;
    copy = malloc((size_t)(in->at - start) + 1);
    if (copy == NULL) abort();
    memcpy(copy, start, (size_t)(in->at - start));
    copy[in->at - start] = 0;
    value->real = strtod(copy, NULL);
    free(copy);
    return 1;
}

/* The elements of an array, or the members of an object, up to and with the closing bracket. */
static int read_items(reader *in, json *value, char closing) {
    json **tail = &value->first;
    skip_space(in);
    if (take(in, closing)) return 1;
    do {
        char *name = NULL;
        size_t name_length = 0;
        skip_space(in);
        if (closing == '}') {
            if (!read_string(in, &name, &name_length)) {
                free(name);
                return 0;
            }
            skip_space(in);
            if (!take(in, ':')) {
                free(name);
                return 0;
            }
        }
        *tail = read_value(in);
        if (*tail == NULL) {
            free(name);
            return 0;
        }
        (*tail)->name = name;
        (*tail)->name_length = name_length;
        tail = &(*tail)->next;
        skip_space(in);
    } while (take(in, ','));
    return take(in, closing);
}

static int read_into(reader *in, json *value) {
    if (in->at == in->end) return 0;
    switch (*in->at) {
        case '{': in->at++; value->kind = JSON_OBJECT; return read_items(in, value, '}');
        case '[': in->at++; value->kind = JSON_ARRAY; return read_items(in, value, ']');
        case '"': value->kind = JSON_STRING; return read_string(in, &value->text, &value->length);
        case 't': value->kind = JSON_BOOLEAN; value->truth = 1; return take_word(in, "true");
        case 'f': value->kind = JSON_BOOLEAN; return take_word(in, "false");
        case 'n': return take_word(in, "null");
        default: return read_number(in, value);
    }
}

static json *read_value(reader *in) {
    json *value = calloc(1, sizeof *value);
    if (value == NULL) abort();
    skip_space(in);
    value->raw = in->at;
    if (!read_into(in, value)) {
        json_free(value);
        return NULL;
    }
    value->raw_length = (size_t)(in->at - value->raw);
    return value;
}

json *json_read(const char *text, size_t length) {
    reader in;
    json *value;
    in.at = text;
    in.end = text + length;
    value = read_value(&in);
    if (value == NULL) return NULL;
    skip_space(&in);
    if (in.at == in.end) return value;
    json_free(value);
    return NULL;
}

void json_free(json *value) {
    while (value != NULL) {
        json *next = value->next;
        json_free(value->first);
        free(value->text);
        free(value->name);
        free(value);
        value = next;
    }
}

static const json *get(const json *object, const char *name, size_t length) {
    const json *found = NULL, *member;
    if (object == NULL || object->kind != JSON_OBJECT) return NULL;
    for (member = object->first; member != NULL; member = member->next) {
        if (member->name_length == length && memcmp(member->name, name, length) == 0) found = member;
    }
    return found;
}

const json *json_get(const json *object, const char *name) { return get(object, name, strlen(name)); }

const char *json_text(const json *object, const char *name) {
    const json *member = json_get(object, name);
    return member != NULL && member->kind == JSON_STRING ? member->text : "";
}

int json_is_text(const json *object, const char *name, const char *expected) {
    const json *member = json_get(object, name);
    return member != NULL && member->kind == JSON_STRING && member->length == strlen(expected) &&
           memcmp(member->text, expected, member->length) == 0;
}

int json_is_true(const json *object, const char *name) {
    const json *member = json_get(object, name);
    return member != NULL && member->kind == JSON_BOOLEAN && member->truth;
}

static int numbers_equal(const json *left, const json *right) {
    if (left->is_integer && right->is_integer) {
        int same_sign = left->is_negative == right->is_negative || left->magnitude == 0;
        return same_sign && left->magnitude == right->magnitude;
    }
    return left->real == right->real;
}

/* The number of members with different names. */
static size_t names(const json *object) {
    const json *member;
    size_t count = 0;
    for (member = object->first; member != NULL; member = member->next) {
        count += get(object, member->name, member->name_length) == member;
    }
    return count;
}

static int objects_equal(const json *left, const json *right) {
    const json *member;
    if (names(left) != names(right)) return 0;
    for (member = left->first; member != NULL; member = member->next) {
        const json *other;
        if (get(left, member->name, member->name_length) != member) continue;
        other = get(right, member->name, member->name_length);
        if (other == NULL || !json_equal(member, other)) return 0;
    }
    return 1;
}

int json_equal(const json *left, const json *right) {
    const json *a, *b;
    if (left == NULL || right == NULL) return left == right;
    if (left->kind != right->kind) return 0;
    switch (left->kind) {
        case JSON_NULL: return 1;
        case JSON_BOOLEAN: return left->truth == right->truth;
        case JSON_NUMBER: return numbers_equal(left, right);
        case JSON_STRING: return left->length == right->length && memcmp(left->text, right->text, left->length) == 0;
        case JSON_ARRAY:
            for (a = left->first, b = right->first; a != NULL && b != NULL; a = a->next, b = b->next) {
                if (!json_equal(a, b)) return 0;
            }
            return a == b;
        case JSON_OBJECT: return objects_equal(left, right);
    }
    return 0;
}
