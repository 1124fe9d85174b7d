/* The names in the contract and their numbers in C. */
#ifndef TESTS_NAMES_H
#define TESTS_NAMES_H

#include <stdint.h>

extern const char *const operation_names[];
extern const char *const run_status_names[];
extern const char *const resolution_names[];
extern const char *const code_names[];

/* The number of a name, 0 when it is none; the name of a number, "?" when it is none. */
int32_t number_of_name(const char *const *names, const char *name);
const char *name_of_number(const char *const *names, int32_t number);

#endif
