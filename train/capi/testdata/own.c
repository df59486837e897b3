/* Drives the library of the folder own as a C11 and as a C++17 program do: agents, parts, steps that are sent, threads,
   signals, refusals. Prints what failed, and returns how much. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "../../clib/evertick_train.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "../../clib/testdata/check.h"

#define SAYS(call, code, batch, words) do { \
	WANT(call, code, batch); \
	if (!strstr(said(batch), words)) { failed++; printf("line %d: %s: \"%s\" does not say \"%s\"\n", __LINE__, #call, said(batch), words); } \
} while (0)
#define TRUE(x) do { if (!(x)) { failed++; printf("line %d: not %s\n", __LINE__, #x); } } while (0)

enum { N = 6, ROWS = 2 * N };

/* The memory of one batch. */
typedef struct memory {
	float obs[ROWS * 2], final_obs[ROWS * 2], reward[ROWS];
	int32_t actions[ROWS * 3];
	uint8_t terminated[ROWS], truncated[ROWS], final[ROWS], live[ROWS], mask[ROWS * 10], final_mask[ROWS * 10];
} memory;

static evertick_train_rows rows(void *data, size_t bytes, int64_t stride) {
	evertick_train_rows r;
	r.data = data, r.bytes = (int64_t)bytes, r.stride = stride;
	return r;
}

/* The buffers of a world with numbers numbers and flags choices in an action. */
static evertick_train_buffers buffers(memory *m, int numbers, int flags) {
	evertick_train_buffers b;
	memset(&b, 0, sizeof b);
	b.struct_size = sizeof b;
	b.obs = rows(m->obs, sizeof m->obs, 8);
	b.actions = rows(m->actions, sizeof m->actions, 4 * numbers);
	b.reward = rows(m->reward, sizeof m->reward, 4);
	b.terminated = rows(m->terminated, sizeof m->terminated, 1);
	b.truncated = rows(m->truncated, sizeof m->truncated, 1);
	b.final = rows(m->final, sizeof m->final, 1);
	b.final_obs = rows(m->final_obs, sizeof m->final_obs, 8);
	b.mask = rows(m->mask, sizeof m->mask, flags);
	b.live = rows(m->live, sizeof m->live, 1);
	b.final_mask = rows(m->final_mask, sizeof m->final_mask, flags);
	return b;
}

static uint64_t create(const char *name, uint32_t autoreset) {
	evertick_train_config c;
	uint64_t batch = 0;
	memset(&c, 0, sizeof c);
	c.struct_size = sizeof c;
	c.worlds = N, c.seed = 7, c.autoreset = autoreset, c.workers = 2;
	WANT(evertick_train_create(name, &c, &batch), EVERTICK_OK, 0);
	return batch;
}

static void names(void) {
	char text[64];
	uint64_t batch = 0;
	int64_t length = 0;
	WANT(evertick_train_names(text, sizeof text, &length), EVERTICK_OK, 0);
	TRUE(strcmp(text, "deep\none\nteam") == 0 && length == 13);
	SAYS(evertick_train_create("deep", NULL, &batch), EVERTICK_EUNSUPPORTED, 0, "dimensions of Definition.Obs.Shape = 5:");
	SAYS(evertick_train_create("cartpole", NULL, &batch), EVERTICK_ERANGE, 0, "name = \"cartpole\"");
	SAYS(evertick_train_create(NULL, NULL, &batch), EVERTICK_ERANGE, 0, "name or batch = null");
	TRUE(batch == 0);
}

