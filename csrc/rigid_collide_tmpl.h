/* rigid.frame: the second shape as seen from the first. ok: it is finite. */
typedef struct {
	V(f) x, y, c, s, dx, dy, ca, sa, ox, oy;
	V(truth) ok;
} CAT(frame_, LEVEL);

/* rigid.hull. Vertices and normals behind the last are copies of the first, so that
 * edge i always ends at vertex i + 1 and no copy is the best of any comparison. */
typedef struct {
	V(f) x[ET_VERTICES], y[ET_VERTICES], nx[ET_VERTICES], ny[ET_VERTICES];
	V(f) radius, count;
} CAT(hull_, LEVEL);

/* rigid.edge; the number of its first vertex, as a float. */
typedef struct {
	V(f) x1, y1, x2, y2, nx, ny, from;
} CAT(edge_, LEVEL);

typedef struct {
	V(f) x, y, separation, id;
} CAT(place_, LEVEL);

HELPER(LEVEL) CAT(frame_, LEVEL) CAT(between_, LEVEL)(const world *w, const batch *p, V(f) ox, V(f) oy) {
	const V(u) a = V(loadu)(p->body_a), b = V(loadu)(p->body_b);
	const V(f) ca = V(fetch)(w->cos, a), sa = V(fetch)(w->sin, a);
	const V(f) cb = V(fetch)(w->cos, b), sb = V(fetch)(w->sin, b);
	const V(f) dx = V(sub)(V(fetch)(w->x, b), V(fetch)(w->x, a));
	const V(f) dy = V(sub)(V(fetch)(w->y, b), V(fetch)(w->y, a));
	const V(f) x = V(add)(V(mul)(ca, dx), V(mul)(sa, dy)), y = V(sub)(V(mul)(ca, dy), V(mul)(sa, dx));
	const V(f) c = V(add)(V(mul)(ca, cb), V(mul)(sa, sb)), s = V(sub)(V(mul)(ca, sb), V(mul)(sa, cb));
	const V(f) sum = V(add)(V(add)(x, y), V(add)(c, s));
	const V(truth) ok = V(upto)(V(sub)(sum, sum), V(set1)(0.0f));
	const CAT(frame_, LEVEL) f = {V(sub)(x, ox), V(sub)(y, oy), c, s, dx, dy, ca, sa, ox, oy, ok};
	return f;
}

/* A direction turned by an angle of cosine c and sine s. */
HELPER(LEVEL) void CAT(turn_, LEVEL)(V(f) c, V(f) s, V(f) x, V(f) y, V(f) *tx, V(f) *ty) {
	*tx = V(sub)(V(mul)(c, x), V(mul)(s, y));
	*ty = V(add)(V(mul)(s, x), V(mul)(c, y));
}

/* Centroid, radius and count of shapes. */
HELPER(LEVEL) void CAT(rest_, LEVEL)(const float *const *shapes, V(f) *rest) {
	V(read4)(shapes, REST, rest);
	rest[3] = V(tof)(V(asu)(rest[3]));
}

/* The vertices and normals of shapes of up to n vertices, less an origin. */
HELPER(LEVEL) void CAT(read_hull_, LEVEL)(const float *const *shapes, const V(f) *rest, const int n, CAT(hull_, LEVEL) *h) {
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
		h->x[i] = V(pick)(there, h->x[i], h->x[0]);
		h->y[i] = V(pick)(there, h->y[i], h->y[0]);
		h->nx[i] = V(pick)(there, h->nx[i], h->nx[0]);
		h->ny[i] = V(pick)(there, h->ny[i], h->ny[0]);
	}
}

HELPER(LEVEL) void CAT(own_, LEVEL)(CAT(hull_, LEVEL) *h, const V(f) *rest, const int n) {
	for (int i = 0; i < n; i++) {
		h->x[i] = V(sub)(h->x[i], rest[0]);
		h->y[i] = V(sub)(h->y[i], rest[1]);
	}
}

