#include "ray_shapes.h"
#include "shapes_lanes.h"

/* The constants of package rigid3. */
#define EXIT_SLACK (1.0f + 0x1p-20f)
enum { MAX_STACK = 6 * ET_SPACE_LANES };

/* A node that a ray has entered and not visited yet. */
typedef struct {
	float entry;
	uint32_t node, level;
} stack_entry;

/* Loads the targets of a leaf that were found into the cache. */
static inline void fetch_targets(const et_space_target *g, uint32_t found) {
	for (; found; found &= found - 1) {
		const char *at = (const char *)(g + __builtin_ctz(found));
		__builtin_prefetch(at);
		__builtin_prefetch(at + 64);
		__builtin_prefetch(at + 128);
	}
}

static inline int accepts(const et_space_ray *r, const et_space_target *g) {
	return (g->category & r->mask) != 0 && (g->mask & r->category) != 0 && g->body != r->exclude &&
	       (!g->sensor || (r->flags & ET_SPACE_INCLUDE_SENSORS) != 0);
}

/* Pushes the children of a node that were found, the nearest last. Returns their number. */
static inline uint32_t push_nodes(const et_space_tree *t, stack_entry c, uint32_t found, const float *entry, stack_entry *stack) {
	const uint32_t first = t->starts[c.level - 1] + (c.node - t->starts[c.level]) * ET_SPACE_LANES;
	uint32_t n = 0;
	for (; found; found &= found - 1, n++) {
		const uint32_t lane = (uint32_t)__builtin_ctz(found);
		const stack_entry l = {entry[lane], first + lane, c.level - 1};
		uint32_t k = n;
		for (; k > 0 && stack[k - 1].entry < l.entry; k--)
			stack[k] = stack[k - 1];
		stack[k] = l;
	}
	return n;
}

/* A ray in every lane. */
typedef struct {
	vec o, inv;
	int back[3]; /* the ray goes towards the lower bound */
} beam;

HELPER(LEVEL) beam beam_of(const et_space_ray *r) {
	return (beam){{constant(r->o[0]), constant(r->o[1]), constant(r->o[2])}, {constant(r->inv[0]), constant(r->inv[1]), constant(r->inv[2])},
	              {r->inv[0] < 0, r->inv[1] < 0, r->inv[2] < 0}};
}

/* The lanes of a node that the ray enters by max_t, and the entries: rigid3.Ray.boxEntry. */
HELPER(LEVEL) uint32_t children_hit(const beam *r, const et_space_node *n, float max_t, float *entry) {
	const float *near[3], *far[3];
	for (int k = 0; k < 3; k++) {
		near[k] = r->back[k] ? n->max[k] : n->min[k];
		far[k] = r->back[k] ? n->min[k] : n->max[k];
	}
	const V(f) last = constant(max_t), slack = constant(EXIT_SLACK);
	uint32_t found = 0;
	for (uint32_t i = 0; i < ET_SPACE_LANES; i += V(LANES)) {
		const vec from = vec_sub(LINES(near, i), r->o), to = vec_sub(LINES(far, i), r->o);
		const V(f) enter = V(max)(V(max)(MUL(from.x, r->inv.x), MUL(from.y, r->inv.y)), V(max)(MUL(from.z, r->inv.z), ZERO));
		const V(f) exit = V(min)(V(min)(MUL(to.x, r->inv.x), MUL(to.y, r->inv.y)), MUL(to.z, r->inv.z));
		V(store)(entry + i, enter);
		found |= (uint32_t)V(le)(enter, V(min)(MUL(exit, slack), last)) << i;
	}
	return found;
}

/* Whether only Go knows the geometry of a target. */
static inline int is_foreign(const et_space_target *g) { return g->kind > ET_SPACE_HULL; }

