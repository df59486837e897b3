/* Drives the library as a C program does. Prints what failed, and returns how much. */
#ifndef _WIN32
#define _POSIX_C_SOURCE 200809L
#endif
#include "../evertick_train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "check.h"

#define TRUE(x) do { if (!(x)) { failed++; printf("line %d: not %s\n", __LINE__, #x); } } while (0)

enum { N = 70, OBS = 4, GAP = 6 };

static float obs[N * GAP], final_obs[N * OBS], reward[N];
static int32_t actions[N];
static uint8_t terminated[N], truncated[N], final[N], mask[N * 2];

static evertick_train_buffers buffers(void) {
	evertick_train_buffers b;
	memset(&b, 0, sizeof b);
	b.struct_size = sizeof b;
	b.obs = (evertick_train_rows){obs, sizeof obs, GAP * 4};
	b.actions = (evertick_train_rows){actions, sizeof actions, 4};
	b.reward = (evertick_train_rows){reward, sizeof reward, 4};
	b.terminated = (evertick_train_rows){terminated, sizeof terminated, 1};
	b.truncated = (evertick_train_rows){truncated, sizeof truncated, 1};
	b.final = (evertick_train_rows){final, sizeof final, 1};
	b.final_obs = (evertick_train_rows){final_obs, sizeof final_obs, OBS * 4};
	b.mask = (evertick_train_rows){mask, sizeof mask, 2};
	return b;
}

static uint64_t create(const char *name, int64_t worlds, uint32_t autoreset, int64_t workers, uint32_t record) {
	evertick_train_config c;
	uint64_t batch = 0;
	memset(&c, 0, sizeof c);
	c.struct_size = sizeof c;
	c.worlds = worlds, c.seed = 7, c.autoreset = autoreset, c.workers = workers, c.record = record;
	WANT(evertick_train_create(name, &c, &batch), EVERTICK_OK, 0);
	return batch;
}

/* Describes a batch. */
static void limit_of(const char *name, evertick_train_config *c, int64_t want, uint32_t masked) {
	evertick_train_info info;
	uint64_t batch = 0;
	memset(&info, 0, sizeof info);
	info.struct_size = sizeof info;
	WANT(evertick_train_create(name, c, &batch), EVERTICK_OK, 0);
	WANT(evertick_train_describe(batch, &info), EVERTICK_OK, batch);
	TRUE(info.max_steps == want && info.masked == masked);
	WANT(evertick_train_close(batch), EVERTICK_OK, batch);
}

static void creation(void) {
	evertick_train_config c;
	uint64_t batch = 0;
	char text[8];
	int64_t length = 0;
	memset(&c, 0, sizeof c);
	TRUE(evertick_train_version() == EVERTICK_TRAIN_VERSION);
	WANT(evertick_train_names(text, sizeof text, &length), EVERTICK_ECAPACITY, 0);
	TRUE(length > 8);
	WANT(evertick_train_create("cartpole", &c, &batch), EVERTICK_EUNSUPPORTED, 0); /* struct_size */
	c.struct_size = sizeof c;
	WANT(evertick_train_create("cartpoles", &c, &batch), EVERTICK_ERANGE, 0);
	TRUE(strstr(said(0), "cartpoles") != NULL);
	WANT(evertick_train_create(NULL, &c, &batch), EVERTICK_ERANGE, 0);
	WANT(evertick_train_create("cartpole", &c, NULL), EVERTICK_ERANGE, 0);
	c.worlds = -1;
	WANT(evertick_train_create("cartpole", &c, &batch), EVERTICK_ERANGE, 0);
	c.worlds = (int64_t)1 << 40;
	WANT(evertick_train_create("cartpole", &c, &batch), EVERTICK_ERANGE, 0);
	c.worlds = 1, c.record = 1;
	WANT(evertick_train_create("cartpole", &c, &batch), EVERTICK_EUNSUPPORTED, 0);
	c.record = 0, c.reserved = 9;
	WANT(evertick_train_create("cartpole", &c, &batch), EVERTICK_ERANGE, 0);
	TRUE(strstr(said(0), "config.reserved = 9:") != NULL);
	c.reserved = UINT32_MAX;
	WANT(evertick_train_create("cartpole", &c, &batch), EVERTICK_ERANGE, 0);
	TRUE(strstr(said(0), "config.reserved = 4294967295:") != NULL);
	c.reserved = 0, c.max_steps = -3;
	WANT(evertick_train_create("cartpole", &c, &batch), EVERTICK_ERANGE, 0);
	TRUE(strstr(said(0), "config.max_steps = -3:") != NULL);
	c.max_steps = -1;
	limit_of("cartpole", &c, 0, 0);
	limit_of("pushbox", &c, 0, 1);
	c.max_steps = 0;
	limit_of("cartpole", &c, 500, 0);
	WANT(evertick_train_close(0), EVERTICK_ESTALE, 0);
	WANT(evertick_train_close(1), EVERTICK_ESTALE, 0);
	WANT(evertick_train_close(UINT64_MAX), EVERTICK_ESTALE, 0);
}