HELPER(LEVEL) void CAT(other_, LEVEL)(CAT(hull_, LEVEL) *h, const CAT(frame_, LEVEL) *f, const int n) {
	for (int i = 0; i < n; i++) {
		V(f) x, y;
		CAT(turn_, LEVEL)(f->c, f->s, h->x[i], h->y[i], &x, &y);
		h->x[i] = V(add)(x, f->x);
		h->y[i] = V(add)(y, f->y);
		CAT(turn_, LEVEL)(f->c, f->s, h->nx[i], h->ny[i], &x, &y);
		h->nx[i] = x;
		h->ny[i] = y;
	}
}

HELPER(LEVEL) CAT(edge_, LEVEL) CAT(edge_at_, LEVEL)(const CAT(hull_, LEVEL) *h, const int i, const int n) {
	const int j = (i + 1) % n;
	const CAT(edge_, LEVEL) e = {h->x[i], h->y[i], h->x[j], h->y[j], h->nx[i], h->ny[i], V(set1)((float)i)};
	return e;
}

HELPER(LEVEL) CAT(edge_, LEVEL) CAT(pick_edge_, LEVEL)(V(truth) t, CAT(edge_, LEVEL) a, CAT(edge_, LEVEL) b) {
	const CAT(edge_, LEVEL) e = {V(pick)(t, a.x1, b.x1), V(pick)(t, a.y1, b.y1), V(pick)(t, a.x2, b.x2), V(pick)(t, a.y2, b.y2),
	                             V(pick)(t, a.nx, b.nx), V(pick)(t, a.ny, b.ny), V(pick)(t, a.from, b.from)};
	return e;
}

HELPER(LEVEL) V(f) CAT(dot_, LEVEL)(V(f) ax, V(f) ay, V(f) bx, V(f) by) {
	return V(add)(V(mul)(ax, bx), V(mul)(ay, by));
}

/* The number of the vertex behind another. */
HELPER(LEVEL) V(f) CAT(next_, LEVEL)(V(f) from, V(f) count) {
	const V(f) next = V(add)(from, V(set1)(1.0f));
	return V(pick)(V(less)(next, count), next, V(set1)(0.0f));
}

/* By how much edge i of h separates it from o. */
HELPER(LEVEL) V(f) CAT(apart_by_, LEVEL)(const CAT(hull_, LEVEL) *h, const CAT(hull_, LEVEL) *o, const int i, const int n) {
	const V(f) nx = h->nx[i], ny = h->ny[i];
	V(f) least = CAT(dot_, LEVEL)(nx, ny, o->x[0], o->y[0]);
	for (int j = 1; j < n; j++)
		least = V(min)(CAT(dot_, LEVEL)(nx, ny, o->x[j], o->y[j]), least);
	return V(sub)(least, CAT(dot_, LEVEL)(nx, ny, h->x[i], h->y[i]));
}

HELPER(LEVEL) CAT(edge_, LEVEL) CAT(separate_, LEVEL)(const CAT(hull_, LEVEL) *h, const CAT(hull_, LEVEL) *o, const int n,
                                                     V(f) *most) {
	CAT(edge_, LEVEL) best = CAT(edge_at_, LEVEL)(h, 0, n);
	*most = CAT(apart_by_, LEVEL)(h, o, 0, n);
	for (int i = 1; i < n; i++) {
		const V(f) s = CAT(apart_by_, LEVEL)(h, o, i, n);
		const V(truth) better = V(less)(*most, s);
		*most = V(pick)(better, s, *most);
		best = CAT(pick_edge_, LEVEL)(better, CAT(edge_at_, LEVEL)(h, i, n), best);
	}
	return best;
}

