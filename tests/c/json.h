/* A small JSON reader for the tests: enough to read vectors and responses and to compare them by value. Not for messages of
 * strangers: it recurses as deep as its input. */
#ifndef TESTS_JSON_H
#define TESTS_JSON_H

#include <stddef.h>
#include <stdint.h>

typedef enum json_kind { JSON_NULL, JSON_BOOLEAN, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } json_kind;

typedef struct json json;
struct json {
    json_kind kind;
    const char *raw; /* the value as it stands in the text that was read; borrowed from it */
    size_t raw_length;
    int truth;
    /* A number within 64 bits that is written without fraction and exponent: its sign and magnitude. */
    int is_integer;
    int is_negative;
    uint64_t magnitude;
    double real;
    /* A string: UTF-8, with a NUL behind it. */
    char *text;
    size_t length;
    /* Elements, or the values of members, in order; of a member `name` is its name. */
    char *name;
    size_t name_length;
    json *first;
    json *next;
};

/* The document in a text, or NULL when the text is not one JSON document. Borrows from the text. */
json *json_read(const char *text, size_t length);
void json_free(json *value);

/* The member of an object, the last one of that name; NULL when there is none, or no object. */
const json *json_get(const json *object, const char *name);
/* The text of a string member; "" when there is none. */
const char *json_text(const json *object, const char *name);
/* Whether a member is the string, or the boolean, that is expected. */
int json_is_text(const json *object, const char *name, const char *expected);
int json_is_true(const json *object, const char *name);

/* Equal as the vectors want it: members in any order, the last of two equal members counts, integers within 64 bits exactly,
 * other numbers as doubles. */
int json_equal(const json *left, const json *right);

#endif
