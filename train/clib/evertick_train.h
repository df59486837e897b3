/* C interface of the training worlds of evertick: many small deterministic worlds that are
   stepped together. Build the library with

       go build -buildmode=c-shared -o libevertick_train.so ./train/capi

   or one with worlds of your own: see the Go package train/clib.

   Every function returns a code, EVERTICK_OK or one below, and evertick_train_error returns a
   message about the last call on a batch. A call with an error has changed nothing, unless the
   code is EVERTICK_EWORLD or EVERTICK_EPANIC. No function aborts the process.

   Memory: the Go runtime ends a process that has no memory left. evertick_train_create, load and render therefore ask first
   whether there is room, and return EVERTICK_ECAPACITY. What create needs follows from a few worlds that it makes and begins.
   Memory that worlds of your own allocate later, in steps, is not foreseen, nor that the system refuses a thread.

   Memory belongs to the caller. Buffers are read and written during a call and not kept; those of
   evertick_train_send belong to the library until evertick_train_recv, or close, returns. Set struct_size
   to the size of the struct: a library knows the sizes of earlier headers, and takes what they lack as zero.

   A batch is for one thread at a time: a call waits for a running call on the same batch.
   Different batches are independent, and may be used by one thread each, at the same time.

   Signals: when it is loaded, the library installs handlers of SIGSEGV, SIGBUS, SIGFPE, SIGPIPE and SIGURG. A signal
   that the program's own code causes goes on to the handler that was there before. All other signals are the
   program's; if it has handlers already, they get SA_ONSTACK, because any thread may run them and those of the library
   have small stacks. A handler that is set later must have SA_ONSTACK. One for the five signals above must
   call the handler that it replaces for what it does not expect. Do not block SIGURG in all threads.

   The library has threads of its own, which fork(2) does not copy. In a child of a process that
   has loaded the library every function returns EVERTICK_EFORKED at once, and changes nothing; the
   parent goes on. A child can exec, or be forked before the library is loaded, with dlopen say. */
#ifndef EVERTICK_TRAIN_H
#define EVERTICK_TRAIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Callers and libraries of one version understand each other: what a later library adds is at the end of
   structs, or a function. */
#define EVERTICK_TRAIN_VERSION 1

enum {
	EVERTICK_OK = 0,
	EVERTICK_ERANGE = -1,       /* an invalid value, length or name */
	EVERTICK_ENOTFINITE = -2,   /* NaN or infinite */
	EVERTICK_ESTALE = -3,       /* a handle that is closed; an episode that has ended or not begun; a step
	                               that was sent, and not received, or the other way round */
	EVERTICK_ECORRUPT = -4,     /* saved data that is truncated or altered */
	EVERTICK_EUNSUPPORTED = -5, /* of another version or definition, or not recorded */
	EVERTICK_ECAPACITY = -6,    /* too little room, or too little memory */
	EVERTICK_EFLOATENV = -7,    /* the thread flushes denormals or rounds differently, because of a library
	                               that was built with -ffast-math */
	EVERTICK_EWORLD = -8,       /* a world has failed; evertick_train_reset of all worlds repairs it */
	EVERTICK_EPANIC = -9,       /* a fault of the library; the batch can only be closed */
	EVERTICK_EFORKED = -10,     /* this process was forked from one that had loaded the library */
	EVERTICK_EFILE = -11,       /* a file or folder that cannot be read or written, or that is there already */
	EVERTICK_EOTHER = -12       /* another error: of a definition that makes no worlds, for example */
};

enum { EVERTICK_FLOAT32 = 0, EVERTICK_UINT8 = 1, EVERTICK_INT32 = 2 };
enum { EVERTICK_OBS = 0, EVERTICK_ACTION = 1 };
enum { EVERTICK_NEXT_STEP = 0, EVERTICK_SAME_STEP = 1, EVERTICK_DISABLED = 2 };

#define EVERTICK_TRAIN_MAX_DIMS 4
#define EVERTICK_TRAIN_MAX_NAME 64

/* The configuration of a batch; zeros are defaults as in the Go package. */
typedef struct evertick_train_config {
	uint32_t struct_size;
	uint32_t autoreset;
	int64_t worlds;
	uint64_t first; /* number of the first world */
	uint64_t seed;
	int64_t max_steps; /* 0: those of the definition; -1: no limit */
	int64_t workers;
	uint32_t record;
	uint32_t reserved; /* zero */
} evertick_train_config;