HELPER(LEVEL) CAT(edge_, LEVEL) CAT(facing_, LEVEL)(const CAT(hull_, LEVEL) *h, V(f) x, V(f) y, const int n) {
	CAT(edge_, LEVEL) best = CAT(edge_at_, LEVEL)(h, 0, n);
	V(f) least = CAT(dot_, LEVEL)(h->nx[0], h->ny[0], x, y);
	for (int i = 1; i < n; i++) {
		const V(f) d = CAT(dot_, LEVEL)(h->nx[i], h->ny[i], x, y);
		const V(truth) better = V(less)(d, least);
		least = V(pick)(better, d, least);
		best = CAT(pick_edge_, LEVEL)(better, CAT(edge_at_, LEVEL)(h, i, n), best);
	}
	return best;
}

/* Where a point is along an edge (returned), and how far outside. */
HELPER(LEVEL) V(f) CAT(along_, LEVEL)(const CAT(edge_, LEVEL) *e, V(f) x, V(f) y, V(f) *outside) {
	const V(f) dx = V(sub)(x, e->x1), dy = V(sub)(y, e->y1);
	*outside = CAT(dot_, LEVEL)(e->nx, e->ny, dx, dy);
	return V(sub)(V(mul)(e->nx, dy), V(mul)(e->ny, dx));
}

/* The length of d; the normal becomes its direction, if it has one. */
HELPER(LEVEL) V(f) CAT(toward_, LEVEL)(V(f) dx, V(f) dy, V(f) *nx, V(f) *ny) {
	const V(f) square = CAT(dot_, LEVEL)(dx, dy, dx, dy), length = V(sqrt)(square);
	const V(f) inv = V(div)(V(set1)(1.0f), length);
	const V(truth) directed = V(less)(V(set1)(COINCIDENCE), square);
	*nx = V(pick)(directed, V(mul)(dx, inv), *nx);
	*ny = V(pick)(directed, V(mul)(dy, inv), *ny);
	return length;
}

HELPER(LEVEL) void CAT(write_nothing_, LEVEL)(const batch *p) {
	for (uint32_t i = 0; i < V(LANES); i++)
		memset(p->out[i], 0, sizeof(et_manifold));
}

/* Puts a point into 6 fields of a manifold where t is true. */
HELPER(LEVEL) void CAT(put_, LEVEL)(const batch *p, const CAT(frame_, LEVEL) *f, V(truth) t, const CAT(place_, LEVEL) *at,
                                    V(f) *fields) {
	const V(f) zero = V(set1)(0.0f);
	const V(truth) swapped = V(less)(zero, V(load)(p->swapped));
	V(f) ax, ay;
	CAT(turn_, LEVEL)(f->ca, f->sa, V(add)(at->x, f->ox), V(add)(at->y, f->oy), &ax, &ay);
	const V(f) bx = V(sub)(ax, f->dx), by = V(sub)(ay, f->dy);
	fields[0] = V(pick)(t, V(pick)(swapped, bx, ax), zero);
	fields[1] = V(pick)(t, V(pick)(swapped, by, ay), zero);
	fields[2] = V(pick)(t, V(pick)(swapped, ax, bx), zero);
	fields[3] = V(pick)(t, V(pick)(swapped, ay, by), zero);
	fields[4] = V(pick)(t, at->separation, zero);
	fields[5] = V(asf)(V(truncu)(V(pick)(t, at->id, zero)));
}

/* Writes manifolds with the normal seen from the world: one point where t is true, and
 * another where two is. */
HELPER(LEVEL) void CAT(write_, LEVEL)(const batch *p, const CAT(frame_, LEVEL) *f, V(truth) t, V(truth) two, V(f) nx, V(f) ny,
                                      const CAT(place_, LEVEL) *first, const CAT(place_, LEVEL) *second) {
	const V(f) zero = V(set1)(0.0f), one = V(set1)(1.0f);
	V(f) m[MANIFOLD];
	m[0] = V(pick)(t, nx, zero);
	m[1] = V(pick)(t, ny, zero);
	m[2] = V(asf)(V(truncu)(V(pick)(t, V(pick)(two, V(set1)(2.0f), one), zero)));
	m[3] = zero;
	CAT(put_, LEVEL)(p, f, t, first, m + 4);
	if (second) {
		CAT(put_, LEVEL)(p, f, two, second, m + 10);
	} else {
		for (int k = 10; k < MANIFOLD; k++)
			m[k] = zero;
	}
	for (int k = 0; k < MANIFOLD; k += 4)
		V(write4)(p->out, k, m + k);
}

