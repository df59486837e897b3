#include "rigid.h"
#include "bounds_lanes.h"

enum { FOUR = 4 };
#define ALL(v) ((quad){v, v, v, v})
#define NONE ALL(__builtin_nanf(""))

typedef int32_t quad_mask __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) quad_mask finite(quad a) { return a - a == ALL(0); }

static inline __attribute__((always_inline)) quad either(quad_mask m, quad a, quad b) {
	return (quad)(((quad_mask)a & m) | ((quad_mask)b & ~m));
}

static inline __attribute__((always_inline)) void put_lanes(float *to, int64_t some, quad v) {
	if (some == FOUR)
		memcpy(to, &v, sizeof v);
	else
		for (int64_t k = 0; k < some; k++)
			to[k] = v[k];
}

/* Extends up to four boxes by r and stores them. Zeros become +0, and a box that is not finite becomes the
 * inverted box. */
static inline __attribute__((always_inline)) void put_boxes(const et_boxes *to, int64_t i, int64_t some, const quad *b, quad r) {
	const quad zero = ALL(0), inf = ALL(__builtin_inff());
	const quad x0 = ((quad){b[0][0], b[1][0], b[2][0], b[3][0]} - r) + zero;
	const quad y0 = ((quad){b[0][1], b[1][1], b[2][1], b[3][1]} - r) + zero;
	const quad x1 = ((quad){b[0][2], b[1][2], b[2][2], b[3][2]} + r) + zero;
	const quad y1 = ((quad){b[0][3], b[1][3], b[2][3], b[3][3]} + r) + zero;
	const quad_mask ok = finite(x0) & finite(y0) & finite(x1) & finite(y1);
	put_lanes(to->min_x + i, some, either(ok, x0, inf));
	put_lanes(to->min_y + i, some, either(ok, y0, inf));
	put_lanes(to->max_x + i, some, either(ok, x1, -inf));
	put_lanes(to->max_y + i, some, either(ok, y1, -inf));
}

/* The box of the vertices of a shape, without its radius; NaN if a vertex is not finite. */
HELPER(LEVEL) quad box_around(const et_shape *s, float px, float py, float cos, float sin) {
	const V(points) p = V(xy)(px, py), c = V(xy)(cos, cos), turn = V(xy)(-sin, sin);
	const float *const vertices = &s->vertices[0][0];
	V(points) lo = p, hi = p;
	uint32_t odd = 0;
	for (uint32_t i = 0; i < s->count; i += V(POINTS)) {
		const V(points) v = V(fetchp)(vertices + 2 * i, s->count - i);
		const V(points) at = V(padd)(V(padd)(V(pmul)(v, c), V(pmul)(V(swap)(v), turn)), p);
		lo = i == 0 ? at : V(pmin)(at, lo);
		hi = i == 0 ? at : V(pmax)(at, hi);
		odd |= V(odd)(at);
	}
	return odd ? NONE : V(fold)(lo, hi);
}

/* Computes up to four boxes from shape i on. Returns their number, or the index among them of the first invalid
 * shape. */
HELPER(LEVEL) int64_t some(const et_shape *shapes, const uint32_t *body_of, int64_t i, int64_t some,
                           const et_poses *p, int64_t bodies, float margin, const et_boxes *to) {
	quad around[FOUR] = {NONE, NONE, NONE, NONE}, r = NONE;
	for (int64_t k = 0; k < some; k++) {
		const et_shape *const s = shapes + i + k;
		const uint32_t b = body_of[i + k];
		r[k] = s->radius;
		if (s->count == 0)
			continue;
		if (s->count > ET_VERTICES || b >= bodies)
			return k;
		around[k] = box_around(s, p->x[b], p->y[b], p->cos[b], p->sin[b]);
	}
	put_boxes(to, i, some, around, r + ALL(margin));
	return some;
}

KERNEL(int64_t, shape_bounds, const et_shape *shapes, const uint32_t *body_of, int64_t n, const et_poses *poses, int64_t bodies,
       float margin, const et_boxes *out) {
	const et_poses p = *poses;
	const et_boxes to = *out;
	int64_t i = 0;
	for (; i + FOUR <= n; i += FOUR) {
		const int64_t done = some(shapes, body_of, i, FOUR, &p, bodies, margin, &to);
		if (done < FOUR)
			return i + done;
	}
	return i == n ? n : i + some(shapes, body_of, i, n - i, &p, bodies, margin, &to);
}

#ifdef DISPATCH
int64_t et_shape_bounds(int32_t level, const et_shape *shapes, const uint32_t *body_of, int64_t n, et_poses poses, int64_t bodies,
                  float margin, et_boxes out) {
	return DISPATCH(level, shape_bounds, shapes, body_of, n, &poses, bodies, margin, &out);
}
#endif
