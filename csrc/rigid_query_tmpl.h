/* A ray in every lane. */
typedef struct {
	V(f) ox, oy, ix, iy, slack;
	int back_x, back_y;
} CAT(beam_, LEVEL);

HELPER(LEVEL) CAT(beam_, LEVEL) CAT(beam_of_, LEVEL)(const et_query_ray *r) {
	return (CAT(beam_, LEVEL)){V(set1)(r->o[0]), V(set1)(r->o[1]), V(set1)(r->inv[0]), V(set1)(r->inv[1]),
	                           V(set1)(EXIT_SLACK), r->inv[0] < 0, r->inv[1] < 0};
}

/* The lanes of a node that the ray enters by max_t, and where. */
HELPER(LEVEL) uint32_t CAT(look_, LEVEL)(const CAT(beam_, LEVEL) *r, const et_node *n, float max_t, float *entry) {
	const float *const x0 = r->back_x ? n->max_x : n->min_x, *const x1 = r->back_x ? n->min_x : n->max_x;
	const float *const y0 = r->back_y ? n->max_y : n->min_y, *const y1 = r->back_y ? n->min_y : n->max_y;
	const V(f) zero = V(set1)(0.0f), last = V(set1)(max_t);
	uint32_t found = 0;
	for (uint32_t i = 0; i < ET_NODE; i += V(LANES)) {
		const V(f) tx = V(mul)(V(sub)(V(load)(x0 + i), r->ox), r->ix);
		const V(f) ty = V(mul)(V(sub)(V(load)(y0 + i), r->oy), r->iy);
		const V(f) enter = V(max)(V(max)(tx, ty), zero);
		const V(f) ux = V(mul)(V(sub)(V(load)(x1 + i), r->ox), r->ix);
		const V(f) uy = V(mul)(V(sub)(V(load)(y1 + i), r->oy), r->iy);
		const V(f) exit = V(mul)(V(min)(ux, uy), r->slack);
		V(store)(entry + i, enter);
		found |= (uint32_t)V(le)(enter, V(min)(exit, last)) << i;
	}
	return found;
}

HELPER(LEVEL) et_ray_hit CAT(closest_of_, LEVEL)(const tree *t, const et_query_ray *ray) {
	const CAT(beam_, LEVEL) beam = CAT(beam_of_, LEVEL)(ray);
	et_ray_hit best = {ray->max_t, {0, 0}, (uint32_t)ET_NO_SHAPE};
	climb stack[MAX_CLIMB];
	float entry[ET_NODE];
	stack[0] = top(t);
	for (uint32_t n = 1; n > 0;) {
		const climb c = stack[--n];
		if (c.entry > best.t)
			continue;
		uint32_t found = CAT(look_, LEVEL)(&beam, t->nodes + c.node, best.t, entry);
		if (c.level > 0) {
			n += push(t, &c, found, entry, stack + n);
			continue;
		}
		for (; found; found &= found - 1) {
			const uint32_t lane = (uint32_t)__builtin_ctz(found);
			const et_target *const g = t->at + (size_t)c.node * ET_NODE + lane;
			et_ray_hit hit;
			if (entry[lane] <= best.t && finds(ray, g) && meets(ray, g, entry[lane], &hit) &&
			    (hit.t < best.t || (hit.t == best.t && hit.shape < best.shape)))
				best = hit;
		}
	}
	return best;
}

KERNEL(LEVEL) void CAT(rigid_ray_closest_, LEVEL)(const tree *given, const et_query_ray *rays, int64_t n, et_ray_hit *out) {
	const tree t = *given;
	for (int64_t i = 0; i < n; i++)
		out[i] = CAT(closest_of_, LEVEL)(&t, rays + i);
}

/* Appends the hits of a ray, and returns the new fill, or -1 if there is no room. */
HELPER(LEVEL) int64_t CAT(all_of_, LEVEL)(const tree *t, const et_query_ray *ray, et_ray_hit *out, int64_t fill,
                                          int64_t cap) {
	const CAT(beam_, LEVEL) beam = CAT(beam_of_, LEVEL)(ray);
	climb stack[MAX_CLIMB];
	float entry[ET_NODE];
	stack[0] = top(t);
	for (uint32_t n = 1; n > 0;) {
		const climb c = stack[--n];
		uint32_t found = CAT(look_, LEVEL)(&beam, t->nodes + c.node, ray->max_t, entry);
		if (c.level > 0) {
			n += push(t, &c, found, entry, stack + n);
			continue;
		}
		for (; found; found &= found - 1) {
			const uint32_t lane = (uint32_t)__builtin_ctz(found);
			const et_target *const g = t->at + (size_t)c.node * ET_NODE + lane;
			et_ray_hit hit;
			if (!finds(ray, g) || !meets(ray, g, entry[lane], &hit))
				continue;
			if (fill == cap)
				return -1;
			out[fill++] = hit;
		}
	}
	return fill;
}

KERNEL(LEVEL) int64_t CAT(rigid_ray_all_, LEVEL)(const tree *given, const et_query_ray *rays, int64_t n, uint32_t *ends,
                                                 et_ray_hit *out, int64_t fill, int64_t cap) {
	const tree t = *given;
	for (int64_t i = 0; i < n; i++) {
		fill = CAT(all_of_, LEVEL)(&t, rays + i, out, fill, cap);
		if (fill < 0)
			return i;
		ends[i] = (uint32_t)fill;
	}
	return n;
}
