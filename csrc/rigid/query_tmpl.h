#include "query.h"
#include "../lanes.h"

/* The constants of package rigid. */
#define EXIT_SLACK (1.0f + 0x1p-20f)
#define COINCIDENCE 1e-12f
enum { MAX_STACK = 6 * (ET_NODE - 1) + 1 };

#define INLINE static inline __attribute__((always_inline))

/* A node that a ray has entered and not visited yet. */
typedef struct {
	float entry;
	uint32_t node, level;
} stack_entry;

/* A ray in the frame of a body. */
typedef struct {
	float x, y, dx, dy, dd;
} local_ray;

typedef struct {
	float t, nx, ny;
	int how;
} cast_result;

enum { MISSES, ENTERS, WITHIN };

INLINE float most(float a, float b) { return a > b ? a : b; }
INLINE float least(float a, float b) { return a < b ? a : b; }

INLINE int accepts(const et_query_ray *r, const et_target *g) {
	return (g->category & r->mask) != 0 && (g->mask & r->category) != 0 && g->body != r->exclude &&
	       ((g->count & ET_SENSOR) == 0 || (r->flags & ET_INCLUDE_SENSORS) != 0) &&
	       ((r->flags & ET_WITH_SPAN) == 0 || (g->span_min <= r->span_max && r->span_min <= g->span_max));
}

INLINE int disc_entry(const local_ray *c, float mx, float my, float r2, float *t) {
	const float s = (mx * c->dx + my * c->dy) / c->dd;
	const float lx = mx - s * c->dx, ly = my - s * c->dy;
	const float e = lx * lx + ly * ly;
	if (!(s >= 0 && e <= r2))
		return 0;
	*t = most(s - SQRT((r2 - e) / c->dd), 0);
	return 1;
}

INLINE cast_result towards(const local_ray *c, float mx, float my, float t) {
	const float back = 1 / SQRT(c->dd);
	cast_result s = {t, -c->dx * back, -c->dy * back, ENTERS};
	const float x = t * c->dx - mx, y = t * c->dy - my, square = x * x + y * y;
	if (square > COINCIDENCE) {
		const float inv = 1 / SQRT(square);
		s.nx = x * inv;
		s.ny = y * inv;
	}
	return s;
}

/* Whether a ray on the inner side of all edges begins inside. It does not outside the box of the vertices:
 * rounding allows places beyond the tip of a thin polygon. */
INLINE int begins(const local_ray *c, const et_target *g, uint32_t count) {
	const float inf = __builtin_inff();
	float x0 = inf, y0 = inf, x1 = -inf, y1 = -inf;
	for (uint32_t i = 0; i < count; i++) {
		const float *const v = g->vertices[i];
		x0 = least(v[0], x0);
		y0 = least(v[1], y0);
		x1 = most(v[0], x1);
		y1 = most(v[1], y1);
	}
	return c->x <= x1 && c->y <= y1 && x0 <= c->x && y0 <= c->y;
}

INLINE cast_result cast_disc(const local_ray *c, const et_target *g) {
	const cast_result miss = {0, 0, 0, MISSES}, in = {0, 0, 0, WITHIN};
	const float mx = g->vertices[0][0] - c->x, my = g->vertices[0][1] - c->y, r2 = g->radius * g->radius;
	float t;
	if (mx * mx + my * my <= r2)
		return in;
	return disc_entry(c, mx, my, r2, &t) ? towards(c, mx, my, t) : miss;
}

INLINE cast_result cast_polygon(const local_ray *c, const et_target *g, uint32_t count) {
	cast_result s = {0, 0, 0, WITHIN};
	float exit = __builtin_inff();
	for (uint32_t i = 0; i < count; i++) {
		const float nx = g->normals[i][0], ny = g->normals[i][1];
		const float out = nx * (c->x - g->vertices[i][0]) + ny * (c->y - g->vertices[i][1]);
		const float speed = nx * c->dx + ny * c->dy;
		if (out > 0) {
			if (!(speed < 0)) {
				s.how = MISSES;
				return s;
			}
			const float t = out / -speed;
			if (s.how == WITHIN || t > s.t)
				s = (cast_result){t, nx, ny, ENTERS};
		} else if (speed > 0) {
			exit = least(-out / speed, exit);
		}
	}
	if (s.how == WITHIN && !begins(c, g, count))
		s.how = MISSES;
	if (s.how == ENTERS && !(s.t <= exit))
		s.how = MISSES;
	return s;
}

