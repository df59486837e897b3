#include "doubles.h"
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

/* mesh.Node.meeting. What the children need next is fetched: most trees are larger than the nearest caches. */
HELPER(LEVEL) uint32_t children_near(const et_space_surface *s, const et_space_branch *b, const branch_limits *l) {
	const float *rows = b->min[0];
	uint64_t met = 0;
	for (uint32_t i = 0; i < 2 * 3 * ET_SPACE_CHILDREN; i += V(LANES)) {
		const V(f) row = V(load)(rows + i);
		met |= (uint64_t)(V(le)(V(load)(l->low + i), row) & V(le)(row, V(load)(l->high + i))) << i;
	}
	met &= met >> 24;
	met &= met >> 8 & met >> 16 & 0xff;
	for (uint32_t left = (uint32_t)met; left; left &= left - 1) {
		const uint32_t i = (uint32_t)__builtin_ctz(left), first = b->first[i];
		if (b->count[i] == 0) {
			const char *child = (const char *)(s->branches + first);
			for (uint32_t line = 0; line < sizeof *b; line += 64)
				__builtin_prefetch(child + line);
		} else {
			__builtin_prefetch(s->triangles + first);
			__builtin_prefetch(s->triangles + first + b->count[i] - 1);
		}
	}
	return (uint32_t)met;
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
	stack[0].met = children_near(s, s->branches, &limits);
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
			stack[depth].met = children_near(s, s->branches + first, &limits);
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

typedef struct {
	V(w) x, y, z;
} wide;

HELPER(LEVEL) wide wide_set(vec64 v) { return (wide){V(wset)(v.x), V(wset)(v.y), V(wset)(v.z)}; }
HELPER(LEVEL) V(w) wide_dot(wide a, wide b) { return V(wadd)(V(wadd)(V(wmul)(a.x, b.x), V(wmul)(a.y, b.y)), V(wmul)(a.z, b.z)); }
HELPER(LEVEL) wide wide_sub(wide a, wide b) { return (wide){V(wsub)(a.x, b.x), V(wsub)(a.y, b.y), V(wsub)(a.z, b.z)}; }
HELPER(LEVEL) wide wide_cross(wide a, wide b) {
	return (wide){V(wsub)(V(wmul)(a.y, b.z), V(wmul)(a.z, b.y)), V(wsub)(V(wmul)(a.z, b.x), V(wmul)(a.x, b.z)),
	              V(wsub)(V(wmul)(a.x, b.y), V(wmul)(a.y, b.x))};
}
HELPER(LEVEL) wide edge_columns(const surface_collider *k, uint32_t row, uint32_t i) {
	return (wide){V(wload)(k->edges[3 * row] + i), V(wload)(k->edges[3 * row + 1] + i), V(wload)(k->edges[3 * row + 2] + i)};
}

/* rigid3.SurfaceCollider.separate, but for boxes. */
ROUTINE(LEVEL) int separate_planes(surface_collider *k, const vec64 corners[3]) {
	const polytope *t = &k->core;
	const wide a = wide_set(corners[0]), b = wide_set(corners[1]), c = wide_set(corners[2]);
	const uint32_t end = (t->faces + V(LANES) - 1) / V(LANES) * V(LANES);
	V(f) greatest = V(set1)(-MAX_FINITE);
	for (uint32_t i = 0; i < end; i += V(LANES)) {
		for (uint32_t j = i; j < i + V(LANES); j += V(WIDE)) {
			const wide n = {V(widen)(t->nx + j), V(widen)(t->ny + j), V(widen)(t->nz + j)};
			const V(w) da = wide_dot(n, a), db = wide_dot(n, b), dc = wide_dot(n, c);
			const V(w) ab = V(wchoose)(V(wless)(da, db), da, db);
			V(wnarrow)(k->bounds + j, V(wsub)(V(wchoose)(V(wless)(ab, dc), ab, dc), V(widen)(t->offset + j)));
		}
		greatest = V(max)(V(load)(k->bounds + i), greatest);
	}
	k->most_plane = first_equal(k->bounds, end, V(greatest)(greatest));
	k->most = k->bounds[k->most_plane];
	return !(k->most > k->margin);
}

/* rigid3.surfaceFace.edgeAxis and onArc. */
ROUTINE(LEVEL) void find_edge_axes(const surface_collider *k, const vec64 corners[3], double separations[3][LANE_EDGES]) {
	const V(w) zero = V(wset)(0), one = V(wset)(1), none = V(wset)(-__builtin_inf());
	for (uint32_t i = 0; i < 3; i++) {
		const vec64 side = sub64(corners[i == 2 ? 0 : i + 1], corners[i]);
		const wide u = wide_set(side), inwards = wide_set(sub64(corners[i == 0 ? 2 : i - 1], corners[i])), corner = wide_set(corners[i]);
		const V(w) uu = V(wset)(dot64(side, side));
		for (uint32_t j = 0; j < k->core.edges; j += V(WIDE)) {
			const wide along = edge_columns(k, 0, j), left = edge_columns(k, 2, j), right = edge_columns(k, 3, j), across = edge_columns(k, 4, j);
			wide n = wide_cross(u, along);
			const V(w) square = wide_dot(n, n);
			const V(wtruth) ok = V(wless)(V(wmul)(V(wset)(2.5e-5), V(wmul)(uu, wide_dot(along, along))), square);
			const V(w) inverse = V(wdiv)(one, V(wsqrt)(square));
			n = (wide){V(wmul)(n.x, inverse), V(wmul)(n.y, inverse), V(wmul)(n.z, inverse)};
			const V(wtruth) inner = V(wless)(zero, wide_dot(n, inwards));
			const wide back = {V(wnegate)(n.x), V(wnegate)(n.y), V(wnegate)(n.z)};
			const wide out = {V(wchoose)(inner, back.x, n.x), V(wchoose)(inner, back.y, n.y), V(wchoose)(inner, back.z, n.z)};
			const wide against = {V(wchoose)(inner, n.x, back.x), V(wchoose)(inner, n.y, back.y), V(wchoose)(inner, n.z, back.z)};
			const V(wtruth) arc = V(wunless)(V(wunless)(ok, V(wless)(wide_dot(wide_cross(left, against), across), zero)),
			                                 V(wless)(wide_dot(wide_cross(against, right), across), zero));
			V(wstore)(separations[i] + j, V(wchoose)(arc, wide_dot(out, wide_sub(edge_columns(k, 1, j), corner)), none));
		}
	}
}

static const surface_lanes lanes_here = {separate_planes, find_edge_axes};

KERNEL(int64_t, space_collide_surface, const et_space_scene *s, const et_space_surface *f, const et_space_touches *c) {
	surface_collider k;
	k.lanes = &lanes_here;
	k.has_frame = 0;
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
			k.face_count = f->starts[i + 1] - f->starts[i];
			k.faces = k.face_count > 0 ? f->faces + f->starts[i] : faces;
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
