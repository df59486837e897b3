#include "points.h"
#include "shapes_lanes.h"

#define MIN_SLOPE 1e-10f
#define INSIDE_QUAD (float)(1 + 1e-5)

/* One pair of boxes per lane. */
typedef struct {
	uint32_t shape_a[16], body_a[16], shape_b[16], body_b[16], pair[16];
} box_batch;

/* rigid3.boxPair: r[i][j] is component i, in the axes of A, of axis j of B. */
typedef struct {
	V(f) a[3], b[3], r[3][3], t[3], tb[3];
	V(truth) ok;
	V(f) margin, radius_a, radius_b;
	vec apart, origin;
	mat world;
} box_pair;

/* A face: the axis as 0, 1 or 2, and its separation. */
typedef struct {
	V(f) axis, separation;
	V(truth) positive;
} box_face;

/* A contact point as seen from the reference face, and the low bits of its ID as a float. */
typedef struct {
	V(f) x, y, z, separation, id;
} candidate;

enum { CANDIDATES = 16 };

/* The points of some pairs in the axes of A, a row for each of up to four, for what is done pair by pair. */
typedef struct {
	float p[4][4][16]; /* x, y, z, separation */
	float id[4][16], kind[16], count[16], normal[3][16];
} point_rows;


/* Of three values that of axis 0, 1 or 2. */
HELPER(LEVEL) V(f) of_axis(V(f) axis, V(f) x, V(f) y, V(f) z) {
	return V(choose)(V(less)(axis, constant(0.5f)), x, V(choose)(V(less)(axis, constant(1.5f)), y, z));
}
HELPER(LEVEL) candidate better(V(truth) t, candidate a, candidate b) {
	return (candidate){V(choose)(t, a.x, b.x), V(choose)(t, a.y, b.y), V(choose)(t, a.z, b.z),
	                   V(choose)(t, a.separation, b.separation), V(choose)(t, a.id, b.id)};
}

HELPER(LEVEL) V(f) quat_abs_sum(quat q) {
	return ADD(ADD(V(abs)(q.x), V(abs)(q.y)), ADD(V(abs)(q.z), V(abs)(q.w)));
}

ROUTINE(LEVEL) void load_boxes(const et_space_scene *s, const box_batch *p, box_pair *w) {
	V(f) a[12], b[12];
	load_shapes(s->shapes, p->shape_a, a);
	load_shapes(s->shapes, p->shape_b, b);
	const body_pose pa = load_poses(s->poses, p->body_a), pb = load_poses(s->poses, p->body_b);
	const quat body_a = pa.q, body_b = pb.q;
	const quat qa = quat_times(body_a, (quat){a[3], a[4], a[5], a[6]});
	const quat qb = quat_times(body_b, (quat){b[3], b[4], b[5], b[6]});
	w->apart = vec_sub(pb.p, pa.p);
	w->origin = rotate(body_a, (vec){a[0], a[1], a[2]});
	const vec d = vec_add(w->apart, vec_sub(rotate(body_b, (vec){b[0], b[1], b[2]}), w->origin));
	const V(f) sizes = ADD(abs_sum3(a[7], a[8], a[9]), abs_sum3(b[7], b[8], b[9]));
	const V(f) reach = ADD(sizes, ADD(abs_sum3(d.x, d.y, d.z), ADD(V(abs)(a[10]), V(abs)(b[10]))));
	w->ok = V(both)(V(both)(V(upto)(quat_abs_sum(qa), constant(MAX_QUAT)), V(upto)(quat_abs_sum(qb), constant(MAX_QUAT))),
	                V(upto)(reach, constant(MAX_REACH)));
	w->world = matrix(qa);
	const mat r = matrix(normalize(quat_times((quat){V(negate)(qa.x), V(negate)(qa.y), V(negate)(qa.z), qa.w}, qb)));
	const vec t = times_mat(d, &w->world), tb = times_mat(t, &r);
	const box_pair v = {.a = {a[7], a[8], a[9]}, .b = {b[7], b[8], b[9]},
	                    .r = {{r.x.x, r.x.y, r.x.z}, {r.y.x, r.y.y, r.y.z}, {r.z.x, r.z.y, r.z.z}},
	                    .t = {t.x, t.y, t.z}, .tb = {tb.x, tb.y, tb.z}};
	memcpy(w->a, v.a, sizeof v.a);
	memcpy(w->b, v.b, sizeof v.b);
	memcpy(w->r, v.r, sizeof v.r);
	memcpy(w->t, v.t, sizeof v.t);
	memcpy(w->tb, v.tb, sizeof v.tb);
	w->radius_a = a[10];
	w->radius_b = b[10];
	w->margin = ADD(ADD(a[10], b[10]), constant(SPECULATIVE));
}

