/* The functions that evertick_train.h declares. Each goes on to the one of Go behind it, unless
   this process was forked from the one that loaded the library: of the threads of the Go runtime
   fork(2) copies none but the caller, and the first collection of garbage would wait for the others for ever. */
#include "evertick_train.h"

#include <string.h>

#include "_cgo_export.h"

static const char lost[] = "train: this process was forked from one that had loaded the library, which does not survive that: "
	"begin it by exec (spawn), or load the library in it alone";

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
enum { forked = 0 };
#else
#include <pthread.h>
#define EXPORT __attribute__((visibility("default")))

static int forked; /* written where there is one thread */

static void in_child(void) { forked = 1; }

__attribute__((constructor)) static void watch(void) {
	(void)pthread_atfork(NULL, NULL, in_child); /* fails for want of memory only, and then this is not noticed */
}
#endif

#define FACE(name, params, args) \
	EXPORT int32_t evertick_train_##name params { return forked ? EVERTICK_EFORKED : evertick_train_go_##name args; }

FACE(version, (void), ())
FACE(names, (char *text, int64_t room, int64_t *length), (text, room, length))
FACE(create, (evertick_text *name, evertick_train_config_in *config, uint64_t *batch), (name, config, batch))
FACE(close, (uint64_t batch), (batch))
FACE(describe, (uint64_t batch, evertick_train_info *info), (batch, info))
FACE(bounds, (uint64_t batch, float *obs_low, float *obs_high, float *action_low, float *action_high), (batch, obs_low, obs_high, action_low, action_high))
FACE(reset, (uint64_t batch, evertick_train_reset_in *options, evertick_train_buffers_in *buffers), (batch, options, buffers))
FACE(step, (uint64_t batch, evertick_train_buffers_in *buffers), (batch, buffers))
FACE(observe, (uint64_t batch, evertick_train_buffers_in *buffers), (batch, buffers))
FACE(hashes, (uint64_t batch, uint64_t *hashes, int64_t count), (batch, hashes, count))
FACE(save, (uint64_t batch, int64_t world, uint8_t *data, int64_t room, int64_t *length), (batch, world, data, room, length))
FACE(load, (uint64_t batch, int64_t world, evertick_bytes *data, int64_t length), (batch, world, data, length))
FACE(fork, (uint64_t batch, int64_t from, int64_t to), (batch, from, to))
FACE(export, (uint64_t batch, int64_t world, evertick_text *directory, evertick_train_exported *exported), (batch, world, directory, exported))

EXPORT int32_t evertick_train_error(uint64_t batch, char *text, int64_t room, int64_t *length) {
	if (!forked) return evertick_train_go_error(batch, text, room, length);
	if (length) *length = sizeof lost - 1;
	if (room < 0 || (!text && room > 0)) return EVERTICK_ERANGE;
	if (room < (int64_t)sizeof lost) return EVERTICK_ECAPACITY;
	memcpy(text, lost, sizeof lost);
	return EVERTICK_OK;
}