/* Pictures of a world: white, with something on it, and not a byte more than that. */
static void pictures(uint64_t batch) {
	enum { W = 40, H = 24 };
	static uint8_t rgb[3 * W * H + 1], again[3 * W * H];
	int i, dark = 0;
	rgb[3 * W * H] = 77;
	WANT(evertick_train_render(batch, 3, W, H, rgb, 3 * W * H), EVERTICK_OK, batch);
	for (i = 0; i < 3 * W * H; i++) dark += rgb[i] < 128;
	TRUE(rgb[0] == 255 && rgb[1] == 255 && dark > W && rgb[3 * W * H] == 77);
	WANT(evertick_train_render(batch, 3, H, W, again, 3 * W * H), EVERTICK_OK, batch);
	TRUE(memcmp(rgb, again, sizeof again) != 0);
	WANT(evertick_train_render(batch, 3, W, H, again, sizeof again), EVERTICK_OK, batch);
	TRUE(memcmp(rgb, again, sizeof again) == 0);
	WANT(evertick_train_render(batch, N, W, H, rgb, 3 * W * H), EVERTICK_ERANGE, batch);
	WANT(evertick_train_render(batch, -1, W, H, rgb, 3 * W * H), EVERTICK_ERANGE, batch);
	WANT(evertick_train_render(batch, 0, W, H, rgb, 3 * W * H - 1), EVERTICK_ERANGE, batch);
	TRUE(strstr(said(batch), "bytes of rgb = 2879") != NULL);
	WANT(evertick_train_render(batch, 0, W, 0, rgb, 0), EVERTICK_ERANGE, batch);
	WANT(evertick_train_render(batch, 0, -W, -H, rgb, 3 * W * H), EVERTICK_ERANGE, batch);
	WANT(evertick_train_render(batch, 0, 1 << 30, 1 << 30, rgb, 3 * W * H), EVERTICK_ERANGE, batch);
	WANT(evertick_train_render(batch, 0, W, H, NULL, 3 * W * H), EVERTICK_ERANGE, batch);
}