/* The axis along which the boxes are farthest apart: t is the other centre, reach by how much each extends. */
HELPER(LEVEL) box_face best_face(const V(f) t[3], const V(f) own[3], const V(f) reach[3], int flip) {
	box_face best = {ZERO, constant(-MAX_FINITE), V(less)(ZERO, ZERO)};
	for (int i = 0; i < 3; i++) {
		const V(f) s = SUB(V(abs)(t[i]), ADD(own[i], reach[i]));
		const V(truth) more = V(less)(best.separation, s);
		best.separation = V(choose)(more, s, best.separation);
		best.axis = V(choose)(more, constant((float)i), best.axis);
	}
	const V(f) along = of_axis(best.axis, t[0], t[1], t[2]);
	best.positive = flip ? V(less)(along, ZERO) : V(less)(ZERO, along);
	return best;
}

HELPER(LEVEL) box_face best_face_a(const box_pair *w) {
	V(f) reach[3];
	for (int i = 0; i < 3; i++)
		reach[i] = SUM3(MUL(V(abs)(w->r[i][0]), w->b[0]), MUL(V(abs)(w->r[i][1]), w->b[1]), MUL(V(abs)(w->r[i][2]), w->b[2]));
	return best_face(w->t, w->a, reach, 0);
}

HELPER(LEVEL) box_face best_face_b(const box_pair *w) {
	V(f) reach[3];
	for (int j = 0; j < 3; j++)
		reach[j] = SUM3(MUL(V(abs)(w->r[0][j]), w->a[0]), MUL(V(abs)(w->r[1][j]), w->a[1]), MUL(V(abs)(w->r[2][j]), w->a[2]));
	return best_face(w->tb, w->b, reach, 1);
}

/* The two axes whose cross product separates the boxes most, as 3 times that of A plus that of B. */
ROUTINE(LEVEL) V(f) best_edges(const box_pair *w, V(f) *separation) {
	V(f) code = ZERO, most = constant(-MAX_FINITE);
	for (int i = 0; i < 3; i++) {
		const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
		for (int j = 0; j < 3; j++) {
			const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
			const V(f) x = w->r[i1][j], y = w->r[i2][j], square = ADD(MUL(x, x), MUL(y, y));
			const V(f) distance = SUB(MUL(w->t[i2], x), MUL(w->t[i1], y));
			const V(f) reach_a = ADD(MUL(w->a[i1], V(abs)(y)), MUL(w->a[i2], V(abs)(x)));
			const V(f) reach_b = ADD(MUL(w->b[j1], V(abs)(w->r[i][j2])), MUL(w->b[j2], V(abs)(w->r[i][j1])));
			const V(f) s = DIV(SUB(V(abs)(distance), ADD(reach_a, reach_b)), V(sqrt)(square));
			const V(truth) more = V(both)(V(less)(constant(PARALLEL_SQUARE), square), V(less)(most, s));
			most = V(choose)(more, s, most);
			code = V(choose)(more, constant((float)(3 * i + j)), code);
		}
	}
	*separation = most;
	return code;
}

/* The reference face, and the other box as seen from it: rows u, v and out of its axes are along the two axes after that of the
 * face, and outwards. */
