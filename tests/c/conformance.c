/* The contract's vectors, played through the C interface: every file of the folder AGENTHOST_VECTORS (or of the first argument).
 * A vector of a dispatch is played three ways: answered in the slot through the typed structs, deferred and answered so from
 * another thread, and answered as JSON text. Ends with `c: N passed, M failed`. */
#include <dirent.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agenthost.h"
#include "json.h"
#include "play.h"
#include "show.h"
#include "text.h"

typedef enum way { TYPED, DEFERRED, AS_JSON } way;
static const char *const way_names[] = {"typed", "deferred", "json"};

static int passed, failed;

/* What is being played, and what came of it. */
typedef struct script {
    way how;
    const json *reply;
    text seen;
    int calls;
    int misuse;
    pthread_t answerer;
    int answering;
    agenthost_reply *deferred;
    agenthost_operation operation;
} script;

static void answer(script *self, agenthost_reply *reply) {
    agenthost_status status = self->how == AS_JSON ? play_json(self->reply, self->operation, reply)
                                                   : play_typed(self->reply, self->operation, reply);
    self->misuse = status != AGENTHOST_OK && status != AGENTHOST_BAD_ANSWER;
}

static void *answer_later(void *data) {
    script *self = data;
    answer(self, self->deferred);
    agenthost_reply_free(self->deferred);
    return NULL;
}

static void serve(script *self, const agenthost_call *call, const void *request, agenthost_reply *reply) {
    int fails = json_is_true(self->reply, "throw") || self->reply == NULL;
    self->calls++;
    self->operation = call->operation;
    show_call(&self->seen, call, request);
    if (self->how != DEFERRED) {
        if (!fails) answer(self, reply);
        return;
    }
    self->misuse = agenthost_reply_defer(reply, &self->deferred) != AGENTHOST_OK;
    if (self->misuse) return;
    if (fails) {
        /* What an exception after deferring comes to: the reply goes back to the slot, which returns without an answer. */
        agenthost_reply_free(self->deferred);
        return;
    }
    self->answering = pthread_create(&self->answerer, NULL, answer_later, self) == 0;
}

#define SLOT(name)                                                                                                        \
    static void name(void *data, const agenthost_call *call, const agenthost_##name *request, agenthost_reply *reply) { \
        serve(data, call, request, reply);                                                                              \
    }
SLOT(create_run)
SLOT(get_run)
SLOT(cancel_run)
SLOT(resolve_approval)
SLOT(resume_run)
SLOT(list_events)

static void fail(const char *name, const char *how, const char *format, ...) {
    va_list arguments;
    failed++;
    printf("c: FAILED %s (%s): ", name, how);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

/* Base64 with padding. The result belongs to the caller. */
static char *decode_base64(const json *from, size_t *length) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = malloc(from->length + 1);
    unsigned bits = 0, held = 0;
    size_t i;
    if (out == NULL) abort();
    *length = 0;
    for (i = 0; i < from->length && from->text[i] != '='; i++) {
        const char *digit = strchr(digits, from->text[i]);
        if (digit == NULL) continue;
        held = (held << 6 | (unsigned)(digit - digits)) & 0xffffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[(*length)++] = (char)(held >> bits & 0xff);
        }
    }
    return out;
}

/* The message of a vector: a copy of exactly its size, so that memory checkers see a read behind it. */
static char *message_of(const json *vector, const char *plain, const char *base64, size_t *length) {
    const json *found = json_get(vector, plain);
    char *out;
    if (found == NULL || found->kind != JSON_STRING) {
        found = json_get(vector, base64);
        return found != NULL ? decode_base64(found, length) : NULL;
    }
    out = malloc(found->length ? found->length : 1);
    if (out == NULL) abort();
    memcpy(out, found->text, found->length);
    *length = found->length;
    return out;
}

static int contains(agenthost_str text, const char *part, size_t length) {
    size_t i;
    for (i = 0; i + length <= text.len; i++) {
        if (memcmp(text.data + i, part, length) == 0) return 1;
    }
    return 0;
}

/* Of an `internal` error nothing that the service said may be in the response. What is shorter than four bytes may be there by
 * chance. */