static void steps(int64_t workers, uint64_t *sum) {
	evertick_train_buffers b = buffers();
	evertick_train_info info;
	uint64_t hashes[N], batch = create("cartpole", N, EVERTICK_SAME_STEP, workers, 0), other;
	int i, s, ends = 0;
	uint8_t data[4096];
	int64_t length = 0;
	memset(&info, 0, sizeof info);
	WANT(evertick_train_describe(batch, &info), EVERTICK_EUNSUPPORTED, batch);
	info.struct_size = sizeof info;
	WANT(evertick_train_describe(batch, &info), EVERTICK_OK, batch);
	TRUE(info.obs_size == OBS && info.obs_kind == EVERTICK_FLOAT32 && info.choices == 2 && info.worlds == N && strcmp(info.name, "cartpole") == 0 && info.steps_per_second == 50);
	WANT(evertick_train_step(batch, &b), EVERTICK_ESTALE, batch); /* before reset */
	for (i = 0; i < N * GAP; i++) obs[i] = -99;
	WANT(evertick_train_reset(batch, NULL, &b), EVERTICK_OK, batch);
	TRUE(obs[3] != -99 && obs[4] == -99 && obs[5] == -99 && obs[GAP] != -99 && mask[0] == 1);
	for (s = 0; s < 100; s++) {
		for (i = 0; i < N; i++) actions[i] = (s * 7 + i * 3) % 5 < 3;
		WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch);
		for (i = 0; i < N; i++) {
			TRUE(reward[i] == 1 && final[i] == (terminated[i] | truncated[i]));
			ends += terminated[i];
		}
	}
	TRUE(ends > N && obs[4] == -99);
	WANT(evertick_train_hashes(batch, hashes, N), EVERTICK_OK, batch);
	for (i = 0, *sum = 0; i < N; i++) *sum = *sum * 31 + hashes[i];
	WANT(evertick_train_hashes(batch, hashes, N - 1), EVERTICK_ERANGE, batch);

	actions[3] = 2;
	WANT(evertick_train_step(batch, &b), EVERTICK_ERANGE, batch);
	TRUE(strstr(said(batch), "choice of world[3] = 2") != NULL);
	actions[3] = 0;
	b.obs.bytes -= GAP * 4;
	WANT(evertick_train_step(batch, &b), EVERTICK_ERANGE, batch);
	b = buffers(), b.obs.stride = 12;
	WANT(evertick_train_step(batch, &b), EVERTICK_ERANGE, batch);
	b = buffers(), b.obs.data = (char *)obs + 1;
	WANT(evertick_train_step(batch, &b), EVERTICK_ERANGE, batch);
	b = buffers(), b.reward.data = NULL;
	WANT(evertick_train_step(batch, &b), EVERTICK_ERANGE, batch);
	b = buffers(), b.struct_size = 8;
	WANT(evertick_train_step(batch, &b), EVERTICK_EUNSUPPORTED, batch);
	b = buffers(), b.reserved = 9;
	WANT(evertick_train_step(batch, &b), EVERTICK_ERANGE, batch);
	TRUE(strstr(said(batch), "buffers.reserved = 9:") != NULL);
	WANT(evertick_train_step(batch, NULL), EVERTICK_ERANGE, batch);
	b = buffers();

	WANT(evertick_train_save(batch, 1, NULL, 0, &length), EVERTICK_ECAPACITY, batch);
	TRUE(length > 0 && length <= (int64_t)sizeof data);
	WANT(evertick_train_save(batch, 1, data, sizeof data, &length), EVERTICK_OK, batch);
	WANT(evertick_train_save(batch, N, data, sizeof data, &length), EVERTICK_ERANGE, batch);
	WANT(evertick_train_load(batch, 2, data, length), EVERTICK_OK, batch);
	WANT(evertick_train_fork(batch, 2, 5), EVERTICK_OK, batch);
	WANT(evertick_train_hashes(batch, hashes, N), EVERTICK_OK, batch);
	TRUE(hashes[1] == hashes[2] && hashes[1] == hashes[5] && hashes[1] != hashes[0]);
	WANT(evertick_train_observe(batch, &b), EVERTICK_OK, batch);
	TRUE(memcmp(obs + GAP, obs + 2 * GAP, OBS * 4) == 0);
	data[length / 2] ^= 1;
	WANT(evertick_train_load(batch, 2, data, length), EVERTICK_ECORRUPT, batch);
	WANT(evertick_train_load(batch, 2, NULL, 5), EVERTICK_ERANGE, batch);
	WANT(evertick_train_export(batch, 2, "nowhere", NULL), EVERTICK_EUNSUPPORTED, batch);

	pictures(batch);
	WANT(evertick_train_close(batch), EVERTICK_OK, batch);
	WANT(evertick_train_step(batch, &b), EVERTICK_ESTALE, batch);
	WANT(evertick_train_close(batch), EVERTICK_ESTALE, batch);
	other = create("cartpole", 1, 0, 1, 0);
	TRUE(other != batch); /* the place is used again, the handle is not */
	WANT(evertick_train_step(batch, &b), EVERTICK_ESTALE, batch);
	WANT(evertick_train_close(other), EVERTICK_OK, other);
}

static void numbers(void) {
	static float wide[3 * 23], told[3 * 2] = {0, 0, 0, NAN};
	float low[2], high[2];
	uint64_t batch = create("tag", 3, EVERTICK_NEXT_STEP, 1, 0);
	evertick_train_buffers b = buffers();
	b.obs = (evertick_train_rows){wide, sizeof wide, 23 * 4};
	b.actions = (evertick_train_rows){told, sizeof told, 8};
	b.mask.data = NULL;
	WANT(evertick_train_bounds(batch, NULL, NULL, low, high), EVERTICK_OK, batch);
	TRUE(low[0] == -1 && high[1] == 1);
	WANT(evertick_train_reset(batch, NULL, &b), EVERTICK_OK, batch);
	WANT(evertick_train_step(batch, &b), EVERTICK_ENOTFINITE, batch);
	TRUE(strstr(said(batch), "world 1[1]") != NULL);
	told[3] = 1.5f;
	WANT(evertick_train_step(batch, &b), EVERTICK_ERANGE, batch);
	told[3] = 1;
	WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch);
	TRUE(said(batch)[0] == 0);
	WANT(evertick_train_close(batch), EVERTICK_OK, batch);
}