static void describe(uint64_t batch) {
	evertick_train_info info;
	evertick_train_part part;
	int64_t choices[3] = {0, 0, 0}, length = 0;
	char text[16];
	memset(&info, 0, sizeof info);
	info.struct_size = offsetof(evertick_train_info, agents);
	SAYS(evertick_train_describe(batch, &info), EVERTICK_EUNSUPPORTED, batch, "no fields for agents");
	info.struct_size = sizeof info;
	WANT(evertick_train_describe(batch, &info), EVERTICK_OK, batch);
	TRUE(info.agents == 2 && info.worlds == N && info.obs_size == 2 && info.obs_parts == 2 && info.obs_dims == 1 && info.obs_shape[0] == 2);
	TRUE(info.action_size == 3 && info.action_parts == 2 && info.action_dims == 1 && info.action_shape[0] == 3 && info.choices == 0 && info.mask_size == 10 && info.steps_per_second == 60);
	WANT(evertick_train_choices(batch, choices, 3), EVERTICK_OK, batch);
	TRUE(choices[0] == 5 && choices[1] == 3 && choices[2] == 2);
	SAYS(evertick_train_choices(batch, choices, 2), EVERTICK_ERANGE, batch, "count of choices = 2:");
	WANT(evertick_train_choices(batch, NULL, 3), EVERTICK_ERANGE, batch);
	WANT(evertick_train_agents(batch, text, sizeof text, &length), EVERTICK_OK, batch);
	TRUE(strcmp(text, "red\nblue") == 0 && length == 8);
	SAYS(evertick_train_agents(batch, text, 3, &length), EVERTICK_ECAPACITY, batch, "room = 3:");

	memset(&part, 0, sizeof part);
	SAYS(evertick_train_describe_part(batch, EVERTICK_OBS, 1, &part), EVERTICK_EUNSUPPORTED, batch, "struct_size of part = 0:");
	part.struct_size = sizeof part;
	WANT(evertick_train_describe_part(batch, EVERTICK_OBS, 1, &part), EVERTICK_OK, batch);
	TRUE(part.offset == 1 && part.size == 1 && part.dims == 1 && part.shape[0] == 1 && strcmp(part.name, "steps") == 0);
	WANT(evertick_train_describe_part(batch, EVERTICK_ACTION, 0, &part), EVERTICK_OK, batch);
	TRUE(part.offset == 0 && part.size == 1 && part.dims == 0 && strcmp(part.name, "move") == 0);
	WANT(evertick_train_describe_part(batch, EVERTICK_ACTION, 1, &part), EVERTICK_OK, batch);
	TRUE(part.offset == 1 && part.size == 2 && part.dims == 1 && part.shape[0] == 2 && strcmp(part.name, "build") == 0);
	SAYS(evertick_train_describe_part(batch, EVERTICK_ACTION, 2, &part), EVERTICK_ERANGE, batch, "index = 2:");
	SAYS(evertick_train_describe_part(batch, EVERTICK_OBS, -1, &part), EVERTICK_ERANGE, batch, "index = -1:");
	SAYS(evertick_train_describe_part(batch, 2, 0, &part), EVERTICK_ERANGE, batch, "space = 2:");
	SAYS(evertick_train_describe_part(batch, 0, 0, NULL), EVERTICK_ERANGE, batch, "part = null:");
}

static void team(void) {
	static memory m;
	evertick_train_buffers b = buffers(&m, 3, 10);
	uint64_t batch = create("team", EVERTICK_NEXT_STEP);
	int i;
	describe(batch);
	memset(&m, 9, sizeof m);
	memset(m.actions, 0, sizeof m.actions);
	WANT(evertick_train_reset(batch, NULL, &b), EVERTICK_OK, batch);
	for (i = 0; i < ROWS; i++) TRUE(m.obs[2 * i] == (float)i && m.obs[2 * i + 1] == 0 && m.live[i] == 1 && m.mask[10 * i + 9] == 1);
	m.actions[3 * 2] = 1; /* world 1 */
	m.actions[3 * 4 + 2] = 2;
	SAYS(evertick_train_step(batch, &b), EVERTICK_ERANGE, batch, "choice of world 2, agent \"red\"[2] = 2:");
	m.actions[3 * 4 + 2] = 1;
	WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch);
	for (i = 0; i < ROWS; i++) TRUE(m.reward[i] == 1 && m.terminated[i] == (i / 2 == 1) && m.live[i] == (i / 2 != 1));
	m.live[0] = 77;
	b.struct_size = offsetof(evertick_train_buffers, live); /* an earlier caller */
	WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch);
	TRUE(m.live[0] == 77);
	WANT(evertick_train_close(batch), EVERTICK_OK, batch);
}