typedef struct {
	V(f) ref_u, ref_v, ref_out, other[3], u[3], v[3], out[3], centre[3], sign, number, margin;
} face_view;

HELPER(LEVEL) void view_face(const box_pair *w, const box_face *face, V(truth) flip, face_view *f) {
	V(f) r[3][3], t[3], ref[3];
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			r[i][j] = V(choose)(flip, w->r[j][i], w->r[i][j]);
		t[i] = V(choose)(flip, V(negate)(w->tb[i]), w->t[i]);
		ref[i] = V(choose)(flip, w->b[i], w->a[i]);
		f->other[i] = V(choose)(flip, w->a[i], w->b[i]);
	}
	f->sign = V(choose)(face->positive, ONE, constant(-1.0f));
	f->number = ADD(ADD(face->axis, face->axis), V(choose)(face->positive, ONE, ZERO));
	for (int j = 0; j < 3; j++) {
		f->out[j] = of_axis(face->axis, r[0][j], r[1][j], r[2][j]);
		f->u[j] = of_axis(face->axis, r[1][j], r[2][j], r[0][j]);
		f->v[j] = of_axis(face->axis, r[2][j], r[0][j], r[1][j]);
	}
	f->ref_out = of_axis(face->axis, ref[0], ref[1], ref[2]);
	f->ref_u = of_axis(face->axis, ref[1], ref[2], ref[0]);
	f->ref_v = of_axis(face->axis, ref[2], ref[0], ref[1]);
	f->centre[0] = of_axis(face->axis, t[1], t[2], t[0]);
	f->centre[1] = of_axis(face->axis, t[2], t[0], t[1]);
	f->centre[2] = MUL(f->sign, of_axis(face->axis, t[0], t[1], t[2]));
	f->margin = w->margin;
}

/* h times an axis of the other box. */
HELPER(LEVEL) vec along_axis(const face_view *f, V(f) u, V(f) v, V(f) out, V(f) h) {
	return (vec){MUL(h, u), MUL(h, v), MUL(f->sign, MUL(h, out))};
}

/* Adds a candidate where t is true and it is not too far. */
HELPER(LEVEL) void offer(const face_view *f, V(truth) t, vec p, V(f) id, candidate *to, V(truth) *ok) {
	const V(f) separation = SUB(p.z, f->ref_out);
	*to = (candidate){p.x, p.y, p.z, separation, id};
	*ok = V(both)(t, V(upto)(separation, f->margin));
}

HELPER(LEVEL) V(f) inverse_of(V(f) d) {
	return V(choose)(V(less)(constant(MIN_SLOPE), V(abs)(d)), DIV(ONE, d), ZERO);
}

/* Where p + t*d is between -r and r. */
HELPER(LEVEL) void enter(V(f) p, V(f) d, V(f) inv, V(f) r, V(f) *in, V(f) *out) {
	const V(f) far = constant(MAX_FINITE), never = constant(-MAX_FINITE);
	const V(truth) slopes = V(less)(constant(MIN_SLOPE), V(abs)(d)), inside = V(upto)(V(abs)(p), r);
	const V(f) side = V(choose)(V(less)(d, ZERO), V(negate)(r), r);
	*in = V(choose)(slopes, MUL(SUB(V(negate)(side), p), inv), V(choose)(inside, never, far));
	*out = V(choose)(slopes, MUL(SUB(side, p), inv), V(choose)(inside, far, never));
}

/* rigid3.side for an edge along d that enters; leaving, it is one more or less. */
HELPER(LEVEL) V(f) side_number(V(truth) y, vec d, V(f) if_negative, V(f) if_not) {
	const V(f) along = V(choose)(y, d.y, d.x), number = V(choose)(y, constant(2.0f), ZERO);
	return ADD(number, V(choose)(V(less)(along, ZERO), if_negative, if_not));
}