static const char *leak(const json *error, agenthost_str response) {
    static const char *const maps[] = {"details", "metadata"};
    const json *message = json_get(error, "message"), *item;
    size_t i;
    if (message != NULL && message->length > 3 && contains(response, message->text, message->length)) return "message";
    for (i = 0; i < 2; i++) {
        const json *members = json_get(error, maps[i]);
        for (item = members != NULL ? members->first : NULL; item != NULL; item = item->next) {
            if (item->raw_length > 3 && contains(response, item->raw, item->raw_length)) return maps[i];
        }
    }
    return NULL;
}

/* What is wrong with a response, or NULL. */
static const char *check(const json *vector, const json *found, agenthost_str response) {
    static const char *const members[] = {"protocolVersion", "requestId", "operation", "ok", "body", "error"};
    static const char *const compared[] = {"ok", "requestId", "operation"};
    static const char *const of_errors[] = {"code", "retryable", "details"};
    const json *expected = json_get(vector, "response"), *error = json_get(found, "error"), *body = json_get(found, "body");
    const json *member, *call = json_get(vector, "call");
    size_t i, count = 0;
    if (found == NULL) return "the response is not JSON";
    for (member = found->first; member != NULL; member = member->next) count++;
    for (i = 0; i < 6; i++) {
        if (json_get(found, members[i]) == NULL || count != 6) return "the response has other members than the six";
    }
    for (i = 0; i < 3; i++) {
        if (json_is_text(expected, compared[i], "*")) continue;
        if (!json_equal(json_get(expected, compared[i]), json_get(found, compared[i]))) return compared[i];
    }
    if (json_is_true(expected, "ok")) {
        if (error->kind != JSON_NULL) return "error";
        return json_equal(json_get(expected, "body"), body) ? NULL : "body";
    }
    if (body->kind != JSON_OBJECT || body->first != NULL) return "the body of a failure is not {}";
    for (i = 0; i < 3; i++) {
        member = json_get(expected, of_errors[i]);
        if (member != NULL && !json_equal(member, json_get(error, of_errors[i]))) return of_errors[i];
    }
    member = json_get(expected, "error");
    for (member = member != NULL ? member->first : NULL; member != NULL; member = member->next) {
        if (!json_equal(member, json_get(error, member->name))) return member->name;
    }
    if ((call == NULL || call->kind == JSON_NULL) && json_text(error, "message")[0] == 0) return "a refusal without a message";
    return json_is_text(error, "code", "internal") ? leak(json_get(json_get(vector, "reply"), "error"), response) : NULL;
}

static void play_dispatch(const json *vector, way how, const char *message, size_t length) {
    const char *name = json_text(vector, "name"), *wrong = NULL;
    const json *call = json_get(vector, "call");
    json *seen, *found;
    agenthost_service service;
    agenthost_host *host = NULL;
    agenthost_buffer *buffer = NULL;
    agenthost_status status;
    agenthost_str request, response;
    script self;
    memset(&self, 0, sizeof self);
    self.how = how;
    self.reply = json_get(vector, "reply");
    AGENTHOST_INIT(&service);
    service.user_data = &self;
    service.create_run = create_run;
    service.get_run = get_run;
    service.cancel_run = cancel_run;
    service.resolve_approval = resolve_approval;
    service.resume_run = resume_run;
    service.list_events = list_events;
    request.data = message;
    request.len = length;
    status = agenthost_host_new(&service, NULL, &host, NULL);
    if (status == AGENTHOST_OK) status = agenthost_dispatch_json(host, request, &buffer);
    if (self.answering) pthread_join(self.answerer, NULL);
    response.data = agenthost_buffer_data(buffer);
    response.len = agenthost_buffer_len(buffer);
    found = status == AGENTHOST_OK ? json_read(response.data, response.len) : NULL;
    if (self.calls == 0) text_raw(&self.seen, "null");
    seen = json_read(self.seen.data, self.seen.length);
    if (status != AGENTHOST_OK) {
        wrong = agenthost_status_text(status);
    } else if (self.calls > 1) {
        wrong = "the service was called more than once";
    } else if (self.misuse) {
        wrong = "the answer was not taken";
    } else if (call == NULL ? self.calls > 0 : !json_equal(call, seen)) {
        fail(name, way_names[how], "call: expected %.*s, found %s", call ? (int)call->raw_length : 4, call ? call->raw : "null",
             self.seen.data);
        goto end;
    } else {
        wrong = check(vector, found, response);
    }
    if (wrong == NULL) passed++;
    else fail(name, way_names[how], "%s: found %.*s", wrong, (int)response.len, response.len ? response.data : "");
end:
    json_free(seen);
    json_free(found);
    text_free(&self.seen);
    agenthost_buffer_free(buffer);
    agenthost_host_release(host);
}