/* What is wrong with each buffer is said, with its name and the value. */
static void refusals(void) {
	static const char *const name[] = {"obs", "actions", "reward", "terminated", "truncated", "final", "final_obs", "mask", "live", "final_mask"};
	static memory m;
	uint64_t batch = create("one", EVERTICK_SAME_STEP);
	evertick_train_buffers b = buffers(&m, 1, 5);
	evertick_train_info info;
	int i;
	memset(&info, 0x55, sizeof info);
	info.struct_size = offsetof(evertick_train_info, agents);
	WANT(evertick_train_describe(batch, &info), EVERTICK_OK, batch);
	TRUE(info.choices == 5 && info.agents == 0x5555555555555555); /* an earlier caller */
	WANT(evertick_train_reset(batch, NULL, &b), EVERTICK_OK, batch);
	for (i = 0; i < 10; i++) {
		evertick_train_rows *r, was;
		char words[64];
		b = buffers(&m, 1, 5);
		r = &b.obs + i, was = *r;
		r->bytes = 3;
		sprintf(words, "buffers.%s: bytes = 3:", name[i]);
		SAYS(evertick_train_step(batch, &b), EVERTICK_ERANGE, batch, words);
		*r = was, r->stride = -8;
		sprintf(words, "buffers.%s: stride = -8:", name[i]);
		SAYS(evertick_train_step(batch, &b), EVERTICK_ERANGE, batch, words);
		*r = was, r->data = NULL;
		if (i < 7) {
			sprintf(words, "buffers.%s: data = null", name[i]);
			SAYS(evertick_train_step(batch, &b), EVERTICK_ERANGE, batch, words);
		} else WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch); /* not wanted */
		if (i < 3 || i == 6) {
			*r = was, r->data = (char *)r->data + 1;
			sprintf(words, "buffers.%s: data =", name[i]);
			SAYS(evertick_train_step(batch, &b), EVERTICK_ERANGE, batch, words);
		}
	}
	memset(&m, 0, sizeof m);
	m.actions[0] = 1; /* ends world 0 */
	b = buffers(&m, 1, 5), b.struct_size = offsetof(evertick_train_buffers, final_mask); /* an earlier caller */
	WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch);
	TRUE(m.final[0] == 1 && m.final[1] == 0 && m.final_mask[0] == 0);
	b.struct_size = sizeof b;
	WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch);
	TRUE(m.final_mask[0] == 1 && m.final_mask[4] == 1 && m.final_mask[5] == 0);
	SAYS(evertick_train_save(batch, N, NULL, 0, NULL), EVERTICK_ERANGE, batch, "world = 6:");
	SAYS(evertick_train_load(batch, 0, NULL, -4), EVERTICK_ERANGE, batch, "length of data = -4:");
	SAYS(evertick_train_fork(batch, -1, 9), EVERTICK_ERANGE, batch, "world = 9:");
	SAYS(evertick_train_hashes(batch, NULL, 3), EVERTICK_ERANGE, batch, "count of hashes = 3:");
	SAYS(evertick_train_export(batch, 0, NULL, NULL), EVERTICK_ERANGE, batch, "directory = null:");
	SAYS(evertick_train_describe(batch, NULL), EVERTICK_ERANGE, batch, "info = null:");
	SAYS(evertick_train_choices(batch, NULL, 1), EVERTICK_ERANGE, batch, "count of choices");
	WANT(evertick_train_close(batch), EVERTICK_OK, batch);
	SAYS(evertick_train_poll(batch, NULL), EVERTICK_ESTALE, 0, "handle = 0x");
}