/* Finds the first hit of ray i. Returns the number of targets that wait from `waits` on, or -1 if there is no room. */
HELPER(LEVEL) int64_t first_hit(const et_space_tree *t, const et_space_ray_batch *b, int64_t i, int64_t waits) {
	const et_space_ray *ray = b->rays + i;
	const beam beam = beam_of(ray);
	et_space_ray_hit best = {ray->max_t, {0, 0, 0}, {0, 0, 0}, (uint32_t)ET_SPACE_NO_SHAPE, 0};
	narrow64(add_times64(wide64(ray->o), wide64(ray->d), (double)ray->max_t), best.point);
	stack_entry stack[MAX_STACK];
	float entry[ET_SPACE_LANES];
	stack[0] = (stack_entry){0, t->starts[t->levels] - 1, (uint32_t)t->levels - 1};
	for (uint32_t n = 1; n > 0;) {
		const stack_entry c = stack[--n];
		if (c.entry > best.t)
			continue;
		uint32_t found = children_hit(&beam, t->nodes + c.node, best.t, entry);
		if (c.level > 0) {
			n += push_nodes(t, c, found, entry, stack + n);
			continue;
		}
		const et_space_target *leaf = t->targets + (size_t)c.node * ET_SPACE_LANES;
		fetch_targets(leaf, found);
		for (; found; found &= found - 1) {
			const uint32_t lane = (uint32_t)__builtin_ctz(found);
			const et_space_target *g = leaf + lane;
			et_space_ray_hit hit;
			if (!(entry[lane] <= best.t) || !accepts(ray, g))
				continue;
			if (is_foreign(g)) {
				if (waits == b->room)
					return -1;
				b->waiting[waits++] = (et_space_waiting){(uint32_t)i, c.node * ET_SPACE_LANES + lane, entry[lane]};
				continue;
			}
			if (!cast_target(ray, &t->hulls, g, entry[lane], &hit))
				continue;
			if (hit.t < best.t || (hit.t == best.t && hit.shape < best.shape))
				best = hit;
			if (b->any)
				goto done;
		}
	}
done:
	b->out[i] = best;
	return waits;
}

KERNEL(int64_t, space_cast_rays, const et_space_tree *given, const et_space_ray_batch *batch, int64_t *count) {
	const et_space_tree t = *given;
	const et_space_ray_batch b = *batch;
	int64_t i = 0;
	for (int64_t waits = *count = 0; i < b.n; i++) {
		waits = first_hit(&t, &b, i, waits);
		if (waits < 0)
			break;
		*count = waits;
	}
	return i;
}

/* Appends the hits of a ray. Returns the new fill, or -1 if there is no room. */
HELPER(LEVEL) int64_t all_hits(const et_space_tree *t, const et_space_ray *ray, et_space_ray_hit *out, int64_t fill, int64_t cap) {
	const beam beam = beam_of(ray);
	stack_entry stack[MAX_STACK];
	float entry[ET_SPACE_LANES];
	stack[0] = (stack_entry){0, t->starts[t->levels] - 1, (uint32_t)t->levels - 1};
	for (uint32_t n = 1; n > 0;) {
		const stack_entry c = stack[--n];
		uint32_t found = children_hit(&beam, t->nodes + c.node, ray->max_t, entry);
		if (c.level > 0) {
			n += push_nodes(t, c, found, entry, stack + n);
			continue;
		}
		const et_space_target *leaf = t->targets + (size_t)c.node * ET_SPACE_LANES;
		fetch_targets(leaf, found);
		for (; found; found &= found - 1) {
			const uint32_t lane = (uint32_t)__builtin_ctz(found);
			const et_space_target *g = leaf + lane;
			et_space_ray_hit hit = {-1, {entry[lane], 0, 0}, {0, 0, 0}, c.node * ET_SPACE_LANES + lane, 0};
			if (!accepts(ray, g) || (!is_foreign(g) && !cast_target(ray, &t->hulls, g, entry[lane], &hit)))
				continue;
			if (fill == cap)
				return -1;
			out[fill++] = hit;
		}
	}
	return fill;
}

KERNEL(int64_t, space_cast_rays_all, const et_space_tree *given, const et_space_ray *rays, int64_t n, uint32_t *ends, et_space_ray_hit *out,
       int64_t fill, int64_t cap) {
	const et_space_tree t = *given;
	for (int64_t i = 0; i < n; i++) {
		fill = all_hits(&t, rays + i, out, fill, cap);
		if (fill < 0)
			return i;
		ends[i] = (uint32_t)fill;
	}
	return n;
}

#ifdef DISPATCH
int64_t et_space_cast_rays(int32_t level, et_space_tree t, et_space_ray_batch b, int64_t *count) {
	return DISPATCH(level, space_cast_rays, &t, &b, count);
}

int64_t et_space_cast_rays_all(int32_t level, et_space_tree t, const et_space_ray *rays, int64_t n, uint32_t *ends, et_space_ray_hit *out,
                               int64_t fill, int64_t cap) {
	return DISPATCH(level, space_cast_rays_all, &t, rays, n, ends, out, fill, cap);
}
#endif