HELPER(LEVEL) void CAT(collide_discs_, LEVEL)(const world *w, const batch *p) {
	V(f) a[4], b[4], va[4], vb[4], x, y, nx = V(set1)(0.0f), ny = V(set1)(1.0f);
	CAT(rest_, LEVEL)(p->a, a);
	CAT(rest_, LEVEL)(p->b, b);
	V(read4)(p->a, VERTICES, va);
	V(read4)(p->b, VERTICES, vb);
	const CAT(frame_, LEVEL) f = CAT(between_, LEVEL)(w, p, a[0], a[1]);
	const V(f) vx = V(sub)(va[0], a[0]), vy = V(sub)(va[1], a[1]);
	CAT(turn_, LEVEL)(f.c, f.s, vb[0], vb[1], &x, &y);
	const V(f) length = CAT(toward_, LEVEL)(V(sub)(V(add)(x, f.x), vx), V(sub)(V(add)(y, f.y), vy), &nx, &ny);
	const V(f) separation = V(sub)(length, V(add)(a[2], b[2]));
	const V(truth) touch = V(both)(f.ok, V(upto)(separation, V(set1)(SPECULATIVE)));
	if (!V(any)(touch)) {
		CAT(write_nothing_, LEVEL)(p);
		return;
	}
	const V(f) height = V(mul)(V(set1)(0.5f), V(add)(V(sub)(a[2], b[2]), length));
	const CAT(place_, LEVEL) at = {V(add)(vx, V(mul)(nx, height)), V(add)(vy, V(mul)(ny, height)), separation, V(set1)(0.0f)};
	CAT(turn_, LEVEL)(f.ca, f.sa, nx, ny, &nx, &ny);
	CAT(write_, LEVEL)(p, &f, touch, V(unless)(touch, touch), nx, ny, &at, NULL);
}

