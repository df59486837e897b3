#include "../collide_lanes.h"
#include "rigid.h"

/* The constants of package rigid. */
#define SPECULATIVE 0.02f
#define REFERENCE_TOLERANCE 0.0005f
#define MIN_DIRECTION_SQUARE 1e-12f

/* Offsets of the fields of a shape, and the sizes of a shape and a manifold, in floats. */
enum { VERTICES = 0, NORMALS = 16, REST = 32, SHAPE_FLOATS = 36, MANIFOLD_FLOATS = 16 };

typedef struct {
	const float *shapes;
	const uint32_t *body_of;
	const float *x, *y, *cos, *sin;
	const uint32_t *a, *b;
	float *out;
} collision_input;

/* One pair per lane. If one shape is a polygon and the other a disc, the disc is B. */
typedef struct {
	const float *a[16], *b[16]; /* shapes */
	uint32_t body_a[16], body_b[16];
	float swapped[16]; /* 1 where the reference edge belongs to B */
	float *out[16];
	float nowhere[MANIFOLD_FLOATS]; /* receives the manifolds of lanes without a pair */
} batch;

/* Pairs are sorted by kind in chunks of this size. */
enum { CHUNK = 1024 };
enum { NOTHING, DISCS, DISC_4, DISC_8, POLYGONS_4, POLYGONS_8, KINDS };

typedef struct {
	uint16_t at[KINDS][CHUNK];
	uint32_t n[KINDS];
} sorted_pairs;

/* The size class of a shape: 0 without vertices, 1 for a disc, 2 for up to four vertices, 3 for more. */
static inline uint32_t size_of(uint32_t count) {
	return count - 1 >= ET_VERTICES ? 0 : 1u + (count > 1) + (count > 4);
}

/* Fills a batch with the pairs at[0...lanes), of which only n exist: the last pair fills the remaining lanes. */
static inline void fill(batch *p, const collision_input *w, const uint16_t *at, uint32_t n, uint32_t lanes) {
	for (uint32_t i = 0; i < lanes; i++) {
		const uint32_t pair = at[i < n ? i : n - 1];
		uint32_t a = w->a[pair], b = w->b[pair];
		const float *sa = w->shapes + (size_t)a * SHAPE_FLOATS, *sb = w->shapes + (size_t)b * SHAPE_FLOATS;
		const uint32_t ba = w->body_of[a], bb = w->body_of[b];
		const int swap = ((const et_shape *)sa)->count == 1 && ((const et_shape *)sb)->count > 1;
		p->a[i] = swap ? sb : sa;
		p->b[i] = swap ? sa : sb;
		p->body_a[i] = swap ? bb : ba;
		p->body_b[i] = swap ? ba : bb;
		p->swapped[i] = (float)swap;
		p->out[i] = i < n ? w->out + (size_t)pair * MANIFOLD_FLOATS : p->nowhere;
	}
}

/* rigid.frame: the second body relative to the first shape. ok: it is finite. */
typedef struct {
	V(f) x, y, c, s, dx, dy, ca, sa, ox, oy;
	V(truth) ok;
} frame;

/* rigid.polygon. Vertices and normals after the last are copies of the first. So edge i always ends at vertex i +
 * 1, and a copy never wins a comparison. */
typedef struct {
	V(f) x[ET_VERTICES], y[ET_VERTICES], nx[ET_VERTICES], ny[ET_VERTICES];
	V(f) radius, count;
} polygon;

/* rigid.edge, with the number of its first vertex as a float. */
typedef struct {
	V(f) x1, y1, x2, y2, nx, ny, from;
} edge;

typedef struct {
	V(f) x, y, separation, id;
} contact_point;