#ifndef _WIN32
/* Every function, in a child of this process: refused at once, and none hangs. Returns how many were not. */
static int in_child(uint64_t batch, evertick_train_buffers *b) {
	uint64_t other = 77, hashes[N];
	char text[16];
	uint8_t data[16];
	int64_t length = -1;
	evertick_train_info info;
	int before = failed;
	memset(&info, 0, sizeof info);
	info.struct_size = sizeof info;
	alarm(20); /* ends a child that hangs */
	WANT(evertick_train_step(batch, b), EVERTICK_EFORKED, batch);
	WANT(evertick_train_version(), EVERTICK_EFORKED, 0);
	WANT(evertick_train_names(text, sizeof text, &length), EVERTICK_EFORKED, 0);
	WANT(evertick_train_create("cartpole", NULL, &other), EVERTICK_EFORKED, 0);
	WANT(evertick_train_describe(batch, &info), EVERTICK_EFORKED, batch);
	WANT(evertick_train_bounds(batch, NULL, NULL, NULL, NULL), EVERTICK_EFORKED, batch);
	WANT(evertick_train_reset(batch, NULL, b), EVERTICK_EFORKED, batch);
	WANT(evertick_train_observe(batch, b), EVERTICK_EFORKED, batch);
	WANT(evertick_train_render(batch, 0, 2, 2, data, 12), EVERTICK_EFORKED, batch);
	WANT(evertick_train_hashes(batch, hashes, N), EVERTICK_EFORKED, batch);
	WANT(evertick_train_save(batch, 0, data, sizeof data, &length), EVERTICK_EFORKED, batch);
	WANT(evertick_train_load(batch, 0, data, sizeof data), EVERTICK_EFORKED, batch);
	WANT(evertick_train_fork(batch, 0, 1), EVERTICK_EFORKED, batch);
	WANT(evertick_train_export(batch, 0, "nowhere", NULL), EVERTICK_EFORKED, batch);
	WANT(evertick_train_close(batch), EVERTICK_EFORKED, batch);
	TRUE(other == 77 && length == -1 && info.worlds == 0);
	TRUE(strstr(said(batch), "forked") != NULL && strstr(said(0), "forked") != NULL);
	WANT(evertick_train_error(batch, text, sizeof text, &length), EVERTICK_ECAPACITY, batch);
	TRUE(length == (int64_t)strlen(said(0)));
	WANT(evertick_train_error(batch, NULL, 5, NULL), EVERTICK_ERANGE, batch);
	WANT(evertick_train_error(batch, text, -1, NULL), EVERTICK_ERANGE, batch);
	return failed - before;
}

static void forks(void) {
	evertick_train_buffers b = buffers();
	uint64_t batch = create("cartpole", N, EVERTICK_NEXT_STEP, 2, 0), before[N], after[N];
	int generation, status = -1;
	pid_t child;
	memset(actions, 0, sizeof actions);
	WANT(evertick_train_reset(batch, NULL, &b), EVERTICK_OK, batch);
	WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch);
	WANT(evertick_train_hashes(batch, before, N), EVERTICK_OK, batch);
	fflush(stdout);
	if ((child = fork()) == 0) {
		int bad = in_child(batch, &b);
		pid_t grandchild = fork();
		if (grandchild == 0) {
			bad = in_child(batch, &b);
			fflush(stdout);
			_exit(bad > 0);
		}
		generation = -1;
		TRUE(waitpid(grandchild, &generation, 0) == grandchild && generation == 0);
		fflush(stdout);
		_exit(bad > 0 || generation != 0);
	}
	TRUE(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	WANT(evertick_train_hashes(batch, after, N), EVERTICK_OK, batch); /* the parent goes on */
	TRUE(memcmp(before, after, sizeof before) == 0);
	WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch);
	WANT(evertick_train_close(batch), EVERTICK_OK, batch);
}
#else
static void forks(void) {}
#endif