static uint64_t hash(uint64_t batch) {
	uint64_t hashes[N], sum = 0;
	int i;
	WANT(evertick_train_hashes(batch, hashes, N), EVERTICK_OK, batch);
	for (i = 0; i < N; i++) sum = sum * 31 + hashes[i];
	return sum;
}

/* Steps that are sent give the bits of steps. */
static void sent(void) {
	static memory m, n;
	uint64_t batch = create("one", EVERTICK_SAME_STEP), plain = create("one", EVERTICK_SAME_STEP);
	evertick_train_buffers b = buffers(&m, 1, 5), c = buffers(&n, 1, 5);
	int32_t ready = 5;
	int s, i;
	memset(&m, 0, sizeof m), memset(&n, 0, sizeof n);
	WANT(evertick_train_reset(batch, NULL, &b), EVERTICK_OK, batch);
	WANT(evertick_train_reset(plain, NULL, &c), EVERTICK_OK, plain);
	SAYS(evertick_train_recv(batch), EVERTICK_ESTALE, batch, "no step was sent of batch = 0x");
	WANT(evertick_train_poll(batch, &ready), EVERTICK_ESTALE, batch);
	for (s = 0; s < 40; s++) {
		for (i = 0; i < N; i++) m.actions[i] = n.actions[i] = (s + i) % 7 == 0;
		WANT(evertick_train_send(batch, &b), EVERTICK_OK, batch);
		WANT(evertick_train_step(plain, &c), EVERTICK_OK, plain);
		SAYS(evertick_train_send(batch, &b), EVERTICK_ESTALE, batch, "a step was sent");
		WANT(evertick_train_step(batch, &b), EVERTICK_ESTALE, batch);
		WANT(evertick_train_save(batch, 0, NULL, 0, NULL), EVERTICK_ESTALE, batch);
		WANT(evertick_train_poll(batch, NULL), EVERTICK_ERANGE, batch);
		for (ready = 0; s % 2 && !ready;) {
			WANT(evertick_train_poll(batch, &ready), EVERTICK_OK, batch);
			sched_yield();
		}
		WANT(evertick_train_recv(batch), EVERTICK_OK, batch);
		TRUE(memcmp(&m, &n, sizeof m) == 0);
	}
	TRUE(hash(batch) == hash(plain));
	b.obs.bytes = 1; /* refused at once: no step was sent */
	SAYS(evertick_train_send(batch, &b), EVERTICK_ERANGE, batch, "buffers.obs: bytes = 1:");
	WANT(evertick_train_recv(batch), EVERTICK_ESTALE, batch);
	b = buffers(&m, 1, 5);
	m.actions[4] = 5;
	WANT(evertick_train_send(batch, &b), EVERTICK_OK, batch);
	SAYS(evertick_train_recv(batch), EVERTICK_ERANGE, batch, "choice of world[4] = 5:");
	TRUE(hash(batch) == hash(plain));
	m.actions[4] = 2;
	WANT(evertick_train_send(batch, &b), EVERTICK_OK, batch);
	SAYS(evertick_train_recv(batch), EVERTICK_EWORLD, batch, "broken");
	m.actions[4] = 3;
	WANT(evertick_train_reset(batch, NULL, &b), EVERTICK_OK, batch);
	WANT(evertick_train_send(batch, &b), EVERTICK_OK, batch);
	SAYS(evertick_train_recv(batch), EVERTICK_EPANIC, batch, "broken down");
	WANT(evertick_train_step(batch, &b), EVERTICK_EPANIC, batch);
	WANT(evertick_train_close(batch), EVERTICK_OK, batch);
	WANT(evertick_train_send(plain, &c), EVERTICK_OK, plain);
	WANT(evertick_train_close(plain), EVERTICK_OK, plain); /* waits for the step */
	WANT(evertick_train_recv(plain), EVERTICK_ESTALE, 0);
}

typedef struct job {
	uint64_t batch, result;
	int code;
	memory m;
} job;