HELPER(LEVEL) frame relative_frame(const collision_input *w, const batch *p, V(f) ox, V(f) oy) {
	const V(u) a = V(loadu)(p->body_a), b = V(loadu)(p->body_b);
	const V(f) ca = V(fetch)(w->cos, a), sa = V(fetch)(w->sin, a);
	const V(f) cb = V(fetch)(w->cos, b), sb = V(fetch)(w->sin, b);
	const V(f) dx = V(sub)(V(fetch)(w->x, b), V(fetch)(w->x, a));
	const V(f) dy = V(sub)(V(fetch)(w->y, b), V(fetch)(w->y, a));
	const V(f) x = V(add)(V(mul)(ca, dx), V(mul)(sa, dy)), y = V(sub)(V(mul)(ca, dy), V(mul)(sa, dx));
	const V(f) c = V(add)(V(mul)(ca, cb), V(mul)(sa, sb)), s = V(sub)(V(mul)(ca, sb), V(mul)(sa, cb));
	const V(f) sum = V(add)(V(add)(x, y), V(add)(c, s));
	const V(truth) ok = V(upto)(V(sub)(sum, sum), V(set1)(0.0f));
	const frame f = {V(sub)(x, ox), V(sub)(y, oy), c, s, dx, dy, ca, sa, ox, oy, ok};
	return f;
}

/* Rotates a direction by the angle with cosine c and sine s. */
HELPER(LEVEL) void rotate(V(f) c, V(f) s, V(f) x, V(f) y, V(f) *tx, V(f) *ty) {
	*tx = V(sub)(V(mul)(c, x), V(mul)(s, y));
	*ty = V(add)(V(mul)(s, x), V(mul)(c, y));
}

/* Centroid, radius and count of shapes. */
HELPER(LEVEL) void read_rest(const float *const *shapes, V(f) *rest) {
	V(read4)(shapes, REST, rest);
	rest[3] = V(tof)(V(asu)(rest[3]));
}

/* The vertices and normals of shapes with up to n vertices, relative to an origin. */
HELPER(LEVEL) void read_polygon(const float *const *shapes, const V(f) *rest, const int n, polygon *h) {
	for (int i = 0; i < n; i += 2) {
		V(f) v[4], m[4];
		V(read4)(shapes, VERTICES + 2 * i, v);
		V(read4)(shapes, NORMALS + 2 * i, m);
		for (int k = 0; k < 2; k++) {
			h->x[i + k] = v[2 * k];
			h->y[i + k] = v[2 * k + 1];
			h->nx[i + k] = m[2 * k];
			h->ny[i + k] = m[2 * k + 1];
		}
	}
	h->radius = rest[2];
	h->count = rest[3];
	for (int i = 2; i < n; i++) {
		const V(truth) there = V(less)(V(set1)((float)i), h->count);
		h->x[i] = V(choose)(there, h->x[i], h->x[0]);
		h->y[i] = V(choose)(there, h->y[i], h->y[0]);
		h->nx[i] = V(choose)(there, h->nx[i], h->nx[0]);
		h->ny[i] = V(choose)(there, h->ny[i], h->ny[0]);
	}
}

HELPER(LEVEL) void set_a(polygon *h, const V(f) *rest, const int n) {
	for (int i = 0; i < n; i++) {
		h->x[i] = V(sub)(h->x[i], rest[0]);
		h->y[i] = V(sub)(h->y[i], rest[1]);
	}
}

HELPER(LEVEL) void set_b(polygon *h, const frame *f, const int n) {
	for (int i = 0; i < n; i++) {
		V(f) x, y;
		rotate(f->c, f->s, h->x[i], h->y[i], &x, &y);
		h->x[i] = V(add)(x, f->x);
		h->y[i] = V(add)(y, f->y);
		rotate(f->c, f->s, h->nx[i], h->ny[i], &x, &y);
		h->nx[i] = x;
		h->ny[i] = y;
	}
}

HELPER(LEVEL) edge edge_at(const polygon *h, const int i, const int n) {
	const int j = (i + 1) % n;
	const edge e = {h->x[i], h->y[i], h->x[j], h->y[j], h->nx[i], h->ny[i], V(set1)((float)i)};
	return e;
}

HELPER(LEVEL) edge pick_edge(V(truth) t, edge a, edge b) {
	const edge e = {V(choose)(t, a.x1, b.x1), V(choose)(t, a.y1, b.y1), V(choose)(t, a.x2, b.x2), V(choose)(t, a.y2, b.y2),
	                             V(choose)(t, a.nx, b.nx), V(choose)(t, a.ny, b.ny), V(choose)(t, a.from, b.from)};
	return e;
}