/* rigid3.quad.intersect: sets the candidates, and which of them are points. */
HELPER(LEVEL) void intersect(const face_view *f, vec centre, vec first, vec second, V(f) base, candidate c[CANDIDATES], V(truth) ok[CANDIDATES]) {
	const vec low = vec_sub(centre, first), high = vec_add(centre, first);
	const vec corners[4] = {vec_sub(low, second), vec_sub(high, second), vec_add(low, second), vec_add(high, second)};
	V(truth) all = V(less)(ZERO, ONE), inside[4];
	for (int i = 0; i < 4; i++) {
		inside[i] = V(both)(V(upto)(V(abs)(corners[i].x), f->ref_u), V(upto)(V(abs)(corners[i].y), f->ref_v));
		all = V(both)(all, inside[i]);
		offer(f, inside[i], corners[i], ADD(base, constant((float)i)), &c[i], &ok[i]);
	}
	const vec edges[2] = {vec_add(first, first), vec_add(second, second)};
	for (int i = 0; i < 2; i++) {
		const vec d = edges[i];
		const V(f) inverse_x = inverse_of(d.x), inverse_y = inverse_of(d.y);
		for (int k = 0; k < 2; k++) {
			const vec from = corners[k * (2 - i)];
			V(f) in_x, in_y, out_x, out_y;
			enter(from.x, d.x, inverse_x, f->ref_u, &in_x, &out_x);
			enter(from.y, d.y, inverse_y, f->ref_v, &in_y, &out_y);
			const V(f) begin = V(max)(V(max)(in_x, in_y), ZERO), end = V(min)(V(min)(out_x, out_y), ONE);
			const V(truth) some = V(unless)(V(less)(begin, end), all);
			const V(f) number = ADD(base, constant((float)(8 + 8 * (2 * i + k))));
			const int at = 4 + 2 * (2 * i + k);
			offer(f, V(both)(some, V(less)(ZERO, begin)), add_times(from, d, begin),
			      ADD(number, side_number(V(less)(in_x, in_y), d, ONE, ZERO)), &c[at], &ok[at]);
			offer(f, V(both)(some, V(less)(end, ONE)), add_times(from, d, end),
			      ADD(number, side_number(V(less)(out_y, out_x), d, ZERO, ONE)), &c[at + 1], &ok[at + 1]);
		}
	}
	const V(f) scale = DIV(ONE, SUB(MUL(first.x, second.y), MUL(first.y, second.x)));
	for (int i = 0; i < 4; i++) {
		const V(f) corner_x = i & 1 ? f->ref_u : V(negate)(f->ref_u), corner_y = i & 2 ? f->ref_v : V(negate)(f->ref_v);
		const V(f) x = SUB(corner_x, centre.x), y = SUB(corner_y, centre.y);
		const V(f) a = MUL(SUB(MUL(x, second.y), MUL(y, second.x)), scale), b = MUL(SUB(MUL(first.x, y), MUL(first.y, x)), scale);
		const V(truth) in = V(both)(V(upto)(V(abs)(a), constant(INSIDE_QUAD)), V(upto)(V(abs)(b), constant(INSIDE_QUAD)));
		const vec p = {corner_x, corner_y, ADD(centre.z, ADD(MUL(a, first.z), MUL(b, second.z)))};
		offer(f, V(unless)(in, all), p, ADD(base, constant((float)(4 + i))), &c[12 + i], &ok[12 + i]);
	}
}

HELPER(LEVEL) V(f) area(const candidate *a, const candidate *b, const candidate *p) {
	return SUB(MUL(SUB(b->x, a->x), SUB(p->y, a->y)), MUL(SUB(b->y, a->y), SUB(p->x, a->x)));
}

/* Replaces the best candidate where another has a greater score. */
HELPER(LEVEL) void compare(const candidate *c, V(truth) ok, V(f) score, candidate *best, V(f) *greatest) {
	const V(truth) more = V(both)(ok, V(less)(*greatest, score));
	*best = better(more, *c, *best);
	*greatest = V(choose)(more, score, *greatest);
}

