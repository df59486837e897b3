#include "rows_lanes.h"
#include "system.h"

/* The manifolds to make. */
typedef struct {
	int32_t *from;
	int64_t recycled;
	et_manifold *out;
} recycle_output;

/* The motion of the bodies of some contacts since their base manifolds: the normal, how far the centre of B moved
 * relative to that of A, and the sines of the rotations. */
typedef struct {
	V(f) nx, ny, dx, dy, turn_a, turn_b, limit;
} base_motion;

/* The lanes in which the anchors of a point (x and y on A, then on B) are still near each other. */
HELPER(LEVEL) V(mask) recycle_point(const base_motion *d, const V(f) r[4], V(f) base, V(f) *separation) {
	const V(f) x = ADD(ADD(d->dx, SUB(r[2], r[0])), SUB(MUL(d->turn_a, r[1]), MUL(d->turn_b, r[3])));
	const V(f) y = ADD(ADD(d->dy, SUB(r[3], r[1])), SUB(MUL(d->turn_b, r[2]), MUL(d->turn_a, r[0])));
	const V(f) along = DOT(d->nx, d->ny, x, y), across = CROSS(d->nx, d->ny, x, y);
	*separation = ADD(base, along);
	return V(lt)(V(abs)(along), d->limit) & V(lt)(V(abs)(across), d->limit) &
	       V(le)(*separation, V(set1)(RECYCLE_DISTANCE));
}

/* Writes the manifold of a contact. */
static inline void write_recycled(const et_contact *c, const et_base_manifold *base, const float *separation,
                                  et_manifold *to) {
	memcpy(to->normal, base->normal, sizeof to->normal);
	to->count = 2;
	to->source = ET_RECYCLED;
	for (int k = 0; k < 2; k++) {
		memcpy(to->points[k].anchor_a, base->points[k].anchor_a, 4 * sizeof(float));
		to->points[k].separation = separation[k * ET_LANES];
		to->points[k].id = c->points[k].id;
	}
}

/* Recycles n contacts of pairs. */
KERNEL(void, recycle, const et_recycling *r, const uint32_t *pairs, const uint32_t *contacts, int64_t n,
       recycle_output *to) {
	for (int64_t i = 0; i < n; i += V(LANES)) {
		uint32_t contact[ET_LANES], a[ET_LANES], b[ET_LANES];
		float separation[2][ET_LANES];
		V(f) base[16], first, second;
		for (uint32_t k = 0; k < V(LANES); k++) {
			contact[k] = contacts[i + k < n ? i + k : n - 1];
			a[k] = r->body_of[r->old[contact[k]].a];
			b[k] = r->body_of[r->old[contact[k]].b];
		}
		V(rows8)((const float *)(const void *)r->bases, contact, 16, base);
		V(rows8)((const float *)(const void *)r->bases + 8, contact, 16, base + 8);
		const V(u) body_a = V(loadu)(a), body_b = V(loadu)(b);
		const V(f) ca = V(fetch)(r->poses.cos, body_a), sa = V(fetch)(r->poses.sin, body_a);
		const V(f) cb = V(fetch)(r->poses.cos, body_b), sb = V(fetch)(r->poses.sin, body_b);
		const V(f) apart = CROSS(base[0], base[1], SUB(base[2], base[7]), SUB(base[3], base[8]));
		const base_motion d = {base[0],
		                       base[1],
		                       SUB(V(fetch)(r->poses.x, body_b), V(fetch)(r->poses.x, body_a)),
		                       SUB(V(fetch)(r->poses.y, body_b), V(fetch)(r->poses.y, body_a)),
		                       CROSS(base[12], base[13], ca, sa),
		                       CROSS(base[14], base[15], cb, sb),
		                       V(min)(MUL(V(set1)(RECYCLE_SHARE), V(abs)(apart)), V(set1)(RECYCLE_DISTANCE))};
		const V(f) sine = V(set1)(RECYCLE_SINE);
		V(mask) ok = V(lt)(V(abs)(d.turn_a), sine) & V(lt)(V(abs)(d.turn_b), sine) &
		             V(lt)(ZERO, DOT(base[12], base[13], ca, sa)) & V(lt)(ZERO, DOT(base[14], base[15], cb, sb));
		ok &= recycle_point(&d, base + 2, base[6], &first);
		ok &= recycle_point(&d, base + 7, base[11], &second);
		V(store)(separation[0], first);
		V(store)(separation[1], second);
		for (uint32_t k = 0; k < V(LANES) && i + k < n; k++) {
			if (!(ok >> k & 1))
				continue;
			write_recycled(r->old + contact[k], r->bases + contact[k], &separation[0][k], to->out + pairs[i + k]);
			to->from[pairs[i + k]] = (int32_t)contact[k];
			to->recycled++;
		}
	}
}

#ifdef DISPATCH
int64_t et_recycle(int32_t level, et_recycling r, const uint32_t *pairs, const uint32_t *contacts, int64_t n, int32_t *from,
                   et_manifold *out) {
	recycle_output to = {from, 0, out};
	DISPATCH(level, recycle, &r, pairs, contacts, n, &to);
	return to.recycled;
}
#endif