HELPER(LEVEL) V(f) dot(V(f) ax, V(f) ay, V(f) bx, V(f) by) {
	return V(add)(V(mul)(ax, bx), V(mul)(ay, by));
}

/* The number of the next vertex. */
HELPER(LEVEL) V(f) next_vertex(V(f) from, V(f) count) {
	const V(f) next_vertex = V(add)(from, V(set1)(1.0f));
	return V(choose)(V(less)(next_vertex, count), next_vertex, V(set1)(0.0f));
}

/* The separation of polygon o from edge i of polygon h. */
HELPER(LEVEL) V(f) separation_of(const polygon *h, const polygon *o, const int i, const int n) {
	const V(f) nx = h->nx[i], ny = h->ny[i];
	V(f) least = dot(nx, ny, o->x[0], o->y[0]);
	for (int j = 1; j < n; j++)
		least = V(min)(dot(nx, ny, o->x[j], o->y[j]), least);
	return V(sub)(least, dot(nx, ny, h->x[i], h->y[i]));
}

HELPER(LEVEL) edge max_separation(const polygon *h, const polygon *o, const int n,
                            V(f) *most) {
	edge best = edge_at(h, 0, n);
	*most = separation_of(h, o, 0, n);
	for (int i = 1; i < n; i++) {
		const V(f) s = separation_of(h, o, i, n);
		const V(truth) better = V(less)(*most, s);
		*most = V(choose)(better, s, *most);
		best = pick_edge(better, edge_at(h, i, n), best);
	}
	return best;
}

HELPER(LEVEL) edge incident_edge(const polygon *h, V(f) x, V(f) y, const int n) {
	edge best = edge_at(h, 0, n);
	V(f) least = dot(h->nx[0], h->ny[0], x, y);
	for (int i = 1; i < n; i++) {
		const V(f) d = dot(h->nx[i], h->ny[i], x, y);
		const V(truth) better = V(less)(d, least);
		least = V(choose)(better, d, least);
		best = pick_edge(better, edge_at(h, i, n), best);
	}
	return best;
}

/* The position of a point along an edge (returned), and its distance outside. */
HELPER(LEVEL) V(f) edge_coordinates(const edge *e, V(f) x, V(f) y, V(f) *outside) {
	const V(f) dx = V(sub)(x, e->x1), dy = V(sub)(y, e->y1);
	*outside = dot(e->nx, e->ny, dx, dy);
	return V(sub)(V(mul)(e->nx, dy), V(mul)(e->ny, dx));
}

/* Returns the length of d. The normal becomes the direction of d, if d is long enough. */
HELPER(LEVEL) V(f) normalize_or(V(f) dx, V(f) dy, V(f) *nx, V(f) *ny) {
	const V(f) square = dot(dx, dy, dx, dy), length = V(sqrt)(square);
	const V(f) inv = V(div)(V(set1)(1.0f), length);
	const V(truth) directed = V(less)(V(set1)(MIN_DIRECTION_SQUARE), square);
	*nx = V(choose)(directed, V(mul)(dx, inv), *nx);
	*ny = V(choose)(directed, V(mul)(dy, inv), *ny);
	return length;
}

HELPER(LEVEL) void write_nothing(const batch *p) {
	for (uint32_t i = 0; i < V(LANES); i++)
		memset(p->out[i], 0, sizeof(et_manifold));
}

/* Writes a point into 6 fields of a manifold where t is true. */
HELPER(LEVEL) void add_point(const batch *p, const frame *f, V(truth) t, const contact_point *at,
                             V(f) *fields) {
	const V(f) zero = V(set1)(0.0f);
	const V(truth) swapped = V(less)(zero, V(load)(p->swapped));
	V(f) ax, ay;
	rotate(f->ca, f->sa, V(add)(at->x, f->ox), V(add)(at->y, f->oy), &ax, &ay);
	const V(f) bx = V(sub)(ax, f->dx), by = V(sub)(ay, f->dy);
	fields[0] = V(choose)(t, V(choose)(swapped, bx, ax), zero);
	fields[1] = V(choose)(t, V(choose)(swapped, by, ay), zero);
	fields[2] = V(choose)(t, V(choose)(swapped, ax, bx), zero);
	fields[3] = V(choose)(t, V(choose)(swapped, ay, by), zero);
	fields[4] = V(choose)(t, at->separation, zero);
	fields[5] = V(asf)(V(truncu)(V(choose)(t, at->id, zero)));
}