/* rigid3.pickFour. Sets the points, and how many there are. */
HELPER(LEVEL) V(f) pick_four(const candidate c[CANDIDATES], const V(truth) ok[CANDIDATES], candidate p[4]) {
	const V(f) none = constant(-MAX_FINITE);
	V(f) greatest[4] = {none, ZERO, ZERO, ZERO};
	for (int n = 0; n < 4; n++)
		p[n] = (candidate){ZERO, ZERO, ZERO, ZERO, ZERO};
	for (int k = 0; k < CANDIDATES; k++)
		compare(&c[k], ok[k], V(negate)(c[k].separation), &p[0], &greatest[0]);
	for (int k = 0; k < CANDIDATES; k++) {
		const vec d = {SUB(c[k].x, p[0].x), SUB(c[k].y, p[0].y), SUB(c[k].z, p[0].z)};
		compare(&c[k], ok[k], dot(d, d), &p[1], &greatest[1]);
	}
	const V(truth) one = V(less)(none, greatest[0]), two = V(both)(one, V(less)(ZERO, greatest[1]));
	for (int k = 0; k < CANDIDATES; k++)
		compare(&c[k], V(both)(ok[k], two), V(abs)(area(&p[0], &p[1], &c[k])), &p[2], &greatest[2]);
	const V(truth) three = V(both)(two, V(less)(ZERO, greatest[2]));
	const V(truth) clockwise = V(less)(area(&p[0], &p[1], &p[2]), ZERO);
	const candidate a = better(clockwise, p[1], p[0]), b = better(clockwise, p[0], p[1]);
	for (int k = 0; k < CANDIDATES; k++) {
		const V(f) ab = V(negate)(area(&a, &b, &c[k])), bc = V(negate)(area(&b, &p[2], &c[k])), ca = V(negate)(area(&p[2], &a, &c[k]));
		compare(&c[k], V(both)(ok[k], three), V(max)(ab, V(max)(bc, ca)), &p[3], &greatest[3]);
	}
	const V(truth) four = V(both)(three, V(less)(ZERO, greatest[3]));
	const V(f) count = ADD(V(choose)(one, ONE, ZERO), V(choose)(two, ONE, ZERO));
	return ADD(count, ADD(V(choose)(three, ONE, ZERO), V(choose)(four, ONE, ZERO)));
}

/* rigid3.clipBox: up to four points, and their number; none where no point is left, and then the first is the deepest corner. */
ROUTINE(LEVEL) V(f) clip_box(const face_view *f, V(f) separation, candidate p[4]) {
	V(f) axis = ZERO, along = f->out[0];
	for (int k = 1; k < 3; k++) {
		const V(truth) more = V(less)(V(abs)(along), V(abs)(f->out[k]));
		axis = V(choose)(more, constant((float)k), axis);
		along = V(choose)(more, f->out[k], along);
	}
	const V(truth) down = V(less)(ZERO, MUL(f->sign, along));
	const V(f) h = of_axis(axis, f->other[0], f->other[1], f->other[2]);
	vec at[3];
	for (int k = 0; k < 3; k++) {
		const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
		const V(f) size = of_axis(axis, f->other[k], f->other[k1], f->other[k2]);
		at[k] = along_axis(f, of_axis(axis, f->u[k], f->u[k1], f->u[k2]), of_axis(axis, f->v[k], f->v[k1], f->v[k2]),
		                   of_axis(axis, f->out[k], f->out[k1], f->out[k2]), k ? size : V(choose)(down, V(negate)(h), h));
	}
	const vec centre = {f->centre[0], f->centre[1], f->centre[2]};
	const V(f) incident = ADD(ADD(axis, axis), V(choose)(down, ZERO, ONE));
	const V(f) base = ADD(MUL(constant(64.0f), incident), MUL(constant(512.0f), f->number));
	candidate c[CANDIDATES];
	V(truth) ok[CANDIDATES];
	intersect(f, vec_add(at[0], centre), at[1], at[2], base, c, ok);
	const V(f) count = pick_four(c, ok, p);

	/* The corner that is farthest against the normal. */
	V(f) number = constant(32768.0f);
	vec deepest = {ZERO, ZERO, ZERO};
	for (int k = 0; k < 3; k++) {
		const V(truth) below = V(less)(ZERO, MUL(f->sign, f->out[k]));
		const V(f) size = V(choose)(below, V(negate)(f->other[k]), f->other[k]);
		const vec a = along_axis(f, f->u[k], f->v[k], f->out[k], size);
		deepest = k ? vec_add(deepest, a) : a;
		number = ADD(number, V(choose)(below, ZERO, constant((float)(1 << k))));
	}
	deepest = vec_add(deepest, centre);
	const candidate corner = {deepest.x, deepest.y, deepest.z, separation, number};
	p[0] = better(V(less)(ZERO, count), p[0], corner);
	return count;
}