/* A polygon of up to n vertices, and a disc. */
HELPER(LEVEL) void CAT(collide_disc_, LEVEL)(const world *w, const batch *p, const int n) {
	const V(f) zero = V(set1)(0.0f), speculative = V(set1)(SPECULATIVE);
	V(f) a[4], b[4], v[4], x, y;
	CAT(hull_, LEVEL) h;
	CAT(rest_, LEVEL)(p->a, a);
	CAT(rest_, LEVEL)(p->b, b);
	CAT(read_hull_, LEVEL)(p->a, a, n, &h);
	CAT(own_, LEVEL)(&h, a, n);
	V(read4)(p->b, VERTICES, v);
	const CAT(frame_, LEVEL) f = CAT(between_, LEVEL)(w, p, a[0], a[1]);
	CAT(turn_, LEVEL)(f.c, f.s, v[0], v[1], &x, &y);
	const V(f) qx = V(add)(x, f.x), qy = V(add)(y, f.y);

	CAT(edge_, LEVEL) e = CAT(edge_at_, LEVEL)(&h, 0, n);
	V(f) most = CAT(dot_, LEVEL)(e.nx, e.ny, V(sub)(qx, e.x1), V(sub)(qy, e.y1));
	for (int i = 1; i < n; i++) {
		const V(f) s = CAT(dot_, LEVEL)(h.nx[i], h.ny[i], V(sub)(qx, h.x[i]), V(sub)(qy, h.y[i]));
		const V(truth) better = V(less)(most, s);
		most = V(pick)(better, s, most);
		e = CAT(pick_edge_, LEVEL)(better, CAT(edge_at_, LEVEL)(&h, i, n), e);
	}
	const V(f) radius = V(add)(a[2], b[2]);
	V(truth) touch = V(both)(f.ok, V(upto)(V(sub)(most, radius), speculative));
	if (!V(any)(touch)) {
		CAT(write_nothing_, LEVEL)(p);
		return;
	}
	V(f) outside, nx = e.nx, ny = e.ny;
	const V(f) t = CAT(along_, LEVEL)(&e, qx, qy, &outside), side = CAT(along_, LEVEL)(&e, e.x2, e.y2, &outside);
	const V(truth) before = V(less)(t, zero), behind = V(less)(side, t);
	const V(truth) edged = V(either)(V(less)(zero, most), V(less)(h.count, V(set1)(3.0f)));
	const V(truth) end = V(both)(edged, V(either)(before, behind));
	const V(f) ex = V(pick)(behind, e.x2, e.x1), ey = V(pick)(behind, e.y2, e.y1);
	const V(f) far = CAT(toward_, LEVEL)(V(sub)(qx, ex), V(sub)(qy, ey), &nx, &ny);
	const V(f) length = V(pick)(end, far, most);
	nx = V(pick)(end, nx, e.nx);
	ny = V(pick)(end, ny, e.ny);
	x = V(pick)(end, ex, V(sub)(e.x1, V(mul)(e.ny, t)));
	y = V(pick)(end, ey, V(add)(e.y1, V(mul)(e.nx, t)));
	const V(f) separation = V(sub)(length, radius);
	touch = V(both)(touch, V(upto)(separation, speculative));

	const V(f) height = V(mul)(V(set1)(0.5f), V(add)(V(sub)(a[2], b[2]), length));
	const V(truth) swapped = V(less)(zero, V(load)(p->swapped));
	const V(f) id = V(pick)(swapped, V(mul)(e.from, V(set1)(256.0f)), e.from);
	const CAT(place_, LEVEL) at = {V(add)(x, V(mul)(nx, height)), V(add)(y, V(mul)(ny, height)), separation, id};
	const V(f) sign = V(pick)(swapped, V(set1)(-1.0f), V(set1)(1.0f));
	CAT(turn_, LEVEL)(f.ca, f.sa, nx, ny, &nx, &ny);
	CAT(write_, LEVEL)(p, &f, touch, V(unless)(touch, touch), V(mul)(nx, sign), V(mul)(ny, sign), &at, NULL);
}

/* rigid.meeting */
typedef struct {
	CAT(edge_, LEVEL) ref, inc;
	V(truth) flipped;
	V(f) side, t1, s1, t2, s2, dt, ds, radius, excess;
	V(f) ref_to, inc_to;
} CAT(meeting_, LEVEL);

HELPER(LEVEL) V(f) CAT(id_, LEVEL)(const CAT(meeting_, LEVEL) *g, V(f) ref, V(f) inc) {
	const V(f) up = V(set1)(256.0f);
	return V(pick)(g->flipped, V(add)(inc, V(mul)(ref, up)), V(add)(ref, V(mul)(inc, up)));
}

HELPER(LEVEL) CAT(meeting_, LEVEL) CAT(meet_, LEVEL)(const CAT(hull_, LEVEL) *a, const CAT(hull_, LEVEL) *b, const int n,
                                                   CAT(edge_, LEVEL) ea, CAT(edge_, LEVEL) eb, V(truth) flipped, V(f) radius) {
	CAT(meeting_, LEVEL) g;
	CAT(hull_, LEVEL) inc;
	V(f) outside;
	for (int i = 0; i < n; i++) {
		inc.x[i] = V(pick)(flipped, a->x[i], b->x[i]);
		inc.y[i] = V(pick)(flipped, a->y[i], b->y[i]);
		inc.nx[i] = V(pick)(flipped, a->nx[i], b->nx[i]);
		inc.ny[i] = V(pick)(flipped, a->ny[i], b->ny[i]);
	}
	g.flipped = flipped;
	g.radius = radius;
	g.excess = V(pick)(flipped, V(sub)(b->radius, a->radius), V(sub)(a->radius, b->radius));
	g.ref = CAT(pick_edge_, LEVEL)(flipped, eb, ea);
	g.inc = CAT(facing_, LEVEL)(&inc, g.ref.nx, g.ref.ny, n);
	g.ref_to = CAT(next_, LEVEL)(g.ref.from, V(pick)(flipped, b->count, a->count));
	g.inc_to = CAT(next_, LEVEL)(g.inc.from, V(pick)(flipped, a->count, b->count));
	g.side = CAT(along_, LEVEL)(&g.ref, g.ref.x2, g.ref.y2, &outside);
	g.t1 = CAT(along_, LEVEL)(&g.ref, g.inc.x1, g.inc.y1, &g.s1);
	g.t2 = CAT(along_, LEVEL)(&g.ref, g.inc.x2, g.inc.y2, &g.s2);
	g.dt = V(sub)(g.t1, g.t2);
	g.ds = V(sub)(g.s1, g.s2);
	return g;
}