/* Writes manifolds with the normal in the axes of the world: with one point where t is true, and a second where
 * two is. */
HELPER(LEVEL) void write(const batch *p, const frame *f, V(truth) t, V(truth) two, V(f) nx, V(f) ny,
                         const contact_point *first, const contact_point *second) {
	const V(f) zero = V(set1)(0.0f), one = V(set1)(1.0f);
	V(f) m[MANIFOLD_FLOATS];
	m[0] = V(choose)(t, nx, zero);
	m[1] = V(choose)(t, ny, zero);
	m[2] = V(asf)(V(truncu)(V(choose)(t, V(choose)(two, V(set1)(2.0f), one), zero)));
	m[3] = zero;
	add_point(p, f, t, first, m + 4);
	if (second) {
		add_point(p, f, two, second, m + 10);
	} else {
		for (int k = 10; k < MANIFOLD_FLOATS; k++)
			m[k] = zero;
	}
	for (int k = 0; k < MANIFOLD_FLOATS; k += 4)
		V(write4)(p->out, k, m + k);
}

HELPER(LEVEL) void collide_discs(const collision_input *w, const batch *p) {
	V(f) a[4], b[4], va[4], vb[4], x, y, nx = V(set1)(0.0f), ny = V(set1)(1.0f);
	read_rest(p->a, a);
	read_rest(p->b, b);
	V(read4)(p->a, VERTICES, va);
	V(read4)(p->b, VERTICES, vb);
	const frame f = relative_frame(w, p, a[0], a[1]);
	const V(f) vx = V(sub)(va[0], a[0]), vy = V(sub)(va[1], a[1]);
	rotate(f.c, f.s, vb[0], vb[1], &x, &y);
	const V(f) length = normalize_or(V(sub)(V(add)(x, f.x), vx), V(sub)(V(add)(y, f.y), vy), &nx, &ny);
	const V(f) separation = V(sub)(length, V(add)(a[2], b[2]));
	const V(truth) touch = V(both)(f.ok, V(upto)(separation, V(set1)(SPECULATIVE)));
	if (!V(any)(touch)) {
		write_nothing(p);
		return;
	}
	const V(f) height = V(mul)(V(set1)(0.5f), V(add)(V(sub)(a[2], b[2]), length));
	const contact_point at = {V(add)(vx, V(mul)(nx, height)), V(add)(vy, V(mul)(ny, height)), separation, V(set1)(0.0f)};
	rotate(f.ca, f.sa, nx, ny, &nx, &ny);
	write(p, &f, touch, V(unless)(touch, touch), nx, ny, &at, NULL);
}

