/* Answers what a vector's `reply` says, through the typed structs or as JSON text. */
#ifndef TESTS_PLAY_H
#define TESTS_PLAY_H

#include "agenthost.h"
#include "json.h"

/* The status of the answer. `reply` is {"ok": RESULT} or {"error": ERROR}. */
agenthost_status play_typed(const json *reply, agenthost_operation operation, agenthost_reply *out);
/* The result as text; errors have no other form than the struct. */
agenthost_status play_json(const json *reply, agenthost_operation operation, agenthost_reply *out);

#endif