/* A vector in the axes of a box, of which x and y are along the two axes after that of the face, and z outwards. */
HELPER(LEVEL) vec place(const box_face *face, vec v) {
	const V(f) z = V(choose)(face->positive, v.z, V(negate)(v.z));
	return (vec){of_axis(face->axis, z, v.y, v.x), of_axis(face->axis, v.x, z, v.y), of_axis(face->axis, v.y, v.x, z)};
}

/* rigid3.boxPair.edgeContact of lane l. The lanes are those of a, b, r and t. */
static inline void box_edge(const float lanes[18][16], uint32_t l, int code, float separation, point_rows *rows) {
	float ha[3], hb[3], t[3], r[3][3];
	for (int k = 0; k < 3; k++) {
		ha[k] = lanes[k][l];
		hb[k] = lanes[3 + k][l];
		t[k] = lanes[15 + k][l];
		for (int n = 0; n < 3; n++)
			r[k][n] = lanes[6 + 3 * k + n][l];
	}
	const int i = code / 3, j = code % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
	const float x = r[i1][j], y = r[i2][j];
	float length = SQRT(x * x + y * y);
	if (t[i2] * x - t[i1] * y < 0)
		length = -length;
	float n[3] = {0}, p[3] = {0}, u[3] = {0}, q[3], v[3];
	int a = 4 * i, b = 4 * j;
	n[i1] = -y / length;
	n[i2] = x / length;
	p[i] = -ha[i];
	u[i] = ha[i] + ha[i];
	p[i1] = n[i1] > 0 ? ha[i1] : -ha[i1];
	p[i2] = n[i2] > 0 ? ha[i2] : -ha[i2];
	a += (n[i1] > 0) + 2 * (n[i2] > 0);
	const int low1 = r[i][j2] / length > 0, low2 = -r[i][j1] / length > 0;
	const float h1 = low1 ? -hb[j1] : hb[j1], h2 = low2 ? -hb[j2] : hb[j2];
	b += low1 + 2 * low2;
	for (int k = 0; k < 3; k++) {
		const float along = hb[j] * r[k][j];
		q[k] = (t[k] + (h1 * r[k][j1] + h2 * r[k][j2])) - along;
		v[k] = along + along;
	}
	const point from = {q[0], q[1], q[2]}, direction = {v[0], v[1], v[2]};
	float at;
	closest_on_segments((point){p[0], p[1], p[2]}, (point){u[0], u[1], u[2]}, from, direction, &at);
	const point to = p_add_times(from, direction, at);
	rows->p[0][0][l] = to.x;
	rows->p[0][1][l] = to.y;
	rows->p[0][2][l] = to.z;
	rows->p[0][3][l] = separation;
	rows->id[0][l] = (float)(a << 15 | b);
	rows->kind[l] = EDGE_FEATURE;
	rows->count[l] = 1;
	for (int k = 0; k < 3; k++)
		rows->normal[k][l] = n[k];
}

/* Exchanges two points where the ID of the first is greater. */
HELPER(LEVEL) void in_order(candidate *a, candidate *b) {
	const V(truth) swap = V(less)(b->id, a->id);
	const candidate c = *a;
	*a = better(swap, *b, c);
	*b = better(swap, c, *b);
}