/* Collides a polygon of up to n vertices with a disc. */
HELPER(LEVEL) void collide_polygon_disc(const collision_input *w, const batch *p, const int n) {
	const V(f) zero = V(set1)(0.0f), speculative = V(set1)(SPECULATIVE);
	V(f) a[4], b[4], v[4], x, y;
	polygon h;
	read_rest(p->a, a);
	read_rest(p->b, b);
	read_polygon(p->a, a, n, &h);
	set_a(&h, a, n);
	V(read4)(p->b, VERTICES, v);
	const frame f = relative_frame(w, p, a[0], a[1]);
	rotate(f.c, f.s, v[0], v[1], &x, &y);
	const V(f) qx = V(add)(x, f.x), qy = V(add)(y, f.y);

	edge e = edge_at(&h, 0, n);
	V(f) most = dot(e.nx, e.ny, V(sub)(qx, e.x1), V(sub)(qy, e.y1));
	for (int i = 1; i < n; i++) {
		const V(f) s = dot(h.nx[i], h.ny[i], V(sub)(qx, h.x[i]), V(sub)(qy, h.y[i]));
		const V(truth) better = V(less)(most, s);
		most = V(choose)(better, s, most);
		e = pick_edge(better, edge_at(&h, i, n), e);
	}
	const V(f) radius = V(add)(a[2], b[2]);
	V(truth) touch = V(both)(f.ok, V(upto)(V(sub)(most, radius), speculative));
	if (!V(any)(touch)) {
		write_nothing(p);
		return;
	}
	V(f) outside, nx = e.nx, ny = e.ny;
	const V(f) t = edge_coordinates(&e, qx, qy, &outside), side = edge_coordinates(&e, e.x2, e.y2, &outside);
	const V(truth) before = V(less)(t, zero), behind = V(less)(side, t);
	const V(truth) edged = V(either)(V(less)(zero, most), V(less)(h.count, V(set1)(3.0f)));
	const V(truth) end = V(both)(edged, V(either)(before, behind));
	const V(f) ex = V(choose)(behind, e.x2, e.x1), ey = V(choose)(behind, e.y2, e.y1);
	const V(f) far = normalize_or(V(sub)(qx, ex), V(sub)(qy, ey), &nx, &ny);
	const V(f) length = V(choose)(end, far, most);
	nx = V(choose)(end, nx, e.nx);
	ny = V(choose)(end, ny, e.ny);
	x = V(choose)(end, ex, V(sub)(e.x1, V(mul)(e.ny, t)));
	y = V(choose)(end, ey, V(add)(e.y1, V(mul)(e.nx, t)));
	const V(f) separation = V(sub)(length, radius);
	touch = V(both)(touch, V(upto)(separation, speculative));

	const V(f) height = V(mul)(V(set1)(0.5f), V(add)(V(sub)(a[2], b[2]), length));
	const V(truth) swapped = V(less)(zero, V(load)(p->swapped));
	const V(f) id = V(choose)(swapped, V(mul)(e.from, V(set1)(256.0f)), e.from);
	const contact_point at = {V(add)(x, V(mul)(nx, height)), V(add)(y, V(mul)(ny, height)), separation, id};
	const V(f) sign = V(choose)(swapped, V(set1)(-1.0f), V(set1)(1.0f));
	rotate(f.ca, f.sa, nx, ny, &nx, &ny);
	write(p, &f, touch, V(unless)(touch, touch), V(mul)(nx, sign), V(mul)(ny, sign), &at, NULL);
}

/* rigid.edgePair. */
typedef struct {
	edge ref, inc;
	V(truth) flipped;
	V(f) side, t1, s1, t2, s2, dt, ds, radius, excess;
	V(f) ref_to, inc_to;
} edge_pair;

HELPER(LEVEL) V(f) feature_id(const edge_pair *g, V(f) ref, V(f) inc) {
	const V(f) up = V(set1)(256.0f);
	return V(choose)(g->flipped, V(add)(inc, V(mul)(ref, up)), V(add)(ref, V(mul)(inc, up)));
}

HELPER(LEVEL) edge_pair pair_edges(const polygon *a, const polygon *b, const int n,
                           edge ea, edge eb, V(truth) flipped, V(f) radius) {
	edge_pair g;
	polygon inc;
	V(f) outside;
	for (int i = 0; i < n; i++) {
		inc.x[i] = V(choose)(flipped, a->x[i], b->x[i]);
		inc.y[i] = V(choose)(flipped, a->y[i], b->y[i]);
		inc.nx[i] = V(choose)(flipped, a->nx[i], b->nx[i]);
		inc.ny[i] = V(choose)(flipped, a->ny[i], b->ny[i]);
	}
	g.flipped = flipped;
	g.radius = radius;
	g.excess = V(choose)(flipped, V(sub)(b->radius, a->radius), V(sub)(a->radius, b->radius));
	g.ref = pick_edge(flipped, eb, ea);
	g.inc = incident_edge(&inc, g.ref.nx, g.ref.ny, n);
	g.ref_to = next_vertex(g.ref.from, V(choose)(flipped, b->count, a->count));
	g.inc_to = next_vertex(g.inc.from, V(choose)(flipped, a->count, b->count));
	g.side = edge_coordinates(&g.ref, g.ref.x2, g.ref.y2, &outside);
	g.t1 = edge_coordinates(&g.ref, g.inc.x1, g.inc.y1, &g.s1);
	g.t2 = edge_coordinates(&g.ref, g.inc.x2, g.inc.y2, &g.s2);
	g.dt = V(sub)(g.t1, g.t2);
	g.ds = V(sub)(g.s1, g.s2);
	return g;
}

