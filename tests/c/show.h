/* What the library hands out, as the JSON that vectors compare it with. */
#ifndef TESTS_SHOW_H
#define TESTS_SHOW_H

#include "agenthost.h"
#include "text.h"

/* {"operation":...,"context":{...},"request":{...}}; `request` is the struct of the call's operation. */
void show_call(text *out, const agenthost_call *call, const void *request);
/* {"outcome":"ok","decoded":{...}} or {"outcome":"error","error":{...}} */
void show_response(text *out, const agenthost_response *response);

#endif
