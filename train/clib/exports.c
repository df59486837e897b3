/* The functions that evertick_train.h declares. Each calls its twin in Go, unless this process was forked
   from the one that loaded the library: fork(2) copies only the calling thread, and the first garbage collection
   would wait endlessly for the other threads of the Go runtime. */
#include "evertick_train.h"

#include <string.h>

#include "_cgo_export.h"

static const char fork_error[] = "train: this process was forked from one that had loaded the library, which does not survive that: "
	"start it by exec (spawn), or load the library only in it";

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
enum { forked = 0 };
#else
#include <pthread.h>
#define EXPORT __attribute__((visibility("default")))

static int forked; /* written while the child has one thread */

static void in_child(void) { forked = 1; }

__attribute__((constructor)) static void watch(void) {
	(void)pthread_atfork(NULL, NULL, in_child); /* fails only if memory runs out; forks are then not noticed */
}
#endif

#define FORWARD(name, params, args) \
	EXPORT int32_t evertick_train_##name params { return forked ? EVERTICK_EFORKED : evertick_train_go_##name args; }

FORWARD(version, (void), ())
FORWARD(names, (char *text, int64_t room, int64_t *length), (text, room, length))
FORWARD(create, (evertick_text *name, evertick_train_config_in *config, uint64_t *batch), (name, config, batch))
FORWARD(close, (uint64_t batch), (batch))
FORWARD(describe, (uint64_t batch, evertick_train_info *info), (batch, info))
FORWARD(bounds, (uint64_t batch, float *obs_low, float *obs_high, float *action_low, float *action_high), (batch, obs_low, obs_high, action_low, action_high))
FORWARD(reset, (uint64_t batch, evertick_train_reset_in *options, evertick_train_buffers_in *buffers), (batch, options, buffers))
FORWARD(step, (uint64_t batch, evertick_train_buffers_in *buffers), (batch, buffers))
FORWARD(choices, (uint64_t batch, int64_t *choices, int64_t count), (batch, choices, count))
FORWARD(describe_part, (uint64_t batch, uint32_t space, int64_t index, evertick_train_part *part), (batch, space, index, part))
FORWARD(agents, (uint64_t batch, char *text, int64_t room, int64_t *length), (batch, text, room, length))
FORWARD(send, (uint64_t batch, evertick_train_buffers_in *buffers), (batch, buffers))
FORWARD(recv, (uint64_t batch), (batch))
FORWARD(poll, (uint64_t batch, int32_t *ready), (batch, ready))
FORWARD(observe, (uint64_t batch, evertick_train_buffers_in *buffers), (batch, buffers))
FORWARD(render, (uint64_t batch, int64_t world, int32_t width, int32_t height, uint8_t *rgb, int64_t bytes), (batch, world, width, height, rgb, bytes))
FORWARD(hashes, (uint64_t batch, uint64_t *hashes, int64_t count), (batch, hashes, count))
FORWARD(save, (uint64_t batch, int64_t world, uint8_t *data, int64_t room, int64_t *length), (batch, world, data, room, length))
FORWARD(load, (uint64_t batch, int64_t world, evertick_bytes *data, int64_t length), (batch, world, data, length))
FORWARD(fork, (uint64_t batch, int64_t from, int64_t to), (batch, from, to))
FORWARD(export, (uint64_t batch, int64_t world, evertick_text *directory, evertick_train_exported *exported), (batch, world, directory, exported))

EXPORT int32_t evertick_train_error(uint64_t batch, char *text, int64_t room, int64_t *length) {
	if (!forked) return evertick_train_go_error(batch, text, room, length);
	if (length) *length = sizeof fork_error - 1;
	if (room < 0 || (!text && room > 0)) return EVERTICK_ERANGE;
	if (room < (int64_t)sizeof fork_error) return EVERTICK_ECAPACITY;
	memcpy(text, fork_error, sizeof fork_error);
	return EVERTICK_OK;
}