/* The contact of polygons that are closest to each other at an end of the reference edge: the first end where lo
 * is true. Returns the lanes in which they are near enough. */
HELPER(LEVEL) V(truth) collide_corner(const edge_pair *g, V(truth) lo, V(f) *nx, V(f) *ny,
                                    contact_point *at) {
	const V(f) zero = V(set1)(0.0f), one = V(set1)(1.0f), half = V(set1)(0.5f);
	const edge *const e = &g->ref;
	const V(f) x = V(choose)(lo, e->x1, e->x2), y = V(choose)(lo, e->y1, e->y2), from = V(choose)(lo, zero, g->side);
	const V(f) across = V(sub)(V(mul)(V(sub)(from, g->t2), g->dt), V(mul)(g->s2, g->ds));
	V(f) u = V(div)(across, dot(g->dt, g->ds, g->dt, g->ds));
	u = V(choose)(V(less)(zero, u), u, zero);
	u = V(choose)(V(less)(u, one), u, one);
	const V(f) t = V(sub)(V(add)(g->t2, V(mul)(u, g->dt)), from), s = V(add)(g->s2, V(mul)(u, g->ds));
	*nx = e->nx;
	*ny = e->ny;
	const V(f) length = normalize_or(V(sub)(V(mul)(e->nx, s), V(mul)(e->ny, t)), V(add)(V(mul)(e->ny, s), V(mul)(e->nx, t)),
	                           nx, ny);
	const V(f) height = V(mul)(half, V(add)(g->excess, length));
	at->x = V(add)(x, V(mul)(*nx, height));
	at->y = V(add)(y, V(mul)(*ny, height));
	at->separation = V(sub)(length, g->radius);
	at->id = feature_id(g, V(choose)(lo, e->from, g->ref_to), V(choose)(V(less)(half, u), g->inc.from, g->inc_to));
	return V(upto)(at->separation, V(set1)(SPECULATIVE));
}

/* The contact point at t along the reference edge, where the other polygon is s outside. */
HELPER(LEVEL) contact_point contact_point_at(const edge_pair *g, V(f) t, V(f) s, V(f) id) {
	const edge *const e = &g->ref;
	const V(f) height = V(mul)(V(set1)(0.5f), V(add)(g->excess, s));
	const V(f) x = V(sub)(e->x1, V(mul)(e->ny, t)), y = V(add)(e->y1, V(mul)(e->nx, t));
	const contact_point at = {V(add)(x, V(mul)(e->nx, height)), V(add)(y, V(mul)(e->ny, height)), V(sub)(s, g->radius), id};
	return at;
}

/* The contact points of polygons that lie on each other, or overlap. lo and hi become true where there is a point
 * at that end. */
HELPER(LEVEL) void clip(const edge_pair *g, V(truth) apart, V(truth) *lo, V(truth) *hi,
                        contact_point *at_lo, contact_point *at_hi) {
	const V(f) zero = V(set1)(0.0f), speculative = V(set1)(SPECULATIVE);
	const V(truth) below = V(less)(g->t2, zero), above = V(less)(g->side, g->t1);
	V(f) tlo = V(choose)(below, zero, g->t2), thi = V(choose)(above, g->side, g->t1);
	V(f) slo = V(choose)(below, V(sub)(g->s2, V(mul)(V(div)(g->t2, g->dt), g->ds)), g->s2);
	V(f) shi = V(choose)(above, V(sub)(g->s1, V(mul)(V(div)(V(sub)(g->t1, g->side), g->dt), g->ds)), g->s1);
	const V(truth) beside = V(either)(V(less)(g->t1, zero), V(less)(g->side, g->t2));
	*lo = V(unless)(V(upto)(V(sub)(slo, g->radius), speculative), beside);
	*hi = V(unless)(V(upto)(V(sub)(shi, g->radius), speculative), beside);
	const V(truth) all = V(upto)(zero, zero), deep = V(unless)(V(unless)(all, apart), V(either)(*lo, *hi));
	const V(truth) first = V(less)(g->s1, g->s2);
	*lo = V(either)(*lo, V(unless)(deep, first));
	*hi = V(either)(*hi, V(both)(deep, first));
	tlo = V(choose)(deep, g->t2, tlo);
	slo = V(choose)(deep, g->s2, slo);
	thi = V(choose)(deep, g->t1, thi);
	shi = V(choose)(deep, g->s1, shi);
	*at_lo = contact_point_at(g, tlo, slo, feature_id(g, g->ref.from, g->inc_to));
	*at_hi = contact_point_at(g, thi, shi, feature_id(g, g->ref_to, g->inc.from));
}