/* The point of polygons that are closest to each other at an end of the reference
 * edge, the first where lo is true. Returns where it is near enough. */
HELPER(LEVEL) V(truth) CAT(corner_, LEVEL)(const CAT(meeting_, LEVEL) *g, V(truth) lo, V(f) *nx, V(f) *ny,
                                           CAT(place_, LEVEL) *at) {
	const V(f) zero = V(set1)(0.0f), one = V(set1)(1.0f), half = V(set1)(0.5f);
	const CAT(edge_, LEVEL) *const e = &g->ref;
	const V(f) x = V(pick)(lo, e->x1, e->x2), y = V(pick)(lo, e->y1, e->y2), from = V(pick)(lo, zero, g->side);
	const V(f) across = V(sub)(V(mul)(V(sub)(from, g->t2), g->dt), V(mul)(g->s2, g->ds));
	V(f) u = V(div)(across, CAT(dot_, LEVEL)(g->dt, g->ds, g->dt, g->ds));
	u = V(pick)(V(less)(zero, u), u, zero);
	u = V(pick)(V(less)(u, one), u, one);
	const V(f) t = V(sub)(V(add)(g->t2, V(mul)(u, g->dt)), from), s = V(add)(g->s2, V(mul)(u, g->ds));
	*nx = e->nx;
	*ny = e->ny;
	const V(f) length = CAT(toward_, LEVEL)(V(sub)(V(mul)(e->nx, s), V(mul)(e->ny, t)), V(add)(V(mul)(e->ny, s), V(mul)(e->nx, t)),
	                                        nx, ny);
	const V(f) height = V(mul)(half, V(add)(g->excess, length));
	at->x = V(add)(x, V(mul)(*nx, height));
	at->y = V(add)(y, V(mul)(*ny, height));
	at->separation = V(sub)(length, g->radius);
	at->id = CAT(id_, LEVEL)(g, V(pick)(lo, e->from, g->ref_to), V(pick)(V(less)(half, u), g->inc.from, g->inc_to));
	return V(upto)(at->separation, V(set1)(SPECULATIVE));
}

/* The point t along the reference edge at which the other polygon is s outside. */
HELPER(LEVEL) CAT(place_, LEVEL) CAT(place_at_, LEVEL)(const CAT(meeting_, LEVEL) *g, V(f) t, V(f) s, V(f) id) {
	const CAT(edge_, LEVEL) *const e = &g->ref;
	const V(f) height = V(mul)(V(set1)(0.5f), V(add)(g->excess, s));
	const V(f) x = V(sub)(e->x1, V(mul)(e->ny, t)), y = V(add)(e->y1, V(mul)(e->nx, t));
	const CAT(place_, LEVEL) at = {V(add)(x, V(mul)(e->nx, height)), V(add)(y, V(mul)(e->ny, height)), V(sub)(s, g->radius), id};
	return at;
}

/* The points of polygons that lie on each other, or overlap. lo and hi become where
 * there is one at either end. */