#ifdef __linux__
/* The memory that this process has mapped, in bytes. */
static rlim_t mapped(void) {
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	TRUE(f != NULL && fscanf(f, "%lu", &pages) == 1);
	if (f != NULL) fclose(f);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* With this much memory left, any number of worlds of each name either begins or is refused, and then fewer begin. */
static void memory(rlim_t left) {
	static const char *const names[] = {"cartpole", "pushbox", "tag", "tag-raster", "tag-team"};
	struct rlimit r;
	size_t k;
	TRUE(evertick_train_version() > 0); /* the Go runtime, which reserves much address space, has begun */
	TRUE(getrlimit(RLIMIT_AS, &r) == 0);
	r.rlim_cur = mapped() + left;
	TRUE(setrlimit(RLIMIT_AS, &r) == 0);
	for (k = 0; k < sizeof names / sizeof *names; k++) {
		int64_t worlds, begun = 0, refused = 0;
		for (worlds = (int64_t)1 << 20; worlds > 0; worlds /= 4) {
			evertick_train_config c;
			evertick_train_info info;
			evertick_train_buffers b;
			uint64_t batch = 0;
			size_t rows;
			void *seen;
			int code;
			memset(&c, 0, sizeof c);
			c.struct_size = sizeof c, c.worlds = worlds, c.record = k > 0 && worlds % 8 == 0;
			code = evertick_train_create(names[k], &c, &batch);
			if (code == EVERTICK_ECAPACITY) {
				TRUE(strstr(said(0), "config.worlds = ") != NULL && strstr(said(0), "memory") != NULL);
				refused++;
				continue;
			}
			TRUE(code == EVERTICK_OK);
			memset(&info, 0, sizeof info);
			info.struct_size = sizeof info;
			WANT(evertick_train_describe(batch, &info), EVERTICK_OK, batch);
			rows = (size_t)(worlds * info.agents * info.obs_size) * (info.obs_kind == EVERTICK_UINT8 ? 1 : 4);
			seen = malloc(rows);
			memset(&b, 0, sizeof b);
			b.struct_size = sizeof b;
			b.obs = (evertick_train_rows){seen, (int64_t)rows, info.obs_size * (info.obs_kind == EVERTICK_UINT8 ? 1 : 4)};
			if (seen != NULL) {
				WANT(evertick_train_reset(batch, NULL, &b), EVERTICK_OK, batch);
				begun++;
			}
			free(seen);
			WANT(evertick_train_close(batch), EVERTICK_OK, batch);
		}
		printf("%s: %d begun, %d refused\n", names[k], (int)begun, (int)refused);
		TRUE(begun > 2 && (refused > 2 || k == 0));
	}
	printf("%d failed\n", failed);
}
#else
static void memory(uint64_t left) { printf("not run: memory: no Linux, %d\n", (int)left); }
#endif

int main(int argc, char **argv) {
	uint64_t one = 0, three = 1;
	if (argc > 2) {
		memory((unsigned)atoi(argv[2]) * 1048576u);
		return failed > 0;
	}
	creation();
	steps(1, &one);
	steps(3, &three);
	TRUE(one == three);
	numbers();
	forks();
	if (argc > 1) { /* a directory to export to */
		static float wide[13];
		evertick_train_exported e;
		evertick_train_buffers b = buffers();
		uint64_t batch = create("pushbox", 1, EVERTICK_NEXT_STEP, 1, 1);
		int s;
		memset(&e, 0, sizeof e);
		e.struct_size = sizeof e;
		b.obs = (evertick_train_rows){wide, sizeof wide, sizeof wide};
		b.mask.data = NULL;
		WANT(evertick_train_reset(batch, NULL, &b), EVERTICK_OK, batch);
		for (s = 0; s < 20; s++) {
			actions[0] = s % 5;
			WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch);
		}
		WANT(evertick_train_export(batch, 0, argv[1], &e), EVERTICK_OK, batch);
		TRUE(e.steps == 20 && e.ticks == 21 && e.hash != 0);
		WANT(evertick_train_export(batch, 0, argv[1], &e), EVERTICK_EFILE, batch); /* there is a log */
		WANT(evertick_train_export(batch, 0, argv[0], &e), EVERTICK_EFILE, batch); /* there is a file */
		WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch);                  /* and the worlds go on */
		WANT(evertick_train_close(batch), EVERTICK_OK, batch);
	}
	printf("%d failed\n", failed);
	return failed > 0;
}