static cast_result cast_rounded(const local_ray *c, const et_target *g, uint32_t count) {
	const cast_result in = {0, 0, 0, WITHIN};
	const float r = g->radius, r2 = g->radius * g->radius;
	int inside = count > 2, disc = 0;
	float at_x = 0, at_y = 0;
	cast_result best = {0, 0, 0, MISSES};
	for (uint32_t i = 0; i < count; i++) {
		const float *const v = g->vertices[i], *const w = g->vertices[i + 1 < count ? i + 1 : 0];
		const float nx = g->normals[i][0], ny = g->normals[i][1];
		const float mx = c->x - v[0], my = c->y - v[1];
		const float s = nx * mx + ny * my, u = nx * my - ny * mx;
		const float side = nx * (w[1] - v[1]) - ny * (w[0] - v[0]);
		inside = inside && s <= 0;
		if ((s >= 0 && s <= r && u >= 0 && u <= side) || mx * mx + my * my <= r2)
			return in;
		const float speed = nx * c->dx + ny * c->dy;
		float t;
		if (s > r && speed < 0) {
			t = (s - r) / -speed;
			const float ut = u + t * (nx * c->dy - ny * c->dx);
			if (ut >= 0 && ut <= side && (best.how == MISSES || t < best.t)) {
				best = (cast_result){t, nx, ny, ENTERS};
				disc = 0;
			}
		}
		if (r > 0 && disc_entry(c, -mx, -my, r2, &t) && (best.how == MISSES || t < best.t)) {
			best = (cast_result){t, 0, 0, ENTERS};
			disc = 1;
			at_x = -mx;
			at_y = -my;
		}
	}
	if (inside && begins(c, g, count))
		return in;
	return best.how == ENTERS && disc ? towards(c, at_x, at_y, best.t) : best;
}

/* Computes where a ray hits a target whose box it enters at entry. Returns 0 if it misses. */
INLINE int cast(const et_query_ray *r, const et_target *g, float entry, et_ray_hit *hit) {
	const float ox = r->o[0] - g->x, oy = r->o[1] - g->y;
	local_ray c = {g->cos * ox + g->sin * oy, g->cos * oy - g->sin * ox, g->cos * r->d[0] + g->sin * r->d[1],
	            g->cos * r->d[1] - g->sin * r->d[0], 0};
	c.dd = c.dx * c.dx + c.dy * c.dy;
	const uint32_t count = g->count & ~(uint32_t)ET_SENSOR;
	const cast_result s = count == 1                    ? cast_disc(&c, g)
	                 : count > 2 && g->radius == 0 ? cast_polygon(&c, g, count)
	                                               : cast_rounded(&c, g, count);
	if (s.how == MISSES || (s.how == WITHIN && (r->flags & ET_SKIP_INSIDE)))
		return 0;
	*hit = (et_ray_hit){most(s.t, entry), {(g->cos * s.nx - g->sin * s.ny) + 0.0f, (g->sin * s.nx + g->cos * s.ny) + 0.0f}, g->shape};
	return hit->t <= r->max_t;
}

INLINE stack_entry top(const et_query_tree *t) { return (stack_entry){0, t->starts[t->levels] - 1, t->levels - 1}; }

/* Pushes the children of a node that were found, the nearest last. Returns their number. */
INLINE uint32_t push_nodes(const et_query_tree *t, const stack_entry *c, uint32_t found, const float *entry, stack_entry *stack) {
	const uint32_t first = t->starts[c->level - 1] + (c->node - t->starts[c->level]) * ET_NODE;
	uint32_t n = 0;
	for (; found; found &= found - 1, n++) {
		const uint32_t lane = (uint32_t)__builtin_ctz(found);
		const stack_entry l = {entry[lane], first + lane, c->level - 1};
		uint32_t k = n;
		for (; k > 0 && stack[k - 1].entry < l.entry; k--)
			stack[k] = stack[k - 1];
		stack[k] = l;
	}
	return n;
}

/* A ray in every lane. */
typedef struct {
	V(f) ox, oy, ix, iy, slack;
	int back_x, back_y;
} beam;

