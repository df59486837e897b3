#include "../lanes.h"
#include "surfaces_kernel.h"

/* The most branches of a mesh one below the other. */
enum { MAX_DEPTH = 64 };

/* The limits of a box for the rows of a branch: no row is below low, nor above high, where both meet. */
typedef struct {
	float low[2 * 3 * ET_SPACE_CHILDREN], high[2 * 3 * ET_SPACE_CHILDREN];
} branch_limits;

static inline void set_limits(branch_limits *l, const float lo[3], const float hi[3]) {
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < ET_SPACE_CHILDREN; i++) {
			l->low[k * ET_SPACE_CHILDREN + i] = -__builtin_inff();
			l->high[k * ET_SPACE_CHILDREN + i] = hi[k];
			l->low[(3 + k) * ET_SPACE_CHILDREN + i] = lo[k];
			l->high[(3 + k) * ET_SPACE_CHILDREN + i] = __builtin_inff();
		}
}

/* mesh.Node.meeting. */
HELPER(LEVEL) uint32_t children_near(const et_space_branch *b, const branch_limits *l) {
	const float *rows = b->min[0];
	uint64_t met = 0;
	for (uint32_t i = 0; i < 2 * 3 * ET_SPACE_CHILDREN; i += V(LANES)) {
		const V(f) row = V(load)(rows + i);
		met |= (uint64_t)(V(le)(V(load)(l->low + i), row) & V(le)(row, V(load)(l->high + i))) << i;
	}
	met &= met >> 24;
	return (uint32_t)(met & met >> 8 & met >> 16 & 0xff);
}

/* mesh.beside. */
static inline int is_outside(const float *a, const float *b, const float *c, const float lo[3], const float hi[3]) {
	int out = 0;
	for (int k = 0; k < 3; k++)
		out |= ((a[k] > hi[k]) & (b[k] > hi[k]) & (c[k] > hi[k])) | ((a[k] < lo[k]) & (b[k] < lo[k]) & (c[k] < lo[k]));
	return out;
}

/* mesh.Mesh.AppendFaces. Returns the number of faces, or more than NEAR_FACES. */
HELPER(LEVEL) uint32_t faces_near(const et_space_surface *s, const float lo[3], const float hi[3], et_space_face *faces) {
	struct {
		const et_space_branch *branch;
		uint32_t met;
	} stack[MAX_DEPTH];
	branch_limits limits;
	set_limits(&limits, lo, hi);
	uint32_t depth = 1, n = 0;
	stack[0].branch = s->branches;
	stack[0].met = children_near(s->branches, &limits);
	while (depth > 0) {
		const et_space_branch *b = stack[depth - 1].branch;
		const uint32_t met = stack[depth - 1].met;
		if (!met) {
			depth--;
			continue;
		}
		stack[depth - 1].met = met & (met - 1);
		const uint32_t i = (uint32_t)__builtin_ctz(met), first = b->first[i];
		if (b->count[i] == 0) {
			if (depth == MAX_DEPTH)
				return NEAR_FACES + 1;
			stack[depth].branch = s->branches + first;
			stack[depth].met = children_near(s->branches + first, &limits);
			depth++;
			continue;
		}
		for (uint32_t t = first; t < first + b->count[i]; t++) {
			const uint32_t *v = s->triangles[t].vertices;
			if (is_outside(s->vertices + 3 * (size_t)v[0], s->vertices + 3 * (size_t)v[1], s->vertices + 3 * (size_t)v[2], lo, hi))
				continue;
			if (n == NEAR_FACES)
				return NEAR_FACES + 1;
			set_face(&faces[n++], s, t);
		}
	}
	return n;
}

KERNEL(int64_t, space_collide_surface, const et_space_scene *s, const et_space_surface *f, const et_space_touches *c) {
	surface_collider k;
	et_space_face faces[NEAR_FACES];
	const et_space_surface_manifold *const end = c->out + c->room;
	et_space_surface_manifold *out = c->out;
	if (c->surface >= s->shape_count || s->body_of[c->surface] >= s->body_count)
		return -1;
	for (int64_t i = 0; i < c->n; i++) {
		const uint32_t shape = c->shapes[i];
		float lo[3], hi[3];
		if (shape >= s->shape_count || s->body_of[shape] >= s->body_count)
			return -1;
		if (end - out < ET_SPACE_MANIFOLDS)
			return i;
		c->counts[i] = 0;
		if (!et_space_begin_surface(&k, s, f, c->surface, shape, lo, hi))
			continue;
		if (f->triangles) {
			k.faces = faces;
			k.face_count = faces_near(f, lo, hi, faces);
		} else {
			k.faces = f->faces + f->starts[i];
			k.face_count = f->starts[i + 1] - f->starts[i];
		}
		if (k.face_count > NEAR_FACES) {
			c->counts[i] = ET_SPACE_LEFT;
			continue;
		}
		if (k.face_count > 0)
			c->counts[i] = et_space_end_surface(&k, s, c->surface, shape, out);
		if (c->counts[i] != ET_SPACE_LEFT)
			out += c->counts[i];
	}
	return c->n;
}

#ifdef DISPATCH
int64_t et_space_collide_surface(int32_t level, et_space_scene s, et_space_surface f, et_space_touches c) {
	return DISPATCH(level, space_collide_surface, &s, &f, &c);
}
#endif
