/* The words of the contract and their numbers in C. */
#ifndef TESTS_WORDS_H
#define TESTS_WORDS_H

#include <stdint.h>

extern const char *const operation_words[];
extern const char *const run_status_words[];
extern const char *const resolution_words[];
extern const char *const code_words[];

/* The number of a word, 0 when it is none; the word of a number, "?" when it is none. */
int32_t word_number(const char *const *words, const char *word);
const char *number_word(const char *const *words, int32_t number);

#endif
