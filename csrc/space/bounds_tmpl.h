#include "polytope.h"
#include "shapes_lanes.h"

#define MAX_MATRIX 0x1p64f

/* The bounds of some shapes: the least and the greatest along each axis. */
typedef struct {
	float min[3][16], max[3][16];
} bound_rows;

/* Grows what is around the origin by r, moves it to p, and stores it, or the inverted box where it is not finite. */
HELPER(LEVEL) void store_bounds(const V(f) lo[3], const V(f) hi[3], vec p, V(f) r, const mat *m, bound_rows *to) {
	const V(f) at[3] = {p.x, p.y, p.z}, inf = constant(__builtin_inff());
	V(f) least[3], most[3];
	for (int k = 0; k < 3; k++) {
		least[k] = ADD(SUB(ADD(lo[k], at[k]), r), ZERO);
		most[k] = ADD(ADD(ADD(hi[k], at[k]), r), ZERO);
	}
	const V(f) numbers = ADD(ADD(abs_sum3(m->x.x, m->x.y, m->x.z), abs_sum3(m->y.x, m->y.y, m->y.z)), abs_sum3(m->z.x, m->z.y, m->z.z));
	const V(f) sum = ADD(SUM3(least[0], least[1], least[2]), SUM3(most[0], most[1], most[2]));
	const V(truth) ok = V(both)(V(upto)(numbers, constant(MAX_MATRIX)), V(upto)(SUB(sum, sum), ZERO));
	for (int k = 0; k < 3; k++) {
		V(store)(to->min[k], V(choose)(ok, least[k], inf));
		V(store)(to->max[k], V(choose)(ok, most[k], V(negate)(inf)));
	}
}

static inline void copy_bounds(const bound_rows *from, uint32_t lane, const et_space_boxes *out, int64_t i) {
	for (int k = 0; k < 3; k++) {
		out->min[k][i] = from->min[k][lane];
		out->max[k][i] = from->max[k][lane];
	}
}

/* The bounds of spheres, capsules and boxes: at[0...lanes), of which n are shapes. */
HELPER(LEVEL) void bound_some(const et_space_scene *s, const uint32_t *at, uint32_t n, float margin, const et_space_boxes *out) {
	uint32_t shape[16], body[16];
	float boxes[16];
	V(f) v[12], lo[3], hi[3];
	bound_rows to;
	for (uint32_t i = 0; i < V(LANES); i++) {
		shape[i] = at[i < n ? i : n - 1];
		body[i] = s->body_of[shape[i]];
		boxes[i] = s->shapes[shape[i]].kind == ET_SPACE_BOX;
	}
	load_shapes(s->shapes, shape, v);
	const body_pose b = load_poses(s->poses, body);
	const mat m = matrix(quat_times(b.q, (quat){v[3], v[4], v[5], v[6]}));
	const vec half = {v[7], v[8], v[9]}, tip = mat_times(&m, half);
	const V(truth) box = V(less)(ZERO, V(load)(boxes));
	const vec rows[3] = {m.x, m.y, m.z};
	const V(f) tips[3] = {tip.x, tip.y, tip.z};
	for (int k = 0; k < 3; k++) {
		const vec r = {V(abs)(rows[k].x), V(abs)(rows[k].y), V(abs)(rows[k].z)};
		hi[k] = V(choose)(box, dot(r, half), V(abs)(tips[k]));
		lo[k] = V(negate)(hi[k]);
	}
	store_bounds(lo, hi, vec_add(rotate(b.q, (vec){v[0], v[1], v[2]}), b.p), ADD(v[10], constant(margin)), &m, &to);
	for (uint32_t i = 0; i < V(LANES) && i < n; i++)
		copy_bounds(&to, i, out, shape[i]);
}

/* The bounds of a hull, or of a hull that is not there: a vertex in each lane. */
HELPER(LEVEL) void bound_hull(const et_space_scene *s, uint32_t i, float margin, const et_space_boxes *out) {
	const et_space_shape *shape = &s->shapes[i];
	const float far = __builtin_inff();
	float least[3] = {far, far, far}, most[3] = {-far, -far, -far};
	uint32_t at[16], body[16];
	V(f) v[12], lo[3], hi[3];
	bound_rows to;
	for (int k = 0; k < 3; k++) {
		out->min[k][i] = far;
		out->max[k][i] = -far;
	}
	if (shape->hull >= s->hulls.n || s->hulls.hulls[shape->hull].vertices == 0)
		return;
	for (uint32_t k = 0; k < V(LANES); k++) {
		at[k] = i;
		body[k] = s->body_of[i];
	}
	load_shapes(s->shapes, at, v);
	const body_pose b = load_poses(s->poses, body);
	const mat m = matrix(quat_times(b.q, (quat){v[3], v[4], v[5], v[6]}));
	const et_space_hull *h = &s->hulls.hulls[shape->hull];
	const uint32_t n = padded(h->vertices);
	const float *x = s->hulls.floats + h->floats;
	for (int k = 0; k < 3; k++) {
		lo[k] = constant(far);
		hi[k] = constant(-far);
	}
	for (uint32_t k = 0; k < n; k += V(LANES)) {
		const vec p = mat_times(&m, (vec){V(load)(x + k), V(load)(x + n + k), V(load)(x + 2 * n + k)});
		const V(f) c[3] = {p.x, p.y, p.z};
		for (int j = 0; j < 3; j++) {
			lo[j] = V(min)(c[j], lo[j]);
			hi[j] = V(max)(c[j], hi[j]);
		}
	}
	for (int k = 0; k < 3; k++) {
		least[k] = -V(greatest)(V(negate)(lo[k]));
		most[k] = V(greatest)(hi[k]);
		lo[k] = constant(least[k]);
		hi[k] = constant(most[k]);
	}
	store_bounds(lo, hi, vec_add(rotate(b.q, (vec){v[0], v[1], v[2]}), b.p), ADD(v[10], constant(margin)), &m, &to);
	copy_bounds(&to, 0, out, i);
}

KERNEL(int64_t, space_bounds, const et_space_scene *s, float margin, const et_space_boxes *out) {
	uint32_t some[16], n = 0;
	for (int64_t i = 0; i < s->shape_count; i++) {
		const uint8_t kind = s->shapes[i].kind;
		if (kind != 0 && s->body_of[i] >= s->body_count)
			return i;
		if (kind == ET_SPACE_SPHERE || kind == ET_SPACE_CAPSULE || kind == ET_SPACE_BOX) {
			some[n++] = (uint32_t)i;
			if (n == V(LANES)) {
				bound_some(s, some, n, margin, out);
				n = 0;
			}
		} else if (kind == ET_SPACE_HULL) {
			bound_hull(s, (uint32_t)i, margin, out);
		} else {
			for (int k = 0; k < 3; k++) {
				out->min[k][i] = __builtin_inff();
				out->max[k][i] = -__builtin_inff();
			}
		}
	}
	if (n > 0)
		bound_some(s, some, n, margin, out);
	return s->shape_count;
}

#ifdef DISPATCH
int64_t et_space_bounds(int32_t level, et_space_scene s, float margin, et_space_boxes out) {
	return DISPATCH(level, space_bounds, &s, margin, &out);
}
#endif