HELPER(LEVEL) void CAT(clip_, LEVEL)(const CAT(meeting_, LEVEL) *g, V(truth) apart, V(truth) *lo, V(truth) *hi,
                                     CAT(place_, LEVEL) *at_lo, CAT(place_, LEVEL) *at_hi) {
	const V(f) zero = V(set1)(0.0f), speculative = V(set1)(SPECULATIVE);
	const V(truth) below = V(less)(g->t2, zero), above = V(less)(g->side, g->t1);
	V(f) tlo = V(pick)(below, zero, g->t2), thi = V(pick)(above, g->side, g->t1);
	V(f) slo = V(pick)(below, V(sub)(g->s2, V(mul)(V(div)(g->t2, g->dt), g->ds)), g->s2);
	V(f) shi = V(pick)(above, V(sub)(g->s1, V(mul)(V(div)(V(sub)(g->t1, g->side), g->dt), g->ds)), g->s1);
	const V(truth) beside = V(either)(V(less)(g->t1, zero), V(less)(g->side, g->t2));
	*lo = V(unless)(V(upto)(V(sub)(slo, g->radius), speculative), beside);
	*hi = V(unless)(V(upto)(V(sub)(shi, g->radius), speculative), beside);
	const V(truth) all = V(upto)(zero, zero), deep = V(unless)(V(unless)(all, apart), V(either)(*lo, *hi));
	const V(truth) first = V(less)(g->s1, g->s2);
	*lo = V(either)(*lo, V(unless)(deep, first));
	*hi = V(either)(*hi, V(both)(deep, first));
	tlo = V(pick)(deep, g->t2, tlo);
	slo = V(pick)(deep, g->s2, slo);
	thi = V(pick)(deep, g->t1, thi);
	shi = V(pick)(deep, g->s1, shi);
	*at_lo = CAT(place_at_, LEVEL)(g, tlo, slo, CAT(id_, LEVEL)(g, g->ref.from, g->inc_to));
	*at_hi = CAT(place_at_, LEVEL)(g, thi, shi, CAT(id_, LEVEL)(g, g->ref_to, g->inc.from));
}

HELPER(LEVEL) CAT(place_, LEVEL) CAT(pick_place_, LEVEL)(V(truth) t, const CAT(place_, LEVEL) *a, const CAT(place_, LEVEL) *b) {
	const CAT(place_, LEVEL) at = {V(pick)(t, a->x, b->x), V(pick)(t, a->y, b->y),
	                               V(pick)(t, a->separation, b->separation), V(pick)(t, a->id, b->id)};
	return at;
}

