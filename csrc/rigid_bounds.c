#include "rigid_bounds.h"
#include "rigid_bounds_lanes.h"

typedef struct {
	const float *x, *y, *cos, *sin;
	int64_t n;
} poses;

typedef struct {
	float *min_x, *min_y, *max_x, *max_y;
} boxes;

enum { FOUR = 4 };
#define ALL(v) ((quad){v, v, v, v})
#define NONE ALL(__builtin_nanf(""))

typedef int32_t quad_mask __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) quad_mask finite(quad a) { return a - a == ALL(0); }

static inline __attribute__((always_inline)) quad either(quad_mask m, quad a, quad b) {
	return (quad)(((quad_mask)a & m) | ((quad_mask)b & ~m));
}

static inline __attribute__((always_inline)) void put_some(float *to, int64_t some, quad v) {
	if (some == FOUR)
		memcpy(to, &v, sizeof v);
	else
		for (int64_t k = 0; k < some; k++)
			to[k] = v[k];
}

/* Grows up to four boxes by r and stores them: with zeros that are positive, or
 * inverted if one is not finite. */
static inline __attribute__((always_inline)) void put(const boxes *to, int64_t i, int64_t some, const quad *b, quad r) {
	const quad zero = ALL(0), inf = ALL(__builtin_inff());
	const quad x0 = ((quad){b[0][0], b[1][0], b[2][0], b[3][0]} - r) + zero;
	const quad y0 = ((quad){b[0][1], b[1][1], b[2][1], b[3][1]} - r) + zero;
	const quad x1 = ((quad){b[0][2], b[1][2], b[2][2], b[3][2]} + r) + zero;
	const quad y1 = ((quad){b[0][3], b[1][3], b[2][3], b[3][3]} + r) + zero;
	const quad_mask ok = finite(x0) & finite(y0) & finite(x1) & finite(y1);
	put_some(to->min_x + i, some, either(ok, x0, inf));
	put_some(to->min_y + i, some, either(ok, y0, inf));
	put_some(to->max_x + i, some, either(ok, x1, -inf));
	put_some(to->max_y + i, some, either(ok, y1, -inf));
}

#define TEMPLATE "rigid_bounds_tmpl.h"
#include "levels.h"

int64_t et_rigid_bounds(int32_t level, const et_shape *shapes, const uint32_t *body, int64_t n, const float *x,
                        const float *y, const float *cos, const float *sin, int64_t bodies, float margin,
                        float *min_x, float *min_y, float *max_x, float *max_y) {
	const poses p = {x, y, cos, sin, bodies};
	const boxes to = {min_x, min_y, max_x, max_y};
	return DISPATCH(level, rigid_bounds, shapes, body, n, &p, margin, &to);
}
