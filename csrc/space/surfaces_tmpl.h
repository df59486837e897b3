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

/* A walk over the leaves of a tree that a box meets, in order. */
typedef struct {
	const et_space_surface *s;
	branch_limits limits;
	struct {
		const et_space_branch *branch;
		uint32_t met;
	} stack[MAX_DEPTH];
	uint32_t depth;
} tree_walk;

HELPER(LEVEL) void begin_walk(tree_walk *w, const et_space_surface *s, const float lo[3], const float hi[3]) {
	w->s = s;
	set_limits(&w->limits, lo, hi);
	w->stack[0].branch = s->branches;
	w->stack[0].met = children_near(s, s->branches, &w->limits);
	w->depth = 1;
}

/* Finds the triangles [*first, *end) of the next leaf. Returns 0 after the last one, and -1 if the tree is too deep. */
HELPER(LEVEL) int next_leaf(tree_walk *w, uint32_t *first, uint32_t *end) {
	while (w->depth > 0) {
		const et_space_branch *b = w->stack[w->depth - 1].branch;
		const uint32_t met = w->stack[w->depth - 1].met;
		if (!met) {
			w->depth--;
			continue;
		}
		w->stack[w->depth - 1].met = met & (met - 1);
		const uint32_t i = (uint32_t)__builtin_ctz(met);
		if (b->count[i] > 0) {
			*first = b->first[i];
			*end = *first + b->count[i];
			return 1;
		}
		if (w->depth == MAX_DEPTH)
			return -1;
		const et_space_branch *child = w->s->branches + b->first[i];
		w->stack[w->depth].branch = child;
		w->stack[w->depth].met = children_near(w->s, child, &w->limits);
		w->depth++;
	}
	return 0;
}

/* mesh.Mesh.AppendFaces. Returns the number of faces, or more than NEAR_FACES. */
HELPER(LEVEL) uint32_t faces_near(const et_space_surface *s, const float lo[3], const float hi[3], et_space_face *faces) {
	tree_walk w;
	begin_walk(&w, s, lo, hi);
	uint32_t n = 0, first, end;
	int leaf;
	while ((leaf = next_leaf(&w, &first, &end)) > 0)
		for (uint32_t t = first; t < end; t++) {
			const uint32_t *v = s->triangles[t].vertices;
			if (is_outside(s->vertices + 3 * (size_t)v[0], s->vertices + 3 * (size_t)v[1], s->vertices + 3 * (size_t)v[2], lo, hi))
				continue;
			if (n == NEAR_FACES)
				return NEAR_FACES + 1;
			set_face(&faces[n++], s, t);
		}
	return leaf < 0 ? NEAR_FACES + 1 : n;
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
	const polytope *t = &k->shape->core;
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
	return !(k->most > k->shape->margin);
}