/* Writes the manifolds of the rows, for n lanes. */
HELPER(LEVEL) void write_boxes(const box_pair *w, const point_rows *rows, const box_batch *b, uint32_t n, et_space_manifold *out) {
	V(f) m[MANIFOLD_ROW];
	const V(f) count = V(load)(rows->count), kind = V(load)(rows->kind);
	const V(truth) some = V(less)(ZERO, count);
	const vec normal = {V(load)(rows->normal[0]), V(load)(rows->normal[1]), V(load)(rows->normal[2])};
	const vec world = mat_times(&w->world, normal);
	m[0] = V(choose)(some, world.x, ZERO);
	m[1] = V(choose)(some, world.y, ZERO);
	m[2] = V(choose)(some, world.z, ZERO);
	m[3] = V(asf)(V(truncu)(count));
	const V(u) high = V(mulu)(V(truncu)(kind), V(set1u)(1u << 30));
	candidate p[4];
	for (int k = 0; k < 4; k++) {
		const V(truth) there = V(less)(constant((float)k), count);
		p[k] = (candidate){V(load)(rows->p[k][0]), V(load)(rows->p[k][1]), V(load)(rows->p[k][2]), V(load)(rows->p[k][3]),
		                   V(choose)(there, V(load)(rows->id[k]), constant(0x1p30f))};
	}
	in_order(&p[0], &p[1]);
	in_order(&p[2], &p[3]);
	in_order(&p[0], &p[2]);
	in_order(&p[1], &p[3]);
	in_order(&p[1], &p[2]);
	for (int k = 0; k < 4; k++) {
		const V(truth) there = V(less)(constant((float)k), count);
		const V(f) s = p[k].separation, back = MUL(constant(-0.5f), ADD(s, SUB(w->radius_b, w->radius_a)));
		const vec middle = add_times((vec){p[k].x, p[k].y, p[k].z}, normal, back);
		const vec at = vec_add(mat_times(&w->world, middle), w->origin), other = vec_sub(at, w->apart);
		V(f) *to = m + 4 + 8 * k;
		const V(f) fields[8] = {at.x, at.y, at.z, other.x, other.y, other.z, SUB(s, ADD(w->radius_a, w->radius_b)),
		                        V(asf)(V(oru)(high, V(truncu)(V(choose)(there, p[k].id, ZERO))))};
		for (int i = 0; i < 8; i++)
			to[i] = V(choose)(there, fields[i], ZERO);
	}
	const uint32_t mask = (uint32_t)(n >= V(LANES) ? ((uint64_t)1 << V(LANES)) - 1 : (1u << n) - 1);
	float *base = (float *)(void *)out;
	for (int k = 0; k < 32; k += 8)
		V(put8)(base + k, b->pair, MANIFOLD_ROW, m + k, mask);
	V(put4)(base + 32, b->pair, MANIFOLD_ROW, m + 32, mask);
	for (uint32_t i = 0; i < V(LANES) && i < n; i++)
		out[b->pair[i]].source = 0;
}

HELPER(LEVEL) uint32_t lanes_of(V(truth) t) {
	return (uint32_t)V(lt)(ZERO, V(choose)(t, ONE, ZERO));
}

/* Pairs whose axes of faces do not separate them, while a batch of them gathers. */
typedef struct {
	uint32_t pair[32], n;
} box_list;

