#include "evertick.h"
#include "rigid_collide.h"
#include "rigid_collide_lanes.h"

/* As in package rigid. */
#define SPECULATIVE 0.02f
#define PREFERENCE 0.0005f
#define COINCIDENCE 1e-12f

/* Where the fields of a shape and of a manifold are, in floats. */
enum { VERTICES = 0, NORMALS = 16, REST = 32, SHAPE = 36, MANIFOLD = 16 };

typedef struct {
	const float *shapes;
	const uint32_t *body_of;
	const float *x, *y, *cos, *sin;
	const uint32_t *a, *b;
	float *out;
} world;

/* As many pairs as a vector has lanes: the reference in place of A. */
typedef struct {
	const float *a[16], *b[16]; /* shapes */
	uint32_t body_a[16], body_b[16];
	float swapped[16]; /* 1 where the reference is B */
	float *out[16];
	float nowhere[MANIFOLD]; /* the manifold of lanes without a pair */
} batch;

/* Pairs are sorted by kind, CHUNK at a time. */
enum { CHUNK = 1024 };
enum { NOTHING, DISCS, DISC_4, DISC_8, POLYGONS_4, POLYGONS_8, KINDS };

typedef struct {
	uint16_t at[KINDS][CHUNK];
	uint32_t n[KINDS];
} sorted;

/* 0 of dead shapes, 1 of discs, 2 of up to four vertices, 3 of more. */
static inline uint32_t size_of(uint32_t count) {
	return count - 1 >= ET_VERTICES ? 0 : 1u + (count > 1) + (count > 4);
}

/* Returns 0 if a shape or a body is not there. */
static int sort_pairs(const et_shape *shapes, const uint32_t *body_of, uint32_t shape_count, uint32_t body_count,
                      const uint32_t *a, const uint32_t *b, uint32_t n, sorted *s) {
	static const uint8_t kinds[4][4] = {{NOTHING, NOTHING, NOTHING, NOTHING},
	                                    {NOTHING, DISCS, DISC_4, DISC_8},
	                                    {NOTHING, DISC_4, POLYGONS_4, POLYGONS_8},
	                                    {NOTHING, DISC_8, POLYGONS_8, POLYGONS_8}};
	for (int k = 0; k < KINDS; k++)
		s->n[k] = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (a[i] >= shape_count || b[i] >= shape_count || body_of[a[i]] >= body_count || body_of[b[i]] >= body_count)
			return 0;
		const uint32_t kind = kinds[size_of(shapes[a[i]].count)][size_of(shapes[b[i]].count)];
		s->at[kind][s->n[kind]++] = (uint16_t)i;
	}
	return 1;
}

/* Fills a batch with the pairs at[0...lanes), of which only n are there: the last
 * stands in for the others. */
static inline void fill(batch *p, const world *w, const uint16_t *at, uint32_t n, uint32_t lanes) {
	for (uint32_t i = 0; i < lanes; i++) {
		const uint32_t pair = at[i < n ? i : n - 1];
		uint32_t a = w->a[pair], b = w->b[pair];
		const float *sa = w->shapes + (size_t)a * SHAPE, *sb = w->shapes + (size_t)b * SHAPE;
		const uint32_t ba = w->body_of[a], bb = w->body_of[b];
		const int swap = ((const et_shape *)sa)->count == 1 && ((const et_shape *)sb)->count > 1;
		p->a[i] = swap ? sb : sa;
		p->b[i] = swap ? sa : sb;
		p->body_a[i] = swap ? bb : ba;
		p->body_b[i] = swap ? ba : bb;
		p->swapped[i] = (float)swap;
		p->out[i] = i < n ? w->out + (size_t)pair * MANIFOLD : p->nowhere;
	}
}

#define TEMPLATE "rigid_collide_tmpl.h"
#include "levels.h"

int32_t et_collide(int32_t level, const et_shape *shapes, const uint32_t *body_of, uint32_t shape_count,
                   const float *x, const float *y, const float *cos, const float *sin, uint32_t body_count,
                   const uint32_t *a, const uint32_t *b, int64_t n, et_manifold *out) {
	world w = {(const float *)shapes, body_of, x, y, cos, sin, a, b, (float *)out};
	sorted s;
	for (int64_t i = 0; i < n; i += CHUNK, w.a += CHUNK, w.b += CHUNK, w.out += CHUNK * MANIFOLD) {
		const uint32_t some = (uint32_t)(n - i < CHUNK ? n - i : CHUNK);
		if (!sort_pairs(shapes, body_of, shape_count, body_count, w.a, w.b, some, &s))
			return 0;
		for (uint32_t k = 0; k < s.n[NOTHING]; k++)
			memset(w.out + (size_t)s.at[NOTHING][k] * MANIFOLD, 0, sizeof(et_manifold));
		DISPATCH(level, discs, &w, s.at[DISCS], s.n[DISCS]);
		DISPATCH(level, disc_4, &w, s.at[DISC_4], s.n[DISC_4]);
		DISPATCH(level, disc_8, &w, s.at[DISC_8], s.n[DISC_8]);
		DISPATCH(level, polygons_4, &w, s.at[POLYGONS_4], s.n[POLYGONS_4]);
		DISPATCH(level, polygons_8, &w, s.at[POLYGONS_8], s.n[POLYGONS_8]);
	}
	return 1;
}