static void play_client(const json *vector, const char *message, size_t length) {
    const char *name = json_text(vector, "name"), *wrong = NULL;
    const json *expected = json_get(vector, "expect"), *member;
    json *found;
    agenthost_response *response = NULL;
    agenthost_buffer *why = NULL;
    agenthost_str text_of_message;
    agenthost_status status;
    text shown = {NULL, 0, 0};
    text_of_message.data = message;
    text_of_message.len = length;
    status = agenthost_response_parse_any(text_of_message, &response, &why);
    if (status == AGENTHOST_OK) show_response(&shown, response);
    else text_raw(&shown, "{\"outcome\":\"rejected\"}");
    found = json_read(shown.data, shown.length);
    if (status != AGENTHOST_OK && status != AGENTHOST_BAD_RESPONSE) wrong = agenthost_status_text(status);
    else if ((status == AGENTHOST_OK) != (why == NULL)) wrong = "a reason goes with a refusal, and with nothing else";
    else if (!json_equal(json_get(expected, "outcome"), json_get(found, "outcome"))) wrong = "outcome";
    member = json_get(expected, "decoded");
    if (wrong == NULL && member != NULL && !json_equal(member, json_get(found, "decoded"))) wrong = "decoded";
    member = json_get(expected, "error");
    for (member = member != NULL ? member->first : NULL; wrong == NULL && member != NULL; member = member->next) {
        if (!json_equal(member, json_get(json_get(found, "error"), member->name))) wrong = member->name;
    }
    if (wrong == NULL) passed++;
    else fail(name, "client", "%s: found %s", wrong, shown.data);
    json_free(found);
    text_free(&shown);
    agenthost_buffer_free(why);
    agenthost_response_free(response);
}

static void play(const char *line, size_t line_length) {
    json *vector = json_read(line, line_length);
    size_t length = 0;
    char *message;
    if (vector == NULL) {
        fail("a vector", "reading", "not JSON: %.*s", line_length < 80 ? (int)line_length : 80, line);
        return;
    }
    message = message_of(vector, "request", "request_base64", &length);
    if (message != NULL) {
        play_dispatch(vector, TYPED, message, length);
        play_dispatch(vector, DEFERRED, message, length);
        play_dispatch(vector, AS_JSON, message, length);
    } else if ((message = message_of(vector, "response_text", "response_base64", &length)) != NULL) {
        play_client(vector, message, length);
    } else {
        fail(json_text(vector, "name"), "reading", "neither a request nor a response");
    }
    free(message);
    json_free(vector);
}

static void play_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    if (file == NULL) {
        fail(path, "reading", "cannot be read");
        return;
    }
    while ((length = getline(&line, &room, file)) >= 0) {
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) length--;
        if (length > 0) play(line, (size_t)length);
    }
    free(line);
    fclose(file);
}

static int is_jsonl(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 6 && strcmp(entry->d_name + length - 6, ".jsonl") == 0;
}

int main(int argc, char **argv) {
    const char *folder = getenv("AGENTHOST_VECTORS");
    struct dirent **entries = NULL;
    int i, count, kind;
    if (folder == NULL || *folder == 0) folder = argc > 1 ? argv[1] : "tests/vectors";
    count = scandir(folder, &entries, is_jsonl, alphasort);
    for (i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        play_file(path);
        free(entries[i]);
    }
    free(entries);
    if (passed == 0 && failed == 0) fail("the vectors", "reading", "none found in %s", folder);
    for (kind = AGENTHOST_LIVE_HOSTS; kind <= AGENTHOST_LIVE_RESPONSES; kind++) {
        if (agenthost_live(kind) != 0) fail("the end", "counting", "%d handles of kind %d are left", (int)agenthost_live(kind), kind);
    }
    printf("c: %d passed, %d failed\n", passed, failed);
    return failed > 0;
}