HELPER(LEVEL) contact_point pick_point(V(truth) t, const contact_point *a, const contact_point *b) {
	const contact_point at = {V(choose)(t, a->x, b->x), V(choose)(t, a->y, b->y),
	                               V(choose)(t, a->separation, b->separation), V(choose)(t, a->id, b->id)};
	return at;
}

/* Collides two polygons of up to n vertices each. */
HELPER(LEVEL) void collide_polygons(const collision_input *w, const batch *p, const int n) {
	const V(f) zero = V(set1)(0.0f), speculative = V(set1)(SPECULATIVE), three = V(set1)(3.0f);
	V(f) ra[4], rb[4], sa, sb;
	polygon a, b;
	read_rest(p->a, ra);
	read_rest(p->b, rb);
	const frame f = relative_frame(w, p, ra[0], ra[1]);
	read_polygon(p->a, ra, n, &a);
	set_a(&a, ra, n);
	read_polygon(p->b, rb, n, &b);
	set_b(&b, &f, n);
	const V(f) radius = V(add)(a.radius, b.radius);
	const edge ea = max_separation(&a, &b, n, &sa);
	V(truth) near = V(both)(f.ok, V(upto)(V(sub)(sa, radius), speculative));
	if (!V(any)(near)) {
		write_nothing(p);
		return;
	}
	const edge eb = max_separation(&b, &a, n, &sb);
	near = V(both)(near, V(upto)(V(sub)(sb, radius), speculative));
	if (!V(any)(near)) {
		write_nothing(p);
		return;
	}
	const V(truth) flipped = V(less)(V(add)(sa, V(set1)(REFERENCE_TOLERANCE)), sb);
	const edge_pair g = pair_edges(&a, &b, n, ea, eb, flipped, radius);

	const V(f) up = dot(g.t2, g.s2, g.dt, g.ds);
	const V(f) down = V(sub)(V(mul)(V(sub)(g.side, g.t1), g.dt), V(mul)(g.s1, g.ds));
	const V(truth) lo = V(either)(V(less)(g.t1, zero), V(both)(V(less)(g.t2, zero), V(upto)(zero, up)));
	const V(truth) hi = V(either)(V(less)(g.side, g.t2), V(both)(V(less)(g.side, g.t1), V(upto)(zero, down)));
	const V(truth) lines = V(both)(V(less)(a.count, three), V(less)(b.count, three));
	const V(truth) apart = V(either)(V(either)(V(less)(zero, sa), V(less)(zero, sb)), lines);
	const V(truth) corner = V(both)(V(both)(near, apart), V(either)(lo, hi));

	V(truth) at_lo, at_hi;
	contact_point first, second;
	V(f) nx = g.ref.nx, ny = g.ref.ny;
	clip(&g, apart, &at_lo, &at_hi, &first, &second);
	V(truth) touch = V(unless)(V(both)(near, V(either)(at_lo, at_hi)), corner);
	const V(truth) two = V(both)(touch, V(both)(at_lo, at_hi));
	first = pick_point(at_lo, &first, &second);
	if (V(any)(corner)) {
		V(f) cx, cy;
		contact_point c;
		touch = V(either)(touch, V(both)(corner, collide_corner(&g, lo, &cx, &cy, &c)));
		first = pick_point(corner, &c, &first);
		nx = V(choose)(corner, cx, nx);
		ny = V(choose)(corner, cy, ny);
	}
	const V(f) sign = V(choose)(flipped, V(set1)(-1.0f), V(set1)(1.0f));
	rotate(f.ca, f.sa, V(mul)(nx, sign), V(mul)(ny, sign), &nx, &ny);
	write(p, &f, touch, two, nx, ny, &first, &second);
}