/* A batch and its spaces. */
typedef struct evertick_train_info {
	uint32_t struct_size;
	uint32_t autoreset;
	int64_t worlds;
	int64_t max_steps; /* 0: none */
	uint32_t obs_kind; /* FLOAT32 or UINT8 */
	uint32_t obs_dims;
	int64_t obs_shape[EVERTICK_TRAIN_MAX_DIMS];
	int64_t obs_size; /* numbers per row */
	uint32_t action_kind; /* FLOAT32 or INT32 */
	uint32_t action_dims; /* 0 for a choice */
	int64_t action_shape[EVERTICK_TRAIN_MAX_DIMS];
	int64_t action_size;
	int64_t choices;    /* of INT32 with action_dims 0; otherwise evertick_train_choices has them */
	char name[EVERTICK_TRAIN_MAX_NAME + 8];
	/* A caller whose struct ends here cannot describe worlds with agents, parts or several choices: EUNSUPPORTED. */
	int64_t agents;       /* rows per world, 1 at least: row = world * agents + agent */
	int64_t mask_size;    /* flags in a row of masks: the sum of all choices, 0 for FLOAT32 */
	int64_t obs_parts;    /* named parts of a row of observations, 0: none */
	int64_t action_parts;
	/* An earlier caller's struct may end here. */
	double steps_per_second; /* of the time of a world, for films */
	/* So may this one. */
	uint32_t masked;   /* not 0: the worlds have masks; otherwise all flags of all masks are always 1 */
	uint32_t reserved; /* zero */
} evertick_train_info;

/* A named part of a row of observations or actions: size numbers from offset. */
typedef struct evertick_train_part {
	uint32_t struct_size;
	uint32_t dims; /* 0 for one choice */
	int64_t offset;
	int64_t size;
	int64_t shape[EVERTICK_TRAIN_MAX_DIMS];
	char name[EVERTICK_TRAIN_MAX_NAME + 8];
} evertick_train_part;

/* A buffer: the address of row 0, its size in bytes, and the bytes from one row to the
   next, a multiple of the size of a number. */
typedef struct evertick_train_rows {
	void *data;
	int64_t bytes;
	int64_t stride;
} evertick_train_rows;

/* All buffers of a batch, a row for each world, or for each agent of each world. Only step uses actions, reward,
   terminated, truncated, final, final_obs and final_mask, and the last three only in mode SAME_STEP; a mask, live or
   final_mask with null data is ignored. Flags and masks are bytes, 0 or 1. */
typedef struct evertick_train_buffers {
	uint32_t struct_size;
	uint32_t reserved;                 /* zero */
	evertick_train_rows obs;           /* float or uint8_t */
	evertick_train_rows actions;       /* float or int32_t */
	evertick_train_rows reward;        /* float, stride 4 */
	evertick_train_rows terminated;    /* uint8_t, stride 1 */
	evertick_train_rows truncated;     /* uint8_t, stride 1 */
	evertick_train_rows final;         /* uint8_t, stride 1 */
	evertick_train_rows final_obs;     /* as obs */
	evertick_train_rows mask;          /* uint8_t for each choice */
	/* An earlier caller's struct may end here. */
	evertick_train_rows live;          /* uint8_t, stride 1: whether the row takes part in the next step */
	/* So may this one. */
	evertick_train_rows final_mask;    /* as mask: what belongs to final_obs */
} evertick_train_buffers;

/* Which worlds begin, and with which seeds. */
typedef struct evertick_train_reset_options {
	uint32_t struct_size;
	uint32_t reseed;       /* not 0: seed becomes that of the batch */
	uint64_t seed;
	const uint64_t *seeds; /* null, or one for each world */
	int64_t seeds_count;
	const uint8_t *only;   /* null, or for each world: not 0 if it begins */
	int64_t only_count;
} evertick_train_reset_options;

/* The log of an exported episode. */
typedef struct evertick_train_exported {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t seed;
	uint64_t ticks;
	uint64_t hash;
	int64_t steps;
} evertick_train_exported;

/* Read-only strings and structs. */
typedef const char evertick_text;
typedef const uint8_t evertick_bytes;
typedef const evertick_train_config evertick_train_config_in;
typedef const evertick_train_reset_options evertick_train_reset_in;
typedef const evertick_train_buffers evertick_train_buffers_in;