HELPER(LEVEL) beam beam_of(const et_query_ray *r) {
	return (beam){V(set1)(r->o[0]), V(set1)(r->o[1]), V(set1)(r->inv[0]), V(set1)(r->inv[1]),
	                           V(set1)(EXIT_SLACK), r->inv[0] < 0, r->inv[1] < 0};
}

/* The lanes of a node that the ray enters by max_t, and the entries. */
HELPER(LEVEL) uint32_t children_hit(const beam *r, const et_node *n, float max_t, float *entry) {
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

HELPER(LEVEL) et_ray_hit closest_of(const et_query_tree *t, const et_query_ray *ray) {
	const beam beam = beam_of(ray);
	et_ray_hit best = {ray->max_t, {0, 0}, (uint32_t)ET_NO_SHAPE};
	stack_entry stack[MAX_STACK];
	float entry[ET_NODE];
	stack[0] = top(t);
	for (uint32_t n = 1; n > 0;) {
		const stack_entry c = stack[--n];
		if (c.entry > best.t)
			continue;
		uint32_t found = children_hit(&beam, t->nodes + c.node, best.t, entry);
		if (c.level > 0) {
			n += push_nodes(t, &c, found, entry, stack + n);
			continue;
		}
		for (; found; found &= found - 1) {
			const uint32_t lane = (uint32_t)__builtin_ctz(found);
			const et_target *const g = t->targets + (size_t)c.node * ET_NODE + lane;
			et_ray_hit hit;
			if (entry[lane] <= best.t && accepts(ray, g) && cast(ray, g, entry[lane], &hit) &&
			    (hit.t < best.t || (hit.t == best.t && hit.shape < best.shape)))
				best = hit;
		}
	}
	return best;
}

KERNEL(void, cast_rays_closest, const et_query_tree *given, const et_query_ray *rays, int64_t n, et_ray_hit *out) {
	const et_query_tree t = *given;
	for (int64_t i = 0; i < n; i++)
		out[i] = closest_of(&t, rays + i);
}

/* Appends the hits of a ray. Returns the new fill, or -1 if there is no room. */
HELPER(LEVEL) int64_t all_of(const et_query_tree *t, const et_query_ray *ray, et_ray_hit *out, int64_t fill,
                             int64_t cap) {
	const beam beam = beam_of(ray);
	stack_entry stack[MAX_STACK];
	float entry[ET_NODE];
	stack[0] = top(t);
	for (uint32_t n = 1; n > 0;) {
		const stack_entry c = stack[--n];
		uint32_t found = children_hit(&beam, t->nodes + c.node, ray->max_t, entry);
		if (c.level > 0) {
			n += push_nodes(t, &c, found, entry, stack + n);
			continue;
		}
		for (; found; found &= found - 1) {
			const uint32_t lane = (uint32_t)__builtin_ctz(found);
			const et_target *const g = t->targets + (size_t)c.node * ET_NODE + lane;
			et_ray_hit hit;
			if (!accepts(ray, g) || !cast(ray, g, entry[lane], &hit))
				continue;
			if (fill == cap)
				return -1;
			out[fill++] = hit;
		}
	}
	return fill;
}

KERNEL(int64_t, cast_rays_all, const et_query_tree *given, const et_query_ray *rays, int64_t n, uint32_t *ends,
       et_ray_hit *out, int64_t fill, int64_t cap) {
	const et_query_tree t = *given;
	for (int64_t i = 0; i < n; i++) {
		fill = all_of(&t, rays + i, out, fill, cap);
		if (fill < 0)
			return i;
		ends[i] = (uint32_t)fill;
	}
	return n;
}

#ifdef DISPATCH
void et_cast_rays_closest(int32_t level, et_query_tree t, const et_query_ray *rays, int64_t n, et_ray_hit *out) {
	DISPATCH(level, cast_rays_closest, &t, rays, n, out);
}

int64_t et_cast_rays_all(int32_t level, et_query_tree t, const et_query_ray *rays, int64_t n, uint32_t *ends, et_ray_hit *out,
                         int64_t fill, int64_t cap) {
	return DISPATCH(level, cast_rays_all, &t, rays, n, ends, out, fill, cap);
}
#endif