/* Two polygons of up to n vertices. */
HELPER(LEVEL) void CAT(collide_polygons_, LEVEL)(const world *w, const batch *p, const int n) {
	const V(f) zero = V(set1)(0.0f), speculative = V(set1)(SPECULATIVE), three = V(set1)(3.0f);
	V(f) ra[4], rb[4], sa, sb;
	CAT(hull_, LEVEL) a, b;
	CAT(rest_, LEVEL)(p->a, ra);
	CAT(rest_, LEVEL)(p->b, rb);
	const CAT(frame_, LEVEL) f = CAT(between_, LEVEL)(w, p, ra[0], ra[1]);
	CAT(read_hull_, LEVEL)(p->a, ra, n, &a);
	CAT(own_, LEVEL)(&a, ra, n);
	CAT(read_hull_, LEVEL)(p->b, rb, n, &b);
	CAT(other_, LEVEL)(&b, &f, n);
	const V(f) radius = V(add)(a.radius, b.radius);
	const CAT(edge_, LEVEL) ea = CAT(separate_, LEVEL)(&a, &b, n, &sa);
	V(truth) near = V(both)(f.ok, V(upto)(V(sub)(sa, radius), speculative));
	if (!V(any)(near)) {
		CAT(write_nothing_, LEVEL)(p);
		return;
	}
	const CAT(edge_, LEVEL) eb = CAT(separate_, LEVEL)(&b, &a, n, &sb);
	near = V(both)(near, V(upto)(V(sub)(sb, radius), speculative));
	if (!V(any)(near)) {
		CAT(write_nothing_, LEVEL)(p);
		return;
	}
	const V(truth) flipped = V(less)(V(add)(sa, V(set1)(PREFERENCE)), sb);
	const CAT(meeting_, LEVEL) g = CAT(meet_, LEVEL)(&a, &b, n, ea, eb, flipped, radius);

	const V(f) up = CAT(dot_, LEVEL)(g.t2, g.s2, g.dt, g.ds);
	const V(f) down = V(sub)(V(mul)(V(sub)(g.side, g.t1), g.dt), V(mul)(g.s1, g.ds));
	const V(truth) lo = V(either)(V(less)(g.t1, zero), V(both)(V(less)(g.t2, zero), V(upto)(zero, up)));
	const V(truth) hi = V(either)(V(less)(g.side, g.t2), V(both)(V(less)(g.side, g.t1), V(upto)(zero, down)));
	const V(truth) lines = V(both)(V(less)(a.count, three), V(less)(b.count, three));
	const V(truth) apart = V(either)(V(either)(V(less)(zero, sa), V(less)(zero, sb)), lines);
	const V(truth) corner = V(both)(V(both)(near, apart), V(either)(lo, hi));

	V(truth) at_lo, at_hi;
	CAT(place_, LEVEL) first, second;
	V(f) nx = g.ref.nx, ny = g.ref.ny;
	CAT(clip_, LEVEL)(&g, apart, &at_lo, &at_hi, &first, &second);
	V(truth) touch = V(unless)(V(both)(near, V(either)(at_lo, at_hi)), corner);
	const V(truth) two = V(both)(touch, V(both)(at_lo, at_hi));
	first = CAT(pick_place_, LEVEL)(at_lo, &first, &second);
	if (V(any)(corner)) {
		V(f) cx, cy;
		CAT(place_, LEVEL) c;
		touch = V(either)(touch, V(both)(corner, CAT(corner_, LEVEL)(&g, lo, &cx, &cy, &c)));
		first = CAT(pick_place_, LEVEL)(corner, &c, &first);
		nx = V(pick)(corner, cx, nx);
		ny = V(pick)(corner, cy, ny);
	}
	const V(f) sign = V(pick)(flipped, V(set1)(-1.0f), V(set1)(1.0f));
	CAT(turn_, LEVEL)(f.ca, f.sa, V(mul)(nx, sign), V(mul)(ny, sign), &nx, &ny);
	CAT(write_, LEVEL)(p, &f, touch, two, nx, ny, &first, &second);
}

#define EACH_BATCH(w, at, n, ...)                                     \
	for (uint32_t i = 0; i < (n); i += V(LANES)) {                \
		batch p;                                              \
		fill(&p, (w), (at) + i, (n) - i, V(LANES));           \
		__VA_ARGS__;                                          \
	}

KERNEL(LEVEL) void CAT(discs_, LEVEL)(const world *w, const uint16_t *at, uint32_t n) {
	EACH_BATCH(w, at, n, CAT(collide_discs_, LEVEL)(w, &p));
}

KERNEL(LEVEL) void CAT(disc_4_, LEVEL)(const world *w, const uint16_t *at, uint32_t n) {
	EACH_BATCH(w, at, n, CAT(collide_disc_, LEVEL)(w, &p, 4));
}

KERNEL(LEVEL) void CAT(disc_8_, LEVEL)(const world *w, const uint16_t *at, uint32_t n) {
	EACH_BATCH(w, at, n, CAT(collide_disc_, LEVEL)(w, &p, 8));
}

KERNEL(LEVEL) void CAT(polygons_4_, LEVEL)(const world *w, const uint16_t *at, uint32_t n) {
	EACH_BATCH(w, at, n, CAT(collide_polygons_, LEVEL)(w, &p, 4));
}

KERNEL(LEVEL) void CAT(polygons_8_, LEVEL)(const world *w, const uint16_t *at, uint32_t n) {
	EACH_BATCH(w, at, n, CAT(collide_polygons_, LEVEL)(w, &p, 8));
}

#undef EACH_BATCH