/* Returns the version of the library. */
int32_t evertick_train_version(void);

/* Writes the names of all worlds, separated by newlines and ended by a zero byte, and their length without that
   byte. With too little room it writes the length and returns ECAPACITY. */
int32_t evertick_train_names(char *text, int64_t room, int64_t *length);

/* Creates a batch. A null config is zero. More worlds than there is memory for are ECAPACITY. */
int32_t evertick_train_create(evertick_text *name, evertick_train_config_in *config, uint64_t *batch);

/* Ends a batch, after a running call or a step that was sent. Its handle is ESTALE from then on. */
int32_t evertick_train_close(uint64_t batch);

/* Writes the error message of the last call on the batch, or for batch 0 of the last call of create or on a
   stale handle in this process, as evertick_train_names does. It is empty if that call had no error. */
int32_t evertick_train_error(uint64_t batch, char *text, int64_t room, int64_t *length);

/* Describes a batch. */
int32_t evertick_train_describe(uint64_t batch, evertick_train_info *info);

/* Writes the bounds of spaces of FLOAT32: obs_size and action_size numbers. Null pointers are skipped. */
int32_t evertick_train_bounds(uint64_t batch, float *obs_low, float *obs_high, float *action_low, float *action_high);

/* Writes the number of choices of each number of an action of INT32; count is action_size. */
int32_t evertick_train_choices(uint64_t batch, int64_t *choices, int64_t count);

/* Describes part number index of the observations (space EVERTICK_OBS) or actions (EVERTICK_ACTION). */
int32_t evertick_train_describe_part(uint64_t batch, uint32_t space, int64_t index, evertick_train_part *part);

/* Writes the names of the agents of a world as evertick_train_names does: none if it has one agent without a name. */
int32_t evertick_train_agents(uint64_t batch, char *text, int64_t room, int64_t *length);

/* Begins episodes. Null options: the next one of every world. */
int32_t evertick_train_reset(uint64_t batch, evertick_train_reset_in *options, evertick_train_buffers_in *buffers);

/* Steps all worlds. */
int32_t evertick_train_step(uint64_t batch, evertick_train_buffers_in *buffers);

/* Starts a step and returns. The buffers, but not the struct, belong to the library until
   evertick_train_recv returns: do not read, write or free them. Until then every other call on the batch but poll,
   error and close is ESTALE. An invalid struct is refused here, an invalid action by recv. The results are those of
   evertick_train_step. For two halves of a batch in turn create two batches, the second with first
   set to the number of worlds of the first. */
int32_t evertick_train_send(uint64_t batch, evertick_train_buffers_in *buffers);

/* Waits for the step that was sent, and returns its result. */
int32_t evertick_train_recv(uint64_t batch);

/* Writes 1 if evertick_train_recv would return at once, otherwise 0. */
int32_t evertick_train_poll(uint64_t batch, int32_t *ready);

/* Writes observations and masks. */
int32_t evertick_train_observe(uint64_t batch, evertick_train_buffers_in *buffers);

/* Writes a picture of a world as it is, 1 to 4096 pixels wide and high: three bytes a pixel, red, green and blue, row
   by row from the top, 3 * width * height bytes. Worlds without pictures are EUNSUPPORTED. */
int32_t evertick_train_render(uint64_t batch, int64_t world, int32_t width, int32_t height, uint8_t *rgb, int64_t bytes);

/* Writes the hash of every world. */
int32_t evertick_train_hashes(uint64_t batch, uint64_t *hashes, int64_t count);

/* Saves a world. With too little room it writes the length and returns ECAPACITY. */
int32_t evertick_train_save(uint64_t batch, int64_t world, uint8_t *data, int64_t room, int64_t *length);

/* Replaces a world by a saved one. */
int32_t evertick_train_load(uint64_t batch, int64_t world, evertick_bytes *data, int64_t length);

/* Makes world to a copy of world from. */
int32_t evertick_train_fork(uint64_t batch, int64_t from, int64_t to);

/* Writes the last episode of a world as a log into a directory that has none. exported may be
   null. A directory that cannot be written, or that has a log, is EFILE. */
int32_t evertick_train_export(uint64_t batch, int64_t world, evertick_text *directory, evertick_train_exported *exported);

#ifdef __cplusplus
}
#endif

#endif