/* rigid3.surfaceFace.edgeAxis and onArc. */
ROUTINE(LEVEL) void find_edge_axes(const surface_collider *k, const vec64 corners[3], double separations[3][LANE_EDGES]) {
	const V(w) zero = V(wset)(0), one = V(wset)(1), none = V(wset)(-__builtin_inf());
	for (uint32_t i = 0; i < 3; i++) {
		const vec64 side = sub64(corners[i == 2 ? 0 : i + 1], corners[i]);
		const wide u = wide_set(side), inwards = wide_set(sub64(corners[i == 0 ? 2 : i - 1], corners[i])), corner = wide_set(corners[i]);
		const V(w) uu = V(wset)(dot64(side, side));
		for (uint32_t j = 0; j < k->shape->core.edges; j += V(WIDE)) {
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

/* A row for each lane of a group. */
typedef struct {
	double rows[IN_ROWS][GROUP];
} faces_to_place;

static inline void put_vec64(faces_to_place *in, uint32_t row, uint32_t lane, vec64 v) {
	in->rows[row][lane] = v.x;
	in->rows[row + 1][lane] = v.y;
	in->rows[row + 2][lane] = v.z;
}

static inline void put_face(faces_to_place *in, uint32_t lane, const surface_shape *p, const et_space_face *f) {
	const vec64 h = p->extent;
	for (uint32_t i = 0; i < 3; i++)
		put_vec64(in, IN_VERTICES + 3 * i, lane, wide64(f->vertices[i]));
	put_vec64(in, IN_AT, lane, p->at.p);
	put_vec64(in, IN_AT + 3, lane, p->at.x);
	put_vec64(in, IN_AT + 6, lane, p->at.y);
	put_vec64(in, IN_AT + 9, lane, p->at.z);
	put_vec64(in, IN_EXTENT, lane, h);
	put_vec64(in, IN_HALF, lane, p->half);
	put_vec64(in, IN_MIDDLE, lane, p->middle);
	put_vec64(in, IN_CENTRE, lane, p->centre);
	in->rows[IN_MARGIN][lane] = (double)p->margin;
	in->rows[IN_TURNED][lane] = (double)p->turned;
	in->rows[IN_BOX][lane] = p->is_box && h.x > 0 && h.y > 0 && h.z > 0 ? 1 : 0;
}

HELPER(LEVEL) wide wide_rows(const faces_to_place *in, uint32_t row, uint32_t j) {
	return (wide){V(wload)(&in->rows[row][j]), V(wload)(&in->rows[row + 1][j]), V(wload)(&in->rows[row + 2][j])};
}
HELPER(LEVEL) void store_wide(placed_group *out, uint32_t row, uint32_t j, wide v) {
	V(wstore)(&out->rows[row][j], v.x);
	V(wstore)(&out->rows[row + 1][j], v.y);
	V(wstore)(&out->rows[row + 2][j], v.z);
}
HELPER(LEVEL) wide wide_choose(V(wtruth) t, wide a, wide b) { return (wide){V(wchoose)(t, a.x, b.x), V(wchoose)(t, a.y, b.y), V(wchoose)(t, a.z, b.z)}; }
HELPER(LEVEL) wide wide_negate(wide a) { return (wide){V(wnegate)(a.x), V(wnegate)(a.y), V(wnegate)(a.z)}; }
HELPER(LEVEL) V(w) wide_reach(wide a, wide extent) { return wide_dot((wide){V(wabs)(a.x), V(wabs)(a.y), V(wabs)(a.z)}, extent); }
HELPER(LEVEL) V(w) wide_sum(wide a) { return V(wadd)(V(wadd)(V(wabs)(a.x), V(wabs)(a.y)), V(wabs)(a.z)); }
HELPER(LEVEL) V(w) wide_least(V(w) a, V(w) b) { return V(wchoose)(V(wless)(a, b), a, b); }
HELPER(LEVEL) V(w) wide_most(V(w) a, V(w) b) { return V(wchoose)(V(wless)(b, a), a, b); }

/* The vector v in the axes of a matrix whose rows are m. */
HELPER(LEVEL) wide wide_rotate_back(const wide m[3], wide v) {
	const wide x = {V(wmul)(m[0].x, v.x), V(wmul)(m[0].y, v.x), V(wmul)(m[0].z, v.x)};
	const wide y = {V(wmul)(m[1].x, v.y), V(wmul)(m[1].y, v.y), V(wmul)(m[1].z, v.y)};
	const wide z = {V(wmul)(m[2].x, v.z), V(wmul)(m[2].y, v.z), V(wmul)(m[2].z, v.z)};
	return (wide){V(wadd)(V(wadd)(x.x, y.x), z.x), V(wadd)(V(wadd)(x.y, y.y), z.y), V(wadd)(V(wadd)(x.z, y.z), z.z)};
}

/* v in the axes of the shape, if these count. */
HELPER(LEVEL) wide wide_to_axes(V(wtruth) turned, const wide m[3], wide v) { return wide_choose(turned, wide_rotate_back(m, v), v); }

/* Sets the bounds of the planes of boxes, which are floats. Returns the lanes in which none separates by more than the margin. */
HELPER(LEVEL) V(wtruth) separate_boxes(placed_group *out, uint32_t j, const wide c[3], wide h, V(w) margin, V(wtruth) box, V(wtruth) near) {
	const V(w) lo[3] = {wide_least(wide_least(c[0].x, c[1].x), c[2].x), wide_least(wide_least(c[0].y, c[1].y), c[2].y), wide_least(wide_least(c[0].z, c[1].z), c[2].z)};
	const V(w) hi[3] = {wide_most(wide_most(c[0].x, c[1].x), c[2].x), wide_most(wide_most(c[0].y, c[1].y), c[2].y), wide_most(wide_most(c[0].z, c[1].z), c[2].z)};
	const V(w) half[3] = {h.x, h.y, h.z};
	V(w) most = V(wset)(-MAX_FINITE), plane = V(wset)(0);
	for (uint32_t i = 0; i < 6; i++) {
		float rounded[GROUP];
		V(wnarrow)(rounded, V(wsub)(i & 1 ? lo[i / 2] : V(wnegate)(hi[i / 2]), half[i / 2]));
		const V(w) distance = V(widen)(rounded);
		const V(wtruth) greater = V(wless)(most, distance);
		V(wstore)(&out->rows[OUT_BOUNDS + i][j], distance);
		most = V(wchoose)(greater, distance, most);
		plane = V(wchoose)(greater, V(wset)(i), plane);
	}
	V(wstore)(&out->rows[OUT_MOST][j], most);
	V(wstore)(&out->rows[OUT_MOST_PLANE][j], V(wchoose)(box, plane, V(wset)(-1)));
	return V(wunless)(near, V(wboth)(box, V(wless)(margin, most)));
}

/* rigid3.SurfaceCollider.place and isBeside, of triangles from lane j on. */
HELPER(LEVEL) void place_lanes(const faces_to_place *in, uint32_t j, int two_sided, placed_group *out) {
	const V(w) zero = V(wset)(0), margin = V(wload)(&in->rows[IN_MARGIN][j]);
	const wide at = wide_rows(in, IN_AT, j), extent = wide_rows(in, IN_EXTENT, j), half = wide_rows(in, IN_HALF, j);
	const wide m[3] = {wide_rows(in, IN_AT + 3, j), wide_rows(in, IN_AT + 6, j), wide_rows(in, IN_AT + 9, j)};
	const V(wtruth) turned = V(wless)(zero, V(wload)(&in->rows[IN_TURNED][j])), box = V(wless)(zero, V(wload)(&in->rows[IN_BOX][j]));
	wide a = wide_rows(in, IN_VERTICES, j);
	const wide b = wide_rows(in, IN_VERTICES + 3, j), c = wide_rows(in, IN_VERTICES + 6, j);
	wide n = wide_cross(wide_sub(b, a), wide_sub(c, a));
	a = wide_sub(a, at);
	const V(w) square = wide_dot(n, n);
	V(wtruth) near = V(wless)(zero, square);

	V(w) height = V(wnegate)(wide_dot(n, a));
	if (two_sided) {
		height = V(wabs)(height);
	} else {
		const V(w) below = V(wsub)(V(wnegate)(wide_dot(n, wide_rows(in, IN_MIDDLE, j))), height);
		near = V(wunless)(near, V(wboth)(V(wless)(zero, below), V(wless)(V(wmul)(V(wset)(2.601e-5), square), V(wmul)(below, below))));
	}
	const V(w) over = V(wsub)(height, wide_reach(wide_to_axes(turned, m, n), extent)), limit = V(wmul)(V(wset)(1.01), margin);
	near = V(wunless)(near, V(wboth)(V(wless)(zero, over), V(wless)(V(wmul)(V(wmul)(limit, limit), square), V(wmul)(over, over))));

	const wide corners[3] = {wide_to_axes(turned, m, a), wide_to_axes(turned, m, wide_sub(b, at)), wide_to_axes(turned, m, wide_sub(c, at))};
	near = separate_boxes(out, j, corners, extent, margin, box, near);
	const V(w) l = V(wsqrt)(square);
	n = (wide){V(wdiv)(n.x, l), V(wdiv)(n.y, l), V(wdiv)(n.z, l)};
	const wide outwards = wide_to_axes(turned, m, n);
	V(w) offset = wide_dot(n, a);
	height = V(wsub)(wide_dot(outwards, wide_rows(in, IN_CENTRE, j)), offset);
	wide normal = outwards;
	if (two_sided) {
		const V(wtruth) back = V(wless)(height, zero);
		n = wide_choose(back, wide_negate(n), n);
		normal = wide_choose(back, wide_negate(normal), normal);
		offset = V(wchoose)(back, V(wnegate)(offset), offset);
		out->flipped |= V(wbits)(back) << j;
	} else {
		near = V(wunless)(near, V(wless)(height, V(wset)(-FRONT_TOLERANCE)));
	}
	near = V(wunless)(near, V(wless)(margin, V(wsub)(V(wnegate)(offset), wide_reach(normal, extent))));
	out->near |= V(wbits)(near) << j;
	store_wide(out, OUT_UP, j, n);
	store_wide(out, OUT_NORMAL, j, normal);
	V(wstore)(&out->rows[OUT_OFFSET][j], offset);

	const V(w) size = V(wadd)(wide_most(wide_most(wide_sum(corners[0]), wide_sum(corners[1])), wide_sum(corners[2])), wide_sum(extent));
	const V(w) room = V(wadd)(limit, V(wmul)(V(wset)(1e-5), size)), rooms = V(wmul)(room, room);
	for (uint32_t i = 0; i < 3; i++) {
		const wide side = wide_cross(wide_sub(corners[i == 2 ? 0 : i + 1], corners[i]), outwards);
		const V(w) squares = wide_dot(side, side);
		const V(w) reach = V(wchoose)(turned, wide_reach(side, extent), V(wabs)(wide_dot(side, half)));
		const V(w) beyond = V(wsub)(V(wnegate)(wide_dot(side, corners[i])), reach);
		out->beside |= V(wbits)(V(wboth)(V(wless)(zero, beyond), V(wless)(V(wmul)(rooms, squares), V(wmul)(beyond, beyond)))) << j;
		store_wide(out, OUT_CORNERS + 3 * i, j, corners[i]);
		store_wide(out, OUT_ACROSS + 3 * i, j, side);
		V(wstore)(&out->rows[OUT_SQUARES + i][j], squares);
	}
}

/* Shapes whose triangles are placed together. */
typedef struct {
	surface_shape shapes[BATCH_SHAPES];
	placed_group groups[BATCH_FACES / GROUP];
	uint32_t n, faces;
} surface_batch;

/* Places the triangles of the shapes [from, to) of a batch. */
ROUTINE(LEVEL) void place_batch(surface_batch *b, int two_sided, uint32_t from, uint32_t to) {
	faces_to_place in;
	uint32_t n = 0;
	for (uint32_t i = from; i < to; i++)
		for (uint32_t t = 0; t < b->shapes[i].face_count; t++) {
			put_face(&in, n % GROUP, &b->shapes[i], &b->shapes[i].faces[t]);
			if (++n % GROUP && n < b->faces)
				continue;
			placed_group *g = &b->groups[(n - 1) / GROUP];
			g->near = g->flipped = g->beside = 0;
			const uint32_t end = (n - 1) % GROUP + 1;
			for (uint32_t lane = end; lane < GROUP; lane++)
				for (uint32_t r = 0; r < IN_ROWS; r++)
					in.rows[r][lane] = in.rows[r][end - 1];
			for (uint32_t j = 0; j < end; j += V(WIDE))
				place_lanes(&in, j, two_sided, g);
		}
}

typedef struct {
	wide v;
	V(w) w;
} wide_rotation;

/* A row for each shape of a batch. */
enum { TURN_BODY, PLACE_BODY = 4, TURN_LOCAL = 7, PLACE_LOCAL = 11, HALF_SHAPE = 14, POSE_ROWS = 17, BODY_AXES = 0, AT_AXES = 12, HALF_AT = 24, POSED_ROWS = 27 };
typedef struct {
	double rows[POSED_ROWS][BATCH_SHAPES];
} shape_rows;

HELPER(LEVEL) wide shape_vector(const shape_rows *in, uint32_t row, uint32_t j) {
	return (wide){V(wload)(&in->rows[row][j]), V(wload)(&in->rows[row + 1][j]), V(wload)(&in->rows[row + 2][j])};
}
HELPER(LEVEL) void set_shape_vector(shape_rows *out, uint32_t row, uint32_t j, wide v) {
	V(wstore)(&out->rows[row][j], v.x);
	V(wstore)(&out->rows[row + 1][j], v.y);
	V(wstore)(&out->rows[row + 2][j], v.z);
}
HELPER(LEVEL) wide wide_add(wide a, wide b) { return (wide){V(wadd)(a.x, b.x), V(wadd)(a.y, b.y), V(wadd)(a.z, b.z)}; }
HELPER(LEVEL) wide wide_times(wide a, V(w) s) { return (wide){V(wmul)(a.x, s), V(wmul)(a.y, s), V(wmul)(a.z, s)}; }

/* rigid3.wideQuat: of a length that is not NaN. */
HELPER(LEVEL) wide_rotation wide_turn_at(const shape_rows *in, uint32_t row, uint32_t j) {
	const V(w) one = V(wset)(1);
	const wide v = shape_vector(in, row, j);
	const V(w) w = V(wload)(&in->rows[row + 3][j]), l = V(wsqrt)(V(wadd)(wide_dot(v, v), V(wmul)(w, w)));
	const V(w) by = V(wchoose)(V(wless)(l, one), l, V(wchoose)(V(wless)(one, l), l, one));
	return (wide_rotation){{V(wdiv)(v.x, by), V(wdiv)(v.y, by), V(wdiv)(v.z, by)}, V(wdiv)(w, by)};
}

/* rigid3.pose64.set and relative, of shapes from lane j on. */
HELPER(LEVEL) void pose_lanes(const pose64 *frame, const shape_rows *in, uint32_t j, shape_rows *out) {
	const wide_rotation q = wide_turn_at(in, TURN_BODY, j), r = wide_turn_at(in, TURN_LOCAL, j);
	const wide v = wide_add(wide_add(wide_cross(q.v, r.v), wide_times(r.v, q.w)), wide_times(q.v, r.w));
	const V(w) w = V(wsub)(V(wmul)(q.w, r.w), wide_dot(q.v, r.v));
	const wide twice = wide_add(v, v), of_x = wide_times(twice, v.x), of_w = wide_times(twice, w);
	const V(w) one = V(wset)(1), yy = V(wmul)(v.y, twice.y), zz = V(wmul)(v.z, twice.z), yz = V(wmul)(v.y, twice.z);
	const wide x = {V(wsub)(one, V(wadd)(yy, zz)), V(wsub)(of_x.y, of_w.z), V(wadd)(of_x.z, of_w.y)};
	const wide y = {V(wadd)(of_x.y, of_w.z), V(wsub)(one, V(wadd)(of_x.x, zz)), V(wsub)(yz, of_w.x)};
	const wide z = {V(wsub)(of_x.z, of_w.y), V(wadd)(yz, of_w.x), V(wsub)(one, V(wadd)(of_x.x, yy))};
	const wide local = shape_vector(in, PLACE_LOCAL, j);
	const wide t = wide_cross(q.v, wide_add(wide_cross(q.v, local), wide_times(local, q.w)));
	const wide p = wide_add(wide_add(local, wide_add(t, t)), shape_vector(in, PLACE_BODY, j));
	set_shape_vector(out, BODY_AXES, j, p);
	set_shape_vector(out, BODY_AXES + 3, j, x);
	set_shape_vector(out, BODY_AXES + 6, j, y);
	set_shape_vector(out, BODY_AXES + 9, j, z);

	const wide f[3] = {wide_set(frame->x), wide_set(frame->y), wide_set(frame->z)}, half = shape_vector(in, HALF_SHAPE, j);
	const wide a = wide_rotate_back(f, (wide){x.x, y.x, z.x}), b = wide_rotate_back(f, (wide){x.y, y.y, z.y}), c = wide_rotate_back(f, (wide){x.z, y.z, z.z});
	const wide at[3] = {{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}};
	set_shape_vector(out, AT_AXES, j, wide_rotate_back(f, wide_sub(p, wide_set(frame->p))));
	for (uint32_t i = 0; i < 3; i++)
		set_shape_vector(out, AT_AXES + 3 + 3 * i, j, at[i]);
	set_shape_vector(out, HALF_AT, j, (wide){wide_dot(at[0], half), wide_dot(at[1], half), wide_dot(at[2], half)});
}

static inline vec64 posed_vector(const shape_rows *r, uint32_t row, uint32_t i) { return (vec64){r->rows[row][i], r->rows[row + 1][i], r->rows[row + 2][i]}; }
static inline pose64 posed(const shape_rows *r, uint32_t row, uint32_t i) {
	return (pose64){posed_vector(r, row, i), posed_vector(r, row + 3, i), posed_vector(r, row + 6, i), posed_vector(r, row + 9, i)};
}

static inline void put_floats(shape_rows *r, uint32_t row, uint32_t i, const float *v, uint32_t n) {
	for (uint32_t k = 0; k < n; k++)
		r->rows[row + k][i] = (double)v[k];
}

/* Begins the computation of the n pairs from one on. */
ROUTINE(LEVEL) void begin_batch(surface_collider *k, surface_batch *batch, const et_space_scene *s, const et_space_surface *f, const et_space_touches *c,
                                int64_t from, uint32_t n) {
	shape_rows in, out;
	batch->n = n;
	batch->faces = 0;
	for (uint32_t i = 0; i < BATCH_SHAPES; i++) {
		const uint32_t shape = c->shapes[from + (i < n ? i : n - 1)];
		const et_space_shape *b = &s->shapes[shape];
		const et_space_pose *pose = &s->poses[s->body_of[shape]];
		if (i < n)
			et_space_begin_surface(k, &batch->shapes[i], s, f, c->surface, shape);
		put_floats(&in, TURN_BODY, i, pose->q, 4);
		put_floats(&in, PLACE_BODY, i, pose->p, 3);
		put_floats(&in, TURN_LOCAL, i, b->pose.q, 4);
		put_floats(&in, PLACE_LOCAL, i, b->pose.p, 3);
		put_floats(&in, HALF_SHAPE, i, b->half, 3);
	}
	for (uint32_t j = 0; k->has_frame && j < n; j += V(WIDE))
		pose_lanes(&k->frame, &in, j, &out);
	for (uint32_t i = 0; i < n; i++) {
		surface_shape *p = &batch->shapes[i];
		if (!p->meets)
			continue;
		p->body = posed(&out, BODY_AXES, i);
		p->at = posed(&out, AT_AXES, i);
		p->half = posed_vector(&out, HALF_AT, i);
	}
}

/* Ends the computation of the shapes [from, to) of a batch, which begins with a pair. Returns the first pair for which there is no room, or that after the last. */
static int64_t end_batch(surface_collider *k, surface_batch *b, const et_space_scene *s, const et_space_surface *f, const et_space_touches *c,
                         et_space_surface_manifold **out, int64_t pair, uint32_t from, uint32_t to) {
	uint32_t first = 0;
	if (b->faces > 0)
		place_batch(b, f->two_sided, from, to);
	for (uint32_t i = from; i < to; i++) {
		const surface_shape *p = &b->shapes[i];
		if (p->face_count == 0)
			continue;
		if (c->out + c->room - *out < ET_SPACE_MANIFOLDS)
			return pair + i;
		const uint8_t count = et_space_end_surface(k, p, s, c->surface, b->groups, first, *out);
		c->counts[pair + i] = count;
		if (count != ET_SPACE_LEFT)
			*out += count;
		first += p->face_count;
	}
	b->faces = 0;
	return pair + to;
}

KERNEL(int64_t, space_collide_surface, const et_space_scene *s, const et_space_surface *f, const et_space_touches *c) {
	surface_collider k;
	surface_batch batch;
	et_space_face faces[BATCH_FACES + NEAR_FACES];
	et_space_surface_manifold *out = c->out;
	if (c->surface >= s->shape_count || s->body_of[c->surface] >= s->body_count)
		return -1;
	for (int64_t i = 0; i < c->n; i++)
		if (c->shapes[i] >= s->shape_count || s->body_of[c->shapes[i]] >= s->body_count)
			return -1;
	k.lanes = &lanes_here;
	k.has_frame = 0;
	for (int64_t pair = 0; pair < c->n; pair += BATCH_SHAPES) {
		uint32_t from = 0;
		begin_batch(&k, &batch, s, f, c, pair, c->n - pair < BATCH_SHAPES ? (uint32_t)(c->n - pair) : BATCH_SHAPES);
		for (uint32_t i = 0; i < batch.n; i++) {
			surface_shape *p = &batch.shapes[i];
			const int64_t at = pair + i;
			float lo[3], hi[3];
			c->counts[at] = 0;
			if (!p->meets || !et_space_bound_shape(p, s, lo, hi))
				continue;
			p->faces = &faces[batch.faces];
			if (f->triangles) {
				p->face_count = faces_near(f, lo, hi, &faces[batch.faces]);
			} else {
				p->face_count = f->starts[at + 1] - f->starts[at];
				if (p->face_count > 0)
					p->faces = f->faces + f->starts[at];
			}
			if (p->face_count > NEAR_FACES) {
				c->counts[at] = ET_SPACE_LEFT;
				p->face_count = 0;
			} else if (p->face_count > BATCH_FACES - batch.faces) {
				const int64_t done = end_batch(&k, &batch, s, f, c, &out, pair, from, i);
				if (done < at)
					return done;
				from = i;
				if (f->triangles) {
					memmove(faces, p->faces, p->face_count * sizeof *faces);
					p->faces = faces;
				}
			}
			batch.faces += p->face_count;
		}
		const int64_t done = end_batch(&k, &batch, s, f, c, &out, pair, from, batch.n);
		if (done < pair + batch.n)
			return done;
	}
	return c->n;
}

#ifdef DISPATCH
int64_t et_space_collide_surface(int32_t level, et_space_scene s, et_space_surface f, et_space_touches c) {
	return DISPATCH(level, space_collide_surface, &s, &f, &c);
}
#endif
