#include "shapes_lanes.h"

/* The constants of package rigid3. */
#define RECYCLE_TURN_SQUARE (float)(0.02 * 0.02)
#define RECYCLE_SEPARATION 0.02f

/* rigid3.turnSince. */
HELPER(LEVEL) vec turn_since(quat from, quat to) {
	const quat q = quat_times(to, (quat){V(negate)(from.x), V(negate)(from.y), V(negate)(from.z), from.w});
	const V(f) two = V(choose)(V(less)(q.w, ZERO), constant(-2.0f), constant(2.0f));
	return (vec){MUL(q.x, two), MUL(q.y, two), MUL(q.z, two)};
}

/* Writes the manifold of a contact. */
static inline void write_recycled(const et_space_contact *c, const et_space_base_manifold *base, const float *separations,
                                  et_space_manifold *to) {
	memset(to, 0, sizeof *to);
	memcpy(to->normal, base->normal, sizeof to->normal);
	to->count = c->count;
	to->source = ET_SPACE_RECYCLED;
	for (uint32_t k = 0; k < c->count && k < ET_SPACE_POINTS; k++) {
		et_space_manifold_point *p = &to->points[k];
		memcpy(p->anchor_a, base->points[k].anchor_a, 6 * sizeof(float));
		p->separation = separations[k * ET_SPACE_LANES];
		p->id = c->normal[k].id;
	}
}

KERNEL(int64_t, space_recycle, const et_space_recycling *r, const uint32_t *pairs, const uint32_t *contacts, int64_t n) {
	int64_t recycled = 0;
	for (int64_t i = 0; i < n; i += V(LANES)) {
		uint32_t contact[ET_SPACE_LANES], body_a[ET_SPACE_LANES], body_b[ET_SPACE_LANES];
		float count[ET_SPACE_LANES], separations[ET_SPACE_POINTS][ET_SPACE_LANES];
		V(f) base[BASE_ROW];
		for (uint32_t k = 0; k < V(LANES); k++) {
			contact[k] = contacts[i + k < n ? i + k : n - 1];
			const et_space_contact *c = &r->old[contact[k]];
			body_a[k] = r->body_of[c->a];
			body_b[k] = r->body_of[c->b];
			count[k] = (float)(c->count < ET_SPACE_POINTS ? c->count : ET_SPACE_POINTS);
		}
		for (int k = 0; k < BASE_ROW; k += 8)
			V(rows8)((const float *)(const void *)r->bases + k, contact, BASE_ROW, base + k);
		const body_pose a = load_poses(r->poses, body_a), b = load_poses(r->poses, body_b);
		const vec turn_a = turn_since((quat){base[32], base[33], base[34], base[35]}, a.q);
		const vec turn_b = turn_since((quat){base[36], base[37], base[38], base[39]}, b.q);
		const vec normal = {base[0], base[1], base[2]}, moved = vec_sub(b.p, a.p);
		const V(f) limit = MUL(base[3], base[3]), points = V(load)(count);
		V(truth) ok = V(both)(V(less)(dot(turn_a, turn_a), constant(RECYCLE_TURN_SQUARE)),
		                      V(less)(dot(turn_b, turn_b), constant(RECYCLE_TURN_SQUARE)));
		for (int k = 0; k < ET_SPACE_POINTS; k++) {
			const V(f) *p = base + 4 + 7 * k;
			const vec on_a = {p[0], p[1], p[2]}, on_b = {p[3], p[4], p[5]};
			const vec turned = vec_sub(cross(turn_b, on_b), cross(turn_a, on_a));
			const vec d = vec_add(vec_add(moved, vec_sub(on_b, on_a)), turned);
			const V(f) along = dot(d, normal), separation = ADD(p[6], along);
			const vec across = add_times(d, normal, V(negate)(along));
			V(truth) near = V(both)(V(less)(MUL(along, along), limit), V(less)(dot(across, across), limit));
			near = V(both)(near, V(upto)(separation, constant(RECYCLE_SEPARATION)));
			ok = V(both)(ok, V(either)(near, V(upto)(points, constant((float)k))));
			V(store)(separations[k], separation);
		}
		float flags[ET_SPACE_LANES];
		V(store)(flags, V(choose)(ok, ONE, ZERO));
		for (uint32_t k = 0; k < V(LANES) && i + k < n; k++) {
			if (flags[k] == 0)
				continue;
			write_recycled(&r->old[contact[k]], &r->bases[contact[k]], &separations[0][k], &r->out[pairs[i + k]]);
			r->from[pairs[i + k]] = (int32_t)contact[k];
			recycled++;
		}
	}
	return recycled;
}

#ifdef DISPATCH
int64_t et_space_recycle(int32_t level, et_space_recycling r, const uint32_t *pairs, const uint32_t *contacts, int64_t n) {
	return DISPATCH(level, space_recycle, &r, pairs, contacts, n);
}
#endif