#define EACH_BATCH(w, at, n, ...)                                     \
	for (uint32_t i = 0; i < (n); i += V(LANES)) {                \
		batch p;                                              \
		fill(&p, (w), (at) + i, (n) - i, V(LANES));           \
		__VA_ARGS__;                                          \
	}

KERNEL(void, discs, const collision_input *w, const uint16_t *at, uint32_t n) {
	EACH_BATCH(w, at, n, collide_discs(w, &p));
}

KERNEL(void, disc_4, const collision_input *w, const uint16_t *at, uint32_t n) {
	EACH_BATCH(w, at, n, collide_polygon_disc(w, &p, 4));
}

KERNEL(void, disc_8, const collision_input *w, const uint16_t *at, uint32_t n) {
	EACH_BATCH(w, at, n, collide_polygon_disc(w, &p, 8));
}

KERNEL(void, polygons_4, const collision_input *w, const uint16_t *at, uint32_t n) {
	EACH_BATCH(w, at, n, collide_polygons(w, &p, 4));
}

KERNEL(void, polygons_8, const collision_input *w, const uint16_t *at, uint32_t n) {
	EACH_BATCH(w, at, n, collide_polygons(w, &p, 8));
}

#undef EACH_BATCH

#ifdef DISPATCH
/* Sorts the numbers of the pairs that are not recycled by kind. Returns 0 if a shape or a body does not exist. */
static int sort_pairs(const et_shape *shapes, const uint32_t *body_of, uint32_t shape_count, uint32_t body_count,
                      const uint32_t *a, const uint32_t *b, const int32_t *recycled, uint32_t n, sorted_pairs *s) {
	static const uint8_t kinds[4][4] = {{NOTHING, NOTHING, NOTHING, NOTHING},
	                                    {NOTHING, DISCS, DISC_4, DISC_8},
	                                    {NOTHING, DISC_4, POLYGONS_4, POLYGONS_8},
	                                    {NOTHING, DISC_8, POLYGONS_8, POLYGONS_8}};
	for (int k = 0; k < KINDS; k++)
		s->n[k] = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (a[i] >= shape_count || b[i] >= shape_count || body_of[a[i]] >= body_count || body_of[b[i]] >= body_count)
			return 0;
		if (recycled && recycled[i] >= 0)
			continue;
		const uint32_t kind = kinds[size_of(shapes[a[i]].count)][size_of(shapes[b[i]].count)];
		s->at[kind][s->n[kind]++] = (uint16_t)i;
	}
	return 1;
}

int32_t et_collide(int32_t level, const et_shape *shapes, const uint32_t *body_of, uint32_t shape_count, et_poses poses,
                   uint32_t body_count, et_collisions c) {
	collision_input w = {(const float *)shapes, body_of, poses.x, poses.y, poses.cos, poses.sin, c.pairs.a, c.pairs.b,
	                     (float *)c.out};
	sorted_pairs s;
	for (int64_t i = 0; i < c.pairs.n; i += CHUNK, w.a += CHUNK, w.b += CHUNK, w.out += CHUNK * MANIFOLD_FLOATS) {
		const uint32_t some = (uint32_t)(c.pairs.n - i < CHUNK ? c.pairs.n - i : CHUNK);
		if (!sort_pairs(shapes, body_of, shape_count, body_count, w.a, w.b, c.recycled ? c.recycled + i : NULL, some, &s))
			return 0;
		for (uint32_t k = 0; k < s.n[NOTHING]; k++)
			memset(w.out + (size_t)s.at[NOTHING][k] * MANIFOLD_FLOATS, 0, sizeof(et_manifold));
		DISPATCH(level, discs, &w, s.at[DISCS], s.n[DISCS]);
		DISPATCH(level, disc_4, &w, s.at[DISC_4], s.n[DISC_4]);
		DISPATCH(level, disc_8, &w, s.at[DISC_8], s.n[DISC_8]);
		DISPATCH(level, polygons_4, &w, s.at[POLYGONS_4], s.n[POLYGONS_4]);
		DISPATCH(level, polygons_8, &w, s.at[POLYGONS_8], s.n[POLYGONS_8]);
	}
	return 1;
}
#endif
