#include "cells.h"

/* The mask of the places in [at, last) within the block of at. */
static inline uint32_t lanes_from(uint32_t at, uint32_t last) {
	const uint32_t left = last - at / ET_BLOCK * ET_BLOCK;
	const uint32_t below = left < ET_BLOCK ? (1u << left) - 1u : 0xffffu;
	return below & ~((1u << at % ET_BLOCK) - 1u);
}

/* One ray in every lane. */
typedef struct {
	V(f) o[3], d[3], inv, part, scale, max_t;
} ray_lanes;

HELPER(LEVEL) ray_lanes ray_at(const et_ray *ray) {
	ray_lanes r;
	for (int a = 0; a < 3; a++) {
		r.o[a] = V(set1)(ray->o[a]);
		r.d[a] = V(set1)(ray->d[a]);
	}
	r.inv = V(set1)(ray->inv);
	r.part = V(set1)(ray->part);
	r.scale = V(set1)(ray->scale);
	r.max_t = V(set1)(ray->max_t);
	return r;
}

/* The wanted lanes in which the ray meets the sphere; t gets the parameters there. Few vectors have a hit, so
 * roots are rare. */
HELPER(LEVEL) V(mask) meet_spheres(const ray_lanes *r, const et_block *b, const float *squares,
                                   uint32_t lane, V(mask) want, V(f) *t) {
	const V(f) zero = V(set1)(0.0f), r2 = V(load)(squares + lane);
	const V(f) mx = V(sub)(V(load)(b->x + lane), r->o[0]);
	const V(f) my = V(sub)(V(load)(b->y + lane), r->o[1]);
	const V(f) mz = V(sub)(V(load)(b->z + lane), r->o[2]);
	const V(f) s = V(mul)(SUM3(V(mul)(mx, r->d[0]), V(mul)(my, r->d[1]), V(mul)(mz, r->d[2])), r->inv);
	const V(f) lx = V(sub)(mx, V(mul)(s, r->d[0]));
	const V(f) ly = V(sub)(my, V(mul)(s, r->d[1]));
	const V(f) lz = V(sub)(mz, V(mul)(s, r->d[2]));
	const V(f) e = NORM2(lx, ly, lz);
	const V(mask) inside = V(le)(NORM2(mx, my, mz), r2);
	const V(mask) ahead = V(le)(zero, s) & V(le)(e, r2);
	const V(mask) hit = (inside | ahead) & want;
	if (!hit)
		return 0;
	const V(f) entry = V(sub)(s, V(mul)(V(sqrt)(V(sub)(r2, e)), r->part));
	*t = V(mul)(V(select)(inside, zero, V(max)(entry, zero)), r->scale);
	return hit & V(le)(*t, r->max_t);
}

/* The given lanes of a block, from `lane` on, in which the ray meets a sphere that passes the filters. */
HELPER(LEVEL) V(mask) strike(const et_points *p, const float *r2, const ray_lanes *r, const query_filter *f,
                             uint32_t block, uint32_t lanes, uint32_t lane, V(f) *t) {
	const V(mask) want = (lanes >> lane) & V(first)(V(LANES));
	if (V(LANES) == 1 && !want)
		return 0;
	const V(mask) hit = meet_spheres(r, p->blocks + block, r2 + (size_t)block * ET_BLOCK, lane, want, t);
	return hit ? hit & passing_lanes(p, block, f) >> lane : 0;
}

/* Updates the closest hit with the hits of a vector. */
HELPER(LEVEL) void closer(const uint32_t *slot, V(f) t, V(mask) hit, uint32_t *best, float *best_t) {
	float at[V(LANES)];
	V(store)(at, t);
	for (uint32_t i = 0; i < V(LANES); i++) {
		if ((hit >> i & 1) && (at[i] < *best_t || (at[i] == *best_t && slot[i] < *best))) {
			*best = slot[i];
			*best_t = at[i];
		}
	}
}

HELPER(LEVEL) uint32_t closest(const et_points *p, const float *r2, const et_ray *ray, const et_span *s,
                               const et_span *end, float *t) {
	ray_lanes r = ray_at(ray);
	const query_filter f = {ray->exclude, ray->mask};
	uint32_t best = NO_SLOT;
	*t = ray->max_t;
	for (; s < end; s++) {
		for (uint32_t at = s->first; at < s->last; at = at / ET_BLOCK * ET_BLOCK + ET_BLOCK) {
			const uint32_t block = at / ET_BLOCK, lanes = lanes_from(at, s->last);
			for (uint32_t lane = 0; lane < ET_BLOCK; lane += V(LANES)) {
				V(f) entry;
				const V(mask) hit = strike(p, r2, &r, &f, block, lanes, lane, &entry);
				if (!hit)
					continue;
				closer(p->blocks[block].slot + lane, entry, hit, &best, t);
				r.max_t = V(set1)(*t);
			}
		}
	}
	return best;
}

KERNEL(void, ray_closest, const et_points *p, const et_rays *s, uint32_t *slots, float *t) {
	for (int64_t i = 0; i < s->n; i++)
		slots[i] = closest(p, s->r2, s->rays + i, s->spans + (i ? s->span_ends[i - 1] : 0),
		                   s->spans + s->span_ends[i], t + i);
}

/* Appends the hits in a span and returns the new fill. */
HELPER(LEVEL) int64_t append_hits(const et_points *p, const float *r2, const ray_lanes *r, const query_filter *f,
                                  const et_span *s, uint32_t *out, float *t, int64_t fill) {
	for (uint32_t at = s->first; at < s->last; at = at / ET_BLOCK * ET_BLOCK + ET_BLOCK) {
		const uint32_t block = at / ET_BLOCK, lanes = lanes_from(at, s->last);
		for (uint32_t lane = 0; lane < ET_BLOCK; lane += V(LANES)) {
			V(f) entry;
			const V(mask) hit = strike(p, r2, r, f, block, lanes, lane, &entry);
			if (!hit)
				continue;
			V(storeu)(out + fill, V(packu)(V(loadu)(p->blocks[block].slot + lane), hit));
			V(store)(t + fill, V(pack)(entry, hit));
			fill += V(count)(hit);
		}
	}
	return fill;
}

KERNEL(int64_t, ray_all, const et_points *p, const et_rays *s, const et_rows *rows) {
	int64_t fill = rows->fill;
	for (int64_t i = 0; i < s->n; i++) {
		const ray_lanes r = ray_at(s->rays + i);
		const query_filter f = {s->rays[i].exclude, s->rays[i].mask};
		int64_t end = fill;
		for (uint32_t at = i ? s->span_ends[i - 1] : 0; at < s->span_ends[i]; at++) {
			const et_span *const part = s->spans + at;
			if (rows->cap - end < (int64_t)(part->last - part->first) + V(LANES))
				return i;
			end = append_hits(p, s->r2, &r, &f, part, rows->slots, rows->dist2, end);
		}
		rows->ends[i] = (uint32_t)(fill = end);
	}
	return s->n;
}

#ifdef DISPATCH
void et_ray_closest(int32_t level, et_points points, et_rays rays, uint32_t *slots, float *t) {
	DISPATCH(level, ray_closest, &points, &rays, slots, t);
}

int64_t et_ray_all(int32_t level, et_points points, et_rays rays, et_rows rows) {
	return DISPATCH(level, ray_all, &points, &rays, &rows);
}
#endif