static void *work(void *arg) {
	job *j = (job *)arg;
	evertick_train_buffers b = buffers(&j->m, 1, 5);
	int s;
	for (s = 0; s < 20 && j->code == 0; s++) j->code = evertick_train_step(j->batch, &b);
	return NULL;
}

/* Threads with a batch each, and two threads with one. */
static void threads(void) {
	enum { T = 12 };
	static job jobs[T];
	pthread_t thread[T];
	int i;
	for (i = 0; i < T; i++) {
		evertick_train_buffers b = buffers(&jobs[i].m, 1, 5);
		jobs[i].batch = i == T - 1 ? jobs[T - 2].batch : create("one", EVERTICK_NEXT_STEP);
		WANT(evertick_train_reset(jobs[i].batch, NULL, &b), EVERTICK_OK, jobs[i].batch);
	}
	for (i = 0; i < T; i++) TRUE(pthread_create(&thread[i], NULL, work, &jobs[i]) == 0);
	for (i = 0; i < T; i++) TRUE(pthread_join(thread[i], NULL) == 0 && jobs[i].code == EVERTICK_OK);
	for (i = 1; i < T - 2; i++) TRUE(hash(jobs[i].batch) == hash(jobs[0].batch));
	evertick_train_buffers b = buffers(&jobs[0].m, 1, 5);
	WANT(evertick_train_observe(jobs[T - 1].batch, &b), EVERTICK_OK, jobs[T - 1].batch);
	TRUE(jobs[0].m.obs[1] == 40);
	for (i = 0; i < T - 1; i++) WANT(evertick_train_close(jobs[i].batch), EVERTICK_OK, 0);
}

static volatile sig_atomic_t caught[65];
static sigjmp_buf back;

static void count(int sig) { caught[sig]++; }

static void leave(int sig) {
	caught[sig]++;
	siglongjmp(back, 1);
}

static void handle(int sig, void (*function)(int), struct sigaction *old) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_handler = function, a.sa_flags = SA_ONSTACK | SA_RESTART;
	TRUE(sigaction(sig, &a, old) == 0);
}

/* The handlers of the program run during steps, and steps go on; a fault in the program is its own. */
static void signals(void) {
	static memory m;
	uint64_t batch = create("one", EVERTICK_NEXT_STEP);
	evertick_train_buffers b = buffers(&m, 1, 5);
	struct itimerval timer;
	struct sigaction old;
	int s, i;
	memset(&m, 0, sizeof m), memset(&timer, 0, sizeof timer);
	handle(SIGINT, count, NULL), handle(SIGUSR1, count, NULL), handle(SIGALRM, count, NULL);
	timer.it_interval.tv_usec = timer.it_value.tv_usec = 700;
	WANT(evertick_train_reset(batch, NULL, &b), EVERTICK_OK, batch);
	TRUE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
	for (i = 0; i < N; i++) m.actions[i] = 4; /* a millisecond each */
	for (s = 0; s < 40 || (caught[SIGALRM] < 20 && s < 20000); s++) {
		TRUE(kill(getpid(), s % 2 ? SIGINT : SIGUSR1) == 0);
		WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch);
	}
	memset(&timer, 0, sizeof timer);
	TRUE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
	TRUE(caught[SIGALRM] >= 20 && caught[SIGINT] > 0 && caught[SIGUSR1] > 0);
	handle(SIGSEGV, leave, &old);
	if (!sigsetjmp(back, 1)) {
		int *volatile nowhere = NULL;
		*nowhere = 1;
	}
	TRUE(caught[SIGSEGV] == 1);
	TRUE(sigaction(SIGSEGV, &old, NULL) == 0);
	WANT(evertick_train_step(batch, &b), EVERTICK_OK, batch);
	WANT(evertick_train_close(batch), EVERTICK_OK, batch);
}

int main(void) {
	names();
	team();
	refusals();
	sent();
	threads();
	signals();
	printf("%d failed\n", failed);
	return failed > 0;
}