/* Collides the boxes of a batch, of which n lanes are pairs. If many are apart, the others are left to a batch that has more of them. */
ROUTINE(LEVEL) void collide_boxes(const et_space_scene *s, const box_batch *b, uint32_t n, et_space_manifold *out, box_list *later) {
	box_pair w;
	load_boxes(s, b, &w);
	const box_face fa = best_face_a(&w), fb = best_face_b(&w);
	const V(truth) alive = V(both)(w.ok, V(both)(V(upto)(fa.separation, w.margin), V(upto)(fb.separation, w.margin)));
	const uint32_t lanes = lanes_of(alive) & (n >= V(LANES) ? ~0u : (1u << n) - 1);
	if (lanes == 0 || (later && (uint32_t)__builtin_popcount(lanes) * 4 < V(LANES) * 3)) {
		for (uint32_t i = 0; i < V(LANES) && i < n; i++) {
			if (lanes >> i & 1)
				later->pair[later->n++] = b->pair[i];
			else
				memset(&out[b->pair[i]], 0, sizeof *out);
		}
		return;
	}
	const V(truth) flip = V(less)(ADD(fa.separation, constant(REFERENCE_TOLERANCE)), fb.separation);
	const box_face face = {V(choose)(flip, fb.axis, fa.axis), V(choose)(flip, fb.separation, fa.separation),
	                       V(less)(ZERO, V(choose)(flip, V(choose)(fb.positive, ONE, ZERO), V(choose)(fa.positive, ONE, ZERO)))};
	face_view f;
	candidate p[4];
	view_face(&w, &face, flip, &f);
	const V(f) clipped = clip_box(&f, face.separation, p);
	V(f) count = V(choose)(alive, V(max)(clipped, ONE), ZERO);

	point_rows rows;
	const mat r = {{w.r[0][0], w.r[0][1], w.r[0][2]}, {w.r[1][0], w.r[1][1], w.r[1][2]}, {w.r[2][0], w.r[2][1], w.r[2][2]}};
	const vec t = {w.t[0], w.t[1], w.t[2]};
	for (int k = 0; k < 4; k++) {
		const vec local = place(&face, (vec){p[k].x, p[k].y, V(choose)(flip, f.ref_out, p[k].z)});
		const vec at_b = vec_add(mat_times(&r, local), t);
		V(store)(rows.p[k][0], V(choose)(flip, at_b.x, local.x));
		V(store)(rows.p[k][1], V(choose)(flip, at_b.y, local.y));
		V(store)(rows.p[k][2], V(choose)(flip, at_b.z, local.z));
		V(store)(rows.p[k][3], p[k].separation);
		V(store)(rows.id[k], p[k].id);
	}
	const vec outwards = place(&face, (vec){ZERO, ZERO, ONE}), turned = mat_times(&r, outwards);
	V(store)(rows.normal[0], V(choose)(flip, V(negate)(turned.x), outwards.x));
	V(store)(rows.normal[1], V(choose)(flip, V(negate)(turned.y), outwards.y));
	V(store)(rows.normal[2], V(choose)(flip, V(negate)(turned.z), outwards.z));
	V(store)(rows.kind, V(choose)(flip, ONE, ZERO));

	const V(truth) shallow = V(both)(V(less)(ZERO, clipped), V(upto)(constant(-EDGE_TOLERANCE), p[0].separation));
	const V(truth) tried = V(unless)(alive, shallow);
	uint32_t edges = 0;
	V(f) separation = ZERO, code = ZERO;
	if (V(any)(tried)) {
		code = best_edges(&w, &separation);
		const V(truth) apart = V(both)(tried, V(less)(w.margin, separation));
		const V(f) enough = ADD(V(max)(V(max)(fa.separation, fb.separation), p[0].separation), constant(EDGE_TOLERANCE));
		count = V(choose)(apart, ZERO, count);
		edges = lanes_of(V(unless)(V(both)(tried, V(less)(enough, separation)), apart));
	}
	V(store)(rows.count, count);
	if (edges) {
		float lanes[18][16], codes[16], separations[16];
		for (int k = 0; k < 3; k++) {
			V(store)(lanes[k], w.a[k]);
			V(store)(lanes[3 + k], w.b[k]);
			V(store)(lanes[15 + k], w.t[k]);
			for (int i = 0; i < 3; i++)
				V(store)(lanes[6 + 3 * k + i], w.r[k][i]);
		}
		V(store)(codes, code);
		V(store)(separations, separation);
		for (uint32_t i = 0; i < V(LANES); i++)
			if (edges >> i & 1)
				box_edge(lanes, i, (int)codes[i], separations[i], &rows);
	}
	write_boxes(&w, &rows, b, n, out);
}
